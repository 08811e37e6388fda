//===- Padding.h - Padding as a step of other kernels -----------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What Pad does, for convolutions that pad their input themselves.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_KERNELS_CUDA_PADDING_H
#define PARTITA_KERNELS_CUDA_PADDING_H

#include "AxisMap.h"

namespace partita::kernels {

/// How one axis of y is made from one of x.
struct PadAxis {
  std::int64_t in = 1, out = 1, low = 0, step = 1;
};

/// A prepared Pad: axes outermost first, the elements inside them as a block.
struct Padding {
  Padding() = default;
  /// Throws as Pad does; `kernel` is who asks.
  Padding(const char *kernel, const Dims &shape, const Dims &low,
          const Dims &interior, const Dims &high, float value);

  /// Queues y = pad(x).
  void operator()(Stream &stream, const float *x, float *y) const;

  int axes = 0;
  PadAxis axis[kMostAxes];
  std::int64_t block = 1;
  /// Elements of y.
  std::int64_t count = 0;
  float value = 0.0f;
};

} // namespace partita::kernels

#endif // PARTITA_KERNELS_CUDA_PADDING_H
