//===- Boxes.h - Boxes to copy, brought to their simplest form --*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the cpu and the cuda back end of CopyBoxes have in common.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_KERNELS_BOXES_H
#define PARTITA_KERNELS_BOXES_H

#include "partita/kernels.h"

namespace partita::kernels {

/// The boxes without those that are empty, and with as few axes as can be:
/// axes of one element are left out, neighbours that one axis can stand for are
/// merged, and boxes that follow each other in both places become one. Throws
/// `Error` for sizes that contradict each other.
std::vector<BoxToCopy> simplify(const char *kernel, std::size_t elementBytes,
                                const std::vector<BoxToCopy> &boxes);

} // namespace partita::kernels

#endif // PARTITA_KERNELS_BOXES_H
