//===- FunctionSchedule.cpp - The scheduled form of one function ----------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Order and streams of one class function's launches and communications.
//
//===----------------------------------------------------------------------===//

#include "passes/Schedule/FunctionSchedule.h"
#include "mlir/IR/IRMapping.h"
#include <set>

using namespace mlir;
using namespace partita;
using spmd::Stream;

bool partita::isIssuedAlone(Operation *op) {
  auto reduce = dyn_cast<spmd::AllReduceOp>(op);
  return reduce ? !isBucketed(reduce) : spmd::isCollective(op);
}

namespace {

/// Writes the scheduled form of one function.
class FunctionSchedule {
public:
  FunctionSchedule(func::FuncOp function, const ClassMemory &classMemory,
                   const llvm::StringSet<> &lasting, bool overlap,
                   bool overlapSteps)
      : function(function), classMemory(classMemory), lasting(lasting),
        memory(function, classMemory, overlap), overlap(overlap),
        overlapSteps(overlap && overlapSteps && isStep()),
        builder(function.getContext()) {}

  func::FuncOp build() {
    OpBuilder outer(function);
    auto scheduled = outer.create<func::FuncOp>(
        function.getLoc(), function.getName(), outer.getFunctionType({}, {}));
    for (StringRef name : {spmd::kClassAttr, spmd::kPhaseAttr})
      if (Attribute value = function->getAttr(name))
        scheduled->setAttr(name, value);
    Block *body = scheduled.addEntryBlock();
    builder.setInsertionPointToEnd(body);
    // Declarations stand before everything else.
    declarations = builder.create<func::ReturnOp>(function.getLoc());
    auto end = builder.create<func::ReturnOp>(function.getLoc());
    builder.setInsertionPoint(end);

    if (this->overlapSteps)
      for (const Bucket &bucket : classMemory.getBuckets())
        if (bucket.communicates)
          arrived[&bucket] = nextEvent++;
    findLoss();
    emitCopies(-1);
    for (Operation &op : function.front().without_terminator()) {
      int64_t i = memory.indexOf(&op);
      section = sectionOf(i);
      completeFor(&op);
      emitOp(&op);
      issued += isIssuedAlone(&op);
      bool isLast = op.getNextNode() == function.front().getTerminator();
      if (isLast)
        finishStep();
      emitCopies(i);
      if (overlap && !isLast)
        runTasks(i);
    }
    if (function.front().without_terminator().empty())
      finishStep();
    issuing = false;
    declareLasting();
    declarations->erase();
    return scheduled;
  }

  int64_t getArenaBytes() const { return memory.getArenaBytes(); }

private:
  bool isStep() const {
    auto phase = function->getAttrOfType<StringAttr>(spmd::kPhaseAttr);
    return phase && phase.getValue() == "step";
  }

  //===--------------------------------------------------------------------===//
  // Buffers
  //===--------------------------------------------------------------------===//

  Value declare(spmd::Purpose purpose, StringRef name, int64_t offset,
                MemRefType type, const Storage *storage) {
    std::string key;
    llvm::raw_string_ostream(key) << offset << ' ' << type << ' ' << name;
    auto it = declared.find(key);
    if (it != declared.end())
      return it->second;
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(declarations);
    TypeAttr global;
    Attribute layout;
    if (storage && storage->global) {
      global = TypeAttr::get(storage->global);
      layout = storage->layout;
    }
    auto buffer = builder.create<spmd::BufferOp>(
        function.getLoc(), type,
        spmd::PurposeAttr::get(builder.getContext(), purpose),
        builder.getStringAttr(name), builder.getI64IntegerAttr(offset), global,
        layout);
    if (storage && storage->isLabel)
      buffer->setAttr("label", builder.getUnitAttr());
    if (storage && storage->limit > 0)
      buffer->setAttr("limit", builder.getI64IntegerAttr(storage->limit));
    declared[key] = buffer;
    declaredNames.insert({purpose, name.str()});
    return buffer;
  }

