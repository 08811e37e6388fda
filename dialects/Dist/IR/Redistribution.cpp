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

/// Calls visit(rank) for every combination of coordinates on `axes`, the other
/// coordinates being those of `base`.
template <typename Visit>
void forRanks(const Grid &grid, const std::vector<int> &axes, int64_t base,
              Visit visit) {
  std::vector<int64_t> at = grid.coordinates(base);
  for (int axis : axes)
    at[axis] = 0;
  for (;;) {
    visit(grid.rankOf(at));
    size_t i = axes.size();
    while (i > 0 && ++at[axes[i - 1]] == grid.sizes[axes[i - 1]])
      at[axes[--i]] = 0;
    if (i == 0)
      return;
  }
}

/// Visits the pieces of a rank without making boxes: `visit(from, sizes...)`.
class Pieces {
public:
  Pieces(const Grid &grid, const Sizes &sizes, const Layout &from,
         const Layout &to)
      : grid(grid), from(from), to(to) {
    for (size_t d = 0; d < sizes.size(); ++d) {
      source.push_back(rangesOf(grid, from.dims[d], sizes[d]));
      target.push_back(rangesOf(grid, to.dims[d], sizes[d]));
    }
    // Which source parts a target part overlaps.
    for (size_t d = 0; d < sizes.size(); ++d) {
      overlaps.emplace_back();
      for (Range want : target[d]) {
        overlaps[d].emplace_back();
        for (size_t part = 0; part < source[d].size(); ++part) {
          Range common = intersect(source[d][part], want);
          if (!common.empty())
            overlaps[d].back().push_back({static_cast<int64_t>(part), common});
        }
      }
    }
  }

  /// Calls visit(from rank, box) for each piece of `rank`.
  template <typename Visit> void forEach(int64_t rank, Visit visit) const {
    size_t dims = source.size();
    std::vector<const std::vector<Overlap> *> lists(dims);
    for (size_t d = 0; d < dims; ++d) {
      lists[d] = &overlaps[d][grid.partOf(rank, to.dims[d].axes)];
      if (lists[d]->empty())
        return;
    }
    std::vector<size_t> at(dims, 0);
    std::vector<int64_t> own = grid.coordinates(rank);
    Box box(dims);
    for (;;) {
      std::vector<int64_t> coordinates = own;
      for (size_t d = 0; d < dims; ++d) {
        const Overlap &overlap = (*lists[d])[at[d]];
        box[d] = overlap.range;
        int64_t part = overlap.part;
        for (size_t i = from.dims[d].axes.size(); i-- > 0;) {
          int axis = from.dims[d].axes[i];
          coordinates[axis] = part % grid.sizes[axis];
          part /= grid.sizes[axis];
        }
      }
      visit(grid.rankOf(coordinates), box);
      size_t d = dims;
      while (d > 0 && ++at[d - 1] == lists[d - 1]->size())
        at[--d] = 0;
      if (d == 0)
        return;
    }
  }

private:
  struct Overlap {
    int64_t part;
    Range range;
  };

  const Grid &grid;
  const Layout &from, &to;
  std::vector<std::vector<Range>> source, target;
  std::vector<std::vector<std::vector<Overlap>>> overlaps;
};

/// The axes that cut either layout, each once.
std::vector<int> involvedAxes(const Layout &from, const Layout &to) {
  std::vector<int> axes = cuttingAxes(from);
  for (int axis : cuttingAxes(to))
    if (!contains(axes, axis))
      axes.push_back(axis);
  return sorted(axes);
}

} // namespace

std::vector<Piece> partita::dist::piecesOf(const Grid &grid, const Sizes &sizes,
                                           const Layout &from, const Layout &to,
                                           int64_t rank) {
  std::vector<Piece> pieces;
  Pieces(grid, sizes, from, to)
      .forEach(rank, [&](int64_t holder, const Box &box) {
        pieces.push_back({holder, box});
      });
  return pieces;
}

