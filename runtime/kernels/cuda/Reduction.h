//===- Reduction.h - Deterministic reductions -------------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One scheme for everything that reduces over axes. What is reduced is given
// as an operation, a value that kernels take as a parameter:
//
//   struct Operation {
//     using Value = ...;                        // what is accumulated
//     __device__ Value start() const;           // the neutral value
//     // The term at an offset in x that belongs to an output.
//     __device__ Value term(std::int64_t offset, std::int64_t output) const;
//     __device__ Value combine(Value a, Value b) const;
//     __device__ void store(std::int64_t output, Value value) const;
//   };
//
// The order of all combinations depends on the sizes only: no atomics, nothing
// that differs from GPU to GPU or from run to run. Outputs with many terms are
// split over several blocks, whose results a second kernel combines in order.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_KERNELS_CUDA_REDUCTION_H
#define PARTITA_KERNELS_CUDA_REDUCTION_H

#include "AxisMap.h"
#include "KernelState.h"

namespace partita::kernels {

/// Threads of a block; by column, outputs times terms.
constexpr int kReduceThreads = 256;
constexpr int kColumns = 32;
constexpr int kColumnRows = kReduceThreads / kColumns;

/// How a reduction walks over x. The offset of term t of output i is
/// offsetOf(kept, i) + offsetOf(reduced, t).
struct ReducePlan {
  enum class Walk {
    byThread, ///< one thread per output: few terms
    byBlock,  ///< one block per output and part: terms are contiguous
    byColumn  ///< one block per kColumns outputs and part: outputs are
  };

  AxisMap kept, reduced;
  std::int64_t outputs = 1, terms = 1;
  Walk walk = Walk::byThread;
  /// The terms of an output are cut into this many parts.
  std::int64_t parts = 1, termsPerPart = 1;

  /// Of the reduction of a dense tensor over some axes. Throws `Error`.
  ReducePlan(const char *kernel, const Dims &shape, const Dims &axes);

