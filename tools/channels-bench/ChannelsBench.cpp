//===- ChannelsBench.cpp - Times collectives over MPI -----------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Started by mpirun with sizes in bytes as arguments. Prints a line for each
// collective and size: name, bytes, rounds, and the lower quartile, the median
// and the upper quartile of a round's microseconds on the slowest rank, then
// the microseconds of processor time of a rank in the mean. `mpi` is the
// library's own MPI_Allreduce on the same buffers. `tools/bench channels` runs
// it and makes the table.
//
// A round goes through the comm stream, as in a training step. With --busy
// every rank's own thread computes meanwhile, as a backward pass does.
//
//===----------------------------------------------------------------------===//

#include "partita/backend.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mpi.h>
#include <sys/resource.h>

using namespace partita;

namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Microseconds that this process has had of the processors.
double processorMicroseconds() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  auto microseconds = [](const timeval &time) {
    return 1e6 * static_cast<double>(time.tv_sec) +
           static_cast<double>(time.tv_usec);
  };
  return microseconds(usage.ru_utime) + microseconds(usage.ru_stime);
}

/// Computes until `isDone` says so; returns what the compiler has to keep.
template <typename Condition> double compute(const Condition &isDone) {
  double value = 1;
  while (!isDone())
    for (int i = 0; i < 1000; ++i)
      value = value * 0.999999 + 1e-6;
  return value;
}

class Bench {
public:
  Bench(World &world, Stream &comm, bool isBusy)
      : world(world), comm(comm), isBusy(isBusy) {
    std::vector<int> members;
    for (int rank = 0; rank < world.size; ++rank)
      members.push_back(rank);
    group = world.communicator(members);
  }

  void run(std::int64_t bytes) {
    buffer.assign(static_cast<std::size_t>(bytes / 4), 1.0f);
    std::int64_t count = bytes / 4;
    for (Algorithm algorithm :
         {Algorithm::automatic, Algorithm::direct, Algorithm::ring,
          Algorithm::tree, Algorithm::hierarchical})
      measure(nameOf(algorithm), bytes, [=] {
        group->allReduce(comm, buffer.data(), count, Reduction::max, algorithm);
      });
    measure("mpi", bytes, [=] {
      comm.communicate("mpi", [=] {
        MPI_Allreduce(MPI_IN_PLACE, buffer.data(), static_cast<int>(count),
                      MPI_FLOAT, MPI_MAX, MPI_COMM_WORLD);
      });
    });
    // The two halves of an all-reduce, as owners among the ranks use them.
    Counts shares(sharesOf(count, world.size));
    measure("reduce_scatter", bytes, [=] {
      group->reduceScatter(comm, buffer.data(), shares, Reduction::max);
    });
    measure("all_gather", bytes,
            [=] { group->allGather(comm, buffer.data(), shares); });
    // Half of the ranks as servers, with equal parts.
    int workers = (world.size + 1) / 2, servers = world.size - workers;
    if (servers == 0)
      return;
    std::vector<std::int64_t> counts(workers, 0);
    for (std::int64_t share : sharesOf(count, servers))
      counts.push_back(share);
    measure("push+fetch", bytes, [=] {
      group->push(comm, buffer.data(), Counts(counts), Reduction::max, workers);
      group->fetch(comm, buffer.data(), Counts(counts), workers);
    });
  }

private:
  static std::vector<std::int64_t> sharesOf(std::int64_t count, int owners) {
    std::vector<std::int64_t> shares;
    for (int owner = 0; owner < owners; ++owner)
      shares.push_back(count * (owner + 1) / owners - count * owner / owners);
    return shares;
  }

  template <typename Round>
  void measure(const char *name, std::int64_t bytes, const Round &round) {
    constexpr double kSeconds = 0.4;
    auto time = [&] {
      world.barrier();
      Clock::time_point start = Clock::now();
      round();
      if (isBusy) {
        std::atomic<bool> isDone{false};
        comm.run("done", [&] { isDone = true; });
        kept += compute([&] { return isDone.load(); });
      }
      comm.sync();
      std::int64_t nanoseconds =
          static_cast<std::int64_t>(1e9 * secondsSince(start));
      world.maximum(&nanoseconds, 1);
      return static_cast<double>(nanoseconds) / 1000;
    };
    double first = std::max(time(), time());
    int rounds = std::clamp(static_cast<int>(kSeconds * 1e6 / first), 5, 1000);
    std::vector<double> times;
    double processor = processorMicroseconds();
    for (int i = 0; i < rounds; ++i)
      times.push_back(time());
    processor = (processorMicroseconds() - processor) / rounds / world.size;
    world.sum(&processor, 1);
    std::sort(times.begin(), times.end());
    if (world.rank == 0)
      std::printf("%s %lld %d %.1f %.1f %.1f %.1f\n", name,
                  static_cast<long long>(bytes), rounds,
                  times[times.size() / 4], times[times.size() / 2],
                  times[3 * times.size() / 4], processor);
    std::fflush(stdout);
  }

  World &world;
  Stream &comm;
  const bool isBusy;
  std::unique_ptr<Communicator> group;
  std::vector<float> buffer;
  double kept = 0;
};

} // namespace

int main(int argc, char **argv) {
  const ProcessLauncher &launcher = mpiLauncher();
  Failure failure;
  auto world = launcher.join(failure);
  try {
    auto device = makeCpuDevice(world->rank, launcher.localRank(), 1, failure);
    auto compute = device->makeCompute();
    auto comm = device->makeComm(*compute);
    bool isBusy = argc > 1 && std::strcmp(argv[1], "--busy") == 0;
    Bench bench(*world, *comm, isBusy);
    for (int i = isBusy ? 2 : 1; i < argc; ++i)
      bench.run(std::atoll(argv[i]));
  } catch (const std::exception &error) {
    std::fprintf(stderr, "ChannelsBench: error: %s\n",
                 failure.raised() ? failure.message().c_str() : error.what());
    launcher.abort(1);
  }
  world.reset();
  launcher.leave();
  return 0;
}
