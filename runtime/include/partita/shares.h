//===- shares.h - Who owns which part of a flat buffer ----------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A parameter server whose owners are the ranks that train: each owns an equal
// share of every bucket, whatever layers lie in it, so that no large layer
// makes one rank the bottleneck (Zhang et al., "Poseidon", ATC'17, section 4).
//
//   const Shares bucket0Shares{dataRanks, 850};
//   ...
//   dataRanks.reduceScatter(comm, gradients, bucket0Shares.counts, ...);
//   update(comm, bucket0Shares.count, parameters + bucket0Shares.begin, ...);
//   dataRanks.allGather(comm, parameters, bucket0Shares.counts);
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_SHARES_H
#define PARTITA_SHARES_H

#include "partita/communicator.h"

#include <algorithm>

namespace partita {

/// The shares of `count` elements in a group of ranks, and this rank's own one.
class Shares {
public:
  Shares(const Communicator &group, std::int64_t total)
      : counts(divide(group.size(), total)), begin(counts.offset(group.rank())),
        count(counts[group.rank()]) {}

  /// Elements of each rank's share, which follow one another in rank order.
  const Counts counts;
  /// First element and number of elements of this rank's share.
  const std::int64_t begin, count;

private:
  /// As equal as whole cache lines of four-byte elements can be.
  static std::vector<std::int64_t> divide(int ranks, std::int64_t total) {
    constexpr std::int64_t kLine = 16;
    std::int64_t lines = (total + kLine - 1) / kLine, before = 0;
    std::vector<std::int64_t> result;
    for (int i = 1; i <= ranks; ++i) {
      std::int64_t end = std::min(total, lines * i / ranks * kLine);
      result.push_back(end - before);
      before = end;
    }
    return result;
  }
};

} // namespace partita

#endif // PARTITA_SHARES_H
