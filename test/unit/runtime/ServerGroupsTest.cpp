//===- ServerGroupsTest.cpp - Who serves whom -------------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In each round all ranks name groups that agree, and over all rounds every
// group is made once.
//
//===----------------------------------------------------------------------===//

#include "core/ServerGroups.h"

#include "core/Tile.h"

#include "gtest/gtest.h"
#include <set>

using namespace partita;

namespace {

Program programOf(std::vector<GridAxis> grid, int servers) {
  Program program;
  program.grid = std::move(grid);
  program.servers = servers;
  return program;
}

TEST(ServerGroups, MoreServersThanGroups) {
  Program program = programOf({{"pr", 2}, {"pc", 2}}, 3);
  ServerGroups groups(program, {1});
  EXPECT_EQ(groups.rounds(), 1);
  EXPECT_EQ(groups.membersOf(0), (std::vector<int>{0, 1, 4, 6}));
  EXPECT_EQ(groups.membersOf(1), (std::vector<int>{2, 3, 5}));
  EXPECT_EQ(program.nameOf(6), "rank 6 (server 2)");
  EXPECT_EQ(program.nameOf(3), "rank 3");
}

TEST(ServerGroups, FewerServersThanGroups) {
  Program program = programOf({{"pr", 3}, {"pc", 2}}, 2);
  ServerGroups groups(program, {1});
  EXPECT_EQ(groups.rounds(), 2);
  EXPECT_EQ(groups.served(6), 2);
  EXPECT_EQ(groups.served(7), 1);
  EXPECT_EQ(groups.servedGroup(6, 1), 2);
  EXPECT_EQ(groups.leaderOf(2), 4);
  EXPECT_EQ(groups.membersFor(6, 1), (std::vector<int>{4, 5, 6}));
  EXPECT_EQ(groups.membersFor(7, 1), (std::vector<int>{7}));
  EXPECT_EQ(groups.membersFor(0, 1), (std::vector<int>{0}));
}

/// Two ranks that train and a server that owns `w` and its momentum.
Program servedProgram() {
  Program program = programOf({{"data", 2}}, 1);
  program.name = "test";
  program.globalBatch = 2;
  program.classOfRank = {0, 0, 1};
  program.arenaBytes = {64, 64};
  program.loss = {"loss", DType::f32, {}, {}, {32, -1}};
  program.variables = {
      {{"w", DType::f32, {8}, {}, {0, -1}}, Role::parameter, 1.0},
      {{"w.m", DType::f32, {8}, {}, {-1, -1}}, Role::optimizer, 0.0}};
  program.served = {{"w", {0}, {{}, {0}}}, {"w.m", {0}, {{}, {32}}}};
  return program;
}

std::string faultOf(const Program &program) {
  try {
    checkTables(program);
  } catch (const Error &error) {
    return error.what();
  }
  return "";
}

TEST(ServerGroups, TablesOfServersAreChecked) {
  EXPECT_EQ(faultOf(servedProgram()), "");
  auto expectFault = [](const Program &program, const std::string &text) {
    std::string found = faultOf(program);
    EXPECT_NE(found.find(text), std::string::npos) << found;
  };
  Program program = servedProgram();
  program.served[0].name = "v";
  expectFault(program, "servers have 'v', which is no variable");
  program = servedProgram();
  program.served[0].offsets[1] = {};
  expectFault(program, "'w' has 0 places on rank 2 (server 0), expected 1");
  program = servedProgram();
  program.served[1].offsets[1] = {48};
  expectFault(program, "'w.m' lies outside the arena of rank 2");
  program = servedProgram();
  program.served.pop_back();
  expectFault(program, "'w.m' lies outside the arena of rank 0");
  program = servedProgram();
  program.variables[0].tensor.offsets[0] = -1;
  expectFault(program, "'w' lies outside the arena of rank 0");
  program = servedProgram();
  program.classOfRank.pop_back();
  expectFault(program, "classOfRank has 2 entries, expected one for each of 3");
}

TEST(ServerGroups, RanksAgreeInEveryRound) {
  for (int servers = 1; servers <= 14; ++servers) {
    Program program = programOf({{"a", 2}, {"b", 3}, {"c", 2}}, servers);
    for (const std::vector<int> &axes :
         std::vector<std::vector<int>>{{0}, {1}, {0, 2}, {0, 1, 2}}) {
      ServerGroups groups(program, axes);
      std::multiset<std::vector<int>> made;
      for (int round = 0; round < groups.rounds(); ++round)
        for (int rank = 0; rank < program.ranks(); ++rank) {
          std::vector<int> members = groups.membersFor(rank, round);
          for (int member : members)
            EXPECT_EQ(groups.membersFor(member, round), members);
          if (members.size() > 1 && members.front() == rank)
            made.insert(members);
        }
      int workers = 0;
      for (const std::vector<int> &members : made) {
        EXPECT_EQ(made.count(members), 1u);
        EXPECT_GE(members.back(), program.workers());
        for (int member : members)
          workers += member < program.workers();
      }
      EXPECT_EQ(workers, program.workers());
    }
  }
}

} // namespace
