//===- PartitionTest.cpp - Parts tile a dimension ---------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Cuts computed by hand, and what must hold for every cut.
//
//===----------------------------------------------------------------------===//

#include "dialects/Dist/IR/Partition.h"

#include "gtest/gtest.h"
#include <algorithm>

using namespace partita::dist;

namespace {

using Table = std::vector<int64_t>;

// 64 = 3 * 21 + 1: one part has 22.
TEST(Partition, FirstPartsHoldOneMore) {
  EXPECT_EQ(partTable(64, 3), (Table{0, 22, 43, 64}));
  EXPECT_EQ(partTable(11, 4), (Table{0, 3, 6, 9, 11}));
}

TEST(Partition, EvenParts) {
  EXPECT_EQ(partTable(8, 4), (Table{0, 2, 4, 6, 8}));
}

TEST(Partition, OnePartIsTheWhole) {
  EXPECT_EQ(partTable(5, 1), (Table{0, 5}));
}

// The last parts are empty, and lie at the end.
TEST(Partition, FewerElementsThanParts) {
  EXPECT_EQ(partTable(2, 4), (Table{0, 1, 2, 2, 2}));
  EXPECT_EQ(partBounds(2, 4, 3), (std::pair<int64_t, int64_t>{2, 2}));
}

TEST(Partition, NoElements) { EXPECT_EQ(partTable(0, 3), (Table{0, 0, 0, 0})); }

// Three blocks of three elements on two parts: two and one.
TEST(Partition, BlocksStayWhole) {
  EXPECT_EQ(partTable(9, 2, 3), (Table{0, 6, 9}));
}

// Dealing out samples of ten elements is dealing out the samples.
TEST(Partition, BlocksScaleTheCut) {
  Table samples = partTable(64, 3), elements = partTable(640, 3, 10);
  ASSERT_EQ(samples.size(), elements.size());
  for (size_t i = 0; i < samples.size(); ++i)
    EXPECT_EQ(elements[i], 10 * samples[i]);
}

TEST(Partition, PartsTileTheDimension) {
  for (int64_t block = 1; block <= 3; ++block)
    for (int64_t blocks = 0; blocks <= 20; ++blocks)
      for (int64_t parts = 1; parts <= 9; ++parts) {
        int64_t size = blocks * block, end = 0, largest = 0, last = size;
        for (int64_t part = 0; part < parts; ++part) {
          auto bounds = partBounds(size, parts, part, block);
          EXPECT_EQ(bounds.first, end);
          EXPECT_EQ(bounds.first, partBegin(size, parts, part, block));
          end = bounds.second;
          int64_t count = bounds.second - bounds.first;
          EXPECT_EQ(count % block, 0);
          // Sizes never grow, so equal ones are neighbours.
          EXPECT_LE(count, last);
          last = count;
          largest = std::max(largest, count);
        }
        EXPECT_EQ(end, size);
        EXPECT_LE(largest - last, block);
      }
}

} // namespace
