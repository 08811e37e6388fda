//===- Layout.h - Where the elements of a tensor live ----------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The arithmetic of layouts, in plain C++ without IR.
//
// P ranks form a grid with axes of sizes P = p0 * p1 * ...; rank r has one
// coordinate per axis, the last axis varying fastest. A layout says which box
// of a tensor each rank holds, and what the numbers in it mean:
//
//   cut         A dimension is cut over an ordered list of axes into parts, one
//               per combination of their coordinates (the first axis slowest).
//               Parts are balanced, balanced in blocks, or given by a table.
//   replicated  An axis that is not mentioned: ranks that differ only there
//               hold the same box with the same numbers.
//   partial     Ranks that differ only there hold the same box; the tensor is
//               the sum (max, min, product) of what they hold.
//   varying     Ranks that differ only there hold the same box with numbers of
//               their own, as local batch statistics are.
//
//                        grid row = 2, col = 2,  tensor [4, 6]
//
//      [[row], [col]]            [[], [col, row]]         [[row], []]
//      +-----+-----+             +--+--+--+--+            +-----------+
//      |  0  |  1  |             |  |  |  |  |            |   0, 1    |
//      +-----+-----+             |0 |2 |1 |3 |            +-----------+
//      |  2  |  3  |             |  |  |  |  |            |   2, 3    |
//      +-----+-----+             +--+--+--+--+            +-----------+
//
// A layout tiles when the boxes of ranks that differ on cutting axes cover
// every element exactly once. Tables may also overlap: a rank then holds rows
// of its neighbours too, which is what a halo is. Values are kept in tiling
// layouts only; overlapping ones are what an operation asks for.
//
// Nothing here computes a global size from a local one: all sizes and offsets
// of all ranks come from the same table (uneven parts, empty parts).
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_DIALECTS_DIST_IR_LAYOUT_H
#define PARTITA_DIALECTS_DIST_IR_LAYOUT_H

#include <cstdint>
#include <string>
#include <vector>

namespace partita::dist {

/// A half-open range of indices; empty when end <= begin.
struct Range {
  int64_t begin = 0;
  int64_t end = 0;

  int64_t size() const { return end > begin ? end - begin : 0; }
  bool empty() const { return end <= begin; }
  bool contains(Range other) const {
    return other.empty() || (begin <= other.begin && other.end <= end);
  }
  bool operator==(const Range &other) const {
    return begin == other.begin && end == other.end;
  }
  bool operator!=(const Range &other) const { return !(*this == other); }
  bool operator<(const Range &other) const {
    return begin != other.begin ? begin < other.begin : end < other.end;
  }
};

/// The common part; empty ranges keep a begin inside `a` where they can.
Range intersect(Range a, Range b);

/// One range per dimension.
using Box = std::vector<Range>;

/// Whether a box holds no element. A box without dimensions holds one.
bool isEmpty(const Box &box);
int64_t elementsOf(const Box &box);
Box intersect(const Box &a, const Box &b);

/// A process grid: sizes of the axes. Ranks are numbered row-major.
struct Grid {
  std::vector<int64_t> sizes;

  int64_t numRanks() const;
  int64_t coordinate(int64_t rank, int axis) const;
  std::vector<int64_t> coordinates(int64_t rank) const;
  int64_t rankOf(const std::vector<int64_t> &coordinates) const;
  /// The product of the sizes of `axes`.
  int64_t partsOf(const std::vector<int> &axes) const;
  /// The index of `rank` among the parts of a dimension cut over `axes`.
  int64_t partOf(int64_t rank, const std::vector<int> &axes) const;
};

/// How one dimension is dealt out.
struct DimCut {
  /// The axes, the coarsest first; empty: every rank has the whole dimension.
  std::vector<int> axes = {};
  /// Balanced parts take whole blocks of this many elements.
  int64_t block = 1;
  /// One range per part; empty: balanced.
  std::vector<Range> ranges = {};

  /// The range of part `part` of `parts` of a dimension of `size` elements.
  Range rangeOf(int64_t size, int64_t parts, int64_t part) const;
  bool operator==(const DimCut &other) const {
    return axes == other.axes && block == other.block && ranges == other.ranges;
  }
  bool operator!=(const DimCut &other) const { return !(*this == other); }
};

/// How partial values combine.
enum class Combine { none, sum, max, min, prod };

/// Where the elements of a tensor live.
struct Layout {
  std::vector<DimCut> dims;
  Combine combine = Combine::none;
  /// Axes over which values are partial; not empty exactly when `combine` is
  /// not none. In increasing order.
  std::vector<int> partial = {};
  /// Axes over which values vary. In increasing order.
  std::vector<int> varying = {};

  static Layout replicated(size_t rank) {
    Layout layout;
    layout.dims.resize(rank);
    return layout;
  }
  bool isPartial() const { return !partial.empty(); }
  bool isCut() const;
  bool operator==(const Layout &other) const {
    return dims == other.dims && combine == other.combine &&
           partial == other.partial && varying == other.varying;
  }
  bool operator!=(const Layout &other) const { return !(*this == other); }
};

/// Sizes of a tensor's dimensions.
using Sizes = std::vector<int64_t>;

/// The box that `rank` holds.
Box boxOf(const Grid &grid, const Layout &layout, const Sizes &sizes,
          int64_t rank);

/// The ranges of all parts of a cut dimension of `size` elements.
std::vector<Range> rangesOf(const Grid &grid, const DimCut &cut, int64_t size);

/// Whether the parts of every dimension cover it exactly once.
bool isTiling(const Grid &grid, const Layout &layout, const Sizes &sizes);

/// The same boxes in the simplest words: axes of size 1 are left out, a table
/// that says what balanced parts are is left out, a block of one part too.
/// Layouts that hold the same boxes for the same axes become equal.
Layout simplify(const Grid &grid, Layout layout, const Sizes &sizes);

/// Whether all ranks have equal boxes under both (partial and varying axes are
/// not looked at).
bool sameBoxes(const Grid &grid, const Layout &a, const Layout &b,
               const Sizes &sizes);

} // namespace partita::dist

#endif // PARTITA_DIALECTS_DIST_IR_LAYOUT_H
