//===- Evaluate.cpp - Arithmetic on compile-time tensors -------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Point-wise evaluation and reductions on constants.
//
//===----------------------------------------------------------------------===//

#include "dialects/NN/Import/Evaluate.h"

#include "dialects/NN/IR/NNOps.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace llvm;
using namespace mlir;

namespace partita::nn::importer {
namespace {

// Wrap-around without the undefined overflow of signed integers.
int64_t wrapAdd(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) +
                              static_cast<uint64_t>(b));
}
int64_t wrapSub(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) -
                              static_cast<uint64_t>(b));
}
int64_t wrapMul(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) *
                              static_cast<uint64_t>(b));
}

bool lessThan(int64_t a, int64_t b, bool isUnsigned) {
  return isUnsigned ? static_cast<uint64_t>(a) < static_cast<uint64_t>(b)
                    : a < b;
}

std::optional<int64_t> intPower(int64_t base, int64_t exponent) {
  if (exponent < 0)
    return std::nullopt;
  int64_t result = 1;
  for (; exponent > 0; exponent >>= 1, base = wrapMul(base, base))
    if (exponent & 1)
      result = wrapMul(result, base);
  return result;
}

std::optional<int64_t> compute(Arithmetic op, int64_t a, int64_t b,
                               bool isUnsigned) {
  auto ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
  switch (op) {
  case Arithmetic::add:
    return wrapAdd(a, b);
  case Arithmetic::sub:
    return wrapSub(a, b);
  case Arithmetic::mul:
    return wrapMul(a, b);
  case Arithmetic::div:
    if (b == 0)
      return std::nullopt;
    if (isUnsigned)
      return static_cast<int64_t>(ua / ub);
    return b == -1 ? wrapSub(0, a) : a / b;
  case Arithmetic::mod:
  case Arithmetic::fmod: {
    if (b == 0)
      return std::nullopt;
    if (isUnsigned)
      return static_cast<int64_t>(ua % ub);
    if (b == -1)
      return 0;
    int64_t rest = a % b;
    // Mod has the sign of the divisor, fmod that of the dividend.
    if (op == Arithmetic::mod && rest != 0 && (rest < 0) != (b < 0))
      rest += b;
    return rest;
  }
  case Arithmetic::pow:
    return intPower(a, b);
  case Arithmetic::max:
    return lessThan(a, b, isUnsigned) ? b : a;
  case Arithmetic::min:
    return lessThan(a, b, isUnsigned) ? a : b;
  }
  llvm_unreachable("all operations are handled");
}

double compute(Arithmetic op, double a, double b) {
  switch (op) {
  case Arithmetic::add:
    return a + b;
  case Arithmetic::sub:
    return a - b;
  case Arithmetic::mul:
    return a * b;
  case Arithmetic::div:
    return a / b;
  case Arithmetic::mod:
  case Arithmetic::fmod:
    return std::fmod(a, b);
  case Arithmetic::pow:
    return std::pow(a, b);
  case Arithmetic::max:
    return std::isnan(a) || a > b ? a : b;
  case Arithmetic::min:
    return std::isnan(a) || a < b ? a : b;
  }
  llvm_unreachable("all operations are handled");
}

double compute(Function op, double x) {
  switch (op) {
  case Function::abs:
    return std::fabs(x);
  case Function::neg:
    return -x;
  case Function::exp:
    return std::exp(x);
  case Function::log:
    return std::log(x);
  case Function::sqrt:
    return std::sqrt(x);
  case Function::floor:
    return std::floor(x);
  case Function::ceil:
    return std::ceil(x);
  case Function::round:
    return std::nearbyint(x);
  case Function::sign:
    return x > 0 ? 1.0 : x < 0 ? -1.0 : x;
  case Function::logicalNot:
    return x == 0;
  case Function::reciprocal:
    return 1.0 / x;
  case Function::erf:
    return std::erf(x);
  case Function::tanh:
    return std::tanh(x);
  case Function::sigmoid:
    return 1.0 / (1.0 + std::exp(-x));
  case Function::sin:
    return std::sin(x);
  case Function::cos:
    return std::cos(x);
  case Function::softplus:
    return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
  case Function::relu:
    return x < 0 ? 0.0 : x;
  }
  llvm_unreachable("all functions are handled");
}

