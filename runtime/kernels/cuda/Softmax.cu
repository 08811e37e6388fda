//===- Softmax.cu - Softmax and the losses built on it ----------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All of them see [outer, axis, inner] as positions (outer, inner) with an
// axis each, which one thread or one warp walks.
//
//===----------------------------------------------------------------------===//

#include "KernelState.h"
#include "Lanes.h"

#include <cmath>

using namespace partita;
using namespace partita::kernels;

namespace {

/// The sizes, as kernels take them.
struct Positions {
  std::int64_t count = 0, axis = 0, inner = 0;

#ifdef __CUDACC__
  /// Offset of a position's first element.
  __device__ std::int64_t offset(std::int64_t position) const {
    std::int64_t outer = position / inner;
    return outer * axis * inner + (position - outer * inner);
  }
#endif
};

struct SoftmaxState final : Kernel::State {
  Positions positions;
  bool log = false;
  float scale = 1.0f;
};

} // namespace

//===----------------------------------------------------------------------===//
// Walks over one axis
//===----------------------------------------------------------------------===//

namespace {

/// What combineLanes does with two values.
struct Add {
  __device__ double operator()(double a, double b) const { return a + b; }
};
struct Larger {
  __device__ float operator()(float a, float b) const {
    return b > a || b != b ? b : a;
  }
};

/// Of one position: the maximum over the axis and the sum of e^(x - maximum).
/// An axis without anything finite gives NaN, as it should.
struct Spread {
  float maximum, sum;
};

template <int kLanes>
__device__ Spread spreadOf(const Positions &positions, const float *x) {
  float maximum = -INFINITY;
  for (std::int64_t c = laneIndex<kLanes>(); c < positions.axis; c += kLanes)
    maximum = Larger()(maximum, x[c * positions.inner]);
  maximum = combineLanes<kLanes>(maximum, Larger());
  double sum = 0.0;
  for (std::int64_t c = laneIndex<kLanes>(); c < positions.axis; c += kLanes)
    sum += expf(x[c * positions.inner] - maximum);
  return {maximum, static_cast<float>(combineLanes<kLanes>(sum, Add()))};
}

template <int kLanes>
__global__ void softmaxKernel(Positions positions, bool log, const float *x,
                              float *y) {
  for (std::int64_t p = firstPosition<kLanes>(); p < positions.count;
       p += positionStride<kLanes>()) {
    std::int64_t offset = positions.offset(p);
    Spread spread = spreadOf<kLanes>(positions, x + offset);
    float other = log ? logf(spread.sum) : 1.0f / spread.sum;
    for (std::int64_t c = laneIndex<kLanes>(); c < positions.axis;
         c += kLanes) {
      std::int64_t at = offset + c * positions.inner;
      float shifted = x[at] - spread.maximum;
      y[at] = log ? shifted - other : expf(shifted) * other;
    }
  }
}

template <int kLanes>
__global__ void softmaxGradKernel(Positions positions, bool log, const float *y,
                                  const float *dy, float *dx) {
  for (std::int64_t p = firstPosition<kLanes>(); p < positions.count;
       p += positionStride<kLanes>()) {
    std::int64_t offset = positions.offset(p);
    double sum = 0.0;
    for (std::int64_t c = laneIndex<kLanes>(); c < positions.axis;
         c += kLanes) {
      std::int64_t at = offset + c * positions.inner;
      sum += log ? dy[at] : y[at] * dy[at];
    }
    float total = static_cast<float>(combineLanes<kLanes>(sum, Add()));
    for (std::int64_t c = laneIndex<kLanes>(); c < positions.axis;
         c += kLanes) {
      std::int64_t at = offset + c * positions.inner;
      dx[at] = log ? dy[at] - expf(y[at]) * total : y[at] * (dy[at] - total);
    }
  }
}

template <int kLanes>
__global__ void crossEntropyKernel(Positions positions, const float *logits,
                                   const std::int64_t *labels, float *losses) {
  for (std::int64_t p = firstPosition<kLanes>(); p < positions.count;
       p += positionStride<kLanes>()) {
    const float *x = logits + positions.offset(p);
    Spread spread = spreadOf<kLanes>(positions, x);
    if (laneIndex<kLanes>() != 0)
      continue;
    std::int64_t label = labels[p];
    bool counts = label >= 0 && label < positions.axis;
    losses[p] = counts ? logf(spread.sum) +
                             (spread.maximum - x[label * positions.inner])
                       : 0.0f;
  }
}

template <int kLanes>
__global__ void
crossEntropyGradKernel(Positions positions, float scale, const float *logits,
                       const std::int64_t *labels, float *dlogits) {
  for (std::int64_t p = firstPosition<kLanes>(); p < positions.count;
       p += positionStride<kLanes>()) {
    std::int64_t offset = positions.offset(p);
    Spread spread = spreadOf<kLanes>(positions, logits + offset);
    std::int64_t label = labels[p];
    bool counts = label >= 0 && label < positions.axis;
    float factor = scale / spread.sum;
    for (std::int64_t c = laneIndex<kLanes>(); c < positions.axis;
         c += kLanes) {
      std::int64_t at = offset + c * positions.inner;
      float share = expf(logits[at] - spread.maximum) * factor;
      dlogits[at] = counts ? share - (c == label ? scale : 0.0f) : 0.0f;
    }
  }
}

/// The first of the largest values an axis has shown so far.
struct First {
  float value;
  std::int64_t place;

