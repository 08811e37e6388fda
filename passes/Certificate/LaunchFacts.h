//===- LaunchFacts.h - What a launch does to values ------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What follows from an operation's iteration space and split: which results
// are parts of a reduction, and how many terms of a mean a rank has.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_PASSES_CERTIFICATE_LAUNCHFACTS_H
#define PARTITA_PASSES_CERTIFICATE_LAUNCHFACTS_H

#include "dialects/SPMD/IR/SPMDDialect.h"
#include <optional>

namespace partita::certificate {

/// Weight of the terms of a mean, and who has them.
struct MeanFacts {
  int64_t terms = 0;
  double scale = 0;
  llvm::SmallVector<mlir::StringAttr> over;
};

struct LaunchFacts {
  /// Per output the axes over which it is one of several parts.
  llvm::SmallVector<llvm::SmallVector<mlir::StringAttr>> partial;
  /// How these combine; empty where nothing is partial.
  llvm::StringRef by;
  /// A fused body of sums and differences.
  bool isLinear = false;
  /// Of a launch that fills its outputs with one number: the combination that
  /// this number does not change; else empty.
  llvm::StringRef neutral;
  std::optional<MeanFacts> mean;
};

/// By which combination a number changes nothing: "sum", "prod", "max", "min",
/// or "".
llvm::StringRef neutralOf(mlir::Attribute number);

/// `isMeanStep`: in the step of a loss that is a mean over all samples.
LaunchFacts factsOf(spmd::LaunchOp launch, dist::GridAttr grid,
                    bool isMeanStep);

} // namespace partita::certificate

#endif // PARTITA_PASSES_CERTIFICATE_LAUNCHFACTS_H
