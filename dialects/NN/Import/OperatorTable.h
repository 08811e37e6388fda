//===- OperatorTable.h - Operators by opset range --------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one place that knows which operators are imported, and by which function
// at which opset.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_DIALECTS_NN_IMPORT_OPERATORTABLE_H
#define PARTITA_DIALECTS_NN_IMPORT_OPERATORTABLE_H

#include "dialects/NN/Import/NodeContext.h"

namespace partita::nn::importer {

/// Builds the operations of a node, or folds it.
using Builder = llvm::LogicalResult (*)(NodeContext &);

struct Operator {
  llvm::StringLiteral name;
  /// Opset versions with this meaning, both ends included.
  int64_t since, until;
  /// Inputs: the first `minInputs` must be present. Outputs: at most.
  unsigned minInputs, maxInputs, maxOutputs;
  Builder build;
};

/// No limit to the number of inputs or outputs.
constexpr unsigned kVariadic = ~0u;

/// The entry for an operator of the standard domain, or null.
const Operator *findOperator(llvm::StringRef name, int64_t opset);

/// The names in the table, each once, in alphabetical order.
std::vector<llvm::StringRef> operatorNames();

/// What to do about an operator that the table lacks, or empty.
llvm::StringRef adviceFor(llvm::StringRef name);

} // namespace partita::nn::importer

#endif // PARTITA_DIALECTS_NN_IMPORT_OPERATORTABLE_H
