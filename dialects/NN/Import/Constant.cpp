//===- Constant.cpp - Small tensors known at compile time ------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Storage, conversion and the way into the IR of compile-time tensors.
//
//===----------------------------------------------------------------------===//

#include "dialects/NN/Import/Constant.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APInt.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace llvm;
using namespace mlir;

namespace partita::nn::importer {

double roundTo(Type type, double value) {
  if (type.isF64())
    return value;
  if (type.isF32())
    return static_cast<float>(value);
  APFloat number(value);
  bool losesInfo;
  number.convert(cast<FloatType>(type).getFloatSemantics(),
                 APFloat::rmNearestTiesToEven, &losesInfo);
  number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                 &losesInfo);
  return number.convertToDouble();
}

int64_t wrapTo(Type type, int64_t value) {
  unsigned width = type.getIntOrFloatBitWidth();
  if (width == 1)
    return value != 0;
  if (width == 64)
    return value;
  uint64_t low =
      static_cast<uint64_t>(value) & maskTrailingOnes<uint64_t>(width);
  return type.isUnsignedInteger() ? static_cast<int64_t>(low)
                                  : SignExtend64(low, width);
}

SmallVector<int64_t> stridesOf(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i > 1; --i)
    strides[i - 2] = strides[i - 1] * shape[i - 1];
  return strides;
}

SmallVector<int64_t> unravel(int64_t index, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> indices(shape.size(), 0);
  for (size_t i = shape.size(); i > 0; --i) {
    indices[i - 1] = index % shape[i - 1];
    index /= shape[i - 1];
  }
  return indices;
}

Constant Constant::splat(RankedTensorType type, double value) {
  if (isa<IntegerType>(type.getElementType()))
    return splatInt(type, static_cast<int64_t>(value));
  Constant constant;
  constant.type = type;
  constant.splatForm = true;
  constant.floats = {roundTo(type.getElementType(), value)};
  return constant;
}

Constant Constant::splatInt(RankedTensorType type, int64_t value) {
  Constant constant;
  constant.type = type;
  constant.splatForm = true;
  constant.ints = {wrapTo(type.getElementType(), value)};
  return constant;
}

Constant Constant::ofInts(RankedTensorType type, std::vector<int64_t> values) {
  Constant constant;
  constant.type = type;
  constant.ints = std::move(values);
  for (int64_t &value : constant.ints)
    value = wrapTo(type.getElementType(), value);
  return constant;
}

Constant Constant::ofFloats(RankedTensorType type, std::vector<double> values) {
  Constant constant;
  constant.type = type;
  constant.floats = std::move(values);
  for (double &value : constant.floats)
    value = roundTo(type.getElementType(), value);
  return constant;
}

Constant Constant::ofShape(MLIRContext *context, ArrayRef<int64_t> values) {
  auto type = RankedTensorType::get({static_cast<int64_t>(values.size())},
                                    IntegerType::get(context, 64));
  return ofInts(type, values.vec());
}

double Constant::numberAt(int64_t index) const {
  if (isFloat())
    return floatAt(index);
  int64_t value = intAt(index);
  if (elementType().isUnsignedInteger(64))
    return static_cast<double>(static_cast<uint64_t>(value));
  return static_cast<double>(value);
}

SmallVector<int64_t> Constant::getInts() const {
  SmallVector<int64_t> values;
  for (int64_t i = 0, e = size(); i < e; ++i)
    values.push_back(intAt(i));
  return values;
}

Constant Constant::reshaped(ArrayRef<int64_t> shape) const {
  Constant result = *this;
  result.type = RankedTensorType::get(shape, elementType());
  return result;
}

Constant Constant::gathered(ArrayRef<int64_t> shape,
                            llvm::function_ref<int64_t(int64_t)> source) const {
  Constant result = reshaped(shape);
  if (splatForm)
    return result;
  result.ints.clear();
  result.floats.clear();
  for (int64_t i = 0, e = result.size(); i < e; ++i) {
    if (isFloat())
      result.floats.push_back(floats[source(i)]);
    else
      result.ints.push_back(ints[source(i)]);
  }
  return result;
}

std::optional<Constant> Constant::castTo(Type to) const {
  Constant result;
  result.type = RankedTensorType::get(getShape(), to);
  result.splatForm = splatForm;
  int64_t count = splatForm ? 1 : size();
  for (int64_t i = 0; i < count; ++i) {
    if (isa<FloatType>(to)) {
      result.floats.push_back(roundTo(to, numberAt(i)));
    } else if (!isFloat()) {
      result.ints.push_back(wrapTo(to, intAt(i)));
    } else if (to.isInteger(1)) {
      result.ints.push_back(floatAt(i) != 0.0);
    } else {
      double value = std::trunc(floatAt(i));
      // 2^63 is the first double that does not fit.
      if (!(value >= -0x1.0p63 && value < 0x1.0p63))
        return std::nullopt;
      result.ints.push_back(wrapTo(to, static_cast<int64_t>(value)));
    }
  }
  return result;
}

DenseElementsAttr Constant::toAttribute() const {
  int64_t count = splatForm ? std::min<int64_t>(size(), 1) : size();
  if (auto floatType = dyn_cast<FloatType>(elementType())) {
    SmallVector<APFloat> values;
    for (int64_t i = 0; i < count; ++i) {
      APFloat value(floats[i]);
      bool losesInfo;
      value.convert(floatType.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                    &losesInfo);
      values.push_back(value);
    }
    return DenseElementsAttr::get(type, values);
  }
  SmallVector<APInt> values;
  unsigned width = elementType().getIntOrFloatBitWidth();
  for (int64_t i = 0; i < count; ++i)
    values.emplace_back(width, static_cast<uint64_t>(ints[i]) &
                                   maskTrailingOnes<uint64_t>(width));
  return DenseElementsAttr::get(type, values);
}

} // namespace partita::nn::importer
