//===- ImportOnnx.h - From an ONNX file to nn ------------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The phase `import`: reads an ONNX model and writes it as one function of nn
// operations on static shapes, with every weight an nn.variable that refers to
// bytes of the file.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_DIALECTS_NN_IMPORT_IMPORTONNX_H
#define PARTITA_DIALECTS_NN_IMPORT_IMPORTONNX_H

#include "dialects/NN/IR/NNDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace partita::nn {

/// What BatchNormalization and Dropout nodes do in the training step.
enum class DropoutMode {
  /// What the file says: nodes exported for inference pass their input on.
  asFile,
  /// Every Dropout node drops, with the ratio of the file.
  training,
  /// No Dropout node drops.
  off
};

/// What the user chooses about an import.
struct ImportOptions {
  /// Sizes of symbolic dimensions by name; a dimension without a name is
  /// called INPUT[AXIS].
  std::map<std::string, int64_t> dims;
  /// Global batch: the size of the data inputs' first dimension, where that is
  /// symbolic or differs. 0: what the file says.
  int64_t batch = 0;
  /// Train floating-point results of Constant and ConstantOfShape nodes of two
  /// and more elements, and rank-0 initializers.
  bool trainConstants = false;
  /// Rule for the initial values of all variables; empty: those of the file.
  /// One of he_normal, he_uniform, xavier_normal, xavier_uniform,
  /// lecun_normal, normal:STD, uniform:A, zeros.
  std::string init;
  /// Rules for the variables whose names match a pattern (`*` and `?`); the
  /// last match wins and goes before `init`.
  std::vector<std::pair<std::string, std::string>> initPatterns;
  /// Seed of the random rules.
  int64_t seed = 0;
  /// Mode of every BatchNormalization node; unset: training nodes use the
  /// global batch, nodes exported for inference stay frozen.
  std::optional<BatchNormMode> batchNorm;
  DropoutMode dropout = DropoutMode::asFile;
};

/// What an import did.
struct ImportReport {
  /// Nodes of the graph, after local functions were inlined; each is
  /// represented by operations or was folded.
  int64_t nodes = 0;
  int64_t represented = 0;
  int64_t folded = 0;
  /// Names of the variables that will be trained, in order of first use.
  std::vector<std::string> parameters;
  /// What the user should know, a sentence each.
  std::vector<std::string> findings;
};

/// Whether `rule` is one that ImportOptions::init takes.
bool isInitRule(llvm::StringRef rule);

/// Import the model at `path`. Returns null after diagnostics, each of which
/// names the file and, where there is one, the node.
mlir::OwningOpRef<mlir::ModuleOp> importOnnx(mlir::MLIRContext &context,
                                             llvm::StringRef path,
                                             const ImportOptions &options,
                                             ImportReport &report);

} // namespace partita::nn

#endif // PARTITA_DIALECTS_NN_IMPORT_IMPORTONNX_H
