//===- OverlapTest.cpp - When communication starts and must end -----------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Arrivals, the order of operations and the order of buckets, on small
// functions.
//
//===----------------------------------------------------------------------===//

#include "passes/Schedule/Overlap.h"

#include "dialects/Dist/IR/DistDialect.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace partita;

namespace {

class Overlap : public testing::Test {
protected:
  Overlap() {
    context.loadDialect<func::FuncDialect, nn::NNDialect, dist::DistDialect,
                        spmd::SPMDDialect>();
  }

  /// The function in a module of a grid of two ranks.
  func::FuncOp parse(StringRef function) {
    std::string text = ("module attributes {dist.grid = #dist.grid<data = 2>} {"
                        "nn.variable @w parameter : tensor<4xf32> = dense<1.0> "
                        ": tensor<4xf32>\n" +
                        function + "}")
                           .str();
    module = parseSourceString<ModuleOp>(text, &context);
    return module ? *module->getOps<func::FuncOp>().begin() : func::FuncOp();
  }

  static Operation *at(func::FuncOp function, int64_t place) {
    return &*std::next(function.front().begin(), place);
  }

  static std::vector<std::string> names(func::FuncOp function) {
    std::vector<std::string> result;
    for (Operation &op : function.front())
      result.push_back(op.getName().getStringRef().str());
    return result;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

//===----------------------------------------------------------------------===//
// Arrivals
//===----------------------------------------------------------------------===//

constexpr const char *kReshaped = R"(
  func.func @f(%x: tensor<4xf32>) -> tensor<2x2xf32> {
    %s = spmd.all_reduce sum %x over ["data"] : tensor<4xf32>
    %r = nn.relu %x : tensor<4xf32>
    %t = nn.reshape %s : tensor<4xf32> -> tensor<2x2xf32>
    %u = nn.relu %r : tensor<4xf32>
    %v = nn.relu %t : tensor<2x2xf32>
    return %v : tensor<2x2xf32>
  }
)";

TEST_F(Overlap, ACollectiveArrivesBeforeTheFirstUse) {
  func::FuncOp function = parse(kReshaped);
  ASSERT_TRUE(function);
  // A reshape uses nothing: its result is another view.
  EXPECT_EQ(Arrivals(function, true).arrivalOf(at(function, 0)), 4);
  EXPECT_EQ(Arrivals(function, false).arrivalOf(at(function, 0)), 0);
}

TEST_F(Overlap, WhatTravelsIsInUseUntilItArrives) {
  func::FuncOp function = parse(R"(
    func.func @f(%x: tensor<2x3xf32>) -> tensor<4x3xf32> {
      %a = nn.relu %x : tensor<2x3xf32>
      %g = spmd.all_gather %a over ["data"] from <[[data], []]> to <[[], []]> of tensor<4x3xf32> : tensor<2x3xf32> -> tensor<4x3xf32>
      %b = nn.relu %x : tensor<2x3xf32>
      %c = nn.relu %b : tensor<2x3xf32>
      %d = nn.relu %g : tensor<4x3xf32>
      return %d : tensor<4x3xf32>
    }
  )");
  ASSERT_TRUE(function);
  Value sent = at(function, 0)->getResult(0);
  EXPECT_EQ(Arrivals(function, true).lastUseOf(sent), 4);
  EXPECT_EQ(Arrivals(function, false).lastUseOf(sent), 1);
}

TEST_F(Overlap, WhatIsCombinedInPlaceIsInUseAsTheSum) {
  func::FuncOp function = parse(kReshaped);
  ASSERT_TRUE(function);
  Value argument = function.getArgument(0);
  EXPECT_EQ(Arrivals(function, true).lastUseOf(argument), 4);
}

TEST_F(Overlap, WhatIsOnlyReturnedArrivesAtTheEnd) {
  func::FuncOp function = parse(R"(
    func.func @f(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
      %s = spmd.all_reduce sum %x over ["data"] : tensor<4xf32>
      %r = nn.relu %x : tensor<4xf32>
      return %s, %r : tensor<4xf32>, tensor<4xf32>
    }
  )");
  ASSERT_TRUE(function);
  EXPECT_EQ(Arrivals(function, true).arrivalOf(at(function, 0)), 2);
}

//===----------------------------------------------------------------------===//
// The order of operations
//===----------------------------------------------------------------------===//

TEST_F(Overlap, WhatNeedsNothingIsBroughtBeforeTheFirstUse) {
  func::FuncOp function = parse(R"(
    func.func @f(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
      %s = spmd.all_reduce sum %x over ["data"] : tensor<4xf32>
      %r = nn.relu %s : tensor<4xf32>
      %t = nn.sigmoid %r : tensor<4xf32>
      %u = nn.exp %x : tensor<4xf32>
      return %t, %u : tensor<4xf32>, tensor<4xf32>
    }
  )");
  ASSERT_TRUE(function);
  orderForOverlap(function, Link());
  EXPECT_EQ(names(function),
            (std::vector<std::string>{"spmd.all_reduce", "nn.exp", "nn.relu",
                                      "nn.sigmoid", "func.return"}));
}

TEST_F(Overlap, CollectivesKeepTheirOrder) {
  func::FuncOp function = parse(R"(
    func.func @f(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
      %s = spmd.all_reduce sum %x over ["data"] : tensor<4xf32>
      %r = nn.relu %s : tensor<4xf32>
      %m = spmd.all_reduce max %x over ["data"] : tensor<4xf32>
      %u = nn.exp %m : tensor<4xf32>
      return %r, %u : tensor<4xf32>, tensor<4xf32>
    }
  )");
  ASSERT_TRUE(function);
  std::vector<std::string> before = names(function);
  orderForOverlap(function, Link());
  EXPECT_EQ(names(function), before);
}

TEST_F(Overlap, ProductsOfFactorsComeLast) {
  func::FuncOp function = parse(R"(
    func.func @f(%x: tensor<2x4xf32>, %d: tensor<2x4xf32>, %w: tensor<4xf32>) {
      %g = nn.matmul %x, %d {dist.factors, transpose_a} : tensor<2x4xf32>, tensor<2x4xf32>
      %h = nn.reduce sum %g {axes = array<i64: 0>, dist.factors} : tensor<4x4xf32>
      %r = nn.relu %x : tensor<2x4xf32>
      nn.sgd @w, %h : tensor<4xf32>
      return
    }
  )");
  ASSERT_TRUE(function);
  orderForOverlap(function, Link());
  EXPECT_EQ(names(function),
            (std::vector<std::string>{"nn.relu", "nn.matmul", "nn.reduce",
                                      "nn.sgd", "func.return"}));
}

//===----------------------------------------------------------------------===//
// The order of buckets
//===----------------------------------------------------------------------===//

/// "s0 u0 s1 u1": sends and updates of buckets.
std::string text(const std::vector<BucketTask> &tasks) {
  std::string result;
  for (const BucketTask &task : tasks)
    result += (result.empty() ? "" : " ") +
              std::string(task.sends ? "s" : "u") + std::to_string(task.bucket);
  return result;
}

/// A step of four operations that take next to no time.
constexpr const char *kStep = R"(
  func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = nn.relu %x : tensor<4xf32>
    %1 = nn.relu %0 : tensor<4xf32>
    %2 = nn.relu %1 : tensor<4xf32>
    %3 = nn.relu %2 : tensor<4xf32>
    return %3 : tensor<4xf32>
  }
)";

