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

bool NarrowConv::suits(const ConvSizes &sizes) {
  // What a vector is filled with: outputs of a row here, channels in oneDNN.
  auto filled = [](std::int64_t count) {
    return static_cast<double>(count) /
           static_cast<double>(roundUp(count, kLanes));
  };
  return sizes.groups == 1 && sizes.inChannels <= 4 &&
         sizes.outChannels <= 2 * kForwardFilters &&
         filled(sizes.out().back()) > 1.3 * filled(sizes.outChannels);
}

NarrowConv::NarrowConv(const ConvSizes &sizes)
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
  for (std::int64_t c = 0; c < inChannels; ++c)
    for (std::int64_t d = 0; d < depth.kernel; ++d)
      for (std::int64_t h = 0; h < height.kernel; ++h)
        for (std::int64_t w = 0; w < width.kernel; ++w) {
          std::int64_t row =
              d * depth.dilation * height.padded() + h * height.dilation;
          std::int64_t column = w * width.dilation;
          tapOffsets.push_back(c * plane + row * rowSize +
                               column % width.stride * phaseSize +
                               column / width.stride);
        }
  for (std::int64_t row = 0; row < rows(); ++row) {
    std::int64_t first = (row / height.out * depth.stride * height.padded() +
                          row % height.out * height.stride) *
                         rowSize;
    for (std::int64_t i = 0; i < width.out; i += kLanes)
      runs.push_back(
          {first + i, row * width.out + i, std::min(kLanes, width.out - i)});
  }
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
void NarrowConv::outputs(const float *padded, const float *filters,
                         const float *bias, float *y,
                         std::int64_t count) const {
  Vector sums[kFilters][kVectors];
#pragma GCC unroll 8
  for (int f = 0; f < kFilters; ++f)
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v)
      sums[f][v] = Vector{} + (bias ? bias[f] : 0.0f);
  for (std::int64_t offset : tapOffsets) {
    Vector x[kVectors];
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v)
      x[v] = load(padded + offset + v * kLanes);
#pragma GCC unroll 8
    for (int f = 0; f < kFilters; ++f)
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v)
        sums[f][v] += x[v] * filters[f];
    filters += kFilters;
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
                runs[i + 1].x == run.x + kLanes;
    if (pair) {
      outputs<kFilters, 2>(padded + run.x, filters, bias, y + run.y,
                           kLanes + runs[i + 1].count);
      ++i;
    } else {
      outputs<kFilters, 1>(padded + run.x, filters, bias, y + run.y, run.count);
    }
  }
}

std::size_t NarrowConv::forwardBytes() const {
  // A padded sample and the filters in the order of their use.
  return (sampleSize + kForwardFilters * taps()) * sizeof(float);
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
  ThreadSpace space(forwardBytes());
  parallelFor(batch, sampleSize * outChannels,
              [&](std::int64_t begin, std::int64_t end, int thread) {
                float *padded = space.of(thread),
                      *filters = padded + sampleSize;
                for (std::int64_t co = 0; co < outChannels; co += block) {
                  std::int64_t count = std::min(block, outChannels - co);
                  for (std::int64_t tap = 0; tap < taps(); ++tap)
                    for (std::int64_t f = 0; f < count; ++f)
                      filters[tap * count + f] = w[(co + f) * taps() + tap];
                  for (std::int64_t n = begin; n < end; ++n) {
                    padSample(x + n * xSize, padded);
                    (this->*bySize[count - 1])(
                        padded, filters, bias ? bias + co : nullptr,
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
  const std::int64_t *offsets = tapOffsets.data() + firstTap;
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
        Vector v = load(x + run.x + offsets[t]);
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
      dw[f * taps() + t] = static_cast<float>(sumOf(totals[f][t]));
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
  std::int64_t tapBlock = blockSize(taps(), kGradTaps);
  std::int64_t filterBlocks = (outChannels + filters - 1) / filters;
  std::int64_t tapBlocks = (taps() + tapBlock - 1) / tapBlock;
  std::int64_t cells = rows() * width.out;
  parallelFor(filterBlocks * tapBlocks, batch * cells * filters * tapBlock,
              [&](std::int64_t begin, std::int64_t end, int) {
                for (std::int64_t i = begin; i < end; ++i) {
                  std::int64_t co = i / tapBlocks * filters,
                               tap = i % tapBlocks * tapBlock;
                  std::int64_t coCount = std::min(filters, outChannels - co);
                  std::int64_t tapCount = std::min(tapBlock, taps() - tap);
                  (this->*bySize[coCount - 1][tapCount - 1])(
                      padded, dy + co * cells, dw + co * taps() + tap, tap);
                }
              });
}
