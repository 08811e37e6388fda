//===- RedistributionTest.cpp - Every move between distributions -*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Moves tensors between all pairs of layouts on small grids, ranks being
// threads, and compares what arrives with the part of the whole tensor. Each
// element's value is its place in the whole tensor, so that it says where it
// came from.
//
//===----------------------------------------------------------------------===//

#include "partita/redistribution.h"

#include "RankThreads.h"
#include "TestFolder.h"
#include "core/Tile.h"

#include <algorithm>
#include <random>

using namespace partita;

namespace {

using Grid = std::vector<GridAxis>;
using Layout = std::vector<Split>;

/// Bits of a set of axes of the grids below.
constexpr unsigned kA = 1, kB = 2;

struct Case {
  MoveKind kind = MoveKind::exchange;
  Dims dims;
  Layout from, to;
  /// The axes of the group.
  unsigned axes = 0;
  DType type = DType::f32;
  Reduction reduction = Reduction::sum;
};

std::string textOf(const Layout &layout) {
  std::string text;
  for (const Split &split : layout) {
    text += text.empty() ? "(" : " | ";
    for (int axis : split.axes)
      text += "ab"[axis];
    for (std::int64_t bound : split.bounds)
      text += " " + std::to_string(bound);
    for (std::int64_t end : split.ranges)
      text += " r" + std::to_string(end);
  }
  return text.empty() ? "()" : text + ")";
}

std::string textOf(const Case &move) {
  return std::string(nameOf(move.kind)) + " of " + toString(move.dims) + " " +
         nameOf(move.type) + " from " + textOf(move.from) + " to " +
         textOf(move.to) + " over axes " + std::to_string(move.axes);
}

//===----------------------------------------------------------------------===//
// Doing one move on one rank
//===----------------------------------------------------------------------===//

/// What one rank keeps from case to case.
class Mover {
public:
  Mover(Rank &rank, Traffic &traffic) : rank(rank), traffic(traffic) {
    bool two = rank.grid().size() > 1;
    groups[kA] = &rank.communicator({"a"});
    groups[kB] = two ? &rank.communicator({"b"}) : nullptr;
    groups[kA | kB] = two ? &rank.communicator({"a", "b"}) : nullptr;
  }

  Redistribution make(const Case &move) {
    auto with = [&](std::initializer_list<const char *> axes) {
      return Redistribution(rank, move.kind, groups[move.axes], axes, move.dims,
                            move.from, move.to, move.type, move.reduction);
    };
    switch (move.axes) {
    case kA:
      return with({"a"});
    case kB:
      return with({"b"});
    case kA | kB:
      return with({"a", "b"});
    default:
      return with({});
    }
  }

  void check(const Case &move) {
    switch (move.type) {
    case DType::f32:
      return checkAs<float>(move);
    case DType::i64:
      return checkAs<std::int64_t>(move);
    case DType::i16:
      return checkAs<std::int16_t>(move);
    default:
      return checkAs<std::uint8_t>(move);
    }
  }

  Rank &rank;
  Traffic &traffic;

private:
  /// Elements behind a buffer that nobody may touch.
  static constexpr std::size_t kGuard = 4;

  /// The value at a place of the whole tensor, as `owner` has it: the same for
  /// all but in a reduction.
  template <typename T>
  static T valueAt(const Case &move, std::int64_t place, int owner) {
    if (move.kind != MoveKind::reduceScatter)
      return static_cast<T>(place + 1);
    return static_cast<T>((place * 7 + owner * 3) % 11 - 4);
  }

  /// Calls visit(place in the whole tensor) for a tile's elements, in order.
  template <typename Visit>
  static void forPlaces(const Dims &dims, const Tile &tile, Visit visit) {
    std::vector<std::int64_t> places{0};
    for (std::size_t dim = 0; dim < dims.size(); ++dim) {
      std::vector<std::int64_t> next;
      for (std::int64_t place : places)
        for (std::int64_t i = 0; i < tile.size[dim]; ++i)
          next.push_back(place * dims[dim] + tile.start[dim] + i);
      places = std::move(next);
    }
    for (std::int64_t place : places)
      visit(place);
  }

