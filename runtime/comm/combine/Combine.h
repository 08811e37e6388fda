//===- Combine.h - Reductions in rank order ---------------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one place where values of several ranks are combined, shared by the
// channels that work on host memory, so that all of them give the same bits.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_COMM_COMBINE_COMBINE_H
#define PARTITA_COMM_COMBINE_COMBINE_H

#include "partita/types.h"

namespace partita {

/// out[i] = parts[0][i] op parts[1][i] op ... in this order, for `count`
/// elements. `out` may be one of the parts. Maxima and minima keep NaN;
/// integers wrap around. Throws `Error` for types that cannot be reduced.
void combineInOrder(void *out, const std::vector<const void *> &parts,
                    std::int64_t count, DType type, Reduction reduction);

} // namespace partita

#endif // PARTITA_COMM_COMBINE_COMBINE_H
