//===- DropoutMask.cu - Dropout masks that any split agrees on --*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each thread draws one Philox block: the masks of four neighbours in the
// global tensor, of which a local row may begin or end with fewer.
//
//===----------------------------------------------------------------------===//

#include "AxisMap.h"
#include "KernelState.h"
#include "partita/philox.h"

using namespace partita;
using namespace partita::kernels;

namespace {

/// Masks that one Philox block gives.
constexpr int kGroup = 4;

struct DropoutState final : Kernel::State {
  /// From a local row of contiguous elements to its place in the global
  /// tensor, after `start`.
  AxisMap outer;
  std::int64_t rows = 1, width = 1, start = 0;
  float ratio = 0.0f, kept = 1.0f;
  std::uint32_t id = 0;

  /// A row of this width touches at most that many groups.
  std::int64_t groups() const {
    return width == 0 ? 0 : (width + kGroup - 2) / kGroup + 1;
  }
};

__global__ void dropoutKernel(AxisMap outer, std::int64_t rows,
                              std::int64_t groups, std::int64_t width,
                              std::int64_t start, float ratio, float kept,
                              std::uint32_t id, std::uint64_t seed,
                              std::uint64_t step, float *y) {
  for (std::int64_t i = cuda::firstIndex(); i < rows * groups;
       i += cuda::indexStride()) {
    std::int64_t row = i / groups;
    std::int64_t first = start + offsetOf(outer, row);
    std::int64_t group = first / kGroup + (i - row * groups);
    Random4 random = philox(seed, id, static_cast<std::uint64_t>(group), step);
    // The group's place in the local row.
    std::int64_t at = group * kGroup - first;
    for (int j = 0; j < kGroup; ++j)
      if (at + j >= 0 && at + j < width)
        y[row * width + at + j] =
            uniformOf(random.word[j]) < ratio ? 0.0f : kept;
  }
}

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
  Dims outer, outerStrides;
  for (std::size_t i = 0; i < axis; ++i) {
    outer.push_back(local[i]);
    outerStrides.push_back(strides[i]);
    state->start += start[i] * strides[i];
    state->rows *= local[i];
  }
  state->outer = axisMap("dropout_mask", outer, outerStrides);
  return state;
}

DropoutMask::DropoutMask(Device &, Dims local, Dims global, Dims start,
                         float ratio, std::uint32_t id)
    : Kernel(prepare(local, global, start, ratio, id)) {}

void DropoutMask::operator()(Stream &stream, std::uint64_t seed,
                             std::uint64_t step, float *y) const {
  const auto &mask = as<DropoutState>(state);
  stream.run("dropout_mask", [&] {
    std::int64_t groups = mask.groups();
    cuda::launch(dropoutKernel, cuda::blocksFor(mask.rows * groups),
                 cuda::kThreads, 0, stream, mask.outer, mask.rows, groups,
                 mask.width, mask.start, mask.ratio, mask.kept, mask.id, seed,
                 step, y);
  });
}