  Value bufferOf(Value value, int id) {
    const Storage &storage = memory.get(id);
    if (storage.purpose == spmd::Purpose::variable ||
        storage.purpose == spmd::Purpose::gradient)
      awaitBucket(classMemory.bucketOf(storage.name));
    auto type = nn::tensorType(value);
    return declare(storage.purpose, storage.name, memory.offsetOf(id),
                   MemRefType::get(type.getShape(), type.getElementType()),
                   &storage);
  }
  Value bufferOf(Value value) {
    return bufferOf(value, memory.storageOf(value));
  }

  Value flatBuffer(spmd::Purpose purpose, StringRef name, int64_t offset,
                   int64_t bytes, Type element) {
    int64_t width = (element.getIntOrFloatBitWidth() + 7) / 8;
    return declare(purpose, name, offset,
                   MemRefType::get({bytes / width}, element), nullptr);
  }

  /// A class without elements to compute does not use all inputs and variables
  /// that others use, but the runtime asks every class where they lie.
  void declareLasting() {
    auto declareOnce = [&](Value value) {
      const Storage &storage = memory.get(memory.storageOf(value));
      if (lasting.contains(storage.name) &&
          declaredNames.count({storage.purpose, storage.name}) == 0)
        bufferOf(value);
    };
    for (BlockArgument argument : function.getArguments())
      declareOnce(argument);
    for (auto read : function.getOps<nn::ReadOp>())
      declareOnce(read.getValue());
    // Whose reads have gone with what they were for.
    auto module = function->getParentOfType<ModuleOp>();
    if (!isStep())
      return;
    for (auto variable : module.getOps<nn::VariableOp>()) {
      Storage storage = classMemory.variable(variable.getSymName());
      if (!lasting.contains(variable.getSymName()) ||
          declaredNames.count({storage.purpose, storage.name}) != 0)
        continue;
      RankedTensorType type =
          classMemory.localType(storage.layout, variable.getTensorType());
      declare(storage.purpose, storage.name, storage.offset,
              MemRefType::get(type.getShape(), type.getElementType()),
              &storage);
    }
  }

  //===--------------------------------------------------------------------===//
  // Operations
  //===--------------------------------------------------------------------===//

  /// Null where there is nothing to compute: all outputs are empty. The end of
  /// a move stays, for it also ends the use of the staging buffer.
  spmd::LaunchOp launch(Location loc, StringRef kernel, ValueRange inputs,
                        ValueRange outputs, DictionaryAttr params) {
    auto isEmpty = [](Value value) {
      return cast<MemRefType>(value.getType()).getNumElements() == 0;
    };
    bool endsMove = kernel == "spmd.unpack" && !isEmpty(inputs[1]);
    if (llvm::all_of(outputs, isEmpty) && !endsMove)
      return spmd::LaunchOp();
    auto op = builder.create<spmd::LaunchOp>(
        loc, builder.getStringAttr(kernel),
        spmd::StreamAttr::get(builder.getContext(), Stream::compute), inputs,
        outputs, params && !params.empty() ? params : DictionaryAttr());
    op->setAttr("section", builder.getStringAttr(section));
    return op;
  }

  void emitOp(Operation *op) {
    if (isa<nn::ReadOp, nn::ReshapeOp, nn::AssignOp>(op) || nn::isUpdate(op))
      return;
    if (auto reduce = dyn_cast<spmd::AllReduceOp>(op)) {
      emitAllReduce(reduce);
      return;
    }
    if (std::optional<MoveView> move = asMove(op))
      emitMove(*move);
    else
      emitLaunch(op);
  }

