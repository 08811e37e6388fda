//===- PoolTest.cpp - Pools and LRN against loops in double ---------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Windows of all kinds, the values of known bug reports, and gradients against
// central differences.
//
//===----------------------------------------------------------------------===//

#include "KernelTesting.h"

#include <numeric>

using namespace partita;
using namespace partita::testing;

namespace {

/// Sizes of y by ONNX's rule.
Dims pooledShape(const Dims &x, const Dims &kernel, const Dims &strides,
                 const Dims &dilations, const Dims &pads, bool ceilMode) {
  Dims y = {x[0], x[1]};
  std::size_t rank = kernel.size();
  for (std::size_t i = 0; i < rank; ++i) {
    std::int64_t room = x[2 + i] + pads[i] + pads[rank + i] -
                        dilations[i] * (kernel[i] - 1) - 1;
    y.push_back((room + (ceilMode ? strides[i] - 1 : 0)) / strides[i] + 1);
  }
  return y;
}

/// Pools from their definitions.
class Reference {
public:
  explicit Reference(const PoolSizes &sizes) : sizes(sizes) {
    x = {sizes.batch, sizes.channels};
    x.insert(x.end(), sizes.in.begin(), sizes.in.end());
    y = {sizes.batch, sizes.channels};
    y.insert(y.end(), sizes.out.begin(), sizes.out.end());
  }

  /// Calls visit(cell of x or -1, is inside the padded extent).
  template <typename Visit>
  void forEachCell(const Dims &at, const Visit &visit) const {
    forEachIndex(sizes.kernel, [&](const Dims &tap) {
      Dims from = {at[0], at[1]};
      bool inside = true, padded = true;
      for (std::size_t i = 0; i < tap.size(); ++i) {
        std::int64_t cell = at[2 + i] * sizes.strides[i] +
                            tap[i] * sizes.dilations[i] - sizes.padLow[i];
        inside &= cell >= 0 && cell < sizes.in[i];
        padded &= cell < sizes.in[i] + sizes.padHigh[i];
        from.push_back(cell);
      }
      visit(inside ? static_cast<std::int64_t>(positionOf(from, x)) : -1,
            padded);
    });
  }

  Doubles max(const Doubles &xs) const {
    Doubles ys;
    forEachIndex(y, [&](const Dims &at) {
      double best = -std::numeric_limits<double>::infinity();
      forEachCell(at, [&](std::int64_t cell, bool) {
        if (cell >= 0 && (xs[cell] > best || std::isnan(xs[cell])))
          best = xs[cell];
      });
      ys.push_back(best);
    });
    return ys;
  }

  Doubles maxGrad(const Doubles &xs, const Doubles &dys) const {
    Doubles dxs(xs.size());
    forEachIndex(y, [&](const Dims &at) {
      std::int64_t best = -1;
      forEachCell(at, [&](std::int64_t cell, bool) {
        if (cell >= 0 && (best < 0 || xs[cell] > xs[best]))
          best = cell;
      });
      if (best >= 0)
        dxs[best] += dys[positionOf(at, y)];
    });
    return dxs;
  }

  /// Cells that the divisor of the window at `at` counts.
  double divisor(const Dims &at, bool countIncludePad) const {
    double count = 0.0;
    forEachCell(at, [&](std::int64_t cell, bool padded) {
      count += (countIncludePad ? padded : cell >= 0) ? 1.0 : 0.0;
    });
    return count;
  }

  Doubles average(const Doubles &xs, bool countIncludePad) const {
    Doubles ys;
    forEachIndex(y, [&](const Dims &at) {
      double sum = 0.0, count = divisor(at, countIncludePad);
      forEachCell(at, [&](std::int64_t cell, bool) {
        sum += cell >= 0 ? xs[cell] : 0.0;
      });
      ys.push_back(count > 0 ? sum / count : 0.0);
    });
    return ys;
  }

  Doubles averageGrad(const Doubles &dys, bool countIncludePad) const {
    Doubles dxs(countOf(x));
    forEachIndex(y, [&](const Dims &at) {
      double share = dys[positionOf(at, y)] / divisor(at, countIncludePad);
      forEachCell(at, [&](std::int64_t cell, bool) {
        if (cell >= 0)
          dxs[cell] += share;
      });
    });
    return dxs;
  }

