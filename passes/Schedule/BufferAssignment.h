//===- BufferAssignment.h - Where each value of a step lives ---*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decides for one rank class which values share memory and where it lies.
//
// The arena of a class, from offset 0:
//
//     parameters | gradients | optimizer state   each in bucket order, so that
//                                                a bucket is one range in all
//     other variables | inputs | results
//     temporaries                                shared by lifetime; the three
//                                                functions overlay each other
//
// Within a function, values share a storage when one is a reshape of the
// other, when an all_reduce works in place, or when a fused loop overwrites an
// operand that dies with it. A value that becomes a gradient, a result or a
// variable's next value is computed right where that one lives; a copy is made
// only where this is impossible.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_PASSES_SCHEDULE_BUFFERASSIGNMENT_H
#define PARTITA_PASSES_SCHEDULE_BUFFERASSIGNMENT_H

#include "dialects/NN/IR/NNOps.h"
#include "dialects/SPMD/IR/SPMDDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Schedule/Moves.h"
#include "passes/Schedule/Overlap.h"
#include <map>
#include <vector>

namespace partita {

/// Parameters whose gradients are combined and updated together.
struct Bucket {
  /// The optimizer operations, in the order in which gradients are ready.
  std::vector<mlir::Operation *> updates;
  /// Combined over ranks; otherwise the gradients are already whole.
  bool communicates = false;
  /// How, if it communicates: all_reduce or parameter_server, and its axes.
  dist::SyncAttr sync;
  mlir::ArrayAttr axes;
  /// Ranks that combine their gradients, and the servers that own the
  /// parameters for them; none: the ranks themselves do.
  int64_t ranks = 1;
  int64_t servers = 0;
  /// Byte offsets, relative to the bucket's begin, of each parameter.
  std::vector<int64_t> offsets;
  /// Bytes from the first parameter's begin to the last one's end.
  int64_t bytes = 0;
  /// Begin of the bucket in the parameter, gradient and state regions.
  int64_t parameterBegin = 0;
  int64_t gradientBegin = 0;
  std::vector<int64_t> stateBegins;
  /// Index of the operation after which all gradients are ready.
  int64_t ready = 0;
  /// Sent after this many collectives, which is the same in all classes.
  int64_t after = 0;
  /// The largest place of a gradient in the order of all.
  int64_t last = 0;
  /// Index of the last operation that reads a parameter or its state, of the
  /// first in the step (INT64_MAX: none), and after how many collectives the
  /// update may be made, which is the same in all classes.
  int64_t lastRead = -1;
  int64_t need = INT64_MAX;
  int64_t updateAfter = 0;

  /// Whether owners update their shares and the others fetch them.
  bool isServed() const {
    return communicates && sync &&
           sync.getMethod() == dist::SyncMethod::parameter_server;
  }
  /// Whether the owners are servers, so that this rank updates nothing.
  bool hasServers() const { return isServed() && servers > 0; }
  /// Elements of each owner's share of `count` elements: whole cache lines of
  /// four-byte elements, as equal as they can be. Where servers are the owners
  /// the ranks stand before them and have none.
  std::vector<int64_t> shares(int64_t count) const;
  mlir::Type elementType() const;
  /// "bucket 3: fc1.bias, fc1.weight"
  std::string label(size_t number) const;
};

/// What the update of a bucket reads and writes. `view` declares the bucket's
/// elements from a byte of the arena on as one flat buffer; `suffix` ends the
/// buffers' names.
struct UpdateOperands {
  UpdateOperands(
      const Bucket &bucket, const std::string &suffix,
      llvm::function_ref<mlir::Value(llvm::StringRef, int64_t)> view);

