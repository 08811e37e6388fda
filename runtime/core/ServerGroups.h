//===- ServerGroups.h - Which servers serve which ranks ---------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rule of `Program::servers`, as compiled programs rely on it.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_CORE_SERVERGROUPS_H
#define PARTITA_CORE_SERVERGROUPS_H

#include "partita/program.h"

namespace partita {

/// The groups of workers over some axes, and their servers.
class ServerGroups {
public:
  /// `axes` are places in the grid, ascending. The program has servers.
  ServerGroups(const Program &program, std::vector<int> axes);

  const std::vector<int> &axes() const { return shared; }
  /// The most groups that a server serves.
  int rounds() const;
  /// Groups that a server serves, and one of them; `rank` counts all ranks.
  int served(int rank) const;
  int servedGroup(int rank, int place) const;
  /// The lowest rank of a group.
  int leaderOf(int group) const;
  /// The ranks of a group, its servers last.
  std::vector<int> membersOf(int group) const;
  /// The members of the group with servers that a rank is in when each server
  /// turns to the `round`th group of its own; the rank alone if it is in none.
  std::vector<int> membersFor(int rank, int round) const;

private:
  int groupOf(int worker) const;

  const Program &program;
  std::vector<int> shared;
  int workers, servers, groups = 1;
};

} // namespace partita

#endif // PARTITA_CORE_SERVERGROUPS_H
