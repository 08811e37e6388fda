//===- TensorGradients.cpp - Gradients of reductions and movement ---------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Vector-Jacobian products of reductions, element movement, softmax and
// losses.
//
//===----------------------------------------------------------------------===//

#include "dialects/NN/IR/NNOps.h"

using namespace mlir;
using namespace partita::nn;

using Grads = SmallVectorImpl<Value>;

namespace {

/// Give `value` back the reduced dimensions of `shape` as size 1, so that it
/// broadcasts against the operand.
Value keepDims(OpBuilder &b, Location loc, Value value, ArrayRef<int64_t> shape,
               ArrayRef<int64_t> axes) {
  SmallVector<int64_t> kept(shape);
  for (int64_t axis : axes)
    kept[axis] = 1;
  return b.create<ReshapeOp>(
      loc, RankedTensorType::get(kept, tensorType(value).getElementType()),
      value);
}

} // namespace

LogicalResult ReduceOp::buildVjp(OpBuilder &b, ValueRange dy,
                                 ArrayRef<bool> wanted, Grads &grads) {
  grads.push_back(Value());
  auto type = tensorType(getX());
  if (!dy[0] || !wanted[0] || !isa<FloatType>(type.getElementType()))
    return success();
  Location loc = getLoc();
  // The gradient of a mean over everything is one number everywhere; kept as
  // such, a loss takes it as its scale.
  auto constant = dy[0].getDefiningOp<ConstantOp>();
  if (constant && getKind() == ReduceKind::sum &&
      constant.getValue().getNumElements() == 1) {
    double value =
        (*constant.getValue().value_begin<APFloat>()).convertToDouble() *
        getScale().convertToDouble();
    grads[0] = b.create<BroadcastOp>(
        loc, type, scalarConstant(b, loc, type.getElementType(), value));
    return success();
  }
  Value wide = keepDims(b, loc, dy[0], type.getShape(), getAxes());
  switch (getKind()) {
  case ReduceKind::sum: {
    if (!getScale().isExactlyValue(1.0))
      wide = b.create<MulOp>(loc, wide,
                             scalarConstant(b, loc, type.getElementType(),
                                            getScale().convertToDouble()));
    grads[0] = b.create<BroadcastOp>(loc, type, wide);
    return success();
  }
  case ReduceKind::max:
  case ReduceKind::min: {
    // Equal extremes share the gradient.
    Value best = keepDims(b, loc, getY(), type.getShape(), getAxes());
    Value isBest = b.create<CompareOp>(loc, Predicate::eq, getX(), best);
    Value hits = b.create<CastOp>(loc, type, isBest);
    Value count = b.create<ReduceOp>(loc, ReduceKind::sum, hits, getAxes());
    Value share = b.create<DivOp>(
        loc, wide, keepDims(b, loc, count, type.getShape(), getAxes()));
    grads[0] = b.create<MulOp>(loc, hits, share);
    return success();
  }
  case ReduceKind::prod: {
    // y / x fails at zeros: the product of the others is built from the
    // non-zero product and the number of zeros.
    Value zero = scalarConstant(b, loc, type.getElementType(), 0.0);
    Value one = scalarConstant(b, loc, type.getElementType(), 1.0);
    Value isZero = b.create<CompareOp>(loc, Predicate::eq, getX(), zero);
    Value safe = b.create<SelectOp>(loc, isZero, one, getX());
    Value product = b.create<ReduceOp>(loc, ReduceKind::prod, safe, getAxes());
    Value zeros = b.create<ReduceOp>(
        loc, ReduceKind::sum, b.create<CastOp>(loc, type, isZero), getAxes());
    product = keepDims(b, loc, product, type.getShape(), getAxes());
    zeros = keepDims(b, loc, zeros, type.getShape(), getAxes());
    Value others = b.create<DivOp>(loc, product, safe);
    Value none = b.create<CompareOp>(loc, Predicate::eq, zeros, zero);
    Value single = b.create<CompareOp>(loc, Predicate::eq, zeros, one);
    Value atZero = b.create<SelectOp>(
        loc, single, b.create<SelectOp>(loc, isZero, others, zero), zero);
    Value slope = b.create<SelectOp>(loc, none, others, atZero);
    grads[0] = b.create<MulOp>(loc, wide, slope);
    return success();
  }
  }
  llvm_unreachable("unknown reduction");
}

LogicalResult ReshapeOp::buildVjp(OpBuilder &b, ValueRange dy,
                                  ArrayRef<bool> wanted, Grads &grads) {
  grads.push_back(Value());
  if (dy[0] && wanted[0])
    grads[0] = b.create<ReshapeOp>(getLoc(), getX().getType(), dy[0]);
  return success();
}

LogicalResult TransposeOp::buildVjp(OpBuilder &b, ValueRange dy,
                                    ArrayRef<bool> wanted, Grads &grads) {
  grads.push_back(Value());
  if (!dy[0] || !wanted[0])
    return success();
  SmallVector<int64_t> inverse(getPermutation().size());
  for (auto [i, dim] : llvm::enumerate(getPermutation()))
    inverse[dim] = i;
  grads[0] =
      b.create<TransposeOp>(getLoc(), dy[0], b.getDenseI64ArrayAttr(inverse));
  return success();
}

LogicalResult BroadcastOp::buildVjp(OpBuilder &b, ValueRange dy,
                                    ArrayRef<bool> wanted, Grads &grads) {
  grads.push_back(Value());
  if (dy[0] && wanted[0])
    grads[0] = sumToShape(b, getLoc(), dy[0], shapeOf(getX()));
  return success();
}

