//===- ExportOnnx.h - Trained weights back into an ONNX file ---*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes the model that was trained again, with the trained parameters and
// running statistics in place of the old ones, for inference.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_DIALECTS_NN_IMPORT_EXPORTONNX_H
#define PARTITA_DIALECTS_NN_IMPORT_EXPORTONNX_H

#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/LogicalResult.h"
#include <string>
#include <vector>

namespace partita::nn {

/// What an export did.
struct ExportReport {
  /// Tensors that got trained values.
  int64_t replaced = 0;
  /// Nodes that were turned from training to inference.
  int64_t nodes = 0;
  /// The side file with the weights, when the model would pass 2 GB.
  std::string sideFile;
  /// What the user should know, a sentence each.
  std::vector<std::string> findings;
};

/// Write the model at `modelPath` to `outPath` with the tensors of the
/// safetensors file `weightsPath` (or of parameters.safetensors in the folder
/// `weightsPath`). The opset stays; BatchNormalization and Dropout nodes become
/// those of inference; trained Constant and ConstantOfShape nodes become
/// initializers. Tensors without trained values are copied. Files are written
/// beside and renamed; past 2 GB the weights go to `outPath`.data. Fails after
/// diagnostics and leaves nothing then.
llvm::LogicalResult exportTrained(mlir::MLIRContext &context,
                                  llvm::StringRef modelPath,
                                  llvm::StringRef weightsPath,
                                  llvm::StringRef outPath,
                                  ExportReport &report);

} // namespace partita::nn

#endif // PARTITA_DIALECTS_NN_IMPORT_EXPORTONNX_H
