//===- ConvLoops.h - Convolutions as plain loops ----------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The convolutions that no library takes: any pads (negative ones crop), empty
// tensors. Simple rather than fast.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_KERNELS_CPU_CONVLOOPS_H
#define PARTITA_KERNELS_CPU_CONVLOOPS_H

#include "partita/kernels.h"

namespace partita::kernels {

/// One convolution with up to three spatial axes, seen as three.
class ConvLoops {
public:
  explicit ConvLoops(const ConvSizes &sizes);

  void forward(const float *x, const float *w, const float *bias,
               float *y) const;
  void inputGrad(const float *dy, const float *w, float *dx) const;
  void filterGrad(const float *x, const float *dy, float *dw) const;

private:
  struct Axis {
    std::int64_t in = 1, out = 1, kernel = 1, stride = 1, dilation = 1, pad = 0;

    /// The cell of x that output `o` meets with kernel cell `k`.
    std::int64_t cell(std::int64_t o, std::int64_t k) const {
      return o * stride + k * dilation - pad;
    }
    /// The outputs [first, last) whose cell for kernel cell `k` lies in x.
    void range(std::int64_t k, std::int64_t &first, std::int64_t &last) const;
  };

  /// Calls visit(kernel cell, x offset, y offset, count, x step) for the runs
  /// of outputs along the last axis that meet x.
  template <typename Visit> void forEachRun(const Visit &visit) const;

  std::int64_t batch, inPerGroup, outPerGroup, groups;
  std::int64_t inCells, outCells, kernelCells;
  Axis axes[3];
};

} // namespace partita::kernels

#endif // PARTITA_KERNELS_CPU_CONVLOOPS_H
