//===- Constants.cpp - Import of constants and shapes ----------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operators whose results are known once shapes are.
//
//===----------------------------------------------------------------------===//

#include "dialects/NN/Import/Builders.h"
#include "dialects/NN/Import/Importer.h"

#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace llvm;
using namespace mlir;

namespace partita::nn::importer {
namespace {

RankedTensorType vectorType(size_t size, Type elementType) {
  return RankedTensorType::get({static_cast<int64_t>(size)}, elementType);
}

/// Results from attributes that are no tensor; false when there is none.
bool setFromNumbers(NodeContext &c) {
  Type i64 = c.builder.getI64Type(), f32 = c.builder.getF32Type();
  auto scalarOf = [](Type type) { return RankedTensorType::get({}, type); };
  auto weight = [&](const Constant &constant) {
    c.setWeight(0, std::make_shared<const Constant>(constant),
                /*tensor=*/nullptr, constant.getType());
  };
  if (c.hasAttribute("value_int")) {
    c.set(0, Constant::ofInts(scalarOf(i64), {c.intAttribute("value_int", 0)}));
  } else if (c.hasAttribute("value_float")) {
    c.set(0, Constant::ofFloats(scalarOf(f32),
                                {c.floatAttribute("value_float", 0.0)}));
  } else if (c.hasAttribute("value_ints")) {
    SmallVector<int64_t> values =
        c.intsAttribute("value_ints").value_or(SmallVector<int64_t>());
    c.set(0, Constant::ofInts(vectorType(values.size(), i64),
                              {values.begin(), values.end()}));
  } else if (c.hasAttribute("value_floats")) {
    SmallVector<double> values =
        c.floatsAttribute("value_floats").value_or(SmallVector<double>());
    weight(Constant::ofFloats(vectorType(values.size(), f32),
                              {values.begin(), values.end()}));
  } else {
    return false;
  }
  return true;
}

} // namespace

LogicalResult buildConstant(NodeContext &c) {
  for (StringRef name : {"sparse_value", "value_string", "value_strings"})
    if (c.hasAttribute(name))
      return c.error("attribute '" + name +
                     "' holds no dense numbers, which cannot be trained on");
  if (const onnx::TensorProto *tensor = c.tensorAttribute("value")) {
    Expected<RankedTensorType> type = c.getImporter().file.getType(*tensor);
    if (!type)
      return c.error("attribute 'value': " + toString(type.takeError()));
    c.setWeight(0, /*constant=*/nullptr, tensor, *type);
    return success();
  }
  if (!c.hasFailed() && !setFromNumbers(c))
    return c.error("no attribute gives the value");
  return success();
}

LogicalResult buildConstantOfShape(NodeContext &c) {
  std::optional<SmallVector<int64_t>> shape = c.fixedInts(0);
  if (!shape)
    return failure();
  Type elementType = c.builder.getF32Type();
  std::optional<Constant> value;
  if (const onnx::TensorProto *tensor = c.tensorAttribute("value")) {
    Expected<Constant> given = c.getImporter().file.getConstant(*tensor);
    if (!given)
      return c.error("attribute 'value': " + toString(given.takeError()));
    if (given->size() != 1)
      return c.error("attribute 'value' has " + Twine(given->size()) +
                     " elements, expected one");
    elementType = given->elementType();
    value = std::move(*given);
  }
  RankedTensorType type = c.resultType(*shape, elementType);
  if (!type)
    return failure();
  Constant result =
      value && !value->isFloat()
          ? Constant::splatInt(type, value->intAt(0))
          : Constant::splat(type, value ? value->floatAt(0) : 0.0);
  c.setWeight(0, std::make_shared<const Constant>(std::move(result)),
              /*tensor=*/nullptr, type);
  return success();
}

LogicalResult buildShape(NodeContext &c) {
  int64_t rank = c.rank(0);
  // Bounds outside the rank are moved to its ends.
  auto bound = [&](int64_t axis) {
    return std::clamp<int64_t>(axis < 0 ? axis + rank : axis, 0, rank);
  };
  int64_t start = 0, end = rank;
  if (c.opset() >= 15) {
    start = bound(std::max(c.intAttribute("start", 0), -rank));
    end = bound(std::max(c.intAttribute("end", rank), -rank));
  }
  ArrayRef<int64_t> shape = c.shape(0);
  c.set(0, Constant::ofShape(c.builder.getContext(),
                             start < end ? shape.slice(start, end - start)
                                         : ArrayRef<int64_t>()));
  return success();
}

LogicalResult buildSize(NodeContext &c) {
  c.set(0, Constant::ofInts(RankedTensorType::get({}, c.builder.getI64Type()),
                            {c.type(0).getNumElements()}));
  return success();
}

LogicalResult buildRange(NodeContext &c) {
  c.ignoreAttribute("stash_type");
  const Constant *parts[3];
  for (unsigned i = 0; i < 3; ++i) {
    parts[i] = c.fixedInput(i);
    if (!parts[i])
      return c.error(c.describe(i) + " is not known at compile time");
    if (parts[i]->size() != 1 || failed(c.requireSameElements(0, i)))
      return c.hasFailed() ? failure()
                           : c.error(c.describe(i) + " is no scalar");
  }
  double start = parts[0]->numberAt(0), limit = parts[1]->numberAt(0),
         delta = parts[2]->numberAt(0);
  double count = std::ceil((limit - start) / delta);
  if (delta == 0.0 || !std::isfinite(count))
    return c.error("a range from " + std::to_string(start) + " to " +
                   std::to_string(limit) + " by " + std::to_string(delta));
  count = std::max(count, 0.0);
  if (count > static_cast<double>(kConstantLimit))
    return c.error("a range of more than " + Twine(kConstantLimit) +
                   " numbers");
  auto type = vectorType(static_cast<size_t>(count), c.elementType(0));
  std::vector<int64_t> ints;
  std::vector<double> floats;
  for (int64_t i = 0, e = type.getNumElements(); i < e; ++i) {
    if (c.isFloat(0))
      floats.push_back(start + static_cast<double>(i) * delta);
    else
      // Unsigned, because the numbers may wrap around.
      ints.push_back(
          static_cast<int64_t>(static_cast<uint64_t>(parts[0]->intAt(0)) +
                               static_cast<uint64_t>(i) *
                                   static_cast<uint64_t>(parts[2]->intAt(0))));
  }
  if (c.isFloat(0))
    c.set(0, Constant::ofFloats(type, std::move(floats)));
  else
    c.set(0, Constant::ofInts(type, std::move(ints)));
  return success();
}

} // namespace partita::nn::importer
