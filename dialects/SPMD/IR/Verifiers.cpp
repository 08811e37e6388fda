//===- Verifiers.cpp - Rules of the scheduled program ---------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Verifiers in the order of the labels in the operation descriptions.
//
//===----------------------------------------------------------------------===//

#include "dialects/SPMD/IR/SPMDDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace partita;
using namespace partita::spmd;

namespace {

/// The axes of a collective: at least one, each of the module's grid, none
/// twice. A module without a grid is a test of the operation alone.
LogicalResult verifyAxes(Operation *op, ArrayAttr axes) {
  if (axes.empty())
    return op->emitOpError("needs at least one axis");
  auto module = op->getParentOfType<ModuleOp>();
  auto grid = module ? module->getAttrOfType<dist::GridAttr>(dist::kGridAttr)
                     : dist::GridAttr();
  llvm::StringSet<> seen;
  for (auto axis : axes.getAsRange<StringAttr>()) {
    if (!seen.insert(axis.getValue()).second)
      return op->emitOpError()
             << "names axis '" << axis.getValue() << "' twice";
    if (grid && grid.findAxis(axis.getValue()) < 0)
      return op->emitOpError() << "axis '" << axis.getValue()
                               << "' is not one of the grid " << grid;
  }
  return success();
}

/// Whether `event` is recorded by an operation before `op` in its block.
bool isRecordedBefore(Operation *op, int64_t event) {
  for (Operation *before = op->getPrevNode(); before;
       before = before->getPrevNode())
    if (auto record = dyn_cast<RecordOp>(before);
        record && static_cast<int64_t>(record.getEvent()) == event)
      return true;
  return false;
}

/// The number of servers beside `parts`; none is no attribute.
LogicalResult verifyServers(Operation *op) {
  Attribute servers = op->getAttr(kServersAttr);
  if (!servers && !op->hasAttr(kGroupAttr))
    return success();
  if (numberOf(op, kServersAttr) < 1 || numberOf(op, kGroupAttr) < 0 ||
      !op->hasAttr(kPartsAttr))
    return op->emitOpError() << "'servers' must be a positive number beside "
                                "'parts', and 'group' one beside both";
  return success();
}

/// Shares of flat buffers: one for each rank of the communicator over `axes`,
/// and for each of its servers, which together are each of `buffers`.
LogicalResult verifyParts(Operation *op, DenseI64ArrayAttr parts,
                          ArrayAttr axes, ValueRange buffers) {
  if (!parts)
    return op->emitOpError() << "'parts' must be an array of i64";
  int64_t total = 0, ranks = 1;
  for (int64_t part : parts.asArrayRef()) {
    if (part < 0)
      return op->emitOpError() << "part of " << part << " elements";
    total += part;
  }
  for (Value buffer : buffers) {
    int64_t elements = cast<MemRefType>(buffer.getType()).getNumElements();
    if (elements != total)
      return op->emitOpError()
             << "parts have " << total << " elements in all, the buffer has "
             << elements;
  }
  auto module = op->getParentOfType<ModuleOp>();
  auto grid = module ? module->getAttrOfType<dist::GridAttr>(dist::kGridAttr)
                     : dist::GridAttr();
  if (!grid)
    return success();
  for (auto axis : axes.getAsRange<StringAttr>())
    ranks *= grid.getAxisSize(axis.getValue());
  int64_t servers = numberOf(op, kServersAttr);
  for (int64_t worker = 0; servers > 0 && worker < ranks; ++worker)
    if (worker < parts.size() && parts[worker] != 0)
      return op->emitOpError()
             << "gives rank " << worker << " of its communicator a part of "
             << parts[worker] << " elements, expected 0 beside servers"; // C6
  ranks += servers;
  if (ranks != static_cast<int64_t>(parts.size()))
    return op->emitOpError()
           << "has " << parts.size() << " parts for " << ranks << " ranks";
  return success();
}

} // namespace

