//===- PlanDataParallel.cpp - Split the batch over all ranks --------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Data parallelism as a plan: the split of the batch is followed from the
// arguments through the iteration spaces of the operations.
//
//===----------------------------------------------------------------------===//

#include "dialects/Dist/Interfaces/Layouts.h"
#include "dialects/NN/IR/NNOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Plan/Passes.h"

using namespace mlir;
using namespace partita;
using namespace partita::dist;

namespace partita {
#define GEN_PASS_DEF_PLANDATAPARALLEL
#include "passes/Plan/Passes.h.inc"
} // namespace partita

namespace {

/// Follows the batch through one function.
class BatchSplit {
public:
  /// One rank holds everything: nothing is split then.
  BatchSplit(MLIRContext *context, StringRef axisName, int64_t ranks)
      : context(context), axis(StringAttr::get(context, axisName)),
        splits(ranks > 1) {}

  LogicalResult run(func::FuncOp function, unsigned &count) {
    OpBuilder builder(context);
    for (auto [i, argument] : llvm::enumerate(function.getArguments())) {
      auto type = cast<RankedTensorType>(argument.getType());
      LayoutAttr layout = LayoutAttr::getReplicated(context, type.getRank());
      if (auto dim =
              function.getArgAttrOfType<IntegerAttr>(i, "nn.batch_dim")) {
        if (dim.getInt() < 0 || dim.getInt() >= type.getRank())
          return function.emitError()
                 << "argument " << i << " has nn.batch_dim " << dim.getInt()
                 << ", which is no dimension of " << type;
        if (splits)
          layout = splitAt(layout, dim.getInt(), /*block=*/1);
      }
      layouts[argument] = layout;
      function.setArgAttr(i, kLayoutAttr, layout);
    }
    for (Operation &op : function.front().without_terminator()) {
      if (failed(visit(&op)))
        return failure();
      count += op.hasAttr(kSplitAttr);
    }
    return success();
  }

private:
  LayoutAttr splitAt(LayoutAttr layout, unsigned dim, int64_t block) {
    SmallVector<ArrayAttr> dims(layout.getDims());
    SmallVector<int64_t> blocks(layout.getBlocks());
    dims[dim] = ArrayAttr::get(context, {axis});
    blocks[dim] = block;
    return LayoutAttr::get(context, dims, blocks, layout.getRanges(),
                           layout.getPartialKind(), layout.getPartial(),
                           layout.getVarying());
  }

  SmallVector<LayoutAttr> operandLayouts(Operation *op) {
    return llvm::map_to_vector(op->getOperands(), [&](Value operand) {
      return layouts.lookup(operand);
    });
  }

  void setLayouts(Operation *op, const nn::IterationSpace &space) {
    OpLayouts derived =
        deriveLayouts(op, space, op->getAttrOfType<SplitAttr>(kSplitAttr),
                      operandLayouts(op));
    for (auto [result, layout] : llvm::zip(op->getResults(), derived.results)) {
      // Partial values are combined where they are first needed whole.
      layouts[result] = LayoutAttr::get(
          context, layout.getDims(), layout.getBlocks(), layout.getRanges(),
          StringAttr::get(context, ""), {}, layout.getVarying());
    }
  }

  void setSplit(Operation *op, StringRef dim) {
    op->setAttr(kSplitAttr,
                SplitAttr::getBalanced(context, StringAttr::get(context, dim),
                                       ArrayAttr::get(context, {axis})));
  }

  LogicalResult visit(Operation *op) {
    auto partitionable = dyn_cast<nn::PartitionableOp>(op);
    if (!partitionable) {
      // Reads are whole; updates and assignments take what is combined.
      for (Value result : op->getResults())
        layouts[result] = LayoutAttr::getReplicated(
            context, nn::tensorType(result).getRank());
      for (Value operand : op->getOperands())
        if (!isWhole(layouts.lookup(operand)))
          return op->emitError()
                 << "needs a value that is the same on all ranks, but it is "
                    "split over the batch; use --ranks 1 for this model";
      return success();
    }
    nn::IterationSpace space = partitionable.getIterationSpace();
    int split = -1;
    for (auto [operand, map] : llvm::zip(op->getOperands(), space.operands)) {
      LayoutAttr layout = layouts.lookup(operand);
      for (auto [i, dim] : llvm::enumerate(map)) {
        if (!layout.isSplit(i))
          continue;
        if (dim.dim < 0 || space.dims[dim.dim].kind == nn::DimKind::whole ||
            dim.kernelDim >= 0 || layout.getBlocks()[i] % dim.block != 0)
          return refuse(op, i,
                        dim.dim < 0 ? StringRef() : space.dims[dim.dim].name);
        if (split >= 0 && split != dim.dim)
          return op->emitError()
                 << "would need two of its dimensions split over the batch, '"
                 << space.dims[split].name << "' and '"
                 << space.dims[dim.dim].name
                 << "'; use --ranks 1 for this model";
        split = dim.dim;
      }
    }
    if (split >= 0) {
      setSplit(op, space.dims[split].name);
      if (failed(alignOperands(op, space)))
        return failure();
    }
    setLayouts(op, space);
    return success();
  }

