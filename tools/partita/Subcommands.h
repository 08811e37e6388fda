//===- Subcommands.h - What partita can do ---------------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The subcommands; each takes the arguments after its name and returns the
// exit code.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_TOOLS_PARTITA_SUBCOMMANDS_H
#define PARTITA_TOOLS_PARTITA_SUBCOMMANDS_H

#include "llvm/ADT/ArrayRef.h"

namespace partita::driver {

/// partita compile: ONNX file to program.
int runCompile(llvm::ArrayRef<const char *> arguments);

/// partita lint: everything that stands in the way of training a model.
int runLint(llvm::ArrayRef<const char *> arguments);

/// partita export: trained weights back into the ONNX file.
int runExport(llvm::ArrayRef<const char *> arguments);

/// partita machines: presets of machine files.
int runMachines(llvm::ArrayRef<const char *> arguments);

/// partita reproduce: tables of papers from their own formulas.
int runReproduce(llvm::ArrayRef<const char *> arguments);

/// partita simulate: a step on the machine of a machine file.
int runSimulate(llvm::ArrayRef<const char *> arguments);

} // namespace partita::driver

#endif // PARTITA_TOOLS_PARTITA_SUBCOMMANDS_H
