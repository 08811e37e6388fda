//===- Normalize.cu - Batch normalization and its gradient ------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// x is seen as [outer, channels, inner]. What belongs to a channel is computed
// by each thread anew, which costs less than another pass over memory.
//
//===----------------------------------------------------------------------===//

#include "Reduction.h"

using namespace partita;
using namespace partita::kernels;

namespace {

struct NormalizeState final : Kernel::State {
  std::int64_t count = 0, channels = 0, inner = 0;
  float eps = 0.0f, scale = 0.0f;
};

struct SumsState final : Kernel::State {
  SumsState(std::int64_t outer, std::int64_t channels, std::int64_t inner,
            float eps)
      : plan("normalize_sums", {outer, channels, inner}, {0, 2}), eps(eps) {}

  ReducePlan plan;
  float eps;
};

/// The sums over one channel.
struct ChannelSums {
  double dy, product;
};

struct SumChannel {
  using Value = ChannelSums;
  __device__ Value start() const { return {0.0, 0.0}; }
  __device__ Value term(std::int64_t offset, std::int64_t channel) const {
    float gradient = dy[offset];
    return {gradient, gradient * (x[offset] - mean[channel])};
  }
  __device__ Value combine(Value a, Value b) const {
    return {a.dy + b.dy, a.product + b.product};
  }
  __device__ void store(std::int64_t channel, Value value) const {
    double variance = static_cast<double>(var[channel]) + eps;
    dbeta[channel] = static_cast<float>(value.dy);
    dgamma[channel] = static_cast<float>(value.product / sqrt(variance));
  }

  const float *dy, *x, *mean, *var;
  float *dbeta, *dgamma;
  float eps;
};

__global__ void normalizeKernel(std::int64_t count, std::int64_t channels,
                                std::int64_t inner, float eps, const float *x,
                                const float *mean, const float *var,
                                const float *gamma, const float *beta,
                                float *y) {
  for (std::int64_t i = cuda::firstIndex(); i < count;
       i += cuda::indexStride()) {
    std::int64_t c = i / inner % channels;
    float factor = gamma[c] / sqrtf(var[c] + eps);
    y[i] = (x[i] - mean[c]) * factor + beta[c];
  }
}

__global__ void normalizeGradKernel(std::int64_t count, std::int64_t channels,
                                    std::int64_t inner, float eps, float scale,
                                    const float *dy, const float *x,
                                    const float *mean, const float *var,
                                    const float *gamma, const float *dbeta,
                                    const float *dgamma, float *dx) {
  for (std::int64_t i = cuda::firstIndex(); i < count;
       i += cuda::indexStride()) {
    std::int64_t c = i / inner % channels;
    float inverse = 1.0f / sqrtf(var[c] + eps);
    float shift = scale * dbeta[c];
    float slope = scale * dgamma[c] * inverse;
    dx[i] = gamma[c] * inverse * (dy[i] - shift - (x[i] - mean[c]) * slope);
  }
}

} // namespace

static std::unique_ptr<Kernel::State>
prepare(const char *kernel, std::int64_t outer, std::int64_t channels,
        std::int64_t inner, float eps, float scale) {
  checkShape(kernel, {outer, channels, inner});
  auto state = std::make_unique<NormalizeState>();
  state->count = outer * channels * inner;
  state->channels = channels;
  state->inner = inner;
  state->eps = eps;
  state->scale = scale;
  return state;
}

Normalize::Normalize(Device &, std::int64_t outer, std::int64_t channels,
                     std::int64_t inner, float eps)
    : Kernel(prepare("normalize", outer, channels, inner, eps,
                     /*scale=*/0.0f)) {}

void Normalize::operator()(Stream &stream, const float *x, const float *mean,
                           const float *var, const float *gamma,
                           const float *beta, float *y) const {
  const auto &sizes = as<NormalizeState>(state);
  stream.run("normalize", [&] {
    cuda::launch(normalizeKernel, cuda::blocksFor(sizes.count), cuda::kThreads,
                 0, stream, sizes.count, sizes.channels, sizes.inner, sizes.eps,
                 x, mean, var, gamma, beta, y);
  });
}

static std::unique_ptr<Kernel::State>
prepareSums(Device &device, std::int64_t outer, std::int64_t channels,
            std::int64_t inner, float eps) {
  auto state = std::make_unique<SumsState>(outer, channels, inner, eps);
  state->workspace = state->plan.workspaceBytes(sizeof(ChannelSums));
  return reserved(device, std::move(state));
}

NormalizeSums::NormalizeSums(Device &device, std::int64_t outer,
                             std::int64_t channels, std::int64_t inner,
                             float eps)
    : Kernel(prepareSums(device, outer, channels, inner, eps)) {}

void NormalizeSums::operator()(Stream &stream, const float *dy, const float *x,
                               const float *mean, const float *var,
                               float *dbeta, float *dgamma) const {
  const auto &sums = as<SumsState>(state);
  stream.run("normalize_sums", [&] {
    reduce(stream, sums.plan,
           SumChannel{dy, x, mean, var, dbeta, dgamma, sums.eps});
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
  stream.run("normalize_grad", [&] {
    cuda::launch(normalizeGradKernel, cuda::blocksFor(sizes.count),
                 cuda::kThreads, 0, stream, sizes.count, sizes.channels,
                 sizes.inner, sizes.eps, sizes.scale, dy, x, mean, var, gamma,
                 dbeta, dgamma, dx);
  });
}
