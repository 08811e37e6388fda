//===- PropagateSplits.cpp - A split for every operation ------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Some operations carry a split that somebody chose. The others follow their
// operands, so that as little as possible has to move: an operation is split
// along the dimensions by which its largest operand is cut, then along those of
// the next, as far as axes are left.
//
// Values that nobody has cut yet (arguments, variables, constants, masks, and
// what is computed from those alone) are open: they are made in the layout in
// which they are first needed.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Plan/LayerSplits.h"
#include "passes/Plan/Passes.h"
#include "passes/Plan/Splits.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace partita;
using namespace partita::dist;

namespace partita {
#define GEN_PASS_DEF_PROPAGATESPLITS
#include "passes/Plan/Passes.h.inc"
} // namespace partita

namespace {

/// Layouts that all functions of a module agree on.
struct SharedLayouts {
  llvm::StringMap<LayoutAttr> variables;
  llvm::StringMap<LayoutAttr> arguments;
};

/// Splits the operations of one function.
class FunctionSplits {
public:
  FunctionSplits(func::FuncOp function, GridAttr grid, SharedLayouts &shared,
                 ArrayRef<int> batchAxes)
      : function(function), context(function.getContext()), gridAttr(grid),
        grid(toGrid(grid)), shared(shared), batchAxes(batchAxes),
        gradients(function) {}

  LogicalResult run() {
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (failed(visitArgument(i)))
        return failure();
    for (Operation &op :
         llvm::make_early_inc_range(function.front().without_terminator()))
      if (failed(visit(&op)))
        return failure();
    // What nobody needed in parts is whole.
    for (Value argument : function.getArguments())
      settle(argument);
    for (Operation &op : function.front().without_terminator())
      for (Value result : op.getResults())
        settle(result);
    for (auto [i, argument] : llvm::enumerate(function.getArguments()))
      function.setArgAttr(i, kLayoutAttr, layouts.lookup(argument));
    return success();
  }

private:
  //===--------------------------------------------------------------------===//
  // Arguments and variables
  //===--------------------------------------------------------------------===//

  std::string argumentName(unsigned i) {
    auto name = function.getArgAttrOfType<StringAttr>(i, "nn.name");
    return name ? name.str() : "arg" + std::to_string(i);
  }

  LogicalResult visitArgument(unsigned i) {
    Value argument = function.getArgument(i);
    RankedTensorType type = nn::tensorType(argument);
    auto dim = function.getArgAttrOfType<IntegerAttr>(i, "nn.batch_dim");
    if (dim && (dim.getInt() < 0 || dim.getInt() >= type.getRank()))
      return function.emitError()
             << "argument " << i << " has nn.batch_dim " << dim.getInt()
             << ", which is no dimension of " << type;
    if (auto it = shared.arguments.find(argumentName(i));
        it != shared.arguments.end()) {
      layouts[argument] = it->second;
      return success();
    }
    if (!dim || batchAxes.empty())
      return success();
    Layout layout = Layout::replicated(type.getRank());
    layout.dims[dim.getInt()].axes.assign(batchAxes.begin(), batchAxes.end());
    fix(argument, toAttr(context, gridAttr, layout));
    return success();
  }

  /// Gives an argument or a variable's value its layout, for all functions.
  void fix(Value value, LayoutAttr layout) {
    layout = tilingOf(gridAttr, layout, nn::tensorType(value));
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      StringRef name = keep(argumentName(argument.getArgNumber()));
      layout = shared.arguments.try_emplace(name, layout).first->second;
    } else {
      auto read = cast<nn::ReadOp>(value.getDefiningOp());
      layout = shared.variables.try_emplace(read.getVariable(), layout)
                   .first->second;
    }
    layouts[value] = layout;
  }

  StringRef keep(const std::string &name) {
    return StringAttr::get(context, name).getValue();
  }

  //===--------------------------------------------------------------------===//
  // Operations
  //===--------------------------------------------------------------------===//

