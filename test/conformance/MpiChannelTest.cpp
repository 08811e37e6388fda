//===- MpiChannelTest.cpp - The MPI channel conforms ------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Started by mpirun: runs the channel cases on as many ranks as there are, all
// or those whose names are given. Exits with 1 after naming the case that
// failed.
//
//===----------------------------------------------------------------------===//

#include "ChannelCases.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

using namespace partita;

int main(int argc, char **argv) {
  auto isChosen = [&](const ChannelCase &channelCase) {
    return argc == 1 || std::any_of(argv + 1, argv + argc, [&](char *name) {
             return std::strcmp(name, channelCase.name) == 0;
           });
  };
  const ProcessLauncher &launcher = mpiLauncher();
  Failure failure;
  auto world = launcher.join(failure);
  const char *running = "start";
  try {
    auto device = makeCpuDevice(world->rank, launcher.localRank(), 1, failure);
    auto compute = device->makeCompute();
    auto comm = device->makeComm(*compute);
    ChannelRank self(*world, *compute, *comm);
    for (const ChannelCase &channelCase : channelCases()) {
      if (!isChosen(channelCase))
        continue;
      running = channelCase.name;
      channelCase.run(self);
      comm->sync();
      world->barrier();
      if (world->rank == 0)
        std::printf("%s passed on %d ranks\n", running, world->size);
    }
  } catch (const std::exception &error) {
    std::fprintf(stderr, "%s failed on rank %d of %d: %s\n", running,
                 world->rank, world->size,
                 failure.raised() ? failure.message().c_str() : error.what());
    launcher.abort(1);
  }
  world.reset();
  launcher.leave();
  return 0;
}
