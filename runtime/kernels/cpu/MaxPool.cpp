//===- MaxPool.cpp - Max pooling and its gradient -------------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The maximum of a box is the maximum along the width of the maxima along
// height and depth. So the forward pass first takes the maximum of whole rows,
// which are contiguous, and then slides along that one row. The gradient needs
// the place of the first maximum and visits the cells in order.
//
//===----------------------------------------------------------------------===//

#include "KernelState.h"
#include "Parallel.h"
#include "Simd.h"
#include "Window.h"

#include <limits>

using namespace partita;
using namespace partita::kernels;

namespace {
struct MaxPoolState final : Kernel::State {
  explicit MaxPoolState(const PoolSizes &sizes) : window(sizes) {}

  /// Bytes of the row maxima of one plane.
  std::size_t lineBytes() const {
    return window.depth.out * window.height.out * window.width.in *
           sizeof(float);
  }

  /// Outputs of a row whose windows lie inside x and are dense: no cuts.
  std::int64_t firstWhole = 0, endWhole = 0;
  Window window;
};
} // namespace

static std::unique_ptr<Kernel::State> prepare(const char *kernel,
                                              const PoolSizes &sizes) {
  checkPool(kernel, sizes);
  auto state = std::make_unique<MaxPoolState>(sizes);
  const Window &window = state->window;
  auto whole = [&](std::int64_t output) {
    return window.width.dilation == 1 &&
           window.widthSpans[output].count == window.width.kernel;
  };
  std::int64_t out = window.width.out;
  while (state->firstWhole < out && !whole(state->firstWhole))
    ++state->firstWhole;
  state->endWhole = state->firstWhole;
  while (state->endWhole < out && whole(state->endWhole))
    ++state->endWhole;
  return state;
}

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

/// y[i] = maximum of line[i * kStride ..] over the kernel.
template <int kStride, int kKernel>
static void slide(const float *line, float *y, std::int64_t count) {
  for (std::int64_t i = 0; i < count; i += kLanes) {
    std::int64_t rest = std::min(kLanes, count - i);
    const float *from = line + i * kStride;
    Vector best = loadStrided<kStride>(from, rest);
    for (int k = 1; k < kKernel; ++k) {
      Vector value = loadStrided<kStride>(from + k, rest);
      best = isBetter(value, best) ? value : best;
    }
    store(y + i, best, rest);
  }
}

static void slideAny(const float *line, float *y, std::int64_t count,
                     std::int64_t stride, std::int64_t kernel) {
  for (std::int64_t i = 0; i < count; ++i) {
    float best = line[i * stride];
    for (std::int64_t k = 1; k < kernel; ++k) {
      float value = line[i * stride + k];
      best = isBetter(value, best) ? value : best;
    }
    y[i] = best;
  }
}

/// The windows that nothing cuts, by the common shapes.
static void slideWhole(const float *line, float *y, std::int64_t count,
                       const WindowAxis &width) {
  if (width.stride == 2 && width.kernel == 2)
    return slide<2, 2>(line, y, count);
  if (width.stride == 2 && width.kernel == 3)
    return slide<2, 3>(line, y, count);
  if (width.stride == 1 && width.kernel == 3)
    return slide<1, 3>(line, y, count);
  slideAny(line, y, count, width.stride, width.kernel);
}

/// One row of outputs from the row of maxima.
static void slideRow(const float *line, float *y, const MaxPoolState &pool) {
  const Window &window = pool.window;
  auto cut = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      WindowAxis::Span span = window.widthSpans[i];
      float best = -std::numeric_limits<float>::infinity();
      for (std::int64_t k = 0; k < span.count; ++k) {
        float value = line[span.first + k * window.width.dilation];
        best = isBetter(value, best) ? value : best;
      }
      y[i] = best;
    }
  };
  cut(0, pool.firstWhole);
  if (pool.firstWhole < pool.endWhole)
    slideWhole(line + window.widthSpans[pool.firstWhole].first,
               y + pool.firstWhole, pool.endWhole - pool.firstWhole,
               window.width);
  cut(pool.endWhole, window.width.out);
}

/// line = maxima of the rows of x that the outputs (d, h, ...) cover.
static void maxOfRows(const float *x, float *line, const Window &window,
                      std::int64_t d, std::int64_t h) {
  WindowAxis::Span ds = window.depthSpans[d], hs = window.heightSpans[h];
  std::int64_t width = window.width.in;
  if (ds.count <= 0 || hs.count <= 0) {
    std::fill(line, line + width, -std::numeric_limits<float>::infinity());
    return;
  }
  const float *first = x + (ds.first * window.height.in + hs.first) * width;
  std::int64_t nextPlane = window.depth.dilation * window.height.in * width;
  std::int64_t nextRow = window.height.dilation * width;
  for (std::int64_t column = 0; column < width; column += kLanes) {
    std::int64_t rest = std::min(kLanes, width - column);
    Vector best = load(first + column, rest);
    for (std::int64_t i = 0; i < ds.count; ++i)
      for (std::int64_t j = i == 0 ? 1 : 0; j < hs.count; ++j) {
        Vector value = load(first + i * nextPlane + j * nextRow + column, rest);
        best = isBetter(value, best) ? value : best;
      }
    store(line + column, best, rest);
  }
}

