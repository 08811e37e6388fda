//===- AlgorithmCases.cpp - The algorithms of all-reduces -------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each algorithm against its own order of combination, element by element, and
// against the bytes of its formula. PARTITA_NODE_SIZE gives the nodes.
//
//===----------------------------------------------------------------------===//

#include "ChannelValues.h"

#include <cstdlib>
#include <numeric>

using namespace partita;

namespace {

constexpr Algorithm kAlgorithms[] = {Algorithm::direct, Algorithm::ring,
                                     Algorithm::tree, Algorithm::hierarchical};

/// The nodes of a group of ranks of the world, each with places in the group.
std::vector<std::vector<int>> nodesOf(const std::vector<int> &members) {
  const char *text = std::getenv("PARTITA_NODE_SIZE");
  int size = text ? std::atoi(text) : 1 << 30;
  std::vector<std::vector<int>> nodes;
  int last = -1;
  for (std::size_t place = 0; place < members.size(); ++place) {
    if (members[place] / size != last)
      nodes.emplace_back();
    last = members[place] / size;
    nodes.back().push_back(static_cast<int>(place));
  }
  return nodes;
}

/// The part of a ring that an element is in: parts are equal in units of 16
/// elements.
int ringPartOf(std::int64_t place, std::int64_t count, int ranks) {
  std::int64_t units = (count + 15) / 16;
  int part = 0;
  while (place >= units * (part + 1) / ranks * 16)
    ++part;
  return part;
}

/// What the values of all ranks at one place become.
template <typename T>
T combined(Algorithm algorithm, std::vector<T> values, std::int64_t place,
           std::int64_t count, const std::vector<std::vector<int>> &nodes,
           Reduction reduction) {
  auto fold = [&](const std::vector<T> &list) {
    return std::accumulate(list.begin() + 1, list.end(), list[0],
                           [&](T a, T b) { return combine(a, b, reduction); });
  };
  std::size_t ranks = values.size();
  switch (algorithm) {
  case Algorithm::automatic:
  case Algorithm::direct:
    return fold(values);
  case Algorithm::ring: {
    int part = ringPartOf(place, count, static_cast<int>(ranks));
    std::rotate(values.begin(),
                values.begin() + (part + 1) % static_cast<int>(ranks),
                values.end());
    return fold(values);
  }
  case Algorithm::tree: {
    std::size_t inner = 1;
    while (2 * inner <= ranks)
      inner *= 2;
    for (std::size_t rank = inner; rank < ranks; ++rank)
      values[rank - inner] =
          combine(values[rank - inner], values[rank], reduction);
    for (; inner > 1; inner /= 2)
      for (std::size_t pair = 0; pair < inner / 2; ++pair)
        values[pair] =
            combine(values[2 * pair], values[2 * pair + 1], reduction);
    return values[0];
  }
  case Algorithm::hierarchical: {
    std::vector<T> results;
    for (const std::vector<int> &node : nodes) {
      std::vector<T> inside;
      for (int rank : node)
        inside.push_back(values[rank]);
      results.push_back(fold(inside));
    }
    return fold(results);
  }
  }
  return T();
}

template <typename T>
void checkAllReduce(ChannelRank &rank, const std::vector<int> &members,
                    Communicator &group, Algorithm algorithm,
                    Reduction reduction, std::int64_t count) {
  std::vector<T> buffer = bufferOf<T>(rank.world.rank, count);
  // An element behind the buffer, which nobody may touch.
  buffer.push_back(T(77));
  group.allReduce(rank.comm, buffer.data(), count, reduction, algorithm);
  rank.comm.sync();
  auto nodes = nodesOf(members);
  std::vector<T> values(members.size());
  for (std::int64_t i = 0; i < count; ++i) {
    for (std::size_t place = 0; place < members.size(); ++place)
      values[place] = valueAt<T>(members[place], i);
    expectSame(buffer[i],
               combined(algorithm, values, i, count, nodes, reduction),
               std::string(nameOf(algorithm)) + " allReduce " +
                   nameOf(reduction) + " of " + std::to_string(count) + " " +
                   nameOf(DTypeOf<T>::value) + " at " + std::to_string(i));
  }
  expectSame(buffer.back(), T(77), "behind the buffer");
}

void algorithms(ChannelRank &rank) {
  std::vector<int> members = everybody(rank.world);
  Communicator &group = rank.group(members);
  for (Algorithm algorithm : kAlgorithms)
    forTypes([&](auto zero) {
      for (Reduction reduction : kReductions)
        for (std::int64_t count : {0, 1, 2, 17, 300, 3000})
          checkAllReduce<decltype(zero)>(rank, members, group, algorithm,
                                         reduction, count);
    });
}

/// Several segments, more than are on their way at once, and a rest.
void algorithmsOnLargeBuffers(ChannelRank &rank) {
  std::vector<int> members = everybody(rank.world);
  Communicator &group = rank.group(members);
  for (Algorithm algorithm : kAlgorithms)
    checkAllReduce<float>(rank, members, group, algorithm, Reduction::sum,
                          400'001 + 65'536 * (rank.world.size - 1));
}

/// Every second rank: groups whose nodes have fewer ranks than the machine.
void algorithmsInGroups(ChannelRank &rank) {
  std::vector<int> members;
  for (int other = rank.world.rank % 2; other < rank.world.size; other += 2)
    members.push_back(other);
  Communicator &group = rank.group(members);
  for (int round = 0; round < 5; ++round)
    for (Algorithm algorithm : kAlgorithms)
      checkAllReduce<double>(rank, members, group, algorithm, Reduction::sum,
                             1000 + round);
}

/// Whatever the channel chooses: equal on all ranks, and the sum.
void automaticChoice(ChannelRank &rank) {
  std::vector<int> members = everybody(rank.world);
  Communicator &group = rank.group(members);
  for (std::int64_t count : {3, 700, 5'000, 40'000, 300'000}) {
    std::vector<float> buffer = bufferOf<float>(rank.world.rank, count);
    group.allReduce(rank.comm, buffer.data(), count, Reduction::sum);
    rank.comm.sync();
    std::vector<float> first = buffer;
    group.broadcast(rank.comm, first.data(), count, /*root=*/0);
    rank.comm.sync();
    for (std::int64_t i = 0; i < count; ++i) {
      expectSame(buffer[i], first[i], "the sum of rank 0");
      double sum = 0, scale = 0;
      for (int member : members) {
        sum += valueAt<float>(member, i);
        scale += std::abs(valueAt<float>(member, i));
      }
      if (std::abs(buffer[i] - sum) > 1e-6 * scale)
        throw Error("automatic sum of " + std::to_string(count) + ": found " +
                    std::to_string(buffer[i]) + ", expected about " +
                    std::to_string(sum));
    }
  }
}

/// Counted bytes: exact over all ranks, and spread as the formulas say.
void algorithmsCountBytes(ChannelRank &rank) {
  std::vector<int> members = everybody(rank.world);
  Communicator &group = rank.group(members);
  auto nodes = nodesOf(members);
  std::int64_t n = rank.world.size, nodeCount = nodes.size();
  bool even = n % nodeCount == 0 && nodes[0].size() == nodes.back().size();
  for (std::int64_t count : {5, 1000, 200'000})
    for (Algorithm algorithm : kAlgorithms) {
      Traffic traffic;
      group.setTraffic(&traffic);
      std::vector<float> buffer(static_cast<std::size_t>(count), 1.0f);
      group.allReduce(rank.comm, buffer.data(), count, Reduction::sum,
                      algorithm);
      rank.comm.sync();
      group.setTraffic(nullptr);
      std::int64_t sent = traffic.totalBytes(), bytes = 4 * count;
      double total = static_cast<double>(sent);
      rank.world.sum(&total, 1);
      std::string what = std::string("bytes of ") + nameOf(algorithm) + " of " +
                         std::to_string(count);
      // Whole buffers along the edges of a tree, parts otherwise.
      std::int64_t inner = 1, levels = 0;
      for (; 2 * inner <= n; inner *= 2)
        ++levels;
      std::int64_t expected = algorithm == Algorithm::tree
                                  ? (inner * levels + 2 * (n - inner)) * bytes
                                  : 2 * (n - 1) * bytes;
      expectSame<double>(total, static_cast<double>(expected), what);
      if (algorithm == Algorithm::tree ||
          (algorithm == Algorithm::hierarchical && !even))
        continue;
      // Parts differ by a unit of 16 elements in each step.
      std::int64_t perRank = expected / n, rounding = 64 * 2 * n;
      if (count == 200'000 && std::abs(sent - perRank) > rounding)
        throw Error(what + " on rank " + std::to_string(rank.world.rank) +
                    ": found " + std::to_string(sent) + ", expected about " +
                    std::to_string(perRank));
    }
}

/// Each element reaches each rank once.
void broadcastsCountBytes(ChannelRank &rank) {
  Communicator &group = rank.group(everybody(rank.world));
  std::int64_t n = rank.world.size;
  for (std::int64_t count : {1, 1000, 100'000})
    for (int root : {0, static_cast<int>(n) - 1}) {
      Traffic traffic;
      group.setTraffic(&traffic);
      std::vector<float> buffer = bufferOf<float>(rank.world.rank, count);
      group.broadcast(rank.comm, buffer.data(), count, root);
      rank.comm.sync();
      group.setTraffic(nullptr);
      for (std::int64_t i = 0; i < count; ++i)
        expectSame(buffer[i], valueAt<float>(root, i), "broadcast");
      double total = static_cast<double>(traffic.totalBytes());
      rank.world.sum(&total, 1);
      expectSame<double>(total, 4.0 * static_cast<double>(count * (n - 1)),
                         "bytes of a broadcast");
    }
}

} // namespace

std::vector<ChannelCase> partita::algorithmCases() {
  return {
      {"algorithms", algorithms},
      {"algorithmsOnLargeBuffers", algorithmsOnLargeBuffers},
      {"algorithmsInGroups", algorithmsInGroups},
      {"automaticChoice", automaticChoice},
      {"algorithmsCountBytes", algorithmsCountBytes},
      {"broadcastsCountBytes", broadcastsCountBytes},
  };
}
