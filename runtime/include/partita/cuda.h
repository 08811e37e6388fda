//===- cuda.h - Launching kernels of emitted CUDA programs ------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What CUDA code of emitted programs and of the runtime has in common: checked
// calls, the native stream, and one way to launch a kernel.
//
//   __global__ void reluKernel(const float *x, float *y, std::int64_t n) {
//     for (std::int64_t i = cuda::firstIndex(); i < n;
//          i += cuda::indexStride())
//       y[i] = fmaxf(x[i], 0.0f);
//   }
//
//   void relu(Stream &s, const float *x, float *y, std::int64_t n) {
//     s.run("relu1", [&] {
//       cuda::launch(reluKernel, cuda::blocksFor(n), cuda::kThreads,
//                    /*sharedBytes=*/0, s, x, y, n);
//     });
//   }
//
// Kernels are launched by `launch` and never by <<<...>>>, and they keep to
// static shared memory, __syncthreads and full-warp shuffles: this is plain
// C++ except for a few names, so the same source can also be compiled with
// replacements for these names and run without a GPU.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_CUDA_H
#define PARTITA_CUDA_H

#include "partita/device.h"

#include <cstdint>
#include <cuda_runtime.h>
#include <tuple>
#include <utility>

namespace partita::cuda {

/// Throws `Error` unless the status is a success: the call (only the function's
/// name is kept of it), the name and the text of the status, what to try.
void check(cudaError_t status, const char *call);

/// Calls a function of the CUDA runtime or its libraries and checks its status.
#define PARTITA_CHECK(call) ::partita::cuda::check((call), #call)

/// The stream's own handle.
inline cudaStream_t nativeStream(Stream &stream) {
  return static_cast<cudaStream_t>(stream.nativeHandle());
}

/// Threads of a block for kernels that treat every element by itself.
constexpr unsigned kThreads = 256;

/// Blocks for `count` elements, walked with firstIndex and indexStride. None
/// for a count of 0. More than `kMostBlocks` would only cost launch time.
constexpr unsigned kMostBlocks = 1u << 16;
constexpr unsigned blocksFor(std::int64_t count,
                             std::int64_t perBlock = kThreads) {
  std::int64_t blocks = (count + perBlock - 1) / perBlock;
  return blocks < kMostBlocks ? static_cast<unsigned>(blocks) : kMostBlocks;
}

#ifdef __CUDACC__
/// The first element of this thread, and the step to its next one.
__device__ inline std::int64_t firstIndex() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ inline std::int64_t indexStride() {
  return static_cast<std::int64_t>(gridDim.x) * blockDim.x;
}
#endif

/// Throws `Error` that names the work at hand on this stream.
void checkLaunch(cudaError_t status, Stream &stream);

/// Queues kernel(arguments...) on the stream; does nothing for an empty grid.
/// Every kernel is launched here. The pointer to the kernel keeps its type up
/// to cudaLaunchKernel, which lets a replacement of that function call it.
template <typename... Parameters, typename... Arguments>
void launch(void (*kernel)(Parameters...), dim3 grid, dim3 block,
            std::size_t sharedBytes, Stream &stream,
            const Arguments &...arguments) {
  static_assert(sizeof...(Parameters) == sizeof...(Arguments),
                "the kernel has another number of parameters");
  if (grid.x == 0 || grid.y == 0 || grid.z == 0)
    return;
  std::tuple<Parameters...> values(arguments...);
  std::apply(
      [&](auto &...value) {
        void *pointers[] = {static_cast<void *>(&value)..., nullptr};
        checkLaunch(cudaLaunchKernel(kernel, grid, block, pointers, sharedBytes,
                                     nativeStream(stream)),
                    stream);
      },
      values);
}

} // namespace partita::cuda

#endif // PARTITA_CUDA_H
