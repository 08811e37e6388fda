//===- Collectives.h - Collectives made of messages -------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The collectives of one group over its channel. Buffers go in segments, of
// which several are on their way at once: while one is combined, the next ones
// arrive and those before are sent on. A segment also bounds the scratch
// memory.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_COMM_MPI_COLLECTIVES_H
#define PARTITA_COMM_MPI_COLLECTIVES_H

#include "comm/combine/Patterns.h"
#include "comm/mpi/Channel.h"

namespace partita {

/// A buffer on which ranks work together.
struct Elements {
  char *data;
  std::int64_t count;
  DType type;
  Reduction reduction;

  std::int64_t bytes() const {
    return count * static_cast<std::int64_t>(sizeOf(type));
  }
  char *at(std::int64_t element) const {
    return data + element * static_cast<std::int64_t>(sizeOf(type));
  }
};

/// Blocking calls, made by all ranks of the group in the same order.
class Collectives {
public:
  Collectives(Channel &channel, int rank, Nodes nodes)
      : channel(channel), rank(rank), nodes(std::move(nodes)) {}

  void allReduce(const Elements &elements, Algorithm algorithm);

  /// Each owner's shard becomes the combination of the contributors' elements
  /// at that place, in the order of the list.
  void reduce(const Elements &elements, const std::vector<Shard> &shards,
              const std::vector<int> &contributors) {
    share(elements, shards, contributors, {});
  }

  /// Each receiver gets all shards from their owners.
  void gather(const Elements &elements, const std::vector<Shard> &shards,
              const std::vector<int> &receivers) {
    share(elements, shards, {}, receivers);
  }

  void broadcast(const Elements &elements, int root);

private:
  /// `reduce`, and then `gather` of what was reduced, a segment after the
  /// other. Without contributors the shards are sent as they are.
  void share(const Elements &elements, const std::vector<Shard> &shards,
             const std::vector<int> &contributors,
             const std::vector<int> &receivers);

  void allReduceByGather(const Elements &elements);
  void allReduceInRing(const Elements &elements);
  void allReduceInTree(const Elements &elements);
  void allReduceInHierarchy(const Elements &elements);

  int size() const { return nodes.size(); }
  std::vector<int> everybody() const;
  /// Elements of a segment, the same on all ranks.
  std::int64_t segmentElements(const Elements &elements) const;
  /// Scratch memory of at least so many bytes.
  char *scratchOf(std::int64_t bytes);

  Channel &channel;
  const int rank;
  const Nodes nodes;
  std::vector<char> scratch;
};

} // namespace partita

#endif // PARTITA_COMM_MPI_COLLECTIVES_H
