//===- Reduce.cpp - Reductions over any axes ------------------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Neighbouring axes of one kind are merged, which leaves two cases: the
// innermost axis is reduced (sums of contiguous rows) or kept (rows are added
// up). Outputs are independent of each other, so threads share them out and
// every result is the same for any number of threads.
//
//===----------------------------------------------------------------------===//

#include "Index.h"
#include "KernelState.h"
#include "Parallel.h"
#include "Simd.h"

#include <limits>

using namespace partita;
using namespace partita::kernels;

namespace {

/// How a reduction walks over x.
struct ReducePlan {
  ReducePlan(const char *kernel, const Dims &shape, const Dims &axes);

  /// Offset in x of the `index`-th output's terms, without the innermost axis.
  std::int64_t keptOffset(std::int64_t index) const {
    return offsetOf(index, kept, keptStrides);
  }

  /// Sizes and strides of the kept and the reduced axes without the innermost.
  Dims kept, keptStrides, reduced, reducedStrides;
  /// The innermost axis, and whether it is reduced.
  std::int64_t inner = 1;
  bool innerReduced = false;
  std::int64_t outputs = 1;
  /// Elements of x per output.
  std::int64_t terms = 1;
};

/// Columns added up together.
constexpr std::int64_t kColumns = 64;

struct ReduceState final : Kernel::State {
  ReduceState(const char *kernel, ReduceKind kind, const Dims &shape,
              const Dims &axes, float scale)
      : plan(kernel, shape, axes), kind(kind), scale(scale) {}

  ReducePlan plan;
  ReduceKind kind;
  float scale;
};

} // namespace

ReducePlan::ReducePlan(const char *kernel, const Dims &shape,
                       const Dims &axes) {
  checkShape(kernel, shape);
  checkAxes(kernel, axes, shape.size());
  std::vector<bool> isReduced(shape.size(), false);
  for (std::int64_t axis : axes)
    isReduced[axis] = true;

  Dims sizes;
  std::vector<bool> reduce;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    (isReduced[i] ? terms : outputs) *= shape[i];
    if (shape[i] == 1)
      continue;
    if (!reduce.empty() && reduce.back() == isReduced[i]) {
      sizes.back() *= shape[i];
    } else {
      sizes.push_back(shape[i]);
      reduce.push_back(isReduced[i]);
    }
  }
  if (sizes.empty())
    return;
  Dims strides = rowMajorStrides(sizes);
  inner = sizes.back();
  innerReduced = reduce.back();
  for (std::size_t i = 0; i + 1 < sizes.size(); ++i) {
    (reduce[i] ? reduced : kept).push_back(sizes[i]);
    (reduce[i] ? reducedStrides : keptStrides).push_back(strides[i]);
  }
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// y[i] = scale * sum of term(x, i) over the terms of output i; `term` takes
/// floats and vectors.
template <typename Term>
static void sumTerms(const ReducePlan &plan, float scale, const float *x,
                     float *y, const Term &term) {
  if (plan.outputs == 0)
    return;
  if (plan.terms == 0)
    return std::fill(y, y + plan.outputs, scale * 0.0f);
  if (plan.innerReduced) {
    parallelFor(
        plan.outputs, plan.terms,
        [&](std::int64_t begin, std::int64_t end, int) {
          for (std::int64_t i = begin; i < end; ++i) {
            const float *from = x + plan.keptOffset(i);
            LongSum sum;
            forEachOffset(
                plan.reduced, plan.reducedStrides, [&](std::int64_t offset) {
                  const float *row = from + offset;
                  sum.add(
                      plan.inner, [&](Vector v) { return term(v, i); }, row);
                });
            y[i] = static_cast<float>(scale * sum.total());
          }
        });
    return;
  }
  std::int64_t strips = (plan.inner + kColumns - 1) / kColumns;
  std::int64_t rows = plan.outputs / plan.inner;
  parallelFor(rows * strips, plan.terms * kColumns,
              [&](std::int64_t begin, std::int64_t end, int) {
                for (std::int64_t i = begin; i < end; ++i) {
                  std::int64_t first = i % strips * kColumns;
                  std::int64_t width = std::min(kColumns, plan.inner - first);
                  std::int64_t output = i / strips * plan.inner + first;
                  const float *from = x + plan.keptOffset(i / strips) + first;
                  double sums[kColumns] = {};
                  forEachOffset(plan.reduced, plan.reducedStrides,
                                [&](std::int64_t offset) {
                                  const float *row = from + offset;
#pragma omp simd
                                  for (std::int64_t j = 0; j < width; ++j)
                                    sums[j] += term(row[j], output + j);
                                });
                  for (std::int64_t j = 0; j < width; ++j)
                    y[output + j] = static_cast<float>(scale * sums[j]);
                }
              });
}

