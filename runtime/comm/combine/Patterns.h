//===- Patterns.h - How an all-reduce is done -------------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the channels on host memory agree on, so that they give the same bits
// and count the same bytes: which pattern serves a call, which part of the
// buffer belongs to whom, and in which order the ranks' values are combined.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_COMM_COMBINE_PATTERNS_H
#define PARTITA_COMM_COMBINE_PATTERNS_H

#include "comm/combine/Combine.h"
#include "partita/communicator.h"

namespace partita {

/// The ranks of a group by the node (machine) that they run on. Nodes are
/// ordered by their first rank.
class Nodes {
public:
  /// Rank r runs on the node with the identity nodeOf[r].
  explicit Nodes(const std::vector<int> &nodeOf);

  int count() const { return static_cast<int>(members.size()); }
  int size() const { return static_cast<int>(place.size()); }
  /// The ranks of a node, ascending.
  const std::vector<int> &ranksOf(int node) const { return members[node]; }
  int nodeOf(int rank) const { return place[rank].first; }
  /// The place of a rank among those of its node.
  int indexOf(int rank) const { return place[rank].second; }
  /// Ranks of the node that has the fewest: so many parts are reduced at once
  /// between nodes, each by one rank of every node.
  int shards() const { return fewest; }
  /// The ranks with this place in their nodes, in the order of the nodes.
  std::vector<int> acrossNodes(int index) const;

private:
  std::vector<std::vector<int>> members;
  std::vector<std::pair<int, int>> place;
  int fewest = 0;
};

/// The node of each of `ranks` ranks as PARTITA_NODE_SIZE=n in the environment
/// gives it, blocks of n ranks; empty when it is not set. Tests use it to see
/// several nodes on one machine. Throws `Error` for values that are no positive
/// number.
std::vector<int> nodesByEnvironment(int ranks);

/// What is done for an `Algorithm`. `gather`: everybody sends everything to
/// everybody and combines it in rank order, in one step.
enum class Pattern { gather, direct, ring, tree, hierarchical };

/// The pattern for an all-reduce of `bytes` bytes.
Pattern patternFor(Algorithm algorithm, std::int64_t bytes, const Nodes &nodes);

/// The first element of part `part` when `count` elements are cut into `parts`
/// parts; `partStart(count, parts, parts)` is `count`. Borders are multiples of
/// a cache line, so the last parts of few elements are empty.
std::int64_t partStart(std::int64_t count, int part, int parts);

/// A rank that owns elements of a buffer.
struct Shard {
  int owner;
  std::int64_t start, count;
};

/// `count` elements from `start` on, cut into one part for each owner.
std::vector<Shard> shardsOf(std::int64_t start, std::int64_t count,
                            const std::vector<int> &owners);

/// Elements that `rank` sends in an all-reduce of `count` elements.
std::int64_t elementsSent(Pattern pattern, std::int64_t count, int rank,
                          const Nodes &nodes);

/// Elements that `rank` sends in a broadcast of `count` elements.
std::int64_t elementsSentInBroadcast(std::int64_t count, std::int64_t bytes,
                                     int rank, int root, int size);

/// Up to this size a broadcast sends whole buffers down a binomial tree; above
/// it, parts are scattered and gathered.
constexpr std::int64_t kTreeBroadcastBytes = 32 * 1024;

/// The largest power of two that is not above `ranks`.
int powerOfTwoWithin(int ranks);

/// out[i] = the combination of all ranks' parts[r][i] in the order in which the
/// pattern combines them in part `part` (which only a ring looks at). `out` may
/// be one of the parts.
void combineInPattern(Pattern pattern, int part, const Nodes &nodes, void *out,
                      const std::vector<const void *> &parts,
                      std::int64_t count, DType type, Reduction reduction);

} // namespace partita

#endif // PARTITA_COMM_COMBINE_PATTERNS_H
