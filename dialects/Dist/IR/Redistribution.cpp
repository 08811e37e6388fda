//===- Redistribution.cpp - From one layout to another --------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shortest paths over collectives (Dijkstra), and who sends what to whom.
//
//===----------------------------------------------------------------------===//

#include "dialects/Dist/IR/Redistribution.h"
#include <algorithm>
#include <cmath>
#include <map>
#include <queue>

using namespace partita::dist;

namespace {

bool contains(const std::vector<int> &axes, int axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

std::vector<int> sorted(std::vector<int> axes) {
  std::sort(axes.begin(), axes.end());
  return axes;
}

std::vector<int> cuttingAxes(const Layout &layout) {
  std::vector<int> axes;
  for (const DimCut &cut : layout.dims)
    axes.insert(axes.end(), cut.axes.begin(), cut.axes.end());
  return axes;
}

/// Calls visit(coordinates) for every combination of coordinates on `axes`, the
/// others being zero.
template <typename Visit>
void forCoordinates(const Grid &grid, const std::vector<int> &axes,
                    Visit visit) {
  std::vector<int64_t> at(grid.sizes.size(), 0);
  for (;;) {
    visit(at);
    size_t i = axes.size();
    while (i > 0 && ++at[axes[i - 1]] == grid.sizes[axes[i - 1]])
      at[axes[--i]] = 0;
    if (i == 0)
      return;
  }
}

/// The part among those over `axes` of the rank at these coordinates.
int64_t partAt(const Grid &grid, const std::vector<int> &axes,
               const std::vector<int64_t> &coordinates) {
  int64_t part = 0;
  for (int axis : axes)
    part = part * grid.sizes[axis] + coordinates[axis];
  return part;
}

/// The coordinate on `axis`, one of `axes`, of part `part`.
int64_t coordinateOf(const Grid &grid, const std::vector<int> &axes,
                     int64_t part, int axis) {
  for (size_t i = axes.size(); axes[--i] != axis;)
    part /= grid.sizes[axes[i]];
  return part % grid.sizes[axis];
}

/// The axes that cut either layout, each once.
std::vector<int> involvedAxes(const Layout &from, const Layout &to) {
  std::vector<int> axes = cuttingAxes(from);
  for (int axis : cuttingAxes(to))
    if (!contains(axes, axis))
      axes.push_back(axis);
  return sorted(axes);
}

/// What a rank receives and sends in a move, itself left out.
struct Traffic {
  int64_t received = 0, senders = 0;
  int64_t sent = 0, receivers = 0;
};

/// Which parts of one layout meet which of another, dimension by dimension.
/// An axis cuts one dimension at most, so what holds for ranks is a product
/// over dimensions: sums over all pairs of ranks take the time of one pass over
/// the parts.
class Overlaps {
public:
  Overlaps(const Grid &grid, const Sizes &sizes, const Layout &from,
           const Layout &to)
      : grid(grid), from(from), to(to), fromAxes(cuttingAxes(from)),
        toAxes(cuttingAxes(to)), dims(sizes.size()) {
    for (size_t d = 0; d < sizes.size(); ++d) {
      Dim &dim = dims[d];
      dim.source = rangesOf(grid, from.dims[d], sizes[d]);
      dim.target = rangesOf(grid, to.dims[d], sizes[d]);
      findMeetings(dim);
      for (int axis : to.dims[d].axes)
        if (!contains(fromAxes, axis))
          dim.fixed.push_back(axis);
      sumUp(dim, to.dims[d].axes);
    }
    for (int axis : fromAxes)
      if (!contains(toAxes, axis))
        copies *= grid.sizes[axis];
  }

  /// Calls visit(from rank, box) for each piece of `rank`.
  template <typename Visit> void forEachPiece(int64_t rank, Visit visit) const {
    std::vector<int64_t> coordinates = grid.coordinates(rank);
    std::vector<const std::vector<Meeting> *> lists(dims.size());
    for (size_t d = 0; d < dims.size(); ++d) {
      lists[d] = &dims[d].meetings[grid.partOf(rank, to.dims[d].axes)];
      if (lists[d]->empty())
        return;
    }
    std::vector<size_t> at(dims.size(), 0);
    Box box(dims.size());
    for (;;) {
      for (size_t d = 0; d < dims.size(); ++d) {
        const Meeting &meeting = (*lists[d])[at[d]];
        box[d] = meeting.range;
        for (int axis : from.dims[d].axes)
          coordinates[axis] =
              coordinateOf(grid, from.dims[d].axes, meeting.part, axis);
      }
      visit(grid.rankOf(coordinates), box);
      size_t d = dims.size();
      while (d > 0 && ++at[d - 1] == lists[d - 1]->size())
        at[--d] = 0;
      if (d == 0)
        return;
    }
  }

  /// The traffic of the rank at these coordinates.
  Traffic trafficAt(const std::vector<int64_t> &coordinates) const {
    Traffic traffic{1, 1, copies, copies};
    int64_t own = 1;
    for (size_t d = 0; d < dims.size(); ++d) {
      const Dim &dim = dims[d];
      int64_t want = partAt(grid, to.dims[d].axes, coordinates);
      int64_t have = partAt(grid, from.dims[d].axes, coordinates);
      int64_t row = partAt(grid, dim.fixed, coordinates);
      const Sum &sends = dim.sends[row * dim.source.size() + have];
      traffic.received *= dim.receives[want].elements;
      traffic.senders *= dim.receives[want].pieces;
      traffic.sent *= sends.elements;
      traffic.receivers *= sends.pieces;
      own *= intersect(dim.source[have], dim.target[want]).size();
    }
    traffic.received -= own;
    traffic.sent -= own;
    traffic.senders -= own > 0;
    traffic.receivers -= own > 0;
    return traffic;
  }

  /// The axes on which a piece's holder differs from its receiver.
  std::vector<int> movedAxes() const {
    for (const Dim &dim : dims)
      if (std::all_of(dim.receives.begin(), dim.receives.end(),
                      [](const Sum &sum) { return sum.pieces == 0; }))
        return {};
    std::vector<int> axes;
    for (size_t d = 0; d < dims.size(); ++d)
      for (int axis : from.dims[d].axes)
        if (isMoved(d, axis))
          axes.push_back(axis);
    return sorted(axes);
  }

private:
  /// A target part meets source part `part` in `range`.
  struct Meeting {
    int64_t part;
    Range range;
  };
  struct Sum {
    int64_t elements = 0, pieces = 0;
  };
  struct Dim {
    std::vector<Range> source, target;
    /// Per target part, the source parts in increasing order.
    std::vector<std::vector<Meeting>> meetings;
    /// Per target part: all meetings.
    std::vector<Sum> receives;
    /// Axes of the target's cut on which sender and receiver agree.
    std::vector<int> fixed;
    /// Per combination of `fixed` and source part: all meetings.
    std::vector<Sum> sends;
  };

  static void findMeetings(Dim &dim) {
    std::vector<int64_t> order;
    for (size_t part = 0; part < dim.source.size(); ++part)
      if (!dim.source[part].empty())
        order.push_back(static_cast<int64_t>(part));
    std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      return dim.source[a] < dim.source[b];
    });
    for (Range want : dim.target) {
      std::vector<Meeting> &list = dim.meetings.emplace_back();
      if (want.empty())
        continue;
      auto it =
          std::partition_point(order.begin(), order.end(), [&](int64_t at) {
            return dim.source[at].end <= want.begin;
          });
      for (; it != order.end() && dim.source[*it].begin < want.end; ++it)
        list.push_back({*it, intersect(dim.source[*it], want)});
      std::sort(
          list.begin(), list.end(),
          [](const Meeting &a, const Meeting &b) { return a.part < b.part; });
    }
  }

