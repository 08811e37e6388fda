//===- ThreadChannelTest.cpp - The threads channel conforms -----*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs the channel cases on 1 to 8 ranks that are threads, and what only this
// channel can show: that a failure or a mismatch ends all ranks.
//
//===----------------------------------------------------------------------===//

#include "ChannelCases.h"

#include "gtest/gtest.h"
#include <thread>

using namespace partita;

namespace {

/// Calls body(rank) on each rank's own thread; returns the job's failure.
void runRanks(int ranks, Failure &failure,
              const std::function<void(ChannelRank &)> &body) {
  auto worlds = makeThreadWorlds(ranks, failure);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      auto device = makeCpuDevice(rank, rank, 1, failure);
      auto compute = device->makeCompute();
      auto comm = device->makeComm(*compute);
      ChannelRank self(*worlds[rank], *compute, *comm);
      try {
        body(self);
        comm->sync();
      } catch (const JobEnded &) {
      } catch (const std::exception &error) {
        failure.raise(rank, error.what());
      }
      comm->finish();
    });
  for (std::thread &thread : threads)
    thread.join();
}

class ThreadChannel
    : public testing::TestWithParam<std::tuple<ChannelCase, int>> {};

TEST_P(ThreadChannel, Conforms) {
  Failure failure;
  auto [channelCase, ranks] = GetParam();
  runRanks(ranks, failure, channelCase.run);
  EXPECT_FALSE(failure.raised())
      << "rank " << failure.rank() << ": " << failure.message();
}

std::string
nameOfTest(const testing::TestParamInfo<ThreadChannel::ParamType> &info) {
  return std::string(std::get<0>(info.param).name) + "On" +
         std::to_string(std::get<1>(info.param));
}

INSTANTIATE_TEST_SUITE_P(All, ThreadChannel,
                         testing::Combine(testing::ValuesIn(channelCases()),
                                          testing::Range(1, 9)),
                         nameOfTest);

INSTANTIATE_TEST_SUITE_P(Many, ThreadChannel,
                         testing::Combine(testing::ValuesIn(fieldCases()),
                                          testing::Values(16)),
                         nameOfTest);

/// The algorithms again, with the ranks on nodes of some ranks each.
class ThreadChannelOnNodes
    : public testing::TestWithParam<std::tuple<ChannelCase, int, int>> {};

TEST_P(ThreadChannelOnNodes, Conforms) {
  Failure failure;
  auto [channelCase, ranks, nodeSize] = GetParam();
  setenv("PARTITA_NODE_SIZE", std::to_string(nodeSize).c_str(),
         /*overwrite=*/1);
  runRanks(ranks, failure, channelCase.run);
  unsetenv("PARTITA_NODE_SIZE");
  EXPECT_FALSE(failure.raised())
      << "rank " << failure.rank() << ": " << failure.message();
}

INSTANTIATE_TEST_SUITE_P(
    All, ThreadChannelOnNodes,
    testing::Combine(testing::ValuesIn(algorithmCases()),
                     testing::Values(4, 5, 8), testing::Values(1, 2, 3)),
    [](const testing::TestParamInfo<ThreadChannelOnNodes::ParamType> &info) {
      return std::string(std::get<0>(info.param).name) + "On" +
             std::to_string(std::get<1>(info.param)) + "InNodesOf" +
             std::to_string(std::get<2>(info.param));
    });

TEST(ThreadChannelFailure, WrongNodeSizesAreRefused) {
  for (const char *text : {"", "0", "-1", "2x", "99999999999999999999"}) {
    Failure failure;
    setenv("PARTITA_NODE_SIZE", text, /*overwrite=*/1);
    try {
      makeThreadWorlds(2, failure);
      ADD_FAILURE() << "accepted '" << text << "'";
    } catch (const Error &error) {
      EXPECT_EQ(std::string(error.what()),
                std::string("the environment's PARTITA_NODE_SIZE is '") + text +
                    "', expected the number of ranks in a node; unset it to "
                    "have the machines as nodes");
    }
    unsetenv("PARTITA_NODE_SIZE");
  }
}

TEST(ThreadChannelFailure, OneRankEndsAll) {
  Failure failure;
  runRanks(4, failure, [](ChannelRank &rank) {
    Communicator &group = rank.group({0, 1, 2, 3});
    if (rank.world.rank == 2)
      throw Error("out of luck");
    float value = 1;
    group.allReduce(rank.comm, &value, 1, Reduction::sum);
    rank.comm.record(rank.summed);
    rank.compute.wait(rank.summed);
  });
  EXPECT_EQ(failure.rank(), 2);
  EXPECT_EQ(failure.message(), "out of luck");
}

