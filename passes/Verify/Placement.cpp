//===- Placement.cpp - Where the values of a program live -----------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Dataflow over the values of one function.
//
//===----------------------------------------------------------------------===//

#include "passes/Verify/Placement.h"
#include <cmath>

using namespace mlir;
using namespace partita;
using namespace partita::dist;
using namespace partita::verify;

void PlacementCheck::refuse(Operation *op, const Twine &rule) {
  op->emitError() << "contract of the partition phase: " << rule;
  failed = true;
}

Layout PlacementCheck::read(LayoutAttr attr) const {
  Layout layout = toLayout(gridAttr, attr);
  // Axes of one rank say nothing.
  auto isTrivial = [&](int axis) { return grid.sizes[axis] == 1; };
  llvm::erase_if(layout.partial, isTrivial);
  llvm::erase_if(layout.varying, isTrivial);
  if (layout.partial.empty())
    layout.combine = Combine::none;
  return layout;
}

bool PlacementCheck::isSame(const Layout &a, const Layout &b,
                            RankedTensorType type) const {
  return a.partial == b.partial && a.combine == b.combine &&
         a.varying == b.varying && sameBoxes(grid, a, b, sizesOf(type));
}

void PlacementCheck::place(Operation *op, Value value,
                           const Placement &placement) {
  auto local = cast<RankedTensorType>(value.getType());
  for (int64_t rank : ranks) {
    SmallVector<int64_t> shape;
    for (Range range :
         dist::boxOf(grid, placement.held, sizesOf(placement.whole), rank))
      shape.push_back(range.size());
    auto expected =
        RankedTensorType::get(shape, placement.whole.getElementType());
    if (expected == local)
      continue;
    std::string message;
    llvm::raw_string_ostream(message)
        << "a value has type " << local << ", but rank " << rank << " holds "
        << expected << " of " << placement.whole << " as "
        << text(placement.held);
    return refuse(op, message);
  }
  placements[value] = placement;
}

const Placement *PlacementCheck::placementOf(Operation *op, unsigned i) {
  auto it = placements.find(op->getOperand(i));
  return it == placements.end() ? nullptr : &it->second;
}

bool PlacementCheck::run() {
  for (auto [i, argument] : llvm::enumerate(function.getArguments())) {
    auto whole = function.getArgAttrOfType<TypeAttr>(i, "spmd.global");
    auto layout = function.getArgAttrOfType<LayoutAttr>(i, kLayoutAttr);
    auto type = whole ? dyn_cast<RankedTensorType>(whole.getValue())
                      : RankedTensorType();
    if (!type || !type.hasStaticShape() || !layout ||
        !faultOf(gridAttr, layout, type).empty())
      continue; // Refused with the signature.
    Layout lies = read(layout);
    placements[argument] = {type, lies, lies};
  }
  for (Operation &op : function.front())
    visit(&op);
  return !failed;
}

void PlacementCheck::visit(Operation *op) {
  if (auto read = dyn_cast<nn::ReadOp>(op))
    return visitRead(read);
  if (nn::isUpdate(op))
    return visitUpdate(op, nn::updatedVariable(op));
  if (auto assign = dyn_cast<nn::AssignOp>(op))
    return visitUpdate(op, assign.getVariable());
  if (auto reduce = dyn_cast<spmd::AllReduceOp>(op))
    return visitAllReduce(reduce);
  if (spmd::isMove(op))
    return visitMove(op);
  if (isa<func::ReturnOp>(op))
    return visitReturn(op);
  if (op->hasAttr(spmd::kStandsForAttr))
    return visitStandIn(op);
  if (!isa<nn::PartitionableOp>(op))
    return refuse(op, "'" + op->getName().getStringRef() +
                          "' is no operation of a partitioned program");
  SmallVector<Placement> operands;
  for (unsigned i = 0; i < op->getNumOperands(); ++i) {
    const Placement *operand = placementOf(op, i);
    if (!operand) {
      failed = true; // Refused where the operand is made.
      return;
    }
    operands.push_back(*operand);
  }
  PartFinding found = checkPart(op, gridAttr, ranks, operands);
  if (!found.fault.empty())
    return refuse(op, found.fault);
  for (auto [result, placement] : llvm::zip(op->getResults(), found.results))
    place(op, result, placement);
  auto grad = dyn_cast<nn::CrossEntropyGradOp>(op);
  if (grad && isMeanLossStep())
    checkLossScale(op, grad.getScale().convertToDouble(),
                   operands[1].whole.getNumElements());
  steps.push_back(std::move(found.step));
}

