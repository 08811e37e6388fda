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

#include "core/ServerGroups.h"

#include <algorithm>
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

std::vector<int>
partita::axisIndices(const std::vector<GridAxis> &grid,
                     std::initializer_list<const char *> axes) {
  std::vector<int> indices;
  for (const char *name : axes) {
    auto found =
        std::find_if(grid.begin(), grid.end(),
                     [&](const GridAxis &axis) { return axis.name == name; });
    if (found == grid.end())
      throw Error(std::string("the grid has no axis '") + name + "'");
    indices.push_back(static_cast<int>(found - grid.begin()));
  }
  std::sort(indices.begin(), indices.end());
  indices.erase(std::unique(indices.begin(), indices.end()), indices.end());
  return indices;
}

std::vector<int> partita::groupOf(const std::vector<GridAxis> &grid, int rank,
                                  std::initializer_list<const char *> axes) {
  std::vector<bool> varies(grid.size(), false);
  for (int axis : axisIndices(grid, axes))
    varies[axis] = true;
  int ranks = 1;
  for (const GridAxis &axis : grid)
    ranks *= axis.size;
  std::vector<int> mine = coordinatesOf(grid, rank);
  std::vector<int> members;
  for (int other = 0; other < ranks; ++other) {
    std::vector<int> theirs = coordinatesOf(grid, other);
    bool member = true;
    for (std::size_t axis = 0; axis < grid.size(); ++axis)
      member &= varies[axis] || theirs[axis] == mine[axis];
    if (member)
      members.push_back(other);
  }
  return members;
}

/// Whether the split leaves a dimension as it is.
static bool isWhole(const Split &split) {
  return split.axes.empty() && split.ranges.empty();
}

Tile partita::tileOf(const std::vector<GridAxis> &grid, const Dims &dims,
                     const std::vector<Split> &splits, int rank) {
  std::vector<int> coordinates = coordinatesOf(grid, rank);
  Tile tile{Dims(dims.size(), 0), dims};
  for (std::size_t dim = 0; dim < splits.size(); ++dim) {
    const Split &split = splits[dim];
    if (isWhole(split))
      continue;
    int part = 0;
    for (int axis : split.axes)
      part = part * grid[axis].size + coordinates[axis];
    auto [begin, end] = split.range(part);
    tile.start[dim] = begin;
    tile.size[dim] = end - begin;
  }
  return tile;
}

Tile partita::tileOf(const Program &program, const Tensor &tensor, int rank) {
  return tileOf(program.grid, tensor.dims, tensor.splits, rank);
}

Tile partita::commonTile(const Tile &a, const Tile &b) {
  Tile common;
  for (std::size_t dim = 0; dim < a.start.size(); ++dim) {
    std::int64_t begin = std::max(a.start[dim], b.start[dim]);
    std::int64_t end =
        std::min(a.start[dim] + a.size[dim], b.start[dim] + b.size[dim]);
    common.start.push_back(begin);
    common.size.push_back(std::max<std::int64_t>(0, end - begin));
  }
  return common;
}

bool partita::liesInside(const Tile &inner, const Tile &outer) {
  return commonTile(inner, outer).elements() == inner.elements();
}

bool partita::hasTile(const Program &program, const Tensor &tensor, int rank) {
  return rank < program.workers() &&
         tensor.offsets[program.classOfRank[rank]] >= 0;
}

bool partita::ownsTile(const Program &program, const Tensor &tensor, int rank) {
  if (!hasTile(program, tensor, rank))
    return false;
  std::vector<int> coordinates = coordinatesOf(program.grid, rank);
  for (const Split &split : tensor.splits)
    for (int axis : split.axes)
      coordinates[axis] = 0;
  for (int coordinate : coordinates)
    if (coordinate != 0)
      return false;
  return true;
}

void partita::forRuns(const Dims &dims, const Tile &tile,
                      const std::function<void(std::int64_t, std::int64_t,
                                               std::int64_t)> &visit) {
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
    visit(offset, done, run);
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
  auto *to = static_cast<char *>(dense);
  auto *from = static_cast<const char *>(whole);
  auto bytes = static_cast<std::int64_t>(elementBytes);
  forRuns(dims, tile,
          [&](std::int64_t inWhole, std::int64_t inTile, std::int64_t count) {
            std::memcpy(to + inTile * bytes, from + inWhole * bytes,
                        static_cast<std::size_t>(count * bytes));
          });
}

void partita::placeTile(void *whole, const void *dense, const Dims &dims,
                        const Tile &tile, std::size_t elementBytes) {
  auto *to = static_cast<char *>(whole);
  auto *from = static_cast<const char *>(dense);
  auto bytes = static_cast<std::int64_t>(elementBytes);
  forRuns(dims, tile,
          [&](std::int64_t inWhole, std::int64_t inTile, std::int64_t count) {
            std::memcpy(to + inWhole * bytes, from + inTile * bytes,
                        static_cast<std::size_t>(count * bytes));
          });
}

//===----------------------------------------------------------------------===//
// Checking the tables
//===----------------------------------------------------------------------===//

