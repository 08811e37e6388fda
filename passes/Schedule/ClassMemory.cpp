//===- ClassMemory.cpp - The lasting part of a class's arena --------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Buckets of parameters, and the offsets of variables, gradients, inputs and
// results, which all functions of a rank class share.
//
//===----------------------------------------------------------------------===//

#include "dialects/Dist/IR/Servers.h"
#include "dialects/Dist/Interfaces/Layouts.h"
#include "passes/Schedule/BufferAssignment.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace partita;

namespace {

int64_t alignUp(int64_t bytes) {
  return (bytes + spmd::kAlignment - 1) / spmd::kAlignment * spmd::kAlignment;
}

Value gradientOf(Operation *update) { return update->getOperand(0); }

spmd::AllReduceOp bucketedReduce(Operation *update) {
  auto reduce = gradientOf(update).getDefiningOp<spmd::AllReduceOp>();
  return reduce && isBucketed(reduce) ? reduce : spmd::AllReduceOp();
}

/// What two updates must have in common to be one launch and one collective.
struct BucketKind {
  StringAttr update;
  DictionaryAttr parameters;
  Type element;
  ArrayAttr axes;
  Attribute reduction;
  dist::SyncAttr sync;

  bool operator==(const BucketKind &other) const {
    return update == other.update && parameters == other.parameters &&
           element == other.element && axes == other.axes &&
           reduction == other.reduction && sync == other.sync;
  }
};

BucketKind kindOf(Operation *update) {
  BucketKind kind;
  kind.update = update->getName().getIdentifier();
  kind.parameters = nn::updateParameters(update);
  kind.element = nn::tensorType(gradientOf(update)).getElementType();
  if (spmd::AllReduceOp reduce = bucketedReduce(update)) {
    kind.axes = reduce.getAxesAttr();
    kind.reduction = reduce.getReductionAttr();
    kind.sync = reduce->getAttrOfType<dist::SyncAttr>(dist::kSyncAttr);
  }
  return kind;
}

} // namespace

bool partita::isBucketed(spmd::AllReduceOp reduce) {
  return !reduce->hasAttr(kImmediateAttr) && reduce.getY().hasOneUse() &&
         reduce.getX().hasOneUse() && nn::isUpdate(*reduce.getY().user_begin());
}

bool partita::isReturnedOnly(spmd::AllReduceOp reduce) {
  return reduce.getX().hasOneUse() && !reduce.getY().use_empty() &&
         llvm::all_of(reduce.getY().getUsers(), [](Operation *user) {
           return isa<func::ReturnOp>(user);
         });
}

std::vector<int64_t> Bucket::shares(int64_t count) const {
  constexpr int64_t kLine = 16;
  int64_t lines = (count + kLine - 1) / kLine;
  int64_t owners = hasServers() ? servers : ranks;
  std::vector<int64_t> result(hasServers() ? ranks : 0, 0);
  for (int64_t i = 0; i < owners; ++i)
    result.push_back(std::min(count, lines * (i + 1) / owners * kLine) -
                     std::min(count, lines * i / owners * kLine));
  return result;
}

Type Bucket::elementType() const {
  return nn::tensorType(gradientOf(updates.front())).getElementType();
}

std::string Bucket::label(size_t number) const {
  constexpr size_t kMost = 8;
  std::string label = "bucket " + std::to_string(number) + ":";
  for (auto [i, update] : llvm::enumerate(updates)) {
    if (i == kMost && updates.size() > kMost + 1)
      return label + " and " + std::to_string(updates.size() - i) + " more";
    label += (i ? ", " : " ") + nn::updatedVariable(update).str();
  }
  return label;
}

UpdateOperands::UpdateOperands(
    const Bucket &bucket, const std::string &suffix,
    llvm::function_ref<Value(StringRef, int64_t)> view) {
  parameters = view("parameters" + suffix, bucket.parameterBegin);
  gradients = view("gradients" + suffix, bucket.gradientBegin);
  inputs = {parameters, gradients};
  outputs = {parameters};
  bool isAdam = isa<nn::AdamOp>(bucket.updates.front());
  for (auto [s, begin] : llvm::enumerate(bucket.stateBegins)) {
    StringRef what = !isAdam  ? "momentum"
                     : s == 0 ? "first moments"
                              : "second moments";
    Value state = view((what + suffix).str(), begin);
    inputs.push_back(state);
    outputs.push_back(state);
  }
}

