//===- NormalizeTest.cpp - Reductions and normalization -------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reductions over any axes, and batch normalization against its definition and
// central differences.
//
//===----------------------------------------------------------------------===//

#include "KernelTesting.h"

using namespace partita;
using namespace partita::testing;

namespace {

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

Dims keptAxes(const Dims &index, const Dims &axes) {
  Dims kept;
  for (std::size_t i = 0; i < index.size(); ++i)
    if (std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(i)) ==
        axes.end())
      kept.push_back(index[i]);
  return kept;
}

/// scale * the fold of the values over the axes.
template <typename Combine>
Doubles fold(const Doubles &x, const Dims &shape, const Dims &axes,
             double start, double scale, const Combine &combine) {
  Dims kept = keptAxes(shape, axes);
  Doubles y(countOf(kept), start);
  std::size_t i = 0;
  forEachIndex(shape, [&](const Dims &index) {
    double &value = y[positionOf(keptAxes(index, axes), kept)];
    value = combine(value, x[i++]);
  });
  for (double &value : y)
    value *= scale;
  return y;
}

class Reduction : public KernelTest {
protected:
  void check(const Dims &shape, const Dims &axes, float scale = 0.5f) {
    SCOPED_TRACE(toString(shape) + " over " + toString(axes));
    Floats x = randomFloats(countOf(shape), 1, 0.5f, 1.5f);
    Doubles xs = toDoubles(x);
    const double infinity = std::numeric_limits<double>::infinity();
    struct Kind {
      ReduceKind kind;
      Doubles expected;
    };
    const Kind kinds[] = {
        {ReduceKind::sum, fold(xs, shape, axes, 0.0, scale,
                               [](double a, double b) { return a + b; })},
        {ReduceKind::max,
         fold(xs, shape, axes, -infinity, scale,
              [](double a, double b) { return std::max(a, b); })},
        {ReduceKind::min,
         fold(xs, shape, axes, infinity, scale,
              [](double a, double b) { return std::min(a, b); })},
        {ReduceKind::prod, fold(xs, shape, axes, 1.0, scale,
                                [](double a, double b) { return a * b; })}};
    for (const Kind &kind : kinds) {
      Output y(kind.expected.size());
      Reduce(device, kind.kind, shape, axes, scale)(stream, x.data(), y.data());
      expectClose(y.get(), kind.expected, 2e-7);
    }

    Floats mean = randomFloats(kinds[0].expected.size(), 2);
    Doubles deviations = xs;
    Dims kept = keptAxes(shape, axes);
    std::size_t i = 0;
    forEachIndex(shape, [&](const Dims &index) {
      double difference = xs[i] - mean[positionOf(keptAxes(index, axes), kept)];
      deviations[i++] = difference * difference;
    });
    Output y(mean.size());
    Variance(device, shape, axes, scale)(stream, x.data(), mean.data(),
                                         y.data());
    expectClose(y.get(),
                fold(deviations, shape, axes, 0.0, scale,
                     [](double a, double b) { return a + b; }),
                1e-6);
  }
};

TEST_F(Reduction, all_subsets_of_four_axes) {
  for (const Dims &shape : {Dims{3, 4, 5, 6}, Dims{2, 1, 70, 3},
                            Dims{1, 2, 3, 100}, Dims{4, 2, 1, 1}})
    for (int subset = 0; subset < 16; ++subset) {
      Dims axes;
      for (int axis = 0; axis < 4; ++axis)
        if (subset & 1 << axis)
          axes.push_back(axis);
      check(shape, axes);
    }
}

TEST_F(Reduction, shapes_of_training) {
  check({32, 8, 16, 16}, {0, 2, 3}, 1.0f / 8192);
  check({32, 32, 2, 2}, {0, 2, 3}, 1.0f / 128);
  check({64, 120}, {0}, 1.0f);
  check({64, 10}, {1}, 1.0f);
  check({1000}, {0}, 1.0f);
  check({}, {}, 2.0f);
  check({5}, {}, 1.0f);
}