  void sumUp(Dim &dim, const std::vector<int> &axes) const {
    dim.receives.resize(dim.target.size());
    dim.sends.resize(grid.partsOf(dim.fixed) * dim.source.size());
    for (size_t want = 0; want < dim.target.size(); ++want) {
      int64_t row = 0;
      for (int axis : dim.fixed)
        row = row * grid.sizes[axis] +
              coordinateOf(grid, axes, static_cast<int64_t>(want), axis);
      for (const Meeting &meeting : dim.meetings[want])
        for (Sum *sum : {&dim.receives[want],
                         &dim.sends[row * dim.source.size() + meeting.part]}) {
          sum->elements += meeting.range.size();
          ++sum->pieces;
        }
    }
  }

  /// Whether `axis`, which cuts dimension `d` of the source, tells some holder
  /// from its receiver. Every dimension has some piece.
  bool isMoved(size_t d, int axis) const {
    // Receivers everywhere on the axis want the same.
    if (!contains(toAxes, axis))
      return grid.sizes[axis] > 1;
    const std::vector<int> &cut = from.dims[d].axes;
    if (contains(to.dims[d].axes, axis)) {
      for (size_t want = 0; want < dims[d].target.size(); ++want)
        for (const Meeting &meeting : dims[d].meetings[want])
          if (coordinateOf(grid, cut, meeting.part, axis) !=
              coordinateOf(grid, to.dims[d].axes, static_cast<int64_t>(want),
                           axis))
            return true;
      return false;
    }
    // Another dimension decides who receives: any holder meets any receiver.
    std::vector<bool> seen(grid.sizes[axis], false);
    for (const std::vector<Meeting> &list : dims[d].meetings)
      for (const Meeting &meeting : list)
        seen[coordinateOf(grid, cut, meeting.part, axis)] = true;
    for (size_t other = 0; other < dims.size(); ++other)
      if (contains(to.dims[other].axes, axis))
        for (size_t want = 0; want < dims[other].target.size(); ++want)
          if (!dims[other].meetings[want].empty())
            seen[coordinateOf(grid, to.dims[other].axes,
                              static_cast<int64_t>(want), axis)] = true;
    return std::count(seen.begin(), seen.end(), true) > 1;
  }

