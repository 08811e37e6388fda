//===- BufferAssignment.cpp - Where each value of a step lives ------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Storages of one function: sharing, targets, lifetimes, offsets.
//
//===----------------------------------------------------------------------===//

#include "passes/Schedule/BufferAssignment.h"
#include "passes/Schedule/ArenaPlanner.h"

using namespace mlir;
using namespace partita;

std::string partita::locationName(Location loc) {
  if (auto name = dyn_cast<NameLoc>(loc))
    return name.getName().str();
  if (auto fused = dyn_cast<FusedLoc>(loc)) {
    // The consumer of a fused chain comes last and names it.
    for (Location part : llvm::reverse(fused.getLocations()))
      if (std::string name = locationName(part); !name.empty())
        return name;
  }
  if (auto call = dyn_cast<CallSiteLoc>(loc))
    return locationName(call.getCallee());
  return "";
}

FunctionMemory::FunctionMemory(func::FuncOp function, const ClassMemory &memory,
                               bool overlap)
    : function(function), memory(memory), arrivals(function, overlap) {
  Operation *terminator = function.front().getTerminator();
  auto phase = function->getAttrOfType<StringAttr>(spmd::kPhaseAttr);
  if (phase && phase.getValue() == "step")
    for (Value loss : terminator->getOperands())
      if (Operation *producer = loss.getDefiningOp())
        lossIndex = std::max(lossIndex, indexOf(producer));
  // Values that want a place of their own are not computed over an operand.
  for (Value value : terminator->getOperands())
    targets.insert(value);
  for (Operation &op : function.front()) {
    if (nn::isUpdate(&op))
      targets.insert(localGradient(&op));
    if (auto assign = dyn_cast<nn::AssignOp>(op))
      targets.insert(assign.getValue());
    if (auto reduce = dyn_cast<spmd::AllReduceOp>(op);
        reduce && targets.contains(reduce.getY()))
      targets.insert(reduce.getX());
  }
  assignStorages();
  joinCollectives();
  bindTargets();
  computeLifetimes();
  place();
}

int FunctionMemory::addStorage(const Storage &storage) {
  if (storage.isFixed()) {
    // One entry per named place, however often it is read.
    std::string key =
        std::to_string(static_cast<int>(storage.purpose)) + "/" + storage.name;
    auto [it, isNew] = fixedStorages.try_emplace(key, storages.size());
    if (!isNew)
      return it->second;
  }
  storages.push_back(storage);
  return storages.size() - 1;
}

std::string FunctionMemory::nameOf(Operation *op) const {
  std::string name = locationName(op->getLoc());
  if (name.empty())
    name = op->getName().stripDialect().str();
  bool isBackward = lossIndex >= 0 && indexOf(op) > lossIndex;
  return isBackward ? name + ".grad" : name;
}

std::string FunctionMemory::sourceOf(const MoveView &move) const {
  Value value = move.x;
  while (Operation *producer = value.getDefiningOp()) {
    if (!isa<nn::ReshapeOp>(producer) && !asMove(producer))
      break;
    value = producer->getOperand(0);
  }
  if (auto read = value.getDefiningOp<nn::ReadOp>())
    return read.getVariable().str();
  if (Operation *producer = value.getDefiningOp())
    return nameOf(producer);
  return storages[storageOf(value)].name;
}

int FunctionMemory::addTemporary(Value value, StringRef name) {
  Storage storage;
  storage.name = name.str();
  storage.bytes = nn::byteSize(nn::tensorType(value));
  return addStorage(storage);
}

/// The result of a move lives beside its operand: parts that stay are copied
/// while others arrive.
void FunctionMemory::assignMove(const MoveView &move) {
  std::string name = nameOf(move.op), source = sourceOf(move);
  put(move.y, addTemporary(move.y, source == name ? "part of " + name
                                                  : source + " for " + name));
  if (move.isSlice())
    return;
  Storage staging;
  staging.name = "staging of " + name;
  int64_t elements = memory.stagingElements(move);
  staging.bytes = nn::byteSize(
      RankedTensorType::get({elements}, move.global.getElementType()));
  stagingOfMove[move.op] = addStorage(staging);
}

void FunctionMemory::put(Value value, int storage) {
  storageOfValue[value] = storage;
  storages[storage].last = std::max(storages[storage].last, lastUseOf(value));
}

