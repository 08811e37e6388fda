//===- Window.cpp - Pooling windows over three axes -----------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The spans of pooling windows, cut at the ends of x.
//
//===----------------------------------------------------------------------===//

#include "Window.h"

#include <algorithm>

using namespace partita;
using namespace partita::kernels;

/// Kernel cells k in [0, kernel) with low <= start + k * dilation < high.
static std::int64_t cellsBelow(std::int64_t start, std::int64_t dilation,
                               std::int64_t kernel, std::int64_t bound) {
  if (start >= bound)
    return 0;
  return std::min(kernel, (bound - 1 - start) / dilation + 1);
}

WindowAxis::Span WindowAxis::span(std::int64_t output) const {
  std::int64_t start = output * stride - padLow;
  std::int64_t before = cellsBelow(start, dilation, kernel, 0);
  // A negative pad crops x.
  std::int64_t end = std::min(in, in + padHigh);
  std::int64_t inside =
      std::max(before, cellsBelow(start, dilation, kernel, end));
  std::int64_t padded = cellsBelow(start, dilation, kernel, in + padHigh);
  return {start + before * dilation, inside - before, padded};
}

Window::Window(const PoolSizes &sizes)
    : planes(sizes.batch * sizes.channels), inCells(elementsOf(sizes.in)),
      outCells(elementsOf(sizes.out)) {
  WindowAxis *axes[] = {&depth, &height, &width};
  std::vector<WindowAxis::Span> *spans[] = {&depthSpans, &heightSpans,
                                            &widthSpans};
  std::size_t rank = sizes.in.size();
  for (std::size_t i = 0; i < rank; ++i)
    *axes[3 - rank + i] = {
        sizes.in[i],        sizes.out[i],    sizes.kernel[i], sizes.strides[i],
        sizes.dilations[i], sizes.padLow[i], sizes.padHigh[i]};
  for (int i = 0; i < 3; ++i)
    for (std::int64_t output = 0; output < axes[i]->out; ++output)
      spans[i]->push_back(axes[i]->span(output));
}
