//===- RedistributionCostTest.cpp - Which moves are found -------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which collective stands between which layouts, what it is estimated to take,
// and how long finding it takes.
//
//===----------------------------------------------------------------------===//

#include "dialects/Dist/IR/Redistribution.h"

#include "gtest/gtest.h"
#include <chrono>
#include <numeric>

using namespace partita::dist;

namespace {

using Kinds = std::vector<MoveKind>;
using Ranges = std::vector<Range>;

DimCut over(std::vector<int> axes, int64_t block = 1) {
  return {std::move(axes), block, {}};
}
DimCut at(std::vector<int> axes, Ranges ranges) {
  return {std::move(axes), 1, std::move(ranges)};
}
DimCut whole() { return {}; }
Layout cut(std::vector<DimCut> dims) {
  Layout layout;
  layout.dims = std::move(dims);
  return layout;
}
Layout sumOver(std::vector<int> axes, Layout layout) {
  layout.partial = std::move(axes);
  layout.combine = Combine::sum;
  return layout;
}

Kinds kindsOf(const std::vector<Move> &moves) {
  Kinds kinds;
  for (const Move &move : moves)
    kinds.push_back(move.kind);
  return kinds;
}
double secondsOf(const std::vector<Move> &moves) {
  return std::accumulate(
      moves.begin(), moves.end(), 0.0,
      [](double sum, const Move &move) { return sum + move.seconds; });
}
/// Rows that `rank` gets from each rank, its own left out.
std::vector<int64_t> rowsFrom(const Grid &grid, const Sizes &sizes,
                              const Layout &from, const Layout &to,
                              int64_t rank) {
  std::vector<int64_t> rows(grid.numRanks(), 0);
  for (const Piece &piece : piecesOf(grid, sizes, from, to, rank))
    if (piece.from != rank)
      rows[piece.from] += piece.box[0].size();
  return rows;
}

/// Large enough that bytes and not messages count.
const Sizes kMatrix{1024, 1024};

//===----------------------------------------------------------------------===//
// Which collective
//===----------------------------------------------------------------------===//

TEST(FindMoves, NothingToDo) {
  Grid grid{{4}};
  EXPECT_TRUE(findMoves(grid, kMatrix, 4, cut({over({0}), whole()}),
                        cut({over({0}, 256), whole()}))
                  .empty());
  EXPECT_TRUE(findMoves(grid, kMatrix, 4, sumOver({0}, Layout::replicated(2)),
                        sumOver({0}, Layout::replicated(2)))
                  .empty());
  // All ranks have everything, in two ways of saying so.
  EXPECT_TRUE(findMoves({{2}}, {8}, 4, Layout::replicated(1),
                        cut({at({0}, {{0, 8}, {0, 8}})}))
                  .empty());
}

TEST(FindMoves, WholeToSplitIsASlice) {
  std::vector<Move> moves = findMoves(
      {{2, 2}}, kMatrix, 4, Layout::replicated(2), cut({over({0}), over({1})}));
  EXPECT_EQ(kindsOf(moves), Kinds{MoveKind::slice});
  EXPECT_TRUE(moves[0].axes.empty());
}

TEST(FindMoves, SplitToWholeIsAnAllGather) {
  std::vector<Move> moves = findMoves(
      {{4}}, kMatrix, 4, cut({over({0}), whole()}), Layout::replicated(2));
  EXPECT_EQ(kindsOf(moves), Kinds{MoveKind::allGather});
  EXPECT_EQ(moves[0].axes, std::vector<int>{0});
}

// Only the coarse axis stays.
TEST(FindMoves, FewerAxesIsAnAllGatherOverTheRest) {
  std::vector<Move> moves =
      findMoves({{2, 4}}, kMatrix, 4, cut({over({0, 1}), whole()}),
                cut({over({0}), whole()}));
  EXPECT_EQ(kindsOf(moves), Kinds{MoveKind::allGather});
  EXPECT_EQ(moves[0].axes, std::vector<int>{1});
}

TEST(FindMoves, MoreAxesIsASlice) {
  EXPECT_EQ(kindsOf(findMoves({{2, 4}}, kMatrix, 4, cut({over({0}), whole()}),
                              cut({over({0, 1}), whole()}))),
            Kinds{MoveKind::slice});
}

TEST(FindMoves, RowsToColumnsIsAnAllToAll) {
  for (int64_t ranks : {2, 3, 4, 8, 32}) {
    std::vector<Move> moves =
        findMoves({{ranks}}, kMatrix, 4, cut({over({0}), whole()}),
                  cut({whole(), over({0})}));
    EXPECT_EQ(kindsOf(moves), Kinds{MoveKind::allToAll});
    EXPECT_EQ(moves[0].axes, std::vector<int>{0});
  }
}

TEST(FindMoves, PartialToWholeIsOneAllReduce) {
  std::vector<Move> moves =
      findMoves({{2, 4}}, kMatrix, 4, sumOver({0, 1}, Layout::replicated(2)),
                Layout::replicated(2));
  EXPECT_EQ(kindsOf(moves), Kinds{MoveKind::allReduce});
  EXPECT_EQ(moves[0].axes, (std::vector<int>{0, 1}));
}

TEST(FindMoves, PartialToSplitIsAReduceScatter) {
  for (const Layout &to :
       {cut({over({0}), whole()}), cut({whole(), over({0})}),
        cut({at({0}, {{0, 700}, {700, 800}, {800, 1024}}), whole()})}) {
    std::vector<Move> moves =
        findMoves({{3}}, kMatrix, 4, sumOver({0}, Layout::replicated(2)), to);
    EXPECT_EQ(kindsOf(moves), Kinds{MoveKind::reduceScatter});
  }
}

// A gradient's parts over all axes of a grid, in either order.
TEST(FindMoves, PartialOverTwoAxesToSplitOverBoth) {
  for (const std::vector<int> &axes :
       std::vector<std::vector<int>>{{0, 1}, {1, 0}}) {
    std::vector<Move> moves =
        findMoves({{2, 4}}, kMatrix, 4, sumOver({0, 1}, Layout::replicated(2)),
                  cut({over(axes), whole()}));
    EXPECT_EQ(kindsOf(moves), Kinds{MoveKind::reduceScatter});
    EXPECT_EQ(moves[0].axes, (std::vector<int>{0, 1}));
  }
}

// Combining a half costs half.
TEST(FindMoves, SlicesBeforeItCombines) {
  std::vector<Move> moves =
      findMoves({{2, 2}}, kMatrix, 4, sumOver({0}, Layout::replicated(2)),
                cut({over({1}), whole()}));
  EXPECT_EQ(kindsOf(moves), (Kinds{MoveKind::slice, MoveKind::allReduce}));
  EXPECT_EQ(moves[0].to, sumOver({0}, cut({over({1}), whole()})));
  EXPECT_EQ(moves[1].axes, std::vector<int>{0});
}

// Reduced over one axis and scattered over the other: the second is smaller.
TEST(FindMoves, ScattersBeforeItReducesTheRest) {
  std::vector<Move> moves =
      findMoves({{2, 4}}, kMatrix, 4, sumOver({0, 1}, Layout::replicated(2)),
                cut({over({1}), whole()}));
  EXPECT_EQ(kindsOf(moves),
            (Kinds{MoveKind::reduceScatter, MoveKind::allReduce}));
  EXPECT_EQ(moves[0].axes, std::vector<int>{1});
  EXPECT_EQ(moves[1].axes, std::vector<int>{0});
}

TEST(FindMoves, KeepsPartialAxesThatAreWanted) {
  std::vector<Move> moves =
      findMoves({{2, 2}}, kMatrix, 4, sumOver({0, 1}, Layout::replicated(2)),
                sumOver({1}, Layout::replicated(2)));
  EXPECT_EQ(kindsOf(moves), Kinds{MoveKind::allReduce});
  EXPECT_EQ(moves[0].axes, std::vector<int>{0});
  EXPECT_EQ(moves[0].to.partial, std::vector<int>{1});
}

// Partial values that stay so can change hands; only one move does it.
TEST(FindMoves, ExchangesPartialValuesThatStayPartial) {
  std::vector<Move> moves =
      findMoves({{2, 2}}, kMatrix, 4, sumOver({0}, cut({over({1}), whole()})),
                sumOver({0}, cut({whole(), over({1})})));
  EXPECT_EQ(kindsOf(moves), Kinds{MoveKind::exchange});
  EXPECT_EQ(moves[0].axes, std::vector<int>{1});
}

TEST(FindMoves, VaryingAxesStay) {
  Layout from = cut({over({0}), whole()}), to = Layout::replicated(2);
  from.varying = to.varying = {1};
  std::vector<Move> moves = findMoves({{2, 2}}, kMatrix, 4, from, to);
  EXPECT_EQ(kindsOf(moves), Kinds{MoveKind::allGather});
  EXPECT_EQ(moves[0].to.varying, std::vector<int>{1});
}

TEST(FindMoves, AxesOfSizeOneMoveNothing) {
  EXPECT_TRUE(findMoves({{1, 2}}, kMatrix, 4,
                        sumOver({0}, cut({over({1}), whole()})),
                        cut({over({1, 0}), whole()}))
                  .empty());
}

//===----------------------------------------------------------------------===//
// Other parts of the same rows
//===----------------------------------------------------------------------===//

// Four ranks with 8 rows, then 10, 10, 10 and 2: rank 2 lacks rows 24 to 30.
TEST(FindMoves, OtherBlocksAreOneExchange) {
  Grid grid{{4}};
  Sizes sizes{32, 64};
  Layout from = cut({over({0}), whole()});
  Layout to = cut({at({0}, {{0, 10}, {10, 20}, {20, 30}, {30, 32}}), whole()});
  std::vector<Move> moves = findMoves(grid, sizes, 4, from, to);
  EXPECT_EQ(kindsOf(moves), Kinds{MoveKind::exchange});
  EXPECT_EQ(rowsFrom(grid, sizes, from, to, 0),
            (std::vector<int64_t>{0, 2, 0, 0}));
  EXPECT_EQ(rowsFrom(grid, sizes, from, to, 2),
            (std::vector<int64_t>{0, 0, 0, 6}));
  // Rank 3 sends six rows and has the two it wants.
  EXPECT_EQ(stagingElements(grid, sizes, from, moves[0], 3), 6 * 64);
  EXPECT_EQ(stagingElements(grid, sizes, from, moves[0], 2), (6 + 4) * 64);
}

TEST(FindMoves, HalosOfTwoRows) {
  Grid grid{{4}};
  Sizes sizes{16, 5};
  Layout from = cut({over({0}), whole()});
  Layout to = cut({at({0}, {{0, 6}, {2, 10}, {6, 14}, {10, 16}}), whole()});
  std::vector<Move> moves = findMoves(grid, sizes, 4, from, to);
  EXPECT_EQ(kindsOf(moves), Kinds{MoveKind::haloExchange});
  EXPECT_EQ(rowsFrom(grid, sizes, from, to, 0),
            (std::vector<int64_t>{0, 2, 0, 0}));
  EXPECT_EQ(rowsFrom(grid, sizes, from, to, 1),
            (std::vector<int64_t>{2, 0, 2, 0}));
  EXPECT_EQ(rowsFrom(grid, sizes, from, to, 2),
            (std::vector<int64_t>{0, 2, 0, 2}));
  EXPECT_EQ(rowsFrom(grid, sizes, from, to, 3),
            (std::vector<int64_t>{0, 0, 2, 0}));
}

// Each of four ranks has two rows and wants three more on both sides.
TEST(FindMoves, HalosWiderThanTheNeighbour) {
  Grid grid{{4}};
  Sizes sizes{8, 1 << 20};
  Layout from = cut({over({0}), whole()});
  Layout to = cut({at({0}, {{0, 5}, {0, 7}, {1, 8}, {3, 8}}), whole()});
  EXPECT_EQ(kindsOf(findMoves(grid, sizes, 4, from, to)),
            Kinds{MoveKind::haloExchange});
  EXPECT_EQ(rowsFrom(grid, sizes, from, to, 0),
            (std::vector<int64_t>{0, 2, 1, 0}));
  EXPECT_EQ(rowsFrom(grid, sizes, from, to, 1),
            (std::vector<int64_t>{2, 0, 2, 1}));
  EXPECT_EQ(rowsFrom(grid, sizes, from, to, 3),
            (std::vector<int64_t>{0, 1, 2, 0}));
}

// Rows and columns with a halo of one: corners come from the diagonal rank.
TEST(FindMoves, HalosInTwoDimensions) {
  Grid grid{{2, 2}};
  Sizes sizes{8, 6, 1 << 20};
  Layout from = cut({over({0}), over({1}), whole()});
  Layout to =
      cut({at({0}, {{0, 5}, {3, 8}}), at({1}, {{0, 4}, {2, 6}}), whole()});
  std::vector<Move> moves = findMoves(grid, sizes, 4, from, to);
  EXPECT_EQ(kindsOf(moves), Kinds{MoveKind::haloExchange});
  EXPECT_EQ(moves[0].axes, (std::vector<int>{0, 1}));
  std::vector<Piece> pieces = piecesOf(grid, sizes, from, to, 0);
  ASSERT_EQ(pieces.size(), 4u);
  EXPECT_EQ(pieces[3].from, 3);
  EXPECT_EQ(pieces[3].box, (Box{{4, 5}, {3, 4}, {0, 1 << 20}}));
}

// From whole images, rows with a halo are cut out at once.
TEST(FindMoves, HalosOfWholeTensorsAreSlices) {
  EXPECT_EQ(kindsOf(findMoves({{2}}, {8}, 4, Layout::replicated(1),
                              cut({at({0}, {{0, 5}, {3, 8}})}))),
            Kinds{MoveKind::slice});
}

// Images split by sample; a layer wants rows with a halo.
TEST(FindMoves, SamplesToRowsWithAHalo) {
  Grid grid{{2}};
  Sizes sizes{64, 256};
  Layout from = cut({over({0}), whole()});
  Layout to = cut({whole(), at({0}, {{0, 130}, {126, 256}})});
  std::vector<Move> moves = findMoves(grid, sizes, 4, from, to);
  EXPECT_EQ(kindsOf(moves), Kinds{MoveKind::exchange});
}

// Of two ranks that have the rows, the one with the receiver's column.
TEST(PiecesOf, PrefersTheNearestReplica) {
  Grid grid{{2, 2}};
  Layout from = cut({over({0})});
  for (const Piece &piece : piecesOf(grid, {8}, from, Layout::replicated(1), 3))
    EXPECT_EQ(grid.coordinate(piece.from, 1), 1);
  EXPECT_EQ(movedAxes(grid, {8}, from, Layout::replicated(1)),
            std::vector<int>{0});
}

TEST(StagingElements, CollectivesOfGroups) {
  Grid grid{{2, 2}};
  Sizes sizes{8, 3};
  Layout split = cut({over({0, 1}), whole()}), half = cut({over({0}), whole()});
  EXPECT_EQ(
      stagingElements(grid, sizes, split, {MoveKind::allGather, half, {1}, 0}),
      std::vector<int64_t>(4, 4 * 3));
  EXPECT_EQ(stagingElements(grid, sizes, sumOver({1}, half),
                            {MoveKind::reduceScatter, split, {1}, 0}),
            std::vector<int64_t>(4, 4 * 3));
  EXPECT_EQ(stagingElements(grid, sizes, sumOver({1}, half),
                            {MoveKind::allReduce, half, {1}, 0}),
            std::vector<int64_t>(4, 0));
  EXPECT_EQ(stagingElements(grid, sizes, half, {MoveKind::slice, split, {}, 0}),
            std::vector<int64_t>(4, 0));
}

//===----------------------------------------------------------------------===//
// Estimates
//===----------------------------------------------------------------------===//

// 4 MiB over four ranks by the formulas of Redistribution.h.
TEST(Seconds, FollowTheAlphaBetaModel) {
  Grid grid{{4}};
  LinkModel link{1e-6, 1e-9};
  Layout rows = cut({over({0}), whole()}), columns = cut({whole(), over({0})});
  Layout all = Layout::replicated(2);
  double bytes = 1024.0 * 1024.0 * 4.0;
  auto seconds = [&](const Layout &from, const Layout &to) {
    return secondsOf(findMoves(grid, kMatrix, 4, from, to, link));
  };
  double gather = 2e-6 + 1e-9 * bytes * 3 / 4;
  EXPECT_NEAR(seconds(rows, all), gather, 1e-11);
  EXPECT_NEAR(seconds(sumOver({0}, all), rows), gather, 1e-11);
  EXPECT_NEAR(seconds(sumOver({0}, all), all), 2 * gather, 1e-11);
  // Three peers; of the quarter that each wants, it has a quarter.
  EXPECT_NEAR(seconds(rows, columns), 3e-6 + 1e-9 * bytes * 3 / 16, 1e-11);
}

// One rank has everything and sends it: that it receives nothing is no help.
TEST(Seconds, CountTheBusiestSender) {
  Grid grid{{4}};
  LinkModel link{0, 1e-9};
  Layout one = cut({at({0}, {{0, 400}, {400, 400}, {400, 400}, {400, 400}})});
  std::vector<Move> moves =
      findMoves(grid, {400}, 4, one, cut({over({0})}), link);
  EXPECT_EQ(kindsOf(moves), Kinds{MoveKind::exchange});
  EXPECT_NEAR(secondsOf(moves), 1e-9 * 300 * 4, 1e-11);
}

// Without the time of messages, which all_to_all sends more of.
TEST(Seconds, AllToAllIsCheaperThanAllGather) {
  LinkModel link{0, 1e-10};
  for (int64_t ranks = 2; ranks <= 6; ++ranks)
    for (int64_t rows = ranks; rows <= 14; ++rows)
      for (int64_t columns = ranks; columns <= 14; ++columns) {
        Grid grid{{ranks}};
        Sizes sizes{rows, columns};
        Layout from = cut({over({0}), whole()});
        double moved = secondsOf(
            findMoves(grid, sizes, 4, from, cut({whole(), over({0})}), link));
        double gathered = secondsOf(
            findMoves(grid, sizes, 4, from, Layout::replicated(2), link));
        EXPECT_LT(moved, gathered)
            << ranks << " ranks, tensor " << rows << 'x' << columns;
      }
}

TEST(Seconds, GrowWithTheMessage) {
  Grid grid{{2, 4}};
  std::vector<Layout> layouts{Layout::replicated(2),
                              cut({over({0}), whole()}),
                              cut({over({0, 1}), whole()}),
                              cut({over({1, 0}), whole()}),
                              cut({whole(), over({0, 1})}),
                              cut({over({1}), over({0})}),
                              cut({over({0}), over({1})}),
                              sumOver({0, 1}, Layout::replicated(2)),
                              sumOver({0}, cut({over({1}), whole()}))};
  for (const Layout &from : layouts)
    for (const Layout &to : layouts) {
      if (to.isPartial())
        continue;
      double before = 0;
      for (int64_t elementBytes : {1, 2, 4, 8, 64, 1024, 65536}) {
        double now =
            secondsOf(findMoves(grid, {64, 64}, elementBytes, from, to));
        EXPECT_GE(now, before);
        before = now;
      }
      before = 0;
      for (int64_t size = 8; size <= 2048; size *= 2) {
        double now = secondsOf(findMoves(grid, {size, size}, 4, from, to));
        EXPECT_GE(now, before);
        before = now;
      }
    }
}

// A path is never longer than any single move.
TEST(Seconds, NoDetourIsLonger) {
  Grid grid{{2, 2}};
  Layout from = cut({over({0}), over({1})}), to = cut({over({1}), over({0})});
  double direct = 2 * 5e-6; // A bound from below: two peers at least.
  EXPECT_GE(secondsOf(findMoves(grid, kMatrix, 4, from, to)), direct);
  double byWhole =
      secondsOf(findMoves(grid, kMatrix, 4, from, Layout::replicated(2))) +
      secondsOf(findMoves(grid, kMatrix, 4, Layout::replicated(2), to));
  EXPECT_LT(secondsOf(findMoves(grid, kMatrix, 4, from, to)), byWhole);
}

TEST(FindMoves, IsDeterministic) {
  Grid grid{{2, 2, 2}};
  Layout from = cut({over({0, 1}), over({2})});
  Layout to = cut({over({2}), over({1, 0})});
  std::vector<Move> first = findMoves(grid, kMatrix, 4, from, to);
  std::vector<Move> second = findMoves(grid, kMatrix, 4, from, to);
  ASSERT_EQ(first.size(), second.size());
  for (size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(first[i].kind, second[i].kind);
    EXPECT_EQ(first[i].to, second[i].to);
  }
}

//===----------------------------------------------------------------------===//
// Many ranks
//===----------------------------------------------------------------------===//

/// The shortest of some searches, in milliseconds.
double searchTime(const Grid &grid, const Sizes &sizes, const Layout &from,
                  const Layout &to) {
  double best = 1e9;
  for (int i = 0; i < 5; ++i) {
    auto begin = std::chrono::steady_clock::now();
    findMoves(grid, sizes, 4, from, to);
    std::chrono::duration<double, std::milli> time =
        std::chrono::steady_clock::now() - begin;
    best = std::min(best, time.count());
  }
  return best;
}

#if defined(NDEBUG) && !defined(__SANITIZE_ADDRESS__) &&                       \
    !defined(__SANITIZE_THREAD__)
constexpr double kLimit = 5;
#else
constexpr double kLimit = 500;
#endif

// A search is made for every edge of a graph and every candidate plan.
TEST(FindMoves, AThousandRanksInFiveMilliseconds) {
  Grid grid{{32, 32}};
  Sizes sizes{4096, 4096};
  Ranges halos, table;
  for (int64_t part = 0; part < 1024; ++part) {
    halos.push_back({std::max<int64_t>(0, part * 4 - 3),
                     std::min<int64_t>(4096, part * 4 + 7)});
    table.push_back(
        {part < 1 ? 0 : part * 4 - 1, part == 1023 ? 4096 : part * 4 + 3});
  }
  std::vector<Layout> layouts{Layout::replicated(2),
                              cut({over({0, 1}), whole()}),
                              cut({over({1, 0}), whole()}),
                              cut({whole(), over({0, 1})}),
                              cut({whole(), over({1, 0})}),
                              cut({over({0}), over({1})}),
                              cut({over({1}), over({0})}),
                              cut({at({0, 1}, table), whole()}),
                              cut({at({1, 0}, table), whole()}),
                              sumOver({0}, cut({over({1}), whole()})),
                              sumOver({0, 1}, Layout::replicated(2)),
                              cut({at({0, 1}, halos), whole()}),
                              cut({whole(), at({1, 0}, halos)})};
  for (size_t from = 0; from < layouts.size() - 2; ++from)
    for (size_t to = 0; to < layouts.size(); ++to)
      if (!layouts[to].isPartial())
        for (const Sizes &shape : {sizes, Sizes{4096, 64}})
          if (to < 11 || shape == sizes) {
            EXPECT_LT(searchTime(grid, shape, layouts[from], layouts[to]),
                      kLimit)
                << "from layout " << from << " to layout " << to;
          }
}

// The prime factors of 1,024 as axes.
TEST(FindMoves, TenAxes) {
  Grid grid{std::vector<int64_t>(10, 2)};
  std::vector<int> all(10), turned(10), low{0, 1, 2, 3, 4}, high{5, 6, 7, 8, 9};
  std::iota(all.begin(), all.end(), 0);
  std::reverse_copy(all.begin(), all.end(), turned.begin());
  std::vector<Layout> layouts{Layout::replicated(2),
                              cut({over(all), whole()}),
                              cut({over(turned), whole()}),
                              cut({whole(), over(all)}),
                              cut({over(low), over(high)}),
                              cut({over(high), over(low)}),
                              sumOver(all, Layout::replicated(2)),
                              sumOver(low, cut({over(high), whole()}))};
  for (size_t from = 0; from < layouts.size(); ++from)
    for (size_t to = 0; to < 6; ++to)
      EXPECT_LT(searchTime(grid, kMatrix, layouts[from], layouts[to]),
                10 * kLimit)
          << "from layout " << from << " to layout " << to;
}

} // namespace
