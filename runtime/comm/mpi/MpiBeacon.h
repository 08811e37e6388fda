//===- MpiBeacon.h - Signs of life between MPI processes ------ -*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For the launcher in MpiWorld.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_COMM_MPI_MPIBEACON_H
#define PARTITA_COMM_MPI_MPIBEACON_H

#include "partita/backend.h"

namespace partita {

/// See ProcessLauncher::makeBeacon.
std::unique_ptr<Beacon> makeMpiBeacon();

} // namespace partita

#endif // PARTITA_COMM_MPI_MPIBEACON_H
