//===- FusePointwise.cpp - Point-wise chains as one loop ------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// First every point-wise operation becomes an nn.fused of its own, then
// producers are joined into consumers until nothing changes.
//
//===----------------------------------------------------------------------===//

#include "dialects/NN/IR/NNOps.h"
#include "dialects/SPMD/IR/SPMDDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Schedule/Passes.h"

using namespace mlir;
using namespace partita;
using namespace partita::nn;

namespace partita {
#define GEN_PASS_DEF_FUSEPOINTWISE
#include "passes/Schedule/Passes.h.inc"
} // namespace partita

namespace {

/// More operands than this make one loop slow and hard to read.
constexpr size_t kMaxOperands = 12;

bool isScalarConstant(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  return constant && constant.getValue().isSplat();
}

/// The element of a splat constant, as an arith.constant.
Value constantBody(OpBuilder &builder, Location loc, ConstantOp constant) {
  auto elements = cast<DenseElementsAttr>(constant.getValue());
  Type type = elements.getElementType();
  if (isa<FloatType>(type))
    return scalarLiteral(builder, loc, type,
                         elements.getSplatValue<APFloat>().convertToDouble());
  return scalarLiteral(
      builder, loc, type,
      static_cast<double>(elements.getSplatValue<APInt>().getSExtValue()));
}

/// Makes an nn.fused of one operation. Splat constants move into the body;
/// a broadcast passes its operand's element on.
FusedOp wrap(Operation *op) {
  OpBuilder builder(op);
  SmallVector<Value> inputs;
  for (Value operand : op->getOperands())
    if (!isScalarConstant(operand) && !llvm::is_contained(inputs, operand))
      inputs.push_back(operand);
  auto fused =
      builder.create<FusedOp>(op->getLoc(), op->getResultTypes(), inputs);
  Block *body = builder.createBlock(&fused.getBody());
  for (Value input : inputs)
    body->addArgument(tensorType(input).getElementType(), input.getLoc());
  SmallVector<Value> scalars;
  for (Value operand : op->getOperands()) {
    if (isScalarConstant(operand)) {
      scalars.push_back(constantBody(builder, op->getLoc(),
                                     operand.getDefiningOp<ConstantOp>()));
      continue;
    }
    auto position = llvm::find(inputs, operand) - inputs.begin();
    scalars.push_back(body->getArgument(position));
  }
  Value result;
  if (auto constant = dyn_cast<ConstantOp>(op))
    result = constantBody(builder, op->getLoc(), constant);
  else if (auto pointwise = dyn_cast<PointwiseOpInterface>(op))
    result = pointwise.buildScalarBody(builder, op->getLoc(), scalars);
  else
    result = scalars[0];
  builder.create<YieldOp>(op->getLoc(), result);
  if (Attribute split = op->getAttr(spmd::kSplitAttr))
    fused->setAttr(spmd::kSplitAttr, split);
  op->getResult(0).replaceAllUsesWith(fused.getResult(0));
  op->erase();
  return fused;
}

/// Whether `producer` may be computed at the place of `consumer`: every other
/// user of its results stands after the consumer.
bool canMoveTo(FusedOp producer, FusedOp consumer) {
  for (Operation *user : producer->getUsers())
    if (user != consumer && (user->getBlock() != consumer->getBlock() ||
                             user->isBeforeInBlock(consumer)))
      return false;
  // What the producer reads must not be written in between.
  for (Value input : producer.getInputs())
    if (auto read = input.getDefiningOp<ReadOp>())
      for (Operation *op = producer->getNextNode(); op && op != consumer;
           op = op->getNextNode())
        if (auto assign = dyn_cast<AssignOp>(op);
            assign && assign.getVariable() == read.getVariable())
          return false;
  return true;
}

ArrayRef<int64_t> shapeOfFused(FusedOp op) {
  return shapeOf(op.getOutputs()[0]);
}

/// Joins `producer` into `consumer`. Results of the producer that others use
/// become results of the joined operation.
FusedOp join(FusedOp producer, FusedOp consumer) {
  OpBuilder builder(consumer);
  SmallVector<Value> inputs(producer.getInputs());
  auto addInput = [&](Value value) {
    if (!llvm::is_contained(inputs, value))
      inputs.push_back(value);
  };
  for (Value input : consumer.getInputs())
    if (input.getDefiningOp() != producer)
      addInput(input);
  SmallVector<Type> types(consumer.getResultTypes());
  SmallVector<Value> kept;
  for (Value result : producer.getOutputs())
    if (llvm::any_of(result.getUsers(),
                     [&](Operation *user) { return user != consumer; })) {
      kept.push_back(result);
      types.push_back(result.getType());
    }
  auto loc = builder.getFusedLoc({producer.getLoc(), consumer.getLoc()});
  auto fused = builder.create<FusedOp>(loc, types, inputs);
  Block *body = builder.createBlock(&fused.getBody());
  for (Value input : inputs)
    body->addArgument(tensorType(input).getElementType(), input.getLoc());
  auto argumentFor = [&](Value input) {
    return body->getArgument(llvm::find(inputs, input) - inputs.begin());
  };
  IRMapping mapping;
  auto copyBody = [&](FusedOp from) {
    for (Operation &op : from.getBody().front().without_terminator())
      builder.clone(op, mapping);
  };
  auto yieldOf = [](FusedOp op) {
    return cast<YieldOp>(op.getBody().front().getTerminator());
  };
  for (auto [argument, input] : llvm::zip(
           producer.getBody().front().getArguments(), producer.getInputs()))
    mapping.map(argument, argumentFor(input));
  copyBody(producer);
  SmallVector<Value> produced;
  for (Value value : yieldOf(producer).getValues())
    produced.push_back(mapping.lookupOrDefault(value));
  for (auto [argument, input] : llvm::zip(
           consumer.getBody().front().getArguments(), consumer.getInputs())) {
    if (input.getDefiningOp() == producer)
      mapping.map(argument, produced[cast<OpResult>(input).getResultNumber()]);
    else
      mapping.map(argument, argumentFor(input));
  }
  copyBody(consumer);
  SmallVector<Value> yielded;
  for (Value value : yieldOf(consumer).getValues())
    yielded.push_back(mapping.lookupOrDefault(value));
  for (Value result : kept)
    yielded.push_back(produced[cast<OpResult>(result).getResultNumber()]);
  builder.create<YieldOp>(loc, yielded);
  if (Attribute split = consumer->getAttr(spmd::kSplitAttr))
    fused->setAttr(spmd::kSplitAttr, split);

  unsigned count = consumer->getNumResults();
  for (auto [old, now] :
       llvm::zip(consumer.getOutputs(), fused.getOutputs().take_front(count)))
    old.replaceAllUsesWith(now);
  for (auto [old, now] : llvm::zip(kept, fused.getOutputs().drop_front(count)))
    old.replaceAllUsesExcept(now, consumer);
  consumer.erase();
  producer.erase();
  return fused;
}

/// Whether joining is allowed and worth it.
bool shouldJoin(FusedOp producer, FusedOp consumer) {
  if (producer->getBlock() != consumer->getBlock() ||
      !canMoveTo(producer, consumer))
    return false;
  size_t operands = producer.getInputs().size() + consumer.getInputs().size();
  if (operands > kMaxOperands)
    return false;
  if (shapeOfFused(producer) == shapeOfFused(consumer))
    return true;
  // A smaller result is recomputed for every element: only worth it when
  // that costs nothing, and only possible when nobody else needs it.
  bool isFree = llvm::hasSingleElement(producer.getBody().front());
  return isFree && producer->hasOneUse() && producer->getNumResults() == 1;
}

struct FusePointwisePass : partita::impl::FusePointwiseBase<FusePointwisePass> {
  void runOnOperation() override {
    if (failed(verifyFunctions(getOperation())))
      return signalPassFailure();
    for (auto function : getOperation().getOps<func::FuncOp>())
      run(function.front());
  }

private:
  void run(Block &block) {
    SmallVector<FusedOp> fusedOps;
    for (Operation &op : llvm::make_early_inc_range(block)) {
      bool isConstantForOthers =
          isa<ConstantOp>(op) && isScalarConstant(op.getResult(0)) &&
          llvm::any_of(op.getUsers(), [](Operation *user) {
            return !isa<PointwiseOpInterface, BroadcastOp, FusedOp>(user);
          });
      if (isa<PointwiseOpInterface, BroadcastOp>(op) || isConstantForOthers)
        wrap(&op);
    }
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (isOpTriviallyDead(&op))
        op.erase();
    for (Operation &op : block)
      if (auto fused = dyn_cast<FusedOp>(op))
        fusedOps.push_back(fused);
    // Consumers in order; each takes in producers, which stand before it, as
    // long as it can.
    for (FusedOp consumer : fusedOps) {
      bool changed = true;
      while (changed) {
        changed = false;
        for (Value input : consumer.getInputs()) {
          auto producer = input.getDefiningOp<FusedOp>();
          if (!producer || !shouldJoin(producer, consumer))
            continue;
          consumer = join(producer, consumer);
          ++numFused;
          changed = true;
          break;
        }
      }
    }
  }
};

} // namespace
