//===- KernelTesting.h - What the kernel tests have in common ---*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A device that does everything at once, guarded buffers, and comparison with
// references computed in double.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_TEST_UNIT_KERNELS_KERNELTESTING_H
#define PARTITA_TEST_UNIT_KERNELS_KERNELTESTING_H

#include "partita/kernels.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>
#include <random>

namespace partita::testing {

/// A stream on which `run` calls at once.
class InlineStream final : public Stream {
public:
  using Stream::Stream;
  void record(Event &) override {}
  void wait(Event &) override {}
  void sync() override {}
  void communicate(const char *, std::function<void()> work) override {
    work();
  }
};

class InlineDevice final : public Device {
public:
  Kind kind() const override { return Kind::cpu; }
  std::string name() const override { return "inline"; }
  void *allocate(std::size_t bytes) override { return ::operator new(bytes); }
  void release(void *memory) noexcept override { ::operator delete(memory); }
  void copyIn(void *, const void *, std::size_t) override {}
  void copyOut(void *, const void *, std::size_t) override {}
  std::unique_ptr<Stream> makeCompute() override {
    return std::make_unique<InlineStream>(*this);
  }
  std::unique_ptr<Stream> makeComm(Stream &) override { return makeCompute(); }
  std::unique_ptr<Event::State> makeEvent() override { return nullptr; }
};

/// A fixture with a device and its stream.
class KernelTest : public ::testing::Test {
protected:
  InlineDevice device;
  InlineStream stream{device};
};

using Floats = std::vector<float>;
using Doubles = std::vector<double>;

inline std::size_t countOf(const Dims &shape) {
  return static_cast<std::size_t>(elementsOf(shape));
}

/// `count` values in [low, high), always the same for one seed.
inline Floats randomFloats(std::size_t count, unsigned seed, float low = -1.0f,
                           float high = 1.0f) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> distribution(low, high);
  Floats values(count);
  for (float &value : values)
    value = distribution(generator);
  return values;
}

/// A shuffle of equally spaced values, `gap` apart: no two are equal or close.
inline Floats distinctFloats(std::size_t count, unsigned seed,
                             float gap = 0.25f) {
  Floats values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = gap * (static_cast<float>(i) - static_cast<float>(count) / 2);
  std::shuffle(values.begin(), values.end(), std::mt19937(seed));
  return values;
}

inline Doubles toDoubles(const Floats &values) {
  return Doubles(values.begin(), values.end());
}

/// An output buffer of NaNs between guards: what a kernel leaves out or writes
/// beyond shows.
class Output {
public:
  explicit Output(std::size_t count)
      : values(count + 2 * kGuard, std::numeric_limits<float>::quiet_NaN()),
        count(count) {
    for (std::size_t i = 0; i < kGuard; ++i)
      values[i] = values[kGuard + count + i] = kMark;
  }

  float *data() { return values.data() + kGuard; }

  /// The elements, once the guards are seen to be intact.
  Floats get() const {
    for (std::size_t i = 0; i < kGuard; ++i) {
      EXPECT_EQ(values[i], kMark) << "written before the output";
      EXPECT_EQ(values[kGuard + count + i], kMark) << "written behind it";
    }
    return Floats(values.begin() + kGuard, values.begin() + kGuard + count);
  }

private:
  static constexpr std::size_t kGuard = 32;
  static constexpr float kMark = 12345.0f;
  Floats values;
  std::size_t count;
};

/// Every element within `tolerance` of the largest expected magnitude (at
/// least 1): what rounding in sums of that size explains.
inline void expectClose(const Floats &actual, const Doubles &expected,
                        double tolerance = 2e-6) {
  ASSERT_EQ(actual.size(), expected.size());
  double scale = 1.0;
  for (double value : expected)
    if (std::isfinite(value))
      scale = std::max(scale, std::abs(value));
  for (std::size_t i = 0; i < actual.size(); ++i) {
    if (std::isnan(expected[i])) {
      ASSERT_TRUE(std::isnan(actual[i])) << "at " << i;
      continue;
    }
    if (std::isinf(expected[i])) {
      ASSERT_EQ(actual[i], expected[i]) << "at " << i;
      continue;
    }
    ASSERT_NEAR(actual[i], expected[i], tolerance * scale) << "at " << i;
  }
}

/// Central differences of <dy, function(x)> by each x.
template <typename Function>
Doubles centralDifferences(const Function &function, Doubles x,
                           const Doubles &dy, double step = 1e-4) {
  auto value = [&] {
    Doubles y = function(x);
    EXPECT_EQ(y.size(), dy.size());
    double sum = 0.0;
    for (std::size_t i = 0; i < y.size(); ++i)
      sum += y[i] * dy[i];
    return sum;
  };
  Doubles gradient(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    double kept = x[i];
    x[i] = kept + step;
    double above = value();
    x[i] = kept - step;
    double below = value();
    x[i] = kept;
    gradient[i] = (above - below) / (2 * step);
  }
  return gradient;
}

/// Calls visit(index) for every index of a tensor, row-major.
template <typename Visit>
void forEachIndex(const Dims &shape, const Visit &visit) {
  Dims index(shape.size(), 0);
  for (std::int64_t i = 0; i < elementsOf(shape); ++i) {
    std::int64_t rest = i;
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      index[axis] = rest % shape[axis];
      rest /= shape[axis];
    }
    visit(index);
  }
}

/// Row-major position of an index.
inline std::size_t positionOf(const Dims &index, const Dims &shape) {
  std::int64_t position = 0;
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    position = position * shape[axis] + index[axis];
  return static_cast<std::size_t>(position);
}

} // namespace partita::testing

#endif // PARTITA_TEST_UNIT_KERNELS_KERNELTESTING_H
