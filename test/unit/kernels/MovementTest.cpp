//===- MovementTest.cpp - Data movement and dropout masks -----------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Permutations, slices, pads, concatenation, copies, and masks that do not
// depend on how a tensor is split.
//
//===----------------------------------------------------------------------===//

#include "KernelTesting.h"

#include "partita/philox.h"

using namespace partita;
using namespace partita::testing;

namespace {

/// 0, 1, 2, ...: every element says where it came from.
Floats counting(std::size_t count) {
  Floats values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = static_cast<float>(i);
  return values;
}

class Movement : public KernelTest {
protected:
  void checkTranspose(const Dims &shape, const Dims &perm) {
    SCOPED_TRACE(toString(shape) + " by " + toString(perm));
    Floats x = counting(countOf(shape));
    Dims permuted;
    for (std::int64_t axis : perm)
      permuted.push_back(shape[axis]);
    Doubles expected;
    forEachIndex(permuted, [&](const Dims &index) {
      Dims from(shape.size());
      for (std::size_t i = 0; i < perm.size(); ++i)
        from[perm[i]] = index[i];
      expected.push_back(x[positionOf(from, shape)]);
    });
    Output y(x.size());
    Transpose(device, shape, perm)(stream, x.data(), y.data());
    expectClose(y.get(), expected, 0.0);
  }

  void checkSlice(const Dims &shape, const Dims &starts, const Dims &sizes,
                  const Dims &steps) {
    SCOPED_TRACE(toString(shape) + " from " + toString(starts) + " sizes " +
                 toString(sizes) + " steps " + toString(steps));
    Floats x = counting(countOf(shape));
    Doubles expected;
    forEachIndex(sizes, [&](Dims index) {
      for (std::size_t i = 0; i < index.size(); ++i)
        index[i] = starts[i] + index[i] * steps[i];
      expected.push_back(x[positionOf(index, shape)]);
    });
    Output y(expected.size());
    Slice(device, shape, starts, sizes, steps)(stream, x.data(), y.data());
    expectClose(y.get(), expected, 0.0);
  }

