//===- ThreadWorld.cpp - Ranks as threads of one process --------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The channel over shared memory. Ranks show each other where their buffers
// are and read them directly: an all-reduce is a reduce-scatter, in which
// every rank combines one part of all buffers, and an all-gather, in which
// it copies the others' parts. The algorithm of an all-reduce decides what it
// does on a network: the order in which values are combined, so that threads
// and processes give the same bits, and the bytes that are counted.
//
//===----------------------------------------------------------------------===//

#include "comm/combine/Patterns.h"
#include "comm/threads/Barrier.h"

#include <algorithm>
#include <cstring>
#include <map>

using namespace partita;

namespace {

/// Up to this size every rank combines everything, which saves a barrier.
constexpr std::int64_t kSmallBytes = 16 * 1024;

/// What a rank sends and awaits in an exchange, by rank of the group.
struct Messages {
  Counts sent, awaited;
};

/// What a rank is about to do, shown to the others before it is done.
struct Call {
  const char *kind = "";
  void *data = nullptr;
  std::int64_t count = 0;
  DType type = DType::f32;
  Reduction reduction = Reduction::sum;
  /// The root of a broadcast, the workers of a push or fetch.
  int root = 0;
  Algorithm algorithm = Algorithm::automatic;
  /// Of an exchange. Shared, because others may still look at it when this rank
  /// has stopped.
  std::shared_ptr<const Messages> messages = nullptr;

  bool matches(const Call &other) const {
    return std::strcmp(kind, other.kind) == 0 && count == other.count &&
           type == other.type && reduction == other.reduction &&
           root == other.root && algorithm == other.algorithm;
  }

  std::string text() const {
    return std::string(kind) + " of " + std::to_string(count) + " " +
           nameOf(type) + " (" + nameOf(reduction) + ", root " +
           std::to_string(root) +
           (algorithm == Algorithm::automatic
                ? ""
                : std::string(", ") + nameOf(algorithm)) +
           ")";
  }
};

/// What the ranks of one group share.
struct Group {
  /// The rank `r` of the world runs on the node nodeOf[r].
  Group(std::vector<int> members, const std::vector<int> &nodeOf,
        const Failure &failure)
      : members(std::move(members)), nodes(pick(this->members, nodeOf)),
        calls(this->members.size()),
        barrier(static_cast<int>(this->members.size()), failure) {}

  const std::vector<int> members;
  const Nodes nodes;
  std::vector<Call> calls;
  Barrier barrier;

private:
  static Nodes pick(const std::vector<int> &members,
                    const std::vector<int> &nodeOf) {
    std::vector<int> picked;
    for (int member : members)
      picked.push_back(nodeOf[member]);
    return Nodes(picked);
  }
};

class ThreadCommunicator final : public Communicator {
public:
  ThreadCommunicator(std::shared_ptr<Group> group, int rank)
      : Communicator(rank, static_cast<int>(group->members.size())),
        group(std::move(group)) {}

protected:
  void doAllReduce(Stream &stream, void *data, std::int64_t count, DType type,
                   Reduction reduction, Algorithm algorithm,
                   const IssuedCall &issued) override;
  void doAllGather(Stream &stream, void *data, const Counts &counts, DType type,
                   const IssuedCall &issued) override;
  void doReduceScatter(Stream &stream, void *data, const Counts &counts,
                       DType type, Reduction reduction,
                       const IssuedCall &issued) override;
  void doPush(Stream &stream, void *data, const Counts &counts, DType type,
              Reduction reduction, int workers,
              const IssuedCall &issued) override;
  void doFetch(Stream &stream, void *data, const Counts &counts, DType type,
               int workers, const IssuedCall &issued) override;
  void doBroadcast(Stream &stream, void *data, std::int64_t count, DType type,
                   int root, const IssuedCall &issued) override;
  void doExchange(Stream &stream, const void *send, const Counts &sendCounts,
                  void *receive, const Counts &receiveCounts, DType type,
                  const IssuedCall &issued) override;

private:
  /// Shows the call to the group and returns when all have shown theirs.
  void meet(const Call &call);
  /// Throws `Error` when a rank sends what its peer does not await.
  void checkMessages() const;
  void allReduceSmall(const Call &call, Pattern pattern);
  void allReduceLarge(const Call &call, Pattern pattern);
  /// Combines part `part` of all ranks' buffers; `out` is its first element.
  void combinePart(const Call &call, Pattern pattern, int part, char *out);