Value partita::localGradient(Operation *update) {
  if (spmd::AllReduceOp reduce = bucketedReduce(update))
    return reduce.getX();
  return gradientOf(update);
}

ClassMemory::ClassMemory(ModuleOp module, func::FuncOp step,
                         ArrayRef<func::FuncOp> functions, ClassFacts facts,
                         const BucketSizes &bucketSizes)
    : facts(std::move(facts)) {
  if (step)
    formBuckets(step, bucketSizes);
  placeBuckets();
  placeVariables(module);
  placeInputs(functions);
  placeResults(functions);
}

int64_t ClassMemory::take(int64_t bytes) {
  int64_t offset = persistentBytes;
  persistentBytes += alignUp(bytes);
  return offset;
}

void ClassMemory::formBuckets(func::FuncOp step,
                              const BucketSizes &bucketSizes) {
  /// Below this a call of its own costs more than it saves.
  constexpr int64_t kWorthACall = 16 << 10;
  Arrivals arrivals(step, /*overlap=*/true);
  std::map<std::string, VariableUse> uses = variableUses(step, arrivals);
  SmallVector<std::pair<int64_t, Operation *>> updates;
  for (Operation &op : step.front())
    if (nn::isUpdate(&op)) {
      Operation *producer = localGradient(&op).getDefiningOp();
      updates.push_back({arrivals.readyAt(producer), &op});
    }
  // Ranks send the same buckets in the same order, whatever their class leaves
  // out.
  auto factOf = [](const std::map<std::string, int64_t> &fact, Operation *op) {
    auto it = fact.find(nn::updatedVariable(op).str());
    return it == fact.end() ? 0 : it->second;
  };
  llvm::stable_sort(updates, [&](const auto &a, const auto &b) {
    return factOf(facts.order, a.second) < factOf(facts.order, b.second);
  });
  auto largestOf = [&](Operation *update) {
    auto largest =
        facts.largestGradient.find(nn::updatedVariable(update).str());
    return largest == facts.largestGradient.end()
               ? nn::byteSize(nn::tensorType(gradientOf(update)))
               : largest->second;
  };
  // What the last gradient of a kind has to wait for is exposed: the next step
  // begins with its parameter. Small ones before it go with it.
  struct Last {
    BucketKind kind;
    Operation *first;
    int64_t bytes;
    bool isOpen;
  };
  SmallVector<Last> last;
  if (bucketSizes.separatesLast)
    for (auto [ready, update] : llvm::reverse(updates)) {
      BucketKind kind = kindOf(update);
      int64_t bytes = largestOf(update);
      auto found = llvm::find_if(
          last, [&](const Last &entry) { return entry.kind == kind; });
      if (found == last.end()) {
        last.push_back({kind, update, bytes, true});
      } else if (found->isOpen) {
        found->bytes += bytes;
        found->isOpen = found->bytes <= kWorthACall;
        if (found->isOpen)
          found->first = update;
      }
    }
  // One bucket of each kind is open at a time.
  struct Open {
    BucketKind kind;
    size_t bucket;
    /// Bytes in the largest class.
    int64_t bytes;
  };
  SmallVector<Open> open;
  for (auto [ready, update] : updates) {
    BucketKind kind = kindOf(update);
    auto found = llvm::find_if(
        open, [&](const Open &entry) { return entry.kind == kind; });
    bool isLast = llvm::any_of(
        last, [op = update](const Last &entry) { return entry.first == op; });
    if (isLast && found != open.end() && found->bytes >= kWorthACall) {
      open.erase(found);
      found = open.end();
    }
    if (found == open.end()) {
      buckets.emplace_back();
      buckets.back().communicates = static_cast<bool>(bucketedReduce(update));
      buckets.back().sync = kind.sync;
      buckets.back().axes = kind.axes;
      if (kind.axes && facts.grid)
        countOwners(buckets.back());
      open.push_back({kind, buckets.size() - 1, 0});
      found = open.end() - 1;
    }
    Bucket &bucket = buckets[found->bucket];
    bucket.updates.push_back(update);
    bucket.ready = std::max(bucket.ready, ready);
    bucket.after =
        std::max(bucket.after, factOf(facts.collectivesBefore, update));
    bucket.last = std::max(bucket.last, factOf(facts.order, update));
    bucket.updateAfter = std::max(bucket.updateAfter,
                                  factOf(facts.collectivesBeforeRead, update));
    for (StringRef name : variablesOf(update))
      if (auto use = uses.find(name.str()); use != uses.end()) {
        bucket.need = std::min(bucket.need, use->second.first);
        bucket.lastRead = std::max(bucket.lastRead, use->second.last);
      }
    int64_t bytes = nn::byteSize(nn::tensorType(gradientOf(update)));
    bucket.offsets.push_back(alignUp(bucket.bytes));
    bucket.bytes = bucket.offsets.back() + bytes;
    found->bytes = alignUp(found->bytes) + largestOf(update);
    if (found->bytes >= bucketSizes.bytes)
      open.erase(found);
  }
  // In the order in which they are sent.
  std::stable_sort(
      buckets.begin(), buckets.end(),
      [](const Bucket &a, const Bucket &b) { return a.last < b.last; });
  for (auto [i, bucket] : llvm::enumerate(buckets))
    for (Operation *update : bucket.updates)
      for (StringRef name : variablesOf(update))
        bucketOfVariable[name.str()] = i;
}

