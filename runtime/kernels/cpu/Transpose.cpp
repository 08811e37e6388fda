//===- Transpose.cpp - Permutation of axes --------------------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Axes that stay neighbours are merged. Then either rows are copied whole, or
// the axis that is contiguous in x and the one that is contiguous in y are
// walked in square tiles, so that both sides use whole cache lines.
//
//===----------------------------------------------------------------------===//

#include "Index.h"
#include "KernelState.h"
#include "Parallel.h"

using namespace partita;
using namespace partita::kernels;

namespace {

/// Elements of 4 bytes of any type.
using Word = std::uint32_t;

constexpr std::int64_t kTile = 16;

struct TransposeState final : Kernel::State {
  void copyRows(const Word *x, Word *y) const;
  void copyTiles(const Word *x, Word *y) const;

  /// The last axis of y, and the other axis of the tiles: the contiguous one
  /// of x or, where rows are copied, the last but one of y.
  std::int64_t width = 1, widthStride = 1;
  std::int64_t height = 1, heightStride = 0, heightStrideInY = 0;
  /// The remaining axes in the order of y.
  Dims outer, outerStrides, outerStridesInY;
  std::int64_t outerCount = 1;
};

} // namespace

static std::unique_ptr<Kernel::State> prepare(const Dims &shape,
                                              const Dims &perm) {
  checkShape("transpose", shape);
  checkPermutation("transpose", perm, shape.size());
  // The axes of y with their strides in x; neighbours of x merge.
  Dims inX = rowMajorStrides(shape);
  Dims sizes, strides;
  for (std::int64_t axis : perm) {
    if (shape[axis] == 1)
      continue;
    if (!sizes.empty() && strides.back() == shape[axis] * inX[axis]) {
      sizes.back() *= shape[axis];
      strides.back() = inX[axis];
    } else {
      sizes.push_back(shape[axis]);
      strides.push_back(inX[axis]);
    }
  }
  Dims inY = rowMajorStrides(sizes);
  auto state = std::make_unique<TransposeState>();
  std::size_t rank = sizes.size();
  if (rank == 0)
    return state;
  state->width = sizes.back();
  state->widthStride = strides.back();
  std::size_t other = rank - 1;
  if (rank > 1) {
    other = rank - 2;
    for (std::size_t i = 0; i + 1 < rank; ++i)
      if (strides[i] == 1)
        other = i;
    state->height = sizes[other];
    state->heightStride = strides[other];
    state->heightStrideInY = inY[other];
  }
  for (std::size_t i = 0; i + 1 < rank; ++i) {
    if (i == other)
      continue;
    state->outer.push_back(sizes[i]);
    state->outerStrides.push_back(strides[i]);
    state->outerStridesInY.push_back(inY[i]);
    state->outerCount *= sizes[i];
  }
  return state;
}

void TransposeState::copyRows(const Word *x, Word *y) const {
  parallelFor(outerCount * height, width,
              [&](std::int64_t begin, std::int64_t end, int) {
                while (begin < end) {
                  std::int64_t block = begin / height, first = begin % height;
                  std::int64_t last = std::min(height, first + end - begin);
                  const Word *from = x + offsetOf(block, outer, outerStrides);
                  Word *to = y + offsetOf(block, outer, outerStridesInY);
                  for (std::int64_t i = first; i < last; ++i)
                    std::copy_n(from + i * heightStride, width,
                                to + i * heightStrideInY);
                  begin += last - first;
                }
              });
}

void TransposeState::copyTiles(const Word *x, Word *y) const {
  std::int64_t strips = (height + kTile - 1) / kTile;
  parallelFor(outerCount * strips, width * kTile,
              [&](std::int64_t begin, std::int64_t end, int) {
                for (std::int64_t i = begin; i < end; ++i) {
                  std::int64_t block = i / strips, first = i % strips * kTile;
                  std::int64_t rows = std::min(kTile, height - first);
                  const Word *from = x + offsetOf(block, outer, outerStrides) +
                                     first * heightStride;
                  Word *to = y + offsetOf(block, outer, outerStridesInY) +
                             first * heightStrideInY;
                  for (std::int64_t column = 0; column < width;
                       column += kTile) {
                    std::int64_t columns = std::min(kTile, width - column);
                    for (std::int64_t row = 0; row < rows; ++row)
                      for (std::int64_t j = column; j < column + columns; ++j)
                        to[row * heightStrideInY + j] =
                            from[row * heightStride + j * widthStride];
                  }
                }
              });
}

Transpose::Transpose(Device &, Dims shape, Dims perm)
    : Kernel(prepare(shape, perm)) {}

void Transpose::operator()(Stream &stream, const void *x, void *y) const {
  const auto &transpose = as<TransposeState>(state);
  stream.run("transpose", [&transpose, x, y] {
    auto *from = static_cast<const Word *>(x);
    auto *to = static_cast<Word *>(y);
    if (transpose.widthStride == 1)
      transpose.copyRows(from, to);
    else
      transpose.copyTiles(from, to);
  });
}