  PoolSizes sizes;
  Dims x, y;
};

class Pool : public KernelTest {
protected:
  void check(const PoolSizes &sizes) {
    Reference reference(sizes);
    SCOPED_TRACE("x " + toString(reference.x) + " y " + toString(reference.y) +
                 " kernel " + toString(sizes.kernel) + " strides " +
                 toString(sizes.strides) + " dilations " +
                 toString(sizes.dilations) + " pads " + toString(sizes.padLow) +
                 toString(sizes.padHigh));
    std::size_t in = countOf(reference.x), out = countOf(reference.y);
    // Few different values, so that maxima tie.
    Floats tied = randomFloats(in, 1, -3.0f, 3.0f);
    for (float &value : tied)
      value = std::round(value);
    Floats x = randomFloats(in, 2), dy = randomFloats(out, 3);

    for (const Floats &values : {x, tied}) {
      Output y(out), dx(in);
      MaxPool(device, sizes)(stream, values.data(), y.data());
      MaxPoolGrad(device, sizes)(stream, values.data(), dy.data(), dx.data());
      expectClose(y.get(), reference.max(toDoubles(values)), 0.0);
      expectClose(dx.get(), reference.maxGrad(toDoubles(values), toDoubles(dy)),
                  1e-6);
    }
    for (bool countIncludePad : {false, true}) {
      Output y(out), dx(in);
      AvgPool(device, sizes, countIncludePad)(stream, x.data(), y.data());
      AvgPoolGrad(device, sizes, countIncludePad)(stream, dy.data(), dx.data());
      expectClose(y.get(), reference.average(toDoubles(x), countIncludePad),
                  1e-6);
      expectClose(dx.get(),
                  reference.averageGrad(toDoubles(dy), countIncludePad), 1e-6);
    }
  }