TEST_F(Reduction, nothing_gives_the_neutral_value) {
  check({0, 3}, {0});
  check({3, 0}, {1});
  check({3, 0}, {0});
  check({2, 0, 4}, {1});
}

TEST_F(Reduction, long_sums_do_not_lose_bits) {
  // A plain float sum of these is off by several thousandths.
  std::size_t count = 3000001;
  Floats x = randomFloats(count, 3, 1.0f, 1.0001f);
  double expected = 0.0;
  for (float value : x)
    expected += value;
  Output y(1);
  Reduce(device, ReduceKind::sum, {static_cast<std::int64_t>(count)},
         {0})(stream, x.data(), y.data());
  expectClose(y.get(), {expected}, 1e-7);
}

TEST_F(Reduction, nan_wins) {
  Floats x = {1.0f, std::numeric_limits<float>::quiet_NaN(), 3.0f};
  for (ReduceKind kind : {ReduceKind::max, ReduceKind::min, ReduceKind::sum}) {
    Output y(1);
    Reduce(device, kind, {3}, {0})(stream, x.data(), y.data());
    EXPECT_TRUE(std::isnan(y.get()[0]));
  }
}

TEST_F(Reduction, wrong_axes_are_refused) {
  EXPECT_THROW(Reduce(device, ReduceKind::sum, {2, 3}, {2}), Error);
  EXPECT_THROW(Reduce(device, ReduceKind::sum, {2, 3}, {-1}), Error);
  EXPECT_THROW(Reduce(device, ReduceKind::sum, {2, 3}, {1, 1}), Error);
}

//===----------------------------------------------------------------------===//
// Batch normalization
//===----------------------------------------------------------------------===//

constexpr double kEps = 1e-5;

/// A whole batch normalization in training mode.
struct BatchNorm {
  std::int64_t outer, channels, inner;

  std::int64_t channelOf(std::size_t i) const {
    return static_cast<std::int64_t>(i) / inner % channels;
  }
  double count() const { return static_cast<double>(outer * inner); }

  Doubles mean(const Doubles &x) const {
    Doubles result(channels);
    for (std::size_t i = 0; i < x.size(); ++i)
      result[channelOf(i)] += x[i] / count();
    return result;
  }
  Doubles variance(const Doubles &x) const {
    Doubles result(channels), means = mean(x);
    for (std::size_t i = 0; i < x.size(); ++i)
      result[channelOf(i)] += std::pow(x[i] - means[channelOf(i)], 2) / count();
    return result;
  }
  Doubles forward(const Doubles &x, const Doubles &gamma,
                  const Doubles &beta) const {
    Doubles y(x.size()), means = mean(x), variances = variance(x);
    for (std::size_t i = 0; i < x.size(); ++i) {
      std::int64_t c = channelOf(i);
      y[i] = gamma[c] * (x[i] - means[c]) / std::sqrt(variances[c] + kEps) +
             beta[c];
    }
    return y;
  }
};

