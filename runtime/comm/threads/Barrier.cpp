//===- Barrier.cpp - A barrier that sleeps in long waits --------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Spins for some microseconds, which is enough when all ranks have a core of
// their own, then sleeps on a condition variable.
//
//===----------------------------------------------------------------------===//

#include "comm/threads/Barrier.h"

#include <thread>

using namespace partita;

void Barrier::arriveAndWait() {
  std::uint32_t mine = round.load(std::memory_order_acquire);
  if (arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == size) {
    // The last one resets the count before it opens the barrier, so that early
    // birds of the next round find it at zero.
    arrived.store(0, std::memory_order_relaxed);
    {
      std::lock_guard<std::mutex> lock(mutex);
      round.store(mine + 1, std::memory_order_release);
    }
    next.notify_all();
    return;
  }
  constexpr int kSpins = 500;
  for (int i = 0; i < kSpins; ++i) {
    if (round.load(std::memory_order_acquire) != mine)
      return;
    if (i % 50 == 49)
      std::this_thread::yield();
  }
  std::unique_lock<std::mutex> lock(mutex);
  while (round.load(std::memory_order_acquire) == mine) {
    failure.check();
    next.wait_for(lock, Failure::pollInterval);
  }
}
