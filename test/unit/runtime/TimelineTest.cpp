//===- TimelineTest.cpp - Overlap of hand-made spans ---------- -*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is hidden and what is exposed, and that files and messages hold what the
// spans say.
//
//===----------------------------------------------------------------------===//

#include "core/Timeline.h"

#include "core/Json.h"

#include "TestFolder.h"

using namespace partita;

namespace {

Span call(const char *label, const char *layer, double begin, double end,
          std::int64_t bytes = 0) {
  Span span;
  span.kind = Span::Kind::call;
  span.onComm = true;
  span.name = label;
  span.layer = layer;
  span.begin = begin;
  span.end = end;
  span.bytes = bytes;
  return span;
}

Span wait(double begin, double end) {
  Span span;
  span.kind = Span::Kind::wait;
  span.name = "wait";
  span.begin = begin;
  span.end = end;
  return span;
}

TEST(Overlap, ACallNobodyWaitsForIsHidden) {
  auto rows = overlapOf({call("conv1 reads x", "conv1", 1, 3, 100)});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].layer, "conv1");
  EXPECT_EQ(rows[0].calls, 1);
  EXPECT_EQ(rows[0].bytes, 100);
  EXPECT_DOUBLE_EQ(rows[0].total, 2);
  EXPECT_DOUBLE_EQ(rows[0].exposed, 0);
  EXPECT_DOUBLE_EQ(rows[0].hidden(), 1);
}

TEST(Overlap, OnlyTheCommonTimeIsExposed) {
  // The wait begins before the call and ends within it.
  auto rows = overlapOf({wait(0, 2), call("a", "fc", 1, 5)});
  EXPECT_DOUBLE_EQ(rows[0].exposed, 1);
  EXPECT_DOUBLE_EQ(rows[0].hidden(), 0.75);
}

TEST(Overlap, OneWaitExposesAllCallsInIt) {
  auto rows = overlapOf({call("a", "one", 0, 2), call("b", "two", 2, 5),
                         call("c", "three", 5, 6), wait(1, 5.5)});
  EXPECT_DOUBLE_EQ(rows[0].exposed, 1);
  EXPECT_DOUBLE_EQ(rows[1].exposed, 3);
  EXPECT_DOUBLE_EQ(rows[2].exposed, 0.5);
  LayerOverlap all = totalOf(rows);
  EXPECT_DOUBLE_EQ(all.total, 6);
  EXPECT_DOUBLE_EQ(all.exposed, 4.5);
  EXPECT_DOUBLE_EQ(all.hidden(), 0.25);
}

TEST(Overlap, WaitsThatOverlapCountOnce) {
  auto rows = overlapOf({call("a", "one", 0, 10), wait(6, 8), wait(1, 3),
                         wait(2, 4), wait(2.5, 2.75), wait(9, 9)});
  EXPECT_DOUBLE_EQ(rows[0].exposed, 5);
}

TEST(Overlap, CallsWithoutLayerGoByTheirLabel) {
  auto rows = overlapOf({call("bucket 0: fc.weight, fc.bias", "", 0, 1, 5),
                         call("bucket 0: fc.weight, fc.bias", "", 4, 6, 5),
                         call("loss", "", 7, 8)});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].layer, "bucket 0");
  EXPECT_EQ(rows[0].calls, 2);
  EXPECT_EQ(rows[0].bytes, 10);
  EXPECT_EQ(rows[1].layer, "loss");
}

TEST(Overlap, TheRuntimesOwnCallsAreLeftOut) {
  EXPECT_TRUE(overlapOf({call("signals", "(runtime)", 0, 1)}).empty());
}

TEST(Overlap, NothingIsAllHidden) {
  EXPECT_TRUE(overlapOf({}).empty());
  EXPECT_DOUBLE_EQ(totalOf({}).hidden(), 1);
}

