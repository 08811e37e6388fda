//===- PlanFile.h - The plan as JSON ---------------------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// plan.json of an emitted folder, and --emit=plan-file: the grid, the split of
// every layer keyed by ONNX node, the synchronisation of every parameter.
// passes/Plan/PlanReader.h reads it back.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_TOOLS_PARTITA_PLANFILE_H
#define PARTITA_TOOLS_PARTITA_PLANFILE_H

#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace partita::driver {

/// The plan of a module that has been planned (and not yet partitioned), as
/// indented JSON. Entries stand in the order of the program.
std::string planAsJson(mlir::ModuleOp module);

} // namespace partita::driver

#endif // PARTITA_TOOLS_PARTITA_PLANFILE_H
