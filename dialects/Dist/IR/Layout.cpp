//===- Layout.cpp - Where the elements of a tensor live -------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Boxes of ranks from tables of parts.
//
//===----------------------------------------------------------------------===//

#include "dialects/Dist/IR/Layout.h"
#include "dialects/Dist/IR/Partition.h"
#include <algorithm>
#include <numeric>

using namespace partita::dist;

Range partita::dist::intersect(Range a, Range b) {
  int64_t begin = std::max(a.begin, b.begin);
  int64_t end = std::min(a.end, b.end);
  if (end < begin)
    begin = end = std::clamp(begin, a.begin, std::max(a.begin, a.end));
  return {begin, end};
}

bool partita::dist::isEmpty(const Box &box) {
  return std::any_of(box.begin(), box.end(),
                     [](Range range) { return range.empty(); });
}

int64_t partita::dist::elementsOf(const Box &box) {
  int64_t elements = 1;
  for (Range range : box)
    elements *= range.size();
  return elements;
}

Box partita::dist::intersect(const Box &a, const Box &b) {
  Box result;
  for (size_t i = 0; i < a.size(); ++i)
    result.push_back(intersect(a[i], b[i]));
  return result;
}

//===----------------------------------------------------------------------===//
// Grid
//===----------------------------------------------------------------------===//

int64_t Grid::numRanks() const {
  int64_t ranks = 1;
  for (int64_t size : sizes)
    ranks *= size;
  return ranks;
}

int64_t Grid::coordinate(int64_t rank, int axis) const {
  for (size_t i = sizes.size(); i-- > static_cast<size_t>(axis) + 1;)
    rank /= sizes[i];
  return rank % sizes[axis];
}

std::vector<int64_t> Grid::coordinates(int64_t rank) const {
  std::vector<int64_t> result(sizes.size());
  for (size_t i = sizes.size(); i-- > 0;) {
    result[i] = rank % sizes[i];
    rank /= sizes[i];
  }
  return result;
}

int64_t Grid::rankOf(const std::vector<int64_t> &coordinates) const {
  int64_t rank = 0;
  for (size_t i = 0; i < sizes.size(); ++i)
    rank = rank * sizes[i] + coordinates[i];
  return rank;
}

int64_t Grid::partsOf(const std::vector<int> &axes) const {
  int64_t parts = 1;
  for (int axis : axes)
    parts *= sizes[axis];
  return parts;
}

int64_t Grid::partOf(int64_t rank, const std::vector<int> &axes) const {
  int64_t part = 0;
  for (int axis : axes)
    part = part * sizes[axis] + coordinate(rank, axis);
  return part;
}

//===----------------------------------------------------------------------===//
// Cuts and layouts
//===----------------------------------------------------------------------===//

Range DimCut::rangeOf(int64_t size, int64_t parts, int64_t part) const {
  if (!ranges.empty())
    return part < static_cast<int64_t>(ranges.size()) ? ranges[part]
                                                      : Range{size, size};
  auto bounds = partBounds(size, parts, part, block);
  return {bounds.first, bounds.second};
}

bool Layout::isCut() const {
  return std::any_of(dims.begin(), dims.end(),
                     [](const DimCut &cut) { return !cut.axes.empty(); });
}

Box partita::dist::boxOf(const Grid &grid, const Layout &layout,
                         const Sizes &sizes, int64_t rank) {
  Box box;
  box.reserve(sizes.size());
  for (size_t d = 0; d < sizes.size(); ++d) {
    const DimCut &cut = layout.dims[d];
    if (cut.axes.empty())
      box.push_back({0, sizes[d]});
    else
      box.push_back(cut.rangeOf(sizes[d], grid.partsOf(cut.axes),
                                grid.partOf(rank, cut.axes)));
  }
  return box;
}

