//===- shares.h - Who owns which part of a flat buffer ----------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A parameter server whose owners are the ranks that train, or servers beside
// them: each owns an equal share of every bucket, whatever layers lie in it, so
// that no large layer makes one rank the bottleneck (Zhang et al., "Poseidon",
// ATC'17, section 4).
//
//   const Shares bucket0Shares{dataRanks, 850};
//   ...
//   dataRanks.reduceScatter(comm, gradients, bucket0Shares.counts, ...);
//   update(comm, bucket0Shares.count, parameters + bucket0Shares.begin, ...);
//   dataRanks.allGather(comm, parameters, bucket0Shares.counts);
//
// With servers, here behind four workers:
//
//   const Shares bucket0Shares{dataServers, 850, 4};
//   ...
//   dataServers.push(comm, gradients, bucket0Shares.counts, ..., 4);
//   update(comm, bucket0Shares.count, ...);  // on servers
//   dataServers.fetch(comm, parameters, bucket0Shares.counts, 4);
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_SHARES_H
#define PARTITA_SHARES_H

#include "partita/communicator.h"

#include <algorithm>

namespace partita {

/// The shares of `total` elements in a group of ranks, and this rank's own one.
/// The first `workers` ranks of the group have none.
class Shares {
public:
  Shares(const Communicator &group, std::int64_t total, int workers = 0)
      : counts(divide(group.size() - workers, total, workers)),
        begin(counts.offset(group.rank())), count(counts[group.rank()]) {}

  /// Elements of each rank's share, which follow one another in rank order.
  const Counts counts;
  /// First element and number of elements of this rank's share.
  const std::int64_t begin, count;

private:
  /// As equal as whole cache lines of four-byte elements can be.
  static std::vector<std::int64_t> divide(int owners, std::int64_t total,
                                          int workers) {
    constexpr std::int64_t kLine = 16;
    std::int64_t lines = (total + kLine - 1) / kLine, before = 0;
    std::vector<std::int64_t> result(workers, 0);
    for (int i = 1; i <= owners; ++i) {
      std::int64_t end = std::min(total, lines * i / owners * kLine);
      result.push_back(end - before);
      before = end;
    }
    return result;
  }
};

} // namespace partita

#endif // PARTITA_SHARES_H
