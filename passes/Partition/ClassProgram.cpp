//===- ClassProgram.cpp - The function of one rank class ------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Local operations and the moves between them.
//
//===----------------------------------------------------------------------===//

#include "passes/Partition/ClassProgram.h"
#include "dialects/SPMD/IR/SPMDDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace partita;
using namespace partita::dist;

const std::vector<Move> &MovePaths::find(RankedTensorType type, LayoutAttr from,
                                         LayoutAttr to) {
  std::unique_ptr<std::vector<Move>> &path =
      paths[Key(type, std::pair(from, to))];
  if (!path) {
    int64_t bytes = (type.getElementTypeBitWidth() + 7) / 8;
    path = std::make_unique<std::vector<Move>>();
    if (!sameLayout(grid, from, to, type))
      *path = findMoves(toGrid(grid), sizesOf(type), bytes,
                        toLayout(grid, from), toLayout(grid, to));
  }
  return *path;
}

namespace {

bool isEmptyTensor(Type type) {
  return cast<RankedTensorType>(type).getNumElements() == 0;
}

/// The value that changes nothing when combined.
Attribute neutralElement(Type type, nn::Combiner combiner) {
  if (auto real = dyn_cast<FloatType>(type)) {
    const llvm::fltSemantics &semantics = real.getFloatSemantics();
    APFloat value = APFloat::getZero(semantics);
    if (combiner == nn::Combiner::prod)
      value = APFloat::getOne(semantics);
    if (combiner == nn::Combiner::max || combiner == nn::Combiner::min)
      value = APFloat::getInf(semantics, combiner == nn::Combiner::max);
    return FloatAttr::get(real, value);
  }
  unsigned width = type.getIntOrFloatBitWidth();
  APInt value(width, combiner == nn::Combiner::prod ? 1 : 0);
  if (combiner == nn::Combiner::max)
    value = APInt::getSignedMinValue(width);
  if (combiner == nn::Combiner::min)
    value = APInt::getSignedMaxValue(width);
  return IntegerAttr::get(type, value);
}

Value makeSplat(OpBuilder &builder, Location loc, Type type,
                nn::Combiner combiner) {
  auto tensor = cast<RankedTensorType>(type);
  auto value = DenseElementsAttr::get(
      tensor, neutralElement(tensor.getElementType(), combiner));
  return builder.create<nn::ConstantOp>(loc, value);
}

/// What `rank` computes of `op`.
nn::LocalPart partOf(Operation *op, const nn::IterationSpace &space,
                     const OpLayouts &needed, GridAttr grid, int64_t rank) {
  nn::LocalPart part;
  part.bounds =
      boundsOf(grid, space, op->getAttrOfType<SplitAttr>(kSplitAttr), rank);
  for (auto [operand, layout] : llvm::zip(op->getOperands(), needed.operands))
    part.operands.push_back(boxOf(grid, layout, nn::tensorType(operand), rank));
  for (auto [result, layout] : llvm::zip(op->getResults(), needed.computed))
    part.results.push_back(boxOf(grid, layout, nn::tensorType(result), rank));
  return part;
}

/// What readers of a part cannot tell of the whole operation.
void noteWhole(Operation *op, Operation *copy) {
  MLIRContext *context = op->getContext();
  NamedAttrList whole;
  for (NamedAttribute attr : op->getAttrs())
    if (attr.getName() != kSplitAttr &&
        copy->getAttr(attr.getName()) != attr.getValue() &&
        !isa<nn::ConstantOp>(op))
      whole.set(attr.getName(), attr.getValue());
  if (!isa<InferTypeOpInterface>(op) || isa<nn::ConstantOp>(op)) {
    SmallVector<Attribute> types;
    for (Type type : op->getResultTypes())
      types.push_back(TypeAttr::get(type));
    whole.set("results", ArrayAttr::get(context, types));
  }
  if (!whole.empty())
    copy->setAttr(spmd::kWholeAttr, whole.getDictionary(context));
}

/// A copy of `op` with the types and attributes of `rank`'s part; it stands
/// nowhere yet. Regions are scalar bodies, which do not change.
Operation *localCopy(Operation *op, const OpLayouts &needed, GridAttr grid,
                     int64_t rank, ValueRange operands, IRMapping &mapping) {
  Operation *copy = op->cloneWithoutRegions();
  copy->setOperands(operands);
  for (auto [from, to] : llvm::zip(op->getRegions(), copy->getRegions()))
    from.cloneInto(&to, mapping);
  for (auto [result, value, layout] :
       llvm::zip(copy->getResults(), op->getResults(), needed.computed))
    result.setType(localType(grid, layout, nn::tensorType(value), rank));
  Attribute split = copy->removeAttr(kSplitAttr);
  if (!split)
    return copy;
  copy->setAttr(spmd::kSplitAttr, split);
  if (auto constant = dyn_cast<nn::ConstantOp>(copy)) {
    // Others are whole, by their iteration space; the verifier of the operation
    // refuses a type that does not fit.
    auto value = dyn_cast<DenseElementsAttr>(constant.getValue());
    if (value && value.isSplat())
      constant.setValueAttr(value.resizeSplat(nn::tensorType(constant.getY())));
    noteWhole(op, copy);
    return copy;
  }
  auto partitionable = cast<nn::PartitionableOp>(op);
  // Where a part begins differs between ranks of one class: the rank computes
  // it.
  if (Value placed = partitionable.getPlacedValue()) {
    LayoutAttr layout;
    for (auto [operand, want] : llvm::zip(op->getOperands(), needed.operands))
      if (operand == placed)
        layout = want;
    for (auto [result, made] : llvm::zip(op->getResults(), needed.computed))
      if (result == placed)
        layout = withoutPartial(made);
    copy->setAttr("layout", layout);
    noteWhole(op, copy);
    return copy;
  }
  nn::IterationSpace space = partitionable.getIterationSpace();
  cast<nn::PartitionableOp>(copy).localizeAttributes(
      op, partOf(op, space, needed, grid, rank));
  noteWhole(op, copy);
  return copy;
}

} // namespace