  /// Bytes for what the parts give.
  std::size_t workspaceBytes(std::size_t valueBytes) const {
    return parts == 1 ? 0
                      : static_cast<std::size_t>(outputs * parts) * valueBytes;
  }
};

#ifdef __CUDACC__

/// Where a part's value goes: to the output or, when there are several parts,
/// to the workspace [parts, outputs].
template <typename Operation>
__device__ void finishPart(const Operation &operation, const ReducePlan &plan,
                           typename Operation::Value *partials,
                           std::int64_t output, std::int64_t part,
                           typename Operation::Value value) {
  if (plan.parts == 1)
    operation.store(output, value);
  else
    partials[part * plan.outputs + output] = value;
}

template <typename Operation>
__global__ void reduceByThread(Operation operation, ReducePlan plan) {
  for (std::int64_t i = cuda::firstIndex(); i < plan.outputs;
       i += cuda::indexStride()) {
    std::int64_t offset = offsetOf(plan.kept, i);
    typename Operation::Value value = operation.start();
    for (std::int64_t t = 0; t < plan.terms; ++t)
      value = operation.combine(
          value, operation.term(offset + offsetOf(plan.reduced, t), i));
    operation.store(i, value);
  }
}

template <typename Operation>
__global__ void reduceByBlock(Operation operation, ReducePlan plan,
                              typename Operation::Value *partials) {
  __shared__ typename Operation::Value shared[kReduceThreads];
  int thread = static_cast<int>(threadIdx.x);
  std::int64_t part = blockIdx.y;
  std::int64_t begin = part * plan.termsPerPart;
  std::int64_t end = begin + plan.termsPerPart;
  end = end < plan.terms ? end : plan.terms;
  for (std::int64_t i = blockIdx.x; i < plan.outputs; i += gridDim.x) {
    std::int64_t offset = offsetOf(plan.kept, i);
    typename Operation::Value value = operation.start();
    for (std::int64_t t = begin + thread; t < end; t += blockDim.x)
      value = operation.combine(
          value, operation.term(offset + offsetOf(plan.reduced, t), i));
    shared[thread] = value;
    for (int half = static_cast<int>(blockDim.x) / 2; half > 0; half /= 2) {
      __syncthreads();
      if (thread < half)
        shared[thread] =
            operation.combine(shared[thread], shared[thread + half]);
    }
    if (thread == 0)
      finishPart(operation, plan, partials, i, part, shared[0]);
    __syncthreads();
  }
}

template <typename Operation>
__global__ void reduceByColumn(Operation operation, ReducePlan plan,
                               typename Operation::Value *partials) {
  __shared__ typename Operation::Value shared[kColumnRows][kColumns];
  int column = static_cast<int>(threadIdx.x);
  int row = static_cast<int>(threadIdx.y);
  std::int64_t part = blockIdx.y;
  std::int64_t begin = part * plan.termsPerPart;
  std::int64_t end = begin + plan.termsPerPart;
  end = end < plan.terms ? end : plan.terms;
  for (std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kColumns;
       first < plan.outputs;
       first += static_cast<std::int64_t>(gridDim.x) * kColumns) {
    std::int64_t i = first + column;
    typename Operation::Value value = operation.start();
    if (i < plan.outputs) {
      std::int64_t offset = offsetOf(plan.kept, i);
      for (std::int64_t t = begin + row; t < end; t += kColumnRows)
        value = operation.combine(
            value, operation.term(offset + offsetOf(plan.reduced, t), i));
    }
    shared[row][column] = value;
    for (int half = kColumnRows / 2; half > 0; half /= 2) {
      __syncthreads();
      if (row < half)
        shared[row][column] =
            operation.combine(shared[row][column], shared[row + half][column]);
    }
    if (row == 0 && i < plan.outputs)
      finishPart(operation, plan, partials, i, part, shared[0][column]);
    __syncthreads();
  }
}

template <typename Operation>
__global__ void reduceParts(Operation operation, std::int64_t outputs,
                            std::int64_t parts,
                            const typename Operation::Value *partials) {
  for (std::int64_t i = cuda::firstIndex(); i < outputs;
       i += cuda::indexStride()) {
    typename Operation::Value value = operation.start();
    for (std::int64_t part = 0; part < parts; ++part)
      value = operation.combine(value, partials[part * outputs + i]);
    operation.store(i, value);
  }
}

/// Queues the reduction; an output without terms becomes the neutral value.
template <typename Operation>
void reduce(Stream &stream, const ReducePlan &plan,
            const Operation &operation) {
  using Value = typename Operation::Value;
  if (plan.walk == ReducePlan::Walk::byThread)
    return cuda::launch(reduceByThread<Operation>,
                        cuda::blocksFor(plan.outputs), cuda::kThreads, 0,
                        stream, operation, plan);
  auto *partials = static_cast<Value *>(
      workspace(stream, plan.workspaceBytes(sizeof(Value))));
  auto parts = static_cast<unsigned>(plan.parts);
  if (plan.walk == ReducePlan::Walk::byBlock) {
    // A block of one warp leaves no thread idle where terms are few.
    unsigned threads = plan.termsPerPart >= 4 * kReduceThreads
                           ? kReduceThreads
                           : unsigned(kColumns);
    cuda::launch(reduceByBlock<Operation>,
                 dim3(cuda::blocksFor(plan.outputs, 1), parts), threads, 0,
                 stream, operation, plan, partials);
  } else {
    cuda::launch(reduceByColumn<Operation>,
                 dim3(cuda::blocksFor(plan.outputs, kColumns), parts),
                 dim3(kColumns, kColumnRows), 0, stream, operation, plan,
                 partials);
  }
  if (plan.parts > 1)
    cuda::launch(reduceParts<Operation>, cuda::blocksFor(plan.outputs),
                 cuda::kThreads, 0, stream, operation, plan.outputs, plan.parts,
                 static_cast<const Value *>(partials));
}

#endif // __CUDACC__

} // namespace partita::kernels

#endif // PARTITA_KERNELS_CUDA_REDUCTION_H
