//===- VerifyPlan.cpp - Contract of the plan phase -----------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Read-only check of splits and synchronisation.
//
//===----------------------------------------------------------------------===//

#include "dialects/Dist/IR/Servers.h"
#include "dialects/Dist/Interfaces/Layouts.h"
#include "dialects/NN/IR/NNOps.h"
#include "passes/Verify/Passes.h"

using namespace mlir;
using namespace partita;

namespace partita {
#define GEN_PASS_DEF_VERIFYPLAN
#include "passes/Verify/Passes.h.inc"
} // namespace partita

namespace {

struct VerifyPlanPass : partita::impl::VerifyPlanBase<VerifyPlanPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    grid = module->getAttrOfType<dist::GridAttr>(dist::kGridAttr);
    if (!grid) {
      module.emitError("contract of the plan phase: there must be a dist.grid");
      return signalPassFailure();
    }
    bool failedAny = false;
    if (module->hasAttr(dist::kServersAttr) && dist::serversOf(module) < 1) {
      module.emitError("contract of the plan phase: dist.servers must be a "
                       "positive number; found ")
          << module->getAttr(dist::kServersAttr);
      failedAny = true;
    }
    module.walk([&](Operation *op) {
      if (auto split = op->getAttrOfType<dist::SplitAttr>(dist::kSplitAttr))
        failedAny |= failed(verifySplit(op, split));
      if (auto variable = dyn_cast<nn::VariableOp>(op))
        failedAny |= failed(verifySync(variable));
    });
    if (failedAny)
      signalPassFailure();
    markAllAnalysesPreserved();
  }

private:
  LogicalResult verifyAxis(Operation *op, Attribute axis) {
    StringRef name = cast<StringAttr>(axis).getValue();
    if (grid.findAxis(name) >= 0)
      return success();
    return op->emitError() << "contract of the plan phase: axis '" << name
                           << "' is not one of the grid " << grid;
  }

  /// Operations with coupled dimensions are replaced before such a split.
  static bool canSplit(const nn::IterationSpace &space, int dim) {
    return space.dims[dim].kind == nn::DimKind::parallel ||
           space.dims[dim].kind == nn::DimKind::reduction;
  }

  LogicalResult verifySplit(Operation *op, dist::SplitAttr split) {
    auto partitionable = dyn_cast<nn::PartitionableOp>(op);
    if (!partitionable)
      return op->emitError() << "contract of the plan phase: '" << op->getName()
                             << "' cannot be split but has " << split;
    nn::IterationSpace space = partitionable.getIterationSpace();
    for (auto [dim, axes] : llvm::zip(split.getDims(), split.getAxes())) {
      int found = space.find(dim.getValue());
      if (found < 0 || !canSplit(space, found)) {
        std::string names;
        for (auto [i, each] : llvm::enumerate(space.dims))
          if (canSplit(space, i))
            names += (names.empty() ? "" : ", ") + each.name;
        return op->emitError()
               << "contract of the plan phase: '" << op->getName()
               << "' cannot be split along '" << dim.getValue()
               << "'; it can along: " << (names.empty() ? "nothing" : names);
      }
      for (Attribute axis : axes)
        if (failed(verifyAxis(op, axis)))
          return failure();
    }
    return verifyBias(op, split);
  }

  /// Parts of a sum over input channels are added up; each with the bias would
  /// add it several times.
  LogicalResult verifyBias(Operation *op, dist::SplitAttr split) {
    auto conv = dyn_cast<nn::ConvOp>(op);
    if (!conv || !conv.getBias())
      return success();
    int64_t parts = 1;
    for (Attribute axis : split.getAxesOf("ci"))
      parts *= grid.getAxisSize(cast<StringAttr>(axis).getValue());
    if (parts == 1)
      return success();
    return op->emitError() << "contract of the plan phase: '" << op->getName()
                           << "' is split along 'ci' and would add its bias "
                           << parts
                           << " times; add it to the sum instead, as "
                              "partita-propagate-splits does";
  }

  LogicalResult verifySync(nn::VariableOp variable) {
    if (variable.getRole() != nn::Role::parameter)
      return success();
    auto sync = variable->getAttrOfType<dist::SyncAttr>(dist::kSyncAttr);
    if (!sync)
      return variable.emitError()
             << "contract of the plan phase: parameter '"
             << variable.getSymName() << "' has no dist.sync";
    for (StringAttr axis : sync.getAxes())
      if (failed(verifyAxis(variable, axis)))
        return failure();
    return success();
  }

  dist::GridAttr grid;
};

} // namespace
