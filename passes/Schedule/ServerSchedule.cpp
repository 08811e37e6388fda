//===- ServerSchedule.cpp - What servers do in a step ---------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Servers whose groups have buckets of the same sizes are one class.
//
//===----------------------------------------------------------------------===//

#include "passes/Schedule/ServerSchedule.h"
#include "dialects/Dist/IR/Servers.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace partita;

namespace {

using spmd::Purpose, spmd::Stream;

/// A bucket of one of the groups that a server serves.
struct ServedBucket {
  size_t number = 0;
  /// Which of the server's groups; the server has several.
  int64_t group = 0;
  bool isOneOfSeveral = false;
  /// As in the class of the group's workers, but at places in the server's
  /// arena.
  Bucket bucket;
  const ClassMemory *workers = nullptr;
};

/// The order of the calls that workers issue for their buckets.
std::vector<BucketTask> issueOrder(const ClassMemory &memory, bool overlap,
                                   bool overlapSteps) {
  std::vector<BucketTask> tasks;
  if (!overlap) {
    for (size_t number = 0; number < memory.getBuckets().size(); ++number)
      if (memory.getBuckets()[number].communicates) {
        tasks.push_back({number, /*sends=*/true});
        tasks.push_back({number, /*sends=*/false});
      }
    return tasks;
  }
  llvm::append_range(tasks, memory.getTasks());
  if (!overlapSteps)
    std::stable_partition(tasks.begin(), tasks.end(),
                          [](const BucketTask &task) { return task.sends; });
  return tasks;
}

/// Writes the class of some servers and its step.
class ServerProgram {
public:
  ServerProgram(ModuleOp module, StringRef name, ArrayRef<int64_t> ranks,
                std::vector<ServedBucket> served, ArrayRef<BucketTask> tasks)
      : module(module), name(name), ranks(ranks), served(std::move(served)),
        tasks(tasks), builder(module.getContext()) {}

  /// `classes` is where the class goes, functions go to the module's end.
  void build(OpBuilder &classes) {
    place();
    auto classOp = classes.create<spmd::ClassOp>(
        module.getLoc(), builder.getStringAttr(name),
        builder.getDenseI64ArrayAttr(ranks), builder.getI64IntegerAttr(bytes),
        builder.getI64IntegerAttr(bytes));
    classOp->setAttr(spmd::kServersAttr, builder.getUnitAttr());
    builder.setInsertionPointToEnd(module.getBody());
    auto step =
        builder.create<func::FuncOp>(module.getLoc(), ("step_" + name).str(),
                                     builder.getFunctionType({}, {}));
    step->setAttr(spmd::kClassAttr,
                  FlatSymbolRefAttr::get(builder.getContext(), name));
    step->setAttr(spmd::kPhaseAttr, builder.getStringAttr("step"));
    builder.setInsertionPointToEnd(step.addEntryBlock());
    // Declarations stand before everything else.
    declarations = builder.create<func::ReturnOp>(module.getLoc());
    auto end = builder.create<func::ReturnOp>(module.getLoc());
    builder.setInsertionPoint(end);
    for (const BucketTask &task : tasks)
      for (const ServedBucket &each : served)
        if (each.number == task.bucket)
          run(each, task.sends);
    declarations->erase();
  }

private:
  int64_t take(int64_t size) {
    int64_t begin = bytes;
    bytes +=
        (size + spmd::kAlignment - 1) / spmd::kAlignment * spmd::kAlignment;
    return begin;
  }

  void place() {
    for (ServedBucket &each : served)
      each.bucket.parameterBegin = take(each.bucket.bytes);
    for (ServedBucket &each : served)
      each.bucket.gradientBegin = take(each.bucket.bytes);
    for (ServedBucket &each : served) {
      each.bucket.stateBegins.clear();
      for (size_t s = 0;
           s < nn::updatedStates(each.bucket.updates.front()).size(); ++s)
        each.bucket.stateBegins.push_back(take(each.bucket.bytes));
    }
  }

  Value declareFlat(StringRef name, int64_t begin, MemRefType type,
                    const ServedBucket &each) {
    Value &buffer = flat[begin];
    if (!buffer)
      buffer = declare(Purpose::bucket, name, begin, type, each);
    return buffer;
  }