  void emitLaunch(Operation *op) {
    SmallVector<Value> inputs, outputs;
    for (Value operand : op->getOperands())
      inputs.push_back(bufferOf(operand));
    for (Value result : op->getResults())
      outputs.push_back(bufferOf(result));
    NamedAttrList params(op->getAttrDictionary());
    Attribute split = params.erase(spmd::kSplitAttr);
    params.erase(spmd::kWholeAttr);
    params.erase(spmd::kStandsForAttr);
    auto launched = launch(op->getLoc(), op->getName().getStringRef(), inputs,
                           outputs, params.getDictionary(op->getContext()));
    if (!launched)
      return;
    if (split)
      launched->setAttr(dist::kSplitAttr, split);
    if (auto fused = dyn_cast<nn::FusedOp>(op))
      copyBody(fused, launched);
  }

  bool isLossOp(Operation *op) const {
    return locationName(op->getLoc()) == "loss";
  }

  /// Where the loss begins and ends: what computes it without interruption up
  /// to the value that is returned. Single operations of it may stand before,
  /// where they fill the time that something travels.
  void findLoss() {
    if (!isStep())
      return;
    for (Value value : function.front().getTerminator()->getOperands()) {
      Operation *producer = value.getDefiningOp();
      while (producer && isa<nn::ReshapeOp, spmd::AllReduceOp>(producer))
        producer = producer->getOperand(0).getDefiningOp();
      if (producer && isLossOp(producer))
        lossEnd = std::max(lossEnd, memory.indexOf(producer));
    }
    lossBegin = lossEnd;
    for (Operation &op : llvm::reverse(function.front())) {
      int64_t i = memory.indexOf(&op);
      if (i >= lossEnd || isa<nn::ReadOp, nn::ReshapeOp>(op))
        continue;
      if (!isLossOp(&op))
        break;
      lossBegin = i;
    }
  }

  StringRef sectionOf(int64_t i) const {
    if (lossEnd < 0 || i < lossBegin)
      return "forward";
    return i <= lossEnd ? "loss" : "backward";
  }

  void copyBody(nn::FusedOp from, spmd::LaunchOp to) {
    IRMapping mapping;
    from.getBody().cloneInto(&to.getBody(), mapping);
    Operation *yield = to.getBody().front().getTerminator();
    OpBuilder inner(yield);
    inner.create<spmd::YieldOp>(yield->getLoc(), yield->getOperands());
    yield->erase();
  }

  void emitCopies(int64_t after) {
    for (const FunctionMemory::CopyStep &copy : memory.getCopies())
      if (copy.after == after) {
        completeValue(copy.from);
        launch(copy.from.getLoc(), "copy", bufferOf(copy.from),
               bufferOf(copy.from, copy.to), DictionaryAttr());
      }
  }

  //===--------------------------------------------------------------------===//
  // Communication
  //===--------------------------------------------------------------------===//

  void record(int64_t event, Stream stream) {
    builder.create<spmd::RecordOp>(function.getLoc(), event, stream);
  }
  void wait(int64_t event, Stream stream) {
    builder.create<spmd::WaitOp>(function.getLoc(), event, stream);
  }

  /// Lets the comm stream start what follows once the compute stream has come
  /// this far.
  void release() {
    int64_t ready = nextEvent++;
    record(ready, Stream::compute);
    wait(ready, Stream::comm);
  }

  spmd::CommunicateOp issue(Location loc, StringRef kind,
                            spmd::Reduction reduction, Value buffer,
                            ArrayAttr axes, const Twine &label,
                            DictionaryAttr move = DictionaryAttr()) {
    return builder.create<spmd::CommunicateOp>(
        loc, builder.getStringAttr(kind),
        spmd::ReductionAttr::get(builder.getContext(), reduction), buffer,
        spmd::StreamAttr::get(builder.getContext(), Stream::comm), axes,
        builder.getStringAttr(label), move);
  }

