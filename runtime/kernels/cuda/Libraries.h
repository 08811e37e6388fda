//===- Libraries.h - cuBLAS and cuDNN of a device ---------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The handles of the libraries, one per stream so that setting the stream
// never costs anything, and their statuses as errors.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_KERNELS_CUDA_LIBRARIES_H
#define PARTITA_KERNELS_CUDA_LIBRARIES_H

#include "partita/cuda.h"

#include <cublas_v2.h>
#include <cudnn.h>

namespace partita::cuda {
/// See check(cudaError_t, ...) of partita/cuda.h.
void check(cublasStatus_t status, const char *call);
void check(cudnnStatus_t status, const char *call);
} // namespace partita::cuda

namespace partita::kernels {

/// The handle for work on this stream, made at the first call.
cublasHandle_t cublasOf(Stream &stream);
cudnnHandle_t cudnnOf(Stream &stream);

/// The handle for questions and for work on the compute stream; constructors
/// ask for them so that the first step does not pay for making them.
void prepareCublas(Device &device);
cudnnHandle_t prepareCudnn(Device &device);

} // namespace partita::kernels

#endif // PARTITA_KERNELS_CUDA_LIBRARIES_H
