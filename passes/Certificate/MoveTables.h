//===- MoveTables.h - Who sends what to whom in a move ---------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The messages and parts of moves for all ranks. Ranks with equal tables of
// relative peers share an entry, so that large grids stay small.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_PASSES_CERTIFICATE_MOVETABLES_H
#define PARTITA_PASSES_CERTIFICATE_MOVETABLES_H

#include "dialects/Dist/IR/DistDialect.h"
#include "mlir/IR/BuiltinAttributes.h"
#include <string>
#include <vector>

namespace partita::certificate {

/// Ranks as [[first, last, step], ...]: runs of equal distance, as long as
/// they come.
std::string ranksText(llvm::ArrayRef<int64_t> ranks);

/// Numbers as [[number, times], ...].
std::string partsText(llvm::ArrayRef<int64_t> parts);

/// The tables of a module, each once.
class MoveTables {
public:
  explicit MoveTables(dist::GridAttr grid) : grid(grid) {}

  /// The number of the table of a move as `spmd.communicate` states it: a
  /// dictionary with kind, axes, from, to and global.
  int add(mlir::DictionaryAttr move);

  llvm::ArrayRef<std::string> getTexts() const { return texts; }

private:
  std::string messagesOf(mlir::DictionaryAttr move) const;
  std::string partsOf(mlir::DictionaryAttr move) const;

  dist::GridAttr grid;
  llvm::DenseMap<mlir::Attribute, int> numbers;
  std::vector<std::string> texts;
};

} // namespace partita::certificate

#endif // PARTITA_PASSES_CERTIFICATE_MOVETABLES_H