  /// Issues a collective once the compute stream has come this far; returns
  /// the event that marks its end.
  int64_t communicate(Location loc, StringRef kind, spmd::Reduction reduction,
                      Value buffer, ArrayAttr axes, const Twine &label,
                      DictionaryAttr move) {
    release();
    int64_t done = nextEvent++;
    issue(loc, kind, reduction, buffer, axes, label, move);
    record(done, Stream::comm);
    return done;
  }
  int64_t communicate(spmd::AllReduceOp reduce, Value buffer,
                      const Twine &label) {
    return communicate(reduce.getLoc(), "all_reduce", reduce.getReduction(),
                       buffer, reduce.getAxes(), label, DictionaryAttr());
  }

  /// A collective whose result has not been waited for.
  struct InFlight {
    int64_t done = 0;
    /// Of a move, which still has to be unpacked.
    std::optional<MoveView> move;
    Value staging;
    /// Values that arrive with it.
    SmallVector<Value> values;
  };

  /// Waits for what `op` uses, and takes it from where it has arrived.
  void completeFor(Operation *op) {
    if (isa<nn::ReshapeOp>(op))
      return;
    for (Value operand : op->getOperands())
      completeValue(operand);
  }

  void completeValue(Value value) {
    value = rootOf(value);
    auto found = llvm::find_if(inFlight, [&](const InFlight &entry) {
      return llvm::is_contained(entry.values, value);
    });
    if (found == inFlight.end())
      return;
    InFlight entry = std::move(*found);
    inFlight.erase(found);
    complete(entry);
  }

  void complete(const InFlight &entry) {
    wait(entry.done, Stream::compute);
    if (!entry.move)
      return;
    const MoveView &move = *entry.move;
    Value x = bufferOf(move.x), y = bufferOf(move.y);
    launch(move.op->getLoc(), "spmd.unpack", {x, entry.staging}, y,
           move.dictionary());
  }

  /// Notes a collective whose result is waited for when it is used.
  void start(InFlight entry) {
    bool atOnce = entry.move && entry.move->op->hasAttr(kAtOnceAttr);
    if (overlap && !atOnce)
      inFlight.push_back(std::move(entry));
    else
      complete(entry);
  }

  /// What a move is for: "conv1 reads x".
  std::string labelOf(const MoveView &move) const {
    std::string reader = memory.nameOf(move.op);
    std::string source = memory.sourceOf(move);
    return source == reader ? "values of " + reader
                            : reader + " reads " + source;
  }

  /// Every rank of the communicator takes part, also one that has nothing to
  /// send and nothing to receive.
  void emitMove(const MoveView &move) {
    Value x = bufferOf(move.x);
    DictionaryAttr what = move.dictionary();
    Location loc = move.op->getLoc();
    if (move.isSlice()) {
      launch(loc, "spmd.slice", x, bufferOf(move.y), what);
      return;
    }
    int id = memory.stagingOf(move.op);
    const Storage &storage = memory.get(id);
    Value staging =
        flatBuffer(storage.purpose, storage.name, memory.offsetOf(id),
                   storage.bytes, move.global.getElementType());
    launch(loc, "spmd.pack", x, staging, what);
    int64_t done = communicate(loc, move.kind(), move.reduction(), staging,
                               move.axes, labelOf(move), what);
    start({done, move, staging, {move.y}});
  }

  void emitAllReduce(spmd::AllReduceOp reduce) {
    if (isBucketed(reduce))
      return;
    std::string name = locationName(reduce.getLoc());
    if (isReturnedOnly(reduce)) {
      int64_t done = communicate(reduce, bufferOf(reduce.getX()), name);
      if (overlap)
        pending.push_back(done);
      else
        wait(done, Stream::compute);
      return;
    }
    auto joint = memory.getJoint().find(reduce);
    if (joint != memory.getJoint().end()) {
      emitJoint(joint->second);
      return;
    }
    for (auto &entry : memory.getJoint())
      if (llvm::is_contained(entry.second, reduce.getOperation()))
        return;
    // What was copied is combined where the copy lies.
    Value buffer = bufferOf(reduce.getY());
    start({communicate(reduce, buffer, "values of " + name),
           std::nullopt,
           Value(),
           {reduce.getY()}});
  }

