//===- LowerNormalize.cpp - Normalisations as point-wise operations -------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Splits nn.normalize and nn.normalize_grad into work per channel and one
// multiply-add over the tensor.
//
//===----------------------------------------------------------------------===//

#include "dialects/NN/IR/NNOps.h"
#include "passes/Schedule/Passes.h"

using namespace mlir;
using namespace partita;
using namespace partita::nn;

namespace partita {
#define GEN_PASS_DEF_LOWERNORMALIZE
#include "passes/Schedule/Passes.h.inc"
} // namespace partita

namespace {

/// Point-wise arithmetic on channel vectors, at one place.
class ChannelMath {
public:
  ChannelMath(Operation *op, Value x, int64_t axis, Value like)
      : builder(op), loc(op->getLoc()), x(tensorType(x)), axis(axis),
        element(tensorType(like).getElementType()) {}

  Value add(Value a, Value b) { return builder.create<AddOp>(loc, a, b); }
  Value sub(Value a, Value b) { return builder.create<SubOp>(loc, a, b); }
  Value mul(Value a, Value b) { return builder.create<MulOp>(loc, a, b); }
  Value scalar(double value) {
    return scalarConstant(builder, loc, element, value);
  }
  /// 1 / sqrt(variance + eps)
  Value inverseDeviation(Value variance, double eps) {
    Value deviation = builder.create<SqrtOp>(loc, add(variance, scalar(eps)));
    return builder.create<DivOp>(loc, scalar(1.0), deviation);
  }
  /// A channel vector in a shape that broadcasts against x.
  Value spread(Value vector) {
    int64_t trailing = x.getRank() - 1 - axis;
    if (trailing == 0)
      return vector;
    SmallVector<int64_t> shape(1 + trailing, 1);
    shape[0] = x.getDimSize(axis);
    return builder.create<ReshapeOp>(loc, RankedTensorType::get(shape, element),
                                     vector);
  }

private:
  OpBuilder builder;
  Location loc;
  RankedTensorType x;
  int64_t axis;
  Type element;
};

void lowerNormalize(NormalizeOp op) {
  ChannelMath m(op, op.getX(), op.getAxis(), op.getMean());
  Value scale =
      m.mul(op.getGamma(), m.inverseDeviation(op.getVariance(),
                                              op.getEps().convertToDouble()));
  Value shift = m.sub(op.getBeta(), m.mul(op.getMean(), scale));
  // One operation a statement: the order of arguments is the compiler's choice,
  // and the result must not depend on it.
  Value scaled = m.mul(op.getX(), m.spread(scale));
  Value y = m.add(scaled, m.spread(shift));
  op.getY().replaceAllUsesWith(y);
  op.erase();
}

void lowerNormalizeGrad(NormalizeGradOp op) {
  ChannelMath m(op, op.getX(), op.getAxis(), op.getMean());
  Value inverse =
      m.inverseDeviation(op.getVariance(), op.getEps().convertToDouble());
  Value slope = m.mul(op.getGamma(), inverse);
  Value dx = m.mul(op.getDy(), m.spread(slope));
  if (!op.getScale().isZero()) {
    // slope * scale * (dbeta + (x - mean) * inverse * dgamma)
    Value share = m.mul(slope, m.scalar(op.getScale().convertToDouble()));
    Value flat = m.mul(share, op.getDbeta());
    Value steep = m.mul(m.mul(share, inverse), op.getDgamma());
    Value centred = m.sub(op.getX(), m.spread(op.getMean()));
    Value level = m.sub(dx, m.spread(flat));
    Value tilt = m.mul(centred, m.spread(steep));
    dx = m.sub(level, tilt);
  }
  op.getDx().replaceAllUsesWith(dx);
  op.erase();
}

struct LowerNormalizePass
    : partita::impl::LowerNormalizeBase<LowerNormalizePass> {
  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      if (auto normalize = dyn_cast<NormalizeOp>(op))
        lowerNormalize(normalize);
      else if (auto gradient = dyn_cast<NormalizeGradOp>(op))
        lowerNormalizeGrad(gradient);
    });
  }
};

} // namespace
