//===- Splits.cpp - Bounds of split dimensions in emitted code ------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tables of bounds and the rank's index into them.
//
//===----------------------------------------------------------------------===//

#include "codegen/Emit/Splits.h"
#include "dialects/Dist/IR/Partition.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace partita::codegen {

SmallVector<Cut, 4> cutsOf(dist::GridAttr grid, dist::LayoutAttr layout,
                           ArrayRef<int64_t> dims) {
  SmallVector<Cut, 4> cuts;
  for (auto [d, size] : llvm::enumerate(dims)) {
    Cut cut;
    cut.size = size;
    if (layout && d < layout.getDims().size())
      for (Attribute axis : layout.getAxesOf(d)) {
        int index = grid.findAxis(llvm::cast<StringAttr>(axis).getValue());
        // An axis of size 1 cuts nothing.
        if (index >= 0 && grid.getSizes()[index] > 1)
          cut.axes.push_back(index);
      }
    cuts.push_back(std::move(cut));
  }
  return cuts;
}

int64_t SplitTables::parts(const Cut &cut) const {
  int64_t count = 1;
  for (int axis : cut.axes)
    count *= grid.getSizes()[axis];
  return count;
}

std::string SplitTables::describe(const Cut &cut) const {
  std::string text;
  for (int axis : cut.axes)
    text += (text.empty() ? "" : ", ") +
            commentText(grid.getAxes()[axis].getValue());
  return text;
}

std::string SplitTables::table(const Cut &cut) {
  for (const auto &[known, name] : cuts)
    if (known == cut)
      return name;
  std::string hint = "bounds";
  for (int axis : cut.axes)
    hint += typeCase(grid.getAxes()[axis].getValue());
  std::string name = names.make(hint + std::to_string(cut.size), "bounds");
  name = "k" + typeCase(name);
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
  return table(cut) + "[" + index + "]";
}

void SplitTables::print(raw_ostream &os) const {
  for (const auto &[cut, name] : cuts) {
    printComment(os,
                 std::to_string(cut.size) + " elements cut over " +
                     describe(cut) + ": part i is [bound i, bound i + 1)",
                 0, "/// ");
    std::vector<std::string> bounds;
    for (int64_t bound : dist::partTable(cut.size, parts(cut)))
      bounds.push_back(std::to_string(bound));
    printList(os, "constexpr std::int64_t " + name + "[] = {", bounds, "};", 4);
  }
}

} // namespace partita::codegen