std::vector<Range> partita::dist::rangesOf(const Grid &grid, const DimCut &cut,
                                           int64_t size) {
  int64_t parts = grid.partsOf(cut.axes);
  if (cut.axes.empty())
    return {{0, size}};
  std::vector<Range> ranges;
  for (int64_t part = 0; part < parts; ++part)
    ranges.push_back(cut.rangeOf(size, parts, part));
  return ranges;
}

bool partita::dist::isTiling(const Grid &grid, const Layout &layout,
                             const Sizes &sizes) {
  for (size_t d = 0; d < sizes.size(); ++d) {
    std::vector<Range> ranges = rangesOf(grid, layout.dims[d], sizes[d]);
    std::sort(ranges.begin(), ranges.end());
    int64_t covered = 0;
    for (Range range : ranges) {
      if (range.empty())
        continue;
      if (range.begin != covered)
        return false;
      covered = range.end;
    }
    if (covered != sizes[d])
      return false;
  }
  return true;
}

namespace {

/// The parts of balanced blocks.
std::vector<Range> balanced(int64_t size, int64_t parts, int64_t block) {
  DimCut cut;
  cut.block = block;
  std::vector<Range> ranges;
  for (int64_t part = 0; part < parts; ++part)
    ranges.push_back(cut.rangeOf(size, parts, part));
  return ranges;
}

/// Whether ranges hold the same; empty ones may lie anywhere.
bool sameRange(Range a, Range b) { return (a.empty() && b.empty()) || a == b; }

bool sameRanges(const std::vector<Range> &a, const std::vector<Range> &b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), sameRange);
}

/// Leaves out axes of size 1.
std::vector<int> realAxes(const Grid &grid, const std::vector<int> &axes) {
  std::vector<int> result;
  for (int axis : axes)
    if (grid.sizes[axis] > 1)
      result.push_back(axis);
  return result;
}

DimCut simplify(const Grid &grid, const DimCut &cut, int64_t size) {
  DimCut result;
  result.axes = realAxes(grid, cut.axes);
  if (result.axes.empty())
    return result;
  std::vector<Range> ranges = rangesOf(grid, cut, size);
  int64_t parts = ranges.size();
  if (sameRanges(ranges, balanced(size, parts, 1)))
    return result;
  int64_t block = size;
  for (Range range : ranges)
    if (!range.empty())
      block = std::gcd(block, std::gcd(range.begin, range.end));
  if (block > 1 && sameRanges(ranges, balanced(size, parts, block))) {
    result.block = block;
    return result;
  }
  // An empty part lies where the part before it ends.
  int64_t end = 0;
  for (Range &range : ranges) {
    if (range.empty())
      range = {end, end};
    end = range.end;
  }
  result.ranges = std::move(ranges);
  return result;
}

} // namespace

Layout partita::dist::simplify(const Grid &grid, Layout layout,
                               const Sizes &sizes) {
  for (size_t d = 0; d < sizes.size(); ++d)
    layout.dims[d] = ::simplify(grid, layout.dims[d], sizes[d]);
  layout.partial = realAxes(grid, layout.partial);
  layout.varying = realAxes(grid, layout.varying);
  if (layout.partial.empty())
    layout.combine = Combine::none;
  return layout;
}

bool partita::dist::sameBoxes(const Grid &grid, const Layout &a,
                              const Layout &b, const Sizes &sizes) {
  for (size_t d = 0; d < sizes.size(); ++d) {
    DimCut x = ::simplify(grid, a.dims[d], sizes[d]);
    DimCut y = ::simplify(grid, b.dims[d], sizes[d]);
    if (x == y)
      continue;
    // Other words may say the same: a table that gives all ranks everything.
    std::vector<Range> left = rangesOf(grid, x, sizes[d]);
    std::vector<Range> right = rangesOf(grid, y, sizes[d]);
    for (int64_t rank = 0, ranks = grid.numRanks(); rank < ranks; ++rank)
      if (!sameRange(left[grid.partOf(rank, x.axes)],
                     right[grid.partOf(rank, y.axes)]))
        return false;
  }
  return true;
}
