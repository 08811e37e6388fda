//===- Collectives.h - How long collectives take ----------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Closed forms in the alpha-beta model: a message of n bytes takes alpha + n
// beta seconds, and a rank sends one and receives one at a time (Thakur,
// Rabenseifner and Gropp, "Optimization of Collective Communication Operations
// in MPICH", IJHPCA 2005, sections 3 and 4). P ranks, n bytes of the whole
// result:
//
//     all-gather, reduce-scatter    ceil(log2 P) alpha + n beta (P - 1) / P
//     all-reduce by halving         2 ceil(log2 P) alpha + 2 n beta (P - 1) / P
//     all-reduce in a ring          2 (P - 1) alpha + 2 n beta (P - 1) / P
//     all-reduce by doubling        ceil(log2 P) (alpha + n beta)
//
// What a machine really does is measured; these are what papers compare, and a
// lower bound for links that nobody shares.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_PASSES_COST_COLLECTIVES_H
#define PARTITA_PASSES_COST_COLLECTIVES_H

#include <cstdint>

namespace partita::cost {

/// A link between two ranks.
struct AlphaBeta {
  /// Seconds before the first byte arrives.
  double alpha = 0;
  /// Seconds for each byte.
  double beta = 0;

  double message(double bytes) const { return alpha + bytes * beta; }
};

/// ceil(log2 ranks); 0 for one rank.
int steps(int64_t ranks);

/// Seconds in which every rank gets the parts of all, `bytes` together, or in
/// which `bytes` on every rank become a reduced part on each: recursive
/// doubling, or halving.
double allGather(double bytes, int64_t ranks, AlphaBeta link);
double reduceScatter(double bytes, int64_t ranks, AlphaBeta link);

/// Seconds of an all-reduce of `bytes` as a reduce-scatter and an all-gather.
double allReduce(double bytes, int64_t ranks, AlphaBeta link);
/// The same around a ring (Patarasuk and Yuan, JPDC 2009).
double allReduceInRing(double bytes, int64_t ranks, AlphaBeta link);
/// The same where partners exchange whole buffers (recursive doubling).
double allReduceByDoubling(double bytes, int64_t ranks, AlphaBeta link);
/// Inside nodes of `perNode` ranks each, then between as many nodes by each
/// rank with its part, then inside again.
double allReduceInHierarchy(double bytes, int64_t nodes, int64_t perNode,
                            AlphaBeta inside, AlphaBeta between);

} // namespace partita::cost

#endif // PARTITA_PASSES_COST_COLLECTIVES_H
