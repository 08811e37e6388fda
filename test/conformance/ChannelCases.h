//===- ChannelCases.h - What every channel must do --------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The cases of the conformance suite of channels. Each runs on all ranks of a
// world at once; it computes what should come out on its own and compares bit
// by bit.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_TEST_CONFORMANCE_CHANNELCASES_H
#define PARTITA_TEST_CONFORMANCE_CHANNELCASES_H

#include "partita/backend.h"

namespace partita {

/// One rank of the world under test.
struct ChannelRank {
  ChannelRank(World &world, Stream &compute, Stream &comm)
      : world(world), compute(compute), comm(comm) {}

  /// A communicator that lives as long as the rank: queued work may use it when
  /// the case has failed.
  Communicator &group(const std::vector<int> &members) {
    groups.push_back(world.communicator(members));
    return *groups.back();
  }

  World &world;
  Stream &compute;
  Stream &comm;
  Event ready{compute.device};
  Event summed{compute.device};

private:
  std::vector<std::unique_ptr<Communicator>> groups;
};

struct ChannelCase {
  const char *name;
  /// Throws `Error` naming what came out and what was expected.
  void (*run)(ChannelRank &rank);
};

/// All cases.
const std::vector<ChannelCase> &channelCases();

/// The algorithms of all-reduces.
std::vector<ChannelCase> algorithmCases();
/// Groups with servers.
std::vector<ChannelCase> serverCases();
/// What went wrong in other systems, named by the id of the report.
std::vector<ChannelCase> fieldCases();

} // namespace partita

#endif // PARTITA_TEST_CONFORMANCE_CHANNELCASES_H
