//===- MoveTables.cpp - Who sends what to whom in a move ------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All numbers come from the layouts' pieces, as the runtime computes them.
//
//===----------------------------------------------------------------------===//

#include "passes/Certificate/MoveTables.h"
#include "dialects/Dist/IR/Redistribution.h"
#include "dialects/Dist/Interfaces/Layouts.h"
#include "llvm/ADT/MapVector.h"
#include <map>

using namespace mlir;

namespace partita::certificate {

std::string ranksText(ArrayRef<int64_t> ranks) {
  std::string text = "[";
  for (size_t i = 0; i < ranks.size();) {
    size_t end = i + 1;
    int64_t step = end < ranks.size() ? ranks[end] - ranks[i] : 1;
    while (end < ranks.size() && ranks[end] - ranks[end - 1] == step)
      ++end;
    // Two of equal distance are no pattern yet, unless they are neighbours.
    if (end - i == 2 && step != 1)
      end = i + 1;
    if (end - i == 1)
      step = 1;
    text += (i ? ",[" : "[") + std::to_string(ranks[i]) + "," +
            std::to_string(ranks[end - 1]);
    if (step != 1)
      text += "," + std::to_string(step);
    text += "]";
    i = end;
  }
  return text + "]";
}

std::string partsText(ArrayRef<int64_t> parts) {
  std::string text = "[";
  for (size_t i = 0; i < parts.size();) {
    size_t end = i + 1;
    while (end < parts.size() && parts[end] == parts[i])
      ++end;
    text += (i ? ",[" : "[") + std::to_string(parts[i]) + "," +
            std::to_string(end - i) + "]";
    i = end;
  }
  return text + "]";
}

namespace {

/// Elements per peer, by its distance.
using Peers = std::map<int64_t, int64_t>;

/// [[delta, stride, count, elements], ...]
std::string peersText(const Peers &peers) {
  std::string text = "[";
  for (auto it = peers.begin(); it != peers.end();) {
    auto [first, elements] = *it;
    int64_t stride = 1, count = 1, last = first;
    for (++it; it != peers.end() && it->second == elements; ++it) {
      if (count == 1)
        stride = it->first - last;
      else if (it->first - last != stride)
        break;
      last = it->first;
      ++count;
    }
    text += (text.size() > 1 ? ",[" : "[") + std::to_string(first) + "," +
            std::to_string(stride) + "," + std::to_string(count) + "," +
            std::to_string(elements) + "]";
  }
  return text + "]";
}

/// Entries with equal texts, and the ranks they are of.
class Entries {
public:
  void add(int64_t rank, const std::string &text) {
    entries[text].push_back(rank);
  }
  std::string text(StringRef kind) const {
    std::string text = "{\"" + kind.str() + "\":[";
    bool isFirst = true;
    for (const auto &[entry, ranks] : entries) {
      text += (isFirst ? "\n {\"ranks\":" : ",\n {\"ranks\":") +
              ranksText(ranks) + "," + entry + "}";
      isFirst = false;
    }
    return text + "]}";
  }

private:
  llvm::MapVector<std::string, std::vector<int64_t>,
                  std::map<std::string, unsigned>>
      entries;
};

/// A move as arithmetic sees it.
struct Layouts {
  Layouts(dist::GridAttr gridAttr, DictionaryAttr move)
      : grid(dist::toGrid(gridAttr)),
        from(dist::toLayout(gridAttr, move.getAs<dist::LayoutAttr>("from"))),
        to(dist::toLayout(gridAttr, move.getAs<dist::LayoutAttr>("to"))),
        sizes(dist::sizesOf(cast<RankedTensorType>(
            move.getAs<TypeAttr>("global").getValue()))) {}

  dist::Grid grid;
  dist::Layout from, to;
  dist::Sizes sizes;
};

} // namespace

std::string MoveTables::messagesOf(DictionaryAttr move) const {
  Layouts layouts(grid, move);
  int64_t ranks = grid.getNumRanks();
  std::vector<int64_t> own(ranks, 0);
  std::vector<Peers> sends(ranks), receives(ranks);
  for (int64_t rank = 0; rank < ranks; ++rank)
    for (const dist::Piece &piece : dist::piecesOf(
             layouts.grid, layouts.sizes, layouts.from, layouts.to, rank)) {
      int64_t elements = dist::elementsOf(piece.box);
      if (elements == 0)
        continue;
      if (piece.from == rank) {
        own[rank] += elements;
        continue;
      }
      receives[rank][piece.from - rank] += elements;
      sends[piece.from][rank - piece.from] += elements;
    }
  Entries entries;
  for (int64_t rank = 0; rank < ranks; ++rank)
    entries.add(rank, "\"own\":" + std::to_string(own[rank]) +
                          ",\"send\":" + peersText(sends[rank]) +
                          ",\"receive\":" + peersText(receives[rank]));
  return entries.text("messages");
}

std::string MoveTables::partsOf(DictionaryAttr move) const {
  Layouts layouts(grid, move);
  bool isGather = move.getAs<StringAttr>("kind").getValue() == "all_gather";
  const dist::Layout &cut = isGather ? layouts.from : layouts.to;
  std::vector<int> axes;
  for (auto axis : move.getAs<ArrayAttr>("axes").getAsRange<StringAttr>())
    axes.push_back(grid.findAxis(axis.getValue()));
  // Members of a group are in the order of their ranks.
  std::map<int64_t, std::vector<int64_t>> parts;
  auto leaderOf = [&](int64_t rank) {
    std::vector<int64_t> at = layouts.grid.coordinates(rank);
    for (int axis : axes)
      at[axis] = 0;
    return layouts.grid.rankOf(at);
  };
  int64_t ranks = grid.getNumRanks();
  for (int64_t rank = 0; rank < ranks; ++rank)
    parts[leaderOf(rank)].push_back(
        dist::elementsOf(dist::boxOf(layouts.grid, cut, layouts.sizes, rank)));
  Entries entries;
  for (int64_t rank = 0; rank < ranks; ++rank)
    entries.add(rank, "\"parts\":" + partsText(parts[leaderOf(rank)]));
  return entries.text("parts");
}

int MoveTables::add(DictionaryAttr move) {
  auto [it, isNew] = numbers.insert({move, static_cast<int>(texts.size())});
  if (isNew) {
    StringRef kind = move.getAs<StringAttr>("kind").getValue();
    bool hasParts = kind == "all_gather" || kind == "reduce_scatter";
    texts.push_back(hasParts ? partsOf(move) : messagesOf(move));
  }
  return it->second;
}

} // namespace partita::certificate
