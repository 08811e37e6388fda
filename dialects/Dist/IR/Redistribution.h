//===- Redistribution.h - From one layout to another -----------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Between the layout a value has and the one its user asks for lies a sequence
// of moves. It is found as a shortest path: nodes are layouts, edges are moves,
// and the length of an edge is the time of its collective by the alpha-beta
// model (Thakur, Rabenseifner and Gropp, IJHPCA 2005, section 3; the same
// terms as in Gholami et al., SPAA'18, section 2):
//
//   slice           nothing is sent; a rank keeps a part of what it has
//   all_gather      alpha ceil(log2 p) + beta n (p-1)/p   n: the gathered part
//   reduce_scatter  alpha ceil(log2 p) + beta n (p-1)/p   n: before
//   all_reduce      twice that
//   all_to_all, halo_exchange, exchange
//                   alpha (peers of the busiest rank) + beta (bytes that the
//                   busiest rank receives or sends)
//
// all_to_all, halo_exchange and exchange are one mechanism under three names:
// every rank receives exactly the elements it lacks, each from one rank that
// holds it. They are told apart so that programs and their readers can see what
// happens: all_to_all moves axes from one dimension to another, halo_exchange
// adds neighbours' rows, exchange is any other change.
//
// Path search starts from partial values too: slicing before combining makes
// the collective smaller, and reduce_scatter combines and cuts in one call.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_DIALECTS_DIST_IR_REDISTRIBUTION_H
#define PARTITA_DIALECTS_DIST_IR_REDISTRIBUTION_H

#include "dialects/Dist/IR/Layout.h"

namespace partita::dist {

enum class MoveKind {
  slice,
  allReduce,
  reduceScatter,
  allGather,
  allToAll,
  haloExchange,
  exchange
};

/// One step from a layout to another.
struct Move {
  MoveKind kind = MoveKind::slice;
  /// The layout afterwards.
  Layout to;
  /// The axes over which ranks communicate, increasing; empty for slice.
  std::vector<int> axes = {};
  /// Estimated seconds.
  double seconds = 0;
};

/// Constants of the alpha-beta model: seconds per message and per byte.
struct LinkModel {
  double alpha = 5e-6;
  double beta = 1e-10;
};

/// The shortest sequence of moves that turns `from`, which tiles, into `to`.
/// `to` holds no partial axes beyond those `from` has, and the same varying
/// ones. Layouts in between tile. Empty when the boxes are equal already and
/// nothing is to be combined. `elementBytes` is the size of an element.
std::vector<Move> findMoves(const Grid &grid, const Sizes &sizes,
                            int64_t elementBytes, const Layout &from,
                            const Layout &to, LinkModel link = {});

/// A piece that one rank gets from another (or already has: from == rank).
struct Piece {
  int64_t from = 0;
  Box box;
};

/// What `rank` receives in a move from `from`, which tiles, to `to` that
/// combines nothing: a disjoint cover of its new box. Of several ranks that
/// hold an element, the one that agrees with the receiver on all axes that do
/// not cut `from`.
std::vector<Piece> piecesOf(const Grid &grid, const Sizes &sizes,
                            const Layout &from, const Layout &to, int64_t rank);

/// The axes on which ranks must differ to take part in a move from `from` to
/// `to`: those on which some rank gets a piece from another one.
std::vector<int> movedAxes(const Grid &grid, const Sizes &sizes,
                           const Layout &from, const Layout &to);

/// The elements of the staging buffer that `rank` needs for a move (see the
/// runtime's partita/redistribution.h): pieces to send and to receive; all
/// parts for all_gather and reduce_scatter; none for slice and all_reduce.
int64_t stagingElements(const Grid &grid, const Sizes &sizes,
                        const Layout &from, const Move &move, int64_t rank);

/// The same for all ranks at once.
std::vector<int64_t> stagingElements(const Grid &grid, const Sizes &sizes,
                                     const Layout &from, const Move &move);

} // namespace partita::dist

#endif // PARTITA_DIALECTS_DIST_IR_REDISTRIBUTION_H
