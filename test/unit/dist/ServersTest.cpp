//===- ServersTest.cpp - Groups and their servers ---------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Both directions of the rule agree, and nobody is left out.
//
//===----------------------------------------------------------------------===//

#include "dialects/Dist/IR/Servers.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"

#include "gtest/gtest.h"
#include <map>
#include <set>

using namespace mlir;
using namespace partita::dist;

namespace {

class ServersTest : public testing::Test {
protected:
  ServersTest() { context.loadDialect<DistDialect>(); }

  StringAttr name(StringRef text) { return StringAttr::get(&context, text); }
  GridAttr gridOf(ArrayRef<int64_t> sizes) {
    SmallVector<StringAttr> axes;
    for (StringRef axis : {"a", "b", "c"})
      axes.push_back(name(axis));
    return GridAttr::get(&context, axes, sizes);
  }

  MLIRContext context;
};

TEST_F(ServersTest, GroupsAreRowMajorOverTheOtherAxes) {
  SmallVector<StringAttr> axes = {name("b")};
  ServerGroups groups(gridOf({2, 3, 2}), axes, 1);
  EXPECT_EQ(groups.numGroups(), 4);
  EXPECT_EQ(groups.numWorkers(), 3);
  // Rank 9 is (1, 1, 1).
  EXPECT_EQ(groups.groupOf(9), 3);
  EXPECT_EQ(groups.leaderOf(3), 7);
  EXPECT_EQ(groups.groupOf(7), 3);
}

TEST_F(ServersTest, EveryGroupHasServersAndEveryServerAGroup) {
  SmallVector<StringAttr> axes = {name("a")};
  for (int64_t servers = 1; servers <= 15; ++servers) {
    ServerGroups groups(gridOf({2, 3, 2}), axes, servers);
    std::map<int64_t, int64_t> serversOf;
    std::set<std::pair<int64_t, int64_t>> served;
    for (int64_t server = 0; server < servers; ++server) {
      EXPECT_GE(groups.numServed(server), 1);
      for (int64_t place = 0; place < groups.numServed(server); ++place) {
        int64_t group = groups.servedGroup(server, place);
        ASSERT_LT(group, groups.numGroups());
        EXPECT_TRUE(served.insert({server, group}).second);
        ++serversOf[group];
      }
    }
    for (int64_t group = 0; group < groups.numGroups(); ++group)
      EXPECT_EQ(serversOf[group], groups.numServers(group))
          << servers << " servers, group " << group;
    // Dealt out evenly.
    EXPECT_LE(groups.numServers(0),
              groups.numServers(groups.numGroups() - 1) + 1);
    EXPECT_LE(groups.numServed(0), groups.numServed(servers - 1) + 1);
  }
}

} // namespace