class Batch : public KernelTest {
protected:
  /// All kernels of one batch normalization, as a program calls them.
  void check(const BatchNorm &sizes, float offset, double tolerance) {
    auto [outer, channels, inner] = sizes;
    SCOPED_TRACE(toString({outer, channels, inner}));
    std::size_t count = outer * channels * inner;
    Floats x = randomFloats(count, 1, offset - 1.0f, offset + 1.0f);
    Floats dy = randomFloats(count, 2);
    Floats gamma = randomFloats(channels, 3, 0.5f, 1.5f);
    Floats beta = randomFloats(channels, 4);
    float scale = 1.0f / static_cast<float>(outer * inner);
    auto eps = static_cast<float>(kEps);

    Dims shape = {outer, channels, inner}, axes = {0, 2};
    Output mean(channels), var(channels), y(count), dbeta(channels),
        dgamma(channels), dx(count);
    Reduce(device, ReduceKind::sum, shape, axes, scale)(stream, x.data(),
                                                        mean.data());
    Variance(device, shape, axes, scale)(stream, x.data(), mean.data(),
                                         var.data());
    Normalize(device, outer, channels, inner,
              eps)(stream, x.data(), mean.data(), var.data(), gamma.data(),
                   beta.data(), y.data());
    NormalizeSums(device, outer, channels, inner,
                  eps)(stream, dy.data(), x.data(), mean.data(), var.data(),
                       dbeta.data(), dgamma.data());
    NormalizeGrad(device, outer, channels, inner, eps,
                  scale)(stream, dy.data(), x.data(), mean.data(), var.data(),
                         gamma.data(), dbeta.data(), dgamma.data(), dx.data());

    Doubles xs = toDoubles(x), gammas = toDoubles(gamma),
            betas = toDoubles(beta), dys = toDoubles(dy);
    expectClose(mean.get(), sizes.mean(xs), 2e-7);
    expectClose(var.get(), sizes.variance(xs), tolerance);
    expectClose(y.get(), sizes.forward(xs, gammas, betas), tolerance);
    if (count > 2000)
      return;
    auto differences = [&](const Doubles &at, auto function) {
      return centralDifferences(function, at, dys);
    };
    expectClose(dx.get(),
                differences(xs,
                            [&](const Doubles &x) {
                              return sizes.forward(x, gammas, betas);
                            }),
                2 * tolerance);
    expectClose(dgamma.get(),
                differences(gammas,
                            [&](const Doubles &gamma) {
                              return sizes.forward(xs, gamma, betas);
                            }),
                2 * tolerance);
    expectClose(dbeta.get(),
                differences(betas,
                            [&](const Doubles &beta) {
                              return sizes.forward(xs, gammas, beta);
                            }),
                2 * tolerance);
  }
};

TEST_F(Batch, images) {
  check({4, 3, 25}, 0.0f, 2e-6);
  check({2, 5, 4}, 0.0f, 2e-6);
  check({1, 2, 130}, 0.0f, 2e-6);
  check({32, 8, 256}, 0.0f, 2e-6);
}

TEST_F(Batch, vectors) {
  check({9, 7, 1}, 0.0f, 2e-6);
  check({6, 100, 1}, 0.0f, 2e-6);
}

TEST_F(Batch, a_mean_far_from_zero_costs_no_bits) {
  // x itself carries an error of 1e-6 here; nothing may add to it.
  check({8, 4, 40}, 30.0f, 1e-5);
}

TEST_F(Batch, no_samples) {
  Output dbeta(3), dgamma(3);
  Floats stats(3, 1.0f);
  NormalizeSums(device, 0, 3, 4, 1e-5f)(stream, nullptr, nullptr, stats.data(),
                                        stats.data(), dbeta.data(),
                                        dgamma.data());
  expectClose(dbeta.get(), {0, 0, 0}, 0.0);
  expectClose(dgamma.get(), {0, 0, 0}, 0.0);
  Normalize(device, 0, 3, 4, 1e-5f)(stream, nullptr, stats.data(), stats.data(),
                                    stats.data(), stats.data(), nullptr);
}

TEST_F(Batch, gradient_in_place) {
  Floats x = randomFloats(60, 1), dy = randomFloats(60, 2), copy = dy;
  Floats stats = randomFloats(3, 3, 0.5f, 1.5f);
  Output dx(60);
  NormalizeGrad kernel(device, 5, 3, 4, 1e-5f, 0.05f);
  const float *s = stats.data();
  kernel(stream, dy.data(), x.data(), s, s, s, s, s, dx.data());
  kernel(stream, copy.data(), x.data(), s, s, s, s, s, copy.data());
  EXPECT_EQ(dx.get(), copy);
}

} // namespace