/// What is wrong with the parts of a dimension; empty when nothing is.
static std::string complaintOnParts(const Split &split, std::size_t parts,
                                    std::int64_t dim, bool mayOverlap) {
  if (!split.ranges.empty()) {
    if (!mayOverlap)
      return "may overlap, expected bounds that cover its shape";
    bool fits = split.bounds.empty() && split.ranges.size() == 2 * parts;
    for (std::size_t i = 0; fits && i < parts; ++i) {
      auto [begin, end] = split.range(static_cast<int>(i));
      fits = 0 <= begin && begin <= end && end <= dim;
    }
    return fits ? "" : "lie outside its shape";
  }
  bool covers = split.bounds.size() == parts + 1 && split.bounds.front() == 0 &&
                split.bounds.back() == dim;
  for (std::size_t i = 1; covers && i < split.bounds.size(); ++i)
    covers = split.bounds[i - 1] <= split.bounds[i];
  return covers ? "" : "do not cover its shape";
}

std::string partita::faultOfSplits(const std::vector<GridAxis> &grid,
                                   const std::string &name, const Dims &dims,
                                   const std::vector<Split> &splits,
                                   bool mayOverlap) {
  if (splits.size() > dims.size())
    return "'" + name + "' has more splits than dimensions";
  std::vector<bool> used(grid.size(), false);
  for (std::size_t dim = 0; dim < splits.size(); ++dim) {
    const Split &split = splits[dim];
    if (isWhole(split))
      continue;
    std::size_t parts = 1;
    for (int axis : split.axes) {
      if (axis < 0 || axis >= static_cast<int>(grid.size()))
        return "'" + name + "' is cut over an axis that is not there";
      // Ranks would hold the tiles along a diagonal only.
      if (used[axis] && !mayOverlap)
        return "'" + name + "' is cut twice over the axis '" + grid[axis].name +
               "'";
      used[axis] = true;
      parts *= grid[axis].size;
    }
    std::string complaint =
        complaintOnParts(split, parts, dims[dim], mayOverlap);
    if (!complaint.empty())
      return "the parts of '" + name + "' " + complaint + " " + toString(dims);
  }
  return "";
}

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
      check(variable.tensor, isServed(variable));
    for (const ServedVariable &served : program.served)
      check(served);
    for (const Tensor &gradient : program.gradients)
      check(gradient);
    check(program.loss);
    if (program.evalLoss) {
      check(*program.evalLoss);
      checkSamples(*program.evalLoss);
    }
    if (program.evalCorrect) {
      check(*program.evalCorrect);
      checkSamples(*program.evalCorrect);
    }
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

  /// Whether only servers have a variable.
  bool isServed(const Variable &variable) const {
    auto isIt = [&](const ServedVariable &served) {
      return served.name == variable.tensor.name;
    };
    return variable.role == Role::optimizer &&
           std::any_of(program.served.begin(), program.served.end(), isIt);
  }

  void check(const ServedVariable &served) const {
    auto variable = std::find_if(
        program.variables.begin(), program.variables.end(),
        [&](const Variable &each) { return each.tensor.name == served.name; });
    if (variable == program.variables.end())
      fail("servers have '" + served.name + "', which is no variable");
    if (program.servers < 1 || served.offsets.size() != classes)
      fail("'" + served.name + "' has " +
           std::to_string(served.offsets.size()) +
           " lists of offsets on servers, expected one for each of " +
           std::to_string(classes) + " rank classes, and servers");
    ServerGroups groups(program, served.axes);
    for (int rank = program.workers(); rank < program.ranks(); ++rank) {
      int rankClass = program.classOfRank[rank];
      const std::vector<std::int64_t> &offsets = served.offsets[rankClass];
      if (static_cast<int>(offsets.size()) != groups.served(rank))
        fail("'" + served.name + "' has " + std::to_string(offsets.size()) +
             " places on " + program.nameOf(rank) + ", expected " +
             std::to_string(groups.served(rank)));
      for (int place = 0; place < groups.served(rank); ++place)
        checkPlace(variable->tensor, offsets[place], rank,
                   groups.leaderOf(groups.servedGroup(rank, place)));
    }
  }

  /// On `rank`, which has the tile of `worker`.
  void checkPlace(const Tensor &tensor, std::int64_t offset, int rank,
                  int worker) const {
    std::int64_t bytes = tileOf(program, tensor, worker).elements() *
                         static_cast<std::int64_t>(sizeOf(tensor.type));
    if (offset < 0 ||
        offset + bytes > program.arenaBytes[program.classOfRank[rank]])
      fail("'" + tensor.name + "' lies outside the arena of rank " +
           std::to_string(rank));
  }

  void check(const Tensor &tensor, bool isElsewhere = false) const {
    if (tensor.offsets.size() != classes)
      fail("'" + tensor.name + "' has " +
           std::to_string(tensor.offsets.size()) +
           " offsets, expected one for each of " + std::to_string(classes) +
           " rank classes");
    std::string complaint =
        faultOfSplits(program.grid, tensor.name, tensor.dims, tensor.splits,
                      /*mayOverlap=*/false);
    if (!complaint.empty())
      fail(complaint);
    for (int rank = 0; rank < program.workers(); ++rank) {
      std::int64_t offset = tensor.offsets[program.classOfRank[rank]];
      if (offset != -1 || !isElsewhere)
        checkPlace(tensor, offset, rank, rank);
    }
  }

  const Program &program;
  std::size_t classes = 0;
};

} // namespace

void partita::checkTables(const Program &program) { TableCheck(program).run(); }
