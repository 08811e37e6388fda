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

struct DropoutState final : Kernel::State {
  /// Masks of the `count` elements from the global index `first` on.
  void draw(std::uint64_t seed, std::uint64_t step, std::int64_t first,
            std::int64_t count, float *y) const;

  /// Local rows of contiguous elements: outer axes with their strides in the
  /// global tensor.
  Dims outer, outerStrides;
  std::int64_t rows = 1, width = 1, start = 0;
  float ratio = 0.0f, kept = 1.0f;
  std::uint32_t id = 0;
};

} // namespace

static std::unique_ptr<Kernel::State> prepare(const Dims &local,
                                              const Dims &global,
                                              const Dims &start, float ratio,
                                              std::uint32_t id) {
  checkBlock("dropout_mask", local, global, start);
  if (!(ratio >= 0.0f && ratio <= 1.0f))
    refuse("dropout_mask", "found the ratio " + std::to_string(ratio) +
                               ", expected a number in [0, 1]");
  auto state = std::make_unique<DropoutState>();
  state->ratio = ratio;
  state->kept = ratio < 1.0f ? 1.0f / (1.0f - ratio) : 0.0f;
  state->id = id;
  Dims strides = rowMajorStrides(global);
  std::size_t axis = local.size();
  // Axes that the block takes whole are contiguous with the axis before.
  while (axis > 0 && local[axis - 1] == global[axis - 1])
    state->width *= local[--axis];
  if (axis > 0) {
    --axis;
    state->width *= local[axis];
    state->start = start[axis] * strides[axis];
  }
  for (std::size_t i = 0; i < axis; ++i) {
    state->outer.push_back(local[i]);
    state->outerStrides.push_back(strides[i]);
    state->start += start[i] * strides[i];
    state->rows *= local[i];
  }
  return state;
}

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
    : Kernel(prepare(local, global, start, ratio, id)) {}

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
