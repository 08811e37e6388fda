//===- TablePrinter.h - The tables of an emitted program --------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prints the function `describe`, which fills partita::Program: grid, rank
// classes, inputs, variables, gradients and results.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_CODEGEN_PROGRAM_TABLEPRINTER_H
#define PARTITA_CODEGEN_PROGRAM_TABLEPRINTER_H

#include "codegen/Emit/Schedule.h"
#include "codegen/Emit/Splits.h"
#include "dialects/NN/IR/NNOps.h"

#include <map>

namespace partita::codegen {

/// A variable of the module that the program keeps in its arena.
struct ProgramVariable {
  nn::VariableOp op;
  /// The value every element starts with; none: it is in the weights file.
  std::optional<double> fill;
};

/// The variables that have a buffer, in the module's order.
mlir::FailureOr<std::vector<ProgramVariable>>
programVariables(const Schedule &schedule);

/// Prints `describe(Program &p)` and the functions it uses.
class TablePrinter {
public:
  TablePrinter(const Schedule &schedule, llvm::StringRef name,
               llvm::StringRef target, SplitTables &splits)
      : schedule(schedule), name(name), target(target), splits(splits) {}

  /// Errors are diagnostics.
  mlir::LogicalResult print(llvm::raw_ostream &os);

private:
  /// Where a buffer lies in every class of the program.
  struct Place {
    spmd::BufferOp op;
    std::vector<int64_t> offsets;
  };
  /// Where a variable lies on servers: per class one place for each group that
  /// a server serves.
  struct Served {
    spmd::BufferOp op;
    std::vector<std::vector<int64_t>> offsets;
  };
  mlir::LogicalResult collect();
  void collectServed(const Group &group);
  void printServed(llvm::raw_ostream &os) const;
  std::string tensorArguments(const Place &place, llvm::StringRef tensorName,
                              mlir::RankedTensorType type,
                              dist::LayoutAttr layout);
  void printRow(llvm::raw_ostream &os, llvm::StringRef head,
                const Place &place);

  const Schedule &schedule;
  llvm::StringRef name, target;
  SplitTables &splits;
  std::vector<Place> inputs, gradients;
  std::vector<std::pair<std::string, Place>> results; ///< Phase and place.
  llvm::StringMap<Place> variables;
  std::map<std::string, Served> servedVariables;
};

} // namespace partita::codegen

#endif // PARTITA_CODEGEN_PROGRAM_TABLEPRINTER_H
