//===- NarrowConv.h - Convolutions of few channels --------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The first layers of image networks turn one or three channels into a few
// more. oneDNN's vectors hold sixteen channels, most of which would be padding;
// here they hold sixteen neighbouring outputs of a row.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_KERNELS_CPU_NARROWCONV_H
#define PARTITA_KERNELS_CPU_NARROWCONV_H

#include "partita/kernels.h"

namespace partita::kernels {

/// A convolution with few channels, up to three spatial axes seen as three, no
/// groups. x is copied into a padded form first, in which the cells that
/// neighbouring outputs meet are neighbours whatever the stride: column c of
/// the padded row lies in phase c % stride at c / stride.
class NarrowConv {
public:
  explicit NarrowConv(const ConvSizes &sizes);

  /// Whether vectors along the row lose clearly less than vectors of channels.
  static bool suits(const ConvSizes &sizes);

  std::size_t forwardBytes() const;
  void forward(const float *x, const float *w, const float *bias,
               float *y) const;

  std::size_t filterGradBytes() const;
  void filterGrad(const float *x, const float *dy, float *dw) const;

private:
  struct Axis {
    std::int64_t in = 1, out = 1, kernel = 1, stride = 1, dilation = 1;
    std::int64_t padLow = 0;
    /// Cells of the padded axis that outputs meet.
    std::int64_t padded() const {
      return (out - 1) * stride + (kernel - 1) * dilation + 1;
    }
  };

  /// Up to a vector of neighbouring outputs: where they begin in y and meet the
  /// padded sample.
  struct Run {
    std::int64_t x, y, count;
  };

  std::int64_t taps() const {
    return static_cast<std::int64_t>(tapOffsets.size());
  }
  std::int64_t rows() const { return depth.out * height.out; }

  /// Copies one sample into its padded form.
  void padSample(const float *x, float *padded) const;
  void padRow(const float *x, float *padded) const;

  /// The outputs of kFilters filters at kVectors vectors of a row.
  template <int kFilters, int kVectors>
  void outputs(const float *padded, const float *filters, const float *bias,
               float *y, std::int64_t count) const;
  template <int kFilters>
  void sampleForward(const float *padded, const float *filters,
                     const float *bias, float *y) const;

  /// The gradients of kFilters filters at kTaps taps.
  template <int kFilters, int kTaps>
  void gradients(const float *padded, const float *dy, float *dw,
                 std::int64_t firstTap) const;

  std::int64_t batch, inChannels, outChannels;
  Axis depth, height, width;
  /// Floats of a phase of a padded row, of a padded row, and of a sample.
  std::int64_t phaseSize, rowSize, sampleSize;
  /// Where each cell of a filter meets the padded sample, from a run's x.
  std::vector<std::int64_t> tapOffsets;
  std::vector<Run> runs;
};

} // namespace partita::kernels

#endif // PARTITA_KERNELS_CPU_NARROWCONV_H
