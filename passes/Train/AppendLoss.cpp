//===- AppendLoss.cpp - Step, evaluation and prediction -------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Makes @step, @eval and @predict of @forward and appends the loss.
//
//===----------------------------------------------------------------------===//

#include "dialects/NN/IR/NNOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Train/Passes.h"
#include "llvm/ADT/BitVector.h"

#include <optional>

using namespace mlir;
using namespace partita;
using namespace partita::nn;

namespace partita {
#define GEN_PASS_DEF_APPENDLOSS
#include "passes/Train/Passes.h.inc"
} // namespace partita

namespace {

constexpr StringLiteral kName = "nn.name";
constexpr StringLiteral kBatchDim = "nn.batch_dim";

struct AppendLossPass : partita::impl::AppendLossBase<AppendLossPass> {
  using AppendLossBase::AppendLossBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto forward = module.lookupSymbol<func::FuncOp>("forward");
    if (!forward) {
      module.emitError("has no function @forward to train; import a model "
                       "first");
      return signalPassFailure();
    }
    if (failed(verifyFunctions(module)) || failed(chooseResult(forward)))
      return signalPassFailure();
    batch = findBatch(forward);
    bool perSample = hasSamples(forward.getResultTypes()[resultIndex]);
    if (!perSample && failed(checkBatchLoss(forward)))
      return signalPassFailure();
    OpBuilder builder(forward);
    func::FuncOp step = clone(builder, forward, "step");
    if (failed(finishStep(step)))
      return signalPassFailure();
    if (perSample && failed(finishEval(clone(builder, forward, "eval"))))
      return signalPassFailure();
    finishPredict(clone(builder, forward, "predict"));
    forward.erase();
    module->setAttr("partita.loss", builder.getStringAttr(loss));
  }

private:
  unsigned resultIndex = 0;
  /// Samples in the batch; none where no argument has a batch dimension.
  std::optional<int64_t> batch;

  static func::FuncOp clone(OpBuilder &builder, func::FuncOp forward,
                            StringRef name) {
    auto copy = cast<func::FuncOp>(builder.clone(*forward));
    copy.setName(name);
    return copy;
  }

  static StringRef resultName(func::FuncOp function, unsigned i) {
    auto name = function.getResultAttrOfType<StringAttr>(i, kName);
    return name ? name.getValue() : StringRef();
  }

  static std::optional<int64_t> findBatch(func::FuncOp forward) {
    for (auto [i, type] : llvm::enumerate(forward.getArgumentTypes())) {
      auto dim = forward.getArgAttrOfType<IntegerAttr>(i, kBatchDim);
      auto tensor = cast<RankedTensorType>(type);
      if (dim && dim.getInt() >= 0 && dim.getInt() < tensor.getRank())
        return tensor.getDimSize(dim.getInt());
    }
    return std::nullopt;
  }

  /// Whether a result's first dimension counts the samples, as far as its
  /// size tells: programs write such results and no others.
  bool hasSamples(Type type) const {
    auto tensor = cast<RankedTensorType>(type);
    return !batch || (tensor.getRank() > 0 && tensor.getDimSize(0) == *batch);
  }

  /// A loss of the whole batch must be the model's own: labels belong to
  /// samples.
  LogicalResult checkBatchLoss(func::FuncOp forward) {
    if (StringRef(loss).starts_with("output:"))
      return success();
    return forward.emitError()
           << loss << " compares labels of " << *batch
           << " samples with output '" << resultName(forward, resultIndex)
           << "', whose type " << forward.getResultTypes()[resultIndex]
           << " does not begin with them; choose another output by --output, "
              "or take an output as the loss by --loss output:NAME";
  }

