//===- PlanReaderTest.cpp - Reading plan files ----------------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Plans that are right, and every finding of those that are not, with its
// line and column.
//
//===----------------------------------------------------------------------===//

#include "passes/Plan/PlanReader.h"

#include "gtest/gtest.h"

using namespace partita::plan;

namespace {

/// "line:column message" of every finding.
std::vector<std::string> faultsOf(llvm::StringRef text) {
  std::vector<std::string> faults;
  std::optional<PlanText> plan =
      parsePlan(text, [&](PlanPosition at, const std::string &message) {
        faults.push_back(std::to_string(at.line) + ":" +
                         std::to_string(at.column) + " " + message);
      });
  EXPECT_EQ(plan.has_value(), faults.empty());
  return faults;
}

using Faults = std::vector<std::string>;

TEST(PlanReader, AWholePlan) {
  std::optional<PlanText> plan = parsePlan(
      R"({"version": 1, "grid": {"pr": 2, "pc": 3}, "semantics": "exact",
  "layers": {
    "z \"quoted\"": {"op": "nn.conv", "split": "batch:pc,h:pr"},
    "a": {"split": "whole"}
  },
  "parameters": {"w": {"sync": "all_reduce", "axes": ["pc", "pr"]}}})",
      [](PlanPosition, const std::string &message) { FAIL() << message; });
  ASSERT_TRUE(plan.has_value());
  // The order of the file, which for axes has a meaning.
  EXPECT_EQ(describeAxes(plan->grid), "pr = 2, pc = 3");
  ASSERT_EQ(plan->layers.size(), 2U);
  EXPECT_EQ(plan->layers[0].name, "z \"quoted\"");
  EXPECT_EQ(printSplit(plan->layers[0].items), "batch:pc,h:pr");
  EXPECT_EQ(plan->layers[0].position.line, 3U);
  EXPECT_EQ(plan->layers[0].position.column, 5U);
  EXPECT_TRUE(plan->layers[1].items.empty());
  ASSERT_EQ(plan->parameters.size(), 1U);
  EXPECT_EQ(plan->parameters[0].axes, (std::vector<std::string>{"pc", "pr"}));
}

TEST(PlanReader, ThePartsMayBeMissing) {
  EXPECT_EQ(faultsOf(R"({"version": 1})"), Faults{});
}

TEST(PlanReader, EveryFaultIsReportedInTheOrderOfTheFile) {
  EXPECT_EQ(
      faultsOf(R"({
  "grid": {"pr": "two", "pc": 0},
  "layers": {
    "a": {"split": 3, "axis": "pr"},
    "b": "batch:pc",
    "c": {"op": "nn.conv"},
    "d": {"split": "batch"},
    "d": {"split": "batch:pc"}
  },
  "layer": {},
  "parameters": {"w": {"sync": "all_gather", "axes": ["pc", 1], "by": 2},
                 "v": {"axes": "pc"}},
  "semantics": 1,
  "version": 2
})"),
      (Faults{
          "2:12 key 'pr' of 'grid': found a string, expected the size of an "
          "axis",
          "4:11 key 'split' of 'layers' / 'a': found a number, expected a "
          "string",
          "4:23 key 'axis' of 'layers' / 'a': there is no such key; the keys "
          "here are 'op', 'split'",
          "5:5 key 'b' of 'layers': found a string, expected an object",
          "6:5 key 'c' of 'layers': key 'split' is missing; expected a split "
          "such as \"batch:pc\", or \"whole\"",
          "8:5 key 'd' of 'layers': it stands here a second time; the first "
          "is in line 7",
          "10:3 key 'layer': there is no such key; the keys here are "
          "'version', 'grid', 'servers', 'semantics', 'layers', 'parameters'",
          "11:24 key 'sync' of 'parameters' / 'w': found 'all_gather', "
          "expected a method: all_reduce, parameter_server, "
          "factor_broadcast, poseidon",
          "11:46 key 'axes' of 'parameters' / 'w': found a number, expected a "
          "string",
          "11:65 key 'by' of 'parameters' / 'w': there is no such key; the "
          "keys here are 'sync', 'axes'",
          "12:24 key 'axes' of 'parameters' / 'v': found a string, expected a "
          "list of axes",
          "13:3 key 'semantics': found a number, expected a string",
          "14:3 key 'version': found 2, expected 1; this compiler reads no "
          "other version",
      }));
}

TEST(PlanReader, GridsAreCheckedAsOnTheCommandLine) {
  EXPECT_EQ(faultsOf(R"({"version": 1, "grid": {"p-r": 2}})"),
            Faults{"1:16 key 'grid': axis 'p-r' is no name; expected letters, "
                   "digits and '_', a letter first"});
  EXPECT_EQ(faultsOf(R"({"version": 1, "grid": {}})"),
            Faults{"1:16 key 'grid': found no axis, expected one such as "
                   "{\"data\": 4}"});
  EXPECT_EQ(faultsOf(R"({"version": 1, "grid": [2, 2]})"),
            Faults{"1:16 key 'grid': found a list, expected an object such as "
                   "{\"pr\": 2, \"pc\": 2}"});
  EXPECT_EQ(faultsOf(R"({"version": 1, "grid": {"pr": -2}})"),
            Faults{"1:16 key 'grid': axis 'pr' has size -2, expected a "
                   "positive one, and at most 1048576 ranks in all"});
}

TEST(PlanReader, WhatIsNoPlan) {
  EXPECT_EQ(faultsOf("[]"), Faults{"1:1 found a list, expected a plan: an "
                                   "object with a \"version\""});
  EXPECT_EQ(faultsOf("{}"), Faults{"1:1 key 'version' is missing; expected "
                                   "\"version\": 1"});
  EXPECT_EQ(faultsOf("").size(), 1U);
  EXPECT_EQ(faultsOf("{\"version\": 1,\n \"grid\": }").size(), 1U);
  EXPECT_EQ(faultsOf("{\"version\": 1,\n \"grid\": }")[0].find("2:"), 0U);
  EXPECT_EQ(faultsOf(R"({"version": "1"})"),
            Faults{"1:2 key 'version': found a string, expected 1"});
}

TEST(PlanReader, DepthIsLimited) {
  std::string deep = "{\"version\": 1, \"layers\": ";
  for (int i = 0; i < 100000; ++i)
    deep += '[';
  EXPECT_EQ(faultsOf(deep),
            Faults{"1:41 nested deeper than 16 levels; a plan has five"});
}

} // namespace