  /// Several small values as one call.
  void emitJoint(ArrayRef<Operation *> members) {
    auto first = cast<spmd::AllReduceOp>(members.front());
    auto last = cast<spmd::AllReduceOp>(members.back());
    int64_t begin = memory.offsetOf(memory.storageOf(first.getX()));
    int64_t lastBegin = memory.offsetOf(memory.storageOf(last.getX()));
    auto type = nn::tensorType(last.getX());
    int64_t bytes = lastBegin + nn::byteSize(type) - begin;
    std::string name = locationName(first.getLoc());
    Value buffer = flatBuffer(spmd::Purpose::bucket, name + " values", begin,
                              bytes, type.getElementType());
    InFlight entry;
    std::string label = "values of " + name;
    llvm::StringSet<> names;
    for (Operation *member : members)
      names.insert(locationName(member->getLoc()));
    if (names.size() > 1)
      label += " and " + std::to_string(names.size() - 1) + " more";
    entry.done = communicate(first, buffer, label);
    for (Operation *member : members)
      entry.values.push_back(cast<spmd::AllReduceOp>(member).getY());
    start(std::move(entry));
  }

  std::string bucketLabel(size_t number) const {
    return classMemory.getBuckets()[number].label(number);
  }

  Value gradientBucket(size_t number) {
    const Bucket &bucket = classMemory.getBuckets()[number];
    return flatBuffer(spmd::Purpose::bucket,
                      "gradients of bucket " + std::to_string(number),
                      bucket.gradientBegin, bucket.bytes, bucket.elementType());
  }

  /// "push bucket 3: fc1.weight", "fetch bucket 3: fc1.weight".
  std::string servedLabel(StringRef what, size_t number) const {
    return (what + " " + bucketLabel(number)).str();
  }

  /// Says how the owners of a bucket divide the buffer that `op` works on.
  void divide(Operation *op, const Bucket &bucket, Value buffer) {
    op->setAttr(spmd::kPartsAttr,
                builder.getDenseI64ArrayAttr(bucket.shares(
                    cast<MemRefType>(buffer.getType()).getNumElements())));
    if (bucket.hasServers())
      op->setAttr(spmd::kServersAttr,
                  builder.getI64IntegerAttr(bucket.servers));
  }

  Location bucketLoc(size_t number) {
    return NameLoc::get(builder.getStringAttr(bucketLabel(number)));
  }

  /// Sends the gradients of a bucket: to all, or to the owners of the shares.
  void sendGradients(size_t number) {
    const Bucket &bucket = classMemory.getBuckets()[number];
    auto reduce = bucket.updates.front()
                      ->getOperand(0)
                      .getDefiningOp<spmd::AllReduceOp>();
    Value gradients = gradientBucket(number);
    release();
    syncedAt = here;
    if (bucket.isServed()) {
      auto push =
          issue(reduce.getLoc(), "reduce_scatter", reduce.getReduction(),
                gradients, bucket.axes, servedLabel("push", number));
      divide(push, bucket, gradients);
      return;
    }
    auto call = issue(reduce.getLoc(), "all_reduce", reduce.getReduction(),
                      gradients, bucket.axes, bucketLabel(number));
    if (bucket.sync && bucket.sync.getAlgorithm() != dist::Algorithm::automatic)
      call->setAttr(spmd::kAlgorithmAttr,
                    builder.getStringAttr(
                        dist::stringifyAlgorithm(bucket.sync.getAlgorithm())));
  }

  /// Sends the updated shares of a bucket's parameters to all.
  void fetchParameters(size_t number) {
    const Bucket &bucket = classMemory.getBuckets()[number];
    Value parameters = parameterBucket(number);
    auto fetch = issue(bucketLoc(number), "all_gather", spmd::Reduction::sum,
                       parameters, bucket.axes, servedLabel("fetch", number));
    divide(fetch, bucket, parameters);
  }

