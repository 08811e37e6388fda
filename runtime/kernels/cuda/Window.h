//===- Window.h - Pooling windows over three axes ---------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the pooling kernels share: a window over up to three spatial axes, seen
// as three, the cells of x that an output's window covers, and the outputs
// whose windows cover a cell.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_KERNELS_CUDA_WINDOW_H
#define PARTITA_KERNELS_CUDA_WINDOW_H

#include "partita/cuda.h"
#include "partita/kernels.h"

namespace partita::kernels {

/// One axis of a pooling window.
struct WindowAxis {
  int in = 1, out = 1, kernel = 1, stride = 1, dilation = 1;
  int padLow = 0, padHigh = 0;
};

/// A window over [planes, depth, height, width], as kernels take it.
struct Window {
  /// Throws `Error` for sizes that contradict each other or do not fit.
  Window(const char *kernel, const PoolSizes &sizes);

  std::int64_t planes;
  /// Per plane.
  int inCells, outCells;
  WindowAxis depth, height, width;
};

#ifdef __CUDACC__

/// The window of one output on one axis: `count` cells of x from `first` on,
/// `dilation` apart; `padded` cells lie inside the padded extent.
struct Span {
  int first, count, padded;
};

/// Kernel cells k in [0, kernel) with start + k * dilation < bound.
__device__ inline int cellsBelow(int start, const WindowAxis &axis, int bound) {
  if (start >= bound)
    return 0;
  int cells = (bound - 1 - start) / axis.dilation + 1;
  return cells < axis.kernel ? cells : axis.kernel;
}

__device__ inline Span spanOf(const WindowAxis &axis, int output) {
  int start = output * axis.stride - axis.padLow;
  int before = cellsBelow(start, axis, 0);
  // A negative pad crops x.
  int end = axis.padHigh < 0 ? axis.in + axis.padHigh : axis.in;
  int inside = cellsBelow(start, axis, end);
  int padded = cellsBelow(start, axis, axis.in + axis.padHigh);
  return {start + before * axis.dilation, inside > before ? inside - before : 0,
          padded};
}

/// The outputs whose windows can cover cell `cell`: candidates in [first, end),
/// each to be asked `covers`.
struct Outputs {
  int first, end;
};

__device__ inline Outputs outputsOf(const WindowAxis &axis, int cell) {
  // Output o covers it with kernel cell k when o * stride + k * dilation = at.
  int at = cell + axis.padLow;
  int reach = at - axis.dilation * (axis.kernel - 1);
  int first = reach <= 0 ? 0 : (reach + axis.stride - 1) / axis.stride;
  bool cropped = at < 0 || (axis.padHigh < 0 && cell >= axis.in + axis.padHigh);
  int end = cropped ? 0 : at / axis.stride + 1;
  return {first, end < axis.out ? end : axis.out};
}

__device__ inline bool covers(const WindowAxis &axis, int output, int cell) {
  return axis.dilation == 1 ||
         (cell + axis.padLow - output * axis.stride) % axis.dilation == 0;
}

/// A place on the three axes.
struct Place3 {
  int d, h, w;
};

__device__ inline Place3 placeOf(int index, int heights, int widths) {
  int row = index / widths;
  return {row / heights, row % heights, index - row * widths};
}

#endif // __CUDACC__

} // namespace partita::kernels

#endif // PARTITA_KERNELS_CUDA_WINDOW_H