  const Grid &grid;
  const Layout &from, &to;
  std::vector<int> fromAxes, toAxes;
  std::vector<Dim> dims;
  /// How many receivers want the same piece because they differ only on axes
  /// that cut nothing any more.
  int64_t copies = 1;
};

} // namespace

std::vector<Piece> partita::dist::piecesOf(const Grid &grid, const Sizes &sizes,
                                           const Layout &from, const Layout &to,
                                           int64_t rank) {
  std::vector<Piece> pieces;
  Overlaps(grid, sizes, from, to)
      .forEachPiece(rank, [&](int64_t holder, const Box &box) {
        pieces.push_back({holder, box});
      });
  return pieces;
}

std::vector<int> partita::dist::movedAxes(const Grid &grid, const Sizes &sizes,
                                          const Layout &from,
                                          const Layout &to) {
  return Overlaps(grid, sizes, from, to).movedAxes();
}

std::vector<int64_t> partita::dist::stagingElements(const Grid &grid,
                                                    const Sizes &sizes,
                                                    const Layout &from,
                                                    const Move &move) {
  std::vector<int64_t> staging(grid.numRanks(), 0);
  switch (move.kind) {
  case MoveKind::slice:
  case MoveKind::allReduce:
    return staging;
  case MoveKind::allGather:
  case MoveKind::reduceScatter: {
    const Layout &parts = move.kind == MoveKind::allGather ? from : move.to;
    std::vector<int64_t> first(grid.numRanks());
    for (int64_t rank = 0; rank < grid.numRanks(); ++rank) {
      std::vector<int64_t> at = grid.coordinates(rank);
      for (int axis : move.axes)
        at[axis] = 0;
      first[rank] = grid.rankOf(at);
      staging[first[rank]] += elementsOf(boxOf(grid, parts, sizes, rank));
    }
    for (int64_t rank = 0; rank < grid.numRanks(); ++rank)
      staging[rank] = staging[first[rank]];
    return staging;
  }
  case MoveKind::allToAll:
  case MoveKind::haloExchange:
  case MoveKind::exchange:
    break;
  }
  Overlaps overlaps(grid, sizes, from, move.to);
  for (int64_t rank = 0; rank < grid.numRanks(); ++rank) {
    Traffic traffic = overlaps.trafficAt(grid.coordinates(rank));
    staging[rank] = traffic.received + traffic.sent;
  }
  return staging;
}

