//===- NumbersTest.cpp - Numbers that differ between rank classes ---------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Literals, entries of the table and their multiples.
//
//===----------------------------------------------------------------------===//

#include "codegen/Emit/Numbers.h"
#include "llvm/Support/raw_ostream.h"

#include "gtest/gtest.h"

using namespace partita::codegen;

namespace {

TEST(Numbers, EqualNumbersAreLiterals) {
  NumberTable table(2);
  EXPECT_EQ(table.size({7, 7}), "7");
  EXPECT_EQ(table.offset({0, 0}, "xAt"), "0");
  EXPECT_EQ(table.real({0.5, 0.5}, "scale"), "0.5f");
  EXPECT_TRUE(table.empty());
}

TEST(Numbers, MultiplesOfTheBatchAreWrittenSo) {
  NumberTable table(2);
  table.nameSize("batch", {22, 21});
  EXPECT_EQ(table.size({22, 21}), "s.batch");
  EXPECT_EQ(table.size({2816, 2688}), "s.batch * 128");
  EXPECT_EQ(table.describe({2816, 2688}), "batch * 128");
  EXPECT_EQ(table.size({2816, 2687}), "s.n1");
  // A rank without samples.
  NumberTable empty(2);
  empty.nameSize("batch", {1, 0});
  EXPECT_EQ(empty.size({10, 0}), "s.batch * 10");
}

TEST(Numbers, OffsetsAreNoMultiples) {
  NumberTable table(2);
  table.nameSize("batch", {64, 128});
  EXPECT_EQ(table.offset({128, 256}, "t"), "s.t1");
  EXPECT_EQ(table.offset({64, 128}, "t"), "s.t2");
  EXPECT_EQ(table.offset({128, 256}, "t"), "s.t1");
  EXPECT_EQ(table.offset({0, 64}, "lossAt"), "s.lossAt");
}

TEST(Numbers, TheTableHasARowPerClass) {
  NumberTable table(2);
  table.nameSize("batch", {22, 21});
  table.real({0.5, 0.25}, "scale");
  std::string text;
  llvm::raw_string_ostream os(text);
  table.print(os, "Sizes", "kSizes", {"class 0", "class 1"});
  EXPECT_NE(text.find("std::int64_t batch;\n  float scale;\n"),
            std::string::npos);
  EXPECT_NE(text.find("// class 0\n    {22, 0.5f},\n    // class 1\n    {21, "
                      "0.25f},\n"),
            std::string::npos);
}

TEST(Numbers, Products) {
  EXPECT_EQ(product({{2, 3}, {4, 5}}, 2), (Number{8, 15}));
  EXPECT_EQ(product({}, 3), (Number{1, 1, 1}));
}

} // namespace
