//===- Redistribution.cpp - From one distribution to another ----*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements partita/redistribution.h. The tables become, for this rank, lists
// of boxes to copy before and after the communication and the counts of the
// one collective in between.
//
//===----------------------------------------------------------------------===//

#include "partita/redistribution.h"

#include "core/Tile.h"
#include "partita/kernels.h"

#include <algorithm>
#include <optional>
#include <set>

using namespace partita;

const char *partita::nameOf(MoveKind kind) {
  switch (kind) {
  case MoveKind::slice:
    return "slice";
  case MoveKind::allGather:
    return "allGather";
  case MoveKind::allToAll:
    return "allToAll";
  case MoveKind::haloExchange:
    return "haloExchange";
  case MoveKind::exchange:
    return "exchange";
  case MoveKind::reduceScatter:
    return "reduceScatter";
  }
  return "unknown";
}

namespace {

/// A buffer that holds a tile of the tensor, densely, from `base` on.
struct Place {
  const Tile &tile;
  std::int64_t base = 0;

  Dims strides() const {
    Dims strides(tile.size.size(), 1);
    for (std::size_t dim = strides.size(); dim-- > 1;)
      strides[dim - 1] = strides[dim] * tile.size[dim];
    return strides;
  }

  /// Where the first element of a piece of the tile lies.
  std::int64_t offsetOf(const Tile &piece) const {
    Dims steps = strides();
    std::int64_t offset = base;
    for (std::size_t dim = 0; dim < steps.size(); ++dim)
      offset += (piece.start[dim] - tile.start[dim]) * steps[dim];
    return offset;
  }
};

BoxToCopy copyOf(const Tile &piece, const Place &from, const Place &to) {
  return {piece.size, from.offsetOf(piece), from.strides(), to.offsetOf(piece),
          to.strides()};
}

/// "[0, 4) x [2, 5)"
std::string textOf(const Tile &tile) {
  std::string text;
  for (std::size_t dim = 0; dim < tile.start.size(); ++dim)
    text += (dim ? " x [" : "[") + std::to_string(tile.start[dim]) + ", " +
            std::to_string(tile.start[dim] + tile.size[dim]) + ")";
  return text.empty() ? "[]" : text;
}

/// What the ranks of a group hold before a move and need after it.
class MoveTables {
public:
  MoveTables(Rank &rank, std::initializer_list<const char *> axes,
             const Dims &dims, const std::vector<Split> &from,
             const std::vector<Split> &to)
      : grid(rank.grid()), dims(dims), from(from), to(to),
        members(groupOf(grid, rank.index, axes)),
        me(static_cast<std::size_t>(
            std::find(members.begin(), members.end(), rank.index) -
            members.begin())),
        held(before(me)), needed(after(me)) {}

  /// What a rank of the group holds before the move and needs after it.
  Tile before(std::size_t member) const {
    return tileOf(grid, dims, from, members[member]);
  }
  Tile after(std::size_t member) const {
    return tileOf(grid, dims, to, members[member]);
  }

  std::size_t ranks() const { return members.size(); }
  std::size_t self() const { return me; }
  const Tile &mine() const { return held; }
  const Tile &wanted() const { return needed; }

  /// Whether a rank of the group belongs to the same set of copies: it agrees
  /// with this one on all axes that `from` does not use.
  std::vector<bool> partners() const {
    std::vector<bool> uses(grid.size(), false);
    for (const Split &split : from)
      for (int axis : split.axes)
        uses[axis] = true;
    std::vector<int> own = coordinatesOf(grid, members[me]);
    std::vector<bool> result;
    for (int member : members) {
      std::vector<int> theirs = coordinatesOf(grid, member);
      bool agrees = true;
      for (std::size_t axis = 0; axis < grid.size(); ++axis)
        agrees &= uses[axis] || theirs[axis] == own[axis];
      result.push_back(agrees);
    }
    return result;
  }

private:
  const std::vector<GridAxis> &grid;
  const Dims &dims;
  const std::vector<Split> &from;
  const std::vector<Split> &to;
  std::vector<int> members;
  std::size_t me;
  Tile held, needed;
};

} // namespace

