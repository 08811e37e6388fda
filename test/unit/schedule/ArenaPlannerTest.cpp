//===- ArenaPlannerTest.cpp - Offsets of buffers ----------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Arenas planned by hand, and what must hold for every arena.
//
//===----------------------------------------------------------------------===//

#include "passes/Schedule/ArenaPlanner.h"

#include "gtest/gtest.h"
#include <algorithm>
#include <random>

using namespace partita;

namespace {

constexpr int64_t kAlignment = 64;

ArenaBuffer buffer(int64_t bytes, int64_t first, int64_t last) {
  ArenaBuffer result;
  result.bytes = bytes;
  result.first = first;
  result.last = last;
  return result;
}

int64_t alignUp(int64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

TEST(ArenaPlanner, NothingTakesNothing) {
  std::vector<ArenaBuffer> buffers;
  EXPECT_EQ(planArena(buffers, kAlignment), 0);
}

TEST(ArenaPlanner, LivesThatDoNotMeetShare) {
  std::vector<ArenaBuffer> buffers = {buffer(64, 0, 1), buffer(64, 2, 3)};
  EXPECT_EQ(planArena(buffers, kAlignment), 64);
  EXPECT_EQ(buffers[0].offset, 0);
  EXPECT_EQ(buffers[1].offset, 0);
}

// A step reads the one while it writes the other.
TEST(ArenaPlanner, LivesThatMeetInOneStepDoNotShare) {
  std::vector<ArenaBuffer> buffers = {buffer(64, 0, 1), buffer(64, 1, 2)};
  EXPECT_EQ(planArena(buffers, kAlignment), 128);
  EXPECT_NE(buffers[0].offset, buffers[1].offset);
}

TEST(ArenaPlanner, OffsetsAndTotalAreAligned) {
  std::vector<ArenaBuffer> buffers = {buffer(100, 0, 0), buffer(1, 0, 0)};
  EXPECT_EQ(planArena(buffers, kAlignment), 192);
  EXPECT_EQ(buffers[0].offset, 0);
  EXPECT_EQ(buffers[1].offset, 128);
}

// The largest is placed first, whatever its place in the list.
TEST(ArenaPlanner, LargestFirst) {
  std::vector<ArenaBuffer> buffers = {buffer(64, 0, 1), buffer(100, 0, 2),
                                      buffer(64, 2, 3)};
  // 100 bytes at 0; both others live with it, but not with each other.
  EXPECT_EQ(planArena(buffers, kAlignment), 192);
  EXPECT_EQ(buffers[0].offset, 128);
  EXPECT_EQ(buffers[1].offset, 0);
  EXPECT_EQ(buffers[2].offset, 128);
}

// The third fits below the second, where the first has died.
TEST(ArenaPlanner, GapsAreFilled) {
  std::vector<ArenaBuffer> buffers = {buffer(192, 0, 1), buffer(128, 1, 2),
                                      buffer(64, 2, 3)};
  EXPECT_EQ(planArena(buffers, kAlignment), 320);
  EXPECT_EQ(buffers[0].offset, 0);
  EXPECT_EQ(buffers[1].offset, 192);
  EXPECT_EQ(buffers[2].offset, 0);
}

TEST(ArenaPlanner, EqualSizesAreTakenInOrder) {
  std::vector<ArenaBuffer> buffers = {buffer(64, 0, 0), buffer(64, 0, 0),
                                      buffer(64, 0, 0)};
  EXPECT_EQ(planArena(buffers, kAlignment), 192);
  for (int64_t i = 0; i < 3; ++i)
    EXPECT_EQ(buffers[i].offset, 64 * i);
}

// The part of a rank without samples.
TEST(ArenaPlanner, EmptyBuffersTakeNoSpace) {
  std::vector<ArenaBuffer> buffers = {buffer(0, 0, 3), buffer(0, 1, 2)};
  EXPECT_EQ(planArena(buffers, kAlignment), 0);
}

TEST(ArenaPlanner, BuffersThatLiveTogetherNeverOverlap) {
  std::mt19937 random(7);
  auto draw = [&](int64_t limit) {
    return static_cast<int64_t>(random() % static_cast<uint32_t>(limit));
  };
  for (int round = 0; round < 20; ++round) {
    constexpr int64_t kSteps = 50;
    std::vector<ArenaBuffer> buffers;
    for (int i = 0; i < 100; ++i) {
      int64_t first = draw(kSteps);
      int64_t last = std::min(first + draw(8), kSteps - 1);
      buffers.push_back(buffer(draw(2000), first, last));
    }
    int64_t total = planArena(buffers, kAlignment);
    EXPECT_EQ(total % kAlignment, 0);
    for (size_t i = 0; i < buffers.size(); ++i) {
      const ArenaBuffer &a = buffers[i];
      EXPECT_GE(a.offset, 0);
      EXPECT_EQ(a.offset % kAlignment, 0);
      EXPECT_LE(a.offset + a.bytes, total);
      for (size_t j = i + 1; j < buffers.size(); ++j) {
        const ArenaBuffer &b = buffers[j];
        bool meetInTime = a.first <= b.last && b.first <= a.last;
        bool meetInSpace =
            a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
        EXPECT_FALSE(meetInTime && meetInSpace)
            << "buffers " << i << " and " << j << " of round " << round;
      }
    }
    // No plan is smaller than what lives at one time.
    int64_t bound = 0;
    for (int64_t step = 0; step < kSteps; ++step) {
      int64_t alive = 0;
      for (const ArenaBuffer &each : buffers)
        if (each.first <= step && step <= each.last)
          alive += alignUp(each.bytes);
      bound = std::max(bound, alive);
    }
    EXPECT_GE(total, bound);
    // Greedy by size stays near the bound on such sets.
    EXPECT_LE(total, 2 * bound);
  }
}

TEST(ArenaPlanner, SamePlanEveryTime) {
  std::vector<ArenaBuffer> once = {buffer(300, 0, 4), buffer(64, 1, 2),
                                   buffer(64, 2, 3), buffer(128, 3, 5)};
  std::vector<ArenaBuffer> again = once;
  EXPECT_EQ(planArena(once, kAlignment), planArena(again, kAlignment));
  for (size_t i = 0; i < once.size(); ++i)
    EXPECT_EQ(once[i].offset, again[i].offset);
}

} // namespace