  bool isOpen(Value value) const { return !layouts.count(value); }

  /// Operations whose result is open as long as all operands are.
  static bool canStayOpen(Operation *op) {
    if (auto constant = dyn_cast<nn::ConstantOp>(op))
      return constant.getValue().isSplat();
    return op->getNumResults() == 1;
  }

  LayoutAttr replicated(Value value) const {
    return LayoutAttr::getReplicated(context, nn::tensorType(value).getRank());
  }

  SmallVector<LayoutAttr> operandLayouts(Operation *op) const {
    return llvm::map_to_vector(op->getOperands(), [&](Value operand) {
      return layouts.lookup(operand);
    });
  }

  LogicalResult visit(Operation *op) {
    if (auto read = dyn_cast<nn::ReadOp>(op)) {
      auto it = shared.variables.find(read.getVariable());
      if (it != shared.variables.end())
        layouts[read.getValue()] = it->second;
      return success();
    }
    auto partitionable = dyn_cast<nn::PartitionableOp>(op);
    if (!partitionable) {
      // Updates and assignments take the layout of their variable.
      for (Value result : op->getResults())
        layouts[result] = replicated(result);
      return success();
    }
    auto split = op->getAttrOfType<SplitAttr>(kSplitAttr);
    if (!split)
      split = gradients.find(op);
    bool allOpen = llvm::all_of(op->getOperands(),
                                [&](Value operand) { return isOpen(operand); });
    if (!split && allOpen && canStayOpen(op))
      return success();
    nn::IterationSpace space = partitionable.getIterationSpace();
    if (!split)
      split = follow(op, space);
    return apply(op, space, split);
  }

  /// Gives `op` its split, makes its open operands accordingly and notes the
  /// layouts of its results.
  LogicalResult apply(Operation *op, const nn::IterationSpace &space,
                      SplitAttr split) {
    if (addsBiasAfterwards(op, split)) {
      Operation *sum = plan::separateBias(cast<nn::ConvOp>(op));
      Operation *bias = sum->getOperand(1).getDefiningOp();
      return failure(
          failed(apply(op, cast<nn::ConvOp>(op).getIterationSpace(), split)) ||
          failed(visit(bias)) || failed(visit(sum)));
    }
    if (split) {
      op->setAttr(kSplitAttr, split);
      gradients.note(op, split);
    }
    OpLayouts derived =
        deriveLayouts(op, space, gridAttr, split, operandLayouts(op));
    for (auto [i, want] : llvm::enumerate(derived.operands))
      demand(op, i, want);
    derived = deriveLayouts(op, space, gridAttr, split, operandLayouts(op));
    // Partial values are combined where they are first needed whole.
    for (auto [result, layout] : llvm::zip(op->getResults(), derived.results))
      layouts[result] = withoutPartial(layout);
    return success();
  }

  /// Whether a convolution sums over its input channels in parts: the bias must
  /// be added once, to the combined sum.
  bool addsBiasAfterwards(Operation *op, SplitAttr split) const {
    auto conv = dyn_cast<nn::ConvOp>(op);
    return conv && conv.getBias() && split && split.find("ci") >= 0;
  }