LogicalResult ClassOp::verify() {
  // C1
  int64_t last = -1;
  for (int64_t rank : getRanks()) {
    if (rank <= last)
      return emitOpError("ranks must not be negative and must increase");
    last = rank;
  }
  // C2
  int64_t arena = getArenaBytes().value_or(0);
  int64_t persistent = getPersistentBytes().value_or(0);
  if (arena < 0 || persistent < 0 || persistent > arena)
    return emitOpError() << "persistent part of " << persistent
                         << " bytes does not lie inside the arena of " << arena
                         << " bytes";
  // C3
  auto module = (*this)->getParentOfType<ModuleOp>();
  auto grid = module ? module->getAttrOfType<dist::GridAttr>(dist::kGridAttr)
                     : dist::GridAttr();
  if (grid && (*this)->hasAttr(kServersAttr))
    for (int64_t rank : getRanks())
      if (rank < grid.getNumRanks())
        return emitOpError()
               << "rank " << rank << " is no server, but one of "
               << "the " << grid.getNumRanks() << " ranks of the grid";
  return success();
}

LogicalResult AllReduceOp::verify() {
  return verifyAxes(*this, getAxes()); // C1, C2
}

namespace {

/// C1 of the moves: layouts and types fit the whole tensor.
LogicalResult verifyMoveTypes(Operation *op, Type x, Type y, Type global,
                              dist::LayoutAttr from, dist::LayoutAttr to) {
  auto whole = dyn_cast<RankedTensorType>(global);
  if (!whole)
    return op->emitOpError()
           << "`of` names " << global << ", expected a ranked tensor";
  for (auto [layout, type] : {std::pair(from, cast<RankedTensorType>(x)),
                              std::pair(to, cast<RankedTensorType>(y))}) {
    if (static_cast<int64_t>(layout.getDims().size()) != whole.getRank() ||
        type.getRank() != whole.getRank() ||
        type.getElementType() != whole.getElementType())
      return op->emitOpError() << "layout " << layout << " and part " << type
                               << " do not belong to " << whole;
    for (int64_t i = 0; i < whole.getRank(); ++i)
      if (type.getDimSize(i) > whole.getDimSize(i))
        return op->emitOpError()
               << "part " << type << " is larger than " << whole;
  }
  return success();
}

/// The dimensions whose cut differs between the layouts.
SmallVector<unsigned> changedDims(dist::LayoutAttr from, dist::LayoutAttr to) {
  SmallVector<unsigned> dims;
  for (unsigned i = 0, e = from.getDims().size(); i < e; ++i)
    if (from.getDims()[i] != to.getDims()[i] ||
        from.getBlocks()[i] != to.getBlocks()[i] ||
        from.getRanges()[i] != to.getRanges()[i])
      dims.push_back(i);
  return dims;
}

/// Whether the last ones of `list` are those of `end`, in any order: a cut has
/// an order of axes, a group of ranks has not.
bool endsWith(ArrayRef<Attribute> list, ArrayRef<Attribute> end) {
  return list.size() >= end.size() &&
         llvm::all_of(list.take_back(end.size()), [&](Attribute axis) {
           return llvm::is_contained(end, axis);
         });
}

template <typename OpT> LogicalResult verifyMove(OpT op) {
  if (failed(verifyMoveTypes(op, op.getX().getType(), op.getY().getType(),
                             op.getGlobal(), op.getFrom(), op.getTo())))
    return failure(); // C1
  if (isa<SliceOp>(op.getOperation()))
    return success();
  return verifyAxes(op, op.getAxes()); // C2
}

/// The last axes of the one dimension that `layout` cuts more than `other`.
LogicalResult verifyOneCut(Operation *op, dist::LayoutAttr layout,
                           dist::LayoutAttr other, ArrayAttr axes) {
  SmallVector<unsigned> changed = changedDims(layout, other);
  if (changed.size() == 1 &&
      endsWith(layout.getAxesOf(changed[0]), axes.getValue()))
    return success();
  return op->emitOpError() << "axes " << axes
                           << " are not the last ones of the one dimension "
                              "whose cut differs between "
                           << layout << " and " << other;
}

} // namespace

