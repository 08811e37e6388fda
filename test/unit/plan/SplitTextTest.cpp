//===- SplitTextTest.cpp - Splits and grids as people write them ----------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the parsers take, what they print, and what they say to the rest.
//
//===----------------------------------------------------------------------===//

#include "passes/Plan/SplitText.h"

#include "gtest/gtest.h"

using namespace partita::plan;

namespace {

std::string splitError(llvm::StringRef text) {
  std::string error;
  EXPECT_FALSE(parseSplit(text, error).has_value()) << text.str();
  return error;
}

std::string gridError(llvm::StringRef text, int64_t ranks = 0) {
  std::string error;
  EXPECT_FALSE(parseGrid(text, ranks, error).has_value()) << text.str();
  return error;
}

using Axes = std::vector<std::pair<std::string, int64_t>>;

TEST(SplitText, AnItemHasDimensionAxesAndParts) {
  std::string error;
  std::optional<SplitItems> items =
      parseSplit("batch:pc+pr,m:a@16,domain.h:b=3/0/7", error);
  ASSERT_TRUE(items.has_value()) << error;
  ASSERT_EQ(items->size(), 3U);
  const SplitItem &batch = (*items)[0], &m = (*items)[1], &h = (*items)[2];
  EXPECT_EQ(batch.what, "batch");
  EXPECT_EQ(batch.axes, (std::vector<std::string>{"pc", "pr"}));
  EXPECT_EQ(batch.block, 1);
  EXPECT_TRUE(batch.sizes.empty());
  EXPECT_EQ(m.block, 16);
  EXPECT_EQ(h.what, "domain.h");
  EXPECT_EQ(h.sizes, (std::vector<int64_t>{3, 0, 7}));
}

TEST(SplitText, WhatIsPrintedReadsBack) {
  std::string error;
  for (llvm::StringRef text : {"whole", "n:pc", "batch:pc,domain.h:pr",
                               "model.in:a+b", "m:pc@16,n:pr=3/3/3/1"}) {
    std::optional<SplitItems> items = parseSplit(text, error);
    ASSERT_TRUE(items.has_value()) << error;
    EXPECT_EQ(printSplit(*items), text.str());
  }
}

TEST(SplitText, FaultsNameWhatWasFound) {
  EXPECT_EQ(splitError("").find("found nothing, expected WHAT:AXES"), 0U);
  EXPECT_EQ(splitError("batch").find("found 'batch', expected WHAT:AXES"), 0U);
  EXPECT_EQ(splitError("n:pc,").find("found '', expected WHAT:AXES"), 0U);
  EXPECT_EQ(splitError("n:pc, h:pr").find("found ' h' before ':'"), 0U);
  EXPECT_EQ(splitError("domain.:pc").find("found 'domain.' before ':'"), 0U);
  EXPECT_EQ(splitError("n:").find("found '' as an axis in 'n:'"), 0U);
  EXPECT_EQ(splitError("n:pc+").find("found '' as an axis in 'n:pc+'"), 0U);
  EXPECT_EQ(splitError("n:2").find("found '2' as an axis"), 0U);
  EXPECT_EQ(splitError("n:pc+pc"),
            "axis 'pc' is named twice in 'n:pc+pc'; leave one out");
  EXPECT_EQ(splitError("n:pc@0").find("found '0' behind '@'"), 0U);
  EXPECT_EQ(splitError("n:pc@2=1/1").find("found '2=1/1' behind '@'"), 0U);
  EXPECT_EQ(splitError("n:pc=").find("found '' as the size of a part"), 0U);
  EXPECT_EQ(splitError("n:pc=1/-1").find("found '-1' as the size"), 0U);
  EXPECT_EQ(splitError("n:pc=1/99999999999999999999").find("found '9"), 0U);
}

TEST(SplitText, ARuleIsCutWhereASplitBegins) {
  std::string error;
  std::optional<SplitRule> rule = parseSplitRule("a=b:c=m:pc=1/2", error);
  ASSERT_TRUE(rule.has_value()) << error;
  // "b:c=m:pc=1/2" is no split: 'm' is no size.
  EXPECT_EQ(rule->pattern, "a=b:c");
  EXPECT_EQ(printSplit(rule->items), "m:pc=1/2");
  EXPECT_FALSE(parseSplitRule("conv*", error).has_value());
  EXPECT_EQ(error.find("found no '='"), 0U);
  EXPECT_FALSE(parseSplitRule("=n:pc", error).has_value());
  EXPECT_EQ(error.find("found no pattern before '='"), 0U);
  EXPECT_FALSE(parseSplitRule("conv*=n", error).has_value());
  EXPECT_EQ(error.find("found 'n', expected WHAT:AXES"), 0U);
}

TEST(SplitText, PatternsMatchWholeNames) {
  EXPECT_TRUE(matchesPattern("*", ""));
  EXPECT_TRUE(matchesPattern("conv?", "conv1"));
  EXPECT_FALSE(matchesPattern("conv?", "conv12"));
  EXPECT_FALSE(matchesPattern("conv", "conv1"));
  EXPECT_TRUE(matchesPattern("*b*d", "abcbd"));
  EXPECT_FALSE(matchesPattern("*b*d", "abcbde"));
  EXPECT_TRUE(matchesPattern("a**", "a"));
  // The first '/' may be left out, and only that one.
  EXPECT_TRUE(matchesPattern("conv*", "/conv1/Conv"));
  EXPECT_TRUE(matchesPattern("/conv1/Conv", "/conv1/Conv"));
  EXPECT_FALSE(matchesPattern("Conv", "/conv1/Conv"));
  // No other character is special.
  EXPECT_FALSE(matchesPattern("[ab]", "a"));
  EXPECT_TRUE(matchesPattern("[ab]", "[ab]"));
}

TEST(SplitText, ManyStarsDoNotTakeForever) {
  std::string name(2000, 'a');
  std::string pattern;
  for (int i = 0; i < 100; ++i)
    pattern += "a*";
  EXPECT_FALSE(matchesPattern(pattern + "b", name));
}

TEST(SplitText, NearNamesComeNearestFirst) {
  std::vector<std::string> names = {"/fc1/Gemm", "/conv1/Conv", "/conv2/Conv",
                                    "/Relu", "/Flatten"};
  EXPECT_EQ(nearNames("nodes", "cnov1", names), "near names are '/conv1/Conv'");
  EXPECT_EQ(nearNames("nodes", "relu*", names), "near names are '/Relu'");
  EXPECT_EQ(nearNames("nodes", "transformer", names),
            "the nodes are '/fc1/Gemm', '/conv1/Conv', '/conv2/Conv', "
            "'/Relu', ...");
  EXPECT_EQ(nearNames("nodes", "x", {}), "the model has no nodes");
}

TEST(GridText, AxesAreNamedOrFollowFromTheStyle) {
  struct Case {
    const char *text;
    int64_t ranks;
    Axes axes;
    GridStyle style;
  };
  for (const Case &c : {
           Case{"pr=2,pc=3", 0, {{"pr", 2}, {"pc", 3}}, GridStyle::none},
           Case{"a=1", 1, {{"a", 1}}, GridStyle::none},
           Case{"4", 0, {{"data", 4}}, GridStyle::batch},
           Case{"batch", 4, {{"data", 4}}, GridStyle::batch},
           Case{"4:batch", 4, {{"data", 4}}, GridStyle::batch},
           Case{"4:model", 0, {{"model", 4}}, GridStyle::model},
           Case{"4:domain", 0, {{"domain", 4}}, GridStyle::domain},
           Case{"2x3", 6, {{"pr", 2}, {"pc", 3}}, GridStyle::modelAndBatch},
           Case{"1x4:model", 0, {{"pr", 1}, {"pc", 4}}, GridStyle::model},
           Case{"2x2:model+batch",
                0,
                {{"pr", 2}, {"pc", 2}},
                GridStyle::modelAndBatch},
           Case{"2x2:domain+batch",
                0,
                {{"pr", 2}, {"pc", 2}},
                GridStyle::domainAndBatch},
           Case{"2x2:paper", 0, {{"pr", 2}, {"pc", 2}}, GridStyle::paper},
       }) {
    std::string error;
    std::optional<GridText> grid = parseGrid(c.text, c.ranks, error);
    ASSERT_TRUE(grid.has_value()) << c.text << ": " << error;
    EXPECT_EQ(grid->axes, c.axes) << c.text;
    EXPECT_EQ(grid->style, c.style) << c.text;
  }
}

TEST(GridText, FaultsNameWhatWasFound) {
  EXPECT_EQ(gridError("").find("found nothing, expected axes such as"), 0U);
  EXPECT_EQ(gridError("pr=0").find("found 'pr=0', expected AXIS=N"), 0U);
  EXPECT_EQ(gridError("pr=2,,pc=2").find("found '', expected AXIS=N"), 0U);
  EXPECT_EQ(gridError("2=pr").find("found '2=pr', expected AXIS=N"), 0U);
  EXPECT_EQ(gridError("pr=2,pr=2"), "axis 'pr' is named twice");
  EXPECT_EQ(gridError("a=1048576,b=2").find("axis 'b' has size 2"), 0U);
  EXPECT_EQ(gridError("a=9999999").find("found 'a=9999999'"), 0U);
  EXPECT_EQ(gridError("four").find("found 'four', expected axes"), 0U);
  EXPECT_EQ(gridError("2x").find("found '2x', expected RxC"), 0U);
  EXPECT_EQ(gridError("2x2x2").find("found '2x2x2', expected RxC"), 0U);
  EXPECT_EQ(gridError("2x2:rows").find("found style 'rows', expected"), 0U);
  EXPECT_EQ(gridError("4:").find("found style '', expected"), 0U);
  EXPECT_EQ(gridError("4:paper").find("style 'paper' splits two"), 0U);
  EXPECT_EQ(gridError("batch").find("'batch' takes the number of ranks"), 0U);
  EXPECT_EQ(gridError("2x2", 3),
            "the grid pr = 2, pc = 2 has 4 ranks, but --ranks says 3; leave "
            "--ranks out, or make them agree");
}

} // namespace
