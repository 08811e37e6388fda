//===- Window.h - Pooling windows over three axes ---------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the pooling kernels share: a window over up to three spatial axes, seen
// as three, and the cells of x each output's window covers.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_KERNELS_CPU_WINDOW_H
#define PARTITA_KERNELS_CPU_WINDOW_H

#include "partita/kernels.h"

namespace partita::kernels {

/// One axis of a pooling window.
struct WindowAxis {
  std::int64_t in = 1, out = 1, kernel = 1, stride = 1, dilation = 1;
  std::int64_t padLow = 0, padHigh = 0;

  /// The window of one output: `count` cells of x from `first` on, `dilation`
  /// apart; `padded` cells lie inside the padded extent.
  struct Span {
    std::int64_t first, count, padded;
  };
  Span span(std::int64_t output) const;
};

/// A window over [planes, depth, height, width].
struct Window {
  explicit Window(const PoolSizes &sizes);

  std::int64_t planes, inCells, outCells;
  WindowAxis depth, height, width;
  /// The spans of all outputs of an axis, computed once.
  std::vector<WindowAxis::Span> depthSpans, heightSpans, widthSpans;
};

} // namespace partita::kernels

#endif // PARTITA_KERNELS_CPU_WINDOW_H
