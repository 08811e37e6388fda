//===- FusedOp.cpp - The fused point-wise region --------------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Verification of nn.fused and the iteration space it shares with all
// point-wise operations.
//
//===----------------------------------------------------------------------===//

#include "dialects/NN/IR/NNOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace partita::nn;

LogicalResult FusedOp::verify() {
  if (getOutputs().empty())
    return emitOpError("needs at least one result");
  Block &body = getBody().front();
  // C1
  if (body.getNumArguments() != getInputs().size())
    return emitOpError() << "has " << getInputs().size()
                         << " operands but its region takes "
                         << body.getNumArguments();
  for (auto [argument, input] : llvm::zip(body.getArguments(), getInputs()))
    if (argument.getType() != tensorType(input).getElementType())
      return emitOpError() << "region argument " << argument.getArgNumber()
                           << " has type " << argument.getType()
                           << ", expected the operand's element type "
                           << tensorType(input).getElementType();
  // C2
  ArrayRef<int64_t> shape = shapeOf(getOutputs()[0]);
  for (Value output : getOutputs())
    if (shapeOf(output) != shape)
      return emitOpError("has results of different shapes");
  // C3
  for (Value input : getInputs()) {
    auto common = broadcastShapes(shapeOf(input), shape);
    if (!common || ArrayRef<int64_t>(*common) != shape)
      return emitOpError() << "operand of type " << input.getType()
                           << " does not broadcast to the results' shape";
  }
  // C4
  auto yield = cast<YieldOp>(body.getTerminator());
  if (yield.getValues().size() != getOutputs().size())
    return emitOpError() << "has " << getOutputs().size()
                         << " results but yields " << yield.getValues().size()
                         << " values";
  for (auto [value, output] : llvm::zip(yield.getValues(), getOutputs()))
    if (value.getType() != tensorType(output).getElementType())
      return emitOpError() << "yields " << value.getType()
                           << " for a result of type " << output.getType();
  // C5
  for (Operation &op : body.without_terminator())
    if (!isa_and_nonnull<arith::ArithDialect, math::MathDialect>(
            op.getDialect()))
      return op.emitOpError(
          "is neither an arith nor a math operation inside nn.fused");
  return success();
}

IterationSpace FusedOp::getIterationSpace() {
  return pointwiseSpace(getOperation());
}

IterationSpace partita::nn::pointwiseSpace(Operation *op) {
  IterationSpace space;
  ArrayRef<int64_t> shape = shapeOf(op->getResult(0));
  for (auto [i, size] : llvm::enumerate(shape))
    space.addDim("d" + std::to_string(i), size);
  TensorMap whole;
  for (size_t i = 0; i < shape.size(); ++i)
    whole.push_back(direct(i));
  for (Value operand : op->getOperands()) {
    ArrayRef<int64_t> from = shapeOf(operand);
    TensorMap map;
    for (size_t i = 0; i < from.size(); ++i) {
      size_t dim = i + shape.size() - from.size();
      // A size-1 dimension under a larger one is read by every index.
      bool isBroadcast = from[i] == 1 && shape[dim] != 1;
      map.push_back(isBroadcast ? wholeDim() : direct(dim));
    }
    space.operands.push_back(map);
  }
  for (unsigned i = 0; i < op->getNumResults(); ++i)
    space.results.push_back(whole);
  return space;
}
