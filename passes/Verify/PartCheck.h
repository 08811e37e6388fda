//===- PartCheck.h - Whether a part gets what it needs ---------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One nn operation of a partitioned program. The loops of the whole operation,
// cut as the split says, tell for every rank of the class
//
//   what of each operand it must hold: exactly that where a dimension is
//   indexed
//     directly, at least that where windows reach it
//   where its windows begin: the first one of the part must be the one of the
//     whole that the rank's first row belongs to, so paddings follow
//   what of each result it makes, and over which axes that is partial.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_PASSES_VERIFY_PARTCHECK_H
#define PARTITA_PASSES_VERIFY_PARTCHECK_H

#include "dialects/Dist/Interfaces/Layouts.h"
#include "dialects/NN/IR/NNOps.h"
#include <functional>
#include <string>

namespace partita::verify {

/// Where a value lives.
struct Placement {
  mlir::RankedTensorType whole;
  /// The boxes that ranks hold.
  dist::Layout held;
  /// The boxes whose numbers are right: a gradient through windows computes
  /// rows of its neighbours too, which lack what those add.
  dist::Layout good;
};

/// One operation of the planned program, as one class has it.
struct Step {
  mlir::Operation *op = nullptr;
  /// The rank's part is empty and something else stands for it.
  bool standsIn = false;
  /// Name, whole results and where they lie; alike in all classes.
  std::string made = {};
  /// Split, attributes and whole operands; alike in all classes that have it.
  std::string how = {};
  /// Whether a rank has nothing to compute.
  std::function<bool(int64_t rank)> isEmpty = {};
};

/// What follows from a part: a fault, or where its results live.
struct PartFinding {
  std::string fault;
  llvm::SmallVector<Placement, 2> results;
  Step step;
};

/// Checks `op`, whose operands live at `operands`, for all `ranks` of a class.
PartFinding checkPart(mlir::Operation *op, dist::GridAttr grid,
                      llvm::ArrayRef<int64_t> ranks,
                      llvm::ArrayRef<Placement> operands);

/// What is wrong with a layout of a tensor of `type`, or empty: dimensions
/// beside those of the tensor, axes beside those of the grid, tables that do
/// not have one range of the dimension per part.
std::string faultOf(dist::GridAttr grid, dist::LayoutAttr layout,
                    mlir::RankedTensorType type);

std::string layoutText(mlir::MLIRContext *context, dist::GridAttr grid,
                       const dist::Layout &layout);
std::string rangeText(dist::Range range);

} // namespace partita::verify

#endif // PARTITA_PASSES_VERIFY_PARTCHECK_H
