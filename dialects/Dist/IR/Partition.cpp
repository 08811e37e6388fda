//===- Partition.cpp - How a dimension is cut into parts ------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The balanced cut of a dimension.
//
//===----------------------------------------------------------------------===//

#include "dialects/Dist/IR/Partition.h"
#include <algorithm>

int64_t partita::dist::partBegin(int64_t size, int64_t parts, int64_t part) {
  return part * (size / parts) + std::min(part, size % parts);
}

std::pair<int64_t, int64_t>
partita::dist::partBounds(int64_t size, int64_t parts, int64_t part) {
  return {partBegin(size, parts, part), partBegin(size, parts, part + 1)};
}

std::vector<int64_t> partita::dist::partTable(int64_t size, int64_t parts) {
  std::vector<int64_t> table;
  for (int64_t part = 0; part <= parts; ++part)
    table.push_back(partBegin(size, parts, part));
  return table;
}
