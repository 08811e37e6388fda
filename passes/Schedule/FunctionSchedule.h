//===- FunctionSchedule.h - The scheduled form of one function -*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From operations on tensors to launches, communications and events on the
// buffers that FunctionMemory has given them.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_PASSES_SCHEDULE_FUNCTIONSCHEDULE_H
#define PARTITA_PASSES_SCHEDULE_FUNCTIONSCHEDULE_H

#include "passes/Schedule/BufferAssignment.h"
#include "llvm/ADT/StringSet.h"

namespace partita {

/// Whether `op` communicates where it stands: not in a bucket.
bool isIssuedAlone(mlir::Operation *op);

/// Writes the scheduled form of a class's function in front of it and returns
/// the bytes of the arena that it needs. `lasting` names the inputs and
/// variables that some class uses. With `overlap` communication is waited for
/// where its result is used, without it at once; with `overlapSteps` buckets
/// arrive while the next step computes.
int64_t scheduleFunction(mlir::func::FuncOp function, const ClassMemory &memory,
                         const llvm::StringSet<> &lasting, bool overlap,
                         bool overlapSteps);

} // namespace partita

#endif // PARTITA_PASSES_SCHEDULE_FUNCTIONSCHEDULE_H
