//===- Tile.h - The part of a tensor that a rank holds ----------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Turns the split tables of a program into extents, and copies between whole
// tensors and tiles.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_CORE_TILE_H
#define PARTITA_CORE_TILE_H

#include "partita/program.h"

#include <functional>
#include <initializer_list>

namespace partita {

/// A box inside a tensor: where it starts and how large it is, per dimension.
struct Tile {
  Dims start;
  Dims size;

  std::int64_t elements() const { return elementsOf(size); }
};

/// The index of a rank on each axis of the grid.
std::vector<int> coordinatesOf(const std::vector<GridAxis> &grid, int rank);

/// The places of the named axes in the grid, ascending. Throws `Error` for an
/// axis that it does not have.
std::vector<int> axisIndices(const std::vector<GridAxis> &grid,
                             std::initializer_list<const char *> axes);

/// The ranks, this one among them, that differ from `rank` on the named axes
/// only, ascending. Throws `Error` for an axis that the grid does not have.
std::vector<int> groupOf(const std::vector<GridAxis> &grid, int rank,
                         std::initializer_list<const char *> axes);

/// Whether a rank has a part of a tensor, if only an empty one: a worker, where
/// the tensor lies in its arena.
bool hasTile(const Program &program, const Tensor &tensor, int rank);

/// The tile that a rank holds of a tensor with these sizes and splits.
Tile tileOf(const std::vector<GridAxis> &grid, const Dims &dims,
            const std::vector<Split> &splits, int rank);
Tile tileOf(const Program &program, const Tensor &tensor, int rank);

/// What two tiles of one tensor have in common; without elements where they do
/// not meet.
Tile commonTile(const Tile &a, const Tile &b);

/// Whether every element of the inner tile lies in the outer one.
bool liesInside(const Tile &inner, const Tile &outer);

/// Whether a rank is the first of those that hold the same tile. The tiles of
/// the owners cover the tensor exactly once.
bool ownsTile(const Program &program, const Tensor &tensor, int rank);

/// Calls visit(offset in the whole tensor, offset in the dense tile, elements)
/// for every run of elements that follow each other in both, in order.
void forRuns(
    const Dims &dims, const Tile &tile,
    const std::function<void(std::int64_t, std::int64_t, std::int64_t)> &visit);

/// Copies the tile out of a whole row-major tensor into a dense buffer, and
/// back. Neither needs to be aligned.
void copyTile(void *dense, const void *whole, const Dims &dims,
              const Tile &tile, std::size_t elementBytes);
void placeTile(void *whole, const void *dense, const Dims &dims,
               const Tile &tile, std::size_t elementBytes);

/// What is wrong with the splits of a tensor that messages call `name`; empty
/// when nothing is. Unless `mayOverlap`, the tiles have to cover the tensor,
/// and only ranks that agree on the axes of all splits hold an element
/// together.
std::string faultOfSplits(const std::vector<GridAxis> &grid,
                          const std::string &name, const Dims &dims,
                          const std::vector<Split> &splits, bool mayOverlap);

/// Throws `Error` when the tables of a program contradict each other.
void checkTables(const Program &program);

} // namespace partita

#endif // PARTITA_CORE_TILE_H
