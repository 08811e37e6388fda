//===- backend.h - What device and channel back ends provide ----*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For implementers of devices and channels; emitted programs do not include
// this header. The runtime's core knows back ends through this table only.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_BACKEND_H
#define PARTITA_BACKEND_H

#include "partita/communicator.h"
#include "partita/device.h"
#include "partita/program.h"

#include <atomic>
#include <chrono>
#include <mutex>

namespace partita {

/// Thrown on ranks that stop because another rank failed. It carries no news
/// for the user: the rank that failed has said what is wrong.
class JobEnded : public Error {
public:
  JobEnded() : Error("ended because another rank failed") {}
};

/// The failure of a job, shared by all its ranks in one process. Whoever waits
/// for another rank or stream looks at it at least every `pollInterval`.
class Failure {
public:
  static constexpr std::chrono::milliseconds pollInterval{20};

  /// Notes the first failure; later ones are consequences and are dropped.
  /// `rank` is -1 when the failure belongs to no rank.
  void raise(int rank, const std::string &message) noexcept;

  bool raised() const noexcept { return flag.load(std::memory_order_acquire); }

  /// Throws `JobEnded` after a failure.
  void check() const {
    if (raised())
      throw JobEnded();
  }

  /// The first failure: rank and sentence.
  int rank() const;
  std::string message() const;

private:
  std::atomic<bool> flag{false};
  mutable std::mutex mutex;
  int firstRank = -1;
  std::string firstMessage;
};

/// Bytes sent by one rank: the total, and the highest rate over any window of
/// a tenth of a second. Called by one thread at a time.
class Traffic {
public:
  void add(std::int64_t bytes);
  /// Forgets what was counted, as at the start of training.
  void restart();

  std::int64_t totalBytes() const { return total; }
  /// Bytes per second, including the window that is still open.
  double peakRate() const;

private:
  using Clock = std::chrono::steady_clock;
  static constexpr double windowSeconds = 0.1;

  Clock::time_point windowStart = Clock::now();
  std::int64_t windowBytes = 0;
  std::int64_t total = 0;
  double peak = 0;
};

/// All ranks of a job seen from one of them, and what they tell each other
/// about the job itself. These calls use host memory, block the caller, are
/// made by the rank's own thread while its streams are idle, and in the same
/// order on all ranks.
class World {
public:
  World(int rank, int size) : rank(rank), size(size) {}
  virtual ~World();

  const int rank;
  const int size;

  /// values[i] becomes the maximum, or the sum in rank order, over all ranks.
  virtual void maximum(std::int64_t *values, int count) = 0;
  virtual void sum(double *values, int count) = 0;

  /// Copies rank `root`'s bytes to all ranks.
  virtual void broadcast(void *data, std::size_t bytes, int root) = 0;

  /// Rank 0 gets what every rank gives, in rank order; others get nothing.
  virtual std::vector<std::vector<std::byte>> gather(const void *data,
                                                     std::size_t bytes) = 0;

  void barrier() {
    std::int64_t nothing = 0;
    maximum(&nothing, 1);
  }

  /// A communicator over host memory for the ranks `members` (ascending, this
  /// rank among them). Every rank of the world calls it, in the same order,
  /// each naming its own group; groups made in one round do not overlap.
  virtual std::unique_ptr<Communicator>
  communicator(const std::vector<int> &members) = 0;
};

/// Small messages between the processes of a job, beside everything else that
/// they tell each other. Used by one thread, which is not the rank's own.
class Beacon {
public:
  virtual ~Beacon();

  /// Sends a message to a rank and does not wait until it is received. Drops
  /// the message when the last one to that rank has not left.
  virtual void send(int rank, const void *data, std::size_t bytes) = 0;

  /// Puts the next message that has arrived, of at most `bytes` bytes, into
  /// `data` and returns the rank that sent it; -1 when there is none.
  virtual int receive(void *data, std::size_t bytes) = 0;
};

/// How processes of one job find each other.
struct ProcessLauncher {
  /// Joins the job that mpirun started. Throws `Error` when that fails.
  std::unique_ptr<World> (*join)(Failure &failure);
  /// Leaves it in good order.
  void (*leave)();
  /// Ends the job on all ranks with this exit code; does not return when the
  /// job has been joined.
  void (*abort)(int exitCode);
  /// The index of this process among those on its machine, and their number.
  int (*localRank)();
  int (*localSize)();
  /// Made by all processes at the same point, once each. Null when the library
  /// does not let several threads call it at a time.
  std::unique_ptr<Beacon> (*makeBeacon)();
};

/// The functions that a target brings.
struct Backend {
  /// "cpu" or "cuda".
  const char *target;

  /// A device for this rank, made on the rank's own thread. `threads` is the
  /// number of threads that its CPU kernels use. `localRank` counts the ranks
  /// on this machine.
  std::unique_ptr<Device> (*makeDevice)(int rank, int localRank, int threads,
                                        Failure &failure);

  /// A communicator for the ranks `members` over that device's memory; same
  /// rules as `World::communicator`.
  std::unique_ptr<Communicator> (*makeCommunicator)(
      World &world, const std::vector<int> &members, Device &device,
      Failure &failure);

  /// The worlds of ranks that are threads of one process.
  std::vector<std::unique_ptr<World>> (*makeThreadWorlds)(int ranks,
                                                          Failure &failure);

  /// Null in builds without MPI.
  const ProcessLauncher *processes;
};

/// `runProgram` for a given target; each target's library calls it.
int runProgramOn(int argc, char **argv, const Program &program,
                 const Backend &backend);

// Back ends. Each is defined in its own library.

/// runtime/device/cpu
std::unique_ptr<Device> makeCpuDevice(int rank, int localRank, int threads,
                                      Failure &failure);
/// runtime/comm/threads: one world per rank, to be used by one thread each.
std::vector<std::unique_ptr<World>> makeThreadWorlds(int ranks,
                                                     Failure &failure);
/// runtime/comm/mpi
const ProcessLauncher &mpiLauncher();
/// runtime/device/cuda
std::unique_ptr<Device> makeCudaDevice(int rank, int localRank, int threads,
                                       Failure &failure);
/// runtime/comm/nccl
std::unique_ptr<Communicator>
makeNcclCommunicator(World &world, const std::vector<int> &members,
                     Device &device, Failure &failure);

} // namespace partita

#endif // PARTITA_BACKEND_H
