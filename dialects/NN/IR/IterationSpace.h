//===- IterationSpace.h - How an operation iterates ------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one statement an operation makes about splitting.
//
// An operation is seen as a loop nest over named dimensions. Each dimension of
// an operand or result is indexed by at most one of them, either directly or
// through windows. Two examples:
//
//   matmul   y[m, n] += a[m, k] * b[k, n]
//     dims    m parallel, n parallel, k reduction(sum)
//     maps    a = (m, k)   b = (k, n)   y = (m, n)
//
//   conv     y[n, co, h] += x[n, ci, h*s - p + kh*d] * w[co, ci, kh]
//     dims    n, co, h parallel; ci, kh reduction(sum)
//     maps    x = (n, ci, window(h))   w = (co, ci, kh)   y = (n, co, h)
//
// Window o covers the elements [o*s - p, o*s - p + e) of a tensor's dimension,
// where e = d*(k-1) + 1 is the extent of the kernel. A part [a, b) of the loop
// reads or writes
//
//   window     the elements of its windows: [a*s - p, (b-1)*s - p + e)
//   covering   when the loop runs over the elements: the windows that touch
//              [a, b), as the gradient of a convolution by its input does
//   covered    the elements of those windows, and [a, b) itself
//
// each cut off at the borders of the tensor. What lies outside its own part is
// a rank's halo (Gholami et al., SPAA'18, section 3, for stride 1).
//
// From it the partitioner derives: which dimensions may be split, the local
// shape of every tensor, whether a result is partial and how its parts combine,
// and which rows beyond its own a rank needs. The batch role marks the sample
// dimension, the model role channels and features, the domain role space and
// sequence (integrated parallelism: Gholami et al., SPAA'18).
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_DIALECTS_NN_IR_ITERATIONSPACE_H
#define PARTITA_DIALECTS_NN_IR_ITERATIONSPACE_H

#include "dialects/Dist/IR/Layout.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>

namespace mlir {
class Operation;
} // namespace mlir

namespace partita::nn {

/// What a split of an iteration dimension does to the results.
enum class DimKind {
  /// Every index computes its own part of the result.
  parallel,
  /// Indices combine into one result: a split leaves partial results.
  reduction,
  /// Indices depend on each other, as the classes of a softmax do. A split
  /// first replaces the operation by reductions and point-wise operations.
  coupled,
  /// The dimension stays whole on every rank.
  whole
};

/// How partial results of a split reduction combine.
enum class Combiner { sum, max, min, prod };

/// Which kind of parallelism a split of the dimension is.
enum class DimRole { batch, model, domain, none };

/// One dimension of the loop nest.
struct IterationDim {
  /// Name within the operation, as the user writes it in a split.
  std::string name;
  int64_t size = 1;
  DimKind kind = DimKind::parallel;
  Combiner combiner = Combiner::sum;
  DimRole role = DimRole::none;
};

/// How one dimension of a tensor is indexed.
struct DimMap {
  enum Kind { direct, window, covering, covered };

  /// Iteration dimension, or -1 for a dimension that no loop indexes
  /// (a broadcast dimension of size 1, or one that is always read whole).
  int dim = -1;
  Kind kind = direct;
  /// For direct maps: the iteration dimension's index counts blocks of this
  /// many elements of the tensor's dimension (1: one to one). Used by reshapes
  /// that merge a split dimension with the ones inside it, and by groups.
  int64_t block = 1;
  /// For the others: window o covers [o*stride - pad, o*stride - pad + extent).
  /// Windows of slices may walk backwards (negative stride).
  int64_t stride = 1;
  int64_t pad = 0;
  int64_t extent = 1;
  /// For covering and covered: the number of windows.
  int64_t count = 0;

  /// What part `part` of the iteration dimension touches of a tensor dimension
  /// of `size` elements; nothing for an empty part.
  dist::Range rangeOf(dist::Range part, int64_t size) const;
};

/// The maps of all dimensions of one operand or result.
using TensorMap = llvm::SmallVector<DimMap, 4>;

/// The loop nest of an operation.
struct IterationSpace {
  llvm::SmallVector<IterationDim, 6> dims;
  llvm::SmallVector<TensorMap, 4> operands;
  llvm::SmallVector<TensorMap, 2> results;
  /// What a part computes, where that is more than the results' maps say; the
  /// rest is thrown away. Empty: exactly the results.
  llvm::SmallVector<TensorMap, 2> computed;

  /// Add a dimension and return its index.
  int addDim(llvm::StringRef name, int64_t size,
             DimKind kind = DimKind::parallel, DimRole role = DimRole::none,
             Combiner combiner = Combiner::sum);

  /// Index of the dimension `name`, or -1.
  int find(llvm::StringRef name) const;

  /// Whether a split of `dim` leaves result `result` partial: the dimension
  /// is a reduction and does not index the result.
  bool isPartial(int dim, unsigned result) const;
};

/// A direct map onto iteration dimension `dim`.
inline DimMap direct(int dim) {
  DimMap map;
  map.dim = dim;
  return map;
}

/// A map through windows over iteration dimension `dim`.
inline DimMap windowed(int dim, DimMap::Kind kind, int64_t stride, int64_t pad,
                       int64_t extent, int64_t count = 0) {
  DimMap map;
  map.dim = dim;
  map.kind = kind;
  map.stride = stride;
  map.pad = pad;
  map.extent = extent;
  map.count = count;
  return map;
}

/// A map that reads the whole tensor dimension for each index.
inline DimMap wholeDim() { return DimMap(); }

/// One rank's part of an operation.
struct LocalPart {
  /// The part of each iteration dimension.
  llvm::SmallVector<dist::Range, 6> bounds;
  /// The boxes of operands and of what is computed, in the whole tensors.
  llvm::SmallVector<dist::Box, 4> operands;
  llvm::SmallVector<dist::Box, 2> results;
};

/// The space of a point-wise operation: its result's dimensions d0, d1, ...;
/// operands are broadcast by numpy's rule.
IterationSpace pointwiseSpace(mlir::Operation *op);

} // namespace partita::nn

#endif // PARTITA_DIALECTS_NN_IR_ITERATIONSPACE_H
