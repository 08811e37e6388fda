//===- AvgPool.cu - Average pooling and its gradient ------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The divisor of a window is a product of one count per axis. The gradient is
// gathered: every cell of x adds up the windows that cover it, in order.
//
//===----------------------------------------------------------------------===//

#include "KernelState.h"
#include "Window.h"

using namespace partita;
using namespace partita::kernels;

namespace {

struct AvgPoolState final : Kernel::State {
  AvgPoolState(const char *kernel, const PoolSizes &sizes, bool countIncludePad)
      : window(kernel, sizes), inCount(window.planes * window.inCells),
        outCount(window.planes * window.outCells),
        countIncludePad(countIncludePad) {}

  Window window;
  std::int64_t inCount, outCount;
  bool countIncludePad;
};

/// Cells of this span that the divisor counts.
__device__ std::int64_t counted(const Span &span, bool countIncludePad) {
  return countIncludePad ? span.padded : span.count;
}

/// What the sum over a window is multiplied by.
__device__ float weightOf(std::int64_t cells) {
  return cells > 0 ? 1.0f / static_cast<float>(cells) : 0.0f;
}

__global__ void avgPoolKernel(Window window, bool countIncludePad,
                              std::int64_t count, const float *x, float *y) {
  for (std::int64_t i = cuda::firstIndex(); i < count;
       i += cuda::indexStride()) {
    std::int64_t plane = i / window.outCells;
    int output = static_cast<int>(i - plane * window.outCells);
    Place3 place = placeOf(output, window.height.out, window.width.out);
    Span ds = spanOf(window.depth, place.d);
    Span hs = spanOf(window.height, place.h);
    Span ws = spanOf(window.width, place.w);
    const float *from = x + plane * window.inCells;
    // Rows are short; their sums are added up in double precision because
    // there may be thousands, as in a global average.
    double sum = 0.0;
    for (int a = 0; a < ds.count; ++a)
      for (int b = 0; b < hs.count; ++b) {
        int row = ((ds.first + a * window.depth.dilation) * window.height.in +
                   hs.first + b * window.height.dilation) *
                  window.width.in;
        float rowSum = 0.0f;
        for (int c = 0; c < ws.count; ++c)
          rowSum += from[row + ws.first + c * window.width.dilation];
        sum += rowSum;
      }
    std::int64_t cells = counted(ds, countIncludePad) *
                         counted(hs, countIncludePad) *
                         counted(ws, countIncludePad);
    y[i] = static_cast<float>(sum) * weightOf(cells);
  }
}

__global__ void avgPoolGradKernel(Window window, bool countIncludePad,
                                  std::int64_t count, const float *dy,
                                  float *dx) {
  for (std::int64_t i = cuda::firstIndex(); i < count;
       i += cuda::indexStride()) {
    std::int64_t plane = i / window.inCells;
    int cell = static_cast<int>(i - plane * window.inCells);
    Place3 place = placeOf(cell, window.height.in, window.width.in);
    Outputs ds = outputsOf(window.depth, place.d);
    Outputs hs = outputsOf(window.height, place.h);
    Outputs ws = outputsOf(window.width, place.w);
    const float *from = dy + plane * window.outCells;
    float sum = 0.0f;
    for (int d = ds.first; d < ds.end; ++d) {
      if (!covers(window.depth, d, place.d))
        continue;
      std::int64_t depths = counted(spanOf(window.depth, d), countIncludePad);
      for (int h = hs.first; h < hs.end; ++h) {
        if (!covers(window.height, h, place.h))
          continue;
        std::int64_t cells =
            depths * counted(spanOf(window.height, h), countIncludePad);
        const float *row =
            from + (d * window.height.out + h) * window.width.out;
        for (int w = ws.first; w < ws.end; ++w)
          if (covers(window.width, w, place.w))
            sum += row[w] * weightOf(cells * counted(spanOf(window.width, w),
                                                     countIncludePad));
      }
    }
    dx[i] = sum;
  }
}

} // namespace

AvgPool::AvgPool(Device &, const PoolSizes &sizes, bool countIncludePad)
    : Kernel(
          std::make_unique<AvgPoolState>("avg_pool", sizes, countIncludePad)) {}

void AvgPool::operator()(Stream &stream, const float *x, float *y) const {
  const auto &pool = as<AvgPoolState>(state);
  stream.run("avg_pool", [&] {
    cuda::launch(avgPoolKernel, cuda::blocksFor(pool.outCount), cuda::kThreads,
                 0, stream, pool.window, pool.countIncludePad, pool.outCount, x,
                 y);
  });
}

AvgPoolGrad::AvgPoolGrad(Device &, const PoolSizes &sizes, bool countIncludePad)
    : Kernel(std::make_unique<AvgPoolState>("avg_pool_grad", sizes,
                                            countIncludePad)) {}

void AvgPoolGrad::operator()(Stream &stream, const float *dy, float *dx) const {
  const auto &pool = as<AvgPoolState>(state);
  stream.run("avg_pool_grad", [&] {
    cuda::launch(avgPoolGradKernel, cuda::blocksFor(pool.inCount),
                 cuda::kThreads, 0, stream, pool.window, pool.countIncludePad,
                 pool.inCount, dy, dx);
  });
}
