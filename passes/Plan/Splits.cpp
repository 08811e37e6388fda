//===- Splits.cpp - What passes of the plan phase share -------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rewrites and synchronisation.
//
//===----------------------------------------------------------------------===//

#include "passes/Plan/Splits.h"
#include "dialects/Dist/Interfaces/ValueLayouts.h"

using namespace mlir;
using namespace partita;
using namespace partita::dist;

Operation *partita::plan::separateBias(nn::ConvOp conv) {
  OpBuilder builder(conv);
  builder.setInsertionPointAfter(conv);
  SmallVector<int64_t> shape(nn::tensorType(conv.getY()).getRank(), 1);
  shape[1] = nn::tensorType(conv.getY()).getDimSize(1);
  auto type = RankedTensorType::get(
      shape, nn::tensorType(conv.getY()).getElementType());
  Value bias =
      builder.create<nn::ReshapeOp>(conv.getLoc(), type, conv.getBias());
  conv.getBiasMutable().clear();
  auto sum = builder.create<nn::AddOp>(conv.getLoc(), conv.getY(), bias);
  conv.getY().replaceAllUsesExcept(sum.getY(), sum);
  return sum;
}

void partita::plan::setSynchronisation(ModuleOp module, GridAttr grid) {
  MLIRContext *context = module.getContext();
  llvm::StringMap<SmallVector<StringAttr>> axes;
  for (auto function : module.getOps<func::FuncOp>()) {
    FailureOr<ValueLayouts> layouts = ValueLayouts::compute(function, grid);
    if (failed(layouts))
      return;
    function.walk([&](Operation *op) {
      if (nn::isUpdate(op))
        axes[nn::updatedVariable(op)] = SmallVector<StringAttr>(
            layouts->of(op->getOperand(0)).getPartial());
    });
  }
  for (auto variable : module.getOps<nn::VariableOp>())
    if (variable.getRole() == nn::Role::parameter)
      variable->setAttr(kSyncAttr,
                        SyncAttr::get(context, SyncMethod::all_reduce,
                                      axes.lookup(variable.getSymName()),
                                      Algorithm::automatic));
}