int64_t partita::dist::stagingElements(const Grid &grid, const Sizes &sizes,
                                       const Layout &from, const Move &move,
                                       int64_t rank) {
  return stagingElements(grid, sizes, from, move)[rank];
}

//===----------------------------------------------------------------------===//
// Path search
//===----------------------------------------------------------------------===//

namespace {

/// Dijkstra's algorithm over layouts.
class PathSearch {
public:
  PathSearch(const Grid &grid, const Sizes &sizes, int64_t elementBytes,
             const Layout &to, LinkModel link)
      : grid(grid), sizes(sizes), bytes(elementBytes), link(link),
        target(simplify(grid, to, sizes)), targetAxes(cuttingAxes(target)),
        tiles(target) {
    // What is cut on the way is cut in parts that tile.
    for (size_t d = 0; d < sizes.size(); ++d) {
      Layout one;
      one.dims = {tiles.dims[d]};
      if (isTiling(grid, one, {sizes[d]}))
        continue;
      tiles.dims[d].ranges.clear();
      targetTiles = false;
    }
  }

  std::vector<Move> run(const Layout &from) {
    if (simplify(grid, from, sizes).partial == target.partial &&
        sameBoxes(grid, from, target, sizes))
      return {};
    visit(-1, Move{MoveKind::slice, simplify(grid, from, sizes), {}, 0}, 0);
    while (!queue.empty()) {
      auto [seconds, index] = queue.top();
      queue.pop();
      if (nodes[index].done)
        continue;
      nodes[index].done = true;
      if (nodes[index].move.to == target)
        return pathTo(index);
      Layout layout = nodes[index].move.to;
      expand(index, layout);
    }
    return {};
  }

private:
  struct Node {
    int before;
    Move move;
    double seconds;
    bool done = false;
  };

  std::vector<Move> pathTo(int index) const {
    std::vector<Move> moves;
    for (; nodes[index].before >= 0; index = nodes[index].before)
      moves.push_back(nodes[index].move);
    std::reverse(moves.begin(), moves.end());
    return moves;
  }

  static std::vector<int64_t> keyOf(const Layout &layout) {
    std::vector<int64_t> key;
    for (const DimCut &cut : layout.dims) {
      key.push_back(static_cast<int64_t>(cut.axes.size()));
      key.insert(key.end(), cut.axes.begin(), cut.axes.end());
      key.push_back(cut.block);
      key.push_back(static_cast<int64_t>(cut.ranges.size()));
      for (Range range : cut.ranges) {
        key.push_back(range.begin);
        key.push_back(range.end);
      }
    }
    key.push_back(static_cast<int64_t>(layout.partial.size()));
    key.insert(key.end(), layout.partial.begin(), layout.partial.end());
    return key;
  }

  void visit(int before, Move move, double seconds) {
    auto [it, isNew] = known.try_emplace(keyOf(move.to), nodes.size());
    if (!isNew && nodes[it->second].seconds <= seconds)
      return;
    if (isNew)
      nodes.push_back({before, std::move(move), seconds});
    else
      nodes[it->second] = {before, std::move(move), seconds};
    queue.push({seconds, it->second});
  }

