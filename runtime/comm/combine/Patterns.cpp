//===- Patterns.cpp - How an all-reduce is done -----------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements Patterns.h. Of the sizes at which one pattern gives way to
// another, those for several nodes rest on measurements of 4 ranks on a busy
// machine with `tools/bench channels --rate`; the others are estimates.
//
//===----------------------------------------------------------------------===//

#include "comm/combine/Patterns.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>

using namespace partita;

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

Nodes::Nodes(const std::vector<int> &nodeOf) {
  std::map<int, int> order;
  for (int rank = 0; rank < static_cast<int>(nodeOf.size()); ++rank) {
    auto [entry, isNew] = order.try_emplace(nodeOf[rank], count());
    if (isNew)
      members.emplace_back();
    std::vector<int> &node = members[entry->second];
    place.emplace_back(entry->second, static_cast<int>(node.size()));
    node.push_back(rank);
  }
  fewest = size();
  for (const std::vector<int> &node : members)
    fewest = std::min(fewest, static_cast<int>(node.size()));
}

std::vector<int> Nodes::acrossNodes(int index) const {
  std::vector<int> ranks;
  for (const std::vector<int> &node : members)
    ranks.push_back(node[index]);
  return ranks;
}

std::vector<int> partita::nodesByEnvironment(int ranks) {
  const char *text = std::getenv("PARTITA_NODE_SIZE");
  if (!text)
    return {};
  char *end = nullptr;
  long size = std::strtol(text, &end, /*base=*/10);
  if (end == text || *end || size < 1 || size > std::numeric_limits<int>::max())
    throw Error(std::string("the environment's PARTITA_NODE_SIZE is '") + text +
                "', expected the number of ranks in a node; unset it to have "
                "the machines as nodes");
  std::vector<int> nodeOf(ranks);
  for (int rank = 0; rank < ranks; ++rank)
    nodeOf[rank] = rank / static_cast<int>(size);
  return nodeOf;
}

//===----------------------------------------------------------------------===//
// Choice
//===----------------------------------------------------------------------===//

/// Bytes up to which one step with everything beats two with parts: what
/// arrives at a rank takes no longer than a message's latency.
constexpr std::int64_t kGatherBytes = 16 * 1024;

/// Above so many ranks the n - 1 messages of a rank cost more than the steps
/// that they save: small buffers go along a tree, large ones around a ring, in
/// which nobody receives from all others at once.
constexpr int kManyRanks = 16;

/// Bytes above which a tree's log2(n) whole buffers cost more than the steps
/// that they save.
constexpr std::int64_t kTreeBytes = 64 * 1024;

/// Bytes from which the two steps inside a node cost less than they save
/// between nodes. Measured twice on 2 nodes of 2 ranks with links of 1 Gbit/s:
/// at 64 KB direct messages took about 0.6 of a hierarchy's time, at 8 MB 1.5
/// times; at 1 MB 1.7 times in one run, and less than the hierarchy's in the
/// other.
constexpr std::int64_t kHierarchyBytes = 128 * 1024;

/// Bytes from which on a network a ring is preferred, in which each link has
/// one sender. Measured on 4 nodes of one rank: at 0.4 MB a ring is 2 to 3 per
/// cent faster on links of 1 Gbit/s and of 0.1 Gbit/s, at 0.9 MB 1 and 10 per
/// cent; at 60 KB it takes four times as long at 1 Gbit/s.
constexpr std::int64_t kRingBytes = 256 * 1024;

Pattern partita::patternFor(Algorithm algorithm, std::int64_t bytes,
                            const Nodes &nodes) {
  int ranks = nodes.size();
  switch (algorithm) {
  case Algorithm::direct:
    return Pattern::direct;
  case Algorithm::ring:
    return Pattern::ring;
  case Algorithm::tree:
    return Pattern::tree;
  case Algorithm::hierarchical:
    return Pattern::hierarchical;
  case Algorithm::automatic:
    break;
  }
  if (bytes * (ranks - 1) <= kGatherBytes)
    return Pattern::gather;
  if (bytes <= kTreeBytes && ranks > kManyRanks)
    return Pattern::tree;
  // Inside a node bytes are cheap: let each of them cross the network once.
  if (nodes.count() > 1 && nodes.shards() > 1 && bytes >= kHierarchyBytes)
    return Pattern::hierarchical;
  if (nodes.count() > 1 && bytes >= kRingBytes)
    return Pattern::ring;
  return ranks > kManyRanks ? Pattern::ring : Pattern::direct;
}

//===----------------------------------------------------------------------===//
// Parts and bytes
//===----------------------------------------------------------------------===//

std::int64_t partita::partStart(std::int64_t count, int part, int parts) {
  // Two ranks of one process never write to one line of the cache.
  constexpr std::int64_t kUnit = 16;
  std::int64_t units = (count + kUnit - 1) / kUnit;
  return std::min(count, units * part / parts * kUnit);
}

std::vector<Shard> partita::shardsOf(std::int64_t start, std::int64_t count,
                                     const std::vector<int> &owners) {
  std::vector<Shard> shards;
  int parts = static_cast<int>(owners.size());
  for (int part = 0; part < parts; ++part) {
    std::int64_t from = partStart(count, part, parts);
    shards.push_back(
        {owners[part], start + from, partStart(count, part + 1, parts) - from});
  }
  return shards;
}

int partita::powerOfTwoWithin(int ranks) {
  int power = 1;
  while (power <= ranks / 2)
    power *= 2;
  return power;
}

/// A reduce-scatter and an all-gather of `count` elements between `ranks`
/// ranks.
static std::int64_t sentDirectly(std::int64_t count, int index, int ranks) {
  std::int64_t mine =
      partStart(count, index + 1, ranks) - partStart(count, index, ranks);
  return count - mine + mine * (ranks - 1);
}

