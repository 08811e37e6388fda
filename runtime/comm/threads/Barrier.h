//===- Barrier.h - A barrier that sleeps in long waits ----------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Between ranks that are threads of one process.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_COMM_THREADS_BARRIER_H
#define PARTITA_COMM_THREADS_BARRIER_H

#include "partita/backend.h"

#include <atomic>
#include <condition_variable>
#include <mutex>

namespace partita {

/// Nobody passes before all `size` threads have arrived; usable again at once.
/// What a thread wrote before it arrived, all threads see after it.
class Barrier {
public:
  Barrier(int size, const Failure &failure) : size(size), failure(failure) {}

  /// Throws `JobEnded` after a failure, when not all will ever arrive.
  void arriveAndWait();

private:
  const int size;
  const Failure &failure;
  std::atomic<int> arrived{0};
  std::atomic<std::uint32_t> round{0};
  std::mutex mutex;
  std::condition_variable next;
};

} // namespace partita

#endif // PARTITA_COMM_THREADS_BARRIER_H
