//===- PointwiseOps.cpp - Bodies and gradients of point-wise ops ----------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The scalar body and the vector-Jacobian product of every point-wise
// operation. Gradients are point-wise operations again, so that fusion makes
// one loop of a layer's forward or backward chain.
//
//===----------------------------------------------------------------------===//

#include "dialects/NN/IR/NNOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace partita::nn;

namespace {

/// Builds nn operations at one place; a gradient rule reads like its formula.
class Rule {
public:
  Rule(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}

  template <typename OpT, typename... Args> Value make(Args &&...args) {
    return builder.create<OpT>(loc, std::forward<Args>(args)...);
  }
  Value add(Value a, Value b) { return make<AddOp>(a, b); }
  Value sub(Value a, Value b) { return make<SubOp>(a, b); }
  Value mul(Value a, Value b) { return make<MulOp>(a, b); }
  Value div(Value a, Value b) { return make<DivOp>(a, b); }
  Value neg(Value a) { return make<NegOp>(a); }
  Value scalar(Value like, double value) {
    return scalarConstant(builder, loc, tensorType(like).getElementType(),
                          value);
  }
  Value compare(Predicate predicate, Value a, Value b) {
    return make<CompareOp>(predicate, a, b);
  }
  Value select(Value condition, Value a, Value b) {
    return make<SelectOp>(condition, a, b);
  }
  /// `grad` summed down to the shape of `operand`.
  Value fit(Value grad, Value operand) {
    return sumToShape(builder, loc, grad, shapeOf(operand));
  }

private:
  OpBuilder &builder;
  Location loc;
};

bool isFloat(Value value) {
  return isa<FloatType>(getElementTypeOrSelf(value.getType()));
}

using Grads = SmallVectorImpl<Value>;

/// The gradient of a function of one operand: `slope(rule, x, y, dy)`.
template <typename OpT, typename Slope>
LogicalResult unaryVjp(OpT op, OpBuilder &builder, ValueRange resultGrads,
                       ArrayRef<bool> wanted, Grads &grads, Slope slope) {
  grads.push_back(Value());
  if (!wanted[0] || !resultGrads[0] || !isFloat(op.getX()))
    return success();
  Rule rule(builder, op.getLoc());
  grads[0] = slope(rule, op.getX(), op.getY(), resultGrads[0]);
  return success();
}

/// The gradients of a function of two operands; `left` and `right` give them
/// at the result's shape.
template <typename OpT, typename Left, typename Right>
LogicalResult binaryVjp(OpT op, OpBuilder &builder, ValueRange resultGrads,
                        ArrayRef<bool> wanted, Grads &grads, Left left,
                        Right right) {
  grads.append(2, Value());
  if (!resultGrads[0] || !isFloat(op.getA()))
    return success();
  Rule rule(builder, op.getLoc());
  if (wanted[0])
    grads[0] = rule.fit(left(rule, resultGrads[0]), op.getA());
  if (wanted[1])
    grads[1] = rule.fit(right(rule, resultGrads[0]), op.getB());
  return success();
}

/// `FloatOp` on floating-point scalars, `IntOp` on integers.
template <typename FloatOp, typename IntOp>
Value arithmetic(OpBuilder &builder, Location loc, ValueRange operands) {
  if (isa<FloatType>(operands[0].getType()))
    return builder.create<FloatOp>(loc, operands[0], operands[1]);
  return builder.create<IntOp>(loc, operands[0], operands[1]);
}

} // namespace

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Value AddOp::buildScalarBody(OpBuilder &b, Location loc, ValueRange v) {
  return arithmetic<arith::AddFOp, arith::AddIOp>(b, loc, v);
}
LogicalResult AddOp::buildVjp(OpBuilder &b, ValueRange dy,
                              ArrayRef<bool> wanted, Grads &grads) {
  auto pass = [](Rule &, Value g) { return g; };
  return binaryVjp(*this, b, dy, wanted, grads, pass, pass);
}

