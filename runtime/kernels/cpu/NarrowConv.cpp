//===- NarrowConv.cpp - Convolutions of few channels ----------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Register blocking: forward keeps the outputs of up to eight filters at 32
// positions, the filter gradient four filters at six taps.
//
//===----------------------------------------------------------------------===//

#include "NarrowConv.h"

#include "KernelState.h"
#include "Parallel.h"
#include "Simd.h"

using namespace partita;
using namespace partita::kernels;

/// Filters whose outputs are computed together, at most.
static constexpr std::int64_t kForwardFilters = 8;
/// Filters and taps whose gradients are computed together, at most.
static constexpr std::int64_t kGradFilters = 4;
static constexpr std::int64_t kGradTaps = 6;

static std::int64_t roundUp(std::int64_t count, std::int64_t unit) {
  return (count + unit - 1) / unit * unit;
}

/// The size of as few nearly equal blocks of at most `most` as possible.
static std::int64_t blockSize(std::int64_t count, std::int64_t most) {
  std::int64_t blocks = (count + most - 1) / most;
  return (count + blocks - 1) / blocks;
}

/// What part of the vectors that hold `count` things is filled.
static double filled(std::int64_t count) {
  return static_cast<double>(count) /
         static_cast<double>(roundUp(count, kLanes));
}

/// Whether rows that fill this part of their vectors are faster than oneDNN,
/// which has to reorder its operands but otherwise is as fast where `channels`
/// fill its vectors. Measured factors, see the README.
static bool beatsChannels(double rowsFilled, std::int64_t rowSize,
                          std::int64_t channels) {
  double factor = rowSize > kLanes ? 0.95 : 1.2;
  return rowsFilled >= factor * filled(channels);
}

/// Beyond this size of a filter the measured advantage is gone.
static bool isNarrow(const ConvSizes &sizes) {
  return sizes.groups == 1 && sizes.inChannels * sizes.outChannels <= 32 * 32;
}

std::optional<NarrowConv> NarrowConv::forForward(const ConvSizes &sizes) {
  std::int64_t row = sizes.out().back();
  if (!isNarrow(sizes) || !beatsChannels(filled(row), row, sizes.outChannels))
    return std::nullopt;
  return NarrowConv(sizes, /*isInputGrad=*/false);
}

std::optional<NarrowConv> NarrowConv::forInputGrad(const ConvSizes &sizes) {
  // The gradient is a convolution of dy with mirrored filters.
  ConvSizes mirrored = sizes;
  std::swap(mirrored.inChannels, mirrored.outChannels);
  mirrored.in = sizes.out();
  for (std::size_t i = 0; i < sizes.in.size(); ++i) {
    std::int64_t reach = sizes.dilations[i] * (sizes.kernel[i] - 1);
    mirrored.padLow[i] = reach - sizes.padLow[i];
    mirrored.padHigh[i] = sizes.in[i] - mirrored.in[i] + sizes.padLow[i];
    if (sizes.strides[i] != 1 || mirrored.padLow[i] < 0 ||
        mirrored.padHigh[i] < 0)
      return std::nullopt;
  }
  std::int64_t row = sizes.in.back();
  // Part of each row of dx meets padding of dy only.
  double useful = std::min(1.0, static_cast<double>(mirrored.in.back()) /
                                    static_cast<double>(row));
  if (!isNarrow(sizes) ||
      !beatsChannels(filled(row) * useful, row, sizes.inChannels))
    return std::nullopt;
  return NarrowConv(mirrored, /*isInputGrad=*/true);
}

std::optional<NarrowConv> NarrowConv::forFilterGrad(const ConvSizes &sizes) {
  std::int64_t row = sizes.out().back();
  bool wholeBlocks =
      sizes.inChannels % kLanes == 0 && sizes.outChannels % kLanes == 0;
  if (!isNarrow(sizes) || wholeBlocks ||
      (row <= kLanes && sizes.inChannels > 4) ||
      filled(row) < filled(sizes.outChannels))
    return std::nullopt;
  return NarrowConv(sizes, /*isInputGrad=*/false);
}

