//===- Fill.h - Constant tensors --------------------------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For kernels whose result is a constant, as a sum of nothing.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_KERNELS_CUDA_FILL_H
#define PARTITA_KERNELS_CUDA_FILL_H

#include "partita/device.h"

namespace partita::kernels {

/// y[0..count) = value, queued on the stream.
void fill(Stream &stream, float value, float *y, std::int64_t count);

} // namespace partita::kernels

#endif // PARTITA_KERNELS_CUDA_FILL_H
