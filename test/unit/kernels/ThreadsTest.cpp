//===- ThreadsTest.cpp - Results do not depend on threads -----------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernels that are our own loops give the same bits for any number of
// threads inside a rank, on tensors large enough that they use them.
//
//===----------------------------------------------------------------------===//

#include "KernelTesting.h"

#ifdef _OPENMP
#include <omp.h>
#endif

using namespace partita;
using namespace partita::testing;

namespace {

class Threads : public KernelTest {
protected:
  /// Runs `kernel` (which writes `count` floats) with one and with three
  /// threads.
  template <typename Kernel> void check(std::size_t count, Kernel kernel) {
#ifdef _OPENMP
    int before = omp_get_max_threads();
    Output one(count), three(count);
    omp_set_num_threads(1);
    kernel(one.data());
    omp_set_num_threads(3);
    kernel(three.data());
    omp_set_num_threads(before);
    EXPECT_EQ(one.get(), three.get());
#else
    (void)count;
    (void)kernel;
    GTEST_SKIP() << "built without OpenMP";
#endif
  }

  static constexpr std::int64_t kN = 8, kC = 16, kSize = 33;
  static constexpr std::int64_t kInner = kSize * kSize;
  static constexpr std::size_t kCount = kN * kC * kInner;
  Floats x = randomFloats(kCount, 1), dy = randomFloats(kCount, 2);
};

TEST_F(Threads, look_ups) {
  GatherSizes sizes{kN, kC, kInner, 3 * kC, kC};
  std::vector<std::int64_t> indices;
  for (std::int64_t j = 0; j < sizes.count; ++j)
    indices.push_back(j * j % kC);
  Gather gather(device, sizes);
  ScatterAdd scatter(device, sizes);
  check(3 * kCount,
        [&](float *y) { gather(stream, x.data(), indices.data(), y); });
  Floats large = randomFloats(3 * kCount, 3);
  check(kCount, [&](float *dtable) {
    scatter(stream, large.data(), indices.data(), dtable);
  });
}

TEST_F(Threads, pools) {
  PoolSizes sizes = poolSizes({kN, kC, kSize, kSize}, {kN, kC, 17, 17}, {3, 3},
                              {2, 2}, {1, 1}, {1, 1, 1, 1});
  MaxPool max(device, sizes);
  MaxPoolGrad maxGrad(device, sizes);
  AvgPool average(device, sizes, /*countIncludePad=*/true);
  AvgPoolGrad averageGrad(device, sizes, /*countIncludePad=*/true);
  std::size_t out = kN * kC * 17 * 17;
  check(out, [&](float *y) { max(stream, x.data(), y); });
  check(out, [&](float *y) { average(stream, x.data(), y); });
  check(kCount, [&](float *dx) { maxGrad(stream, x.data(), dy.data(), dx); });
  check(kCount, [&](float *dx) { averageGrad(stream, dy.data(), dx); });
}

TEST_F(Threads, sums) {
  Reduce channels(device, ReduceKind::sum, {kN, kC, kInner}, {0, 2});
  Reduce columns(device, ReduceKind::sum, {kN * kC, kInner}, {0});
  NormalizeSums gradient(device, kN, kC, kInner, 1e-5f);
  Floats stats(kC, 0.5f);
  check(kC, [&](float *y) { channels(stream, x.data(), y); });
  check(kInner, [&](float *y) { columns(stream, x.data(), y); });
  check(2 * kC, [&](float *y) {
    gradient(stream, dy.data(), x.data(), stats.data(), stats.data(), y,
             y + kC);
  });
}

TEST_F(Threads, losses_and_local_response) {
  std::vector<std::int64_t> labels(kN * kInner, 3);
  CrossEntropyGrad loss(device, kN, kC, kInner, 0.1f);
  LrnGrad lrn(device, kN, kC, kInner, 5, 0.1f, 0.75f, 1.0f);
  check(kCount, [&](float *dx) { loss(stream, x.data(), labels.data(), dx); });
  check(kCount, [&](float *dx) { lrn(stream, x.data(), dy.data(), dx); });
}

TEST_F(Threads, convolutions_of_few_channels) {
  ConvSizes sizes =
      convSizes({kN, 4, kSize, kSize}, {3, 4, 3, 3}, {}, {}, {1, 1, 1, 1});
  ConvForward forward(device, sizes, /*bias=*/false);
  ConvFilterGrad gradient(device, sizes);
  Floats w = randomFloats(3 * 4 * 9, 3);
  check(kN * 3 * kInner,
        [&](float *y) { forward(stream, x.data(), w.data(), nullptr, y); });
  check(w.size(),
        [&](float *dw) { gradient(stream, x.data(), dy.data(), dw); });
}

TEST_F(Threads, movement) {
  Transpose transpose(device, {kN, kC, kInner}, {2, 0, 1});
  Pad pad(device, {kN, kC, kSize, kSize}, {0, 0, 1, 2}, {0, 0, 1, 0},
          {0, 0, 0, 1}, 0.0f);
  DropoutMask mask(device, {kN, kC, kSize}, {kN, kC, kInner}, {0, 0, 7}, 0.4f,
                   /*id=*/5);
  check(kCount, [&](float *y) { transpose(stream, x.data(), y); });
  check(kN * kC * 66 * 36, [&](float *y) { pad(stream, x.data(), y); });
  check(kN * kC * kSize, [&](float *y) { mask(stream, 1, 2, y); });
  // A long run, columns, and single elements: pieces end inside of each.
  CopyBoxes boxes(device, "pack", sizeof(float),
                  {{{kCount / 3}, 5, {1}, 0, {1}},
                   {{kN * kC, 31}, 2, {kInner, 1}, kCount / 3, {31, 1}},
                   {{kInner}, 0, {kN * kC}, kCount / 2, {2}}});
  Floats zeros(kCount, 0.0f);
  check(kCount, [&](float *y) {
    std::copy(zeros.begin(), zeros.end(), y);
    boxes(stream, x.data(), y);
  });
}

} // namespace
