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

namespace partita {

/// A box inside a tensor: where it starts and how large it is, per dimension.
struct Tile {
  Dims start;
  Dims size;

  std::int64_t elements() const { return elementsOf(size); }
};

/// The index of a rank on each axis of the grid.
std::vector<int> coordinatesOf(const std::vector<GridAxis> &grid, int rank);

/// The tile that a rank holds.
Tile tileOf(const Program &program, const Tensor &tensor, int rank);

/// Whether a rank is the first of those that hold the same tile. The tiles of
/// the owners cover the tensor exactly once.
bool ownsTile(const Program &program, const Tensor &tensor, int rank);

/// Copies the tile out of a whole row-major tensor into a dense buffer, and
/// back. Neither needs to be aligned.
void copyTile(void *dense, const void *whole, const Dims &dims,
              const Tile &tile, std::size_t elementBytes);
void placeTile(void *whole, const void *dense, const Dims &dims,
               const Tile &tile, std::size_t elementBytes);

/// Throws `Error` when the tables of a program contradict each other.
void checkTables(const Program &program);

} // namespace partita

#endif // PARTITA_CORE_TILE_H
