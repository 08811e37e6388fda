//===- Reduce.cu - Reductions over any axes ---------------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sums and products are accumulated in double precision, which keeps their
// error independent of the number of terms.
//
//===----------------------------------------------------------------------===//

#include "Reduction.h"

#include <cmath>

using namespace partita;
using namespace partita::kernels;

namespace {

struct ReduceState final : Kernel::State {
  ReduceState(const char *kernel, ReduceKind kind, const Dims &shape,
              const Dims &axes, float scale)
      : plan(kernel, shape, axes), kind(kind), scale(scale) {
    workspace = plan.workspaceBytes(sizeof(double));
  }

  ReducePlan plan;
  ReduceKind kind;
  float scale;
};

struct Sum {
  using Value = double;
  __device__ Value start() const { return 0.0; }
  __device__ Value term(std::int64_t offset, std::int64_t) const {
    return x[offset];
  }
  __device__ Value combine(Value a, Value b) const { return a + b; }
  __device__ void store(std::int64_t output, Value value) const {
    y[output] = static_cast<float>(scale * value);
  }

  const float *x;
  float *y;
  float scale;
};

struct Product {
  using Value = double;
  __device__ Value start() const { return 1.0; }
  __device__ Value term(std::int64_t offset, std::int64_t) const {
    return x[offset];
  }
  __device__ Value combine(Value a, Value b) const { return a * b; }
  __device__ void store(std::int64_t output, Value value) const {
    y[output] = static_cast<float>(scale * value);
  }

  const float *x;
  float *y;
  float scale;
};

/// The maximum, or with sign -1 the minimum; NaN wins.
struct Extreme {
  using Value = float;
  __device__ Value start() const { return -INFINITY; }
  __device__ Value term(std::int64_t offset, std::int64_t) const {
    return sign * x[offset];
  }
  __device__ Value combine(Value best, Value value) const {
    return value > best || value != value ? value : best;
  }
  __device__ void store(std::int64_t output, Value value) const {
    y[output] = scale * (sign * value);
  }

  const float *x;
  float *y;
  float scale, sign;
};

struct SquaredDistance {
  using Value = double;
  __device__ Value start() const { return 0.0; }
  __device__ Value term(std::int64_t offset, std::int64_t output) const {
    float difference = x[offset] - mean[output];
    return difference * difference;
  }
  __device__ Value combine(Value a, Value b) const { return a + b; }
  __device__ void store(std::int64_t output, Value value) const {
    y[output] = static_cast<float>(scale * value);
  }

  const float *x, *mean;
  float *y;
  float scale;
};

} // namespace

Reduce::Reduce(Device &device, ReduceKind kind, Dims shape, Dims axes,
               float scale)
    : Kernel(reserved(device, std::make_unique<ReduceState>(
                                  "reduce", kind, shape, axes, scale))) {}

void Reduce::operator()(Stream &stream, const float *x, float *y) const {
  const auto &sizes = as<ReduceState>(state);
  stream.run("reduce", [&] {
    switch (sizes.kind) {
    case ReduceKind::sum:
      return reduce(stream, sizes.plan, Sum{x, y, sizes.scale});
    case ReduceKind::prod:
      return reduce(stream, sizes.plan, Product{x, y, sizes.scale});
    case ReduceKind::max:
      return reduce(stream, sizes.plan, Extreme{x, y, sizes.scale, 1.0f});
    case ReduceKind::min:
      return reduce(stream, sizes.plan, Extreme{x, y, sizes.scale, -1.0f});
    }
  });
}

Variance::Variance(Device &device, Dims shape, Dims axes, float scale)
    : Kernel(reserved(device,
                      std::make_unique<ReduceState>("variance", ReduceKind::sum,
                                                    shape, axes, scale))) {}

void Variance::operator()(Stream &stream, const float *x, const float *mean,
                          float *y) const {
  const auto &sizes = as<ReduceState>(state);
  stream.run("variance", [&] {
    reduce(stream, sizes.plan, SquaredDistance{x, mean, y, sizes.scale});
  });
}