  /// Finds the result the loss is taken of.
  LogicalResult chooseResult(func::FuncOp forward) {
    StringRef wanted = output;
    StringRef named = loss;
    bool isOutputLoss = named.consume_front("output:");
    if (isOutputLoss)
      wanted = named;
    if (!isOutputLoss && loss != "cross_entropy" && loss != "mse")
      return forward.emitError() << "unknown loss '" << loss
                                 << "'; use cross_entropy, mse or output:NAME";
    std::string names;
    for (unsigned i = 0, e = forward.getNumResults(); i < e; ++i) {
      StringRef name = resultName(forward, i);
      names += (i ? ", '" : "'") + name.str() + "'";
      auto type = dyn_cast<RankedTensorType>(forward.getResultTypes()[i]);
      bool isFloat = type && isa<FloatType>(type.getElementType());
      if (wanted.empty() ? isFloat : name == wanted) {
        if (!isFloat)
          return forward.emitError()
                 << "the loss needs a floating-point output, but '" << name
                 << "' has type " << forward.getResultTypes()[i];
        resultIndex = i;
        return success();
      }
    }
    if (wanted.empty())
      return forward.emitError()
             << "the model has no floating-point output to take a loss of";
    return forward.emitError() << "the model has no output '" << wanted
                               << "'; its outputs are " << names;
  }

  /// The value a loss starts from: the chosen result, before a softmax that
  /// the cross-entropy contains anyway.
  Value lossOperand(func::FuncOp function, int64_t axis) {
    Value value = function.front().getTerminator()->getOperand(resultIndex);
    if (auto softmax = value.getDefiningOp<SoftmaxOp>();
        softmax && static_cast<int64_t>(softmax.getAxis()) == axis)
      return softmax.getX();
    if (auto softmax = value.getDefiningOp<LogSoftmaxOp>();
        softmax && static_cast<int64_t>(softmax.getAxis()) == axis)
      return softmax.getX();
    return value;
  }

  FailureOr<int64_t> findClassAxis(func::FuncOp function) {
    auto type = cast<RankedTensorType>(function.getResultTypes()[resultIndex]);
    int64_t axis = classAxis < 0 ? classAxis + type.getRank() : classAxis;
    if (type.getRank() < 2 || axis < 1 || axis >= type.getRank())
      return function.emitError()
             << "cross-entropy over class axis " << int64_t(classAxis)
             << " of output '" << resultName(function, resultIndex)
             << "' with type " << type
             << "; the class axis must be a dimension after the batch, choose "
                "it by --class-axis";
    return axis;
  }

  /// Appends the labels argument of the given type.
  static Value addLabels(func::FuncOp function, RankedTensorType type,
                         int64_t limit) {
    OpBuilder builder(function.getContext());
    SmallVector<NamedAttribute> attributes = {
        builder.getNamedAttr(kName, builder.getStringAttr("labels")),
        builder.getNamedAttr(kBatchDim, builder.getI64IntegerAttr(0)),
        builder.getNamedAttr("nn.label", builder.getUnitAttr())};
    if (limit > 0)
      attributes.push_back(
          builder.getNamedAttr("nn.limit", builder.getI64IntegerAttr(limit)));
    function.insertArgument(function.getNumArguments(), type,
                            builder.getDictionaryAttr(attributes),
                            function.getLoc());
    return function.getArgument(function.getNumArguments() - 1);
  }

  /// Replaces what the function returns.
  static void setResults(func::FuncOp function, ValueRange values,
                         ArrayRef<StringRef> names) {
    function.front().getTerminator()->setOperands(values);
    function.setType(FunctionType::get(
        function.getContext(), function.getArgumentTypes(), values.getTypes()));
    OpBuilder builder(function.getContext());
    SmallVector<Attribute> attributes;
    for (StringRef name : names)
      attributes.push_back(builder.getDictionaryAttr(
          builder.getNamedAttr(kName, builder.getStringAttr(name))));
    function.setResAttrsAttr(builder.getArrayAttr(attributes));
  }

