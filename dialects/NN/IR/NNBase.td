//===- NNBase.td - Base classes of nn operations ----------*- tablegen -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Base classes shared by the operation families.
//===----------------------------------------------------------------------===//

#ifndef PARTITA_DIALECTS_NN_IR_NNBASE_TD
#define PARTITA_DIALECTS_NN_IR_NNBASE_TD

include "NNDialect.td"
include "NNInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"

defvar PartitionableMethods = DeclareOpInterfaceMethods<NN_PartitionableOp>;
defvar DifferentiableMethods = DeclareOpInterfaceMethods<NN_DifferentiableOp>;
// For operations whose attributes hold sizes that a split changes.
defvar PartitionableLocalizing =
    DeclareOpInterfaceMethods<NN_PartitionableOp, ["localizeAttributes"]>;

// For operations whose numbers depend on the place of a tensor's part.
defvar PartitionablePlaced =
    DeclareOpInterfaceMethods<NN_PartitionableOp, ["getPlacedValue"]>;

// The result type is inferred. The parser asks for it before attributes have
// become properties, so they are converted first.
def NN_InferType : TraitList<[
  DeclareOpInterfaceMethods<InferTypeOpInterface>,
  NativeOpTrait<"InferTypeOpAdaptor", [], [{
    static ::llvm::LogicalResult inferReturnTypes(
        ::mlir::MLIRContext *context,
        std::optional<::mlir::Location> location, Adaptor adaptor,
        ::llvm::SmallVectorImpl<::mlir::Type> &inferredReturnTypes);
  }], [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(
        ::mlir::MLIRContext *context,
        std::optional<::mlir::Location> location,
        ::mlir::ValueRange operands, ::mlir::DictionaryAttr attributes,
        ::mlir::OpaqueProperties properties, ::mlir::RegionRange regions,
        ::llvm::SmallVectorImpl<::mlir::Type> &inferredReturnTypes) {
      return ::partita::nn::inferWithProperties<$cppClass>(
          context, location, operands, attributes, properties, regions,
          inferredReturnTypes);
    }
  }]>
]>;

class NN_Op<string mnemonic, list<Trait> traits = []>
    : Op<NN_Dialect, mnemonic, traits>;

// A pure computation on tensors with an iteration space.
class NN_TensorOp<string mnemonic, list<Trait> traits = []>
    : NN_Op<mnemonic, !listconcat([Pure], traits)>;

// Point-wise: the iteration space is the result's shape for all of them.
class NN_PointwiseOp<string mnemonic, list<Trait> traits = []>
    : NN_TensorOp<mnemonic, !listconcat([
        DeclareOpInterfaceMethods<NN_PointwiseOpInterface>,
        PartitionableMethods], traits)> {
  let extraClassDefinition = [{
    ::partita::nn::IterationSpace $cppClass::getIterationSpace() {
      return ::partita::nn::pointwiseSpace(getOperation());
    }
  }];
}

class NN_UnaryOp<string mnemonic, list<Trait> traits = []>
    : NN_PointwiseOp<mnemonic, !listconcat([SameOperandsAndResultType,
                                            DifferentiableMethods], traits)> {
  let arguments = (ins NN_Tensor:$x);
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}

class NN_BinaryOp<string mnemonic, list<Trait> traits = []>
    : NN_PointwiseOp<mnemonic, !listconcat([NN_InferType,
                                            DifferentiableMethods], traits)> {
  let arguments = (ins NN_Tensor:$a, NN_Tensor:$b);
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = "$a `,` $b attr-dict `:` type($a) `,` type($b)";
}

#endif // PARTITA_DIALECTS_NN_IR_NNBASE_TD
