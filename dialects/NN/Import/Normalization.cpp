//===- Normalization.cpp - Import of norms, softmax, dropout ---*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Normalisations over channels, groups and layers; softmax by both of ONNX's
// rules; and the two operators that behave differently in training.
//
//===----------------------------------------------------------------------===//

#include "dialects/NN/Import/Builders.h"
#include "dialects/NN/Import/Importer.h"

#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <numeric>

using namespace llvm;
using namespace mlir;

namespace partita::nn::importer {
namespace {

int64_t product(ArrayRef<int64_t> sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t(1),
                         std::multiplies<>());
}

/// `epsilon`, which must be a positive number.
std::optional<double> readEpsilon(NodeContext &c, bool mayBeZero = false) {
  double epsilon = c.floatAttribute("epsilon", 1e-5f);
  if (std::isfinite(epsilon) && (epsilon > 0 || (mayBeZero && epsilon == 0)))
    return epsilon;
  (void)c.error("attribute 'epsilon' is " + std::to_string(epsilon) +
                ", expected a positive number");
  return std::nullopt;
}

/// The mean over `axes`, with the axes kept as 1.
Value meanOver(NodeContext &c, Value x, ArrayRef<int64_t> axes) {
  SmallVector<int64_t> kept(shapeOf(x));
  int64_t count = 1;
  for (int64_t axis : axes) {
    count *= kept[axis];
    kept[axis] = 1;
  }
  double scale = 1.0 / static_cast<double>(std::max<int64_t>(count, 1));
  Value sum = c.create<ReduceOp>(ReduceKind::sum, x, axes, llvm::APFloat(scale),
                                 /*local=*/false);
  return c.reshape(sum, kept);
}

/// (x - mean) / sqrt(variance + epsilon) over `axes`.
Value standardize(NodeContext &c, Value x, ArrayRef<int64_t> axes,
                  double epsilon) {
  Type type = tensorType(x).getElementType();
  Value centred = c.create<SubOp>(x, meanOver(c, x, axes));
  Value variance = meanOver(c, c.create<MulOp>(centred, centred), axes);
  Value shifted = c.create<AddOp>(variance, c.scalar(type, epsilon));
  return c.create<DivOp>(centred, c.create<SqrtOp>(shifted));
}

SmallVector<int64_t> axesFrom(int64_t first, int64_t rank) {
  return llvm::to_vector(llvm::seq<int64_t>(first, rank));
}

/// y * scale + bias, both of which broadcast to y once they have `shape`.
Value scaleAndShift(NodeContext &c, Value y, unsigned scale, unsigned bias,
                    ArrayRef<int64_t> scaleShape, ArrayRef<int64_t> biasShape) {
  if (c.has(scale)) {
    Value factor = c.operand(scale, Purpose::scale);
    if (!factor)
      return Value();
    y = c.create<MulOp>(y, c.reshape(factor, scaleShape));
  }
  if (c.has(bias)) {
    Value summand = c.operand(bias, Purpose::shift);
    if (!summand)
      return Value();
    y = c.create<AddOp>(y, c.reshape(summand, biasShape));
  }
  return y;
}

/// What BatchNormalization does in the training step.
BatchNormMode batchNormMode(NodeContext &c) {
  // Up to opset 13 the number of results tells the mode.
  bool trains = c.opset() >= 14 ? c.intAttribute("training_mode", 0) != 0
                                : llvm::count_if(c.node.proto->output(),
                                                 [](const std::string &name) {
                                                   return !name.empty();
                                                 }) > 1;
  if (c.options.batchNorm)
    return *c.options.batchNorm;
  if (trains)
    return BatchNormMode::global;
  c.getImporter().inferenceNodes["BatchNormalization"].push_back(c.node.name);
  return BatchNormMode::frozen;
}

} // namespace

