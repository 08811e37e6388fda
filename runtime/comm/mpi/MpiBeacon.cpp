//===- MpiBeacon.cpp - Signs of life between MPI processes ---- -*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements MpiBeacon.h on a communicator of its own, so that no message meets
// one of the program. Errors are ignored: whoever cannot be reached is missed
// by the watchdog.
//
//===----------------------------------------------------------------------===//

#include "comm/mpi/MpiBeacon.h"

#include <cstring>
#include <mpi.h>

using namespace partita;

namespace {

class MpiBeacon final : public Beacon {
public:
  MpiBeacon(MPI_Comm comm, int size)
      : comm(comm), outgoing(static_cast<std::size_t>(size)) {}

  ~MpiBeacon() override {
    int isFinalized = 0;
    MPI_Finalized(&isFinalized);
    if (isFinalized)
      return;
    // A message to a process that does not listen any more may never leave.
    // Freeing the communicator would need all processes; MPI_Finalize does it.
    // Its bytes must stay; they are few.
    for (Outgoing &message : outgoing)
      if (!hasLeft(message)) {
        new std::vector<char>(std::move(message.bytes));
        MPI_Request_free(&message.request);
      }
  }

  void send(int rank, const void *data, std::size_t bytes) override {
    Outgoing &message = outgoing[static_cast<std::size_t>(rank)];
    if (!hasLeft(message))
      return;
    auto *from = static_cast<const char *>(data);
    message.bytes.assign(from, from + bytes);
    if (MPI_Isend(message.bytes.data(), static_cast<int>(bytes), MPI_BYTE, rank,
                  kTag, comm, &message.request) != MPI_SUCCESS)
      message.request = MPI_REQUEST_NULL;
  }

  int receive(void *data, std::size_t bytes) override {
    int hasArrived = 0, size = 0;
    MPI_Status status;
    if (MPI_Iprobe(MPI_ANY_SOURCE, kTag, comm, &hasArrived, &status) !=
            MPI_SUCCESS ||
        !hasArrived)
      return -1;
    MPI_Get_count(&status, MPI_BYTE, &size);
    if (size < 0 || static_cast<std::size_t>(size) > bytes)
      return -1;
    if (MPI_Recv(data, size, MPI_BYTE, status.MPI_SOURCE, kTag, comm,
                 MPI_STATUS_IGNORE) != MPI_SUCCESS)
      return -1;
    return status.MPI_SOURCE;
  }

private:
  static constexpr int kTag = 18;

  struct Outgoing {
    std::vector<char> bytes;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  static bool hasLeft(Outgoing &message) {
    int isDone = 1;
    if (message.request != MPI_REQUEST_NULL)
      MPI_Test(&message.request, &isDone, MPI_STATUS_IGNORE);
    return isDone;
  }

  MPI_Comm comm;
  std::vector<Outgoing> outgoing;
};

} // namespace

std::unique_ptr<Beacon> partita::makeMpiBeacon() {
  int provided = MPI_THREAD_SINGLE, size = 0;
  MPI_Query_thread(&provided);
  if (provided < MPI_THREAD_MULTIPLE)
    return nullptr;
  MPI_Comm comm;
  if (MPI_Comm_dup(MPI_COMM_WORLD, &comm) != MPI_SUCCESS)
    return nullptr;
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_size(comm, &size);
  return std::make_unique<MpiBeacon>(comm, size);
}
