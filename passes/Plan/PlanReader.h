//===- PlanReader.h - Reading plan files -----------------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The plan file: JSON, keyed by ONNX node name.
//
//   {
//     "version": 1,
//     "grid": {"pr": 2, "pc": 2},
//     "servers": 2,
//     "layers": {"/conv1/Conv": {"split": "batch:pc,domain.h:pr"}},
//     "parameters": {"conv1.weight": {"sync": "all_reduce", "axes": ["pc"]}}
//   }
//
// Everything but the version may be missing; layers that are not named are
// split as their neighbours need. Also allowed are what the compiler adds for
// people: "semantics" beside "layers", "op" beside "split". Axes of parameters
// follow from the splits; they are checked and not taken over. Files of more
// than 64 MiB or nested deeper than 16 levels are refused.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_PASSES_PLAN_PLANREADER_H
#define PARTITA_PASSES_PLAN_PLANREADER_H

#include "passes/Plan/SplitText.h"
#include "passes/Plan/SyncText.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace partita::plan {

/// A position in a plan file; lines and columns count from 1.
struct PlanPosition {
  unsigned line = 0;
  unsigned column = 0;
};

struct PlanLayer {
  std::string name;
  SplitItems items;
  /// Where the name stands.
  PlanPosition position;
};

struct PlanParameter {
  std::string name;
  std::optional<SyncChoice> sync;
  std::vector<std::string> axes;
  PlanPosition position;
};

/// What a plan file says.
struct PlanText {
  /// Without axes where the file names none.
  GridText grid;
  PlanPosition gridPosition;
  /// Ranks beside the grid that own parameters.
  int64_t servers = 0;
  PlanPosition serversPosition;
  /// In the order of the file, as the parameters.
  std::vector<PlanLayer> layers;
  std::vector<PlanParameter> parameters;
};

/// Takes a finding: where it is (line 0: the file as a whole) and what.
using PlanReport = llvm::function_ref<void(PlanPosition, const std::string &)>;

/// Reads the plan file at `path`; nothing after all findings were reported.
std::optional<PlanText> readPlanFile(llvm::StringRef path, PlanReport report);

/// Reads the text of a plan file.
std::optional<PlanText> parsePlan(llvm::StringRef text, PlanReport report);

} // namespace partita::plan

#endif // PARTITA_PASSES_PLAN_PLANREADER_H
