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

#include "dialects/Dist/IR/Redistribution.h"
#include "dialects/Dist/IR/Servers.h"
#include "dialects/Dist/Interfaces/ValueLayouts.h"
#include "dialects/NN/IR/NNOps.h"
#include "dialects/SPMD/IR/SPMDDialect.h"
#include "passes/Partition/ClassProgram.h"
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

/// Numbers for things that are equal on ranks of one class. A rank's signature
/// is the list of its numbers.
class Signatures {
public:
  /// Adds to the signature of every rank what `describe` says of it. It is
  /// asked once for all ranks that agree on `axes`.
  template <typename Describe>
  void add(const Grid &grid, ArrayRef<int> axes, Describe describe) {
    std::map<std::vector<int64_t>, int64_t> ofCoordinates;
    std::map<decltype(describe(int64_t(0))), int64_t> ofDescription;
    signatures.resize(grid.numRanks());
    for (int64_t rank = 0; rank < grid.numRanks(); ++rank) {
      std::vector<int64_t> coordinates;
      for (int axis : axes)
        coordinates.push_back(grid.coordinate(rank, axis));
      auto [it, isNew] = ofCoordinates.try_emplace(coordinates, 0);
      if (isNew)
        it->second =
            ofDescription.try_emplace(describe(rank), ofDescription.size())
                .first->second;
      signatures[rank].push_back(it->second);
    }
  }

  /// Ranks with equal signatures, in the order of their first rank.
  std::vector<SmallVector<int64_t>> classes(int64_t ranks) {
    signatures.resize(ranks);
    std::vector<SmallVector<int64_t>> result;
    std::map<std::vector<int64_t>, size_t> classOf;
    for (int64_t rank = 0; rank < ranks; ++rank) {
      auto [it, isNew] = classOf.try_emplace(signatures[rank], result.size());
      if (isNew)
        result.emplace_back();
      result[it->second].push_back(rank);
    }
    return result;
  }

private:
  std::vector<std::vector<int64_t>> signatures;
};

/// The axes that cut a tensor.
SmallVector<int> axesOf(const Layout &layout) {
  SmallVector<int> axes;
  for (const DimCut &cut : layout.dims)
    axes.append(cut.axes.begin(), cut.axes.end());
  return axes;
}

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
    std::vector<ValueLayouts> layouts;
    for (func::FuncOp function : functions) {
      FailureOr<ValueLayouts> computed = ValueLayouts::compute(function, grid);
      if (failed(computed))
        return signalPassFailure();
      layouts.push_back(std::move(*computed));
    }
    MovePaths paths(grid);
    Signatures signatures;
    for (auto [function, values] : llvm::zip(functions, layouts))
      describeRanks(function, values, grid, paths, signatures);
    describeServers(module, grid, signatures);
    std::vector<SmallVector<int64_t>> classes =
        signatures.classes(grid.getNumRanks());
    numClasses = classes.size();
    OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
    if (!functions.empty())
      builder.setInsertionPoint(functions.front());
    for (auto [i, ranks] : llvm::enumerate(classes))
      builder.create<spmd::ClassOp>(
          module.getLoc(), builder.getStringAttr("c" + Twine(i)),
          builder.getDenseI64ArrayAttr(ranks), IntegerAttr(), IntegerAttr());
    for (auto [function, values] : llvm::zip(functions, layouts)) {
      builder.setInsertionPoint(function);
      for (auto [i, ranks] : llvm::enumerate(classes)) {
        std::string suffix = "_c" + std::to_string(i);
        ClassProgram program(function, values, grid, paths, ranks.front());
        func::FuncOp copy = program.build(
            builder, (function.getName() + suffix).str(),
            FlatSymbolRefAttr::get(&getContext(), "c" + std::to_string(i)));
        if (i == 0)
          copy.walk(
              [&](Operation *op) { numCollectives += spmd::isCollective(op); });
      }
      function.erase();
    }
  }

private:
  /// Ranks whose groups have more servers divide their parameters among more.
  static void describeServers(ModuleOp module, GridAttr grid,
                              Signatures &signatures) {
    int64_t servers = serversOf(module);
    llvm::DenseSet<Attribute> seen;
    for (auto variable : module.getOps<nn::VariableOp>()) {
      auto sync = variable->getAttrOfType<SyncAttr>(kSyncAttr);
      if (servers == 0 || !sync || !seen.insert(sync).second ||
          sync.getMethod() != SyncMethod::parameter_server)
        continue;
      SmallVector<int> others;
      for (auto [i, axis] : llvm::enumerate(grid.getAxes()))
        if (!llvm::is_contained(sync.getAxes(), axis))
          others.push_back(static_cast<int>(i));
      ServerGroups groups(grid, sync.getAxes(), servers);
      signatures.add(toGrid(grid), others, [&](int64_t rank) {
        return groups.numServers(groups.groupOf(rank));
      });
    }
  }

  /// Adds everything of a function in which ranks can differ.
  static void describeRanks(func::FuncOp function, const ValueLayouts &values,
                            GridAttr gridAttr, MovePaths &paths,
                            Signatures &signatures) {
    Grid grid = toGrid(gridAttr);
    llvm::DenseSet<std::pair<Type, Attribute>> seen;
    auto addSizes = [&](RankedTensorType type, const Layout &layout) {
      LayoutAttr attr = toAttr(function.getContext(), gridAttr, layout);
      if (!layout.isCut() || !seen.insert({type, attr}).second)
        return;
      signatures.add(grid, axesOf(layout), [&](int64_t rank) {
        std::vector<int64_t> sizes;
        for (Range range : dist::boxOf(grid, layout, sizesOf(type), rank))
          sizes.push_back(range.size());
        return sizes;
      });
    };
    for (auto [type, layout] : values.all())
      addSizes(type, toLayout(gridAttr, layout));
    auto addMoves = [&](Value value, LayoutAttr want) {
      RankedTensorType type = nn::tensorType(value);
      if (!paths.isNew(type, values.of(value), want))
        return;
      Layout from = toLayout(gridAttr, values.of(value));
      for (const Move &move : paths.find(type, values.of(value), want)) {
        addSizes(type, move.to);
        if (move.kind != MoveKind::slice && move.kind != MoveKind::allReduce) {
          std::vector<int64_t> staging =
              stagingElements(grid, sizesOf(type), from, move);
          SmallVector<int> axes = axesOf(from);
          axes.append(axesOf(move.to));
          signatures.add(grid, axes,
                         [&](int64_t rank) { return staging[rank]; });
        }
        from = move.to;
      }
    };
    for (Operation &op : function.front()) {
      for (auto [operand, want] :
           llvm::zip(op.getOperands(), values.of(&op).operands))
        addMoves(operand, want);
      auto split = op.getAttrOfType<SplitAttr>(kSplitAttr);
      if (!split)
        continue;
      SmallVector<int> axes;
      for (ArrayAttr list : split.getAxes())
        for (auto axis : list.getAsRange<StringAttr>())
          if (int index = gridAttr.findAxis(axis.getValue()); index >= 0)
            axes.push_back(index);
      signatures.add(grid, axes, [&](int64_t rank) {
        return ClassProgram::attributesOf(&op, values, gridAttr, rank);
      });
    }
  }
};

} // namespace
