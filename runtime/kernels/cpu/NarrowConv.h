//===- NarrowConv.h - Convolutions of few channels --------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// oneDNN's vectors hold sixteen channels. Layers with few channels, such as the
// first ones of image networks, would fill them with padding; here they hold
// sixteen neighbouring outputs of a row.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_KERNELS_CPU_NARROWCONV_H
#define PARTITA_KERNELS_CPU_NARROWCONV_H

#include "partita/kernels.h"

#include <optional>

namespace partita::kernels {

/// A convolution with few channels, up to three spatial axes seen as three,
/// without groups. x is copied into a padded form first, in which the cells
/// that neighbouring outputs meet are neighbours whatever the stride: column c
/// of the padded row lies in phase c % stride at c / stride.
class NarrowConv {
public:
  /// Each gives nothing where oneDNN is faster. The convolution must not crop
  /// and must have elements.
  static std::optional<NarrowConv> forForward(const ConvSizes &sizes);
  /// The gradient by x, which `forward` computes from dy.
  static std::optional<NarrowConv> forInputGrad(const ConvSizes &sizes);
  static std::optional<NarrowConv> forFilterGrad(const ConvSizes &sizes);

  /// Bytes of workspace.
  std::size_t forwardBytes() const;
  void forward(const float *x, const float *w, const float *bias,
               float *y) const;

  std::size_t filterGradBytes() const;
  void filterGrad(const float *x, const float *dy, float *dw) const;

private:
  NarrowConv(const ConvSizes &sizes, bool isInputGrad);

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
    /// The taps that can meet x.
    std::int64_t firstTap, endTap;
  };

  /// A cell of the filters: where it meets the padded sample, from a run's x,
  /// and where it is in a filter.
  struct Tap {
    std::int64_t x, w;
  };

  std::int64_t tapCount() const {
    return static_cast<std::int64_t>(taps.size());
  }
  std::int64_t rows() const { return depth.out * height.out; }

  std::size_t threadBytes() const;
  void addRuns(std::int64_t d, std::int64_t h);

  /// Copies one sample into its padded form.
  void padSample(const float *x, float *padded) const;
  void padRow(const float *x, float *padded) const;

  /// The outputs of kFilters filters at the kVectors vectors from a run on.
  template <int kFilters, int kVectors>
  void outputs(const Run &run, const float *padded, const float *filters,
               const float *bias, float *y, std::int64_t count) const;
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
  /// Elements of w from one filter to the next.
  std::int64_t filterSize;
  std::vector<Tap> taps; ///< By row of the filter, channel and column.
  std::vector<Run> runs;
};

} // namespace partita::kernels

#endif // PARTITA_KERNELS_CPU_NARROWCONV_H
