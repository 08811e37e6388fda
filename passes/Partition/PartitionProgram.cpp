//===- PartitionProgram.cpp - One program per rank class ------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Copies every function once per rank class, with local types, and makes the
// combination of partial values explicit.
//
//===----------------------------------------------------------------------===//

#include "dialects/Dist/Interfaces/Layouts.h"
#include "dialects/NN/IR/NNOps.h"
#include "dialects/SPMD/IR/SPMDDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Partition/Passes.h"
#include <map>

using namespace mlir;
using namespace partita;
using namespace partita::dist;

namespace partita {
#define GEN_PASS_DEF_PARTITIONPROGRAM
#include "passes/Partition/Passes.h.inc"
} // namespace partita

namespace {

using LayoutMap = llvm::DenseMap<Value, LayoutAttr>;

LayoutAttr withoutPartial(LayoutAttr layout) {
  return LayoutAttr::get(layout.getContext(), layout.getDims(),
                         layout.getBlocks(), layout.getRanges(),
                         StringAttr::get(layout.getContext(), ""), {},
                         layout.getVarying());
}

/// Whether `op` may work on partial values and leave a partial result: it is
/// linear in all of them together.
bool keepsPartial(Operation *op, ArrayRef<LayoutAttr> have) {
  if (!isa<nn::AddOp, nn::ReshapeOp>(op))
    return false;
  return llvm::all_of(have, [&](LayoutAttr layout) {
    return layout.getPartialKind().getValue() == "sum" &&
           layout.getPartial() == have[0].getPartial();
  });
}

/// The layout of every value of a function, partial ones included.
class LayoutAnalysis {
public:
  LogicalResult run(func::FuncOp function) {
    MLIRContext *context = function.getContext();
    for (auto [i, argument] : llvm::enumerate(function.getArguments())) {
      auto layout = function.getArgAttrOfType<LayoutAttr>(i, kLayoutAttr);
      int64_t rank = nn::tensorType(argument).getRank();
      if (!layout)
        layout = LayoutAttr::getReplicated(context, rank);
      if (static_cast<int64_t>(layout.getDims().size()) != rank)
        return function.emitError()
               << "argument " << i << " of type " << argument.getType()
               << " has layout " << layout
               << "; expected a list of axes per dimension";
      layouts[argument] = layout;
    }
    for (Operation &op : function.front().without_terminator())
      if (failed(visit(&op)))
        return failure();
    return success();
  }

  const LayoutMap &get() const { return layouts; }

  /// Operations that take partial operands as they are.
  bool isLinear(Operation *op) const { return linear.contains(op); }

private:
  LogicalResult visit(Operation *op) {
    MLIRContext *context = op->getContext();
    SmallVector<LayoutAttr> have;
    for (Value operand : op->getOperands())
      have.push_back(layouts.lookup(operand));
    auto partitionable = dyn_cast<nn::PartitionableOp>(op);
    if (!partitionable) {
      for (Value result : op->getResults())
        layouts[result] = LayoutAttr::getReplicated(
            context, nn::tensorType(result).getRank());
      for (LayoutAttr layout : have)
        if (!withoutPartial(layout).isReplicated())
          return op->emitError() << "needs a value that is the same on all "
                                    "ranks, found layout "
                                 << layout;
      return success();
    }
    bool staysPartial =
        !have.empty() && have[0].isPartial() && keepsPartial(op, have);
    if (staysPartial)
      linear.insert(op);
    nn::IterationSpace space = partitionable.getIterationSpace();
    OpLayouts derived = deriveLayouts(
        op, space, op->getAttrOfType<SplitAttr>(kSplitAttr), have);
    for (auto [operand, layout, want] :
         llvm::zip(op->getOperands(), have, derived.operands))
      if (!fits(nn::tensorType(operand), layout, want))
        return op->emitError() << "needs an operand with layout " << want
                               << ", found " << layout;
    for (auto [result, layout] : llvm::zip(op->getResults(), derived.results))
      layouts[result] =
          staysPartial
              ? LayoutAttr::get(context, layout.getDims(), layout.getBlocks(),
                                layout.getRanges(), have[0].getPartialKind(),
                                have[0].getPartial(), layout.getVarying())
              : layout;
    return success();
  }

  LayoutMap layouts;
  llvm::DenseSet<Operation *> linear;
};

/// Writes the function of one rank class.
class ClassProgram {
public:
  ClassProgram(func::FuncOp function, const LayoutAnalysis &analysis,
               GridAttr grid, int64_t rank)
      : function(function), analysis(analysis), layouts(analysis.get()),
        grid(grid), rank(rank) {}

