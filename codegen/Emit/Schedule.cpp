//===- Schedule.cpp - A scheduled module, read for printing ---------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lines up the functions of the rank classes.
//
//===----------------------------------------------------------------------===//

#include "codegen/Emit/Schedule.h"
#include "dialects/Dist/IR/Servers.h"
#include "dialects/NN/IR/NNDialect.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace partita::codegen {

namespace {

constexpr llvm::StringLiteral kPhases[] = {"step", "eval", "predict"};

/// The operations of a function without its return.
SmallVector<Operation *> operationsOf(func::FuncOp function) {
  SmallVector<Operation *> ops;
  for (Operation &op : function.getBody().front().without_terminator())
    ops.push_back(&op);
  return ops;
}

/// Compares two functions up to numbers: shapes, offsets, and the values of
/// numeric parameters.
class Comparison {
public:
  bool matches(func::FuncOp a, func::FuncOp b) {
    SmallVector<Operation *> left = operationsOf(a), right = operationsOf(b);
    if (left.size() != right.size())
      return false;
    for (auto [x, y] : llvm::zip_equal(left, right))
      if (!matches(x, y))
        return false;
    return true;
  }

private:
  bool matches(Operation *a, Operation *b) {
    if (a->getName() != b->getName() ||
        a->getNumOperands() != b->getNumOperands() ||
        a->getNumResults() != b->getNumResults())
      return false;
    for (auto [x, y] : llvm::zip_equal(a->getOperands(), b->getOperands()))
      if (partner.lookup(x) != y)
        return false;
    for (auto [x, y] : llvm::zip_equal(a->getResults(), b->getResults()))
      partner[x] = y;
    // Servers: how many there are is a number, for which group is a name.
    if (spmd::numberOf(a, spmd::kGroupAttr) !=
            spmd::numberOf(b, spmd::kGroupAttr) ||
        a->hasAttr(spmd::kServersAttr) != b->hasAttr(spmd::kServersAttr))
      return false;
    return llvm::TypeSwitch<Operation *, bool>(a)
        .Case<spmd::BufferOp>([&](spmd::BufferOp x) {
          auto y = cast<spmd::BufferOp>(b);
          auto left = cast<MemRefType>(x.getBuffer().getType());
          auto right = cast<MemRefType>(y.getBuffer().getType());
          return x.getPurpose() == y.getPurpose() &&
                 x.getName() == y.getName() && x.getGlobal() == y.getGlobal() &&
                 x.getLayout() == y.getLayout() &&
                 left.getRank() == right.getRank() &&
                 left.getElementType() == right.getElementType();
        })
        .Case<spmd::LaunchOp>([&](spmd::LaunchOp x) {
          auto y = cast<spmd::LaunchOp>(b);
          return x.getKernel() == y.getKernel() &&
                 x.getStream() == y.getStream() &&
                 x.getInputs().size() == y.getInputs().size() &&
                 matchParams(x.getParamsAttr(), y.getParamsAttr()) &&
                 matchBodies(x.getBody(), y.getBody());
        })
        .Case<spmd::CommunicateOp>([&](spmd::CommunicateOp x) {
          auto y = cast<spmd::CommunicateOp>(b);
          return x.getKind() == y.getKind() &&
                 x.getReduction() == y.getReduction() &&
                 x.getStream() == y.getStream() && x.getAxes() == y.getAxes() &&
                 x.getMoveAttr() == y.getMoveAttr();
        })
        .Default([&](Operation *) {
          return a->getAttrDictionary() == b->getAttrDictionary();
        });
  }

  static bool matchParams(DictionaryAttr a, DictionaryAttr b) {
    if (!a || !b)
      return !a && !b;
    if (a.size() != b.size())
      return false;
    for (auto [x, y] : llvm::zip_equal(a, b)) {
      if (x.getName() != y.getName())
        return false;
      if (x.getValue() == y.getValue())
        continue;
      // Only numbers may differ; lists keep their length.
      if (isa<IntegerAttr>(x.getValue()) && isa<IntegerAttr>(y.getValue()))
        continue;
      if (isa<FloatAttr>(x.getValue()) && isa<FloatAttr>(y.getValue()))
        continue;
      auto left = dyn_cast<DenseI64ArrayAttr>(x.getValue());
      auto right = dyn_cast<DenseI64ArrayAttr>(y.getValue());
      if (!left || !right || left.size() != right.size())
        return false;
    }
    return true;
  }

  static bool matchBodies(Region &a, Region &b) {
    return OperationEquivalence::isRegionEquivalentTo(
        &a, &b, OperationEquivalence::IgnoreLocations);
  }

