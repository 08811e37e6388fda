//===- Collectives.cpp - How long collectives take ------------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Cost/Collectives.h"

namespace partita::cost {

/// What of a buffer is on other ranks.
static double others(double bytes, int64_t ranks) {
  return ranks < 2 ? 0 : bytes * double(ranks - 1) / double(ranks);
}

int steps(int64_t ranks) {
  int count = 0;
  for (int64_t reached = 1; reached < ranks; reached *= 2)
    ++count;
  return count;
}

double allGather(double bytes, int64_t ranks, AlphaBeta link) {
  return steps(ranks) * link.alpha + others(bytes, ranks) * link.beta;
}

double reduceScatter(double bytes, int64_t ranks, AlphaBeta link) {
  return allGather(bytes, ranks, link);
}

double allReduce(double bytes, int64_t ranks, AlphaBeta link) {
  return reduceScatter(bytes, ranks, link) + allGather(bytes, ranks, link);
}

double allReduceInRing(double bytes, int64_t ranks, AlphaBeta link) {
  if (ranks < 2)
    return 0;
  return 2 *
         (double(ranks - 1) * link.alpha + others(bytes, ranks) * link.beta);
}

double allReduceByDoubling(double bytes, int64_t ranks, AlphaBeta link) {
  return steps(ranks) * link.message(bytes);
}

double allReduceInHierarchy(double bytes, int64_t nodes, int64_t perNode,
                            AlphaBeta inside, AlphaBeta between) {
  return reduceScatter(bytes, perNode, inside) +
         allReduce(bytes / double(perNode), nodes, between) +
         allGather(bytes, perNode, inside);
}

} // namespace partita::cost
