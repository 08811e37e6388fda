//===- CopyBoxesTest.cpp - Boxes from one tensor to another ---------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Boxes of all ranks and element sizes against loops over their elements.
//
//===----------------------------------------------------------------------===//

#include "KernelTesting.h"

#include <random>

using namespace partita;
using namespace partita::testing;

namespace {

class CopyBoxesTest : public KernelTest {
protected:
  /// Copies the boxes from a buffer that counts up and compares with one loop
  /// per box.
  template <typename T>
  void check(const std::vector<BoxToCopy> &boxes, std::size_t from,
             std::size_t to) {
    std::vector<T> x(from);
    for (std::size_t i = 0; i < from; ++i)
      x[i] = static_cast<T>(i + 1);
    std::vector<T> y(to, T(0)), expected = y;
    for (const BoxToCopy &box : boxes)
      forEachIndex(box.size, [&](const Dims &index) {
        std::int64_t source = box.from, target = box.to;
        for (std::size_t axis = 0; axis < index.size(); ++axis) {
          source += index[axis] * box.fromStrides[axis];
          target += index[axis] * box.toStrides[axis];
        }
        expected[target] = x[source];
      });
    CopyBoxes(device, "copy", sizeof(T), boxes)(stream, x.data(), y.data());
    EXPECT_EQ(y, expected);
  }

  void checkAll(const std::vector<BoxToCopy> &boxes, std::size_t from,
                std::size_t to) {
    check<std::uint8_t>(boxes, from, to);
    check<std::int16_t>(boxes, from, to);
    check<float>(boxes, from, to);
    check<double>(boxes, from, to);
  }

  /// A piece of a tensor of `from` sizes into one of `to` sizes.
  static BoxToCopy boxOf(const Dims &size, const Dims &from,
                         const Dims &fromStart, const Dims &to,
                         const Dims &toStart, std::int64_t base = 0) {
    auto strides = [](const Dims &dims) {
      Dims result(dims.size(), 1);
      for (std::size_t i = dims.size(); i-- > 1;)
        result[i - 1] = result[i] * dims[i];
      return result;
    };
    return {size, static_cast<std::int64_t>(positionOf(fromStart, from)),
            strides(from),
            base + static_cast<std::int64_t>(positionOf(toStart, to)),
            strides(to)};
  }
};

TEST_F(CopyBoxesTest, one_box) {
  checkAll({{{}, 3, {}, 2, {}}}, 5, 4);
  checkAll({{{7}, 3, {1}, 2, {1}}}, 10, 9);
  checkAll({boxOf({2, 3}, {4, 5}, {1, 2}, {3, 3}, {1, 0})}, 20, 9);
  // Runs of one element.
  checkAll({boxOf({4, 1}, {4, 5}, {0, 3}, {4, 2}, {0, 1})}, 20, 8);
  checkAll({boxOf({2, 4, 1}, {3, 4, 5}, {1, 0, 3}, {2, 4, 2}, {0, 0, 1})}, 60,
           16);
  // Axes that do not merge.
  checkAll({boxOf({2, 1, 2, 2, 1, 2}, {3, 2, 3, 3, 2, 3}, {1, 1, 0, 1, 0, 1},
                  {2, 2, 3, 2, 2, 2}, {0, 1, 1, 0, 1, 0})},
           324, 96);
}

TEST_F(CopyBoxesTest, many_boxes) {
  std::mt19937 generator(5);
  auto upTo = [&](std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(0, most)(generator);
  };
  for (int round = 0; round < 200; ++round) {
    std::vector<BoxToCopy> boxes;
    Dims from;
    for (std::int64_t axes = upTo(4); axes >= 0; --axes)
      from.push_back(1 + upTo(4));
    std::int64_t total = 0;
    for (std::int64_t count = upTo(5); count >= 0; --count) {
      // Pieces of any size, empty ones too, each with room around it.
      Dims size, start, to, place;
      for (std::int64_t dim : from) {
        size.push_back(upTo(dim));
        start.push_back(upTo(dim - size.back()));
        place.push_back(upTo(1));
        to.push_back(size.back() + place.back() + upTo(1));
      }
      if (elementsOf(size) == 0)
        place.assign(place.size(), 0);
      boxes.push_back(boxOf(size, from, start, to, place, total));
      total += elementsOf(to);
    }
    checkAll(boxes, countOf(from), static_cast<std::size_t>(total));
  }
}

TEST_F(CopyBoxesTest, nothing) {
  checkAll({}, 3, 3);
  checkAll({{{0, 3}, 0, {3, 1}, 0, {3, 1}}}, 3, 3);
  CopyBoxes(device, "copy", 4, {})(stream, nullptr, nullptr);
}

TEST_F(CopyBoxesTest, nonsense_is_refused) {
  auto message = [&](std::size_t bytes, const BoxToCopy &box) {
    try {
      CopyBoxes(device, "pack", bytes, {box});
    } catch (const Error &error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message(3, {}),
            "pack: found elements of 3 bytes, expected 1, 2, 4 or 8");
  EXPECT_EQ(message(4, {{2, 3}, 0, {3, 1}, 0, {1}}),
            "pack: a box of sizes [2, 3] has strides [3, 1] and [1], expected "
            "one for each axis");
  EXPECT_NE(message(4, {{-1}, 0, {1}, 0, {1}}), "");
}

} // namespace