  char *bytesOf(int peer, std::int64_t element, DType type) const {
    return static_cast<char *>(group->calls[peer].data) +
           element * static_cast<std::int64_t>(sizeOf(type));
  }

  /// All ranks' buffers from `element` on, in rank order.
  std::vector<const void *> partsAt(std::int64_t element, DType type) const {
    std::vector<const void *> parts(size());
    for (int peer = 0; peer < size(); ++peer)
      parts[peer] = bytesOf(peer, element, type);
    return parts;
  }

  std::shared_ptr<Group> group;
  std::vector<char> scratch;
};

void ThreadCommunicator::meet(const Call &call) {
  group->calls[rank()] = call;
  group->barrier.arriveAndWait();
  // All ranks look at all calls, so that all stop before one of them reads a
  // buffer that another gives up.
  const Call &first = group->calls[0];
  for (int peer = 1; peer < size(); ++peer)
    if (!group->calls[peer].matches(first))
      throw Error("ranks " + std::to_string(group->members[0]) + " and " +
                  std::to_string(group->members[peer]) +
                  " disagree on the next collective of their group: found " +
                  group->calls[peer].text() + ", expected " + first.text());
}

void ThreadCommunicator::doAllReduce(Stream &stream, void *data,
                                     std::int64_t count, DType type,
                                     Reduction reduction, Algorithm algorithm,
                                     const IssuedCall &issued) {
  Call call{"allReduce", data, count, type, reduction, 0, algorithm};
  communicate(stream, issued, [this, call] {
    std::int64_t bytes = call.count * std::int64_t(sizeOf(call.type));
    meet(call);
    Pattern pattern = patternFor(call.algorithm, bytes, group->nodes);
    if (bytes <= kSmallBytes)
      allReduceSmall(call, pattern);
    else
      allReduceLarge(call, pattern);
    countSent(elementsSent(pattern, call.count, rank(), group->nodes) *
              std::int64_t(sizeOf(call.type)));
  });
}

void ThreadCommunicator::combinePart(const Call &call, Pattern pattern,
                                     int part, char *out) {
  std::int64_t start = partStart(call.count, part, size());
  combineInPattern(pattern, part, group->nodes, out, partsAt(start, call.type),
                   partStart(call.count, part + 1, size()) - start, call.type,
                   call.reduction);
}

void ThreadCommunicator::allReduceSmall(const Call &call, Pattern pattern) {
  std::size_t bytes = call.count * sizeOf(call.type);
  scratch.resize(std::max(scratch.size(), bytes));
  for (int part = 0; part < size(); ++part)
    combinePart(call, pattern, part,
                scratch.data() +
                    partStart(call.count, part, size()) * sizeOf(call.type));
  group->barrier.arriveAndWait();
  std::memcpy(call.data, scratch.data(), bytes);
}

void ThreadCommunicator::allReduceLarge(const Call &call, Pattern pattern) {
  combinePart(
      call, pattern, rank(),
      bytesOf(rank(), partStart(call.count, rank(), size()), call.type));
  group->barrier.arriveAndWait();
  // Beginning with the next rank spreads the reads over all buffers.
  for (int step = 1; step < size(); ++step) {
    int peer = (rank() + step) % size();
    std::int64_t from = partStart(call.count, peer, size());
    std::memcpy(
        bytesOf(rank(), from, call.type), bytesOf(peer, from, call.type),
        (partStart(call.count, peer + 1, size()) - from) * sizeOf(call.type));
  }
  group->barrier.arriveAndWait();
}

void ThreadCommunicator::doAllGather(Stream &stream, void *data,
                                     const Counts &counts, DType type,
                                     const IssuedCall &issued) {
  Call call{"allGather", data, counts.total(), type, Reduction::sum, 0};
  communicate(stream, issued, [this, call, counts] {
    meet(call);
    for (int step = 1; step < size(); ++step) {
      int peer = (rank() + step) % size();
      std::int64_t from = counts.offset(peer);
      std::memcpy(bytesOf(rank(), from, call.type),
                  bytesOf(peer, from, call.type),
                  counts[peer] * sizeOf(call.type));
    }
    group->barrier.arriveAndWait();
    countSent(counts[rank()] * std::int64_t(sizeOf(call.type)) * (size() - 1));
  });
}

void ThreadCommunicator::doReduceScatter(Stream &stream, void *data,
                                         const Counts &counts, DType type,
                                         Reduction reduction,
                                         const IssuedCall &issued) {
  Call call{"reduceScatter", data, counts.total(), type, reduction, 0};
  communicate(stream, issued, [this, call, counts] {
    meet(call);
    std::int64_t from = counts.offset(rank());
    combineInOrder(bytesOf(rank(), from, call.type), partsAt(from, call.type),
                   counts[rank()], call.type, call.reduction);
    group->barrier.arriveAndWait();
    countSent((call.count - counts[rank()]) * std::int64_t(sizeOf(call.type)));
  });
}

void ThreadCommunicator::doPush(Stream &stream, void *data,
                                const Counts &counts, DType type,
                                Reduction reduction, int workers,
                                const IssuedCall &issued) {
  Call call{"push", data, counts.total(), type, reduction, workers};
  communicate(stream, issued, [this, call, counts, workers] {
    meet(call);
    if (rank() >= workers) {
      std::int64_t from = counts.offset(rank());
      std::vector<const void *> parts = partsAt(from, call.type);
      parts.resize(workers);
      combineInOrder(bytesOf(rank(), from, call.type), parts, counts[rank()],
                     call.type, call.reduction);
    }
    group->barrier.arriveAndWait();
    if (rank() < workers)
      countSent(call.count * std::int64_t(sizeOf(call.type)));
  });
}

void ThreadCommunicator::doFetch(Stream &stream, void *data,
                                 const Counts &counts, DType type, int workers,
                                 const IssuedCall &issued) {
  Call call{"fetch", data, counts.total(), type, Reduction::sum, workers};
  communicate(stream, issued, [this, call, counts, workers] {
    meet(call);
    for (int server = workers; rank() < workers && server < size(); ++server) {
      std::int64_t from = counts.offset(server);
      std::memcpy(bytesOf(rank(), from, call.type),
                  bytesOf(server, from, call.type),
                  counts[server] * sizeOf(call.type));
    }
    group->barrier.arriveAndWait();
    if (rank() >= workers)
      countSent(counts[rank()] * std::int64_t(sizeOf(call.type)) * workers);
  });
}

void ThreadCommunicator::doBroadcast(Stream &stream, void *data,
                                     std::int64_t count, DType type, int root,
                                     const IssuedCall &issued) {
  Call call{"broadcast", data, count, type, Reduction::sum, root};
  communicate(stream, issued, [this, call] {
    std::int64_t bytes = call.count * std::int64_t(sizeOf(call.type));
    meet(call);
    if (rank() != call.root)
      std::memcpy(call.data, bytesOf(call.root, 0, call.type), bytes);
    group->barrier.arriveAndWait();
    countSent(
        elementsSentInBroadcast(call.count, bytes, rank(), call.root, size()) *
        std::int64_t(sizeOf(call.type)));
  });
}

void ThreadCommunicator::checkMessages() const {
  // As in `meet`: all ranks look at all messages.
  for (int from = 0; from < size(); ++from)
    for (int to = 0; to < size(); ++to) {
      std::int64_t sent = group->calls[from].messages->sent[to];
      std::int64_t awaited = group->calls[to].messages->awaited[from];
      if (sent != awaited)
        throw Error("rank " + std::to_string(group->members[from]) + " sends " +
                    std::to_string(sent) + " elements to rank " +
                    std::to_string(group->members[to]) + ", which expects " +
                    std::to_string(awaited));
    }
}

void ThreadCommunicator::doExchange(Stream &stream, const void *send,
                                    const Counts &sendCounts, void *receive,
                                    const Counts &receiveCounts, DType type,
                                    const IssuedCall &issued) {
  // The others only read what is shown to them.
  Call call{"exchange",
            const_cast<void *>(send),
            0,
            type,
            Reduction::sum,
            0,
            Algorithm::automatic,
            std::make_shared<Messages>(Messages{sendCounts, receiveCounts})};
  communicate(stream, issued, [this, call, receive] {
    meet(call);
    checkMessages();
    auto bytes = static_cast<std::int64_t>(sizeOf(call.type));
    const Counts &awaited = call.messages->awaited;
    for (int step = 1; step < size(); ++step) {
      int peer = (rank() + step) % size();
      if (awaited[peer] == 0)
        continue;
      std::int64_t start = group->calls[peer].messages->sent.offset(rank());
      std::memcpy(static_cast<char *>(receive) + awaited.offset(peer) * bytes,
                  bytesOf(peer, start, call.type),
                  static_cast<std::size_t>(awaited[peer] * bytes));
    }
    group->barrier.arriveAndWait();
    countSent(call.messages->sent.total() * bytes);
  });
}

//===----------------------------------------------------------------------===//
// The world
//===----------------------------------------------------------------------===//

/// What all ranks of the process share: the groups, found by who asks.
class Hub {
public:
  Hub(int ranks, Failure &failure)
      : failure(failure), nodeOf(nodesByEnvironment(ranks)) {
    // One process is on one node.
    nodeOf.resize(ranks, 0);
    std::vector<int> everybody(ranks);
    for (int i = 0; i < ranks; ++i)
      everybody[i] = i;
    all = std::make_shared<Group>(everybody, nodeOf, failure);
  }

