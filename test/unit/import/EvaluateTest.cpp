//===- EvaluateTest.cpp - Tests of compile-time arithmetic -----*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/NN/Import/Evaluate.h"

#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"
#include <limits>

using namespace llvm;
using namespace mlir;
using namespace partita::nn;
using namespace partita::nn::importer;

namespace {

class Evaluate : public ::testing::Test {
protected:
  Constant ints(ArrayRef<int64_t> shape, std::vector<int64_t> values,
                unsigned width = 64) {
    return Constant::ofInts(
        RankedTensorType::get(shape, IntegerType::get(&context, width)),
        std::move(values));
  }
  Constant floats(ArrayRef<int64_t> shape, std::vector<double> values) {
    return Constant::ofFloats(
        RankedTensorType::get(shape, Float32Type::get(&context)),
        std::move(values));
  }
  MLIRContext context;
};

TEST_F(Evaluate, BroadcastsLikeNumpy) {
  auto sum =
      evaluate(Arithmetic::add, ints({2, 1}, {10, 20}), ints({3}, {1, 2, 3}));
  ASSERT_TRUE(sum);
  EXPECT_EQ(sum->getShape(), ArrayRef<int64_t>({2, 3}));
  EXPECT_EQ(sum->getInts(), SmallVector<int64_t>({11, 12, 13, 21, 22, 23}));
}

TEST_F(Evaluate, DividesTowardsZero) {
  auto quotient =
      evaluate(Arithmetic::div, ints({3}, {7, -7, 7}), ints({3}, {2, 2, -2}));
  ASSERT_TRUE(quotient);
  EXPECT_EQ(quotient->getInts(), SmallVector<int64_t>({3, -3, -3}));
}

TEST_F(Evaluate, LeavesDivisionByZeroAlone) {
  EXPECT_FALSE(evaluate(Arithmetic::div, ints({}, {1}), ints({}, {0})));
  EXPECT_FALSE(evaluate(Arithmetic::mod, ints({}, {1}), ints({}, {0})));
}

TEST_F(Evaluate, WrapsWithoutUndefinedBehaviour) {
  int64_t least = std::numeric_limits<int64_t>::min();
  auto quotient = evaluate(Arithmetic::div, ints({}, {least}), ints({}, {-1}));
  ASSERT_TRUE(quotient);
  EXPECT_EQ(quotient->intAt(0), least);
  auto sum = evaluate(Arithmetic::add, ints({}, {127}, 8), ints({}, {1}, 8));
  ASSERT_TRUE(sum);
  EXPECT_EQ(sum->intAt(0), -128);
}

TEST_F(Evaluate, ModHasTheSignOfTheDivisor) {
  auto mod = evaluate(Arithmetic::mod, ints({2}, {-7, 7}), ints({2}, {3, -3}));
  auto fmod =
      evaluate(Arithmetic::fmod, ints({2}, {-7, 7}), ints({2}, {3, -3}));
  ASSERT_TRUE(mod && fmod);
  EXPECT_EQ(mod->getInts(), SmallVector<int64_t>({2, -2}));
  EXPECT_EQ(fmod->getInts(), SmallVector<int64_t>({-1, 1}));
}

TEST_F(Evaluate, RoundsToTheElementType) {
  // 0.1 + 0.2 in single precision, not in double.
  auto sum = evaluate(Arithmetic::add, floats({}, {0.1}), floats({}, {0.2}));
  ASSERT_TRUE(sum);
  EXPECT_EQ(sum->floatAt(0), static_cast<double>(0.1f + 0.2f));
}

TEST_F(Evaluate, CastsThatDoNotFitAreLeftAlone) {
  Type i64 = IntegerType::get(&context, 64);
  EXPECT_FALSE(floats({}, {1e30}).castTo(i64));
  EXPECT_FALSE(
      floats({}, {std::numeric_limits<double>::quiet_NaN()}).castTo(i64));
  auto cast = floats({2}, {2.75, -2.75}).castTo(i64);
  ASSERT_TRUE(cast);
  EXPECT_EQ(cast->getInts(), SmallVector<int64_t>({2, -2}));
}

TEST_F(Evaluate, Reduces) {
  auto product = evaluateReduce(ReduceKind::prod, ints({2, 2}, {2, 3, 4, 5}),
                                {1}, /*scale=*/1.0);
  ASSERT_TRUE(product);
  EXPECT_EQ(product->getInts(), SmallVector<int64_t>({6, 20}));
  auto mean = evaluateReduce(ReduceKind::sum, floats({4}, {1, 2, 3, 6}), {0},
                             /*scale=*/0.25);
  ASSERT_TRUE(mean);
  EXPECT_EQ(mean->floatAt(0), 3.0);
  EXPECT_TRUE(mean->getShape().empty());
}

TEST_F(Evaluate, RefusesLargeResults) {
  auto column = Constant::splatInt(
      RankedTensorType::get({4000, 1}, IntegerType::get(&context, 64)), 1);
  auto row = Constant::splatInt(
      RankedTensorType::get({1, 4000}, IntegerType::get(&context, 64)), 1);
  EXPECT_FALSE(evaluate(Arithmetic::add, column, row));
}

TEST_F(Evaluate, SelectsAndCompares) {
  auto less = evaluate(Predicate::lt, ints({3}, {1, 2, 3}), ints({}, {2}));
  ASSERT_TRUE(less);
  auto chosen = evaluateSelect(*less, ints({}, {10}), ints({3}, {20, 30, 40}));
  ASSERT_TRUE(chosen);
  EXPECT_EQ(chosen->getInts(), SmallVector<int64_t>({10, 30, 40}));
}

} // namespace