  /// The split that keeps operands where they are.
  SplitAttr follow(Operation *op, const nn::IterationSpace &space) {
    SmallVector<unsigned> order;
    for (unsigned i = 0; i < op->getNumOperands(); ++i)
      if (!isOpen(op->getOperand(i)))
        order.push_back(i);
    llvm::stable_sort(order, [&](unsigned a, unsigned b) {
      return nn::byteSize(nn::tensorType(op->getOperand(a))) >
             nn::byteSize(nn::tensorType(op->getOperand(b)));
    });
    SmallVector<DimCut> cuts(space.dims.size());
    llvm::SmallDenseSet<int> used;
    for (unsigned i : order) {
      Layout have = toLayout(gridAttr, layouts.lookup(op->getOperand(i)));
      ArrayRef<int64_t> shape = nn::shapeOf(op->getOperand(i));
      for (auto [d, map] : llvm::enumerate(space.operands[i])) {
        const DimCut &cut = have.dims[d];
        if (map.dim < 0 || cut.axes.empty())
          continue;
        const nn::IterationDim &dim = space.dims[map.dim];
        bool canSplit = dim.kind == nn::DimKind::parallel ||
                        dim.kind == nn::DimKind::reduction;
        bool isFree = llvm::none_of(
            cut.axes, [&](int axis) { return used.contains(axis); });
        if (!canSplit || !isFree || !cuts[map.dim].axes.empty())
          continue;
        // A dimension that has become too small for all its parts is gathered.
        int64_t parts = grid.partsOf(cut.axes);
        if (dim.size < parts && shape[d] >= parts)
          continue;
        std::optional<DimCut> followed = followCut(map, cut, dim.size);
        if (!followed)
          continue;
        cuts[map.dim] = *followed;
        used.insert(cut.axes.begin(), cut.axes.end());
      }
    }
    return makeSplit(context, gridAttr, space, cuts);
  }

  /// The cut of an iteration dimension of `size` indices, given the cut of a
  /// tensor dimension that it indexes by `map`.
  static std::optional<DimCut> followCut(const nn::DimMap &map,
                                         const DimCut &cut, int64_t size) {
    DimCut result;
    result.axes = cut.axes;
    // Rows beyond a window come from the neighbours: parts are made anew.
    if (map.kind != nn::DimMap::direct)
      return result;
    if (cut.ranges.empty()) {
      if (cut.block % map.block != 0) {
        // Elements are dealt out one by one, but belong together in blocks.
        if (map.block % cut.block != 0)
          return std::nullopt;
        return result;
      }
      result.block = cut.block / map.block;
      if (result.block <= 0 || size % result.block != 0)
        return std::nullopt;
      return result;
    }
    for (Range range : cut.ranges) {
      if (range.begin % map.block != 0 || range.end % map.block != 0)
        return std::nullopt;
      result.ranges.push_back({range.begin / map.block, range.end / map.block});
    }
    return result;
  }

  //===--------------------------------------------------------------------===//
  // Open values
  //===--------------------------------------------------------------------===//

  /// Whether `value` is made of constants alone, so that everybody can have a
  /// copy of its own.
  static bool isGenerated(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || isa<nn::ReadOp>(op) || !canStayOpen(op))
      return false;
    return llvm::all_of(op->getOperands(), isGenerated);
  }

  /// Makes operand `i` of `user` so that it lies as `want` says, if that is
  /// still open.
  void demand(Operation *user, unsigned i, LayoutAttr want) {
    Value value = user->getOperand(i);
    want = tilingOf(gridAttr, want, nn::tensorType(value));
    if (!isOpen(value)) {
      if (!isGenerated(value) || sameLayout(gridAttr, layouts.lookup(value),
                                            want, nn::tensorType(value)))
        return;
      value = copyOf(value, want);
      user->setOperand(i, value);
      if (!isOpen(value))
        return;
    }
    make(value, want);
  }

  /// A copy of generated `value` for the layout `want`.
  Value copyOf(Value value, LayoutAttr want) {
    Value &copy = copies[{value, want}];
    if (copy)
      return copy;
    Operation *producer = value.getDefiningOp();
    OpBuilder builder(producer);
    builder.setInsertionPointAfter(producer);
    Operation *clone = builder.clone(*producer);
    clone->removeAttr(kSplitAttr);
    return copy = clone->getResult(0);
  }

  void make(Value value, LayoutAttr want) {
    Operation *producer = value.getDefiningOp();
    if (!producer || isa<nn::ReadOp>(producer)) {
      fix(value, want);
      return;
    }
    nn::IterationSpace space =
        cast<nn::PartitionableOp>(producer).getIterationSpace();
    Layout layout = toLayout(gridAttr, want);
    SmallVector<DimCut> cuts(space.dims.size());
    for (auto [d, map] : llvm::enumerate(space.results[0])) {
      const DimCut &cut = layout.dims[d];
      if (map.dim < 0 || cut.axes.empty() ||
          space.dims[map.dim].kind != nn::DimKind::parallel)
        continue;
      if (std::optional<DimCut> followed =
              followCut(map, cut, space.dims[map.dim].size))
        cuts[map.dim] = *followed;
    }
    (void)apply(producer, space, makeSplit(context, gridAttr, space, cuts));
  }

  void settle(Value value) {
    if (isOpen(value))
      make(value, replicated(value));
  }

  func::FuncOp function;
  MLIRContext *context;
  GridAttr gridAttr;
  Grid grid;
  SharedLayouts &shared;
  ArrayRef<int> batchAxes;
  /// Gradients of convolutions and the like follow their forward operation.
  plan::GradientSplits gradients;
  llvm::DenseMap<Value, LayoutAttr> layouts;
  llvm::DenseMap<std::pair<Value, Attribute>, Value> copies;
};

