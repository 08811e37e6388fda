//===- ServerCases.cpp - Groups of workers and servers ----------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every way to divide a group into workers and servers, with uneven and empty
// parts.
//
//===----------------------------------------------------------------------===//

#include "ChannelValues.h"

using namespace partita;

namespace {

/// Nothing for workers, uneven parts for servers; the second one's is empty.
Counts serverCounts(int workers, int size, std::int64_t scale) {
  std::vector<std::int64_t> counts(size, 0);
  for (int server = workers; server < size; ++server)
    counts[server] = server == workers + 1 ? 0 : scale * (server + 1);
  return Counts(counts);
}

/// The gradients of workers 0, 1, ...; servers contribute nothing.
std::vector<int> workersOf(int workers) {
  std::vector<int> members(workers);
  for (int i = 0; i < workers; ++i)
    members[i] = i;
  return members;
}

template <typename T>
void checkPush(ChannelRank &rank, Communicator &group, int workers,
               const Counts &counts, Reduction reduction) {
  int self = group.rank();
  std::vector<T> buffer = bufferOf<T>(self, counts.total());
  const std::vector<T> before = buffer;
  group.push(rank.comm, buffer.data(), counts, reduction, workers);
  rank.comm.sync();
  if (self < workers && buffer != before)
    throw Error("push changed the buffer of a worker");
  std::vector<int> members = workersOf(workers);
  std::int64_t start = counts.offset(self);
  for (std::int64_t i = start; i < start + counts[self]; ++i)
    expectSame(buffer[i], reducedAt<T>(members, i, reduction),
               std::string("push ") + nameOf(reduction) + " from " +
                   std::to_string(workers) + " workers at " +
                   std::to_string(i));
}

template <typename T>
void checkFetch(ChannelRank &rank, Communicator &group, int workers,
                const Counts &counts) {
  int self = group.rank();
  std::vector<T> buffer(static_cast<std::size_t>(counts.total()), T(0));
  for (std::int64_t i = 0; i < counts[self]; ++i)
    buffer[counts.offset(self) + i] = valueAt<T>(self, i);
  group.fetch(rank.comm, buffer.data(), counts, workers);
  rank.comm.sync();
  for (int server = workers; server < group.size(); ++server)
    if (self < workers || self == server)
      for (std::int64_t i = 0; i < counts[server]; ++i)
        expectSame(buffer[counts.offset(server) + i], valueAt<T>(server, i),
                   "fetch from server " + std::to_string(server));
}

void pushAndFetch(ChannelRank &rank) {
  Communicator &group = rank.group(everybody(rank.world));
  for (int workers = 1; workers < group.size(); ++workers)
    forTypes([&](auto zero) {
      using T = decltype(zero);
      for (std::int64_t scale : {0, 1, 300}) {
        Counts counts = serverCounts(workers, group.size(), scale);
        for (Reduction reduction : kReductions)
          checkPush<T>(rank, group, workers, counts, reduction);
        checkFetch<T>(rank, group, workers, counts);
      }
    });
}

void pushAndFetchLargeBuffers(ChannelRank &rank) {
  Communicator &group = rank.group(everybody(rank.world));
  int workers = (group.size() + 1) / 2;
  if (workers == group.size())
    return;
  Counts counts = serverCounts(workers, group.size(), 80'001);
  checkPush<float>(rank, group, workers, counts, Reduction::sum);
  checkFetch<float>(rank, group, workers, counts);
}

/// A parameter server at work: gradients up, updates there, parameters back,
/// steps in flight, ordered by events only.
void serverSteps(ChannelRank &rank) {
  Communicator &group = rank.group(everybody(rank.world));
  int self = group.rank(), workers = group.size() - 1;
  if (workers == 0)
    return;
  constexpr std::int64_t kCount = 3000;
  std::vector<std::int64_t> counts(group.size(), 0);
  counts.back() = kCount;
  std::vector<std::int64_t> gradients(kCount), parameters(kCount, 1);
  for (std::int64_t step = 0; step < 50; ++step) {
    rank.compute.wait(rank.summed);
    rank.compute.run("gradients", [&] {
      for (std::int64_t i = 0; i < kCount && self < workers; ++i)
        gradients[i] = parameters[i] % 1000 + self;
    });
    rank.compute.record(rank.ready);
    rank.comm.wait(rank.ready);
    group.push(rank.comm, gradients.data(), Counts(counts), Reduction::sum,
               workers);
    rank.comm.run("update", [&] {
      for (std::int64_t i = 0; i < kCount && self == workers; ++i)
        parameters[i] += gradients[i];
    });
    group.fetch(rank.comm, parameters.data(), Counts(counts), workers);
    rank.comm.record(rank.summed);
  }
  rank.compute.wait(rank.summed);
  std::int64_t expected = 1;
  for (int step = 0; step < 50; ++step) {
    std::int64_t sum = 0;
    for (int worker = 0; worker < workers; ++worker)
      sum += expected % 1000 + worker;
    expected += sum;
  }
  for (std::int64_t value : parameters)
    expectSame(value, expected, "parameter after 50 steps");
}

void serversCountBytes(ChannelRank &rank) {
  Communicator &group = rank.group(everybody(rank.world));
  int self = group.rank();
  for (int workers = 1; workers < group.size(); ++workers) {
    Counts counts = serverCounts(workers, group.size(), 1000);
    std::vector<double> buffer(static_cast<std::size_t>(counts.total()), 1);
    Traffic traffic;
    group.setTraffic(&traffic);
    group.push(rank.comm, buffer.data(), counts, Reduction::sum, workers);
    rank.comm.sync();
    std::int64_t pushed = traffic.totalBytes();
    expectSame<std::int64_t>(pushed, self < workers ? 8 * counts.total() : 0,
                             "bytes of a push");
    group.fetch(rank.comm, buffer.data(), counts, workers);
    rank.comm.sync();
    group.setTraffic(nullptr);
    expectSame<std::int64_t>(traffic.totalBytes() - pushed,
                             8 * counts[self] * workers, "bytes of a fetch");
  }
}

} // namespace

std::vector<ChannelCase> partita::serverCases() {
  return {
      {"pushAndFetch", pushAndFetch},
      {"pushAndFetchLargeBuffers", pushAndFetchLargeBuffers},
      {"serverSteps", serverSteps},
      {"serversCountBytes", serversCountBytes},
  };
}