TEST(Overlap, RanksAreAdded) {
  auto rows = sumOverlaps({{{"a", 1, 10, 2, 1}, {"b", 1, 1, 1, 0}},
                           {{"b", 2, 3, 1, 1}, {"c", 1, 0, 1, 0}}});
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[1].layer, "b");
  EXPECT_EQ(rows[1].calls, 3);
  EXPECT_EQ(rows[1].bytes, 4);
  EXPECT_DOUBLE_EQ(rows[1].total, 2);
  EXPECT_DOUBLE_EQ(rows[1].exposed, 1);
  EXPECT_EQ(rows[2].layer, "c");
}

TEST(Overlap, TheTableHasTheMeanOfRanksAndSteps) {
  // 2 ranks, 2 steps: 4 calls of 2 ms, of which 1 ms is exposed.
  std::string table = overlapTable({{"conv\n1", 4, 4000, 8e-3, 4e-3}}, 2, 2);
  EXPECT_TRUE(says(table, "mean of 2 ranks and 2 steps, measured")) << table;
  EXPECT_TRUE(says(table, "conv?1       1         1000       2.000       1.000"
                          "      50.0\n"))
      << table;
  EXPECT_TRUE(says(table, "overlap efficiency  50.0 %")) << table;
}

TEST(TimelineTest, PackedSpansReadBack) {
  Timeline timeline;
  timeline.rank = 3;
  timeline.dropped = 7;
  timeline.spans = {call("a", "fc", 1, 2, 64), wait(1.5, 2)};
  timeline.spans[0].callKind = "allReduce";
  timeline.spans[0].index = 4;
  timeline.spans[0].step = 9;
  timeline.spans[0].section = "backward";
  std::vector<std::byte> bytes = timeline.pack();
  Timeline back = Timeline::unpack(bytes, /*shift=*/10);
  EXPECT_EQ(back.rank, 3);
  EXPECT_EQ(back.dropped, 7);
  ASSERT_EQ(back.spans.size(), 2u);
  const Span &span = back.spans[0];
  EXPECT_EQ(span.kind, Span::Kind::call);
  EXPECT_TRUE(span.onComm);
  EXPECT_EQ(span.name, "a");
  EXPECT_EQ(span.layer, "fc");
  EXPECT_EQ(span.section, "backward");
  EXPECT_EQ(span.callKind, "allReduce");
  EXPECT_EQ(span.index, 4);
  EXPECT_EQ(span.step, 9);
  EXPECT_EQ(span.bytes, 64);
  EXPECT_DOUBLE_EQ(span.begin, 11);
  EXPECT_DOUBLE_EQ(span.end, 12);
  EXPECT_EQ(back.spans[1].kind, Span::Kind::wait);
  bytes.pop_back();
  EXPECT_TRUE(
      says(messageOf([&] { Timeline::unpack(bytes, 0); }), "incomplete"));
}

TEST(TimelineTest, TheFileIsJsonWithATrackPerStream) {
  Timeline rank0, rank1;
  rank1.rank = 1;
  rank0.spans = {call("bucket \"0\": fc", "", 5, 5.25, 64), wait(5.125, 5.25)};
  rank1.spans = {call("b", "fc", 4.5, 5, 8)};
  std::string text = traceJson({rank0, rank1}, "mlp");
  Json json = parseJson(text.data(), text.size());
  std::vector<Json> events = json.find("traceEvents")->elements;
  // Five names per rank, and the spans.
  ASSERT_EQ(events.size(), 13u);
  EXPECT_EQ(events[0].find("args")->find("name")->string, "rank 0");
  const Json &bucket = events[5];
  EXPECT_EQ(bucket.find("ph")->string, "X");
  EXPECT_EQ(bucket.find("name")->string, "bucket \"0\": fc");
  EXPECT_EQ(bucket.find("tid")->integer, 1);
  EXPECT_DOUBLE_EQ(bucket.find("ts")->number, 5e5);
  EXPECT_DOUBLE_EQ(bucket.find("dur")->number, 2.5e5);
  EXPECT_EQ(bucket.find("args")->find("bytes")->integer, 64);
  EXPECT_EQ(events[6].find("tid")->integer, 2);
  EXPECT_EQ(events[12].find("pid")->integer, 1);
  EXPECT_DOUBLE_EQ(events[12].find("ts")->number, 0);
}

} // namespace
