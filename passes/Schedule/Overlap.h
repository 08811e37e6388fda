//===- Overlap.h - What runs while ranks communicate -----------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decides when communication starts and when it must have ended.
//
// A collective starts where it stands and is waited for before the first
// operation that uses its result. What can be computed in between is brought
// there. Gradients are sent in buckets, as soon as their last gradient is ready
// (wait-free backpropagation, Zhang et al., ATC'17, section 3.1); of several
// that are ready, the one goes first that the next step's forward pass needs
// first (priorities, Jayarajan et al., MLSys'19; Peng et al., SOSP'19).
//
//     compute:  f1 f2 f3 | b3   b2   b1 |          f1' f2' f3'
//     comm:                   3    2  1 | 1 2 3 (fetches)
//
// Who is ready when, and which calls still wait then, follows from nominal
// speeds (see kFlops, kBytesPerSecond): they decide the order only, which must
// be the same on all ranks and therefore known before the run.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_PASSES_SCHEDULE_OVERLAP_H
#define PARTITA_PASSES_SCHEDULE_OVERLAP_H

#include "dialects/NN/IR/NNOps.h"
#include "dialects/SPMD/IR/SPMDDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <map>
#include <vector>

namespace partita {

/// Set on a move that is waited for where it stands.
constexpr llvm::StringLiteral kAtOnceAttr = "spmd.at_once";
/// Set on a reduction that nobody waits for but the next one of its kind, or
/// what is stored: gradients do not go before that.
constexpr llvm::StringLiteral kLateAttr = "spmd.late";

/// When the results of a function's collectives are needed.
class Arrivals {
public:
  /// Without `overlap` every result is needed at once.
  Arrivals(mlir::func::FuncOp function, bool overlap);

  /// Place of an operation in the body.
  int64_t indexOf(mlir::Operation *op) const { return index.lookup(op); }
  /// Place of the operation before which what `collective` communicates must
  /// have arrived: the first that uses its result. That of the terminator where
  /// nobody does, its own without overlap.
  int64_t arrivalOf(mlir::Operation *collective) const;
  /// Place of the operation behind which the results of `producer` (null: an
  /// argument of the function, -1) are there.
  int64_t readyAt(mlir::Operation *producer) const {
    if (!producer)
      return -1;
    return spmd::isCollective(producer) ? arrivalOf(producer)
                                        : indexOf(producer);
  }
  /// The last operation that touches what `value` names, through reshapes,
  /// collectives in place, and moves that still read it when they arrive.
  int64_t lastUseOf(mlir::Value value) const;

private:
  int64_t firstUseOf(mlir::Value value) const;

  bool overlap;
  int64_t end = 0;
  llvm::DenseMap<mlir::Operation *, int64_t> index;
};

/// What a value is another view of: what lies before reshapes.
mlir::Value rootOf(mlir::Value value);

/// The first and the last operation of a step that use each variable which is
/// read, by place.
struct VariableUse {
  int64_t first = INT64_MAX;
  int64_t last = -1;
};
std::map<std::string, VariableUse> variableUses(mlir::func::FuncOp step,
                                                const Arrivals &arrivals);

/// The parameter that an update changes, and its optimizer state.
llvm::SmallVector<llvm::StringRef> variablesOf(mlir::Operation *update);

/// Nominal seconds that a rank computes an operation for.
double computeSeconds(mlir::Operation *op);

/// The link of a rank: unless told otherwise Ethernet of 1 Gbit/s, with the
/// latency of a small collective over MPI and TCP.
struct Link {
  double bytesPerSecond = 1.25e8;
  /// Seconds before the first byte arrives.
  double latency = 2e-4;

  /// Seconds that `bytes` take to another rank.
  double seconds(int64_t bytes) const {
    return latency + double(bytes) / bytesPerSecond;
  }
};

/// Reorders the operations of a function: products of gathered factors come
/// last, and between a collective and the first use of its result stands what
/// does not need it, for about as long as the collective takes. The order of
/// collectives stays.
///
/// `slowness` is how long a rank computes beside a nominal core.
void orderForOverlap(mlir::func::FuncOp function, const Link &link,
                     double slowness = 1);

/// One step of the synchronisation of a bucket.
struct BucketTask {
  size_t bucket = 0;
  /// The gradients are sent; else what follows: update, and fetch where owners
  /// update.
  bool sends = true;
};

/// What the order of tasks depends on.
struct TaskFacts {
  /// Operation after which the gradients are ready, and after which nobody
  /// reads the parameters.
  int64_t ready = 0, lastRead = 0;
  /// First operation of the next step that needs the parameters.
  int64_t need = 0;
  /// Bytes sent for the gradients, and for the parameters afterwards.
  int64_t gradientBytes = 0, parameterBytes = 0;
};

/// The order in which the buckets' tasks are issued on the comm stream:
/// simulates the step on ranks of several speeds and takes the order that loses
/// least over all of them. Without `priorities` a task goes when it is ready,
/// gradients before parameters.
std::vector<BucketTask> orderTasks(mlir::func::FuncOp step,
                                   llvm::ArrayRef<TaskFacts> buckets,
                                   const Link &link, bool priorities,
                                   double slowness = 1);

} // namespace partita

#endif // PARTITA_PASSES_SCHEDULE_OVERLAP_H
