//===- NNVariableOps.td - Weights, state and constants ----*- tablegen -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Variables live as long as the program; operations read and assign them by
// symbol. Small literals are nn.constant.
//===----------------------------------------------------------------------===//

#ifndef PARTITA_DIALECTS_NN_IR_NNVARIABLEOPS_TD
#define PARTITA_DIALECTS_NN_IR_NNVARIABLEOPS_TD

include "NNBase.td"

def NN_VariableOp : NN_Op<"variable", [Symbol]> {
  let summary = "a tensor that outlives a step";
  let description = [{
    A parameter, running statistic, optimizer state or constant. `initial` is
    `#nn.file`, `#nn.random` or a splat `dense<...>`. The symbol is the name
    of the ONNX initializer (optimizer state: the parameter's name, a dot, and
    the state's name).

        nn.variable @"conv1.weight" parameter
            : tensor<6x1x5x5xf32> = #nn.file<"lenet5.onnx", 1184, 600>

    Constraints: (C1) the type has a static shape; (C2) the initial value is
    a file reference of exactly the tensor's bytes, a random rule on a
    floating-point tensor, or dense elements of the tensor's type; (C3) a
    parameter is floating-point.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, NN_RoleAttr:$role,
                       TypeAttrOf<NN_Tensor>:$type, AnyAttr:$initial);
  let assemblyFormat = [{
    $sym_name $role `:` $type `=` $initial attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::RankedTensorType getTensorType() {
      return ::llvm::cast<::mlir::RankedTensorType>(getType());
    }
  }];
}

def NN_ReadOp : NN_Op<"read", [
    MemoryEffects<[MemRead]>,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the present value of a variable";
  let description = [{
    Constraints: (C1) the symbol names an nn.variable; (C2) the result has the
    variable's type. After partitioning the result is the rank's part, so (C2)
    compares element type and rank only.
  }];
  let arguments = (ins FlatSymbolRefAttr:$variable);
  let results = (outs NN_Tensor:$value);
  let assemblyFormat = "$variable attr-dict `:` type($value)";
}

def NN_AssignOp : NN_Op<"assign", [
    MemoryEffects<[MemWrite]>,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "give a variable a new value";
  let description = [{
    Used for running statistics; parameters are written by the optimizer
    operations. Takes effect for reads of the next step.

    Constraints: (C1) the symbol names an nn.variable; (C2) the value has the
    variable's element type and rank; (C3) the variable is no constant.
  }];
  let arguments = (ins FlatSymbolRefAttr:$variable, NN_Tensor:$value);
  let assemblyFormat = "$variable `,` $value attr-dict `:` type($value)";
}

def NN_ConstantOp : NN_Op<"constant", [Pure, ConstantLike,
    PartitionableMethods, AllTypesMatch<["value", "y"]>]> {
  let summary = "a small literal tensor";
  let description = [{
    Scalars and small tables. Larger data are variables.

    Constraints: (C1) at most 4096 elements, unless the value is a splat.
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = "$value attr-dict";
  let hasFolder = 1;
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Optimizer updates
//===----------------------------------------------------------------------===//

class NN_UpdateOp<string mnemonic> : NN_Op<mnemonic, [
    MemoryEffects<[MemRead, MemWrite]>,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]>;

def NN_SgdOp : NN_UpdateOp<"sgd"> {
  let summary = "stochastic gradient descent with momentum";
  let description = [{
    With learning rate lr (a run-time value) and g' = g + weight_decay * w:

        m = momentum * m + g'      d = nesterov ? g' + momentum * m : m
        w = w - lr * d

    the rule of Sutskever et al. (ICML'13) in the form PyTorch uses. Without
    momentum there is no state and d = g'.

    Constraints: (C1) the symbol names a parameter of the gradient's type;
    (C2) a state variable is given exactly when momentum is not zero, and has
    the parameter's type; (C3) momentum lies in [0, 1) and weight_decay is not
    negative; (C4) nesterov needs momentum.
  }];
  let arguments = (ins FlatSymbolRefAttr:$variable, NN_FloatTensor:$grad,
    OptionalAttr<FlatSymbolRefAttr>:$state,
    DefaultValuedAttr<F64Attr, "0.0">:$momentum,
    DefaultValuedAttr<F64Attr, "0.0">:$weight_decay,
    UnitAttr:$nesterov);
  let assemblyFormat = [{
    $variable (`state` $state^)? `,` $grad attr-dict `:` type($grad)
  }];
}

def NN_AdamOp : NN_UpdateOp<"adam"> {
  let summary = "Adam, with coupled or decoupled weight decay";
  let description = [{
    Kingma and Ba, ICLR'15, algorithm 1; t is the run-time step count from 1.
    Coupled decay adds weight_decay * w to the gradient; decoupled decay
    (AdamW, Loshchilov and Hutter, ICLR'19) first scales w by
    1 - lr * weight_decay.

        m = beta1 * m + (1 - beta1) * g     v = beta2 * v + (1 - beta2) * g^2
        w = w - lr / (1 - beta1^t) * m / (sqrt(v) / sqrt(1 - beta2^t) + eps)

    Constraints: (C1) the symbol names a parameter of the gradient's type;
    (C2) both moments name variables of the parameter's type; (C3) beta1 and
    beta2 lie in [0, 1), eps is positive, weight_decay is not negative.
  }];
  let arguments = (ins FlatSymbolRefAttr:$variable, NN_FloatTensor:$grad,
    FlatSymbolRefAttr:$first_moment, FlatSymbolRefAttr:$second_moment,
    DefaultValuedAttr<F64Attr, "0.9">:$beta1,
    DefaultValuedAttr<F64Attr, "0.999">:$beta2,
    DefaultValuedAttr<F64Attr, "1.0e-8">:$eps,
    DefaultValuedAttr<F64Attr, "0.0">:$weight_decay,
    UnitAttr:$decoupled);
  let assemblyFormat = [{
    $variable `moments` $first_moment `,` $second_moment `,` $grad attr-dict
    `:` type($grad)
  }];
}

#endif // PARTITA_DIALECTS_NN_IR_NNVARIABLEOPS_TD