  DenseMap<Value, Value> partner;
};

/// The functions of one class.
using ClassFunctions = SmallVector<func::FuncOp, 3>;

bool matches(const ClassFunctions &a, const ClassFunctions &b) {
  return llvm::all_of(llvm::zip_equal(a, b), [](auto pair) {
    auto [x, y] = pair;
    if (!x || !y)
      return !x && !y;
    return Comparison().matches(x, y);
  });
}

Phase makePhase(StringRef name, ArrayRef<func::FuncOp> functions) {
  Phase phase;
  phase.name = name.str();
  SmallVector<SmallVector<Operation *>> columns;
  for (func::FuncOp function : functions)
    columns.push_back(operationsOf(function));
  for (size_t row = 0; row < columns.front().size(); ++row) {
    SmallVector<Operation *, 2> ops;
    for (const auto &column : columns)
      ops.push_back(column[row]);
    auto first = dyn_cast<spmd::BufferOp>(ops.front());
    if (!first) {
      phase.actions.push_back({ops});
      continue;
    }
    Buffer buffer;
    auto type = cast<MemRefType>(first.getBuffer().getType());
    buffer.elementType = type.getElementType();
    buffer.shape.resize(type.getRank());
    for (Operation *op : ops) {
      auto each = cast<spmd::BufferOp>(op);
      buffer.ops.push_back(each);
      buffer.offset.push_back(each.getOffset());
      auto shape = cast<MemRefType>(each.getBuffer().getType()).getShape();
      for (auto [sizes, size] : llvm::zip_equal(buffer.shape, shape))
        sizes.push_back(size);
    }
    phase.bufferOf[first.getBuffer()] = phase.buffers.size();
    phase.buffers.push_back(std::move(buffer));
  }
  for (const Action &action : phase.actions)
    for (Value operand : action.op()->getOperands())
      ++phase.buffers[phase.bufferOf[operand]].uses;
  return phase;
}

/// Refuses what no scheduled function holds.
LogicalResult checkFunction(func::FuncOp function) {
  if (function.isExternal() || !function.getBody().hasOneBlock() ||
      function.getNumArguments() != 0)
    return function.emitError(
        "is no scheduled function: expected one block without arguments");
  for (Operation *op : operationsOf(function))
    if (!isa<spmd::BufferOp, spmd::LaunchOp, spmd::CommunicateOp,
             spmd::RecordOp, spmd::WaitOp>(op))
      return op->emitError("is not an operation of a scheduled program; "
                           "schedule the module before emitting it");
  return success();
}

} // namespace

const Phase *Group::find(StringRef phase) const {
  auto it = llvm::find_if(
      phases, [&](const Phase &each) { return each.name == phase; });
  return it == phases.end() ? nullptr : &*it;
}

FailureOr<Schedule> Schedule::read(ModuleOp module) {
  Schedule schedule;
  schedule.module = module;
  schedule.grid = module->getAttrOfType<dist::GridAttr>(dist::kGridAttr);
  if (!schedule.grid)
    return module.emitError() << "has no attribute " << dist::kGridAttr
                              << "; partition the module before emitting it";
  schedule.servers = dist::serversOf(module);
  int64_t ranks = schedule.grid.getNumRanks() + schedule.servers;
  schedule.classOfRank.assign(ranks, -1);

  llvm::StringMap<unsigned> classIndex;
  for (auto op : module.getOps<spmd::ClassOp>()) {
    if (!op.getArenaBytes())
      return op.emitError("has no arena_bytes; schedule the module before "
                          "emitting it");
    for (int64_t rank : op.getRanks()) {
      if (rank >= ranks || schedule.classOfRank[rank] != -1)
        return op.emitError() << "rank " << rank
                              << " is in another class, or not in the grid of "
                              << ranks << " ranks";
      schedule.classOfRank[rank] = static_cast<int>(schedule.classes.size());
    }
    classIndex[op.getSymName()] = schedule.classes.size();
    schedule.classes.push_back(op);
  }
  for (int64_t rank = 0; rank < ranks; ++rank)
    if (schedule.classOfRank[rank] == -1)
      return module.emitError() << "rank " << rank << " is in no spmd.class";

  std::vector<ClassFunctions> functions(schedule.classes.size(),
                                        ClassFunctions(std::size(kPhases)));
  for (auto function : module.getOps<func::FuncOp>()) {
    auto owner = function->getAttrOfType<FlatSymbolRefAttr>(spmd::kClassAttr);
    auto phase = function->getAttrOfType<StringAttr>(spmd::kPhaseAttr);
    if (!owner || !phase)
      continue;
    auto it = classIndex.find(owner.getValue());
    const auto *name = llvm::find(kPhases, phase.getValue());
    if (it == classIndex.end() || name == std::end(kPhases))
      return function.emitError() << "belongs to no class and phase: found "
                                  << owner << " and " << phase;
    if (failed(checkFunction(function)))
      return failure();
    functions[it->second][name - std::begin(kPhases)] = function;
  }

  // Classes of the same structure, in the order of their first member.
  for (unsigned c = 0; c < functions.size(); ++c) {
    if (!functions[c][0])
      return schedule.classes[c].emitError("has no function of phase 'step'");
    bool isServers = schedule.classes[c]->hasAttr(spmd::kServersAttr);
    auto group = llvm::find_if(schedule.groups, [&](const Group &each) {
      return isServers == schedule.isServers(each) &&
             matches(functions[each.classes.front()], functions[c]);
    });
    if (group == schedule.groups.end()) {
      schedule.groups.emplace_back();
      group = std::prev(schedule.groups.end());
    }
    group->classes.push_back(c);
  }
  for (Group &group : schedule.groups)
    for (size_t p = 0; p < std::size(kPhases); ++p) {
      SmallVector<func::FuncOp> members;
      for (unsigned c : group.classes)
        members.push_back(functions[c][p]);
      if (members.front())
        group.phases.push_back(makePhase(kPhases[p], members));
    }
  return schedule;
}

