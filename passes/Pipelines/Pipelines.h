//===- Pipelines.h - The phases of the compiler ----------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The phases between the ONNX file and the emitted text, as pass pipelines.
// Each ends with the read-only check of its contract.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_PASSES_PIPELINES_PIPELINES_H
#define PARTITA_PASSES_PIPELINES_PIPELINES_H

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/PassManager.h"
#include <optional>
#include <string>
#include <vector>

namespace partita {

/// The phases, in order. `import` and `source` are not pipelines.
enum class Phase { import, train, plan, spmd, schedule, source };

/// Name as in --emit=NAME, and what the phase does in one line.
llvm::StringRef phaseName(Phase phase);
llvm::StringRef phaseDescription(Phase phase);
std::optional<Phase> parsePhase(llvm::StringRef name);

/// What the phases need to know.
struct PipelineOptions {
  /// cross_entropy, mse or output:NAME.
  std::string loss = "cross_entropy";
  /// The model result the loss is taken of; empty: the first.
  std::string output;
  /// Class dimension of cross_entropy.
  int64_t classAxis = 1;
  /// sgd, adam or adamw.
  std::string optimizer = "sgd";
  double lr = 0.01;
  double momentum = 0.0;
  bool nesterov = false;
  double weightDecay = 0.0;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  /// Number of ranks; 0: as the grid says, and one without a grid.
  int64_t ranks = 0;
  /// Axes or a shorthand, PATTERN=SPLIT rules, and the path of a plan file (see
  /// passes/Plan/SplitText.h). All empty: the batch is split over all ranks.
  std::string grid;
  std::vector<std::string> splits;
  std::string planFile;
  /// PATTERN=METHOD rules (see passes/Plan/SyncText.h).
  std::vector<std::string> syncs;
  /// Ranks beside the grid that own the parameters of parameter_server.
  int64_t servers = 0;
  /// Bytes from which a gradient bucket is closed; 0: chosen by the size of the
  /// model.
  int64_t bucketBytes = 0;
  /// Communicate while the backward pass computes.
  bool overlap = true;
  /// Send first what the next step needs first, not what is ready first.
  bool priorities = true;
  /// Let communication go on while the next step's forward pass runs.
  bool overlapSteps = true;
  /// Compute what needs no neighbour's elements while these arrive.
  bool overlapHalos = true;
  /// What the link of a rank carries, and seconds before the first byte
  /// arrives. Decides the order of calls; 1 Gbit/s Ethernet.
  double linkBytesPerSecond = 1.25e8;
  double linkLatency = 2e-4;
  /// How long a rank computes beside a core of 1e11 operations per second.
  double slowness = 1;
};

/// Appends the passes of one phase, its contract check last.
void addPhase(mlir::OpPassManager &manager, Phase phase,
              const PipelineOptions &options);

/// All dialects that occur in any phase.
void registerAllPartitaDialects(mlir::DialectRegistry &registry);

/// All passes, and a pipeline `partita-<phase>` for every phase.
void registerAllPartitaPasses();

} // namespace partita

#endif // PARTITA_PASSES_PIPELINES_PIPELINES_H
