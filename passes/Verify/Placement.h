//===- Placement.h - Where the values of a program live --------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Follows through the function of one rank class of which whole tensor every
// value is a part, which part it is on every rank, and whether its numbers are
// the tensor's own, partial or each rank's own. Nothing is taken from the plan:
//
//   arguments, variables   as their `dist.layout` says
//   moves                  from the state of the value to what the move makes
//   all_reduce             the axes are partial before and not after
//   nn operations          the whole operation is built again; its iteration
//                          space says, for the part of the loops that a rank
//                          has by the split, what the rank must hold
//
//        x [[row]]             y [[row]]   h = [row]
//   rank 0  rows 0..3  ->  needs rows 0..4, found 0..3: refused
//
// A partial value may go into an operation that is linear in all its operands
// together, all of them partial alike; into anything else only once combined.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_PASSES_VERIFY_PLACEMENT_H
#define PARTITA_PASSES_VERIFY_PLACEMENT_H

#include "dialects/SPMD/IR/SPMDDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Verify/PartCheck.h"

namespace partita::verify {

class PlacementCheck {
public:
  PlacementCheck(mlir::ModuleOp module, dist::GridAttr grid,
                 mlir::func::FuncOp function, llvm::ArrayRef<int64_t> ranks)
      : module(module), gridAttr(grid), grid(dist::toGrid(grid)),
        function(function), ranks(ranks) {}

  /// Reports everything that is wrong. Returns whether nothing is.
  bool run();

  llvm::ArrayRef<Step> getSteps() const { return steps; }
  /// What the function sends, in order: equal texts are the same call.
  llvm::ArrayRef<std::pair<mlir::Operation *, std::string>>
  getCollectives() const {
    return collectives;
  }

private:
  void refuse(mlir::Operation *op, const llvm::Twine &rule);
  std::string text(const dist::Layout &layout) const {
    return layoutText(gridAttr.getContext(), gridAttr, layout);
  }
  /// The layout without axes of one rank.
  dist::Layout read(dist::LayoutAttr layout) const;
  /// Notes where `value` lives after comparing its type with its part.
  void place(mlir::Operation *op, mlir::Value value,
             const Placement &placement);
  /// The placement of operand `i`; null after a refusal.
  const Placement *placementOf(mlir::Operation *op, unsigned i);
  bool isSame(const dist::Layout &a, const dist::Layout &b,
              mlir::RankedTensorType type) const;

  void visit(mlir::Operation *op);
  void visitRead(nn::ReadOp op);
  void visitUpdate(mlir::Operation *op, llvm::StringRef name);
  void visitAllReduce(spmd::AllReduceOp op);
  void visitMove(mlir::Operation *op);
  bool checkSources(mlir::Operation *op, const Placement &from,
                    const dist::Layout &to, llvm::ArrayRef<int> axes);
  void visitStandIn(mlir::Operation *op);
  void visitReturn(mlir::Operation *op);
  bool isMeanLossStep();
  void checkLossScale(mlir::Operation *op, double scale, int64_t terms);
  void checkLoss(mlir::Value loss);

  mlir::ModuleOp module;
  dist::GridAttr gridAttr;
  dist::Grid grid;
  mlir::func::FuncOp function;
  llvm::ArrayRef<int64_t> ranks;
  llvm::DenseMap<mlir::Value, Placement> placements;
  std::vector<Step> steps;
  std::vector<std::pair<mlir::Operation *, std::string>> collectives;
  bool failed = false;
};

} // namespace partita::verify

#endif // PARTITA_PASSES_VERIFY_PLACEMENT_H
