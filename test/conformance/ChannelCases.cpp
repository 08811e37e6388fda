//===- ChannelCases.cpp - What every channel must do ------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements ChannelCases.h, and the cases that show each collective by itself.
// Small groups reduce in rank order.
//
//===----------------------------------------------------------------------===//

#include "ChannelValues.h"

#include <limits>

using namespace partita;

namespace {

//===----------------------------------------------------------------------===//
// The collectives, one by one
//===----------------------------------------------------------------------===//

void allReduce(ChannelRank &rank) {
  std::vector<int> members = everybody(rank.world);
  Communicator &group = rank.group(members);
  forTypes([&](auto zero) {
    using T = decltype(zero);
    for (Reduction reduction : kReductions)
      for (std::int64_t size : kSizes) {
        std::vector<T> buffer = bufferOf<T>(rank.world.rank, size);
        group.allReduce(rank.comm, buffer.data(), size, reduction);
        rank.comm.sync();
        for (std::int64_t i = 0; i < size; ++i)
          expectSame(buffer[i], reducedAt<T>(members, i, reduction),
                     std::string("allReduce ") + nameOf(reduction) + " of " +
                         std::to_string(size) + " " +
                         nameOf(DTypeOf<T>::value) + " at " +
                         std::to_string(i));
      }
  });
}

void allGather(ChannelRank &rank) {
  Communicator &group = rank.group(everybody(rank.world));
  forTypes([&](auto zero) {
    using T = decltype(zero);
    for (std::int64_t scale : {0, 1, 7, 1000}) {
      Counts counts = unevenCounts(group.size(), scale);
      std::vector<T> buffer(counts.total(), T(0));
      for (std::int64_t i = 0; i < counts[group.rank()]; ++i)
        buffer[counts.offset(group.rank()) + i] = valueAt<T>(group.rank(), i);
      group.allGather(rank.comm, buffer.data(), counts);
      rank.comm.sync();
      for (int part = 0; part < group.size(); ++part)
        for (std::int64_t i = 0; i < counts[part]; ++i)
          expectSame(buffer[counts.offset(part) + i], valueAt<T>(part, i),
                     "allGather part " + std::to_string(part));
    }
  });
}

void reduceScatter(ChannelRank &rank) {
  std::vector<int> members = everybody(rank.world);
  Communicator &group = rank.group(members);
  forTypes([&](auto zero) {
    using T = decltype(zero);
    for (Reduction reduction : kReductions)
      for (std::int64_t scale : {0, 1, 7, 1000}) {
        Counts counts = unevenCounts(group.size(), scale);
        std::vector<T> buffer = bufferOf<T>(rank.world.rank, counts.total());
        group.reduceScatter(rank.comm, buffer.data(), counts, reduction);
        rank.comm.sync();
        std::int64_t start = counts.offset(group.rank());
        for (std::int64_t i = start; i < start + counts[group.rank()]; ++i)
          expectSame(buffer[i], reducedAt<T>(members, i, reduction),
                     std::string("reduceScatter ") + nameOf(reduction));
      }
  });
}

void broadcast(ChannelRank &rank) {
  Communicator &group = rank.group(everybody(rank.world));
  forTypes([&](auto zero) {
    using T = decltype(zero);
    for (int root = 0; root < group.size(); ++root)
      for (std::int64_t size : kSizes) {
        std::vector<T> buffer = bufferOf<T>(rank.world.rank, size);
        group.broadcast(rank.comm, buffer.data(), size, root);
        rank.comm.sync();
        for (std::int64_t i = 0; i < size; ++i)
          expectSame(buffer[i], valueAt<T>(root, i),
                     "broadcast from " + std::to_string(root));
      }
  });
}

/// What a rank sends to another: nothing to some, and never the same both ways.
std::int64_t messageSize(int from, int to, std::int64_t scale) {
  return from == to || (from + 2 * to) % 4 == 1 ? 0 : scale * (from + 3 * to);
}

/// The counts of a rank's messages to (or from) all ranks.
Counts messageCounts(int rank, int size, std::int64_t scale, bool sends) {
  std::vector<std::int64_t> counts;
  for (int peer = 0; peer < size; ++peer)
    counts.push_back(sends ? messageSize(rank, peer, scale)
                           : messageSize(peer, rank, scale));
  return Counts(counts);
}

void exchange(ChannelRank &rank) {
  Communicator &group = rank.group(everybody(rank.world));
  int self = group.rank(), size = group.size();
  auto check = [&](auto zero) {
    using T = decltype(zero);
    for (std::int64_t scale : {0, 1, 7, 1000}) {
      Counts sent = messageCounts(self, size, scale, /*sends=*/true);
      Counts received = messageCounts(self, size, scale, /*sends=*/false);
      std::vector<T> out = bufferOf<T>(self, sent.total());
      std::vector<T> in(static_cast<std::size_t>(received.total()) + 1, T(42));
      group.exchange(rank.comm, out.data(), sent, in.data(), received);
      rank.comm.sync();
      for (int peer = 0; peer < size; ++peer) {
        // Where this rank's message lay in the peer's buffer.
        std::int64_t start =
            messageCounts(peer, size, scale, /*sends=*/true).offset(self);
        for (std::int64_t i = 0; i < received[peer]; ++i)
          expectSame(in[received.offset(peer) + i], valueAt<T>(peer, start + i),
                     "exchange with rank " + std::to_string(peer) + " at " +
                         std::to_string(i));
      }
      expectSame(in.back(), T(42), "exchange behind the buffer");
      if (out != bufferOf<T>(self, sent.total()))
        throw Error("exchange changed what it sent");
    }
  };
  forTypes(check);
  check(std::uint8_t());
}

/// Exchanges in the rows and the columns of a grid, several in flight, from and
/// to parts of one buffer.
void exchangeInGroups(ChannelRank &rank) {
  int size = rank.world.size, columns = size % 2 == 0 ? 2 : 1;
  std::vector<int> row, column;
  for (int other = 0; other < size; ++other) {
    if (other / columns == rank.world.rank / columns)
      row.push_back(other);
    if (other % columns == rank.world.rank % columns)
      column.push_back(other);
  }
  Communicator *groups[] = {&rank.group(row), &rank.group(column)};
  const std::vector<int> *members[] = {&row, &column};
  // Every rank sends one element to the next one of its group.
  constexpr int kSteps = 20;
  std::vector<std::int64_t> buffer(4 * kSteps, -1);
  for (int step = 0; step < 2 * kSteps; ++step) {
    Communicator &group = *groups[step % 2];
    std::vector<std::int64_t> sent(group.size(), 0), received = sent;
    if (group.size() > 1) {
      sent[(group.rank() + 1) % group.size()] = 1;
      received[(group.rank() + group.size() - 1) % group.size()] = 1;
    }
    std::int64_t *out = buffer.data() + 2 * step;
    *out = rank.world.rank * 1000 + step;
    group.exchange(rank.comm, out, Counts(sent), out + 1, Counts(received));
  }
  rank.comm.sync();
  for (int step = 0; step < 2 * kSteps; ++step) {
    const Communicator &group = *groups[step % 2];
    int before = (group.rank() + group.size() - 1) % group.size();
    std::int64_t expected =
        group.size() > 1 ? (*members[step % 2])[before] * 1000 + step : -1;
    expectSame(buffer[2 * step + 1], expected, "exchange in a group");
  }
}

void notANumber(ChannelRank &rank) {
  Communicator &group = rank.group(everybody(rank.world));
  for (Reduction reduction : kReductions) {
    float value = rank.world.rank == rank.world.size - 1
                      ? std::numeric_limits<float>::quiet_NaN()
                      : 1.0f;
    group.allReduce(rank.comm, &value, 1, reduction);
    rank.comm.sync();
    if (value == value)
      throw Error(std::string(nameOf(reduction)) + " lost a NaN");
  }
}

//===----------------------------------------------------------------------===//
// Groups and order
//===----------------------------------------------------------------------===//

/// The rows and the columns of a grid, summed at once.
void gridGroups(ChannelRank &rank) {
  int size = rank.world.size, columns = size % 2 == 0 ? 2 : 1;
  std::vector<int> row, column;
  for (int other = 0; other < size; ++other) {
    if (other / columns == rank.world.rank / columns)
      row.push_back(other);
    if (other % columns == rank.world.rank % columns)
      column.push_back(other);
  }
  Communicator &rows = rank.group(row);
  Communicator &cols = rank.group(column);
  constexpr std::int64_t kCount = 999;
  for (int step = 0; step < 20; ++step) {
    std::vector<float> a = bufferOf<float>(rank.world.rank, kCount), b = a;
    rows.allReduce(rank.comm, a.data(), kCount, Reduction::sum);
    cols.allReduce(rank.comm, b.data(), kCount, Reduction::sum);
    rank.comm.sync();
    for (std::int64_t i = 0; i < kCount; ++i) {
      expectSame(a[i], reducedAt<float>(row, i, Reduction::sum), "row sum");
      expectSame(b[i], reducedAt<float>(column, i, Reduction::sum),
                 "column sum");
    }
  }
}

/// Many steps in flight, ordered by events only.
void loopWithEvents(ChannelRank &rank) {
  std::vector<int> members = everybody(rank.world);
  Communicator &group = rank.group(members);
  constexpr std::int64_t kCount = 600;
  std::vector<std::int64_t> buffer(kCount, 0);
  std::int64_t expected = 0;
  for (std::int64_t step = 1; step <= 200; ++step) {
    rank.compute.wait(rank.summed);
    rank.compute.run("add", [&buffer, &rank] {
      for (std::int64_t &value : buffer)
        value += rank.world.rank;
    });
    rank.compute.record(rank.ready);
    rank.comm.wait(rank.ready);
    group.allReduce(rank.comm, buffer.data(), kCount, Reduction::max);
    rank.comm.record(rank.summed);
    expected += rank.world.size - 1;
  }
  rank.compute.wait(rank.summed);
  for (std::int64_t value : buffer)
    expectSame(value, expected, "value after 200 steps");
}

/// Collectives on the compute stream come after those queued on comm.
void bothStreams(ChannelRank &rank) {
  std::vector<int> members = everybody(rank.world);
  Communicator &group = rank.group(members);
  std::vector<double> a = bufferOf<double>(rank.world.rank, 5000), b = a;
  for (int i = 0; i < 3; ++i)
    group.allReduce(rank.comm, a.data(), 5000, Reduction::max);
  group.allReduce(rank.compute, b.data(), 5000, Reduction::max);
  rank.comm.sync();
  for (std::int64_t i = 0; i < 5000; ++i) {
    expectSame(a[i], reducedAt<double>(members, i, Reduction::max), "comm");
    expectSame(b[i], reducedAt<double>(members, i, Reduction::max), "compute");
  }
}

void trafficIsCounted(ChannelRank &rank) {
  Communicator &group = rank.group(everybody(rank.world));
  Traffic traffic;
  group.setTraffic(&traffic);
  std::vector<float> buffer(100000, 1.0f);
  group.allReduce(rank.comm, buffer.data(), 100000, Reduction::sum);
  rank.comm.sync();
  // A ring sends 2 (n - 1) / n of the buffer; chunks are rounded.
  std::int64_t n = rank.world.size, expected = 2 * 400000 * (n - 1) / n;
  std::int64_t found = traffic.totalBytes();
  if (found < expected - 1000 || found > expected + 1000)
    throw Error("counted " + std::to_string(found) + " bytes, expected about " +
                std::to_string(expected));
  // An exchange sends what its counts say.
  Counts sent = messageCounts(group.rank(), group.size(), 5, /*sends=*/true);
  Counts received =
      messageCounts(group.rank(), group.size(), 5, /*sends=*/false);
  std::vector<double> out(sent.total(), 1.0), in(received.total(), 0.0);
  group.exchange(rank.comm, out.data(), sent, in.data(), received);
  rank.comm.sync();
  expectSame<std::int64_t>(traffic.totalBytes() - found, 8 * sent.total(),
                           "bytes of an exchange");
  if (n > 1 && !(traffic.peakRate() > 0))
    throw Error("the peak rate is 0 after an all-reduce");
}

//===----------------------------------------------------------------------===//
// What ranks tell each other about the job
//===----------------------------------------------------------------------===//

void worldCalls(ChannelRank &rank) {
  World &world = rank.world;
  for (int round = 0; round < 10; ++round) {
    std::int64_t values[] = {world.rank, -world.rank, round};
    world.maximum(values, 3);
    expectSame<std::int64_t>(values[0], world.size - 1, "maximum");
    expectSame<std::int64_t>(values[1], 0, "maximum of negatives");
    expectSame<std::int64_t>(values[2], round, "maximum of equals");
    double sums[] = {0.1 * world.rank, 1};
    world.sum(sums, 2);
    double expected = 0;
    for (int other = 1; other < world.size; ++other)
      expected += 0.1 * other;
    expectSame(sums[0], expected, "sum");
    expectSame<double>(sums[1], world.size, "sum of ones");
    int root = round % world.size, value = world.rank;
    world.broadcast(&value, sizeof(value), root);
    expectSame(value, root, "broadcast");
    std::vector<std::int32_t> mine(world.rank * 100, world.rank);
    auto all = world.gather(mine.data(), mine.size() * 4);
    if (world.rank != 0) {
      if (!all.empty())
        throw Error("gather gave something to a rank that is not 0");
      continue;
    }
    for (int other = 0; other < world.size; ++other) {
      expectSame<std::size_t>(all[other].size(), other * 400, "gather size");
      for (std::size_t i = 0; i < all[other].size(); i += 4) {
        std::int32_t found;
        std::memcpy(&found, all[other].data() + i, 4);
        expectSame<std::int32_t>(found, other, "gather");
      }
    }
  }
}

} // namespace

const std::vector<ChannelCase> &partita::channelCases() {
  static const std::vector<ChannelCase> cases = [] {
    std::vector<ChannelCase> all = {
        {"allReduce", allReduce},
        {"allGather", allGather},
        {"reduceScatter", reduceScatter},
        {"broadcast", broadcast},
        {"exchange", exchange},
        {"exchangeInGroups", exchangeInGroups},
        {"notANumber", notANumber},
        {"gridGroups", gridGroups},
        {"loopWithEvents", loopWithEvents},
        {"bothStreams", bothStreams},
        {"trafficIsCounted", trafficIsCounted},
        {"worldCalls", worldCalls},
    };
    for (const auto &more : {algorithmCases(), serverCases(), fieldCases()})
      all.insert(all.end(), more.begin(), more.end());
    return all;
  }();
  return cases;
}
