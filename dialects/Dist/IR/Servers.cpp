//===- Servers.cpp - Which servers serve which ranks ----------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements Servers.h.
//
//===----------------------------------------------------------------------===//

#include "dialects/Dist/IR/Servers.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace partita::dist;

int64_t partita::dist::serversOf(Operation *module) {
  auto servers = module->getAttrOfType<IntegerAttr>(kServersAttr);
  return servers ? servers.getInt() : 0;
}

ServerGroups::ServerGroups(GridAttr grid, ArrayRef<StringAttr> axes,
                           int64_t servers)
    : grid(grid), servers(servers) {
  for (auto [axis, size] : llvm::zip(grid.getAxes(), grid.getSizes())) {
    bool divides = !llvm::is_contained(axes, axis);
    dividesGroups.push_back(divides);
    (divides ? groups : workers) *= size;
  }
}

int64_t ServerGroups::groupOf(int64_t rank) const {
  int64_t group = 0;
  for (auto [i, divides] : llvm::enumerate(dividesGroups))
    if (divides)
      group = group * grid.getSizes()[i] + grid.getCoordinate(rank, i);
  return group;
}

int64_t ServerGroups::leaderOf(int64_t group) const {
  // The last axis varies fastest.
  int64_t leader = 0, stride = 1;
  for (size_t i = dividesGroups.size(); i-- > 0;) {
    int64_t size = grid.getSizes()[i];
    if (dividesGroups[i]) {
      leader += group % size * stride;
      group /= size;
    }
    stride *= size;
  }
  return leader;
}

int64_t ServerGroups::numServers(int64_t group) const {
  return servers < groups ? 1 : (servers - group + groups - 1) / groups;
}

int64_t ServerGroups::numServed(int64_t server) const {
  return servers < groups ? (groups - server + servers - 1) / servers : 1;
}

int64_t ServerGroups::servedGroup(int64_t server, int64_t place) const {
  return servers < groups ? server + place * servers : server % groups;
}
