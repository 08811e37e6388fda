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

#include "passes/Verify/Passes.h"
#include "passes/Verify/Placement.h"
#include <map>
#include <memory>
#include <set>

using namespace mlir;
using namespace partita;
using namespace partita::verify;

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
    verifyVariables();
    std::map<std::string, std::vector<Checked>> phases;
    for (auto function : module.getOps<func::FuncOp>()) {
      ArrayRef<int64_t> ranks = verifySignature(function);
      if (ranks.empty())
        continue;
      auto check =
          std::make_unique<PlacementCheck>(module, grid, function, ranks);
      bool isGood = check->run();
      failedAny |= !isGood;
      auto phase = function->getAttrOfType<StringAttr>(spmd::kPhaseAttr);
      phases[phase ? phase.str() : ""].push_back(
          {function, ranks, std::move(check), isGood});
    }
    for (auto &[name, functions] : phases)
      verifyAgreement(name, functions);
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

  /// Variables lie in parts that tile.
  void verifyVariables() {
    for (auto variable : module.getOps<nn::VariableOp>()) {
      auto layout =
          variable->getAttrOfType<dist::LayoutAttr>(dist::kLayoutAttr);
      if (layout)
        verifyTiling(variable, layout, variable.getTensorType(),
                     "variable '" + variable.getSymName() + "'");
    }
  }

  /// Whether the parts of a layout cover every element exactly once.
  bool verifyTiling(Operation *op, dist::LayoutAttr layout,
                    RankedTensorType type, const Twine &what) {
    std::string wrong = faultOf(grid, layout, type);
    if (wrong.empty() &&
        !dist::isTiling(dist::toGrid(grid), dist::toLayout(grid, layout),
                        dist::sizesOf(type)))
      llvm::raw_string_ostream(wrong)
          << "parts of " << layout << " overlap or leave gaps in " << type;
    if (wrong.empty())
      return true;
    refuse(op, what + ": " + wrong);
    return false;
  }

  /// The local type is the layout's part for every rank of the class; since
  /// parts of one layout tile the dimension, all ranks together tile the
  /// tensor.
  bool verifyPart(func::FuncOp function, ArrayRef<int64_t> ranks, Type local,
                  Attribute globalAttr, Attribute layoutAttr,
                  const Twine &what) {
    auto global = dyn_cast_or_null<TypeAttr>(globalAttr);
    auto layout = dyn_cast_or_null<dist::LayoutAttr>(layoutAttr);
    auto whole = global ? dyn_cast<RankedTensorType>(global.getValue())
                        : RankedTensorType();
    if (!whole || !whole.hasStaticShape() || !layout) {
      refuse(function, what + " has no spmd.global or dist.layout");
      return false;
    }
    if (!verifyTiling(function, layout, whole, what))
      return false;
    for (int64_t rank : ranks) {
      Type expected = dist::localType(grid, layout, whole, rank);
      if (expected == local)
        continue;
      std::string text;
      llvm::raw_string_ostream(text)
          << " has type " << local << ", but rank " << rank << " holds "
          << expected << " of " << whole;
      refuse(function, what + text);
      return false;
    }
    return true;
  }

  /// The ranks that run `function`; none when its signature does not fit.
  ArrayRef<int64_t> verifySignature(func::FuncOp function) {
    auto symbol = function->getAttrOfType<FlatSymbolRefAttr>(spmd::kClassAttr);
    if (!symbol || !ranksOf.count(symbol.getValue())) {
      refuse(function, "it belongs to no class");
      return {};
    }
    ArrayRef<int64_t> ranks = ranksOf[symbol.getValue()];
    bool isGood = true;
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      isGood &= verifyPart(function, ranks, function.getArgumentTypes()[i],
                           function.getArgAttr(i, "spmd.global"),
                           function.getArgAttr(i, dist::kLayoutAttr),
                           "argument " + Twine(i));
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      isGood &= verifyPart(function, ranks, function.getResultTypes()[i],
                           function.getResultAttr(i, "spmd.global"),
                           function.getResultAttr(i, dist::kLayoutAttr),
                           "result " + Twine(i));
    return isGood ? ranks : ArrayRef<int64_t>();
  }

  /// What one class's function does.
  struct Checked {
    func::FuncOp function;
    ArrayRef<int64_t> ranks;
    std::unique_ptr<PlacementCheck> check;
    bool isGood;
  };

  /// Attributes of arguments and results that all classes share.
  static std::string signatureOf(func::FuncOp function) {
    std::string text;
    llvm::raw_string_ostream out(text);
    out << function.getArgAttrsAttr() << function.getResAttrsAttr();
    return text;
  }

  /// All classes run parts of the same operations and send the same, in the
  /// same order. A rank that waits for a call that others do not make waits for
  /// ever.
  void verifyAgreement(StringRef phase, MutableArrayRef<Checked> functions) {
    if (functions.size() != ranksOf.size())
      refuse(functions.front().function,
             "phase '" + phase + "' has " + Twine(functions.size()) +
                 " functions for " + Twine(ranksOf.size()) +
                 " classes; expected one for each");
    Checked &first = functions.front();
    for (Checked &other : functions.drop_front()) {
      StringRef name = first.function.getName();
      if (signatureOf(first.function) != signatureOf(other.function))
        refuse(other.function, "arguments and results are parts of others than "
                               "those of @" +
                                   name);
      // What follows after a fault is not known.
      if (!first.isGood || !other.isGood)
        continue;
      verifyCollectives(first, other);
      verifySteps(first, other);
    }
  }

  void verifyCollectives(Checked &first, Checked &other) {
    auto left = first.check->getCollectives();
    auto right = other.check->getCollectives();
    StringRef name = first.function.getName();
    for (auto [i, pair] : llvm::enumerate(llvm::zip(left, right))) {
      auto [expected, found] = pair;
      if (expected.second == found.second)
        continue;
      return refuse(found.first, "call " + Twine(i) + " of the class is " +
                                     found.second + ", but @" + name +
                                     " calls " + expected.second);
    }
    if (left.size() != right.size())
      refuse(other.function, "the class makes " + Twine(right.size()) +
                                 " calls, but @" + name + " makes " +
                                 Twine(left.size()));
  }

  void verifySteps(Checked &first, Checked &other) {
    auto left = first.check->getSteps(), right = other.check->getSteps();
    StringRef name = first.function.getName();
    for (auto [expected, found] : llvm::zip(left, right)) {
      if (expected.made != found.made)
        return refuse(found.op, "makes " + found.made + ", but @" + name +
                                    " makes " + expected.made);
      if (!expected.standsIn && !found.standsIn && expected.how != found.how)
        return refuse(found.op, "is a part of " + found.made + " by " +
                                    found.how + ", but in @" + name + " by " +
                                    expected.how);
      if (!verifyEmpty(expected, found, first.ranks) ||
          !verifyEmpty(found, expected, other.ranks))
        return;
    }
    if (left.size() != right.size())
      refuse(other.function, "the class runs " + Twine(right.size()) +
                                 " operations, but @" + name + " runs " +
                                 Twine(left.size()));
  }

  /// Only an empty part may be left out. `step` may stand for one of `ranks`,
  /// `real` says what it would be.
  bool verifyEmpty(const Step &step, const Step &real,
                   ArrayRef<int64_t> ranks) {
    if (!step.standsIn || !real.isEmpty)
      return true;
    for (int64_t rank : ranks)
      if (!real.isEmpty(rank)) {
        refuse(step.op, "rank " + Twine(rank) +
                            " leaves out its part of an operation, which is "
                            "not empty");
        return false;
      }
    return true;
  }
  ModuleOp module;
  dist::GridAttr grid;
  llvm::StringMap<SmallVector<int64_t>> ranksOf;
  bool failedAny = false;
};

} // namespace
