//===- Builders.h - The functions of the operator table --------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One function per operator, or per meaning where opsets differ, by family.
// Each folds the node when its inputs are known at compile time.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_DIALECTS_NN_IMPORT_BUILDERS_H
#define PARTITA_DIALECTS_NN_IMPORT_BUILDERS_H

#include "dialects/NN/Import/NodeContext.h"

namespace partita::nn::importer {

// Pointwise.cpp: arithmetic, comparisons, logic, conversion.
llvm::LogicalResult buildAdd(NodeContext &c);
llvm::LogicalResult buildSub(NodeContext &c);
llvm::LogicalResult buildMul(NodeContext &c);
llvm::LogicalResult buildDiv(NodeContext &c);
llvm::LogicalResult buildMod(NodeContext &c);
llvm::LogicalResult buildPow(NodeContext &c);
llvm::LogicalResult buildSum(NodeContext &c);
llvm::LogicalResult buildMean(NodeContext &c);
llvm::LogicalResult buildMax(NodeContext &c);
llvm::LogicalResult buildMin(NodeContext &c);
llvm::LogicalResult buildEqual(NodeContext &c);
llvm::LogicalResult buildGreater(NodeContext &c);
llvm::LogicalResult buildGreaterOrEqual(NodeContext &c);
llvm::LogicalResult buildLess(NodeContext &c);
llvm::LogicalResult buildLessOrEqual(NodeContext &c);
llvm::LogicalResult buildAnd(NodeContext &c);
llvm::LogicalResult buildOr(NodeContext &c);
llvm::LogicalResult buildXor(NodeContext &c);
llvm::LogicalResult buildNot(NodeContext &c);
llvm::LogicalResult buildWhere(NodeContext &c);
llvm::LogicalResult buildCast(NodeContext &c);
llvm::LogicalResult buildCastLike(NodeContext &c);
llvm::LogicalResult buildIsNaN(NodeContext &c);
llvm::LogicalResult buildClipByAttributes(NodeContext &c);
llvm::LogicalResult buildClip(NodeContext &c);

// Functions.cpp: functions of one tensor and activations.
llvm::LogicalResult buildAbs(NodeContext &c);
llvm::LogicalResult buildNeg(NodeContext &c);
llvm::LogicalResult buildExp(NodeContext &c);
llvm::LogicalResult buildLog(NodeContext &c);
llvm::LogicalResult buildSqrt(NodeContext &c);
llvm::LogicalResult buildErf(NodeContext &c);
llvm::LogicalResult buildTanh(NodeContext &c);
llvm::LogicalResult buildSin(NodeContext &c);
llvm::LogicalResult buildCos(NodeContext &c);
llvm::LogicalResult buildTan(NodeContext &c);
llvm::LogicalResult buildSigmoid(NodeContext &c);
llvm::LogicalResult buildSoftplus(NodeContext &c);
llvm::LogicalResult buildRelu(NodeContext &c);
llvm::LogicalResult buildFloor(NodeContext &c);
llvm::LogicalResult buildCeil(NodeContext &c);
llvm::LogicalResult buildRound(NodeContext &c);
llvm::LogicalResult buildSign(NodeContext &c);
llvm::LogicalResult buildReciprocal(NodeContext &c);
llvm::LogicalResult buildElu(NodeContext &c);
llvm::LogicalResult buildSelu(NodeContext &c);
llvm::LogicalResult buildCelu(NodeContext &c);
llvm::LogicalResult buildLeakyRelu(NodeContext &c);
llvm::LogicalResult buildPRelu(NodeContext &c);
llvm::LogicalResult buildThresholdedRelu(NodeContext &c);
llvm::LogicalResult buildShrink(NodeContext &c);
llvm::LogicalResult buildHardSigmoid(NodeContext &c);
llvm::LogicalResult buildHardSwish(NodeContext &c);
llvm::LogicalResult buildSwish(NodeContext &c);
llvm::LogicalResult buildMish(NodeContext &c);
llvm::LogicalResult buildGelu(NodeContext &c);
llvm::LogicalResult buildSoftsign(NodeContext &c);

// Layers.cpp: convolutions, pools, matrix products.
llvm::LogicalResult buildConv(NodeContext &c);
llvm::LogicalResult buildConvTranspose(NodeContext &c);
llvm::LogicalResult buildMaxPool(NodeContext &c);
llvm::LogicalResult buildAveragePool(NodeContext &c);
llvm::LogicalResult buildGlobalAveragePool(NodeContext &c);
llvm::LogicalResult buildGlobalMaxPool(NodeContext &c);
llvm::LogicalResult buildGemm(NodeContext &c);
llvm::LogicalResult buildMatMul(NodeContext &c);

// Normalization.cpp: normalisations, softmax, dropout.
llvm::LogicalResult buildBatchNorm(NodeContext &c);
llvm::LogicalResult buildInstanceNorm(NodeContext &c);
llvm::LogicalResult buildGroupNorm(NodeContext &c);
llvm::LogicalResult buildLayerNorm(NodeContext &c);
llvm::LogicalResult buildRmsNorm(NodeContext &c);
llvm::LogicalResult buildLpNormalization(NodeContext &c);
llvm::LogicalResult buildMeanVarianceNorm(NodeContext &c);
llvm::LogicalResult buildLrn(NodeContext &c);
llvm::LogicalResult buildDropout(NodeContext &c);
llvm::LogicalResult buildSoftmax(NodeContext &c);
llvm::LogicalResult buildFlatSoftmax(NodeContext &c);
llvm::LogicalResult buildLogSoftmax(NodeContext &c);
llvm::LogicalResult buildFlatLogSoftmax(NodeContext &c);

// Movement.cpp: what moves elements.
llvm::LogicalResult buildIdentity(NodeContext &c);
llvm::LogicalResult buildReshape(NodeContext &c);
llvm::LogicalResult buildFlatten(NodeContext &c);
llvm::LogicalResult buildSqueeze(NodeContext &c);
llvm::LogicalResult buildUnsqueeze(NodeContext &c);
llvm::LogicalResult buildTranspose(NodeContext &c);
llvm::LogicalResult buildConcat(NodeContext &c);
llvm::LogicalResult buildExpand(NodeContext &c);
llvm::LogicalResult buildTile(NodeContext &c);
llvm::LogicalResult buildDepthToSpace(NodeContext &c);
llvm::LogicalResult buildSpaceToDepth(NodeContext &c);
llvm::LogicalResult buildTrilu(NodeContext &c);

// Slicing.cpp: what takes parts or adds borders.
llvm::LogicalResult buildSlice(NodeContext &c);
llvm::LogicalResult buildSplit(NodeContext &c);
llvm::LogicalResult buildPad(NodeContext &c);
llvm::LogicalResult buildGather(NodeContext &c);

// Constants.cpp: values from shapes and attributes.
llvm::LogicalResult buildConstant(NodeContext &c);
llvm::LogicalResult buildConstantOfShape(NodeContext &c);
llvm::LogicalResult buildShape(NodeContext &c);
llvm::LogicalResult buildSize(NodeContext &c);
llvm::LogicalResult buildRange(NodeContext &c);

// Resize.cpp.
llvm::LogicalResult buildUpsample(NodeContext &c);
llvm::LogicalResult buildResize10(NodeContext &c);
llvm::LogicalResult buildResize(NodeContext &c);

// Losses.cpp.
llvm::LogicalResult buildSoftmaxCrossEntropyLoss(NodeContext &c);
llvm::LogicalResult buildNegativeLogLikelihoodLoss(NodeContext &c);

// Reductions.cpp.
llvm::LogicalResult buildReduceSum(NodeContext &c);
llvm::LogicalResult buildReduceMean(NodeContext &c);
llvm::LogicalResult buildReduceMax(NodeContext &c);
llvm::LogicalResult buildReduceMin(NodeContext &c);
llvm::LogicalResult buildReduceProd(NodeContext &c);
llvm::LogicalResult buildReduceL1(NodeContext &c);
llvm::LogicalResult buildReduceL2(NodeContext &c);
llvm::LogicalResult buildReduceSumSquare(NodeContext &c);
llvm::LogicalResult buildReduceLogSum(NodeContext &c);
llvm::LogicalResult buildReduceLogSumExp(NodeContext &c);

} // namespace partita::nn::importer

#endif // PARTITA_DIALECTS_NN_IMPORT_BUILDERS_H
