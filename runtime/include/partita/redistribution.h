//===- redistribution.h - Tensors from one distribution to another - C++ --===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How an emitted program moves a tensor that is cut one way over the grid to
// another cut. Every rank knows from the tables what it holds, what it needs
// and where the rest is: all is laid out in the constructor, and nothing is
// negotiated in a step. The three parts of a move are issued one by one, so
// that the communication overlaps with other work:
//
//   Redistribution toColumns{rank, MoveKind::allToAll, &rows, {"data"},
//                            {64, 10}, {Split(0, {0, 32, 64})},
//                            {Split(), Split(0, {0, 5, 10})}, DType::f32};
//   ...
//   toColumns.pack(compute, x, staging);         // x [32, 10]
//   compute.record(packed);
//   comm.wait(packed);
//   toColumns.communicate(comm, staging);
//   comm.record(arrived);
//   ...
//   compute.wait(arrived);
//   toColumns.unpack(compute, x, staging, y);    // y [64, 5]
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_REDISTRIBUTION_H
#define PARTITA_REDISTRIBUTION_H

#include "partita/program.h"

#include <initializer_list>
#include <memory>
#include <vector>

namespace partita {

/// How a tensor gets from one distribution to another. Boxes are parts of the
/// whole tensor; elements of a box are in row-major order everywhere.
enum class MoveKind {
  /// What a rank needs is part of what it holds; nothing is communicated.
  slice,
  /// All ranks of the group get what they hold together. Staging: the boxes of
  /// all ranks, in the order of the group.
  allGather,
  /// The general move, see Redistribution; the three differ in name. Staging:
  /// the pieces to send, in the order of the receiving ranks in the group, then
  /// the pieces to receive, in the order of the sending ranks.
  allToAll,
  haloExchange,
  exchange,
  /// All ranks of the group hold values for one box, and each gets its part of
  /// their reduction. Staging: the parts of all ranks, in the order of the
  /// group.
  reduceScatter
};

/// "slice", "allGather", ...
const char *nameOf(MoveKind kind);

/// One move of one tensor, seen from one rank. Both cuts are given for the
/// whole tensor; `x` and `y` below are this rank's boxes before and after,
/// dense.
///
/// In the general move, `from` cuts the tensor into boxes that cover it once;
/// ranks that differ only on axes that `from` does not use hold copies. A rank
/// may need any box after it: cut another way, replicated, or overlapping its
/// neighbours'. It takes each piece from the rank that agrees with it on all
/// axes that `from` does not use, so every group of copies serves itself, and
/// what it holds itself is copied from `x` without being sent.
///
/// Any box may be empty, a tensor may have no dimensions, and a group may have
/// one rank.
class Redistribution {
public:
  /// `group` is what `rank.communicator(axes)` gave, which may serve several
  /// moves; null where there is nobody to talk to, as for a slice, whose axes
  /// are {}. `dims` are the sizes of the whole tensor; `from` and `to` have one
  /// entry per dimension and may be shorter, the rest is not cut. `from` may
  /// overlap for a slice only. `reduction` matters to a reduceScatter only,
  /// which is for elements of type f32, f64, i32 or i64. Throws `Error` when
  /// the tables are wrong: cuts that do not fit the shape or the grid, another
  /// group than that of the axes, a box that the group does not hold.
  Redistribution(Rank &rank, MoveKind kind, Communicator *group,
                 std::initializer_list<const char *> axes, const Dims &dims,
                 const std::vector<Split> &from, const std::vector<Split> &to,
                 DType type, Reduction reduction = Reduction::sum);
  Redistribution(Redistribution &&other) noexcept;
  Redistribution &operator=(Redistribution &&other) noexcept;
  ~Redistribution();

  /// Elements of the staging buffer that this rank needs.
  std::int64_t stagingElements() const;

  /// Throws `Error` unless the program has planned for as many elements.
  void checkStaging(std::int64_t planned) const;

  /// Copies what others need from x to the staging buffer.
  template <typename T>
  void pack(Stream &stream, const T *x, T *staging) const {
    checkElement(sizeof(T));
    doPack(stream, x, staging);
  }

  /// Sends and receives within the staging buffer. All ranks of the group call
  /// it, as any collective.
  template <typename T>
  void communicate(Stream &stream, T *staging,
                   const CallSite &site = {}) const {
    checkElement(sizeof(T));
    doCommunicate(stream, staging, site);
  }

  /// Fills y from what has arrived and, in the general move, from x, which
  /// must be as it was; the other moves do not look at x.
  template <typename T>
  void unpack(Stream &stream, const T *x, const T *staging, T *y) const {
    checkElement(sizeof(T));
    doUnpack(stream, x, staging, y);
  }

  /// Only for a slice, which has none of the three parts above: y = its box
  /// of x.
  template <typename T> void slice(Stream &stream, const T *x, T *y) const {
    checkElement(sizeof(T));
    doSlice(stream, x, y);
  }

private:
  struct Plan;

  void checkElement(std::size_t bytes) const;
  void doPack(Stream &stream, const void *x, void *staging) const;
  void doCommunicate(Stream &stream, void *staging, const CallSite &site) const;
  void doUnpack(Stream &stream, const void *x, const void *staging,
                void *y) const;
  void doSlice(Stream &stream, const void *x, void *y) const;

  std::unique_ptr<Plan> plan;
};

} // namespace partita

#endif // PARTITA_REDISTRIBUTION_H
