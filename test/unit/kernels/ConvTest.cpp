//===- ConvTest.cpp - Convolutions against loops in double ----------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All three passes over a grid of windows, groups and ranks.
//
//===----------------------------------------------------------------------===//

#include "KernelTesting.h"

using namespace partita;
using namespace partita::testing;

namespace {

/// A convolution from its definition.
class Reference {
public:
  explicit Reference(const ConvSizes &sizes) : sizes(sizes) {
    Dims out = sizes.out();
    x = {sizes.batch, sizes.inChannels};
    x.insert(x.end(), sizes.in.begin(), sizes.in.end());
    w = {sizes.outChannels, sizes.inChannels / sizes.groups};
    w.insert(w.end(), sizes.kernel.begin(), sizes.kernel.end());
    y = {sizes.batch, sizes.outChannels};
    y.insert(y.end(), out.begin(), out.end());
  }

  /// Calls visit(x position, w position, y position) for every product.
  template <typename Visit> void forEachTerm(const Visit &visit) const {
    std::int64_t inPerGroup = sizes.inChannels / sizes.groups;
    std::int64_t outPerGroup = sizes.outChannels / sizes.groups;
    Dims kernel(w.begin() + 1, w.end());
    forEachIndex(y, [&](const Dims &at) {
      forEachIndex(kernel, [&](const Dims &tap) {
        Dims from = {at[0], at[1] / outPerGroup * inPerGroup + tap[0]};
        Dims filter = {at[1]};
        filter.insert(filter.end(), tap.begin(), tap.end());
        for (std::size_t i = 0; i < sizes.in.size(); ++i) {
          std::int64_t cell = at[2 + i] * sizes.strides[i] +
                              tap[1 + i] * sizes.dilations[i] - sizes.padLow[i];
          // Negative pads crop: cells beyond them count as padding.
          if (cell < 0 || cell >= sizes.in[i])
            return;
          from.push_back(cell);
        }
        visit(positionOf(from, x), positionOf(filter, w), positionOf(at, y));
      });
    });
  }

  Doubles forward(const Doubles &xs, const Doubles &ws) const {
    Doubles ys(countOf(y));
    forEachTerm([&](auto i, auto j, auto k) { ys[k] += xs[i] * ws[j]; });
    return ys;
  }
  Doubles inputGrad(const Doubles &dys, const Doubles &ws) const {
    Doubles dxs(countOf(x));
    forEachTerm([&](auto i, auto j, auto k) { dxs[i] += dys[k] * ws[j]; });
    return dxs;
  }
  Doubles filterGrad(const Doubles &xs, const Doubles &dys) const {
    Doubles dws(countOf(w));
    forEachTerm([&](auto i, auto j, auto k) { dws[j] += xs[i] * dys[k]; });
    return dws;
  }

