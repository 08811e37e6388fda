//===- Reductions.cpp - Import of reductions -------------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The Reduce family: axes from an attribute or an input, composed of the four
// reductions of nn.
//
//===----------------------------------------------------------------------===//

#include "dialects/NN/Import/Builders.h"
#include "dialects/NN/Import/Evaluate.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace mlir;

namespace partita::nn::importer {
namespace {

/// What a reduction runs over and how its result looks.
struct Reduction {
  SmallVector<int64_t> axes;
  /// The result's shape, with or without the reduced dimensions.
  SmallVector<int64_t> shape;
  /// Elements per result.
  int64_t count = 1;
  /// No axes were given, and that means no reduction.
  bool isNone = false;
};

/// `axesInputSince`: the opset from which on the axes are input 1.
std::optional<Reduction> readReduction(NodeContext &c, int64_t axesInputSince) {
  bool keepDims = c.intAttribute("keepdims", 1) != 0;
  std::optional<SmallVector<int64_t>> axes;
  bool noneMeansNone = false;
  if (c.opset() < axesInputSince) {
    axes = c.intsAttribute("axes");
  } else {
    noneMeansNone = c.intAttribute("noop_with_empty_axes", 0) != 0;
    if (c.has(1))
      axes = c.fixedInts(1);
  }
  if (c.hasFailed())
    return std::nullopt;
  Reduction reduction;
  if (!axes || axes->empty()) {
    reduction.isNone = noneMeansNone;
    if (!noneMeansNone)
      reduction.axes = llvm::to_vector(llvm::seq<int64_t>(0, c.rank(0)));
  } else {
    std::optional<SmallVector<int64_t>> normal =
        c.normalizeAxes(*axes, c.rank(0));
    if (!normal)
      return std::nullopt;
    reduction.axes = *normal;
  }
  reduction.shape = SmallVector<int64_t>(c.shape(0));
  for (int64_t axis : reduction.axes) {
    reduction.count *= c.shape(0)[axis];
    reduction.shape[axis] = 1;
  }
  if (!keepDims)
    reduction.shape = withoutAxes(c.shape(0), reduction.axes);
  if (reduction.count == 0) {
    (void)c.error("a reduction over no elements: " + c.describe(0));
    return std::nullopt;
  }
  return reduction;
}

Value reduce(NodeContext &c, const Reduction &reduction, ReduceKind kind,
             Value x, double scale = 1.0) {
  if (reduction.axes.empty())
    return c.reshape(x, reduction.shape);
  Value y = c.create<ReduceOp>(kind, x, reduction.axes, llvm::APFloat(scale),
                               /*local=*/false);
  return c.reshape(y, reduction.shape);
}

LogicalResult buildPlain(NodeContext &c, ReduceKind kind,
                         int64_t axesInputSince, bool mean = false) {
  std::optional<Reduction> reduction = readReduction(c, axesInputSince);
  if (!reduction)
    return failure();
  if (c.elementType(0).isInteger(1))
    return c.error(c.describe(0) + " has boolean elements");
  if (reduction->isNone) {
    c.forward(0, 0);
    return success();
  }
  double scale = mean ? 1.0 / static_cast<double>(reduction->count) : 1.0;
  if (const Constant *x = c.constant(0))
    if (std::optional<Constant> value =
            evaluateReduce(kind, *x, reduction->axes, scale)) {
      c.set(0, value->reshaped(reduction->shape));
      return success();
    }
  if (mean && failed(c.requireFloat(0)))
    return failure();
  Value x = c.operand(0);
  if (!x)
    return failure();
  c.set(0, reduce(c, *reduction, kind, x, scale));
  return success();
}

/// A reduction of a function of x, and a function of the sum.
LogicalResult buildComposed(NodeContext &c,
                            llvm::function_ref<Value(Value)> before,
                            llvm::function_ref<Value(Value)> after) {
  std::optional<Reduction> reduction = readReduction(c, /*axesInputSince=*/18);
  if (!reduction || failed(c.requireFloat(0)))
    return failure();
  Value x = c.operand(0);
  if (!x)
    return failure();
  c.set(0, after(reduce(c, *reduction, ReduceKind::sum, before(x))));
  return success();
}

Value itself(Value x) { return x; }

} // namespace

LogicalResult buildReduceSum(NodeContext &c) {
  return buildPlain(c, ReduceKind::sum, /*axesInputSince=*/13);
}
LogicalResult buildReduceMean(NodeContext &c) {
  return buildPlain(c, ReduceKind::sum, /*axesInputSince=*/18, /*mean=*/true);
}
LogicalResult buildReduceMax(NodeContext &c) {
  return buildPlain(c, ReduceKind::max, /*axesInputSince=*/18);
}
LogicalResult buildReduceMin(NodeContext &c) {
  return buildPlain(c, ReduceKind::min, /*axesInputSince=*/18);
}
LogicalResult buildReduceProd(NodeContext &c) {
  return buildPlain(c, ReduceKind::prod, /*axesInputSince=*/18);
}

LogicalResult buildReduceL1(NodeContext &c) {
  return buildComposed(c, [&](Value x) { return c.create<AbsOp>(x); }, itself);
}
LogicalResult buildReduceL2(NodeContext &c) {
  return buildComposed(
      c, [&](Value x) { return c.create<MulOp>(x, x); },
      [&](Value sum) { return c.create<SqrtOp>(sum); });
}
LogicalResult buildReduceSumSquare(NodeContext &c) {
  return buildComposed(
      c, [&](Value x) { return c.create<MulOp>(x, x); }, itself);
}
LogicalResult buildReduceLogSum(NodeContext &c) {
  return buildComposed(c, itself,
                       [&](Value sum) { return c.create<LogOp>(sum); });
}

LogicalResult buildReduceLogSumExp(NodeContext &c) {
  std::optional<Reduction> reduction = readReduction(c, /*axesInputSince=*/18);
  if (!reduction || failed(c.requireFloat(0)))
    return failure();
  Value x = c.operand(0);
  if (!x)
    return failure();
  // The largest element is taken out, so that nothing overflows.
  Reduction kept = *reduction;
  kept.shape = SmallVector<int64_t>(c.shape(0));
  for (int64_t axis : kept.axes)
    kept.shape[axis] = 1;
  Value largest = reduce(c, kept, ReduceKind::max, x);
  Value terms = c.create<ExpOp>(c.create<SubOp>(x, largest));
  Value sum = c.create<LogOp>(reduce(c, kept, ReduceKind::sum, terms));
  Value y = c.create<AddOp>(sum, largest);
  c.set(0, c.reshape(y, reduction->shape));
  return success();
}

} // namespace partita::nn::importer
