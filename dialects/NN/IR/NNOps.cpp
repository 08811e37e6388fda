//===- NNOps.cpp - Operation classes of nn --------------------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The generated operation classes, folders, and small shared rules.
//
//===----------------------------------------------------------------------===//

#include "dialects/NN/IR/NNOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace partita::nn;

#define GET_OP_CLASSES
#include "dialects/NN/IR/NNOps.cpp.inc"

void ReduceOp::build(OpBuilder &builder, OperationState &state, ReduceKind kind,
                     Value x, ArrayRef<int64_t> axes, double scale,
                     bool local) {
  build(builder, state, ReduceKindAttr::get(builder.getContext(), kind), x,
        builder.getDenseI64ArrayAttr(axes), builder.getF64FloatAttr(scale),
        local ? builder.getUnitAttr() : UnitAttr());
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValueAttr(); }

OpFoldResult ReshapeOp::fold(FoldAdaptor) {
  if (getX().getType() == getType())
    return getX();
  return {};
}

std::optional<SmallVector<int64_t>>
partita::nn::broadcastShapes(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  SmallVector<int64_t> result(std::max(a.size(), b.size()));
  for (size_t i = 0, e = result.size(); i < e; ++i) {
    // Trailing dimensions align; a missing leading one counts as 1.
    int64_t sizeA = i + a.size() >= e ? a[i + a.size() - e] : 1;
    int64_t sizeB = i + b.size() >= e ? b[i + b.size() - e] : 1;
    if (sizeA != sizeB && sizeA != 1 && sizeB != 1)
      return std::nullopt;
    result[i] = sizeA == 1 ? sizeB : sizeA;
  }
  return result;
}

int64_t partita::nn::byteSize(RankedTensorType type) {
  Type element = type.getElementType();
  int64_t bytes = (element.getIntOrFloatBitWidth() + 7) / 8;
  return type.getNumElements() * bytes;
}

SmallVector<int64_t> partita::nn::withoutAxes(ArrayRef<int64_t> shape,
                                              ArrayRef<int64_t> axes) {
  SmallVector<int64_t> kept;
  for (int64_t i = 0, e = shape.size(); i < e; ++i)
    if (!llvm::is_contained(axes, i))
      kept.push_back(shape[i]);
  return kept;
}

Value partita::nn::scalarConstant(OpBuilder &builder, Location loc,
                                  Type elementType, double value) {
  auto type = RankedTensorType::get({}, elementType);
  Attribute element;
  if (isa<FloatType>(elementType))
    element = builder.getFloatAttr(elementType, value);
  else
    element = builder.getIntegerAttr(elementType, static_cast<int64_t>(value));
  return builder.create<ConstantOp>(
      loc, type, cast<ElementsAttr>(DenseElementsAttr::get(type, element)));
}

Value partita::nn::sumToShape(OpBuilder &builder, Location loc, Value grad,
                              ArrayRef<int64_t> shape) {
  ArrayRef<int64_t> from = shapeOf(grad);
  if (from == shape)
    return grad;
  SmallVector<int64_t> axes;
  size_t lead = from.size() - shape.size();
  for (size_t i = 0; i < from.size(); ++i)
    if (i < lead || (shape[i - lead] == 1 && from[i] != 1))
      axes.push_back(i);
  if (!axes.empty())
    grad = builder.create<ReduceOp>(loc, ReduceKind::sum, grad, axes);
  if (shapeOf(grad) != shape)
    grad = builder.create<ReshapeOp>(
        loc, RankedTensorType::get(shape, tensorType(grad).getElementType()),
        grad);
  return grad;
}

LogicalResult partita::nn::verifyFunctions(ModuleOp module) {
  auto isKnown = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.hasStaticShape();
  };
  for (auto function : module.getOps<FunctionOpInterface>()) {
    if (!function.getFunctionBody().hasOneBlock())
      return function->emitError("needs a body of one block");
    for (Type type : function.getArgumentTypes())
      if (!isKnown(type))
        return function->emitError() << "has an argument of type " << type
                                     << "; expected tensors of known shape";
    for (Operation &op : function.getFunctionBody().front())
      for (Type type : op.getResultTypes())
        if (!isKnown(type))
          return op.emitError() << "has a result of type " << type
                                << "; expected tensors of known shape";
  }
  return success();
}

Value partita::nn::scalarLiteral(OpBuilder &builder, Location loc, Type type,
                                 double value) {
  TypedAttr attr = isa<FloatType>(type)
                       ? cast<TypedAttr>(builder.getFloatAttr(type, value))
                       : cast<TypedAttr>(builder.getIntegerAttr(
                             type, static_cast<int64_t>(value)));
  return builder.create<arith::ConstantOp>(loc, attr);
}

bool partita::nn::isUpdate(Operation *op) { return isa<SgdOp, AdamOp>(op); }

StringRef partita::nn::updatedVariable(Operation *update) {
  if (auto sgd = dyn_cast<SgdOp>(update))
    return sgd.getVariable();
  return cast<AdamOp>(update).getVariable();
}

SmallVector<StringRef> partita::nn::updatedStates(Operation *update) {
  if (auto adam = dyn_cast<AdamOp>(update))
    return {adam.getFirstMoment(), adam.getSecondMoment()};
  if (auto state = cast<SgdOp>(update).getState())
    return {*state};
  return {};
}

DictionaryAttr partita::nn::updateParameters(Operation *update) {
  NamedAttrList parameters;
  for (NamedAttribute attribute : update->getAttrDictionary())
    if (!isa<FlatSymbolRefAttr>(attribute.getValue()))
      parameters.append(attribute);
  return parameters.getDictionary(update->getContext());
}