  template <typename T>
  T expectedAt(const Case &move, std::int64_t place) const {
    if (move.kind != MoveKind::reduceScatter)
      return valueAt<T>(move, place, rank.index);
    std::vector<int> mine = coordinatesOf(rank.grid(), rank.index);
    T result = 0;
    bool first = true;
    for (int other = 0; other < ranks(); ++other) {
      std::vector<int> theirs = coordinatesOf(rank.grid(), other);
      bool member = true;
      for (std::size_t axis = 0; axis < mine.size(); ++axis)
        member &= (move.axes >> axis & 1) || mine[axis] == theirs[axis];
      if (!member)
        continue;
      T value = valueAt<T>(move, place, other);
      if (first)
        result = value;
      else
        result = move.reduction == Reduction::max ? std::max(result, value)
                                                  : T(result + value);
      first = false;
    }
    return result;
  }

  int ranks() const {
    int count = 1;
    for (const GridAxis &axis : rank.grid())
      count *= axis.size;
    return count;
  }

  template <typename T> void checkAs(const Case &move) {
    Redistribution redistribution = make(move);
    const T kMark = static_cast<T>(77);
    std::vector<T> x;
    forPlaces(move.dims, tileOf(rank.grid(), move.dims, move.from, rank.index),
              [&](std::int64_t place) {
                x.push_back(valueAt<T>(move, place, rank.index));
              });
    auto guarded = [&](std::int64_t count) {
      return std::vector<T>(static_cast<std::size_t>(count) + kGuard, kMark);
    };
    Tile target = tileOf(rank.grid(), move.dims, move.to, rank.index);
    std::vector<T> y = guarded(target.elements());
    std::vector<T> staging = guarded(redistribution.stagingElements());

    if (move.kind == MoveKind::slice) {
      redistribution.slice(rank.compute, x.data(), y.data());
    } else {
      redistribution.pack(rank.compute, x.data(), staging.data());
      rank.compute.record(packed);
      rank.comm.wait(packed);
      redistribution.communicate(rank.comm, staging.data());
      rank.comm.record(arrived);
      rank.compute.wait(arrived);
      redistribution.unpack(rank.compute, x.data(), staging.data(), y.data());
    }

    std::size_t i = 0;
    forPlaces(move.dims, target, [&](std::int64_t place) {
      T expected = expectedAt<T>(move, place), found = y[i++];
      if (found != expected)
        throw Error(textOf(move) + ", rank " + std::to_string(rank.index) +
                    ", element " + std::to_string(i - 1) + ": found " +
                    std::to_string(found) + ", expected " +
                    std::to_string(expected));
    });
    for (std::size_t guard = 0; guard < kGuard; ++guard)
      if (y[y.size() - 1 - guard] != kMark ||
          staging[staging.size() - 1 - guard] != kMark)
        throw Error(textOf(move) + ", rank " + std::to_string(rank.index) +
                    ": written behind a buffer");
  }

  Communicator *groups[4] = {};
  Event packed{rank.device}, arrived{rank.device};
};

/// Does all moves on one set of ranks.
void expectAll(const Grid &grid, const std::vector<Case> &cases) {
  EXPECT_EQ(runOnGrid(grid,
                      [&](Rank &rank, Traffic &traffic) {
                        Mover mover(rank, traffic);
                        for (const Case &move : cases)
                          mover.check(move);
                      }),
            "")
      << cases.size() << " cases";
}

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

/// Layouts and sizes, drawn at random but always the same.
class Draw {
public:
  Draw(Grid grid, unsigned seed) : grid(std::move(grid)), generator(seed) {}

  std::int64_t upTo(std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(0, most)(generator);
  }

  Dims dims(std::size_t rank) {
    Dims sizes;
    for (std::size_t i = 0; i < rank; ++i)
      sizes.push_back(1 + upTo(6));
    return sizes;
  }

  int partsOf(const std::vector<int> &axes) const {
    int parts = 1;
    for (int axis : axes)
      parts *= grid[axis].size;
    return parts;
  }

  /// Uneven bounds, at times with empty parts.
  std::vector<std::int64_t> bounds(int parts, std::int64_t dim) {
    std::vector<std::int64_t> bounds{0, dim};
    while (static_cast<int>(bounds.size()) < parts + 1)
      bounds.push_back(upTo(dim));
    std::sort(bounds.begin(), bounds.end());
    return bounds;
  }

