//===- MpiWorld.cpp - Ranks as processes of an MPI job ----------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The channel over MPI: communicators that hand their collectives to the comm
// stream, and the world of all processes.
//
//===----------------------------------------------------------------------===//

#include "comm/mpi/Collectives.h"
#include "comm/mpi/MpiBeacon.h"

#include <algorithm>

using namespace partita;

namespace {

class MpiCommunicator final : public Communicator {
public:
  /// Rank r of the group runs on the node nodeOf[r].
  MpiCommunicator(MPI_Comm comm, int rank, const std::vector<int> &nodeOf,
                  const Failure &failure)
      : Communicator(rank, static_cast<int>(nodeOf.size())),
        channel(comm, failure), collectives(channel, rank, Nodes(nodeOf)) {}

protected:
  void doAllReduce(Stream &stream, void *data, std::int64_t count, DType type,
                   Reduction reduction, Algorithm algorithm,
                   const IssuedCall &issued) override {
    Elements elements{static_cast<char *>(data), count, type, reduction};
    queue(stream, issued, [=] { collectives.allReduce(elements, algorithm); });
  }

  void doAllGather(Stream &stream, void *data, const Counts &counts, DType type,
                   const IssuedCall &issued) override {
    queue(stream, issued, [=] {
      collectives.gather(elementsOf(data, counts, type), shardsOf(counts),
                         members(0, size()));
    });
  }

  void doReduceScatter(Stream &stream, void *data, const Counts &counts,
                       DType type, Reduction reduction,
                       const IssuedCall &issued) override {
    queue(stream, issued, [=] {
      collectives.reduce(elementsOf(data, counts, type, reduction),
                         shardsOf(counts), members(0, size()));
    });
  }

  void doPush(Stream &stream, void *data, const Counts &counts, DType type,
              Reduction reduction, int workers,
              const IssuedCall &issued) override {
    queue(stream, issued, [=] {
      collectives.reduce(elementsOf(data, counts, type, reduction),
                         shardsOf(counts), members(0, workers));
    });
  }

  void doFetch(Stream &stream, void *data, const Counts &counts, DType type,
               int workers, const IssuedCall &issued) override {
    queue(stream, issued, [=] {
      collectives.gather(elementsOf(data, counts, type), shardsOf(counts),
                         members(0, workers));
    });
  }

  void doBroadcast(Stream &stream, void *data, std::int64_t count, DType type,
                   int root, const IssuedCall &issued) override {
    Elements elements{static_cast<char *>(data), count, type, Reduction::sum};
    queue(stream, issued, [=] { collectives.broadcast(elements, root); });
  }

  void doExchange(Stream &stream, const void *send, const Counts &sendCounts,
                  void *receive, const Counts &receiveCounts, DType type,
                  const IssuedCall &issued) override {
    queue(stream, issued, [=] {
      std::int64_t bytes = sizeOf(type);
      std::vector<Message> receives, sends;
      auto *in = static_cast<char *>(receive);
      // MPI reads what it sends and takes no pointer to const.
      auto *out = static_cast<char *>(const_cast<void *>(send));
      for (int peer = 0; peer < size(); ++peer) {
        std::int64_t arrives = receiveCounts[peer] * bytes;
        std::int64_t leaves = sendCounts[peer] * bytes;
        receives.push_back({peer, in, arrives});
        sends.push_back({peer, out, leaves});
        in += arrives;
        out += leaves;
      }
      channel.exchange(receives, sends);
    });
  }

private:
  /// Queues `work` and counts what it sends.
  template <typename Work>
  void queue(Stream &stream, const IssuedCall &issued, Work work) {
    communicate(stream, issued, [this, work]() mutable {
      work();
      countSent(channel.takeSentBytes());
    });
  }

  static Elements elementsOf(void *data, const Counts &counts, DType type,
                             Reduction reduction = Reduction::sum) {
    return {static_cast<char *>(data), counts.total(), type, reduction};
  }

  static std::vector<Shard> shardsOf(const Counts &counts) {
    std::vector<Shard> shards;
    for (int owner = 0; owner < counts.size(); ++owner)
      shards.push_back({owner, counts.offset(owner), counts[owner]});
    return shards;
  }

  /// The ranks [from, to) of the group.
  static std::vector<int> members(int from, int to) {
    std::vector<int> ranks;
    for (int rank = from; rank < to; ++rank)
      ranks.push_back(rank);
    return ranks;
  }

  Channel channel;
  Collectives collectives;
};

//===----------------------------------------------------------------------===//
// The world
//===----------------------------------------------------------------------===//

class MpiWorld final : public World {
public:
  /// Rank r runs on the node nodeOf[r].
  MpiWorld(MPI_Comm comm, int rank, std::vector<int> nodeOf, Failure &failure)
      : World(rank, static_cast<int>(nodeOf.size())), channel(comm, failure),
        nodeOf(std::move(nodeOf)), failure(failure) {}

  void maximum(std::int64_t *values, int count) override {
    reduce(values, count, DType::i64, Reduction::max);
  }

