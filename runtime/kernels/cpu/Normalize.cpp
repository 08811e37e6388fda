//===- Normalize.cpp - Batch normalization and its gradient ---------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// x is seen as [outer, channels, inner]. With inner = 1 (after a dense layer)
// the channels are the contiguous axis, so the loops differ.
//
//===----------------------------------------------------------------------===//

#include "KernelState.h"
#include "Parallel.h"
#include "Simd.h"

#include <cmath>

using namespace partita;
using namespace partita::kernels;

namespace {
struct NormalizeState final : Kernel::State {
  std::int64_t outer = 0, channels = 0, inner = 0;
  float eps = 0.0f, scale = 0.0f;

  /// Workspace of a few rows of one float per channel.
  std::size_t rowBytes() const { return cacheLines(channels * sizeof(float)); }
  float *row(void *space, int index) const {
    return reinterpret_cast<float *>(static_cast<char *>(space) +
                                     index * rowBytes());
  }
};

/// dx and y are a * (dy or x - ...) with one coefficient each per channel.
constexpr int kRows = 3;
} // namespace

static std::unique_ptr<Kernel::State>
prepare(const char *kernel, std::int64_t outer, std::int64_t channels,
        std::int64_t inner, float eps, float scale = 0.0f) {
  checkShape(kernel, {outer, channels, inner});
  auto state = std::make_unique<NormalizeState>();
  state->outer = outer;
  state->channels = channels;
  state->inner = inner;
  state->eps = eps;
  state->scale = scale;
  state->workspace = kRows * state->rowBytes();
  return reserved(std::move(state));
}

/// Calls plane(offset, channel) for each of the outer x channels rows of
/// `inner` elements.
template <typename Plane>
static void forEachPlane(const NormalizeState &sizes, const Plane &plane) {
  parallelFor(sizes.outer * sizes.channels, sizes.inner,
              [&](std::int64_t begin, std::int64_t end, int) {
                std::int64_t channel =
                    sizes.channels == 0 ? 0 : begin % sizes.channels;
                for (std::int64_t i = begin; i < end; ++i) {
                  plane(i * sizes.inner, channel);
                  channel = channel + 1 == sizes.channels ? 0 : channel + 1;
                }
              });
}

Normalize::Normalize(Device &, std::int64_t outer, std::int64_t channels,
                     std::int64_t inner, float eps)
    : Kernel(prepare("normalize", outer, channels, inner, eps)) {}

void Normalize::operator()(Stream &stream, const float *x, const float *mean,
                           const float *var, const float *gamma,
                           const float *beta, float *y) const {
  const auto &sizes = as<NormalizeState>(state);
  stream.run("normalize", [&sizes, x, mean, var, gamma, beta, y] {
    float *__restrict factor = sizes.row(workspace(sizes.workspace), 0);
    for (std::int64_t c = 0; c < sizes.channels; ++c)
      factor[c] = gamma[c] / std::sqrt(var[c] + sizes.eps);
    if (sizes.inner == 1) {
      parallelFor(sizes.outer, sizes.channels,
                  [&](std::int64_t begin, std::int64_t end, int) {
                    for (std::int64_t i = begin; i < end; ++i) {
                      const float *from = x + i * sizes.channels;
                      float *to = y + i * sizes.channels;
#pragma omp simd
                      for (std::int64_t c = 0; c < sizes.channels; ++c)
                        to[c] = (from[c] - mean[c]) * factor[c] + beta[c];
                    }
                  });
      return;
    }
    forEachPlane(sizes, [&](std::int64_t offset, std::int64_t c) {
      float m = mean[c], f = factor[c], b = beta[c];
      const float *from = x + offset;
      float *to = y + offset;
#pragma omp simd
      for (std::int64_t i = 0; i < sizes.inner; ++i)
        to[i] = (from[i] - m) * f + b;
    });
  });
}

NormalizeSums::NormalizeSums(Device &, std::int64_t outer,
                             std::int64_t channels, std::int64_t inner,
                             float eps)
    : Kernel(prepare("normalize_sums", outer, channels, inner, eps)) {}

/// Columns of [outer, channels] added up together.
static constexpr std::int64_t kColumns = 64;

/// The sums of channels [first, first + width) when inner is 1.
static void sumColumns(const NormalizeState &sizes, const float *dy,
                       const float *x, const float *mean, std::int64_t first,
                       std::int64_t width, double *sums, double *products) {
  for (std::int64_t i = 0; i < sizes.outer; ++i) {
    const float *dyRow = dy + i * sizes.channels + first;
    const float *xRow = x + i * sizes.channels + first;
#pragma omp simd
    for (std::int64_t j = 0; j < width; ++j) {
      sums[j] += dyRow[j];
      products[j] += dyRow[j] * (xRow[j] - mean[first + j]);
    }
  }
}

