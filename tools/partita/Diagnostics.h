//===- Diagnostics.h - Errors as people read them --------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prints MLIR diagnostics with the ONNX node or the file position in front.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_TOOLS_PARTITA_DIAGNOSTICS_H
#define PARTITA_TOOLS_PARTITA_DIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"

namespace partita::driver {

/// Prints every diagnostic of a context to stderr while it lives; remarks only
/// where they are asked for.
class DiagnosticPrinter : public mlir::ScopedDiagnosticHandler {
public:
  explicit DiagnosticPrinter(mlir::MLIRContext *context,
                             bool showRemarks = false);

  unsigned getNumErrors() const { return errors; }

private:
  unsigned errors = 0;
};

} // namespace partita::driver

#endif // PARTITA_TOOLS_PARTITA_DIAGNOSTICS_H
