//===- ScheduleProgram.cpp - Launches, streams, events and buckets --------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Replaces every class function by its scheduled form: what all classes must
// agree on is decided here, memory by ClassMemory and FunctionMemory, order and
// streams by FunctionSchedule.
//
//===----------------------------------------------------------------------===//

#include "dialects/Dist/IR/Servers.h"
#include "passes/Schedule/FunctionSchedule.h"
#include "passes/Schedule/Passes.h"
#include "passes/Schedule/ServerSchedule.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace partita;

namespace partita {
#define GEN_PASS_DEF_SCHEDULEPROGRAM
#include "passes/Schedule/Passes.h.inc"
} // namespace partita

namespace {

struct ScheduleProgramPass
    : partita::impl::ScheduleProgramBase<ScheduleProgramPass> {
  using ScheduleProgramBase::ScheduleProgramBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(nn::verifyFunctions(module)))
      return signalPassFailure();
    promoteTables(module);
    std::vector<Scheduled> classes;
    StagingTables tables;
    for (auto classOp : module.getOps<spmd::ClassOp>()) {
      Scheduled entry = collect(module, classOp);
      FailureOr<StagingSizes> staging =
          checkParts(classOp, entry.functions, tables);
      if (failed(staging))
        return signalPassFailure();
      entry.facts.staging = std::move(*staging);
      if (overlap)
        for (func::FuncOp function : entry.functions) {
          if (!overlapHalos)
            completeAtOnce(function);
          orderForOverlap(function, link(), slowness);
        }
      classes.push_back(std::move(entry));
    }
    markEverywhere(classes, kImmediateAttr, [](func::FuncOp function) {
      SmallVector<bool> marks;
      for (auto reduce : function.getOps<spmd::AllReduceOp>())
        marks.push_back(!isBucketed(reduce));
      return marks;
    });
    llvm::StringSet<> lasting = shareFacts(classes);
    if (classes.size() > 1)
      separateCollectives(module, classes);
    shareTasks(module, classes);
    addServers(module, classes);
    for (Scheduled &entry : classes)
      scheduleClass(module, entry, lasting, &entry == &classes.front());
  }

