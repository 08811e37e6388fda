//===- VerifyPartition.cpp - Contract of the partition phase -------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Read-only check of rank classes, parts and collectives.
//
//===----------------------------------------------------------------------===//

#include "dialects/Dist/Interfaces/Layouts.h"
#include "dialects/NN/IR/NNOps.h"
#include "dialects/SPMD/IR/SPMDDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Verify/Passes.h"
#include <map>
#include <set>

using namespace mlir;
using namespace partita;

namespace partita {
#define GEN_PASS_DEF_VERIFYPARTITION
#include "passes/Verify/Passes.h.inc"
} // namespace partita

namespace {

struct VerifyPartitionPass
    : partita::impl::VerifyPartitionBase<VerifyPartitionPass> {
  void runOnOperation() override {
    module = getOperation();
    grid = module->getAttrOfType<dist::GridAttr>(dist::kGridAttr);
    if (!grid) {
      module.emitError(
          "contract of the partition phase: there must be a dist.grid");
      return signalPassFailure();
    }
    if (failed(nn::verifyFunctions(module)))
      return signalPassFailure();
    failedAny = false;
    verifyClasses();
    std::map<std::string, std::pair<func::FuncOp, std::vector<std::string>>>
        collectivesOfPhase;
    for (auto function : module.getOps<func::FuncOp>()) {
      verifyParts(function);
      verifyWhole(function);
      verifyGradients(function);
      std::vector<std::string> calls;
      function.walk([&](Operation *op) {
        if (!spmd::isCollective(op))
          return;
        // Parts differ between classes; what is moved does not.
        std::string call;
        llvm::raw_string_ostream out(call);
        if (auto reduce = dyn_cast<spmd::AllReduceOp>(op))
          out << stringifyReduction(reduce.getReduction()) << ' '
              << reduce.getAxes() << ' '
              << cast<RankedTensorType>(reduce.getX().getType())
                     .getElementType();
        else
          out << op->getName() << ' ' << op->getAttrDictionary();
        calls.push_back(call);
      });
      auto phase = function->getAttrOfType<StringAttr>(spmd::kPhaseAttr);
      auto [it, isNew] = collectivesOfPhase.try_emplace(
          phase ? phase.str() : "", function, calls);
      if (!isNew && it->second.second != calls)
        refuse(function, "collectives differ from those of @" +
                             it->second.first.getName());
    }
    if (failedAny)
      signalPassFailure();
    markAllAnalysesPreserved();
  }

private:
  void refuse(Operation *op, const Twine &rule) {
    op->emitError() << "contract of the partition phase: " << rule;
    failedAny = true;
  }

  void verifyClasses() {
    std::set<int64_t> seen;
    for (auto classOp : module.getOps<spmd::ClassOp>()) {
      for (int64_t rank : classOp.getRanks())
        if (!seen.insert(rank).second || rank >= grid.getNumRanks())
          refuse(classOp, "rank " + Twine(rank) +
                              " is in two classes or not in the grid");
      ranksOf[classOp.getSymName()] = SmallVector<int64_t>(classOp.getRanks());
    }
    if (static_cast<int64_t>(seen.size()) != grid.getNumRanks())
      refuse(module, "the classes name " + Twine(seen.size()) + " of " +
                         Twine(grid.getNumRanks()) + " ranks");
  }

  /// The local type is the layout's part for every rank of the class; since
  /// parts of one layout tile the dimension, all ranks together tile the
  /// tensor.
  void verifyPart(func::FuncOp function, Type local, Attribute globalAttr,
                  Attribute layoutAttr, const Twine &what) {
    auto global = dyn_cast_or_null<TypeAttr>(globalAttr);
    auto layout = dyn_cast_or_null<dist::LayoutAttr>(layoutAttr);
    if (!global || !layout)
      return refuse(function, what + " has no spmd.global or dist.layout");
    auto symbol = function->getAttrOfType<FlatSymbolRefAttr>(spmd::kClassAttr);
    if (!symbol || !ranksOf.count(symbol.getValue()))
      return refuse(function, "it belongs to no class");
    auto whole = dyn_cast<RankedTensorType>(global.getValue());
    if (!whole ||
        whole.getRank() != static_cast<int64_t>(layout.getDims().size()))
      return refuse(function,
                    what + " has a layout that does not fit its spmd.global");
    for (int64_t rank : ranksOf[symbol.getValue()]) {
      Type expected = dist::localType(grid, layout, whole, rank);
      if (expected == local)
        continue;
      std::string text;
      llvm::raw_string_ostream(text)
          << " has type " << local << ", but rank " << rank << " holds "
          << expected << " of " << whole;
      return refuse(function, what + text);
    }
  }

  void verifyParts(func::FuncOp function) {
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      verifyPart(function, function.getArgumentTypes()[i],
                 function.getArgAttr(i, "spmd.global"),
                 function.getArgAttr(i, dist::kLayoutAttr),
                 "argument " + Twine(i));
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      verifyPart(function, function.getResultTypes()[i],
                 function.getResultAttr(i, "spmd.global"),
                 function.getResultAttr(i, dist::kLayoutAttr),
                 "result " + Twine(i));
  }

  using AxisSet = std::set<StringRef>;

  /// The axes with several ranks that split a tensor or let it vary.
  AxisSet axesOf(Attribute attribute) const {
    AxisSet axes;
    auto layout = dyn_cast_or_null<dist::LayoutAttr>(attribute);
    if (!layout)
      return axes;
    auto add = [&](StringAttr axis) {
      if (grid.getAxisSize(axis.getValue()) > 1)
        axes.insert(axis.getValue());
    };
    for (ArrayAttr dim : layout.getDims())
      for (auto axis : dim.getAsRange<StringAttr>())
        add(axis);
    for (StringAttr axis : layout.getVarying())
      add(axis);
    return axes;
  }

  Attribute layoutOfVariable(StringRef name) {
    auto variable = module.lookupSymbol<nn::VariableOp>(name);
    return variable ? variable->getAttr(dist::kLayoutAttr) : Attribute();
  }

  /// Variables and whole results are equal on all ranks: what differs from
  /// rank to rank must meet a collective on its way to one.
  void verifyWhole(func::FuncOp function) {
    llvm::DenseMap<Value, AxisSet> differsOver;
    for (auto [i, argument] : llvm::enumerate(function.getArguments()))
      differsOver[argument] = axesOf(function.getArgAttr(i, dist::kLayoutAttr));
    for (Operation &op : function.front().without_terminator()) {
      // A mask drawn in parts says so.
      AxisSet axes = axesOf(op.getAttr("layout"));
      for (Value operand : op.getOperands())
        axes.insert(differsOver[operand].begin(), differsOver[operand].end());
      if (auto reduce = dyn_cast<spmd::AllReduceOp>(op))
        for (auto axis : reduce.getAxes().getAsRange<StringAttr>())
          axes.erase(axis.getValue());
      if (spmd::isMove(&op))
        axes = axesOf(op.getAttr("to"));
      if (auto read = dyn_cast<nn::ReadOp>(op))
        axes = axesOf(layoutOfVariable(read.getVariable()));
      StringRef target;
      if (nn::isUpdate(&op))
        target = nn::updatedVariable(&op);
      else if (auto assign = dyn_cast<nn::AssignOp>(op))
        target = assign.getVariable();
      if (!target.empty())
        for (StringRef axis : axesOf(layoutOfVariable(target)))
          axes.erase(axis);
      if (!target.empty() && !axes.empty())
        refuse(&op, "the value differs over axis '" + *axes.begin() +
                        "', so that ranks would give the variable different "
                        "values; combine it first");
      for (Value result : op.getResults())
        differsOver[result] = axes;
    }
    for (auto [i, value] :
         llvm::enumerate(function.front().getTerminator()->getOperands())) {
      AxisSet stated = axesOf(function.getResultAttr(i, dist::kLayoutAttr));
      for (StringRef axis : differsOver[value])
        if (!stated.count(axis))
          refuse(function, "result " + Twine(i) + " differs over axis '" +
                               axis + "', but its layout does not say so");
    }
  }

  /// No all_reduce of an all_reduce on the way to an update.
  void verifyGradients(func::FuncOp function) {
    function.walk([&](spmd::AllReduceOp op) {
      Operation *producer = op.getX().getDefiningOp();
      while (isa_and_nonnull<nn::ReshapeOp>(producer))
        producer = producer->getOperand(0).getDefiningOp();
      if (auto inner = dyn_cast_or_null<spmd::AllReduceOp>(producer);
          inner && inner.getAxes() == op.getAxes())
        refuse(op, "a value is combined twice over the same axes");
    });
  }

  ModuleOp module;
  dist::GridAttr grid;
  llvm::StringMap<SmallVector<int64_t>> ranksOf;
  bool failedAny = false;
};

} // namespace
