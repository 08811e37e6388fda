//===- Moves.cpp - Moves between layouts, for scheduling ------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Views of move operations, and the checks of parts against layouts.
//
//===----------------------------------------------------------------------===//

#include "passes/Schedule/Moves.h"
#include "dialects/Dist/IR/Redistribution.h"
#include "dialects/Dist/Interfaces/Layouts.h"
#include "dialects/NN/IR/NNOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace partita;

namespace {

template <typename OpT> MoveView viewOf(OpT op) {
  MoveView view;
  view.op = op;
  view.x = op.getX();
  view.y = op.getY();
  view.from = op.getFrom();
  view.to = op.getTo();
  view.global = cast<RankedTensorType>(op.getGlobal());
  view.axes = op.getAxes();
  return view;
}

dist::MoveKind moveKindOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, dist::MoveKind>(op)
      .Case<spmd::AllGatherOp>([](auto) { return dist::MoveKind::allGather; })
      .Case<spmd::ReduceScatterOp>(
          [](auto) { return dist::MoveKind::reduceScatter; })
      .Case<spmd::AllToAllOp>([](auto) { return dist::MoveKind::allToAll; })
      .Case<spmd::HaloExchangeOp>(
          [](auto) { return dist::MoveKind::haloExchange; })
      .Case<spmd::ExchangeOp>([](auto) { return dist::MoveKind::exchange; })
      .Default([](auto) { return dist::MoveKind::slice; });
}

RankedTensorType partOf(dist::GridAttr grid, dist::LayoutAttr layout,
                        RankedTensorType type, int64_t rank) {
  if (!grid || !layout)
    return type;
  SmallVector<int64_t> shape;
  for (dist::Range range :
       dist::boxOf(dist::toGrid(grid), dist::toLayout(grid, layout),
                   dist::sizesOf(type), rank))
    shape.push_back(range.size());
  return RankedTensorType::get(shape, type.getElementType());
}

/// The checks of one class.
class PartCheck {
public:
  explicit PartCheck(spmd::ClassOp classOp)
      : classOp(classOp), module(classOp->getParentOfType<ModuleOp>()),
        grid(module->getAttrOfType<dist::GridAttr>(dist::kGridAttr)) {}

  LogicalResult check(Operation *op) {
    if (std::optional<MoveView> move = asMove(op))
      return checkMove(*move);
    if (auto read = dyn_cast<nn::ReadOp>(op))
      return checkVariable(op, read.getVariable(), read.getValue());
    if (auto assign = dyn_cast<nn::AssignOp>(op))
      return checkVariable(op, assign.getVariable(), assign.getValue());
    if (nn::isUpdate(op))
      return checkVariable(op, nn::updatedVariable(op), op->getOperand(0));
    return success();
  }

  StagingSizes takeSizes() { return std::move(sizes); }

private:
  /// Every rank of the class has a part of the type of `value`.
  LogicalResult checkType(Operation *op, StringRef what, Value value,
                          dist::LayoutAttr layout, RankedTensorType global) {
    for (int64_t rank : classOp.getRanks()) {
      RankedTensorType part = partOf(grid, layout, global, rank);
      if (part == value.getType())
        continue;
      return op->emitError()
             << what << " has type " << value.getType() << ", but the part of "
             << global << " that rank " << rank << " has in layout " << layout
             << " is " << part
             << "; ranks with parts of other sizes belong to another class "
                "than @"
             << classOp.getSymName();
    }
    return success();
  }

  LogicalResult checkVariable(Operation *op, StringRef name, Value value) {
    auto variable = module.lookupSymbol<nn::VariableOp>(name);
    return checkType(op, "the value of '" + name.str() + "'", value,
                     layoutOfVariable(variable, variable.getTensorType()),
                     variable.getTensorType());
  }

  LogicalResult checkMove(const MoveView &move) {
    if (!grid)
      return move.op->emitError()
             << "a move needs the grid of its layouts, but the "
                "module has no attribute "
             << dist::kGridAttr << "; partition the module first";
    if (failed(checkType(move.op, "the operand", move.x, move.from,
                         move.global)) ||
        failed(checkType(move.op, "the result", move.y, move.to, move.global)))
      return failure();
    if (move.isSlice())
      return success();
    auto [it, isNew] = sizes.try_emplace(move.dictionary(), 0);
    if (!isNew)
      return success();
    dist::Grid plainGrid = dist::toGrid(grid);
    dist::Move plain;
    plain.kind = moveKindOf(move.op);
    plain.to = dist::toLayout(grid, move.to);
    for (auto axis : move.axes.getAsRange<StringAttr>())
      plain.axes.push_back(grid.findAxis(axis.getValue()));
    llvm::sort(plain.axes);
    dist::Layout from = dist::toLayout(grid, move.from);
    int64_t first = -1;
    for (int64_t rank : classOp.getRanks()) {
      int64_t elements = dist::stagingElements(
          plainGrid, dist::sizesOf(move.global), from, plain, rank);
      if (first < 0) {
        first = rank;
        it->second = elements;
      } else if (elements != it->second) {
        return move.op->emitError()
               << "rank " << rank << " sends and receives " << elements
               << " elements, but rank " << first << " of the same class @"
               << classOp.getSymName() << " " << it->second
               << "; ranks of one class need equal staging buffers, put "
                  "these into classes of their own";
      }
    }
    return success();
  }

  spmd::ClassOp classOp;
  ModuleOp module;
  dist::GridAttr grid;
  StagingSizes sizes;
};

} // namespace

DictionaryAttr MoveView::dictionary() const {
  Builder builder(op->getContext());
  NamedAttrList list;
  list.set("from", from);
  list.set("to", to);
  list.set("global", TypeAttr::get(global));
  if (!isSlice()) {
    list.set("kind", builder.getStringAttr(kind()));
    list.set("axes", axes);
  }
  return list.getDictionary(op->getContext());
}

spmd::Reduction MoveView::reduction() const {
  if (!isa<spmd::ReduceScatterOp>(op))
    return spmd::Reduction::sum;
  return spmd::symbolizeReduction(from.getPartialKind().getValue())
      .value_or(spmd::Reduction::sum);
}

std::optional<MoveView> partita::asMove(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<MoveView>>(op)
      .Case<spmd::SliceOp, spmd::AllGatherOp, spmd::ReduceScatterOp,
            spmd::AllToAllOp, spmd::HaloExchangeOp, spmd::ExchangeOp>(
          [](auto move) { return viewOf(move); })
      .Default([](Operation *) { return std::nullopt; });
}

FailureOr<StagingSizes> partita::checkParts(spmd::ClassOp classOp,
                                            ArrayRef<func::FuncOp> functions) {
  PartCheck check(classOp);
  for (func::FuncOp function : functions)
    for (Operation &op : function.front())
      if (failed(check.check(&op)))
        return failure();
  return check.takeSizes();
}

dist::LayoutAttr partita::layoutOfVariable(Operation *variable,
                                           RankedTensorType type) {
  if (auto layout =
          variable->getAttrOfType<dist::LayoutAttr>(dist::kLayoutAttr))
    return layout;
  return dist::LayoutAttr::getReplicated(variable->getContext(),
                                         type.getRank());
}

int64_t partita::localBytes(dist::GridAttr grid, dist::LayoutAttr layout,
                            RankedTensorType type, int64_t rank) {
  return nn::byteSize(partOf(grid, layout, type, rank));
}
