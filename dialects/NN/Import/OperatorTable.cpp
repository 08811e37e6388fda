//===- OperatorTable.cpp - Operators by opset range ------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An operator has several lines where its meaning or its number of inputs
// changed. Ranges begin at the oldest opset read here, or where the operator
// was introduced.
//
//===----------------------------------------------------------------------===//

#include "dialects/NN/Import/OperatorTable.h"

#include "dialects/NN/Import/Builders.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace partita::nn::importer {
namespace {

constexpr int64_t kNow = kNewestOpset;

// Name, since, until, least inputs, most inputs, most outputs, builder.
constexpr Operator kOperators[] = {
    // Layers
    {"Conv", 1, kNow, 2, 3, 1, buildConv},
    {"ConvTranspose", 1, kNow, 2, 3, 1, buildConvTranspose},
    {"MaxPool", 1, kNow, 1, 1, 2, buildMaxPool},
    {"AveragePool", 1, kNow, 1, 1, 1, buildAveragePool},
    {"GlobalAveragePool", 1, kNow, 1, 1, 1, buildGlobalAveragePool},
    {"GlobalMaxPool", 1, kNow, 1, 1, 1, buildGlobalMaxPool},
    {"Gemm", 7, 10, 3, 3, 1, buildGemm},
    {"Gemm", 11, kNow, 2, 3, 1, buildGemm},
    {"MatMul", 1, kNow, 2, 2, 1, buildMatMul},

    // Normalisation
    {"BatchNormalization", 7, 13, 5, 5, 5, buildBatchNorm},
    {"BatchNormalization", 14, kNow, 5, 5, 3, buildBatchNorm},
    {"InstanceNormalization", 6, kNow, 3, 3, 1, buildInstanceNorm},
    {"GroupNormalization", 18, kNow, 3, 3, 1, buildGroupNorm},
    {"LayerNormalization", 17, kNow, 2, 3, 3, buildLayerNorm},
    {"RMSNormalization", 23, kNow, 2, 2, 1, buildRmsNorm},
    {"LpNormalization", 1, kNow, 1, 1, 1, buildLpNormalization},
    {"MeanVarianceNormalization", 9, kNow, 1, 1, 1, buildMeanVarianceNorm},
    {"LRN", 1, kNow, 1, 1, 1, buildLrn},
    {"Dropout", 7, 11, 1, 1, 2, buildDropout},
    {"Dropout", 12, kNow, 1, 3, 2, buildDropout},
    {"Softmax", 1, 12, 1, 1, 1, buildFlatSoftmax},
    {"Softmax", 13, kNow, 1, 1, 1, buildSoftmax},
    {"LogSoftmax", 1, 12, 1, 1, 1, buildFlatLogSoftmax},
    {"LogSoftmax", 13, kNow, 1, 1, 1, buildLogSoftmax},

    // Activations
    {"Relu", 6, kNow, 1, 1, 1, buildRelu},
    {"Elu", 6, kNow, 1, 1, 1, buildElu},
    {"Selu", 6, kNow, 1, 1, 1, buildSelu},
    {"Celu", 12, kNow, 1, 1, 1, buildCelu},
    {"LeakyRelu", 6, kNow, 1, 1, 1, buildLeakyRelu},
    {"PRelu", 7, kNow, 2, 2, 1, buildPRelu},
    {"ThresholdedRelu", 10, kNow, 1, 1, 1, buildThresholdedRelu},
    {"Shrink", 9, kNow, 1, 1, 1, buildShrink},
    {"HardSigmoid", 6, kNow, 1, 1, 1, buildHardSigmoid},
    {"HardSwish", 14, kNow, 1, 1, 1, buildHardSwish},
    {"Swish", 24, kNow, 1, 1, 1, buildSwish},
    {"Mish", 18, kNow, 1, 1, 1, buildMish},
    {"Gelu", 20, kNow, 1, 1, 1, buildGelu},
    {"Softsign", 1, kNow, 1, 1, 1, buildSoftsign},
    {"Softplus", 1, kNow, 1, 1, 1, buildSoftplus},
    {"Sigmoid", 6, kNow, 1, 1, 1, buildSigmoid},
    {"Tanh", 6, kNow, 1, 1, 1, buildTanh},

    // Functions of one tensor
    {"Abs", 6, kNow, 1, 1, 1, buildAbs},
    {"Neg", 6, kNow, 1, 1, 1, buildNeg},
    {"Exp", 6, kNow, 1, 1, 1, buildExp},
    {"Log", 6, kNow, 1, 1, 1, buildLog},
    {"Sqrt", 6, kNow, 1, 1, 1, buildSqrt},
    {"Erf", 9, kNow, 1, 1, 1, buildErf},
    {"Sin", 7, kNow, 1, 1, 1, buildSin},
    {"Cos", 7, kNow, 1, 1, 1, buildCos},
    {"Tan", 7, kNow, 1, 1, 1, buildTan},
    {"Floor", 6, kNow, 1, 1, 1, buildFloor},
    {"Ceil", 6, kNow, 1, 1, 1, buildCeil},
    {"Round", 11, kNow, 1, 1, 1, buildRound},
    {"Sign", 9, kNow, 1, 1, 1, buildSign},
    {"Reciprocal", 6, kNow, 1, 1, 1, buildReciprocal},
    {"Clip", 6, 10, 1, 1, 1, buildClipByAttributes},
    {"Clip", 11, kNow, 1, 3, 1, buildClip},

    // Arithmetic, comparisons, logic
    {"Add", 7, kNow, 2, 2, 1, buildAdd},
    {"Sub", 7, kNow, 2, 2, 1, buildSub},
    {"Mul", 7, kNow, 2, 2, 1, buildMul},
    {"Div", 7, kNow, 2, 2, 1, buildDiv},
    {"Mod", 10, kNow, 2, 2, 1, buildMod},
    {"Pow", 7, kNow, 2, 2, 1, buildPow},
    {"Sum", 6, kNow, 1, kVariadic, 1, buildSum},
    {"Mean", 6, kNow, 1, kVariadic, 1, buildMean},
    {"Max", 6, kNow, 1, kVariadic, 1, buildMax},
    {"Min", 6, kNow, 1, kVariadic, 1, buildMin},
    {"Equal", 7, kNow, 2, 2, 1, buildEqual},
    {"Greater", 7, kNow, 2, 2, 1, buildGreater},
    {"GreaterOrEqual", 12, kNow, 2, 2, 1, buildGreaterOrEqual},
    {"Less", 7, kNow, 2, 2, 1, buildLess},
    {"LessOrEqual", 12, kNow, 2, 2, 1, buildLessOrEqual},
    {"And", 7, kNow, 2, 2, 1, buildAnd},
    {"Or", 7, kNow, 2, 2, 1, buildOr},
    {"Xor", 7, kNow, 2, 2, 1, buildXor},
    {"Not", 1, kNow, 1, 1, 1, buildNot},
    {"Where", 9, kNow, 3, 3, 1, buildWhere},
    {"Cast", 6, kNow, 1, 1, 1, buildCast},
    {"CastLike", 15, kNow, 2, 2, 1, buildCastLike},
    {"IsNaN", 9, kNow, 1, 1, 1, buildIsNaN},

    // Movement
    {"Identity", 1, kNow, 1, 1, 1, buildIdentity},
    {"Reshape", 5, kNow, 2, 2, 1, buildReshape},
    {"Flatten", 1, kNow, 1, 1, 1, buildFlatten},
    {"Squeeze", 1, 12, 1, 1, 1, buildSqueeze},
    {"Squeeze", 13, kNow, 1, 2, 1, buildSqueeze},
    {"Unsqueeze", 1, 12, 1, 1, 1, buildUnsqueeze},
    {"Unsqueeze", 13, kNow, 2, 2, 1, buildUnsqueeze},
    {"Transpose", 1, kNow, 1, 1, 1, buildTranspose},
    {"Concat", 4, kNow, 1, kVariadic, 1, buildConcat},
    {"Expand", 8, kNow, 2, 2, 1, buildExpand},
    {"Tile", 6, kNow, 2, 2, 1, buildTile},
    {"DepthToSpace", 1, kNow, 1, 1, 1, buildDepthToSpace},
    {"SpaceToDepth", 1, kNow, 1, 1, 1, buildSpaceToDepth},
    {"Trilu", 14, kNow, 1, 2, 1, buildTrilu},
    {"Slice", 1, 9, 1, 1, 1, buildSlice},
    {"Slice", 10, kNow, 3, 5, 1, buildSlice},
    {"Split", 2, 12, 1, 1, kVariadic, buildSplit},
    {"Split", 13, kNow, 1, 2, kVariadic, buildSplit},
    {"Pad", 2, 10, 1, 1, 1, buildPad},
    {"Pad", 11, 17, 2, 3, 1, buildPad},
    {"Pad", 18, kNow, 2, 4, 1, buildPad},
    {"Gather", 1, kNow, 2, 2, 1, buildGather},

    {"Upsample", 7, 8, 1, 1, 1, buildUpsample},
    {"Upsample", 9, 9, 2, 2, 1, buildUpsample},
    {"Resize", 10, 10, 2, 2, 1, buildResize10},
    {"Resize", 11, kNow, 1, 4, 1, buildResize},

    // Losses
    {"SoftmaxCrossEntropyLoss", 12, kNow, 2, 3, 2,
     buildSoftmaxCrossEntropyLoss},
    {"NegativeLogLikelihoodLoss", 12, kNow, 2, 3, 1,
     buildNegativeLogLikelihoodLoss},

    // Constants and shapes
    {"Constant", 1, kNow, 0, 0, 1, buildConstant},
    {"ConstantOfShape", 9, kNow, 1, 1, 1, buildConstantOfShape},
    {"Shape", 1, kNow, 1, 1, 1, buildShape},
    {"Size", 1, kNow, 1, 1, 1, buildSize},
    {"Range", 11, kNow, 3, 3, 1, buildRange},

    // Reductions
    {"ReduceSum", 1, 12, 1, 1, 1, buildReduceSum},
    {"ReduceSum", 13, kNow, 1, 2, 1, buildReduceSum},
    {"ReduceMean", 1, 17, 1, 1, 1, buildReduceMean},
    {"ReduceMean", 18, kNow, 1, 2, 1, buildReduceMean},
    {"ReduceMax", 1, 17, 1, 1, 1, buildReduceMax},
    {"ReduceMax", 18, kNow, 1, 2, 1, buildReduceMax},
    {"ReduceMin", 1, 17, 1, 1, 1, buildReduceMin},
    {"ReduceMin", 18, kNow, 1, 2, 1, buildReduceMin},
    {"ReduceProd", 1, 17, 1, 1, 1, buildReduceProd},
    {"ReduceProd", 18, kNow, 1, 2, 1, buildReduceProd},
    {"ReduceL1", 1, 17, 1, 1, 1, buildReduceL1},
    {"ReduceL1", 18, kNow, 1, 2, 1, buildReduceL1},
    {"ReduceL2", 1, 17, 1, 1, 1, buildReduceL2},
    {"ReduceL2", 18, kNow, 1, 2, 1, buildReduceL2},
    {"ReduceSumSquare", 1, 17, 1, 1, 1, buildReduceSumSquare},
    {"ReduceSumSquare", 18, kNow, 1, 2, 1, buildReduceSumSquare},
    {"ReduceLogSum", 1, 17, 1, 1, 1, buildReduceLogSum},
    {"ReduceLogSum", 18, kNow, 1, 2, 1, buildReduceLogSum},
    {"ReduceLogSumExp", 1, 17, 1, 1, 1, buildReduceLogSumExp},
    {"ReduceLogSumExp", 18, kNow, 1, 2, 1, buildReduceLogSumExp},
};

} // namespace

const Operator *findOperator(StringRef name, int64_t opset) {
  const Operator *op = llvm::find_if(kOperators, [&](const Operator &entry) {
    return entry.name == name && entry.since <= opset && opset <= entry.until;
  });
  return op == std::end(kOperators) ? nullptr : op;
}

std::vector<StringRef> operatorNames() {
  std::vector<StringRef> names;
  for (const Operator &op : kOperators)
    names.push_back(op.name);
  llvm::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

StringRef adviceFor(StringRef name) {
  return StringSwitch<StringRef>(name)
      .Cases("If", "Loop", "Scan",
             "a training program has a fixed order of layers; export the model "
             "with fixed control flow (traced, loops unrolled)")
      .Cases("QuantizeLinear", "DequantizeLinear", "QLinearConv",
             "QLinearMatMul",
             "quantized models are for inference; export the model before "
             "quantization")
      .Cases("LSTM", "GRU", "RNN",
             "recurrent layers are not available; export the model with "
             "unrolled cells")
      .Cases("ArgMax", "ArgMin", "TopK", "NonMaxSuppression", "NonZero",
             "its result has no gradient; export the model without "
             "post-processing")
      .Default("");
}

} // namespace partita::nn::importer