private:
  Link link() const { return {linkBytesPerSecond, linkLatency}; }

  /// All moves but those of factors, whose product comes last, are waited for
  /// where they stand.
  static void completeAtOnce(func::FuncOp function) {
    for (Operation &op : function.front())
      if (spmd::isMove(&op) &&
          !llvm::all_of(op.getUsers(), [](Operation *user) {
            return user->hasAttr(dist::kFactorsAttr);
          }))
        op.setAttr(kAtOnceAttr, UnitAttr::get(function.getContext()));
  }

  /// Literal tables become variables, so that they have a place in the arena.
  static void promoteTables(ModuleOp module) {
    llvm::MapVector<Attribute, FlatSymbolRefAttr> tables;
    module.walk([&](nn::ConstantOp constant) {
      FlatSymbolRefAttr &symbol = tables[constant.getValueAttr()];
      OpBuilder builder(module.getBodyRegion());
      if (!symbol) {
        std::string name = "constant." + std::to_string(tables.size() - 1);
        while (module.lookupSymbol(name))
          name += "_";
        builder.create<nn::VariableOp>(
            constant.getLoc(), name, nn::Role::constant,
            constant.getY().getType(), constant.getValueAttr());
        symbol = FlatSymbolRefAttr::get(builder.getContext(), name);
      }
      builder.setInsertionPoint(constant);
      Value read = builder.create<nn::ReadOp>(
          constant.getLoc(), constant.getY().getType(), symbol);
      constant.getY().replaceAllUsesWith(read);
      constant.erase();
    });
  }

  /// A class on its way.
  struct Scheduled {
    spmd::ClassOp classOp;
    SmallVector<func::FuncOp> functions;
    func::FuncOp step;
    ClassFacts facts;
  };

  static Scheduled collect(ModuleOp module, spmd::ClassOp classOp) {
    Scheduled entry;
    entry.classOp = classOp;
    entry.facts.grid = module->getAttrOfType<dist::GridAttr>(dist::kGridAttr);
    entry.facts.servers = dist::serversOf(module);
    if (!classOp.getRanks().empty())
      entry.facts.rank = classOp.getRanks().front();
    for (auto function : module.getOps<func::FuncOp>()) {
      auto symbol =
          function->getAttrOfType<FlatSymbolRefAttr>(spmd::kClassAttr);
      if (!symbol || symbol.getValue() != classOp.getSymName())
        continue;
      entry.functions.push_back(function);
      auto phase = function->getAttrOfType<StringAttr>(spmd::kPhaseAttr);
      if (phase && phase.getValue() == "step")
        entry.step = function;
    }
    return entry;
  }

  /// What all classes have to agree on. Returns the names of the inputs and
  /// variables that some class uses.
  static llvm::StringSet<> shareFacts(std::vector<Scheduled> &classes) {
    std::map<std::string, int64_t> largest;
    llvm::StringSet<> lasting;
    for (Scheduled &entry : classes)
      for (func::FuncOp function : entry.functions) {
        for (Operation &op : function.front()) {
          if (auto read = dyn_cast<nn::ReadOp>(op))
            if (!read.getValue().use_empty())
              lasting.insert(read.getVariable());
          if (!nn::isUpdate(&op) || function != entry.step)
            continue;
          int64_t &bytes = largest[nn::updatedVariable(&op).str()];
          bytes =
              std::max(bytes, nn::byteSize(nn::tensorType(op.getOperand(0))));
        }
        for (auto [i, argument] : llvm::enumerate(function.getArguments()))
          if (auto name = function.getArgAttrOfType<StringAttr>(i, "nn.name");
              name && !argument.use_empty())
            lasting.insert(name.getValue());
      }
    std::map<std::string, int64_t> order, before, beforeRead;
    for (Scheduled &entry : classes)
      if (entry.step) {
        noteGradients(entry.step, order, before);
        noteReads(entry.step, beforeRead);
      }
    for (Scheduled &entry : classes) {
      entry.facts.largestGradient = largest;
      entry.facts.order = order;
      entry.facts.collectivesBefore = before;
      entry.facts.collectivesBeforeRead = beforeRead;
    }
    return lasting;
  }

  /// How many collectives are issued up to each operation, itself included.
  static SmallVector<int64_t> countCollectives(func::FuncOp step) {
    SmallVector<int64_t> counts;
    int64_t count = 0;
    for (Operation &op : step.front())
      counts.push_back(count += isIssuedAlone(&op));
    return counts;
  }

  /// The number of collectives up to the last use of each parameter and its
  /// state, in the class where these are most.
  static void noteReads(func::FuncOp step,
                        std::map<std::string, int64_t> &before) {
    Arrivals arrivals(step, /*overlap=*/true);
    SmallVector<int64_t> collectives = countCollectives(step);
    std::map<std::string, VariableUse> uses = variableUses(step, arrivals);
    for (Operation &op : step.front()) {
      if (!nn::isUpdate(&op))
        continue;
      int64_t &most = before[nn::updatedVariable(&op).str()];
      for (StringRef name : variablesOf(&op))
        if (auto it = uses.find(name.str()); it != uses.end())
          most = std::max(most, collectives[it->second.last]);
    }
  }

  /// The order of the buckets' tasks, which ranks of all classes follow.
  void shareTasks(ModuleOp module, std::vector<Scheduled> &classes) {
    if (classes.empty() || !classes.front().step)
      return;
    Scheduled &first = classes.front();
    ClassMemory memory(module, first.step, first.functions, first.facts,
                       bucketSizesOf(first));
    std::vector<TaskFacts> facts;
    for (const Bucket &bucket : memory.getBuckets()) {
      TaskFacts fact;
      fact.ready = bucket.ready;
      fact.lastRead = bucket.lastRead;
      fact.need = bucket.need;
      // Each rank sends all but its own part; an all_reduce sends twice that.
      int64_t share = bucket.hasServers()
                          ? bucket.bytes
                          : bucket.bytes / bucket.ranks * (bucket.ranks - 1);
      if (bucket.communicates)
        fact.gradientBytes =
            std::max<int64_t>(1, bucket.isServed() ? share : 2 * share);
      if (bucket.isServed())
        fact.parameterBytes = share;
      facts.push_back(fact);
    }
    std::vector<BucketTask> tasks =
        orderTasks(first.step, facts, link(), priorities, slowness);
    for (Scheduled &entry : classes)
      entry.facts.tasks = tasks;
  }

  /// The classes of servers: what the buckets leave to them.
  void addServers(ModuleOp module, const std::vector<Scheduled> &classes) {
    if (dist::serversOf(module) == 0 || classes.empty())
      return;
    std::vector<ClassMemory> memories;
    memories.reserve(classes.size());
    std::vector<Workers> workers;
    for (const Scheduled &entry : classes) {
      memories.emplace_back(module, entry.step, entry.functions, entry.facts,
                            bucketSizesOf(entry));
      workers.push_back({entry.classOp, &memories.back()});
    }
    scheduleServers(module, workers, overlap, overlapSteps);
  }

  /// When gradients are ready: their order in the first class asked, and the
  /// number of collectives before them.
  static void noteGradients(func::FuncOp step,
                            std::map<std::string, int64_t> &order,
                            std::map<std::string, int64_t> &before) {
    Arrivals arrivals(step, /*overlap=*/true);
    SmallVector<int64_t> collectives = countCollectives(step);
    SmallVector<std::pair<int64_t, Operation *>> ready;
    for (Operation &op : step.front()) {
      if (!nn::isUpdate(&op))
        continue;
      int64_t at = arrivals.readyAt(localGradient(&op).getDefiningOp());
      ready.push_back({at, &op});
      int64_t &most = before[nn::updatedVariable(&op).str()];
      if (at >= 0)
        most = std::max(most, collectives[at]);
    }
    llvm::stable_sort(
        ready, [](const auto &a, const auto &b) { return a.first < b.first; });
    if (order.empty())
      for (auto [i, entry] : llvm::enumerate(ready))
        order[nn::updatedVariable(entry.second).str()] = i;
  }

  /// Sets `name` on every all_reduce that `marksOf` marks in some class, in all
  /// classes: ranks must treat it alike. `marksOf(function)` gives one mark per
  /// all_reduce of a function, in order.
  template <typename MarksOf>
  static void markEverywhere(std::vector<Scheduled> &classes, StringRef name,
                             MarksOf marksOf) {
    llvm::StringMap<SmallVector<bool>> marked;
    auto ofPhase = [&](func::FuncOp function) -> SmallVector<bool> & {
      auto phase = function->getAttrOfType<StringAttr>(spmd::kPhaseAttr);
      return marked[phase ? phase.getValue() : ""];
    };
    for (Scheduled &entry : classes)
      for (func::FuncOp function : entry.functions) {
        SmallVector<bool> &all = ofPhase(function);
        for (auto [i, mark] : llvm::enumerate(marksOf(function))) {
          if (i == all.size())
            all.push_back(false);
          all[i] = all[i] || mark;
        }
      }
    for (Scheduled &entry : classes)
      for (func::FuncOp function : entry.functions)
        for (auto [reduce, mark] :
             llvm::zip(function.getOps<spmd::AllReduceOp>(), ofPhase(function)))
          if (mark)
            reduce->setAttr(name, UnitAttr::get(function.getContext()));
  }

  /// Collectives that one class cannot issue in one call are issued one by one
  /// in all.
  void separateCollectives(ModuleOp module, std::vector<Scheduled> &classes) {
    llvm::DenseMap<Operation *, ClassMemory *> memoryOf;
    std::vector<std::unique_ptr<ClassMemory>> memories;
    for (Scheduled &entry : classes) {
      memories.push_back(
          std::make_unique<ClassMemory>(module, entry.step, entry.functions,
                                        entry.facts, bucketSizesOf(entry)));
      for (func::FuncOp function : entry.functions)
        memoryOf[function] = memories.back().get();
    }
    markEverywhere(classes, kAloneAttr, [&](func::FuncOp function) {
      FunctionMemory layout(function, *memoryOf.lookup(function), overlap);
      llvm::DenseSet<Operation *> follows;
      for (const auto &[first, members] : layout.getJoint())
        follows.insert(members.begin() + 1, members.end());
      SmallVector<bool> marks;
      for (auto reduce : function.getOps<spmd::AllReduceOp>())
        marks.push_back(!follows.contains(reduce));
      return marks;
    });
  }

  /// The size from which a bucket is closed. Unless it was given: an eighth of
  /// all gradients, so that the first leave while the backward pass runs,
  /// within bounds where a call is neither all latency nor blocks the link for
  /// long.
  BucketSizes bucketSizesOf(const Scheduled &entry) const {
    if (bucketBytes > 0)
      return {bucketBytes, false};
    constexpr int64_t kParts = 8, kLeast = 64 << 10, kMost = 4 << 20;
    int64_t all = 0;
    for (const auto &[name, bytes] : entry.facts.largestGradient)
      all += bytes;
    return {std::clamp(all / kParts, kLeast, kMost), overlap};
  }

  void scheduleClass(ModuleOp module, Scheduled &entry,
                     const llvm::StringSet<> &lasting, bool isFirst) {
    BucketSizes limit = bucketSizesOf(entry);
    ClassMemory memory(module, entry.step, entry.functions,
                       std::move(entry.facts), limit);
    int64_t total = memory.getPersistentBytes();
    for (func::FuncOp function : entry.functions) {
      int64_t bytes =
          scheduleFunction(function, memory, lasting, overlap, overlapSteps);
      total = std::max(total, bytes);
    }
    for (func::FuncOp function : entry.functions)
      function.erase();
    OpBuilder builder(module.getContext());
    entry.classOp.setArenaBytesAttr(builder.getI64IntegerAttr(total));
    entry.classOp.setPersistentBytesAttr(
        builder.getI64IntegerAttr(memory.getPersistentBytes()));
    if (isFirst) {
      numBuckets = memory.getBuckets().size();
      arenaBytes = total;
    }
  }
};

} // namespace