  mlir::Value parameters, gradients;
  llvm::SmallVector<mlir::Value> inputs, outputs;
};

/// A range of the arena and how long it is needed.
struct Storage {
  spmd::Purpose purpose = spmd::Purpose::temporary;
  std::string name;
  int64_t bytes = 0;
  /// First and last operation that touch it, by index in the function.
  int64_t first = 0;
  int64_t last = 0;
  /// Set from the start for everything but temporaries.
  int64_t offset = -1;
  /// Storages of one joint collective lie in a common one.
  int group = -1;
  int64_t groupOffset = 0;
  mlir::Type global;
  dist::LayoutAttr layout;
  bool isLabel = false;
  int64_t limit = 0;

  bool isFixed() const { return offset >= 0; }
};

/// What the memory of a class depends on beside its functions.
struct ClassFacts {
  dist::GridAttr grid;
  /// One of the class's ranks, which all have parts of the same sizes, and as
  /// many servers.
  int64_t rank = 0;
  /// The servers of the program.
  int64_t servers = 0;
  /// Elements of staging buffers.
  StagingSizes staging;
  /// Bytes of each parameter's gradient in the class where it is largest. All
  /// classes form the same buckets by them: what is sent together must be sent
  /// together everywhere.
  std::map<std::string, int64_t> largestGradient;
  /// Place of each parameter's gradient in the order in which they are ready in
  /// the first class, which all classes follow.
  std::map<std::string, int64_t> order;
  /// How many collectives precede each parameter's gradient, and the last use
  /// of each parameter, in the class where these are most.
  std::map<std::string, int64_t> collectivesBefore;
  std::map<std::string, int64_t> collectivesBeforeRead;
  /// The order of the buckets' tasks, that of the first class.
  std::vector<BucketTask> tasks;
};

/// Set on an all_reduce that some class cannot issue in one call with the one
/// before it.
constexpr llvm::StringLiteral kAloneAttr = "spmd.alone";

/// Set on an all_reduce of a gradient that some class needs before its update:
/// no class may put it into a bucket.
constexpr llvm::StringLiteral kImmediateAttr = "spmd.immediate";

/// Where gradient buckets end.
struct BucketSizes {
  /// From this size on a bucket is closed.
  int64_t bytes = 0;
  /// The last gradient goes alone.
  bool separatesLast = false;
};

/// Offsets that all functions of a class agree on.
class ClassMemory {
public:
  /// Lays out variables, gradients and inputs. `step` may be null.
  ClassMemory(mlir::ModuleOp module, mlir::func::FuncOp step,
              llvm::ArrayRef<mlir::func::FuncOp> functions, ClassFacts facts,
              const BucketSizes &bucketSizes);

  const std::vector<Bucket> &getBuckets() const { return buckets; }
  /// The order in which buckets are sent and updated.
  llvm::ArrayRef<BucketTask> getTasks() const { return facts.tasks; }
  /// The part of a tensor that a rank of the class has.
  mlir::RankedTensorType localType(dist::LayoutAttr layout,
                                   mlir::RankedTensorType type) const;
  /// The bucket of a parameter or of optimizer state, or null.
  const Bucket *bucketOf(llvm::StringRef variable) const;
  Storage variable(llvm::StringRef name) const;
  Storage gradient(llvm::StringRef name) const;
  Storage input(llvm::StringRef name) const;
  Storage result(llvm::StringRef function, llvm::StringRef name) const;
  /// Bytes of everything above: where temporaries begin.
  int64_t getPersistentBytes() const { return persistentBytes; }
  /// Elements of the staging buffer of a move, which is no slice.
  int64_t stagingElements(const MoveView &move) const {
    return facts.staging.lookup(move.dictionary());
  }

private:
  void formBuckets(mlir::func::FuncOp step, const BucketSizes &bucketSizes);
  /// Notes how many ranks share a bucket, and the servers they have.
  void countOwners(Bucket &bucket) const;
  void placeBuckets();
  void placeVariables(mlir::ModuleOp module);
  void placeInputs(llvm::ArrayRef<mlir::func::FuncOp> functions);
  void placeResults(llvm::ArrayRef<mlir::func::FuncOp> functions);
  int64_t take(int64_t bytes);

