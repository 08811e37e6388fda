//===- Sizes.h - Checks of kernel sizes for both back ends ------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the cpu and the cuda back end agree on before either of them prepares
// anything: which sizes are legal, and small arithmetic on shapes.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_KERNELS_SIZES_H
#define PARTITA_KERNELS_SIZES_H

#include "partita/kernels.h"

#include <string>

namespace partita::kernels {

/// Elements between neighbours along each axis of a dense row-major tensor.
Dims rowMajorStrides(const Dims &shape);

/// Throws `Error` with "KERNEL: WHAT".
[[noreturn]] void refuse(const char *kernel, const std::string &what);

/// Each check throws `Error` that names the kernel, what was
/// found and what is expected.
void checkConv(const char *kernel, const ConvSizes &sizes);
void checkPool(const char *kernel, const PoolSizes &sizes);
void checkMatmul(const char *kernel, const MatmulSizes &sizes);
void checkShape(const char *kernel, const Dims &shape);
/// Axes are distinct and lie in [0, rank).
void checkAxes(const char *kernel, const Dims &axes, std::size_t rank);
void checkPermutation(const char *kernel, const Dims &perm, std::size_t rank);
/// The rows held lie inside the limit, and elements have 1, 2, 4 or 8 bytes.
void checkGather(const char *kernel, const GatherSizes &sizes,
                 std::size_t elementBytes = 4);
/// What an index outside the limit is told by.
std::string indexComplaint(const GatherSizes &sizes);
/// Every element of the slice lies inside the shape.
void checkSlice(const char *kernel, const Dims &shape, const Dims &starts,
                const Dims &sizes, const Dims &steps);
/// The block [start, start + local) lies inside the global shape.
void checkBlock(const char *kernel, const Dims &local, const Dims &global,
                const Dims &start);
/// Sizes of y of Pad; throws where a crop leaves less than nothing.
Dims padShape(const char *kernel, const Dims &shape, const Dims &low,
              const Dims &interior, const Dims &high);

/// What both back ends draw a dropout mask from: the block of the whole tensor
/// as rows of contiguous elements, and the two values of a mask.
struct DropoutPlan {
  /// Outer axes of the block, with their strides in the whole tensor.
  Dims outer, outerStrides;
  /// Rows, elements of each, and the global index of the first element.
  std::int64_t rows = 1, width = 1, start = 0;
  float ratio = 0.0f, kept = 1.0f;
  std::uint32_t id = 0;
};

/// Checks and lays out the arguments of DropoutMask; throws `Error`.
DropoutPlan planDropout(const Dims &local, const Dims &global,
                        const Dims &start, float ratio, std::uint32_t id);

} // namespace partita::kernels

#endif // PARTITA_KERNELS_SIZES_H