  ConvSizes sizes;
  Dims x, w, y;
};

class Conv : public KernelTest {
protected:
  /// Runs and compares the three passes, twice each, so that what one call
  /// leaves in the workspace meets the next.
  void check(const ConvSizes &sizes) {
    Reference reference(sizes);
    SCOPED_TRACE("x " + toString(reference.x) + " w " + toString(reference.w) +
                 " strides " + toString(sizes.strides) + " dilations " +
                 toString(sizes.dilations) + " pads " + toString(sizes.padLow) +
                 toString(sizes.padHigh));
    Floats x = randomFloats(countOf(reference.x), 1);
    Floats w = randomFloats(countOf(reference.w), 2);
    Floats bias = randomFloats(sizes.outChannels, 3);
    Floats dy = randomFloats(countOf(reference.y), 4);
    ConvForward forward(device, sizes, /*bias=*/false);
    ConvForward forwardBias(device, sizes, /*bias=*/true);
    ConvInputGrad inputGrad(device, sizes);
    ConvFilterGrad filterGrad(device, sizes);

    Doubles y = reference.forward(toDoubles(x), toDoubles(w));
    Doubles yBias = y;
    std::size_t cells = sizes.outChannels == 0 || sizes.batch == 0
                            ? 1
                            : y.size() / sizes.outChannels / sizes.batch;
    for (std::size_t i = 0; i < y.size(); ++i)
      yBias[i] += bias[i / cells % sizes.outChannels];
    for (int round = 0; round < 2; ++round) {
      Output out(y.size()), outBias(y.size()), dx(x.size()), dw(w.size());
      forward(stream, x.data(), w.data(), nullptr, out.data());
      inputGrad(stream, dy.data(), w.data(), dx.data());
      forwardBias(stream, x.data(), w.data(), bias.data(), outBias.data());
      filterGrad(stream, x.data(), dy.data(), dw.data());
      expectClose(out.get(), y);
      expectClose(outBias.get(), yBias);
      expectClose(dx.get(), reference.inputGrad(toDoubles(dy), toDoubles(w)));
      expectClose(dw.get(), reference.filterGrad(toDoubles(x), toDoubles(dy)));
    }
  }
};

TEST_F(Conv, kernels_strides_dilations) {
  for (std::int64_t kernel = 1; kernel <= 7; ++kernel)
    for (std::int64_t stride = 1; stride <= 3; ++stride)
      for (std::int64_t dilation = 1; dilation <= 3; ++dilation) {
        std::int64_t reach = dilation * (kernel - 1);
        std::int64_t pad = reach / 2;
        std::int64_t size = std::max<std::int64_t>(9, reach - pad + 3);
        for (std::int64_t channels : {3, 5})
          check(convSizes({2, channels, size, size + 1},
                          {4, channels, kernel, kernel}, {stride, stride},
                          {dilation, dilation}, {pad, pad, pad, pad}));
      }
}

TEST_F(Conv, a09_asymmetric_pads) {
  check(convSizes({1, 1, 4, 4}, {1, 1, 2, 2}, {1, 1}, {1, 1}, {0, 0, 1, 1}));
  check(convSizes({2, 5, 7, 6}, {3, 5, 3, 2}, {2, 1}, {1, 2}, {0, 1, 2, 3}));
  check(convSizes({2, 2, 5, 8}, {7, 2, 3, 5}, {1, 3}, {1, 1}, {3, 0, 0, 4}));
}

TEST_F(Conv, pads_larger_than_the_kernel) {
  check(convSizes({1, 2, 3, 3}, {2, 2, 2, 2}, {1, 1}, {1, 1}, {4, 3, 2, 5}));
}

TEST_F(Conv, negative_pads_crop) {
  check(convSizes({2, 3, 9, 8}, {4, 3, 3, 3}, {1, 1}, {1, 1}, {-2, 0, 0, 1}));
  check(convSizes({1, 4, 9, 9}, {4, 2, 3, 3}, {2, 1}, {1, 2}, {-1, 1, 1, 0},
                  /*groups=*/2));
}

TEST_F(Conv, groups) {
  check(convSizes({2, 4, 6, 5}, {6, 2, 3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, 2));
  check(convSizes({2, 9, 6, 5}, {6, 3, 3, 3}, {2, 1}, {1, 1}, {1, 0, 1, 1}, 3));
  check(convSizes({1, 48, 5, 5}, {32, 24, 3, 3}, {}, {}, {1, 1, 1, 1}, 2));
}

TEST_F(Conv, depthwise) {
  check(convSizes({2, 5, 7, 7}, {5, 1, 3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, 5));
  check(convSizes({2, 32, 8, 8}, {32, 1, 3, 3}, {2, 2}, {}, {1, 1, 1, 1}, 32));
  check(convSizes({1, 4, 9, 6}, {12, 1, 5, 3}, {1, 2}, {2, 1}, {4, 1, 4, 1},
                  /*groups=*/4));
}

TEST_F(Conv, whole_blocks_of_channels) {
  check(convSizes({2, 16, 5, 5}, {32, 16, 3, 3}, {}, {}, {1, 1, 1, 1}));
  check(convSizes({2, 32, 6, 6}, {16, 32, 1, 1}, {2, 2}));
  check(convSizes({2, 8, 8, 8}, {8, 8, 3, 3}, {}, {}, {1, 1, 1, 1}));
  check(convSizes({1, 24, 7, 7}, {40, 24, 3, 3}, {}, {}, {1, 1, 1, 1}));
}

TEST_F(Conv, layers_of_lenet5_and_resnet) {
  check(convSizes({4, 1, 28, 28}, {6, 1, 5, 5}, {}, {}, {2, 2, 2, 2}));
  check(convSizes({4, 6, 14, 14}, {16, 6, 5, 5}));
  check(convSizes({2, 3, 32, 32}, {8, 3, 7, 7}, {2, 2}, {}, {3, 3, 3, 3}));
  check(convSizes({2, 8, 8, 8}, {16, 8, 1, 1}, {2, 2}));
  check(convSizes({2, 16, 4, 4}, {32, 16, 3, 3}, {2, 2}, {}, {1, 1, 1, 1}));
}

TEST_F(Conv, few_channels) {
  for (std::int64_t out = 1; out <= 9; ++out)
    check(convSizes({2, 2, 6, 15}, {out, 2, 3, 3}, {}, {}, {1, 1, 1, 1}));
  check(convSizes({1, 1, 5, 40}, {7, 1, 3, 5}, {1, 3}, {2, 1}, {2, 7, 0, 4}));
  check(convSizes({2, 4, 9, 70}, {3, 4, 2, 4}, {2, 2}, {1, 3}, {0, 3, 1, 5}));
  check(convSizes({1, 3, 4, 33}, {11, 3, 1, 1}, {2, 2}));
  check(convSizes({1, 1, 3, 16}, {1, 1, 1, 1}));
}

TEST_F(Conv, one_dimension) {
  check(convSizes({2, 1, 40}, {4, 1, 5}, {1}, {2}, {4, 4}));
  check(convSizes({2, 3, 11}, {4, 3, 3}, {2}, {1}, {1, 2}));
  check(convSizes({2, 4, 16}, {4, 1, 5}, {1}, {3}, {6, 6}, 4));
}

TEST_F(Conv, three_dimensions) {
  check(convSizes({2, 5, 5, 6, 7}, {3, 5, 3, 2, 3}, {2, 1, 2}, {1, 2, 1},
                  {1, 0, 2, 1, 1, 0}));
  check(convSizes({2, 2, 5, 6, 7}, {3, 2, 3, 2, 3}, {2, 1, 2}, {1, 2, 1},
                  {1, 0, 2, 1, 1, 0}));
  check(convSizes({1, 4, 4, 4, 4}, {4, 1, 3, 3, 3}, {}, {}, {1, 1, 1, 1, 1, 1},
                  /*groups=*/4));
}

TEST_F(Conv, empty) {
  check(convSizes({0, 3, 8, 8}, {4, 3, 3, 3}));
  // The kernel does not fit: no outputs.
  check(convSizes({2, 3, 2, 8}, {4, 3, 3, 3}));
}

TEST_F(Conv, filter_gradient_over_no_samples_is_zero) {
  ConvFilterGrad kernel(device, convSizes({0, 3, 8, 8}, {4, 3, 3, 3}));
  Output dw(4 * 3 * 3 * 3);
  kernel(stream, nullptr, nullptr, dw.data());
  expectClose(dw.get(), Doubles(4 * 3 * 3 * 3, 0.0), 0.0);
}

TEST_F(Conv, gradients_are_central_differences) {
  ConvSizes sizes =
      convSizes({2, 2, 5, 4}, {4, 1, 3, 2}, {2, 1}, {1, 2}, {1, 0, 0, 1}, 2);
  Reference reference(sizes);
  Doubles x = toDoubles(randomFloats(countOf(reference.x), 5));
  Doubles w = toDoubles(randomFloats(countOf(reference.w), 6));
  Floats dy = randomFloats(countOf(reference.y), 7);
  Floats xs(x.begin(), x.end()), ws(w.begin(), w.end());

  Output dx(x.size()), dw(w.size());
  ConvInputGrad(device, sizes)(stream, dy.data(), ws.data(), dx.data());
  ConvFilterGrad(device, sizes)(stream, xs.data(), dy.data(), dw.data());
  expectClose(dx.get(),
              centralDifferences(
                  [&](const Doubles &x) { return reference.forward(x, w); }, x,
                  toDoubles(dy)));
  expectClose(dw.get(),
              centralDifferences(
                  [&](const Doubles &w) { return reference.forward(x, w); }, w,
                  toDoubles(dy)));
}

TEST_F(Conv, calls_repeat_bit_for_bit) {
  ConvSizes sizes =
      convSizes({3, 6, 14, 14}, {16, 6, 5, 5}, {}, {}, {2, 2, 2, 2});
  Reference reference(sizes);
  Floats x = randomFloats(countOf(reference.x), 8);
  Floats dy = randomFloats(countOf(reference.y), 9);
  ConvFilterGrad kernel(device, sizes);
  Output first(countOf(reference.w)), second(countOf(reference.w));
  kernel(stream, x.data(), dy.data(), first.data());
  kernel(stream, x.data(), dy.data(), second.data());
  EXPECT_EQ(first.get(), second.get());
}

TEST_F(Conv, contradicting_sizes_are_refused) {
  EXPECT_THROW(convSizes({1, 3, 8, 8}, {4, 2, 3, 3}), Error);
  EXPECT_THROW(convSizes({1, 3, 8, 8}, {4, 3, 3}), Error);
  EXPECT_THROW(convSizes({1, 4, 8, 8}, {5, 2, 3, 3}, {}, {}, {}, 2), Error);
  EXPECT_THROW(convSizes({1, 3, 8, 8}, {4, 3, 3, 3}, {}, {}, {1, 1}), Error);
  EXPECT_THROW(convSizes({1, 3, 8, 8}, {4, 3, 3, 3}, {0, 1}), Error);
  try {
    convSizes({1, 3, 8, 8}, {4, 2, 3, 3});
    FAIL() << "accepted";
  } catch (const Error &error) {
    EXPECT_STREQ(error.what(), "conv: found 3 input channels, the filter "
                               "[4, 2, 3, 3] with 1 groups expects 2");
  }
}

//===----------------------------------------------------------------------===//
// Matrix products
//===----------------------------------------------------------------------===//

class Product : public KernelTest {
protected:
  void check(const MatmulSizes &sizes) {
    auto [batch, m, n, k, transA, transB, strideA, strideB, alpha] = sizes;
    SCOPED_TRACE("batch " + std::to_string(batch) + " " + toString({m, n, k}) +
                 (transA ? " transA" : "") + (transB ? " transB" : ""));
    std::int64_t matricesA = strideA == 0 ? 1 : batch;
    std::int64_t matricesB = strideB == 0 ? 1 : batch;
    Floats a = randomFloats((matricesA - 1) * strideA + m * k, 1);
    Floats b = randomFloats((matricesB - 1) * strideB + k * n, 2);
    Doubles expected(batch * m * n);
    for (std::int64_t s = 0; s < batch; ++s)
      for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < n; ++j) {
          double sum = 0.0;
          for (std::int64_t l = 0; l < k; ++l)
            sum += static_cast<double>(
                       a[s * strideA + (transA ? l * m + i : i * k + l)]) *
                   b[s * strideB + (transB ? j * k + l : l * n + j)];
          expected[(s * m + i) * n + j] = alpha * sum;
        }
    Matmul kernel(device, sizes);
    for (int round = 0; round < 2; ++round) {
      Output y(expected.size());
      kernel(stream, a.data(), b.data(), y.data());
      expectClose(y.get(), expected);
    }
  }
};

TEST_F(Product, sizes_and_transposes) {
  for (std::int64_t m : {1, 2, 5, 33})
    for (std::int64_t n : {1, 3, 17, 64})
      for (std::int64_t k : {1, 4, 19, 100})
        for (int trans = 0; trans < 4; ++trans)
          check({1, m, n, k, (trans & 1) != 0, (trans & 2) != 0, 0, 0, 1.0f});
}

TEST_F(Product, batches_and_broadcasts) {
  for (int trans = 0; trans < 4; ++trans) {
    bool a = (trans & 1) != 0, b = (trans & 2) != 0;
    check({3, 4, 5, 6, a, b, 24, 30, 1.0f});
    check({3, 4, 5, 6, a, b, 0, 30, 1.0f});
    check({3, 4, 5, 6, a, b, 24, 0, 1.0f});
    // Matrices further apart than they are large.
    check({2, 4, 5, 6, a, b, 40, 31, 0.5f});
    check({3, 1, 1, 6, a, b, 6, 6, 1.0f});
  }
}

TEST_F(Product, alpha) { check({2, 7, 9, 11, false, true, 77, 0, -0.125f}); }

TEST_F(Product, empty) {
  check({1, 4, 5, 0, false, false, 0, 0, 1.0f});
  check({1, 0, 5, 3, false, false, 0, 0, 1.0f});
  check({1, 4, 0, 3, true, false, 0, 0, 1.0f});
  check({0, 4, 5, 3, false, true, 12, 15, 1.0f});
}

} // namespace
