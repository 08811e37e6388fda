//===- KernelState.h - What the cuda kernels have in common -----*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The private base of the kernels' states and the workspace they share.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_KERNELS_CUDA_KERNELSTATE_H
#define PARTITA_KERNELS_CUDA_KERNELSTATE_H

#include "../Sizes.h"
#include "partita/cuda.h"
#include "partita/kernels.h"

namespace partita {

struct Kernel::State {
  virtual ~State();
  /// Set by the constructor of the kernel, see Kernel::workspaceBytes.
  std::size_t workspace = 0;
};

} // namespace partita

namespace partita::kernels {

/// `bytes` rounded up so that what follows in a workspace is aligned for every
/// type and library.
constexpr std::size_t aligned(std::size_t bytes) {
  return (bytes + 255) / 256 * 256;
}

/// Makes sure that `workspace` gives `bytes` bytes on this device's compute
/// stream. Called by constructors, so that calls allocate nothing.
void reserveWorkspace(Device &device, std::size_t bytes);

/// The workspace of kernels on this stream, at least `bytes` large; what it
/// holds lasts until the stream's next kernel. Kernels on one stream run one
/// after another, so they share it. The comm stream, where kernels are rare,
/// gets its own at the first call.
void *workspace(Stream &stream, std::size_t bytes);

/// A state with its workspace reserved.
template <typename T>
std::unique_ptr<Kernel::State> reserved(Device &device,
                                        std::unique_ptr<T> state) {
  reserveWorkspace(device, state->workspace);
  return state;
}

/// The state of a kernel as the type its constructor made.
template <typename T> const T &as(const std::unique_ptr<Kernel::State> &state) {
  return static_cast<const T &>(*state);
}

} // namespace partita::kernels

#endif // PARTITA_KERNELS_CUDA_KERNELSTATE_H
