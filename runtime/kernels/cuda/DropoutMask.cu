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

struct DropoutState final : Kernel::State, DropoutPlan {
  explicit DropoutState(DropoutPlan plan)
      : DropoutPlan(std::move(plan)),
        map(axisMap("dropout_mask", outer, outerStrides)) {}

  /// From a local row of contiguous elements to its place in the global
  /// tensor, after `start`.
  AxisMap map;

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

DropoutMask::DropoutMask(Device &, Dims local, Dims global, Dims start,
                         float ratio, std::uint32_t id)
    : Kernel(std::make_unique<DropoutState>(
          planDropout(local, global, start, ratio, id))) {}

void DropoutMask::operator()(Stream &stream, std::uint64_t seed,
                             std::uint64_t step, float *y) const {
  const auto &mask = as<DropoutState>(state);
  stream.run("dropout_mask", [&] {
    std::int64_t groups = mask.groups();
    cuda::launch(dropoutKernel, cuda::blocksFor(mask.rows * groups),
                 cuda::kThreads, 0, stream, mask.map, mask.rows, groups,
                 mask.width, mask.start, mask.ratio, mask.kept, mask.id, seed,
                 step, y);
  });
}
