//===- SourcePrinter.h - The source file of an emitted program --*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Puts the parts of train.cpp or train.cu together.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_CODEGEN_PROGRAM_SOURCEPRINTER_H
#define PARTITA_CODEGEN_PROGRAM_SOURCEPRINTER_H

#include "codegen/Emit/GeneratedKernels.h"
#include "codegen/Emit/Schedule.h"

namespace partita::codegen {

/// Prints the whole text of a program called `name`. Errors are diagnostics;
/// what has been printed by then is of no use.
mlir::LogicalResult printSource(const Schedule &schedule, llvm::StringRef name,
                                const TargetPrinter &target,
                                llvm::raw_ostream &os);

} // namespace partita::codegen

#endif // PARTITA_CODEGEN_PROGRAM_SOURCEPRINTER_H