/// What the constructor makes of the tables.
struct Redistribution::Plan {
  using Boxes = std::vector<BoxToCopy>;

  Plan(MoveKind kind, Communicator *group, const Dims &dims, DType type,
       Reduction reduction, int rank)
      : kind(kind), group(group), dims(dims), type(type), reduction(reduction),
        rank(rank) {}

  MoveKind kind;
  Communicator *group;
  Dims dims;
  DType type;
  Reduction reduction;
  int rank;

  std::int64_t staging = 0;
  /// In the general move, what goes to each rank of the group and comes from
  /// it; else `sent` are the parts of the staging buffer.
  Counts sent{std::vector<std::int64_t>{}};
  Counts received{std::vector<std::int64_t>{}};

  /// From x to the staging buffer, from x to y, from the staging buffer to y.
  std::optional<CopyBoxes> packed, kept, unpacked;

  void checkSplits(const std::vector<GridAxis> &grid,
                   const std::vector<Split> &from,
                   const std::vector<Split> &to) const;
  void checkGroup(const MoveTables &tables) const;
  void layOut(Device &device, const MoveTables &tables);
  void slice(const MoveTables &tables, Boxes &keep);
  void gather(const MoveTables &tables, Boxes &pack, Boxes &unpack);
  void reduce(const MoveTables &tables, Boxes &pack, Boxes &unpack);
  void exchange(const MoveTables &tables, Boxes &pack, Boxes &keep,
                Boxes &unpack);

  [[noreturn]] void fail(const std::string &what) const {
    throw Error(std::string("the ") + nameOf(kind) + " of a tensor " +
                toString(dims) + " of " + nameOf(type) + " on rank " +
                std::to_string(rank) + " " + what);
  }
};

//===----------------------------------------------------------------------===//
// Checking the tables
//===----------------------------------------------------------------------===//

void Redistribution::Plan::checkSplits(const std::vector<GridAxis> &grid,
                                       const std::vector<Split> &from,
                                       const std::vector<Split> &to) const {
  std::string complaint = faultOfSplits(grid, "x", dims, from,
                                        /*mayOverlap=*/kind == MoveKind::slice);
  if (complaint.empty())
    complaint = faultOfSplits(grid, "y", dims, to, /*mayOverlap=*/true);
  if (!complaint.empty())
    fail("has wrong tables: " + complaint);
}

void Redistribution::Plan::checkGroup(const MoveTables &tables) const {
  if (tables.ranks() == 1)
    return;
  if (!group)
    fail("has no group, expected that of its axes, " +
         std::to_string(tables.ranks()) + " ranks");
  int size = static_cast<int>(tables.ranks());
  int place = static_cast<int>(tables.self());
  if (group->size() != size || group->rank() != place)
    fail("has place " + std::to_string(group->rank()) + " in a group of " +
         std::to_string(group->size()) + " ranks, expected place " +
         std::to_string(place) + " in the group of its axes, " +
         std::to_string(size) + " ranks");
}

//===----------------------------------------------------------------------===//
// Laying out
//===----------------------------------------------------------------------===//

void Redistribution::Plan::slice(const MoveTables &tables, Boxes &keep) {
  if (!liesInside(tables.wanted(), tables.mine()))
    fail("needs " + textOf(tables.wanted()) + ", expected a part of " +
         textOf(tables.mine()) + ", which it holds");
  keep.push_back(copyOf(tables.wanted(), {tables.mine()}, {tables.wanted()}));
}