NarrowConv::NarrowConv(const ConvSizes &sizes, bool isInputGrad)
    : batch(sizes.batch), inChannels(sizes.inChannels),
      outChannels(sizes.outChannels) {
  Axis *axes[] = {&depth, &height, &width};
  Dims out = sizes.out();
  std::size_t rank = sizes.in.size();
  for (std::size_t i = 0; i < rank; ++i)
    *axes[3 - rank + i] = {sizes.in[i],        out[i],
                           sizes.kernel[i],    sizes.strides[i],
                           sizes.dilations[i], sizes.padLow[i]};
  std::int64_t reach = (width.kernel - 1) * width.dilation / width.stride;
  phaseSize = roundUp(width.out, kLanes) + reach;
  rowSize = width.stride * phaseSize;
  std::int64_t plane = depth.padded() * height.padded() * rowSize;
  sampleSize = inChannels * plane;
  std::int64_t cells = depth.kernel * height.kernel * width.kernel;
  filterSize = isInputGrad ? cells : inChannels * cells;
  for (std::int64_t d = 0; d < depth.kernel; ++d)
    for (std::int64_t h = 0; h < height.kernel; ++h)
      for (std::int64_t c = 0; c < inChannels; ++c)
        for (std::int64_t w = 0; w < width.kernel; ++w) {
          std::int64_t row =
              d * depth.dilation * height.padded() + h * height.dilation;
          std::int64_t column = w * width.dilation;
          std::int64_t cell = (d * height.kernel + h) * width.kernel + w;
          taps.push_back({c * plane + row * rowSize +
                              column % width.stride * phaseSize +
                              column / width.stride,
                          isInputGrad ? (c * outChannels + 1) * cells - 1 - cell
                                      : c * cells + cell});
        }
  for (std::int64_t row = 0; row < rows(); ++row)
    addRuns(row / height.out, row % height.out);
}

void NarrowConv::addRuns(std::int64_t d, std::int64_t h) {
  std::int64_t x =
      (d * depth.stride * height.padded() + h * height.stride) * rowSize;
  std::int64_t y = (d * height.out + h) * width.out;
  // With one layer of rows, those that meet padding only can be left out.
  std::int64_t firstTap = 0, endTap = tapCount();
  if (depth.kernel == 1) {
    std::int64_t perRow = inChannels * width.kernel;
    std::int64_t start = h * height.stride - height.padLow;
    auto cell = [&](std::int64_t tap) {
      return start + tap / perRow * height.dilation;
    };
    while (firstTap < endTap && cell(firstTap) < 0)
      firstTap += perRow;
    while (firstTap < endTap && cell(endTap - perRow) >= height.in)
      endTap -= perRow;
  }
  for (std::int64_t i = 0; i < width.out; i += kLanes)
    runs.push_back(
        {x + i, y + i, std::min(kLanes, width.out - i), firstTap, endTap});
}

//===----------------------------------------------------------------------===//
// Padding
//===----------------------------------------------------------------------===//

void NarrowConv::padRow(const float *x, float *padded) const {
  // Columns of x that outputs meet.
  std::int64_t count = std::min(width.in, width.padded() - width.padLow);
  if (width.stride == 1) {
    std::copy_n(x, std::max<std::int64_t>(count, 0), padded + width.padLow);
    return;
  }
  if (width.stride == 2) {
    std::int64_t phase = width.padLow % 2;
    float *even = padded + phase * phaseSize + width.padLow / 2;
    float *odd = padded + (1 - phase) * phaseSize + (width.padLow + 1) / 2;
    for (std::int64_t i = 0; i < count; i += 2 * kLanes) {
      std::int64_t low = std::min(kLanes, count - i);
      std::int64_t high =
          std::clamp<std::int64_t>(count - i - kLanes, 0, kLanes);
      Vector a = load(x + i, low), b = load(x + i + kLanes, high);
      store(even + i / 2, evenLanes(a, b), (low + high + 1) / 2);
      store(odd + i / 2, oddLanes(a, b), (low + high) / 2);
    }
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t column = i + width.padLow;
    padded[column % width.stride * phaseSize + column / width.stride] = x[i];
  }
}

void NarrowConv::padSample(const float *x, float *padded) const {
  std::fill_n(padded, sampleSize, 0.0f);
  for (std::int64_t c = 0; c < inChannels; ++c)
    for (std::int64_t d = 0; d < depth.in; ++d)
      for (std::int64_t h = 0; h < height.in; ++h) {
        std::int64_t toD = d + depth.padLow, toH = h + height.padLow;
        if (toD >= depth.padded() || toH >= height.padded())
          continue;
        padRow(x + ((c * depth.in + d) * height.in + h) * width.in,
               padded + ((c * depth.padded() + toD) * height.padded() + toH) *
                            rowSize);
      }
}

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