//===----------------------------------------------------------------------===//
// Variables and results
//===----------------------------------------------------------------------===//

void PlacementCheck::visitRead(nn::ReadOp op) {
  auto variable = module.lookupSymbol<nn::VariableOp>(op.getVariable());
  RankedTensorType type = variable.getTensorType();
  auto layout = variable->getAttrOfType<LayoutAttr>(kLayoutAttr);
  if (!layout)
    layout = LayoutAttr::getReplicated(op->getContext(), type.getRank());
  if (!faultOf(gridAttr, layout, type).empty()) {
    failed = true; // Refused at the variable.
    return;
  }
  Layout lies = read(layout);
  place(op, op.getValue(), {type, lies, lies});
}

void PlacementCheck::visitUpdate(Operation *op, StringRef name) {
  auto variable = module.lookupSymbol<nn::VariableOp>(name);
  auto layoutOf = [&](nn::VariableOp of) {
    auto layout = of->getAttrOfType<LayoutAttr>(kLayoutAttr);
    return layout ? layout
                  : LayoutAttr::getReplicated(op->getContext(),
                                              of.getTensorType().getRank());
  };
  RankedTensorType type = variable.getTensorType();
  LayoutAttr attr = layoutOf(variable);
  const Placement *value = placementOf(op, 0);
  if (!value || !faultOf(gridAttr, attr, type).empty()) {
    failed = true;
    return;
  }
  Layout want = read(attr);
  std::string found = text(value->held);
  steps.push_back(
      {op, false, (op->getName().getStringRef() + " " + name).str(), "", {}});
  llvm::raw_string_ostream(steps.back().how) << op->getAttrDictionary();
  if (value->whole != type) {
    std::string message;
    llvm::raw_string_ostream(message)
        << "the value is a part of " << value->whole << ", expected one of "
        << type << " for variable '" << name << "'";
    return refuse(op, message);
  }
  if (value->held.isPartial())
    return refuse(op, "the value for variable '" + name +
                          "' is partial, found " + found +
                          "; combine it over these axes first");
  if (!value->held.varying.empty())
    return refuse(op, "the value for variable '" + name +
                          "' is each rank's own, found " + found +
                          ", so that ranks would give the variable different "
                          "values");
  if (!isSame(value->held, want, type) || !isSame(value->good, want, type))
    return refuse(op, "the value for variable '" + name + "' lies as " + found +
                          ", expected the variable's layout " + text(want));
  if (!nn::isUpdate(op))
    return;
  for (StringRef state : nn::updatedStates(op)) {
    auto stateOp = module.lookupSymbol<nn::VariableOp>(state);
    LayoutAttr stateAttr = layoutOf(stateOp);
    if (!faultOf(gridAttr, stateAttr, type).empty())
      continue; // Refused at the variable.
    if (!isSame(read(stateAttr), want, type))
      refuse(op, "state '" + state + "' lies as " + text(read(stateAttr)) +
                     ", expected the layout of its parameter '" + name + "', " +
                     text(want));
  }
}

void PlacementCheck::visitReturn(Operation *op) {
  for (unsigned i = 0; i < op->getNumOperands(); ++i) {
    auto whole = function.getResultAttrOfType<TypeAttr>(i, "spmd.global");
    auto attr = function.getResultAttrOfType<LayoutAttr>(i, kLayoutAttr);
    const Placement *value = placementOf(op, i);
    auto type = whole ? dyn_cast<RankedTensorType>(whole.getValue())
                      : RankedTensorType();
    if (!value || !type || !attr || !faultOf(gridAttr, attr, type).empty()) {
      failed = true; // Refused elsewhere.
      continue;
    }
    Layout stated = read(attr);
    std::string name = "result " + std::to_string(i);
    if (stated.isPartial())
      refuse(function, name + " is stated to be partial, found " +
                           text(stated) + "; combine it first");
    else if (value->whole != type || !isSame(value->held, stated, type) ||
             !isSame(value->good, stated, type)) {
      std::string message;
      llvm::raw_string_ostream(message)
          << name << " is a part of " << value->whole << " and lies as "
          << text(value->held) << ", but is stated to be one of " << type
          << " as " << text(stated);
      refuse(function, message);
    }
    auto label = function.getResultAttrOfType<StringAttr>(i, "nn.name");
    if (label && label.getValue() == "loss" && isMeanLossStep())
      checkLoss(op->getOperand(i));
  }
}

