//===- Softmax.cpp - Softmax and the losses built on it -------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All of them see [outer, axis, inner] as strips: up to kStrip neighbouring
// positions whose axes are walked together. With inner = 1 an axis is
// contiguous and is a strip by itself.
//
//===----------------------------------------------------------------------===//

#include "KernelState.h"
#include "Parallel.h"
#include "Simd.h"

#include <cmath>
#include <limits>

using namespace partita;
using namespace partita::kernels;

namespace {

/// Positions handled together.
constexpr std::int64_t kStrip = 32;

/// Elements of a contiguous axis handled together.
constexpr std::int64_t kChunk = 256;

struct SoftmaxState final : Kernel::State {
  std::int64_t outer = 0, axis = 0, inner = 0;
  bool log = false;
  float scale = 1.0f;

  /// Calls visit(offset of the strip in x, offset in the reduced result,
  /// positions) for every strip.
  template <typename Visit> void forEachStrip(const Visit &visit) const {
    std::int64_t strips = (inner + kStrip - 1) / kStrip;
    parallelFor(outer * strips, axis * std::min(inner, kStrip) * 8,
                [&](std::int64_t begin, std::int64_t end, int) {
                  for (std::int64_t i = begin; i < end; ++i) {
                    std::int64_t n = i / strips, first = i % strips * kStrip;
                    visit(n * axis * inner + first, n * inner + first,
                          std::min(kStrip, inner - first));
                  }
                });
  }
};

/// Of each position of a strip: the maximum over the axis and the sum of
/// e^(x - maximum).
struct Spread {
  float maximum[kStrip];
  float sum[kStrip];
};

} // namespace

static std::unique_ptr<Kernel::State> prepare(const char *kernel,
                                              std::int64_t outer,
                                              std::int64_t axis,
                                              std::int64_t inner) {
  checkShape(kernel, {outer, axis, inner});
  auto state = std::make_unique<SoftmaxState>();
  state->outer = outer;
  state->axis = axis;
  state->inner = inner;
  return state;
}

//===----------------------------------------------------------------------===//
// Strips
//===----------------------------------------------------------------------===//

/// The largest of `count` contiguous values; NaN where one is NaN.
static float maximumOf(const float *x, std::int64_t count) {
  float best = -std::numeric_limits<float>::infinity();
  bool nan = false;
#pragma omp simd reduction(max : best) reduction(| : nan)
  for (std::int64_t i = 0; i < count; ++i) {
    best = x[i] > best ? x[i] : best;
    nan |= x[i] != x[i];
  }
  return nan ? std::numeric_limits<float>::quiet_NaN() : best;
}

/// What e^x is taken of: a maximum of -infinity would make NaN of an axis
/// without anything finite, as it should; nothing else is special.
static void spreadOf(const SoftmaxState &sizes, const float *x,
                     std::int64_t width, Spread &spread) {
  if (sizes.inner == 1) {
    float maximum = maximumOf(x, sizes.axis);
    LongSum sum;
    for (std::int64_t begin = 0; begin < sizes.axis; begin += kChunk) {
      float powers[kChunk];
      std::int64_t count = std::min(kChunk, sizes.axis - begin);
#pragma omp simd
      for (std::int64_t i = 0; i < count; ++i)
        powers[i] = fastExp(x[begin + i] - maximum);
      sum.add(count, [](Vector v) { return v; }, powers);
    }
    spread.maximum[0] = maximum;
    spread.sum[0] = static_cast<float>(sum.total());
    return;
  }
  std::fill(spread.maximum, spread.maximum + width,
            -std::numeric_limits<float>::infinity());
  for (std::int64_t c = 0; c < sizes.axis; ++c) {
    const float *row = x + c * sizes.inner;
#pragma omp simd
    for (std::int64_t i = 0; i < width; ++i) {
      bool better = isBetter(row[i], spread.maximum[i]);
      spread.maximum[i] = better ? row[i] : spread.maximum[i];
    }
  }
  double sums[kStrip] = {};
  for (std::int64_t c = 0; c < sizes.axis; ++c) {
    const float *row = x + c * sizes.inner;
#pragma omp simd
    for (std::int64_t i = 0; i < width; ++i)
      sums[i] += fastExp(row[i] - spread.maximum[i]);
  }
  for (std::int64_t i = 0; i < width; ++i)
    spread.sum[i] = static_cast<float>(sums[i]);
}

