//===- FieldCases.cpp - What went wrong in other systems --------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Public reports of hangs and wrong results, each reduced to a small input,
// under the id that test/cases uses.
//
//===----------------------------------------------------------------------===//

#include "ChannelValues.h"

#include <thread>

using namespace partita;

namespace {

/// NVIDIA/nccl#479, #1279, #1967: both neighbours send first and wait for ever.
/// Halos above the size up to which MPI buffers messages, to both sides, with
/// periodic and with open ends.
void e01HaloExchange(ChannelRank &rank) {
  Communicator &group = rank.group(everybody(rank.world));
  int self = group.rank(), size = group.size();
  constexpr std::int64_t kHalo = 50'000;
  for (bool isPeriodic : {true, false}) {
    std::vector<std::int64_t> counts(size, 0);
    for (int side : {-1, 1}) {
      int peer = self + side;
      if (isPeriodic)
        peer = (peer + size) % size;
      if (peer >= 0 && peer < size && peer != self)
        counts[peer] += kHalo;
    }
    Counts messages(counts);
    std::vector<float> out = bufferOf<float>(self, messages.total());
    std::vector<std::vector<float>> in(
        3, std::vector<float>(static_cast<std::size_t>(messages.total())));
    for (std::vector<float> &halos : in)
      group.exchange(rank.comm, out.data(), messages, halos.data(), messages);
    rank.comm.sync();
    for (int peer = 0; peer < size; ++peer) {
      // Where the messages for this rank lie in the peer's buffer: behind
      // those to its neighbours with lower numbers.
      std::int64_t start = 0;
      for (int other = 0; other < self; ++other) {
        int distance = std::abs(other - peer);
        bool isNeighbour =
            distance == 1 || (isPeriodic && size > 2 && distance == size - 1);
        start += isNeighbour ? kHalo : 0;
      }
      for (const std::vector<float> &halos : in)
        for (std::int64_t i = 0; i < messages[peer]; ++i)
          expectSame(halos[messages.offset(peer) + i],
                     valueAt<float>(peer, start + i),
                     "halo of rank " + std::to_string(peer));
    }
  }
}

/// The rows and the columns of a grid.
struct Grid {
  explicit Grid(const World &world) {
    int columns = world.size % 2 == 0 ? 2 : 1;
    for (int other = 0; other < world.size; ++other) {
      if (other / columns == world.rank / columns)
        row.push_back(other);
      if (other % columns == world.rank % columns)
        column.push_back(other);
    }
  }

  std::vector<int> row, column;
};

/// NVIDIA/nccl#195, #592, #522, #208: groups used at once from different
/// streams block each other under load. Gradients are reduced in rows while
/// columns gather, and ranks are early and late by turns.
void e02RowsAndColumns(ChannelRank &rank) {
  Grid grid(rank.world);
  Communicator &rows = rank.group(grid.row), &columns = rank.group(grid.column);
  constexpr std::int64_t kCount = 20'000;
  std::vector<std::int64_t> even(columns.size(), 500);
  Counts counts(even);
  for (int step = 0; step < 60; ++step) {
    if ((step + rank.world.rank) % 7 == 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::vector<float> gradients = bufferOf<float>(rank.world.rank, kCount);
    std::vector<float> parts(static_cast<std::size_t>(counts.total()));
    for (std::int64_t i = 0; i < 500; ++i)
      parts[counts.offset(columns.rank()) + i] =
          valueAt<float>(rank.world.rank, i + step);
    rows.allReduce(rank.comm, gradients.data(), kCount, Reduction::sum,
                   Algorithm::direct);
    columns.allGather(rank.compute, parts.data(), counts);
    rank.comm.sync();
    for (std::int64_t i = 0; i < kCount; i += 97)
      expectSame(gradients[i], reducedAt<float>(grid.row, i, Reduction::sum),
                 "sum of a row");
    for (int part = 0; part < columns.size(); ++part)
      for (std::int64_t i = 0; i < 500; ++i)
        expectSame(parts[counts.offset(part) + i],
                   valueAt<float>(grid.column[part], i + step),
                   "part of a column");
  }
}

/// bytedance/byteps#430: collectives on nothing fail. Counts of zero for all
/// ranks, and for some of them.
void e08ZeroCounts(ChannelRank &rank) {
  Communicator &group = rank.group(everybody(rank.world));
  int size = group.size(), self = group.rank();
  float *nothing = nullptr;
  Counts none(std::vector<std::int64_t>(size, 0));
  for (Algorithm algorithm :
       {Algorithm::automatic, Algorithm::direct, Algorithm::ring,
        Algorithm::tree, Algorithm::hierarchical})
    group.allReduce(rank.comm, nothing, 0, Reduction::sum, algorithm);
  group.allGather(rank.comm, nothing, none);
  group.reduceScatter(rank.comm, nothing, none, Reduction::max);
  group.broadcast(rank.comm, nothing, 0, /*root=*/size - 1);
  group.exchange(rank.comm, nothing, none, nothing, none);
  if (size > 1) {
    group.push(rank.comm, nothing, none, Reduction::sum, size - 1);
    group.fetch(rank.comm, nothing, none, size - 1);
  }
  rank.comm.sync();
  // Only the last rank has something.
  std::vector<std::int64_t> counts(size, 0);
  counts.back() = 3;
  std::vector<float> buffer = bufferOf<float>(self, 3);
  group.reduceScatter(rank.comm, buffer.data(), Counts(counts), Reduction::sum);
  group.allGather(rank.comm, buffer.data(), Counts(counts));
  rank.comm.sync();
  for (std::int64_t i = 0; i < 3; ++i)
    expectSame(buffer[i],
               reducedAt<float>(everybody(rank.world), i, Reduction::sum),
               "the only part");
}

/// NVIDIA/nccl#1772: fine for one iteration, stuck from the second on. 100
/// steps with two groups, all of them issued before the host waits.
void e09StepsInFlight(ChannelRank &rank) {
  Grid grid(rank.world);
  Communicator &rows = rank.group(grid.row), &columns = rank.group(grid.column);
  constexpr std::int64_t kCount = 5000;
  constexpr int kSteps = 100;
  constexpr Algorithm kTurns[] = {Algorithm::automatic, Algorithm::direct,
                                  Algorithm::ring, Algorithm::tree,
                                  Algorithm::hierarchical};
  // Integers, kept small, so that one rank can follow all of them.
  std::vector<std::int64_t> values(kCount, rank.world.rank);
  for (int step = 0; step < kSteps; ++step) {
    rows.allReduce(rank.comm, values.data(), kCount, Reduction::sum,
                   kTurns[step % 5]);
    columns.allReduce(rank.comm, values.data(), kCount, Reduction::sum,
                      kTurns[step / 5 % 5]);
    rank.comm.run("keep small", [&values] {
      for (std::int64_t &value : values)
        value %= 1'000'003;
    });
  }
  rank.comm.sync();
  // After the first step all ranks hold the sum of all.
  std::int64_t expected = 0, size = rank.world.size;
  for (std::int64_t other = 0; other < size; ++other)
    expected += other;
  for (int step = 1; step < kSteps; ++step)
    expected = expected * size % 1'000'003;
  for (std::int64_t value : values)
    expectSame(value, expected, "value after 100 steps");
}

} // namespace

std::vector<ChannelCase> partita::fieldCases() {
  return {
      {"e01HaloExchange", e01HaloExchange},
      {"e02RowsAndColumns", e02RowsAndColumns},
      {"e08ZeroCounts", e08ZeroCounts},
      {"e09StepsInFlight", e09StepsInFlight},
  };
}
