//===- CallCheck.h - Collectives compared before they begin --- -*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For --debug-collectives. Every collective is compared with the list of the
// certificate when it is issued, and across the ranks of its group before it
// begins: a difference that would hang, or give wrong numbers, becomes a
// sentence on all ranks. Slow: each call waits for all ranks of its group.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_CORE_CALLCHECK_H
#define PARTITA_CORE_CALLCHECK_H

#include "core/Expected.h"
#include "partita/backend.h"

#include <limits>
#include <map>
#include <mutex>

namespace partita {

/// Of one rank.
class CallCheck {
public:
  /// `expected` may be null: then calls are compared across ranks only. Ranks
  /// from `workers` on are servers, and are called so.
  CallCheck(int rank, int rankClass, Device &device, const Expected *expected,
            int workers = std::numeric_limits<int>::max());
  ~CallCheck();

  /// `companion` is another communicator of the same group, over host memory,
  /// on which calls are compared.
  void addGroup(const Communicator &group,
                std::unique_ptr<Communicator> companion);

  /// The next calls belong to this phase: "step", "eval" or "predict".
  void beginPhase(const std::string &name);
  /// The phase has issued all its calls. Throws `Error` when one is missing.
  void endPhase();

  /// Compares a call with the certificate; by the rank's own thread. Throws
  /// `Error` on a difference.
  void issued(std::int64_t number, const Communicator &group,
              const IssuedCall &call);
  /// Compares it with the other ranks' calls; by the thread that will do it.
  /// Throws `Error` on a difference, on all ranks of the group.
  void compare(std::int64_t number);

private:
  struct Group;
  struct Card;

  void checkExpected(const Communicator &group, const IssuedCall &call);
  /// "rank 3", of a server "rank 5 (server 1)".
  std::string rankName(int of) const;

  const int rank;
  const int rankClass;
  const int workers;
  const std::unique_ptr<Stream> stream;
  const Expected *expected;
  /// By phase, for as far as phases have begun.
  std::map<std::string, std::vector<ExpectedCall>> lists;
  const std::vector<ExpectedCall> *list = nullptr;
  std::string phase;
  std::size_t next = 0;

  std::mutex mutex;
  /// In the order in which they were made, which is the same on all ranks.
  std::vector<std::unique_ptr<Group>> groups;
  /// Issued and not yet compared.
  std::map<std::int64_t, std::pair<Group *, Card>> cards;
};

} // namespace partita

#endif // PARTITA_CORE_CALLCHECK_H
