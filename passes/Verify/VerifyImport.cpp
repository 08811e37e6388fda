//===- VerifyImport.cpp - Contract of the import phase -------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Read-only check of a module after import.
//
//===----------------------------------------------------------------------===//

#include "dialects/NN/IR/NNOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Verify/Passes.h"

using namespace mlir;
using namespace partita;

namespace partita {
#define GEN_PASS_DEF_VERIFYIMPORT
#include "passes/Verify/Passes.h.inc"
} // namespace partita

namespace {

bool hasName(Location loc) {
  if (isa<NameLoc>(loc))
    return true;
  if (auto fused = dyn_cast<FusedLoc>(loc))
    return llvm::any_of(fused.getLocations(), hasName);
  return false;
}

struct VerifyImportPass : partita::impl::VerifyImportBase<VerifyImportPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto forward = module.lookupSymbol<func::FuncOp>("forward");
    if (!forward) {
      module.emitError("contract of the import phase: there must be a "
                       "function @forward");
      return signalPassFailure();
    }
    if (failed(nn::verifyFunctions(module)))
      return signalPassFailure();
    bool failedAny = false;
    auto require = [&](bool holds, Operation *op, const Twine &rule) {
      if (holds)
        return;
      op->emitError() << "contract of the import phase: " << rule;
      failedAny = true;
    };
    for (unsigned i = 0; i < forward.getNumArguments(); ++i)
      require(
          static_cast<bool>(forward.getArgAttrOfType<StringAttr>(i, "nn.name")),
          forward, "argument " + Twine(i) + " has no nn.name");
    for (unsigned i = 0; i < forward.getNumResults(); ++i)
      require(static_cast<bool>(
                  forward.getResultAttrOfType<StringAttr>(i, "nn.name")),
              forward, "result " + Twine(i) + " has no nn.name");
    for (Operation &op : forward.front().without_terminator()) {
      require(isa_and_nonnull<nn::NNDialect>(op.getDialect()), &op,
              "'" + op.getName().getStringRef() + "' is no nn operation");
      require(isa<nn::ReadOp, nn::ConstantOp>(op) || hasName(op.getLoc()), &op,
              "'" + op.getName().getStringRef() +
                  "' does not name the ONNX node it came from");
    }
    for (auto variable : module.getOps<nn::VariableOp>())
      require(variable.getRole() != nn::Role::optimizer, variable,
              "optimizer state before there is an optimizer");
    if (failedAny)
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};

} // namespace