Value SubOp::buildScalarBody(OpBuilder &b, Location loc, ValueRange v) {
  return arithmetic<arith::SubFOp, arith::SubIOp>(b, loc, v);
}
LogicalResult SubOp::buildVjp(OpBuilder &b, ValueRange dy,
                              ArrayRef<bool> wanted, Grads &grads) {
  return binaryVjp(
      *this, b, dy, wanted, grads, [](Rule &, Value g) { return g; },
      [](Rule &r, Value g) { return r.neg(g); });
}

Value MulOp::buildScalarBody(OpBuilder &b, Location loc, ValueRange v) {
  return arithmetic<arith::MulFOp, arith::MulIOp>(b, loc, v);
}
LogicalResult MulOp::buildVjp(OpBuilder &b, ValueRange dy,
                              ArrayRef<bool> wanted, Grads &grads) {
  return binaryVjp(
      *this, b, dy, wanted, grads,
      [&](Rule &r, Value g) { return r.mul(g, getB()); },
      [&](Rule &r, Value g) { return r.mul(g, getA()); });
}

Value DivOp::buildScalarBody(OpBuilder &b, Location loc, ValueRange v) {
  return arithmetic<arith::DivFOp, arith::DivSIOp>(b, loc, v);
}
LogicalResult DivOp::buildVjp(OpBuilder &b, ValueRange dy,
                              ArrayRef<bool> wanted, Grads &grads) {
  return binaryVjp(
      *this, b, dy, wanted, grads,
      [&](Rule &r, Value g) { return r.div(g, getB()); },
      [&](Rule &r, Value g) { return r.neg(r.div(r.mul(g, getY()), getB())); });
}

Value PowOp::buildScalarBody(OpBuilder &b, Location loc, ValueRange v) {
  return arithmetic<math::PowFOp, math::IPowIOp>(b, loc, v);
}
LogicalResult PowOp::buildVjp(OpBuilder &b, ValueRange dy,
                              ArrayRef<bool> wanted, Grads &grads) {
  return binaryVjp(
      *this, b, dy, wanted, grads,
      [&](Rule &r, Value g) {
        // b * a^(b-1), and 0 for b = 0, where a^(b-1) may be infinite.
        Value zero = r.scalar(getB(), 0.0);
        Value less = r.sub(getB(), r.scalar(getB(), 1.0));
        Value slope = r.mul(getB(), r.make<PowOp>(getA(), less));
        return r.mul(
            g, r.select(r.compare(Predicate::eq, getB(), zero), zero, slope));
      },
      [&](Rule &r, Value g) {
        // a^b * log a, and 0 for a = 0, the limit for positive exponents.
        Value zero = r.scalar(getA(), 0.0);
        Value isZero = r.compare(Predicate::eq, getA(), zero);
        Value safe = r.select(isZero, r.scalar(getA(), 1.0), getA());
        return r.mul(g, r.mul(getY(), r.make<LogOp>(safe)));
      });
}

namespace {

/// The share of the gradient that the operand `self` of a maximum or minimum
/// takes: all of it where it wins, half where both are equal.
Value winnerShare(Rule &rule, Predicate wins, Value self, Value other,
                  Value grad) {
  Value half = rule.mul(grad, rule.scalar(grad, 0.5));
  Value zero = rule.scalar(grad, 0.0);
  Value tie = rule.select(rule.compare(Predicate::eq, self, other), half, zero);
  return rule.select(rule.compare(wins, self, other), grad, tie);
}

} // namespace

Value MaxOp::buildScalarBody(OpBuilder &b, Location loc, ValueRange v) {
  return arithmetic<arith::MaximumFOp, arith::MaxSIOp>(b, loc, v);
}
LogicalResult MaxOp::buildVjp(OpBuilder &b, ValueRange dy,
                              ArrayRef<bool> wanted, Grads &grads) {
  return binaryVjp(
      *this, b, dy, wanted, grads,
      [&](Rule &r, Value g) {
        return winnerShare(r, Predicate::gt, getA(), getB(), g);
      },
      [&](Rule &r, Value g) {
        return winnerShare(r, Predicate::gt, getB(), getA(), g);
      });
}

