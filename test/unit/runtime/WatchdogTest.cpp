//===- WatchdogTest.cpp - What is a halt and what is not ------ -*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The watchdog fires where nothing moves, names who is to blame, and leaves
// slow ranks alone; the list of the last collectives.
//
//===----------------------------------------------------------------------===//

#include "core/Watchdog.h"

#include "SilentGroup.h"
#include "TestFolder.h"

#include <condition_variable>
#include <cstring>

using namespace partita;

namespace {

IssuedCall bucket() {
  IssuedCall call{"allReduce", DType::f32, 10, Reduction::sum};
  call.site = {"bucket 0: fc.weight", "", 3};
  return call;
}

/// Waits for an alarm; "" when there is none in that time.
class AlarmClock {
public:
  Watchdog::Alarm alarm() {
    return [this](const std::string &text) {
      std::lock_guard<std::mutex> lock(mutex);
      heard = text;
      rang.notify_all();
    };
  }
  std::string wait(double seconds) {
    std::unique_lock<std::mutex> lock(mutex);
    rang.wait_for(lock, std::chrono::duration<double>(seconds),
                  [&] { return !heard.empty(); });
    return heard;
  }

private:
  std::mutex mutex;
  std::condition_variable rang;
  std::string heard;
};

class WatchdogTest : public TestFolder {
protected:
  // The calls of a halted job are written to the working directory.
  void SetUp() override {
    TestFolder::SetUp();
    before = std::filesystem::current_path();
    std::filesystem::current_path(folder);
  }
  void TearDown() override {
    std::filesystem::current_path(before);
    TestFolder::TearDown();
  }

  /// The alarm within `seconds` of a watchdog over these ranks with a time of
  /// 0.6 s, while `act` is called again and again.
  std::string alarmOf(std::vector<RankLog *> ranks, double seconds,
                      const std::function<void()> &act) {
    AlarmClock clock;
    std::atomic<bool> isOver{false};
    std::thread rank([&] {
      for (RankLog *each : ranks)
        each->enter();
      while (!isOver)
        act();
    });
    std::string heard;
    {
      Watchdog watchdog(0.6, ranks, static_cast<int>(ranks.size()), nullptr,
                        /*hasLauncher=*/false, clock.alarm());
      heard = clock.wait(seconds);
    }
    isOver = true;
    rank.join();
    return heard;
  }

  static void nap() {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }

