//===- Simulator.h - Every rank's numbers -----------------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Carries out moves on the numbers of all ranks at once, each as its collective
// would: what a rank gets comes out of what members of its group hold, or the
// test fails. Nothing here uses sums over ranks of the library's own.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_TEST_UNIT_DIST_SIMULATOR_H
#define PARTITA_TEST_UNIT_DIST_SIMULATOR_H

#include "dialects/Dist/IR/Redistribution.h"

#include "gtest/gtest.h"
#include <algorithm>
#include <optional>

namespace partita::dist::test {

/// Calls visit(index in the whole tensor) for the elements of `box` in order.
template <typename Visit>
void forElements(const Sizes &sizes, const Box &box, Visit visit) {
  if (isEmpty(box))
    return;
  std::vector<int64_t> at;
  for (Range range : box)
    at.push_back(range.begin);
  for (;;) {
    int64_t index = 0;
    for (size_t d = 0; d < sizes.size(); ++d)
      index = index * sizes[d] + at[d];
    visit(index);
    size_t d = sizes.size();
    while (d > 0 && ++at[d - 1] == box[d - 1].end) {
      at[d - 1] = box[d - 1].begin;
      --d;
    }
    if (d == 0)
      return;
  }
}

inline int64_t combine(Combine kind, int64_t a, int64_t b) {
  switch (kind) {
  case Combine::none:
    break;
  case Combine::sum:
    return a + b;
  case Combine::max:
    return std::max(a, b);
  case Combine::min:
    return std::min(a, b);
  case Combine::prod:
    return a * b;
  }
  ADD_FAILURE() << "numbers that are not partial were combined";
  return 0;
}

/// The ranks that differ from `rank` on no other axes than `axes`, itself too.
inline std::vector<int64_t>
groupOf(const Grid &grid, const std::vector<int> &axes, int64_t rank) {
  std::vector<int64_t> own = grid.coordinates(rank), group;
  for (int64_t other = 0; other < grid.numRanks(); ++other) {
    std::vector<int64_t> at = grid.coordinates(other);
    for (int axis : axes)
      at[axis] = own[axis];
    if (at == own)
      group.push_back(other);
  }
  return group;
}

/// What a rank holds, by element of the whole tensor.
using Numbers = std::vector<std::optional<int64_t>>;

/// The numbers of all ranks between moves.
class Simulator {
public:
  Simulator(const Grid &grid, const Sizes &sizes, const Layout &from)
      : grid(grid), sizes(sizes), start(from), layout(from) {
    for (int64_t size : sizes)
      elements *= size;
    for (int64_t rank = 0; rank < grid.numRanks(); ++rank) {
      Numbers &own = ranks.emplace_back(elements);
      forElements(sizes, boxOf(grid, from, sizes, rank),
                  [&](int64_t index) { own[index] = numberOf(index, rank); });
    }
  }

  /// What is wanted: the tensor is gathered, then `rank` takes its part.
  Numbers wanted(const Layout &to, int64_t rank) const {
    std::vector<int> open;
    for (int axis : start.partial)
      if (!std::count(to.partial.begin(), to.partial.end(), axis))
        open.push_back(axis);
    std::vector<int64_t> group = groupOf(grid, open, rank);
    Numbers result(elements);
    forElements(sizes, boxOf(grid, to, sizes, rank), [&](int64_t index) {
      for (int64_t other : group)
        add(result[index], start.combine, numberOf(index, other));
    });
    return result;
  }

  const Numbers &numbers(int64_t rank) const { return ranks[rank]; }

  /// Carries out one move.
  void run(const Move &move) {
    std::vector<Numbers> next;
    for (int64_t rank = 0; rank < grid.numRanks(); ++rank) {
      Numbers &own = next.emplace_back(elements);
      std::vector<int64_t> group = groupOf(grid, move.axes, rank);
      switch (move.kind) {
      case MoveKind::slice:
        EXPECT_TRUE(move.axes.empty());
        collect(move, rank, {rank}, own);
        break;
      case MoveKind::allGather:
        EXPECT_FALSE(layout.isPartial());
        collect(move, rank, group, own);
        break;
      case MoveKind::allReduce:
      case MoveKind::reduceScatter:
        reduce(move, rank, group, own);
        break;
      case MoveKind::allToAll:
        EXPECT_FALSE(layout.isPartial());
        [[fallthrough]];
      case MoveKind::haloExchange:
      case MoveKind::exchange:
        EXPECT_EQ(layout.partial, move.to.partial);
        exchange(move, rank, group, own);
        break;
      }
    }
    if (move.kind == MoveKind::allReduce) {
      EXPECT_TRUE(sameBoxes(grid, layout, move.to, sizes));
    }
    ranks = std::move(next);
    layout = move.to;
  }

private:
  static void add(std::optional<int64_t> &sum, Combine kind, int64_t number) {
    sum = sum ? combine(kind, *sum, number) : number;
  }

  /// A number that depends on the element and on the rank's coordinates where
  /// ranks hold numbers of their own. Small, so that products stay exact.
  int64_t numberOf(int64_t index, int64_t rank) const {
    uint64_t hash = static_cast<uint64_t>(index) * 2654435761U + 12345;
    for (const std::vector<int> *axes : {&start.partial, &start.varying})
      for (int axis : *axes)
        hash = (hash ^ (hash >> 13)) * 1099511628211U +
               static_cast<uint64_t>(grid.coordinate(rank, axis)) * 7919;
    return static_cast<int64_t>((hash >> 17) % 7) - 3;
  }

  /// Each element from the one member that holds it.
  void collect(const Move &move, int64_t rank,
               const std::vector<int64_t> &group, Numbers &own) const {
    forElements(sizes, boxOf(grid, move.to, sizes, rank), [&](int64_t index) {
      int64_t holders = 0;
      for (int64_t member : group)
        if (ranks[member][index]) {
          own[index] = ranks[member][index];
          ++holders;
        }
      EXPECT_EQ(holders, 1) << "of element " << index << " for rank " << rank;
    });
  }

  /// Each element combined from all members.
  void reduce(const Move &move, int64_t rank, const std::vector<int64_t> &group,
              Numbers &own) const {
    forElements(sizes, boxOf(grid, move.to, sizes, rank), [&](int64_t index) {
      for (int64_t member : group)
        if (ranks[member][index])
          add(own[index], layout.combine, *ranks[member][index]);
        else
          ADD_FAILURE() << "rank " << member << " lacks element " << index;
    });
  }

  /// Each element out of one piece.
  void exchange(const Move &move, int64_t rank,
                const std::vector<int64_t> &group, Numbers &own) const {
    Box box = boxOf(grid, move.to, sizes, rank);
    for (const Piece &piece : piecesOf(grid, sizes, layout, move.to, rank)) {
      EXPECT_TRUE(std::count(group.begin(), group.end(), piece.from));
      EXPECT_FALSE(isEmpty(piece.box));
      EXPECT_EQ(intersect(box, piece.box), piece.box);
      forElements(sizes, piece.box, [&](int64_t index) {
        EXPECT_FALSE(own[index]) << "element " << index << " comes twice";
        EXPECT_TRUE(ranks[piece.from][index]);
        own[index] = ranks[piece.from][index];
      });
    }
  }

  Grid grid;
  Sizes sizes;
  Layout start, layout;
  int64_t elements = 1;
  std::vector<Numbers> ranks;
};

} // namespace partita::dist::test

#endif // PARTITA_TEST_UNIT_DIST_SIMULATOR_H