/// Whether this is the training step of a loss that partita-append-loss made: a
/// mean over all samples.
bool PlacementCheck::isMeanLossStep() {
  auto loss = module->getAttrOfType<StringAttr>("partita.loss");
  auto phase = function->getAttrOfType<StringAttr>(spmd::kPhaseAttr);
  return loss && !loss.getValue().starts_with("output:") && phase &&
         phase.getValue() == "step";
}

/// A mean is the sum over all samples divided by their number, on every rank,
/// however many of them the rank has.
void PlacementCheck::checkLossScale(Operation *op, double scale,
                                    int64_t terms) {
  // The scale is a product of numbers of the operation's type.
  Type element = nn::tensorType(op->getResult(0)).getElementType();
  double rounding =
      std::ldexp(4, -cast<FloatType>(element).getFPMantissaWidth());
  double samples = static_cast<double>(terms);
  if (std::abs(scale * samples - 1) > rounding)
    refuse(op, "has scale " + std::to_string(scale) + ", expected 1 / " +
                   Twine(terms) + ", the terms of the mean loss on all ranks");
}

void PlacementCheck::checkLoss(Value loss) {
  Operation *op = loss.getDefiningOp();
  while (op && (isa<spmd::AllReduceOp>(op) || spmd::isMove(op)))
    op = op->getOperand(0).getDefiningOp();
  auto reduce = dyn_cast_or_null<nn::ReduceOp>(op);
  const Placement *terms = reduce ? placementOf(reduce, 0) : nullptr;
  if (!terms || reduce.getKind() != nn::ReduceKind::sum)
    return;
  int64_t count = 1;
  for (int64_t axis : reduce.getAxes())
    count *= terms->whole.getDimSize(axis);
  checkLossScale(reduce, reduce.getScale().convertToDouble(), count);
}

//===----------------------------------------------------------------------===//
// Moves
//===----------------------------------------------------------------------===//

void PlacementCheck::visitAllReduce(spmd::AllReduceOp op) {
  const Placement *value = placementOf(op, 0);
  if (!value) {
    failed = true;
    return;
  }
  Placement combined = *value;
  std::string call;
  llvm::raw_string_ostream(call)
      << op->getName() << ' ' << stringifyReduction(op.getReduction()) << ' '
      << op.getAxes() << " of " << value->whole << ' '
      << text(simplify(grid, value->held, sizesOf(value->whole)));
  collectives.push_back({op, call});
  static constexpr Combine kinds[] = {Combine::sum, Combine::max, Combine::min,
                                      Combine::prod};
  if (!isSame(value->held, value->good, value->whole))
    return refuse(op, "the value holds rows that lack what other ranks add to "
                      "them, found " +
                          text(value->held) + "; cut them off first");
  for (auto name : op.getAxes().getAsRange<StringAttr>()) {
    int axis = gridAttr.findAxis(name.getValue());
    if (grid.sizes[axis] == 1)
      continue;
    if (!llvm::is_contained(combined.held.partial, axis))
      return refuse(op, "the value is combined over axis '" + name.getValue() +
                            "', over which it is not partial, found " +
                            text(value->held) +
                            "; it would be counted once per rank");
    if (kinds[static_cast<size_t>(op.getReduction())] != value->held.combine)
      return refuse(op, "the value is combined by " +
                            stringifyReduction(op.getReduction()) +
                            ", but its parts are not, found " +
                            text(value->held));
    llvm::erase(combined.held.partial, axis);
  }
  if (combined.held.partial.empty())
    combined.held.combine = Combine::none;
  combined.good = combined.held;
  place(op, op.getY(), combined);
}

