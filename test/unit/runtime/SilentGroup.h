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

#include "partita/communicator.h"

namespace partita {

class SilentGroup final : public Communicator {
public:
  /// `members` are the group's ranks in the job, of which this is the
  /// `rank`-th.
  SilentGroup(int rank, std::vector<int> members)
      : Communicator(rank, static_cast<int>(members.size())) {
    observeBy(nullptr, std::move(members));
  }

protected:
  void doAllReduce(Stream &, void *, std::int64_t, DType, Reduction, Algorithm,
                   const IssuedCall &) override {}
  void doAllGather(Stream &, void *, const Counts &, DType,
                   const IssuedCall &) override {}
  void doReduceScatter(Stream &, void *, const Counts &, DType, Reduction,
                       const IssuedCall &) override {}
  void doPush(Stream &, void *, const Counts &, DType, Reduction, int,
              const IssuedCall &) override {}
  void doFetch(Stream &, void *, const Counts &, DType, int,
               const IssuedCall &) override {}
  void doBroadcast(Stream &, void *, std::int64_t, DType, int,
                   const IssuedCall &) override {}
  void doExchange(Stream &, const void *, const Counts &, void *,
                  const Counts &, DType, const IssuedCall &) override {}
};

} // namespace partita

#endif // PARTITA_TEST_UNIT_RUNTIME_SILENTGROUP_H