LogicalResult SliceOp::verify() {
  if (failed(verifyMove(*this)))
    return failure();
  // C2
  if (!getAxes().empty())
    return emitOpError("sends nothing and has no axes");
  // C3
  if (cast<RankedTensorType>(getY().getType()).getNumElements() == 0)
    return success();
  for (auto [x, y] :
       llvm::zip(cast<RankedTensorType>(getX().getType()).getShape(),
                 cast<RankedTensorType>(getY().getType()).getShape()))
    if (y > x)
      return emitOpError() << "the new part " << getY().getType()
                           << " does not lie in the old one "
                           << getX().getType();
  return success();
}

LogicalResult AllGatherOp::verify() {
  if (failed(verifyMove(*this)))
    return failure();
  return verifyOneCut(*this, getFrom(), getTo(), getAxes()); // C3
}

LogicalResult ReduceScatterOp::verify() {
  if (failed(verifyMove(*this)))
    return failure();
  // C3
  for (auto axis : getAxes().getAsRange<StringAttr>())
    if (!llvm::is_contained(getFrom().getPartial(), axis))
      return emitOpError() << "the value is not partial over axis '"
                           << axis.getValue() << "'";
  return verifyOneCut(*this, getTo(), getFrom(), getAxes());
}

LogicalResult AllToAllOp::verify() {
  if (failed(verifyMove(*this)))
    return failure();
  // C3
  SmallVector<unsigned> changed = changedDims(getFrom(), getTo());
  if (changed.size() == 2)
    for (auto [loses, gains] :
         {std::pair(changed[0], changed[1]), std::pair(changed[1], changed[0])})
      if (endsWith(getFrom().getAxesOf(loses), getAxes().getValue()) &&
          endsWith(getTo().getAxesOf(gains), getAxes().getValue()))
        return success();
  return emitOpError() << "axes " << getAxes()
                       << " do not move from one dimension of " << getFrom()
                       << " to another of " << getTo();
}

LogicalResult HaloExchangeOp::verify() {
  if (failed(verifyMove(*this)))
    return failure();
  // C3
  for (auto [from, to] : llvm::zip(getFrom().getDims(), getTo().getDims()))
    if (from != to)
      return emitOpError() << "dimensions keep their axes, found " << getFrom()
                           << " and " << getTo();
  return success();
}

LogicalResult ExchangeOp::verify() {
  if (failed(verifyMove(*this)))
    return failure();
  // C3
  if (getFrom().getPartial() != getTo().getPartial())
    return emitOpError() << "cannot combine values; found " << getFrom()
                         << " and " << getTo();
  return success();
}

LogicalResult BufferOp::verify() {
  int64_t offset = getOffset();
  // C1
  if (offset < 0 || offset % kAlignment != 0)
    return emitOpError() << "offset " << offset << " is not a multiple of "
                         << kAlignment;
  // C2
  auto type = dyn_cast<MemRefType>(getBuffer().getType());
  if (!type || !type.hasStaticShape() || !type.getLayout().isIdentity())
    return emitOpError() << "needs a static memref with identity layout, found "
                         << getBuffer().getType();
  // C3
  Purpose purpose = getPurpose();
  bool isPart = purpose == Purpose::input || purpose == Purpose::variable ||
                purpose == Purpose::result;
  auto layout =
      dyn_cast_or_null<dist::LayoutAttr>(getLayout().value_or(Attribute()));
  if (isPart && (!getGlobal() || !layout))
    return emitOpError() << "purpose " << stringifyPurpose(purpose)
                         << " needs `of` the whole tensor and a layout";
  return success();
}

