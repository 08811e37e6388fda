//===- GroupStatistics.cpp - Small reductions that nobody waits for -------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Running statistics of batch normalisation by each rank's own samples: made
// from what the rank has computed for itself, and sent together. With s samples
// on this rank of S on all, its mean m and variance v, the mean and variance of
// the batch are
//
//     M = sum (s / S) m        V = sum (s / S) (v + (m - M)^2)
//
// (Chan, Golub and LeVeque, 1979, the pairwise update, for many parts), which
// needs no second pass over the values and no difference of large numbers.
//
//===----------------------------------------------------------------------===//

#include "dialects/Dist/Interfaces/Layouts.h"
#include "passes/Schedule/BufferAssignment.h"
#include "passes/Schedule/Overlap.h"
#include "passes/Schedule/Passes.h"
#include <cmath>

using namespace mlir;
using namespace partita;

namespace partita {
#define GEN_PASS_DEF_GROUPSTATISTICS
#include "passes/Schedule/Passes.h.inc"
} // namespace partita

namespace {

/// Values up to this size are cheap to keep and to compute with later.
constexpr int64_t kSmallBytes = 64 << 10;

bool isSmall(Value value) {
  return nn::byteSize(nn::tensorType(value)) <= kSmallBytes;
}

bool isSmall(Operation *op) {
  auto isSmallValue = [](Value value) { return isSmall(value); };
  return op->getNumRegions() == 0 && !spmd::isCollective(op) &&
         llvm::all_of(op->getOperands(), isSmallValue) &&
         llvm::all_of(op->getResults(), isSmallValue);
}

//===----------------------------------------------------------------------===//
// Statistics of the batch from those of the ranks
//===----------------------------------------------------------------------===//

class FromParts {
public:
  FromParts(Operation *op, dist::GridAttr grid) : op(op), grid(grid) {}

  /// The part of this rank in a sum over all ranks of `value`, a statistic of
  /// its own: value * weight, as one of the rows over which the sum is split.
  Value weighted(Value value, double weight) {
    OpBuilder builder(op);
    RankedTensorType type = nn::tensorType(value);
    SmallVector<int64_t> shape(type.getShape());
    shape.insert(shape.begin(), 1);
    Value row = builder.create<nn::ReshapeOp>(
        op->getLoc(), RankedTensorType::get(shape, type.getElementType()),
        value);
    auto sum = builder.create<nn::ReduceOp>(op->getLoc(), nn::ReduceKind::sum,
                                            row, ArrayRef<int64_t>{0}, weight);
    sum->setAttr(spmd::kSplitAttr, rowSplit(sum));
    return sum.getY();
  }

  /// v + (m - M)^2
  Value around(Value variance, Value mean, Value wholeMean) {
    OpBuilder builder(op);
    Location loc = op->getLoc();
    Value apart = builder.create<nn::SubOp>(loc, mean, wholeMean);
    Value square = builder.create<nn::MulOp>(loc, apart, apart);
    return builder.create<nn::AddOp>(loc, variance, square);
  }

private:
  /// The axes that cut reduced dimensions of `op` cut the rows, the others cut
  /// what they have cut.
  dist::SplitAttr rowSplit(nn::ReduceOp sum) {
    auto split = op->getAttrOfType<dist::SplitAttr>(spmd::kSplitAttr);
    auto axes = op->getAttrOfType<DenseI64ArrayAttr>("axes").asArrayRef();
    nn::IterationSpace space =
        cast<nn::PartitionableOp>(op).getIterationSpace();
    std::vector<dist::DimCut> cuts(1);
    for (auto [d, dim] : llvm::enumerate(space.dims)) {
      dist::DimCut cut = dist::cutOf(grid, split, dim.name);
      if (!llvm::is_contained(axes, int64_t(d)))
        cuts.push_back(cut);
      else
        cuts[0].axes.insert(cuts[0].axes.end(), cut.axes.begin(),
                            cut.axes.end());
    }
    // Rows are one for each rank, whatever the sizes of the parts.
    return dist::makeSplit(
        op->getContext(), grid,
        cast<nn::PartitionableOp>(sum.getOperation()).getIterationSpace(),
        cuts);
  }