void ClassMemory::countOwners(Bucket &bucket) const {
  SmallVector<StringAttr> axes(bucket.axes.getAsRange<StringAttr>());
  dist::ServerGroups groups(facts.grid, axes, facts.servers);
  bucket.ranks = groups.numWorkers();
  // Classes have been formed by the servers of the parameter's own axes.
  bool isWhole = bucket.sync && axes.size() == bucket.sync.getAxes().size() &&
                 llvm::all_of(bucket.sync.getAxes(), [&](StringAttr axis) {
                   return llvm::is_contained(axes, axis);
                 });
  if (facts.servers > 0 && isWhole)
    bucket.servers = groups.numServers(groups.groupOf(facts.rank));
}

void ClassMemory::placeBuckets() {
  auto place = [&](std::map<std::string, Storage> &into, StringRef name,
                   spmd::Purpose purpose, Operation *update, int64_t begin,
                   int64_t offset) {
    Storage storage;
    storage.purpose = purpose;
    storage.name = name.str();
    storage.bytes = nn::byteSize(nn::tensorType(gradientOf(update)));
    storage.offset = begin + offset;
    into[name.str()] = storage;
  };
  for (Bucket &bucket : buckets) {
    bucket.parameterBegin = take(bucket.bytes);
    for (auto [update, offset] : llvm::zip(bucket.updates, bucket.offsets))
      place(variables, nn::updatedVariable(update), spmd::Purpose::variable,
            update, bucket.parameterBegin, offset);
  }
  for (Bucket &bucket : buckets) {
    bucket.gradientBegin = take(bucket.bytes);
    for (auto [update, offset] : llvm::zip(bucket.updates, bucket.offsets))
      place(gradients, nn::updatedVariable(update), spmd::Purpose::gradient,
            update, bucket.gradientBegin, offset);
  }
  for (Bucket &bucket : buckets) {
    // Servers keep the state of what they own.
    if (bucket.hasServers())
      continue;
    size_t states = nn::updatedStates(bucket.updates.front()).size();
    for (size_t s = 0; s < states; ++s) {
      bucket.stateBegins.push_back(take(bucket.bytes));
      for (auto [update, offset] : llvm::zip(bucket.updates, bucket.offsets))
        place(variables, nn::updatedStates(update)[s], spmd::Purpose::variable,
              update, bucket.stateBegins.back(), offset);
    }
  }
}

