//===- Reduction.cpp - Deterministic reductions -----------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Plans reductions: how outputs and terms are laid out over threads.
//
//===----------------------------------------------------------------------===//

#include "Reduction.h"

#include <algorithm>

using namespace partita;
using namespace partita::kernels;

/// Up to this many terms a single thread is as fast as several.
static constexpr std::int64_t kFewTerms = 16;

/// A block should have at least this many terms to be worth a part.
static constexpr std::int64_t kTermsOfPart = 4096;

/// Blocks that keep a large GPU busy; more parts than needed for these would
/// only make the second kernel slower.
static constexpr std::int64_t kBusyBlocks = 1024;

ReducePlan::ReducePlan(const char *kernel, const Dims &shape,
                       const Dims &axes) {
  checkShape(kernel, shape);
  checkAxes(kernel, axes, shape.size());
  std::vector<bool> isReduced(shape.size(), false);
  for (std::int64_t axis : axes)
    isReduced[axis] = true;
  Dims strides = rowMajorStrides(shape);
  Dims keptSizes, keptStrides, reducedSizes, reducedStrides;
  bool innerReduced = false;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    (isReduced[i] ? terms : outputs) *= shape[i];
    (isReduced[i] ? reducedSizes : keptSizes).push_back(shape[i]);
    (isReduced[i] ? reducedStrides : keptStrides).push_back(strides[i]);
    if (shape[i] != 1)
      innerReduced = isReduced[i];
  }
  kept = axisMap(kernel, keptSizes, keptStrides);
  reduced = axisMap(kernel, reducedSizes, reducedStrides);
  termsPerPart = terms;
  if (terms <= kFewTerms || outputs == 0)
    return;
  walk = innerReduced ? Walk::byBlock : Walk::byColumn;
  std::int64_t outputsOfBlock = innerReduced ? 1 : kColumns;
  std::int64_t blocks = (outputs + outputsOfBlock - 1) / outputsOfBlock;
  std::int64_t useful = std::max<std::int64_t>(1, kBusyBlocks / blocks);
  std::int64_t most =
      std::max<std::int64_t>(1, terms * outputsOfBlock / kTermsOfPart);
  parts = std::min(useful, most);
  termsPerPart = (terms + parts - 1) / parts;
}
