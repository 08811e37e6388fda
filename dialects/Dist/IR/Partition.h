//===- Partition.h - How a dimension is cut into parts ---------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Split arithmetic without IR. `size` elements over `parts` parts: the first
// `size mod parts` parts hold one element more than the others, so parts
// differ by at most one, may be empty, and tile the dimension exactly once.
//
//     size 64, parts 3:  [0, 22) [22, 43) [43, 64)
//     size 2, parts 4:   [0, 1)  [1, 2)   [2, 2)   [2, 2)
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_DIALECTS_DIST_IR_PARTITION_H
#define PARTITA_DIALECTS_DIST_IR_PARTITION_H

#include <cstdint>
#include <utility>
#include <vector>

namespace partita::dist {

/// First element of part `part` of `parts` when whole blocks of `block`
/// elements are dealt out; part == parts gives `size`. `block` divides `size`.
int64_t partBegin(int64_t size, int64_t parts, int64_t part, int64_t block = 1);

/// The half-open range of part `part`.
std::pair<int64_t, int64_t> partBounds(int64_t size, int64_t parts,
                                       int64_t part, int64_t block = 1);

/// All begins and the end: parts + 1 numbers.
std::vector<int64_t> partTable(int64_t size, int64_t parts, int64_t block = 1);

} // namespace partita::dist

#endif // PARTITA_DIALECTS_DIST_IR_PARTITION_H
