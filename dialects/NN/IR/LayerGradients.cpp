//===- LayerGradients.cpp - Gradients of layers ---------------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Vector-Jacobian products of convolutions, products, pools and norms.
//
//===----------------------------------------------------------------------===//

#include "dialects/NN/IR/NNOps.h"

using namespace mlir;
using namespace partita::nn;

using Grads = SmallVectorImpl<Value>;

LogicalResult ConvOp::buildVjp(OpBuilder &b, ValueRange dy,
                               ArrayRef<bool> wanted, Grads &grads) {
  grads.append(getNumOperands(), Value());
  if (!dy[0])
    return success();
  if (wanted[0])
    grads[0] = b.create<ConvInputGradOp>(getLoc(), getX().getType(), dy[0],
                                         getW(), getStrides(), getDilations(),
                                         getPads(), getGroups());
  if (wanted[1])
    grads[1] = b.create<ConvFilterGradOp>(getLoc(), getW().getType(), getX(),
                                          dy[0], getStrides(), getDilations(),
                                          getPads(), getGroups());
  if (getBias() && wanted[2]) {
    SmallVector<int64_t> axes;
    for (int64_t i = 0, e = shapeOf(dy[0]).size(); i < e; ++i)
      if (i != 1)
        axes.push_back(i);
    grads[2] = b.create<ReduceOp>(getLoc(), ReduceKind::sum, dy[0], axes);
  }
  return success();
}

// The products of a convolution are bilinear, so each gradient is again one
// of the three products.
LogicalResult ConvInputGradOp::buildVjp(OpBuilder &b, ValueRange grad,
                                        ArrayRef<bool> wanted, Grads &grads) {
  grads.append(2, Value());
  if (!grad[0])
    return success();
  if (wanted[0])
    grads[0] =
        b.create<ConvOp>(getLoc(), getDy().getType(), grad[0], getW(), Value(),
                         getStrides(), getDilations(), getPads(), getGroups());
  if (wanted[1])
    grads[1] = b.create<ConvFilterGradOp>(getLoc(), getW().getType(), grad[0],
                                          getDy(), getStrides(), getDilations(),
                                          getPads(), getGroups());
  return success();
}

LogicalResult ConvFilterGradOp::buildVjp(OpBuilder &b, ValueRange grad,
                                         ArrayRef<bool> wanted, Grads &grads) {
  grads.append(2, Value());
  if (!grad[0])
    return success();
  if (wanted[0])
    grads[0] = b.create<ConvInputGradOp>(getLoc(), getX().getType(), getDy(),
                                         grad[0], getStrides(), getDilations(),
                                         getPads(), getGroups());
  if (wanted[1])
    grads[1] =
        b.create<ConvOp>(getLoc(), getDy().getType(), getX(), grad[0], Value(),
                         getStrides(), getDilations(), getPads(), getGroups());
  return success();
}

LogicalResult MatmulOp::buildVjp(OpBuilder &b, ValueRange dy,
                                 ArrayRef<bool> wanted, Grads &grads) {
  grads.append(2, Value());
  if (!dy[0])
    return success();
  bool flipA = getTransposeA(), flipB = getTransposeB();
  auto product = [&](Value left, Value right, bool flipLeft, bool flipRight) {
    return b.create<MatmulOp>(
        getLoc(), left, right, flipLeft ? b.getUnitAttr() : UnitAttr(),
        flipRight ? b.getUnitAttr() : UnitAttr(), getAlphaAttr());
  };
  // y = op(a) op(b):  d op(a) = dy op(b)^T,  d op(b) = op(a)^T dy; for a
  // transposed operand the transpose of that.
  if (wanted[0]) {
    Value da = flipA ? product(getB(), dy[0], flipB, /*flipRight=*/true)
                     : product(dy[0], getB(), /*flipLeft=*/false, !flipB);
    grads[0] = sumToShape(b, getLoc(), da, shapeOf(getA()));
  }
  if (wanted[1]) {
    Value db = flipB ? product(dy[0], getA(), /*flipLeft=*/true, flipA)
                     : product(getA(), dy[0], !flipA, /*flipRight=*/false);
    grads[1] = sumToShape(b, getLoc(), db, shapeOf(getB()));
  }
  return success();
}