  static bool isWhole(LayoutAttr layout) {
    return llvm::all_of(layout.getDims(),
                        [](ArrayAttr axes) { return axes.empty(); });
  }

  LogicalResult refuse(Operation *op, unsigned operandDim, StringRef name) {
    return op->emitError()
           << "needs dimension " << operandDim
           << (name.empty() ? "" : " ('" + name.str() + "')")
           << " of its operand whole, but it is split over the batch; this "
              "node mixes samples, so use --ranks 1 for this model";
  }

  /// Operands without a split whose dimension the operation now splits are
  /// made in parts by their producers.
  LogicalResult alignOperands(Operation *op, const nn::IterationSpace &space) {
    OpLayouts derived =
        deriveLayouts(op, space, op->getAttrOfType<SplitAttr>(kSplitAttr),
                      operandLayouts(op));
    for (auto [operand, want] : llvm::zip(op->getOperands(), derived.operands))
      if (!fits(nn::tensorType(operand), layouts.lookup(operand), want) &&
          failed(makeInParts(op, operand, want)))
        return op->emitError()
               << "combines a batch split over ranks with a whole tensor of "
               << "type " << operand.getType()
               << " along the batch; use --ranks 1 for this model";
    return success();
  }

  /// Splits the producer of `value` so that it has layout `want`. Possible
  /// where the producer's operands can follow, and no user has seen the value
  /// whole.
  LogicalResult makeInParts(Operation *user, Value value, LayoutAttr want) {
    Operation *producer = value.getDefiningOp();
    auto partitionable = dyn_cast_or_null<nn::PartitionableOp>(producer);
    if (!partitionable || producer->getNumResults() != 1)
      return failure();
    auto constant = dyn_cast<nn::ConstantOp>(producer);
    if (constant && !constant.getValue().isSplat())
      return failure();
    if (!value.hasOneUse()) {
      // Others may want it whole: this user gets a copy of its own.
      OpBuilder builder(producer);
      Operation *copy = builder.clone(*producer);
      user->replaceUsesOfWith(value, copy->getResult(0));
      producer = copy;
      partitionable = cast<nn::PartitionableOp>(copy);
      value = copy->getResult(0);
    }
    nn::IterationSpace space = partitionable.getIterationSpace();
    for (auto [i, dim] : llvm::enumerate(space.results[0]))
      if (want.isSplit(i)) {
        if (dim.dim < 0 || space.dims[dim.dim].kind != nn::DimKind::parallel)
          return failure();
        setSplit(producer, space.dims[dim.dim].name);
      }
    OpLayouts derived = deriveLayouts(
        producer, space, producer->getAttrOfType<SplitAttr>(kSplitAttr),
        operandLayouts(producer));
    for (auto [operand, wanted] :
         llvm::zip(producer->getOperands(), derived.operands))
      if (!fits(nn::tensorType(operand), layouts.lookup(operand), wanted) &&
          failed(makeInParts(producer, operand, wanted)))
        return failure();
    setLayouts(producer, space);
    return success(fits(nn::tensorType(value), layouts.lookup(value), want));
  }

  MLIRContext *context;
  StringAttr axis;
  /// Whether the batch has more than one part.
  bool splits;
  llvm::DenseMap<Value, LayoutAttr> layouts;
};

struct PlanDataParallelPass
    : partita::impl::PlanDataParallelBase<PlanDataParallelPass> {
  using PlanDataParallelBase::PlanDataParallelBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    MLIRContext *context = &getContext();
    if (ranks < 1) {
      module.emitError() << "the number of ranks must be positive, found "
                         << int64_t(ranks);
      return signalPassFailure();
    }
    if (failed(nn::verifyFunctions(module)))
      return signalPassFailure();
    auto axis = StringAttr::get(context, "data");
    int64_t size = ranks;
    module->setAttr(kGridAttr, GridAttr::get(context, axis, size));
    unsigned count = 0;
    for (auto function : module.getOps<func::FuncOp>())
      if (failed(BatchSplit(context, "data", ranks).run(function, count)))
        return signalPassFailure();
    numSplit = count;
    for (auto variable : module.getOps<nn::VariableOp>())
      if (variable.getRole() == nn::Role::parameter)
        variable->setAttr(kSyncAttr,
                          SyncAttr::get(context, SyncMethod::all_reduce, axis));
    // Sums over ranks are added in another order than on one rank.
    module->setAttr(
        "partita.semantics",
        StringAttr::get(context,
                        ranks == 1 ? "exact" : "exact up to reduction order"));
  }
};

} // namespace
