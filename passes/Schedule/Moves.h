//===- Moves.h - Moves between layouts, for scheduling ---------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the six move operations of spmd have in common, and what a move needs in
// the arena beside its operand and its result: a staging buffer. What a rank
// sends is packed there, and what it receives arrives there:
//
//     x ── pack ──▶ staging ◀── communicate ──▶ other ranks
//     x ─────────── unpack ──▶ y
//                     ▲
//                  staging
//
// A slice sends nothing and has none.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_PASSES_SCHEDULE_MOVES_H
#define PARTITA_PASSES_SCHEDULE_MOVES_H

#include "dialects/SPMD/IR/SPMDDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

#include <optional>
#include <vector>

namespace partita {

/// One of spmd.slice, all_gather, reduce_scatter, all_to_all, halo_exchange and
/// exchange.
struct MoveView {
  mlir::Operation *op = nullptr;
  mlir::Value x, y;
  dist::LayoutAttr from, to;
  mlir::RankedTensorType global;
  mlir::ArrayAttr axes;

  bool isSlice() const { return llvm::isa<spmd::SliceOp>(op); }
  /// "all_gather", ...: the operation's name without the dialect.
  llvm::StringRef kind() const { return op->getName().stripDialect(); }
  /// kind, from, to, global and axes: what its launches and its communication
  /// carry. A slice has no kind and no axes.
  mlir::DictionaryAttr dictionary() const;
  /// How values combine: as `from` says, for reduce_scatter; else sum.
  spmd::Reduction reduction() const;
};

/// The move that `op` is, or nothing.
std::optional<MoveView> asMove(mlir::Operation *op);

/// Elements of the staging buffers of a class's moves, by what is moved.
using StagingSizes = llvm::DenseMap<mlir::DictionaryAttr, int64_t>;
/// The same for every rank of the grid: what a program computes once.
using StagingTables =
    llvm::DenseMap<mlir::DictionaryAttr, std::vector<int64_t>>;

/// Checks the functions of a class against the layouts they name: the types of
/// moves and of variables are the parts of every rank of the class, and all its
/// ranks need staging buffers of the same sizes, which are returned. `tables`
/// is filled as far as needed. Errors are diagnostics on the operations.
mlir::FailureOr<StagingSizes>
checkParts(spmd::ClassOp classOp, llvm::ArrayRef<mlir::func::FuncOp> functions,
           StagingTables &tables);

/// The attribute `dist.layout` of a variable; replicated without one.
dist::LayoutAttr layoutOfVariable(mlir::Operation *variable,
                                  mlir::RankedTensorType type);

/// Bytes of the part of a tensor that `rank` has. Without a grid it has all.
int64_t localBytes(dist::GridAttr grid, dist::LayoutAttr layout,
                   mlir::RankedTensorType type, int64_t rank);

} // namespace partita

#endif // PARTITA_PASSES_SCHEDULE_MOVES_H