  void checkPad(const Dims &shape, const Dims &low, const Dims &interior,
                const Dims &high) {
    SCOPED_TRACE(toString(shape) + " low " + toString(low) + " interior " +
                 toString(interior) + " high " + toString(high));
    Floats x = counting(countOf(shape));
    Dims padded;
    for (std::size_t i = 0; i < shape.size(); ++i)
      padded.push_back(
          low[i] + high[i] +
          std::max<std::int64_t>(0, shape[i] + (shape[i] - 1) * interior[i]));
    Doubles expected;
    forEachIndex(padded, [&](Dims index) {
      bool inside = true;
      for (std::size_t i = 0; i < index.size(); ++i) {
        std::int64_t at = index[i] - low[i];
        inside &= at >= 0 && at % (interior[i] + 1) == 0 &&
                  at / (interior[i] + 1) < shape[i];
        index[i] = at / (interior[i] + 1);
      }
      expected.push_back(inside ? x[positionOf(index, shape)] : -7.0f);
    });
    Output y(expected.size());
    Pad(device, shape, low, interior, high, -7.0f)(stream, x.data(), y.data());
    expectClose(y.get(), expected, 0.0);
  }
};

TEST_F(Movement, all_permutations) {
  for (const Dims &shape :
       {Dims{2, 3, 4, 5}, Dims{3, 17, 1, 20}, Dims{1, 33, 2, 18}}) {
    Dims perm = {0, 1, 2, 3};
    do
      checkTranspose(shape, perm);
    while (std::next_permutation(perm.begin(), perm.end()));
  }
}

TEST_F(Movement, transposes_of_other_ranks) {
  checkTranspose({}, {});
  checkTranspose({7}, {0});
  checkTranspose({37, 50}, {1, 0});
  checkTranspose({1, 50}, {1, 0});
  checkTranspose({2, 3, 2, 3, 2}, {4, 2, 0, 3, 1});
  checkTranspose({0, 3}, {1, 0});
  // Attention heads: [batch, time, heads, size].
  checkTranspose({2, 9, 4, 8}, {0, 2, 1, 3});
  checkTranspose({2, 4, 9, 8}, {0, 1, 3, 2});
  EXPECT_THROW(Transpose(device, {2, 3}, {0, 0}), Error);
  EXPECT_THROW(Transpose(device, {2, 3}, {0}), Error);
}

TEST_F(Movement, slices) {
  checkSlice({4, 5, 6}, {0, 0, 0}, {4, 5, 6}, {1, 1, 1});
  checkSlice({4, 5, 6}, {1, 0, 0}, {2, 5, 6}, {1, 1, 1});
  checkSlice({4, 5, 6}, {0, 2, 0}, {4, 3, 6}, {1, 1, 1});
  checkSlice({4, 5, 6}, {0, 0, 1}, {4, 5, 3}, {1, 1, 1});
  checkSlice({4, 5, 6}, {3, 1, 5}, {4, 2, 3}, {-1, 3, -2});
  checkSlice({4, 5, 6}, {0, 4, 0}, {4, 3, 6}, {1, -2, 1});
  checkSlice({4, 5, 6}, {0, 0, 5}, {4, 5, 6}, {1, 1, -1});
  checkSlice({4, 5, 6}, {0, 0, 0}, {4, 0, 6}, {1, 1, 1});
  checkSlice({}, {}, {}, {});
  checkSlice({9}, {8}, {5}, {-2});
  EXPECT_THROW(Slice(device, {4}, {2}, {3}, {1}), Error);
  EXPECT_THROW(Slice(device, {4}, {1}, {3}, {-1}), Error);
}

TEST_F(Movement, pads) {
  checkPad({2, 3, 4}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0});
  checkPad({2, 3, 4}, {0, 1, 2}, {0, 0, 0}, {1, 0, 3});
  checkPad({2, 3, 4}, {1, 1, 0}, {0, 2, 0}, {0, 1, 0});
  checkPad({2, 3, 4}, {0, 0, 1}, {1, 0, 2}, {0, 0, 2});
  checkPad({2, 3, 4}, {0, -1, 0}, {0, 0, 0}, {0, 0, -2});
  checkPad({2, 5, 7}, {0, -1, -2}, {1, 1, 1}, {-1, 2, -3});
  checkPad({2, 5}, {0, -5}, {0, 0}, {0, 4});
  checkPad({2, 5}, {0, 4}, {0, 0}, {0, -6});
  checkPad({0, 3}, {2, 1}, {0, 0}, {1, 1});
  checkPad({2, 3}, {0, 0}, {0, 0}, {-2, 0});
  checkPad({}, {}, {}, {});
  EXPECT_THROW(Pad(device, {4}, {-3}, {0}, {-2}, 0.0f), Error);
}

TEST_F(Movement, pad_undoes_slice) {
  // The gradient of x[1:8:3] puts each element back and 0 elsewhere.
  checkPad({3}, {1}, {2}, {2});
}

TEST_F(Movement, concat) {
  for (std::size_t parts : {1, 2, 3, 8, 9, 17}) {
    SCOPED_TRACE(parts);
    Dims sizes;
    std::vector<Floats> inputs;
    constexpr std::int64_t outer = 3;
    for (std::size_t i = 0; i < parts; ++i) {
      sizes.push_back(static_cast<std::int64_t>(i * 5 % 7));
      inputs.push_back(randomFloats(outer * sizes[i], i));
    }
    Doubles expected;
    for (std::int64_t row = 0; row < outer; ++row)
      for (std::size_t i = 0; i < parts; ++i)
        expected.insert(expected.end(), inputs[i].begin() + row * sizes[i],
                        inputs[i].begin() + (row + 1) * sizes[i]);
    Output y(expected.size());
    Concat kernel(device, outer, sizes);
    auto p = [&](std::size_t i) { return inputs[i].data(); };
    if (parts == 1)
      kernel(stream, {p(0)}, y.data());
    else if (parts == 2)
      kernel(stream, {p(0), p(1)}, y.data());
    else if (parts == 3)
      kernel(stream, {p(0), p(1), p(2)}, y.data());
    else if (parts == 8)
      kernel(stream, {p(0), p(1), p(2), p(3), p(4), p(5), p(6), p(7)},
             y.data());
    else if (parts == 9)
      kernel(stream, {p(0), p(1), p(2), p(3), p(4), p(5), p(6), p(7), p(8)},
             y.data());
    else
      kernel(stream,
             {p(0), p(1), p(2), p(3), p(4), p(5), p(6), p(7), p(8), p(9), p(10),
              p(11), p(12), p(13), p(14), p(15), p(16)},
             y.data());
    expectClose(y.get(), expected, 0.0);
    EXPECT_THROW(kernel(stream, {}, y.data()), Error);
  }
}

