//===- Schedule.h - A scheduled module, read for printing -------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The scheduled program has one function per rank class and phase. Their texts
// are the same where the functions have the same operations in the same order
// and differ in numbers only. A `Schedule` groups the classes by that and lines
// their operations up, so that the printers see every operation once, with one
// number per class.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_CODEGEN_EMIT_SCHEDULE_H
#define PARTITA_CODEGEN_EMIT_SCHEDULE_H

#include "codegen/Emit/Numbers.h"
#include "dialects/Dist/IR/DistDialect.h"
#include "dialects/SPMD/IR/SPMDDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"

#include <optional>

namespace partita::codegen {

/// A buffer of a phase in all classes of a group.
struct Buffer {
  llvm::SmallVector<spmd::BufferOp, 2> ops; ///< One per class.
  Number offset;                            ///< In bytes.
  llvm::SmallVector<Number, 4> shape;
  mlir::Type elementType;
  /// How many launches and communications use it; 0 leaves it out of the text.
  unsigned uses = 0;

  spmd::BufferOp op() const { return ops.front(); }
  spmd::Purpose purpose() const { return op().getPurpose(); }
  llvm::StringRef name() const { return op().getName(); }
  mlir::Location loc() const { return op().getLoc(); }
  Number elements() const { return product(shape, offset.size()); }
};

/// A launch, communication, record or wait in all classes of a group.
struct Action {
  llvm::SmallVector<mlir::Operation *, 2> ops; ///< One per class.

  mlir::Operation *op() const { return ops.front(); }
};

/// A phase's functions.
struct Phase {
  std::string name; ///< "step", "eval" or "predict".
  std::vector<Buffer> buffers;
  std::vector<Action> actions;
  /// Values of the first class's function.
  llvm::DenseMap<mlir::Value, unsigned> bufferOf;

  const Buffer &buffer(mlir::Value value) const {
    return buffers[bufferOf.lookup(value)];
  }
};

/// Classes that share one text.
struct Group {
  llvm::SmallVector<unsigned, 2> classes; ///< Indices into Schedule::classes.
  std::vector<Phase> phases;

  const Phase *find(llvm::StringRef phase) const;
};

/// The whole program.
struct Schedule {
  mlir::ModuleOp module;
  dist::GridAttr grid;
  std::vector<spmd::ClassOp> classes;
  /// The class of every rank; servers come after the ranks of the grid.
  std::vector<int> classOfRank;
  /// The number of server ranks.
  int64_t servers = 0;
  std::vector<Group> groups;

  /// Whether the classes of a group are those of servers.
  bool isServers(const Group &group) const {
    spmd::ClassOp first = classes[group.classes.front()];
    return first->hasAttr(spmd::kServersAttr);
  }

  /// Reads and checks a module; errors are diagnostics on its operations.
  static mlir::FailureOr<Schedule> read(mlir::ModuleOp module);
};

/// The operands and parameters of a launch in all classes.
class Launch {
public:
  Launch(const Phase &phase, const Action &action)
      : phase(phase), action(action) {}

  spmd::LaunchOp op() const { return llvm::cast<spmd::LaunchOp>(action.op()); }
  llvm::StringRef kernel() const { return op().getKernel(); }
  mlir::Location loc() const { return op().getLoc(); }
  size_t numClasses() const { return action.ops.size(); }

  unsigned numInputs() const { return op().getInputs().size(); }
  unsigned numOutputs() const { return op().getOutputs().size(); }
  const Buffer &input(unsigned i) const {
    return phase.buffer(op().getInputs()[i]);
  }
  const Buffer &output(unsigned i) const {
    return phase.buffer(op().getOutputs()[i]);
  }

  bool has(llvm::StringRef param) const {
    return attribute(0, param) != nullptr;
  }
  /// Parameters by name; `fallback` where a class does not have it. A
  /// parameter of another kind, or one without fallback that is missing, is
  /// an error on the launch.
  mlir::FailureOr<Number> integer(llvm::StringRef param,
                                  std::optional<int64_t> fallback = {}) const;
  mlir::FailureOr<llvm::SmallVector<Number, 4>>
  integers(llvm::StringRef param) const;
  mlir::FailureOr<Real> real(llvm::StringRef param,
                             std::optional<double> fallback = {}) const;
  /// An enumeration's keyword.
  mlir::FailureOr<std::string> keyword(llvm::StringRef param) const;

private:
  mlir::Attribute attribute(size_t classIndex, llvm::StringRef param) const;
  mlir::InFlightDiagnostic missing(llvm::StringRef param,
                                   llvm::StringRef kind) const;

  const Phase &phase;
  const Action &action;
};

/// The names of model nodes an operation stands for, outermost first.
llvm::SmallVector<llvm::StringRef> nodeNames(mlir::Location loc);

} // namespace partita::codegen

#endif // PARTITA_CODEGEN_EMIT_SCHEDULE_H
