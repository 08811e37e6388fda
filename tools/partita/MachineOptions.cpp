//===- MachineOptions.cpp - What --machine decides ------------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Phases with the speeds of the machine file, and whether what they make fits.
//
//===----------------------------------------------------------------------===//

#include "Frontend.h"
#include "dialects/Dist/IR/DistDialect.h"
#include "dialects/Dist/IR/Servers.h"
#include "dialects/SPMD/IR/SPMDDialect.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;
using namespace partita;
using namespace partita::driver;

std::string partita::driver::formatBytes(int64_t bytes) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (bytes < 10 * 1024)
    os << bytes << " bytes";
  else if (bytes < 10 * 1024 * 1024)
    os << llvm::format("%.1f KB", bytes / 1e3);
  else
    os << llvm::format("%.1f MB", bytes / 1e6);
  return text;
}

int64_t partita::driver::ranksOf(ModuleOp module) {
  int64_t ranks = 1;
  if (auto grid = module->getAttrOfType<dist::GridAttr>(dist::kGridAttr))
    ranks = grid.getNumRanks();
  return ranks + dist::serversOf(module);
}

/// Gives the schedule the speeds of the machine's links, and of the slowest of
/// its devices beside a nominal core.
static void useMachine(const ModelOptions &options, ModuleOp module,
                       PipelineOptions &pipeline) {
  const std::optional<cost::Machine> &machine = options.machine;
  if (!machine)
    return;
  cost::AlphaBeta link = machine->linkOf(ranksOf(module)).cost;
  if (!options.hasNetwork && link.beta > 0) {
    pipeline.linkBytesPerSecond = 1 / link.beta;
    pipeline.linkLatency = link.alpha;
  }
  double core = cost::findDeviceKind("cpu-core")->flops;
  pipeline.slowness = 0;
  for (const cost::DeviceGroup &group : machine->groups)
    pipeline.slowness = std::max(pipeline.slowness, core / group.kind.flops);
}

static bool fitsOnMachine(const ModelOptions &options, ModuleOp module) {
  const std::optional<cost::Machine> &machine = options.machine;
  if (!machine || ranksOf(module) <= machine->devices())
    return true;
  llvm::errs() << "partita: error: --machine: the plan has " << ranksOf(module)
               << " ranks, expected at most the " << machine->devices()
               << " devices of the machine; take a smaller grid, or add "
                  "nodes to the machine file\n";
  return false;
}

/// Arenas are exact: what is larger than the memory does not fit.
static bool fitsInMemory(const ModelOptions &options, ModuleOp module) {
  const std::optional<cost::Machine> &machine = options.machine;
  if (!machine)
    return true;
  const cost::DeviceKind *least = &machine->groups.front().kind;
  for (const cost::DeviceGroup &group : machine->groups)
    if (group.kind.memory < least->memory)
      least = &group.kind;
  bool fits = true;
  for (auto classOp : module.getOps<spmd::ClassOp>()) {
    int64_t bytes = classOp.getArenaBytes().value_or(0);
    if (double(bytes) <= least->memory)
      continue;
    fits = false;
    llvm::errs() << "partita: error: --machine: class " << classOp.getSymName()
                 << " needs " << formatBytes(bytes) << ", expected at most the "
                 << formatBytes(int64_t(least->memory)) << " of '"
                 << least->name
                 << "'; try more ranks, a smaller batch, or splits of the "
                    "layers with the largest parameters (model) or "
                    "activations (batch, domain)\n";
  }
  return fits;
}

LogicalResult partita::driver::runPhase(const ModelOptions &options,
                                        ModuleOp module, Phase phase) {
  PipelineOptions pipeline = options.pipeline;
  if (phase == Phase::schedule)
    useMachine(options, module, pipeline);
  PassManager manager(module.getContext());
  addPhase(manager, phase, pipeline);
  // Every pass checks what it made; the text tells which phase failed.
  if (failed(manager.run(module))) {
    llvm::errs() << "partita: phase " << phaseName(phase)
                 << " failed; nothing was written\n";
    return failure();
  }
  if (phase == Phase::plan)
    return success(fitsOnMachine(options, module));
  return success(phase != Phase::schedule || fitsInMemory(options, module));
}

bool partita::driver::writeFile(
    const std::string &path,
    llvm::function_ref<void(llvm::raw_ostream &)> write) {
  std::error_code error;
  llvm::ToolOutputFile file(path, error, llvm::sys::fs::OF_Text);
  if (error) {
    llvm::errs() << "partita: error: cannot write " << path << ": "
                 << error.message() << '\n';
    return false;
  }
  write(file.os());
  file.os().flush();
  if (file.os().has_error()) {
    llvm::errs() << "partita: error: cannot write " << path << ": "
                 << file.os().error().message() << '\n';
    file.os().clear_error();
    return false;
  }
  file.keep();
  return true;
}
