//===- MpiWorld.cpp - Ranks as processes of an MPI job ----------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The channel over MPI. Sums are made here and not by MPI, which promises
// neither an order nor equal bits on all ranks: an all-reduce sends every
// rank its chunk, combines it in rank order, and gathers the results.
// Messages are nonblocking and cut below 2^28 elements, because counts are
// int before MPI 4.
//
//===----------------------------------------------------------------------===//

#include "comm/combine/Combine.h"
#include "comm/mpi/MpiBeacon.h"
#include "partita/backend.h"

#include <algorithm>
#include <cstring>
#include <mpi.h>
#include <thread>

using namespace partita;

namespace {

/// Up to this size an all-reduce gathers everything and combines it locally:
/// one latency in place of two.
constexpr std::int64_t kSmallBytes = 4 * 1024;

/// Elements of one round of an all-reduce, which bounds its scratch memory.
constexpr std::int64_t kRoundElements = 4 * 1024 * 1024;

/// Bytes of one message.
constexpr std::int64_t kMessageBytes = std::int64_t(1) << 28;

constexpr int kTag = 17;

void check(int code, const char *call) {
  if (code == MPI_SUCCESS)
    return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw Error(std::string(call) + " failed: " +
              std::string(text, static_cast<std::size_t>(length)));
}

/// Bytes that go to, or come from, one rank.
struct Message {
  int peer;
  void *data;
  std::int64_t bytes;
};

/// An MPI communicator of our own, with nonblocking calls that notice when the
/// job has failed on this rank and that leave the core to others while they
/// wait.
class Channel {
public:
  Channel(MPI_Comm comm, const Failure &failure)
      : comm(comm), failure(failure) {
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  }

  Channel(const Channel &) = delete;
  Channel &operator=(const Channel &) = delete;

  ~Channel() {
    int finalized = 0;
    MPI_Finalized(&finalized);
    // Freeing is collective; after a failure the others may never come.
    if (!finalized && !failure.raised())
      MPI_Comm_free(&comm);
  }

  void await(std::vector<MPI_Request> &requests) {
    constexpr int kSpins = 200;
    for (int i = 0;; ++i) {
      int done = 0;
      check(MPI_Testall(static_cast<int>(requests.size()), requests.data(),
                        &done, MPI_STATUSES_IGNORE),
            "MPI_Testall");
      if (done)
        return;
      failure.check();
      if (i < kSpins)
        std::this_thread::yield();
      else
        std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }

  /// Sends and receives all messages at once. Long ones go in pieces, which
  /// MPI keeps in order.
  void exchange(const std::vector<Message> &receives,
                const std::vector<Message> &sends) {
    std::vector<MPI_Request> requests;
    for (const Message &message : receives)
      forPieces(message, [&](char *data, int bytes) {
        check(MPI_Irecv(data, bytes, MPI_BYTE, message.peer, kTag, comm,
                        &requests.emplace_back()),
              "MPI_Irecv");
      });
    for (const Message &message : sends)
      forPieces(message, [&](char *data, int bytes) {
        check(MPI_Isend(data, bytes, MPI_BYTE, message.peer, kTag, comm,
                        &requests.emplace_back()),
              "MPI_Isend");
      });
    await(requests);
  }

  /// all[r] becomes rank r's `bytes` bytes, which must be few.
  void allGather(const void *mine, void *all, std::int64_t bytes) {
    std::vector<MPI_Request> requests(1);
    check(MPI_Iallgather(mine, static_cast<int>(bytes), MPI_BYTE, all,
                         static_cast<int>(bytes), MPI_BYTE, comm, &requests[0]),
          "MPI_Iallgather");
    await(requests);
  }

  void broadcast(void *data, std::int64_t bytes, int root) {
    forPieces({root, data, bytes}, [&](char *piece, int size) {
      std::vector<MPI_Request> requests(1);
      check(MPI_Ibcast(piece, size, MPI_BYTE, root, comm, &requests[0]),
            "MPI_Ibcast");
      await(requests);
    });
  }

  /// A new communicator for the callers that give the same colour.
  MPI_Comm split(int colour, int key) {
    MPI_Comm part;
    check(MPI_Comm_split(comm, colour, key, &part), "MPI_Comm_split");
    return part;
  }

private:
  template <typename Function>
  static void forPieces(const Message &message, Function function) {
    char *data = static_cast<char *>(message.data);
    for (std::int64_t done = 0; done < message.bytes; done += kMessageBytes)
      function(data + done,
               static_cast<int>(std::min(kMessageBytes, message.bytes - done)));
  }

  MPI_Comm comm;
  const Failure &failure;
};

class MpiCommunicator final : public Communicator {
public:
  MpiCommunicator(MPI_Comm comm, int rank, int size, const Failure &failure)
      : Communicator(rank, size), channel(comm, failure) {}

protected:
  void doAllReduce(Stream &stream, void *data, std::int64_t count, DType type,
                   Reduction reduction, const IssuedCall &issued) override {
    communicate(stream, issued, [=] {
      allReduce(static_cast<char *>(data), count, type, reduction);
    });
  }

