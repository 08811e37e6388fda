//===- CallCheckTest.cpp - Collectives compared before they begin  -*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each way in which ranks can disagree is named with both values and both
// ranks; a certificate is read and compared with.
//
//===----------------------------------------------------------------------===//

#include "RankThreads.h"
#include "SilentGroup.h"

#include "TestFolder.h"

using namespace partita;

namespace {

constexpr CallSite kBucket{"bucket 0: fc.weight", "", 3};
constexpr CallSite kOther{"bucket 1: conv.weight", "", 4};

/// What ranks say that make these calls.
std::string
complaint(int ranks,
          const std::function<void(Rank &, Communicator &, float *)> &calls) {
  return runOnGrid(
      {{"data", ranks}},
      [&](Rank &rank, Traffic &) {
        Communicator &group = rank.communicator({"data"});
        std::vector<float> buffer(64);
        calls(rank, group, buffer.data());
        rank.comm.sync();
      },
      /*compares=*/true);
}

TEST(CallCheckTest, EqualCallsPass) {
  EXPECT_EQ(complaint(3,
                      [](Rank &rank, Communicator &group, float *data) {
                        for (int i = 0; i < 20; ++i) {
                          group.allReduce(rank.comm, data, 8, Reduction::sum,
                                          kBucket);
                          group.allGather(rank.comm, data, {1, 0, 4}, kOther);
                          group.reduceScatter(rank.comm, data, {3, 2, 4},
                                              Reduction::max);
                          group.broadcast(rank.comm, data, 5, 1);
                          std::vector<std::int64_t> out(3, 0), in(3, 0);
                          // Around the ring, as many elements as the sender's
                          // number.
                          int self = group.rank();
                          out[(self + 1) % 3] = self;
                          in[(self + 2) % 3] = (self + 2) % 3;
                          group.exchange(rank.comm, data, Counts(out),
                                         data + 32, Counts(in));
                        }
                      }),
            "");
}

TEST(CallCheckTest, E03CountsThatDifferByTwo) {
  std::string message =
      complaint(4, [](Rank &rank, Communicator &group, float *data) {
        group.allReduce(rank.comm, data, 8, Reduction::sum, kOther);
        group.allReduce(rank.comm, data, rank.index == 2 ? 10 : 8,
                        Reduction::sum, kBucket);
      });
  EXPECT_TRUE(says(message, "before call 3 'bucket 0: fc.weight' of rank "))
      << message;
  EXPECT_TRUE(says(message, ", number 2 of its group, ranks disagree on its "
                            "count: found 8 on rank 0 and 10 on rank 2"))
      << message;
}

TEST(CallCheckTest, SwappedCallsOfOneSize) {
  // The numbers would be added to the wrong ones in silence.
  std::string message =
      complaint(2, [](Rank &rank, Communicator &group, float *data) {
        bool isFirst = rank.index == 0;
        group.allReduce(rank.comm, data, 8, Reduction::sum,
                        isFirst ? kBucket : kOther);
        group.allReduce(rank.comm, data, 8, Reduction::sum,
                        isFirst ? kOther : kBucket);
      });
  EXPECT_TRUE(says(message, "label: found 'bucket 0: fc.weight' on rank 0 and "
                            "'bucket 1: conv.weight' on rank 1"))
      << message;
}

TEST(CallCheckTest, KindTypeReductionAndRoot) {
  EXPECT_TRUE(says(complaint(2,
                             [](Rank &rank, Communicator &group, float *data) {
                               if (rank.index == 0)
                                 group.allReduce(rank.comm, data, 8,
                                                 Reduction::sum);
                               else
                                 group.broadcast(rank.comm, data, 8, 0);
                             }),
                   "kind: found allReduce on rank 0 and broadcast on rank 1"));
  EXPECT_TRUE(
      says(complaint(2,
                     [](Rank &rank, Communicator &group, float *data) {
                       if (rank.index == 0)
                         group.allReduce(rank.comm, data, 8, Reduction::sum);
                       else
                         group.allReduce(rank.comm,
                                         reinterpret_cast<std::int32_t *>(data),
                                         8, Reduction::sum);
                     }),
           "type: found f32 on rank 0 and i32 on rank 1"));
  EXPECT_TRUE(says(complaint(2,
                             [](Rank &rank, Communicator &group, float *data) {
                               group.allReduce(rank.comm, data, 8,
                                               rank.index ? Reduction::max
                                                          : Reduction::sum);
                             }),
                   "reduction: found sum on rank 0 and max on rank 1"));
  EXPECT_TRUE(says(complaint(2,
                             [](Rank &rank, Communicator &group, float *data) {
                               group.broadcast(rank.comm, data, 8, rank.index);
                             }),
                   "root: found 0 on rank 0 and 1 on rank 1"));
}

TEST(CallCheckTest, PartsAndMessages) {
  std::string message =
      complaint(3, [](Rank &rank, Communicator &group, float *data) {
        // The sum is the same.
        if (rank.index == 1)
          group.allGather(rank.comm, data, {2, 4, 3});
        else
          group.allGather(rank.comm, data, {3, 3, 3});
      });
  EXPECT_TRUE(says(message, "ranks disagree on the part of rank 0: found 3 "
                            "elements on rank 0 and 2 on rank 1"))
      << message;
  message = complaint(3, [](Rank &rank, Communicator &group, float *data) {
    std::vector<std::int64_t> out(3, 0), in(3, 0);
    if (rank.index == 0)
      out[2] = 4;
    if (rank.index == 2)
      in[0] = 3;
    group.exchange(rank.comm, data, Counts(out), data + 32, Counts(in));
  });
  EXPECT_TRUE(says(message, "rank 0 sends 4 elements to rank 2, which expects "
                            "3"))
      << message;
}

//===----------------------------------------------------------------------===//
// With a certificate
//===----------------------------------------------------------------------===//

class ExpectedTest : public TestFolder {
protected:
  ExpectedTest() {
    program.grid = {{"row", 2}, {"data", 2}, {"one", 1}};
    program.globalBatch = 8;
  }