  void add(int from, MoveKind kind, Layout to, std::vector<int> axes,
           double seconds) {
    to = simplify(grid, std::move(to), sizes);
    // Among equals the more telling name.
    static constexpr double preference[] = {0, 1, 1, 2, 3, 4, 5};
    seconds += 1e-12 * preference[static_cast<int>(kind)];
    double total = nodes[from].seconds + seconds;
    visit(from, Move{kind, std::move(to), sorted(std::move(axes)), seconds},
          total);
  }

  /// Elements of the largest part.
  double largest(const Layout &layout) const {
    double elements = 1;
    for (size_t d = 0; d < sizes.size(); ++d) {
      int64_t size = 0;
      for (Range range : rangesOf(grid, layout.dims[d], sizes[d]))
        size = std::max(size, range.size());
      elements *= static_cast<double>(size);
    }
    return elements;
  }

  /// Seconds of a collective of `elements` over `axes`.
  double collective(double elements, const std::vector<int> &axes) const {
    double ranks = static_cast<double>(grid.partsOf(axes));
    return link.alpha * std::ceil(std::log2(ranks)) +
           link.beta * elements * static_cast<double>(bytes) * (ranks - 1) /
               ranks;
  }

  /// Seconds of an exchange: those of the rank with most to receive or send.
  double exchange(const Layout &from, const Layout &to,
                  const Overlaps &overlaps) const {
    double worst = 0;
    auto time = [&](int64_t peers, int64_t elements) {
      return link.alpha * static_cast<double>(peers) +
             link.beta * static_cast<double>(elements) *
                 static_cast<double>(bytes);
    };
    forCoordinates(
        grid, involvedAxes(from, to), [&](const std::vector<int64_t> &at) {
          Traffic traffic = overlaps.trafficAt(at);
          worst = std::max({worst, time(traffic.senders, traffic.received),
                            time(traffic.receivers, traffic.sent)});
        });
    return worst;
  }

  /// Seconds of a copy inside a rank.
  double copy(const Layout &to) const {
    return 1e-9 + 1e-2 * link.beta * largest(to) * static_cast<double>(bytes);
  }

  /// The cut over the first `count` axes of `cut`: unions of its parts.
  DimCut prefix(const DimCut &cut, size_t count, int64_t size) const {
    if (count == cut.axes.size())
      return cut;
    DimCut result;
    result.axes.assign(cut.axes.begin(), cut.axes.begin() + count);
    if (count == 0)
      return result;
    std::vector<Range> parts = rangesOf(grid, cut, size);
    int64_t groups = grid.partsOf(result.axes);
    int64_t inGroup = static_cast<int64_t>(parts.size()) / groups;
    for (int64_t group = 0; group < groups; ++group) {
      Range all{0, 0};
      bool isFirst = true;
      for (int64_t i = 0; i < inGroup; ++i) {
        Range part = parts[group * inGroup + i];
        if (part.empty())
          continue;
        if (!isFirst && part.begin != all.end) {
          result.ranges.clear();
          return result;
        }
        all = isFirst ? part : Range{all.begin, part.end};
        isFirst = false;
      }
      if (isFirst)
        all = {parts[group * inGroup].begin, parts[group * inGroup].begin};
      result.ranges.push_back(all);
    }
    return result;
  }

  /// Whether each part of `inner`, whose axes begin with those of `outer`, lies
  /// in the part of `outer` that it refines.
  bool isNested(const DimCut &inner, const DimCut &outer, int64_t size) const {
    std::vector<Range> small = rangesOf(grid, inner, size);
    std::vector<Range> large = rangesOf(grid, outer, size);
    size_t ratio = small.size() / large.size();
    for (size_t i = 0; i < small.size(); ++i)
      if (!large[i / ratio].contains(small[i]))
        return false;
    return true;
  }