void FunctionMemory::assignStorages() {
  for (auto [i, argument] : llvm::enumerate(function.getArguments())) {
    auto name = function.getArgAttrOfType<StringAttr>(i, "nn.name");
    put(argument, addStorage(memory.input(name ? name.str()
                                               : "arg" + std::to_string(i))));
  }
  for (Operation &op : function.front().without_terminator()) {
    int64_t i = indexOf(&op);
    if (auto read = dyn_cast<nn::ReadOp>(op)) {
      put(read.getValue(), addStorage(memory.variable(read.getVariable())));
      continue;
    }
    if (auto reshape = dyn_cast<nn::ReshapeOp>(op)) {
      put(reshape.getY(), storageOf(reshape.getX()));
      continue;
    }
    if (auto reduce = dyn_cast<spmd::AllReduceOp>(op)) {
      int from = storageOf(reduce.getX());
      // In place, unless somebody still needs the uncombined value. A bucket
      // is combined where the gradient lives.
      if (isBucketed(reduce) ||
          (reduce.getX().hasOneUse() && !storages[from].isFixed())) {
        put(reduce.getY(), from);
        continue;
      }
      int to = addTemporary(reduce.getY(), nameOf(&op));
      put(reduce.getY(), to);
      copies.push_back({i - 1, reduce.getX(), to});
      continue;
    }
    if (auto fused = dyn_cast<nn::FusedOp>(op)) {
      assignFused(fused, i);
      continue;
    }
    if (std::optional<MoveView> move = asMove(&op)) {
      assignMove(*move);
      continue;
    }
    for (Value result : op.getResults())
      put(result, addTemporary(result, nameOf(&op)));
  }
}

void FunctionMemory::assignFused(nn::FusedOp op, int64_t i) {
  llvm::SmallDenseSet<int> taken;
  for (Value output : op.getOutputs()) {
    int chosen = -1;
    if (!targets.contains(output))
      for (Value input : op.getInputs()) {
        int candidate = storageOf(input);
        const Storage &storage = storages[candidate];
        bool isWhole = nn::shapeOf(input) == nn::shapeOf(output) &&
                       storage.bytes == nn::byteSize(nn::tensorType(output));
        if (storage.isFixed() || !isWhole || taken.contains(candidate))
          continue;
        // Every value in the storage must be dead after this operation.
        bool dies = storage.last <= i;
        // Other operands must not read the storage by broadcast.
        bool isAlone = llvm::all_of(op.getInputs(), [&](Value other) {
          return storageOf(other) != candidate ||
                 nn::shapeOf(other) == nn::shapeOf(output);
        });
        if (dies && isAlone) {
          chosen = candidate;
          break;
        }
      }
    if (chosen < 0)
      chosen = addTemporary(output, nameOf(op));
    taken.insert(chosen);
    put(output, chosen);
  }
}

void FunctionMemory::joinCollectives() {
  SmallVector<spmd::AllReduceOp> run;
  auto close = [&] {
    if (run.size() > 1) {
      Storage group;
      int id = groups.size();
      for (spmd::AllReduceOp reduce : run) {
        Storage &member = storages[storageOf(reduce.getX())];
        member.group = id;
        member.groupOffset = (group.bytes + spmd::kAlignment - 1) /
                             spmd::kAlignment * spmd::kAlignment;
        group.bytes = member.groupOffset + member.bytes;
        joint[run.front()].push_back(reduce);
      }
      groups.push_back(group);
    }
    run.clear();
  };
  auto canJoin = [&](spmd::AllReduceOp reduce) {
    int storage = storageOf(reduce.getX());
    // Only values that live nowhere else and are combined in place.
    return storageOf(reduce.getY()) == storage &&
           !storages[storage].isFixed() && storages[storage].group < 0 &&
           !targets.contains(reduce.getY()) && !isBucketed(reduce) &&
           !isReturnedOnly(reduce);
  };
  for (Operation &op : function.front()) {
    auto reduce = dyn_cast<spmd::AllReduceOp>(op);
    if (!reduce || !canJoin(reduce)) {
      close();
      continue;
    }
    bool matches =
        run.empty() ||
        (run.front().getAxes() == reduce.getAxes() &&
         run.front().getReduction() == reduce.getReduction() &&
         nn::tensorType(run.front().getX()).getElementType() ==
             nn::tensorType(reduce.getX()).getElementType() &&
         llvm::none_of(run, [&](spmd::AllReduceOp other) {
           return storageOf(other.getX()) == storageOf(reduce.getX());
         }));
    if (!matches || reduce->hasAttr(kAloneAttr))
      close();
    run.push_back(reduce);
  }
  close();
}

/// Lets `value` be computed in the place `target`. False when it already has
/// another lasting place.
bool FunctionMemory::bind(Value value, const Storage &target) {
  Storage &storage = storages[storageOf(value)];
  if (storage.isFixed() || storage.group >= 0 || storage.bytes != target.bytes)
    return false;
  int64_t first = storage.first, last = storage.last;
  storage = target;
  storage.first = first;
  storage.last = last;
  fixedStorages[std::to_string(static_cast<int>(target.purpose)) + "/" +
                target.name] = storageOf(value);
  return true;
}

