//===- SyncText.h - Synchronisation as people write it ---------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The text of --sync and of "sync" in plan files, without IR.
//
//   rule     PATTERN=METHOD | METHOD      METHOD alone: for every parameter
//   PATTERN  the name of a parameter or of the node that uses it, as in --split
//   METHOD   all_reduce | all_reduce:ALGORITHM | parameter_server
//            | factor_broadcast | poseidon
//   ALGORITHM  automatic, direct, ring, tree, hierarchical
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_PASSES_PLAN_SYNCTEXT_H
#define PARTITA_PASSES_PLAN_SYNCTEXT_H

#include "dialects/Dist/IR/DistDialect.h"
#include <optional>
#include <string>

namespace partita::plan {

/// A way to combine a gradient.
struct SyncChoice {
  dist::SyncMethod method = dist::SyncMethod::all_reduce;
  dist::Algorithm algorithm = dist::Algorithm::automatic;
  /// The method is to be chosen by the rule of Poseidon.
  bool poseidon = false;
};

/// PATTERN=METHOD.
struct SyncRule {
  std::string pattern;
  SyncChoice choice;
};

/// Reads METHOD; nothing and a sentence in `error` when it is none.
std::optional<SyncChoice> parseSync(llvm::StringRef text, std::string &error);

/// Reads a rule; METHOD alone has the pattern "*".
std::optional<SyncRule> parseSyncRule(llvm::StringRef text, std::string &error);

/// The text that parseSync reads back.
std::string syncText(dist::SyncMethod method, dist::Algorithm algorithm);

/// The rule of Poseidon (Zhang et al., ATC'17, section 3.2, algorithm 3): for
/// a gradient of `m` x `n` elements that is a product over `samples` rows on
/// each of `ranks` workers, whether sending the factors moves no more than the
/// parameter server. Where the workers are servers as well:
///     2 K (P1 - 1) (M + N) <= 2 M N (P1 + P2 - 2) / P2,   P1 = P2 = ranks.
/// Where P2 other ranks are, whoever of both sends and receives most counts:
///     2 K (P1 - 1) (M + N) <= max(2 M N, 2 P1 M N / P2).
/// `samples` is the number of rows of all workers together, P1 * K;
/// `serverLoad` is P1 / P2, the gradients that a server gets, and 0 where the
/// workers are servers.
bool prefersFactors(int64_t m, int64_t n, int64_t samples, int64_t ranks,
                    double serverLoad = 0);

} // namespace partita::plan

#endif // PARTITA_PASSES_PLAN_SYNCTEXT_H
