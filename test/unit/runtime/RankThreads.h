//===- RankThreads.h - The ranks of a grid as threads -----------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a program's launcher does, for tests that need a `Rank` and nothing
// else.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_TEST_UNIT_RUNTIME_RANKTHREADS_H
#define PARTITA_TEST_UNIT_RUNTIME_RANKTHREADS_H

#include "core/RankLog.h"
#include "core/RankParts.h"

#include <functional>
#include <thread>

namespace partita {

/// The cpu target without processes.
inline Backend threadBackend() {
  return {"cpu", makeCpuDevice,
          [](World &world, const std::vector<int> &members, Device &,
             Failure &) { return world.communicator(members); },
          makeThreadWorlds, nullptr};
}

/// Calls body(rank, traffic) on each rank of a grid; returns what the first
/// one that failed said, or nothing. `compares` calls across ranks before they
/// begin.
inline std::string runOnGrid(const std::vector<GridAxis> &grid,
                             const std::function<void(Rank &, Traffic &)> &body,
                             bool compares = false) {
  Program program;
  program.grid = grid;
  program.classOfRank.assign(static_cast<std::size_t>(program.ranks()), 0);
  program.arenaBytes = {0};
  Backend backend = threadBackend();
  Failure failure;
  auto worlds = makeThreadWorlds(program.ranks(), failure);
  std::vector<std::thread> threads;
  for (auto &world : worlds)
    threads.emplace_back([&, world = world.get()] {
      auto device = makeCpuDevice(world->rank, world->rank, 1, failure);
      auto compute = device->makeCompute();
      auto comm = device->makeComm(*compute);
      RankLog log(world->rank);
      CallCheck check(world->rank, /*rankClass=*/0, *device,
                      /*expected=*/nullptr);
      Rank::Parts parts{program, backend,  *world,
                        *device, *compute, *comm,
                        nullptr, failure,  {},
                        {},      &log,     compares ? &check : nullptr};
      log.check(parts.checks);
      Rank rank(parts);
      try {
        body(rank, parts.traffic);
        comm->sync();
        world->barrier();
      } catch (const JobEnded &) {
      } catch (const std::exception &error) {
        failure.raise(world->rank, error.what());
      }
      comm->finish();
    });
  for (std::thread &thread : threads)
    thread.join();
  return failure.raised() ? failure.message() : "";
}

} // namespace partita

#endif // PARTITA_TEST_UNIT_RUNTIME_RANKTHREADS_H