template <int kFilters, int kVectors>
void NarrowConv::outputs(const Run &run, const float *padded,
                         const float *filters, const float *bias, float *y,
                         std::int64_t count) const {
  Vector sums[kFilters][kVectors];
#pragma GCC unroll 8
  for (int f = 0; f < kFilters; ++f)
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v)
      sums[f][v] = Vector{} + (bias ? bias[f] : 0.0f);
  padded += run.x;
  y += run.y;
  for (std::int64_t tap = run.firstTap; tap < run.endTap; ++tap) {
    const float *from = padded + taps[tap].x;
    const float *filter = filters + tap * kFilters;
    Vector x[kVectors];
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v)
      x[v] = load(from + v * kLanes);
#pragma GCC unroll 8
    for (int f = 0; f < kFilters; ++f)
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v)
        sums[f][v] += x[v] * filter[f];
  }
  std::int64_t cells = rows() * width.out;
#pragma GCC unroll 8
  for (int f = 0; f < kFilters; ++f)
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v)
      store(y + f * cells + v * kLanes, sums[f][v],
            std::min(kLanes, count - v * kLanes));
}

template <int kFilters>
void NarrowConv::sampleForward(const float *padded, const float *filters,
                               const float *bias, float *y) const {
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const Run &run = runs[i];
    // A full vector is followed by the rest of its row, if there is one.
    bool pair = run.count == kLanes && i + 1 < runs.size() &&
                runs[i + 1].y % width.out != 0;
    if (pair) {
      outputs<kFilters, 2>(run, padded, filters, bias, y,
                           kLanes + runs[i + 1].count);
      ++i;
    } else {
      outputs<kFilters, 1>(run, padded, filters, bias, y, run.count);
    }
  }
}

std::size_t NarrowConv::threadBytes() const {
  // A padded sample and the filters in the order of their use.
  return (sampleSize + outChannels * tapCount()) * sizeof(float);
}

std::size_t NarrowConv::forwardBytes() const {
  return ThreadSpace::total(threadBytes());
}

void NarrowConv::forward(const float *x, const float *w, const float *bias,
                         float *y) const {
  using SampleForward = void (NarrowConv::*)(const float *, const float *,
                                             const float *, float *) const;
  static constexpr SampleForward bySize[kForwardFilters] = {
      &NarrowConv::sampleForward<1>, &NarrowConv::sampleForward<2>,
      &NarrowConv::sampleForward<3>, &NarrowConv::sampleForward<4>,
      &NarrowConv::sampleForward<5>, &NarrowConv::sampleForward<6>,
      &NarrowConv::sampleForward<7>, &NarrowConv::sampleForward<8>};
  std::int64_t block = blockSize(outChannels, kForwardFilters);
  std::int64_t xSize = inChannels * depth.in * height.in * width.in;
  std::int64_t cells = rows() * width.out;
  ThreadSpace space(threadBytes());
  parallelFor(
      batch, sampleSize * outChannels,
      [&](std::int64_t begin, std::int64_t end, int thread) {
        float *padded = space.of(thread), *filters = padded + sampleSize;
        for (std::int64_t co = 0; co < outChannels; co += block) {
          std::int64_t count = std::min(block, outChannels - co);
          float *to = filters + co * tapCount();
          for (const Tap &tap : taps)
            for (std::int64_t f = 0; f < count; ++f)
              *to++ = w[(co + f) * filterSize + tap.w];
        }
        for (std::int64_t n = begin; n < end; ++n) {
          padSample(x + n * xSize, padded);
          for (std::int64_t co = 0; co < outChannels; co += block) {
            std::int64_t count = std::min(block, outChannels - co);
            (this->*bySize[count - 1])(padded, filters + co * tapCount(),
                                       bias ? bias + co : nullptr,
                                       y + (n * outChannels + co) * cells);
          }
        }
      });
}

//===----------------------------------------------------------------------===//
// Filter gradient
//===----------------------------------------------------------------------===//

