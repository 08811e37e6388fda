//===- Moves.h - Tensors that change their layout ---------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A move is up to three actions of a schedule, which name the same layouts:
// spmd.pack, a communication and spmd.unpack, or spmd.slice alone. The
// runtime's `Redistribution` does all of them, so that a program has one object
// per distinct move:
//
//     // conv1 reads x: each rank gets the elements ... 4096 bytes of staging
//     Redistribution conv1Halo{rank, MoveKind::haloExchange, &rowRanks, ...};
//     ...
//     conv1Halo.pack(compute, x, stagingOfConv1);
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_CODEGEN_EMIT_MOVES_H
#define PARTITA_CODEGEN_EMIT_MOVES_H

#include "codegen/Emit/Schedule.h"
#include "codegen/Emit/Splits.h"

namespace partita::codegen {

/// Whether an action is part of a move.
bool isPartOfMove(mlir::Operation *op);

/// The moves of one program text.
class MoveObjects {
public:
  MoveObjects(dist::GridAttr grid, SplitTables &splits)
      : grid(grid), splits(splits) {}

  /// The object for an action that is part of a move, made when it is the first
  /// to ask for it. Errors are diagnostics on the action.
  mlir::FailureOr<int> add(const Phase &phase, const Action &action,
                           Names &names);

  bool empty() const { return objects.empty(); }
  const std::string &name(int object) const { return objects[object].name; }

  /// Prints the objects as members; `communicator` names that of a list of
  /// axes.
  void printMembers(
      llvm::raw_ostream &os, NumberTable &numbers,
      llvm::function_ref<std::string(mlir::ArrayAttr)> communicator) const;
  /// Prints the statements that compare the planned staging buffers with what
  /// the runtime needs.
  void printChecks(llvm::raw_ostream &os, NumberTable &numbers) const;
  /// Whether there is anything to compare.
  bool hasChecks() const;

private:
  struct Object {
    std::string name;
    llvm::StringRef kind; ///< "slice", "all_gather", ...
    dist::LayoutAttr from, to;
    mlir::RankedTensorType global;
    mlir::ArrayAttr axes;
    /// What for, from the first communication: "conv1 reads x".
    std::string label;
    /// Elements of the staging buffer; empty for a slice.
    Number staging;
  };

  mlir::FailureOr<Object> read(mlir::Operation *op) const;
  std::string describe(const Object &object, dist::LayoutAttr layout) const;
  std::string comment(const Object &object, NumberTable &numbers) const;
  std::string splitList(const Object &object, dist::LayoutAttr layout) const;

  dist::GridAttr grid;
  SplitTables &splits;
  std::vector<Object> objects;
  llvm::DenseMap<mlir::Attribute, int> index;
};

} // namespace partita::codegen

#endif // PARTITA_CODEGEN_EMIT_MOVES_H
