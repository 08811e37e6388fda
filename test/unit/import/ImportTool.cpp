//===- ImportTool.cpp - Prints what an ONNX file imports to ----*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The importer alone, for tests that start it many times: several models in one
// run, a line of the report each with --report, the IR otherwise.
//
//===----------------------------------------------------------------------===//

#include "dialects/NN/IR/NNOps.h"
#include "dialects/NN/Import/ExportOnnx.h"
#include "dialects/NN/Import/ImportOnnx.h"
#include "dialects/NN/Import/OperatorTable.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"

using namespace llvm;
using namespace mlir;
using namespace partita::nn;

namespace {

cl::list<std::string> paths(cl::Positional, cl::desc("MODEL.onnx..."));
cl::list<std::string> dims("dim", cl::desc("NAME=N"));
cl::opt<int64_t> batch("batch", cl::desc("global batch"));
cl::opt<bool> trainConstants("train-constants");
cl::list<std::string> init("init", cl::desc("RULE or PATTERN=RULE"));
cl::opt<int64_t> seed("seed");
cl::opt<std::string> batchNorm("batch-norm");
cl::opt<std::string> dropout("dropout");
cl::opt<bool> reportOnly("report", cl::desc("print the report, not the IR"));
cl::opt<bool> generic("generic", cl::desc("print the generic form"));
cl::opt<bool> operators("operators", cl::desc("list the operator table"));
cl::opt<std::string> weights("weights", cl::desc("export with these"));
cl::opt<std::string> outPath("o", cl::desc("where to export to"));
cl::opt<bool> debugInfo("debuginfo", cl::desc("print locations"));

bool readOptions(ImportOptions &options) {
  for (StringRef dim : dims) {
    auto [name, size] = dim.rsplit('=');
    int64_t number;
    if (size.getAsInteger(10, number))
      return false;
    options.dims[name.str()] = number;
  }
  options.batch = batch;
  options.trainConstants = trainConstants;
  for (StringRef rule : init) {
    auto [pattern, text] = rule.rsplit('=');
    if (text.empty())
      options.init = rule.str();
    else
      options.initPatterns.emplace_back(pattern.str(), text.str());
  }
  options.seed = seed;
  if (!batchNorm.empty())
    options.batchNorm = symbolizeBatchNormMode(batchNorm);
  if (dropout == "training")
    options.dropout = DropoutMode::training;
  if (dropout == "off")
    options.dropout = DropoutMode::off;
  return true;
}

void printReport(StringRef path, const ImportReport &report) {
  outs() << path << ": " << report.nodes << " nodes, " << report.represented
         << " represented, " << report.folded << " folded, "
         << report.parameters.size() << " parameters\n";
  for (const std::string &name : report.parameters)
    outs() << "parameter " << name << "\n";
  for (const std::string &finding : report.findings)
    outs() << "finding: " << finding << "\n";
}

} // namespace

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  cl::ParseCommandLineOptions(argc, argv, "import ONNX models\n");
  if (operators)
    for (StringRef name : importer::operatorNames())
      outs() << name << "\n";
  ImportOptions options;
  if (!readOptions(options)) {
    errs() << "error: --dim takes NAME=N\n";
    return 2;
  }
  bool failed = false;
  for (const std::string &path : paths) {
    MLIRContext context(MLIRContext::Threading::DISABLED);
    context.getDiagEngine().registerHandler([](Diagnostic &diagnostic) {
      errs() << (diagnostic.getSeverity() == DiagnosticSeverity::Error
                     ? "error: "
                     : "note: ");
      if (auto file = dyn_cast<FileLineColLoc>(diagnostic.getLocation()))
        errs() << file.getFilename().getValue() << ": ";
      errs() << diagnostic << "\n";
      return success();
    });
    if (!weights.empty()) {
      ExportReport report;
      if (mlir::failed(exportTrained(context, path, weights, outPath, report)))
        return 1;
      outs() << report.replaced << " tensors, " << report.nodes
             << " nodes, side file '" << report.sideFile << "'\n";
      continue;
    }
    ImportReport report;
    OwningOpRef<ModuleOp> module = importOnnx(context, path, options, report);
    failed |= !module;
    if (!module)
      continue;
    if (reportOnly) {
      printReport(path, report);
      continue;
    }
    OpPrintingFlags flags;
    if (generic)
      flags.printGenericOpForm();
    if (debugInfo)
      flags.enableDebugInfo();
    module->print(outs(), flags);
    outs() << "\n";
  }
  return failed ? 1 : 0;
}