/// y = value(x - maximum, other) over a strip; maximum and other are given per
/// position.
template <typename Value>
static void walkStrip(const SoftmaxState &sizes, const float *x, float *y,
                      std::int64_t width, const float *maximum,
                      const float *other, const Value &value) {
  if (sizes.inner == 1) {
    float first = maximum[0], second = other[0];
#pragma omp simd
    for (std::int64_t c = 0; c < sizes.axis; ++c)
      y[c] = value(x[c] - first, second);
    return;
  }
  for (std::int64_t c = 0; c < sizes.axis; ++c) {
    const float *from = x + c * sizes.inner;
    float *to = y + c * sizes.inner;
#pragma omp simd
    for (std::int64_t i = 0; i < width; ++i)
      to[i] = value(from[i] - maximum[i], other[i]);
  }
}

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

Softmax::Softmax(Device &, std::int64_t outer, std::int64_t axis,
                 std::int64_t inner, bool log)
    : Kernel(prepare("softmax", outer, axis, inner)) {
  static_cast<SoftmaxState &>(*state).log = log;
}

void Softmax::operator()(Stream &stream, const float *x, float *y) const {
  const auto &sizes = as<SoftmaxState>(state);
  stream.run("softmax", [&sizes, x, y] {
    sizes.forEachStrip([&](std::int64_t offset, std::int64_t,
                           std::int64_t width) {
      Spread spread;
      spreadOf(sizes, x + offset, width, spread);
      float other[kStrip] = {};
      for (std::int64_t i = 0; i < width; ++i)
        other[i] = sizes.log ? std::log(spread.sum[i]) : 1.0f / spread.sum[i];
      if (sizes.log)
        return walkStrip(
            sizes, x + offset, y + offset, width, spread.maximum, other,
            [](float shifted, float logSum) { return shifted - logSum; });
      walkStrip(sizes, x + offset, y + offset, width, spread.maximum, other,
                [](float shifted, float inverse) {
                  return fastExp(shifted) * inverse;
                });
    });
  });
}

SoftmaxGrad::SoftmaxGrad(Device &, std::int64_t outer, std::int64_t axis,
                         std::int64_t inner, bool log)
    : Kernel(prepare("softmax_grad", outer, axis, inner)) {
  static_cast<SoftmaxState &>(*state).log = log;
}

/// dx of one strip; term(y, dy) is summed over the axis, value(y, dy, sum) is
/// the gradient.
template <typename Term, typename Value>
static void stripGrad(const SoftmaxState &sizes, const float *y,
                      const float *dy, float *dx, std::int64_t width,
                      const Term &term, const Value &value) {
  if (sizes.inner == 1) {
    LongSum sum;
    sum.add(
        sizes.axis, [&](Vector y, Vector dy) { return term(y, dy); }, y, dy);
    float total = static_cast<float>(sum.total());
#pragma omp simd
    for (std::int64_t c = 0; c < sizes.axis; ++c)
      dx[c] = value(y[c], dy[c], total);
    return;
  }
  double sums[kStrip] = {};
  for (std::int64_t c = 0; c < sizes.axis; ++c) {
    std::int64_t row = c * sizes.inner;
#pragma omp simd
    for (std::int64_t i = 0; i < width; ++i)
      sums[i] += term(y[row + i], dy[row + i]);
  }
  for (std::int64_t c = 0; c < sizes.axis; ++c) {
    std::int64_t row = c * sizes.inner;
#pragma omp simd
    for (std::int64_t i = 0; i < width; ++i)
      dx[row + i] = value(y[row + i], dy[row + i], static_cast<float>(sums[i]));
  }
}