/// Ready behind operation `ready`; the next step needs it at `need`.
TaskFacts bucket(int64_t ready, int64_t need, int64_t gradientBytes,
                 int64_t parameterBytes = 0) {
  TaskFacts facts;
  facts.ready = ready;
  facts.lastRead = ready;
  facts.need = need;
  facts.gradientBytes = gradientBytes;
  facts.parameterBytes = parameterBytes;
  return facts;
}

TEST_F(Overlap, TheFirstLayerOvertakesWhatWaits) {
  func::FuncOp step = parse(kStep);
  ASSERT_TRUE(step);
  // The backward pass has the last layer's gradient first. While it travels,
  // the others become ready; the first layer is needed first.
  TaskFacts buckets[] = {bucket(0, 3, 1 << 20), bucket(1, 2, 1 << 20),
                         bucket(2, 1, 1 << 20)};
  EXPECT_EQ(text(orderTasks(step, buckets, Link(), /*priorities=*/true)),
            "s0 s2 u2 s1 u1 u0");
  EXPECT_EQ(text(orderTasks(step, buckets, Link(), /*priorities=*/false)),
            "s0 s1 s2 u0 u1 u2");
}

TEST_F(Overlap, FetchesOfTheFirstLayerGoBeforeGradientsOfTheLast) {
  func::FuncOp step = parse(kStep);
  ASSERT_TRUE(step);
  TaskFacts buckets[] = {bucket(2, 1, 1 << 20, 1 << 20),
                         bucket(2, 2, 1 << 20, 1 << 20)};
  EXPECT_EQ(text(orderTasks(step, buckets, Link(), /*priorities=*/true)),
            "s0 u0 s1 u1");
  EXPECT_EQ(text(orderTasks(step, buckets, Link(), /*priorities=*/false)),
            "s0 s1 u0 u1");
}

