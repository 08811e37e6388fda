//===- Passes.h - Passes of the Faults room ---------------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Declarations of the passes described in Passes.td.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_PASSES_FAULTS_PASSES_H
#define PARTITA_PASSES_FAULTS_PASSES_H

#include "mlir/Pass/Pass.h"
#include <memory>
#include <string>

namespace partita {

#define GEN_PASS_DECL
#include "passes/Faults/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/Faults/Passes.h.inc"

} // namespace partita

#endif // PARTITA_PASSES_FAULTS_PASSES_H
