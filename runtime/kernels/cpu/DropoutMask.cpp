//===- DropoutMask.cpp - Dropout masks that any split agrees on -----------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An element's random word depends on its global index only. Four neighbours
// share one Philox block, which rarely begins at a row of the local tensor, so
// whole blocks are drawn and cut.
//
//===----------------------------------------------------------------------===//

#include "Index.h"
#include "KernelState.h"
#include "Parallel.h"
#include "partita/philox.h"

using namespace partita;
using namespace partita::kernels;

namespace {

/// Philox blocks drawn together.
constexpr std::int64_t kBlocks = 64;

struct DropoutState final : Kernel::State, DropoutPlan {
  explicit DropoutState(DropoutPlan plan) : DropoutPlan(std::move(plan)) {}

  /// Masks of the `count` elements from the global index `first` on.
  void draw(std::uint64_t seed, std::uint64_t step, std::int64_t first,
            std::int64_t count, float *y) const;
};

} // namespace

void DropoutState::draw(std::uint64_t seed, std::uint64_t step,
                        std::int64_t first, std::int64_t count,
                        float *y) const {
  std::int64_t end = first + count;
  for (std::int64_t block = first / 4; block * 4 < end; block += kBlocks) {
    float masks[kBlocks][4];
#pragma omp simd
    for (std::int64_t i = 0; i < kBlocks; ++i) {
      Random4 random =
          philox(seed, id, static_cast<std::uint64_t>(block + i), step);
      for (int j = 0; j < 4; ++j)
        masks[i][j] = uniformOf(random.word[j]) < ratio ? 0.0f : kept;
    }
    std::int64_t from = std::max(first, block * 4);
    std::int64_t to = std::min(end, (block + kBlocks) * 4);
    std::copy_n(&masks[0][0] + (from - block * 4), to - from,
                y + (from - first));
  }
}

DropoutMask::DropoutMask(Device &, Dims local, Dims global, Dims start,
                         float ratio, std::uint32_t id)
    : Kernel(std::make_unique<DropoutState>(
          planDropout(local, global, start, ratio, id))) {}

void DropoutMask::operator()(Stream &stream, std::uint64_t seed,
                             std::uint64_t step, float *y) const {
  const auto &mask = as<DropoutState>(state);
  stream.run("dropout_mask", [&mask, seed, step, y] {
    // Long rows are cut so that threads can share them.
    constexpr std::int64_t kRun = 1 << 12;
    std::int64_t runs = (mask.width + kRun - 1) / kRun;
    parallelFor(
        mask.rows * runs, std::min(mask.width, kRun) * 4,
        [&](std::int64_t begin, std::int64_t end, int) {
          for (std::int64_t i = begin; i < end; ++i) {
            std::int64_t row = i / runs, at = i % runs * kRun;
            std::int64_t global =
                mask.start + at + offsetOf(row, mask.outer, mask.outerStrides);
            mask.draw(seed, step, global, std::min(kRun, mask.width - at),
                      y + row * mask.width + at);
          }
        });
  });
}
