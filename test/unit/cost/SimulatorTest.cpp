//===- SimulatorTest.cpp - Steps that can be followed by hand -------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Cost/Simulator.h"
#include "passes/Cost/ProgramCost.h"
#include "gtest/gtest.h"

using namespace partita::cost;

namespace {

SimAction launch(SimStream stream, double seconds) {
  SimAction action;
  action.stream = stream;
  action.seconds = seconds;
  action.name = "launch";
  return action;
}

SimAction call(std::string name, double seconds, double bytes,
               std::string communicator = "data") {
  SimAction action;
  action.kind = SimAction::Kind::call;
  action.stream = SimStream::comm;
  action.seconds = seconds;
  action.bytes = bytes;
  action.name = std::move(name);
  action.communicator = std::move(communicator);
  return action;
}

SimAction mark(SimAction::Kind kind, SimStream stream, int64_t event,
               bool isPrevious = false) {
  SimAction action;
  action.kind = kind;
  action.stream = stream;
  action.event = event;
  action.isPrevious = isPrevious;
  return action;
}

constexpr auto kRecord = SimAction::Kind::record;
constexpr auto kWait = SimAction::Kind::wait;
constexpr auto kCompute = SimStream::compute, kComm = SimStream::comm;

// Computes 3 s, sends for 2 s, and waits for it at the end.
TEST(Simulator, AWaitExposesTheCall) {
  SimClass program{"c0",
                   2,
                   {launch(kCompute, 3), mark(kRecord, kCompute, 0),
                    mark(kWait, kComm, 0), call("sum", 2, 100),
                    mark(kRecord, kComm, 1), mark(kWait, kCompute, 1)}};
  Simulation found = simulate({program});
  EXPECT_EQ(found.error, "");
  EXPECT_DOUBLE_EQ(found.stepSeconds, 5);
  EXPECT_DOUBLE_EQ(found.utilisation[0], 3.0 / 5);
  ASSERT_EQ(found.calls.size(), 1u);
  EXPECT_DOUBLE_EQ(found.calls[0].total, 2);
  EXPECT_DOUBLE_EQ(found.calls[0].exposed, 2);
  // 100 bytes in 2 s.
  EXPECT_DOUBLE_EQ(found.networkPeak, 50);
}

// The same, but the next step waits before its last second: two of three
// seconds hide the call.
TEST(Simulator, TheNextStepHidesWhatItDoesNotNeed) {
  SimClass program{"c0",
                   2,
                   {launch(kCompute, 1), mark(kWait, kCompute, 1, true),
                    launch(kCompute, 2), mark(kRecord, kCompute, 0),
                    mark(kWait, kComm, 0), call("sum", 2, 100),
                    mark(kRecord, kComm, 1)}};
  Simulation found = simulate({program});
  EXPECT_DOUBLE_EQ(found.stepSeconds, 4);
  ASSERT_EQ(found.calls.size(), 1u);
  EXPECT_DOUBLE_EQ(found.calls[0].total, 2);
  EXPECT_DOUBLE_EQ(found.calls[0].exposed, 1);
}

// All members have to come, and the slowest decides how long it takes.
TEST(Simulator, ClassesMeetInTheirCalls) {
  auto program = [](std::string name, double compute, double seconds) {
    return SimClass{std::move(name),
                    1,
                    {launch(kCompute, compute), mark(kRecord, kCompute, 0),
                     mark(kWait, kComm, 0), call("sum", seconds, 8),
                     mark(kRecord, kComm, 1), mark(kWait, kCompute, 1)}};
  };
  Simulation found = simulate({program("fast", 1, 1), program("slow", 4, 2)});
  EXPECT_DOUBLE_EQ(found.stepSeconds, 6);
  EXPECT_DOUBLE_EQ(found.utilisation[0], 1.0 / 6);
  EXPECT_DOUBLE_EQ(found.utilisation[1], 4.0 / 6);
  // Three seconds of it the first class has waited for the second.
  EXPECT_DOUBLE_EQ(found.calls[0].total, 5);
  EXPECT_DOUBLE_EQ(found.calls[0].exposed, 5);
}

TEST(Simulator, TwoCallsShareTheCommStream) {
  SimClass program{"c0",
                   2,
                   {launch(kCompute, 1), mark(kRecord, kCompute, 0),
                    mark(kWait, kComm, 0), call("a", 2, 8),
                    call("b", 3, 8, "other"), mark(kRecord, kComm, 1),
                    launch(kCompute, 1), mark(kWait, kCompute, 1)}};
  Simulation found = simulate({program});
  EXPECT_DOUBLE_EQ(found.stepSeconds, 6);
  EXPECT_DOUBLE_EQ(found.totalSeconds(), 5);
  EXPECT_DOUBLE_EQ(found.exposedSeconds(), 4);
  EXPECT_NE(traceOf({program}, found).find("\"class c0 (2 ranks), simulated\""),
            std::string::npos);
}

TEST(Simulator, ClassesThatDoNotMeetAreAnError) {
  SimClass one{"one", 1, {call("a", 1, 8), call("b", 1, 8)}};
  SimClass two{"two", 1, {call("a", 1, 8)}};
  EXPECT_NE(simulate({one, two}).error.find("class one waits for others in"),
            std::string::npos);
  EXPECT_EQ(simulate({}).error, "");
}

TEST(Placement, GroupsOnNodes) {
  // 4 x 2 ranks, the last axis fastest, on nodes of four.
  Placement rows = placementOf({4, 2}, {0}, 4);
  EXPECT_EQ(rows.ranks, 4);
  EXPECT_EQ(rows.perNode, 2);
  EXPECT_EQ(rows.groupsPerNode, 2);
  EXPECT_EQ(rows.nodes(), 2);
  Placement pairs = placementOf({4, 2}, {1}, 4);
  EXPECT_EQ(pairs.ranks, 2);
  EXPECT_EQ(pairs.perNode, 2);
  EXPECT_EQ(pairs.nodes(), 1);
  Placement all = placementOf({4, 2}, {0, 1}, 4);
  EXPECT_EQ(all.ranks, 8);
  EXPECT_EQ(all.perNode, 4);
  EXPECT_EQ(all.groupsPerNode, 1);
  EXPECT_EQ(placementOf({8}, {0}, 1).perNode, 1);
  EXPECT_EQ(placementOf({8}, {}, 4).ranks, 1);
}

} // namespace
