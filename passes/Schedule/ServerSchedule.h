//===- ServerSchedule.h - What servers do in a step ------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A server takes part in the push and the fetch of every bucket that the groups
// it serves leave to servers, in the order in which their ranks issue them, and
// updates its share between the two. Everything is on its comm stream, so that
// no events are needed.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_PASSES_SCHEDULE_SERVERSCHEDULE_H
#define PARTITA_PASSES_SCHEDULE_SERVERSCHEDULE_H

#include "passes/Schedule/BufferAssignment.h"

namespace partita {

/// A class of the grid and where its buckets lie.
struct Workers {
  spmd::ClassOp classOp;
  const ClassMemory *memory = nullptr;
};

/// Adds the classes of a module's servers and their steps behind the classes
/// of `workers`. Must be called before these are scheduled. The two switches
/// are those of scheduleFunction: the order of calls depends on them.
void scheduleServers(mlir::ModuleOp module, llvm::ArrayRef<Workers> workers,
                     bool overlap, bool overlapSteps);

} // namespace partita

#endif // PARTITA_PASSES_SCHEDULE_SERVERSCHEDULE_H
