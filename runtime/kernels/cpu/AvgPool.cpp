//===- AvgPool.cpp - Average pooling and its gradient ---------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// As for max pooling, the sum over a box is taken over rows first and along
// the width second; the gradient spreads in the opposite order. The divisor of
// a window is a product of one count per axis.
//
//===----------------------------------------------------------------------===//

#include "KernelState.h"
#include "Parallel.h"
#include "Simd.h"
#include "Window.h"

using namespace partita;
using namespace partita::kernels;

namespace {
struct AvgPoolState final : Kernel::State {
  AvgPoolState(const PoolSizes &sizes, bool countIncludePad)
      : window(sizes), countIncludePad(countIncludePad) {}

  /// Bytes of one row of sums.
  std::size_t lineBytes() const { return window.width.in * sizeof(float); }

  /// Whether there is one window, and it covers all of x.
  bool isGlobal() const {
    return window.outCells == 1 && covers(window.depth, window.depthSpans[0]) &&
           covers(window.height, window.heightSpans[0]) &&
           covers(window.width, window.widthSpans[0]);
  }

  /// Cells of this span that the divisor counts.
  std::int64_t counted(const WindowAxis::Span &span) const {
    return countIncludePad ? span.padded : span.count;
  }
  /// What the sum over a window is multiplied by.
  float weight(std::int64_t counted) const {
    return counted > 0 ? 1.0f / static_cast<float>(counted) : 0.0f;
  }

  Window window;
  bool countIncludePad;

private:
  static bool covers(const WindowAxis &axis, const WindowAxis::Span &span) {
    return span.count == axis.in && (axis.dilation == 1 || axis.in == 1);
  }
};
} // namespace

static std::unique_ptr<Kernel::State>
prepare(const char *kernel, const PoolSizes &sizes, bool countIncludePad) {
  checkPool(kernel, sizes);
  auto state = std::make_unique<AvgPoolState>(sizes, countIncludePad);
  state->workspace = ThreadSpace::total(state->lineBytes());
  return reserved(std::move(state));
}

static void addInto(float *__restrict to, const float *__restrict from,
                    std::int64_t count) {
#pragma omp simd
  for (std::int64_t i = 0; i < count; ++i)
    to[i] += from[i];
}

/// Calls visit(row) with the offset of each row of x that outputs (d, h) cover.
template <typename Visit>
static void forEachRow(const Window &window, WindowAxis::Span d,
                       WindowAxis::Span h, const Visit &visit) {
  for (std::int64_t i = 0; i < d.count; ++i)
    for (std::int64_t j = 0; j < h.count; ++j)
      visit(((d.first + i * window.depth.dilation) * window.height.in +
             h.first + j * window.height.dilation) *
            window.width.in);
}

/// Calls visit(d, h, row of outputs, cells counted by its divisors along depth
/// and height).
template <typename Visit>
static void forEachOutputRow(const AvgPoolState &pool, const Visit &visit) {
  const Window &window = pool.window;
  std::int64_t row = 0;
  for (const WindowAxis::Span &d : window.depthSpans)
    for (const WindowAxis::Span &h : window.heightSpans)
      visit(d, h, window.width.out * row++, pool.counted(d) * pool.counted(h));
}

/// The divisor of a global window, as a factor.
static float globalWeight(const AvgPoolState &pool) {
  const Window &window = pool.window;
  return pool.weight(pool.counted(window.depthSpans[0]) *
                     pool.counted(window.heightSpans[0]) *
                     pool.counted(window.widthSpans[0]));
}

static void globalAverage(const AvgPoolState &pool, const float *x, float *y) {
  const Window &window = pool.window;
  float weight = globalWeight(pool);
  parallelFor(window.planes, window.inCells,
              [&](std::int64_t begin, std::int64_t end, int) {
                for (std::int64_t i = begin; i < end; ++i) {
                  LongSum sum;
                  sum.add(
                      window.inCells, [](Vector v) { return v; },
                      x + i * window.inCells);
                  y[i] = static_cast<float>(sum.total()) * weight;
                }
              });
}