std::optional<int64_t> compute(Function op, int64_t x, bool isUnsigned) {
  switch (op) {
  case Function::abs:
    return !isUnsigned && x < 0 ? wrapSub(0, x) : x;
  case Function::neg:
    return wrapSub(0, x);
  case Function::sign:
    return x == 0 ? 0 : (isUnsigned || x > 0) ? 1 : -1;
  case Function::logicalNot:
    return x == 0;
  case Function::floor:
  case Function::ceil:
  case Function::round:
    return x;
  case Function::relu:
    return !isUnsigned && x < 0 ? 0 : x;
  default:
    return std::nullopt;
  }
}

bool holds(Predicate predicate, bool less, bool equal, bool unordered) {
  switch (predicate) {
  case Predicate::eq:
    return equal;
  case Predicate::ne:
    return !equal;
  case Predicate::lt:
    return less;
  case Predicate::le:
    return less || equal;
  case Predicate::gt:
    return !unordered && !less && !equal;
  case Predicate::ge:
    return !unordered && !less;
  }
  llvm_unreachable("all predicates are handled");
}

/// Where the element of a broadcast operand lies for each element of the
/// result.
class BroadcastIndex {
public:
  BroadcastIndex(ArrayRef<int64_t> from, ArrayRef<int64_t> to)
      : shape(to), strides(to.size(), 0) {
    SmallVector<int64_t> own = stridesOf(from);
    for (size_t i = 0; i < from.size(); ++i)
      if (from[i] != 1)
        strides[to.size() - from.size() + i] = own[i];
  }
  int64_t operator()(int64_t index) const {
    int64_t place = 0;
    for (auto [i, stride] : llvm::zip(unravel(index, shape), strides))
      place += i * stride;
    return place;
  }

private:
  SmallVector<int64_t> shape, strides;
};

/// The common shape of operands, when it is small enough to evaluate.
std::optional<SmallVector<int64_t>> commonShape(ArrayRef<int64_t> a,
                                                ArrayRef<int64_t> b) {
  std::optional<SmallVector<int64_t>> shape = broadcastShapes(a, b);
  if (!shape)
    return std::nullopt;
  int64_t count = 1;
  for (int64_t size : *shape) {
    if (size > 0 && count > kConstantLimit / size)
      return std::nullopt;
    count *= std::max<int64_t>(size, 1);
  }
  return shape;
}

} // namespace

std::optional<Constant> evaluate(Arithmetic op, const Constant &a,
                                 const Constant &b) {
  std::optional<SmallVector<int64_t>> shape =
      commonShape(a.getShape(), b.getShape());
  if (!shape || a.elementType() != b.elementType())
    return std::nullopt;
  auto type = RankedTensorType::get(*shape, a.elementType());
  BroadcastIndex indexA(a.getShape(), *shape), indexB(b.getShape(), *shape);
  std::vector<int64_t> ints;
  std::vector<double> floats;
  for (int64_t i = 0, e = type.getNumElements(); i < e; ++i) {
    if (a.isFloat()) {
      floats.push_back(compute(op, a.floatAt(indexA(i)), b.floatAt(indexB(i))));
      continue;
    }
    std::optional<int64_t> value =
        compute(op, a.intAt(indexA(i)), b.intAt(indexB(i)),
                a.elementType().isUnsignedInteger());
    if (!value)
      return std::nullopt;
    ints.push_back(*value);
  }
  if (a.isFloat())
    return Constant::ofFloats(type, std::move(floats));
  return Constant::ofInts(type, std::move(ints));
}

std::optional<Constant> evaluate(Function op, const Constant &a) {
  if (!a.isSmall() && !a.isSplat())
    return std::nullopt;
  RankedTensorType type = a.getType();
  int64_t count = a.isSplat() ? 1 : a.size();
  std::vector<int64_t> ints;
  std::vector<double> floats;
  for (int64_t i = 0; i < count; ++i) {
    if (a.isFloat()) {
      floats.push_back(compute(op, a.floatAt(i)));
      continue;
    }
    std::optional<int64_t> value =
        compute(op, a.intAt(i), a.elementType().isUnsignedInteger());
    if (!value)
      return std::nullopt;
    ints.push_back(*value);
  }
  if (a.isSplat())
    return a.isFloat() ? Constant::splat(type, floats[0])
                       : Constant::splatInt(type, ints[0]);
  if (a.isFloat())
    return Constant::ofFloats(type, std::move(floats));
  return Constant::ofInts(type, std::move(ints));
}