  /// Makes the update of a bucket whose gradients were sent, on the comm
  /// stream, and lets its parameters arrive there.
  void updateBehindGradients(size_t number) {
    const Bucket &bucket = classMemory.getBuckets()[number];
    // Nobody may still read what the update overwrites.
    if (syncedAt < bucket.lastRead) {
      release();
      syncedAt = here;
    }
    updateOwn(number, Stream::comm);
    if (bucket.isServed())
      fetchParameters(number);
    record(arrived.lookup(&bucket), Stream::comm);
  }

  /// Whether the next task can be issued behind operation `i`: at the same
  /// place among the other collectives in all classes.
  bool isReady(const BucketTask &task, int64_t i) const {
    const Bucket &bucket = classMemory.getBuckets()[task.bucket];
    return task.sends ? bucket.ready <= i && bucket.after <= issued
                      : bucket.lastRead <= i && bucket.updateAfter <= issued;
  }

  /// Issues tasks in their order, as far as they are ready behind operation
  /// `i`.
  void runTasks(int64_t i) {
    if (!isStep())
      return;
    here = i;
    for (; nextTask < classMemory.getTasks().size(); ++nextTask) {
      const BucketTask &task = classMemory.getTasks()[nextTask];
      if (!task.sends && !overlapSteps) {
        // Updates follow at the end, in this order.
        updates.push_back(task.bucket);
        continue;
      }
      if (!isReady(task, i))
        return;
      runTask(task);
    }
  }

  void runTask(const BucketTask &task) {
    const Bucket &bucket = classMemory.getBuckets()[task.bucket];
    if (!task.sends)
      return updateBehindGradients(task.bucket);
    sendGradients(task.bucket);
    if (overlapSteps)
      return;
    int64_t sent = nextEvent++;
    record(sent, Stream::comm);
    doneOf[&bucket] = sent;
  }

  /// What remains after the last operation: buckets not sent yet, updates in
  /// the order in which buckets arrive, results that travel.
  void finishStep() {
    while (!inFlight.empty()) {
      InFlight entry = std::move(inFlight.front());
      inFlight.erase(inFlight.begin());
      complete(entry);
    }
    if (isStep()) {
      section = "update";
      if (overlap)
        runTasks(INT64_MAX);
      // What nobody sends is updated here.
      for (auto [number, bucket] : llvm::enumerate(classMemory.getBuckets()))
        if (!bucket.communicates)
          updateOwn(number, Stream::compute);
      if (!overlap)
        for (auto [number, bucket] : llvm::enumerate(classMemory.getBuckets()))
          if (bucket.communicates) {
            runTask({number, /*sends=*/true});
            finishBucket(number);
          }
      for (size_t number : updates)
        finishBucket(number);
    }
    for (int64_t event : pending)
      wait(event, Stream::compute);
    pending.clear();
  }

  /// Updates a bucket inside the step; fetched parameters are waited for at its
  /// end, or at once without overlap.
  void finishBucket(size_t number) {
    const Bucket &bucket = classMemory.getBuckets()[number];
    if (!bucket.hasServers())
      wait(doneOf.lookup(&bucket), Stream::compute);
    updateOwn(number, Stream::compute);
    if (!bucket.isServed())
      return;
    release();
    fetchParameters(number);
    int64_t fetched = nextEvent++;
    record(fetched, Stream::comm);
    if (overlap)
      pending.push_back(fetched);
    else
      wait(fetched, Stream::compute);
  }

  /// Lets the compute stream wait for what the previous step has sent of a
  /// bucket, before this one uses it for the first time.
  void awaitBucket(const Bucket *bucket) {
    if (!issuing || !bucket || !arrived.contains(bucket) ||
        !awaited.insert(bucket).second)
      return;
    auto op = builder.create<spmd::WaitOp>(
        function.getLoc(), arrived.lookup(bucket), Stream::compute);
    op->setAttr(spmd::kPreviousAttr, builder.getUnitAttr());
  }