void Redistribution::Plan::gather(const MoveTables &tables, Boxes &pack,
                                  Boxes &unpack) {
  const Tile &whole = tables.wanted();
  std::vector<std::int64_t> counts;
  // Ranks may hold copies; a part is taken from the first that has it.
  std::set<std::pair<Dims, Dims>> seen;
  std::int64_t covered = 0;
  for (std::size_t member = 0; member < tables.ranks(); ++member) {
    Tile part = tables.before(member);
    if (!liesInside(part, whole))
      fail("gathers " + textOf(part) + ", expected parts of " + textOf(whole));
    if (member == tables.self())
      pack.push_back(copyOf(part, {part}, {part, staging}));
    if (part.elements() > 0 && seen.emplace(part.start, part.size).second) {
      unpack.push_back(copyOf(part, {part, staging}, {whole}));
      covered += part.elements();
    }
    counts.push_back(part.elements());
    staging += part.elements();
  }
  // Parts of a tiling that are not the same have no element in common.
  if (covered != whole.elements())
    fail("gathers " + std::to_string(covered) + " elements, expected the " +
         std::to_string(whole.elements()) + " of " + textOf(whole));
  sent = Counts(std::move(counts));
}

void Redistribution::Plan::reduce(const MoveTables &tables, Boxes &pack,
                                  Boxes &unpack) {
  if (type != DType::f32 && type != DType::f64 && type != DType::i32 &&
      type != DType::i64)
    fail("reduces elements of a type that cannot be reduced, expected f32, "
         "f64, i32 or i64");
  const Tile &whole = tables.mine();
  std::vector<std::int64_t> counts;
  for (std::size_t member = 0; member < tables.ranks(); ++member) {
    Tile theirs = tables.before(member), part = tables.after(member);
    if (theirs.start != whole.start || theirs.size != whole.size)
      fail("adds to " + textOf(theirs) + ", expected the box of all ranks of " +
           "its group, " + textOf(whole));
    if (!liesInside(part, whole))
      fail("gives away " + textOf(part) + ", expected a part of " +
           textOf(whole));
    pack.push_back(copyOf(part, {whole}, {part, staging}));
    if (member == tables.self())
      unpack.push_back(copyOf(part, {part, staging}, {part}));
    counts.push_back(part.elements());
    staging += part.elements();
  }
  sent = Counts(std::move(counts));
}

void Redistribution::Plan::exchange(const MoveTables &tables, Boxes &pack,
                                    Boxes &keep, Boxes &unpack) {
  const Tile &held = tables.mine(), &needed = tables.wanted();
  std::vector<bool> partners = tables.partners();
  std::vector<std::int64_t> leaving(tables.ranks(), 0);
  std::vector<std::int64_t> arriving(tables.ranks(), 0);
  Tile own = commonTile(held, needed);
  keep.push_back(copyOf(own, {held}, {needed}));

  for (std::size_t member = 0; member < tables.ranks(); ++member) {
    if (member == tables.self() || !partners[member])
      continue;
    Tile piece = commonTile(held, tables.after(member));
    pack.push_back(copyOf(piece, {held}, {piece, staging}));
    leaving[member] = piece.elements();
    staging += piece.elements();
  }
  std::int64_t covered = own.elements();
  for (std::size_t member = 0; member < tables.ranks(); ++member) {
    if (member == tables.self() || !partners[member])
      continue;
    Tile piece = commonTile(tables.before(member), needed);
    unpack.push_back(copyOf(piece, {piece, staging}, {needed}));
    arriving[member] = piece.elements();
    staging += piece.elements();
    covered += piece.elements();
  }
  if (covered != needed.elements())
    fail("needs " + std::to_string(needed.elements()) + " elements, " +
         textOf(needed) + ", of which its group holds " +
         std::to_string(covered) +
         "; expected a group over all axes on which "
         "it needs what another rank holds");
  sent = Counts(std::move(leaving));
  received = Counts(std::move(arriving));
}