template <int kFilters, int kTaps>
void NarrowConv::gradients(const float *padded, const float *dy, float *dw,
                           std::int64_t firstTap) const {
  const Tap *first = taps.data() + firstTap;
  std::int64_t cells = rows() * width.out;
  // Sums of one sample, and of all: short sums lose fewer bits.
  Vector totals[kFilters][kTaps] = {};
  for (std::int64_t n = 0; n < batch; ++n) {
    Vector sums[kFilters][kTaps] = {};
    const float *x = padded + n * sampleSize;
    const float *gradient = dy + n * outChannels * cells;
    for (const Run &run : runs) {
      Vector g[kFilters];
#pragma GCC unroll 4
      for (int f = 0; f < kFilters; ++f)
        g[f] = load(gradient + f * cells + run.y, run.count);
#pragma GCC unroll 6
      for (int t = 0; t < kTaps; ++t) {
        Vector v = load(x + run.x + first[t].x);
#pragma GCC unroll 4
        for (int f = 0; f < kFilters; ++f)
          sums[f][t] += g[f] * v;
      }
    }
#pragma GCC unroll 4
    for (int f = 0; f < kFilters; ++f)
#pragma GCC unroll 6
      for (int t = 0; t < kTaps; ++t)
        totals[f][t] += sums[f][t];
  }
  for (int f = 0; f < kFilters; ++f)
    for (int t = 0; t < kTaps; ++t)
      dw[f * tapCount() + first[t].w] = static_cast<float>(sumOf(totals[f][t]));
}

std::size_t NarrowConv::filterGradBytes() const {
  return batch * sampleSize * sizeof(float);
}

void NarrowConv::filterGrad(const float *x, const float *dy, float *dw) const {
  using Gradients = void (NarrowConv::*)(const float *, const float *, float *,
                                         std::int64_t) const;
  static constexpr Gradients bySize[kGradFilters][kGradTaps] = {
      {&NarrowConv::gradients<1, 1>, &NarrowConv::gradients<1, 2>,
       &NarrowConv::gradients<1, 3>, &NarrowConv::gradients<1, 4>,
       &NarrowConv::gradients<1, 5>, &NarrowConv::gradients<1, 6>},
      {&NarrowConv::gradients<2, 1>, &NarrowConv::gradients<2, 2>,
       &NarrowConv::gradients<2, 3>, &NarrowConv::gradients<2, 4>,
       &NarrowConv::gradients<2, 5>, &NarrowConv::gradients<2, 6>},
      {&NarrowConv::gradients<3, 1>, &NarrowConv::gradients<3, 2>,
       &NarrowConv::gradients<3, 3>, &NarrowConv::gradients<3, 4>,
       &NarrowConv::gradients<3, 5>, &NarrowConv::gradients<3, 6>},
      {&NarrowConv::gradients<4, 1>, &NarrowConv::gradients<4, 2>,
       &NarrowConv::gradients<4, 3>, &NarrowConv::gradients<4, 4>,
       &NarrowConv::gradients<4, 5>, &NarrowConv::gradients<4, 6>}};
  float *padded = static_cast<float *>(workspace(filterGradBytes()));
  std::int64_t xSize = inChannels * depth.in * height.in * width.in;
  parallelFor(batch, sampleSize,
              [&](std::int64_t begin, std::int64_t end, int) {
                for (std::int64_t n = begin; n < end; ++n)
                  padSample(x + n * xSize, padded + n * sampleSize);
              });

  std::int64_t filters = blockSize(outChannels, kGradFilters);
  std::int64_t tapBlock = blockSize(tapCount(), kGradTaps);
  std::int64_t filterBlocks = (outChannels + filters - 1) / filters;
  std::int64_t tapBlocks = (tapCount() + tapBlock - 1) / tapBlock;
  std::int64_t cells = rows() * width.out;
  parallelFor(filterBlocks * tapBlocks, batch * cells * filters * tapBlock,
              [&](std::int64_t begin, std::int64_t end, int) {
                for (std::int64_t i = begin; i < end; ++i) {
                  std::int64_t co = i / tapBlocks * filters,
                               tap = i % tapBlocks * tapBlock;
                  std::int64_t coCount = std::min(filters, outChannels - co);
                  std::int64_t tapsHere = std::min(tapBlock, tapCount() - tap);
                  (this->*bySize[coCount - 1][tapsHere - 1])(
                      padded, dy + co * cells, dw + co * tapCount(), tap);
                }
              });
}
