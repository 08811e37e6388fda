//===- NNLayerOps.td - Convolutions, pools, norms, products -*- tablegen -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Layers and their gradients. Spatial tensors are [n, c, spatial...] with one
// to three spatial dimensions.
//===----------------------------------------------------------------------===//

#ifndef PARTITA_DIALECTS_NN_IR_NNLAYEROPS_TD
#define PARTITA_DIALECTS_NN_IR_NNLAYEROPS_TD

include "NNBase.td"

//===----------------------------------------------------------------------===//
// Convolution
//===----------------------------------------------------------------------===//

// pads: all begins, then all ends.
defvar ConvAttributes = (ins DenseI64ArrayAttr:$strides,
  DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$pads,
  DefaultValuedAttr<I64Attr, "1">:$groups);

def NN_ConvOp : NN_TensorOp<"conv", [NN_InferType, PartitionableLocalizing,
                                     DifferentiableMethods]> {
  let summary = "convolution (cross-correlation) over 1 to 3 dimensions";
  let description = [{
    `x` is [n, ci, s...], `w` is [co, ci/groups, k...], `bias` is [co]. `pads`
    holds all begins, then all ends.

        %y = nn.conv %x, %w bias %b {strides = array<i64: 1, 1>,
            dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>}
            : tensor<8x1x28x28xf32>, tensor<6x1x5x5xf32>, tensor<6xf32>

    Constraints: (C1) x and w have the same rank, 3 to 5, and element type;
    (C2) one stride and dilation per spatial dimension, two pads; strides and
    dilations positive, pads not negative; (C3) groups divides ci and co, and
    w's second dimension is ci/groups; (C4) bias is [co] of that element type;
    (C5) the kernel fits into the padded input.
  }];
  let arguments = !con((ins NN_FloatTensor:$x, NN_FloatTensor:$w,
                            Optional<NN_FloatTensor>:$bias), ConvAttributes);
  let results = (outs NN_FloatTensor:$y);
  let assemblyFormat = [{
    $x `,` $w (`bias` $bias^)? attr-dict
    `:` type($x) `,` type($w) (`,` type($bias)^)?
  }];
}

def NN_ConvInputGradOp : NN_TensorOp<"conv_input_grad",
    [PartitionableLocalizing, DifferentiableMethods]> {
  let summary = "gradient of a convolution by its input";
  let description = [{
    The adjoint of nn.conv in x: also the transposed convolution. The result's
    shape is stated because a stride leaves it ambiguous.

    Constraints: (C1) convolving the result's type with w's gives dy's.
  }];
  let arguments = !con((ins NN_FloatTensor:$dy, NN_FloatTensor:$w),
                       ConvAttributes);
  let results = (outs NN_FloatTensor:$dx);
  let assemblyFormat = [{
    $dy `,` $w attr-dict `:` type($dy) `,` type($w) `->` type($dx)
  }];
  let hasVerifier = 1;
}

