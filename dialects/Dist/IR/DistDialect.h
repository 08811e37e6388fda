//===- DistDialect.h - Grids, splits and layouts ---------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The attributes that say how a program is distributed.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_DIALECTS_DIST_IR_DISTDIALECT_H
#define PARTITA_DIALECTS_DIST_IR_DISTDIALECT_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"

#include "dialects/Dist/IR/DistDialect.h.inc"
#include "dialects/Dist/IR/DistEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/Dist/IR/DistAttrs.h.inc"

namespace partita::dist {

/// Names of the discardable attributes the dialect is used through.
constexpr llvm::StringLiteral kGridAttr = "dist.grid";
constexpr llvm::StringLiteral kSplitAttr = "dist.split";
constexpr llvm::StringLiteral kSyncAttr = "dist.sync";
constexpr llvm::StringLiteral kLayoutAttr = "dist.layout";

/// Discardable attribute of the module: the number of ranks beside the grid
/// that own the parameters of SyncMethod::parameter_server (see Servers.h).
/// Without it the ranks of the grid own them.
constexpr llvm::StringLiteral kServersAttr = "dist.servers";

/// Discardable attribute of a gradient's product whose operands are gathered
/// over the samples (SyncMethod::factor_broadcast), and of what follows it: the
/// operands travel as soon as they are ready, and the product is made last.
constexpr llvm::StringLiteral kFactorsAttr = "dist.factors";

} // namespace partita::dist

#endif // PARTITA_DIALECTS_DIST_IR_DISTDIALECT_H
