//===- AxisMap.h - Walks over the axes of dense tensors ---------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From a row-major index to an offset in memory, as a value that kernels take
// as a parameter.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_KERNELS_CUDA_AXISMAP_H
#define PARTITA_KERNELS_CUDA_AXISMAP_H

#include "../Sizes.h"
#include "partita/cuda.h"

namespace partita::kernels {

/// Axes that a kernel can take, after neighbours have been merged.
constexpr int kMostAxes = 8;

/// Sizes and strides, outermost axis first.
struct AxisMap {
  int axes = 0;
  std::int64_t size[kMostAxes] = {};
  std::int64_t stride[kMostAxes] = {};
};

/// The map of axes with these sizes and strides: axes of one element are left
/// out, and neighbours that one axis can stand for are merged. Throws `Error`
/// naming the kernel when more than kMostAxes remain.
AxisMap axisMap(const char *kernel, const Dims &sizes, const Dims &strides);

#ifdef __CUDACC__
/// Offset of the `index`-th element in row-major order.
__device__ inline std::int64_t offsetOf(const AxisMap &map,
                                        std::int64_t index) {
  std::int64_t offset = 0;
  for (int axis = map.axes - 1; axis > 0; --axis) {
    std::int64_t next = index / map.size[axis];
    offset += (index - next * map.size[axis]) * map.stride[axis];
    index = next;
  }
  return map.axes > 0 ? offset + index * map.stride[0] : 0;
}
#endif

} // namespace partita::kernels

#endif // PARTITA_KERNELS_CUDA_AXISMAP_H