TEST(ThreadChannelFailure, QueuedWorkEndsAll) {
  Failure failure;
  runRanks(3, failure, [](ChannelRank &rank) {
    if (rank.world.rank == 1)
      rank.comm.run("send halo", [] { throw Error("the link is down"); });
    rank.comm.sync();
    rank.world.barrier();
  });
  EXPECT_EQ(failure.rank(), 1);
  EXPECT_EQ(failure.message(), "send halo: the link is down");
}

TEST(ThreadChannelFailure, UnequalCountsAreNamed) {
  Failure failure;
  runRanks(2, failure, [](ChannelRank &rank) {
    Communicator &group = rank.group({0, 1});
    std::vector<float> buffer(10);
    group.allReduce(rank.comm, buffer.data(), 8 + 2 * rank.world.rank,
                    Reduction::sum);
    rank.comm.sync();
  });
  EXPECT_EQ(failure.message(),
            "allReduce: ranks 0 and 1 disagree on the next collective of their "
            "group: found allReduce of 10 f32 (sum, root 0), expected "
            "allReduce of 8 f32 (sum, root 0)");
}

TEST(ThreadChannelFailure, UnawaitedMessagesAreNamed) {
  Failure failure;
  runRanks(3, failure, [](ChannelRank &rank) {
    Communicator &group = rank.group({0, 1, 2});
    std::vector<float> out(4), in(4);
    std::vector<std::int64_t> sent(3, 0), received(3, 0);
    if (rank.world.rank == 0)
      sent[2] = 4;
    if (rank.world.rank == 2)
      received[0] = 3;
    group.exchange(rank.comm, out.data(), Counts(sent), in.data(),
                   Counts(received));
    rank.comm.sync();
  });
  EXPECT_EQ(failure.message(), "exchange: rank 0 sends 4 elements to rank 2, "
                               "which expects 3");
}

TEST(ThreadChannelFailure, MessagesToOneselfAreRefused) {
  Failure failure;
  runRanks(2, failure, [](ChannelRank &rank) {
    Communicator &group = rank.group({0, 1});
    float out[2] = {}, in[2] = {};
    group.exchange(rank.comm, out, {1, 1}, in, {1, 1});
  });
  std::string message = failure.message();
  EXPECT_EQ(message, "an exchange was given a message of rank " +
                         std::to_string(failure.rank()) +
                         " of its group to itself");
}

TEST(ThreadChannelFailure, WrongNumberOfPartsIsRefused) {
  Failure failure;
  runRanks(2, failure, [](ChannelRank &rank) {
    Communicator &group = rank.group({0, 1});
    float buffer[3] = {};
    group.allGather(rank.comm, buffer, {1, 1, 1});
  });
  EXPECT_EQ(failure.message(),
            "a collective was given 3 parts for a group of 2 ranks");
}

TEST(ThreadChannelFailure, UnequalAlgorithmsAreNamed) {
  Failure failure;
  runRanks(2, failure, [](ChannelRank &rank) {
    Communicator &group = rank.group({0, 1});
    float value = 1;
    group.allReduce(rank.comm, &value, 1, Reduction::sum,
                    rank.world.rank ? Algorithm::ring : Algorithm::tree);
    rank.comm.sync();
  });
  EXPECT_EQ(failure.message(),
            "allReduce: ranks 0 and 1 disagree on the next collective of their "
            "group: found allReduce of 1 f32 (sum, root 0, ring), expected "
            "allReduce of 1 f32 (sum, root 0, tree)");
}

TEST(ThreadChannelFailure, WrongWorkersAreRefused) {
  for (int workers : {0, 3}) {
    Failure failure;
    runRanks(3, failure, [&](ChannelRank &rank) {
      Communicator &group = rank.group({0, 1, 2});
      float buffer[1] = {};
      group.push(rank.comm, buffer, {0, 0, 1}, Reduction::sum, workers);
    });
    EXPECT_EQ(failure.message(),
              "a push or fetch was given " + std::to_string(workers) +
                  " workers in a group of 3 ranks, expected at least one "
                  "worker and one server");
  }
}

TEST(ThreadChannelFailure, PartsOfWorkersAreRefused) {
  Failure failure;
  runRanks(3, failure, [&](ChannelRank &rank) {
    Communicator &group = rank.group({0, 1, 2});
    float buffer[2] = {};
    group.fetch(rank.comm, buffer, {0, 1, 1}, /*workers=*/2);
  });
  EXPECT_EQ(failure.message(),
            "a push or fetch was given 1 elements for rank 1 of its group, "
            "which is a worker, expected 0");
}

} // namespace