bool PlacementCheck::checkSources(Operation *op, const Placement &from,
                                  const Layout &to, ArrayRef<int> axes) {
  for (size_t d = 0; d < to.dims.size(); ++d) {
    const DimCut &cut = from.held.dims[d];
    // With all parts of the dimension in the group, all elements are.
    if (llvm::all_of(cut.axes, [&](int axis) {
          return llvm::is_contained(axes, axis) || grid.sizes[axis] == 1;
        }))
      continue;
    int64_t size = from.whole.getDimSize(d);
    std::vector<Range> have = rangesOf(grid, cut, size);
    std::vector<Range> want = rangesOf(grid, to.dims[d], size);
    for (int64_t rank : ranks) {
      if (isEmpty(dist::boxOf(grid, to, sizesOf(from.whole), rank)))
        continue;
      Range target = want[grid.partOf(rank, to.dims[d].axes)];
      // Parts that differ from the rank's own on the axes of the call only.
      int64_t reached = 0;
      for (size_t part = 0; part < have.size(); ++part) {
        int64_t rest = static_cast<int64_t>(part);
        bool inGroup = true;
        for (int axis : llvm::reverse(cut.axes)) {
          int64_t coordinate = rest % grid.sizes[axis];
          rest /= grid.sizes[axis];
          inGroup = inGroup && (llvm::is_contained(axes, axis) ||
                                coordinate == grid.coordinate(rank, axis));
        }
        if (inGroup)
          reached += intersect(have[part], target).size();
      }
      if (reached == target.size())
        continue;
      refuse(op, "rank " + Twine(rank) + " needs " + rangeText(target) +
                     " of dimension " + Twine(d) +
                     ", but the ranks it communicates with hold " +
                     Twine(reached) + " of these " + Twine(target.size()) +
                     ", found " + text(from.held));
      return false;
    }
  }
  return true;
}

void PlacementCheck::visitMove(Operation *op) {
  const Placement *value = placementOf(op, 0);
  auto fromAttr = op->getAttrOfType<LayoutAttr>("from");
  auto toAttr = op->getAttrOfType<LayoutAttr>("to");
  auto whole = dyn_cast<RankedTensorType>(
      op->getAttrOfType<TypeAttr>("global").getValue());
  if (!value) {
    failed = true;
    return;
  }
  if (!isa<spmd::SliceOp>(op)) {
    std::string call;
    llvm::raw_string_ostream(call)
        << op->getName() << ' ' << op->getAttrDictionary();
    collectives.push_back({op, call});
  }
  RankedTensorType type = value->whole;
  if (whole != type) {
    std::string message;
    llvm::raw_string_ostream(message)
        << "moves a part of " << whole << ", but the value is one of " << type;
    return refuse(op, message);
  }
  for (LayoutAttr attr : {fromAttr, toAttr})
    if (std::string wrong = faultOf(gridAttr, attr, type); !wrong.empty())
      return refuse(op, wrong);
  Layout from = read(fromAttr), to = read(toAttr);
  if (!isSame(value->held, from, type))
    return refuse(op, "moves a value from " + text(from) + ", but it lies as " +
                          text(value->held));
  bool isSlice = isa<spmd::SliceOp>(op);
  if (!isSlice && !isSame(value->held, value->good, type))
    return refuse(op, "the value holds rows that lack what other ranks add to "
                      "them, found " +
                          text(value->held) + "; cut them off first");
  SmallVector<int> axes;
  if (auto names = op->getAttrOfType<ArrayAttr>("axes"))
    for (auto name : names.getAsRange<StringAttr>())
      axes.push_back(gridAttr.findAxis(name.getValue()));
  // What the numbers mean.
  Layout means = from;
  if (isa<spmd::ReduceScatterOp>(op)) {
    for (int axis : axes)
      llvm::erase(means.partial, axis);
    if (means.partial.empty())
      means.combine = Combine::none;
  }
  if (to.partial != means.partial || to.combine != means.combine ||
      to.varying != means.varying)
    return refuse(op, "makes " + text(to) + " of " + text(from) +
                          "; a move leaves values partial or each rank's own "
                          "as they were, but for what it combines");
  // Where they are: everything comes from somewhere.
  Sizes sizes = sizesOf(type);
  if (isSlice || isa<spmd::ReduceScatterOp>(op))
    for (int64_t rank : ranks) {
      Box have = dist::boxOf(grid, value->good, sizes, rank);
      Box want = dist::boxOf(grid, to, sizes, rank);
      for (size_t d = 0; d < sizes.size() && !isEmpty(want); ++d)
        if (!have[d].contains(want[d]))
          return refuse(op, "rank " + Twine(rank) + " is to keep " +
                                rangeText(want[d]) + " of dimension " +
                                Twine(d) + ", but has " + rangeText(have[d]) +
                                " of it");
    }
  if (!isSlice && !isTiling(grid, from, sizes))
    return refuse(op, "begins with parts that overlap or leave gaps, found " +
                          text(from));
  bool makesTiles =
      isa<spmd::AllGatherOp, spmd::ReduceScatterOp, spmd::AllToAllOp>(op);
  if (makesTiles && !isTiling(grid, to, sizes))
    return refuse(op,
                  "makes parts that overlap or leave gaps, found " + text(to));
  if (!isSlice && !isa<spmd::ReduceScatterOp>(op) &&
      !checkSources(op, *value, to, axes))
    return;
  place(op, op->getResult(0), {type, to, to});
}

