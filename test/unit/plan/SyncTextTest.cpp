//===- SyncTextTest.cpp - Synchronisation as people write it --------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the parsers take, what is printed, what they say to the rest; and where
// the rule of Poseidon changes its mind.
//
//===----------------------------------------------------------------------===//

#include "passes/Plan/SyncText.h"

#include "gtest/gtest.h"

using namespace partita;
using namespace partita::plan;

namespace {

SyncChoice choice(llvm::StringRef text) {
  std::string error;
  std::optional<SyncChoice> result = parseSync(text, error);
  EXPECT_TRUE(result.has_value()) << text.str() << ": " << error;
  return result.value_or(SyncChoice());
}

std::string ruleError(llvm::StringRef text) {
  std::string error;
  EXPECT_FALSE(parseSyncRule(text, error).has_value()) << text.str();
  return error;
}

TEST(SyncText, AMethodMayHaveAnAlgorithm) {
  SyncChoice ring = choice("all_reduce:ring");
  EXPECT_EQ(ring.method, dist::SyncMethod::all_reduce);
  EXPECT_EQ(ring.algorithm, dist::Algorithm::ring);
  EXPECT_FALSE(ring.poseidon);
  EXPECT_EQ(choice("all_reduce").algorithm, dist::Algorithm::automatic);
  EXPECT_EQ(choice("parameter_server").method,
            dist::SyncMethod::parameter_server);
  EXPECT_EQ(choice("factor_broadcast").method,
            dist::SyncMethod::factor_broadcast);
  EXPECT_TRUE(choice("poseidon").poseidon);
}

TEST(SyncText, EveryMethodAndAlgorithmReadsBack) {
  for (uint32_t m = 0; m <= dist::getMaxEnumValForSyncMethod(); ++m)
    for (uint32_t a = 0; a <= dist::getMaxEnumValForAlgorithm(); ++a) {
      auto method = static_cast<dist::SyncMethod>(m);
      auto algorithm = static_cast<dist::Algorithm>(a);
      if (method != dist::SyncMethod::all_reduce &&
          algorithm != dist::Algorithm::automatic)
        continue;
      SyncChoice read = choice(syncText(method, algorithm));
      EXPECT_EQ(read.method, method);
      EXPECT_EQ(read.algorithm, algorithm);
    }
  EXPECT_EQ(syncText(dist::SyncMethod::all_reduce, dist::Algorithm::automatic),
            "all_reduce");
  EXPECT_EQ(syncText(dist::SyncMethod::all_reduce, dist::Algorithm::tree),
            "all_reduce:tree");
}

TEST(SyncText, ARuleHasAPattern) {
  std::string error;
  std::optional<SyncRule> rule =
      parseSyncRule("fc*.weight=all_reduce:hierarchical", error);
  ASSERT_TRUE(rule.has_value()) << error;
  EXPECT_EQ(rule->pattern, "fc*.weight");
  EXPECT_EQ(rule->choice.algorithm, dist::Algorithm::hierarchical);
  rule = parseSyncRule("poseidon", error);
  ASSERT_TRUE(rule.has_value()) << error;
  EXPECT_EQ(rule->pattern, "*");
  EXPECT_TRUE(rule->choice.poseidon);
  // Names may hold '=', methods never do.
  rule = parseSyncRule("a=b=parameter_server", error);
  ASSERT_TRUE(rule.has_value()) << error;
  EXPECT_EQ(rule->pattern, "a=b");
}

TEST(SyncText, FaultsNameWhatWasFound) {
  EXPECT_EQ(ruleError("gossip"),
            "found 'gossip', expected a method: all_reduce, parameter_server, "
            "factor_broadcast, poseidon");
  EXPECT_EQ(ruleError("fc=all_reduce:star"),
            "found 'star', expected an algorithm: automatic, direct, ring, "
            "tree, hierarchical");
  EXPECT_EQ(ruleError("fc=all_reduce:"),
            "found '', expected an algorithm: automatic, direct, ring, tree, "
            "hierarchical");
  EXPECT_EQ(ruleError("parameter_server:ring"),
            "'parameter_server' has no algorithm, found 'ring'; only "
            "all_reduce has");
  EXPECT_EQ(ruleError("poseidon:tree"),
            "'poseidon' has no algorithm, found 'tree'; only all_reduce has");
  EXPECT_EQ(ruleError("=poseidon"),
            "found no pattern before '=', expected PATTERN=METHOD");
  EXPECT_EQ(ruleError("fc1="),
            "found '', expected a method: all_reduce, parameter_server, "
            "factor_broadcast, poseidon");
  EXPECT_EQ(ruleError(""),
            "found '', expected a method: all_reduce, parameter_server, "
            "factor_broadcast, poseidon");
}

/// Layers of which it is known up to how many ranks factors are no more to
/// send, at `batch` samples on each: P * K <= 2 M N / (M + N).
struct LayerLimit {
  const char *name;
  int64_t m, n, batch, ranks;
};

TEST(SyncText, FactorsAreWorthItUpToSoManyRanks) {
  const LayerLimit layers[] = {
      {"VGG19 fc6", 25088, 4096, 32, 220},
      {"VGG19 fc7", 4096, 4096, 32, 128},
      {"VGG19 fc7", 4096, 4096, 128, 32},
      {"VGG19 fc7", 4096, 4096, 256, 16},
      {"VGG19 fc8", 4096, 1000, 32, 50},
      {"VGG19-22K fc8", 4096, 21841, 32, 215},
      {"GoogLeNet classifier", 1024, 1000, 128, 7},
      {"Transformer 512x2048", 512, 2048, 32, 25},
  };
  for (const LayerLimit &layer : layers)
    for (int64_t ranks = 2; ranks <= 256; ++ranks)
      EXPECT_EQ(prefersFactors(layer.m, layer.n, ranks * layer.batch, ranks),
                ranks <= layer.ranks)
          << layer.name << ", " << layer.batch << " samples on each of "
          << ranks << " ranks";
}

TEST(SyncText, ATieGoesToFactors) {
  // 65.0 million floats either way.
  EXPECT_TRUE(prefersFactors(4096, 4096, 32 * 128, 32));
  EXPECT_FALSE(prefersFactors(4096, 4096, 32 * 128 + 1, 32));
}

// Two columns of the paper's table: a worker has 2 M N, a server 2 P1 M N / P2.
// 8 workers with 32 samples of 4096 x 4096: factors are 3.67 million floats.
TEST(SyncText, ServersBesideTheWorkers) {
  int64_t n = 4096;
  auto withServers = [&](int64_t batch, double servers) {
    return prefersFactors(n, n, 8 * batch, 8, 8 / servers);
  };
  // As many as workers: 33.6 million, 2 K 7 * 8192 at K = 292.
  EXPECT_TRUE(withServers(32, 8));
  EXPECT_TRUE(withServers(292, 8));
  EXPECT_FALSE(withServers(293, 8));
  // More of them do not help the workers.
  EXPECT_TRUE(withServers(292, 32));
  EXPECT_FALSE(withServers(293, 32));
  // One has eight times as much.
  EXPECT_TRUE(withServers(2340, 1));
  EXPECT_FALSE(withServers(2341, 1));
}

TEST(SyncText, NothingTravelsOnOneRank) {
  EXPECT_FALSE(prefersFactors(4096, 4096, 1, 1));
}

TEST(SyncText, SizesBeyondSixtyFourBitsAreCompared) {
  int64_t large = int64_t(1) << 40;
  EXPECT_TRUE(prefersFactors(large, large, large, 1 << 20));
  EXPECT_FALSE(prefersFactors(large, large, 2 * large, 1 << 20));
}

} // namespace