/// Whether `next` may be computed over the old value of `variable`, which
/// nobody reads any more then.
bool FunctionMemory::canReplace(Value next, const Storage &variable) const {
  Operation *producer = next.getDefiningOp();
  if (!producer || !next.hasOneUse())
    return false;
  // A loop may read the old value where it writes the new one.
  bool isLoop = isa<nn::FusedOp>(producer);
  if (!isLoop && !asMove(producer))
    return false;
  int64_t written = indexOf(producer);
  return llvm::all_of(storageOfValue, [&](const auto &entry) {
    auto [value, storage] = entry;
    if (storages[storage].purpose != spmd::Purpose::variable ||
        storages[storage].name != variable.name)
      return true;
    int64_t last = lastUseOf(value);
    return isLoop ? last <= written && value.getType() == next.getType()
                  : last < written;
  });
}

void FunctionMemory::bindTargets() {
  // Variables first: their old value may still be read, so binding has the
  // strictest condition; then gradients, then results.
  for (Operation &op : function.front()) {
    auto assign = dyn_cast<nn::AssignOp>(op);
    if (!assign)
      continue;
    Storage target = memory.variable(assign.getVariable());
    if (!canReplace(assign.getValue(), target) ||
        !bind(assign.getValue(), target))
      // At the end, when nobody reads the old value any more.
      copies.push_back({indexOf(function.front().getTerminator()) - 1,
                        assign.getValue(), addStorage(target)});
  }
  for (Operation &op : function.front()) {
    if (!nn::isUpdate(&op))
      continue;
    Storage target = memory.gradient(nn::updatedVariable(&op));
    Value gradient = localGradient(&op);
    if (bind(gradient, target))
      continue;
    Operation *producer = gradient.getDefiningOp();
    copies.push_back(
        {arrivals.readyAt(producer), gradient, addStorage(target)});
  }
  Operation *terminator = function.front().getTerminator();
  for (auto [i, value] : llvm::enumerate(terminator->getOperands())) {
    auto name = function.getResultAttrOfType<StringAttr>(i, "nn.name");
    Storage target = memory.result(
        function.getName(), name ? name.str() : "result" + std::to_string(i));
    if (!bind(value, target))
      copies.push_back({indexOf(terminator) - 1, value, addStorage(target)});
  }
}

void FunctionMemory::computeLifetimes() {
  for (Storage &storage : storages) {
    storage.first = INT64_MAX;
    storage.last = -1;
  }
  for (auto [value, id] : storageOfValue) {
    Storage &storage = storages[id];
    Operation *producer = value.getDefiningOp();
    int64_t defined = producer ? indexOf(producer) : 0;
    storage.first = std::min(storage.first, defined);
    storage.last = std::max(storage.last, std::max(defined, lastUseOf(value)));
  }
  for (auto [move, id] : stagingOfMove) {
    storages[id].first = indexOf(move);
    storages[id].last = arrivals.arrivalOf(move);
    // What nobody uses is unpacked all the same.
    Storage &result = storages[storageOf(move->getResult(0))];
    result.last = std::max(result.last, arrivals.arrivalOf(move));
  }
  for (const CopyStep &copy : copies) {
    Storage &from = storages[storageOf(copy.from)];
    Storage &to = storages[copy.to];
    from.last = std::max(from.last, copy.after + 1);
    to.first = std::min(to.first, std::max<int64_t>(copy.after, 0));
  }
  for (Storage &group : groups)
    group.first = INT64_MAX, group.last = -1;
  for (const Storage &storage : storages)
    if (storage.group >= 0) {
      Storage &group = groups[storage.group];
      group.first = std::min(group.first, storage.first);
      group.last = std::max(group.last, storage.last);
    }
}

void FunctionMemory::place() {
  std::vector<ArenaBuffer> buffers;
  std::vector<Storage *> placed;
  auto add = [&](Storage &storage) {
    ArenaBuffer buffer;
    buffer.bytes = storage.bytes;
    buffer.first = storage.first;
    buffer.last = storage.last;
    buffers.push_back(buffer);
    placed.push_back(&storage);
  };
  for (Storage &storage : storages)
    if (!storage.isFixed() && storage.group < 0)
      add(storage);
  for (Storage &group : groups)
    add(group);
  int64_t base = memory.getPersistentBytes();
  arenaBytes = base + planArena(buffers, spmd::kAlignment);
  for (auto [storage, buffer] : llvm::zip(placed, buffers))
    storage->offset = base + buffer.offset;
}

int64_t FunctionMemory::offsetOf(int id) const {
  const Storage &storage = storages[id];
  if (storage.group >= 0)
    return groups[storage.group].offset + storage.groupOffset;
  return storage.offset;
}
