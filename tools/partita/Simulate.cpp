//===- Simulate.cpp - partita simulate ------------------------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiles a model up to its schedule and plays that on a machine file.
//
//===----------------------------------------------------------------------===//

#include "Diagnostics.h"
#include "Frontend.h"
#include "Subcommands.h"
#include "passes/Cost/ProgramCost.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace partita;
using namespace partita::cost;
using namespace partita::driver;

namespace {

std::string shortened(llvm::StringRef text) {
  constexpr size_t kWidest = 40;
  return text.size() <= kWidest ? text.str()
                                : (text.take_front(kWidest - 3) + "...").str();
}

double hiddenShare(double total, double exposed) {
  return total > 0 ? 100 * (1 - exposed / total) : 100;
}

void print(const std::vector<SimClass> &classes, const Simulation &simulation,
           int64_t batch, int64_t ranks) {
  llvm::raw_ostream &os = llvm::outs();
  os << llvm::formatv("step time           {0:F3} ms simulated, {1:F1} "
                      "samples/s on {2} ranks\n",
                      1e3 * simulation.stepSeconds,
                      double(batch) / simulation.stepSeconds, ranks);
  for (auto [i, program] : llvm::enumerate(classes))
    os << llvm::formatv("class {0,-14}{1} of {2}, computes {3:F1} % of the "
                        "step\n",
                        program.name, program.ranks, ranks,
                        100 * simulation.utilisation[i]);
  os << llvm::formatv("network peak        {0:F2} MB/s simulated, sent by one "
                      "rank\n",
                      simulation.networkPeak / 1e6);
  if (simulation.calls.empty())
    return;
  os << "communication per rank and step, of class " << classes.front().name
     << ", simulated\n";
  os << llvm::formatv("  {0,-40}{1,7}{2,13}{3,12}{4,12}{5,10}\n", "call",
                      "calls", "bytes", "total ms", "exposed ms", "hidden %");
  for (const SimCall &call : simulation.calls)
    os << llvm::formatv("  {0,-40}{1,7}{2,13:F0}{3,12:F3}{4,12:F3}{5,10:F1}\n",
                        shortened(call.name), call.calls, call.bytes,
                        1e3 * call.total, 1e3 * call.exposed,
                        hiddenShare(call.total, call.exposed));
  os << llvm::formatv(
      "overlap efficiency  {0:F1} % of the communication time "
      "is hidden behind computation, simulated\n",
      hiddenShare(simulation.totalSeconds(), simulation.exposedSeconds()));
}

} // namespace

int partita::driver::runSimulate(ArrayRef<const char *> given) {
  ModelOptions options;
  std::string trace;
  Arguments arguments(
      "simulate MODEL.onnx --machine FILE [options]",
      "Plays a step of a model's training program on the machine of a machine "
      "file: step time, what communicates when, and what of it is hidden. "
      "Takes the options of partita compile about model, training and plan. "
      "Devices compute at nominal efficiencies of their data sheets: compare "
      "plans with it, not machines.");
  addModelOptions(arguments, options);
  arguments.heading("simulation");
  arguments.text("--trace", "FILE", "write the step as a Chrome trace", trace);
  int exitCode = kSuccess;
  if (!arguments.parse(given, exitCode))
    return exitCode;
  if (arguments.getPositional().size() != 1)
    return arguments.usageError("expected one model");
  if (!options.machine)
    return arguments.usageError("expected --machine FILE; partita machines "
                                "explains such files");
  std::string error = finishModelOptions(options);
  if (!error.empty())
    return arguments.usageError(error);
  std::unique_ptr<MLIRContext> context = makeContext();
  DiagnosticPrinter diagnostics(context.get());
  Model model = readModel(*context, arguments.getPositional()[0], options);
  if (!model.module)
    return kFailure;
  ModuleOp module = *model.module;
  int64_t batch = options.batch;
  for (Phase phase : {Phase::import, Phase::train, Phase::plan, Phase::spmd,
                      Phase::schedule}) {
    if (phase < model.phase || (phase == model.phase && phase != Phase::import))
      continue;
    if (failed(runPhase(options, module, phase)))
      return kFailure;
  }
  if (auto known = module->getAttrOfType<IntegerAttr>("partita.batch"))
    batch = known.getInt();
  std::vector<SimClass> classes = simulationOf(module, *options.machine);
  Simulation simulation = simulate(classes);
  if (!simulation.error.empty()) {
    llvm::errs() << "partita: error: " << simulation.error << '\n';
    return kFailure;
  }
  print(classes, simulation, batch, ranksOf(module));
  if (!trace.empty()) {
    if (!writeFile(trace, [&](llvm::raw_ostream &os) {
          os << traceOf(classes, simulation);
        }))
      return kFailure;
    llvm::outs() << "trace               written to '" << trace << "'\n";
  }
  return kSuccess;
}
