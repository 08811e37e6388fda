//===- NNOps.h - The operations of the layer graph dialect -----*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The operations of the dialect `nn` and the shape rules their builders and
// verifiers share.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_DIALECTS_NN_IR_NNOPS_H
#define PARTITA_DIALECTS_NN_IR_NNOPS_H

#include "dialects/NN/IR/NNDialect.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include <optional>

namespace partita::nn {

template <typename OpT> using PropertiesOf = typename OpT::Properties;

/// Infers result types for `OpT` from its properties and its attributes: the
/// parser has put an attribute into the one or the other, depending on where it
/// stands in the text. Fails after a diagnostic when an operand has no ranked
/// tensor type, because no operand has been verified yet.
template <typename OpT>
llvm::LogicalResult inferWithProperties(
    mlir::MLIRContext *context, std::optional<mlir::Location> location,
    mlir::ValueRange operands, mlir::DictionaryAttr attributes,
    mlir::OpaqueProperties properties, mlir::RegionRange regions,
    llvm::SmallVectorImpl<mlir::Type> &types) {
  auto report = [&] {
    return mlir::emitError(location.value_or(mlir::UnknownLoc::get(context)));
  };
  for (mlir::Type type : operands.getTypes())
    if (!llvm::isa<mlir::RankedTensorType>(type))
      return report() << "'" << OpT::getOperationName()
                      << "' needs tensors of known shape, found " << type;
  if constexpr (!llvm::is_detected<PropertiesOf, OpT>::value) {
    typename OpT::Adaptor adaptor(operands, attributes, {}, regions);
    return OpT::inferReturnTypes(context, location, adaptor, types);
  } else {
    typename OpT::Properties converted;
    if (properties)
      converted = *properties.as<typename OpT::Properties *>();
    if (attributes &&
        mlir::failed(OpT::setPropertiesFromAttr(converted, attributes, report)))
      return mlir::failure();
    OpT::populateDefaultProperties(
        mlir::OperationName(OpT::getOperationName(), context), converted);
    typename OpT::Adaptor adaptor(operands, attributes, converted, regions);
    return OpT::inferReturnTypes(context, location, adaptor, types);
  }
}

} // namespace partita::nn

#define GET_OP_CLASSES
#include "dialects/NN/IR/NNOps.h.inc"

namespace partita::nn {

/// The static tensor type of `value`; every nn value has one.
inline mlir::RankedTensorType tensorType(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType());
}

/// Shape of `value`.
inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value value) {
  return tensorType(value).getShape();
}

/// Numpy broadcast of two shapes, or nullopt when they do not fit.
std::optional<llvm::SmallVector<int64_t>>
broadcastShapes(llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b);

/// Output size of a window over `size` elements (ONNX operator Conv):
/// floor((size + padBegin + padEnd - dilation * (kernel - 1) - 1) / stride)
/// + 1, or ceil in place of floor; not positive when the kernel does not fit.
/// In ceil mode a last window that would begin in the end padding is dropped.
int64_t windowOutputSize(int64_t size, int64_t kernel, int64_t stride,
                         int64_t dilation, int64_t padBegin, int64_t padEnd,
                         bool ceilMode);

/// Bytes of a tensor's data; a boolean takes one byte.
int64_t byteSize(mlir::RankedTensorType type);

/// The shape of `shape` without the dimensions `axes`.
llvm::SmallVector<int64_t> withoutAxes(llvm::ArrayRef<int64_t> shape,
                                       llvm::ArrayRef<int64_t> axes);

/// A rank-0 constant of `elementType` with the given value, for use as a
/// broadcast operand.
mlir::Value scalarConstant(mlir::OpBuilder &builder, mlir::Location loc,
                           mlir::Type elementType, double value);

/// Sum `grad` down to `shape`: the adjoint of broadcasting `shape` to the
/// shape of `grad`.
mlir::Value sumToShape(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value grad, llvm::ArrayRef<int64_t> shape);

/// Checks that every function of `module` is one straight line of operations on
/// tensors of known shape, which passes then rely on. Reports the first
/// function or operation that is not.
llvm::LogicalResult verifyFunctions(mlir::ModuleOp module);

/// Whether `op` is an optimizer update, of which there is one per parameter.
bool isUpdate(mlir::Operation *op);

/// The parameter that an update changes.
llvm::StringRef updatedVariable(mlir::Operation *update);

/// The state variables of an update, in the order of its attributes.
llvm::SmallVector<llvm::StringRef> updatedStates(mlir::Operation *update);

/// The attributes of an update apart from the variables it names: updates of
/// one kind that agree in them do the same arithmetic.
mlir::DictionaryAttr updateParameters(mlir::Operation *update);

/// Build the scalar constant `value` of a float or integer type with `arith`.
mlir::Value scalarLiteral(mlir::OpBuilder &builder, mlir::Location loc,
                          mlir::Type type, double value);

} // namespace partita::nn

#endif // PARTITA_DIALECTS_NN_IR_NNOPS_H