  static bool startsWith(const std::vector<int> &axes,
                         const std::vector<int> &begin) {
    return axes.size() >= begin.size() &&
           std::equal(begin.begin(), begin.end(), axes.begin());
  }

  void expand(int index, const Layout &at) {
    expandSlices(index, at);
    expandReductions(index, at);
    if (at.partial.empty()) {
      expandGathers(index, at);
      expandAllToAll(index, at);
    }
    finish(index, at);
  }

  void expandSlices(int index, const Layout &at) {
    std::vector<int> used = cuttingAxes(at);
    used.insert(used.end(), at.partial.begin(), at.partial.end());
    used.insert(used.end(), at.varying.begin(), at.varying.end());
    for (size_t d = 0; d < sizes.size(); ++d) {
      const DimCut &cut = at.dims[d];
      const DimCut &want = tiles.dims[d];
      if (!startsWith(want.axes, cut.axes))
        continue;
      for (size_t count = cut.axes.size() + 1; count <= want.axes.size();
           ++count) {
        if (contains(used, want.axes[count - 1]))
          break;
        Layout next = at;
        next.dims[d] = prefix(want, count, sizes[d]);
        if (isNested(next.dims[d], cut, sizes[d]))
          add(index, MoveKind::slice, next, {}, copy(next));
      }
    }
  }

  /// The sets of axes to try as one all_reduce. Axes that cut nothing
  /// afterwards stay together: values only get smaller while they are partial,
  /// so the last of them is the best time for all. With many axes not every
  /// subset of the others is worth its time.
  std::vector<std::vector<int>> reductions(const std::vector<int> &open) const {
    std::vector<std::vector<int>> units(1);
    for (int axis : open)
      if (contains(targetAxes, axis))
        units.push_back({axis});
      else
        units[0].push_back(axis);
    if (units[0].empty())
      units.erase(units.begin());
    std::vector<std::vector<int>> sets;
    constexpr size_t kMaxUnits = 5;
    if (units.size() <= kMaxUnits) {
      for (size_t mask = 1; mask < (size_t(1) << units.size()); ++mask) {
        sets.emplace_back();
        for (size_t i = 0; i < units.size(); ++i)
          if (mask >> i & 1)
            sets.back().insert(sets.back().end(), units[i].begin(),
                               units[i].end());
      }
    } else {
      sets = units;
      sets.push_back(open);
      for (const DimCut &cut : target.dims) {
        sets.emplace_back();
        for (int axis : cut.axes)
          if (contains(open, axis))
            sets.back().push_back(axis);
        if (sets.back().empty())
          sets.pop_back();
      }
    }
    for (std::vector<int> &set : sets)
      set = sorted(std::move(set));
    return sets;
  }

  /// The layout after `axes` were combined.
  static Layout combined(Layout layout, const std::vector<int> &axes) {
    std::vector<int> rest;
    for (int axis : layout.partial)
      if (!contains(axes, axis))
        rest.push_back(axis);
    layout.partial = std::move(rest);
    if (layout.partial.empty())
      layout.combine = Combine::none;
    return layout;
  }

  void expandReductions(int index, const Layout &at) {
    std::vector<int> open;
    for (int axis : at.partial)
      if (!contains(target.partial, axis))
        open.push_back(axis);
    if (open.empty())
      return;
    for (const std::vector<int> &axes : reductions(open))
      add(index, MoveKind::allReduce, combined(at, axes), axes,
          2 * collective(largest(at), axes));
    for (size_t d = 0; d < sizes.size(); ++d) {
      const DimCut &cut = at.dims[d];
      const DimCut &want = tiles.dims[d];
      if (!startsWith(want.axes, cut.axes))
        continue;
      for (size_t count = cut.axes.size() + 1; count <= want.axes.size();
           ++count) {
        if (!contains(open, want.axes[count - 1]))
          break;
        std::vector<int> axes(want.axes.begin() + cut.axes.size(),
                              want.axes.begin() + count);
        Layout next = combined(at, axes);
        next.dims[d] = prefix(want, count, sizes[d]);
        if (isNested(next.dims[d], cut, sizes[d]))
          add(index, MoveKind::reduceScatter, next, axes,
              collective(largest(at), axes));
      }
    }
  }

