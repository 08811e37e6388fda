//===- RedistributionTest.cpp - Moves against gather-then-slice -*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Pairs of layouts - balanced, in blocks, by tables, partial, varying, with
// halos - whose moves are carried out on numbers. Every rank must end with what
// it would have taken from the whole tensor.
//
//===----------------------------------------------------------------------===//

#include "Simulator.h"

#include <random>
#include <set>

using namespace partita::dist;
using namespace partita::dist::test;

namespace {

/// Layouts by chance, the same ones on every machine.
class Chance {
public:
  Chance(uint32_t seed) : engine(seed) {}

  /// A number from 0 up to `end`, which is left out.
  int64_t below(int64_t end) {
    return static_cast<int64_t>(engine() % static_cast<uint64_t>(end));
  }
  bool oneIn(int64_t n) { return below(n) == 0; }

  Sizes sizes(size_t rank) {
    Sizes result;
    for (size_t i = 0; i < rank; ++i)
      result.push_back(1 + below(7));
    return result;
  }

  /// Axes dealt to dimensions in any order; `free` may cut, others may not.
  Layout cuts(const Grid &grid, const Sizes &sizes, std::vector<int> free) {
    Layout layout = Layout::replicated(sizes.size());
    for (size_t i = free.size(); i > 1; --i)
      std::swap(free[i - 1], free[below(static_cast<int64_t>(i))]);
    for (int axis : free) {
      int64_t place = below(static_cast<int64_t>(sizes.size()) + 1);
      if (place < static_cast<int64_t>(sizes.size()))
        layout.dims[place].axes.push_back(axis);
    }
    for (size_t d = 0; d < sizes.size(); ++d)
      if (!layout.dims[d].axes.empty())
        choosePartsThatTile(grid, layout.dims[d], sizes[d]);
    return layout;
  }

  /// A table of ranges that may overlap and leave gaps.
  void chooseAnyParts(const Grid &grid, DimCut &cut, int64_t size) {
    bool isHalo = !oneIn(3);
    std::vector<Range> parts = rangesOf(grid, cut, size);
    for (Range &part : parts)
      if (isHalo && !part.empty())
        part = {std::max<int64_t>(0, part.begin - below(4)),
                std::min(size, part.end + below(4))};
      else if (!isHalo) {
        part.begin = below(size + 1);
        part.end = part.begin + below(size + 1 - part.begin);
      }
    cut.block = 1;
    cut.ranges = parts;
  }

private:
  void choosePartsThatTile(const Grid &grid, DimCut &cut, int64_t size) {
    int64_t kind = below(4), parts = grid.partsOf(cut.axes);
    if (kind < 2)
      return;
    if (kind == 2) {
      for (int64_t block : {2, 3})
        if (size % block == 0)
          cut.block = block;
      return;
    }
    std::vector<int64_t> borders{0, size};
    for (int64_t i = 1; i < parts; ++i)
      borders.push_back(below(size + 1));
    std::sort(borders.begin(), borders.end());
    for (int64_t i = 0; i < parts; ++i)
      cut.ranges.push_back({borders[i], borders[i + 1]});
    // Parts need not lie in the order of their numbers.
    if (oneIn(3))
      std::swap(cut.ranges.front(), cut.ranges.back());
  }

