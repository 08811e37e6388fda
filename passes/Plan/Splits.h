//===- Splits.h - What passes of the plan phase share ----------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rewrites that a split asks for, and what follows from all splits together.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_PASSES_PLAN_SPLITS_H
#define PARTITA_PASSES_PLAN_SPLITS_H

#include "dialects/Dist/Interfaces/Layouts.h"
#include "dialects/NN/IR/NNOps.h"

namespace partita::plan {

/// Replaces a convolution with bias by one without and a sum that adds the
/// bias, reshaped to [1, co, 1, ...]; returns the sum.
mlir::Operation *separateBias(nn::ConvOp conv);

/// Sets `dist.sync` of every parameter: the axes over which its gradient is
/// partial.
void setSynchronisation(mlir::ModuleOp module, dist::GridAttr grid);

} // namespace partita::plan

#endif // PARTITA_PASSES_PLAN_SPLITS_H