Value MinOp::buildScalarBody(OpBuilder &b, Location loc, ValueRange v) {
  return arithmetic<arith::MinimumFOp, arith::MinSIOp>(b, loc, v);
}
LogicalResult MinOp::buildVjp(OpBuilder &b, ValueRange dy,
                              ArrayRef<bool> wanted, Grads &grads) {
  return binaryVjp(
      *this, b, dy, wanted, grads,
      [&](Rule &r, Value g) {
        return winnerShare(r, Predicate::lt, getA(), getB(), g);
      },
      [&](Rule &r, Value g) {
        return winnerShare(r, Predicate::lt, getB(), getA(), g);
      });
}

//===----------------------------------------------------------------------===//
// Comparison, selection, conversion
//===----------------------------------------------------------------------===//

Value CompareOp::buildScalarBody(OpBuilder &b, Location loc, ValueRange v) {
  if (isa<FloatType>(v[0].getType())) {
    // `ne` is the only one that holds for NaN, as in IEEE 754.
    static constexpr arith::CmpFPredicate predicates[] = {
        arith::CmpFPredicate::OEQ, arith::CmpFPredicate::UNE,
        arith::CmpFPredicate::OLT, arith::CmpFPredicate::OLE,
        arith::CmpFPredicate::OGT, arith::CmpFPredicate::OGE};
    return b.create<arith::CmpFOp>(
        loc, predicates[static_cast<unsigned>(getPredicate())], v[0], v[1]);
  }
  static constexpr arith::CmpIPredicate predicates[] = {
      arith::CmpIPredicate::eq,  arith::CmpIPredicate::ne,
      arith::CmpIPredicate::slt, arith::CmpIPredicate::sle,
      arith::CmpIPredicate::sgt, arith::CmpIPredicate::sge};
  return b.create<arith::CmpIOp>(
      loc, predicates[static_cast<unsigned>(getPredicate())], v[0], v[1]);
}

Value SelectOp::buildScalarBody(OpBuilder &b, Location loc, ValueRange v) {
  return b.create<arith::SelectOp>(loc, v[0], v[1], v[2]);
}
LogicalResult SelectOp::buildVjp(OpBuilder &b, ValueRange dy,
                                 ArrayRef<bool> wanted, Grads &grads) {
  grads.append(3, Value());
  if (!dy[0] || !isFloat(getA()))
    return success();
  Rule rule(b, getLoc());
  Value zero = rule.scalar(dy[0], 0.0);
  if (wanted[1])
    grads[1] = rule.fit(rule.select(getCondition(), dy[0], zero), getA());
  if (wanted[2])
    grads[2] = rule.fit(rule.select(getCondition(), zero, dy[0]), getB());
  return success();
}

Value CastOp::buildScalarBody(OpBuilder &b, Location loc, ValueRange v) {
  Type from = v[0].getType();
  Type to = getElementTypeOrSelf(getY().getType());
  if (from == to)
    return v[0];
  auto fromFloat = dyn_cast<FloatType>(from), toFloat = dyn_cast<FloatType>(to);
  if (to.isInteger(1)) {
    Value zero = scalarLiteral(b, loc, from, 0.0);
    if (fromFloat)
      return b.create<arith::CmpFOp>(loc, arith::CmpFPredicate::UNE, v[0],
                                     zero);
    return b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ne, v[0], zero);
  }
  if (fromFloat && toFloat) {
    if (fromFloat.getWidth() < toFloat.getWidth())
      return b.create<arith::ExtFOp>(loc, to, v[0]);
    if (fromFloat.getWidth() > toFloat.getWidth())
      return b.create<arith::TruncFOp>(loc, to, v[0]);
    // fp16 and bf16 have equal width: through fp32.
    Value wide = b.create<arith::ExtFOp>(loc, b.getF32Type(), v[0]);
    return b.create<arith::TruncFOp>(loc, to, wide);
  }
  if (fromFloat)
    return b.create<arith::FPToSIOp>(loc, to, v[0]);
  // A boolean is 0 or 1, not 0 or -1.
  if (toFloat)
    return from.isInteger(1) ? Value(b.create<arith::UIToFPOp>(loc, to, v[0]))
                             : Value(b.create<arith::SIToFPOp>(loc, to, v[0]));
  if (from.getIntOrFloatBitWidth() > to.getIntOrFloatBitWidth())
    return b.create<arith::TruncIOp>(loc, to, v[0]);
  return from.isInteger(1) ? Value(b.create<arith::ExtUIOp>(loc, to, v[0]))
                           : Value(b.create<arith::ExtSIOp>(loc, to, v[0]));
}
LogicalResult CastOp::buildVjp(OpBuilder &b, ValueRange dy,
                               ArrayRef<bool> wanted, Grads &grads) {
  grads.push_back(Value());
  if (wanted[0] && dy[0] && isFloat(getX()) && isFloat(getY()))
    grads[0] = b.create<CastOp>(getLoc(), getX().getType(), dy[0]);
  return success();
}

