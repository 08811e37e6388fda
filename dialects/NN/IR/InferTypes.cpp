//===- InferTypes.cpp - Result types of nn operations ---------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One shape rule per operation, used by builders and by the verifier that
// compares the stated type with the inferred one. The rules refuse what they
// cannot type with a diagnostic, because they run before the verifier.
//
//===----------------------------------------------------------------------===//

#include "dialects/NN/IR/NNOps.h"

using namespace mlir;
using namespace partita::nn;

namespace {

using Types = SmallVectorImpl<Type>;

LogicalResult fail(std::optional<Location> loc, const Twine &message) {
  if (loc)
    emitError(*loc) << message;
  return failure();
}

LogicalResult needs(std::optional<Location> loc, StringRef name,
                    StringRef attributes) {
  return fail(loc, "'" + name + "' needs " + attributes);
}

std::string text(ArrayRef<int64_t> shape) {
  std::string out = "[";
  for (auto [i, size] : llvm::enumerate(shape))
    out += (i ? ", " : "") + std::to_string(size);
  return out + "]";
}

LogicalResult inferBroadcast(std::optional<Location> loc, StringRef name,
                             Value a, Value b, Type element, Types &types) {
  auto shape = broadcastShapes(shapeOf(a), shapeOf(b));
  if (!shape)
    return fail(loc, "'" + name + "' operands of shapes " + text(shapeOf(a)) +
                         " and " + text(shapeOf(b)) +
                         " do not broadcast to one shape");
  if (tensorType(a).getElementType() != tensorType(b).getElementType())
    return fail(loc, "'" + name + "' operands differ in element type");
  types.push_back(RankedTensorType::get(*shape, element));
  return success();
}

} // namespace

#define INFER_BINARY(OP)                                                       \
  LogicalResult OP::inferReturnTypes(MLIRContext *,                            \
                                     std::optional<Location> loc,              \
                                     Adaptor adaptor, Types &types) {          \
    return inferBroadcast(loc, getOperationName(), adaptor.getA(),             \
                          adaptor.getB(),                                      \
                          tensorType(adaptor.getA()).getElementType(), types); \
  }
INFER_BINARY(AddOp)
INFER_BINARY(SubOp)
INFER_BINARY(MulOp)
INFER_BINARY(DivOp)
INFER_BINARY(PowOp)
INFER_BINARY(MaxOp)
INFER_BINARY(MinOp)
#undef INFER_BINARY

LogicalResult CompareOp::inferReturnTypes(MLIRContext *context,
                                          std::optional<Location> loc,
                                          Adaptor adaptor, Types &types) {
  return inferBroadcast(loc, getOperationName(), adaptor.getA(), adaptor.getB(),
                        IntegerType::get(context, 1), types);
}

LogicalResult SelectOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> loc,
                                         Adaptor adaptor, Types &types) {
  if (failed(inferBroadcast(
          loc, getOperationName(), adaptor.getA(), adaptor.getB(),
          tensorType(adaptor.getA()).getElementType(), types)))
    return failure();
  auto common = cast<RankedTensorType>(types.pop_back_val());
  ArrayRef<int64_t> condition = shapeOf(adaptor.getCondition());
  auto shape = broadcastShapes(common.getShape(), condition);
  if (!shape)
    return fail(loc, "'nn.select' condition of shape " + text(condition) +
                         " does not broadcast with " + text(common.getShape()));
  types.push_back(RankedTensorType::get(*shape, common.getElementType()));
  return success();
}

