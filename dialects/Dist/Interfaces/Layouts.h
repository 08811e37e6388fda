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

/// Layouts an operation wants of its operands and gives its results.
struct OpLayouts {
  llvm::SmallVector<LayoutAttr, 4> operands;
  llvm::SmallVector<LayoutAttr, 2> results;
  /// Elements dealt out together, per iteration dimension.
  llvm::SmallVector<int64_t, 6> blocks;
};

/// The layouts that follow from `split` for `op`, whose operands have the
/// layouts `have` (they tell how large the dealt-out blocks are). `split` may
/// be null: nothing is split.
OpLayouts deriveLayouts(mlir::Operation *op, const nn::IterationSpace &space,
                        SplitAttr split, llvm::ArrayRef<LayoutAttr> have);

/// Whether a tensor of `type` that lies as `have` can be used where `want` is
/// wanted without communication: equal, or replicated with size 1 in every
/// dimension that `want` splits.
bool fits(mlir::RankedTensorType type, LayoutAttr have, LayoutAttr want);

/// The part of dimension `dim` of a tensor that `rank` holds.
std::pair<int64_t, int64_t> boundsOf(GridAttr grid, LayoutAttr layout,
                                     unsigned dim, int64_t size, int64_t rank);

/// The type of `rank`'s part of a tensor.
mlir::RankedTensorType localType(GridAttr grid, LayoutAttr layout,
                                 mlir::RankedTensorType type, int64_t rank);

/// The grid as the arithmetic of layouts knows it.
Grid toGrid(GridAttr grid);

/// The layout with axes as indices into `grid`; axes that the grid does not
/// have cut nothing.
Layout toLayout(GridAttr grid, LayoutAttr layout);

/// The sizes of a tensor of static shape.
Sizes sizesOf(mlir::RankedTensorType type);

} // namespace partita::dist

#endif // PARTITA_DIALECTS_DIST_INTERFACES_LAYOUTS_H