MaxPool::MaxPool(Device &, const PoolSizes &sizes)
    : Kernel(prepare("max_pool", sizes)) {
  state->workspace = ThreadSpace::total(as<MaxPoolState>(state).lineBytes());
  workspace(state->workspace);
}

void MaxPool::operator()(Stream &stream, const float *x, float *y) const {
  const auto &pool = as<MaxPoolState>(state);
  stream.run("max_pool", [&pool, x, y] {
    const Window &window = pool.window;
    std::int64_t rows = window.depth.out * window.height.out;
    std::int64_t width = window.width.in;
    ThreadSpace lines(pool.lineBytes());
    // Windows that tile the rows make one long row of a plane.
    bool tiles = pool.endWhole - pool.firstWhole == window.width.out &&
                 window.width.padLow == 0 &&
                 window.width.out * window.width.stride == width;
    parallelFor(
        window.planes, window.inCells,
        [&](std::int64_t begin, std::int64_t end, int thread) {
          float *line = lines.of(thread);
          for (std::int64_t plane = begin; plane < end; ++plane) {
            const float *from = x + plane * window.inCells;
            float *to = y + plane * window.outCells;
            for (std::int64_t row = 0; row < rows; ++row)
              maxOfRows(from, line + row * width, window,
                        row / window.height.out, row % window.height.out);
            if (tiles) {
              slideWhole(line, to, window.outCells, window.width);
              continue;
            }
            for (std::int64_t row = 0; row < rows; ++row)
              slideRow(line + row * width, to + row * window.width.out, pool);
          }
        });
  });
}

//===----------------------------------------------------------------------===//
// Gradient
//===----------------------------------------------------------------------===//

/// Two rows of x and one of dy, windows of 2x2 that tile: every cell of dx is
/// written once.
static void tilePairGrad(const float *x, const float *dy, float *dx,
                         std::int64_t width, std::int64_t count) {
  for (std::int64_t i = 0; i < count; i += kLanes) {
    std::int64_t rest = std::min(kLanes, count - i);
    // Cells in the two halves of a row of 32.
    std::int64_t low = std::min(kLanes, 2 * rest), high = 2 * rest - low;
    Vector cells[4];
    for (int row = 0; row < 2; ++row) {
      const float *from = x + row * width + 2 * i;
      Vector a = load(from, low), b = load(from + kLanes, high);
      cells[2 * row] = evenLanes(a, b);
      cells[2 * row + 1] = oddLanes(a, b);
    }
    Vector gradient = load(dy + i, rest), best = cells[0];
    Mask better[4];
    for (int k = 1; k < 4; ++k) {
      better[k] = isBetter(cells[k], best);
      best = better[k] ? cells[k] : best;
    }
    // A cell is the place if it was better and none after it.
    Mask later = better[3] | better[2];
    Vector zero = {};
    cells[3] = better[3] ? gradient : zero;
    cells[2] = better[2] & ~better[3] ? gradient : zero;
    cells[1] = better[1] & ~later ? gradient : zero;
    cells[0] = better[1] | later ? zero : gradient;
    for (int row = 0; row < 2; ++row) {
      float *to = dx + row * width + 2 * i;
      store(to, zipLow(cells[2 * row], cells[2 * row + 1]), low);
      store(to + kLanes, zipHigh(cells[2 * row], cells[2 * row + 1]), high);
    }
  }
}

/// places[i] = offset from x of the first maximum of the kKernel x kKernel
/// window at x + i * kStride, for `count` <= 16 windows.
template <int kStride, int kKernel>
static void findPlaces(const float *x, std::int64_t width, std::int32_t *places,
                       std::int64_t count) {
  Vector best = loadStrided<kStride>(x, count);
  Mask place = {};
  for (int h = 0; h < kKernel; ++h)
    for (int w = h == 0 ? 1 : 0; w < kKernel; ++w) {
      Vector value = loadStrided<kStride>(x + h * width + w, count);
      Mask better = isBetter(value, best);
      best = better ? value : best;
      place =
          better ? Mask{} + static_cast<std::int32_t>(h * width + w) : place;
    }
  const Mask index = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  place += index * kStride;
  std::memcpy(places, &place, sizeof(place));
}