  void expandGathers(int index, const Layout &at) {
    for (size_t d = 0; d < sizes.size(); ++d) {
      const DimCut &cut = at.dims[d];
      for (size_t count = 0; count < cut.axes.size(); ++count) {
        Layout next = at;
        next.dims[d] = prefix(cut, count, sizes[d]);
        if (!isNested(cut, next.dims[d], sizes[d]))
          continue;
        std::vector<int> axes(cut.axes.begin() + count, cut.axes.end());
        add(index, MoveKind::allGather, next, axes,
            collective(largest(next), axes));
      }
    }
  }

  void expandAllToAll(int index, const Layout &at) {
    for (size_t from = 0; from < sizes.size(); ++from)
      for (size_t to = 0; to < sizes.size(); ++to) {
        if (from == to)
          continue;
        const std::vector<int> &have = at.dims[from].axes;
        const DimCut &want = tiles.dims[to];
        if (!startsWith(want.axes, at.dims[to].axes))
          continue;
        size_t kept = at.dims[to].axes.size();
        for (size_t count = 1; count <= have.size(); ++count) {
          std::vector<int> axes(have.end() - count, have.end());
          if (want.axes.size() < kept + count ||
              !std::equal(axes.begin(), axes.end(), want.axes.begin() + kept))
            continue;
          Layout next = at;
          next.dims[from] =
              prefix(at.dims[from], have.size() - count, sizes[from]);
          next.dims[to] = prefix(want, kept + count, sizes[to]);
          if (isNested(at.dims[from], next.dims[from], sizes[from]) &&
              isNested(next.dims[to], at.dims[to], sizes[to]))
            add(index, MoveKind::allToAll, next, axes,
                exchange(at, next, Overlaps(grid, sizes, at, next)));
        }
      }
  }

  /// Straight to the target, or to its parts of values that are partial still.
  void finish(int index, const Layout &at) {
    bool isCombined = at.partial == target.partial;
    for (int axis : at.partial)
      if (contains(targetAxes, axis))
        return;
    if (!isCombined && !targetTiles)
      return;
    Overlaps overlaps(grid, sizes, at, target);
    std::vector<int> axes = overlaps.movedAxes();
    if (axes.empty()) {
      Layout next = target;
      next.partial = at.partial;
      next.combine = at.combine;
      add(index, MoveKind::slice, std::move(next), {}, copy(target));
      return;
    }
    if (!isCombined)
      return;
    bool sameAxes = true;
    for (size_t d = 0; d < sizes.size(); ++d)
      sameAxes = sameAxes && at.dims[d].axes == target.dims[d].axes;
    add(index,
        sameAxes && !targetTiles ? MoveKind::haloExchange : MoveKind::exchange,
        target, axes, exchange(at, target, overlaps));
  }

  const Grid &grid;
  const Sizes &sizes;
  int64_t bytes;
  LinkModel link;
  Layout target;
  std::vector<int> targetAxes;
  /// The target's cuts, balanced where its own overlap.
  Layout tiles;
  bool targetTiles = true;
  std::vector<Node> nodes;
  std::map<std::vector<int64_t>, int> known;
  using Entry = std::pair<double, int>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> queue;
};

} // namespace

std::vector<Move> partita::dist::findMoves(const Grid &grid, const Sizes &sizes,
                                           int64_t elementBytes,
                                           const Layout &from, const Layout &to,
                                           LinkModel link) {
  return PathSearch(grid, sizes, elementBytes, to, link).run(from);
}
