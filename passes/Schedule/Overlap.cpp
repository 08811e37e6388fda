//===- Overlap.cpp - What runs while ranks communicate --------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Arrivals, the order of operations, and the order of buckets.
//
//===----------------------------------------------------------------------===//

#include "passes/Schedule/Overlap.h"
#include "dialects/Dist/IR/DistDialect.h"
#include "passes/Schedule/Moves.h"

using namespace mlir;
using namespace partita;

namespace {

/// Nominal speeds: a core of a current CPU on products and on what streams
/// through memory, and Ethernet of 1 Gbit/s. They only have to rank calls that
/// wait for the same link.
constexpr double kFlops = 2e10;
constexpr double kBytesPerSecond = 5e9;
constexpr double kLinkBytesPerSecond = 1.25e8;
constexpr double kLinkLatency = 5e-5;

/// How far behind a collective is looked for something to compute meanwhile.
constexpr int kWindow = 64;

/// Operations that become no launch.
bool isSilent(Operation *op) {
  return isa<nn::ReadOp, nn::ReshapeOp, nn::AssignOp, nn::ConstantOp>(op) ||
         nn::isUpdate(op) || op->hasTrait<OpTrait::IsTerminator>();
}

/// Whether the step waits for what `op` communicates.
bool isWaitedFor(Operation *op) {
  auto reduce = dyn_cast<spmd::AllReduceOp>(op);
  if (!reduce)
    return spmd::isCollective(op);
  return !llvm::all_of(reduce.getY().getUsers(), [](Operation *user) {
    return nn::isUpdate(user) || user->hasTrait<OpTrait::IsTerminator>();
  });
}

int64_t bytesOf(Operation *op) {
  int64_t bytes = 0;
  for (Value operand : op->getOperands())
    bytes += nn::byteSize(nn::tensorType(operand));
  for (Value result : op->getResults())
    bytes += nn::byteSize(nn::tensorType(result));
  return bytes;
}

} // namespace

Value partita::rootOf(Value value) {
  while (auto reshape = value.getDefiningOp<nn::ReshapeOp>())
    value = reshape.getX();
  return value;
}

double partita::linkSeconds(int64_t bytes) {
  return kLinkLatency + double(bytes) / kLinkBytesPerSecond;
}

double partita::computeSeconds(Operation *op) {
  if (isSilent(op) || spmd::isCollective(op))
    return 0;
  double memory = double(bytesOf(op)) / kBytesPerSecond;
  StringRef name = op->getName().stripDialect();
  auto partitionable = dyn_cast<nn::PartitionableOp>(op);
  if (!partitionable || !(name.starts_with("conv") || name == "matmul"))
    return memory;
  double volume = 2;
  for (const nn::IterationDim &dim : partitionable.getIterationSpace().dims)
    volume *= double(dim.size);
  return std::max(memory, volume / kFlops);
}

//===----------------------------------------------------------------------===//
// Arrivals
//===----------------------------------------------------------------------===//

Arrivals::Arrivals(func::FuncOp function, bool overlap) : overlap(overlap) {
  for (auto [i, op] : llvm::enumerate(function.front())) {
    index[&op] = i;
    end = i;
  }
}

int64_t Arrivals::firstUseOf(Value value) const {
  int64_t first = end;
  for (Operation *user : value.getUsers())
    first = std::min(first, isa<nn::ReshapeOp>(user)
                                ? firstUseOf(user->getResult(0))
                                : indexOf(user));
  return first;
}

int64_t Arrivals::arrivalOf(Operation *collective) const {
  return overlap && !collective->hasAttr(kAtOnceAttr)
             ? firstUseOf(collective->getResult(0))
             : indexOf(collective);
}

int64_t Arrivals::lastUseOf(Value value) const {
  int64_t last = value.getDefiningOp() ? indexOf(value.getDefiningOp()) : 0;
  for (Operation *user : value.getUsers()) {
    last = std::max(last, indexOf(user));
    if (isa<nn::ReshapeOp, spmd::AllReduceOp>(user))
      last = std::max(last, lastUseOf(user->getResult(0)));
    if (spmd::isCollective(user))
      last = std::max(last, arrivalOf(user));
  }
  return last;
}

std::map<std::string, VariableUse>
partita::variableUses(func::FuncOp step, const Arrivals &arrivals) {
  std::map<std::string, VariableUse> uses;
  for (auto read : step.getOps<nn::ReadOp>()) {
    if (read.getValue().use_empty())
      continue;
    VariableUse &use = uses[read.getVariable().str()];
    for (Operation *user : read.getValue().getUsers())
      use.first = std::min(use.first, arrivals.indexOf(user));
    use.last = std::max(use.last, arrivals.lastUseOf(read.getValue()));
  }
  return uses;
}

SmallVector<StringRef> partita::variablesOf(Operation *update) {
  SmallVector<StringRef> names = {nn::updatedVariable(update)};
  llvm::append_range(names, nn::updatedStates(update));
  return names;
}

//===----------------------------------------------------------------------===//
// The order of operations
//===----------------------------------------------------------------------===//

/// Whether `op` makes a small value from small ones: the next running
/// statistics and the like.
static bool isSmall(Operation *op) {
  constexpr int64_t kMost = 64 << 10;
  return op->getNumResults() > 0 && !isSilent(op) && bytesOf(op) <= kMost;
}

