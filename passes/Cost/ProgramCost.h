//===- ProgramCost.h - What a scheduled program costs -----------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Gives the launches and calls of a scheduled module their seconds. A launch is
// as long as its operations take at half of the device's peak or its bytes at
// two thirds of the memory's, whichever is longer (the roofline of Williams,
// Waterman and Patterson, CACM 2009, with nominal efficiencies: nothing is
// calibrated yet). Calls follow Collectives.h on the link level that their
// ranks need: ranks are placed node by node, and groups that communicate at
// the same time share the link between nodes.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_PASSES_COST_PROGRAMCOST_H
#define PARTITA_PASSES_COST_PROGRAMCOST_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/Cost/Machine.h"
#include "passes/Cost/Simulator.h"

namespace partita::spmd {
class CommunicateOp;
class LaunchOp;
} // namespace partita::spmd

namespace partita::cost {

/// Multiplications and additions of a launch: of convolutions and products;
/// one for each element of the result of anything else.
double operationsOf(spmd::LaunchOp launch);

/// Bytes that a launch reads and writes.
double bytesOf(spmd::LaunchOp launch);

/// How a communicator lies on the machine.
struct Placement {
  int64_t ranks = 1;
  /// Members that share a node, and groups that communicate beside this one
  /// on each node.
  int64_t perNode = 1, groupsPerNode = 1;

  int64_t nodes() const { return (ranks + perNode - 1) / perNode; }
};

/// The groups over some axes of a grid (sizes row-major, the last axis fastest)
/// on nodes of `devices` devices.
Placement placementOf(llvm::ArrayRef<int64_t> sizes,
                      llvm::ArrayRef<int64_t> axes, int64_t devices);

/// Classes and their step, ready to be simulated.
std::vector<SimClass> simulationOf(mlir::ModuleOp module,
                                   const Machine &machine);

} // namespace partita::cost

#endif // PARTITA_PASSES_COST_PROGRAMCOST_H
