//===- ProgramFaults.cpp - Ways to break a program ------------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each kind is a bug that a compiler or framework has shipped, as its text
// says. They keep the types of values where they can, so that not the
// operations' own rules but the placement of values tells.
//
//===----------------------------------------------------------------------===//

#include "passes/Faults/ProgramFaults.h"
#include "dialects/Dist/Interfaces/Layouts.h"
#include "dialects/NN/IR/NNOps.h"
#include <cmath>
#include <map>

using namespace mlir;
using namespace partita;
using namespace partita::dist;
using namespace partita::faults;

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

Program::Program(ModuleOp module)
    : module(module), grid(module->getAttrOfType<GridAttr>(kGridAttr)) {
  std::map<std::string, std::vector<Function>> byPhase;
  for (auto function : module.getOps<func::FuncOp>()) {
    Function entry{function, {}};
    for (Operation &op : function.front().without_terminator()) {
      if (auto says = op.getAttrOfType<DictionaryAttr>(spmd::kStandsForAttr)) {
        auto number = says.getAs<IntegerAttr>("result");
        if (!number || number.getInt() != 0)
          continue;
      }
      entry.sequence.push_back(&op);
    }
    auto phase = function->getAttrOfType<StringAttr>(spmd::kPhaseAttr);
    byPhase[phase ? phase.str() : ""].push_back(std::move(entry));
  }
  // The training step first.
  if (auto step = byPhase.find("step"); step != byPhase.end())
    phases.push_back(step->second);
  for (auto &[name, functions] : byPhase)
    if (name != "step")
      phases.push_back(functions);
}

void Program::inAll(std::vector<Place> &places, Filter filter,
                    Action action) const {
  for (const std::vector<Function> &phase : phases) {
    const std::vector<Operation *> &first = phase.front().sequence;
    for (size_t i = 0; i < first.size(); ++i) {
      if (!filter(first[i]))
        continue;
      std::vector<Operation *> ops;
      for (const Function &function : phase)
        if (i < function.sequence.size() &&
            function.sequence[i]->getName() == first[i]->getName())
          ops.push_back(function.sequence[i]);
      places.push_back({first[i], [ops, action] {
                          for (Operation *op : ops)
                            action(op);
                        }});
    }
  }
}

void Program::inOne(std::vector<Place> &places, Filter filter,
                    Action action) const {
  for (const std::vector<Function> &phase : phases)
    for (const Function &function : phase)
      for (Operation *op : function.sequence)
        if (phase.size() > 1 && filter(op))
          places.push_back({op, [op, action] { action(op); }});
}

void Program::forEachPhase(
    llvm::function_ref<void(ArrayRef<func::FuncOp>)> visit) const {
  for (const std::vector<Function> &phase : phases)
    visit(llvm::map_to_vector(
        phase, [](const Function &function) { return function.op; }));
}