LogicalResult LaunchOp::verify() {
  // C1
  if (getKernel().empty())
    return emitOpError("needs a kernel name");
  // C2
  if (getOutputs().empty())
    return emitOpError("needs at least one output");
  // C3
  if (failed(verifyServers(*this)))
    return failure();
  Attribute parts = (*this)->getAttr(kPartsAttr);
  auto axes = (*this)->getAttrOfType<ArrayAttr>(kAxesAttr);
  if (!parts && !axes)
    return success();
  if (!parts || !axes)
    return emitOpError("has either both of 'parts' and 'axes' or none");
  if (failed(verifyAxes(*this, axes)))
    return failure();
  SmallVector<Value> buffers(getOperands());
  return verifyParts(*this, dyn_cast<DenseI64ArrayAttr>(parts), axes, buffers);
}

LogicalResult CommunicateOp::verify() {
  // C1
  static constexpr StringRef kinds[] = {"all_reduce",    "reduce_scatter",
                                        "all_gather",    "all_to_all",
                                        "halo_exchange", "exchange"};
  if (!llvm::is_contained(kinds, getKind()))
    return emitOpError() << "kind must be "
                         << llvm::join(ArrayRef<StringRef>(kinds), ", ")
                         << "; found '" << getKind() << "'";
  if (failed(verifyAxes(*this, getAxes()))) // C2
    return failure();
  if (failed(verifyServers(*this))) // C6
    return failure();
  // C4
  if (Attribute algorithm = (*this)->getAttr(kAlgorithmAttr)) {
    if (getKind() != "all_reduce")
      return emitOpError() << "only an all_reduce has an algorithm; found "
                           << algorithm << " of kind '" << getKind() << "'";
    auto name = dyn_cast<StringAttr>(algorithm);
    std::optional<dist::Algorithm> named =
        name ? dist::symbolizeAlgorithm(name.getValue()) : std::nullopt;
    // Without the attribute the channel decides.
    if (!named || *named == dist::Algorithm::automatic)
      return emitOpError() << "algorithm must be direct, ring, tree or "
                              "hierarchical; found "
                           << algorithm;
  }
  // C5
  if (Attribute parts = (*this)->getAttr(kPartsAttr)) {
    if (getMoveAttr() ||
        (getKind() != "reduce_scatter" && getKind() != "all_gather"))
      return emitOpError("only a reduce_scatter or an all_gather of a flat "
                         "buffer has 'parts'");
    return verifyParts(*this, dyn_cast<DenseI64ArrayAttr>(parts), getAxes(),
                       getBuffer());
  }
  // C3
  DictionaryAttr move = getMoveAttr();
  if (getKind() != "all_reduce" &&
      (!move || !isa_and_nonnull<dist::LayoutAttr>(move.get("from")) ||
       !isa_and_nonnull<dist::LayoutAttr>(move.get("to")) ||
       !isa_and_nonnull<TypeAttr>(move.get("global"))))
    return emitOpError() << "kind '" << getKind()
                         << "' needs a move with from, to and global";
  return success();
}

LogicalResult RecordOp::verify() {
  int64_t event = getEvent();
  // C1
  if (event < 0)
    return emitOpError("event must not be negative");
  // C2
  if (isRecordedBefore(*this, event))
    return emitOpError() << "event " << event << " is recorded twice";
  return success();
}

LogicalResult WaitOp::verify() {
  int64_t event = getEvent();
  // C2
  if ((*this)->hasAttr(kPreviousAttr)) {
    for (Operation *after = (*this)->getNextNode(); after;
         after = after->getNextNode())
      if (auto record = dyn_cast<RecordOp>(after);
          record && static_cast<int64_t>(record.getEvent()) == event)
        return success();
    return emitOpError() << "event " << event
                         << " of the previous run is not recorded behind this "
                            "wait";
  }
  // C1
  if (!isRecordedBefore(*this, event))
    return emitOpError() << "event " << event
                         << " is not recorded before this wait";
  return success();
}