void NormalizeSums::operator()(Stream &stream, const float *dy, const float *x,
                               const float *mean, const float *var,
                               float *dbeta, float *dgamma) const {
  const auto &sizes = as<NormalizeState>(state);
  stream.run("normalize_sums", [&sizes, dy, x, mean, var, dbeta, dgamma] {
    auto finish = [&](std::int64_t c, double sum, double product) {
      dbeta[c] = static_cast<float>(sum);
      dgamma[c] = static_cast<float>(
          product / std::sqrt(static_cast<double>(var[c]) + sizes.eps));
    };
    if (sizes.inner == 1) {
      parallelFor(
          (sizes.channels + kColumns - 1) / kColumns, sizes.outer * kColumns,
          [&](std::int64_t begin, std::int64_t end, int) {
            for (std::int64_t i = begin; i < end; ++i) {
              std::int64_t first = i * kColumns;
              std::int64_t width = std::min(kColumns, sizes.channels - first);
              double sums[kColumns] = {}, products[kColumns] = {};
              sumColumns(sizes, dy, x, mean, first, width, sums, products);
              for (std::int64_t j = 0; j < width; ++j)
                finish(first + j, sums[j], products[j]);
            }
          });
      return;
    }
    parallelFor(sizes.channels, sizes.outer * sizes.inner,
                [&](std::int64_t begin, std::int64_t end, int) {
                  for (std::int64_t c = begin; c < end; ++c) {
                    LongSum sum, product;
                    float m = mean[c];
                    for (std::int64_t i = 0; i < sizes.outer; ++i) {
                      std::int64_t offset =
                          (i * sizes.channels + c) * sizes.inner;
                      const float *dyRow = dy + offset, *xRow = x + offset;
                      sum.add(sizes.inner, [](Vector dy) { return dy; }, dyRow);
                      product.add(
                          sizes.inner,
                          [m](Vector dy, Vector x) { return dy * (x - m); },
                          dyRow, xRow);
                    }
                    finish(c, sum.total(), product.total());
                  }
                });
  });
}

NormalizeGrad::NormalizeGrad(Device &, std::int64_t outer,
                             std::int64_t channels, std::int64_t inner,
                             float eps, float scale)
    : Kernel(prepare("normalize_grad", outer, channels, inner, eps, scale)) {}

void NormalizeGrad::operator()(Stream &stream, const float *dy, const float *x,
                               const float *mean, const float *var,
                               const float *gamma, const float *dbeta,
                               const float *dgamma, float *dx) const {
  const auto &sizes = as<NormalizeState>(state);
  stream.run(
      "normalize_grad", [&sizes, dy, x, mean, var, gamma, dbeta, dgamma, dx] {
        void *space = workspace(sizes.workspace);
        // dx = factor * (dy - shift - (x - mean) * slope).
        float *__restrict factor = sizes.row(space, 0);
        float *__restrict shift = sizes.row(space, 1);
        float *__restrict slope = sizes.row(space, 2);
        for (std::int64_t c = 0; c < sizes.channels; ++c) {
          float inverse = 1.0f / std::sqrt(var[c] + sizes.eps);
          factor[c] = gamma[c] * inverse;
          shift[c] = sizes.scale * dbeta[c];
          slope[c] = sizes.scale * dgamma[c] * inverse;
        }
        if (sizes.inner == 1) {
          parallelFor(sizes.outer, sizes.channels,
                      [&](std::int64_t begin, std::int64_t end, int) {
                        for (std::int64_t i = begin; i < end; ++i) {
                          std::int64_t row = i * sizes.channels;
#pragma omp simd
                          for (std::int64_t c = 0; c < sizes.channels; ++c)
                            dx[row + c] =
                                factor[c] * (dy[row + c] - shift[c] -
                                             (x[row + c] - mean[c]) * slope[c]);
                        }
                      });
          return;
        }
        forEachPlane(sizes, [&](std::int64_t offset, std::int64_t c) {
          float m = mean[c], f = factor[c], b = shift[c], a = slope[c];
          const float *dyRow = dy + offset, *xRow = x + offset;
          float *to = dx + offset;
#pragma omp simd
          for (std::int64_t i = 0; i < sizes.inner; ++i)
            to[i] = f * (dyRow[i] - b - (xRow[i] - m) * a);
        });
      });
}
