//===- ArenaPlanner.h - Offsets of buffers in one arena --------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Places buffers with known lifetimes into one arena so that buffers that
// live at the same time do not overlap. Greedy by size: the largest buffer
// first, each at the lowest offset that is free during its whole life
// (Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net
// Inference", 2020, section 5).
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_PASSES_SCHEDULE_ARENAPLANNER_H
#define PARTITA_PASSES_SCHEDULE_ARENAPLANNER_H

#include <cstdint>
#include <vector>

namespace partita {

/// A buffer to place. It lives from step `first` to step `last`, inclusive.
struct ArenaBuffer {
  int64_t bytes = 0;
  int64_t first = 0;
  int64_t last = 0;
  /// Result: byte offset, a multiple of the alignment.
  int64_t offset = 0;
};

/// Places all buffers and returns the size of the arena in bytes, a multiple
/// of `alignment`. The result depends on the order of `buffers` only through
/// ties between buffers of equal size.
int64_t planArena(std::vector<ArenaBuffer> &buffers, int64_t alignment);

} // namespace partita

#endif // PARTITA_PASSES_SCHEDULE_ARENAPLANNER_H
