//===- NNTensorOps.td - Shapes, reductions, softmax, losses -*- tablegen -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Reductions, operations that move elements, softmax and losses.
//===----------------------------------------------------------------------===//

#ifndef PARTITA_DIALECTS_NN_IR_NNTENSOROPS_TD
#define PARTITA_DIALECTS_NN_IR_NNTENSOROPS_TD

include "NNBase.td"

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

def NN_ReduceOp : NN_TensorOp<"reduce", [NN_InferType,
    PartitionableLocalizing, DifferentiableMethods]> {
  let summary = "scale * reduction over `axes`, which vanish from the shape";
  let description = [{
    A mean is a sum with scale 1/count; the scale stays that of the whole
    tensor when the reduction is split. With `local` a split of a reduced
    dimension is not combined: every rank keeps the value of its part and the
    scale is that of the part (BatchNormMode::local).

        %m = nn.reduce sum %x {axes = array<i64: 0, 2, 3>,
            scale = 1.250000e-01 : f64} : tensor<2x3x2x2xf32>

    Constraints: (C1) axes are distinct dimensions of x in increasing order;
    (C2) scale is 1 unless the kind is sum.
  }];
  let arguments = (ins NN_ReduceKindAttr:$kind, NN_Tensor:$x,
    DenseI64ArrayAttr:$axes, DefaultValuedAttr<F64Attr, "1.0">:$scale,
    UnitAttr:$local);
  let results = (outs NN_Tensor:$y);
  let builders = [OpBuilder<(ins "::partita::nn::ReduceKind":$kind,
    "::mlir::Value":$x, "::llvm::ArrayRef<int64_t>":$axes,
    CArg<"double", "1.0">:$scale, CArg<"bool", "false">:$local)>];
  let assemblyFormat = "$kind $x attr-dict `:` type($x)";
  let hasVerifier = 1;
}

