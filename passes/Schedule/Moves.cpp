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
  return grid ? dist::localType(grid, layout, type, rank) : type;
}

/// The checks of one class.
class PartCheck {
public:
  PartCheck(spmd::ClassOp classOp, StagingTables &tables)
      : tables(tables), classOp(classOp),
        module(classOp->getParentOfType<ModuleOp>()),
        grid(module->getAttrOfType<dist::GridAttr>(dist::kGridAttr)) {}

  LogicalResult checkRanks() {
    for (int64_t rank : classOp.getRanks())
      if (grid && rank >= grid.getNumRanks())
        return classOp.emitError()
               << "rank " << rank << " is not one of the " << grid.getNumRanks()
               << " of the grid " << grid;
    return success();
  }

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
    if (move.isSlice() || classOp.getRanks().empty())
      return success();
    auto [it, isNew] = sizes.try_emplace(move.dictionary(), 0);
    if (!isNew)
      return success();
    const std::vector<int64_t> &elements = stagingsOf(move);
    int64_t first = classOp.getRanks().front();
    it->second = elements[first];
    for (int64_t rank : classOp.getRanks())
      if (elements[rank] != elements[first])
        return move.op->emitError()
               << "rank " << rank << " sends and receives " << elements[rank]
               << " elements, but rank " << first << " of the same class @"
               << classOp.getSymName() << " " << elements[first]
               << "; ranks of one class need equal staging buffers, put "
                  "these into classes of their own";
    return success();
  }

  const std::vector<int64_t> &stagingsOf(const MoveView &move) {
    std::vector<int64_t> &elements = tables[move.dictionary()];
    if (!elements.empty())
      return elements;
    dist::Move plain;
    plain.kind = moveKindOf(move.op);
    plain.to = dist::toLayout(grid, move.to);
    for (auto axis : move.axes.getAsRange<StringAttr>())
      plain.axes.push_back(grid.findAxis(axis.getValue()));
    llvm::sort(plain.axes);
    elements =
        dist::stagingElements(dist::toGrid(grid), dist::sizesOf(move.global),
                              dist::toLayout(grid, move.from), plain);
    return elements;
  }

  StagingTables &tables;
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
                                            ArrayRef<func::FuncOp> functions,
                                            StagingTables &tables) {
  PartCheck check(classOp, tables);
  if (failed(check.checkRanks()))
    return failure();
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
