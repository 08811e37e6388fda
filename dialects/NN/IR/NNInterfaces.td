//===- NNInterfaces.td - What an operation says once ------*- tablegen -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Gradient rules, iteration spaces and scalar bodies. Everything else that
// later phases need (legal splits, collectives, costs, kernels) is derived.
//===----------------------------------------------------------------------===//

#ifndef PARTITA_DIALECTS_NN_IR_NNINTERFACES_TD
#define PARTITA_DIALECTS_NN_IR_NNINTERFACES_TD

include "mlir/IR/OpBase.td"

def NN_PointwiseOpInterface : OpInterface<"PointwiseOpInterface"> {
  let cppNamespace = "::partita::nn";
  let description = [{
    An operation whose result element depends on the operands' elements at the
    same (numpy-broadcast) index only. It builds its scalar body from `arith`
    and `math`; fusion concatenates such bodies into one `nn.fused`.
  }];
  let methods = [
    InterfaceMethod<[{
      Build the scalar computation on `operands`, one scalar per operand, and
      return the scalar result.
    }], "::mlir::Value", "buildScalarBody",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc,
           "::mlir::ValueRange":$operands)>
  ];
}

def NN_DifferentiableOp : OpInterface<"DifferentiableOp"> {
  let cppNamespace = "::partita::nn";
  let description = [{
    An operation that has a vector-Jacobian product.
  }];
  let methods = [
    InterfaceMethod<[{
      Append the gradient of each operand, given the gradients of the results
      (null where a result has no gradient). `wanted` says for which operands a
      gradient is needed; the others, and operands without one (integers),
      stay null. Fails after a diagnostic when the product cannot be built.
    }], "::llvm::LogicalResult", "buildVjp",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$resultGrads,
           "::llvm::ArrayRef<bool>":$wanted,
           "::llvm::SmallVectorImpl<::mlir::Value> &":$operandGrads)>
  ];
}

def NN_PartitionableOp : OpInterface<"PartitionableOp"> {
  let cppNamespace = "::partita::nn";
  let description = [{
    An operation that states its iteration space: named dimensions, their
    kind and role, and how each dimension of each operand and result is
    indexed by them (see IterationSpace.h).
  }];
  let methods = [
    InterfaceMethod<"Return the iteration space.",
      "::partita::nn::IterationSpace", "getIterationSpace", (ins)>,
    InterfaceMethod<[{
      The operand or result whose place in the whole tensor the operation must
      know, because its numbers depend on it (masks, indices); null for none.
      The attribute `layout` then says how it is cut, and each rank computes
      where its part begins.
    }], "::mlir::Value", "getPlacedValue", (ins),
      /*methodBody=*/"", /*defaultImplementation=*/"return {};">,
    InterfaceMethod<[{
      Rewrite the attributes of this clone of `whole`, which works on `part`.
      Operand and result types are already local; only attributes that hold
      sizes or places change.
    }], "void", "localizeAttributes",
      (ins "::mlir::Operation *":$whole,
           "const ::partita::nn::LocalPart &":$part),
      /*methodBody=*/"",
      /*defaultImplementation=*/"(void)whole; (void)part;">
  ];
}

#endif // PARTITA_DIALECTS_NN_IR_NNINTERFACES_TD
