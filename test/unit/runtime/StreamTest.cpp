//===- StreamTest.cpp - Streams and events of a CPU -------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Order, reuse of events, names in failures.
//
//===----------------------------------------------------------------------===//

#include "partita/backend.h"

#include "TestFolder.h"

#include <atomic>
#include <thread>

using namespace partita;

namespace {

class StreamTest : public testing::Test {
protected:
  Failure failure;
  std::unique_ptr<Device> device = makeCpuDevice(0, 0, 1, failure);
  std::unique_ptr<Stream> compute = device->makeCompute();
  std::unique_ptr<Stream> comm = device->makeComm(*compute);
};

TEST_F(StreamTest, WorkIsDoneInOrder) {
  std::vector<int> order;
  for (int i = 0; i < 100; ++i)
    comm->run("append", [&order, i] { order.push_back(i); });
  comm->sync();
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(order[i], i);
}

TEST_F(StreamTest, EventsOrderTwoStreams) {
  Event computed(*device), sent(*device);
  int value = 0;
  for (int step = 1; step <= 1000; ++step) {
    compute->wait(sent);
    compute->run("add", [&] { ++value; });
    compute->record(computed);
    comm->wait(computed);
    comm->run("double", [&] { value *= 2; });
    comm->run("halve", [&] { value /= 2; });
    comm->record(sent);
  }
  compute->wait(sent);
  EXPECT_EQ(value, 1000);
}

TEST_F(StreamTest, AnEventThatWasNeverRecordedIsNotWaitedFor) {
  Event event(*device);
  compute->wait(event);
  comm->wait(event);
  comm->sync();
}

TEST_F(StreamTest, WaitingIsMeasured) {
  Event done(*device);
  comm->run("sleep",
            [] { std::this_thread::sleep_for(std::chrono::milliseconds(30)); });
  comm->record(done);
  compute->wait(done);
  EXPECT_GE(compute->waitedSeconds(), 0.02);
  EXPECT_LT(compute->waitedSeconds(), 5);
}

TEST_F(StreamTest, AFailureEndsTheQueueAndIsNamed) {
  std::atomic<bool> after{false};
  Event done(*device);
  comm->run("send", [] { throw Error("no route"); });
  comm->run("later", [&] { after = true; });
  comm->record(done);
  EXPECT_THROW(comm->sync(), JobEnded);
  EXPECT_THROW(compute->wait(done), JobEnded);
  comm->finish();
  EXPECT_FALSE(after);
  EXPECT_EQ(failure.message(), "send: no route");
}

TEST_F(StreamTest, MemoryIsZeroAndAligned) {
  Memory memory(*device, 1000);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.data()) % 64, 0u);
  for (int i = 0; i < 1000; ++i)
    EXPECT_EQ(memory.data()[i], std::byte(0));
  EXPECT_TRUE(says(messageOf([&] { Memory tooMuch(*device, ~std::size_t(0)); }),
                   "found no memory for 18446744073709551615 bytes"));
}

TEST(FailureTest, TheFirstOneCounts) {
  Failure failure;
  failure.check();
  failure.raise(3, "first");
  failure.raise(1, "second");
  EXPECT_EQ(failure.rank(), 3);
  EXPECT_EQ(failure.message(), "first");
  EXPECT_THROW(failure.check(), JobEnded);
}

} // namespace
