//===- Splits.cpp - Bounds of split dimensions in emitted code ------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Constants for the parts and the rank's index into them.
//
//===----------------------------------------------------------------------===//

#include "codegen/Emit/Splits.h"
#include "dialects/Dist/Interfaces/Layouts.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace partita::codegen {

bool Cut::isTiling() const {
  int64_t end = 0;
  for (dist::Range range : ranges) {
    if (range.begin != end || range.end < range.begin)
      return false;
    end = range.end;
  }
  return end == size;
}

SmallVector<Cut, 4> cutsOf(dist::GridAttr grid, dist::LayoutAttr layout,
                           ArrayRef<int64_t> dims) {
  dist::Grid plainGrid = dist::toGrid(grid);
  dist::Layout plain;
  if (layout)
    plain = dist::toLayout(grid, layout);
  SmallVector<Cut, 4> cuts;
  for (auto [d, size] : llvm::enumerate(dims)) {
    Cut cut;
    cut.size = size;
    if (d < plain.dims.size()) {
      // An axis of size 1 cuts nothing.
      for (int axis : plain.dims[d].axes)
        if (plainGrid.sizes[axis] > 1)
          cut.axes.push_back(axis);
      if (!cut.axes.empty())
        cut.ranges = dist::rangesOf(plainGrid, plain.dims[d], size);
    }
    cuts.push_back(std::move(cut));
  }
  return cuts;
}

std::string SplitTables::describe(const Cut &cut) const {
  std::string text;
  for (int axis : cut.axes)
    text += (text.empty() ? "" : ", ") +
            commentText(grid.getAxes()[axis].getValue());
  return text;
}

std::string SplitTables::name(const Cut &cut) {
  for (const auto &[known, name] : cuts)
    if (known == cut)
      return name;
  std::string hint = cut.isTiling() ? "kSplit" : "kHalo";
  for (int axis : cut.axes)
    hint += typeCase(grid.getAxes()[axis].getValue());
  std::string name = names.make(hint + std::to_string(cut.size), "kSplit");
  cuts.push_back({cut, name});
  return name;
}

std::string SplitTables::begin(const Cut &cut) {
  if (cut.axes.empty())
    return "0";
  std::string index;
  for (auto [i, axis] : llvm::enumerate(cut.axes)) {
    std::string coordinate = "rank.coordinate(" + std::to_string(axis) + ")";
    if (i > 0)
      index = (i > 1 ? "(" + index + ")" : index) + " * " +
              std::to_string(grid.getSizes()[axis]) + " + " + coordinate;
    else
      index = coordinate;
  }
  return name(cut) + ".range(" + index + ").first";
}

std::string SplitTables::list(ArrayRef<Cut> all) {
  while (!all.empty() && all.back().axes.empty())
    all = all.drop_back();
  std::string text;
  for (const Cut &cut : all)
    text += (text.empty() ? "" : ", ") + (cut.axes.empty() ? "{}" : name(cut));
  return text;
}

void SplitTables::print(raw_ostream &os) const {
  for (const auto &[cut, name] : cuts) {
    bool tiles = cut.isTiling();
    printComment(os,
                 std::to_string(cut.size) + " elements cut over " +
                     describe(cut) +
                     (tiles ? ": part i is [bound i, bound i + 1)"
                            : " into parts that overlap: begin and end of "
                              "each"),
                 0, "/// ");
    std::vector<std::string> axes, numbers;
    for (int axis : cut.axes)
      axes.push_back(std::to_string(axis));
    for (dist::Range range : cut.ranges) {
      if (!tiles || numbers.empty())
        numbers.push_back(std::to_string(range.begin));
      numbers.push_back(std::to_string(range.end));
    }
    std::string head =
        "const Split " + name +
        (tiles ? "(std::vector<int>{" : " = Split::overlapping({") +
        llvm::join(axes, ", ") + "}, {";
    printList(os, head, numbers, "});", 4);
  }
}

} // namespace partita::codegen
