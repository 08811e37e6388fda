//===- ProgramFaults.h - Ways to break a program ---------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Faults of partitioned programs and the places where they can be.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_PASSES_FAULTS_PROGRAMFAULTS_H
#define PARTITA_PASSES_FAULTS_PROGRAMFAULTS_H

#include "dialects/SPMD/IR/SPMDDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include <functional>
#include <vector>

namespace partita::faults {

/// One place for a fault: an operation and how to break the program there.
struct Place {
  mlir::Operation *op;
  std::function<void()> breakIt;
};

/// The classes' functions of every phase. Operation i of one is operation i of
/// the others, for all are made of one planned function; what stands for an
/// empty part counts, what only prepares it does not.
class Program {
public:
  explicit Program(mlir::ModuleOp module);

  using Filter = llvm::function_ref<bool(mlir::Operation *)>;
  using Action = std::function<void(mlir::Operation *)>;

  /// Places in all classes at once; the first class decides.
  void inAll(std::vector<Place> &places, Filter filter, Action action) const;
  /// Places in one of several classes.
  void inOne(std::vector<Place> &places, Filter filter, Action action) const;
  /// Visits the functions of each phase.
  void forEachPhase(
      llvm::function_ref<void(llvm::ArrayRef<mlir::func::FuncOp>)> visit) const;

  dist::GridAttr getGrid() const { return grid; }
  mlir::ModuleOp getModule() const { return module; }

private:
  struct Function {
    mlir::func::FuncOp op;
    std::vector<mlir::Operation *> sequence;
  };
  mlir::ModuleOp module;
  dist::GridAttr grid;
  std::vector<std::vector<Function>> phases;
};

/// A kind of fault.
struct Fault {
  llvm::StringLiteral name;
  llvm::StringLiteral what;
  void (*find)(const Program &, std::vector<Place> &);
};

llvm::ArrayRef<Fault> allFaults();

} // namespace partita::faults

#endif // PARTITA_PASSES_FAULTS_PROGRAMFAULTS_H