//===----------------------------------------------------------------------===//
// Empty parts
//===----------------------------------------------------------------------===//

void PlacementCheck::visitStandIn(Operation *op) {
  auto says = op->getAttrOfType<DictionaryAttr>(spmd::kStandsForAttr);
  auto name = says ? says.getAs<StringAttr>("op") : StringAttr();
  if (!name)
    return refuse(op, "spmd.stands_for names no operation");
  auto of = says.getAs<TypeAttr>("of");
  auto attr = says.getAs<LayoutAttr>("layout");
  auto number = says.getAs<IntegerAttr>("result");
  // It only prepares what stands in: nobody else may use it.
  if (!of && !attr && !number) {
    for (Operation *user : op->getUsers())
      if (!user->hasAttr(spmd::kStandsForAttr))
        refuse(op, "stands for nothing that others can use");
    return;
  }
  auto type =
      of ? dyn_cast<RankedTensorType>(of.getValue()) : RankedTensorType();
  if (!type || !type.hasStaticShape() || !attr || !number ||
      number.getInt() < 0)
    return refuse(op, "spmd.stands_for needs a whole type, a layout and the "
                      "number of the result");
  if (std::string wrong = faultOf(gridAttr, attr, type); !wrong.empty())
    return refuse(op, wrong);
  Layout lies = read(attr);
  // A value with elements is one that changes nothing, or the bias that a
  // convolution adds to windows of padding.
  if (nn::tensorType(op->getResult(0)).getNumElements() > 0) {
    auto constant = dyn_cast<nn::ConstantOp>(op);
    auto value = constant ? dyn_cast<DenseElementsAttr>(constant.getValue())
                          : DenseElementsAttr();
    bool isBias = isa<nn::BroadcastOp>(op) &&
                  name.getValue() == nn::ConvOp::getOperationName();
    bool isNeutral = value && value.isSplat();
    if (isNeutral) {
      auto real = dyn_cast<FloatAttr>(value.getSplatValue<Attribute>());
      double x = real ? real.getValueAsDouble() : 0;
      switch (lies.combine) {
      case Combine::none:
      case Combine::sum:
        isNeutral = real ? x == 0 : value.getSplatValue<APInt>().isZero();
        break;
      case Combine::prod:
        isNeutral = real ? x == 1 : value.getSplatValue<APInt>().isOne();
        break;
      case Combine::max:
        isNeutral = real ? std::isinf(x) && x < 0
                         : value.getSplatValue<APInt>().isMinSignedValue();
        break;
      case Combine::min:
        isNeutral = real ? std::isinf(x) && x > 0
                         : value.getSplatValue<APInt>().isMaxSignedValue();
        break;
      }
    }
    if (!isBias && !isNeutral)
      return refuse(op, "stands for the empty part of " + name.getValue() +
                            ", but would change what others add to it, found " +
                            text(lies));
  }
  place(op, op->getResult(0), {type, lies, lies});
  std::string made;
  llvm::raw_string_ostream(made)
      << ' ' << type << ' ' << text(simplify(grid, lies, sizesOf(type)));
  if (number.getInt() == 0)
    steps.push_back({op, true, name.getValue().str(), "", {}});
  if (steps.empty() || !steps.back().standsIn)
    return refuse(op, "stands for a result without the ones before it");
  steps.back().made += made;
}