std::string ClassProgram::attributesOf(Operation *op,
                                       const ValueLayouts &layouts,
                                       GridAttr grid, int64_t rank) {
  if (isa<nn::PointwiseOpInterface, nn::ConstantOp>(op))
    return "";
  // Local operand types do not matter for attributes but for the groups of a
  // convolution, whose sizes are told apart already.
  const OpLayouts &needed = layouts.of(op);
  SmallVector<Value> operands;
  Block block;
  for (auto [operand, layout] : llvm::zip(op->getOperands(), needed.operands))
    operands.push_back(block.addArgument(
        localType(grid, layout, nn::tensorType(operand), rank), op->getLoc()));
  IRMapping mapping;
  Operation *copy = localCopy(op, needed, grid, rank, operands, mapping);
  std::string text;
  llvm::raw_string_ostream(text) << copy->getAttrDictionary();
  copy->erase();
  return text;
}

RankedTensorType ClassProgram::local(Value value, LayoutAttr layout) {
  return localType(grid, layout, nn::tensorType(value), rank);
}

func::FuncOp ClassProgram::build(OpBuilder &builder, StringRef name,
                                 FlatSymbolRefAttr classSymbol) {
  SmallVector<Type> inputs, results;
  for (Value argument : function.getArguments())
    inputs.push_back(local(argument, layouts.of(argument)));
  Operation *terminator = function.front().getTerminator();
  for (Value value : terminator->getOperands())
    results.push_back(local(value, layouts.of(value)));
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
    copy.setArgAttr(i, kLayoutAttr, layouts.of(argument));
  }
  OpBuilder inner = OpBuilder::atBlockEnd(body);
  collectEager();
  for (Value argument : function.getArguments())
    moveEagerly(inner, argument);
  for (Operation &op : function.front().without_terminator())
    copyOp(inner, &op);
  SmallVector<Value> returned;
  for (Value value : terminator->getOperands())
    returned.push_back(moved(inner, value, withoutPartial(layouts.of(value)),
                             terminator->getLoc()));
  inner.create<func::ReturnOp>(terminator->getLoc(), returned);
  for (auto [i, value] : llvm::enumerate(terminator->getOperands())) {
    copy.setResultAttrs(i, function.getResultAttrDict(i));
    copy.setResultAttr(i, "spmd.global", TypeAttr::get(value.getType()));
    copy.setResultAttr(i, kLayoutAttr, withoutPartial(layouts.of(value)));
  }
  return copy;
}

//===----------------------------------------------------------------------===//
// Moves
//===----------------------------------------------------------------------===//

