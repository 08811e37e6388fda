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

int64_t partita::dist::partBegin(int64_t size, int64_t parts, int64_t part,
                                 int64_t block) {
  int64_t blocks = size / block;
  return block * (part * (blocks / parts) + std::min(part, blocks % parts));
}

std::pair<int64_t, int64_t> partita::dist::partBounds(int64_t size,
                                                      int64_t parts,
                                                      int64_t part,
                                                      int64_t block) {
  return {partBegin(size, parts, part, block),
          partBegin(size, parts, part + 1, block)};
}

std::vector<int64_t> partita::dist::partTable(int64_t size, int64_t parts,
                                              int64_t block) {
  std::vector<int64_t> table;
  for (int64_t part = 0; part <= parts; ++part)
    table.push_back(partBegin(size, parts, part, block));
  return table;
}