  func::FuncOp build(OpBuilder &builder, StringRef name,
                     FlatSymbolRefAttr classSymbol) {
    SmallVector<Type> inputs, results;
    for (Value argument : function.getArguments())
      inputs.push_back(local(argument));
    Operation *terminator = function.front().getTerminator();
    for (Value value : terminator->getOperands())
      results.push_back(local(value));
    auto copy = builder.create<func::FuncOp>(
        function.getLoc(), name, builder.getFunctionType(inputs, results));
    copy->setAttr(spmd::kClassAttr, classSymbol);
    copy->setAttr(spmd::kPhaseAttr, builder.getStringAttr(function.getName()));
    Block *body = copy.addEntryBlock();
    for (auto [i, argument] : llvm::enumerate(function.getArguments())) {
      body->getArgument(i).setLoc(argument.getLoc());
      mapping.map(argument, body->getArgument(i));
      copy.setArgAttrs(i, function.getArgAttrDict(i));
      copy.setArgAttr(i, "spmd.global", TypeAttr::get(argument.getType()));
    }
    OpBuilder inner = OpBuilder::atBlockEnd(body);
    for (Operation &op : function.front().without_terminator())
      copyOp(inner, &op);
    SmallVector<Value> returned;
    for (Value value : terminator->getOperands())
      returned.push_back(whole(inner, value));
    inner.create<func::ReturnOp>(terminator->getLoc(), returned);
    for (auto [i, value] : llvm::enumerate(terminator->getOperands())) {
      copy.setResultAttrs(i, function.getResultAttrDict(i));
      copy.setResultAttr(i, "spmd.global", TypeAttr::get(value.getType()));
      copy.setResultAttr(i, kLayoutAttr, withoutPartial(layouts.lookup(value)));
    }
    return copy;
  }

private:
  RankedTensorType local(Value value) {
    return localType(grid, layouts.lookup(value), nn::tensorType(value), rank);
  }

  /// The value with its partial axes combined; built once, right where it is
  /// first needed.
  Value whole(OpBuilder &builder, Value value) {
    LayoutAttr layout = layouts.lookup(value);
    if (!layout.isPartial())
      return mapping.lookup(value);
    Value &combined = combinedValues[value];
    if (!combined) {
      SmallVector<Attribute> axes(layout.getPartial().begin(),
                                  layout.getPartial().end());
      combined = builder.create<spmd::AllReduceOp>(
          value.getLoc(),
          *spmd::symbolizeReduction(layout.getPartialKind().getValue()),
          mapping.lookup(value), builder.getArrayAttr(axes));
    }
    return combined;
  }

  void copyOp(OpBuilder &builder, Operation *op) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(analysis.isLinear(op) ? mapping.lookup(operand)
                                               : whole(builder, operand));
    SmallVector<Type> types;
    for (Value result : op->getResults())
      types.push_back(local(result));
    // Regions are scalar bodies, which do not change.
    Operation *copy = op->cloneWithoutRegions();
    copy->setOperands(operands);
    for (auto [from, to] : llvm::zip(op->getRegions(), copy->getRegions()))
      from.cloneInto(&to, mapping);
    for (auto [result, type] : llvm::zip(copy->getResults(), types))
      result.setType(type);
    if (Attribute split = copy->removeAttr(kSplitAttr))
      copy->setAttr(spmd::kSplitAttr, split);
    builder.insert(copy);
    localize(op, copy);
    for (auto [from, to] : llvm::zip(op->getResults(), copy->getResults()))
      mapping.map(from, to);
  }

  /// Changes the attributes that hold sizes.
  void localize(Operation *op, Operation *copy) {
    auto split = op->getAttrOfType<SplitAttr>(kSplitAttr);
    if (!split)
      return;
    // The part of a mask differs between ranks of one class: its begin is
    // computed by the rank.
    if (isa<nn::DropoutMaskOp>(op)) {
      copy->setAttr("layout", layouts.lookup(op->getResult(0)));
      return;
    }
    if (auto constant = dyn_cast<nn::ConstantOp>(copy)) {
      auto value = cast<DenseElementsAttr>(constant.getValue());
      constant.setValueAttr(value.resizeSplat(nn::tensorType(constant.getY())));
      return;
    }
    auto partitionable = cast<nn::PartitionableOp>(op);
    nn::IterationSpace space = partitionable.getIterationSpace();
    SmallVector<LayoutAttr> have;
    for (Value operand : op->getOperands())
      have.push_back(layouts.lookup(operand));
    OpLayouts derived = deriveLayouts(op, space, split, have);
    SmallVector<std::pair<int64_t, int64_t>> bounds;
    for (auto [dim, block] : llvm::zip(space.dims, derived.blocks)) {
      MLIRContext *context = op->getContext();
      auto layout = LayoutAttr::get(
          context, ArrayAttr::get(context, split.getAxesOf(dim.name)), block,
          DenseI64ArrayAttr::get(context, {}), StringAttr::get(context, ""), {},
          {});
      bounds.push_back(boundsOf(grid, layout, 0, dim.size, rank));
    }
    cast<nn::PartitionableOp>(copy).localizeAttributes(bounds);
  }