  ClassFacts facts;
  std::vector<Bucket> buckets;
  std::map<std::string, Storage> variables, gradients, inputs, results;
  std::map<std::string, size_t> bucketOfVariable;
  int64_t persistentBytes = 0;
};

/// Where the values of one function live.
class FunctionMemory {
public:
  FunctionMemory(mlir::func::FuncOp function, const ClassMemory &memory,
                 bool overlap);

  /// The storage of a value.
  int storageOf(mlir::Value value) const {
    return storageOfValue.lookup(value);
  }
  const Storage &get(int storage) const { return storages[storage]; }
  const std::vector<Storage> &getStorages() const { return storages; }
  /// Byte offset of a storage in the arena.
  int64_t offsetOf(int storage) const;

  /// A copy that is needed because a value cannot be computed in place:
  /// after operation `after` (-1: at the begin), from `from` to `to`.
  struct CopyStep {
    int64_t after;
    mlir::Value from;
    int to;
  };
  const std::vector<CopyStep> &getCopies() const { return copies; }

  /// all_reduce operations that are issued with this one as one call.
  /// Maps the first of each run to its members (itself included).
  const llvm::DenseMap<mlir::Operation *,
                       llvm::SmallVector<mlir::Operation *>> &
  getJoint() const {
    return joint;
  }

  /// The storage in which a move, which is no slice, packs and receives.
  int stagingOf(mlir::Operation *move) const {
    return stagingOfMove.lookup(move);
  }

  /// The node that an operation belongs to, with ".grad" in the backward pass.
  std::string nameOf(mlir::Operation *op) const;
  /// What a move moves: the input, the variable or the node whose value it is.
  std::string sourceOf(const MoveView &move) const;

  /// Index of each operation of the body.
  int64_t indexOf(mlir::Operation *op) const { return arrivals.indexOf(op); }

  /// End of the temporaries.
  int64_t getArenaBytes() const { return arenaBytes; }

private:
  /// Lets `value` live in `storage`, which then lasts until its last use.
  void put(mlir::Value value, int storage);
  void assignStorages();
  void assignFused(nn::FusedOp op, int64_t i);
  void joinCollectives();
  void bindTargets();
  bool bind(mlir::Value value, const Storage &target);
  void computeLifetimes();
  void place();
  int addStorage(const Storage &storage);
  int addTemporary(mlir::Value value, llvm::StringRef name);
  void assignMove(const MoveView &move);
  int64_t lastUseOf(mlir::Value value) const {
    return arrivals.lastUseOf(value);
  }
  bool canReplace(mlir::Value next, const Storage &variable) const;

  mlir::func::FuncOp function;
  const ClassMemory &memory;
  std::vector<Storage> storages;
  /// Sizes and lifetimes of joint collectives.
  std::vector<Storage> groups;
  std::vector<CopyStep> copies;
  llvm::DenseMap<mlir::Value, int> storageOfValue;
  Arrivals arrivals;
  llvm::DenseMap<mlir::Operation *, int> stagingOfMove;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Operation *>> joint;
  std::map<std::string, int> fixedStorages;
  llvm::DenseSet<mlir::Value> targets;
  int64_t lossIndex = -1;
  int64_t arenaBytes = 0;
};

/// The gradient a bucket's update takes before it is combined: the operand of
/// its all_reduce, or the gradient itself.
mlir::Value localGradient(mlir::Operation *update);

/// Whether `reduce` combines a gradient that only its update uses, so that it
/// can go into a bucket.
bool isBucketed(spmd::AllReduceOp reduce);

/// Whether the combined value is only returned, so that nothing waits for it.
bool isReturnedOnly(spmd::AllReduceOp reduce);

/// The name in a location: that of the ONNX node, or "" for none.
std::string locationName(mlir::Location loc);

} // namespace partita

#endif // PARTITA_PASSES_SCHEDULE_BUFFERASSIGNMENT_H
