//===- KernelState.cpp - What the cpu kernels have in common --------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The base class of the kernels and the workspace of each thread.
//
//===----------------------------------------------------------------------===//

#include "KernelState.h"

#include <new>

using namespace partita;

Kernel::State::~State() = default;

Kernel::Kernel(std::unique_ptr<State> state) : state(std::move(state)) {}
Kernel::Kernel(Kernel &&other) noexcept = default;
Kernel &Kernel::operator=(Kernel &&other) noexcept = default;
Kernel::~Kernel() = default;

std::size_t Kernel::workspaceBytes() const { return state->workspace; }

namespace {
constexpr std::align_val_t kCacheLine{64};

/// Grows, never shrinks, and is freed with its thread.
struct ThreadWorkspace {
  void *data = nullptr;
  std::size_t size = 0;

  void resize(std::size_t bytes) {
    ::operator delete(data, kCacheLine);
    data = nullptr;
    size = 0;
    data = ::operator new(bytes, kCacheLine);
    size = bytes;
  }
  ~ThreadWorkspace() { ::operator delete(data, kCacheLine); }
};

thread_local ThreadWorkspace threadWorkspace;
} // namespace

void *kernels::workspace(std::size_t bytes) {
  if (threadWorkspace.size < bytes)
    threadWorkspace.resize(bytes);
  return threadWorkspace.data;
}
