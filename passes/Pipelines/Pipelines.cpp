//===- Pipelines.cpp - The phases of the compiler -------------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each phase as a short pipeline, with the reason for every pass.
//
//===----------------------------------------------------------------------===//

#include "passes/Pipelines/Pipelines.h"
#include "dialects/Dist/IR/DistDialect.h"
#include "dialects/NN/IR/NNDialect.h"
#include "dialects/SPMD/IR/SPMDDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Partition/Passes.h"
#include "passes/Plan/Passes.h"
#include "passes/Schedule/Passes.h"
#include "passes/Train/Passes.h"
#include "passes/Verify/Passes.h"

using namespace mlir;
using namespace partita;

namespace {

struct PhaseEntry {
  Phase phase;
  StringRef name;
  StringRef description;
};

constexpr PhaseEntry kPhases[] = {
    {Phase::import, "import", "the model as one function of nn operations"},
    {Phase::train, "train",
     "loss, gradients and optimizer: @step, @eval, "
     "@predict"},
    {Phase::plan, "plan", "the process grid and the split of every operation"},
    {Phase::spmd, "spmd", "local shapes and collectives, per rank class"},
    {Phase::schedule, "schedule", "streams, events, buckets and one arena"},
    {Phase::source, "source", "the program's source text and weights"},
};

const PhaseEntry &entryOf(Phase phase) {
  return kPhases[static_cast<size_t>(phase)];
}

//===----------------------------------------------------------------------===//
// Train
//===----------------------------------------------------------------------===//

void addTrain(OpPassManager &manager, const PipelineOptions &options) {
  // Three functions of one, so that each can differ.
  AppendLossOptions loss;
  loss.loss = options.loss;
  loss.output = options.output;
  loss.classAxis = options.classAxis;
  manager.addPass(createAppendLoss(loss));
  // Training statistics and masks before gradients are taken of them.
  manager.addPass(createExpandTraining());
  BuildGradientsOptions gradients;
  gradients.optimizer = options.optimizer;
  gradients.lr = options.lr;
  gradients.momentum = options.momentum;
  gradients.nesterov = options.nesterov;
  gradients.weightDecay = options.weightDecay;
  gradients.beta1 = options.beta1;
  gradients.beta2 = options.beta2;
  gradients.eps = options.eps;
  manager.addPass(createBuildGradients(gradients));
  // Gradient rules recompute what others have computed.
  manager.addPass(createCSEPass());
  manager.addPass(createVerifyTrain());
}

//===----------------------------------------------------------------------===//
// Plan, partition
//===----------------------------------------------------------------------===//

void addPlan(OpPassManager &manager, const PipelineOptions &options) {
  if (!options.grid.empty() || !options.splits.empty() ||
      !options.planFile.empty()) {
    AssignSplitsOptions assign;
    assign.grid = options.grid;
    for (const std::string &split : options.splits)
      assign.splits += split + "\n";
    assign.plan = options.planFile;
    assign.ranks = options.ranks;
    manager.addPass(createAssignSplits(assign));
  }
  // Reductions and point-wise operations say how their parts combine.
  manager.addPass(createExpandCoupled());
  // Whatever nobody chose follows its operands.
  PropagateSplitsOptions propagate;
  propagate.ranks = std::max<int64_t>(options.ranks, 1);
  manager.addPass(createPropagateSplits(propagate));
  if (!options.syncs.empty() || !options.planFile.empty() ||
      options.servers > 0) {
    ChooseSyncOptions sync;
    for (const std::string &rule : options.syncs)
      sync.rules += rule + "\n";
    sync.plan = options.planFile;
    sync.servers = options.servers;
    manager.addPass(createChooseSync(sync));
  }
  manager.addPass(createVerifyPlan());
}

void addPartition(OpPassManager &manager) {
  manager.addPass(createPartitionProgram());
  manager.addPass(createVerifyPartition());
}

//===----------------------------------------------------------------------===//
// Schedule
//===----------------------------------------------------------------------===//

void addSchedule(OpPassManager &manager, const PipelineOptions &options) {
  if (options.overlap)
    manager.addPass(createGroupStatistics());
  // While operations are still what they were cut from.
  if (options.overlap && options.overlapHalos)
    manager.addPass(createSplitHalos());
  // Before fusion, which then joins them with what stands around them.
  manager.addPass(createLowerNormalize());
  // Channel vectors are computed several times until here.
  manager.addPass(createCSEPass());
  manager.addPass(createFusePointwise());
  ScheduleProgramOptions schedule;
  schedule.bucketBytes = options.bucketBytes;
  schedule.overlap = options.overlap;
  schedule.priorities = options.priorities;
  schedule.overlapHalos = options.overlapHalos;
  schedule.linkBytesPerSecond = options.linkBytesPerSecond;
  schedule.linkLatency = options.linkLatency;
  schedule.slowness = options.slowness;
  schedule.overlapSteps = options.overlap && options.overlapSteps;
  manager.addPass(createScheduleProgram(schedule));
  manager.addPass(createVerifySchedule());
}

} // namespace

StringRef partita::phaseName(Phase phase) { return entryOf(phase).name; }

StringRef partita::phaseDescription(Phase phase) {
  return entryOf(phase).description;
}

std::optional<Phase> partita::parsePhase(StringRef name) {
  for (const PhaseEntry &entry : kPhases)
    if (entry.name == name)
      return entry.phase;
  return std::nullopt;
}

void partita::addPhase(OpPassManager &manager, Phase phase,
                       const PipelineOptions &options) {
  switch (phase) {
  case Phase::import:
    // Duplicate constants and reads of one weight.
    manager.addPass(createCSEPass());
    manager.addPass(createVerifyImport());
    return;
  case Phase::train:
    return addTrain(manager, options);
  case Phase::plan:
    return addPlan(manager, options);
  case Phase::spmd:
    return addPartition(manager);
  case Phase::schedule:
    return addSchedule(manager, options);
  case Phase::source:
    return;
  }
}

void partita::registerAllPartitaDialects(DialectRegistry &registry) {
  registry.insert<func::FuncDialect, arith::ArithDialect, math::MathDialect,
                  nn::NNDialect, dist::DistDialect, spmd::SPMDDialect>();
}

void partita::registerAllPartitaPasses() {
  registerTrainPasses();
  registerPlanPasses();
  registerPartitionPasses();
  registerSchedulePasses();
  registerVerifyPasses();
  registerCSEPass();
  registerCanonicalizerPass();
}
