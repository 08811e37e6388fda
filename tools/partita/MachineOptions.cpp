//===- MachineOptions.cpp - What --machine decides ------------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Speeds for the schedule, and whether a plan fits.
//
//===----------------------------------------------------------------------===//

#include "Frontend.h"
#include "dialects/Dist/IR/DistDialect.h"
#include "dialects/Dist/IR/Servers.h"
#include "dialects/SPMD/IR/SPMDDialect.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace partita;

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

void partita::driver::useMachine(const ModelOptions &options, ModuleOp module,
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

bool partita::driver::fitsOnMachine(const ModelOptions &options,
                                    ModuleOp module) {
  const std::optional<cost::Machine> &machine = options.machine;
  if (!machine || ranksOf(module) <= machine->devices())
    return true;
  llvm::errs() << "partita: error: --machine: the plan has " << ranksOf(module)
               << " ranks, expected at most the " << machine->devices()
               << " devices of the machine; take a smaller grid, or add "
                  "nodes to the machine file\n";
  return false;
}

bool partita::driver::fitsInMemory(const ModelOptions &options,
                                   ModuleOp module) {
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