  /// The layouts of a tensor: every axis cuts one dimension or none, and axes
  /// that cut the same dimension come in both orders.
  std::vector<Layout> layouts(const Dims &dims) {
    std::vector<std::vector<std::vector<int>>> all(
        1, std::vector<std::vector<int>>(dims.size()));
    for (int axis = 0; axis < static_cast<int>(grid.size()); ++axis) {
      auto fewer = all;
      for (const auto &cuts : fewer)
        for (std::size_t dim = 0; dim < dims.size(); ++dim)
          for (std::size_t at = 0; at <= cuts[dim].size(); ++at) {
            all.push_back(cuts);
            std::vector<int> &axes = all.back()[dim];
            axes.insert(axes.begin() + static_cast<std::ptrdiff_t>(at), axis);
          }
    }
    std::vector<Layout> layouts;
    for (const auto &cuts : all) {
      Layout &layout = layouts.emplace_back(dims.size());
      for (std::size_t dim = 0; dim < dims.size(); ++dim)
        if (!cuts[dim].empty())
          layout[dim] = Split(cuts[dim], bounds(partsOf(cuts[dim]), dims[dim]));
    }
    return layouts;
  }

  /// Any box for every part.
  Layout overlapping(const Layout &like, const Dims &dims) {
    Layout layout = like;
    for (std::size_t dim = 0; dim < layout.size(); ++dim) {
      std::vector<std::int64_t> ranges;
      for (int part = 0; part < partsOf(like[dim].axes); ++part) {
        std::int64_t one = upTo(dims[dim]), other = upTo(dims[dim]);
        ranges.push_back(std::min(one, other));
        ranges.push_back(std::max(one, other));
      }
      layout[dim] = Split::overlapping(like[dim].axes, ranges);
    }
    return layout;
  }

  /// The parts of a layout, wider at both ends by up to `most`.
  Layout withHalos(const Layout &like, const Dims &dims, std::int64_t most) {
    Layout layout = like;
    for (std::size_t dim = 0; dim < layout.size(); ++dim) {
      if (like[dim].axes.empty())
        continue;
      std::vector<std::int64_t> ranges;
      for (int part = 0; part < partsOf(like[dim].axes); ++part) {
        auto [begin, end] = like[dim].range(part);
        ranges.push_back(std::max<std::int64_t>(0, begin - upTo(most)));
        ranges.push_back(std::min(dims[dim], end + upTo(most)));
      }
      layout[dim] = Split::overlapping(like[dim].axes, ranges);
    }
    return layout;
  }