//===----------------------------------------------------------------------===//
// Functions of one operand
//===----------------------------------------------------------------------===//

/// Body by one `math` operation, gradient by a formula in x, y and dy.
#define UNARY(OP, BODY, SLOPE)                                                 \
  Value OP::buildScalarBody(OpBuilder &b, Location loc, ValueRange v){         \
      BODY} LogicalResult OP::buildVjp(OpBuilder &b, ValueRange dy,            \
                                       ArrayRef<bool> wanted, Grads &grads) {  \
    return unaryVjp(*this, b, dy, wanted, grads,                               \
                    []([[maybe_unused]] Rule &r, [[maybe_unused]] Value x,     \
                       [[maybe_unused]] Value y,                               \
                       [[maybe_unused]] Value g) -> Value { SLOPE });          \
  }

UNARY(
    AbsOp,
    {
      if (isa<FloatType>(v[0].getType()))
        return b.create<math::AbsFOp>(loc, v[0]);
      return b.create<math::AbsIOp>(loc, v[0]);
    },
    { return r.mul(g, r.make<SignOp>(x)); })
UNARY(
    NegOp,
    {
      if (isa<FloatType>(v[0].getType()))
        return b.create<arith::NegFOp>(loc, v[0]);
      Value zero = scalarLiteral(b, loc, v[0].getType(), 0.0);
      return b.create<arith::SubIOp>(loc, zero, v[0]);
    },
    { return r.neg(g); })
UNARY(
    ExpOp, { return b.create<math::ExpOp>(loc, v[0]); },
    { return r.mul(g, y); })
UNARY(
    LogOp, { return b.create<math::LogOp>(loc, v[0]); },
    { return r.div(g, x); })
UNARY(
    SqrtOp, { return b.create<math::SqrtOp>(loc, v[0]); },
    { return r.div(r.mul(g, r.scalar(g, 0.5)), y); })
UNARY(
    ErfOp, { return b.create<math::ErfOp>(loc, v[0]); },
    {
      // 2 / sqrt(pi) * exp(-x^2)
      Value bell = r.make<ExpOp>(r.neg(r.mul(x, x)));
      return r.mul(g, r.mul(bell, r.scalar(g, 1.1283791670955126)));
    })
UNARY(
    TanhOp, { return b.create<math::TanhOp>(loc, v[0]); },
    {
      Value square = r.mul(y, y);
      return r.mul(g, r.sub(r.scalar(g, 1.0), square));
    })
UNARY(
    SinOp, { return b.create<math::SinOp>(loc, v[0]); },
    { return r.mul(g, r.make<CosOp>(x)); })
UNARY(
    CosOp, { return b.create<math::CosOp>(loc, v[0]); },
    { return r.neg(r.mul(g, r.make<SinOp>(x))); })
UNARY(
    SigmoidOp,
    {
      Value one = scalarLiteral(b, loc, v[0].getType(), 1.0);
      Value negated = b.create<arith::NegFOp>(loc, v[0]);
      Value grown = b.create<math::ExpOp>(loc, negated);
      Value sum = b.create<arith::AddFOp>(loc, one, grown);
      return b.create<arith::DivFOp>(loc, one, sum);
    },
    { return r.mul(g, r.mul(y, r.sub(r.scalar(g, 1.0), y))); })
UNARY(
    SoftplusOp,
    {
      // max(x, 0) + log1p(exp(-|x|)): no overflow for large x.
      Value zero = scalarLiteral(b, loc, v[0].getType(), 0.0);
      Value magnitude = b.create<math::AbsFOp>(loc, v[0]);
      Value negated = b.create<arith::NegFOp>(loc, magnitude);
      Value grown = b.create<math::ExpOp>(loc, negated);
      Value tail = b.create<math::Log1pOp>(loc, grown);
      Value ramp = b.create<arith::MaximumFOp>(loc, v[0], zero);
      return b.create<arith::AddFOp>(loc, ramp, tail);
    },
    { return r.mul(g, r.make<SigmoidOp>(x)); })
