//===- ScalarCode.h - Scalar bodies of fused kernels as C++ -----*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A fused launch computes each output element by `arith` and `math` operations
// on scalars. They become C++ expressions that are the same on cpus and gpus;
// values used once are written into the expression that uses them.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_CODEGEN_EMIT_SCALARCODE_H
#define PARTITA_CODEGEN_EMIT_SCALARCODE_H

#include "dialects/SPMD/IR/SPMDDialect.h"

#include <set>
#include <string>
#include <vector>

namespace partita::codegen {

/// The C++ type of an element; empty for types emitted code cannot hold.
std::string cType(mlir::Type type);

/// The runtime's name of an element type; empty when it has none.
llvm::StringRef dtypeName(mlir::Type type);

/// Small functions that scalar code calls.
enum class ScalarHelper { maximum, minimum, integerPower };

/// The text of such a function; `qualifier` precedes "inline".
std::string textOf(ScalarHelper helper, llvm::StringRef qualifier);

/// A body in C++.
struct ScalarCode {
  /// Definitions such as "const float t0 = std::exp(a);", in order.
  std::vector<std::string> statements;
  /// One expression per output.
  std::vector<std::string> results;
  /// How often each argument is read by the text.
  std::vector<unsigned> reads;
  std::set<ScalarHelper> helpers;
  /// Functions of <cmath> that take floats, without "std::".
  std::set<std::string> floatFunctions;
  /// The operations in few words, for the kernel's name: "addMax".
  std::string title;
};

/// Prints the body of a fused launch, whose arguments are called `arguments`.
/// An operation or type that has no C++ form is an error on the operation.
mlir::FailureOr<ScalarCode>
printScalarCode(spmd::LaunchOp launch, llvm::ArrayRef<std::string> arguments);

} // namespace partita::codegen

#endif // PARTITA_CODEGEN_EMIT_SCALARCODE_H