  void doAllGather(Stream &stream, void *data, const Counts &counts, DType type,
                   const IssuedCall &issued) override {
    communicate(stream, issued, [=] {
      std::int64_t bytes = sizeOf(type);
      auto part = [&](int peer) {
        return Message{peer,
                       static_cast<char *>(data) + counts.offset(peer) * bytes,
                       counts[peer] * bytes};
      };
      gatherParts(part);
    });
  }

  void doReduceScatter(Stream &stream, void *data, const Counts &counts,
                       DType type, Reduction reduction,
                       const IssuedCall &issued) override {
    communicate(stream, issued, [=] {
      std::int64_t bytes = sizeOf(type);
      auto part = [&](int peer) {
        return Message{peer,
                       static_cast<char *>(data) + counts.offset(peer) * bytes,
                       counts[peer] * bytes};
      };
      reduceParts(part, type, reduction);
    });
  }

  void doBroadcast(Stream &stream, void *data, std::int64_t count, DType type,
                   int root, const IssuedCall &issued) override {
    communicate(stream, issued, [=] {
      std::int64_t bytes = count * std::int64_t(sizeOf(type));
      channel.broadcast(data, bytes, root);
      if (rank() == root)
        countSent(bytes * (size() - 1));
    });
  }

  void doExchange(Stream &stream, const void *send, const Counts &sendCounts,
                  void *receive, const Counts &receiveCounts, DType type,
                  const IssuedCall &issued) override {
    communicate(stream, issued, [=] {
      std::int64_t bytes = sizeOf(type);
      std::vector<Message> receives, sends;
      auto *in = static_cast<char *>(receive);
      // MPI reads what it sends and takes no pointer to const.
      auto *out = static_cast<char *>(const_cast<void *>(send));
      for (int peer = 0; peer < size(); ++peer) {
        std::int64_t arrives = receiveCounts[peer] * bytes;
        std::int64_t leaves = sendCounts[peer] * bytes;
        if (arrives > 0)
          receives.push_back({peer, in, arrives});
        if (leaves > 0)
          sends.push_back({peer, out, leaves});
        in += arrives;
        out += leaves;
      }
      channel.exchange(receives, sends);
      countSent(sendCounts.total() * bytes);
    });
  }

private:
  void allReduce(char *data, std::int64_t count, DType type,
                 Reduction reduction) {
    std::int64_t bytes = sizeOf(type);
    if (count * bytes <= kSmallBytes)
      return allReduceSmall(data, count, type, reduction);
    for (std::int64_t start = 0; start < count; start += kRoundElements) {
      std::int64_t n = std::min(kRoundElements, count - start);
      auto part = [&](int peer) {
        std::int64_t from = n * peer / size(), to = n * (peer + 1) / size();
        return Message{peer, data + (start + from) * bytes,
                       (to - from) * bytes};
      };
      reduceParts(part, type, reduction);
      gatherParts(part);
    }
  }

  void allReduceSmall(char *data, std::int64_t count, DType type,
                      Reduction reduction) {
    std::int64_t bytes = count * std::int64_t(sizeOf(type));
    reserve(bytes * size());
    channel.allGather(data, scratch.data(), bytes);
    countSent(bytes * (size() - 1));
    std::vector<const void *> parts(size());
    for (int peer = 0; peer < size(); ++peer)
      parts[peer] = scratch.data() + peer * bytes;
    combineInOrder(data, parts, count, type, reduction);
  }