LogicalResult ConvOp::inferReturnTypes(MLIRContext *,
                                       std::optional<Location> loc,
                                       Adaptor adaptor, Types &types) {
  if (!adaptor.getStridesAttr() || !adaptor.getDilationsAttr() ||
      !adaptor.getPadsAttr())
    return needs(loc, getOperationName(), "strides, dilations and pads");
  ArrayRef<int64_t> x = shapeOf(adaptor.getX()), w = shapeOf(adaptor.getW());
  size_t spatial = x.size() - 2;
  // C1
  if (x.size() < 3 || x.size() > 5 || x.size() != w.size())
    return fail(loc, "'nn.conv' needs an input and a filter of the same rank "
                     "3 to 5, found shapes " +
                         text(x) + " and " + text(w));
  Type element = tensorType(adaptor.getX()).getElementType();
  if (tensorType(adaptor.getW()).getElementType() != element)
    return fail(loc, "'nn.conv' operands differ in element type");
  // C2
  ArrayRef<int64_t> strides = adaptor.getStrides();
  ArrayRef<int64_t> dilations = adaptor.getDilations();
  ArrayRef<int64_t> pads = adaptor.getPads();
  if (strides.size() != spatial || dilations.size() != spatial ||
      pads.size() != 2 * spatial)
    return fail(loc, "'nn.conv' needs " + Twine(spatial) +
                         " strides and dilations and twice as many pads");
  auto positive = [](int64_t v) { return v > 0; };
  if (!llvm::all_of(strides, positive) || !llvm::all_of(dilations, positive))
    return fail(loc, "'nn.conv' strides and dilations must be positive");
  if (llvm::any_of(pads, [](int64_t v) { return v < 0; }))
    return fail(loc, "'nn.conv' pads must not be negative");
  // C3
  int64_t groups = adaptor.getGroups();
  if (groups < 1 || x[1] % groups != 0 || w[0] % groups != 0 ||
      w[1] != x[1] / groups)
    return fail(loc, "'nn.conv' with " + Twine(groups) + " groups: input " +
                         text(x) + " and filter " + text(w) +
                         " do not fit; the filter's second " +
                         "dimension is the input channels of one group");
  // C4
  if (Value bias = adaptor.getBias())
    if (shapeOf(bias) != ArrayRef<int64_t>(w[0]) ||
        tensorType(bias).getElementType() != element)
      return fail(loc, "'nn.conv' bias has shape " + text(shapeOf(bias)) +
                           ", expected [" + Twine(w[0]) +
                           "] of the input's element type");
  SmallVector<int64_t> shape = {x[0], w[0]};
  for (size_t i = 0; i < spatial; ++i) {
    int64_t size =
        windowOutputSize(x[2 + i], w[2 + i], strides[i], dilations[i], pads[i],
                         pads[spatial + i], /*ceilMode=*/false);
    // C5
    if (size < 1)
      return fail(loc, "'nn.conv' kernel of size " + Twine(w[2 + i]) +
                           " and dilation " + Twine(dilations[i]) +
                           " does not fit into the padded input of size " +
                           Twine(x[2 + i] + pads[i] + pads[spatial + i]));
    shape.push_back(size);
  }
  types.push_back(RankedTensorType::get(shape, element));
  return success();
}

LogicalResult MatmulOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> loc,
                                         Adaptor adaptor, Types &types) {
  ArrayRef<int64_t> a = shapeOf(adaptor.getA()), b = shapeOf(adaptor.getB());
  // C1
  if (a.size() < 2 || b.size() < 2)
    return fail(loc, "'nn.matmul' operands need rank 2 or more, found " +
                         text(a) + " and " + text(b));
  Type element = tensorType(adaptor.getA()).getElementType();
  if (tensorType(adaptor.getB()).getElementType() != element)
    return fail(loc, "'nn.matmul' operands differ in element type");
  bool flipA = adaptor.getTransposeA(), flipB = adaptor.getTransposeB();
  int64_t m = a[a.size() - (flipA ? 1 : 2)], ka = a[a.size() - (flipA ? 2 : 1)];
  int64_t kb = b[b.size() - (flipB ? 1 : 2)], n = b[b.size() - (flipB ? 2 : 1)];
  // C2
  if (ka != kb)
    return fail(loc, "'nn.matmul' contracts sizes " + Twine(ka) + " and " +
                         Twine(kb) + " of " + text(a) + " and " + text(b));
  // C3
  auto lead = broadcastShapes(a.drop_back(2), b.drop_back(2));
  if (!lead)
    return fail(loc, "'nn.matmul' leading dimensions of " + text(a) + " and " +
                         text(b) + " do not broadcast");
  lead->push_back(m);
  lead->push_back(n);
  types.push_back(RankedTensorType::get(*lead, element));
  return success();
}

LogicalResult ReduceOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> loc,
                                         Adaptor adaptor, Types &types) {
  if (!adaptor.getAxesAttr())
    return needs(loc, getOperationName(), "axes");
  ArrayRef<int64_t> x = shapeOf(adaptor.getX());
  int64_t last = -1;
  for (int64_t axis : adaptor.getAxes()) {
    // C1
    if (axis <= last || axis >= static_cast<int64_t>(x.size()))
      return fail(loc, "'nn.reduce' axes " + text(adaptor.getAxes()) +
                           " are not distinct increasing dimensions of " +
                           text(x));
    last = axis;
  }
  types.push_back(
      RankedTensorType::get(withoutAxes(x, adaptor.getAxes()),
                            tensorType(adaptor.getX()).getElementType()));
  return success();
}

LogicalResult TransposeOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location> loc,
                                            Adaptor adaptor, Types &types) {
  if (!adaptor.getPermutationAttr())
    return needs(loc, getOperationName(), "a permutation");
  ArrayRef<int64_t> x = shapeOf(adaptor.getX());
  ArrayRef<int64_t> permutation = adaptor.getPermutation();
  SmallVector<int64_t> sorted(permutation), shape;
  llvm::sort(sorted);
  // C1
  bool fits = sorted.size() == x.size();
  for (size_t i = 0; fits && i < sorted.size(); ++i)
    fits = sorted[i] == static_cast<int64_t>(i);
  if (!fits)
    return fail(loc, "'nn.transpose' " + text(permutation) +
                         " is no permutation of the dimensions of " + text(x));
  for (int64_t dim : permutation)
    shape.push_back(x[dim]);
  types.push_back(RankedTensorType::get(
      shape, tensorType(adaptor.getX()).getElementType()));
  return success();
}