Value ClassProgram::moved(OpBuilder &builder, Value value, LayoutAttr want,
                          Location user) {
  LayoutAttr have = layouts.of(value);
  RankedTensorType type = nn::tensorType(value);
  // Moves are between layouts in the simplest words.
  LayoutAttr at =
      toAttr(builder.getContext(), grid,
             simplify(toGrid(grid), toLayout(grid, have), sizesOf(type)));
  Value x = mapping.lookup(value);
  for (const Move &move : paths.find(type, have, want)) {
    LayoutAttr to = toAttr(builder.getContext(), grid, move.to);
    Value &known = moves[{value, to}];
    if (!known)
      known = makeMove(builder, value, x, move, at, to, user);
    x = known;
    at = to;
  }
  return x;
}

Value ClassProgram::makeMove(OpBuilder &builder, Value global, Value x,
                             const Move &move, LayoutAttr from, LayoutAttr to,
                             Location user) {
  SmallVector<Attribute> names;
  for (int axis : move.axes)
    names.push_back(grid.getAxes()[axis]);
  ArrayAttr axes = builder.getArrayAttr(names);
  Type type = local(global, to);
  TypeAttr whole = TypeAttr::get(global.getType());
  switch (move.kind) {
  case MoveKind::allReduce: {
    auto reduce = builder.create<spmd::AllReduceOp>(
        global.getLoc(),
        *spmd::symbolizeReduction(from.getPartialKind().getValue()), x, axes);
    if (sync)
      reduce->setAttr(kSyncAttr, sync);
    return reduce;
  }
  case MoveKind::slice:
    return builder.create<spmd::SliceOp>(user, type, x, from, to, whole,
                                         builder.getArrayAttr({}));
  case MoveKind::reduceScatter:
    return builder.create<spmd::ReduceScatterOp>(global.getLoc(), type, x, from,
                                                 to, whole, axes);
  case MoveKind::allGather:
    return builder.create<spmd::AllGatherOp>(user, type, x, from, to, whole,
                                             axes);
  case MoveKind::allToAll:
    return builder.create<spmd::AllToAllOp>(user, type, x, from, to, whole,
                                            axes);
  case MoveKind::haloExchange:
    return builder.create<spmd::HaloExchangeOp>(user, type, x, from, to, whole,
                                                axes);
  case MoveKind::exchange:
    return builder.create<spmd::ExchangeOp>(user, type, x, from, to, whole,
                                            axes);
  }
  llvm_unreachable("unknown move");
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

void ClassProgram::copyOp(OpBuilder &builder, Operation *op) {
  const OpLayouts &needed = layouts.of(op);
  SmallVector<Value> operands;
  if (nn::isUpdate(op)) {
    auto module = function->getParentOfType<ModuleOp>();
    if (auto variable =
            module.lookupSymbol<nn::VariableOp>(nn::updatedVariable(op)))
      sync = variable->getAttrOfType<SyncAttr>(kSyncAttr);
  }
  for (auto [operand, want] : llvm::zip(op->getOperands(), needed.operands))
    operands.push_back(moved(builder, operand, want, op->getLoc()));
  sync = SyncAttr();
  SmallVector<Type> types;
  for (auto [result, layout] : llvm::zip(op->getResults(), needed.computed))
    types.push_back(local(result, layout));
  if (succeeded(replaceEmpty(builder, op, operands, types)))
    return;
  Operation *copy = localCopy(op, needed, grid, rank, operands, mapping);
  builder.insert(copy);
  finish(builder, op, copy->getResults());
}

/// Cuts off what was computed beyond the rank's own part.
void ClassProgram::finish(OpBuilder &builder, Operation *op,
                          ValueRange computed) {
  const OpLayouts &needed = layouts.of(op);
  for (auto [i, result] : llvm::enumerate(op->getResults())) {
    Value value = computed[i];
    if (!sameLayout(grid, needed.computed[i], needed.results[i],
                    nn::tensorType(result)))
      value = builder.create<spmd::SliceOp>(
          op->getLoc(), local(result, needed.results[i]), value,
          needed.computed[i], needed.results[i],
          TypeAttr::get(result.getType()), builder.getArrayAttr({}));
    mapping.map(result, value);
    moveEagerly(builder, result);
  }
}

void ClassProgram::collectEager() {
  for (Operation &op : function.front().without_terminator())
    if (op.hasAttr(kFactorsAttr) && isa<nn::MatmulOp>(op))
      for (auto [operand, want] :
           llvm::zip(op.getOperands(), layouts.of(&op).operands))
        eager[operand].push_back({want, op.getLoc()});
  Operation *terminator = function.front().getTerminator();
  for (Value value : terminator->getOperands())
    eager[value].push_back(
        {withoutPartial(layouts.of(value)), terminator->getLoc()});
}

void ClassProgram::moveEagerly(OpBuilder &builder, Value value) {
  auto it = eager.find(value);
  if (it == eager.end())
    return;
  for (auto [want, user] : it->second)
    moved(builder, value, want, user);
}

/// Handles parts without elements, which kernels need not know: nothing is
/// computed for an empty result, and a sum over nothing is a constant.
LogicalResult ClassProgram::replaceEmpty(OpBuilder &builder, Operation *op,
                                         ArrayRef<Value> operands,
                                         ArrayRef<Type> types) {
  auto partitionable = dyn_cast<nn::PartitionableOp>(op);
  if (!partitionable || types.empty() || operands.empty())
    return failure();
  bool isNothing = llvm::all_of(types, isEmptyTensor);
  bool lacksOperand = llvm::any_of(
      operands, [](Value operand) { return isEmptyTensor(operand.getType()); });
  if (!isNothing && !lacksOperand)
    return failure();
  if (auto concat = dyn_cast<nn::ConcatOp>(op); concat && !isNothing) {
    SmallVector<Value> parts;
    SmallVector<Attribute> all;
    SmallVector<int64_t> present;
    for (auto [i, operand] : llvm::enumerate(operands)) {
      all.push_back(TypeAttr::get(op->getOperand(i).getType()));
      if (isEmptyTensor(operand.getType()))
        continue;
      parts.push_back(operand);
      present.push_back(i);
    }
    auto copy = builder.create<nn::ConcatOp>(op->getLoc(), types[0], parts,
                                             concat.getAxisAttr());
    if (Attribute split = op->getAttr(kSplitAttr))
      copy->setAttr(spmd::kSplitAttr, split);
    copy->setAttr(
        spmd::kWholeAttr,
        builder.getDictionaryAttr(
            {builder.getNamedAttr("operands", builder.getArrayAttr(all)),
             builder.getNamedAttr("present",
                                  builder.getDenseI64ArrayAttr(present))}));
    finish(builder, op, copy->getResults());
    return success();
  }
  nn::Combiner combiner = nn::Combiner::sum;
  for (const nn::IterationDim &dim : partitionable.getIterationSpace().dims)
    if (dim.kind == nn::DimKind::reduction)
      combiner = dim.combiner;
  auto conv = dyn_cast<nn::ConvOp>(op);
  SmallVector<Value> results;
  auto name = builder.getNamedAttr(
      "op", builder.getStringAttr(op->getName().getStringRef()));
  auto standFor = [&](Value value) {
    unsigned i = results.size();
    // Numbered, so that two of them stay two values: each may be combined in
    // place.
    value.getDefiningOp()->setAttr(
        spmd::kStandsForAttr,
        builder.getDictionaryAttr(
            {name,
             builder.getNamedAttr("number",
                                  builder.getI64IntegerAttr(standIns++)),
             builder.getNamedAttr("result", builder.getI64IntegerAttr(i)),
             builder.getNamedAttr("of",
                                  TypeAttr::get(op->getResult(i).getType())),
             builder.getNamedAttr("layout", layouts.of(op).computed[i])}));
    results.push_back(value);
  };
  for (Type type : types) {
    if (conv && conv.getBias() && !isEmptyTensor(type)) {
      // Windows that see only padding.
      SmallVector<int64_t> shape(cast<RankedTensorType>(type).getRank(), 1);
      shape[1] = cast<RankedTensorType>(type).getDimSize(1);
      Value bias = builder.create<nn::ReshapeOp>(
          op->getLoc(),
          RankedTensorType::get(shape,
                                cast<RankedTensorType>(type).getElementType()),
          operands[2]);
      bias.getDefiningOp()->setAttr(spmd::kStandsForAttr,
                                    builder.getDictionaryAttr({name}));
      standFor(builder.create<nn::BroadcastOp>(op->getLoc(), type, bias));
      continue;
    }
    standFor(makeSplat(builder, op->getLoc(), type, combiner));
  }
  finish(builder, op, results);
  return success();
}