  Operation *op;
  dist::GridAttr grid;
};

/// The statistic of the rank's own part that goes over the same elements as
/// `op`, or null.
template <typename Op> Op ownOf(Op op) {
  // A rank without samples has no statistics.
  if (nn::tensorType(op.getX()).getNumElements() == 0)
    return Op();
  for (Operation *user : op.getX().getUsers()) {
    auto own = dyn_cast<Op>(user);
    if (own && own != op && own.getLocal() && !op.getLocal() &&
        own.getAxes() == op.getAxes() && own->isBeforeInBlock(op) &&
        own->getAttr(spmd::kSplitAttr) == op->getAttr(spmd::kSplitAttr))
      return own;
  }
  return Op();
}

/// Elements of x that become one of the result.
double reducedElements(Value x, Value y) {
  return double(nn::tensorType(x).getNumElements()) /
         double(std::max<int64_t>(nn::tensorType(y).getNumElements(), 1));
}

/// Replaces sums over the batch by sums over the ranks' own statistics. Returns
/// how many.
int64_t useOwnStatistics(func::FuncOp function, dist::GridAttr grid) {
  int64_t number = 0;
  auto replace = [&](Operation *op, Value by) {
    op->getResult(0).replaceAllUsesWith(by);
    op->erase();
    ++number;
  };
  for (Operation &op : llvm::make_early_inc_range(function.front())) {
    if (!op.hasAttr(spmd::kSplitAttr))
      continue;
    if (auto sum = dyn_cast<nn::ReduceOp>(op)) {
      nn::ReduceOp own = ownOf(sum);
      if (!own || sum.getKind() != nn::ReduceKind::sum ||
          own.getKind() != nn::ReduceKind::sum || own.getScale().isZero())
        continue;
      double weight =
          sum.getScale().convertToDouble() / own.getScale().convertToDouble();
      replace(sum, FromParts(&op, grid).weighted(own.getY(), weight));
    } else if (auto variance = dyn_cast<nn::VarianceOp>(op)) {
      nn::VarianceOp own = ownOf(variance);
      if (!own)
        continue;
      // The update is that of means: own scales are 1 over the number.
      double scale = own.getScale().convertToDouble();
      double elements = reducedElements(own.getX(), own.getY());
      if (std::abs(scale * elements - 1) > 1e-9)
        continue;
      auto ownMean = own.getMean().getDefiningOp<nn::ReduceOp>();
      bool isMean = ownMean && ownMean.getX() == own.getX() &&
                    ownMean.getAxes() == own.getAxes() &&
                    ownMean.getKind() == nn::ReduceKind::sum &&
                    ownMean.getScale().convertToDouble() == scale;
      if (!isMean)
        continue;
      FromParts parts(&op, grid);
      Value around =
          parts.around(own.getY(), own.getMean(), variance.getMean());
      replace(variance,
              parts.weighted(around,
                             variance.getScale().convertToDouble() / scale));
    }
  }
  return number;
}

//===----------------------------------------------------------------------===//
// Reductions that can wait
//===----------------------------------------------------------------------===//

/// What follows from a reduction, up to what is stored or returned.
class Followers {
public:
  /// Whether only small values follow, for the next step or for the caller.
  bool collect(Value value) {
    for (Operation *user : value.getUsers()) {
      if (isa<nn::AssignOp>(user)) {
        found.insert(user);
        continue;
      }
      if (user->hasTrait<OpTrait::IsTerminator>())
        continue;
      auto reduce = dyn_cast<spmd::AllReduceOp>(user);
      bool canWait =
          reduce ? !isBucketed(reduce) : isSmall(user) && !nn::isUpdate(user);
      if (!canWait)
        return false;
      if (found.insert(user))
        for (Value result : user->getResults())
          if (!collect(result))
            return false;
    }
    return true;
  }

  const llvm::SetVector<Operation *> &get() const { return found; }

private:
  llvm::SetVector<Operation *> found;
};

/// Per collective reduction whether it can wait, in the order of the function.
SmallVector<bool> findLate(func::FuncOp function) {
  SmallVector<bool> late;
  for (auto reduce : function.getOps<spmd::AllReduceOp>())
    late.push_back(!isBucketed(reduce) && !isReturnedOnly(reduce) &&
                   isSmall(reduce.getX()) &&
                   Followers().collect(reduce.getY()));
  return late;
}

/// The reductions of one function that can wait, and what follows from them.
class Waiting {
public:
  Waiting(func::FuncOp function, ArrayRef<bool> late) : function(function) {
    SmallVector<spmd::AllReduceOp> all(function.getOps<spmd::AllReduceOp>());
    for (auto [reduce, isLate] : llvm::zip_equal(all, late)) {
      if (isLate || isReturnedOnly(reduce))
        anchor = reduce;
      if (!isLate)
        continue;
      reductions.insert(reduce);
      reduce->setAttr(kLateAttr, UnitAttr::get(function.getContext()));
      followers.collect(reduce.getY());
    }
  }