void Redistribution::Plan::layOut(Device &device, const MoveTables &tables) {
  Boxes pack, keep, unpack;
  switch (kind) {
  case MoveKind::slice:
    slice(tables, keep);
    break;
  case MoveKind::allGather:
    gather(tables, pack, unpack);
    break;
  case MoveKind::reduceScatter:
    reduce(tables, pack, unpack);
    break;
  case MoveKind::allToAll:
  case MoveKind::haloExchange:
  case MoveKind::exchange:
    exchange(tables, pack, keep, unpack);
    break;
  }
  std::size_t bytes = sizeOf(type);
  packed.emplace(device, "pack", bytes, pack);
  kept.emplace(device, kind == MoveKind::slice ? "slice" : "unpack", bytes,
               keep);
  unpacked.emplace(device, "unpack", bytes, unpack);
}

//===----------------------------------------------------------------------===//
// The public class
//===----------------------------------------------------------------------===//

Redistribution::Redistribution(Rank &rank, MoveKind kind, Communicator *group,
                               std::initializer_list<const char *> axes,
                               const Dims &dims, const std::vector<Split> &from,
                               const std::vector<Split> &to, DType type,
                               Reduction reduction)
    : plan(std::make_unique<Plan>(kind, group, dims, type, reduction,
                                  rank.index)) {
  plan->checkSplits(rank.grid(), from, to);
  MoveTables tables(rank, axes, dims, from, to);
  if (kind != MoveKind::slice)
    plan->checkGroup(tables);
  plan->layOut(rank.device, tables);
}

Redistribution::Redistribution(Redistribution &&other) noexcept = default;
Redistribution &
Redistribution::operator=(Redistribution &&other) noexcept = default;
Redistribution::~Redistribution() = default;

std::int64_t Redistribution::stagingElements() const { return plan->staging; }

void Redistribution::checkStaging(std::int64_t planned) const {
  if (planned != plan->staging)
    plan->fail("was planned with " + std::to_string(planned) +
               " elements of staging, expected " +
               std::to_string(plan->staging));
}

void Redistribution::checkElement(std::size_t bytes) const {
  if (bytes != sizeOf(plan->type))
    plan->fail("was given elements of " + std::to_string(bytes) +
               " bytes, expected " + std::to_string(sizeOf(plan->type)));
}

void Redistribution::doPack(Stream &stream, const void *x,
                            void *staging) const {
  if (plan->kind == MoveKind::slice)
    plan->fail("has nothing to pack");
  (*plan->packed)(stream, x, staging);
}

void Redistribution::doCommunicate(Stream &stream, void *staging,
                                   const CallSite &site) const {
  if (plan->kind == MoveKind::slice)
    plan->fail("has nothing to communicate");
  Communicator *group = plan->group;
  if (!group || group->size() == 1)
    return;
  switch (plan->kind) {
  case MoveKind::slice:
    break;
  case MoveKind::allGather:
    if (plan->staging > 0)
      group->startAllGather(stream, staging, plan->sent, plan->type, site);
    break;
  case MoveKind::reduceScatter:
    if (plan->staging > 0)
      group->startReduceScatter(stream, staging, plan->sent, plan->type,
                                plan->reduction, site);
    break;
  case MoveKind::allToAll:
  case MoveKind::haloExchange:
  case MoveKind::exchange: {
    std::size_t before =
        static_cast<std::size_t>(plan->sent.total()) * sizeOf(plan->type);
    group->startExchange(stream, staging, plan->sent,
                         static_cast<std::byte *>(staging) + before,
                         plan->received, plan->type, site);
    break;
  }
  }
}

void Redistribution::doUnpack(Stream &stream, const void *x,
                              const void *staging, void *y) const {
  if (plan->kind == MoveKind::slice)
    plan->fail("has nothing to unpack");
  (*plan->kept)(stream, x, y);
  (*plan->unpacked)(stream, staging, y);
}

void Redistribution::doSlice(Stream &stream, const void *x, void *y) const {
  if (plan->kind != MoveKind::slice)
    plan->fail("is no slice, expected pack, communicate and unpack");
  (*plan->kept)(stream, x, y);
}
