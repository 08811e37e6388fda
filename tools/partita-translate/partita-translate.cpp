//===- partita-translate.cpp - Prints scheduled modules as programs -------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For tests of code generation and for looking at its output:
//
//     partita-translate --print-source in.mlir
//     partita-translate --emit-program=FOLDER in.mlir
//
//===----------------------------------------------------------------------===//

#include "codegen/Program/EmitProgram.h"
#include "dialects/Dist/IR/DistDialect.h"
#include "dialects/NN/IR/NNOps.h"
#include "dialects/SPMD/IR/SPMDDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;
using namespace partita;
namespace cl = llvm::cl;

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::OptionCategory category("partita-translate");
  cl::opt<std::string> input(cl::Positional, cl::desc("<scheduled module>"),
                             cl::init("-"), cl::cat(category));
  cl::opt<bool> printSource("print-source", cl::desc("Print the source file"),
                            cl::cat(category));
  cl::opt<std::string> folder("emit-program", cl::value_desc("folder"),
                              cl::desc("Write the folder of the program"),
                              cl::cat(category));
  cl::opt<codegen::Target> target(
      "target", cl::desc("What the program runs on"),
      cl::values(clEnumValN(codegen::Target::cpu, "cpu", "CPUs"),
                 clEnumValN(codegen::Target::cuda, "cuda", "NVIDIA GPUs")),
      cl::init(codegen::Target::cpu), cl::cat(category));
  cl::opt<std::string> name("name", cl::desc("Name of the program"),
                            cl::cat(category));
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
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(file), llvm::SMLoc());
  MLIRContext context;
  SourceMgrDiagnosticHandler handler(sources, &context);
  context.loadDialect<func::FuncDialect, arith::ArithDialect, math::MathDialect,
                      nn::NNDialect, dist::DistDialect, spmd::SPMDDialect>();
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, &context);
  if (!module)
    return 1;

  codegen::EmitOptions options;
  options.target = target;
  options.name = name;
  LogicalResult result =
      printSource ? codegen::printProgram(*module, options, llvm::outs())
                  : codegen::emitProgram(*module, options, folder);
  return failed(result) ? 1 : 0;
}