void ClassMemory::placeVariables(ModuleOp module) {
  // Optimizer state lies as its parameter does.
  llvm::StringMap<dist::LayoutAttr> layoutOfState;
  llvm::StringSet<> elsewhere;
  for (const Bucket &bucket : buckets)
    for (Operation *update : bucket.updates) {
      if (bucket.hasServers()) {
        for (StringRef state : nn::updatedStates(update))
          elsewhere.insert(state);
        continue;
      }
      auto owner =
          module.lookupSymbol<nn::VariableOp>(nn::updatedVariable(update));
      for (StringRef state : nn::updatedStates(update))
        layoutOfState[state] = layoutOfVariable(owner, owner.getTensorType());
    }
  for (auto variable : module.getOps<nn::VariableOp>()) {
    RankedTensorType type = variable.getTensorType();
    StringRef name = variable.getSymName();
    if (elsewhere.contains(name))
      continue;
    dist::LayoutAttr layout = layoutOfVariable(variable, type);
    if (auto state = layoutOfState.find(name); state != layoutOfState.end())
      layout = state->second;
    auto [it, isNew] = variables.try_emplace(name.str());
    Storage &storage = it->second;
    if (isNew) {
      storage.purpose = spmd::Purpose::variable;
      storage.name = name.str();
      storage.bytes = localBytes(facts.grid, layout, type, facts.rank);
      storage.offset = take(storage.bytes);
    }
    storage.global = type;
    storage.layout = layout;
    // A gradient without a layout of its own is whole on every rank.
    auto gradient = gradients.find(name.str());
    if (gradient != gradients.end() && !layout.isReplicated()) {
      gradient->second.global = type;
      gradient->second.layout = layout;
    }
  }
}

void ClassMemory::placeInputs(ArrayRef<func::FuncOp> functions) {
  for (func::FuncOp function : functions)
    for (unsigned i = 0; i < function.getNumArguments(); ++i) {
      auto name = function.getArgAttrOfType<StringAttr>(i, "nn.name");
      auto [it, isNew] =
          inputs.try_emplace(name ? name.str() : "arg" + std::to_string(i));
      if (!isNew)
        continue;
      Storage &storage = it->second;
      auto type = cast<RankedTensorType>(function.getArgumentTypes()[i]);
      storage.purpose = spmd::Purpose::input;
      storage.name = it->first;
      storage.bytes = nn::byteSize(type);
      storage.offset = take(storage.bytes);
      storage.isLabel = static_cast<bool>(function.getArgAttr(i, "nn.label"));
      if (auto limit = function.getArgAttrOfType<IntegerAttr>(i, "nn.limit"))
        storage.limit = limit.getInt();
      if (auto global = function.getArgAttrOfType<TypeAttr>(i, "spmd.global"))
        storage.global = global.getValue();
      storage.layout =
          function.getArgAttrOfType<dist::LayoutAttr>(i, dist::kLayoutAttr);
    }
}

void ClassMemory::placeResults(ArrayRef<func::FuncOp> functions) {
  for (func::FuncOp function : functions)
    for (unsigned i = 0; i < function.getNumResults(); ++i) {
      auto name = function.getResultAttrOfType<StringAttr>(i, "nn.name");
      Storage storage;
      auto type = cast<RankedTensorType>(function.getResultTypes()[i]);
      storage.purpose = spmd::Purpose::result;
      storage.name = name ? name.str() : "result" + std::to_string(i);
      storage.bytes = nn::byteSize(type);
      storage.offset = take(storage.bytes);
      if (auto global =
              function.getResultAttrOfType<TypeAttr>(i, "spmd.global"))
        storage.global = global.getValue();
      storage.layout =
          function.getResultAttrOfType<dist::LayoutAttr>(i, dist::kLayoutAttr);
      results[(function.getName() + "/" + storage.name).str()] = storage;
    }
}

namespace {

Storage lookup(const std::map<std::string, Storage> &map, StringRef name) {
  auto it = map.find(name.str());
  return it == map.end() ? Storage() : it->second;
}

} // namespace

RankedTensorType ClassMemory::localType(dist::LayoutAttr layout,
                                        RankedTensorType type) const {
  return facts.grid && layout
             ? dist::localType(facts.grid, layout, type, facts.rank)
             : type;
}

const Bucket *ClassMemory::bucketOf(StringRef variable) const {
  auto it = bucketOfVariable.find(variable.str());
  return it == bucketOfVariable.end() ? nullptr : &buckets[it->second];
}

Storage ClassMemory::variable(StringRef name) const {
  return lookup(variables, name);
}
Storage ClassMemory::gradient(StringRef name) const {
  return lookup(gradients, name);
}
Storage ClassMemory::input(StringRef name) const {
  return lookup(inputs, name);
}
Storage ClassMemory::result(StringRef function, StringRef name) const {
  return lookup(results, (function + "/" + name).str());
}
