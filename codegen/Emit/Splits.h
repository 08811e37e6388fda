//===- Splits.h - Bounds of split dimensions in emitted code ----*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where each part of a split dimension begins and ends. Ranks of one class have
// the same sizes but different places, so a program finds its place by its
// coordinates in the grid:
//
//     /// 7 elements cut over row: part i is [bound i, bound i + 1)
//     const Split kSplitRow7({0}, {0, 4, 7});
//     /// 7 elements cut over row into parts that overlap: begin, end, ...
//     const Split kHaloRow7 = Split::overlapping({0}, {0, 5, 3, 7});
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_CODEGEN_EMIT_SPLITS_H
#define PARTITA_CODEGEN_EMIT_SPLITS_H

#include "codegen/Emit/Text.h"
#include "dialects/Dist/IR/DistDialect.h"
#include "dialects/Dist/IR/Layout.h"

#include <string>
#include <vector>

namespace partita::codegen {

/// The cut of one dimension: its size, the grid axes that cut it and the parts.
struct Cut {
  int64_t size = 0;
  llvm::SmallVector<int, 2> axes;  ///< Empty: whole.
  std::vector<dist::Range> ranges; ///< One per part.

  bool operator==(const Cut &other) const {
    return size == other.size && axes == other.axes && ranges == other.ranges;
  }
  /// Whether the parts cover the dimension once, one behind the other.
  bool isTiling() const;
};

/// The cuts of a tensor with this layout; the layout may be null. Axes of size
/// 1, which cut nothing, are left out.
llvm::SmallVector<Cut, 4> cutsOf(dist::GridAttr grid, dist::LayoutAttr layout,
                                 llvm::ArrayRef<int64_t> dims);

/// The splits a program uses: constants at namespace scope, one per distinct
/// cut.
class SplitTables {
public:
  explicit SplitTables(dist::GridAttr grid) : grid(grid) {}

  /// The name of the constant for this cut, which is cut by at least one axis.
  std::string name(const Cut &cut);
  /// The first index of this rank's part, as an expression of `rank`.
  std::string begin(const Cut &cut);
  /// The cuts of a tensor as a list of splits, without braces: trailing
  /// dimensions that are whole are left out. Empty when all are.
  std::string list(llvm::ArrayRef<Cut> cuts);
  /// The cut as text: "data" or "data, model".
  std::string describe(const Cut &cut) const;

  bool empty() const { return cuts.empty(); }
  /// Prints the constants.
  void print(llvm::raw_ostream &os) const;

private:
  dist::GridAttr grid;
  Names names;
  std::vector<std::pair<Cut, std::string>> cuts;
};

} // namespace partita::codegen

#endif // PARTITA_CODEGEN_EMIT_SPLITS_H