UNARY(
    ReluOp,
    {
      Value zero = scalarLiteral(b, loc, v[0].getType(), 0.0);
      if (isa<FloatType>(v[0].getType()))
        return b.create<arith::MaximumFOp>(loc, v[0], zero);
      return b.create<arith::MaxSIOp>(loc, v[0], zero);
    },
    {
      // Through y, so that x need not be kept; y > 0 exactly where x > 0.
      Value zero = r.scalar(g, 0.0);
      return r.select(r.compare(Predicate::gt, y, zero), g, zero);
    })
UNARY(
    FloorOp, { return b.create<math::FloorOp>(loc, v[0]); },
    { return r.mul(g, r.scalar(g, 0.0)); })
UNARY(
    CeilOp, { return b.create<math::CeilOp>(loc, v[0]); },
    { return r.mul(g, r.scalar(g, 0.0)); })
UNARY(
    RoundOp, { return b.create<math::RoundEvenOp>(loc, v[0]); },
    { return r.mul(g, r.scalar(g, 0.0)); })
UNARY(
    SignOp,
    {
      Type type = v[0].getType();
      Value zero = scalarLiteral(b, loc, type, 0.0);
      Value one = scalarLiteral(b, loc, type, 1.0);
      Value minusOne = scalarLiteral(b, loc, type, -1.0);
      Value above;
      Value below;
      if (isa<FloatType>(type)) {
        above =
            b.create<arith::CmpFOp>(loc, arith::CmpFPredicate::OGT, v[0], zero);
        below =
            b.create<arith::CmpFOp>(loc, arith::CmpFPredicate::OLT, v[0], zero);
      } else {
        above =
            b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::sgt, v[0], zero);
        below =
            b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, v[0], zero);
      }
      // The last choice is x itself: 0 for 0, NaN for NaN.
      Value low = b.create<arith::SelectOp>(loc, below, minusOne, v[0]);
      return b.create<arith::SelectOp>(loc, above, one, low);
    },
    { return r.mul(g, r.scalar(g, 0.0)); })
#undef UNARY

Value NotOp::buildScalarBody(OpBuilder &b, Location loc, ValueRange v) {
  Value one = b.create<arith::ConstantOp>(loc, b.getBoolAttr(true));
  return b.create<arith::XOrIOp>(loc, v[0], one);
}

Value ClipOp::buildScalarBody(OpBuilder &b, Location loc, ValueRange v) {
  Value y = v[0];
  bool isFloatingPoint = isa<FloatType>(y.getType());
  if (getLow()) {
    Value low = scalarLiteral(b, loc, y.getType(), getLow()->convertToDouble());
    y = isFloatingPoint ? Value(b.create<arith::MaximumFOp>(loc, y, low))
                        : Value(b.create<arith::MaxSIOp>(loc, y, low));
  }
  if (getHigh()) {
    Value high =
        scalarLiteral(b, loc, y.getType(), getHigh()->convertToDouble());
    y = isFloatingPoint ? Value(b.create<arith::MinimumFOp>(loc, y, high))
                        : Value(b.create<arith::MinSIOp>(loc, y, high));
  }
  return y;
}
LogicalResult ClipOp::buildVjp(OpBuilder &b, ValueRange dy,
                               ArrayRef<bool> wanted, Grads &grads) {
  std::optional<APFloat> low = getLow(), high = getHigh();
  return unaryVjp(*this, b, dy, wanted, grads,
                  [&](Rule &r, Value x, Value, Value g) {
                    Value zero = r.scalar(g, 0.0);
                    auto limit = [&](Predicate inside, double bound) {
                      Value at = r.scalar(x, bound);
                      g = r.select(r.compare(inside, x, at), g, zero);
                    };
                    if (low)
                      limit(Predicate::ge, low->convertToDouble());
                    if (high)
                      limit(Predicate::le, high->convertToDouble());
                    return g;
                  });
}
