//===- VariableVerifiers.cpp - Rules of variables and updates -------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Verifiers of variables, of the operations that name them, and of constants.
//
//===----------------------------------------------------------------------===//

#include "dialects/NN/IR/NNOps.h"

using namespace mlir;
using namespace partita::nn;

namespace {

constexpr int64_t kMaxLiteralElements = 4096;

/// The variable that `symbol` names, or null after an error.
VariableOp findVariable(Operation *op, FlatSymbolRefAttr symbol,
                        SymbolTableCollection &symbols) {
  auto variable = symbols.lookupNearestSymbolFrom<VariableOp>(op, symbol);
  if (!variable)
    op->emitOpError() << "names " << symbol << ", which is no nn.variable";
  return variable;
}

/// Whether `part` can be a rank's part of `whole`: same element type and rank.
bool isPartOf(RankedTensorType part, RankedTensorType whole) {
  return part.getElementType() == whole.getElementType() &&
         part.getRank() == whole.getRank();
}

LogicalResult verifyUpdate(Operation *op, FlatSymbolRefAttr symbol, Value grad,
                           ArrayRef<FlatSymbolRefAttr> states,
                           SymbolTableCollection &symbols) {
  // C1
  VariableOp variable = findVariable(op, symbol, symbols);
  if (!variable)
    return failure();
  if (variable.getRole() != Role::parameter)
    return op->emitOpError()
           << "updates " << symbol << ", which is no "
           << "parameter but " << stringifyRole(variable.getRole());
  if (!isPartOf(tensorType(grad), variable.getTensorType()))
    return op->emitOpError()
           << "gradient has type " << grad.getType() << " but " << symbol
           << " is " << variable.getType();
  // C2
  for (FlatSymbolRefAttr state : states) {
    VariableOp moment = findVariable(op, state, symbols);
    if (!moment)
      return failure();
    if (moment.getType() != variable.getType())
      return op->emitOpError()
             << "state " << state << " has type " << moment.getType()
             << ", expected that of " << symbol << ", " << variable.getType();
  }
  return success();
}

} // namespace

LogicalResult VariableOp::verify() {
  // C1
  auto type = dyn_cast<RankedTensorType>(getType());
  if (!type || !type.hasStaticShape())
    return emitOpError() << "needs a tensor type with a static shape, found "
                         << getType();
  // C2
  if (auto file = dyn_cast<FileAttr>(getInitial())) {
    if (file.getLength() != byteSize(type))
      return emitOpError() << "is initialised by " << file.getLength()
                           << " bytes of a file, but " << type << " takes "
                           << byteSize(type);
  } else if (isa<RandomAttr>(getInitial())) {
    if (!isa<FloatType>(type.getElementType()))
      return emitOpError() << "has a random initial value but no "
                              "floating-point type: "
                           << type;
  } else if (auto elements = dyn_cast<ElementsAttr>(getInitial())) {
    if (elements.getType() != type)
      return emitOpError() << "initial value has type " << elements.getType()
                           << ", expected " << type;
  } else {
    return emitOpError() << "initial value must be a file reference, a random "
                            "rule or dense elements, found "
                         << getInitial();
  }
  // C3
  if (getRole() == Role::parameter && !isa<FloatType>(type.getElementType()))
    return emitOpError() << "is a parameter of type " << type
                         << "; only floating-point tensors are trained";
  return success();
}

LogicalResult ReadOp::verifySymbolUses(SymbolTableCollection &symbols) {
  // C1
  VariableOp variable = findVariable(*this, getVariableAttr(), symbols);
  if (!variable)
    return failure();
  // C2
  if (!isPartOf(tensorType(getValue()), variable.getTensorType()))
    return emitOpError() << "has type " << getValue().getType() << " but "
                         << getVariableAttr() << " is " << variable.getType();
  return success();
}

LogicalResult AssignOp::verifySymbolUses(SymbolTableCollection &symbols) {
  // C1
  VariableOp variable = findVariable(*this, getVariableAttr(), symbols);
  if (!variable)
    return failure();
  // C2
  if (!isPartOf(tensorType(getValue()), variable.getTensorType()))
    return emitOpError() << "value has type " << getValue().getType() << " but "
                         << getVariableAttr() << " is " << variable.getType();
  // C3
  if (variable.getRole() == Role::constant)
    return emitOpError() << "writes the constant " << getVariableAttr();
  return success();
}

LogicalResult SgdOp::verifySymbolUses(SymbolTableCollection &symbols) {
  double momentum = getMomentum().convertToDouble();
  SmallVector<FlatSymbolRefAttr> states;
  if (getStateAttr())
    states.push_back(getStateAttr());
  // C1, C2
  if (failed(
          verifyUpdate(*this, getVariableAttr(), getGrad(), states, symbols)))
    return failure();
  if ((momentum != 0.0) != static_cast<bool>(getStateAttr()))
    return emitOpError() << "needs a state variable exactly when momentum is "
                            "not zero, found momentum "
                         << momentum;
  // C3
  if (!(momentum >= 0.0 && momentum < 1.0) ||
      !(getWeightDecay().convertToDouble() >= 0.0))
    return emitOpError("needs momentum in [0, 1) and a weight_decay that is "
                       "not negative");
  // C4
  if (getNesterov() && momentum == 0.0)
    return emitOpError("nesterov needs momentum");
  return success();
}

LogicalResult AdamOp::verifySymbolUses(SymbolTableCollection &symbols) {
  // C1, C2
  if (failed(verifyUpdate(*this, getVariableAttr(), getGrad(),
                          {getFirstMomentAttr(), getSecondMomentAttr()},
                          symbols)))
    return failure();
  // C3
  auto isRate = [](double v) { return v >= 0.0 && v < 1.0; };
  if (!isRate(getBeta1().convertToDouble()) ||
      !isRate(getBeta2().convertToDouble()) ||
      !(getEps().convertToDouble() > 0.0) ||
      !(getWeightDecay().convertToDouble() >= 0.0))
    return emitOpError("needs beta1 and beta2 in [0, 1), a positive eps and a "
                       "weight_decay that is not negative");
  return success();
}

LogicalResult ConstantOp::verify() {
  // C1
  if (getValue().getNumElements() > kMaxLiteralElements &&
      !getValue().isSplat())
    return emitOpError() << "holds " << getValue().getNumElements()
                         << " elements; more than " << kMaxLiteralElements
                         << " belong into an nn.variable";
  return success();
}
