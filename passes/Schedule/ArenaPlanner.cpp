//===- ArenaPlanner.cpp - Offsets of buffers in one arena -----------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Greedy-by-size placement.
//
//===----------------------------------------------------------------------===//

#include "passes/Schedule/ArenaPlanner.h"
#include <algorithm>
#include <numeric>

namespace {

int64_t alignUp(int64_t value, int64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

bool overlapInTime(const partita::ArenaBuffer &a,
                   const partita::ArenaBuffer &b) {
  return a.first <= b.last && b.first <= a.last;
}

} // namespace

int64_t partita::planArena(std::vector<ArenaBuffer> &buffers,
                           int64_t alignment) {
  std::vector<size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return buffers[a].bytes > buffers[b].bytes;
  });
  // Placed buffers by offset, so that gaps are found in one walk.
  std::vector<size_t> placed;
  int64_t total = 0;
  for (size_t index : order) {
    ArenaBuffer &buffer = buffers[index];
    int64_t size = alignUp(buffer.bytes, alignment);
    int64_t offset = 0;
    for (size_t other : placed) {
      const ArenaBuffer &there = buffers[other];
      if (!overlapInTime(buffer, there))
        continue;
      if (offset + size <= there.offset)
        break;
      offset = std::max(offset, there.offset + alignUp(there.bytes, alignment));
    }
    buffer.offset = offset;
    total = std::max(total, offset + size);
    auto position = std::upper_bound(
        placed.begin(), placed.end(), index, [&](size_t a, size_t b) {
          return buffers[a].offset < buffers[b].offset;
        });
    placed.insert(position, index);
  }
  return total;
}
