//===- TileTest.cpp - Tiles cover tensors exactly once ----------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Uneven and empty parts, several axes per dimension, replicas.
//
//===----------------------------------------------------------------------===//

#include "core/Tile.h"

#include "TestFolder.h"

#include <numeric>

using namespace partita;

namespace {

Program gridOf(std::vector<GridAxis> grid) {
  Program program;
  program.name = "test";
  program.grid = std::move(grid);
  program.globalBatch = 7;
  program.classOfRank.assign(program.ranks(), 0);
  program.arenaBytes = {1 << 20};
  program.loss = {"loss", DType::f32, {}, {}, {0}};
  return program;
}

/// Copies a tensor to all tiles and back from their owners.
void expectRoundTrip(const Program &program, const Tensor &tensor) {
  std::vector<int> whole(elementsOf(tensor.dims)), back(whole.size(), -1);
  std::iota(whole.begin(), whole.end(), 0);
  std::int64_t covered = 0;
  for (int rank = 0; rank < program.ranks(); ++rank) {
    Tile tile = tileOf(program, tensor, rank);
    std::vector<int> dense(tile.elements(), -2);
    copyTile(dense.data(), whole.data(), tensor.dims, tile, sizeof(int));
    if (!ownsTile(program, tensor, rank))
      continue;
    covered += tile.elements();
    placeTile(back.data(), dense.data(), tensor.dims, tile, sizeof(int));
  }
  EXPECT_EQ(covered, elementsOf(tensor.dims));
  EXPECT_EQ(back, whole);
}

TEST(Tile, RanksAreRowMajor) {
  std::vector<GridAxis> grid = {{"data", 2}, {"model", 3}};
  EXPECT_EQ(coordinatesOf(grid, 4), (std::vector<int>{1, 1}));
}

TEST(Tile, CoversOnce) {
  Program program = gridOf({{"data", 2}, {"model", 3}});
  Split batch(0, {0, 4, 7}), channels(1, {0, 2, 2, 5});
  Split both({0, 1}, {0, 1, 2, 4, 4, 5, 7});
  for (const std::vector<Split> &splits :
       {std::vector<Split>{}, std::vector<Split>{batch},
        std::vector<Split>{Split(), channels},
        std::vector<Split>{batch, channels, Split()}, std::vector<Split>{both},
        std::vector<Split>{Split(), Split(), batch}})
    expectRoundTrip(program, {"t", DType::i32, {7, 5, 7}, splits, {0}});
  expectRoundTrip(program, {"scalar", DType::i32, {}, {}, {0}});
  expectRoundTrip(program, {"empty", DType::i32, {0, 3}, {}, {0}});
}

TEST(Tile, SeveralAxesCountRowMajor) {
  Program program = gridOf({{"a", 2}, {"b", 2}});
  Tensor tensor{"t", DType::f32, {10}, {Split({1, 0}, {0, 1, 3, 6, 10})}, {0}};
  // Rank 1 has a = 0 and b = 1; b is the slower axis of this split.
  EXPECT_EQ(tileOf(program, tensor, 1).start, (Dims{3}));
  EXPECT_EQ(tileOf(program, tensor, 2).start, (Dims{1}));
}

TEST(Tile, PartsMayOverlap) {
  std::vector<GridAxis> grid = {{"data", 2}};
  std::vector<Split> halo = {Split(), Split::overlapping({0}, {0, 4, 2, 7})};
  EXPECT_EQ(tileOf(grid, {3, 7}, halo, 1).start, (Dims{0, 2}));
  EXPECT_EQ(tileOf(grid, {3, 7}, halo, 1).size, (Dims{3, 5}));
  EXPECT_EQ(halo[1].range(0), (std::pair<std::int64_t, std::int64_t>(0, 4)));
  EXPECT_EQ(faultOfSplits(grid, "x", {3, 7}, halo, /*mayOverlap=*/true), "");
  EXPECT_EQ(faultOfSplits(grid, "x", {3, 6}, halo, /*mayOverlap=*/true),
            "the parts of 'x' lie outside its shape [3, 6]");
  // All ranks hold the middle.
  std::vector<Split> middle = {Split::overlapping({}, {1, 3})};
  EXPECT_EQ(tileOf(grid, {3}, middle, 1).start, (Dims{1}));
}

TEST(Tile, CommonTilesMayBeEmpty) {
  Tile a{{0, 2}, {3, 4}}, b{{1, 0}, {5, 3}}, c{{3, 0}, {1, 9}};
  EXPECT_EQ(commonTile(a, b).start, (Dims{1, 2}));
  EXPECT_EQ(commonTile(a, b).size, (Dims{2, 1}));
  EXPECT_EQ(commonTile(a, c).elements(), 0);
  EXPECT_TRUE(liesInside({{1, 3}, {2, 2}}, a));
  EXPECT_FALSE(liesInside(b, a));
  EXPECT_TRUE(liesInside({}, {}));
}

TEST(Tile, GroupsVaryOnTheirAxes) {
  std::vector<GridAxis> grid = {{"a", 2}, {"b", 3}};
  EXPECT_EQ(groupOf(grid, 4, {"b"}), (std::vector<int>{3, 4, 5}));
  EXPECT_EQ(groupOf(grid, 4, {"a"}), (std::vector<int>{1, 4}));
  EXPECT_EQ(groupOf(grid, 4, {}), (std::vector<int>{4}));
  EXPECT_EQ(messageOf([&] { groupOf(grid, 0, {"c"}); }),
            "the grid has no axis 'c'");
}

TEST(Tile, TablesAreChecked) {
  Program good = gridOf({{"data", 2}});
  EXPECT_EQ(messageOf([&] { checkTables(good); }), "");

  Program program = good;
  program.classOfRank = {0};
  EXPECT_TRUE(says(messageOf([&] { checkTables(program); }),
                   "classOfRank has 1 entries"));
  program = good;
  program.gradients.push_back(
      {"g", DType::f32, {5}, {Split(0, {0, 3, 4})}, {0}});
  EXPECT_TRUE(says(messageOf([&] { checkTables(program); }),
                   "the parts of 'g' do not cover its shape [5]"));
  program = good;
  program.gradients.push_back(
      {"g", DType::f32, {5}, {Split(1, {0, 3, 5})}, {0}});
  EXPECT_TRUE(says(messageOf([&] { checkTables(program); }),
                   "an axis that is not there"));
  program = good;
  program.gradients.push_back(
      {"g", DType::f32, {5}, {Split::overlapping({0}, {0, 3, 2, 5})}, {0}});
  EXPECT_TRUE(says(messageOf([&] { checkTables(program); }),
                   "the parts of 'g' may overlap, expected bounds that cover "
                   "its shape [5]"));
  program = good;
  program.variables.push_back({{"w",
                                DType::f32,
                                {4, 4},
                                {Split(0, {0, 2, 4}), Split(0, {0, 2, 4})},
                                {0}}});
  EXPECT_TRUE(says(messageOf([&] { checkTables(program); }),
                   "'w' is cut twice over the axis 'data'"));
  program = good;
  program.evalCorrect = Tensor{"hits", DType::f32, {5}, {}, {0}};
  EXPECT_TRUE(says(messageOf([&] { checkTables(program); }),
                   "'hits' has shape [5], expected 7 samples first"));
  program = good;
  program.gradients.push_back({"g", DType::f32, {5}, {}, {(1 << 20) - 16}});
  EXPECT_TRUE(says(messageOf([&] { checkTables(program); }),
                   "'g' lies outside the arena of rank 0"));
  program = good;
  program.inputs.push_back({{"x", DType::f32, {6, 3}, {}, {0}}});
  EXPECT_TRUE(says(messageOf([&] { checkTables(program); }),
                   "expected 7 samples first"));
}

} // namespace