def NN_VarianceOp : NN_TensorOp<"variance", [AllTypesMatch<["mean", "y"]>,
                                             PartitionableLocalizing]> {
  let summary = "scale * sum (x - mean)^2 over `axes`";
  let description = [{
    The second pass of the two-pass variance; a split of a reduced dimension
    leaves partial sums around the same mean. `local` as in nn.reduce.

    Constraints: (C1) as nn.reduce; (C2) mean has the shape of the kept
    dimensions.
  }];
  let arguments = (ins NN_FloatTensor:$x, NN_FloatTensor:$mean,
    DenseI64ArrayAttr:$axes, F64Attr:$scale, UnitAttr:$local);
  let results = (outs NN_FloatTensor:$y);
  let assemblyFormat = "$x `,` $mean attr-dict `:` type($x) `,` type($mean)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Movement
//===----------------------------------------------------------------------===//

def NN_ReshapeOp : NN_TensorOp<"reshape", [PartitionableMethods,
                                           DifferentiableMethods]> {
  let summary = "the same elements in row-major order under another shape";
  let description = [{
    Constraints: (C1) same number of elements and element type.
  }];
  let arguments = (ins NN_Tensor:$x);
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def NN_TransposeOp : NN_TensorOp<"transpose", [NN_InferType,
    PartitionableMethods, DifferentiableMethods]> {
  let summary = "dimension i of the result is dimension permutation[i] of x";
  let description = [{
    Constraints: (C1) permutation is one of x's dimensions.
  }];
  let arguments = (ins NN_Tensor:$x, DenseI64ArrayAttr:$permutation);
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}

def NN_BroadcastOp : NN_TensorOp<"broadcast", [PartitionableMethods,
                                               DifferentiableMethods]> {
  let summary = "numpy broadcast to the result's shape";
  let description = [{
    Constraints: (C1) x broadcasts to the result's shape.
  }];
  let arguments = (ins NN_Tensor:$x);
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
  let hasVerifier = 1;
}

def NN_SliceOp : NN_TensorOp<"slice", [NN_InferType,
    PartitionableLocalizing, DifferentiableMethods]> {
  let summary = "elements start, start + step, ... of each dimension";
  let description = [{
    `sizes` elements per dimension; a negative step walks backwards.

    Constraints: (C1) one start, size and step per dimension, step not 0;
    (C2) every index lies inside x.
  }];
  let arguments = (ins NN_Tensor:$x, DenseI64ArrayAttr:$starts,
    DenseI64ArrayAttr:$sizes, DenseI64ArrayAttr:$steps);
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x)";
  let hasVerifier = 1;
}

def NN_PadOp : NN_TensorOp<"pad", [NN_InferType, PartitionableLocalizing,
                                   DifferentiableMethods]> {
  let summary = "constant elements before, between and after";
  let description = [{
    `low` and `high` may be negative (cropping), `interior` may not. Also the
    gradient of nn.slice.

    Constraints: (C1) one low, interior and high per dimension; (C2) interior
    is not negative and no size becomes negative.
  }];
  let arguments = (ins NN_Tensor:$x, DenseI64ArrayAttr:$low,
    DenseI64ArrayAttr:$interior, DenseI64ArrayAttr:$high,
    DefaultValuedAttr<F64Attr, "0.0">:$value);
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}

def NN_ConcatOp : NN_TensorOp<"concat", [NN_InferType,
    PartitionableMethods, DifferentiableMethods]> {
  let summary = "operands one after the other along `axis`";
  let description = [{
    Constraints: (C1) at least one operand; axis is one of its dimensions;
    (C2) all operands agree in element type and all other sizes.
  }];
  let arguments = (ins Variadic<NN_Tensor>:$inputs, I64Attr:$axis);
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = "$inputs attr-dict `:` type($inputs)";
}

def NN_IotaOp : NN_TensorOp<"iota", [PartitionablePlaced]> {
  let summary = "0, 1, 2, ...";
  let description = [{
    Element i is i, counted in the whole tensor of `size` elements of which the
    result may be a part.

    Constraints: (C1) the result has one dimension of at most `size` elements.
  }];
  let arguments = (ins I64Attr:$size);
  let results = (outs NN_FloatTensor:$y);
  let assemblyFormat = "attr-dict `:` type($y)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Look-ups
//===----------------------------------------------------------------------===//

def NN_GatherOp : NN_TensorOp<"gather", [NN_InferType,
    PartitionablePlaced, DifferentiableMethods]> {
  let summary = "rows of a table at indices known at run time";
  let description = [{
    The dimension `axis` of the table is replaced by the dimensions of the
    indices (ONNX Gather): y[c0, i..., c1] = table[c0, indices[i...], c1].
    Negative indices count from the end.

        %y = nn.gather %table, %tokens {axis = 0 : i64, limit = 61 : i64}
            : tensor<61x32xf32>, tensor<8x16xi64>

    `limit` is the size of the whole table along `axis`; an index outside
    [-limit, limit) stops the program. The operand holds the rows
    [start, start + size) of it, and an index of a row held elsewhere gives
    zeros, so that the parts of a table that is split over ranks add up to the
    result. Ranks of one class hold different rows of tables of one size: with
    `layout`, the layout of the whole table, each finds its own start.

    Constraints: (C1) axis is a dimension of the table; (C2) start is not
    negative and the rows held lie inside the limit.
  }];
  let arguments = (ins NN_Tensor:$table, NN_IndexTensor:$indices,
    I64Attr:$axis, I64Attr:$limit, DefaultValuedAttr<I64Attr, "0">:$start,
    OptionalAttr<AnyAttr>:$layout);
  let results = (outs NN_Tensor:$y);
  let builders = [OpBuilder<(ins "::mlir::Value":$table,
    "::mlir::Value":$indices, "int64_t":$axis)>];
  let assemblyFormat = [{
    $table `,` $indices attr-dict `:` type($table) `,` type($indices)
  }];
  let hasVerifier = 1;
}

def NN_ScatterAddOp : NN_TensorOp<"scatter_add", [PartitionablePlaced,
                                                  DifferentiableMethods]> {
  let summary = "sums of rows by index: the gradient of nn.gather";
  let description = [{
    Row v of the result is the sum of all dy whose index is v, in the order of
    the indices; rows without one are 0. `axis`, `limit`, `start` and `layout`
    are those of the gather, whose table is the result here; dy of rows held
    elsewhere are left out.

        %d = nn.scatter_add %dy, %tokens {axis = 0 : i64, limit = 61 : i64}
            : tensor<8x16x32xf32>, tensor<8x16xi64> -> tensor<61x32xf32>

    Constraints: (C1) axis is a dimension of the result; (C2) start is not
    negative and the rows held lie inside the limit; (C3) gathering from the
    result gives dy's type.
  }];
  let arguments = (ins NN_FloatTensor:$dy, NN_IndexTensor:$indices,
    I64Attr:$axis, I64Attr:$limit, DefaultValuedAttr<I64Attr, "0">:$start,
    OptionalAttr<AnyAttr>:$layout);
  let results = (outs NN_FloatTensor:$dtable);
  let assemblyFormat = [{
    $dy `,` $indices attr-dict
    `:` type($dy) `,` type($indices) `->` type($dtable)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Softmax and losses
//===----------------------------------------------------------------------===//

class NN_SoftmaxLikeOp<string mnemonic> : NN_TensorOp<mnemonic, [
    SameOperandsAndResultType, PartitionableMethods, DifferentiableMethods]> {
  let arguments = (ins NN_FloatTensor:$x, I64Attr:$axis);
  let results = (outs NN_FloatTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x)";
  let hasVerifier = 1;
}
def NN_SoftmaxOp : NN_SoftmaxLikeOp<"softmax"> {
  let summary = "exp(x) / sum exp(x) along `axis`";
  let description = "Constraints: (C1) axis is a dimension of x.";
}
def NN_LogSoftmaxOp : NN_SoftmaxLikeOp<"log_softmax"> {
  let summary = "x - log(sum exp(x)) along `axis`";
  let description = "Constraints: (C1) axis is a dimension of x.";
}

class NN_SoftmaxGradLikeOp<string mnemonic> : NN_TensorOp<mnemonic, [
    SameOperandsAndResultType, PartitionableMethods]> {
  let arguments = (ins NN_FloatTensor:$y, NN_FloatTensor:$dy, I64Attr:$axis);
  let results = (outs NN_FloatTensor:$dx);
  let assemblyFormat = "$y `,` $dy attr-dict `:` type($y)";
  let hasVerifier = 1;
}
def NN_SoftmaxGradOp : NN_SoftmaxGradLikeOp<"softmax_grad"> {
  let summary = "y * (dy - sum y * dy), from softmax's result y";
  let description = "Constraints: (C1) axis is a dimension of y.";
}
def NN_LogSoftmaxGradOp : NN_SoftmaxGradLikeOp<"log_softmax_grad"> {
  let summary = "dy - exp(y) * sum dy, from log-softmax's result y";
  let description = "Constraints: (C1) axis is a dimension of y.";
}

def NN_CrossEntropyOp : NN_TensorOp<"cross_entropy", [NN_InferType,
    PartitionableMethods, DifferentiableMethods]> {
  let summary = "-log softmax(logits)[label] at every position";
  let description = [{
    `axis` is the class dimension; `labels` and the result have the logits'
    shape without it. A label outside [0, classes) stops the program.

    Constraints: (C1) axis is a dimension of the logits; (C2) the labels have
    the logits' shape without the axis.
  }];
  let arguments = (ins NN_FloatTensor:$logits, NN_IndexTensor:$labels,
                       I64Attr:$axis);
  let results = (outs NN_FloatTensor:$losses);
  let assemblyFormat = [{
    $logits `,` $labels attr-dict `:` type($logits) `,` type($labels)
  }];
  let hasVerifier = 1;
}

def NN_CrossEntropyGradOp : NN_TensorOp<"cross_entropy_grad", [
    AllTypesMatch<["logits", "dlogits"]>, PartitionableMethods]> {
  let summary = "scale * (softmax(logits) - onehot(labels))";
  let description = [{
    The gradient of scale * sum of nn.cross_entropy.

    Constraints: (C1), (C2) as nn.cross_entropy.
  }];
  let arguments = (ins NN_FloatTensor:$logits, NN_IndexTensor:$labels,
                       I64Attr:$axis, F64Attr:$scale);
  let results = (outs NN_FloatTensor:$dlogits);
  let assemblyFormat = [{
    $logits `,` $labels attr-dict `:` type($logits) `,` type($labels)
  }];
  let hasVerifier = 1;
}

def NN_CorrectOp : NN_TensorOp<"correct", [NN_InferType,
                                           PartitionableMethods]> {
  let summary = "1 where the first largest logit is the label's, else 0";
  let description = [{
    Constraints: (C1), (C2) as nn.cross_entropy.
  }];
  let arguments = (ins NN_FloatTensor:$logits, NN_IndexTensor:$labels,
                       I64Attr:$axis);
  let results = (outs NN_FloatTensor:$hits);
  let assemblyFormat = [{
    $logits `,` $labels attr-dict `:` type($logits) `,` type($labels)
  }];
  let hasVerifier = 1;
}

#endif // PARTITA_DIALECTS_NN_IR_NNTENSOROPS_TD