//===----------------------------------------------------------------------===//
// Launch
//===----------------------------------------------------------------------===//

Attribute Launch::attribute(size_t classIndex, StringRef param) const {
  auto launch = cast<spmd::LaunchOp>(action.ops[classIndex]);
  DictionaryAttr params = launch.getParamsAttr();
  return params ? params.get(param) : Attribute();
}

InFlightDiagnostic Launch::missing(StringRef param, StringRef kind) const {
  InFlightDiagnostic diagnostic =
      op().emitError() << "kernel '" << kernel() << "' needs the parameter '"
                       << param << "', " << kind << "; found ";
  if (Attribute found = attribute(0, param))
    return std::move(diagnostic << found);
  return std::move(diagnostic << "none");
}

FailureOr<Number> Launch::integer(StringRef param,
                                  std::optional<int64_t> fallback) const {
  Number result;
  for (size_t c = 0; c < numClasses(); ++c) {
    Attribute attr = attribute(c, param);
    if (auto value = dyn_cast_or_null<IntegerAttr>(attr))
      result.push_back(value.getInt());
    else if (!attr && fallback)
      result.push_back(*fallback);
    else
      return missing(param, "an integer");
  }
  return result;
}

FailureOr<SmallVector<Number, 4>> Launch::integers(StringRef param) const {
  SmallVector<Number, 4> result;
  for (size_t c = 0; c < numClasses(); ++c) {
    auto list = dyn_cast_or_null<DenseI64ArrayAttr>(attribute(c, param));
    if (!list)
      return missing(param, "a list of integers");
    result.resize(list.size());
    for (auto [numbers, value] : llvm::zip_equal(result, list.asArrayRef()))
      numbers.push_back(value);
  }
  return result;
}

FailureOr<Real> Launch::real(StringRef param,
                             std::optional<double> fallback) const {
  Real result;
  for (size_t c = 0; c < numClasses(); ++c) {
    Attribute attr = attribute(c, param);
    if (auto value = dyn_cast_or_null<FloatAttr>(attr))
      result.push_back(value.getValueAsDouble());
    else if (!attr && fallback)
      result.push_back(*fallback);
    else
      return missing(param, "a real number");
  }
  return result;
}

FailureOr<std::string> Launch::keyword(StringRef param) const {
  Attribute attr = attribute(0, param);
  if (auto kind = dyn_cast_or_null<nn::ReduceKindAttr>(attr))
    return nn::stringifyReduceKind(kind.getValue()).str();
  if (auto text = dyn_cast_or_null<StringAttr>(attr))
    return text.getValue().str();
  return missing(param, "a keyword");
}

//===----------------------------------------------------------------------===//
// Locations
//===----------------------------------------------------------------------===//

static void collectNames(Location loc, SmallVectorImpl<StringRef> &names) {
  if (auto name = dyn_cast<NameLoc>(loc)) {
    if (!llvm::is_contained(names, name.getName().getValue()))
      names.push_back(name.getName().getValue());
    return;
  }
  if (auto fused = dyn_cast<FusedLoc>(loc))
    for (Location each : fused.getLocations())
      collectNames(each, names);
  if (auto call = dyn_cast<CallSiteLoc>(loc))
    collectNames(call.getCallee(), names);
}

SmallVector<StringRef> nodeNames(Location loc) {
  SmallVector<StringRef> names;
  collectNames(loc, names);
  return names;
}

} // namespace partita::codegen
