//===- ClassProgram.h - The function of one rank class ---------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Copies a planned function for one rank: local types, local attributes, and a
// move wherever a value does not lie as its user needs it.
//
// Each move is built once, right before its first user; a second user of the
// same layout shares it. All ranks issue the same collectives in the same
// order, for the order follows the planned function alone; a rank whose part of
// an operation is empty leaves out the operation but not its moves.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_PASSES_PARTITION_CLASSPROGRAM_H
#define PARTITA_PASSES_PARTITION_CLASSPROGRAM_H

#include "dialects/Dist/IR/Redistribution.h"
#include "dialects/Dist/Interfaces/ValueLayouts.h"
#include "dialects/NN/IR/NNOps.h"
#include "mlir/IR/IRMapping.h"
#include <map>

namespace partita {

/// The moves between pairs of layouts, each searched once.
class MovePaths {
public:
  explicit MovePaths(dist::GridAttr grid) : grid(grid) {}

  /// The moves of a tensor of `type` from one layout to another.
  const std::vector<dist::Move> &
  find(mlir::RankedTensorType type, dist::LayoutAttr from, dist::LayoutAttr to);
  /// Whether nobody has asked for these yet.
  bool isNew(mlir::RankedTensorType type, dist::LayoutAttr from,
             dist::LayoutAttr to) const {
    return !paths.contains(Key(type, std::pair(from, to)));
  }

private:
  using Key =
      std::pair<mlir::Type, std::pair<mlir::Attribute, mlir::Attribute>>;

  dist::GridAttr grid;
  llvm::DenseMap<Key, std::unique_ptr<std::vector<dist::Move>>> paths;
};

class ClassProgram {
public:
  ClassProgram(mlir::func::FuncOp function, const dist::ValueLayouts &layouts,
               dist::GridAttr grid, MovePaths &paths, int64_t rank)
      : function(function), layouts(layouts), grid(grid), paths(paths),
        rank(rank) {}

  mlir::func::FuncOp build(mlir::OpBuilder &builder, llvm::StringRef name,
                           mlir::FlatSymbolRefAttr classSymbol);

  /// The attributes of `rank`'s part of `op`, as text that is equal for ranks
  /// that can share a function.
  static std::string attributesOf(mlir::Operation *op,
                                  const dist::ValueLayouts &layouts,
                                  dist::GridAttr grid, int64_t rank);

private:
  mlir::RankedTensorType local(mlir::Value value, dist::LayoutAttr layout);
  mlir::Value moved(mlir::OpBuilder &builder, mlir::Value value,
                    dist::LayoutAttr want, mlir::Location user);
  mlir::Value makeMove(mlir::OpBuilder &builder, mlir::Value global,
                       mlir::Value x, const dist::Move &move,
                       dist::LayoutAttr from, dist::LayoutAttr to,
                       mlir::Location user);
  void copyOp(mlir::OpBuilder &builder, mlir::Operation *op);
  mlir::LogicalResult replaceEmpty(mlir::OpBuilder &builder,
                                   mlir::Operation *op,
                                   llvm::ArrayRef<mlir::Value> operands,
                                   llvm::ArrayRef<mlir::Type> types);
  void finish(mlir::OpBuilder &builder, mlir::Operation *op,
              mlir::ValueRange computed);
  void collectEager();
  void moveEagerly(mlir::OpBuilder &builder, mlir::Value value);

  mlir::func::FuncOp function;
  const dist::ValueLayouts &layouts;
  dist::GridAttr grid;
  MovePaths &paths;
  int64_t rank;
  mlir::IRMapping mapping;
  /// Constants and broadcasts that stand for parts without elements.
  int64_t standIns = 0;
  llvm::DenseMap<std::pair<mlir::Value, mlir::Attribute>, mlir::Value> moves;
  /// Layouts in which values are needed far behind where they are made: factors
  /// and what is returned. They travel at once, in all classes at the same
  /// place among the collectives.
  llvm::DenseMap<mlir::Value,
                 llvm::SmallVector<std::pair<dist::LayoutAttr, mlir::Location>>>
      eager;
  /// How the gradient is combined that is moved now; null for other values.
  dist::SyncAttr sync;
};

} // namespace partita

#endif // PARTITA_PASSES_PARTITION_CLASSPROGRAM_H
