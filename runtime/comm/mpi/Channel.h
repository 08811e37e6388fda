//===- Channel.h - Nonblocking messages of one group ------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All MPI calls of a communicator are made here: by one thread at a time,
// nonblocking, with waits that notice failures.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_COMM_MPI_CHANNEL_H
#define PARTITA_COMM_MPI_CHANNEL_H

#include "partita/backend.h"

#include <mpi.h>

namespace partita {

/// Throws `Error` unless `code` is a success of the MPI function `call`.
void checkMpi(int code, const char *call);

/// What messages are about. Between two ranks, messages of one kind arrive in
/// the order in which they were sent; a rank may wait for different kinds in
/// any order.
enum class MessageKind { exchange = 17, toReduce, reduced };

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
  using Requests = std::vector<MPI_Request>;

  /// Takes over `comm`.
  Channel(MPI_Comm comm, const Failure &failure);
  Channel(const Channel &) = delete;
  Channel &operator=(const Channel &) = delete;
  ~Channel();

  /// Begin to receive or send; an empty message is none. Long ones go in
  /// pieces below 2^31 bytes, because counts are int before MPI 4.
  void receive(Requests &requests, const Message &message, MessageKind kind);
  void send(Requests &requests, const Message &message, MessageKind kind);

  /// Returns when all requests are done, and forgets them. Throws `JobEnded`
  /// after a failure.
  void await(Requests &requests);

  /// Sends and receives all messages at once.
  void exchange(const std::vector<Message> &receives,
                const std::vector<Message> &sends);

  /// all[r] becomes rank r's `bytes` bytes, which must be few.
  void allGather(const void *mine, void *all, std::int64_t bytes);

  void broadcast(void *data, std::int64_t bytes, int root);

  /// A new communicator for the callers that give the same colour.
  MPI_Comm split(int colour, int key);

  /// Bytes given to `send` since the last call.
  std::int64_t takeSentBytes() { return std::exchange(sentBytes, 0); }

private:
  MPI_Comm comm;
  const Failure &failure;
  std::int64_t sentBytes = 0;
};

} // namespace partita

#endif // PARTITA_COMM_MPI_CHANNEL_H
