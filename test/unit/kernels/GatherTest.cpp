//===- GatherTest.cpp - Look-ups by data and their gradients --------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Both kernels against their definitions, tables held in parts, and indices
// that no table has.
//
//===----------------------------------------------------------------------===//

#include "KernelTesting.h"

using namespace partita;
using namespace partita::testing;

namespace {

class LookUp : public KernelTest {
protected:
  /// Indices in [-limit, limit), the same for one seed.
  template <typename Index>
  static std::vector<Index> indicesOf(const GatherSizes &sizes, unsigned seed) {
    std::mt19937 generator(seed);
    std::uniform_int_distribution<std::int64_t> distribution(-sizes.limit,
                                                             sizes.limit - 1);
    std::vector<Index> indices(sizes.count);
    for (Index &index : indices)
      index = static_cast<Index>(distribution(generator));
    return indices;
  }

  /// Calls visit(o, j, row) for the indices whose rows are held.
  template <typename Index, typename Visit>
  static void forEachHeld(const GatherSizes &sizes,
                          const std::vector<Index> &indices,
                          const Visit &visit) {
    for (std::int64_t o = 0; o < sizes.outer; ++o)
      for (std::int64_t j = 0; j < sizes.count; ++j) {
        std::int64_t row = indices[j] < 0 ? indices[j] + sizes.limit
                                          : std::int64_t(indices[j]);
        row -= sizes.start;
        if (row >= 0 && row < sizes.rows)
          visit(o, j, row);
      }
  }

