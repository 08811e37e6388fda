//===- ServerGroups.cpp - Which servers serve which ranks -------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements ServerGroups.h.
//
//===----------------------------------------------------------------------===//

#include "core/ServerGroups.h"

#include "core/Tile.h"

#include <algorithm>

using namespace partita;

ServerGroups::ServerGroups(const Program &program, std::vector<int> axes)
    : program(program), shared(std::move(axes)), workers(program.workers()),
      servers(program.servers) {
  for (std::size_t axis = 0; axis < program.grid.size(); ++axis)
    if (!std::binary_search(shared.begin(), shared.end(),
                            static_cast<int>(axis)))
      groups *= program.grid[axis].size;
}

int ServerGroups::rounds() const { return (groups + servers - 1) / servers; }

int ServerGroups::served(int rank) const {
  int server = rank - workers;
  return servers < groups ? (groups - server + servers - 1) / servers : 1;
}

int ServerGroups::servedGroup(int rank, int place) const {
  int server = rank - workers;
  return servers < groups ? server + place * servers : server % groups;
}

int ServerGroups::groupOf(int worker) const {
  std::vector<int> coordinates = coordinatesOf(program.grid, worker);
  int group = 0;
  for (std::size_t axis = 0; axis < program.grid.size(); ++axis)
    if (!std::binary_search(shared.begin(), shared.end(),
                            static_cast<int>(axis)))
      group = group * program.grid[axis].size + coordinates[axis];
  return group;
}

int ServerGroups::leaderOf(int group) const {
  for (int worker = 0; worker < workers; ++worker)
    if (groupOf(worker) == group)
      return worker;
  return 0;
}

std::vector<int> ServerGroups::membersOf(int group) const {
  std::vector<int> members;
  for (int worker = 0; worker < workers; ++worker)
    if (groupOf(worker) == group)
      members.push_back(worker);
  int step = std::min(servers, groups);
  for (int server = group % step; server < servers;
       server += servers < groups ? servers : groups)
    members.push_back(workers + server);
  return members;
}

std::vector<int> ServerGroups::membersFor(int rank, int round) const {
  if (rank >= workers)
    return round < served(rank) ? membersOf(servedGroup(rank, round))
                                : std::vector<int>{rank};
  int group = groupOf(rank);
  int turn = servers < groups ? group / servers : 0;
  return round == turn ? membersOf(group) : std::vector<int>{rank};
}