  Value parameterBucket(size_t number) {
    const Bucket &bucket = classMemory.getBuckets()[number];
    return flatBuffer(
        spmd::Purpose::bucket, "parameters of bucket " + std::to_string(number),
        bucket.parameterBegin, bucket.bytes, bucket.elementType());
  }

  /// The update of what this rank owns of a bucket, if it owns some.
  void updateOwn(size_t number, Stream stream) {
    const Bucket &bucket = classMemory.getBuckets()[number];
    if (!bucket.hasServers())
      emitUpdate(number, stream);
    // The parts have names of their own, for readers and for the runtime.
    for (Operation *member : bucket.updates)
      declareParts(member, bucket.hasServers());
  }

  void emitUpdate(size_t number, Stream stream) {
    const Bucket &bucket = classMemory.getBuckets()[number];
    Operation *update = bucket.updates.front();
    UpdateOperands operands(bucket, " of bucket " + std::to_string(number),
                            [&](StringRef name, int64_t begin) {
                              return flatBuffer(spmd::Purpose::bucket, name,
                                                begin, bucket.bytes,
                                                bucket.elementType());
                            });
    StringRef before = section;
    section = "update";
    auto op =
        launch(bucketLoc(number), update->getName().getStringRef(),
               operands.inputs, operands.outputs, nn::updateParameters(update));
    section = before;
    if (!op)
      return;
    op.setStream(stream);
    if (!bucket.isServed())
      return;
    op->setAttr(spmd::kAxesAttr, bucket.axes);
    divide(op, bucket, operands.parameters);
  }

  void declareParts(Operation *update, bool hasServers) {
    auto declareNamed = [&](const Storage &storage, RankedTensorType type) {
      declare(storage.purpose, storage.name, storage.offset,
              MemRefType::get(type.getShape(), type.getElementType()),
              &storage);
    };
    auto type = nn::tensorType(update->getOperand(0));
    declareNamed(classMemory.gradient(nn::updatedVariable(update)), type);
    declareNamed(classMemory.variable(nn::updatedVariable(update)), type);
    if (hasServers)
      return;
    for (StringRef state : nn::updatedStates(update))
      declareNamed(classMemory.variable(state), type);
  }

  func::FuncOp function;
  const ClassMemory &classMemory;
  /// Inputs and variables that some class uses.
  const llvm::StringSet<> &lasting;
  FunctionMemory memory;
  bool overlap;
  bool overlapSteps;
  OpBuilder builder;
  Operation *declarations = nullptr;
  /// Buffers by offset, type and name.
  std::map<std::string, Value> declared;
  std::set<std::pair<spmd::Purpose, std::string>> declaredNames;
  /// Events that mark that a bucket's gradients, or its parameters for the next
  /// step, have arrived.
  llvm::DenseMap<const Bucket *, int64_t> doneOf, arrived;
  /// Buckets of the previous step that have been waited for.
  llvm::DenseSet<const Bucket *> awaited;
  bool issuing = true;
  std::vector<InFlight> inFlight;
  /// The next of the buckets' tasks; buckets to be updated at the step's end.
  size_t nextTask = 0;
  std::vector<size_t> updates;
  /// The operation behind which something is issued, and the last one that the
  /// comm stream has waited for.
  int64_t here = -1, syncedAt = -1;
  SmallVector<int64_t> pending;
  int64_t nextEvent = 0;
  /// Collectives issued so far, without buckets.
  int64_t issued = 0;
  StringRef section = "forward";
  /// First and last operation of the loss; -1 for none.
  int64_t lossBegin = -1, lossEnd = -1;
};

} // namespace

int64_t partita::scheduleFunction(func::FuncOp function,
                                  const ClassMemory &memory,
                                  const llvm::StringSet<> &lasting,
                                  bool overlap, bool overlapSteps) {
  FunctionSchedule schedule(function, memory, lasting, overlap, overlapSteps);
  schedule.build();
  return schedule.getArenaBytes();
}