/// Products of gathered factors, and what only the next state needs, come last:
/// nothing in between waits for what they wait for.
static void sinkLate(func::FuncOp function) {
  Block &block = function.front();
  bool waits = llvm::any_of(block, [](Operation &op) {
    return isWaitedFor(&op) || op.hasAttr(dist::kFactorsAttr);
  });
  if (!waits)
    return;
  Operation *end = block.getTerminator();
  for (Operation &op : block)
    if (nn::isUpdate(&op)) {
      end = &op;
      break;
    }
  SmallVector<nn::AssignOp> assigns(function.getOps<nn::AssignOp>());
  for (nn::AssignOp assign : assigns)
    if (assign->isBeforeInBlock(end))
      assign->moveBefore(end);
  while (isa_and_nonnull<nn::AssignOp>(end->getPrevNode()))
    end = end->getPrevNode();
  // From the last to the first: an operation stays where something that stays
  // needs it, as a collective does.
  Operation *before = end->getPrevNode();
  while (before) {
    Operation *op = before;
    before = op->getPrevNode();
    bool isFree = llvm::none_of(op->getUsers(), [&](Operation *user) {
      return user->isBeforeInBlock(end);
    });
    bool isLate =
        op->hasAttr(dist::kFactorsAttr) ||
        (isSmall(op) && !op->use_empty() &&
         llvm::none_of(op->getUsers(), [](Operation *user) {
           return nn::isUpdate(user) || user->hasTrait<OpTrait::IsTerminator>();
         }));
    if (!isLate || !isFree || spmd::isCollective(op))
      continue;
    op->moveBefore(end);
    end = op;
  }
}

/// Brings operations that need nothing of what is on its way before `op`, until
/// they take `seconds`.
static void fillBefore(Operation *op,
                       const llvm::DenseMap<Value, double> &onTheWay,
                       double seconds) {
  // Results of what stands behind `op` and is not brought before it.
  llvm::DenseSet<Value> later(op->getResults().begin(), op->getResults().end());
  Operation *candidate = op->getNextNode();
  for (int i = 0; candidate && i < kWindow && seconds > 0; ++i) {
    Operation *next = candidate->getNextNode();
    bool isFree =
        !spmd::isCollective(candidate) && !isa<nn::AssignOp>(candidate) &&
        !nn::isUpdate(candidate) &&
        !candidate->hasTrait<OpTrait::IsTerminator>() &&
        !candidate->hasAttr(dist::kFactorsAttr) &&
        llvm::none_of(candidate->getOperands(), [&](Value operand) {
          return later.contains(operand) || onTheWay.contains(rootOf(operand));
        });
    if (isFree && !(isSilent(candidate) && candidate->use_empty())) {
      candidate->moveBefore(op);
      seconds -= computeSeconds(candidate);
    } else {
      later.insert(candidate->getResults().begin(),
                   candidate->getResults().end());
    }
    candidate = next;
  }
}

void partita::orderForOverlap(func::FuncOp function) {
  sinkLate(function);
  // Results on their way, and how long they still take.
  llvm::DenseMap<Value, double> onTheWay;
  for (Operation *op = &function.front().front(); op; op = op->getNextNode()) {
    if (!isa<nn::ReshapeOp>(op)) {
      double longest = 0;
      for (Value operand : op->getOperands())
        longest = std::max(longest, onTheWay.lookup(rootOf(operand)));
      if (longest > 0)
        fillBefore(op, onTheWay, longest);
      for (Value operand : op->getOperands())
        onTheWay.erase(rootOf(operand));
    }
    double seconds = computeSeconds(op);
    for (auto &[value, left] : onTheWay)
      left -= seconds;
    if (isWaitedFor(op)) {
      Value result = op->getResult(0);
      onTheWay[result] = linkSeconds(nn::byteSize(nn::tensorType(result)));
    }
  }
}

//===----------------------------------------------------------------------===//
// The order of buckets
//===----------------------------------------------------------------------===//

std::vector<BucketTask> partita::orderTasks(func::FuncOp step,
                                            ArrayRef<TaskFacts> buckets,
                                            bool priorities) {
  // When each operation ends.
  std::vector<double> ends;
  double now = 0;
  for (Operation &op : step.front())
    ends.push_back(now += computeSeconds(&op));
  auto endOf = [&](int64_t i) { return i < 0 ? 0.0 : ends[i]; };
  struct Waiting {
    BucketTask task;
    double ready;
  };
  std::vector<Waiting> waiting;
  for (auto [i, bucket] : llvm::enumerate(buckets))
    if (bucket.gradientBytes > 0)
      waiting.push_back({{i, /*sends=*/true}, endOf(bucket.ready)});
  std::vector<BucketTask> order;
  double linkFree = 0;
  while (!waiting.empty()) {
    double first = waiting.front().ready;
    for (const Waiting &entry : waiting)
      first = std::min(first, entry.ready);
    double start = std::max(linkFree, first);
    auto goesBefore = [&](const Waiting &a, const Waiting &b) {
      bool aReady = a.ready <= start, bReady = b.ready <= start;
      if (aReady != bReady)
        return aReady;
      const TaskFacts &x = buckets[a.task.bucket], &y = buckets[b.task.bucket];
      if (priorities && x.need != y.need)
        return x.need < y.need;
      if (!priorities && a.task.sends != b.task.sends)
        return a.task.sends;
      if (a.ready != b.ready)
        return a.ready < b.ready;
      return a.task.bucket < b.task.bucket;
    };
    auto chosen = std::min_element(waiting.begin(), waiting.end(), goesBefore);
    BucketTask task = chosen->task;
    waiting.erase(chosen);
    order.push_back(task);
    const TaskFacts &bucket = buckets[task.bucket];
    int64_t bytes = task.sends ? bucket.gradientBytes : bucket.parameterBytes;
    linkFree = start + (bytes > 0 ? linkSeconds(bytes) : 0);
    if (task.sends)
      waiting.push_back({{task.bucket, /*sends=*/false},
                         std::max(linkFree, endOf(bucket.lastRead))});
  }
  return order;
}