  std::mt19937 engine;
};

/// A pair of layouts, and how to say it.
struct Case {
  Grid grid;
  Sizes sizes;
  Layout from, to;
};

std::ostream &operator<<(std::ostream &stream, const Layout &layout) {
  auto print = [&](const std::vector<int> &axes) {
    for (int axis : axes)
      stream << " a" << axis;
  };
  for (const DimCut &cut : layout.dims) {
    stream << "[";
    print(cut.axes);
    stream << " by " << cut.block << " at";
    for (Range range : cut.ranges)
      stream << ' ' << range.begin << ':' << range.end;
    stream << ']';
  }
  stream << " partial " << static_cast<int>(layout.combine);
  print(layout.partial);
  stream << " varying";
  print(layout.varying);
  return stream;
}

std::ostream &operator<<(std::ostream &stream, const Case &pair) {
  stream << "grid";
  for (int64_t size : pair.grid.sizes)
    stream << ' ' << size;
  stream << ", tensor";
  for (int64_t size : pair.sizes)
    stream << ' ' << size;
  return stream << "\n  from " << pair.from << "\n  to   " << pair.to;
}

Case chooseCase(Chance &chance, const Grid &grid, size_t rank) {
  Case pair{grid, chance.sizes(rank), {}, {}};
  std::vector<int> fromAxes, toAxes, partial, kept, varying;
  for (int axis = 0; axis < static_cast<int>(grid.sizes.size()); ++axis) {
    int64_t role = chance.below(8);
    if (role < 2) {
      partial.push_back(axis);
      if (chance.oneIn(4))
        kept.push_back(axis);
      else
        toAxes.push_back(axis);
    } else if (role == 2) {
      varying.push_back(axis);
    } else {
      fromAxes.push_back(axis);
      toAxes.push_back(axis);
    }
  }
  pair.from = chance.cuts(grid, pair.sizes, fromAxes);
  pair.to = chance.cuts(grid, pair.sizes, toAxes);
  // Often only parts differ, as between a row split and its halo.
  if (chance.oneIn(4)) {
    pair.to.dims = pair.from.dims;
    for (DimCut &cut : pair.to.dims)
      if (chance.oneIn(2))
        cut = {cut.axes, 1, {}};
  }
  for (size_t d = 0; d < rank; ++d)
    if (!pair.to.dims[d].axes.empty() && chance.oneIn(4))
      chance.chooseAnyParts(grid, pair.to.dims[d], pair.sizes[d]);
  static constexpr Combine kinds[] = {Combine::sum, Combine::max, Combine::min,
                                      Combine::prod};
  Combine kind = kinds[chance.below(4)];
  pair.from.partial = partial;
  pair.from.combine = partial.empty() ? Combine::none : kind;
  pair.to.partial = kept;
  pair.to.combine = kept.empty() ? Combine::none : kind;
  pair.from.varying = pair.to.varying = varying;
  return pair;
}

/// What ranks send and receive, counted piece by piece.
void testVolumes(const Case &pair, const Layout &from, const Move &move) {
  if (move.kind != MoveKind::allToAll && move.kind != MoveKind::haloExchange &&
      move.kind != MoveKind::exchange)
    return;
  std::vector<int64_t> staging(pair.grid.numRanks(), 0);
  std::set<int> moved;
  for (int64_t rank = 0; rank < pair.grid.numRanks(); ++rank)
    for (const Piece &piece :
         piecesOf(pair.grid, pair.sizes, from, move.to, rank)) {
      if (piece.from == rank)
        continue;
      staging[rank] += elementsOf(piece.box);
      staging[piece.from] += elementsOf(piece.box);
      for (int axis = 0; axis < static_cast<int>(pair.grid.sizes.size());
           ++axis)
        if (pair.grid.coordinate(rank, axis) !=
            pair.grid.coordinate(piece.from, axis))
          moved.insert(axis);
    }
  EXPECT_EQ(stagingElements(pair.grid, pair.sizes, from, move), staging);
  std::vector<int> axes(moved.begin(), moved.end());
  EXPECT_EQ(movedAxes(pair.grid, pair.sizes, from, move.to), axes);
  if (move.kind == MoveKind::exchange) {
    EXPECT_EQ(move.axes, axes);
  }
}

/// Carries out the moves of `pair` and compares.
void testMoves(const Case &pair) {
  std::vector<Move> moves =
      findMoves(pair.grid, pair.sizes, 4, pair.from, pair.to);
  Simulator simulator(pair.grid, pair.sizes, pair.from);
  Layout now = pair.from;
  for (size_t i = 0; i < moves.size(); ++i) {
    testVolumes(pair, now, moves[i]);
    simulator.run(moves[i]);
    now = moves[i].to;
    EXPECT_GT(moves[i].seconds, 0);
    EXPECT_TRUE(std::is_sorted(moves[i].axes.begin(), moves[i].axes.end()));
    // Only what is asked for may overlap.
    EXPECT_TRUE(i + 1 == moves.size() || isTiling(pair.grid, now, pair.sizes));
  }
  EXPECT_TRUE(sameBoxes(pair.grid, now, pair.to, pair.sizes));
  for (int64_t rank = 0; rank < pair.grid.numRanks(); ++rank)
    EXPECT_TRUE(simulator.numbers(rank) == simulator.wanted(pair.to, rank))
        << "rank " << rank << " ends with other numbers";
}

class SampledMoves : public testing::TestWithParam<std::tuple<Grid, size_t>> {};

// 4 grids, 4 ranks of tensors, 1,500 pairs of each.
TEST_P(SampledMoves, EqualGatherThenSlice) {
  auto [grid, rank] = GetParam();
  Chance chance(static_cast<uint32_t>(grid.numRanks() * 10 +
                                      grid.sizes.size() * 100 + rank));
  for (int i = 0; i < 1500; ++i) {
    Case pair = chooseCase(chance, grid, rank);
    testMoves(pair);
    if (HasFailure())
      FAIL() << "pair " << i << ": " << pair;
  }
}

INSTANTIATE_TEST_SUITE_P(Grids, SampledMoves,
                         testing::Combine(testing::Values(Grid{{2}}, Grid{{3}},
                                                          Grid{{2, 2}},
                                                          Grid{{2, 3}}),
                                          testing::Values(1, 2, 3, 4)),
                         [](const auto &info) {
                           std::string name = "Grid";
                           for (int64_t size : std::get<0>(info.param).sizes)
                             name += std::to_string(size) + "x";
                           return name + "Tensor" +
                                  std::to_string(std::get<1>(info.param));
                         });

// A tensor without dimensions has partial values too.
TEST(Moves, Numbers) {
  Grid grid{{2, 3}};
  for (const std::vector<int> &partial :
       std::vector<std::vector<int>>{{}, {0}, {1}, {0, 1}}) {
    Case pair{grid, {}, {}, {}};
    pair.from.partial = partial;
    pair.from.combine = partial.empty() ? Combine::none : Combine::sum;
    testMoves(pair);
  }
}

/// All assignments of axes to "nothing", dimensions and, for sources, partial
/// values, with balanced parts.
std::vector<Layout> allLayouts(const Grid &grid, size_t rank, bool isSource) {
  std::vector<Layout> layouts{Layout::replicated(rank)};
  for (int axis = 0; axis < static_cast<int>(grid.sizes.size()); ++axis) {
    std::vector<Layout> longer;
    for (const Layout &layout : layouts) {
      longer.push_back(layout);
      for (size_t d = 0; d < rank; ++d)
        for (bool isFirst : {false, true}) {
          if (isFirst && layout.dims[d].axes.empty())
            continue;
          Layout next = layout;
          std::vector<int> &axes = next.dims[d].axes;
          axes.insert(isFirst ? axes.begin() : axes.end(), axis);
          longer.push_back(next);
        }
      if (!isSource)
        continue;
      longer.push_back(layout);
      longer.back().partial.push_back(axis);
      longer.back().combine = Combine::sum;
    }
    layouts = std::move(longer);
  }
  return layouts;
}

// Every pair of balanced layouts of two dimensions, none left to chance.
TEST(Moves, AllBalancedPairs) {
  for (const Grid &grid : {Grid{{2}}, Grid{{3}}, Grid{{2, 2}}, Grid{{2, 3}}})
    for (const Sizes &sizes : {Sizes{4, 6}, Sizes{5, 7}, Sizes{1, 3}})
      for (const Layout &from : allLayouts(grid, sizes.size(), true))
        for (const Layout &to : allLayouts(grid, sizes.size(), false)) {
          Case pair{grid, sizes, from, to};
          testMoves(pair);
          ASSERT_FALSE(HasFailure()) << pair;
        }
}

// Nothing to send; shapes change all the same.
TEST(Moves, EmptyTensors) {
  Grid grid{{2, 2}};
  for (const Layout &from : allLayouts(grid, 2, true))
    for (const Layout &to : allLayouts(grid, 2, false)) {
      Case pair{grid, {0, 3}, from, to};
      testMoves(pair);
      ASSERT_FALSE(HasFailure()) << pair;
    }
}

} // namespace
