//===- SampleOrderTest.cpp - Orders are permutations ------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For every size, and a function of seed, epoch and place only.
//
//===----------------------------------------------------------------------===//

#include "core/SampleOrder.h"

#include "gtest/gtest.h"
#include <set>

using namespace partita;

static std::vector<std::int64_t> orderOf(const SampleOrder &order,
                                         std::int64_t samples) {
  std::vector<std::int64_t> ids;
  for (std::int64_t i = 0; i < samples; ++i)
    ids.push_back(order.at(i));
  return ids;
}

TEST(SampleOrder, EverySampleOnce) {
  for (std::int64_t samples : {1, 2, 3, 5, 16, 17, 255, 1000, 4097}) {
    std::vector<std::int64_t> ids =
        orderOf(SampleOrder(3, 1, samples, true), samples);
    std::set<std::int64_t> seen(ids.begin(), ids.end());
    EXPECT_EQ(static_cast<std::int64_t>(seen.size()), samples);
    EXPECT_EQ(*seen.begin(), 0);
    EXPECT_EQ(*seen.rbegin(), samples - 1);
  }
}

TEST(SampleOrder, DependsOnSeedAndEpoch) {
  std::vector<std::int64_t> ids = orderOf(SampleOrder(3, 1, 500, true), 500);
  EXPECT_EQ(ids, orderOf(SampleOrder(3, 1, 500, true), 500));
  EXPECT_NE(ids, orderOf(SampleOrder(3, 2, 500, true), 500));
  EXPECT_NE(ids, orderOf(SampleOrder(4, 1, 500, true), 500));
}

TEST(SampleOrder, LooksShuffled) {
  // In a random permutation about one sample stays in place, and neighbours
  // are neighbours afterwards about twice.
  std::vector<std::int64_t> ids = orderOf(SampleOrder(0, 0, 5000, true), 5000);
  int fixed = 0, neighbours = 0;
  for (std::int64_t i = 0; i < 5000; ++i) {
    fixed += ids[i] == i;
    neighbours += i > 0 && std::abs(ids[i] - ids[i - 1]) == 1;
  }
  EXPECT_LT(fixed, 10);
  EXPECT_LT(neighbours, 12);
}

TEST(SampleOrder, FileOrderWithoutShuffling) {
  SampleOrder order(3, 7, 10, false);
  EXPECT_EQ(order.at(4), 4);
}