  std::filesystem::path before;
  SilentGroup group{1, {0, 1, 2, 3}};
};

TEST_F(WatchdogTest, ARankThatWaitsForEverIsNamed) {
  RankLog log(1);
  log.beginPhase("step", 12);
  log.stepDone(11);
  log.layer("fc", "backward");
  log.started(log.issued(group, bucket()));
  log.waitBegan(StreamRole::compute);
  std::string text = alarmOf({&log}, 20, nap);
  EXPECT_TRUE(says(text, "watchdog: no rank has made progress for "));
  EXPECT_TRUE(says(
      text, "rank 1 waits for its communication in step 12, backward of 'fc', "
            "in call 3 'bucket 0: fc.weight' (allReduce of 10 f32, 40 bytes) "
            "with ranks 0, 2-3; its last completed step is 11"));
  std::ifstream file("partita-rank-1.calls.txt");
  std::string list((std::istreambuf_iterator<char>(file)), {});
  EXPECT_TRUE(says(list, "allReduce, 10, f32, with ranks 0, 2-3; 'bucket 0: "
                         "fc.weight'"));
}

TEST_F(WatchdogTest, ARankThatWaitsForDataIsNamed) {
  RankLog log(0);
  log.beginPhase("step", 1);
  RankLog::Doing doing(log, Activity::data);
  EXPECT_TRUE(says(alarmOf({&log}, 20, nap), "rank 0 waits for data"));
}

TEST_F(WatchdogTest, ALongKernelIsProgress) {
  RankLog log(0);
  log.beginPhase("step", 1);
  volatile double sum = 0;
  EXPECT_EQ(alarmOf({&log}, 1.8,
                    [&] {
                      for (int i = 0; i < 1000000; ++i)
                        sum = sum + i;
                    }),
            "");
}

TEST_F(WatchdogTest, LayersKernelsAndCallsAreProgress) {
  RankLog log(0);
  log.beginPhase("step", 1);
  log.waitBegan(StreamRole::compute);
  EXPECT_EQ(alarmOf({&log}, 1.8,
                    [&] {
                      log.finished(log.issued(group, bucket()), 40, nullptr);
                      nap();
                    }),
            "");
}

TEST_F(WatchdogTest, ARankThatWaitsForASlowOneIsLeftAlone) {
  RankLog waiting(0), slow(1);
  waiting.waitBegan(StreamRole::compute);
  EXPECT_EQ(alarmOf({&waiting, &slow}, 1.8,
                    [&] {
                      slow.layer("conv", "forward");
                      nap();
                    }),
            "");
}

TEST_F(WatchdogTest, WritingFilesAndBeingDoneAreNoHalt) {
  RankLog writing(0), done(1);
  RankLog::Doing doing(writing, Activity::files);
  done.leave();
  EXPECT_EQ(alarmOf({&writing, &done}, 1.5, nap), "");
}

//===----------------------------------------------------------------------===//
// Several processes
//===----------------------------------------------------------------------===//

/// Carries messages between the watchdogs of one test.
struct Post {
  std::mutex mutex;
  std::deque<std::pair<int, std::vector<char>>> boxes[3];
};

class FakeBeacon final : public Beacon {
public:
  FakeBeacon(Post &post, int self, const std::atomic<bool> &isStopped)
      : post(post), self(self), isStopped(isStopped) {}
  void send(int rank, const void *data, std::size_t bytes) override {
    std::lock_guard<std::mutex> lock(post.mutex);
    auto *from = static_cast<const char *>(data);
    if (!isStopped)
      post.boxes[rank].emplace_back(self,
                                    std::vector<char>(from, from + bytes));
  }
  int receive(void *data, std::size_t bytes) override {
    std::lock_guard<std::mutex> lock(post.mutex);
    if (isStopped || post.boxes[self].empty())
      return -1;
    auto [from, message] = std::move(post.boxes[self].front());
    post.boxes[self].pop_front();
    std::memcpy(data, message.data(), std::min(bytes, message.size()));
    return from;
  }

private:
  Post &post;
  int self;
  const std::atomic<bool> &isStopped;
};

/// Three processes of which one can be stopped.
class WatchdogProcesses : public WatchdogTest {
protected:
  /// What the ranks say within `seconds` when `victim` stops (-1: nobody) while
  /// `act` is called again and again.
  std::vector<std::string> alarms(int victim, double seconds,
                                  const std::function<void()> &act) {
    Post post;
    std::atomic<bool> stopped[3] = {{false}, {false}, {false}};
    AlarmClock clocks[3];
    std::vector<std::unique_ptr<Watchdog>> dogs;
    for (int rank = 0; rank < 3; ++rank)
      dogs.push_back(std::make_unique<Watchdog>(
          0.8, std::vector<RankLog *>{&logs[rank]}, 3,
          std::make_unique<FakeBeacon>(post, rank, stopped[rank]),
          /*hasLauncher=*/false, clocks[rank].alarm()));
    if (victim >= 0)
      stopped[victim] = true;
    std::vector<std::string> heard(3);
    auto end = std::chrono::steady_clock::now() +
               std::chrono::duration<double>(seconds);
    bool isHeard = false;
    while (std::chrono::steady_clock::now() < end && !isHeard) {
      act();
      for (int rank = 0; rank < 3; ++rank)
        if (rank != victim)
          isHeard |= !(heard[rank] = clocks[rank].wait(0.005)).empty();
    }
    // The one that was stopped has not heard of the others for long, but it is
    // not the one to say so.
    return heard;
  }

