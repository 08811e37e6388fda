//===- Verifiers.cpp - Rules of layers and tensor operations --------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Verifiers in the order of the labels in the operation descriptions. Rules
// that decide the result's type live in InferTypes.cpp.
//
//===----------------------------------------------------------------------===//

#include "dialects/NN/IR/NNOps.h"

using namespace mlir;
using namespace partita::nn;

namespace {

/// The class or channel axis is one of the operand's dimensions.
LogicalResult verifyAxis(Operation *op, int64_t axis, Value x) {
  int64_t rank = tensorType(x).getRank();
  if (axis >= 0 && axis < rank)
    return success();
  return op->emitOpError() << "axis " << axis << " is no dimension of "
                           << x.getType();
}

/// C1 of the two gradient products of a convolution: the forward product of
/// `x` and `w` has type `y`.
template <typename OpT>
LogicalResult verifyConvTypes(OpT op, Value x, Value w, Type y) {
  SmallVector<Type> types;
  ConvOp::Properties properties;
  properties.strides = op.getStridesAttr();
  properties.dilations = op.getDilationsAttr();
  properties.pads = op.getPadsAttr();
  properties.groups = op.getGroupsAttr();
  if (failed(ConvOp::inferReturnTypes(op.getContext(), op.getLoc(), {x, w},
                                      DictionaryAttr(), &properties, {},
                                      types)))
    return failure();
  if (types[0] == y)
    return success();
  return op.emitOpError() << "is the gradient of a convolution with result "
                          << types[0] << ", but dy has type " << y;
}

/// C1 to C3 of pools, for input type `x` and output type `y`.
template <typename OpT>
LogicalResult verifyPool(OpT op, RankedTensorType x, RankedTensorType y) {
  int64_t rank = x.getRank();
  ArrayRef<int64_t> kernel = op.getKernel(), strides = op.getStrides();
  ArrayRef<int64_t> dilations = op.getDilations(), pads = op.getPads();
  size_t spatial = rank - 2;
  // C1
  if (rank < 3 || rank > 5)
    return op.emitOpError() << "needs an input of rank 3 to 5, found " << x;
  if (kernel.size() != spatial || strides.size() != spatial ||
      dilations.size() != spatial || pads.size() != 2 * spatial)
    return op.emitOpError() << "needs " << spatial
                            << " kernel sizes, strides and dilations and "
                               "twice as many pads";
  for (size_t i = 0; i < spatial; ++i)
    if (kernel[i] < 1 || strides[i] < 1 || dilations[i] < 1 || pads[i] < 0 ||
        pads[spatial + i] < 0)
      return op.emitOpError("kernel sizes, strides and dilations must be "
                            "positive and pads not negative");
  // C2
  bool fits = y.getRank() == rank && y.getDimSize(0) == x.getDimSize(0) &&
              y.getDimSize(1) == x.getDimSize(1) &&
              y.getElementType() == x.getElementType();
  for (size_t i = 0; fits && i < spatial; ++i) {
    auto size = [&](bool ceilMode) {
      return windowOutputSize(x.getDimSize(2 + i), kernel[i], strides[i],
                              dilations[i], pads[i], pads[spatial + i],
                              ceilMode);
    };
    int64_t found = y.getDimSize(2 + i);
    fits = found > 0 && (found == size(false) || found == size(true));
  }
  if (!fits)
    return op.emitOpError() << "pooled type " << y
                            << " is neither floor nor ceil mode's of " << x;
  // C3
  for (size_t i = 0; i < spatial; ++i)
    if (x.getDimSize(2 + i) > 0 &&
        (pads[i] > (kernel[i] - 1) * dilations[i] ||
         pads[spatial + i] > (kernel[i] - 1) * dilations[i]))
      return op.emitOpError()
             << "pads [" << pads[i] << ", " << pads[spatial + i]
             << "] reach beyond the window of dimension " << 2 + i
             << ", so that a window would be empty";
  return success();
}

template <typename OpT> LogicalResult verifyNormalize(OpT op, Value channel) {
  // C1
  if (failed(verifyAxis(op, op.getAxis(), op.getX())))
    return failure();
  int64_t size = shapeOf(op.getX())[op.getAxis()];
  if (shapeOf(channel) != ArrayRef<int64_t>(size))
    return op.emitOpError()
           << "channel vectors have type " << channel.getType()
           << ", expected [" << size << "], the size of axis " << op.getAxis();
  // C2
  if (!(op.getEps().convertToDouble() > 0.0))
    return op.emitOpError("eps must be positive");
  return success();
}

/// C1 and C2 of losses whose result type is stated.
template <typename OpT> LogicalResult verifyPositions(OpT op) {
  if (failed(verifyAxis(op, op.getAxis(), op.getLogits())))
    return failure();
  SmallVector<int64_t> expected =
      withoutAxes(shapeOf(op.getLogits()), op.getAxis());
  if (shapeOf(op.getLabels()) == ArrayRef<int64_t>(expected))
    return success();
  return op.emitOpError() << "labels have type " << op.getLabels().getType()
                          << ", expected the logits' shape without axis "
                          << op.getAxis();
}

} // namespace

