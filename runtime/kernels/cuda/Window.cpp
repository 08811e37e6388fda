//===- Window.cpp - Pooling windows over three axes -------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checks that a window's arithmetic fits into int, which GPUs divide fastest.
//
//===----------------------------------------------------------------------===//

#include "Window.h"

#include "../Sizes.h"

#include <algorithm>
#include <limits>

using namespace partita;
using namespace partita::kernels;

static constexpr std::int64_t kLargest = std::numeric_limits<int>::max();

/// Whether products and sums of the axis' numbers stay below 2^31.
static bool fits(const PoolSizes &sizes, std::size_t i) {
  auto isSmall = [](std::int64_t value) {
    return value <= kLargest / 4 && value >= -kLargest / 4;
  };
  auto product = [&](std::int64_t a, std::int64_t b) {
    return isSmall(a) && isSmall(b) && isSmall(a * b);
  };
  return product(sizes.out[i], sizes.strides[i]) &&
         product(sizes.kernel[i], sizes.dilations[i]) && isSmall(sizes.in[i]) &&
         isSmall(sizes.padLow[i]) && isSmall(sizes.padHigh[i]);
}

/// The cells of a plane.
static int cellsOf(const char *kernel, const Dims &shape) {
  std::int64_t cells = 1;
  for (std::int64_t size : shape) {
    cells *= size;
    if (cells > kLargest)
      refuse(kernel, "found the plane " + toString(shape) +
                         ", expected less than 2^31 cells per channel");
  }
  return static_cast<int>(cells);
}

Window::Window(const char *kernel, const PoolSizes &sizes) {
  checkPool(kernel, sizes);
  planes = sizes.batch * sizes.channels;
  WindowAxis *axes[] = {&depth, &height, &width};
  std::size_t rank = sizes.in.size();
  for (std::size_t i = 0; i < rank; ++i) {
    if (!fits(sizes, i))
      refuse(kernel, "the window over " + toString(sizes.in) +
                         " reaches further than 2^29 cells");
    WindowAxis &axis = *axes[3 - rank + i];
    axis.in = static_cast<int>(sizes.in[i]);
    axis.out = static_cast<int>(sizes.out[i]);
    axis.kernel = static_cast<int>(sizes.kernel[i]);
    axis.stride = static_cast<int>(sizes.strides[i]);
    axis.dilation = static_cast<int>(sizes.dilations[i]);
    axis.padLow = static_cast<int>(sizes.padLow[i]);
    axis.padHigh = static_cast<int>(sizes.padHigh[i]);
  }
  inCells = cellsOf(kernel, sizes.in);
  outCells = cellsOf(kernel, sizes.out);
}