void SoftmaxGrad::operator()(Stream &stream, const float *y, const float *dy,
                             float *dx) const {
  const auto &sizes = as<SoftmaxState>(state);
  stream.run("softmax_grad", [&sizes, y, dy, dx] {
    sizes.forEachStrip([&](std::int64_t offset, std::int64_t,
                           std::int64_t width) {
      if (sizes.log)
        return stripGrad(
            sizes, y + offset, dy + offset, dx + offset, width,
            [](auto, auto dy) { return dy; },
            [](float y, float dy, float sum) { return dy - fastExp(y) * sum; });
      stripGrad(
          sizes, y + offset, dy + offset, dx + offset, width,
          [](auto y, auto dy) { return y * dy; },
          [](float y, float dy, float sum) { return y * (dy - sum); });
    });
  });
}

//===----------------------------------------------------------------------===//
// Cross-entropy
//===----------------------------------------------------------------------===//

CrossEntropy::CrossEntropy(Device &, std::int64_t outer, std::int64_t classes,
                           std::int64_t inner)
    : Kernel(prepare("cross_entropy", outer, classes, inner)) {}

void CrossEntropy::operator()(Stream &stream, const float *logits,
                              const std::int64_t *labels, float *losses) const {
  const auto &sizes = as<SoftmaxState>(state);
  stream.run("cross_entropy", [&sizes, logits, labels, losses] {
    sizes.forEachStrip(
        [&](std::int64_t offset, std::int64_t position, std::int64_t width) {
          Spread spread;
          spreadOf(sizes, logits + offset, width, spread);
          for (std::int64_t i = 0; i < width; ++i) {
            std::int64_t label = labels[position + i];
            bool counts = label >= 0 && label < sizes.axis;
            losses[position + i] =
                counts ? std::log(spread.sum[i]) +
                             (spread.maximum[i] -
                              logits[offset + label * sizes.inner + i])
                       : 0.0f;
          }
        });
  });
}

CrossEntropyGrad::CrossEntropyGrad(Device &, std::int64_t outer,
                                   std::int64_t classes, std::int64_t inner,
                                   float scale)
    : Kernel(prepare("cross_entropy_grad", outer, classes, inner)) {
  static_cast<SoftmaxState &>(*state).scale = scale;
}

void CrossEntropyGrad::operator()(Stream &stream, const float *logits,
                                  const std::int64_t *labels,
                                  float *dlogits) const {
  const auto &sizes = as<SoftmaxState>(state);
  stream.run("cross_entropy_grad", [&sizes, logits, labels, dlogits] {
    sizes.forEachStrip(
        [&](std::int64_t offset, std::int64_t position, std::int64_t width) {
          Spread spread;
          spreadOf(sizes, logits + offset, width, spread);
          float factor[kStrip] = {};
          for (std::int64_t i = 0; i < width; ++i) {
            std::int64_t label = labels[position + i];
            bool counts = label >= 0 && label < sizes.axis;
            factor[i] = counts ? sizes.scale / spread.sum[i] : 0.0f;
          }
          walkStrip(sizes, logits + offset, dlogits + offset, width,
                    spread.maximum, factor, [](float shifted, float factor) {
                      return fastExp(shifted) * factor;
                    });
          for (std::int64_t i = 0; i < width; ++i) {
            std::int64_t label = labels[position + i];
            if (label >= 0 && label < sizes.axis)
              dlogits[offset + label * sizes.inner + i] -= sizes.scale;
          }
        });
  });
}

Correct::Correct(Device &, std::int64_t outer, std::int64_t classes,
                 std::int64_t inner)
    : Kernel(prepare("correct", outer, classes, inner)) {}

void Correct::operator()(Stream &stream, const float *logits,
                         const std::int64_t *labels, float *hits) const {
  const auto &sizes = as<SoftmaxState>(state);
  stream.run("correct", [&sizes, logits, labels, hits] {
    sizes.forEachStrip(
        [&](std::int64_t offset, std::int64_t position, std::int64_t width) {
          for (std::int64_t i = 0; i < width; ++i) {
            const float *x = logits + offset + i;
            std::int64_t best = 0;
            for (std::int64_t c = 1; c < sizes.axis; ++c)
              if (x[c * sizes.inner] > x[best * sizes.inner])
                best = c;
            bool hit = sizes.axis > 0 && labels[position + i] == best;
            hits[position + i] = hit ? 1.0f : 0.0f;
          }
        });
  });
}