  void check(const Dims &x, const Dims &kernel, const Dims &strides,
             const Dims &dilations, const Dims &pads, bool ceilMode) {
    check(poolSizes(x,
                    pooledShape(x, kernel, strides, dilations, pads, ceilMode),
                    kernel, strides, dilations, pads));
  }
};

TEST_F(Pool, kernels_strides_dilations) {
  for (std::int64_t kernel = 1; kernel <= 7; ++kernel)
    for (std::int64_t stride = 1; stride <= 3; ++stride)
      for (std::int64_t dilation = 1; dilation <= 3; ++dilation)
        for (bool ceilMode : {false, true}) {
          std::int64_t reach = dilation * (kernel - 1);
          std::int64_t pad = kernel / 2;
          std::int64_t size = std::max<std::int64_t>(8, reach + 1);
          check({1, 2, size, size + 1}, {kernel, kernel}, {stride, stride},
                {dilation, dilation}, {pad, pad, pad, pad}, ceilMode);
        }
}

TEST_F(Pool, fast_paths) {
  for (std::int64_t size : {1, 2, 6, 7, 14, 28, 33})
    for (std::int64_t width : {2, 7, 16, 35, 130})
      for (std::int64_t kernel : {2, 3})
        for (std::int64_t stride : {1, 2}) {
          if (size + 2 < kernel)
            continue;
          check({1, 2, size, width}, {kernel, kernel}, {stride, stride}, {1, 1},
                {kernel - 2, kernel - 2, 1, 1}, /*ceilMode=*/false);
          if (size >= kernel && width >= kernel)
            check({1, 2, size, width}, {kernel, kernel}, {stride, stride},
                  {1, 1}, {0, 0, 0, 0}, /*ceilMode=*/true);
        }
}

TEST_F(Pool, a09_asymmetric_pads) {
  check({1, 1, 4, 4}, {2, 2}, {1, 1}, {1, 1}, {0, 0, 1, 1}, false);
  check({2, 3, 5, 9}, {3, 4}, {2, 1}, {1, 2}, {2, 0, 1, 3}, false);
  check({2, 3, 9}, {2}, {1}, {1}, {0, 1}, false);
}

TEST_F(Pool, windows_hang_over_the_edge) {
  check({1, 2, 5, 5}, {2, 2}, {2, 2}, {1, 1}, {0, 0, 0, 0}, true);
  check({1, 1, 4, 7}, {3, 3}, {2, 3}, {1, 1}, {1, 1, 1, 1}, true);
  // A window beyond everything: a maximum of nothing, an average of 0.
  check(poolSizes({1, 1, 2, 2}, {1, 1, 3, 1}, {2, 2}, {2, 2}));
}

TEST_F(Pool, one_and_three_dimensions) {
  check({2, 3, 17}, {3}, {2}, {1}, {1, 1}, false);
  check({2, 3, 16}, {2}, {2}, {1}, {0, 0}, false);
  check({1, 2, 4, 5, 6}, {2, 3, 2}, {2, 1, 2}, {1, 2, 1}, {1, 0, 1, 0, 2, 0},
        false);
  check({1, 2, 4, 4, 4}, {2, 2, 2}, {2, 2, 2}, {1, 1, 1}, {0, 0, 0, 0, 0, 0},
        true);
}

TEST_F(Pool, global_average) {
  check({2, 5, 7, 9}, {7, 9}, {1, 1}, {1, 1}, {0, 0, 0, 0}, false);
}

TEST_F(Pool, empty) {
  check({0, 3, 8, 8}, {2, 2}, {2, 2}, {1, 1}, {0, 0, 0, 0}, false);
  check(poolSizes({1, 1, 3, 3}, {1, 1, 0, 2}, {2, 2}));
}

TEST_F(Pool, a06_average_pool_ceil) {
  Floats x(16);
  for (int i = 0; i < 16; ++i)
    x[i] = static_cast<float>(i + 1);
  PoolSizes sizes = poolSizes({1, 1, 4, 4}, {1, 1, 3, 3}, {3, 3}, {2, 2},
                              {1, 1}, {1, 1, 1, 1});
  Output y(9), dx(16);
  AvgPool(device, sizes, /*countIncludePad=*/true)(stream, x.data(), y.data());
  expectClose(y.get(), {14.0 / 9, 30.0 / 9, 2.0, 57.0 / 9, 11, 6, 4.5, 7.5, 4},
              1e-6);
  // The corner of x is met by the last window only, of 4 counted cells.
  Floats dy(9, 0.0f);
  dy[8] = 1.0f;
  AvgPoolGrad(device, sizes, /*countIncludePad=*/true)(stream, dy.data(),
                                                       dx.data());
  EXPECT_FLOAT_EQ(dx.get()[15], 0.25f);
  EXPECT_FLOAT_EQ(dx.get()[10], 0.0f);
}

TEST_F(Pool, a08_average_pool_same_lower) {
  Floats x(12);
  for (int i = 0; i < 12; ++i)
    x[i] = static_cast<float>(i);
  // SAME_LOWER of a 5x1 kernel: two cells of padding at each end.
  PoolSizes sizes = poolSizes({1, 1, 6, 2}, {1, 1, 6, 2}, {5, 1}, {1, 1},
                              {1, 1}, {2, 0, 2, 0});
  Output y(12);
  AvgPool(device, sizes, /*countIncludePad=*/true)(stream, x.data(), y.data());
  Doubles expected;
  for (int row = 0; row < 6; ++row)
    for (int column = 0; column < 2; ++column) {
      double sum = 0.0;
      for (int k = std::max(0, row - 2); k <= std::min(5, row + 2); ++k)
        sum += 2 * k + column;
      expected.push_back(sum / 5);
    }
  expectClose(y.get(), expected, 1e-6);
}

TEST_F(Pool, ties_go_to_the_first_maximum) {
  // All cells are equal: each window's gradient goes to its first cell.
  Floats x(16, 1.0f), dy = {1, 2, 3, 4};
  Output dx(16);
  MaxPoolGrad(device, poolSizes({1, 1, 4, 4}, {1, 1, 2, 2}, {2, 2}, {2, 2}))(
      stream, x.data(), dy.data(), dx.data());
  EXPECT_EQ(dx.get(), Floats({1, 0, 2, 0, 0, 0, 0, 0, 3, 0, 4, 0, 0, 0, 0, 0}));
}

TEST_F(Pool, c02_overlapping_windows_add) {
  auto sum = [](const Floats &values) {
    return std::accumulate(values.begin(), values.end(), 0.0);
  };
  // One large value that is the maximum of four windows.
  Floats x = distinctFloats(24, 1), dy = {1, 2, 3, 4, 5, 6};
  x[7] = 100.0f;
  Output dx(24);
  MaxPoolGrad(device, poolSizes({1, 1, 4, 6}, {1, 1, 2, 3}, {3, 3}, {2, 2},
                                {1, 1}, {1, 1, 1, 1}))(stream, x.data(),
                                                       dy.data(), dx.data());
  EXPECT_EQ(dx.get()[7], 1.0f + 2.0f + 4.0f + 5.0f);
  EXPECT_EQ(sum(dx.get()), sum(dy));

  // Every cell meets up to four windows.
  PoolSizes sizes = poolSizes({1, 1, 4, 5}, {1, 1, 3, 4}, {2, 2});
  Floats values = distinctFloats(20, 2), weights = distinctFloats(12, 3);
  Output grad(20);
  MaxPoolGrad(device, sizes)(stream, values.data(), weights.data(),
                             grad.data());
  expectClose(grad.get(),
              Reference(sizes).maxGrad(toDoubles(values), toDoubles(weights)),
              1e-6);
  EXPECT_EQ(sum(grad.get()), sum(weights));
}

TEST_F(Pool, nan_wins) {
  Floats x(64, 1.0f);
  x[9] = std::numeric_limits<float>::quiet_NaN();
  Output y(16);
  MaxPool(device, poolSizes({1, 1, 8, 8}, {1, 1, 4, 4}, {2, 2}, {2, 2}))(
      stream, x.data(), y.data());
  Doubles expected(16, 1.0);
  expected[0] = std::numeric_limits<double>::quiet_NaN();
  expectClose(y.get(), expected, 0.0);
}

TEST_F(Pool, max_gradient_is_central_differences) {
  PoolSizes sizes = poolSizes({2, 2, 7, 6}, {2, 2, 4, 3}, {3, 3}, {2, 2},
                              {1, 1}, {1, 1, 1, 1});
  Reference reference(sizes);
  Floats x = distinctFloats(countOf(reference.x), 1);
  Floats dy = randomFloats(countOf(reference.y), 2);
  Output dx(x.size());
  MaxPoolGrad(device, sizes)(stream, x.data(), dy.data(), dx.data());
  expectClose(dx.get(), centralDifferences(
                            [&](const Doubles &x) { return reference.max(x); },
                            toDoubles(x), toDoubles(dy), /*step=*/1e-3));
}

TEST_F(Pool, average_gradient_is_central_differences) {
  PoolSizes sizes = poolSizes({2, 2, 7, 6}, {2, 2, 4, 4}, {3, 3}, {2, 2},
                              {1, 1}, {1, 1, 1, 1});
  Reference reference(sizes);
  Floats x = randomFloats(countOf(reference.x), 1);
  Floats dy = randomFloats(countOf(reference.y), 2);
  for (bool countIncludePad : {false, true}) {
    Output dx(x.size());
    AvgPoolGrad(device, sizes, countIncludePad)(stream, dy.data(), dx.data());
    expectClose(dx.get(), centralDifferences(
                              [&](const Doubles &x) {
                                return reference.average(x, countIncludePad);
                              },
                              toDoubles(x), toDoubles(dy)));
  }
}

TEST_F(Pool, contradicting_sizes_are_refused) {
  EXPECT_THROW(poolSizes({1, 3, 8, 8}, {1, 4, 4, 4}, {2, 2}), Error);
  EXPECT_THROW(poolSizes({1, 3, 8, 8}, {1, 3, 4, 4}, {2}), Error);
  EXPECT_THROW(poolSizes({1, 3, 8, 8}, {1, 3, 4, 4}, {2, 0}), Error);
}

//===----------------------------------------------------------------------===//
// Local response normalization
//===----------------------------------------------------------------------===//

struct LrnCase {
  std::int64_t n, c, inner, size;
  float alpha, beta, bias;
};

Doubles lrn(const LrnCase &sizes, const Doubles &x) {
  Doubles y(x.size());
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(x.size()); ++i) {
    std::int64_t c = i / sizes.inner % sizes.c;
    double sum = 0.0;
    for (std::int64_t j = c - (sizes.size - 1) / 2; j <= c + sizes.size / 2;
         ++j)
      if (j >= 0 && j < sizes.c)
        sum += std::pow(x[i + (j - c) * sizes.inner], 2);
    y[i] = x[i] * std::pow(sizes.bias + sizes.alpha / sizes.size * sum,
                           -static_cast<double>(sizes.beta));
  }
  return y;
}

