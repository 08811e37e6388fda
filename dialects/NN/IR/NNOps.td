//===- NNOps.td - All operations of the nn dialect --------*- tablegen -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The families, in one place for the generator.
//===----------------------------------------------------------------------===//

#ifndef PARTITA_DIALECTS_NN_IR_NNOPS_TD
#define PARTITA_DIALECTS_NN_IR_NNOPS_TD

include "NNVariableOps.td"
include "NNPointwiseOps.td"
include "NNLayerOps.td"
include "NNTensorOps.td"

#endif // PARTITA_DIALECTS_NN_IR_NNOPS_TD