/// dx += dy of outputs [begin, end) of row (d, h), any window.
static void scatterAny(const float *x, const float *dy, float *dx,
                       const Window &window, std::int64_t d, std::int64_t h,
                       std::int64_t begin, std::int64_t end) {
  WindowAxis::Span ds = window.depthSpans[d], hs = window.heightSpans[h];
  for (std::int64_t w = begin; w < end; ++w) {
    WindowAxis::Span ws = window.widthSpans[w];
    if (ds.count <= 0 || hs.count <= 0 || ws.count <= 0)
      continue;
    std::int64_t place = -1;
    float best = 0.0f;
    for (std::int64_t i = 0; i < ds.count; ++i)
      for (std::int64_t j = 0; j < hs.count; ++j) {
        std::int64_t row =
            ((ds.first + i * window.depth.dilation) * window.height.in +
             hs.first + j * window.height.dilation) *
                window.width.in +
            ws.first;
        for (std::int64_t k = 0; k < ws.count; ++k) {
          std::int64_t cell = row + k * window.width.dilation;
          bool better = place < 0 || isBetter(x[cell], best);
          place = better ? cell : place;
          best = better ? x[cell] : best;
        }
      }
    dx[place] += dy[w];
  }
}

/// Adds the gradient of row (d, h) of the outputs: `find` takes the windows
/// that nothing cuts, if there is one for this shape.
template <typename Find>
static void scatterRow(const float *x, const float *dy, float *dx,
                       const MaxPoolState &pool, std::int64_t d, std::int64_t h,
                       Find find) {
  const Window &window = pool.window;
  WindowAxis::Span hs = window.heightSpans[h];
  if (hs.count != window.height.kernel)
    return scatterAny(x, dy, dx, window, d, h, 0, window.width.out);
  scatterAny(x, dy, dx, window, d, h, 0, pool.firstWhole);
  for (std::int64_t w = pool.firstWhole; w < pool.endWhole; w += kLanes) {
    std::int64_t count = std::min(kLanes, pool.endWhole - w);
    std::int64_t origin =
        hs.first * window.width.in + window.widthSpans[w].first;
    std::int32_t places[kLanes];
    find(x + origin, window.width.in, places, count);
    for (std::int64_t i = 0; i < count; ++i)
      dx[origin + places[i]] += dy[w + i];
  }
  scatterAny(x, dy, dx, window, d, h, pool.endWhole, window.width.out);
}

static void planeGrad(const float *x, const float *dy, float *dx,
                      const MaxPoolState &pool) {
  const Window &window = pool.window;
  const WindowAxis &height = window.height, &width = window.width;
  bool flat = window.depth.in == 1 && window.depth.out == 1 &&
              window.depth.kernel == 1 && window.depth.padLow == 0;
  bool square = flat && height.dilation == 1 && height.kernel == width.kernel &&
                height.stride == width.stride &&
                height.in * width.in < std::numeric_limits<std::int32_t>::max();
  if (square && width.kernel == 2 && width.stride == 2 && width.padLow == 0 &&
      height.padLow == 0 && width.in == 2 * width.out &&
      height.in == 2 * height.out) {
    for (std::int64_t h = 0; h < height.out; ++h)
      tilePairGrad(x + 2 * h * width.in, dy + h * width.out,
                   dx + 2 * h * width.in, width.in, width.out);
    return;
  }
  std::fill(dx, dx + window.inCells, 0.0f);
  for (std::int64_t d = 0; d < window.depth.out; ++d)
    for (std::int64_t h = 0; h < height.out; ++h) {
      const float *row = dy + (d * height.out + h) * width.out;
      if (square && width.kernel == 3 && width.stride == 2)
        scatterRow(x, row, dx, pool, d, h, findPlaces<2, 3>);
      else if (square && width.kernel == 3 && width.stride == 1)
        scatterRow(x, row, dx, pool, d, h, findPlaces<1, 3>);
      else if (square && width.kernel == 2 && width.stride == 2)
        scatterRow(x, row, dx, pool, d, h, findPlaces<2, 2>);
      else
        scatterAny(x, row, dx, window, d, h, 0, width.out);
    }
}

MaxPoolGrad::MaxPoolGrad(Device &, const PoolSizes &sizes)
    : Kernel(prepare("max_pool_grad", sizes)) {}

void MaxPoolGrad::operator()(Stream &stream, const float *x, const float *dy,
                             float *dx) const {
  const auto &pool = as<MaxPoolState>(state);
  stream.run("max_pool_grad", [&pool, x, dy, dx] {
    const Window &window = pool.window;
    parallelFor(window.planes, window.inCells,
                [&](std::int64_t begin, std::int64_t end, int) {
                  for (std::int64_t plane = begin; plane < end; ++plane)
                    planeGrad(x + plane * window.inCells,
                              dy + plane * window.outCells,
                              dx + plane * window.inCells, pool);
                });
  });
}
