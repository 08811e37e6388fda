//===- RankParts.h - What a rank is made of ---------------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Filled in by the launcher; emitted programs see it through Rank only.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_CORE_RANKPARTS_H
#define PARTITA_CORE_RANKPARTS_H

#include "core/CallCheck.h"
#include "partita/backend.h"

#include <map>

namespace partita {

struct Rank::Parts {
  const Program &program;
  const Backend &backend;
  World &world;
  Device &device;
  Stream &compute;
  Stream &comm;
  std::byte *arena;
  Failure &failure;
  Traffic traffic = {};
  std::vector<std::unique_ptr<Communicator>> communicators = {};
  Observer *observer = nullptr;
  /// Compares calls; null unless asked for.
  CallCheck *checks = nullptr;
  /// By their axes, the groups with servers that this rank is in.
  std::map<std::vector<int>, std::vector<Communicator *>> served = {};
};

} // namespace partita

#endif // PARTITA_CORE_RANKPARTS_H