  __device__ void meet(float other, std::int64_t otherPlace) {
    if (other > value || (other == value && otherPlace < place)) {
      value = other;
      place = otherPlace;
    }
  }
};

template <int kLanes>
__global__ void correctKernel(Positions positions, const float *logits,
                              const std::int64_t *labels, float *hits) {
  for (std::int64_t p = firstPosition<kLanes>(); p < positions.count;
       p += positionStride<kLanes>()) {
    const float *x = logits + positions.offset(p);
    // Where nothing is larger the first place stays: NaN is never larger, and
    // nothing is larger than NaN in the first place.
    First first{-INFINITY, positions.axis};
    for (std::int64_t c = laneIndex<kLanes>(); c < positions.axis; c += kLanes)
      first.meet(x[c * positions.inner], c);
    for (int distance = kLanes / 2; distance > 0; distance /= 2) {
      float value = __shfl_xor_sync(0xFFFFFFFFu, first.value, distance, kWarp);
      long long place = __shfl_xor_sync(
          0xFFFFFFFFu, static_cast<long long>(first.place), distance, kWarp);
      first.meet(value, place);
    }
    if (laneIndex<kLanes>() != 0)
      continue;
    bool any = positions.axis > 0;
    std::int64_t best =
        any && x[0] == x[0] && first.place < positions.axis ? first.place : 0;
    hits[p] = any && labels[p] == best ? 1.0f : 0.0f;
  }
}

} // namespace

//===----------------------------------------------------------------------===//
// The classes
//===----------------------------------------------------------------------===//

static std::unique_ptr<Kernel::State>
prepare(const char *kernel, std::int64_t outer, std::int64_t axis,
        std::int64_t inner, bool log = false, float scale = 1.0f) {
  checkShape(kernel, {outer, axis, inner});
  auto state = std::make_unique<SoftmaxState>();
  state->positions = {outer * inner, axis, inner};
  state->log = log;
  state->scale = scale;
  return state;
}

/// Launches the kernel that gives each position a thread, or the one that
/// gives it a warp.
template <typename Kernel, typename... Arguments>
static void launchWalk(Kernel byThread, Kernel byWarp, Stream &stream,
                       const Positions &positions,
                       const Arguments &...arguments) {
  bool warp = wantsWarp(positions.axis, positions.inner);
  std::int64_t threads = positions.count * (warp ? kWarp : 1);
  cuda::launch(warp ? byWarp : byThread, cuda::blocksFor(threads),
               cuda::kThreads, 0, stream, positions, arguments...);
}

Softmax::Softmax(Device &, std::int64_t outer, std::int64_t axis,
                 std::int64_t inner, bool log)
    : Kernel(prepare("softmax", outer, axis, inner, log)) {}

void Softmax::operator()(Stream &stream, const float *x, float *y) const {
  const auto &softmax = as<SoftmaxState>(state);
  stream.run("softmax", [&] {
    launchWalk(softmaxKernel<1>, softmaxKernel<kWarp>, stream,
               softmax.positions, softmax.log, x, y);
  });
}

SoftmaxGrad::SoftmaxGrad(Device &, std::int64_t outer, std::int64_t axis,
                         std::int64_t inner, bool log)
    : Kernel(prepare("softmax_grad", outer, axis, inner, log)) {}

void SoftmaxGrad::operator()(Stream &stream, const float *y, const float *dy,
                             float *dx) const {
  const auto &softmax = as<SoftmaxState>(state);
  stream.run("softmax_grad", [&] {
    launchWalk(softmaxGradKernel<1>, softmaxGradKernel<kWarp>, stream,
               softmax.positions, softmax.log, y, dy, dx);
  });
}

CrossEntropy::CrossEntropy(Device &, std::int64_t outer, std::int64_t classes,
                           std::int64_t inner)
    : Kernel(prepare("cross_entropy", outer, classes, inner)) {}

void CrossEntropy::operator()(Stream &stream, const float *logits,
                              const std::int64_t *labels, float *losses) const {
  const auto &softmax = as<SoftmaxState>(state);
  stream.run("cross_entropy", [&] {
    launchWalk(crossEntropyKernel<1>, crossEntropyKernel<kWarp>, stream,
               softmax.positions, logits, labels, losses);
  });
}

CrossEntropyGrad::CrossEntropyGrad(Device &, std::int64_t outer,
                                   std::int64_t classes, std::int64_t inner,
                                   float scale)
    : Kernel(prepare("cross_entropy_grad", outer, classes, inner,
                     /*log=*/false, scale)) {}

void CrossEntropyGrad::operator()(Stream &stream, const float *logits,
                                  const std::int64_t *labels,
                                  float *dlogits) const {
  const auto &softmax = as<SoftmaxState>(state);
  stream.run("cross_entropy_grad", [&] {
    launchWalk(crossEntropyGradKernel<1>, crossEntropyGradKernel<kWarp>, stream,
               softmax.positions, softmax.scale, logits, labels, dlogits);
  });
}

Correct::Correct(Device &, std::int64_t outer, std::int64_t classes,
                 std::int64_t inner)
    : Kernel(prepare("correct", outer, classes, inner)) {}

void Correct::operator()(Stream &stream, const float *logits,
                         const std::int64_t *labels, float *hits) const {
  const auto &softmax = as<SoftmaxState>(state);
  stream.run("correct", [&] {
    launchWalk(correctKernel<1>, correctKernel<kWarp>, stream,
               softmax.positions, logits, labels, hits);
  });
}