  /// Per-position losses at the end of `function` and, for cross-entropy, the
  /// operands that tell right from wrong predictions.
  struct Positions {
    Value losses;
    Value logits;
    Value labels;
    int64_t axis = 0;
  };
  FailureOr<Positions> buildLosses(func::FuncOp function) {
    OpBuilder builder(function.front().getTerminator());
    Location loc = NameLoc::get(builder.getStringAttr("loss"));
    Positions result;
    if (loss == "cross_entropy") {
      FailureOr<int64_t> axis = findClassAxis(function);
      if (failed(axis))
        return failure();
      Value logits = lossOperand(function, *axis);
      auto type = tensorType(logits);
      auto labelType = RankedTensorType::get(
          withoutAxes(type.getShape(), *axis), builder.getI64Type());
      result.logits = logits;
      result.axis = *axis;
      result.labels = addLabels(function, labelType, type.getDimSize(*axis));
      result.losses = builder.create<CrossEntropyOp>(
          loc, logits, result.labels, builder.getI64IntegerAttr(*axis));
      return result;
    }
    Value value = function.front().getTerminator()->getOperand(resultIndex);
    if (loss == "mse") {
      Value target = addLabels(function, tensorType(value), /*limit=*/0);
      Value difference = builder.create<SubOp>(loc, value, target);
      result.losses = builder.create<MulOp>(loc, difference, difference);
      return result;
    }
    result.losses = value;
    return result;
  }

  LogicalResult finishStep(func::FuncOp step) {
    FailureOr<Positions> positions = buildLosses(step);
    if (failed(positions))
      return failure();
    OpBuilder builder(step.front().getTerminator());
    Location loc = NameLoc::get(builder.getStringAttr("loss"));
    auto type = tensorType(positions->losses);
    SmallVector<int64_t> axes =
        llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
    Value mean = positions->losses;
    if (!axes.empty())
      mean = builder.create<ReduceOp>(
          loc, ReduceKind::sum, positions->losses, axes,
          1.0 / std::max<int64_t>(type.getNumElements(), 1));
    setResults(step, mean, {"loss"});
    return success();
  }

  LogicalResult finishEval(func::FuncOp eval) {
    FailureOr<Positions> positions = buildLosses(eval);
    if (failed(positions))
      return failure();
    OpBuilder builder(eval.front().getTerminator());
    Location loc = NameLoc::get(builder.getStringAttr("loss"));
    if (positions->logits) {
      Value hits =
          builder.create<CorrectOp>(loc, positions->logits, positions->labels,
                                    builder.getI64IntegerAttr(positions->axis));
      setResults(eval, {positions->losses, hits}, {"losses", "hits"});
      return success();
    }
    // One number per sample: the mean over what belongs to it.
    auto type = tensorType(positions->losses);
    Value losses = positions->losses;
    if (type.getRank() > 1) {
      SmallVector<int64_t> axes =
          llvm::to_vector(llvm::seq<int64_t>(1, type.getRank()));
      int64_t count = 1;
      for (int64_t axis : axes)
        count *= type.getDimSize(axis);
      losses = builder.create<ReduceOp>(loc, ReduceKind::sum, losses, axes,
                                        1.0 / std::max<int64_t>(count, 1));
    }
    setResults(eval, losses, {"losses"});
    return success();
  }

  /// Leaves out of @predict what has no row per sample: it would be another
  /// tensor for every batch of a data set.
  void finishPredict(func::FuncOp predict) {
    Operation *exit = predict.front().getTerminator();
    llvm::BitVector left(exit->getNumOperands());
    for (auto [i, type] : llvm::enumerate(predict.getResultTypes())) {
      if (hasSamples(type))
        continue;
      left.set(i);
      // At the location, because the operation would print the function.
      InFlightDiagnostic warning =
          emitWarning(predict.getLoc())
          << "output '" << resultName(predict, i) << "' with type " << type
          << " is left out of predictions: its first dimension is not the "
             "batch of "
          << *batch << " samples";
      if (i == resultIndex)
        warning.attachNote()
            << "it is the loss of a whole batch, not of each sample, so that "
               "the program cannot evaluate (--eval)";
    }
    exit->eraseOperands(left);
    predict.eraseResults(left);
  }
};

} // namespace