  spmd::BufferOp declare(Purpose purpose, StringRef name, int64_t begin,
                         MemRefType type, const ServedBucket &each,
                         Type global = Type(),
                         dist::LayoutAttr layout = dist::LayoutAttr()) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(declarations);
    auto buffer = builder.create<spmd::BufferOp>(
        module.getLoc(), type,
        spmd::PurposeAttr::get(builder.getContext(), purpose),
        builder.getStringAttr(name), builder.getI64IntegerAttr(begin),
        global ? TypeAttr::get(global) : TypeAttr(), layout);
    if (each.group > 0)
      buffer->setAttr(spmd::kGroupAttr, builder.getI64IntegerAttr(each.group));
    // The runtime fills variables by the groups over these axes.
    if (purpose == Purpose::variable)
      buffer->setAttr(spmd::kAxesAttr, each.bucket.axes);
    return buffer;
  }

  void run(const ServedBucket &each, bool sends) {
    const Bucket &bucket = each.bucket;
    std::string suffix = " of bucket " + std::to_string(each.number);
    if (each.isOneOfSeveral)
      suffix += " for group " + std::to_string(each.group);
    int64_t width = (bucket.elementType().getIntOrFloatBitWidth() + 7) / 8;
    auto type = MemRefType::get({bucket.bytes / width}, bucket.elementType());
    UpdateOperands operands(bucket, suffix, [&](StringRef name, int64_t begin) {
      return declareFlat(name, begin, type, each);
    });
    Location loc =
        NameLoc::get(builder.getStringAttr(bucket.label(each.number)));
    if (sends) {
      auto reduce = bucket.updates.front()
                        ->getOperand(0)
                        .getDefiningOp<spmd::AllReduceOp>();
      communicate(reduce.getLoc(), "reduce_scatter", reduce.getReduction(),
                  operands.gradients, "push ", each);
      return declareParts(each);
    }
    if (type.getNumElements() > 0) {
      Operation *update = bucket.updates.front();
      DictionaryAttr params = nn::updateParameters(update);
      auto launch = builder.create<spmd::LaunchOp>(
          loc, builder.getStringAttr(update->getName().getStringRef()),
          spmd::StreamAttr::get(builder.getContext(), Stream::comm),
          operands.inputs, operands.outputs,
          params && !params.empty() ? params : DictionaryAttr());
      launch->setAttr("section", builder.getStringAttr("update"));
      launch->setAttr(spmd::kAxesAttr, bucket.axes);
      divide(launch, each, operands.parameters);
    }
    communicate(loc, "all_gather", spmd::Reduction::sum, operands.parameters,
                "fetch ", each);
  }

  void communicate(Location loc, StringRef kind, spmd::Reduction reduction,
                   Value buffer, const std::string &what,
                   const ServedBucket &each) {
    auto call = builder.create<spmd::CommunicateOp>(
        loc, builder.getStringAttr(kind),
        spmd::ReductionAttr::get(builder.getContext(), reduction), buffer,
        spmd::StreamAttr::get(builder.getContext(), Stream::comm),
        each.bucket.axes,
        builder.getStringAttr(what + each.bucket.label(each.number)),
        DictionaryAttr());
    divide(call, each, buffer);
  }

  void divide(Operation *op, const ServedBucket &each, Value buffer) {
    int64_t elements = cast<MemRefType>(buffer.getType()).getNumElements();
    op->setAttr(spmd::kPartsAttr,
                builder.getDenseI64ArrayAttr(each.bucket.shares(elements)));
    op->setAttr(spmd::kServersAttr,
                builder.getI64IntegerAttr(each.bucket.servers));
    if (each.group > 0)
      op->setAttr(spmd::kGroupAttr, builder.getI64IntegerAttr(each.group));
  }

