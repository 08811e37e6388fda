//===- FormulasTest.cpp - Closed forms against published numbers ----------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Cost/IntegratedParallelism.h"
#include "passes/Cost/ParameterServer.h"
#include "gtest/gtest.h"

using namespace partita::cost;

namespace {

TEST(Collectives, StepsAreTheLogarithmRoundedUp) {
  EXPECT_EQ(steps(1), 0);
  EXPECT_EQ(steps(2), 1);
  EXPECT_EQ(steps(5), 3);
  EXPECT_EQ(steps(8), 3);
  EXPECT_EQ(steps(4096), 12);
}

TEST(Collectives, ByHand) {
  AlphaBeta link{1e-3, 1e-6};
  // Three quarters of 8000 bytes come from others, in two steps.
  EXPECT_DOUBLE_EQ(allGather(8000, 4, link), 2e-3 + 6e-3);
  EXPECT_DOUBLE_EQ(reduceScatter(8000, 4, link), 8e-3);
  EXPECT_DOUBLE_EQ(allReduce(8000, 4, link), 16e-3);
  EXPECT_DOUBLE_EQ(allReduceInRing(8000, 4, link), 6e-3 + 12e-3);
  EXPECT_DOUBLE_EQ(allReduceByDoubling(8000, 4, link), 2 * 9e-3);
  EXPECT_DOUBLE_EQ(allReduceByDoubling(8000, 3, link), 2 * 9e-3);
  // Two nodes of two: halves inside, a quarter each way between.
  EXPECT_DOUBLE_EQ(allReduceInHierarchy(8000, 2, 2, {0, 1e-6}, {0, 1e-5}),
                   4e-3 + 40e-3 + 4e-3);
}

TEST(Collectives, OneRankHasNothingToSay) {
  AlphaBeta link{1e-3, 1e-6};
  EXPECT_EQ(allReduce(8000, 1, link), 0);
  EXPECT_EQ(allReduceInRing(8000, 1, link), 0);
  EXPECT_EQ(allReduceByDoubling(8000, 1, link), 0);
  EXPECT_DOUBLE_EQ(allReduceInHierarchy(8000, 4, 1, {1, 1}, link),
                   allReduce(8000, 4, link));
}

// The worked example of the paper: 4096 x 4096, 32 samples, eight nodes.
TEST(Poseidon, WorkedExample) {
  Connected layer{4096, 4096, 32, 8, 8};
  Floats server = serverFloats(layer);
  EXPECT_NEAR(server.worker / 1e6, 33.6, 0.05);
  EXPECT_NEAR(server.server / 1e6, 33.6, 0.05);
  EXPECT_NEAR(server.both / 1e6, 58.7, 0.05);
  EXPECT_NEAR(factorFloats(layer) / 1e6, 3.67, 0.005);
  EXPECT_NEAR(factorsToServersFloats(layer).both / 1e6, 119, 0.5);
}

// Millions of floats by factors and by servers, and who is chosen.
TEST(Poseidon, LayersOfPublishedNetworks) {
  struct Row {
    double m, n, samples, nodes, factors, server;
    bool prefers;
  };
  const Row rows[] = {
      {25088, 4096, 32, 2, 1.87, 205.5, true},
      {25088, 4096, 32, 32, 57.90, 398.2, true},
      {4096, 4096, 32, 16, 7.86, 62.9, true},
      {4096, 4096, 128, 32, 65.0, 65.0, true}, // A tie.
      {4096, 4096, 256, 16, 62.9, 62.9, true}, // Another.
      {4096, 4096, 256, 32, 130, 65.0, false},
      {4096, 1000, 32, 8, 2.28, 14.3, true},
      {4096, 21841, 32, 32, 51.5, 346.7, true},
      {1024, 1000, 128, 4, 1.55, 3.07, true},
      {1024, 1000, 128, 8, 3.63, 3.58, false},
      {512, 2048, 32, 16, 2.46, 3.93, true},
      {512, 2048, 32, 32, 5.08, 4.06, false},
  };
  for (const Row &row : rows) {
    Connected layer{row.m, row.n, row.samples, row.nodes, row.nodes};
    EXPECT_NEAR(factorFloats(layer) / 1e6 / row.factors, 1, 5e-3)
        << row.m << " x " << row.n << " on " << row.nodes;
    EXPECT_NEAR(serverFloats(layer).both / 1e6 / row.server, 1, 5e-3)
        << row.m << " x " << row.n << " on " << row.nodes;
    EXPECT_EQ(prefersFactors(layer), row.prefers)
        << row.m << " x " << row.n << " on " << row.nodes;
  }
}

// With owners among the workers the rule is K P <= 2 M N / (M + N).
TEST(Poseidon, TheGlobalBatchAgainstTheHarmonicMean) {
  for (double nodes : {2, 3, 7, 64})
    for (double samples : {1, 8, 33, 500}) {
      Connected layer{300, 1700, samples, nodes, nodes};
      EXPECT_EQ(prefersFactors(layer),
                samples * nodes <= 2 * 300.0 * 1700 / 2000);
    }
}

TEST(BytePS, ExtremesAreAllReduceAndServersAlone) {
  // No machine that only serves: an all-reduce.
  BalancedServers none = balanceServers(8, 0, 100, 10);
  EXPECT_DOUBLE_EQ(none.seconds, 2 * 7 * 100 / (8 * 10.0));
  EXPECT_DOUBLE_EQ(none.gpuShare, 1 / 8.0);
  // As many as those that train: these serve nothing.
  BalancedServers all = balanceServers(8, 8, 100, 10);
  EXPECT_DOUBLE_EQ(all.seconds, 100 / 10.0);
  EXPECT_DOUBLE_EQ(all.gpuShare, 0);
  EXPECT_DOUBLE_EQ(all.cpuShare, 1 / 8.0);
  // Shares are those of the whole model.
  BalancedServers some = balanceServers(8, 3, 100, 10);
  EXPECT_DOUBLE_EQ(8 * some.gpuShare + 3 * some.cpuShare, 1);
}

// 2 microseconds, words of four bytes at 6 GB/s.
constexpr AlphaBeta kCori{2e-6, 4 / 6e9};

TEST(IntegratedParallelism, AlexNetsLayers) {
  std::vector<GridLayer> layers = alexNet();
  const double weights[] = {34848,  614400,   884736,   1327104,
                            884736, 37748736, 16777216, 4096000};
  const double outputs[] = {290400, 186624, 64896, 64896,
                            43264,  4096,   4096,  1000};
  const double crossovers[] = {0.08, 2.2, 9.1, 13.6, 13.6, 6144, 2731, 2731};
  ASSERT_EQ(layers.size(), 8u);
  for (size_t i = 0; i < layers.size(); ++i) {
    EXPECT_EQ(layers[i].weights, weights[i]) << layers[i].name;
    EXPECT_EQ(layers[i].outputs, outputs[i]) << layers[i].name;
    EXPECT_NEAR(crossoverBatch(layers[i]) / crossovers[i], 1, 1e-2)
        << layers[i].name;
  }
}

// Batch 2048: milliseconds of pure batch, of the best grid for all layers, and
// of the best one when convolutions divide the batch only.
TEST(IntegratedParallelism, TheBestGridIsNeitherPureBatchNorPureModel) {
  struct Row {
    int64_t ranks;
    double batch;
    Grid uniform;
    double uniformTime;
    Grid mixed;
    double mixedTime;
  };
  const Row rows[] = {{8, 72.9, {1, 8}, 72.9, {4, 2}, 36.8},
                      {64, 82.1, {2, 32}, 65.7, {8, 8}, 20.2},
                      {256, 83.1, {4, 64}, 39.6, {16, 16}, 13.4},
                      {512, 83.3, {4, 128}, 30.4, {32, 16}, 11.2}};
  std::vector<GridLayer> layers = alexNet();
  for (const Row &row : rows) {
    EXPECT_NEAR(1e3 * networkSeconds(layers, GridUse::batch, GridUse::batch,
                                     {1, row.ranks}, 2048, kCori),
                row.batch, 0.06);
    Grid uniform = bestGrid(layers, GridUse::model, GridUse::model, row.ranks,
                            2048, kCori);
    EXPECT_EQ(uniform.pr, row.uniform.pr) << row.ranks;
    EXPECT_NEAR(1e3 * networkSeconds(layers, GridUse::model, GridUse::model,
                                     uniform, 2048, kCori),
                row.uniformTime, 0.06);
    Grid mixed = bestGrid(layers, GridUse::batch, GridUse::model, row.ranks,
                          2048, kCori);
    EXPECT_EQ(mixed.pr, row.mixed.pr) << row.ranks;
    EXPECT_NEAR(1e3 * networkSeconds(layers, GridUse::batch, GridUse::model,
                                     mixed, 2048, kCori),
                row.mixedTime, 0.06);
  }
}

// Batch 512 on more ranks than samples: strips of the images.
TEST(IntegratedParallelism, DomainsBeyondTheBatch) {
  const double times[] = {83.3, 44.4, 25.0, 15.2};
  std::vector<GridLayer> layers = alexNet();
  for (int i = 0; i < 4; ++i)
    EXPECT_NEAR(1e3 * networkSeconds(layers, GridUse::domain, GridUse::model,
                                     {int64_t(1) << i, 512}, 512, kCori),
                times[i], 0.06);
}

} // namespace
