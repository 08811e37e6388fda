//===- Frontend.h - Options and import shared by subcommands ---*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Options about the model and its training, and reading the model.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_TOOLS_PARTITA_FRONTEND_H
#define PARTITA_TOOLS_PARTITA_FRONTEND_H

#include "Arguments.h"
#include "dialects/NN/Import/ImportOnnx.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "passes/Cost/Machine.h"
#include "passes/Pipelines/Pipelines.h"

namespace partita::driver {

/// What the user chose about model and training.
struct ModelOptions {
  nn::ImportOptions import;
  PipelineOptions pipeline;
  std::string batchNorm = "file";
  std::string dropout = "file";
  int64_t batch = 0;
  /// The cluster, where a machine file was given.
  std::optional<cost::Machine> machine;
  bool hasNetwork = false;
};

/// Adds the options about the model and its training.
void addModelOptions(Arguments &arguments, ModelOptions &options);

/// Checks and combines what single options cannot see; "" or an error.
std::string finishModelOptions(ModelOptions &options);

/// A model and the phase it has been through.
struct Model {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  Phase phase = Phase::import;
  nn::ImportReport report;
};

/// Reads `path`: an ONNX file, which is imported, or textual IR of any phase
/// (a name that ends in .mlir). Null module after diagnostics.
Model readModel(mlir::MLIRContext &context, llvm::StringRef path,
                const ModelOptions &options);

/// A context with all dialects.
std::unique_ptr<mlir::MLIRContext> makeContext();

/// Number of elements of all parameters, and how many there are.
std::pair<int64_t, int64_t> countParameters(mlir::ModuleOp module);

/// The ranks of a planned program, servers included.
int64_t ranksOf(mlir::ModuleOp module);

/// Takes a module through one phase, with the speeds of the machine file where
/// there is one. Prints an error where a pass fails, the plan has more ranks
/// than the machine devices, or an arena is larger than their memory.
llvm::LogicalResult runPhase(const ModelOptions &options, mlir::ModuleOp module,
                             Phase phase);

/// Writes a file, complete or not at all; prints an error where it cannot.
bool writeFile(const std::string &path,
               llvm::function_ref<void(llvm::raw_ostream &)> write);

/// "512 bytes", "12.3 KB", "45.6 MB".
std::string formatBytes(int64_t bytes);

} // namespace partita::driver

#endif // PARTITA_TOOLS_PARTITA_FRONTEND_H
