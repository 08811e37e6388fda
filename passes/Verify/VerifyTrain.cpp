//===- VerifyTrain.cpp - Contract of the train phase ---------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Read-only check of the training program.
//
//===----------------------------------------------------------------------===//

#include "dialects/NN/IR/NNOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Verify/Passes.h"

using namespace mlir;
using namespace partita;

namespace partita {
#define GEN_PASS_DEF_VERIFYTRAIN
#include "passes/Verify/Passes.h.inc"
} // namespace partita

namespace {

struct VerifyTrainPass : partita::impl::VerifyTrainBase<VerifyTrainPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    // A model's own loss may be one number for all samples.
    auto loss = module->getAttrOfType<StringAttr>("partita.loss");
    bool mayLackEval = loss && loss.getValue().starts_with("output:");
    for (StringRef name : {"step", "eval", "predict"})
      if (!(name == "eval" && mayLackEval) &&
          !module.lookupSymbol<func::FuncOp>(name)) {
        module.emitError() << "contract of the train phase: there must be a "
                              "function @"
                           << name;
        return signalPassFailure();
      }
    bool failedAny = false;
    auto refuse = [&](Operation *op, const Twine &rule) {
      op->emitError() << "contract of the train phase: " << rule;
      failedAny = true;
    };
    llvm::StringMap<Operation *> updateOf, stateOf;
    module.walk([&](Operation *op) {
      if (isa<nn::BatchNormOp, nn::DropoutOp>(op))
        refuse(op, "'" + op->getName().getStringRef() +
                       "' must have been expanded");
      bool isUpdate = nn::isUpdate(op);
      if (!isUpdate && !isa<nn::AssignOp>(op))
        return;
      auto function = op->getParentOfType<func::FuncOp>();
      if (function.getName() != "step")
        return refuse(op, "only @step writes variables, not @" +
                              function.getName());
      if (!isUpdate)
        return;
      StringRef variable = nn::updatedVariable(op);
      if (!updateOf.try_emplace(variable, op).second)
        refuse(op, "parameter '" + variable + "' is updated twice");
      for (StringRef state : nn::updatedStates(op))
        if (!stateOf.try_emplace(state, op).second)
          refuse(op, "state '" + state + "' belongs to two updates");
    });
    for (auto variable : module.getOps<nn::VariableOp>())
      if (variable.getRole() == nn::Role::parameter &&
          !updateOf.count(variable.getSymName()))
        refuse(variable,
               "parameter '" + variable.getSymName() + "' has no update");
    if (failedAny)
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};

} // namespace
