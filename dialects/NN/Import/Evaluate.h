//===- Evaluate.h - Arithmetic on compile-time tensors ---------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Evaluates point-wise operators and reductions on constants, exactly: integers
// with the wrap-around of their width, floating-point numbers rounded to their
// type after each operation. Nothing is returned where a value is undefined
// (division by zero) or the result is too large to evaluate.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_DIALECTS_NN_IMPORT_EVALUATE_H
#define PARTITA_DIALECTS_NN_IMPORT_EVALUATE_H

#include "dialects/NN/IR/NNDialect.h"
#include "dialects/NN/Import/Constant.h"

namespace partita::nn::importer {

enum class Arithmetic { add, sub, mul, div, mod, fmod, pow, max, min };
enum class Function {
  abs,
  neg,
  exp,
  log,
  sqrt,
  floor,
  ceil,
  round,
  sign,
  logicalNot,
  reciprocal,
  erf,
  tanh,
  sigmoid,
  sin,
  cos,
  softplus,
  relu
};

/// a (op) b with numpy broadcasting; both have the same element type.
std::optional<Constant> evaluate(Arithmetic op, const Constant &a,
                                 const Constant &b);
std::optional<Constant> evaluate(Function op, const Constant &a);
/// A boolean tensor.
std::optional<Constant> evaluate(Predicate predicate, const Constant &a,
                                 const Constant &b);
/// Where `condition` holds a, elsewhere b.
std::optional<Constant> evaluateSelect(const Constant &condition,
                                       const Constant &a, const Constant &b);
/// scale * reduction over `axes`, which vanish from the shape.
std::optional<Constant> evaluateReduce(ReduceKind kind, const Constant &a,
                                       llvm::ArrayRef<int64_t> axes,
                                       double scale);
/// Numpy broadcast to `shape`.
std::optional<Constant> evaluateBroadcast(const Constant &a,
                                          llvm::ArrayRef<int64_t> shape);

} // namespace partita::nn::importer

#endif // PARTITA_DIALECTS_NN_IMPORT_EVALUATE_H