LogicalResult ClipOp::verify() {
  // C1
  if (getLow() && getHigh() &&
      getLow()->convertToDouble() > getHigh()->convertToDouble())
    return emitOpError() << "low " << getLow()->convertToDouble()
                         << " is above high " << getHigh()->convertToDouble();
  return success();
}

LogicalResult ConvInputGradOp::verify() {
  return verifyConvTypes(*this, getDx(), getW(), getDy().getType());
}

LogicalResult ConvFilterGradOp::verify() {
  return verifyConvTypes(*this, getX(), getDw(), getDy().getType());
}

LogicalResult MaxPoolOp::verify() {
  return verifyPool(*this, tensorType(getX()), tensorType(getY()));
}
LogicalResult MaxPoolGradOp::verify() {
  return verifyPool(*this, tensorType(getX()), tensorType(getDy()));
}
LogicalResult AvgPoolOp::verify() {
  return verifyPool(*this, tensorType(getX()), tensorType(getY()));
}
LogicalResult AvgPoolGradOp::verify() {
  return verifyPool(*this, tensorType(getDx()), tensorType(getDy()));
}

LogicalResult BatchNormOp::verify() {
  // C1
  if (tensorType(getX()).getRank() < 2)
    return emitOpError() << "needs an input of rank 2 or more, found "
                         << getX().getType();
  // C2
  int64_t channels = shapeOf(getX())[1];
  for (Value vector : {getGamma(), getBeta(), getMean(), getVariance()})
    if (shapeOf(vector) != ArrayRef<int64_t>(channels))
      return emitOpError() << "channel vector of type " << vector.getType()
                           << ", expected [" << channels << "]";
  // C3
  double momentum = getMomentum().convertToDouble();
  if (!(getEps().convertToDouble() > 0.0) ||
      !(momentum >= 0.0 && momentum <= 1.0))
    return emitOpError("needs a positive eps and a momentum in [0, 1]");
  // C4
  if (getMode() != BatchNormMode::frozen &&
      (!getMean().getDefiningOp<ReadOp>() ||
       !getVariance().getDefiningOp<ReadOp>()))
    return emitOpError() << "mode " << stringifyBatchNormMode(getMode())
                         << " updates its running statistics, so they must "
                            "be read from variables";
  return success();
}

LogicalResult NormalizeOp::verify() {
  return verifyNormalize(*this, getMean());
}
LogicalResult NormalizeSumsOp::verify() {
  return verifyNormalize(*this, getMean());
}
LogicalResult NormalizeGradOp::verify() {
  if (failed(verifyNormalize(*this, getMean())))
    return failure();
  // C3
  if (!(getScale().convertToDouble() >= 0.0))
    return emitOpError("scale must not be negative");
  return success();
}

namespace {

template <typename OpT> LogicalResult verifyLrn(OpT op) {
  // C1
  if (tensorType(op.getX()).getRank() < 2)
    return op.emitOpError()
           << "needs an input of rank 2 or more, found " << op.getX().getType();
  // C2
  if (static_cast<int64_t>(op.getSize()) < 1)
    return op.emitOpError() << "size must be positive, found "
                            << static_cast<int64_t>(op.getSize());
  return success();
}

LogicalResult verifyRatio(Operation *op, double ratio) {
  if (ratio >= 0.0 && ratio < 1.0)
    return success();
  return op->emitOpError() << "ratio must lie in [0, 1), found " << ratio;
}

} // namespace

LogicalResult LrnOp::verify() { return verifyLrn(*this); }
LogicalResult LrnGradOp::verify() { return verifyLrn(*this); }