namespace {

//===----------------------------------------------------------------------===//
// Pieces
//===----------------------------------------------------------------------===//

bool isReduction(Operation *op) { return isa<spmd::AllReduceOp>(op); }

/// Whether `op` communicates over more than one rank.
bool isReal(const Program &program, Operation *op) {
  auto axes = op->getAttrOfType<ArrayAttr>("axes");
  return axes && llvm::any_of(axes.getAsRange<StringAttr>(), [&](auto axis) {
           return program.getGrid().getAxisSize(axis.getValue()) > 1;
         });
}

void bypass(Operation *op) {
  op->getResult(0).replaceAllUsesWith(op->getOperand(0));
  op->erase();
}

/// The axes of a split's dimension `name`; empty when it is whole.
ArrayRef<Attribute> splitAxes(Operation *op, StringRef name) {
  auto split = op->getAttrOfType<SplitAttr>(spmd::kSplitAttr);
  return split ? split.getAxesOf(name) : ArrayRef<Attribute>();
}

/// `layout` with `cut` for dimension `dim`.
LayoutAttr withCut(GridAttr grid, LayoutAttr attr, size_t dim, DimCut cut) {
  Layout layout = toLayout(grid, attr);
  layout.dims[dim] = std::move(cut);
  return toAttr(attr.getContext(), grid, layout);
}

/// Offsets rounded down where sizes are rounded up: parts overlap and the last
/// elements belong to nobody. Nothing where that is right.
std::optional<DimCut> flooredCut(const Grid &grid, const DimCut &cut,
                                 int64_t size) {
  if (cut.axes.empty() || !cut.ranges.empty())
    return std::nullopt;
  std::vector<Range> parts = rangesOf(grid, cut, size);
  DimCut result;
  result.axes = cut.axes;
  for (size_t i = 0; i < parts.size(); ++i) {
    int64_t begin =
        size * static_cast<int64_t>(i) / static_cast<int64_t>(parts.size());
    result.ranges.push_back({begin, begin + parts[i].size()});
  }
  if (result.ranges == parts || result.ranges.back().end > size)
    return std::nullopt;
  return result;
}

/// A part that begins one element early, keeping all sizes.
std::optional<DimCut> shiftedCut(const DimCut &cut) {
  DimCut result = cut;
  for (Range &range : result.ranges)
    if (!range.empty() && range.begin > 0) {
      --range.begin;
      --range.end;
      return result;
    }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Partial values
//===----------------------------------------------------------------------===//

void findDropped(const Program &program, std::vector<Place> &places) {
  program.inAll(
      places,
      [&](Operation *op) { return isReduction(op) && isReal(program, op); },
      bypass);
}

void findLabelled(const Program &program, std::vector<Place> &places) {
  program.inAll(
      places,
      [&](Operation *op) { return isReduction(op) && isReal(program, op); },
      [grid = program.getGrid()](Operation *op) {
        auto type = cast<RankedTensorType>(op->getResult(0).getType());
        auto layout =
            LayoutAttr::getReplicated(op->getContext(), type.getRank());
        OpBuilder builder(op);
        auto slice = builder.create<spmd::SliceOp>(
            op->getLoc(), type, op->getOperand(0), layout, layout,
            TypeAttr::get(type), builder.getArrayAttr({}));
        op->getResult(0).replaceAllUsesWith(slice.getY());
        op->erase();
      });
}

/// The sum of a combined value with something whole, or null.
nn::AddOp biasOf(Operation *op) {
  for (Operation *user : op->getUsers())
    if (auto add = dyn_cast<nn::AddOp>(user);
        add && op->hasOneUse() &&
        add.getY().getType() == op->getResult(0).getType())
      return add;
  return {};
}

void findBias(const Program &program, std::vector<Place> &places) {
  program.inAll(
      places,
      [&](Operation *op) {
        return isReduction(op) && isReal(program, op) && biasOf(op);
      },
      [](Operation *op) {
        auto add = biasOf(op);
        if (!add)
          return;
        auto reduce = cast<spmd::AllReduceOp>(op);
        reduce.getY().replaceAllUsesWith(reduce.getX());
        OpBuilder builder(add);
        builder.setInsertionPointAfter(add);
        auto late = builder.create<spmd::AllReduceOp>(
            reduce.getLoc(), reduce.getReduction(), add.getY(),
            reduce.getAxes());
        add.getY().replaceAllUsesExcept(late.getY(), late);
        reduce.erase();
      });
}

void reduceOnceMore(Operation *op, Value value) {
  auto reduce = cast<spmd::AllReduceOp>(op);
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfterValue(value);
  auto again = builder.create<spmd::AllReduceOp>(
      reduce.getLoc(), reduce.getReduction(), value, reduce.getAxes());
  value.replaceAllUsesExcept(again.getY(), again);
}

void findTwice(const Program &program, std::vector<Place> &places) {
  program.inAll(
      places,
      [&](Operation *op) { return isReduction(op) && isReal(program, op); },
      [](Operation *op) { reduceOnceMore(op, op->getResult(0)); });
}

/// A sum of partial values, as of the gradients of a tied weight.
bool combinesSum(Operation *op) {
  return isReduction(op) &&
         isa_and_nonnull<nn::AddOp>(op->getOperand(0).getDefiningOp()) &&
         op->getOperand(0).hasOneUse();
}

void findHalf(const Program &program, std::vector<Place> &places) {
  program.inAll(
      places,
      [&](Operation *op) { return combinesSum(op) && isReal(program, op); },
      [](Operation *op) {
        if (!combinesSum(op))
          return;
        auto reduce = cast<spmd::AllReduceOp>(op);
        OpBuilder builder(op);
        Operation *add = op->getOperand(0).getDefiningOp();
        builder.setInsertionPoint(add);
        auto half = builder.create<spmd::AllReduceOp>(
            op->getLoc(), reduce.getReduction(), add->getOperand(0),
            reduce.getAxes());
        add->setOperand(0, half.getY());
        bypass(op);
      });
}

void findSummedMax(const Program &program, std::vector<Place> &places) {
  program.inAll(
      places,
      [&](Operation *op) {
        auto reduce = dyn_cast<spmd::AllReduceOp>(op);
        return reduce && reduce.getReduction() != spmd::Reduction::sum;
      },
      [](Operation *op) {
        cast<spmd::AllReduceOp>(op).setReduction(spmd::Reduction::sum);
      });
}

void findOtherAxis(const Program &program, std::vector<Place> &places) {
  GridAttr grid = program.getGrid();
  auto otherAxis = [grid](Operation *op) -> StringAttr {
    auto axes = op->getAttrOfType<ArrayAttr>("axes");
    for (StringAttr axis : grid.getAxes())
      if (grid.getAxisSize(axis.getValue()) > 1 &&
          !llvm::is_contained(axes, axis))
        return axis;
    return {};
  };
  program.inAll(
      places,
      [&](Operation *op) {
        return isReduction(op) && isReal(program, op) && otherAxis(op);
      },
      [otherAxis](Operation *op) {
        op->setAttr("axes", ArrayAttr::get(op->getContext(), otherAxis(op)));
      });
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

void findFloored(const Program &program, std::vector<Place> &places) {
  GridAttr gridAttr = program.getGrid();
  Grid grid = toGrid(gridAttr);
  program.forEachPhase([&](ArrayRef<func::FuncOp> functions) {
    func::FuncOp first = functions.front();
    for (unsigned i = 0; i < first.getNumArguments(); ++i) {
      auto attr = first.getArgAttrOfType<LayoutAttr>(i, kLayoutAttr);
      auto whole = first.getArgAttrOfType<TypeAttr>(i, "spmd.global");
      if (!attr || !whole)
        continue;
      auto type = cast<RankedTensorType>(whole.getValue());
      Layout layout = toLayout(gridAttr, attr);
      for (size_t d = 0; d < layout.dims.size(); ++d) {
        auto cut = flooredCut(grid, layout.dims[d], type.getDimSize(d));
        if (!cut)
          continue;
        LayoutAttr wrong = withCut(gridAttr, attr, d, *cut);
        SmallVector<func::FuncOp> all(functions);
        places.push_back({first, [all, i, wrong]() mutable {
                            for (func::FuncOp function : all)
                              function.setArgAttr(i, kLayoutAttr, wrong);
                          }});
      }
    }
  });
  auto flooredMove = [gridAttr, grid](Operation *op) -> LayoutAttr {
    auto attr = op->getAttrOfType<LayoutAttr>("to");
    if (!attr || !spmd::isMove(op))
      return {};
    auto type = cast<RankedTensorType>(
        op->getAttrOfType<TypeAttr>("global").getValue());
    Layout layout = toLayout(gridAttr, attr);
    for (size_t d = 0; d < layout.dims.size(); ++d) {
      auto cut = flooredCut(grid, layout.dims[d], type.getDimSize(d));
      if (!cut)
        cut = shiftedCut(layout.dims[d]);
      if (cut)
        return withCut(gridAttr, attr, d, *cut);
    }
    return {};
  };
  program.inAll(
      places, [&](Operation *op) { return bool(flooredMove(op)); },
      [flooredMove](Operation *op) { op->setAttr("to", flooredMove(op)); });
}

void findAxisOrder(const Program &program, std::vector<Place> &places) {
  GridAttr grid = program.getGrid();
  // Reversed axes give the same sizes where all parts are equal.
  auto reversed = [grid](LayoutAttr attr) -> LayoutAttr {
    Layout layout = toLayout(grid, attr);
    for (DimCut &cut : layout.dims)
      if (cut.axes.size() > 1 && cut.ranges.empty()) {
        std::reverse(cut.axes.begin(), cut.axes.end());
        return toAttr(attr.getContext(), grid, layout);
      }
    return {};
  };
  program.forEachPhase([&](ArrayRef<func::FuncOp> functions) {
    func::FuncOp first = functions.front();
    for (unsigned i = 0; i < first.getNumArguments(); ++i) {
      auto attr = first.getArgAttrOfType<LayoutAttr>(i, kLayoutAttr);
      LayoutAttr wrong = attr ? reversed(attr) : LayoutAttr();
      if (!wrong)
        continue;
      SmallVector<func::FuncOp> all(functions);
      places.push_back({first, [all, i, wrong]() mutable {
                          for (func::FuncOp function : all)
                            function.setArgAttr(i, kLayoutAttr, wrong);
                        }});
    }
  });
  auto reversedSplit = [](Operation *op) -> SplitAttr {
    auto split = op->getAttrOfType<SplitAttr>(spmd::kSplitAttr);
    if (!split)
      return {};
    SmallVector<ArrayAttr> axes(split.getAxes());
    for (auto [list, ranges] : llvm::zip(axes, split.getRanges()))
      if (list.size() > 1 && ranges.empty()) {
        SmallVector<Attribute> names(list.getValue());
        std::reverse(names.begin(), names.end());
        list = ArrayAttr::get(op->getContext(), names);
        return SplitAttr::get(op->getContext(), split.getDims(), axes,
                              split.getBlocks(), split.getRanges());
      }
    return {};
  };
  program.inAll(
      places, [&](Operation *op) { return bool(reversedSplit(op)); },
      [reversedSplit](Operation *op) {
        op->setAttr(spmd::kSplitAttr, reversedSplit(op));
      });
}

void findBatchForWidth(const Program &program, std::vector<Place> &places) {
  auto domainAxes = [](Operation *op) {
    SmallVector<Attribute> axes;
    for (StringRef name : {"d", "h", "w"})
      llvm::append_range(axes, splitAxes(op, name));
    return axes;
  };
  program.inAll(
      places,
      [&](Operation *op) {
        return isa<nn::ConvInputGradOp>(op) && !domainAxes(op).empty();
      },
      [domainAxes](Operation *op) {
        SmallVector<Attribute> axes(splitAxes(op, "n"));
        llvm::append_range(axes, domainAxes(op));
        MLIRContext *context = op->getContext();
        op->setAttr(spmd::kSplitAttr,
                    SplitAttr::getBalanced(context,
                                           StringAttr::get(context, "n"),
                                           ArrayAttr::get(context, axes)));
      });
}

void findEmptyRow(const Program &program, std::vector<Place> &places) {
  program.forEachPhase([&](ArrayRef<func::FuncOp> functions) {
    for (func::FuncOp function : functions)
      for (BlockArgument argument : function.getArguments()) {
        auto type = cast<RankedTensorType>(argument.getType());
        if (type.getNumElements() > 0 || type.getRank() == 0)
          continue;
        places.push_back(
            {function, [function, argument, type]() mutable {
               SmallVector<int64_t> shape(type.getShape());
               *llvm::find(shape, 0) = 1;
               argument.setType(
                   RankedTensorType::get(shape, type.getElementType()));
               function.setType(FunctionType::get(
                   function.getContext(),
                   llvm::to_vector(function.front().getArgumentTypes()),
                   function.getResultTypes()));
             }});
      }
  });
  auto isEmptyStandIn = [](Operation *op) {
    return op->hasAttr(spmd::kStandsForAttr) && isa<nn::ConstantOp>(op) &&
           nn::tensorType(op->getResult(0)).getNumElements() == 0;
  };
  program.inOne(places, isEmptyStandIn, [](Operation *op) {
    auto constant = cast<nn::ConstantOp>(op);
    auto type = nn::tensorType(constant.getY());
    SmallVector<int64_t> shape(type.getShape());
    *llvm::find(shape, 0) = 1;
    auto larger = RankedTensorType::get(shape, type.getElementType());
    constant.setValueAttr(
        cast<DenseElementsAttr>(constant.getValue()).resizeSplat(larger));
    constant.getY().setType(larger);
  });
}

/// The convolution or pool that reads what a halo exchange makes, if nothing
/// else does.
Operation *windowUser(Operation *op) {
  if (!isa<spmd::HaloExchangeOp>(op) || !op->hasOneUse())
    return nullptr;
  Operation *user = *op->getUsers().begin();
  return isa<nn::ConvOp, nn::MaxPoolOp, nn::AvgPoolOp>(user) ? user : nullptr;
}

/// A halo that lacks the last row where the neighbour has it; padding takes its
/// place.
void findNarrow(const Program &program, std::vector<Place> &places) {
  GridAttr grid = program.getGrid();
  auto narrow = [grid](Operation *op) -> std::pair<LayoutAttr, size_t> {
    if (!windowUser(op))
      return {};
    auto attr = op->getAttrOfType<LayoutAttr>("to");
    auto type = cast<RankedTensorType>(
        op->getAttrOfType<TypeAttr>("global").getValue());
    Layout layout = toLayout(grid, attr);
    for (size_t d = 2; d < layout.dims.size(); ++d) {
      bool isNarrower = false;
      for (Range &range : layout.dims[d].ranges)
        if (range.end < type.getDimSize(d) && range.size() > 1) {
          --range.end;
          isNarrower = true;
        }
      if (isNarrower)
        return {toAttr(op->getContext(), grid, layout), d};
    }
    return {};
  };
  program.inAll(
      places, [&](Operation *op) { return bool(narrow(op).first); },
      [narrow, grid](Operation *op) {
        auto [layout, dim] = narrow(op);
        if (!layout)
          return;
        Operation *user = windowUser(op);
        auto exchange = cast<spmd::HaloExchangeOp>(op);
        auto function = op->getParentOfType<func::FuncOp>();
        auto symbol =
            function->getAttrOfType<FlatSymbolRefAttr>(spmd::kClassAttr);
        auto classOp =
            op->getParentOfType<ModuleOp>().lookupSymbol<spmd::ClassOp>(
                symbol.getValue());
        auto whole = cast<RankedTensorType>(exchange.getGlobal());
        RankedTensorType local =
            localType(grid, layout, whole, classOp.getRanks().front());
        op->setAttr("to", layout);
        auto before = cast<RankedTensorType>(exchange.getY().getType());
        exchange.getY().setType(local);
        auto pads = user->getAttrOfType<DenseI64ArrayAttr>("pads");
        SmallVector<int64_t> wider(pads.asArrayRef());
        wider[wider.size() / 2 + dim - 2] +=
            before.getDimSize(dim) - local.getDimSize(dim);
        user->setAttr("pads", DenseI64ArrayAttr::get(op->getContext(), wider));
      });
}

void findNeighbour(const Program &program, std::vector<Place> &places) {
  GridAttr grid = program.getGrid();
  auto shifted = [grid](Operation *op) -> LayoutAttr {
    if (!isa<spmd::HaloExchangeOp>(op))
      return {};
    auto attr = op->getAttrOfType<LayoutAttr>("to");
    Layout layout = toLayout(grid, attr);
    for (size_t d = 0; d < layout.dims.size(); ++d)
      if (auto cut = shiftedCut(layout.dims[d]))
        return withCut(grid, attr, d, *cut);
    return {};
  };
  program.inAll(
      places, [&](Operation *op) { return bool(shifted(op)); },
      [shifted](Operation *op) { op->setAttr("to", shifted(op)); });
}

void findForgottenPlace(const Program &program, std::vector<Place> &places) {
  program.inAll(
      places,
      [&](Operation *op) {
        auto layout = op->getAttrOfType<LayoutAttr>("layout");
        return layout && toLayout(program.getGrid(), layout).isCut();
      },
      [](Operation *op) { op->removeAttr("layout"); });
}

//===----------------------------------------------------------------------===//
// Weights of samples
//===----------------------------------------------------------------------===//

bool hasMeanScale(Operation *op) {
  auto scale = op->getAttrOfType<FloatAttr>("scale");
  return scale &&
         isa<nn::ReduceOp, nn::VarianceOp, nn::CrossEntropyGradOp,
             nn::NormalizeGradOp>(op) &&
         scale.getValueAsDouble() != 1 && scale.getValueAsDouble() != 0;
}

/// As if each rank's mean counted as much as any other's.
void weighByRanks(Operation *op) {
  double scale = op->getAttrOfType<FloatAttr>("scale").getValueAsDouble();
  op->setAttr("scale", OpBuilder(op).getF64FloatAttr(scale * 1.25));
}

void findRankAverage(const Program &program, std::vector<Place> &places) {
  program.inOne(places, hasMeanScale, weighByRanks);
}

void findRankAverageEverywhere(const Program &program,
                               std::vector<Place> &places) {
  program.inAll(places, hasMeanScale, weighByRanks);
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// The next collective after `op` that does not depend on it and differs.
Operation *independentNext(Operation *op) {
  if (!spmd::isCollective(op))
    return nullptr;
  Operation *next = op->getNextNode();
  while (next && !spmd::isCollective(next))
    next = next->getNextNode();
  if (!next)
    return nullptr;
  Operation *source = next->getOperand(0).getDefiningOp();
  if (source && !source->isBeforeInBlock(op))
    return nullptr;
  bool alike = next->getName() == op->getName() &&
               next->getAttrDictionary() == op->getAttrDictionary() &&
               next->getOperand(0).getType() == op->getOperand(0).getType();
  return alike ? nullptr : next;
}

void findSwapped(const Program &program, std::vector<Place> &places) {
  program.inOne(
      places, [](Operation *op) { return independentNext(op) != nullptr; },
      [](Operation *op) { independentNext(op)->moveBefore(op); });
}

void findSkipped(const Program &program, std::vector<Place> &places) {
  program.inOne(
      places,
      [&](Operation *op) { return isReduction(op) && isReal(program, op); },
      bypass);
}

/// One class sends one element less.
void findCount(const Program &program, std::vector<Place> &places) {
  program.inOne(
      places,
      [&](Operation *op) {
        return isReduction(op) && isReal(program, op) &&
               nn::tensorType(op->getOperand(0)).getRank() > 0 &&
               nn::shapeOf(op->getOperand(0))[0] > 1;
      },
      [](Operation *op) {
        auto reduce = cast<spmd::AllReduceOp>(op);
        SmallVector<int64_t> sizes(nn::shapeOf(reduce.getX()));
        SmallVector<int64_t> zeros(sizes.size(), 0), ones(sizes.size(), 1);
        SmallVector<int64_t> high = zeros;
        --sizes[0];
        high[0] = 1;
        OpBuilder builder(op);
        auto fewer = builder.create<nn::SliceOp>(op->getLoc(), reduce.getX(),
                                                 zeros, sizes, ones);
        auto sent = builder.create<spmd::AllReduceOp>(
            op->getLoc(), reduce.getReduction(), fewer.getY(),
            reduce.getAxes());
        auto list = [&](ArrayRef<int64_t> values) {
          return builder.getDenseI64ArrayAttr(values);
        };
        auto filled = builder.create<nn::PadOp>(
            op->getLoc(), sent.getY(), list(zeros), list(zeros), list(high),
            builder.getF64FloatAttr(0));
        reduce.getY().replaceAllUsesWith(filled.getY());
        reduce.erase();
      });
}

void findLostRank(const Program &program, std::vector<Place> &places) {
  for (auto classOp : program.getModule().getOps<spmd::ClassOp>())
    places.push_back({classOp, [classOp]() mutable {
                        classOp.setRanks(classOp.getRanks().drop_back());
                      }});
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

void findOperandOrder(const Program &program, std::vector<Place> &places) {
  program.inAll(
      places,
      [](Operation *op) {
        return isa<nn::SubOp, nn::DivOp>(op) &&
               op->getOperand(0).getType() == op->getOperand(1).getType() &&
               op->getOperand(0) != op->getOperand(1);
      },
      [](Operation *op) {
        Value first = op->getOperand(0);
        op->setOperand(0, op->getOperand(1));
        op->setOperand(1, first);
      });
}

/// A number of the program that is neither 0 nor 1.
bool isNumber(Operation *op) {
  auto constant = dyn_cast<nn::ConstantOp>(op);
  auto value = constant ? dyn_cast<DenseFPElementsAttr>(constant.getValue())
                        : DenseFPElementsAttr();
  if (!value || !value.isSplat() || op->hasAttr(spmd::kStandsForAttr))
    return false;
  double number = value.getSplatValue<APFloat>().convertToDouble();
  return std::isfinite(number) && number != 0 && number != 1;
}

void changeNumber(Operation *op) {
  auto constant = cast<nn::ConstantOp>(op);
  auto value = cast<DenseFPElementsAttr>(constant.getValue());
  auto type = cast<FloatType>(value.getElementType());
  auto number = FloatAttr::get(
      type, value.getSplatValue<APFloat>().convertToDouble() * 1.25);
  constant.setValueAttr(
      DenseElementsAttr::get(value.getType(), number.getValue()));
}

void findOtherNumber(const Program &program, std::vector<Place> &places) {
  program.inOne(places, isNumber, changeNumber);
}

void findOtherNumberEverywhere(const Program &program,
                               std::vector<Place> &places) {
  program.inAll(places, isNumber, changeNumber);
}

constexpr Fault kFaults[] = {
    {"dropped-reduction", "a partial value is never combined (torchtitan 1805)",
     findDropped},
    {"partial-as-whole",
     "a partial value is labelled as whole (torchtitan 3412)", findLabelled},
    {"bias-in-partial-sum",
     "what is whole is added to a partial sum (torchtitan 2106)", findBias},
    {"reduced-twice", "a value is combined twice (tied weights, DeepSpeed)",
     findTwice},
    {"half-reduced", "one of two uses of a tied weight is combined", findHalf},
    {"maximum-by-sum", "maxima of parts are added up (tt-xla 6075)",
     findSummedMax},
    {"other-axis", "combined over another axis of the grid", findOtherAxis},
    {"batch-for-width",
     "a gradient of a split width is taken for a split batch (pytorch 191926)",
     findBatchForWidth},
    {"floored-offsets",
     "offsets rounded down where sizes are rounded up (pytorch 188947)",
     findFloored},
    {"axis-order", "two axes of a cut in the wrong order (pytorch 161368)",
     findAxisOrder},
    {"empty-part-with-a-row", "an empty part has a row (pytorch 102821)",
     findEmptyRow},
    {"narrow-halo", "a halo lacks rows, padding takes their place", findNarrow},
    {"wrong-neighbour", "a halo's rows are others (TensorRT-LLM 17001)",
     findNeighbour},
    {"forgotten-place", "masks and tables of all ranks begin at row 0",
     findForgottenPlace},
    {"mean-by-ranks", "one class weighs its samples by ranks (pytorch 38174)",
     findRankAverage},
    {"mean-by-ranks-everywhere", "all classes do", findRankAverageEverywhere},
    {"swapped-calls", "one class swaps two collectives (torchrec 4149)",
     findSwapped},
    {"skipped-call", "one class skips a collective (DeepSpeed 7461)",
     findSkipped},
    {"other-count", "one class sends fewer elements (pytorch 97191)",
     findCount},
    {"lost-rank", "a class lacks a rank (Megatron 1304)", findLostRank},
    {"other-number", "one class computes with another constant",
     findOtherNumber},
    {"other-number-everywhere", "all classes do", findOtherNumberEverywhere},
    {"operand-order", "a difference or quotient turned around (xla 5264)",
     findOperandOrder},
};

} // namespace

ArrayRef<Fault> partita::faults::allFaults() { return kFaults; }
