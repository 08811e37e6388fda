//===- Splits.h - Bounds of split dimensions in emitted code ----*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where each part of a split dimension begins. Ranks of one class have the same
// sizes but different places, so a program finds its place by its coordinate
// in the grid.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_CODEGEN_EMIT_SPLITS_H
#define PARTITA_CODEGEN_EMIT_SPLITS_H

#include "codegen/Emit/Text.h"
#include "dialects/Dist/IR/DistDialect.h"

#include <string>
#include <vector>

namespace partita::codegen {

/// The cut of one dimension: its size and the grid axes that cut it.
struct Cut {
  int64_t size = 0;
  llvm::SmallVector<int, 2> axes; ///< Empty: whole.

  bool operator==(const Cut &other) const {
    return size == other.size && axes == other.axes;
  }
};

/// The cuts of a tensor with this layout; the layout may be null.
llvm::SmallVector<Cut, 4> cutsOf(dist::GridAttr grid, dist::LayoutAttr layout,
                                 llvm::ArrayRef<int64_t> dims);

/// The tables of bounds a program uses, one per distinct cut.
class SplitTables {
public:
  explicit SplitTables(dist::GridAttr grid) : grid(grid) {}

  /// The name of the table of this cut, which is cut by at least one axis.
  std::string table(const Cut &cut);
  /// The first index of this rank's part, as an expression of `rank`.
  std::string begin(const Cut &cut);
  /// The cut as text: "data" or "data, model".
  std::string describe(const Cut &cut) const;

  bool empty() const { return cuts.empty(); }
  /// Prints the tables.
  void print(llvm::raw_ostream &os) const;

private:
  int64_t parts(const Cut &cut) const;

  dist::GridAttr grid;
  Names names;
  std::vector<std::pair<Cut, std::string>> cuts;
};

} // namespace partita::codegen

#endif // PARTITA_CODEGEN_EMIT_SPLITS_H
