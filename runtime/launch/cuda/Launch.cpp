//===- Launch.cpp - runProgram for the cuda target --------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Gives the core the functions of the cuda target.
//
//===----------------------------------------------------------------------===//

#include "partita/backend.h"

using namespace partita;

int partita::runProgram(int argc, char **argv, const Program &program) {
  Backend backend{"cuda", makeCudaDevice, makeNcclCommunicator,
                  makeThreadWorlds, nullptr};
#ifdef PARTITA_HAVE_MPI
  backend.processes = &mpiLauncher();
#endif
  return runProgramOn(argc, argv, program, backend);
}
