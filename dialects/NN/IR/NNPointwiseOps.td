//===- NNPointwiseOps.td - Element by element -------------*- tablegen -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Point-wise operations and the fused region that scheduling makes of them.
//===----------------------------------------------------------------------===//

#ifndef PARTITA_DIALECTS_NN_IR_NNPOINTWISEOPS_TD
#define PARTITA_DIALECTS_NN_IR_NNPOINTWISEOPS_TD

include "NNBase.td"

//===----------------------------------------------------------------------===//
// Arithmetic with numpy broadcasting
//===----------------------------------------------------------------------===//

def NN_AddOp : NN_BinaryOp<"add", [Commutative]> {
  let summary = "a + b";
}
def NN_SubOp : NN_BinaryOp<"sub"> { let summary = "a - b"; }
def NN_MulOp : NN_BinaryOp<"mul", [Commutative]> {
  let summary = "a * b";
}
def NN_DivOp : NN_BinaryOp<"div"> {
  let summary = "a / b; integers truncate towards zero";
}
def NN_PowOp : NN_BinaryOp<"pow"> { let summary = "a to the power b"; }
def NN_MaxOp : NN_BinaryOp<"max"> {
  let summary = "the larger operand; NaN if either is NaN";
  let description = [{
    Where both are equal each operand receives half of the gradient, so that
    Max(x, x) passes the whole of it.
  }];
}
def NN_MinOp : NN_BinaryOp<"min"> {
  let summary = "the smaller operand; NaN if either is NaN";
}

def NN_CompareOp : NN_PointwiseOp<"compare", [NN_InferType]> {
  let summary = "ordered comparison; false when an operand is NaN, but `ne`";
  let arguments = (ins NN_PredicateAttr:$predicate, NN_Tensor:$a,
                       NN_Tensor:$b);
  let results = (outs NN_BoolTensor:$y);
  let assemblyFormat = [{
    $predicate `,` $a `,` $b attr-dict `:` type($a) `,` type($b)
  }];
}

def NN_SelectOp : NN_PointwiseOp<"select", [NN_InferType,
                                            DifferentiableMethods]> {
  let summary = "where `condition` holds a, elsewhere b";
  let arguments = (ins NN_BoolTensor:$condition, NN_Tensor:$a, NN_Tensor:$b);
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = [{
    $condition `,` $a `,` $b attr-dict
    `:` type($condition) `,` type($a) `,` type($b)
  }];
}

def NN_CastOp : NN_PointwiseOp<"cast", [DifferentiableMethods,
                                        SameOperandsAndResultShape]> {
  let summary = "conversion of the element type";
  let description = [{
    Floating-point to integer truncates towards zero; any number to i1 tests
    against zero. The gradient stops where either side is an integer.
  }];
  let arguments = (ins NN_Tensor:$x);
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
}

//===----------------------------------------------------------------------===//
// Functions of one operand
//===----------------------------------------------------------------------===//

def NN_AbsOp : NN_UnaryOp<"abs"> { let summary = "magnitude"; }
def NN_NegOp : NN_UnaryOp<"neg"> { let summary = "negation"; }
def NN_ExpOp : NN_UnaryOp<"exp"> { let summary = "e to the power x"; }
def NN_LogOp : NN_UnaryOp<"log"> { let summary = "natural logarithm"; }
def NN_SqrtOp : NN_UnaryOp<"sqrt"> { let summary = "square root"; }
def NN_ErfOp : NN_UnaryOp<"erf"> { let summary = "error function"; }
def NN_TanhOp : NN_UnaryOp<"tanh"> { let summary = "hyperbolic tangent"; }
def NN_SinOp : NN_UnaryOp<"sin"> { let summary = "sine"; }
def NN_CosOp : NN_UnaryOp<"cos"> { let summary = "cosine"; }
def NN_SigmoidOp : NN_UnaryOp<"sigmoid"> {
  let summary = "1 / (1 + exp(-x))";
}
def NN_SoftplusOp : NN_UnaryOp<"softplus"> {
  let summary = "log(1 + exp(x)), computed without overflow";
}
def NN_ReluOp : NN_UnaryOp<"relu"> {
  let summary = "max(x, 0); the derivative at 0 is 0, NaN stays NaN";
}
def NN_FloorOp : NN_UnaryOp<"floor"> {
  let summary = "largest integer not above x; gradient zero";
}
def NN_CeilOp : NN_UnaryOp<"ceil"> {
  let summary = "smallest integer not below x; gradient zero";
}
def NN_RoundOp : NN_UnaryOp<"round"> {
  let summary = "nearest integer, ties to even; gradient zero";
}
def NN_SignOp : NN_UnaryOp<"sign"> {
  let summary = "-1, 0 or 1; gradient zero";
}
def NN_NotOp : NN_PointwiseOp<"not", [SameOperandsAndResultType]> {
  let summary = "logical negation";
  let arguments = (ins NN_BoolTensor:$x);
  let results = (outs NN_BoolTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}
def NN_ClipOp : NN_PointwiseOp<"clip", [SameOperandsAndResultType,
                                        DifferentiableMethods]> {
  let summary = "x limited to [low, high]";
  let description = [{
    An absent bound does not limit. The gradient passes at the bounds
    themselves, as in PyTorch's clamp. NaN stays NaN.

    Constraints: (C1) low is not above high.
  }];
  let arguments = (ins NN_Tensor:$x, OptionalAttr<F64Attr>:$low,
                       OptionalAttr<F64Attr>:$high);
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Fusion
//===----------------------------------------------------------------------===//

def NN_FusedOp : NN_TensorOp<"fused", [PartitionableMethods,
    SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "several point-wise operations as one loop";
  let description = [{
    The region computes one element of each result from one element of each
    operand, with `arith` and `math` operations on scalars. Operands are
    broadcast to `shape` by numpy's rule; results have exactly that shape.

        %y = nn.fused(%x, %b : tensor<8x10xf32>, tensor<10xf32>)
            -> tensor<8x10xf32> {
        ^bb0(%0: f32, %1: f32):
          %2 = arith.addf %0, %1 : f32
          nn.yield %2 : f32
        }

    Constraints: (C1) one block argument per operand, of its element type;
    (C2) all results have the same shape; (C3) each operand broadcasts to it;
    (C4) the yield has one value per result, of its element type; (C5) the
    region holds only `arith` and `math` operations.
  }];
  let arguments = (ins Variadic<NN_Tensor>:$inputs);
  let results = (outs Variadic<NN_Tensor>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `(` ($inputs^ `:` type($inputs))? `)` attr-dict
    `->` type($outputs) $body
  }];
  let hasVerifier = 1;
}

def NN_YieldOp : NN_Op<"yield", [Pure, Terminator,
    ParentOneOf<["::partita::nn::FusedOp"]>]> {
  let summary = "the elements of a fused operation's results";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
  let builders = [OpBuilder<(ins), [{ (void)$_builder; (void)$_state; }]>];
}

#endif // PARTITA_DIALECTS_NN_IR_NNPOINTWISEOPS_TD
