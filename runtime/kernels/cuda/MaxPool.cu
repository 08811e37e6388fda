//===- MaxPool.cu - Max pooling and its gradient ----------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The gradient is gathered: a first kernel finds the place of every window's
// first maximum, a second one lets every cell of x add up the windows that
// chose it, in order, so that nothing depends on timing.
//
//===----------------------------------------------------------------------===//

#include "KernelState.h"
#include "Window.h"

#include <cmath>

using namespace partita;
using namespace partita::kernels;

namespace {

struct MaxPoolState final : Kernel::State {
  MaxPoolState(const char *kernel, const PoolSizes &sizes)
      : window(kernel, sizes), inCount(window.planes * window.inCells),
        outCount(window.planes * window.outCells) {}

  Window window;
  std::int64_t inCount, outCount;
};

/// The maximum of a window and the cell of its plane where it comes first; -1
/// in a window without cells.
struct Maximum {
  float value;
  int cell;
};

/// The first maximum stays, NaN wins.
__device__ bool isBetter(float value, float best) {
  return value > best || value != value;
}

/// The maximum of output `output` of the plane at x.
__device__ Maximum maximumOf(const Window &window, const float *x, int output) {
  Place3 place = placeOf(output, window.height.out, window.width.out);
  Span ds = spanOf(window.depth, place.d);
  Span hs = spanOf(window.height, place.h);
  Span ws = spanOf(window.width, place.w);
  Maximum best{-INFINITY, -1};
  for (int i = 0; i < ds.count; ++i)
    for (int j = 0; j < hs.count; ++j) {
      int row = ((ds.first + i * window.depth.dilation) * window.height.in +
                 hs.first + j * window.height.dilation) *
                window.width.in;
      for (int k = 0; k < ws.count; ++k) {
        int cell = row + ws.first + k * window.width.dilation;
        float value = x[cell];
        if (best.cell < 0 || isBetter(value, best.value))
          best = {value, cell};
      }
    }
  return best;
}

__global__ void maxPoolKernel(Window window, std::int64_t count, const float *x,
                              float *y) {
  for (std::int64_t i = cuda::firstIndex(); i < count;
       i += cuda::indexStride()) {
    std::int64_t plane = i / window.outCells;
    int output = static_cast<int>(i - plane * window.outCells);
    y[i] = maximumOf(window, x + plane * window.inCells, output).value;
  }
}

__global__ void maxPlaceKernel(Window window, std::int64_t count,
                               const float *x, int *places) {
  for (std::int64_t i = cuda::firstIndex(); i < count;
       i += cuda::indexStride()) {
    std::int64_t plane = i / window.outCells;
    int output = static_cast<int>(i - plane * window.outCells);
    places[i] = maximumOf(window, x + plane * window.inCells, output).cell;
  }
}

__global__ void maxPoolGradKernel(Window window, std::int64_t count,
                                  const int *places, const float *dy,
                                  float *dx) {
  for (std::int64_t i = cuda::firstIndex(); i < count;
       i += cuda::indexStride()) {
    std::int64_t plane = i / window.inCells;
    int cell = static_cast<int>(i - plane * window.inCells);
    Place3 place = placeOf(cell, window.height.in, window.width.in);
    Outputs ds = outputsOf(window.depth, place.d);
    Outputs hs = outputsOf(window.height, place.h);
    Outputs ws = outputsOf(window.width, place.w);
    float sum = 0.0f;
    // Windows that do not cover the cell have chosen another one.
    for (int d = ds.first; d < ds.end; ++d)
      for (int h = hs.first; h < hs.end; ++h)
        for (int w = ws.first; w < ws.end; ++w) {
          std::int64_t output = plane * window.outCells +
                                (d * window.height.out + h) * window.width.out +
                                w;
          if (places[output] == cell)
            sum += dy[output];
        }
    dx[i] = sum;
  }
}

} // namespace

MaxPool::MaxPool(Device &, const PoolSizes &sizes)
    : Kernel(std::make_unique<MaxPoolState>("max_pool", sizes)) {}

void MaxPool::operator()(Stream &stream, const float *x, float *y) const {
  const auto &pool = as<MaxPoolState>(state);
  stream.run("max_pool", [&] {
    cuda::launch(maxPoolKernel, cuda::blocksFor(pool.outCount), cuda::kThreads,
                 0, stream, pool.window, pool.outCount, x, y);
  });
}

static std::unique_ptr<Kernel::State> prepareGrad(Device &device,
                                                  const PoolSizes &sizes) {
  auto state = std::make_unique<MaxPoolState>("max_pool_grad", sizes);
  state->workspace = static_cast<std::size_t>(state->outCount) * sizeof(int);
  return reserved(device, std::move(state));
}

MaxPoolGrad::MaxPoolGrad(Device &device, const PoolSizes &sizes)
    : Kernel(prepareGrad(device, sizes)) {}

void MaxPoolGrad::operator()(Stream &stream, const float *x, const float *dy,
                             float *dx) const {
  const auto &pool = as<MaxPoolState>(state);
  stream.run("max_pool_grad", [&] {
    auto *places = static_cast<int *>(workspace(stream, pool.workspace));
    cuda::launch(maxPlaceKernel, cuda::blocksFor(pool.outCount), cuda::kThreads,
                 0, stream, pool.window, pool.outCount, x, places);
    cuda::launch(maxPoolGradKernel, cuda::blocksFor(pool.inCount),
                 cuda::kThreads, 0, stream, pool.window, pool.inCount,
                 static_cast<const int *>(places), dy, dx);
  });
}