  const Grid grid;

private:
  std::mt19937 generator;
};

unsigned axesOf(const Layout &layout) {
  unsigned axes = 0;
  for (const Split &split : layout)
    for (int axis : split.axes)
      axes |= 1u << axis;
  return axes;
}

unsigned allAxes(const Grid &grid) { return (1u << grid.size()) - 1; }

/// Cases on one grid.
class RedistributionOn : public testing::TestWithParam<Grid> {
protected:
  Grid grid = GetParam();
};

TEST_P(RedistributionOn, MovesBetweenAllLayouts) {
  constexpr DType kTypes[] = {DType::f32, DType::u8, DType::i16, DType::i64};
  constexpr MoveKind kKinds[] = {MoveKind::allToAll, MoveKind::exchange,
                                 MoveKind::haloExchange};
  constexpr std::size_t kRounds = 4;
  Draw draw(grid, 1);
  std::vector<Case> cases;
  for (std::size_t round = 0; round < 5 * kRounds; ++round) {
    Dims dims = draw.dims(round % 5);
    std::vector<Layout> sources = draw.layouts(dims);
    std::vector<Layout> targets = draw.layouts(dims);
    for (const Layout &from : sources)
      for (const Layout &to : targets) {
        std::size_t i = cases.size();
        Case move{kKinds[i % 3], dims, from, to, allAxes(grid), kTypes[i % 4]};
        // The group needs the axes that cut the source, and may have others.
        if (i % 2 == 0)
          move.axes = axesOf(from);
        cases.push_back(move);
      }
  }
  expectAll(grid, cases);
}

TEST_P(RedistributionOn, FillsOverlappingBoxes) {
  Draw draw(grid, 2);
  std::vector<Case> cases;
  for (std::size_t rank = 1; rank <= 4; ++rank)
    for (int round = 0; round < 6; ++round) {
      Dims dims = draw.dims(rank);
      for (const Layout &from : draw.layouts(dims)) {
        unsigned axes = round % 2 ? allAxes(grid) : axesOf(from);
        Layout halos = draw.withHalos(from, dims, 1 + round);
        cases.push_back({MoveKind::haloExchange, dims, from, halos, axes});
        cases.push_back({MoveKind::exchange, dims, from,
                         draw.overlapping(halos, dims), axes});
        // A halo is cropped without anybody's help.
        cases.push_back({MoveKind::slice, dims, halos, from, 0});
      }
    }
  expectAll(grid, cases);
}

TEST_P(RedistributionOn, GathersAndScatters) {
  constexpr std::size_t kRounds = 4;
  Draw draw(grid, 3);
  std::vector<Case> cases;
  for (std::size_t round = 0; round < 4 * kRounds; ++round) {
    std::size_t rank = 1 + round % 4;
    Dims dims = draw.dims(rank);
    for (const Layout &cut : draw.layouts(dims))
      for (std::size_t dim = 0; dim < rank; ++dim)
        for (std::size_t keep = 0; keep < cut[dim].axes.size(); ++keep) {
          const std::vector<int> &axes = cut[dim].axes;
          auto middle = axes.begin() + static_cast<std::ptrdiff_t>(keep);
          std::vector<int> kept(axes.begin(), middle);
          std::vector<int> gone(middle, axes.end());
          Layout joined = cut;
          joined[dim] = Split();
          if (!kept.empty()) {
            std::vector<std::int64_t> bounds;
            for (int part = 0; part <= draw.partsOf(kept); ++part)
              bounds.push_back(cut[dim].bounds[part * draw.partsOf(gone)]);
            joined[dim] = Split(kept, bounds);
          }
          unsigned group = axesOf({Split(gone, {})});
          cases.push_back({MoveKind::allGather, dims, cut, joined, group});
          cases.push_back(
              {MoveKind::allGather, dims, cut, joined, group, DType::i16});
          for (Reduction reduction : {Reduction::sum, Reduction::max})
            cases.push_back({MoveKind::reduceScatter, dims, joined, cut, group,
                             DType::f32, reduction});
          cases.push_back({MoveKind::slice, dims, joined, cut, 0});
          if (cut[dim].axes.size() == 1) {
            // Copies on both sides, and nothing to gather.
            cases.push_back({MoveKind::allGather, dims, joined, joined, group});
            cases.push_back(
                {MoveKind::reduceScatter, dims, joined, joined, group});
          }
        }
  }
  expectAll(grid, cases);
}

TEST_P(RedistributionOn, MovesNothing) {
  Draw draw(grid, 4);
  std::vector<Case> cases;
  for (const Dims &dims : {Dims{0}, Dims{3, 0}, Dims{0, 2, 5}}) {
    std::vector<Layout> layouts = draw.layouts(dims);
    for (const Layout &from : layouts)
      for (const Layout &to : layouts)
        for (MoveKind kind : {MoveKind::exchange, MoveKind::slice})
          cases.push_back({kind, dims, from, to, allAxes(grid)});
  }
  for (MoveKind kind : {MoveKind::slice, MoveKind::allGather,
                        MoveKind::exchange, MoveKind::reduceScatter})
    cases.push_back({kind, {}, {}, {}, allAxes(grid)});
  expectAll(grid, cases);
}

INSTANTIATE_TEST_SUITE_P(
    Grids, RedistributionOn,
    testing::Values(Grid{{"a", 1}}, Grid{{"a", 2}}, Grid{{"a", 3}},
                    Grid{{"a", 2}, {"b", 2}}, Grid{{"a", 2}, {"b", 3}}),
    [](const testing::TestParamInfo<Grid> &info) {
      std::string name;
      for (const GridAxis &axis : info.param)
        name += (name.empty() ? "" : "x") + std::to_string(axis.size);
      return name;
    });

//===----------------------------------------------------------------------===//
// What others rely on
//===----------------------------------------------------------------------===//

TEST(Redistribution, StagingAndTrafficAreAsDocumented) {
  // Rows of [4, 3] become columns: rank 0 keeps its two elements of column 0
  // and sends four of columns 1 and 2; rank 1 sends two.
  Case move{MoveKind::allToAll,
            {4, 3},
            {Split(0, {0, 2, 4})},
            {Split(), Split(0, {0, 1, 3})},
            kA};
  EXPECT_EQ(
      runOnGrid(
          {{"a", 2}},
          [&](Rank &rank, Traffic &traffic) {
            Mover mover(rank, traffic);
            Redistribution toColumns = mover.make(move);
            EXPECT_EQ(toColumns.stagingElements(), 6);
            toColumns.checkStaging(6);
            // Element [i, j] is 10 i + j.
            float first = static_cast<float>(rank.index * 20);
            std::vector<float> x{first,      first + 1,  first + 2,
                                 first + 10, first + 11, first + 12};
            std::vector<float> staging(6, -1);
            toColumns.pack(rank.compute, x.data(), staging.data());
            if (rank.index == 0)
              EXPECT_EQ(staging, (std::vector<float>{1, 2, 11, 12, -1, -1}));
            else
              EXPECT_EQ(staging, (std::vector<float>{20, 30, -1, -1, -1, -1}));
            toColumns.communicate(rank.comm, staging.data());
            rank.comm.sync();
            EXPECT_EQ(traffic.totalBytes(), rank.index == 0 ? 16 : 8);
            if (rank.index == 0)
              EXPECT_EQ(staging, (std::vector<float>{1, 2, 11, 12, 20, 30}));
            else
              EXPECT_EQ(staging, (std::vector<float>{20, 30, 1, 2, 11, 12}));
          }),
      "");
}

TEST(Redistribution, CopiesServeTheirOwnGroup) {
  // Both ranks of axis b hold the rows of their rank of axis a: nothing needs
  // to cross b, so the group of a suffices.
  Case move{MoveKind::exchange,
            {6},
            {Split(0, {0, 2, 6})},
            {Split({1, 0}, {0, 1, 3, 4, 6})},
            kA};
  EXPECT_EQ(runOnGrid({{"a", 2}, {"b", 2}},
                      [&](Rank &rank, Traffic &traffic) {
                        Mover mover(rank, traffic);
                        mover.check(move);
                      }),
            "");
}

/// What making (and using) a move on two ranks of axis a says.
std::string complaint(
    const Case &move, const std::function<void(Redistribution &, Rank &)> &use =
                          [](Redistribution &, Rank &) {}) {
  return runOnGrid({{"a", 2}, {"b", 1}}, [&](Rank &rank, Traffic &traffic) {
    Mover mover(rank, traffic);
    std::string message = messageOf([&] {
      Redistribution made = mover.make(move);
      use(made, rank);
    });
    if (rank.index == 1 && !message.empty())
      throw Error(message);
  });
}

TEST(Redistribution, WrongTablesAreRefused) {
  Layout rows{Split(0, {0, 2, 4})}, columns{Split(), Split(0, {0, 1, 3})};
  Layout halo{Split::overlapping({0}, {0, 3, 1, 4})};
  Dims dims{4, 3};
  const std::string subject = " of a tensor [4, 3] of f32 on rank 1 ";

  EXPECT_EQ(complaint({MoveKind::exchange, dims, halo, rows, kA}),
            "the exchange" + subject +
                "has wrong tables: the parts of 'x' may overlap, expected "
                "bounds that cover its shape [4, 3]");
  EXPECT_EQ(complaint({MoveKind::exchange,
                       dims,
                       rows,
                       {Split::overlapping({0}, {0, 3, 1, 5})},
                       kA}),
            "the exchange" + subject +
                "has wrong tables: the parts of 'y' lie outside its shape "
                "[4, 3]");
  EXPECT_EQ(complaint({MoveKind::exchange,
                       dims,
                       {Split(0, {0, 2, 4}), Split(0, {0, 1, 3})},
                       rows,
                       kA}),
            "the exchange" + subject +
                "has wrong tables: 'x' is cut twice over the axis 'a'");
  EXPECT_EQ(complaint({MoveKind::exchange, dims, rows, columns, 0}),
            "the exchange" + subject +
                "needs 8 elements, [0, 4) x [1, 3), of which its group holds "
                "4; expected a group over all axes that cut x");
  EXPECT_EQ(complaint({MoveKind::slice, dims, rows, columns, 0}),
            "the slice" + subject +
                "needs [0, 4) x [1, 3), expected a part of [2, 4) x [0, 3), "
                "which it holds");
  EXPECT_EQ(complaint({MoveKind::allGather, dims, rows, columns, kA}),
            "the allGather" + subject +
                "gathers [0, 2) x [0, 3), expected parts of [0, 4) x [1, 3)");
  EXPECT_EQ(complaint({MoveKind::allGather, dims, rows, {}, kB}),
            "the allGather" + subject +
                "gathers 6 elements, expected the 12 of [0, 4) x [0, 3)");
  EXPECT_EQ(complaint({MoveKind::reduceScatter, dims, rows, rows, kA}),
            "the reduceScatter" + subject +
                "adds to [0, 2) x [0, 3), expected the box of all ranks of its "
                "group, [2, 4) x [0, 3)");
  EXPECT_EQ(complaint({MoveKind::reduceScatter, dims, rows, {}, kB}),
            "the reduceScatter" + subject +
                "gives away [0, 4) x [0, 3), expected a part of [2, 4) x "
                "[0, 3)");
  EXPECT_TRUE(
      says(complaint({MoveKind::reduceScatter, dims, {}, rows, kA, DType::i16}),
           "reduces elements of a type that cannot be reduced, expected f32, "
           "f64, i32 or i64"));
}

TEST(Redistribution, WrongGroupsAreRefused) {
  auto make = [](Communicator *(*groupOf)(Rank &)) {
    return runOnGrid({{"a", 2}, {"b", 1}}, [&](Rank &rank, Traffic &) {
      Communicator *group = groupOf(rank);
      std::string message = messageOf([&] {
        Redistribution(rank, MoveKind::exchange, group, {"a"}, {4},
                       {Split(0, {0, 2, 4})}, {}, DType::f32);
      });
      if (rank.index == 1)
        throw Error(message);
    });
  };
  const std::string subject = "the exchange of a tensor [4] of f32 on rank 1 ";
  EXPECT_EQ(make([](Rank &) -> Communicator * { return nullptr; }),
            subject + "has no group, expected that of its axes, 2 ranks");
  EXPECT_EQ(make([](Rank &rank) { return &rank.communicator({"b"}); }),
            subject + "has place 0 in a group of 1 ranks, expected place 1 in "
                      "the group of its axes, 2 ranks");
  EXPECT_EQ(runOnGrid({{"a", 1}},
                      [](Rank &rank, Traffic &) {
                        Redistribution(rank, MoveKind::exchange, nullptr, {"c"},
                                       {4}, {}, {}, DType::f32);
                      }),
            "the grid has no axis 'c'");
}

TEST(Redistribution, WrongUseIsRefused) {
  Layout rows{Split(0, {0, 2, 4})};
  Case gather{MoveKind::allGather, {4}, rows, {}, kA};
  Case slice{MoveKind::slice, {4}, {}, rows, 0};
  EXPECT_TRUE(
      says(complaint(gather, [](auto &move, auto &) { move.checkStaging(5); }),
           "was planned with 5 elements of staging, expected 4"));
  EXPECT_TRUE(says(complaint(gather,
                             [](auto &move, auto &rank) {
                               double x[2] = {}, staging[4] = {};
                               move.pack(rank.compute, x, staging);
                             }),
                   "was given elements of 8 bytes, expected 4"));
  float x[4] = {}, y[4] = {};
  EXPECT_TRUE(says(
      complaint(gather, [&](auto &move,
                            auto &rank) { move.slice(rank.compute, x, y); }),
      "is no slice, expected pack, communicate and unpack"));
  EXPECT_TRUE(
      says(complaint(slice, [&](auto &move,
                                auto &rank) { move.pack(rank.compute, x, y); }),
           "has nothing to pack"));
  EXPECT_TRUE(says(
      complaint(slice, [&](auto &move,
                           auto &rank) { move.communicate(rank.comm, y); }),
      "has nothing to communicate"));
  EXPECT_TRUE(says(
      complaint(slice, [&](auto &move,
                           auto &rank) { move.unpack(rank.compute, x, x, y); }),
      "has nothing to unpack"));
}

} // namespace