std::optional<Constant> evaluate(Predicate predicate, const Constant &a,
                                 const Constant &b) {
  std::optional<SmallVector<int64_t>> shape =
      commonShape(a.getShape(), b.getShape());
  if (!shape || a.elementType() != b.elementType())
    return std::nullopt;
  auto type = RankedTensorType::get(
      *shape, IntegerType::get(a.elementType().getContext(), 1));
  BroadcastIndex indexA(a.getShape(), *shape), indexB(b.getShape(), *shape);
  bool isUnsigned = a.elementType().isUnsignedInteger();
  std::vector<int64_t> values;
  for (int64_t i = 0, e = type.getNumElements(); i < e; ++i) {
    int64_t ia = indexA(i), ib = indexB(i);
    if (a.isFloat()) {
      double x = a.floatAt(ia), y = b.floatAt(ib);
      values.push_back(
          holds(predicate, x < y, x == y, std::isnan(x) || std::isnan(y)));
    } else {
      int64_t x = a.intAt(ia), y = b.intAt(ib);
      values.push_back(holds(predicate, lessThan(x, y, isUnsigned), x == y,
                             /*unordered=*/false));
    }
  }
  return Constant::ofInts(type, std::move(values));
}

std::optional<Constant> evaluateSelect(const Constant &condition,
                                       const Constant &a, const Constant &b) {
  std::optional<SmallVector<int64_t>> values =
      commonShape(a.getShape(), b.getShape());
  if (!values || a.elementType() != b.elementType())
    return std::nullopt;
  std::optional<SmallVector<int64_t>> shape =
      commonShape(condition.getShape(), *values);
  if (!shape)
    return std::nullopt;
  auto type = RankedTensorType::get(*shape, a.elementType());
  BroadcastIndex indexA(a.getShape(), *shape), indexB(b.getShape(), *shape),
      indexC(condition.getShape(), *shape);
  std::vector<int64_t> ints;
  std::vector<double> floats;
  for (int64_t i = 0, e = type.getNumElements(); i < e; ++i) {
    bool first = condition.intAt(indexC(i)) != 0;
    if (a.isFloat())
      floats.push_back(first ? a.floatAt(indexA(i)) : b.floatAt(indexB(i)));
    else
      ints.push_back(first ? a.intAt(indexA(i)) : b.intAt(indexB(i)));
  }
  if (a.isFloat())
    return Constant::ofFloats(type, std::move(floats));
  return Constant::ofInts(type, std::move(ints));
}

std::optional<Constant> evaluateReduce(ReduceKind kind, const Constant &a,
                                       ArrayRef<int64_t> axes, double scale) {
  if (!a.isSmall() || (scale != 1.0 && !a.isFloat()))
    return std::nullopt;
  SmallVector<int64_t> shape = withoutAxes(a.getShape(), axes);
  auto type = RankedTensorType::get(shape, a.elementType());
  int64_t count = type.getNumElements();
  // The largest and smallest of nothing are undefined.
  if (a.size() == 0)
    return std::nullopt;
  SmallVector<int64_t> strides = stridesOf(shape);
  std::vector<bool> started(count, false);
  std::vector<int64_t> ints(a.isFloat() ? 0 : count, 0);
  std::vector<double> floats(a.isFloat() ? count : 0, 0.0);
  Arithmetic op = kind == ReduceKind::sum   ? Arithmetic::add
                  : kind == ReduceKind::max ? Arithmetic::max
                  : kind == ReduceKind::min ? Arithmetic::min
                                            : Arithmetic::mul;
  for (int64_t i = 0, e = a.size(); i < e; ++i) {
    int64_t place = 0;
    size_t kept = 0;
    for (auto [axis, index] : llvm::enumerate(unravel(i, a.getShape())))
      if (!llvm::is_contained(axes, static_cast<int64_t>(axis)))
        place += index * strides[kept++];
    if (a.isFloat())
      floats[place] = started[place]
                          ? roundTo(a.elementType(),
                                    compute(op, floats[place], a.floatAt(i)))
                          : a.floatAt(i);
    else
      ints[place] = started[place]
                        ? *compute(op, ints[place], a.intAt(i),
                                   a.elementType().isUnsignedInteger())
                        : a.intAt(i);
    started[place] = true;
  }
  if (!a.isFloat())
    return Constant::ofInts(type, std::move(ints));
  for (double &value : floats)
    value *= scale;
  return Constant::ofFloats(type, std::move(floats));
}

std::optional<Constant> evaluateBroadcast(const Constant &a,
                                          ArrayRef<int64_t> shape) {
  if (a.isSplat())
    return a.reshaped(shape);
  if (!commonShape(a.getShape(), shape))
    return std::nullopt;
  BroadcastIndex index(a.getShape(), shape);
  return a.gathered(shape, index);
}

} // namespace partita::nn::importer
