//===- ValueLayouts.h - The layout of every value --------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The layouts of a planned function, followed from its arguments and variables
// through the splits of its operations. Values of split reductions are partial;
// operations that are linear in all their operands leave them so, such that a
// sum of two partial values is combined once.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_DIALECTS_DIST_INTERFACES_VALUELAYOUTS_H
#define PARTITA_DIALECTS_DIST_INTERFACES_VALUELAYOUTS_H

#include "dialects/Dist/Interfaces/Layouts.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace partita::dist {

class ValueLayouts {
public:
  /// Follows the layouts through `function`. Fails after a diagnostic when an
  /// argument's layout does not fit its type.
  static mlir::FailureOr<ValueLayouts> compute(mlir::func::FuncOp function,
                                               GridAttr grid);

  /// The layout a value has where it is made; it may be partial.
  LayoutAttr of(mlir::Value value) const { return layouts.lookup(value); }

  /// What `op` needs of its operands and makes. Operations without iteration
  /// space take operands as their variable lies.
  const OpLayouts &of(mlir::Operation *op) const {
    return operations.find(op)->second;
  }

  /// All layouts that occur, with the types they belong to, in the order of the
  /// function.
  llvm::ArrayRef<std::pair<mlir::RankedTensorType, LayoutAttr>> all() const {
    return occurring;
  }

private:
  mlir::LogicalResult visit(mlir::Operation *op, GridAttr grid);
  void note(mlir::RankedTensorType type, LayoutAttr layout);

  llvm::DenseMap<mlir::Value, LayoutAttr> layouts;
  llvm::DenseMap<mlir::Operation *, OpLayouts> operations;
  std::vector<std::pair<mlir::RankedTensorType, LayoutAttr>> occurring;
};

/// The layout of a variable: its `dist.layout`, or replicated.
LayoutAttr layoutOfVariable(mlir::Operation *user, llvm::StringRef name,
                            unsigned rank);

} // namespace partita::dist

#endif // PARTITA_DIALECTS_DIST_INTERFACES_VALUELAYOUTS_H
