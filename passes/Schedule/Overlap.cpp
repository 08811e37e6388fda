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
#include "passes/Schedule/BufferAssignment.h"
#include "passes/Schedule/Moves.h"
#include <numeric>

using namespace mlir;
using namespace partita;

namespace {

/// Nominal speeds: a core of a current CPU on products and on what streams
/// through memory. They only have to rank calls that wait for the same link.
constexpr double kFlops = 1e11;
constexpr double kBytesPerSecond = 1e10;

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
    bool isLate = op->hasAttr(dist::kFactorsAttr) ||
                  (isSmall(op) && !op->use_empty() &&
                   llvm::none_of(op->getUsers(), [](Operation *user) {
                     auto reduce = dyn_cast<spmd::AllReduceOp>(user);
                     return nn::isUpdate(user) ||
                            (reduce && isBucketed(reduce)) ||
                            user->hasTrait<OpTrait::IsTerminator>();
                   }));
    if (!isLate || !isFree || spmd::isCollective(op))
      continue;
    op->moveBefore(end);
    end = op;
  }
}

/// Whether a bucket waits for what `op` computes.
static bool makesGradient(Operation *op) {
  return llvm::any_of(op->getUsers(), [](Operation *user) {
    auto reduce = dyn_cast<spmd::AllReduceOp>(user);
    return reduce && isBucketed(reduce);
  });
}