  /// Parameters, gradients and states have names of their own, for readers and
  /// for the runtime, which fills them.
  void declareParts(const ServedBucket &each) {
    const Bucket &bucket = each.bucket;
    for (auto [update, offset] : llvm::zip(bucket.updates, bucket.offsets)) {
      auto part = nn::tensorType(update->getOperand(0));
      auto type = MemRefType::get(part.getShape(), part.getElementType());
      StringRef parameter = nn::updatedVariable(update);
      Storage storage = each.workers->variable(parameter);
      auto layout = cast<dist::LayoutAttr>(storage.layout);
      declare(Purpose::variable, parameter, bucket.parameterBegin + offset,
              type, each, storage.global, layout);
      declare(Purpose::gradient, parameter, bucket.gradientBegin + offset, type,
              each);
      for (auto [state, begin] :
           llvm::zip(nn::updatedStates(update), bucket.stateBegins))
        declare(Purpose::variable, state, begin + offset, type, each,
                storage.global, layout);
    }
  }

  ModuleOp module;
  StringRef name;
  ArrayRef<int64_t> ranks;
  std::vector<ServedBucket> served;
  ArrayRef<BucketTask> tasks;
  OpBuilder builder;
  Operation *declarations = nullptr;
  /// Flat buffers by place.
  std::map<int64_t, Value> flat;
  int64_t bytes = 0;
};

/// What a server does, by bucket and by the place of the group among its own.
std::vector<ServedBucket> servedBy(dist::GridAttr grid,
                                   ArrayRef<Workers> workers,
                                   ArrayRef<const ClassMemory *> classOfRank,
                                   int64_t server, int64_t servers) {
  std::vector<ServedBucket> result;
  for (auto [number, bucket] :
       llvm::enumerate(workers.front().memory->getBuckets())) {
    if (!bucket.hasServers())
      continue;
    dist::ServerGroups groups(
        grid, llvm::to_vector(bucket.axes.getAsRange<StringAttr>()), servers);
    int64_t places = groups.numServed(server);
    for (int64_t place = 0; place < places; ++place) {
      ServedBucket each;
      each.number = number;
      each.group = place;
      each.isOneOfSeveral = places > 1;
      each.workers =
          classOfRank[groups.leaderOf(groups.servedGroup(server, place))];
      each.bucket = each.workers->getBuckets()[number];
      result.push_back(std::move(each));
    }
  }
  return result;
}

/// Equal texts: one program.
std::string signatureOf(ArrayRef<ServedBucket> served) {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (const ServedBucket &each : served) {
    os << each.number << ' ' << each.group << ' ' << each.bucket.servers << ' '
       << each.bucket.bytes << ':';
    for (Operation *update : each.bucket.updates)
      os << update->getOperand(0).getType() << ' ';
  }
  return text;
}

} // namespace

void partita::scheduleServers(ModuleOp module, ArrayRef<Workers> workers,
                              bool overlap, bool overlapSteps) {
  auto grid = module->getAttrOfType<dist::GridAttr>(dist::kGridAttr);
  int64_t servers = dist::serversOf(module);
  SmallVector<const ClassMemory *> classOfRank(grid.getNumRanks());
  for (const Workers &each : workers) {
    spmd::ClassOp classOp = each.classOp;
    for (int64_t rank : classOp.getRanks())
      classOfRank[rank] = each.memory;
  }
  struct ServerClass {
    SmallVector<int64_t> ranks;
    std::vector<ServedBucket> served;
  };
  llvm::MapVector<StringRef, ServerClass, llvm::StringMap<unsigned>> classes;
  std::vector<std::string> signatures;
  signatures.reserve(servers);
  for (int64_t server = 0; server < servers; ++server) {
    std::vector<ServedBucket> served =
        servedBy(grid, workers, classOfRank, server, servers);
    signatures.push_back(signatureOf(served));
    ServerClass &entry = classes[signatures.back()];
    entry.ranks.push_back(grid.getNumRanks() + server);
    entry.served = std::move(served);
  }
  std::vector<BucketTask> tasks =
      issueOrder(*workers.front().memory, overlap, overlapSteps);
  OpBuilder builder(module.getContext());
  builder.setInsertionPointAfter(workers.back().classOp);
  for (auto [i, entry] : llvm::enumerate(classes)) {
    std::string name = "s" + std::to_string(i);
    ServerProgram(module, name, entry.second.ranks,
                  std::move(entry.second.served), tasks)
        .build(builder);
  }
}
