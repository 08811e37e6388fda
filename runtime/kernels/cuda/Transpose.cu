//===- Transpose.cu - Permutation of axes -----------------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Axes that stay neighbours are merged. Where the last axis stays last, each
// thread fetches one element. Otherwise the axis that is contiguous in x and
// the one that is contiguous in y make tiles, which are turned in shared
// memory so that both sides use whole cache lines.
//
//===----------------------------------------------------------------------===//

#include "AxisMap.h"
#include "KernelState.h"

using namespace partita;
using namespace partita::kernels;

namespace {

/// Elements of 4 bytes of any type.
using Word = std::uint32_t;

/// Threads of a block: a row of a tile each, kTile / kRows times.
constexpr int kTile = 32;
constexpr int kRows = 8;

/// The tiles: `width` is the last axis of y, `height` the last axis of x.
struct Tiles {
  std::int64_t width = 1, widthStrideInX = 1;
  std::int64_t height = 1, heightStrideInY = 1;
  std::int64_t across = 1, down = 1;
  /// The remaining axes, in x and in y.
  AxisMap outerInX, outerInY;
  std::int64_t count = 0;
};

struct TransposeState final : Kernel::State {
  std::int64_t count = 0;
  bool tiled = false;
  /// From y to x, where there are no tiles.
  AxisMap source;
  Tiles tiles;
};

__global__ void fetchKernel(AxisMap source, const Word *x, Word *y,
                            std::int64_t count) {
  for (std::int64_t i = cuda::firstIndex(); i < count; i += cuda::indexStride())
    y[i] = x[offsetOf(source, i)];
}

__global__ void tileKernel(Tiles tiles, const Word *x, Word *y) {
  // One column more than needed puts the elements of a column into different
  // banks.
  __shared__ Word tile[kTile][kTile + 1];
  int column = static_cast<int>(threadIdx.x);
  int firstRow = static_cast<int>(threadIdx.y);
  for (std::int64_t i = blockIdx.x; i < tiles.count; i += gridDim.x) {
    std::int64_t block = i / (tiles.across * tiles.down);
    std::int64_t place = i - block * (tiles.across * tiles.down);
    std::int64_t h0 = place / tiles.across * kTile;
    std::int64_t w0 = place % tiles.across * kTile;
    const Word *from = x + offsetOf(tiles.outerInX, block);
    Word *to = y + offsetOf(tiles.outerInY, block);
    for (int row = firstRow; row < kTile; row += kRows)
      if (h0 + column < tiles.height && w0 + row < tiles.width)
        tile[row][column] =
            from[(w0 + row) * tiles.widthStrideInX + h0 + column];
    __syncthreads();
    for (int row = firstRow; row < kTile; row += kRows)
      if (w0 + column < tiles.width && h0 + row < tiles.height)
        to[(h0 + row) * tiles.heightStrideInY + w0 + column] =
            tile[column][row];
    __syncthreads();
  }
}

} // namespace

static std::unique_ptr<Kernel::State> prepare(const Dims &shape,
                                              const Dims &perm) {
  checkShape("transpose", shape);
  checkPermutation("transpose", perm, shape.size());
  auto state = std::make_unique<TransposeState>();
  state->count = elementsOf(shape);
  Dims inX = rowMajorStrides(shape);
  Dims permutedSizes, permutedStrides;
  for (std::int64_t axis : perm) {
    permutedSizes.push_back(shape[axis]);
    permutedStrides.push_back(inX[axis]);
  }
  state->source = axisMap("transpose", permutedSizes, permutedStrides);

  // The axes of y after merging, and which of them is contiguous in x.
  const AxisMap &merged = state->source;
  int rank = merged.axes, contiguous = -1;
  for (int i = 0; i < rank; ++i)
    if (merged.stride[i] == 1)
      contiguous = i;
  if (state->count == 0 || contiguous < 0 || contiguous == rank - 1)
    return state;
  Dims sizes(merged.size, merged.size + rank);
  Dims inY = rowMajorStrides(sizes);
  Tiles &tiles = state->tiles;
  tiles.width = merged.size[rank - 1];
  tiles.widthStrideInX = merged.stride[rank - 1];
  tiles.height = merged.size[contiguous];
  tiles.heightStrideInY = inY[contiguous];
  tiles.across = (tiles.width + kTile - 1) / kTile;
  tiles.down = (tiles.height + kTile - 1) / kTile;
  tiles.count = tiles.across * tiles.down;
  // Merging again could pair up the axes of x and y differently, so these
  // maps keep all axes.
  for (int i = 0; i + 1 < rank; ++i) {
    if (i == contiguous)
      continue;
    int axis = tiles.outerInX.axes++;
    tiles.outerInY.axes++;
    tiles.outerInX.size[axis] = tiles.outerInY.size[axis] = merged.size[i];
    tiles.outerInX.stride[axis] = merged.stride[i];
    tiles.outerInY.stride[axis] = inY[i];
    tiles.count *= merged.size[i];
  }
  state->tiled = true;
  return state;
}

Transpose::Transpose(Device &, Dims shape, Dims perm)
    : Kernel(prepare(shape, perm)) {}

void Transpose::operator()(Stream &stream, const void *x, void *y) const {
  const auto &transpose = as<TransposeState>(state);
  stream.run("transpose", [&] {
    auto *from = static_cast<const Word *>(x);
    auto *to = static_cast<Word *>(y);
    if (transpose.tiled)
      cuda::launch(tileKernel, cuda::blocksFor(transpose.tiles.count, 1),
                   dim3(kTile, kRows), 0, stream, transpose.tiles, from, to);
    else
      cuda::launch(fetchKernel, cuda::blocksFor(transpose.count),
                   cuda::kThreads, 0, stream, transpose.source, from, to,
                   transpose.count);
  });
}