static void globalAverageGrad(const AvgPoolState &pool, const float *dy,
                              float *dx) {
  const Window &window = pool.window;
  float weight = globalWeight(pool);
  parallelFor(window.planes, window.inCells,
              [&](std::int64_t begin, std::int64_t end, int) {
                for (std::int64_t i = begin; i < end; ++i)
                  std::fill_n(dx + i * window.inCells, window.inCells,
                              dy[i] * weight);
              });
}

AvgPool::AvgPool(Device &, const PoolSizes &sizes, bool countIncludePad)
    : Kernel(prepare("avg_pool", sizes, countIncludePad)) {}

void AvgPool::operator()(Stream &stream, const float *x, float *y) const {
  const auto &pool = as<AvgPoolState>(state);
  stream.run("avg_pool", [&pool, x, y] {
    if (pool.isGlobal())
      return globalAverage(pool, x, y);
    const Window &window = pool.window;
    std::int64_t width = window.width.in;
    ThreadSpace lines(pool.lineBytes());
    auto plane = [&](const float *from, float *to, float *line) {
      forEachOutputRow(pool, [&](WindowAxis::Span d, WindowAxis::Span h,
                                 std::int64_t row, std::int64_t counted) {
        std::fill(line, line + width, 0.0f);
        forEachRow(window, d, h,
                   [&](std::int64_t at) { addInto(line, from + at, width); });
        for (std::int64_t w = 0; w < window.width.out; ++w) {
          WindowAxis::Span span = window.widthSpans[w];
          float sum = 0.0f;
          for (std::int64_t k = 0; k < span.count; ++k)
            sum += line[span.first + k * window.width.dilation];
          to[row + w] = sum * pool.weight(counted * pool.counted(span));
        }
      });
    };
    parallelFor(window.planes, window.inCells,
                [&](std::int64_t begin, std::int64_t end, int thread) {
                  for (std::int64_t i = begin; i < end; ++i)
                    plane(x + i * window.inCells, y + i * window.outCells,
                          lines.of(thread));
                });
  });
}

AvgPoolGrad::AvgPoolGrad(Device &, const PoolSizes &sizes, bool countIncludePad)
    : Kernel(prepare("avg_pool_grad", sizes, countIncludePad)) {}

void AvgPoolGrad::operator()(Stream &stream, const float *dy, float *dx) const {
  const auto &pool = as<AvgPoolState>(state);
  stream.run("avg_pool_grad", [&pool, dy, dx] {
    if (pool.isGlobal())
      return globalAverageGrad(pool, dy, dx);
    const Window &window = pool.window;
    std::int64_t width = window.width.in;
    ThreadSpace lines(pool.lineBytes());
    auto plane = [&](const float *from, float *to, float *line) {
      std::fill(to, to + window.inCells, 0.0f);
      forEachOutputRow(pool, [&](WindowAxis::Span d, WindowAxis::Span h,
                                 std::int64_t row, std::int64_t counted) {
        std::fill(line, line + width, 0.0f);
        for (std::int64_t w = 0; w < window.width.out; ++w) {
          WindowAxis::Span span = window.widthSpans[w];
          float share =
              from[row + w] * pool.weight(counted * pool.counted(span));
          for (std::int64_t k = 0; k < span.count; ++k)
            line[span.first + k * window.width.dilation] += share;
        }
        forEachRow(window, d, h,
                   [&](std::int64_t at) { addInto(to + at, line, width); });
      });
    };
    parallelFor(window.planes, window.inCells,
                [&](std::int64_t begin, std::int64_t end, int thread) {
                  for (std::int64_t i = begin; i < end; ++i)
                    plane(dy + i * window.outCells, dx + i * window.inCells,
                          lines.of(thread));
                });
  });
}