LogicalResult buildBatchNorm(NodeContext &c) {
  if (c.rank(0) < 2)
    return c.error(c.describe(0) + " has rank " + Twine(c.rank(0)) +
                   ", expected 2 or more");
  if (failed(c.requireFloat(0)))
    return failure();
  if (c.opset() < 9 && c.intAttribute("spatial", 1) == 0 &&
      product(c.shape(0).drop_front(2)) != 1)
    return c.error("attribute 'spatial' is 0, which normalises each position "
                   "by itself; expected statistics per channel");
  std::optional<double> epsilon = readEpsilon(c);
  double momentum = c.floatAttribute("momentum", 0.9f);
  if (!epsilon)
    return failure();
  if (!(momentum >= 0.0 && momentum <= 1.0))
    return c.error("attribute 'momentum' is " + std::to_string(momentum) +
                   ", expected 0 to 1");
  int64_t channels = c.shape(0)[1];
  for (unsigned i = 1; i < 5; ++i) {
    if (c.rank(i) != 1 || c.shape(i)[0] != channels)
      return c.error(c.describe(i) + " must have the shape " + Twine(channels) +
                     ", one number per channel of " + c.describe(0));
    if (failed(c.requireSameElements(0, i)))
      return failure();
  }
  BatchNormMode mode = batchNormMode(c);
  for (unsigned i = 1; i < c.numOutputs(); ++i) {
    if (!c.wants(i))
      continue;
    const std::string &name = c.node.proto->output(i);
    bool isOutput = llvm::any_of(
        c.getImporter().graph.getOutputs(),
        [&](const auto *output) { return output->name() == name; });
    if (!isOutput || c.getImporter().graph.countReads(name) > 1)
      return c.error("the updated running statistic " + quote(name) +
                     " is read by another node, which has no training form");
    c.getImporter().statisticResults.insert(name);
    c.forward(i, i < 3 ? i + 2 : 3);
  }
  bool updated = mode != BatchNormMode::frozen;
  Value x = c.operand(0);
  Value gamma = c.operand(1, Purpose::scale);
  Value beta = c.operand(2, Purpose::shift);
  Value mean = c.statistic(3, Purpose::shift, updated);
  Value variance = c.statistic(4, Purpose::scale, updated);
  if (c.hasFailed())
    return failure();
  c.set(0, c.create<BatchNormOp>(x, gamma, beta, mean, variance,
                                 llvm::APFloat(*epsilon),
                                 llvm::APFloat(momentum), mode));
  return success();
}

LogicalResult buildInstanceNorm(NodeContext &c) {
  std::optional<double> epsilon = readEpsilon(c, /*mayBeZero=*/true);
  if (!epsilon || failed(c.requireFloat(0)))
    return failure();
  if (c.rank(0) < 3)
    return c.error(c.describe(0) + " has no spatial dimensions");
  int64_t channels = c.shape(0)[1];
  for (unsigned i : {1u, 2u}) {
    if (c.rank(i) != 1 || c.shape(i)[0] != channels)
      return c.error(c.describe(i) + " must have the shape " + Twine(channels));
    if (failed(c.requireSameElements(0, i)))
      return failure();
  }
  Value x = c.operand(0);
  if (!x)
    return failure();
  SmallVector<int64_t> shape(c.rank(0) - 1, 1);
  shape[0] = channels;
  Value y = standardize(c, x, axesFrom(2, c.rank(0)), *epsilon);
  c.set(0, scaleAndShift(c, y, 1, 2, shape, shape));
  return success();
}

LogicalResult buildGroupNorm(NodeContext &c) {
  c.ignoreAttribute("stash_type");
  std::optional<double> epsilon = readEpsilon(c, /*mayBeZero=*/true);
  int64_t groups = c.intAttribute("num_groups", 0);
  if (!epsilon || failed(c.requireFloat(0)))
    return failure();
  if (c.rank(0) < 2)
    return c.error(c.describe(0) + " has no channels");
  int64_t channels = c.shape(0)[1];
  if (groups < 1 || channels % groups != 0)
    return c.error(Twine(groups) + " groups do not divide " + Twine(channels) +
                   " channels");
  // Opset 18 scales by group, opset 21 by channel.
  int64_t scales = c.opset() < 21 ? groups : channels;
  for (unsigned i : {1u, 2u}) {
    if (c.rank(i) != 1 || c.shape(i)[0] != scales)
      return c.error(c.describe(i) + " must have the shape " + Twine(scales));
    if (failed(c.requireSameElements(0, i)))
      return failure();
  }
  Value x = c.operand(0);
  if (!x)
    return failure();
  // [n, groups, channels / groups, spatial...]
  SmallVector<int64_t> grouped = {c.shape(0)[0], groups, channels / groups};
  llvm::append_range(grouped, c.shape(0).drop_front(2));
  Value y =
      standardize(c, c.reshape(x, grouped),
                  axesFrom(2, static_cast<int64_t>(grouped.size())), *epsilon);
  SmallVector<int64_t> shape;
  if (scales == groups) {
    shape.assign(grouped.size() - 1, 1);
    shape[0] = groups;
    y = scaleAndShift(c, y, 1, 2, shape, shape);
    c.set(0, c.reshape(y, c.shape(0)));
    return success();
  }
  shape.assign(c.rank(0) - 1, 1);
  shape[0] = channels;
  y = c.reshape(y, c.shape(0));
  c.set(0, scaleAndShift(c, y, 1, 2, shape, shape));
  return success();
}

