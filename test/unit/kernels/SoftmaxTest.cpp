//===- SoftmaxTest.cpp - Softmax and losses against double ----------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Softmax, log-softmax and cross-entropy over contiguous and strided axes.
//
//===----------------------------------------------------------------------===//

#include "KernelTesting.h"

using namespace partita;
using namespace partita::testing;

namespace {

struct Axis {
  std::int64_t outer, size, inner;

  std::size_t count() const { return outer * size * inner; }

  /// Calls visit(position of the axis, its first element).
  template <typename Visit> void forEach(const Visit &visit) const {
    for (std::int64_t n = 0; n < outer; ++n)
      for (std::int64_t i = 0; i < inner; ++i)
        visit(n * inner + i, n * size * inner + i);
  }
};

Doubles softmax(const Axis &axis, const Doubles &x, bool log) {
  Doubles y(x.size());
  axis.forEach([&](std::int64_t, std::int64_t first) {
    double maximum = -std::numeric_limits<double>::infinity(), sum = 0.0;
    for (std::int64_t c = 0; c < axis.size; ++c)
      maximum = std::max(maximum, x[first + c * axis.inner]);
    for (std::int64_t c = 0; c < axis.size; ++c)
      sum += std::exp(x[first + c * axis.inner] - maximum);
    for (std::int64_t c = 0; c < axis.size; ++c) {
      double shifted = x[first + c * axis.inner] - maximum;
      y[first + c * axis.inner] =
          log ? shifted - std::log(sum) : std::exp(shifted) / sum;
    }
  });
  return y;
}

class SoftmaxTest : public KernelTest {
protected:
  void check(const Axis &axis, float range) {
    SCOPED_TRACE(toString({axis.outer, axis.size, axis.inner}));
    Floats x = randomFloats(axis.count(), 1, -range, range);
    Floats dy = randomFloats(axis.count(), 2);
    for (bool log : {false, true}) {
      Output y(axis.count()), dx(axis.count());
      Softmax(device, axis.outer, axis.size, axis.inner, log)(stream, x.data(),
                                                              y.data());
      Floats result = y.get();
      SoftmaxGrad(device, axis.outer, axis.size, axis.inner,
                  log)(stream, result.data(), dy.data(), dx.data());
      auto function = [&](const Doubles &x) { return softmax(axis, x, log); };
      Doubles expected = function(toDoubles(x));
      expectClose(result, expected, 1e-6);
      // What matters for probabilities is the relative error.
      for (std::size_t i = 0; !log && i < result.size(); ++i)
        EXPECT_NEAR(result[i] / expected[i], 1.0, 1e-5);
      if (axis.count() <= 400)
        expectClose(dx.get(),
                    centralDifferences(function, toDoubles(x), toDoubles(dy)));
    }
  }
};

TEST_F(SoftmaxTest, contiguous_axis) {
  check({4, 10, 1}, 3.0f);
  check({3, 1, 1}, 3.0f);
  check({2, 33, 1}, 10.0f);
  check({1, 5000, 1}, 5.0f);
}

TEST_F(SoftmaxTest, strided_axis) {
  check({2, 3, 5}, 3.0f);
  check({2, 5, 32}, 3.0f);
  check({1, 4, 97}, 10.0f);
}

TEST_F(SoftmaxTest, empty) {
  check({0, 3, 5}, 1.0f);
  check({3, 0, 5}, 1.0f);
  check({3, 4, 0}, 1.0f);
}

TEST_F(SoftmaxTest, extreme_values) {
  float infinity = std::numeric_limits<float>::infinity();
  Floats x = {1000.0f, -1000.0f, 1000.0f, -infinity, 88.0f, -90.0f, 0.0f, 1.0f};
  for (std::int64_t inner : {1, 2}) {
    Axis axis{2 / inner, 4, inner};
    Output y(8);
    Softmax(device, axis.outer, 4, inner, /*log=*/false)(stream, x.data(),
                                                         y.data());
    expectClose(y.get(), softmax(axis, toDoubles(x), /*log=*/false), 1e-6);
  }
}

TEST_F(SoftmaxTest, nan_spreads_over_its_axis) {
  Floats x = {0.0f, std::numeric_limits<float>::quiet_NaN(), 1.0f, 2.0f};
  Output y(4);
  Softmax(device, 2, 2, 1, /*log=*/false)(stream, x.data(), y.data());
  Floats result = y.get();
  EXPECT_TRUE(std::isnan(result[0]) && std::isnan(result[1]));
  EXPECT_NEAR(result[2] + result[3], 1.0f, 1e-6f);
}

//===----------------------------------------------------------------------===//
// Losses
//===----------------------------------------------------------------------===//

class Loss : public KernelTest {
protected:
  std::vector<std::int64_t> labelsFor(const Axis &axis) {
    std::vector<std::int64_t> labels(axis.outer * axis.inner);
    for (std::size_t i = 0; i < labels.size(); ++i)
      labels[i] = static_cast<std::int64_t>(i * 7 + 3) % axis.size;
    return labels;
  }