  func::FuncOp function;
  const LayoutAnalysis &analysis;
  const LayoutMap &layouts;
  GridAttr grid;
  int64_t rank;
  IRMapping mapping;
  llvm::DenseMap<Value, Value> combinedValues;
};

struct PartitionProgramPass
    : partita::impl::PartitionProgramBase<PartitionProgramPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto grid = module->getAttrOfType<GridAttr>(kGridAttr);
    if (!grid) {
      module.emitError("has no dist.grid; plan it first");
      return signalPassFailure();
    }
    if (failed(nn::verifyFunctions(module)))
      return signalPassFailure();
    SmallVector<func::FuncOp> functions(module.getOps<func::FuncOp>());
    std::vector<LayoutAnalysis> analyses(functions.size());
    for (auto [function, analysis] : llvm::zip(functions, analyses))
      if (failed(analysis.run(function)))
        return signalPassFailure();

    std::vector<SmallVector<int64_t>> classes = findClasses(grid, analyses);
    numClasses = classes.size();
    OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
    if (!functions.empty())
      builder.setInsertionPoint(functions.front());
    for (auto [i, ranks] : llvm::enumerate(classes))
      builder.create<spmd::ClassOp>(
          module.getLoc(), builder.getStringAttr("c" + Twine(i)),
          builder.getDenseI64ArrayAttr(ranks), IntegerAttr(), IntegerAttr());
    for (auto [function, analysis] : llvm::zip(functions, analyses)) {
      builder.setInsertionPoint(function);
      for (auto [i, ranks] : llvm::enumerate(classes)) {
        std::string suffix = "_c" + std::to_string(i);
        ClassProgram program(function, analysis, grid, ranks.front());
        func::FuncOp copy = program.build(
            builder, (function.getName() + suffix).str(),
            FlatSymbolRefAttr::get(&getContext(), "c" + std::to_string(i)));
        if (i == 0)
          copy.walk([&](spmd::AllReduceOp) { ++numCollectives; });
      }
      function.erase();
    }
  }

private:
  /// Ranks whose parts of all values have the same sizes, in the order of
  /// their first rank.
  static std::vector<SmallVector<int64_t>>
  findClasses(GridAttr grid, ArrayRef<LayoutAnalysis> analyses) {
    // Distinct ways in which a dimension is split, in no particular order:
    // only the equality of the resulting sizes matters.
    std::vector<std::pair<RankedTensorType, LayoutAttr>> kinds;
    llvm::DenseSet<std::pair<Type, Attribute>> seen;
    for (const LayoutAnalysis &analysis : analyses)
      for (auto [value, layout] : analysis.get())
        if (seen.insert({value.getType(), layout}).second)
          kinds.push_back({nn::tensorType(value), layout});
    std::vector<SmallVector<int64_t>> classes;
    std::map<std::vector<Type>, size_t, TypeListLess> classOf;
    for (int64_t rank = 0, e = grid.getNumRanks(); rank < e; ++rank) {
      std::vector<Type> key;
      for (auto [type, layout] : kinds)
        key.push_back(localType(grid, layout, type, rank));
      auto [it, isNew] = classOf.try_emplace(key, classes.size());
      if (isNew)
        classes.emplace_back();
      classes[it->second].push_back(rank);
    }
    return classes;
  }

  struct TypeListLess {
    bool operator()(const std::vector<Type> &a,
                    const std::vector<Type> &b) const {
      // Types are unique, so their addresses identify them; the map is only
      // asked for equality and the classes are numbered by first rank.
      return std::lexicographical_compare(
          a.begin(), a.end(), b.begin(), b.end(), [](Type x, Type y) {
            return x.getAsOpaquePointer() < y.getAsOpaquePointer();
          });
    }
  };
};

} // namespace
