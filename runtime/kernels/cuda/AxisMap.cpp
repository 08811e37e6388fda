//===- AxisMap.cpp - Walks over the axes of dense tensors -------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements AxisMap.h.
//
//===----------------------------------------------------------------------===//

#include "AxisMap.h"

using namespace partita;
using namespace partita::kernels;

AxisMap kernels::axisMap(const char *kernel, const Dims &sizes,
                         const Dims &strides) {
  Dims mergedSizes, mergedStrides;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 1)
      continue;
    if (!mergedSizes.empty() && mergedStrides.back() == sizes[i] * strides[i]) {
      mergedSizes.back() *= sizes[i];
      mergedStrides.back() = strides[i];
    } else {
      mergedSizes.push_back(sizes[i]);
      mergedStrides.push_back(strides[i]);
    }
  }
  if (mergedSizes.size() > kMostAxes)
    refuse(kernel, "found " + std::to_string(mergedSizes.size()) +
                       " axes that cannot be merged, expected at most " +
                       std::to_string(kMostAxes) +
                       "; compile with --target cpu, which has no limit");
  AxisMap map;
  map.axes = static_cast<int>(mergedSizes.size());
  for (int i = 0; i < map.axes; ++i) {
    map.size[i] = mergedSizes[i];
    map.stride[i] = mergedStrides[i];
  }
  return map;
}
