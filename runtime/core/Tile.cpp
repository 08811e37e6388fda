//===- Tile.cpp - The part of a tensor that a rank holds --------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements Tile.h. Tiles are copied in runs that are contiguous in both
// places, which is the whole tile where only the outermost dimension is cut.
//
//===----------------------------------------------------------------------===//

#include "core/Tile.h"

#include <cstring>

using namespace partita;

std::vector<int> partita::coordinatesOf(const std::vector<GridAxis> &grid,
                                        int rank) {
  std::vector<int> coordinates(grid.size());
  for (std::size_t axis = grid.size(); axis-- > 0;) {
    coordinates[axis] = rank % grid[axis].size;
    rank /= grid[axis].size;
  }
  return coordinates;
}

Tile partita::tileOf(const Program &program, const Tensor &tensor, int rank) {
  std::vector<int> coordinates = coordinatesOf(program.grid, rank);
  Tile tile{Dims(tensor.dims.size(), 0), tensor.dims};
  for (std::size_t dim = 0; dim < tensor.splits.size(); ++dim) {
    const Split &split = tensor.splits[dim];
    if (split.axes.empty())
      continue;
    int part = 0;
    for (int axis : split.axes)
      part = part * program.grid[axis].size + coordinates[axis];
    tile.start[dim] = split.bounds[part];
    tile.size[dim] = split.bounds[part + 1] - split.bounds[part];
  }
  return tile;
}

bool partita::ownsTile(const Program &program, const Tensor &tensor, int rank) {
  std::vector<int> coordinates = coordinatesOf(program.grid, rank);
  for (const Split &split : tensor.splits)
    for (int axis : split.axes)
      coordinates[axis] = 0;
  for (int coordinate : coordinates)
    if (coordinate != 0)
      return false;
  return true;
}

/// Calls copy(offset in the whole, offset in the dense buffer, bytes) for every
/// contiguous run of the tile.
template <typename Copy>
static void forRuns(const Dims &dims, const Tile &tile,
                    std::size_t elementBytes, Copy copy) {
  if (tile.elements() == 0)
    return;
  // Inner dimensions that are held completely belong to one run.
  std::size_t outer = dims.size();
  std::int64_t run = 1, stride = 1;
  while (outer > 0) {
    --outer;
    run = stride * tile.size[outer];
    bool complete = tile.size[outer] == dims[outer];
    if (!complete)
      break;
    stride *= dims[outer];
  }
  std::vector<std::int64_t> strides(dims.size(), 1);
  for (std::size_t dim = dims.size(); dim-- > 1;)
    strides[dim - 1] = strides[dim] * dims[dim];
  std::int64_t first = 0;
  for (std::size_t dim = outer; dim < dims.size(); ++dim)
    first += tile.start[dim] * strides[dim];

  Dims index(outer, 0);
  std::int64_t done = 0;
  for (;;) {
    std::int64_t offset = first;
    for (std::size_t dim = 0; dim < outer; ++dim)
      offset += (tile.start[dim] + index[dim]) * strides[dim];
    copy(offset * elementBytes, done * elementBytes, run * elementBytes);
    done += run;
    std::size_t dim = outer;
    while (dim > 0 && ++index[dim - 1] == tile.size[dim - 1])
      index[--dim] = 0;
    if (dim == 0)
      return;
  }
}

void partita::copyTile(void *dense, const void *whole, const Dims &dims,
                       const Tile &tile, std::size_t elementBytes) {
  forRuns(dims, tile, elementBytes,
          [&](std::size_t from, std::size_t to, std::size_t bytes) {
            std::memcpy(static_cast<char *>(dense) + to,
                        static_cast<const char *>(whole) + from, bytes);
          });
}

void partita::placeTile(void *whole, const void *dense, const Dims &dims,
                        const Tile &tile, std::size_t elementBytes) {
  forRuns(dims, tile, elementBytes,
          [&](std::size_t to, std::size_t from, std::size_t bytes) {
            std::memcpy(static_cast<char *>(whole) + to,
                        static_cast<const char *>(dense) + from, bytes);
          });
}