class LocalResponse : public KernelTest {
protected:
  void check(const LrnCase &sizes) {
    auto [n, c, inner, size, alpha, beta, bias] = sizes;
    SCOPED_TRACE(toString({n, c, inner, size}));
    Floats x = randomFloats(n * c * inner, 1, -3.0f, 3.0f);
    Floats dy = randomFloats(x.size(), 2);
    Output y(x.size()), dx(x.size());
    Lrn(device, n, c, inner, size, alpha, beta, bias)(stream, x.data(),
                                                      y.data());
    LrnGrad(device, n, c, inner, size, alpha, beta, bias)(stream, x.data(),
                                                          dy.data(), dx.data());
    expectClose(y.get(), lrn(sizes, toDoubles(x)));
    expectClose(dx.get(), centralDifferences(
                              [&](const Doubles &x) { return lrn(sizes, x); },
                              toDoubles(x), toDoubles(dy)));
  }
};

TEST_F(LocalResponse, windows) {
  check({2, 7, 9, 5, 1e-4f, 0.75f, 1.0f});
  check({2, 7, 9, 5, 0.5f, 0.75f, 2.0f});
  check({1, 6, 67, 3, 0.5f, 0.6f, 1.5f});
  // Even windows reach one further up, ONNX's rule.
  check({1, 5, 4, 4, 0.5f, 0.75f, 1.0f});
  check({1, 3, 4, 9, 0.5f, 1.0f, 1.0f});
  check({1, 3, 4, 1, 0.5f, 0.5f, 1.0f});
  check({0, 3, 4, 3, 0.5f, 0.5f, 1.0f});
}

} // namespace