static std::int64_t sentInHierarchy(std::int64_t count, int rank,
                                    const Nodes &nodes) {
  int index = nodes.indexOf(rank), shards = nodes.shards();
  if (index >= shards)
    return count;
  std::int64_t mine =
      partStart(count, index + 1, shards) - partStart(count, index, shards);
  std::size_t neighbours = nodes.ranksOf(nodes.nodeOf(rank)).size() - 1;
  return count - mine + sentDirectly(mine, nodes.nodeOf(rank), nodes.count()) +
         mine * static_cast<std::int64_t>(neighbours);
}

std::int64_t partita::elementsSent(Pattern pattern, std::int64_t count,
                                   int rank, const Nodes &nodes) {
  int ranks = nodes.size();
  switch (pattern) {
  case Pattern::gather:
    return count * (ranks - 1);
  case Pattern::direct:
    return sentDirectly(count, rank, ranks);
  case Pattern::ring: {
    // All parts but its own, then all but the one that ends at the next rank.
    auto sizeOfPart = [&](int part) {
      return partStart(count, part + 1, ranks) - partStart(count, part, ranks);
    };
    return 2 * count - sizeOfPart(rank) - sizeOfPart((rank + 1) % ranks);
  }
  case Pattern::tree: {
    int inner = powerOfTwoWithin(ranks);
    if (rank >= inner)
      return count;
    std::int64_t messages = rank + inner < ranks ? 1 : 0;
    for (int distance = 1; distance < inner; distance *= 2)
      ++messages;
    return messages * count;
  }
  case Pattern::hierarchical:
    return sentInHierarchy(count, rank, nodes);
  }
  return 0;
}

std::int64_t partita::elementsSentInBroadcast(std::int64_t count,
                                              std::int64_t bytes, int rank,
                                              int root, int size) {
  int place = (rank - root + size) % size;
  if (bytes <= kTreeBroadcastBytes) {
    // A rank sends to the places that differ from its own in one bit below its
    // lowest.
    std::int64_t children = 0;
    for (int bit = 1; bit < size && !(place & bit); bit *= 2)
      children += place + bit < size;
    return children * count;
  }
  std::int64_t mine =
      partStart(count, rank + 1, size) - partStart(count, rank, size);
  std::int64_t gathered = mine * (size - 1);
  // The root keeps everything and is sent nothing.
  return rank == root ? count - mine + gathered : gathered - mine;
}

//===----------------------------------------------------------------------===//
// Orders
//===----------------------------------------------------------------------===//

/// Elements combined at a time where there are intermediate results.
constexpr std::int64_t kBlock = 2048;

static std::vector<const void *> shifted(const std::vector<const void *> &parts,
                                         std::int64_t bytes) {
  std::vector<const void *> result;
  for (const void *part : parts)
    result.push_back(static_cast<const char *>(part) + bytes);
  return result;
}

/// Calls combine(out, parts) for blocks of the buffers.
template <typename Combine>
static void forBlocks(void *out, const std::vector<const void *> &parts,
                      std::int64_t count, std::int64_t elementBytes,
                      const Combine &combine) {
  for (std::int64_t start = 0; start < count; start += kBlock)
    combine(static_cast<char *>(out) + start * elementBytes,
            shifted(parts, start * elementBytes),
            std::min(kBlock, count - start));
}

void partita::combineInPattern(Pattern pattern, int part, const Nodes &nodes,
                               void *out,
                               const std::vector<const void *> &parts,
                               std::int64_t count, DType type,
                               Reduction reduction) {
  int ranks = nodes.size();
  std::int64_t elementBytes = sizeOf(type), blockBytes = kBlock * elementBytes;
  switch (pattern) {
  case Pattern::gather:
  case Pattern::direct:
    return combineInOrder(out, parts, count, type, reduction);
  case Pattern::ring: {
    std::vector<const void *> order;
    for (int step = 1; step <= ranks; ++step)
      order.push_back(parts[(part + step) % ranks]);
    return combineInOrder(out, order, count, type, reduction);
  }
  case Pattern::tree: {
    int inner = powerOfTwoWithin(ranks);
    std::vector<char> space(static_cast<std::size_t>(blockBytes * inner));
    auto place = [&](int rank) { return space.data() + rank * blockBytes; };
    return forBlocks(
        out, parts, count, elementBytes,
        [&](void *to, const std::vector<const void *> &from, std::int64_t n) {
          for (int rank = 0; rank < inner; ++rank) {
            std::vector<const void *> folded = {from[rank]};
            if (rank + inner < ranks)
              folded.push_back(from[rank + inner]);
            combineInOrder(place(rank), folded, n, type, reduction);
          }
          for (int distance = 1; distance < inner; distance *= 2)
            for (int rank = 0; rank < inner; rank += 2 * distance)
              combineInOrder(place(rank), {place(rank), place(rank + distance)},
                             n, type, reduction);
          combineInOrder(to, {place(0)}, n, type, reduction);
        });
  }
  case Pattern::hierarchical: {
    std::vector<char> space(
        static_cast<std::size_t>(blockBytes * nodes.count()));
    return forBlocks(
        out, parts, count, elementBytes,
        [&](void *to, const std::vector<const void *> &from, std::int64_t n) {
          std::vector<const void *> results;
          for (int node = 0; node < nodes.count(); ++node) {
            std::vector<const void *> inside;
            for (int rank : nodes.ranksOf(node))
              inside.push_back(from[rank]);
            char *result = space.data() + node * blockBytes;
            combineInOrder(result, inside, n, type, reduction);
            results.push_back(result);
          }
          combineInOrder(to, results, n, type, reduction);
        });
  }
  }
}
