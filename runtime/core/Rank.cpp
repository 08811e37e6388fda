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
#include "core/SilentCommunicator.h"
#include "core/Tile.h"

using namespace partita;

RankProgram::~RankProgram() = default;

int Program::ranks() const {
  int ranks = 1;
  for (const GridAxis &axis : grid)
    ranks *= axis.size;
  return ranks;
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
  std::vector<int> members = groupOf(grid(), index, axes);
  std::unique_ptr<Communicator> &made = parts.communicators.emplace_back();
  if (members.size() == 1)
    made = std::make_unique<SilentCommunicator>(/*rank=*/0, /*size=*/1);
  else
    made = parts.backend.makeCommunicator(parts.world, members, parts.device,
                                          parts.failure);
  made->setTraffic(&parts.traffic);
  made->observeBy(parts.observer, members);
  if (parts.checks && members.size() > 1)
    parts.checks->addGroup(*made, parts.world.communicator(members));
  return *made;
}
