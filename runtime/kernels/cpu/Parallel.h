//===- Parallel.h - Loops over the threads of a rank ------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A rank may use several OpenMP threads. Work is cut by index only, so that
// results do not depend on the number of threads.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_KERNELS_CPU_PARALLEL_H
#define PARTITA_KERNELS_CPU_PARALLEL_H

#include <algorithm>
#include <cstdint>
#ifdef _OPENMP
#include <omp.h>
#endif

namespace partita::kernels {

/// Elements touched below which waking the other threads costs more than it
/// saves: about 10 us of work.
constexpr std::int64_t kParallelElements = 1 << 15;

/// The most threads `parallelFor` uses when called from this thread.
inline int maxThreads() {
#ifdef _OPENMP
  return omp_get_max_threads();
#else
  return 1;
#endif
}

/// Calls `body(begin, end, thread)` for pieces that tile [0, count), on several
/// threads when count items of `elements` each are worth it. The items must be
/// independent of each other; `thread` is less than `maxThreads()`.
template <typename Body>
void parallelFor(std::int64_t count, std::int64_t elements, const Body &body) {
  if (count <= 0)
    return;
  std::int64_t pieces = std::min<std::int64_t>(maxThreads(), count);
  if (pieces <= 1 || count * elements < kParallelElements) {
    body(std::int64_t(0), count, 0);
    return;
  }
#ifdef _OPENMP
#pragma omp parallel for schedule(static, 1) num_threads(int(pieces))
#endif
  for (std::int64_t i = 0; i < pieces; ++i)
    body(count * i / pieces, count * (i + 1) / pieces, static_cast<int>(i));
}

} // namespace partita::kernels

#endif // PARTITA_KERNELS_CPU_PARALLEL_H