  /// A certificate with these calls in its steps.
  std::string certificate(const std::string &calls) const {
    return write(
        "certificate.json",
        "{\"format\": \"partita-certificate\", \"version\": 1, \"batch\": 8, "
        "\"grid\": [[\"row\", 2], [\"data\", 2], [\"one\", 1]], \"servers\": "
        "0, "
        "\"tables\": [{\"messages\": [{\"ranks\": [[0, 1]], \"own\": 4, "
        "\"send\": [[2, 1, 1, 12]], \"receive\": [[2, 1, 1, 7]]}, {\"ranks\": "
        "[[2, 3]], \"send\": [[-2, 1, 1, 7]], \"receive\": [[-2, 1, 1, "
        "12]]}]}, "
        "{\"parts\": [{\"ranks\": [[0, 2, 2]], \"parts\": [[5, 2]]}, "
        "{\"ranks\": [[1, 3, 2]], \"parts\": [[6, 1], [4, 1]]}]}], "
        "\"classes\": [{\"ranks\": [[0, 3]], \"phases\": [{\"phase\": "
        "\"step\", \"actions\": [{\"record\": 0, \"stream\": \"comm\"}, " +
            calls + "]}]}]}");
  }

  Program program;
};

constexpr const char *kHalo =
    "{\"call\": 0, \"kind\": \"halo_exchange\", \"label\": \"conv reads x\", "
    "\"axes\": [\"row\"], \"type\": \"f32\", \"count\": 19, \"table\": 0}, ";
constexpr const char *kGather =
    "{\"call\": 1, \"kind\": \"all_gather\", \"label\": \"fc reads x\", "
    "\"axes\": [\"data\"], \"type\": \"i1\", \"count\": 10, \"table\": 1}, "
    "{\"call\": 2, \"kind\": \"all_reduce\", \"label\": \"alone\", "
    "\"axes\": [\"one\"], \"type\": \"f32\", \"count\": 8, \"reduction\": "
    "\"sum\"}, ";
constexpr const char *kReduce =
    "{\"call\": 3, \"kind\": \"all_reduce\", \"label\": \"bucket 0: "
    "fc.weight\", \"axes\": [\"data\", \"row\"], \"type\": \"f32\", "
    "\"count\": 8, \"reduction\": \"sum\"}";

TEST_F(ExpectedTest, CallsAreReadForEachRank) {
  Expected expected(certificate(std::string(kHalo) + kGather + kReduce),
                    program);
  std::vector<ExpectedCall> calls = expected.calls(2, "step");
  ASSERT_EQ(calls.size(), 4u);
  EXPECT_EQ(calls[0].kind, "exchange");
  EXPECT_EQ(calls[0].count, 7);
  EXPECT_EQ(calls[0].sends, (std::map<int, std::int64_t>{{0, 7}}));
  EXPECT_EQ(calls[0].awaits, (std::map<int, std::int64_t>{{0, 12}}));
  EXPECT_EQ(calls[1].kind, "allGather");
  EXPECT_EQ(calls[1].type, "bool");
  EXPECT_EQ(calls[1].parts, (std::vector<std::int64_t>{5, 5}));
  EXPECT_TRUE(calls[2].isSkipped);
  EXPECT_FALSE(calls[3].isSkipped);
  EXPECT_EQ(calls[3].reduction, "sum");
  EXPECT_EQ(expected.calls(1, "step")[1].parts,
            (std::vector<std::int64_t>{6, 4}));
  EXPECT_TRUE(expected.calls(0, "eval").empty());
  EXPECT_TRUE(says(messageOf([&] { expected.calls(4, "step"); }),
                   "does not speak of rank 4"));
}

TEST_F(ExpectedTest, OtherFilesAreRefused) {
  auto refusal = [&](const std::string &path) {
    return messageOf([&] { Expected(path, program); });
  };
  EXPECT_TRUE(says(refusal(path("none")), path("none")));
  EXPECT_TRUE(says(refusal(write("a", "{")), "not valid JSON"));
  EXPECT_TRUE(says(refusal(write("b", "{\"format\": \"plan\"}")),
                   "its \"format\" is 'plan', expected 'partita-certificate'"));
  program.globalBatch = 16;
  EXPECT_TRUE(says(refusal(certificate(kReduce)),
                   "belongs to another program: found the grid row=2 data=2 "
                   "one=1 and a batch of 8, expected row=2 data=2 one=1 and "
                   "16"));
}

/// What rank 0 says that makes one call after another of a group of two.
class AgainstCertificate : public ExpectedTest {
protected:
  std::string complaintOf(const std::function<void(CallCheck &)> &calls) {
    Expected expected(certificate(std::string(kHalo) + kReduce), program);
    Failure failure;
    auto device = makeCpuDevice(0, 0, 1, failure);
    CallCheck check(0, 0, *device, &expected);
    return messageOf([&] {
      for (int step = 0; step < 2; ++step) {
        check.beginPhase("step");
        calls(check);
        check.endPhase();
      }
    });
  }

