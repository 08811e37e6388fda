//===- SilentCommunicator.h - A group that tells nothing --------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A communicator that communicates nothing: that of a rank which has nobody to
// talk to, and of tests of what is known of calls.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_CORE_SILENTCOMMUNICATOR_H
#define PARTITA_CORE_SILENTCOMMUNICATOR_H

#include "partita/communicator.h"

namespace partita {

class SilentCommunicator : public Communicator {
public:
  using Communicator::Communicator;

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

#endif // PARTITA_CORE_SILENTCOMMUNICATOR_H
