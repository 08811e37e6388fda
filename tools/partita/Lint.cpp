//===- Lint.cpp - partita lint --------------------------------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Imports a model and builds its training program, and reports instead of
// writing.
//
//===----------------------------------------------------------------------===//

#include "Diagnostics.h"
#include "Frontend.h"
#include "Subcommands.h"
#include "dialects/NN/IR/NNOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace partita;
using namespace partita::driver;

namespace {

void describe(ModuleOp module, const nn::ImportReport &report) {
  llvm::outs() << "nodes       " << report.nodes << ": " << report.represented
               << " kept, " << report.folded << " folded\n";
  if (auto forward = module.lookupSymbol<func::FuncOp>("forward")) {
    auto line = [](StringRef what, StringAttr name, Type type) {
      llvm::outs() << what << (name ? name.getValue() : StringRef("?")) << ' '
                   << type << '\n';
    };
    for (unsigned i = 0; i < forward.getNumArguments(); ++i)
      line("input       ", forward.getArgAttrOfType<StringAttr>(i, "nn.name"),
           forward.getArgumentTypes()[i]);
    for (unsigned i = 0; i < forward.getNumResults(); ++i)
      line("output      ",
           forward.getResultAttrOfType<StringAttr>(i, "nn.name"),
           forward.getResultTypes()[i]);
  }
  auto [elements, count] = countParameters(module);
  llvm::outs() << "parameters  " << count << " with " << elements
               << " elements\n";
  for (const std::string &name : report.parameters)
    if (auto variable = module.lookupSymbol<nn::VariableOp>(name))
      llvm::outs() << "  " << name << ' ' << variable.getType() << '\n';
  for (const std::string &finding : report.findings)
    llvm::outs() << "note        " << finding << '\n';
}

} // namespace

int partita::driver::runLint(ArrayRef<const char *> given) {
  ModelOptions options;
  Arguments arguments(
      "lint MODEL.onnx [options]",
      "Tells whether a model can be trained: everything that stands in the "
      "way at once, what would be trained, and what the exporter left out. "
      "Takes the options of partita compile about model and training.");
  addModelOptions(arguments, options);
  int exitCode = kSuccess;
  if (!arguments.parse(given, exitCode))
    return exitCode;
  if (arguments.getPositional().size() != 1)
    return arguments.usageError("expected one model");
  std::string error = finishModelOptions(options);
  if (!error.empty())
    return arguments.usageError(error);
  std::unique_ptr<MLIRContext> context = makeContext();
  DiagnosticPrinter diagnostics(context.get());
  Model model = readModel(*context, arguments.getPositional()[0], options);
  if (!model.module) {
    llvm::outs() << "cannot be trained: " << diagnostics.getNumErrors()
                 << " problem(s), listed above\n";
    return kFailure;
  }
  describe(*model.module, model.report);
  if (countParameters(*model.module).second == 0) {
    llvm::outs() << "cannot be trained: there is no parameter; if the weights "
                    "are Constant or ConstantOfShape nodes, try "
                    "--train-constants\n";
    return kFailure;
  }
  PassManager manager(context.get());
  addPhase(manager, Phase::import, options.pipeline);
  addPhase(manager, Phase::train, options.pipeline);
  if (failed(manager.run(*model.module))) {
    llvm::outs() << "cannot be trained: " << diagnostics.getNumErrors()
                 << " problem(s), listed above\n";
    return kFailure;
  }
  llvm::outs() << "can be trained\n";
  return kSuccess;
}
