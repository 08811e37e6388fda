//===- Weights.h - The initial values of an emitted program -----*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes weights.safetensors: the variables that do not start with one value
// everywhere. Data stream through a small buffer, so that memory does not grow
// with the model.
//
// Random values depend on the element's index, the seed and the stream of
// `#nn.random` only. With the words of Philox 4x32-10 as in the runtime's
// dropout masks,
//
//     w = philox(counter = {lo(i / 4), hi(i / 4), 0, 0},
//                key = {lo(seed), hi(seed) ^ stream})
//     u(k) = (w[k] >> 8) * 2^-24, in [0, 1)
//
// element i is, by the rule:
//
//     uniform   scale * (2 u(i % 4) - 1)
//     normal    scale * sqrt(-2 ln(1 - u(p))) * cos(2 pi u(p + 1)) for even i,
//               with sin for odd i, where p = i % 4 rounded down to even
//
// (Box and Muller, 1958). Dropout counts steps from 1 in the counter's third
// word and therefore never draws the same numbers.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_CODEGEN_PROGRAM_WEIGHTS_H
#define PARTITA_CODEGEN_PROGRAM_WEIGHTS_H

#include "codegen/Program/TablePrinter.h"

namespace partita::codegen {

/// Writes the variables without `fill` to `os`. Relative paths of `#nn.file`
/// are those of the process. Errors are diagnostics on the variable.
mlir::LogicalResult writeWeights(llvm::ArrayRef<ProgramVariable> variables,
                                 llvm::raw_ostream &os);

} // namespace partita::codegen

#endif // PARTITA_CODEGEN_PROGRAM_WEIGHTS_H
