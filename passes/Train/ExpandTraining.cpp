//===- ExpandTraining.cpp - BatchNorm and Dropout in and out of training --===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Expands nn.batch_norm and nn.dropout by the function they stand in.
//
//===----------------------------------------------------------------------===//

#include "dialects/NN/IR/NNOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Train/Passes.h"

using namespace mlir;
using namespace partita;
using namespace partita::nn;

namespace partita {
#define GEN_PASS_DEF_EXPANDTRAINING
#include "passes/Train/Passes.h.inc"
} // namespace partita

namespace {

/// The channel statistics of `x`, over everything but dimension 1.
struct Statistics {
  Value mean;
  Value variance;
};

Statistics buildStatistics(OpBuilder &builder, Location loc, Value x,
                           bool local) {
  auto type = tensorType(x);
  SmallVector<int64_t> axes;
  int64_t count = 1;
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (i != 1) {
      axes.push_back(i);
      count *= type.getDimSize(i);
    }
  double scale = 1.0 / std::max<int64_t>(count, 1);
  Statistics statistics;
  statistics.mean =
      builder.create<ReduceOp>(loc, ReduceKind::sum, x, axes, scale, local);
  statistics.variance = builder.create<VarianceOp>(
      loc, statistics.mean.getType(), x, statistics.mean,
      builder.getDenseI64ArrayAttr(axes), builder.getF64FloatAttr(scale),
      local ? builder.getUnitAttr() : UnitAttr());
  return statistics;
}

/// running = running * momentum + batch * (1 - momentum)
void updateRunning(OpBuilder &builder, Location loc, Value running, Value batch,
                   double momentum) {
  auto read = running.getDefiningOp<ReadOp>();
  Type element = tensorType(running).getElementType();
  Value kept = builder.create<MulOp>(
      loc, running, scalarConstant(builder, loc, element, momentum));
  Value added = builder.create<MulOp>(
      loc, batch, scalarConstant(builder, loc, element, 1.0 - momentum));
  Value next = builder.create<AddOp>(loc, kept, added);
  builder.create<AssignOp>(loc, read.getVariableAttr(), next);
}

Value normalize(OpBuilder &builder, BatchNormOp op, Value mean,
                Value variance) {
  return builder.create<NormalizeOp>(
      op.getLoc(), op.getType(), op.getX(), mean, variance, op.getGamma(),
      op.getBeta(), builder.getI64IntegerAttr(1), op.getEpsAttr());
}

Value expandBatchNorm(OpBuilder &builder, BatchNormOp op, bool training) {
  if (!training || op.getMode() == BatchNormMode::frozen)
    return normalize(builder, op, op.getMean(), op.getVariance());
  Location loc = op.getLoc();
  bool local = op.getMode() == BatchNormMode::local;
  Statistics used = buildStatistics(builder, loc, op.getX(), local);
  // Running statistics are always those of the global batch, so that they stay
  // equal on all ranks.
  Statistics kept = local ? buildStatistics(builder, loc, op.getX(),
                                            /*local=*/false)
                          : used;
  Value y = normalize(builder, op, used.mean, used.variance);
  double momentum = op.getMomentum().convertToDouble();
  updateRunning(builder, loc, op.getMean(), kept.mean, momentum);
  updateRunning(builder, loc, op.getVariance(), kept.variance, momentum);
  return y;
}

Value expandDropout(OpBuilder &builder, DropoutOp op, bool training) {
  if (!training || op.getRatio().isZero())
    return op.getX();
  ArrayRef<int64_t> shape = shapeOf(op.getX());
  SmallVector<int64_t> start(shape.size(), 0);
  Value mask = builder.create<DropoutMaskOp>(
      op.getLoc(), op.getType(), op.getRatioAttr(), op.getStreamAttr(),
      builder.getDenseI64ArrayAttr(shape), builder.getDenseI64ArrayAttr(start));
  return builder.create<MulOp>(op.getLoc(), op.getX(), mask);
}

struct ExpandTrainingPass
    : partita::impl::ExpandTrainingBase<ExpandTrainingPass> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      bool training = function.getName() == "step";
      function.walk([&](Operation *op) {
        OpBuilder builder(op);
        Value replacement;
        if (auto norm = dyn_cast<BatchNormOp>(op))
          replacement = expandBatchNorm(builder, norm, training);
        else if (auto dropout = dyn_cast<DropoutOp>(op))
          replacement = expandDropout(builder, dropout, training);
        if (!replacement)
          return;
        op->getResult(0).replaceAllUsesWith(replacement);
        op->erase();
      });
    }
  }
};

} // namespace