  template <typename Index> void check(const GatherSizes &sizes) {
    SCOPED_TRACE(
        std::to_string(sizes.outer) + "x" + std::to_string(sizes.rows) + "x" +
        std::to_string(sizes.inner) + " at " + std::to_string(sizes.count) +
        " from " + std::to_string(sizes.start));
    std::vector<Index> indices = indicesOf<Index>(sizes, 7);
    std::int64_t inner = sizes.inner;
    Floats table = randomFloats(sizes.outer * sizes.rows * inner, 1);
    Floats dy = randomFloats(sizes.outer * sizes.count * inner, 2);
    Doubles y(dy.size()), dtable(table.size());
    forEachHeld(sizes, indices,
                [&](std::int64_t o, std::int64_t j, std::int64_t row) {
                  for (std::int64_t i = 0; i < inner; ++i) {
                    std::int64_t at = (o * sizes.rows + row) * inner + i;
                    std::int64_t from = (o * sizes.count + j) * inner + i;
                    y[from] = table[at];
                    dtable[at] += dy[from];
                  }
                });
    Output gathered(y.size()), added(dtable.size());
    Gather(device, sizes)(stream, table.data(), indices.data(),
                          gathered.data());
    expectClose(gathered.get(), y, 0.0);
    ScatterAdd(device, sizes)(stream, dy.data(), indices.data(), added.data());
    expectClose(added.get(), dtable, 1e-7);
  }
};

TEST_F(LookUp, whole_tables) {
  check<std::int64_t>({1, 61, 32, 128, 61});
  check<std::int32_t>({1, 61, 32, 128, 61});
  check<std::int64_t>({3, 5, 7, 11, 5});
  check<std::int64_t>({2, 9, 1, 40, 9});
  check<std::int64_t>({1, 1, 130, 6, 1});
  // Large enough for several threads.
  check<std::int64_t>({2, 50, 200, 700, 50});
}

TEST_F(LookUp, empty_sizes) {
  check<std::int64_t>({1, 4, 3, 0, 4});
  check<std::int64_t>({0, 4, 3, 5, 4});
  check<std::int64_t>({1, 4, 0, 5, 4});
  // A rank that holds no rows of a small table.
  check<std::int64_t>({1, 0, 3, 5, 4, 4});
}

TEST_F(LookUp, parts_add_up_to_the_whole) {
  check<std::int64_t>({2, 4, 3, 50, 10, 0});
  check<std::int64_t>({2, 3, 3, 50, 10, 4});
  check<std::int32_t>({2, 3, 3, 50, 10, 7});
  GatherSizes whole{1, 10, 3, 50, 10};
  std::vector<std::int64_t> indices = indicesOf<std::int64_t>(whole, 3);
  Floats table = randomFloats(30, 1), dy = randomFloats(150, 2);
  Output y(150), dtable(30);
  Gather(device, whole)(stream, table.data(), indices.data(), y.data());
  ScatterAdd(device, whole)(stream, dy.data(), indices.data(), dtable.data());
  Floats sum(150), rows;
  for (std::int64_t start : {0, 4, 7}) {
    std::int64_t held = start == 0 ? 4 : 3;
    GatherSizes part{1, held, 3, 50, 10, start};
    Output partOfY(150), partOfTable(held * 3);
    Gather(device, part)(stream, table.data() + start * 3, indices.data(),
                         partOfY.data());
    ScatterAdd(device, part)(stream, dy.data(), indices.data(),
                             partOfTable.data());
    Floats values = partOfY.get();
    for (std::size_t i = 0; i < sum.size(); ++i)
      sum[i] += values[i];
    for (float value : partOfTable.get())
      rows.push_back(value);
  }
  EXPECT_EQ(sum, y.get());
  EXPECT_EQ(rows, dtable.get());
}

TEST_F(LookUp, repeated_rows_keep_their_precision) {
  // In float alone, adding 1e-3 to a sum of 1e4 would lose a tenth of it.
  std::int64_t count = 100000;
  std::vector<std::int64_t> indices(count, 1);
  Floats dy(count, 1e-3f);
  dy[0] = 1e4f;
  Output dtable(2);
  ScatterAdd(device, {1, 2, 1, count, 2})(stream, dy.data(), indices.data(),
                                          dtable.data());
  expectClose(dtable.get(), {0.0, 1e4 + (count - 1) * double(1e-3f)}, 1e-7);
}

TEST_F(LookUp, other_element_sizes) {
  GatherSizes sizes{2, 3, 2, 4, 3};
  std::vector<std::int64_t> indices = {2, -3, 1, -1};
  auto check = [&](auto element) {
    using Element = decltype(element);
    std::vector<Element> table, y(16), expected;
    for (int i = 0; i < 12; ++i)
      table.push_back(static_cast<Element>(i + 1));
    for (int o = 0; o < 2; ++o)
      for (int row : {2, 0, 1, 2})
        for (int i = 0; i < 2; ++i)
          expected.push_back(table[(o * 3 + row) * 2 + i]);
    Gather(device, sizes, sizeof(Element))(stream, table.data(), indices.data(),
                                           y.data());
    EXPECT_EQ(y, expected) << sizeof(Element) << " bytes";
  };
  check(std::int8_t());
  check(std::int16_t());
  check(std::int32_t());
  check(std::int64_t());
}

TEST_F(LookUp, illegal_indices) {
  GatherSizes sizes{1, 2, 1, 3, 6, 2};
  Floats table = {1.0f, 2.0f};
  Gather gather(device, sizes);
  auto message = [&](std::vector<std::int64_t> indices) -> std::string {
    Output y(3);
    try {
      gather(stream, table.data(), indices.data(), y.data());
    } catch (const Error &error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message({-6, 0, 5}), "");
  EXPECT_EQ(message({0, 6, 7}),
            "gather: found the index 6 at place 1, expected -6 to 5 for a "
            "table of 6 rows; check the data that the indices come from");
  EXPECT_NE(message({0, 0, -7}).find("the index -7 at place 2"),
            std::string::npos);
  // Their gradients are left out.
  std::vector<std::int64_t> indices = {6, -7, 3};
  Floats dy = {1.0f, 2.0f, 4.0f};
  Output dtable(2);
  ScatterAdd(device, sizes)(stream, dy.data(), indices.data(), dtable.data());
  expectClose(dtable.get(), {0.0, 4.0}, 0.0);
}

TEST_F(LookUp, illegal_sizes) {
  EXPECT_THROW(Gather(device, {1, 4, 1, 1, 5, 2}), Error);
  EXPECT_THROW(Gather(device, {1, -4, 1, 1, 5, 2}), Error);
  EXPECT_THROW(Gather(device, {1, 4, 1, 1, 4}, 3), Error);
  EXPECT_THROW(ScatterAdd(device, {1, 4, 1, 1, 3}), Error);
}

} // namespace
