//===- LayoutTest.cpp - Boxes of ranks --------------------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Boxes worked out by hand, and layouts that say the same in other words.
//
//===----------------------------------------------------------------------===//

#include "dialects/Dist/IR/Layout.h"

#include "gtest/gtest.h"

namespace partita::dist {

/// Prints ranges as in #dist.layout.
static std::ostream &operator<<(std::ostream &stream, Range range) {
  return stream << range.begin << ':' << range.end;
}

} // namespace partita::dist

using namespace partita::dist;

namespace {

using Ranges = std::vector<Range>;

DimCut over(std::vector<int> axes, int64_t block = 1) {
  return {std::move(axes), block, {}};
}
DimCut at(std::vector<int> axes, Ranges ranges) {
  return {std::move(axes), 1, std::move(ranges)};
}
Layout cut(std::vector<DimCut> dims) {
  Layout layout;
  layout.dims = std::move(dims);
  return layout;
}

/// What each rank holds of the only dimension.
Ranges partsOfRanks(const Grid &grid, const DimCut &dim, int64_t size) {
  Ranges ranges;
  for (int64_t rank = 0; rank < grid.numRanks(); ++rank)
    ranges.push_back(boxOf(grid, cut({dim}), {size}, rank)[0]);
  return ranges;
}

//===----------------------------------------------------------------------===//
// Ranges and boxes
//===----------------------------------------------------------------------===//

TEST(Range, Sizes) {
  EXPECT_EQ((Range{2, 5}).size(), 3);
  EXPECT_EQ((Range{5, 5}).size(), 0);
  EXPECT_EQ((Range{5, 2}).size(), 0);
  EXPECT_TRUE((Range{5, 2}).empty());
}

TEST(Range, ContainsEmptyOnesAnywhere) {
  EXPECT_TRUE((Range{2, 5}).contains({2, 5}));
  EXPECT_FALSE((Range{2, 5}).contains({1, 3}));
  EXPECT_FALSE((Range{2, 5}).contains({4, 6}));
  EXPECT_TRUE((Range{2, 5}).contains({9, 9}));
}

TEST(Range, Intersections) {
  EXPECT_EQ(intersect(Range{0, 4}, Range{2, 6}), (Range{2, 4}));
  EXPECT_EQ(intersect(Range{0, 9}, Range{3, 5}), (Range{3, 5}));
  for (auto [a, b] : {std::pair(Range{0, 2}, Range{4, 6}),
                      std::pair(Range{4, 6}, Range{0, 2}),
                      std::pair(Range{0, 2}, Range{2, 4})}) {
    Range none = intersect(a, b);
    EXPECT_EQ(none.size(), 0);
    EXPECT_TRUE(a.begin <= none.begin && none.begin <= a.end);
  }
}

TEST(Box, ElementsAndIntersections) {
  Box box{{0, 2}, {3, 6}};
  EXPECT_EQ(elementsOf(box), 6);
  EXPECT_FALSE(isEmpty(box));
  EXPECT_EQ(intersect(box, {{1, 4}, {0, 5}}), (Box{{1, 2}, {3, 5}}));
  EXPECT_TRUE(isEmpty(intersect(box, {{2, 4}, {0, 5}})));
}

// A number is a tensor without dimensions.
TEST(Box, WithoutDimensionsHoldsOneElement) {
  EXPECT_EQ(elementsOf({}), 1);
  EXPECT_FALSE(isEmpty({}));
  EXPECT_EQ(boxOf({{2}}, cut({}), {}, 1), Box());
  EXPECT_TRUE(isTiling({{2}}, cut({}), {}));
}

//===----------------------------------------------------------------------===//
// Grids
//===----------------------------------------------------------------------===//

TEST(Grid, RanksAreRowMajor) {
  Grid grid{{2, 3}};
  EXPECT_EQ(grid.numRanks(), 6);
  EXPECT_EQ(grid.coordinates(4), (std::vector<int64_t>{1, 1}));
  EXPECT_EQ(grid.coordinate(5, 0), 1);
  EXPECT_EQ(grid.coordinate(5, 1), 2);
  for (int64_t rank = 0; rank < 6; ++rank)
    EXPECT_EQ(grid.rankOf(grid.coordinates(rank)), rank);
}

TEST(Grid, TheFirstAxisOfACutIsTheSlowest) {
  Grid grid{{2, 3}};
  EXPECT_EQ(grid.partsOf({}), 1);
  EXPECT_EQ(grid.partsOf({1, 0}), 6);
  // Rank 4 has coordinates 1, 1.
  EXPECT_EQ(grid.partOf(4, {}), 0);
  EXPECT_EQ(grid.partOf(4, {0, 1}), 4);
  EXPECT_EQ(grid.partOf(4, {1, 0}), 3);
}

TEST(Grid, WithoutAxesIsOneRank) {
  Grid grid;
  EXPECT_EQ(grid.numRanks(), 1);
  EXPECT_EQ(boxOf(grid, cut({{}}), {5}, 0), (Box{{0, 5}}));
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

TEST(Layout, BalancedParts) {
  EXPECT_EQ(partsOfRanks({{4}}, over({0}), 8),
            (Ranges{{0, 2}, {2, 4}, {4, 6}, {6, 8}}));
}

// 11 = 3 + 3 + 3 + 2.
TEST(Layout, UnevenParts) {
  EXPECT_EQ(partsOfRanks({{4}}, over({0}), 11),
            (Ranges{{0, 3}, {3, 6}, {6, 9}, {9, 11}}));
}

TEST(Layout, EmptyParts) {
  Ranges parts = partsOfRanks({{4}}, over({0}), 2);
  EXPECT_EQ(parts[1], (Range{1, 2}));
  EXPECT_EQ(parts[2].size(), 0);
  EXPECT_EQ(parts[3].size(), 0);
  EXPECT_TRUE(isTiling({{4}}, cut({over({0})}), {2}));
  EXPECT_TRUE(isTiling({{4}}, cut({over({0})}), {0}));
}

// Three samples of four rows on two ranks: two and one.
TEST(Layout, BlocksStayWhole) {
  EXPECT_EQ(partsOfRanks({{2}}, over({0}, 4), 12), (Ranges{{0, 8}, {8, 12}}));
}

// Case D04: ten rows dealt out 3, 3, 3, 1.
TEST(Layout, TableOfUnevenRows) {
  DimCut rows = at({0}, {{0, 3}, {3, 6}, {6, 9}, {9, 10}});
  Grid grid{{4}};
  EXPECT_EQ(partsOfRanks(grid, rows, 10),
            (Ranges{{0, 3}, {3, 6}, {6, 9}, {9, 10}}));
  EXPECT_TRUE(isTiling(grid, cut({rows}), {10}));
  EXPECT_EQ(boxOf(grid, cut({rows, {}}), {10, 4}, 3), (Box{{9, 10}, {0, 4}}));
  // Balanced parts would be 3, 3, 2, 2: the table says something of its own.
  EXPECT_EQ(simplify(grid, cut({rows}), {10}), cut({rows}));
}

// The pictures in Layout.h.
TEST(Layout, TwoDimensions) {
  Grid grid{{2, 2}};
  Layout both = cut({over({0}), over({1})});
  EXPECT_EQ(boxOf(grid, both, {4, 6}, 1), (Box{{0, 2}, {3, 6}}));
  EXPECT_EQ(boxOf(grid, both, {4, 6}, 2), (Box{{2, 4}, {0, 3}}));
  Layout rows = cut({over({0}), {}});
  EXPECT_EQ(boxOf(grid, rows, {4, 6}, 0), boxOf(grid, rows, {4, 6}, 1));
}

TEST(Layout, TwoAxesOnOneDimension) {
  Grid grid{{2, 2}};
  EXPECT_EQ(partsOfRanks(grid, over({0, 1}), 8),
            (Ranges{{0, 2}, {2, 4}, {4, 6}, {6, 8}}));
  // Columns over [col, row]: rank 1 (row 0, col 1) has the third quarter.
  EXPECT_EQ(partsOfRanks(grid, over({1, 0}), 8),
            (Ranges{{0, 2}, {4, 6}, {2, 4}, {6, 8}}));
}

TEST(Layout, RangesOfPartsNotOfRanks) {
  Grid grid{{2, 3}};
  EXPECT_EQ(rangesOf(grid, over({1}), 7), (Ranges{{0, 3}, {3, 5}, {5, 7}}));
  EXPECT_EQ(rangesOf(grid, {}, 7), (Ranges{{0, 7}}));
}

//===----------------------------------------------------------------------===//
// Properties
//===----------------------------------------------------------------------===//

TEST(Layout, HalosDoNotTile) {
  EXPECT_FALSE(isTiling({{2}}, cut({at({0}, {{0, 5}, {3, 8}})}), {8}));
}

TEST(Layout, GapsDoNotTile) {
  EXPECT_FALSE(isTiling({{2}}, cut({at({0}, {{0, 3}, {4, 8}})}), {8}));
  EXPECT_FALSE(isTiling({{2}}, cut({at({0}, {{0, 3}, {3, 7}})}), {8}));
}

TEST(Layout, PartsTileInAnyOrder) {
  EXPECT_TRUE(isTiling({{3}}, cut({at({0}, {{6, 8}, {0, 4}, {4, 6}})}), {8}));
}

TEST(Layout, IsCut) {
  EXPECT_FALSE(Layout::replicated(2).isCut());
  EXPECT_TRUE(cut({{}, over({0})}).isCut());
}

TEST(Simplify, AxesOfSizeOneGo) {
  Grid grid{{1, 2, 1}};
  Layout layout = cut({over({0, 1, 2}), over({})});
  layout.combine = Combine::sum;
  layout.partial = {0};
  EXPECT_EQ(simplify(grid, layout, {8, 4}), cut({over({1}), over({})}));
  Layout varying = cut({over({1})});
  varying.varying = {0, 2};
  EXPECT_EQ(simplify(grid, varying, {8}), cut({over({1})}));
}

TEST(Simplify, TablesOfBalancedParts) {
  Grid grid{{2}};
  EXPECT_EQ(simplify(grid, cut({at({0}, {{0, 3}, {3, 5}})}), {5}),
            cut({over({0})}));
  EXPECT_EQ(simplify(grid, cut({at({0}, {{0, 8}, {8, 12}})}), {12}),
            cut({over({0}, 4)}));
}

TEST(Simplify, BlocksThatChangeNothing) {
  EXPECT_EQ(simplify({{2}}, cut({over({0}, 4)}), {8}), cut({over({0})}));
  EXPECT_EQ(simplify({{2}}, cut({over({}, 4)}), {8}), cut({over({})}));
}

// Where an empty part lies says nothing.
TEST(Simplify, EmptyParts) {
  Grid grid{{3}};
  Layout a = cut({at({0}, {{0, 0}, {0, 5}, {5, 5}})});
  Layout b = cut({at({0}, {{4, 4}, {0, 5}, {2, 1}})});
  EXPECT_EQ(simplify(grid, a, {5}), simplify(grid, b, {5}));
  EXPECT_TRUE(sameBoxes(grid, a, b, {5}));
}

// Whatever simplify leaves out, all ranks keep their boxes.
TEST(Simplify, KeepsBoxes) {
  Grid grid{{2, 1, 3}};
  for (int64_t size : {0, 1, 6, 12, 13})
    for (int64_t block : {1, 2, 3})
      for (const std::vector<int> &axes :
           std::vector<std::vector<int>>{{}, {0}, {2, 0}, {0, 1, 2}, {1}}) {
        if (size % block)
          continue;
        Layout layout = cut({over(axes, block)});
        Layout simple = simplify(grid, layout, {size});
        EXPECT_EQ(simplify(grid, simple, {size}), simple);
        EXPECT_TRUE(sameBoxes(grid, layout, simple, {size}));
        for (int64_t rank = 0; rank < grid.numRanks(); ++rank)
          EXPECT_EQ(elementsOf(boxOf(grid, layout, {size}, rank)),
                    elementsOf(boxOf(grid, simple, {size}, rank)));
      }
}

TEST(SameBoxes, OtherWordsAndOtherBoxes) {
  Grid grid{{2, 2}};
  Sizes sizes{8};
  EXPECT_TRUE(sameBoxes(grid, cut({over({0})}),
                        cut({at({0}, {{0, 4}, {4, 8}})}), sizes));
  EXPECT_FALSE(sameBoxes(grid, cut({over({0})}),
                         cut({at({0}, {{0, 5}, {5, 8}})}), sizes));
  EXPECT_FALSE(sameBoxes(grid, cut({over({0})}), cut({over({1})}), sizes));
  EXPECT_FALSE(
      sameBoxes(grid, cut({over({0, 1})}), cut({over({1, 0})}), sizes));
  EXPECT_FALSE(sameBoxes(grid, cut({over({0})}), cut({over({})}), sizes));
}

// A halo so wide that every rank has everything is a whole dimension.
TEST(SameBoxes, EverythingEverywhere) {
  EXPECT_TRUE(sameBoxes({{2}}, cut({at({0}, {{0, 8}, {0, 8}})}),
                        Layout::replicated(1), {8}));
}

TEST(SameBoxes, PartialAxesAreNotLookedAt) {
  Layout partial = Layout::replicated(1);
  partial.combine = Combine::sum;
  partial.partial = {0};
  EXPECT_TRUE(sameBoxes({{2}}, partial, Layout::replicated(1), {8}));
}

} // namespace
