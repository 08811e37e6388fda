//===- Layouts.h - Layouts derived from iteration spaces -------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What follows from the split of an operation. An operation with iteration
// space S and split {dimension -> axes} wants each operand split where its
// dimensions are indexed by a split iteration dimension, and gives results
// that are
//
//   split     where a result dimension is indexed by it,
//   partial   over the axes of a split reduction that does not index it,
//   varying   over the axes of a split parallel dimension that does not index
//             it (statistics of each rank's own part),
//   replicated over all other axes.
//
// Example, data = 2, matmul y[m, n] += a[m, k] * b[k, n], split m = [data]:
//   a [[data], []]   b [[], []]   ->   y [[data], []]
// and the filter's gradient, where m is contracted, split k = [data]:
//   x^T [[], [data]]   dy [[data], []]   ->   dw [[], []] partial sum [data]
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_DIALECTS_DIST_INTERFACES_LAYOUTS_H
#define PARTITA_DIALECTS_DIST_INTERFACES_LAYOUTS_H

#include "dialects/Dist/IR/DistDialect.h"
#include "dialects/Dist/IR/Layout.h"
#include "dialects/NN/IR/NNDialect.h"

namespace partita::dist {

/// "sum", "max", "min" or "prod": the kind of a partial layout.
llvm::StringRef combinerName(nn::Combiner combiner);

/// Layouts an operation wants of its operands and gives its results.
struct OpLayouts {
  llvm::SmallVector<LayoutAttr, 4> operands;
  llvm::SmallVector<LayoutAttr, 2> results;
  /// What a rank computes of each result; it may overlap with what others
  /// compute, and only the part that `results` says is kept.
  llvm::SmallVector<LayoutAttr, 2> computed;
};

/// The layouts that follow from `split` for `op`, whose operands have the
/// layouts `have` (results vary where operands do). `split` may be null:
/// nothing is split.
OpLayouts deriveLayouts(mlir::Operation *op, const nn::IterationSpace &space,
                        GridAttr grid, SplitAttr split,
                        llvm::ArrayRef<LayoutAttr> have);

/// The cut of iteration dimension `dim` that `split` says.
DimCut cutOf(GridAttr grid, SplitAttr split, llvm::StringRef dim);

/// The part of each iteration dimension that `rank` computes.
llvm::SmallVector<Range, 6> boundsOf(GridAttr grid,
                                     const nn::IterationSpace &space,
                                     SplitAttr split, int64_t rank);

/// The split whose cut of iteration dimension i is cuts[i]; null when all are
/// whole.
SplitAttr makeSplit(mlir::MLIRContext *context, GridAttr grid,
                    const nn::IterationSpace &space,
                    llvm::ArrayRef<DimCut> cuts);

/// The box of a tensor of `type` that `rank` holds.
Box boxOf(GridAttr grid, LayoutAttr layout, mlir::RankedTensorType type,
          int64_t rank);

/// The type of `rank`'s part of a tensor.
mlir::RankedTensorType localType(GridAttr grid, LayoutAttr layout,
                                 mlir::RankedTensorType type, int64_t rank);

/// The layout without partial axes: what it is once values are combined.
LayoutAttr withoutPartial(LayoutAttr layout);

/// The layout with the same axes whose parts tile: tables that overlap or leave
/// gaps become balanced.
LayoutAttr tilingOf(GridAttr grid, LayoutAttr layout,
                    mlir::RankedTensorType type);

/// Whether every rank holds the same box and partial values under both.
bool sameLayout(GridAttr grid, LayoutAttr a, LayoutAttr b,
                mlir::RankedTensorType type);

/// Between attributes and the arithmetic of layouts. Axes that the grid does
/// not have cut nothing.
Grid toGrid(GridAttr grid);
Layout toLayout(GridAttr grid, LayoutAttr layout);
LayoutAttr toAttr(mlir::MLIRContext *context, GridAttr grid,
                  const Layout &layout);

/// The sizes of a tensor of static shape.
Sizes sizesOf(mlir::RankedTensorType type);

} // namespace partita::dist

#endif // PARTITA_DIALECTS_DIST_INTERFACES_LAYOUTS_H