  /// The group of these members made in this round; the first to ask makes it.
  std::shared_ptr<Group> groupOf(int round, const std::vector<int> &members) {
    std::lock_guard<std::mutex> lock(mutex);
    std::shared_ptr<Group> &group = groups[{round, members}];
    if (!group)
      group = std::make_shared<Group>(members, nodeOf, failure);
    return group;
  }

  Failure &failure;
  std::shared_ptr<Group> all;

private:
  std::vector<int> nodeOf;
  std::mutex mutex;
  std::map<std::pair<int, std::vector<int>>, std::shared_ptr<Group>> groups;
};

class ThreadWorld final : public World {
public:
  ThreadWorld(std::shared_ptr<Hub> hub, int rank)
      : World(rank, static_cast<int>(hub->all->members.size())),
        hub(std::move(hub)) {}

  void maximum(std::int64_t *values, int count) override {
    reduce(values, count, DType::i64, Reduction::max);
  }

  void sum(double *values, int count) override {
    reduce(values, count, DType::f64, Reduction::sum);
  }

  void broadcast(void *data, std::size_t bytes, int root) override {
    show(data, bytes);
    if (rank != root)
      std::memcpy(data, hub->all->calls[root].data, bytes);
    hub->all->barrier.arriveAndWait();
  }