LogicalResult DropoutOp::verify() {
  // C1
  return verifyRatio(*this, getRatio().convertToDouble());
}

LogicalResult DropoutMaskOp::verify() {
  // C1
  if (failed(verifyRatio(*this, getRatio().convertToDouble())))
    return failure();
  // C2
  ArrayRef<int64_t> local = shapeOf(getY());
  bool fits = getGlobalShape().size() == local.size() &&
              getStart().size() == local.size();
  for (size_t i = 0; fits && i < local.size(); ++i)
    fits =
        getStart()[i] >= 0 && getStart()[i] + local[i] <= getGlobalShape()[i];
  if (!fits)
    return emitOpError() << "the result " << getY().getType()
                         << " does not lie inside the whole tensor";
  return success();
}

LogicalResult ReduceOp::verify() {
  // C2
  if (getKind() != ReduceKind::sum && !getScale().isExactlyValue(1.0))
    return emitOpError("only a sum takes a scale");
  return success();
}

LogicalResult VarianceOp::verify() {
  ArrayRef<int64_t> shape = shapeOf(getX());
  int64_t last = -1;
  for (int64_t axis : getAxes()) {
    // C1
    if (axis <= last || axis >= static_cast<int64_t>(shape.size()))
      return emitOpError("axes are not distinct increasing dimensions of x");
    last = axis;
  }
  // C2
  if (shapeOf(getMean()) != ArrayRef<int64_t>(withoutAxes(shape, getAxes())))
    return emitOpError() << "mean has type " << getMean().getType()
                         << ", expected the shape of the kept dimensions";
  return success();
}

LogicalResult IotaOp::verify() {
  // C1
  RankedTensorType type = tensorType(getY());
  int64_t size = getSize();
  if (type.getRank() == 1 && type.getDimSize(0) <= size)
    return success();
  return emitOpError() << "counts one dimension of at most " << size
                       << " elements, found " << type;
}

LogicalResult ReshapeOp::verify() {
  auto x = tensorType(getX()), y = tensorType(getY());
  // C1
  if (x.getNumElements() != y.getNumElements() ||
      x.getElementType() != y.getElementType())
    return emitOpError() << "from " << x << " to " << y
                         << " changes the number of elements or their type";
  return success();
}

LogicalResult BroadcastOp::verify() {
  auto common = broadcastShapes(shapeOf(getX()), shapeOf(getY()));
  // C1
  if (!common || ArrayRef<int64_t>(*common) != shapeOf(getY()) ||
      tensorType(getX()).getElementType() !=
          tensorType(getY()).getElementType())
    return emitOpError() << "operand of type " << getX().getType()
                         << " does not broadcast to " << getY().getType();
  return success();
}

LogicalResult SliceOp::verify() {
  ArrayRef<int64_t> shape = shapeOf(getX()), starts = getStarts();
  ArrayRef<int64_t> sizes = getSizes(), steps = getSteps();
  // C1
  if (starts.size() != shape.size() || sizes.size() != shape.size() ||
      steps.size() != shape.size() || llvm::is_contained(steps, 0))
    return emitOpError() << "needs a start, a size and a step that is not 0 "
                            "for each of "
                         << shape.size() << " dimensions";
  for (size_t i = 0; i < shape.size(); ++i) {
    int64_t last = starts[i] + (sizes[i] - 1) * steps[i];
    // C2
    if (sizes[i] > 0 && (starts[i] < 0 || starts[i] >= shape[i] || last < 0 ||
                         last >= shape[i]))
      return emitOpError() << "dimension " << i << ": elements " << starts[i]
                           << " to " << last << " do not lie inside size "
                           << shape[i];
  }
  return success();
}

LogicalResult SoftmaxOp::verify() {
  return verifyAxis(*this, getAxis(), getX()); // C1
}
LogicalResult LogSoftmaxOp::verify() {
  return verifyAxis(*this, getAxis(), getX()); // C1
}
LogicalResult SoftmaxGradOp::verify() {
  return verifyAxis(*this, getAxis(), getY()); // C1
}
LogicalResult LogSoftmaxGradOp::verify() {
  return verifyAxis(*this, getAxis(), getY()); // C1
}

LogicalResult CrossEntropyOp::verify() { return verifyPositions(*this); }
LogicalResult CrossEntropyGradOp::verify() { return verifyPositions(*this); }
LogicalResult CorrectOp::verify() { return verifyPositions(*this); }