  void sum(double *values, int count) override {
    reduce(values, count, DType::f64, Reduction::sum);
  }

  void broadcast(void *data, std::size_t bytes, int root) override {
    channel.broadcast(data, static_cast<std::int64_t>(bytes), root);
  }

  std::vector<std::vector<std::byte>> gather(const void *data,
                                             std::size_t bytes) override {
    std::vector<std::int64_t> sizes(size);
    std::int64_t mine = static_cast<std::int64_t>(bytes);
    channel.allGather(&mine, sizes.data(), sizeof(mine));
    if (rank != 0) {
      channel.exchange({}, {{0, const_cast<void *>(data), mine}});
      return {};
    }
    std::vector<std::vector<std::byte>> all(size);
    std::vector<Message> receives;
    auto *own = static_cast<const std::byte *>(data);
    all[0].assign(own, own + mine);
    for (int peer = 1; peer < size; ++peer) {
      all[peer].resize(static_cast<std::size_t>(sizes[peer]));
      receives.push_back({peer, all[peer].data(), sizes[peer]});
    }
    channel.exchange(receives, {});
    return all;
  }

  std::unique_ptr<Communicator>
  communicator(const std::vector<int> &members) override {
    MPI_Comm part = channel.split(/*colour=*/members.front(), /*key=*/rank);
    auto place = std::find(members.begin(), members.end(), rank);
    std::vector<int> nodes;
    for (int member : members)
      nodes.push_back(nodeOf[member]);
    return std::make_unique<MpiCommunicator>(
        part, static_cast<int>(place - members.begin()), nodes, failure);
  }

private:
  void reduce(void *values, int count, DType type, Reduction reduction) {
    std::int64_t bytes = count * std::int64_t(sizeOf(type));
    std::vector<char> all(static_cast<std::size_t>(bytes * size));
    channel.allGather(values, all.data(), bytes);
    std::vector<const void *> parts(size);
    for (int peer = 0; peer < size; ++peer)
      parts[peer] = all.data() + peer * bytes;
    combineInOrder(values, parts, count, type, reduction);
  }

  Channel channel;
  const std::vector<int> nodeOf;
  Failure &failure;
};

//===----------------------------------------------------------------------===//
// Joining and leaving the job
//===----------------------------------------------------------------------===//

/// The ranks that share this machine's memory.
MPI_Comm machine() {
  static MPI_Comm ranks = [] {
    MPI_Comm made;
    checkMpi(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED,
                                 /*key=*/0, MPI_INFO_NULL, &made),
             "MPI_Comm_split_type");
    return made;
  }();
  return ranks;
}

/// The node of every rank: the environment's, or the first rank on its machine.
std::vector<int> nodesOf(MPI_Comm comm, int rank, int size) {
  std::vector<int> nodes = nodesByEnvironment(size);
  if (!nodes.empty())
    return nodes;
  nodes.resize(size);
  int first = rank;
  checkMpi(MPI_Bcast(&first, 1, MPI_INT, /*root=*/0, machine()), "MPI_Bcast");
  checkMpi(MPI_Allgather(&first, 1, MPI_INT, nodes.data(), 1, MPI_INT, comm),
           "MPI_Allgather");
  return nodes;
}

/// All MPI calls are made either by the rank's own thread, while its streams
/// are idle, or by its comm stream's worker: never by two threads at once.
std::unique_ptr<World> join(Failure &failure) {
  int provided = MPI_THREAD_SINGLE;
  checkMpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided),
           "MPI_Init_thread");
  if (provided < MPI_THREAD_SERIALIZED)
    throw Error("this MPI library does not let threads take turns in calling "
                "it, expected at least MPI_THREAD_SERIALIZED; use one that is "
                "built with thread support, as Debian's Open MPI and MPICH");
  MPI_Comm comm;
  checkMpi(MPI_Comm_dup(MPI_COMM_WORLD, &comm), "MPI_Comm_dup");
  int rank = 0, size = 0;
  checkMpi(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  checkMpi(MPI_Comm_size(comm, &size), "MPI_Comm_size");
  return std::make_unique<MpiWorld>(comm, rank, nodesOf(comm, rank, size),
                                    failure);
}

void leave() {
  int initialized = 0;
  MPI_Initialized(&initialized);
  if (initialized)
    MPI_Finalize();
}

void abortJob(int exitCode) {
  int initialized = 0;
  MPI_Initialized(&initialized);
  if (initialized)
    MPI_Abort(MPI_COMM_WORLD, exitCode);
}

int localRank() {
  int rank = 0;
  checkMpi(MPI_Comm_rank(machine(), &rank), "MPI_Comm_rank");
  return rank;
}

int localSize() {
  int size = 0;
  checkMpi(MPI_Comm_size(machine(), &size), "MPI_Comm_size");
  return size;
}

} // namespace

const ProcessLauncher &partita::mpiLauncher() {
  static const ProcessLauncher launcher{join,      leave,     abortJob,
                                        localRank, localSize, makeMpiBeacon};
  return launcher;
}