  IssuedCall halo() {
    IssuedCall call{"exchange", DType::f32, 12};
    call.parts = &sent;
    call.awaited = &awaited;
    call.site = {"conv reads x", "conv", 0};
    return call;
  }
  static IssuedCall reduce(std::int64_t count) {
    IssuedCall call{"allReduce", DType::f32, count, Reduction::sum};
    call.site = {"bucket 0: fc.weight", "", 3};
    return call;
  }

  SilentGroup pair{0, {0, 2}};
  Counts sent{0, 12}, awaited{0, 7};
};

TEST_F(AgainstCertificate, WhatIsListedPasses) {
  EXPECT_EQ(complaintOf([&](CallCheck &check) {
              check.issued(0, pair, halo());
              IssuedCall own{"allReduce", DType::i64, 1};
              check.issued(1, pair, own);
              check.issued(2, pair, reduce(8));
            }),
            "");
}

TEST_F(AgainstCertificate, WhatDiffersIsNamed) {
  EXPECT_EQ(complaintOf([&](CallCheck &check) {
              check.issued(0, pair, halo());
              check.issued(1, pair, reduce(10));
            }),
            "--debug-collectives: rank 0 differs from the certificate in "
            "'step': found call 3 'bucket 0: fc.weight', allReduce of 10 f32 "
            "(sum), expected call 3 'bucket 0: fc.weight', allReduce of 8 f32 "
            "(sum)");
  awaited = {0, 6};
  EXPECT_TRUE(says(
      complaintOf([&](CallCheck &check) { check.issued(0, pair, halo()); }),
      "(sends 12 to rank 2; awaits 6 from rank 2), expected call 0 'conv reads "
      "x', exchange of 12 f32 (sends 12 to rank 2; awaits 7 from rank 2)"));
}

TEST_F(AgainstCertificate, TheAlgorithmIsCompared) {
  EXPECT_TRUE(says(complaintOf([&](CallCheck &check) {
                     check.issued(0, pair, halo());
                     IssuedCall call = reduce(8);
                     call.algorithm = Algorithm::ring;
                     check.issued(1, pair, call);
                   }),
                   "allReduce of 8 f32 (sum, ring), expected call 3 'bucket 0: "
                   "fc.weight', allReduce of 8 f32 (sum)"));
}

TEST_F(AgainstCertificate, SkippedAndFurtherCallsAreNamed) {
  EXPECT_TRUE(says(
      complaintOf([&](CallCheck &check) { check.issued(0, pair, reduce(8)); }),
      "found call 3 'bucket 0: fc.weight', allReduce of 8 f32 (sum), expected "
      "call 0 'conv reads x'"));
  EXPECT_TRUE(says(
      complaintOf([&](CallCheck &check) { check.issued(0, pair, halo()); }),
      "has ended 'step' without a communication that the certificate lists, "
      "expected call 3 'bucket 0: fc.weight'"));
  EXPECT_TRUE(says(complaintOf([&](CallCheck &check) {
                     check.issued(0, pair, halo());
                     check.issued(1, pair, reduce(8));
                     check.issued(2, pair, reduce(8));
                   }),
                   "expected no further communication"));
}

} // namespace
