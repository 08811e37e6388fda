//===- SampleOrder.h - The order in which samples are trained ---*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A permutation that is computed and not stored: a function of the seed, the
// epoch and the place, and of nothing else, so any number of ranks sees the
// same samples in the same order.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_CORE_SAMPLEORDER_H
#define PARTITA_CORE_SAMPLEORDER_H

#include "partita/types.h"

namespace partita {

/// The order of one epoch.
///
/// A Feistel network is a permutation of the numbers of an even count of bits:
/// it cuts the number in two halves and mixes one with a hash of the other, in
/// several rounds. A place whose image is not below `samples` is sent through
/// again until it is ("cycle walking"); since the network covers less than four
/// times the range, that takes few turns.
class SampleOrder {
public:
  SampleOrder(std::uint64_t seed, std::int64_t epoch, std::int64_t samples,
              bool shuffle);

  /// The sample at a place; 0 <= place < samples.
  std::int64_t at(std::int64_t place) const;

private:
  std::uint64_t permute(std::uint64_t value) const;

  std::uint64_t seed;
  std::uint64_t epoch;
  std::uint64_t samples;
  bool shuffle;
  int halfBits = 1;
};

} // namespace partita

#endif // PARTITA_CORE_SAMPLEORDER_H