//===----------------------------------------------------------------------===//
// Checking the tables
//===----------------------------------------------------------------------===//

namespace {

/// The tables come with the program; a fault here is a fault of whoever wrote
/// them, and is worth a sentence in place of a crash.
class TableCheck {
public:
  explicit TableCheck(const Program &program) : program(program) {}

  void run() {
    classes = program.arenaBytes.size();
    if (static_cast<int>(program.classOfRank.size()) != program.ranks())
      fail("classOfRank has " + std::to_string(program.classOfRank.size()) +
           " entries, expected one for each of " +
           std::to_string(program.ranks()) + " ranks");
    for (int rankClass : program.classOfRank)
      if (rankClass < 0 || rankClass >= static_cast<int>(classes))
        fail("a rank has class " + std::to_string(rankClass) +
             ", expected less than " + std::to_string(classes));
    if (program.globalBatch <= 0)
      fail("the batch has " + std::to_string(program.globalBatch) + " samples");
    for (const Input &input : program.inputs) {
      check(input.tensor);
      checkSamples(input.tensor);
    }
    for (const Variable &variable : program.variables)
      check(variable.tensor);
    for (const Tensor &gradient : program.gradients)
      check(gradient);
    check(program.loss);
    if (program.evalLoss) {
      check(*program.evalLoss);
      checkSamples(*program.evalLoss);
    }
    if (program.evalCorrect)
      check(*program.evalCorrect);
    for (const Tensor &prediction : program.predictions) {
      check(prediction);
      checkSamples(prediction);
    }
  }

private:
  [[noreturn]] void fail(const std::string &what) const {
    throw Error("the tables of program '" + program.name +
                "' contradict each other: " + what);
  }

  void checkSamples(const Tensor &tensor) const {
    if (tensor.dims.empty() || tensor.dims[0] != program.globalBatch)
      fail("'" + tensor.name + "' has shape " + toString(tensor.dims) +
           ", expected " + std::to_string(program.globalBatch) +
           " samples first");
  }

  void check(const Tensor &tensor) const {
    if (tensor.offsets.size() != classes)
      fail("'" + tensor.name + "' has " +
           std::to_string(tensor.offsets.size()) +
           " offsets, expected one for each of " + std::to_string(classes) +
           " rank classes");
    if (tensor.splits.size() > tensor.dims.size())
      fail("'" + tensor.name + "' has more splits than dimensions");
    for (std::size_t dim = 0; dim < tensor.splits.size(); ++dim)
      checkSplit(tensor, tensor.splits[dim], tensor.dims[dim]);
    for (int rank = 0; rank < program.ranks(); ++rank) {
      int rankClass = program.classOfRank[rank];
      std::int64_t offset = tensor.offsets[rankClass];
      std::int64_t bytes = tileOf(program, tensor, rank).elements() *
                           static_cast<std::int64_t>(sizeOf(tensor.type));
      if (offset < 0 || offset + bytes > program.arenaBytes[rankClass])
        fail("'" + tensor.name + "' lies outside the arena of rank " +
             std::to_string(rank));
    }
  }

  void checkSplit(const Tensor &tensor, const Split &split,
                  std::int64_t dim) const {
    if (split.axes.empty())
      return;
    std::size_t parts = 1;
    for (int axis : split.axes) {
      if (axis < 0 || axis >= static_cast<int>(program.grid.size()))
        fail("'" + tensor.name + "' is cut over an axis that is not there");
      parts *= program.grid[axis].size;
    }
    bool covers = split.bounds.size() == parts + 1 &&
                  split.bounds.front() == 0 && split.bounds.back() == dim;
    for (std::size_t i = 1; covers && i < split.bounds.size(); ++i)
      covers = split.bounds[i - 1] <= split.bounds[i];
    if (!covers)
      fail("the parts of '" + tensor.name + "' do not cover its shape " +
           toString(tensor.dims));
  }

  const Program &program;
  std::size_t classes = 0;
};

} // namespace

void partita::checkTables(const Program &program) { TableCheck(program).run(); }
