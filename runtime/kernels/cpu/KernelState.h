//===- KernelState.h - What the cpu kernels have in common ------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The private base of the kernels' states, the workspace they share and how
// their calls reach a stream.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_KERNELS_CPU_KERNELSTATE_H
#define PARTITA_KERNELS_CPU_KERNELSTATE_H

#include "../Sizes.h"
#include "Parallel.h"
#include "partita/device.h"
#include "partita/kernels.h"

namespace partita {

struct Kernel::State {
  virtual ~State();
  /// Set by the constructor of the kernel, see Kernel::workspaceBytes.
  std::size_t workspace = 0;
};

} // namespace partita

namespace partita::kernels {

/// The calling thread's workspace, at least `bytes` large and aligned to a
/// cache line; what it holds lasts until the thread's next kernel call. Kernels
/// of one thread run one after another, so they share it, and it is warm in the
/// cache. Constructors reserve what their calls will use, so that calls on the
/// thread that constructs a program's kernels never allocate.
void *workspace(std::size_t bytes);

/// `bytes` rounded up to whole cache lines.
constexpr std::size_t cacheLines(std::size_t bytes) {
  return (bytes + 63) / 64 * 64;
}

/// A piece of workspace for each thread that `parallelFor` may use.
class ThreadSpace {
public:
  explicit ThreadSpace(std::size_t bytesPerThread)
      : bytes(cacheLines(bytesPerThread)),
        data(static_cast<char *>(workspace(total(bytesPerThread)))) {}

  /// Bytes of all pieces.
  static std::size_t total(std::size_t bytesPerThread) {
    return cacheLines(bytesPerThread) * maxThreads();
  }

  float *of(int thread) const {
    return reinterpret_cast<float *>(data + thread * bytes);
  }

private:
  std::size_t bytes;
  char *data;
};

/// A state with its workspace reserved.
template <typename T>
std::unique_ptr<Kernel::State> reserved(std::unique_ptr<T> state) {
  if (state->workspace > 0)
    workspace(state->workspace);
  return state;
}

/// The state of a kernel as the type its constructor made.
template <typename T> const T &as(const std::unique_ptr<Kernel::State> &state) {
  return static_cast<const T &>(*state);
}

} // namespace partita::kernels

#endif // PARTITA_KERNELS_CPU_KERNELSTATE_H
