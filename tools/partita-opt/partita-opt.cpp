//===- partita-opt.cpp - Runs single passes on textual IR -----------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// mlir-opt for Partita's dialects and passes, and for the faults that test
// them.
//
//===----------------------------------------------------------------------===//

#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "passes/Faults/Passes.h"
#include "passes/Pipelines/Pipelines.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  partita::registerAllPartitaDialects(registry);
  partita::registerAllPartitaPasses();
  partita::registerFaultsPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Partita's pass driver\n", registry));
}
