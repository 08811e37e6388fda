//===- Rank.cpp - A rank and its place in the grid --------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements the parts of partita/program.h that emitted programs call.
//
//===----------------------------------------------------------------------===//

#include "core/RankParts.h"
#include "core/ServerGroups.h"
#include "core/SilentCommunicator.h"
#include "core/Tile.h"
#include "core/Timeline.h"

using namespace partita;

RankProgram::~RankProgram() = default;

int Program::workers() const {
  int ranks = 1;
  for (const GridAxis &axis : grid)
    ranks *= axis.size;
  return ranks;
}

std::string Program::nameOf(int rank) const {
  return rankName(rank, rank < workers() ? -1 : rank - workers());
}

Rank::Rank(Parts &parts)
    : index(parts.world.rank),
      rankClass(parts.program.classOfRank[parts.world.rank]),
      device(parts.device), compute(parts.compute), comm(parts.comm),
      arena(parts.arena), observer(parts.observer), parts(parts) {}

const std::vector<GridAxis> &Rank::grid() const { return parts.program.grid; }

int Rank::coordinate(int axis) const {
  return coordinatesOf(parts.program.grid, index)[axis];
}

Communicator &Rank::communicator(std::initializer_list<const char *> axes) {
  // All groups over some axes are of one size.
  bool isServer = index >= parts.program.workers();
  std::vector<int> members = groupOf(grid(), isServer ? 0 : index, axes);
  if (members.size() > 1)
    return make(isServer ? std::vector<int>{index} : members);
  std::unique_ptr<Communicator> &made = parts.communicators.emplace_back();
  made = std::make_unique<SilentCommunicator>(/*rank=*/0, /*size=*/1);
  made->observeBy(parts.observer, members);
  return *made;
}

Communicator &Rank::withServers(std::initializer_list<const char *> axes,
                                int place) {
  ServerGroups groups(parts.program, axisIndices(grid(), axes));
  auto [it, isNew] = parts.served.try_emplace(groups.axes());
  // A server that serves several groups is in one of them after the other.
  for (int round = 0; isNew && round < groups.rounds(); ++round) {
    std::vector<int> members = groups.membersFor(index, round);
    Communicator &made = make(members);
    if (members.size() > 1)
      it->second.push_back(&made);
  }
  if (place >= static_cast<int>(it->second.size()))
    throw Error("the tables of program '" + parts.program.name +
                "' contradict each other: " + parts.program.nameOf(index) +
                " serves " + std::to_string(it->second.size()) +
                " groups, expected more than " + std::to_string(place));
  return *it->second[place];
}

Communicator &Rank::make(const std::vector<int> &members) {
  std::unique_ptr<Communicator> &made =
      parts.communicators.emplace_back(parts.backend.makeCommunicator(
          parts.world, members, parts.device, parts.failure));
  made->setTraffic(&parts.traffic);
  made->observeBy(parts.observer, members);
  if (parts.checks)
    parts.checks->addGroup(*made, parts.world.communicator(members));
  return *made;
}