//===----------------------------------------------------------------------===//
// Other kinds
//===----------------------------------------------------------------------===//

/// y[i] = scale * fold of combine(accumulated, term) from `start`.
template <typename Value, typename Combine>
static void foldTerms(const ReduceState &reduce, const float *x, float *y,
                      Value start, const Combine &combine) {
  const ReducePlan &plan = reduce.plan;
  if (plan.outputs == 0)
    return;
  if (plan.terms == 0)
    return std::fill(y, y + plan.outputs,
                     static_cast<float>(reduce.scale * start));
  std::int64_t step = plan.innerReduced ? 0 : plan.inner;
  parallelFor(
      plan.outputs, plan.terms, [&](std::int64_t begin, std::int64_t end, int) {
        for (std::int64_t i = begin; i < end; ++i) {
          const float *from =
              x + (step == 0 ? plan.keptOffset(i)
                             : plan.keptOffset(i / step) + i % step);
          Value value = start;
          forEachOffset(
              plan.reduced, plan.reducedStrides, [&](std::int64_t offset) {
                std::int64_t count = plan.innerReduced ? plan.inner : 1;
                for (std::int64_t j = 0; j < count; ++j)
                  value = combine(value, from[offset + j]);
              });
          y[i] = static_cast<float>(reduce.scale * value);
        }
      });
}

Reduce::Reduce(Device &, ReduceKind kind, Dims shape, Dims axes, float scale)
    : Kernel(
          std::make_unique<ReduceState>("reduce", kind, shape, axes, scale)) {}

void Reduce::operator()(Stream &stream, const float *x, float *y) const {
  const auto &reduce = as<ReduceState>(state);
  stream.run("reduce", [&reduce, x, y] {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    switch (reduce.kind) {
    case ReduceKind::sum:
      return sumTerms(reduce.plan, reduce.scale, x, y,
                      [](auto value, std::int64_t) { return value; });
    case ReduceKind::max:
      return foldTerms(reduce, x, y, -kInfinity, [](float best, float value) {
        return isBetter(value, best) ? value : best;
      });
    case ReduceKind::min:
      return foldTerms(reduce, x, y, kInfinity, [](float best, float value) {
        return isBetter(-value, -best) ? value : best;
      });
    case ReduceKind::prod:
      return foldTerms(reduce, x, y, 1.0, [](double product, float value) {
        return product * value;
      });
    }
  });
}

Variance::Variance(Device &, Dims shape, Dims axes, float scale)
    : Kernel(std::make_unique<ReduceState>("variance", ReduceKind::sum, shape,
                                           axes, scale)) {}

void Variance::operator()(Stream &stream, const float *x, const float *mean,
                          float *y) const {
  const auto &variance = as<ReduceState>(state);
  stream.run("variance", [&variance, x, mean, y] {
    sumTerms(variance.plan, variance.scale, x, y,
             [mean](auto value, std::int64_t i) {
               auto difference = value - mean[i];
               return difference * difference;
             });
  });
}
