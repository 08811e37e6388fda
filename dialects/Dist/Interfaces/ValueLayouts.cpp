//===- ValueLayouts.cpp - The layout of every value -----------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Layouts from arguments and variables to results.
//
//===----------------------------------------------------------------------===//

#include "dialects/Dist/Interfaces/ValueLayouts.h"
#include "dialects/NN/IR/NNOps.h"

using namespace mlir;
using namespace partita;
using namespace partita::dist;

LayoutAttr partita::dist::layoutOfVariable(Operation *user, StringRef name,
                                           unsigned rank) {
  auto module = user->getParentOfType<ModuleOp>();
  auto variable = module.lookupSymbol<nn::VariableOp>(name);
  if (variable)
    if (auto layout = variable->getAttrOfType<LayoutAttr>(kLayoutAttr))
      return layout;
  return LayoutAttr::getReplicated(user->getContext(), rank);
}

namespace {

/// Whether `op` is linear in all its operands together.
bool isLinear(Operation *op) {
  return isa<nn::AddOp, nn::SubOp, nn::NegOp, nn::ReshapeOp, nn::TransposeOp>(
      op);
}

LayoutAttr withPartial(LayoutAttr layout, LayoutAttr partial) {
  return LayoutAttr::get(layout.getContext(), layout.getDims(),
                         layout.getBlocks(), layout.getRanges(),
                         partial.getPartialKind(), partial.getPartial(),
                         layout.getVarying());
}

LayoutAttr withVarying(LayoutAttr layout, LayoutAttr varying) {
  return LayoutAttr::get(layout.getContext(), layout.getDims(),
                         layout.getBlocks(), layout.getRanges(),
                         layout.getPartialKind(), layout.getPartial(),
                         varying.getVarying());
}

} // namespace

FailureOr<ValueLayouts> ValueLayouts::compute(func::FuncOp function,
                                              GridAttr grid) {
  ValueLayouts result;
  for (auto [i, argument] : llvm::enumerate(function.getArguments())) {
    auto layout = function.getArgAttrOfType<LayoutAttr>(i, kLayoutAttr);
    RankedTensorType type = nn::tensorType(argument);
    if (!layout)
      layout = LayoutAttr::getReplicated(function.getContext(), type.getRank());
    if (static_cast<int64_t>(layout.getDims().size()) != type.getRank())
      return function.emitError()
             << "argument " << i << " of type " << argument.getType()
             << " has layout " << layout
             << "; expected a list of axes per dimension";
    result.layouts[argument] = layout;
    result.note(type, layout);
  }
  for (Operation &op : function.front())
    if (failed(result.visit(&op, grid)))
      return failure();
  return result;
}

void ValueLayouts::note(RankedTensorType type, LayoutAttr layout) {
  occurring.push_back({type, layout});
}

/// Whether one of `axes` cuts a dimension of `layout`, which then cannot be
/// partial over it.
static bool cutsAny(LayoutAttr layout, ArrayRef<StringAttr> axes) {
  return llvm::any_of(layout.getDims(), [&](ArrayAttr dim) {
    return llvm::any_of(axes, [&](StringAttr axis) {
      return llvm::is_contained(dim.getValue(), axis);
    });
  });
}

LogicalResult ValueLayouts::visit(Operation *op, GridAttr grid) {
  SmallVector<LayoutAttr> have;
  for (Value operand : op->getOperands())
    have.push_back(layouts.lookup(operand));
  OpLayouts &needed = operations[op];
  auto partitionable = dyn_cast<nn::PartitionableOp>(op);
  if (!partitionable) {
    StringRef variable;
    if (nn::isUpdate(op))
      variable = nn::updatedVariable(op);
    else if (auto assign = dyn_cast<nn::AssignOp>(op))
      variable = assign.getVariable();
    else if (auto read = dyn_cast<nn::ReadOp>(op))
      variable = read.getVariable();
    for (LayoutAttr layout : have)
      if (!variable.empty() && !layout.getVarying().empty())
        return op->emitError() << "needs a value that is the same on all "
                                  "ranks, found layout "
                               << layout;
    for (auto [operand, layout] : llvm::zip(op->getOperands(), have))
      needed.operands.push_back(
          variable.empty()
              ? withoutPartial(layout)
              : layoutOfVariable(op, variable,
                                 nn::tensorType(operand).getRank()));
    for (Value result : op->getResults())
      needed.results.push_back(
          layoutOfVariable(op, variable, nn::tensorType(result).getRank()));
    needed.computed = needed.results;
  } else {
    nn::IterationSpace space = partitionable.getIterationSpace();
    needed = deriveLayouts(op, space, grid,
                           op->getAttrOfType<SplitAttr>(kSplitAttr), have);
    // What differs from rank to rank stays where it is.
    for (auto [want, layout] : llvm::zip(needed.operands, have))
      want = withVarying(want, layout);
    bool staysPartial =
        isLinear(op) &&
        llvm::all_of(llvm::zip(op->getOperands(), have, needed.operands),
                     [&](auto each) {
                       auto [operand, layout, want] = each;
                       return layout.getPartialKind().getValue() == "sum" &&
                              layout.getPartial() == have[0].getPartial() &&
                              !cutsAny(want, layout.getPartial()) &&
                              sameLayout(grid, layout,
                                         withPartial(want, layout),
                                         nn::tensorType(operand));
                     });
    if (staysPartial) {
      for (LayoutAttr &want : needed.operands)
        want = withPartial(want, have[0]);
      for (LayoutAttr &result : needed.results)
        result = withPartial(result, have[0]);
      needed.computed = needed.results;
    }
  }
  for (auto [operand, layout] : llvm::zip(op->getOperands(), needed.operands))
    note(nn::tensorType(operand), layout);
  for (auto [result, layout, computed] :
       llvm::zip(op->getResults(), needed.results, needed.computed)) {
    layouts[result] = layout;
    note(nn::tensorType(result), layout);
    if (computed != layout)
      note(nn::tensorType(result), computed);
  }
  return success();
}
