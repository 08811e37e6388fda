//===- Slice.cpp - Strided slices -----------------------------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Trailing axes that are taken whole make one block, so that most slices are
// copies of long rows.
//
//===----------------------------------------------------------------------===//

#include "Index.h"
#include "KernelState.h"
#include "Parallel.h"

using namespace partita;
using namespace partita::kernels;

namespace {
using Word = std::uint32_t;

struct SliceState final : Kernel::State {
  /// `rows` rows of `count` blocks of `block` elements, `step` apart in x.
  Dims outer, outerStrides;
  std::int64_t rows = 1, count = 1, block = 1, step = 1;
  /// Of the first element in x.
  std::int64_t start = 0;
};
} // namespace

static std::unique_ptr<Kernel::State> prepare(const Dims &shape,
                                              const Dims &starts,
                                              const Dims &sizes,
                                              const Dims &steps) {
  checkSlice("slice", shape, starts, sizes, steps);
  auto state = std::make_unique<SliceState>();
  Dims strides = rowMajorStrides(shape);
  std::size_t axis = shape.size();
  while (axis > 0 && sizes[axis - 1] == shape[axis - 1] &&
         (sizes[axis - 1] <= 1 || steps[axis - 1] == 1))
    state->block *= sizes[--axis];
  if (axis > 0) {
    --axis;
    state->count = sizes[axis];
    state->step = strides[axis] * steps[axis];
    state->start = strides[axis] * starts[axis];
    if (state->step == state->block) {
      state->block *= state->count;
      state->count = 1;
    }
  }
  for (std::size_t i = 0; i < axis; ++i) {
    state->outer.push_back(sizes[i]);
    state->outerStrides.push_back(strides[i] * steps[i]);
    state->start += strides[i] * starts[i];
    state->rows *= sizes[i];
  }
  return state;
}

Slice::Slice(Device &, Dims shape, Dims starts, Dims sizes, Dims steps)
    : Kernel(prepare(shape, starts, sizes, steps)) {}

void Slice::operator()(Stream &stream, const void *x, void *y) const {
  const auto &slice = as<SliceState>(state);
  stream.run("slice", [&slice, x, y] {
    std::int64_t row = slice.count * slice.block;
    parallelFor(
        slice.rows, row, [&](std::int64_t begin, std::int64_t end, int) {
          for (std::int64_t i = begin; i < end; ++i) {
            const Word *from = static_cast<const Word *>(x) + slice.start +
                               offsetOf(i, slice.outer, slice.outerStrides);
            Word *to = static_cast<Word *>(y) + i * row;
            if (slice.block == 1) {
              for (std::int64_t j = 0; j < slice.count; ++j)
                to[j] = from[j * slice.step];
              continue;
            }
            for (std::int64_t j = 0; j < slice.count; ++j)
              std::copy_n(from + j * slice.step, slice.block,
                          to + j * slice.block);
          }
        });
  });
}