/// Brings operations that need nothing of what is on its way before `op`, until
/// they take `seconds`; gradients only where `op` may wait for their bucket.
static void fillBefore(Operation *op,
                       const llvm::DenseMap<Value, double> &onTheWay,
                       double seconds, bool movesGradients) {
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
        (movesGradients || !makesGradient(candidate)) &&
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

void partita::orderForOverlap(func::FuncOp function, const Link &link,
                              double slowness) {
  sinkLate(function);
  // Results on their way, and how long they still take.
  llvm::DenseMap<Value, double> onTheWay;
  for (Operation *op = &function.front().front(); op; op = op->getNextNode()) {
    if (!isa<nn::ReshapeOp>(op)) {
      double longest = 0;
      bool isLate = false;
      for (Value operand : op->getOperands()) {
        longest = std::max(longest, onTheWay.lookup(rootOf(operand)));
        Operation *source = rootOf(operand).getDefiningOp();
        isLate |= source && source->hasAttr(kLateAttr);
      }
      if (longest > 0)
        fillBefore(op, onTheWay, longest / slowness, !isLate);
      for (Value operand : op->getOperands())
        onTheWay.erase(rootOf(operand));
    }
    double seconds = computeSeconds(op) * slowness;
    for (auto &[value, left] : onTheWay)
      left -= seconds;
    if (isWaitedFor(op)) {
      Value result = op->getResult(0);
      onTheWay[result] = link.seconds(nn::byteSize(nn::tensorType(result)));
    }
  }
}

//===----------------------------------------------------------------------===//
// The order of buckets
//===----------------------------------------------------------------------===//

namespace {

/// A step as the order of its tasks sees it, on a rank that computes `slowness`
/// times as long as at nominal speeds.
class StepModel {
public:
  StepModel(func::FuncOp step, ArrayRef<TaskFacts> buckets, const Link &link,
            double slowness)
      : buckets(buckets), link(link) {
    for (Operation &op : step.front())
      seconds.push_back(computeSeconds(&op) * slowness);
  }

  /// Of the tasks that are ready when the link is free, the one goes first
  /// whose parameters the next step needs first. Without `priorities` a task
  /// goes when it is ready, gradients before parameters.
  std::vector<BucketTask> greedy(bool priorities) const {
    std::vector<double> ends(seconds.size());
    std::partial_sum(seconds.begin(), seconds.end(), ends.begin());
    struct Waiting {
      BucketTask task;
      double ready;
    };
    std::vector<Waiting> waiting;
    for (auto [i, bucket] : llvm::enumerate(buckets))
      if (bucket.gradientBytes > 0)
        waiting.push_back({{i, /*sends=*/true}, at(ends, bucket.ready)});
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
        const TaskFacts &x = buckets[a.task.bucket],
                        &y = buckets[b.task.bucket];
        if (priorities && x.need != y.need)
          return x.need < y.need;
        if (!priorities && a.task.sends != b.task.sends)
          return a.task.sends;
        if (a.ready != b.ready)
          return a.ready < b.ready;
        return a.task.bucket < b.task.bucket;
      };
      auto chosen =
          std::min_element(waiting.begin(), waiting.end(), goesBefore);
      BucketTask task = chosen->task;
      waiting.erase(chosen);
      order.push_back(task);
      linkFree = start + secondsOf(task);
      if (task.sends)
        waiting.push_back(
            {{task.bucket, /*sends=*/false},
             std::max(linkFree, at(ends, buckets[task.bucket].lastRead))});
    }
    return order;
  }

  /// Seconds from one step to the next when tasks are issued in this order.
  double period(ArrayRef<BucketTask> order) const {
    // The first steps fill the pipeline.
    constexpr int kSteps = 4;
    std::vector<double> arrived(buckets.size(), 0), ends(seconds.size(), 0);
    std::vector<SmallVector<size_t>> needs(seconds.size());
    for (auto [b, bucket] : llvm::enumerate(buckets))
      if (bucket.need >= 0 && size_t(bucket.need) < needs.size())
        needs[bucket.need].push_back(b);
    double now = 0, before = 0, linkFree = 0;
    for (int step = 0; step < kSteps; ++step) {
      before = now;
      for (size_t i = 0; i < seconds.size(); ++i) {
        for (size_t b : needs[i])
          now = std::max(now, arrived[b]);
        ends[i] = now += seconds[i];
      }
      std::vector<double> sent(buckets.size(), 0);
      for (const BucketTask &task : order) {
        const TaskFacts &bucket = buckets[task.bucket];
        double ready =
            task.sends ? at(ends, bucket.ready)
                       : std::max(sent[task.bucket], at(ends, bucket.lastRead));
        linkFree = std::max(linkFree, ready) + secondsOf(task);
        (task.sends ? sent : arrived)[task.bucket] = linkFree;
      }
    }
    return now - before;
  }

private:
  static double at(ArrayRef<double> ends, int64_t i) {
    return i < 0 ? 0.0 : ends[i];
  }
  double secondsOf(const BucketTask &task) const {
    const TaskFacts &bucket = buckets[task.bucket];
    int64_t bytes = task.sends ? bucket.gradientBytes : bucket.parameterBytes;
    return bytes > 0 ? link.seconds(bytes) : 0;
  }

  ArrayRef<TaskFacts> buckets;
  const Link &link;
  std::vector<double> seconds;
};

} // namespace

std::vector<BucketTask> partita::orderTasks(func::FuncOp step,
                                            ArrayRef<TaskFacts> buckets,
                                            const Link &link, bool priorities,
                                            double slowness) {
  if (!priorities)
    return StepModel(step, buckets, link, slowness).greedy(false);
  // Nobody knows here how fast a rank is: of the orders that are best for some
  // speed, the one is taken that loses least over all of them.
  std::vector<StepModel> models;
  std::vector<std::vector<BucketTask>> orders;
  for (double factor : {1.0, 0.5, 2.0, 0.25, 4.0}) {
    models.emplace_back(step, buckets, link, slowness * factor);
    orders.push_back(models.back().greedy(true));
  }
  std::vector<double> losses(orders.size(), 0);
  for (const StepModel &model : models) {
    std::vector<double> periods;
    for (const std::vector<BucketTask> &order : orders)
      periods.push_back(model.period(order));
    double best = *std::min_element(periods.begin(), periods.end());
    for (auto [loss, period] : llvm::zip_equal(losses, periods))
      loss += best > 0 ? period / best - 1 : 0;
  }
  // Sums in another order must not decide.
  size_t chosen = 0;
  for (size_t i = 1; i < losses.size(); ++i)
    if (losses[i] < losses[chosen] - 1e-9)
      chosen = i;
  return orders[chosen];
}