TEST_F(Overlap, WhatNobodySendsIsNoTask) {
  func::FuncOp step = parse(kStep);
  ASSERT_TRUE(step);
  TaskFacts buckets[] = {bucket(0, 1, 0), bucket(0, 1, 1)};
  EXPECT_EQ(text(orderTasks(step, buckets, Link(), /*priorities=*/true)),
            "s1 u1");
  EXPECT_EQ(text(orderTasks(step, {}, Link(), /*priorities=*/true)), "");
}

TEST_F(Overlap, AParameterThatIsReadLateIsUpdatedLate) {
  func::FuncOp step = parse(R"(
    func.func @f(%x: tensor<4xf32>, %y: tensor<2000x2000xf32>) -> tensor<2000x2000xf32> {
      %0 = nn.relu %x : tensor<4xf32>
      %1 = nn.matmul %y, %y : tensor<2000x2000xf32>, tensor<2000x2000xf32>
      return %1 : tensor<2000x2000xf32>
    }
  )");
  ASSERT_TRUE(step);
  // The first bucket has the higher priority, but the product reads its
  // parameters; the second has long arrived by then.
  TaskFacts buckets[] = {bucket(0, 1, 1), bucket(0, 2, 1)};
  buckets[0].lastRead = 1;
  EXPECT_EQ(text(orderTasks(step, buckets, Link(), /*priorities=*/true)),
            "s0 s1 u1 u0");
}

TEST_F(Overlap, NominalTimesGrowWithWork) {
  func::FuncOp function = parse(R"(
    func.func @f(%a: tensor<8x8xf32>, %b: tensor<512x512xf32>) -> (tensor<8x8xf32>, tensor<512x512xf32>, tensor<64xf32>) {
      %0 = nn.matmul %a, %a : tensor<8x8xf32>, tensor<8x8xf32>
      %1 = nn.matmul %b, %b : tensor<512x512xf32>, tensor<512x512xf32>
      %2 = nn.reshape %0 : tensor<8x8xf32> -> tensor<64xf32>
      return %0, %1, %2 : tensor<8x8xf32>, tensor<512x512xf32>, tensor<64xf32>
    }
  )");
  ASSERT_TRUE(function);
  EXPECT_GT(computeSeconds(at(function, 0)), 0);
  EXPECT_GT(computeSeconds(at(function, 1)),
            1000 * computeSeconds(at(function, 0)));
  EXPECT_EQ(computeSeconds(at(function, 2)), 0);
  EXPECT_GT(Link().seconds(0), 0);
  EXPECT_GT(Link().seconds(1 << 20), Link().seconds(1 << 10));
}

} // namespace
