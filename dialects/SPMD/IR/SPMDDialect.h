//===- SPMDDialect.h - One rank's program ----------------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The dialect `spmd` and its operations.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_DIALECTS_SPMD_IR_SPMDDIALECT_H
#define PARTITA_DIALECTS_SPMD_IR_SPMDDIALECT_H

#include "dialects/Dist/IR/DistDialect.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/SPMD/IR/SPMDDialect.h.inc"
#include "dialects/SPMD/IR/SPMDEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/SPMD/IR/SPMDAttrs.h.inc"

#define GET_OP_CLASSES
#include "dialects/SPMD/IR/SPMDOps.h.inc"

namespace partita::spmd {

/// Discardable attributes of a class's functions: the class (a symbol) and the
/// phase ("step", "eval" or "predict").
constexpr llvm::StringLiteral kClassAttr = "spmd.class";
constexpr llvm::StringLiteral kPhaseAttr = "spmd.phase";

/// Discardable attribute of a local operation: the split it is a part of, for
/// readers of the emitted program.
constexpr llvm::StringLiteral kSplitAttr = "spmd.split";

/// Discardable attribute of a local operation with a split: what the whole
/// operation has instead, as far as it cannot be told from the part. The result
/// types are `results`; attributes that the part changes (paddings, starts,
/// sizes, groups, the scale of local statistics) are given by name. Where the
/// part leaves out empty operands, `operands` are the types of all and
/// `present` says which ones the part has.
///
///   nn.conv ... {pads = array<i64: 1, 0>, spmd.split = #dist.split<w = [row]>,
///                spmd.whole = {pads = array<i64: 1, 1>}}
constexpr llvm::StringLiteral kWholeAttr = "spmd.whole";

/// Discardable attribute of an operation that stands for one whose part on
/// these ranks is empty: the name `op` of that operation, the number `result`
/// of the result that this value is, the whole type `of` and the `layout`.
/// Operations that only prepare the value have the name alone.
constexpr llvm::StringLiteral kStandsForAttr = "spmd.stands_for";

/// Attributes of scheduled operations. `parts`: elements per rank of the
/// communicator, in its order; of a flat buffer that a reduce_scatter or an
/// all_gather works on in place, or of the flat buffers of a launch that works
/// on its rank's part only, over `axes`. `algorithm`: how an all_reduce
/// travels. `previous`: a wait for what the previous run of the function has
/// recorded.
constexpr llvm::StringLiteral kPartsAttr = "parts";
constexpr llvm::StringLiteral kAxesAttr = "axes";
constexpr llvm::StringLiteral kAlgorithmAttr = "algorithm";
constexpr llvm::StringLiteral kPreviousAttr = "previous";

/// Attributes of what works with servers (see dialects/Dist/IR/Servers.h).
/// `servers`: on a class, a unit: its ranks are servers, which stand behind
/// those of the grid; on a communicate and a launch with `parts` the number of
/// servers in the communicator, behind the ranks over the axes. `group`: which
/// of the groups that a server serves it is for, from 0; on buffers of
/// variables and gradients, too. Without it the first.
constexpr llvm::StringLiteral kServersAttr = "servers";
constexpr llvm::StringLiteral kGroupAttr = "group";

/// The number in an attribute of `op`, 0 without it.
inline int64_t numberOf(mlir::Operation *op, llvm::StringRef name) {
  auto number = op->getAttrOfType<mlir::IntegerAttr>(name);
  return number ? number.getInt() : 0;
}

/// Operations that change where a value lives, the communicating ones and
/// slices; and operations that communicate.
inline bool isMove(mlir::Operation *op) {
  return llvm::isa<SliceOp, AllGatherOp, ReduceScatterOp, AllToAllOp,
                   HaloExchangeOp, ExchangeOp>(op);
}
inline bool isCollective(mlir::Operation *op) {
  return llvm::isa<AllReduceOp>(op) || (isMove(op) && !llvm::isa<SliceOp>(op));
}

/// Every buffer begins at a multiple of this many bytes: a cache line, and
/// the widest vector.
constexpr int64_t kAlignment = 64;

} // namespace partita::spmd

#endif // PARTITA_DIALECTS_SPMD_IR_SPMDDIALECT_H
