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
  return success();
}

LogicalResult AllReduceOp::verify() {
  return verifyAxes(*this, getAxes()); // C1, C2
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
  return success();
}

LogicalResult CommunicateOp::verify() {
  // C1
  if (getKind() != "all_reduce")
    return emitOpError() << "kind must be all_reduce, found '" << getKind()
                         << "'";
  return verifyAxes(*this, getAxes()); // C2
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
  // C1
  if (!isRecordedBefore(*this, event))
    return emitOpError() << "event " << event
                         << " is not recorded before this wait";
  return success();
}