def NN_ConvFilterGradOp : NN_TensorOp<"conv_filter_grad",
    [PartitionableLocalizing, DifferentiableMethods]> {
  let summary = "gradient of a convolution by its filter";
  let description = [{
    Constraints: (C1) convolving x with the result's type gives dy's.
  }];
  let arguments = !con((ins NN_FloatTensor:$x, NN_FloatTensor:$dy),
                       ConvAttributes);
  let results = (outs NN_FloatTensor:$dw);
  let assemblyFormat = [{
    $x `,` $dy attr-dict `:` type($x) `,` type($dy) `->` type($dw)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Matrix product
//===----------------------------------------------------------------------===//

def NN_MatmulOp : NN_TensorOp<"matmul", [NN_InferType,
    PartitionableMethods, DifferentiableMethods]> {
  let summary = "(batched) matrix product, scaled";
  let description = [{
    y = alpha * op(a) * op(b), where op transposes the last two dimensions when
    asked. Leading dimensions are broadcast by numpy's rule.

    Constraints: (C1) both operands have rank 2 or more and the same element
    type; (C2) the contracted sizes agree; (C3) leading dimensions broadcast.
  }];
  let arguments = (ins NN_FloatTensor:$a, NN_FloatTensor:$b,
    UnitAttr:$transpose_a, UnitAttr:$transpose_b,
    DefaultValuedAttr<F64Attr, "1.0">:$alpha);
  let results = (outs NN_FloatTensor:$y);
  let assemblyFormat = "$a `,` $b attr-dict `:` type($a) `,` type($b)";
}

//===----------------------------------------------------------------------===//
// Pooling
//===----------------------------------------------------------------------===//

// The result's shape is stated: it tells floor from ceil mode.
defvar PoolAttributes = (ins DenseI64ArrayAttr:$kernel,
  DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations,
  DenseI64ArrayAttr:$pads);

def NN_MaxPoolOp : NN_TensorOp<"max_pool", [PartitionableLocalizing,
                                            DifferentiableMethods]> {
  let summary = "maximum over windows";
  let description = [{
    Padding never wins. The last window may hang over the padded edge (ceil
    mode); the result's shape says so.

    Constraints: (C1) x has rank 3 to 5 and there is one kernel size, stride
    and dilation per spatial dimension, two pads; all positive, pads not
    negative; (C2) the result has x's batch and channels, and floor or ceil
    mode's sizes; (C3) every window holds at least one element of x.
  }];
  let arguments = !con((ins NN_FloatTensor:$x), PoolAttributes);
  let results = (outs NN_FloatTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
  let hasVerifier = 1;
}

def NN_MaxPoolGradOp : NN_TensorOp<"max_pool_grad", [PartitionableLocalizing,
                                                     AllTypesMatch<["x", "dx"]>]> {
  let summary = "gradient of a maximum pool";
  let description = [{
    Each window adds its gradient to its first maximum in row-major order.

    Constraints: (C1) dy has the type of pooling x.
  }];
  let arguments = !con((ins NN_FloatTensor:$x, NN_FloatTensor:$dy),
                       PoolAttributes);
  let results = (outs NN_FloatTensor:$dx);
  let assemblyFormat = "$x `,` $dy attr-dict `:` type($x) `,` type($dy)";
  let hasVerifier = 1;
}

def NN_AvgPoolOp : NN_TensorOp<"avg_pool", [PartitionableLocalizing,
                                            DifferentiableMethods]> {
  let summary = "mean over windows";
  let description = [{
    The divisor counts the window's elements inside x, or, with
    `count_include_pad`, inside the explicitly padded extent; never what hangs
    over it in ceil mode.

    Constraints: (C1), (C2), (C3) as nn.max_pool.
  }];
  let arguments = !con((ins NN_FloatTensor:$x), PoolAttributes,
                       (ins UnitAttr:$count_include_pad));
  let results = (outs NN_FloatTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
  let hasVerifier = 1;
}

def NN_AvgPoolGradOp : NN_TensorOp<"avg_pool_grad", [PartitionableLocalizing,
                                                     DifferentiableMethods]> {
  let summary = "gradient of an average pool";
  let description = [{
    Constraints: (C1) pooling the result's type gives dy's.
  }];
  let arguments = !con((ins NN_FloatTensor:$dy), PoolAttributes,
                       (ins UnitAttr:$count_include_pad));
  let results = (outs NN_FloatTensor:$dx);
  let assemblyFormat = "$dy attr-dict `:` type($dy) `->` type($dx)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Normalisation
//===----------------------------------------------------------------------===//

def NN_BatchNormOp : NN_TensorOp<"batch_norm", [PartitionableMethods,
    AllTypesMatch<["x", "y"]>, AllTypesMatch<["mean", "variance"]>]> {
  let summary = "BatchNormalization as imported, before it is expanded";
  let description = [{
    y = gamma * (x - m) / sqrt(v + eps) + beta per channel (dimension 1). The
    training step replaces it by nn.reduce, nn.variance and nn.normalize on
    batch statistics (mode `global` or `local`) and updates the running ones;
    @eval, @predict and the mode `frozen` normalise with `mean` and
    `variance`. `momentum` is ONNX's: running = running * momentum + batch *
    (1 - momentum), with the population variance.

    Constraints: (C1) x has rank 2 or more; (C2) gamma, beta, mean and
    variance are [channels]; (C3) eps is positive, momentum in [0, 1];
    (C4) modes other than `frozen` read mean and variance from nn.variables.
  }];
  let arguments = (ins NN_FloatTensor:$x, NN_FloatTensor:$gamma,
    NN_FloatTensor:$beta, NN_FloatTensor:$mean, NN_FloatTensor:$variance,
    F64Attr:$eps, F64Attr:$momentum, NN_BatchNormModeAttr:$mode);
  let results = (outs NN_FloatTensor:$y);
  let assemblyFormat = [{
    $mode $x `,` $gamma `,` $beta `,` $mean `,` $variance attr-dict
    `:` type($x) `,` type($gamma) `,` type($beta) `,` type($mean)
  }];
  let hasVerifier = 1;
}

def NN_NormalizeOp : NN_TensorOp<"normalize", [PartitionableMethods,
    DifferentiableMethods,
    AllTypesMatch<["x", "y"]>,
    AllTypesMatch<["mean", "variance", "gamma", "beta"]>]> {
  let summary = "gamma * (x - mean) / sqrt(variance + eps) + beta by channel";
  let description = [{
    The gradient tells batch statistics, computed from x itself by nn.reduce and
    nn.variance, from constant ones.

    Constraints: (C1) axis is a dimension of x, and the four vectors are as
    long as it; (C2) eps is positive.
  }];
  let arguments = (ins NN_FloatTensor:$x, NN_FloatTensor:$mean,
    NN_FloatTensor:$variance, NN_FloatTensor:$gamma, NN_FloatTensor:$beta,
    I64Attr:$axis, F64Attr:$eps);
  let results = (outs NN_FloatTensor:$y);
  let assemblyFormat = [{
    $x `,` $mean `,` $variance `,` $gamma `,` $beta attr-dict
    `:` type($x) `,` type($mean)
  }];
  let hasVerifier = 1;
}

def NN_NormalizeSumsOp : NN_TensorOp<"normalize_sums", [PartitionableMethods,
    AllTypesMatch<["dy", "x"]>,
    AllTypesMatch<["mean", "variance", "dbeta", "dgamma"]>]> {
  let summary = "the two channel sums of a normalisation's gradient";
  let description = [{
    dbeta = sum dy, dgamma = sum dy * (x - mean) / sqrt(variance + eps).
    With `local` each rank's sums stay its own (BatchNormMode::local).

    Constraints: (C1), (C2) as nn.normalize.
  }];
  let arguments = (ins NN_FloatTensor:$dy, NN_FloatTensor:$x,
    NN_FloatTensor:$mean, NN_FloatTensor:$variance, I64Attr:$axis,
    F64Attr:$eps, UnitAttr:$local);
  let results = (outs NN_FloatTensor:$dbeta, NN_FloatTensor:$dgamma);
  let assemblyFormat = [{
    $dy `,` $x `,` $mean `,` $variance attr-dict `:` type($x) `,` type($mean)
  }];
  let hasVerifier = 1;
}

def NN_NormalizeGradOp : NN_TensorOp<"normalize_grad", [
    PartitionableLocalizing, AllTypesMatch<["dy", "x", "dx"]>,
    AllTypesMatch<["mean", "variance", "gamma", "dbeta", "dgamma"]>]> {
  let summary = "gradient of a normalisation by its input";
  let description = [{
    With xhat = (x - mean) / sqrt(variance + eps):

        dx = gamma / sqrt(variance + eps)
             * (dy - scale * dbeta - scale * xhat * dgamma)

    where scale is 1 / (elements per channel) for batch statistics and 0 for
    constant ones (Ioffe and Szegedy, ICML'15, section 3). With `local` the
    count is that of the rank's part.

    Constraints: (C1), (C2) as nn.normalize; (C3) scale is not negative.
  }];
  let arguments = (ins NN_FloatTensor:$dy, NN_FloatTensor:$x,
    NN_FloatTensor:$mean, NN_FloatTensor:$variance, NN_FloatTensor:$gamma,
    NN_FloatTensor:$dbeta, NN_FloatTensor:$dgamma, I64Attr:$axis,
    F64Attr:$eps, F64Attr:$scale, UnitAttr:$local);
  let results = (outs NN_FloatTensor:$dx);
  let assemblyFormat = [{
    $dy `,` $x `,` $mean `,` $variance `,` $gamma `,` $dbeta `,` $dgamma
    attr-dict `:` type($x) `,` type($mean)
  }];
  let hasVerifier = 1;
}

def NN_LrnOp : NN_TensorOp<"lrn", [SameOperandsAndResultType,
    PartitionableMethods, DifferentiableMethods]> {
  let summary = "local response normalisation across channels";
  let description = [{
    y = x / (bias + alpha / size * sum x^2)^beta, the sum over `size` channels
    around each (ONNX LRN; Krizhevsky et al., NIPS'12, section 3.3).

    Constraints: (C1) x has rank 2 or more; (C2) size is positive.
  }];
  let arguments = (ins NN_FloatTensor:$x, I64Attr:$size, F64Attr:$alpha,
                       F64Attr:$beta, F64Attr:$bias);
  let results = (outs NN_FloatTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x)";
  let hasVerifier = 1;
}

def NN_LrnGradOp : NN_TensorOp<"lrn_grad", [SameOperandsAndResultType,
                                            PartitionableMethods]> {
  let summary = "gradient of local response normalisation";
  let description = [{
    Constraints: (C1), (C2) as nn.lrn.
  }];
  let arguments = (ins NN_FloatTensor:$x, NN_FloatTensor:$dy, I64Attr:$size,
                       F64Attr:$alpha, F64Attr:$beta, F64Attr:$bias);
  let results = (outs NN_FloatTensor:$dx);
  let assemblyFormat = "$x `,` $dy attr-dict `:` type($x)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Dropout
//===----------------------------------------------------------------------===//

def NN_DropoutOp : NN_TensorOp<"dropout", [SameOperandsAndResultType,
                                           PartitionableMethods]> {
  let summary = "dropout as imported, before it is expanded";
  let description = [{
    The training step multiplies by nn.dropout_mask, the other functions pass x
    through. `stream` separates the masks of different nodes.

    Constraints: (C1) ratio lies in [0, 1).
  }];
  let arguments = (ins NN_FloatTensor:$x, F64Attr:$ratio, I64Attr:$stream);
  let results = (outs NN_FloatTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x)";
  let hasVerifier = 1;
}

def NN_DropoutMaskOp : NN_TensorOp<"dropout_mask", [PartitionablePlaced]> {
  let summary = "0 or 1 / (1 - ratio) by global element index";
  let description = [{
    Element values depend on the run's seed, the step, `stream` and the index
    in the whole tensor of shape `global_shape`, of which the result is the
    part that begins at `start`; so every split draws the same mask.

    Constraints: (C1) ratio lies in [0, 1); (C2) global_shape and start have
    the result's rank and the result lies inside.
  }];
  let arguments = (ins F64Attr:$ratio, I64Attr:$stream,
    DenseI64ArrayAttr:$global_shape, DenseI64ArrayAttr:$start);
  let results = (outs NN_FloatTensor:$y);
  let assemblyFormat = "attr-dict `:` type($y)";
  let hasVerifier = 1;
}

#endif // PARTITA_DIALECTS_NN_IR_NNLAYEROPS_TD
