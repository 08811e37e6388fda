//===- Launch.cpp - runProgram for the cpu target ---------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Gives the core the functions of the cpu target.
//
//===----------------------------------------------------------------------===//

#include "partita/backend.h"

using namespace partita;

static std::unique_ptr<Communicator>
makeHostCommunicator(World &world, const std::vector<int> &members,
                     Device & /*device*/, Failure & /*failure*/) {
  return world.communicator(members);
}
int partita::runProgram(int argc, char **argv, const Program &program) {
  Backend backend{"cpu", makeCpuDevice, makeHostCommunicator, makeThreadWorlds,
                  nullptr};
#ifdef PARTITA_HAVE_MPI
  backend.processes = &mpiLauncher();
#endif
  return runProgramOn(argc, argv, program, backend);
}
