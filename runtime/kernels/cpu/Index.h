//===- Index.h - Walks over the axes of dense tensors -----------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Nested loops over any number of axes.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_KERNELS_CPU_INDEX_H
#define PARTITA_KERNELS_CPU_INDEX_H

#include "partita/types.h"

namespace partita::kernels {

/// Offset of the row-major `index`-th element of a tensor with these sizes and
/// strides.
inline std::int64_t offsetOf(std::int64_t index, const Dims &sizes,
                             const Dims &strides) {
  std::int64_t offset = 0;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    offset += index % sizes[i] * strides[i];
    index /= sizes[i];
  }
  return offset;
}

/// Calls visit(offset) for every element of a tensor in row-major order. `axis`
/// is for the recursion.
template <typename Visit>
void forEachOffset(const Dims &sizes, const Dims &strides, const Visit &visit,
                   std::int64_t offset = 0, std::size_t axis = 0) {
  if (axis == sizes.size())
    return visit(offset);
  for (std::int64_t i = 0; i < sizes[axis]; ++i)
    forEachOffset(sizes, strides, visit, offset + i * strides[axis], axis + 1);
}

} // namespace partita::kernels

#endif // PARTITA_KERNELS_CPU_INDEX_H
