//===- ConvDirect.h - Convolutions by their definition ----------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels without a library, for the convolutions that cuDNN has no
// deterministic algorithm for, and the sum with a bias.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_KERNELS_CUDA_CONVDIRECT_H
#define PARTITA_KERNELS_CUDA_CONVDIRECT_H

#include "partita/device.h"
#include "partita/kernels.h"

#include <memory>

namespace partita::kernels {

/// One spatial axis of a convolution.
struct ConvAxis {
  int in = 1, out = 1, kernel = 1, stride = 1, dilation = 1, padLow = 0;
};

/// A convolution over [depth, height, width], as kernels take it.
struct ConvShape {
  /// Throws `Error` for sizes that do not fit into int.
  ConvShape(const char *kernel, const ConvSizes &sizes);

  int batch, groups;
  /// Per group.
  int inChannels, outChannels;
  ConvAxis depth, height, width;
  /// Per channel.
  int inCells, outCells, kernelCells;

  std::int64_t xCount() const {
    return std::int64_t(batch) * groups * inChannels * inCells;
  }
  std::int64_t yCount() const {
    return std::int64_t(batch) * groups * outChannels * outCells;
  }
  std::int64_t wCount() const {
    return std::int64_t(groups) * outChannels * inChannels * kernelCells;
  }
};

/// Each queues one convolution. The work grows with the product of all sizes
/// and every element is read from memory or cache anew.
void convForward(Stream &stream, const ConvShape &shape, const float *x,
                 const float *w, float *y);
void convInputGrad(Stream &stream, const ConvShape &shape, const float *dy,
                   const float *w, float *dx);
void convFilterGrad(Stream &stream, const ConvShape &shape, const float *x,
                    const float *dy, float *dw);
/// Bytes of workspace that convFilterGrad uses.
std::size_t convFilterGradWorkspace(const ConvShape &shape);

/// y[n, c, i] += bias[c].
void addBias(Stream &stream, const ConvShape &shape, const float *bias,
             float *y);

} // namespace partita::kernels

#endif // PARTITA_KERNELS_CUDA_CONVDIRECT_H