LogicalResult MaxPoolOp::buildVjp(OpBuilder &b, ValueRange dy,
                                  ArrayRef<bool> wanted, Grads &grads) {
  grads.push_back(Value());
  if (dy[0] && wanted[0])
    grads[0] = b.create<MaxPoolGradOp>(getLoc(), getX().getType(), getX(),
                                       dy[0], getKernel(), getStrides(),
                                       getDilations(), getPads());
  return success();
}

LogicalResult AvgPoolOp::buildVjp(OpBuilder &b, ValueRange dy,
                                  ArrayRef<bool> wanted, Grads &grads) {
  grads.push_back(Value());
  if (dy[0] && wanted[0])
    grads[0] = b.create<AvgPoolGradOp>(
        getLoc(), getX().getType(), dy[0], getKernel(), getStrides(),
        getDilations(), getPads(), getCountIncludePad());
  return success();
}

LogicalResult AvgPoolGradOp::buildVjp(OpBuilder &b, ValueRange grad,
                                      ArrayRef<bool> wanted, Grads &grads) {
  grads.push_back(Value());
  if (grad[0] && wanted[0])
    grads[0] = b.create<AvgPoolOp>(getLoc(), getDy().getType(), grad[0],
                                   getKernel(), getStrides(), getDilations(),
                                   getPads(), getCountIncludePad());
  return success();
}

LogicalResult NormalizeOp::buildVjp(OpBuilder &b, ValueRange dy,
                                    ArrayRef<bool> wanted, Grads &grads) {
  grads.append(getNumOperands(), Value());
  if (!dy[0])
    return success();
  Type vector = getMean().getType();
  auto sums = [&](bool local) {
    return b.create<NormalizeSumsOp>(
        getLoc(), vector, vector, dy[0], getX(), getMean(), getVariance(),
        getAxisAttr(), getEpsAttr(), local ? b.getUnitAttr() : UnitAttr());
  };
  NormalizeSumsOp total = sums(/*local=*/false);
  if (wanted[3])
    grads[3] = total.getDgamma();
  if (wanted[4])
    grads[4] = total.getDbeta();
  if (!wanted[0])
    return success();
  // Statistics of x itself depend on x; their part of the gradient is the
  // `scale` terms. Gradients by mean and variance are therefore not given.
  auto mean = getMean().getDefiningOp<ReduceOp>();
  auto variance = getVariance().getDefiningOp<VarianceOp>();
  bool ofBatch =
      mean && variance && mean.getX() == getX() && variance.getX() == getX();
  double scale = ofBatch ? mean.getScale().convertToDouble() : 0.0;
  bool local = ofBatch && mean.getLocal();
  NormalizeSumsOp own = local ? sums(/*local=*/true) : total;
  grads[0] = b.create<NormalizeGradOp>(
      getLoc(), getX().getType(), dy[0], getX(), getMean(), getVariance(),
      getGamma(), own.getDbeta(), own.getDgamma(), getAxisAttr(), getEpsAttr(),
      b.getF64FloatAttr(scale), local ? b.getUnitAttr() : UnitAttr());
  return success();
}

LogicalResult LrnOp::buildVjp(OpBuilder &b, ValueRange dy,
                              ArrayRef<bool> wanted, Grads &grads) {
  grads.push_back(Value());
  if (dy[0] && wanted[0])
    grads[0] = b.create<LrnGradOp>(getLoc(), getX().getType(), getX(), dy[0],
                                   getSizeAttr(), getAlphaAttr(), getBetaAttr(),
                                   getBiasAttr());
  return success();
}
