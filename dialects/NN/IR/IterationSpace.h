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
// through a window. Two examples:
//
//   matmul   y[m, n] += a[m, k] * b[k, n]
//     dims    m parallel, n parallel, k reduction(sum)
//     maps    a = (m, k)   b = (k, n)   y = (m, n)
//
//   conv     y[n, co, ho] += x[n, ci, ho*s + kh*d - p] * w[co, ci, kh]
//     dims    n, co, ho parallel; ci, kh reduction(sum)
//     maps    x = (n, ci, window(ho, kh; s, d, p))  w = (co, ci, kh)
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
  /// Indices depend on each other; the dimension stays whole on every rank.
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
  /// Iteration dimension, or -1 for a dimension that no loop indexes
  /// (a broadcast dimension of size 1, or one that is always read whole).
  int dim = -1;
  /// For a window: the dimension of the kernel positions, else -1.
  int kernelDim = -1;
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t padBegin = 0;
  /// The iteration dimension's index counts blocks of this many elements of
  /// the tensor's dimension (1: one to one). Used by reshapes that merge a
  /// split dimension with the ones inside it.
  int64_t block = 1;
};

/// The maps of all dimensions of one operand or result.
using TensorMap = llvm::SmallVector<DimMap, 4>;

/// The loop nest of an operation.
struct IterationSpace {
  llvm::SmallVector<IterationDim, 6> dims;
  llvm::SmallVector<TensorMap, 4> operands;
  llvm::SmallVector<TensorMap, 2> results;

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

/// A map that reads the whole tensor dimension for each index.
inline DimMap wholeDim() { return DimMap(); }

/// The space of a point-wise operation: its result's dimensions d0, d1, ...;
/// operands are broadcast by numpy's rule.
IterationSpace pointwiseSpace(mlir::Operation *op);

} // namespace partita::nn

#endif // PARTITA_DIALECTS_NN_IR_ITERATIONSPACE_H
