//===- NNDialect.td - The layer graph dialect ------------*- tablegen -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The dialect, its enumerations and attributes, and the tensor constraint that
// every operation of the dialect uses.
//===----------------------------------------------------------------------===//

#ifndef PARTITA_DIALECTS_NN_IR_NNDIALECT_TD
#define PARTITA_DIALECTS_NN_IR_NNDIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def NN_Dialect : Dialect {
  let name = "nn";
  let cppNamespace = "::partita::nn";
  let summary = "layers, their gradients, losses and optimizer updates";
  let description = [{
    The layer graph of a model: a curated set of operations without opset
    versions, on statically shaped tensors with value semantics.

    Place in the lowering:

        ONNX file --import--> nn (forward) --train--> nn (@step, @eval, @predict)
                  --plan--> nn + dist attributes --partition--> nn on local
                  shapes + spmd collectives --schedule--> spmd buffers

    Entry state: one function `@forward` whose arguments are the data inputs
    (attributes `nn.name`, `nn.batch_dim`), every weight an `nn.variable`.
    Exit state: the same operations on the local shapes of a rank class;
    scheduling replaces each by an `spmd.launch` of the same name.

    Weights never appear in the text: a variable's initial value is a
    reference into the file it came from (`#nn.file`), a splat, or a random
    rule. Gradients are ordinary `nn` operations.
  }];
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"
  ];
}

//===----------------------------------------------------------------------===//
// Enumerations
//===----------------------------------------------------------------------===//

def NN_ReduceKind : I32EnumAttr<"ReduceKind", "how a reduction combines", [
    I32EnumAttrCase<"sum", 0>, I32EnumAttrCase<"max", 1>,
    I32EnumAttrCase<"min", 2>, I32EnumAttrCase<"prod", 3>]> {
  let cppNamespace = "::partita::nn";
  let genSpecializedAttr = 0;
}
def NN_ReduceKindAttr : EnumAttr<NN_Dialect, NN_ReduceKind, "kind">;

def NN_Role : I32EnumAttr<"Role", "what a variable is to the training program", [
    I32EnumAttrCase<"parameter", 0>,  // trained
    I32EnumAttrCase<"state", 1>,      // running statistics
    I32EnumAttrCase<"optimizer", 2>,  // moments
    I32EnumAttrCase<"constant", 3>]> {// never written
  let cppNamespace = "::partita::nn";
  let genSpecializedAttr = 0;
}
def NN_RoleAttr : EnumAttr<NN_Dialect, NN_Role, "role">;

def NN_Predicate : I32EnumAttr<"Predicate", "an ordered comparison", [
    I32EnumAttrCase<"eq", 0>, I32EnumAttrCase<"ne", 1>,
    I32EnumAttrCase<"lt", 2>, I32EnumAttrCase<"le", 3>,
    I32EnumAttrCase<"gt", 4>, I32EnumAttrCase<"ge", 5>]> {
  let cppNamespace = "::partita::nn";
  let genSpecializedAttr = 0;
}
def NN_PredicateAttr : EnumAttr<NN_Dialect, NN_Predicate, "predicate">;

def NN_BatchNormMode : I32EnumAttr<"BatchNormMode",
    "which statistics BatchNormalization uses in the training step", [
    I32EnumAttrCase<"global", 0>,   // of the global batch
    I32EnumAttrCase<"local", 1>,    // of each rank's part of the batch
    I32EnumAttrCase<"frozen", 2>]> {// the running statistics, never updated
  let cppNamespace = "::partita::nn";
  let genSpecializedAttr = 0;
}
def NN_BatchNormModeAttr : EnumAttr<NN_Dialect, NN_BatchNormMode, "bn_mode">;

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

def NN_FileAttr : AttrDef<NN_Dialect, "File"> {
  let mnemonic = "file";
  let summary = "bytes of a tensor inside a file";
  let description = [{
    Where the little-endian, row-major data of a variable lie. The file is
    mapped when the bytes are needed, so that neither the IR nor the
    compiler's memory grows with the model.

        #nn.file<"lenet5.onnx", 1184, 600>

    Constraints: (C1) the path is not empty; (C2) offset and length are not
    negative; (C3) when it initialises a variable, the length is the size of
    the variable's tensor in bytes.
  }];
  let parameters = (ins StringRefParameter<"path as the user named it">:$path,
                        "int64_t":$offset, "int64_t":$length);
  let assemblyFormat = "`<` $path `,` $offset `,` $length `>`";
  let genVerifyDecl = 1;
}

def NN_RandomAttr : AttrDef<NN_Dialect, "Random"> {
  let mnemonic = "random";
  let summary = "random initial values by a named rule";
  let description = [{
    Values drawn with Philox by global element index, so that they depend on
    the seed and the variable's name but on no layout. `rule` is `uniform` in
    [-scale, scale) or `normal` with standard deviation `scale`; the named
    rules of the command line (he_normal, xavier_uniform, ...) are resolved to
    one of the two with a scale computed from the tensor's fan. `stream`
    separates variables.

        #nn.random<"normal", 5.000000e-02 : f64, 7, 3>

    Constraints: (C1) the rule is `uniform` or `normal`; (C2) the scale is
    finite and not negative.
  }];
  let parameters = (ins StringRefParameter<"uniform or normal">:$rule,
                        "::mlir::FloatAttr":$scale, "int64_t":$seed, "int64_t":$stream);
  let assemblyFormat =
      "`<` $rule `,` $scale `,` $seed `,` $stream `>`";
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

// Integers are signless, as arith wants them; unsigned ONNX tensors are
// widened by the importer.
def NN_Tensor : StaticShapeTensorOf<[F16, BF16, F32, F64, I1, I8, I16, I32,
                                     I64]>;
def NN_FloatTensor : StaticShapeTensorOf<[F16, BF16, F32, F64]>;
def NN_BoolTensor : StaticShapeTensorOf<[I1]>;
def NN_IndexTensor : StaticShapeTensorOf<[I32, I64]>;

#endif // PARTITA_DIALECTS_NN_IR_NNDIALECT_TD
