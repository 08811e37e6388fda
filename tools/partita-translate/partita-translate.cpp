//===- partita-translate.cpp - Prints scheduled modules as programs -------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For tests of code generation and for looking at its output:
//
//     partita-translate --print-source [--split-input-file]
//                       [--verify-diagnostics] in.mlir
//     partita-translate --emit-program=FOLDER in.mlir
//     partita-translate --emit-program=train.src --build=train in.mlir
//
//===----------------------------------------------------------------------===//

#include "codegen/Program/BuildProgram.h"
#include "codegen/Program/EmitProgram.h"
#include "dialects/Dist/IR/DistDialect.h"
#include "dialects/NN/IR/NNOps.h"
#include "dialects/SPMD/IR/SPMDDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Support/ToolUtilities.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace partita;
namespace cl = llvm::cl;

static cl::OptionCategory category("partita-translate");
static cl::opt<std::string> input(cl::Positional,
                                  cl::desc("<scheduled module>"), cl::init("-"),
                                  cl::cat(category));
static cl::opt<bool> printSource("print-source",
                                 cl::desc("Print the source file"),
                                 cl::cat(category));
static cl::opt<bool>
    splitInput("split-input-file",
               cl::desc("Treat the parts between lines of // ----- as files"),
               cl::cat(category));
static cl::opt<bool>
    verifyDiagnostics("verify-diagnostics",
                      cl::desc("Compare diagnostics with expected-* comments"),
                      cl::cat(category));
static cl::opt<std::string> folder("emit-program", cl::value_desc("folder"),
                                   cl::desc("Write the folder of the program"),
                                   cl::cat(category));
static cl::opt<std::string>
    executable("build", cl::value_desc("file"),
               cl::desc("Also compile it to this program"), cl::cat(category));
static cl::opt<bool> verbose("verbose",
                             cl::desc("Print the commands of --build"),
                             cl::cat(category));
static cl::opt<codegen::Target>
    target("target", cl::desc("What the program runs on"),
           cl::values(clEnumValN(codegen::Target::cpu, "cpu", "CPUs"),
                      clEnumValN(codegen::Target::cuda, "cuda", "NVIDIA GPUs")),
           cl::init(codegen::Target::cpu), cl::cat(category));
static cl::opt<std::string> name("name", cl::desc("Name of the program"),
                                 cl::cat(category));

/// Does what the options ask for with one module.
static LogicalResult translate(std::unique_ptr<llvm::MemoryBuffer> buffer,
                               llvm::raw_ostream &os) {
  auto sources = std::make_shared<llvm::SourceMgr>();
  sources->AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  MLIRContext context;
  context.loadDialect<func::FuncDialect, arith::ArithDialect, math::MathDialect,
                      nn::NNDialect, dist::DistDialect, spmd::SPMDDialect>();
  context.printOpOnDiagnostic(false);
  std::unique_ptr<SourceMgrDiagnosticHandler> handler;
  std::unique_ptr<SourceMgrDiagnosticVerifierHandler> verifier;
  if (verifyDiagnostics)
    verifier = std::make_unique<SourceMgrDiagnosticVerifierHandler>(*sources,
                                                                    &context);
  else
    handler = std::make_unique<SourceMgrDiagnosticHandler>(*sources, &context);
  codegen::EmitOptions options;
  options.target = target;
  options.name = name;
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, &context);
  LogicalResult result = failure();
  if (module)
    result = printSource ? codegen::printProgram(*module, options, os)
                         : codegen::emitProgram(*module, options, folder);
  return verifier ? verifier->verify() : result;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv,
                              "Prints scheduled modules as programs\n");
  if (printSource == !folder.empty()) {
    llvm::errs() << "error: expected one of --print-source and "
                    "--emit-program=FOLDER\n";
    return 2;
  }
  std::string message;
  auto file = openInputFile(input, &message);
  if (!file) {
    llvm::errs() << "error: " << message << '\n';
    return 1;
  }
  if (failed(splitAndProcessBuffer(std::move(file), translate, llvm::outs(),
                                   splitInput ? kDefaultSplitMarker : "")))
    return 1;
  if (executable.empty())
    return 0;
  codegen::BuildOptions build;
  build.target = target;
  build.verbose = verbose;
  if (llvm::Error error = codegen::buildProgram(folder, executable, build)) {
    llvm::errs() << "error: " << llvm::toString(std::move(error)) << '\n';
    return 1;
  }
  return 0;
}
