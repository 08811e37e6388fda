//===- SyncText.cpp - Synchronisation as people write it ------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements SyncText.h.
//
//===----------------------------------------------------------------------===//

#include "passes/Plan/SyncText.h"
#include "passes/Cost/ParameterServer.h"
#include "passes/Plan/SplitText.h"

using namespace llvm;
using namespace partita;
using namespace partita::dist;
using namespace partita::plan;

static std::string algorithmNames() {
  std::string text;
  for (uint32_t i = 0; i <= getMaxEnumValForAlgorithm(); ++i)
    if (auto algorithm = symbolizeAlgorithm(i))
      text += (text.empty() ? "" : ", ") + stringifyAlgorithm(*algorithm).str();
  return text;
}

static std::string methodNames() {
  std::string text;
  for (uint32_t i = 0; i <= getMaxEnumValForSyncMethod(); ++i)
    if (auto method = symbolizeSyncMethod(i))
      text += stringifySyncMethod(*method).str() + ", ";
  return text + "poseidon";
}

std::optional<SyncChoice> partita::plan::parseSync(StringRef text,
                                                   std::string &error) {
  SyncChoice choice;
  auto [name, algorithm] = text.split(':');
  bool hasAlgorithm = text.contains(':');
  choice.poseidon = name == "poseidon";
  if (!choice.poseidon) {
    std::optional<SyncMethod> method = symbolizeSyncMethod(name);
    if (!method) {
      error = "found " + quoted(name) + ", expected a method: " + methodNames();
      return std::nullopt;
    }
    choice.method = *method;
  }
  if (!hasAlgorithm)
    return choice;
  std::optional<Algorithm> named = symbolizeAlgorithm(algorithm);
  if (choice.poseidon || choice.method != SyncMethod::all_reduce) {
    error = quoted(name) + " has no algorithm, found " + quoted(algorithm) +
            "; only all_reduce has";
    return std::nullopt;
  }
  if (!named) {
    error = "found " + quoted(algorithm) +
            ", expected an algorithm: " + algorithmNames();
    return std::nullopt;
  }
  choice.algorithm = *named;
  return choice;
}

std::optional<SyncRule> partita::plan::parseSyncRule(StringRef text,
                                                     std::string &error) {
  SyncRule rule;
  // Names may hold '='; methods never do.
  auto [pattern, method] = text.rsplit('=');
  if (!text.contains('=')) {
    pattern = "*";
    method = text;
  }
  if (pattern.empty()) {
    error = "found no pattern before '=', expected PATTERN=METHOD";
    return std::nullopt;
  }
  std::optional<SyncChoice> choice = parseSync(method, error);
  if (!choice)
    return std::nullopt;
  rule.pattern = pattern.str();
  rule.choice = *choice;
  return rule;
}

std::string partita::plan::syncText(SyncMethod method, Algorithm algorithm) {
  std::string text = stringifySyncMethod(method).str();
  if (algorithm != Algorithm::automatic)
    text += ":" + stringifyAlgorithm(algorithm).str();
  return text;
}

bool partita::plan::prefersFactors(int64_t m, int64_t n, int64_t samples,
                                   int64_t ranks, double serverLoad) {
  if (ranks < 2)
    return false;
  cost::Connected layer{double(m), double(n), double(samples) / double(ranks),
                        double(ranks), double(ranks)};
  if (serverLoad <= 0)
    return cost::prefersFactors(layer);
  // Servers beside the workers: who moves more decides.
  return cost::factorFloats(layer) <=
         cost::serverFloats(layer).worker * std::max(1.0, serverLoad);
}