LogicalResult buildLayerNorm(NodeContext &c) {
  c.ignoreAttribute("stash_type");
  std::optional<double> epsilon = readEpsilon(c, /*mayBeZero=*/true);
  std::optional<int64_t> axis =
      c.normalizeAxis(c.intAttribute("axis", -1), c.rank(0));
  if (!epsilon || !axis || failed(c.requireFloat(0)))
    return failure();
  for (unsigned i : {1u, 2u}) {
    if (!c.has(i))
      continue;
    auto shape = broadcastShapes(c.shape(0), c.shape(i));
    if (!shape || ArrayRef<int64_t>(*shape) != c.shape(0))
      return c.error(c.describe(i) + " does not broadcast to " + c.describe(0));
    if (failed(c.requireSameElements(0, i)))
      return failure();
  }
  Value x = c.operand(0);
  if (!x)
    return failure();
  SmallVector<int64_t> axes = axesFrom(*axis, c.rank(0));
  if (c.wants(1))
    c.set(1, meanOver(c, x, axes));
  if (c.wants(2)) {
    Type type = c.elementType(0);
    Value centred = c.create<SubOp>(x, meanOver(c, x, axes));
    Value variance = meanOver(c, c.create<MulOp>(centred, centred), axes);
    Value shifted = c.create<AddOp>(variance, c.scalar(type, *epsilon));
    Value deviation = c.create<SqrtOp>(shifted);
    c.set(2, c.create<DivOp>(c.scalar(type, 1.0), deviation));
  }
  Value y = standardize(c, x, axes, *epsilon);
  c.set(0, scaleAndShift(c, y, 1, 2, c.shape(1),
                         c.has(2) ? c.shape(2) : ArrayRef<int64_t>()));
  return success();
}

LogicalResult buildRmsNorm(NodeContext &c) {
  c.ignoreAttribute("stash_type");
  std::optional<double> epsilon = readEpsilon(c, /*mayBeZero=*/true);
  std::optional<int64_t> axis =
      c.normalizeAxis(c.intAttribute("axis", -1), c.rank(0));
  if (!epsilon || !axis || failed(c.requireFloat(0)) ||
      failed(c.requireSameElements(0, 1)))
    return failure();
  auto shape = broadcastShapes(c.shape(0), c.shape(1));
  if (!shape || ArrayRef<int64_t>(*shape) != c.shape(0))
    return c.error(c.describe(1) + " does not broadcast to " + c.describe(0));
  Value x = c.operand(0);
  if (!x)
    return failure();
  Value square = meanOver(c, c.create<MulOp>(x, x), axesFrom(*axis, c.rank(0)));
  Value shifted = c.create<AddOp>(square, c.scalar(c.elementType(0), *epsilon));
  Value y = c.create<DivOp>(x, c.create<SqrtOp>(shifted));
  c.set(0, scaleAndShift(c, y, 1, /*bias=*/2, c.shape(1), {}));
  return success();
}

LogicalResult buildLpNormalization(NodeContext &c) {
  int64_t p = c.intAttribute("p", 2);
  std::optional<int64_t> axis =
      c.normalizeAxis(c.intAttribute("axis", -1), c.rank(0));
  if (!axis || failed(c.requireFloat(0)))
    return failure();
  if (p != 1 && p != 2)
    return c.error("attribute 'p' is " + Twine(p) + ", expected 1 or 2");
  Value x = c.operand(0);
  if (!x)
    return failure();
  SmallVector<int64_t> kept(c.shape(0));
  kept[*axis] = 1;
  Value terms = p == 1 ? c.create<AbsOp>(x) : c.create<MulOp>(x, x);
  Value norm = c.create<ReduceOp>(
      ReduceKind::sum, terms, SmallVector<int64_t>{*axis}, llvm::APFloat(1.0),
      /*local=*/false);
  norm = c.reshape(norm, kept);
  // Where everything is 0 the result is 0, too, and so is the gradient.
  Value zero = c.scalar(c.elementType(0), 0.0);
  Value isZero = c.create<CompareOp>(Predicate::eq, norm, zero);
  Value one = c.scalar(c.elementType(0), 1.0);
  norm = c.create<SelectOp>(isZero, one, norm);
  c.set(0, c.create<DivOp>(x, p == 1 ? norm : c.create<SqrtOp>(norm)));
  return success();
}

LogicalResult buildMeanVarianceNorm(NodeContext &c) {
  std::optional<SmallVector<int64_t>> axes = c.normalizeAxes(
      c.intsAttribute("axes").value_or(SmallVector<int64_t>{0, 2, 3}),
      c.rank(0));
  if (!axes || failed(c.requireFloat(0)))
    return failure();
  Value x = c.operand(0);
  if (!x)
    return failure();
  // The operator's definition adds 1e-9 to the deviation; under the root the
  // gradient stays finite.
  constexpr double kEpsilon = 1e-18;
  c.set(0, standardize(c, x, *axes, kEpsilon));
  return success();
}