  /// Raises `least`, one number for each reduction, where a reduction needs
  /// what others bring: to one more than theirs. Returns whether it did.
  bool raiseLevels(SmallVectorImpl<int> &least) {
    least.resize(reductions.size(), 0);
    levels.clear();
    for (Operation &op : function.front())
      if (reductions.contains(&op) || followers.get().contains(&op))
        levels[&op] = levelOf(op, least);
    bool isRaised = false;
    for (auto [reduce, level] : llvm::zip_equal(reductions, least))
      if (int here = levels.lookup(reduce); here > level) {
        level = here;
        isRaised = true;
      }
    return isRaised;
  }

  /// Brings all to the anchor: the last of them, or the last that is only
  /// returned. What a level needs is computed before it.
  void group() {
    Operation *place = anchor->getNextNode();
    while (levels.contains(place))
      place = place->getNextNode();
    // What stands behind the place may need what is computed there.
    std::vector<SmallVector<Operation *>> computed, sent;
    for (Operation &op : function.front()) {
      if (&op == place)
        break;
      auto it = levels.find(&op);
      if (it == levels.end())
        continue;
      computed.resize(std::max<size_t>(computed.size(), it->second + 1));
      sent.resize(computed.size());
      (reductions.contains(&op) ? sent : computed)[it->second].push_back(&op);
    }
    bool isBefore = !reductions.contains(anchor);
    for (size_t level = 0; level < computed.size(); ++level) {
      for (Operation *op : computed[level])
        op->moveBefore(place);
      for (Operation *op : sent[level])
        op->moveBefore(level == 0 && isBefore ? anchor : place);
    }
  }

private:
  int levelOf(Operation &op, ArrayRef<int> least) const {
    auto place = llvm::find(reductions, &op);
    int level =
        place == reductions.end() ? 0 : least[place - reductions.begin()];
    for (Value operand : op.getOperands()) {
      Operation *source = operand.getDefiningOp();
      auto it = source ? levels.find(source) : levels.end();
      if (it != levels.end())
        level =
            std::max(level, it->second + (reductions.contains(source) ? 1 : 0));
    }
    return level;
  }

  func::FuncOp function;
  Operation *anchor = nullptr;
  llvm::SetVector<Operation *> reductions;
  Followers followers;
  llvm::DenseMap<Operation *, int> levels;
};

struct GroupStatisticsPass
    : partita::impl::GroupStatisticsBase<GroupStatisticsPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto grid = module->getAttrOfType<dist::GridAttr>(dist::kGridAttr);
    if (!grid)
      return;
    // Classes must agree on the order of their calls.
    llvm::MapVector<Attribute, SmallVector<func::FuncOp>> phases;
    for (auto function : module.getOps<func::FuncOp>())
      if (Attribute phase = function->getAttr(spmd::kPhaseAttr);
          phase && function.getBody().hasOneBlock())
        phases[phase].push_back(function);
    for (auto &[phase, functions] : phases)
      visit(functions, grid);
  }

private:
  void visit(ArrayRef<func::FuncOp> functions, dist::GridAttr grid) {
    SmallVector<bool> late;
    for (auto [i, function] : llvm::enumerate(functions)) {
      numReused += useOwnStatistics(function, grid);
      SmallVector<bool> here = findLate(function);
      if (i == 0)
        late = here;
      // Not what the partition phase makes; nothing is moved then.
      if (here.size() != late.size())
        return;
      for (size_t k = 0; k < late.size(); ++k)
        late[k] = late[k] && here[k];
    }
    if (llvm::count(late, true) < 2)
      return;
    numGrouped += llvm::count(late, true);
    std::vector<Waiting> waiting;
    for (func::FuncOp function : functions)
      waiting.emplace_back(function, late);
    // A class without elements has zeros where others need what came before.
    SmallVector<int> levels;
    bool isRaised = true;
    while (isRaised) {
      isRaised = false;
      for (Waiting &each : waiting)
        isRaised |= each.raiseLevels(levels);
    }
    for (Waiting &each : waiting)
      each.group();
  }
};

} // namespace