  void check(const Axis &axis, float range) {
    SCOPED_TRACE(toString({axis.outer, axis.size, axis.inner}));
    Floats logits = randomFloats(axis.count(), 1, -range, range);
    std::vector<std::int64_t> labels = labelsFor(axis);
    constexpr float scale = 0.25f;
    Output losses(labels.size()), gradient(axis.count()), hits(labels.size());
    CrossEntropy(device, axis.outer, axis.size, axis.inner)(
        stream, logits.data(), labels.data(), losses.data());
    CrossEntropyGrad(device, axis.outer, axis.size, axis.inner, scale)(
        stream, logits.data(), labels.data(), gradient.data());
    Correct(device, axis.outer, axis.size,
            axis.inner)(stream, logits.data(), labels.data(), hits.data());

    auto loss = [&](const Doubles &x) {
      Doubles y = softmax(axis, x, /*log=*/true), result(labels.size());
      axis.forEach([&](std::int64_t i, std::int64_t first) {
        result[i] = -y[first + labels[i] * axis.inner];
      });
      return result;
    };
    expectClose(losses.get(), loss(toDoubles(logits)), 1e-6);
    if (axis.count() <= 400)
      expectClose(gradient.get(),
                  centralDifferences(loss, toDoubles(logits),
                                     Doubles(labels.size(), scale)),
                  1e-6);
    axis.forEach([&](std::int64_t i, std::int64_t first) {
      std::int64_t best = 0;
      for (std::int64_t c = 1; c < axis.size; ++c)
        if (logits[first + c * axis.inner] > logits[first + best * axis.inner])
          best = c;
      EXPECT_EQ(hits.get()[i], best == labels[i] ? 1.0f : 0.0f);
    });
  }
};

TEST_F(Loss, per_sample) {
  check({8, 10, 1}, 5.0f);
  check({3, 1, 1}, 5.0f);
  check({2, 50257, 1}, 5.0f);
  check({0, 10, 1}, 5.0f);
}

TEST_F(Loss, per_position) {
  check({2, 4, 6}, 5.0f);
  check({1, 3, 100}, 5.0f);
}

TEST_F(Loss, large_logits_cost_no_bits) {
  Floats logits = {5000.0f, 5001.0f};
  std::int64_t label = 0;
  Output losses(1);
  CrossEntropy(device, 1, 2, 1)(stream, logits.data(), &label, losses.data());
  expectClose(losses.get(), {1.0 + std::log1p(std::exp(-1.0))}, 1e-6);
}

TEST_F(Loss, labels_outside_count_nothing) {
  Floats logits = {1, 2, 3, 4, 5, 6};
  std::vector<std::int64_t> labels = {-1, 3};
  for (std::int64_t inner : {1, 2}) {
    Output losses(2), gradient(6);
    CrossEntropy(device, 2 / inner, 3, inner)(stream, logits.data(),
                                              labels.data(), losses.data());
    CrossEntropyGrad(device, 2 / inner, 3, inner, 1.0f)(
        stream, logits.data(), labels.data(), gradient.data());
    expectClose(losses.get(), {0, 0}, 0.0);
    expectClose(gradient.get(), Doubles(6, 0.0), 0.0);
  }
}

TEST_F(Loss, first_maximum_is_the_prediction) {
  Floats logits = {1, 3, 3, 0};
  std::int64_t first = 1, second = 2;
  Output hit(1), miss(1);
  Correct kernel(device, 1, 4, 1);
  kernel(stream, logits.data(), &first, hit.data());
  kernel(stream, logits.data(), &second, miss.data());
  EXPECT_EQ(hit.get()[0], 1.0f);
  EXPECT_EQ(miss.get()[0], 0.0f);
}

} // namespace