  /// part(r) of this rank's buffer becomes, for r this rank, the reduction of
  /// all ranks' part(r).
  template <typename Part>
  void reduceParts(Part part, DType type, Reduction reduction) {
    Message mine = part(rank());
    reserve(mine.bytes * size());
    std::vector<const void *> parts(size());
    std::vector<Message> receives, sends;
    std::int64_t sent = 0;
    for (int step = 1; step < size(); ++step) {
      int from = (rank() + size() - step) % size();
      char *place = scratch.data() + from * mine.bytes;
      parts[from] = place;
      receives.push_back({from, place, mine.bytes});
      sends.push_back(part((rank() + step) % size()));
      sent += sends.back().bytes;
    }
    parts[rank()] = mine.data;
    channel.exchange(receives, sends);
    countSent(sent);
    combineInOrder(mine.data, parts, mine.bytes / std::int64_t(sizeOf(type)),
                   type, reduction);
  }

  /// part(r) of all buffers becomes that of rank r.
  template <typename Part> void gatherParts(Part part) {
    Message mine = part(rank());
    std::vector<Message> receives, sends;
    for (int step = 1; step < size(); ++step) {
      receives.push_back(part((rank() + size() - step) % size()));
      sends.push_back({(rank() + step) % size(), mine.data, mine.bytes});
    }
    channel.exchange(receives, sends);
    countSent(mine.bytes * (size() - 1));
  }

  void reserve(std::int64_t bytes) {
    if (static_cast<std::int64_t>(scratch.size()) < bytes)
      scratch.resize(static_cast<std::size_t>(bytes));
  }

  Channel channel;
  std::vector<char> scratch;
};

//===----------------------------------------------------------------------===//
// The world
//===----------------------------------------------------------------------===//

class MpiWorld final : public World {
public:
  MpiWorld(MPI_Comm comm, int rank, int size, Failure &failure)
      : World(rank, size), channel(comm, failure), failure(failure) {}

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
    return std::make_unique<MpiCommunicator>(
        part, static_cast<int>(place - members.begin()),
        static_cast<int>(members.size()), failure);
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
  Failure &failure;
};

//===----------------------------------------------------------------------===//
// Joining and leaving the job
//===----------------------------------------------------------------------===//

/// All MPI calls are made either by the rank's own thread, while its streams
/// are idle, or by its comm stream's worker: never by two threads at once.
std::unique_ptr<World> join(Failure &failure) {
  int provided = MPI_THREAD_SINGLE;
  check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided),
        "MPI_Init_thread");
  if (provided < MPI_THREAD_SERIALIZED)
    throw Error("this MPI library does not let threads take turns in calling "
                "it, expected at least MPI_THREAD_SERIALIZED; use one that is "
                "built with thread support, as Debian's Open MPI and MPICH");
  MPI_Comm comm;
  check(MPI_Comm_dup(MPI_COMM_WORLD, &comm), "MPI_Comm_dup");
  int rank = 0, size = 0;
  check(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  check(MPI_Comm_size(comm, &size), "MPI_Comm_size");
  return std::make_unique<MpiWorld>(comm, rank, size, failure);
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

/// The ranks that share this machine's memory.
MPI_Comm machine() {
  static MPI_Comm ranks = [] {
    MPI_Comm made;
    check(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, /*key=*/0,
                              MPI_INFO_NULL, &made),
          "MPI_Comm_split_type");
    return made;
  }();
  return ranks;
}

int localRank() {
  int rank = 0;
  check(MPI_Comm_rank(machine(), &rank), "MPI_Comm_rank");
  return rank;
}

int localSize() {
  int size = 0;
  check(MPI_Comm_size(machine(), &size), "MPI_Comm_size");
  return size;
}

} // namespace

const ProcessLauncher &partita::mpiLauncher() {
  static const ProcessLauncher launcher{join, leave, abortJob, localRank,
                                        localSize, makeMpiBeacon};
  return launcher;
}