  RankLog logs[3]{RankLog(0), RankLog(1), RankLog(2)};
};

TEST_F(WatchdogProcesses, RankZeroNamesTheOneThatIsSilent) {
  logs[2].beginPhase("step", 5);
  std::vector<std::string> heard = alarms(2, 20, [&] { logs[0].progressed(); });
  EXPECT_TRUE(says(heard[0], "watchdog: rank 2 has given no sign of life for"));
  EXPECT_TRUE(says(heard[0], "Meanwhile rank 0 starts"));
  EXPECT_EQ(heard[1], "");
}

TEST_F(WatchdogProcesses, OthersNameRankZero) {
  std::vector<std::string> heard = alarms(0, 20, [] {});
  EXPECT_TRUE(says(heard[1], "watchdog: rank 0 has given no sign of life for"));
}

TEST_F(WatchdogProcesses, ARankThatMovesKeepsTheJobAlive) {
  for (RankLog &log : logs)
    log.waitBegan(StreamRole::compute);
  std::vector<std::string> heard =
      alarms(-1, 2.5, [&] { logs[1].progressed(); });
  EXPECT_EQ(heard, std::vector<std::string>(3));
}

TEST_F(WatchdogProcesses, NobodyMoves) {
  for (RankLog &log : logs)
    log.waitBegan(StreamRole::compute);
  std::vector<std::string> heard = alarms(-1, 20, [] {});
  EXPECT_TRUE(says(heard[0], "watchdog: no rank has made progress for"));
  EXPECT_EQ(heard[1] + heard[2], "");
}

//===----------------------------------------------------------------------===//
// Texts
//===----------------------------------------------------------------------===//

TEST(WatchdogText, WhoDoesNotWaitForOthersComesFirst) {
  std::vector<RankStatus> ranks(64);
  for (int rank = 0; rank < 64; ++rank) {
    ranks[rank].rank = rank;
    ranks[rank].activity = rank == 42 ? Activity::data : Activity::comm;
    ranks[rank].index = rank % 2;
  }
  std::string text = describeHalt(ranks, 60);
  std::size_t culprit = text.find("rank 42 waits for data");
  ASSERT_NE(culprit, std::string::npos) << text;
  EXPECT_LT(culprit, text.find("rank 0 waits for its communication"));
  EXPECT_TRUE(says(text, "rank 1 waits"));
  // One for each call is enough.
  EXPECT_EQ(text.find("rank 2 waits"), std::string::npos) << text;
  EXPECT_TRUE(says(text, "61 more wait as these"));
}

TEST(WatchdogText, RanksAreListedInRuns) {
  EXPECT_EQ(rankList({3}), "rank 3");
  EXPECT_EQ(rankList({0, 1, 2, 5, 7, 8}), "ranks 0-2, 5, 7-8");
  EXPECT_EQ(rankList({0, 2, 4, 6}, 2), "ranks 0, 2, ...");
}

TEST(CallList, TheLastOnesAreKept) {
  RankLog log(3);
  SilentGroup group{1, {0, 1, 2, 3}};
  EXPECT_EQ(log.callList(), "");
  log.beginPhase("eval", 2);
  IssuedCall call = bucket();
  call.site.label = "early\n";
  log.finished(log.issued(group, call), 40, nullptr);
  EXPECT_TRUE(says(log.callList(), "rank 3: the last 1 of 1 collectives"));
  EXPECT_TRUE(says(log.callList(), "2 eval        3 done"));
  EXPECT_TRUE(says(log.callList(), "'early?'"));
  for (int i = 0; i < 70; ++i)
    log.issued(group, bucket());
  std::string list = log.callList();
  EXPECT_TRUE(says(list, "the last 64 of 71"));
  EXPECT_EQ(list.find("early"), std::string::npos);
  // Two lines of head.
  EXPECT_EQ(std::count(list.begin(), list.end(), '\n'), 66);
}

TEST(RankLogTrace, TheLastStepsAreKept) {
  RankLog log(0);
  SilentGroup group{1, {0, 1, 2, 3}};
  log.trace(2);
  for (int step = 1; step <= 5; ++step) {
    log.beginPhase("step", step);
    log.layer("fc", "forward");
    log.kernelBegan(StreamRole::compute, "matmul");
    log.kernelEnded(StreamRole::compute);
    std::int64_t number = log.issued(group, bucket());
    log.started(number);
    log.finished(number, 40, nullptr);
    log.waitBegan(StreamRole::compute);
    log.waitEnded(StreamRole::compute);
    log.endPhase();
  }
  Timeline timeline = log.timeline();
  // A layer, a kernel, a call and a wait for each of two steps.
  ASSERT_EQ(timeline.spans.size(), 8u);
  for (const Span &span : timeline.spans) {
    EXPECT_GE(span.step, 4);
    EXPECT_LE(span.begin, span.end);
    if (span.kind == Span::Kind::call) {
      EXPECT_EQ(span.bytes, 40);
    }
    if (span.kind == Span::Kind::wait) {
      EXPECT_EQ(span.name, "wait for bucket 0: fc.weight");
    }
    if (span.kind == Span::Kind::kernel) {
      EXPECT_EQ(span.layer, "fc");
    }
  }
  EXPECT_EQ(timeline.dropped, 0);
}

} // namespace