TEST_F(Movement, fill_and_copy) {
  for (std::size_t count : {0, 1, 17, 100000}) {
    Output filled(count), copied(count);
    Fill(device, static_cast<std::int64_t>(count))(stream, 2.5f, filled.data());
    expectClose(filled.get(), Doubles(count, 2.5), 0.0);
    Floats x = counting(count);
    Copy kernel(device, count * sizeof(float));
    kernel(stream, x.data(), copied.data());
    EXPECT_EQ(copied.get(), x);
    kernel(stream, x.data(), x.data());
    EXPECT_EQ(copied.get(), x);
  }
}

//===----------------------------------------------------------------------===//
// Dropout
//===----------------------------------------------------------------------===//

class Dropout : public KernelTest {
protected:
  Floats mask(const Dims &local, const Dims &global, const Dims &start,
              float ratio, std::uint32_t id = 1, std::uint64_t seed = 42,
              std::uint64_t step = 3) {
    Output y(countOf(local));
    DropoutMask(device, local, global, start, ratio, id)(stream, seed, step,
                                                         y.data());
    return y.get();
  }
};

TEST_F(Dropout, is_the_documented_function) {
  Dims shape = {5, 7, 19};
  Floats y = mask(shape, shape, {0, 0, 0}, 0.3f, /*id=*/9,
                  /*seed=*/0x123456789abcull, /*step=*/0x100000002ull);
  for (std::size_t i = 0; i < y.size(); ++i) {
    float u = uniformOf(
        philox(0x123456789abcull, 9u, std::uint64_t(i / 4), 0x100000002ull)
            .word[i % 4]);
    EXPECT_EQ(y[i], u < 0.3f ? 0.0f : 1.0f / (1.0f - 0.3f));
  }
}

TEST_F(Dropout, any_split_gives_the_same_mask) {
  Dims global = {4, 6, 10};
  Floats whole = mask(global, global, {0, 0, 0}, 0.5f);
  for (const Dims &local : {Dims{1, 6, 10}, Dims{4, 2, 10}, Dims{4, 6, 3},
                            Dims{3, 5, 7}, Dims{0, 6, 10}})
    forEachIndex({global[0] - local[0] + 1, global[1] - local[1] + 1,
                  global[2] - local[2] + 1},
                 [&](const Dims &start) {
                   Floats part = mask(local, global, start, 0.5f);
                   std::size_t i = 0;
                   forEachIndex(local, [&](Dims index) {
                     for (std::size_t axis = 0; axis < 3; ++axis)
                       index[axis] += start[axis];
                     ASSERT_EQ(part[i++], whole[positionOf(index, global)]);
                   });
                 });
}

TEST_F(Dropout, drops_the_ratio) {
  for (float ratio : {0.0f, 0.1f, 0.5f, 1.0f}) {
    Floats y = mask({100000}, {100000}, {0}, ratio);
    double dropped = 0.0;
    for (float value : y) {
      dropped += value == 0.0f ? 1.0 : 0.0;
      if (value != 0.0f) {
        ASSERT_EQ(value, 1.0f / (1.0f - ratio));
      }
    }
    EXPECT_NEAR(dropped / 100000, ratio, 0.01);
  }
}

TEST_F(Dropout, differs_between_layers_steps_and_seeds) {
  Dims shape = {256};
  Floats y = mask(shape, shape, {0}, 0.5f, 1, 42, 3);
  EXPECT_NE(y, mask(shape, shape, {0}, 0.5f, 2, 42, 3));
  EXPECT_NE(y, mask(shape, shape, {0}, 0.5f, 1, 43, 3));
  EXPECT_NE(y, mask(shape, shape, {0}, 0.5f, 1, 42, 4));
}

TEST_F(Dropout, nonsense_is_refused) {
  EXPECT_THROW(DropoutMask(device, {4}, {4}, {1}, 0.5f, 1), Error);
  EXPECT_THROW(DropoutMask(device, {4}, {4}, {0}, 1.5f, 1), Error);
  EXPECT_THROW(DropoutMask(device, {4}, {4}, {0},
                           std::numeric_limits<float>::quiet_NaN(), 1),
               Error);
}

} // namespace
