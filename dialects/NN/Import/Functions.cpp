//===- Functions.cpp - Import of functions and activations -----*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions of one tensor. Activations without an operation of their own are
// composed so that no branch that is not taken yields an infinite value, since
// its gradient times 0 would be NaN.
//
//===----------------------------------------------------------------------===//

#include "dialects/NN/Import/Builders.h"
#include "dialects/NN/Import/Evaluate.h"

#include <cmath>

using namespace llvm;
using namespace mlir;

namespace partita::nn::importer {
namespace {

template <typename Op>
LogicalResult buildFunction(NodeContext &c, Function function,
                            bool takesIntegers = false) {
  if (c.elementType(0).isInteger(1) || !takesIntegers)
    if (failed(c.requireFloat(0)))
      return failure();
  if (const Constant *x = c.constant(0))
    if (std::optional<Constant> value = evaluate(function, *x)) {
      c.set(0, std::move(*value));
      return success();
    }
  Value x = c.operand(0);
  if (!x)
    return failure();
  c.set(0, c.create<Op>(x));
  return success();
}

/// A composition of operations on x.
LogicalResult
compose(NodeContext &c,
        llvm::function_ref<Value(Value, llvm::function_ref<Value(double)>)>
            formula) {
  if (failed(c.requireFloat(0)))
    return failure();
  Value x = c.operand(0);
  if (!x)
    return failure();
  c.set(0, formula(x, [&](double number) {
          return c.scalar(c.elementType(0), number);
        }));
  return success();
}

/// scale * (exp(min(x, 0) / width) - 1), the branch of the exponential units
/// below 0.
Value exponentialBranch(NodeContext &c, Value x, double scale, double width) {
  Type type = c.elementType(0);
  Value y = c.create<MinOp>(x, c.scalar(type, 0.0));
  if (width != 1.0)
    y = c.create<DivOp>(y, c.scalar(type, width));
  y = c.create<ExpOp>(y);
  y = c.create<SubOp>(y, c.scalar(type, 1.0));
  if (scale != 1.0)
    y = c.create<MulOp>(y, c.scalar(type, scale));
  return y;
}

Value selectPositive(NodeContext &c, Value x, Value otherwise) {
  Value isPositive =
      c.create<CompareOp>(Predicate::gt, x, c.scalar(c.elementType(0), 0.0));
  return c.create<SelectOp>(isPositive, x, otherwise);
}

} // namespace

LogicalResult buildAbs(NodeContext &c) {
  return buildFunction<AbsOp>(c, Function::abs, /*takesIntegers=*/true);
}
LogicalResult buildNeg(NodeContext &c) {
  return buildFunction<NegOp>(c, Function::neg, /*takesIntegers=*/true);
}
LogicalResult buildExp(NodeContext &c) {
  return buildFunction<ExpOp>(c, Function::exp);
}
LogicalResult buildLog(NodeContext &c) {
  return buildFunction<LogOp>(c, Function::log);
}
LogicalResult buildSqrt(NodeContext &c) {
  return buildFunction<SqrtOp>(c, Function::sqrt);
}
LogicalResult buildErf(NodeContext &c) {
  return buildFunction<ErfOp>(c, Function::erf);
}
LogicalResult buildTanh(NodeContext &c) {
  return buildFunction<TanhOp>(c, Function::tanh);
}
LogicalResult buildSin(NodeContext &c) {
  return buildFunction<SinOp>(c, Function::sin);
}
LogicalResult buildCos(NodeContext &c) {
  return buildFunction<CosOp>(c, Function::cos);
}
LogicalResult buildSigmoid(NodeContext &c) {
  return buildFunction<SigmoidOp>(c, Function::sigmoid);
}
LogicalResult buildSoftplus(NodeContext &c) {
  return buildFunction<SoftplusOp>(c, Function::softplus);
}
LogicalResult buildRelu(NodeContext &c) {
  return buildFunction<ReluOp>(c, Function::relu, /*takesIntegers=*/true);
}
LogicalResult buildFloor(NodeContext &c) {
  return buildFunction<FloorOp>(c, Function::floor);
}
LogicalResult buildCeil(NodeContext &c) {
  return buildFunction<CeilOp>(c, Function::ceil);
}
LogicalResult buildRound(NodeContext &c) {
  return buildFunction<RoundOp>(c, Function::round);
}
LogicalResult buildSign(NodeContext &c) {
  return buildFunction<SignOp>(c, Function::sign, /*takesIntegers=*/true);
}

LogicalResult buildTan(NodeContext &c) {
  return compose(c, [&](Value x, auto) {
    Value sine = c.create<SinOp>(x);
    return c.create<DivOp>(sine, c.create<CosOp>(x));
  });
}

LogicalResult buildReciprocal(NodeContext &c) {
  if (const Constant *x = c.constant(0); x && x->isFloat())
    if (std::optional<Constant> value = evaluate(Function::reciprocal, *x)) {
      c.set(0, std::move(*value));
      return success();
    }
  return compose(
      c, [&](Value x, auto number) { return c.create<DivOp>(number(1.0), x); });
}

LogicalResult buildElu(NodeContext &c) {
  double alpha = c.floatAttribute("alpha", 1.0);
  return compose(c, [&](Value x, auto) {
    return selectPositive(c, x, exponentialBranch(c, x, alpha, /*width=*/1.0));
  });
}

LogicalResult buildSelu(NodeContext &c) {
  double alpha = c.floatAttribute("alpha", 1.67326319217681884765625);
  double gamma = c.floatAttribute("gamma", 1.05070102214813232421875);
  return compose(c, [&](Value x, auto number) {
    Value y =
        selectPositive(c, x, exponentialBranch(c, x, alpha, /*width=*/1.0));
    return c.create<MulOp>(y, number(gamma));
  });
}

LogicalResult buildCelu(NodeContext &c) {
  double alpha = c.floatAttribute("alpha", 1.0);
  if (alpha == 0.0)
    return c.error("attribute 'alpha' is 0, expected another number");
  return compose(c, [&](Value x, auto) {
    return selectPositive(c, x, exponentialBranch(c, x, alpha, alpha));
  });
}

LogicalResult buildLeakyRelu(NodeContext &c) {
  double alpha = c.floatAttribute("alpha", 0.01f);
  return compose(c, [&](Value x, auto number) {
    Value isNegative = c.create<CompareOp>(Predicate::lt, x, number(0.0));
    Value scaled = c.create<MulOp>(x, number(alpha));
    return c.create<SelectOp>(isNegative, scaled, x);
  });
}

LogicalResult buildPRelu(NodeContext &c) {
  if (failed(c.requireFloat(0)) || failed(c.requireSameElements(0, 1)))
    return failure();
  std::optional<SmallVector<int64_t>> shape =
      broadcastShapes(c.shape(0), c.shape(1));
  if (!shape || ArrayRef<int64_t>(*shape) != c.shape(0))
    return c.error(c.describe(1) + " does not broadcast to " + c.describe(0));
  Value x = c.operand(0), slope = c.operand(1);
  if (!x || !slope)
    return failure();
  Value isNegative =
      c.create<CompareOp>(Predicate::lt, x, c.scalar(c.elementType(0), 0.0));
  c.set(0, c.create<SelectOp>(isNegative, c.create<MulOp>(x, slope), x));
  return success();
}

LogicalResult buildThresholdedRelu(NodeContext &c) {
  double alpha = c.floatAttribute("alpha", 1.0);
  return compose(c, [&](Value x, auto number) {
    Value isAbove = c.create<CompareOp>(Predicate::gt, x, number(alpha));
    return c.create<SelectOp>(isAbove, x, number(0.0));
  });
}

LogicalResult buildShrink(NodeContext &c) {
  double bias = c.floatAttribute("bias", 0.0);
  double lambda = c.floatAttribute("lambd", 0.5);
  return compose(c, [&](Value x, auto number) {
    Value isBelow = c.create<CompareOp>(Predicate::lt, x, number(-lambda));
    Value isAbove = c.create<CompareOp>(Predicate::gt, x, number(lambda));
    Value shift = number(bias);
    Value raised = c.create<AddOp>(x, shift);
    Value lowered = c.create<SubOp>(x, shift);
    Value y = c.create<SelectOp>(isBelow, raised, number(0.0));
    return c.create<SelectOp>(isAbove, lowered, y);
  });
}

LogicalResult buildHardSigmoid(NodeContext &c) {
  double alpha = c.floatAttribute("alpha", 0.2f);
  double beta = c.floatAttribute("beta", 0.5);
  return compose(c, [&](Value x, auto number) {
    Value y = c.create<MulOp>(x, number(alpha));
    y = c.create<AddOp>(y, number(beta));
    return c.create<ClipOp>(y, c.builder.getF64FloatAttr(0.0),
                            c.builder.getF64FloatAttr(1.0));
  });
}

LogicalResult buildHardSwish(NodeContext &c) {
  return compose(c, [&](Value x, auto number) {
    Value y = c.create<MulOp>(x, number(1.0 / 6.0));
    y = c.create<AddOp>(y, number(0.5));
    y = c.create<ClipOp>(y, c.builder.getF64FloatAttr(0.0),
                         c.builder.getF64FloatAttr(1.0));
    return c.create<MulOp>(x, y);
  });
}

LogicalResult buildSwish(NodeContext &c) {
  double alpha = c.floatAttribute("alpha", 1.0);
  return compose(c, [&](Value x, auto number) {
    Value scaled = alpha == 1.0 ? x : c.create<MulOp>(x, number(alpha));
    return c.create<MulOp>(x, c.create<SigmoidOp>(scaled));
  });
}

LogicalResult buildMish(NodeContext &c) {
  return compose(c, [&](Value x, auto) {
    return c.create<MulOp>(x, c.create<TanhOp>(c.create<SoftplusOp>(x)));
  });
}

LogicalResult buildGelu(NodeContext &c) {
  std::string form = c.stringAttribute("approximate", "none");
  if (form != "none" && form != "tanh")
    return c.error("attribute 'approximate' is " + quote(form) +
                   ", expected none or tanh");
  return compose(c, [&](Value x, auto number) {
    Value inner;
    if (form == "none") {
      inner = c.create<ErfOp>(c.create<MulOp>(x, number(std::sqrt(0.5))));
    } else {
      // tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))
      Value cube = c.create<MulOp>(c.create<MulOp>(x, x), x);
      Value sum = c.create<AddOp>(x, c.create<MulOp>(cube, number(0.044715)));
      constexpr double kSqrtTwoOverPi = 0.79788456080286535588;
      inner = c.create<TanhOp>(c.create<MulOp>(sum, number(kSqrtTwoOverPi)));
    }
    Value sum = c.create<AddOp>(inner, number(1.0));
    return c.create<MulOp>(c.create<MulOp>(x, number(0.5)), sum);
  });
}

LogicalResult buildSoftsign(NodeContext &c) {
  return compose(c, [&](Value x, auto number) {
    Value magnitude = c.create<AbsOp>(x);
    return c.create<DivOp>(x, c.create<AddOp>(magnitude, number(1.0)));
  });
}

} // namespace partita::nn::importer
