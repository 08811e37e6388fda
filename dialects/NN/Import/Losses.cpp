//===- Losses.cpp - Import of loss operators -------------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// ONNX's two losses over classes, for models that bring their loss as an
// output. Classes lie along dimension 1; labels have the other dimensions.
//
//===----------------------------------------------------------------------===//

#include "dialects/NN/Import/Builders.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace mlir;

namespace partita::nn::importer {
namespace {

/// The parts of a loss before it is reduced.
class Loss {
public:
  explicit Loss(NodeContext &c) : c(c), type(c.elementType(0)) {}

  LogicalResult read();
  /// The losses by position, from logits or from logarithms of probabilities.
  Value byPosition(bool fromLogits);
  /// Weighs and reduces.
  LogicalResult finish(Value losses);

private:
  /// Whether the label of a position is the class, [n, classes, d...].
  Value isLabel();
  /// Factors by position, or null when all are one.
  Value factors();

  NodeContext &c;
  Type type;
  std::string reduction;
  Value scores, labels;
  /// Labels with ignored ones replaced by a valid class.
  Value safeLabels;
  /// 1 where a label counts, or null when all do.
  Value counted;
};

LogicalResult Loss::read() {
  reduction = c.stringAttribute("reduction", "mean");
  if (reduction != "mean" && reduction != "sum" && reduction != "none")
    return c.error("attribute 'reduction' is " + quote(reduction) +
                   ", expected mean, sum or none");
  if (failed(c.requireFloat(0)))
    return failure();
  if (c.rank(0) < 2)
    return c.error(c.describe(0) + " has no class dimension");
  Type labelType = c.elementType(1);
  if (!labelType.isInteger(32) && !labelType.isInteger(64))
    return c.error("the labels, " + c.describe(1) +
                   ", must be 32-bit or 64-bit integers");
  int64_t classAxis = 1;
  if (ArrayRef<int64_t>(withoutAxes(c.shape(0), classAxis)) != c.shape(1))
    return c.error("the labels, " + c.describe(1) + ", must have the shape " +
                   shapeText(withoutAxes(c.shape(0), classAxis)) +
                   ", that of " + c.describe(0) + " without its classes");
  int64_t classes = c.shape(0)[1];
  if (c.has(2)) {
    if (c.rank(2) != 1 || c.shape(2)[0] != classes)
      return c.error("the class weights, " + c.describe(2) +
                     ", must have the shape " + Twine(classes));
    if (failed(c.requireSameElements(0, 2)))
      return failure();
  }
  bool ignores = c.hasAttribute("ignore_index");
  int64_t ignored = c.intAttribute("ignore_index", 0);
  scores = c.operand(0);
  labels = safeLabels = c.operand(1);
  if (!scores || !labels)
    return failure();
  if (!ignores)
    return success();
  auto scalarType = RankedTensorType::get({}, labelType);
  Value index = c.literal(Constant::splatInt(scalarType, ignored));
  Value counts = c.create<CompareOp>(Predicate::ne, labels, index);
  Value zero = c.literal(Constant::splatInt(scalarType, 0));
  safeLabels = c.create<SelectOp>(counts, labels, zero);
  counted = c.create<CastOp>(RankedTensorType::get(c.shape(1), type), counts);
  return success();
}

Value Loss::isLabel() {
  int64_t classes = c.shape(0)[1];
  if (classes > kConstantLimit) {
    (void)c.error(Twine(classes) + " classes, expected at most " +
                  Twine(kConstantLimit) +
                  "; use SoftmaxCrossEntropyLoss without class weights");
    return Value();
  }
  std::vector<int64_t> numbers(classes);
  for (auto [i, number] : llvm::enumerate(numbers))
    number = static_cast<int64_t>(i);
  SmallVector<int64_t> classShape(c.rank(0) - 1, 1), labelShape(c.shape(0));
  classShape[0] = classes;
  labelShape[1] = 1;
  Value known = c.literal(Constant::ofInts(
      RankedTensorType::get(classShape, c.elementType(1)), std::move(numbers)));
  return c.create<CompareOp>(Predicate::eq, c.reshape(safeLabels, labelShape),
                             known);
}

Value Loss::byPosition(bool fromLogits) {
  constexpr int64_t kClassAxis = 1;
  if (fromLogits)
    return c.create<CrossEntropyOp>(scores, safeLabels, kClassAxis);
  Value zero = c.scalar(type, 0.0);
  Value mask = isLabel();
  if (!mask)
    return Value();
  Value chosen = c.create<SelectOp>(mask, scores, zero);
  Value sum = c.create<ReduceOp>(ReduceKind::sum, chosen,
                                 SmallVector<int64_t>{kClassAxis},
                                 llvm::APFloat(1.0), /*local=*/false);
  return c.create<NegOp>(sum);
}

Value Loss::factors() {
  if (!c.has(2))
    return counted;
  Value weights = c.operand(2);
  if (!weights)
    return Value();
  SmallVector<int64_t> shape(c.rank(0) - 1, 1);
  shape[0] = c.shape(0)[1];
  weights = c.reshape(weights, shape);
  Value zero = c.scalar(type, 0.0);
  Value mask = isLabel();
  if (!mask)
    return Value();
  Value chosen = c.create<SelectOp>(mask, weights, zero);
  Value factor =
      c.create<ReduceOp>(ReduceKind::sum, chosen, SmallVector<int64_t>{1},
                         llvm::APFloat(1.0), /*local=*/false);
  return counted ? c.create<MulOp>(factor, counted) : factor;
}

LogicalResult Loss::finish(Value losses) {
  if (!losses)
    return failure();
  Value factor = factors();
  if (c.hasFailed())
    return failure();
  if (factor)
    losses = c.create<MulOp>(losses, factor);
  if (reduction == "none") {
    c.set(0, losses);
    return success();
  }
  SmallVector<int64_t> axes =
      llvm::to_vector(llvm::seq<int64_t>(0, tensorType(losses).getRank()));
  auto sum = [&](Value x, double scale) -> Value {
    return c.create<ReduceOp>(ReduceKind::sum, x, axes, llvm::APFloat(scale),
                              /*local=*/false);
  };
  // The mean of weighted losses is taken over the weights.
  int64_t count = c.type(1).getNumElements();
  double scale = reduction == "mean" && !factor
                     ? 1.0 / static_cast<double>(std::max<int64_t>(count, 1))
                     : 1.0;
  Value total = sum(losses, scale);
  if (reduction == "mean" && factor)
    total = c.create<DivOp>(total, sum(factor, 1.0));
  c.set(0, total);
  return success();
}

} // namespace

LogicalResult buildSoftmaxCrossEntropyLoss(NodeContext &c) {
  Loss loss(c);
  if (failed(loss.read()))
    return failure();
  if (c.wants(1))
    c.set(1, c.create<LogSoftmaxOp>(c.operand(0), int64_t(1)));
  return loss.finish(loss.byPosition(/*fromLogits=*/true));
}

LogicalResult buildNegativeLogLikelihoodLoss(NodeContext &c) {
  Loss loss(c);
  if (failed(loss.read()))
    return failure();
  return loss.finish(loss.byPosition(/*fromLogits=*/false));
}

} // namespace partita::nn::importer
