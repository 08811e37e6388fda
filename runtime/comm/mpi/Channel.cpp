//===- Channel.cpp - Nonblocking messages of one group ----------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements Channel.h.
//
//===----------------------------------------------------------------------===//

#include "comm/mpi/Channel.h"

#include <algorithm>
#include <sys/prctl.h>
#include <thread>

using namespace partita;

/// Bytes of one message of MPI.
static constexpr std::int64_t kMessageBytes = std::int64_t(1) << 28;

void partita::checkMpi(int code, const char *call) {
  if (code == MPI_SUCCESS)
    return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw Error(std::string(call) + " failed: " +
              std::string(text, static_cast<std::size_t>(length)));
}

/// Calls function(data, bytes) for pieces that MPI can count.
template <typename Function>
static void forPieces(const Message &message, const Function &function) {
  char *data = static_cast<char *>(message.data);
  for (std::int64_t done = 0; done < message.bytes; done += kMessageBytes)
    function(data + done,
             static_cast<int>(std::min(kMessageBytes, message.bytes - done)));
}

Channel::Channel(MPI_Comm comm, const Failure &failure)
    : comm(comm), failure(failure) {
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
}

Channel::~Channel() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  // Freeing is collective; after a failure the others may never come.
  if (!finalized && !failure.raised())
    MPI_Comm_free(&comm);
}

void Channel::receive(Requests &requests, const Message &message,
                      MessageKind kind) {
  forPieces(message, [&](char *data, int bytes) {
    checkMpi(MPI_Irecv(data, bytes, MPI_BYTE, message.peer,
                       static_cast<int>(kind), comm, &requests.emplace_back()),
             "MPI_Irecv");
  });
}

void Channel::send(Requests &requests, const Message &message,
                   MessageKind kind) {
  forPieces(message, [&](char *data, int bytes) {
    checkMpi(MPI_Isend(data, bytes, MPI_BYTE, message.peer,
                       static_cast<int>(kind), comm, &requests.emplace_back()),
             "MPI_Isend");
  });
  sentBytes += message.bytes;
}

namespace {

/// How a thread waits that has to call MPI now and then: at first it looks
/// again and again, then it naps, longer and longer, so that the processors are
/// free for those who compute. MPI itself never sleeps.
class Patience {
public:
  /// Something has happened, and more is likely to follow.
  void renew() {
    started = Clock::now();
    nap = kShortestNap;
  }

  void wait() {
    if (Clock::now() - started < kSpin)
      return std::this_thread::yield();
    allowShortNaps();
    std::this_thread::sleep_for(nap);
    nap = std::min(nap * 2, kLongestNap);
  }

private:
  using Clock = std::chrono::steady_clock;
  using Microseconds = std::chrono::microseconds;

  // Long enough for an answer from the same machine. Naps grow to a time in
  // which a network of some Gbit/s does not run out of what MPI has given to
  // the kernel.
  static constexpr Microseconds kSpin{100};
  static constexpr Microseconds kShortestNap{20};
  static constexpr Microseconds kLongestNap{200};

  /// Linux adds 50 microseconds to a nap unless the thread asks for less.
  static void allowShortNaps() {
    static thread_local bool isDone = [] {
      return prctl(PR_SET_TIMERSLACK, /*nanoseconds=*/1000UL, 0, 0, 0) == 0;
    }();
    (void)isDone;
  }

  Clock::time_point started = Clock::now();
  Microseconds nap = kShortestNap;
};

} // namespace

void Channel::await(Requests &requests) {
  std::vector<int> finished(requests.size());
  std::size_t pending = requests.size();
  Patience patience;
  while (pending > 0) {
    int count = 0;
    checkMpi(MPI_Testsome(static_cast<int>(requests.size()), requests.data(),
                          &count, finished.data(), MPI_STATUSES_IGNORE),
             "MPI_Testsome");
    failure.check();
    if (count == MPI_UNDEFINED)
      break;
    pending -= static_cast<std::size_t>(count);
    if (pending == 0)
      break;
    if (count > 0)
      patience.renew();
    else
      patience.wait();
  }
  requests.clear();
}

void Channel::exchange(const std::vector<Message> &receives,
                       const std::vector<Message> &sends) {
  Requests requests;
  for (const Message &message : receives)
    receive(requests, message, MessageKind::exchange);
  for (const Message &message : sends)
    send(requests, message, MessageKind::exchange);
  await(requests);
}

void Channel::allGather(const void *mine, void *all, std::int64_t bytes) {
  Requests requests(1);
  checkMpi(MPI_Iallgather(mine, static_cast<int>(bytes), MPI_BYTE, all,
                          static_cast<int>(bytes), MPI_BYTE, comm,
                          &requests[0]),
           "MPI_Iallgather");
  await(requests);
}

void Channel::broadcast(void *data, std::int64_t bytes, int root) {
  forPieces({root, data, bytes}, [&](char *piece, int size) {
    Requests requests(1);
    checkMpi(MPI_Ibcast(piece, size, MPI_BYTE, root, comm, &requests[0]),
             "MPI_Ibcast");
    await(requests);
  });
}

MPI_Comm Channel::split(int colour, int key) {
  MPI_Comm part;
  checkMpi(MPI_Comm_split(comm, colour, key, &part), "MPI_Comm_split");
  return part;
}
