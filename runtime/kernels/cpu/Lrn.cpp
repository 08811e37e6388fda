//===- Lrn.cpp - Local response normalization -----------------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The channels of one sample are walked in strips of neighbouring positions,
// so that a window over channels is a sum of contiguous rows.
//
//===----------------------------------------------------------------------===//

#include "KernelState.h"
#include "Parallel.h"

#include <cmath>

using namespace partita;
using namespace partita::kernels;

namespace {

/// Positions handled together.
constexpr std::int64_t kStrip = 64;

struct LrnSizes {
  std::int64_t n, c, inner, size;
  float alpha, beta, bias;
};

struct LrnState final : Kernel::State, LrnSizes {
  explicit LrnState(const LrnSizes &sizes) : LrnSizes(sizes) {}

  std::int64_t strips() const { return (inner + kStrip - 1) / kStrip; }
  /// A row per channel.
  std::size_t rowBytes() const { return c * kStrip * sizeof(float); }

  /// base = bias + alpha / size * sum of squares over the window of channel i.
  void bases(const float *x, std::int64_t i, std::int64_t width,
             float *base) const;

  /// Calls visit(offset of channel 0, positions, thread) for every strip.
  template <typename Visit> void forEachStrip(const Visit &visit) const {
    parallelFor(n * strips(), c * kStrip,
                [&](std::int64_t begin, std::int64_t end, int thread) {
                  for (std::int64_t i = begin; i < end; ++i) {
                    std::int64_t first = i % strips() * kStrip;
                    visit(i / strips() * c * inner + first,
                          std::min(kStrip, inner - first), thread);
                  }
                });
  }
};

} // namespace

static std::unique_ptr<Kernel::State> prepare(const char *kernel,
                                              const LrnSizes &sizes) {
  checkShape(kernel, {sizes.n, sizes.c, sizes.inner});
  if (sizes.size < 1)
    refuse(kernel, "found a window of " + std::to_string(sizes.size) +
                       " channels, expected at least 1");
  return std::make_unique<LrnState>(sizes);
}

void LrnState::bases(const float *x, std::int64_t i, std::int64_t width,
                     float *base) const {
  std::int64_t first = std::max<std::int64_t>(0, i - (size - 1) / 2);
  std::int64_t last = std::min(c - 1, i + size / 2);
  std::fill(base, base + width, 0.0f);
  for (std::int64_t j = first; j <= last; ++j) {
    const float *row = x + j * inner;
#pragma omp simd
    for (std::int64_t k = 0; k < width; ++k)
      base[k] += row[k] * row[k];
  }
  float factor = alpha / static_cast<float>(size);
#pragma omp simd
  for (std::int64_t k = 0; k < width; ++k)
    base[k] = bias + factor * base[k];
}

/// base^-beta; 3/4 is what every published network uses.
static void powers(float *base, std::int64_t width, float beta) {
  if (beta == 0.75f) {
#pragma omp simd
    for (std::int64_t k = 0; k < width; ++k) {
      float root = std::sqrt(base[k]);
      base[k] = 1.0f / (root * std::sqrt(root));
    }
    return;
  }
  for (std::int64_t k = 0; k < width; ++k)
    base[k] = std::pow(base[k], -beta);
}

Lrn::Lrn(Device &, std::int64_t n, std::int64_t c, std::int64_t inner,
         std::int64_t size, float alpha, float beta, float bias)
    : Kernel(prepare("lrn", {n, c, inner, size, alpha, beta, bias})) {}

void Lrn::operator()(Stream &stream, const float *x, float *y) const {
  const auto &lrn = as<LrnState>(state);
  stream.run("lrn", [&lrn, x, y] {
    lrn.forEachStrip([&](std::int64_t offset, std::int64_t width, int) {
      for (std::int64_t i = 0; i < lrn.c; ++i) {
        float base[kStrip];
        lrn.bases(x + offset, i, width, base);
        powers(base, width, lrn.beta);
        const float *from = x + offset + i * lrn.inner;
        float *to = y + offset + i * lrn.inner;
#pragma omp simd
        for (std::int64_t k = 0; k < width; ++k)
          to[k] = from[k] * base[k];
      }
    });
  });
}

LrnGrad::LrnGrad(Device &, std::int64_t n, std::int64_t c, std::int64_t inner,
                 std::int64_t size, float alpha, float beta, float bias)
    : Kernel(prepare("lrn_grad", {n, c, inner, size, alpha, beta, bias})) {
  state->workspace = ThreadSpace::total(as<LrnState>(state).rowBytes());
  workspace(state->workspace);
}

void LrnGrad::operator()(Stream &stream, const float *x, const float *dy,
                         float *dx) const {
  const auto &lrn = as<LrnState>(state);
  stream.run("lrn_grad", [&lrn, x, dy, dx] {
    ThreadSpace rows(lrn.rowBytes());
    float factor = 2.0f * lrn.alpha * lrn.beta / static_cast<float>(lrn.size);
    lrn.forEachStrip([&](std::int64_t offset, std::int64_t width, int thread) {
      // What each channel's result contributes to the squares of its window:
      // dy x base^(-beta - 1).
      float *shares = rows.of(thread);
      for (std::int64_t i = 0; i < lrn.c; ++i) {
        float base[kStrip], power[kStrip];
        lrn.bases(x + offset, i, width, base);
        std::copy(base, base + width, power);
        powers(power, width, lrn.beta);
        std::int64_t row = offset + i * lrn.inner;
        float *share = shares + i * kStrip;
#pragma omp simd
        for (std::int64_t k = 0; k < width; ++k) {
          float scaled = dy[row + k] * power[k];
          share[k] = scaled * x[row + k] / base[k];
          dx[row + k] = scaled;
        }
      }
      for (std::int64_t i = 0; i < lrn.c; ++i) {
        std::int64_t first = std::max<std::int64_t>(0, i - lrn.size / 2);
        std::int64_t last = std::min(lrn.c - 1, i + (lrn.size - 1) / 2);
        float sum[kStrip] = {};
        for (std::int64_t j = first; j <= last; ++j) {
#pragma omp simd
          for (std::int64_t k = 0; k < width; ++k)
            sum[k] += shares[j * kStrip + k];
        }
        std::int64_t row = offset + i * lrn.inner;
#pragma omp simd
        for (std::int64_t k = 0; k < width; ++k)
          dx[row + k] -= factor * x[row + k] * sum[k];
      }
    });
  });
}
