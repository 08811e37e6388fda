//===- Pointwise.cpp - Import of arithmetic and logic ----------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operators with numpy broadcasting, comparisons, selection and conversion.
//
//===----------------------------------------------------------------------===//

#include "dialects/NN/Import/Builders.h"
#include "dialects/NN/Import/Evaluate.h"
#include "dialects/NN/Import/TensorData.h"

#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace llvm;
using namespace mlir;

namespace partita::nn::importer {
namespace {

/// The purpose of a vector-like operand: others may be weights of any kind.
Purpose purposeOfVector(NodeContext &c, unsigned index, Purpose purpose) {
  return llvm::count_if(c.shape(index), [](int64_t n) { return n != 1; }) <= 1
             ? purpose
             : Purpose::other;
}

LogicalResult requireBroadcast(NodeContext &c, unsigned a, unsigned b) {
  std::optional<SmallVector<int64_t>> shape =
      broadcastShapes(c.shape(a), c.shape(b));
  if (!shape)
    return c.error(c.describe(a) + " and " + c.describe(b) +
                   " do not broadcast");
  return success(static_cast<bool>(c.resultType(*shape, c.elementType(a))));
}

template <typename Op>
LogicalResult buildArithmetic(NodeContext &c, Arithmetic op, Purpose purpose) {
  if (failed(c.requireSameElements(0, 1)) || failed(requireBroadcast(c, 0, 1)))
    return failure();
  if (c.elementType(0).isInteger(1))
    return c.error(c.describe(0) + " has boolean elements, expected numbers");
  const Constant *a = c.constant(0), *b = c.constant(1);
  if (a && b)
    if (std::optional<Constant> value = evaluate(op, *a, *b)) {
      c.set(0, std::move(*value));
      return success();
    }
  Value x = c.operand(0, purposeOfVector(c, 0, purpose));
  Value y = c.operand(1, purposeOfVector(c, 1, purpose));
  if (!x || !y)
    return failure();
  c.set(0, c.create<Op>(x, y));
  return success();
}

/// Chains a binary operation over all inputs.
template <typename Op>
LogicalResult buildVariadic(NodeContext &c, Arithmetic op, bool mean = false) {
  unsigned count = c.numInputs();
  if (count == 1) {
    c.forward(0, 0);
    return success();
  }
  bool allKnown = true;
  for (unsigned i = 0; i < count; ++i) {
    if (!c.has(i))
      return c.error("input " + Twine(i) + " is missing");
    if (failed(c.requireSameElements(0, i)))
      return failure();
    allKnown &= c.constant(i) != nullptr;
  }
  if (mean && failed(c.requireFloat(0)))
    return failure();
  if (allKnown && !mean) {
    std::optional<Constant> value = *c.constant(0);
    for (unsigned i = 1; i < count && value; ++i)
      value = evaluate(op, *value, *c.constant(i));
    if (value) {
      c.set(0, std::move(*value));
      return success();
    }
  }
  Value result = c.operand(0);
  for (unsigned i = 1; i < count; ++i) {
    Value next = c.operand(i);
    if (!result || !next)
      return failure();
    std::optional<SmallVector<int64_t>> shape =
        broadcastShapes(shapeOf(result), shapeOf(next));
    if (!shape)
      return c.error(c.describe(i) +
                     " does not broadcast with the inputs "
                     "before it, of shape " +
                     shapeText(shapeOf(result)));
    if (!c.resultType(*shape, c.elementType(0)))
      return failure();
    result = c.create<Op>(result, next);
  }
  if (mean)
    result = c.create<MulOp>(result, c.scalar(c.elementType(0), 1.0 / count));
  c.set(0, result);
  return success();
}

LogicalResult buildComparison(NodeContext &c, Predicate predicate) {
  if (failed(c.requireSameElements(0, 1)) || failed(requireBroadcast(c, 0, 1)))
    return failure();
  const Constant *a = c.constant(0), *b = c.constant(1);
  if (a && b)
    if (std::optional<Constant> value = evaluate(predicate, *a, *b)) {
      c.set(0, std::move(*value));
      return success();
    }
  Value x = c.operand(0), y = c.operand(1);
  if (!x || !y)
    return failure();
  c.set(0, c.create<CompareOp>(predicate, x, y));
  return success();
}

LogicalResult requireBool(NodeContext &c, unsigned index) {
  if (c.elementType(index).isInteger(1))
    return success();
  return c.error(c.describe(index) + " has no boolean elements");
}

enum class Logic { conjunction, disjunction, exclusive };

LogicalResult buildLogic(NodeContext &c, Logic logic) {
  if (failed(requireBool(c, 0)) || failed(requireBool(c, 1)) ||
      failed(requireBroadcast(c, 0, 1)))
    return failure();
  const Constant *a = c.constant(0), *b = c.constant(1);
  if (a && b) {
    std::optional<Constant> value =
        logic == Logic::exclusive     ? evaluate(Predicate::ne, *a, *b)
        : logic == Logic::conjunction ? evaluateSelect(*a, *b, *a)
                                      : evaluateSelect(*a, *a, *b);
    if (value) {
      c.set(0, std::move(*value));
      return success();
    }
  }
  Value x = c.operand(0), y = c.operand(1);
  if (!x || !y)
    return failure();
  // a and b = a ? b : a;  a or b = a ? a : b
  if (logic == Logic::exclusive)
    c.set(0, c.create<CompareOp>(Predicate::ne, x, y));
  else if (logic == Logic::conjunction)
    c.set(0, c.create<SelectOp>(x, y, x));
  else
    c.set(0, c.create<SelectOp>(x, x, y));
  return success();
}

LogicalResult convert(NodeContext &c, Type elementType) {
  if (c.elementType(0) == elementType) {
    c.forward(0, 0);
    return success();
  }
  if (const Constant *x = c.constant(0)) {
    std::optional<Constant> value = x->castTo(elementType);
    if (!value)
      return c.error(c.describe(0) +
                     " has a value that does not fit into the new type");
    c.set(0, std::move(*value));
    return success();
  }
  if (elementType.isUnsignedInteger())
    return c.error("conversion to unsigned integers, expected signed ones");
  Value x = c.operand(0);
  if (!x)
    return failure();
  c.set(0, c.create<CastOp>(RankedTensorType::get(c.shape(0), elementType), x));
  return success();
}

/// x limited to bounds of which either may be absent.
LogicalResult buildLimits(NodeContext &c, std::optional<double> low,
                          std::optional<double> high) {
  if (low && std::isinf(*low) && *low < 0)
    low.reset();
  if (high && std::isinf(*high) && *high > 0)
    high.reset();
  if (!low && !high) {
    c.forward(0, 0);
    return success();
  }
  if ((low && std::isnan(*low)) || (high && std::isnan(*high)))
    return c.error("a bound is not a number");
  // ONNX: where min is above max every element becomes max.
  if (low && high && *low > *high)
    low = high;
  Value x = c.operand(0);
  if (!x)
    return failure();
  auto attribute = [&](std::optional<double> bound) {
    return bound ? c.builder.getF64FloatAttr(*bound) : FloatAttr();
  };
  c.set(0, c.create<ClipOp>(x, attribute(low), attribute(high)));
  return success();
}

} // namespace

LogicalResult buildAdd(NodeContext &c) {
  return buildArithmetic<AddOp>(c, Arithmetic::add, Purpose::shift);
}
LogicalResult buildSub(NodeContext &c) {
  return buildArithmetic<SubOp>(c, Arithmetic::sub, Purpose::other);
}
LogicalResult buildMul(NodeContext &c) {
  return buildArithmetic<MulOp>(c, Arithmetic::mul, Purpose::scale);
}
LogicalResult buildDiv(NodeContext &c) {
  return buildArithmetic<DivOp>(c, Arithmetic::div, Purpose::other);
}

LogicalResult buildMod(NodeContext &c) {
  bool likeC = c.intAttribute("fmod", 0) != 0;
  const Constant *a = c.constant(0), *b = c.constant(1);
  if (failed(c.requireSameElements(0, 1)))
    return failure();
  if (a && b)
    if (std::optional<Constant> value =
            evaluate(likeC ? Arithmetic::fmod : Arithmetic::mod, *a, *b)) {
      c.set(0, std::move(*value));
      return success();
    }
  return c.error("Mod is evaluated at compile time only, and its inputs are "
                 "not known then; export the model without it");
}

LogicalResult buildPow(NodeContext &c) {
  if (failed(requireBroadcast(c, 0, 1)))
    return failure();
  const Constant *a = c.constant(0), *b = c.constant(1);
  if (a && b)
    if (std::optional<Constant> exponent = b->castTo(a->elementType()))
      if (std::optional<Constant> value =
              evaluate(Arithmetic::pow, *a, *exponent)) {
        c.set(0, std::move(*value));
        return success();
      }
  if (failed(c.requireFloat(0)))
    return failure();
  // A fixed exponent is a part of the formula even when it is an initializer.
  // Small ones become products, whose gradients exist at 0 and below.
  bool isScalar = c.type(1).getNumElements() == 1 && c.rank(1) <= c.rank(0);
  const Constant *exponent = isScalar ? c.fixedInput(1) : b;
  if (c.hasFailed())
    return failure();
  Value x = c.operand(0);
  if (!x)
    return failure();
  if (isScalar && exponent) {
    double number = exponent->numberAt(0);
    if (number == 1.0) {
      c.forward(0, 0);
      return success();
    }
    Value result;
    if (number == 2.0)
      result = c.create<MulOp>(x, x);
    else if (number == 3.0)
      result = c.create<MulOp>(c.create<MulOp>(x, x), x);
    else if (number == 0.5)
      result = c.create<SqrtOp>(x);
    else if (number == -1.0)
      result = c.create<DivOp>(c.scalar(c.elementType(0), 1.0), x);
    else if (number == -0.5) {
      Value root = c.create<SqrtOp>(x);
      result = c.create<DivOp>(c.scalar(c.elementType(0), 1.0), root);
    } else
      result = c.create<PowOp>(x, c.scalar(c.elementType(0), number));
    c.set(0, result);
    return success();
  }
  Value y = c.operand(1);
  if (!y)
    return failure();
  if (c.elementType(1) != c.elementType(0))
    y = c.create<CastOp>(RankedTensorType::get(c.shape(1), c.elementType(0)),
                         y);
  c.set(0, c.create<PowOp>(x, y));
  return success();
}

LogicalResult buildSum(NodeContext &c) {
  return buildVariadic<AddOp>(c, Arithmetic::add);
}
LogicalResult buildMean(NodeContext &c) {
  return buildVariadic<AddOp>(c, Arithmetic::add, /*mean=*/true);
}
LogicalResult buildMax(NodeContext &c) {
  return buildVariadic<MaxOp>(c, Arithmetic::max);
}
LogicalResult buildMin(NodeContext &c) {
  return buildVariadic<MinOp>(c, Arithmetic::min);
}

LogicalResult buildEqual(NodeContext &c) {
  return buildComparison(c, Predicate::eq);
}
LogicalResult buildGreater(NodeContext &c) {
  return buildComparison(c, Predicate::gt);
}
LogicalResult buildGreaterOrEqual(NodeContext &c) {
  return buildComparison(c, Predicate::ge);
}
LogicalResult buildLess(NodeContext &c) {
  return buildComparison(c, Predicate::lt);
}
LogicalResult buildLessOrEqual(NodeContext &c) {
  return buildComparison(c, Predicate::le);
}
LogicalResult buildAnd(NodeContext &c) {
  return buildLogic(c, Logic::conjunction);
}
LogicalResult buildOr(NodeContext &c) {
  return buildLogic(c, Logic::disjunction);
}
LogicalResult buildXor(NodeContext &c) {
  return buildLogic(c, Logic::exclusive);
}

LogicalResult buildNot(NodeContext &c) {
  if (failed(requireBool(c, 0)))
    return failure();
  if (const Constant *x = c.constant(0))
    if (std::optional<Constant> value = evaluate(Function::logicalNot, *x)) {
      c.set(0, std::move(*value));
      return success();
    }
  Value x = c.operand(0);
  if (!x)
    return failure();
  c.set(0, c.create<NotOp>(x));
  return success();
}

LogicalResult buildWhere(NodeContext &c) {
  if (failed(requireBool(c, 0)) || failed(c.requireSameElements(1, 2)) ||
      failed(requireBroadcast(c, 1, 2)))
    return failure();
  SmallVector<int64_t> values = *broadcastShapes(c.shape(1), c.shape(2));
  std::optional<SmallVector<int64_t>> shape =
      broadcastShapes(c.shape(0), values);
  if (!shape)
    return c.error(c.describe(0) +
                   " does not broadcast with the values of "
                   "shape " +
                   shapeText(values));
  if (!c.resultType(*shape, c.elementType(1)))
    return failure();
  const Constant *condition = c.constant(0), *a = c.constant(1),
                 *b = c.constant(2);
  if (condition && a && b)
    if (std::optional<Constant> value = evaluateSelect(*condition, *a, *b)) {
      c.set(0, std::move(*value));
      return success();
    }
  Value test = c.operand(0), x = c.operand(1), y = c.operand(2);
  if (!test || !x || !y)
    return failure();
  c.set(0, c.create<SelectOp>(test, x, y));
  return success();
}

LogicalResult buildCast(NodeContext &c) {
  int64_t to = c.intAttribute("to", onnx::TensorProto::UNDEFINED);
  // Both matter for 8-bit floating-point numbers only.
  c.ignoreAttribute("saturate");
  c.ignoreAttribute("round_mode");
  if (c.hasFailed())
    return failure();
  bool isKnown = to >= 0 && to <= onnx::TensorProto::DataType_MAX;
  Type elementType =
      isKnown ? elementTypeOf(c.builder.getContext(), static_cast<int>(to))
              : Type();
  if (!elementType)
    return c.error("conversion to " +
                   (isKnown ? dataTypeName(static_cast<int>(to))
                            : "type number " + std::to_string(to)) +
                   ", expected floating-point numbers, integers of 8 to 64 "
                   "bits or booleans");
  return convert(c, elementType);
}

LogicalResult buildCastLike(NodeContext &c) {
  c.ignoreAttribute("saturate");
  c.ignoreAttribute("round_mode");
  return convert(c, c.elementType(1));
}

LogicalResult buildIsNaN(NodeContext &c) {
  if (failed(c.requireFloat(0)))
    return failure();
  Value x = c.operand(0);
  if (!x)
    return failure();
  c.set(0, c.create<CompareOp>(Predicate::ne, x, x));
  return success();
}

LogicalResult buildClipByAttributes(NodeContext &c) {
  // The defaults are the largest numbers, which limit nothing.
  std::optional<double> low, high;
  if (c.hasAttribute("min"))
    low = c.floatAttribute("min", 0.0);
  if (c.hasAttribute("max"))
    high = c.floatAttribute("max", 0.0);
  if (failed(c.requireFloat(0)))
    return failure();
  return buildLimits(c, low, high);
}

LogicalResult buildClip(NodeContext &c) {
  bool computed = false;
  for (unsigned i : {1u, 2u}) {
    if (!c.has(i))
      continue;
    if (failed(c.requireSameElements(0, i)))
      return failure();
    if (c.type(i).getNumElements() != 1 || c.rank(i) > 1)
      return c.error(c.describe(i) + " is no scalar");
    computed |= !c.fixedInput(i);
  }
  if (c.hasFailed())
    return failure();
  if (!computed && c.isFloat(0)) {
    std::optional<double> low, high;
    if (c.has(1))
      low = c.fixedNumber(1);
    if (c.has(2))
      high = c.fixedNumber(2);
    return buildLimits(c, low, high);
  }
  // Bounds that are computed, or integers, which doubles cannot all hold.
  Value result = c.operand(0);
  for (unsigned i : {1u, 2u}) {
    if (!c.has(i))
      continue;
    Value bound = c.operand(i);
    if (!result || !bound)
      return failure();
    bound = c.reshape(bound, {});
    result = i == 1 ? c.create<MaxOp>(result, bound)
                    : c.create<MinOp>(result, bound);
  }
  if (!c.has(1) && !c.has(2)) {
    c.forward(0, 0);
    return success();
  }
  c.set(0, result);
  return success();
}

} // namespace partita::nn::importer
