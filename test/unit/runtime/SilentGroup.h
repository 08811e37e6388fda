//===- SilentGroup.h - A group of ranks that says nothing -------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For tests of what is known of calls; nothing is communicated.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_TEST_UNIT_RUNTIME_SILENTGROUP_H
#define PARTITA_TEST_UNIT_RUNTIME_SILENTGROUP_H

#include "core/SilentCommunicator.h"

namespace partita {

/// A group of which the ranks' numbers in the job are known.
class SilentGroup final : public SilentCommunicator {
public:
  /// `members` are the group's ranks in the job, of which this is the
  /// `rank`-th.
  SilentGroup(int rank, std::vector<int> members)
      : SilentCommunicator(rank, static_cast<int>(members.size())) {
    observeBy(nullptr, std::move(members));
  }
};

} // namespace partita

#endif // PARTITA_TEST_UNIT_RUNTIME_SILENTGROUP_H