  std::vector<std::vector<std::byte>> gather(const void *data,
                                             std::size_t bytes) override {
    show(const_cast<void *>(data), bytes);
    std::vector<std::vector<std::byte>> all;
    if (rank == 0)
      for (const Call &call : hub->all->calls) {
        auto *from = static_cast<const std::byte *>(call.data);
        all.emplace_back(from, from + call.count);
      }
    hub->all->barrier.arriveAndWait();
    return all;
  }

  std::unique_ptr<Communicator>
  communicator(const std::vector<int> &members) override {
    std::shared_ptr<Group> group = hub->groupOf(round++, members);
    auto place = std::find(members.begin(), members.end(), rank);
    return std::make_unique<ThreadCommunicator>(
        std::move(group), static_cast<int>(place - members.begin()));
  }

private:
  void show(void *data, std::size_t bytes) {
    Call &call = hub->all->calls[rank];
    call.data = data;
    call.count = static_cast<std::int64_t>(bytes);
    hub->all->barrier.arriveAndWait();
  }

  void reduce(void *values, int count, DType type, Reduction reduction) {
    std::size_t bytes = count * sizeOf(type);
    std::vector<std::byte> result(bytes);
    show(values, bytes);
    std::vector<const void *> parts;
    for (const Call &call : hub->all->calls)
      parts.push_back(call.data);
    combineInOrder(result.data(), parts, count, type, reduction);
    hub->all->barrier.arriveAndWait();
    std::memcpy(values, result.data(), bytes);
  }

  std::shared_ptr<Hub> hub;
  int round = 0;
};

} // namespace

std::vector<std::unique_ptr<World>>
partita::makeThreadWorlds(int ranks, Failure &failure) {
  auto hub = std::make_shared<Hub>(ranks, failure);
  std::vector<std::unique_ptr<World>> worlds;
  for (int rank = 0; rank < ranks; ++rank)
    worlds.push_back(std::make_unique<ThreadWorld>(hub, rank));
  return worlds;
}
