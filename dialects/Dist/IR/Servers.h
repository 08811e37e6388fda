//===- Servers.h - Which servers serve which ranks -------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Server ranks own parameters and do nothing else. They come after the ranks of
// the grid, which are their workers. Workers that differ along the axes of a
// synchronisation only add up their gradients: they are a group, and have
// servers of their own. Groups are numbered row-major over the other axes.
//
//   servers >= groups   server s serves group s mod groups
//   servers < groups    group g is served by server g mod servers
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_DIALECTS_DIST_IR_SERVERS_H
#define PARTITA_DIALECTS_DIST_IR_SERVERS_H

#include "dialects/Dist/IR/DistDialect.h"

namespace partita::dist {

/// The number of server ranks of a module, 0 for none.
int64_t serversOf(mlir::Operation *module);

/// The groups over some axes and their servers, which are counted from 0.
class ServerGroups {
public:
  ServerGroups(GridAttr grid, llvm::ArrayRef<mlir::StringAttr> axes,
               int64_t servers);

  int64_t numGroups() const { return groups; }
  /// Workers of each group.
  int64_t numWorkers() const { return workers; }
  /// The group of a rank of the grid, and the lowest rank of a group.
  int64_t groupOf(int64_t rank) const;
  int64_t leaderOf(int64_t group) const;
  /// Servers of a group, at least one.
  int64_t numServers(int64_t group) const;
  /// Groups that a server serves, at least one, and the number of one of them.
  int64_t numServed(int64_t server) const;
  int64_t servedGroup(int64_t server, int64_t place) const;

private:
  GridAttr grid;
  /// Whether an axis of the grid tells groups apart.
  llvm::SmallVector<bool> dividesGroups;
  int64_t groups = 1, workers = 1, servers;
};

} // namespace partita::dist

#endif // PARTITA_DIALECTS_DIST_IR_SERVERS_H
