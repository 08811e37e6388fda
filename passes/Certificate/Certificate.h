//===- Certificate.h - What a scheduled program will do --------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The certificate of a scheduled module: a JSON text that says for every rank
// class which launches, calls, records and waits are issued in which order, on
// which bytes, and where gradients go. tools/check/README.md describes the
// format; the checker there proves it and shares no code with this.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_PASSES_CERTIFICATE_CERTIFICATE_H
#define PARTITA_PASSES_CERTIFICATE_CERTIFICATE_H

#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace partita {

/// The certificate of `module`, which has been through the schedule phase. The
/// same module gives the same bytes. Fails after a diagnostic when the module
/// has no grid, or a class without ranks or arena.
mlir::FailureOr<std::string> makeCertificate(mlir::ModuleOp module);

} // namespace partita

#endif // PARTITA_PASSES_CERTIFICATE_CERTIFICATE_H