struct PropagateSplitsPass
    : partita::impl::PropagateSplitsBase<PropagateSplitsPass> {
  using PropagateSplitsBase::PropagateSplitsBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    MLIRContext *context = &getContext();
    if (failed(nn::verifyFunctions(module)))
      return signalPassFailure();
    auto grid = module->getAttrOfType<GridAttr>(kGridAttr);
    SmallVector<int> batchAxes;
    if (!grid) {
      if (ranks < 1) {
        module.emitError() << "the number of ranks must be positive, found "
                           << int64_t(ranks);
        return signalPassFailure();
      }
      int64_t size = ranks;
      grid = GridAttr::get(context, StringAttr::get(context, "data"), size);
      module->setAttr(kGridAttr, grid);
      // One rank holds everything: nothing is split then.
      if (ranks > 1)
        batchAxes.push_back(0);
    }
    SharedLayouts shared;
    for (auto variable : module.getOps<nn::VariableOp>())
      if (auto layout = variable->getAttrOfType<LayoutAttr>(kLayoutAttr))
        shared.variables[variable.getSymName()] = layout;
    // Training decides, the other functions follow.
    SmallVector<func::FuncOp> functions(module.getOps<func::FuncOp>());
    llvm::stable_sort(functions, [](func::FuncOp a, func::FuncOp b) {
      return a.getName() == "step" && b.getName() != "step";
    });
    for (func::FuncOp function : functions)
      if (failed(FunctionSplits(function, grid, shared, batchAxes).run()))
        return signalPassFailure();
    setVariableLayouts(module, shared);
    module.walk([&](Operation *op) { numSplit += op->hasAttr(kSplitAttr); });
    plan::setSynchronisation(module, grid);
    // Sums over ranks are added in another order than on one rank.
    module->setAttr(
        "partita.semantics",
        StringAttr::get(context, grid.getNumRanks() == 1
                                     ? "exact"
                                     : "exact up to reduction order"));
  }

private:
  /// Notes the layouts of variables that are cut; optimizer states lie as their
  /// parameter does.
  static void setVariableLayouts(ModuleOp module, SharedLayouts &shared) {
    module.walk([&](Operation *op) {
      if (!nn::isUpdate(op))
        return;
      auto it = shared.variables.find(nn::updatedVariable(op));
      if (it == shared.variables.end())
        return;
      // Not through the iterator, which an insertion may leave dangling.
      LayoutAttr layout = it->second;
      for (StringRef state : nn::updatedStates(op))
        shared.variables[state] = layout;
    });
    for (auto variable : module.getOps<nn::VariableOp>()) {
      auto it = shared.variables.find(variable.getSymName());
      if (it != shared.variables.end() && !it->second.isReplicated())
        variable->setAttr(kLayoutAttr, it->second);
    }
  }
};

} // namespace
