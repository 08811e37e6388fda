//===- Export.cpp - partita export ----------------------------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Puts trained weights back into the ONNX model they came from.
//
//===----------------------------------------------------------------------===//

#include "Diagnostics.h"
#include "Frontend.h"
#include "Subcommands.h"
#include "dialects/NN/Import/ExportOnnx.h"

using namespace mlir;
using namespace partita;
using namespace partita::driver;

int partita::driver::runExport(ArrayRef<const char *> given) {
  std::string weights;
  std::string output;
  Arguments arguments(
      "export MODEL.onnx --weights DIR -o TRAINED.onnx",
      "Writes the model with trained weights, in the form for inference: "
      "BatchNormalization uses its running statistics, Dropout passes "
      "through.");
  arguments.text("--weights", "DIR",
                 "what a training program wrote with --save: the folder, or "
                 "the .safetensors file",
                 weights);
  arguments.text("-o", "TRAINED.onnx", "the model to write", output);
  int exitCode = kSuccess;
  if (!arguments.parse(given, exitCode))
    return exitCode;
  if (arguments.getPositional().size() != 1)
    return arguments.usageError("expected one model");
  if (weights.empty())
    return arguments.usageError("which weights? give what --save wrote with "
                                "--weights");
  if (output.empty())
    return arguments.usageError("where to? give the new model's name with -o");
  std::unique_ptr<MLIRContext> context = makeContext();
  DiagnosticPrinter diagnostics(context.get());
  nn::ExportReport report;
  if (failed(nn::exportTrained(*context, arguments.getPositional()[0], weights,
                               output, report)))
    return kFailure;
  for (const std::string &finding : report.findings)
    llvm::errs() << "partita: note: " << finding << '\n';
  llvm::errs() << "exported  " << output << ": " << report.replaced
               << " tensors with trained values, " << report.nodes
               << " nodes turned to inference\n";
  if (!report.sideFile.empty())
    llvm::errs() << "          weights are in " << report.sideFile << '\n';
  return kSuccess;
}