LogicalResult SliceOp::buildVjp(OpBuilder &b, ValueRange dy,
                                ArrayRef<bool> wanted, Grads &grads) {
  grads.push_back(Value());
  if (!dy[0] || !wanted[0])
    return success();
  // A backward walk is first turned around, then the gaps become zeros.
  Value grad = dy[0];
  ArrayRef<int64_t> shape = shapeOf(getX());
  SmallVector<int64_t> low, interior, high, starts, sizes(getSizes()), steps;
  bool turned = false;
  for (size_t i = 0; i < shape.size(); ++i) {
    int64_t start = getStarts()[i], size = getSizes()[i], step = getSteps()[i];
    int64_t last = start + (size - 1) * step;
    bool backward = step < 0;
    turned |= backward;
    starts.push_back(backward && size > 0 ? size - 1 : 0);
    steps.push_back(backward ? -1 : 1);
    if (size == 0) {
      low.push_back(shape[i]);
      interior.push_back(0);
      high.push_back(0);
      continue;
    }
    low.push_back(std::min(start, last));
    interior.push_back(std::abs(step) - 1);
    high.push_back(shape[i] - 1 - std::max(start, last));
  }
  if (turned)
    grad = b.create<SliceOp>(getLoc(), grad, b.getDenseI64ArrayAttr(starts),
                             b.getDenseI64ArrayAttr(sizes),
                             b.getDenseI64ArrayAttr(steps));
  grads[0] =
      b.create<PadOp>(getLoc(), grad, b.getDenseI64ArrayAttr(low),
                      b.getDenseI64ArrayAttr(interior),
                      b.getDenseI64ArrayAttr(high), b.getF64FloatAttr(0.0));
  return success();
}

LogicalResult PadOp::buildVjp(OpBuilder &b, ValueRange dy,
                              ArrayRef<bool> wanted, Grads &grads) {
  grads.push_back(Value());
  if (!dy[0] || !wanted[0])
    return success();
  // Undo the outer padding (cropped parts become zeros again), then keep every
  // (interior + 1)-th element.
  SmallVector<int64_t> low, zeros, high, starts, steps;
  for (size_t i = 0; i < getLow().size(); ++i) {
    low.push_back(-getLow()[i]);
    zeros.push_back(0);
    high.push_back(-getHigh()[i]);
    starts.push_back(0);
    steps.push_back(getInterior()[i] + 1);
  }
  Value inner =
      b.create<PadOp>(getLoc(), dy[0], b.getDenseI64ArrayAttr(low),
                      b.getDenseI64ArrayAttr(zeros),
                      b.getDenseI64ArrayAttr(high), b.getF64FloatAttr(0.0));
  grads[0] = b.create<SliceOp>(getLoc(), inner, b.getDenseI64ArrayAttr(starts),
                               b.getDenseI64ArrayAttr(shapeOf(getX())),
                               b.getDenseI64ArrayAttr(steps));
  return success();
}

LogicalResult ConcatOp::buildVjp(OpBuilder &b, ValueRange dy,
                                 ArrayRef<bool> wanted, Grads &grads) {
  grads.append(getNumOperands(), Value());
  if (!dy[0])
    return success();
  SmallVector<int64_t> starts(shapeOf(getY()).size(), 0);
  SmallVector<int64_t> steps(starts.size(), 1);
  for (auto [i, input] : llvm::enumerate(getInputs())) {
    if (wanted[i])
      grads[i] =
          b.create<SliceOp>(getLoc(), dy[0], b.getDenseI64ArrayAttr(starts),
                            b.getDenseI64ArrayAttr(shapeOf(input)),
                            b.getDenseI64ArrayAttr(steps));
    starts[getAxis()] += shapeOf(input)[getAxis()];
  }
  return success();
}

LogicalResult SoftmaxOp::buildVjp(OpBuilder &b, ValueRange dy,
                                  ArrayRef<bool> wanted, Grads &grads) {
  grads.push_back(Value());
  if (dy[0] && wanted[0])
    grads[0] = b.create<SoftmaxGradOp>(getLoc(), getY(), dy[0], getAxisAttr());
  return success();
}

LogicalResult LogSoftmaxOp::buildVjp(OpBuilder &b, ValueRange dy,
                                     ArrayRef<bool> wanted, Grads &grads) {
  grads.push_back(Value());
  if (dy[0] && wanted[0])
    grads[0] =
        b.create<LogSoftmaxGradOp>(getLoc(), getY(), dy[0], getAxisAttr());
  return success();
}

LogicalResult CrossEntropyOp::buildVjp(OpBuilder &b, ValueRange dy,
                                       ArrayRef<bool> wanted, Grads &grads) {
  grads.append(2, Value());
  if (!dy[0] || !wanted[0])
    return success();
  Value unit = b.create<CrossEntropyGradOp>(
      getLoc(), getLogits().getType(), getLogits(), getLabels(), getAxisAttr(),
      b.getF64FloatAttr(1.0));
  // A uniform gradient, as a mean gives it, goes into the kernel's scale.
  if (auto broadcast = dy[0].getDefiningOp<BroadcastOp>())
    if (auto constant = broadcast.getX().getDefiningOp<ConstantOp>())
      if (auto value = dyn_cast<DenseElementsAttr>(constant.getValue());
          value && value.isSplat()) {
        unit.getDefiningOp<CrossEntropyGradOp>().setScale(
            APFloat(value.getSplatValue<APFloat>().convertToDouble()));
        grads[0] = unit;
        return success();
      }
  SmallVector<int64_t> shape(shapeOf(getLogits()));
  shape[getAxis()] = 1;
  Value wide = b.create<ReshapeOp>(
      getLoc(),
      RankedTensorType::get(shape, tensorType(dy[0]).getElementType()), dy[0]);
  grads[0] = b.create<MulOp>(getLoc(), unit, wide);
  return success();
}