LogicalResult buildLrn(NodeContext &c) {
  if (failed(c.requireFloat(0)))
    return failure();
  if (c.rank(0) < 2)
    return c.error(c.describe(0) + " has no channels");
  if (!c.hasAttribute("size"))
    return c.error("attribute 'size' is missing");
  int64_t size = c.intAttribute("size", 1);
  if (size < 1 || size > std::numeric_limits<int32_t>::max())
    return c.error("attribute 'size' is " + Twine(size) +
                   ", expected 1 or more");
  double alpha = c.floatAttribute("alpha", 1e-4f);
  double beta = c.floatAttribute("beta", 0.75);
  double bias = c.floatAttribute("bias", 1.0);
  Value x = c.operand(0);
  if (!x)
    return failure();
  c.set(0, c.create<LrnOp>(x, size, llvm::APFloat(alpha), llvm::APFloat(beta),
                           llvm::APFloat(bias)));
  return success();
}

LogicalResult buildDropout(NodeContext &c) {
  if (failed(c.requireFloat(0)))
    return failure();
  // The seed of the file is replaced by the run's.
  c.ignoreAttribute("seed");
  double ratio = 0.5;
  bool trains = false;
  if (c.opset() < 12) {
    ratio = c.floatAttribute("ratio", 0.5);
  } else {
    if (c.has(1)) {
      std::optional<double> given = c.fixedNumber(1);
      if (!given)
        return failure();
      ratio = *given;
    }
    if (c.has(2)) {
      std::optional<double> given = c.fixedNumber(2);
      if (!given)
        return failure();
      trains = *given != 0.0;
    }
  }
  if (!(ratio >= 0.0 && ratio < 1.0))
    return c.error("the ratio is " + std::to_string(ratio) +
                   ", expected 0 or more and below 1");
  int64_t stream = c.getImporter().dropoutNodes++;
  if (c.options.dropout == DropoutMode::asFile && !trains && ratio > 0.0)
    c.getImporter().inferenceNodes["Dropout"].push_back(c.node.name);
  if (c.options.dropout == DropoutMode::training)
    trains = true;
  if (c.options.dropout == DropoutMode::off)
    trains = false;
  if (!trains || ratio == 0.0) {
    if (c.wants(1))
      c.set(1,
            Constant::splatInt(
                RankedTensorType::get(c.shape(0), c.builder.getI1Type()), 1));
    c.forward(0, 0);
    return success();
  }
  if (c.wants(1))
    return c.error("the result mask is used, which training programs do not "
                   "keep; --dropout=off imports the node without it");
  Value x = c.operand(0);
  if (!x)
    return failure();
  c.set(0, c.create<DropoutOp>(x, llvm::APFloat(ratio), stream));
  return success();
}

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

template <typename Op> static LogicalResult buildAxisSoftmax(NodeContext &c) {
  std::optional<int64_t> axis =
      c.normalizeAxis(c.intAttribute("axis", -1), c.rank(0));
  if (!axis || failed(c.requireFloat(0)))
    return failure();
  Value x = c.operand(0);
  if (!x)
    return failure();
  c.set(0, c.create<Op>(x, *axis));
  return success();
}

/// Up to opset 12 the input is seen as a matrix, cut before `axis`, and each
/// row sums to 1.
template <typename Op> static LogicalResult buildRowSoftmax(NodeContext &c) {
  std::optional<int64_t> axis =
      c.normalizeAxis(c.intAttribute("axis", 1), c.rank(0), /*end=*/true);
  if (!axis || failed(c.requireFloat(0)))
    return failure();
  Value x = c.operand(0);
  if (!x)
    return failure();
  ArrayRef<int64_t> shape = c.shape(0);
  if (*axis < c.rank(0) && product(shape.drop_front(*axis + 1)) == 1) {
    c.set(0, c.create<Op>(x, *axis));
    return success();
  }
  SmallVector<int64_t> matrix = {product(shape.take_front(*axis)),
                                 product(shape.drop_front(*axis))};
  Value y = c.create<Op>(c.reshape(x, matrix), int64_t(1));
  c.set(0, c.reshape(y, shape));
  return success();
}

LogicalResult buildSoftmax(NodeContext &c) {
  return buildAxisSoftmax<SoftmaxOp>(c);
}
LogicalResult buildFlatSoftmax(NodeContext &c) {
  return buildRowSoftmax<SoftmaxOp>(c);
}
LogicalResult buildLogSoftmax(NodeContext &c) {
  return buildAxisSoftmax<LogSoftmaxOp>(c);
}
LogicalResult buildFlatLogSoftmax(NodeContext &c) {
  return buildRowSoftmax<LogSoftmaxOp>(c);
}

} // namespace partita::nn::importer
