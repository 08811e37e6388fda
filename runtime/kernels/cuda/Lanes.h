//===- Lanes.h - Threads that work on one position together -----*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels that walk an axis at every position give each position one thread,
// or a warp where the axis is long. All lanes of a warp take every step
// together, so that they can combine their values.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_KERNELS_CUDA_LANES_H
#define PARTITA_KERNELS_CUDA_LANES_H

#include "partita/cuda.h"

namespace partita::kernels {

/// Threads of a warp.
constexpr int kWarp = 32;

/// Whether a warp should walk an axis that is this long and has its elements
/// `inner` apart. Where neighbouring positions are neighbours in memory, single
/// threads use whole cache lines already.
constexpr bool wantsWarp(std::int64_t axis, std::int64_t inner) {
  return axis >= 2 * kWarp && inner < kWarp;
}

#ifdef __CUDACC__

/// The position of this thread's first work, and the step to the next.
template <int kLanes> __device__ std::int64_t firstPosition() {
  return cuda::firstIndex() / kLanes;
}
template <int kLanes> __device__ std::int64_t positionStride() {
  return cuda::indexStride() / kLanes;
}
template <int kLanes> __device__ int laneIndex() {
  return kLanes == 1 ? 0 : static_cast<int>(threadIdx.x) % kLanes;
}

/// All lanes' values combined, in all lanes. In each round partners combine
/// the same two values, so all lanes end with the same bits, provided that
/// combine(a, b) and combine(b, a) have the same.
template <int kLanes, typename Value, typename Combine>
__device__ Value combineLanes(Value value, const Combine &combine) {
  static_assert(kLanes == 1 || kLanes == kWarp, "one thread or a warp");
  for (int distance = kLanes / 2; distance > 0; distance /= 2)
    value =
        combine(value, __shfl_xor_sync(0xFFFFFFFFu, value, distance, kWarp));
  return value;
}

#endif // __CUDACC__

} // namespace partita::kernels

#endif // PARTITA_KERNELS_CUDA_LANES_H
