//===- Certificate.cpp - Ranks and groups of a certificate ----------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Arithmetic on the grid, and texts for messages.
//
//===----------------------------------------------------------------------===//

#include "Certificate.h"

namespace partita::check {

std::string describe(const RankSet &ranks) {
  std::string text;
  std::size_t shown = 0;
  for (const RankRange &range : ranks) {
    if (shown++ == 4)
      return text + ", ...";
    text += (text.empty() ? "" : ", ") + std::to_string(range.first);
    if (range.first == range.last)
      continue;
    text += "-" + std::to_string(range.last);
    if (range.step != 1)
      text += " by " + std::to_string(range.step);
  }
  return text;
}

std::string describe(const Parts &parts) {
  std::string text = "[";
  std::size_t shown = 0;
  for (const PartRun &run : parts) {
    if (shown)
      text += ", ";
    if (shown++ == 8)
      return text + "...]";
    text += std::to_string(run.elements);
    if (run.times != 1)
      text += " (" + std::to_string(run.times) + " times)";
  }
  return text + "]";
}

const char *nameOf(Reduction reduction) {
  switch (reduction) {
  case Reduction::none:
    return "none";
  case Reduction::sum:
    return "sum";
  case Reduction::max:
    return "max";
  case Reduction::min:
    return "min";
  case Reduction::prod:
    return "prod";
  }
  return "none";
}

std::int64_t Parameter::elements() const {
  std::int64_t product = 1;
  for (std::int64_t size : shape)
    product *= size;
  return product;
}

const Phase *RankClass::findPhase(const std::string &wanted) const {
  for (const Phase &phase : phases)
    if (phase.name == wanted)
      return &phase;
  return nullptr;
}

std::int64_t Certificate::gridRanks() const {
  std::int64_t product = 1;
  for (const Axis &axis : grid)
    product *= axis.size;
  return product;
}

std::int64_t Certificate::coordinate(std::int64_t rank, int axis) const {
  for (int i = static_cast<int>(grid.size()) - 1; i > axis; --i)
    rank /= grid[i].size;
  return rank % grid[axis].size;
}

std::string Certificate::describe(AxisSet axes) const {
  std::string text = "[";
  for (std::size_t i = 0; i < grid.size(); ++i)
    if (axes >> i & 1)
      text += (text.size() > 1 ? ", " : "") + grid[i].name;
  return text + "]";
}

AxisSet Certificate::significant(AxisSet axes) const {
  for (std::size_t i = 0; i < grid.size(); ++i)
    if (grid[i].size == 1)
      axes &= ~(AxisSet(1) << i);
  return axes;
}

std::int64_t Certificate::groupSize(AxisSet axes) const {
  std::int64_t product = 1;
  for (std::size_t i = 0; i < grid.size(); ++i)
    if (axes >> i & 1)
      product *= grid[i].size;
  return product;
}

std::int64_t Certificate::leaderOf(std::int64_t rank, AxisSet axes) const {
  std::int64_t leader = 0, stride = 1;
  for (std::size_t i = grid.size(); i-- > 0;) {
    if (!(axes >> i & 1))
      leader += rank % grid[i].size * stride;
    rank /= grid[i].size;
    stride *= grid[i].size;
  }
  return leader;
}

std::int64_t Certificate::memberIndex(std::int64_t rank, AxisSet axes) const {
  std::int64_t index = 0, stride = 1;
  for (std::size_t i = grid.size(); i-- > 0;) {
    if (axes >> i & 1) {
      index += rank % grid[i].size * stride;
      stride *= grid[i].size;
    }
    rank /= grid[i].size;
  }
  return index;
}

std::int64_t Certificate::groupsOver(AxisSet axes) const {
  return gridRanks() / groupSize(axes);
}

std::int64_t Certificate::leaderOfGroup(std::int64_t group,
                                        AxisSet axes) const {
  std::int64_t leader = 0, stride = 1;
  for (std::size_t i = grid.size(); i-- > 0;) {
    if (!(axes >> i & 1)) {
      leader += group % grid[i].size * stride;
      group /= grid[i].size;
    }
    stride *= grid[i].size;
  }
  return leader;
}

std::int64_t Certificate::serversOf(std::int64_t group, AxisSet axes) const {
  std::int64_t groups = groupsOver(axes);
  return servers < groups ? 1 : (servers - group + groups - 1) / groups;
}

std::int64_t Certificate::servedBy(std::int64_t rank, AxisSet axes) const {
  std::int64_t groups = groupsOver(axes), server = rank - gridRanks();
  return servers < groups ? (groups - server + servers - 1) / servers : 1;
}

std::int64_t Certificate::groupOf(std::int64_t rank, AxisSet axes,
                                  std::int64_t place) const {
  AxisSet all = (AxisSet(1) << grid.size()) - 1;
  if (rank < gridRanks())
    return memberIndex(rank, all & ~axes);
  std::int64_t groups = groupsOver(axes), server = rank - gridRanks();
  return servers < groups ? server + place * servers : server % groups;
}

std::int64_t widthOf(const std::string &type) {
  if (type == "i1" || type == "i8" || type == "ui8")
    return 1;
  if (type == "f16" || type == "bf16" || type == "i16" || type == "ui16")
    return 2;
  if (type == "f32" || type == "i32" || type == "ui32")
    return 4;
  if (type == "f64" || type == "i64" || type == "ui64" || type == "index")
    return 8;
  return 0;
}

} // namespace partita::check