std::vector<int> partita::dist::movedAxes(const Grid &grid, const Sizes &sizes,
                                          const Layout &from,
                                          const Layout &to) {
  std::vector<bool> moved(grid.sizes.size(), false);
  Pieces pieces(grid, sizes, from, to);
  forRanks(grid, involvedAxes(from, to), 0, [&](int64_t rank) {
    std::vector<int64_t> own = grid.coordinates(rank);
    pieces.forEach(rank, [&](int64_t holder, const Box &) {
      if (holder == rank)
        return;
      std::vector<int64_t> other = grid.coordinates(holder);
      for (size_t axis = 0; axis < own.size(); ++axis)
        if (own[axis] != other[axis])
          moved[axis] = true;
    });
  });
  std::vector<int> axes;
  for (size_t axis = 0; axis < moved.size(); ++axis)
    if (moved[axis])
      axes.push_back(static_cast<int>(axis));
  return axes;
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
    std::vector<int64_t> own;
    for (int64_t rank = 0; rank < grid.numRanks(); ++rank)
      own.push_back(elementsOf(boxOf(grid, parts, sizes, rank)));
    std::vector<int64_t> first(grid.numRanks());
    for (int64_t rank = 0; rank < grid.numRanks(); ++rank) {
      std::vector<int64_t> at = grid.coordinates(rank);
      for (int axis : move.axes)
        at[axis] = 0;
      first[rank] = grid.rankOf(at);
      staging[first[rank]] += own[rank];
    }
    for (int64_t rank = grid.numRanks(); rank-- > 0;)
      staging[rank] = staging[first[rank]];
    return staging;
  }
  case MoveKind::allToAll:
  case MoveKind::haloExchange:
  case MoveKind::exchange:
    break;
  }
  Pieces pieces(grid, sizes, from, move.to);
  for (int64_t rank = 0; rank < grid.numRanks(); ++rank)
    pieces.forEach(rank, [&](int64_t holder, const Box &box) {
      if (holder == rank)
        return;
      staging[rank] += elementsOf(box);
      staging[holder] += elementsOf(box);
    });
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
        target(simplify(grid, to, sizes)), tiles(target) {
    // What is cut on the way is cut in parts that tile.
    for (size_t d = 0; d < sizes.size(); ++d) {
      Layout one;
      one.dims = {tiles.dims[d]};
      if (!isTiling(grid, one, {sizes[d]}))
        tiles.dims[d].ranges.clear();
    }
  }

  std::vector<Move> run(const Layout &from) {
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

  /// Seconds of an exchange: that of the rank with most to receive.
  double exchange(const Layout &from, const Layout &to) const {
    Pieces pieces(grid, sizes, from, to);
    double worst = 0;
    forRanks(grid, involvedAxes(from, to), 0, [&](int64_t rank) {
      double received = 0, peers = 0;
      pieces.forEach(rank, [&](int64_t holder, const Box &box) {
        if (holder == rank)
          return;
        received += static_cast<double>(elementsOf(box));
        ++peers;
      });
      worst =
          std::max(worst, link.alpha * peers + link.beta * received *
                                                   static_cast<double>(bytes));
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

  /// Whether every rank's box under `b` lies in its box under `a`.
  bool holds(const Layout &a, const Layout &b) const {
    bool result = true;
    forRanks(grid, involvedAxes(a, b), 0, [&](int64_t rank) {
      if (!result)
        return;
      Box inner = boxOf(grid, b, sizes, rank);
      if (isEmpty(inner))
        return;
      Box outer = boxOf(grid, a, sizes, rank);
      for (size_t d = 0; d < inner.size(); ++d)
        result = result && outer[d].contains(inner[d]);
    });
    return result;
  }

  void expand(int index, const Layout &at) {
    std::vector<int> open;
    for (int axis : at.partial)
      if (!contains(target.partial, axis))
        open.push_back(axis);
    expandSlices(index, at);
    expandReductions(index, at, open);
    if (at.partial.empty()) {
      expandGathers(index, at);
      expandAllToAll(index, at);
    }
    if (at.partial == target.partial)
      finishBy(index, at);
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
    if (at.partial == target.partial && holds(at, target))
      add(index, MoveKind::slice, target, {}, copy(target));
  }

  void expandReductions(int index, const Layout &at,
                        const std::vector<int> &open) {
    for (size_t mask = 1; mask < (size_t(1) << open.size()); ++mask) {
      std::vector<int> axes, rest;
      for (int axis : at.partial) {
        size_t bit = std::find(open.begin(), open.end(), axis) - open.begin();
        bool isChosen = bit < open.size() && (mask >> bit & 1);
        (isChosen ? axes : rest).push_back(axis);
      }
      Layout next = at;
      next.partial = rest;
      if (rest.empty())
        next.combine = Combine::none;
      add(index, MoveKind::allReduce, next, axes,
          2 * collective(largest(at), axes));
      bool isSingle = axes.size() == 1, isAll = axes.size() == open.size();
      if (!isSingle && !isAll)
        continue;
      for (size_t d = 0; d < sizes.size(); ++d) {
        const DimCut &cut = at.dims[d];
        const DimCut &want = tiles.dims[d];
        size_t count = cut.axes.size() + axes.size();
        if (!startsWith(want.axes, cut.axes) || want.axes.size() < count)
          continue;
        std::vector<int> gained(want.axes.begin() + cut.axes.size(),
                                want.axes.begin() + count);
        if (sorted(gained) != axes)
          continue;
        Layout scattered = next;
        scattered.dims[d] = prefix(want, count, sizes[d]);
        if (isNested(scattered.dims[d], cut, sizes[d]))
          add(index, MoveKind::reduceScatter, scattered, axes,
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
            add(index, MoveKind::allToAll, next, axes, exchange(at, next));
        }
      }
  }

  /// Straight to the target.
  void finishBy(int index, const Layout &at) {
    if (!at.partial.empty())
      return;
    bool sameAxes = true;
    for (size_t d = 0; d < sizes.size(); ++d)
      sameAxes = sameAxes && at.dims[d].axes == target.dims[d].axes;
    bool overlaps = !isTiling(grid, target, sizes);
    std::vector<int> axes = movedAxes(grid, sizes, at, target);
    // Where nothing moves between ranks it is a slice.
    if (axes.empty())
      return;
    add(index,
        sameAxes && overlaps ? MoveKind::haloExchange : MoveKind::exchange,
        target, axes, exchange(at, target));
  }

  const Grid &grid;
  const Sizes &sizes;
  int64_t bytes;
  LinkModel link;
  Layout target;
  Layout tiles;
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