LogicalResult SliceOp::inferReturnTypes(MLIRContext *,
                                        std::optional<Location> loc,
                                        Adaptor adaptor, Types &types) {
  if (!adaptor.getStartsAttr() || !adaptor.getSizesAttr() ||
      !adaptor.getStepsAttr())
    return needs(loc, getOperationName(), "starts, sizes and steps");
  for (int64_t size : adaptor.getSizes())
    if (size < 0)
      return fail(loc, "'nn.slice' sizes must not be negative, found " +
                           text(adaptor.getSizes()));
  types.push_back(RankedTensorType::get(
      adaptor.getSizes(), tensorType(adaptor.getX()).getElementType()));
  return success();
}

LogicalResult PadOp::inferReturnTypes(MLIRContext *,
                                      std::optional<Location> loc,
                                      Adaptor adaptor, Types &types) {
  if (!adaptor.getLowAttr() || !adaptor.getInteriorAttr() ||
      !adaptor.getHighAttr())
    return needs(loc, getOperationName(), "low, interior and high");
  ArrayRef<int64_t> x = shapeOf(adaptor.getX()), low = adaptor.getLow();
  ArrayRef<int64_t> interior = adaptor.getInterior(), high = adaptor.getHigh();
  // C1
  if (low.size() != x.size() || interior.size() != x.size() ||
      high.size() != x.size())
    return fail(loc, "'nn.pad' needs a low, interior and high for each of " +
                         Twine(x.size()) + " dimensions");
  SmallVector<int64_t> shape;
  for (size_t i = 0; i < x.size(); ++i) {
    int64_t between = x[i] > 1 ? (x[i] - 1) * interior[i] : 0;
    int64_t size = x[i] + between + low[i] + high[i];
    // C2
    if (interior[i] < 0 || size < 0)
      return fail(loc, "'nn.pad' of dimension " + Twine(i) + " of " + text(x) +
                           " gives size " + Twine(size) + " with interior " +
                           Twine(interior[i]));
    shape.push_back(size);
  }
  types.push_back(RankedTensorType::get(
      shape, tensorType(adaptor.getX()).getElementType()));
  return success();
}

LogicalResult ConcatOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> loc,
                                         Adaptor adaptor, Types &types) {
  if (!adaptor.getAxisAttr())
    return needs(loc, getOperationName(), "an axis");
  // C1
  if (adaptor.getInputs().empty())
    return fail(loc, "'nn.concat' needs at least one operand");
  auto first = tensorType(adaptor.getInputs()[0]);
  int64_t axis = adaptor.getAxis();
  if (axis < 0 || axis >= first.getRank())
    return fail(loc, "'nn.concat' axis " + Twine(axis) +
                         " is no dimension of " + text(first.getShape()));
  SmallVector<int64_t> shape(first.getShape());
  shape[axis] = 0;
  for (Value input : adaptor.getInputs()) {
    auto type = tensorType(input);
    bool fits = type.getRank() == first.getRank() &&
                type.getElementType() == first.getElementType();
    for (int64_t i = 0; fits && i < type.getRank(); ++i)
      fits = i == axis || type.getDimSize(i) == first.getDimSize(i);
    // C2
    if (!fits)
      return fail(loc, "'nn.concat' along axis " + Twine(axis) +
                           " of operands with shapes " +
                           text(first.getShape()) + " and " +
                           text(type.getShape()));
    shape[axis] += type.getDimSize(axis);
  }
  types.push_back(RankedTensorType::get(shape, first.getElementType()));
  return success();
}

namespace {

/// The logits' shape without the class axis, as fp32 values of each position.
LogicalResult inferPositions(std::optional<Location> loc, StringRef name,
                             Value logits, Value labels, int64_t axis,
                             Types &types) {
  auto type = tensorType(logits);
  // C1
  if (axis < 0 || axis >= type.getRank())
    return fail(loc, "'" + name + "' axis " + Twine(axis) +
                         " is no dimension of " + text(type.getShape()));
  SmallVector<int64_t> shape = withoutAxes(type.getShape(), axis);
  // C2
  if (shapeOf(labels) != ArrayRef<int64_t>(shape))
    return fail(loc, "'" + name + "' labels have shape " +
                         text(shapeOf(labels)) + ", expected " + text(shape) +
                         ", the logits' shape without the class axis");
  types.push_back(RankedTensorType::get(shape, type.getElementType()));
  return success();
}

} // namespace

LogicalResult CrossEntropyOp::inferReturnTypes(MLIRContext *,
                                               std::optional<Location> loc,
                                               Adaptor adaptor, Types &types) {
  if (!adaptor.getAxisAttr())
    return needs(loc, getOperationName(), "an axis");
  return inferPositions(loc, getOperationName(), adaptor.getLogits(),
                        adaptor.getLabels(), adaptor.getAxis(), types);
}

LogicalResult CorrectOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location> loc,
                                          Adaptor adaptor, Types &types) {
  if (!adaptor.getAxisAttr())
    return needs(loc, getOperationName(), "an axis");
  return inferPositions(loc, getOperationName(), adaptor.getLogits(),
                        adaptor.getLabels(), adaptor.getAxis(), types);
}
