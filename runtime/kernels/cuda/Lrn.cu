//===- Lrn.cu - Local response normalization --------------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One thread per element walks its window over the channels; neighbouring
// threads read neighbouring positions. The gradient first computes what each
// result contributes to the squares of its window, then adds these up.
//
//===----------------------------------------------------------------------===//

#include "KernelState.h"

using namespace partita;
using namespace partita::kernels;

namespace {

/// The sizes and numbers, as kernels take them.
struct LrnSizes {
  std::int64_t n, c, inner, size;
  float alpha, beta, bias;

  std::int64_t count() const { return n * c * inner; }
};

struct LrnState final : Kernel::State {
  explicit LrnState(const LrnSizes &sizes) : sizes(sizes) {}

  LrnSizes sizes;
};

/// bias + alpha / size * sum of squares over the window of element i, which
/// lies in channel c.
__device__ float baseOf(const LrnSizes &lrn, const float *x, std::int64_t i,
                        std::int64_t c) {
  std::int64_t first = c - (lrn.size - 1) / 2, last = c + lrn.size / 2;
  first = first < 0 ? 0 : first;
  last = last < lrn.c ? last : lrn.c - 1;
  float sum = 0.0f;
  for (std::int64_t other = first; other <= last; ++other) {
    float value = x[i + (other - c) * lrn.inner];
    sum += value * value;
  }
  return lrn.bias + lrn.alpha / static_cast<float>(lrn.size) * sum;
}

/// base^-beta; 3/4 is what every published network uses.
__device__ float powerOf(float base, float beta) {
  if (beta != 0.75f)
    return powf(base, -beta);
  float root = sqrtf(base);
  return 1.0f / (root * sqrtf(root));
}

__global__ void lrnKernel(LrnSizes lrn, std::int64_t count, const float *x,
                          float *y) {
  for (std::int64_t i = cuda::firstIndex(); i < count;
       i += cuda::indexStride()) {
    float base = baseOf(lrn, x, i, i / lrn.inner % lrn.c);
    y[i] = x[i] * powerOf(base, lrn.beta);
  }
}

/// shares = dy * x * base^(-beta - 1), dx = dy * base^-beta.
__global__ void lrnShareKernel(LrnSizes lrn, std::int64_t count, const float *x,
                               const float *dy, float *shares, float *dx) {
  for (std::int64_t i = cuda::firstIndex(); i < count;
       i += cuda::indexStride()) {
    float base = baseOf(lrn, x, i, i / lrn.inner % lrn.c);
    float scaled = dy[i] * powerOf(base, lrn.beta);
    shares[i] = scaled * x[i] / base;
    dx[i] = scaled;
  }
}

__global__ void lrnGradKernel(LrnSizes lrn, std::int64_t count, const float *x,
                              const float *shares, float *dx) {
  float factor = 2.0f * lrn.alpha * lrn.beta / static_cast<float>(lrn.size);
  for (std::int64_t i = cuda::firstIndex(); i < count;
       i += cuda::indexStride()) {
    // The windows that hold this channel.
    std::int64_t c = i / lrn.inner % lrn.c;
    std::int64_t first = c - lrn.size / 2, last = c + (lrn.size - 1) / 2;
    first = first < 0 ? 0 : first;
    last = last < lrn.c ? last : lrn.c - 1;
    float sum = 0.0f;
    for (std::int64_t other = first; other <= last; ++other)
      sum += shares[i + (other - c) * lrn.inner];
    dx[i] -= factor * x[i] * sum;
  }
}

} // namespace

static std::unique_ptr<LrnState> prepare(const char *kernel,
                                         const LrnSizes &sizes) {
  checkShape(kernel, {sizes.n, sizes.c, sizes.inner});
  if (sizes.size < 1)
    refuse(kernel, "found a window of " + std::to_string(sizes.size) +
                       " channels, expected at least 1");
  return std::make_unique<LrnState>(sizes);
}

static std::unique_ptr<Kernel::State> prepareGrad(Device &device,
                                                  const LrnSizes &sizes) {
  auto state = prepare("lrn_grad", sizes);
  state->workspace = static_cast<std::size_t>(sizes.count()) * sizeof(float);
  return reserved(device, std::move(state));
}

Lrn::Lrn(Device &, std::int64_t n, std::int64_t c, std::int64_t inner,
         std::int64_t size, float alpha, float beta, float bias)
    : Kernel(prepare("lrn", {n, c, inner, size, alpha, beta, bias})) {}

void Lrn::operator()(Stream &stream, const float *x, float *y) const {
  const LrnSizes &lrn = as<LrnState>(state).sizes;
  stream.run("lrn", [&] {
    cuda::launch(lrnKernel, cuda::blocksFor(lrn.count()), cuda::kThreads, 0,
                 stream, lrn, lrn.count(), x, y);
  });
}

LrnGrad::LrnGrad(Device &device, std::int64_t n, std::int64_t c,
                 std::int64_t inner, std::int64_t size, float alpha, float beta,
                 float bias)
    : Kernel(prepareGrad(device, {n, c, inner, size, alpha, beta, bias})) {}

void LrnGrad::operator()(Stream &stream, const float *x, const float *dy,
                         float *dx) const {
  const LrnSizes &lrn = as<LrnState>(state).sizes;
  stream.run("lrn_grad", [&] {
    auto *shares =
        static_cast<float *>(workspace(stream, as<LrnState>(state).workspace));
    unsigned blocks = cuda::blocksFor(lrn.count());
    cuda::launch(lrnShareKernel, blocks, cuda::kThreads, 0, stream, lrn,
                 lrn.count(), x, dy, shares, dx);
    cuda::launch(lrnGradKernel, blocks, cuda::kThreads, 0, stream, lrn,
                 lrn.count(), x, static_cast<const float *>(shares), dx);
  });
}
