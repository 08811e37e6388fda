//===- Loader.h - Batches, read ahead ---------------------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each rank has a loader: a thread that reads the rank's part of the next
// batch while the current one is trained.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_CORE_LOADER_H
#define PARTITA_CORE_LOADER_H

#include "core/Samples.h"

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace partita {

/// A rank's parts of one batch, one dense buffer per input; empty for inputs
/// that were not asked for.
struct Batch {
  std::vector<std::vector<std::byte>> inputs;
};

/// Reads a rank's parts of a sequence of batches.
class Loader {
public:
  /// `idsOf(k)` names the samples of the k-th batch, as many as the global
  /// batch has; it is called by the loader's thread, for k from 0 to
  /// `batches` - 1. Everything given must outlive the loader.
  Loader(const Program &program, const DataSet &data, int rank,
         std::int64_t batches,
         std::function<std::vector<std::int64_t>(std::int64_t)> idsOf);
  Loader(const Loader &) = delete;
  Loader &operator=(const Loader &) = delete;
  ~Loader();

  /// The next batch, valid until the next call. Throws what reading it threw.
  const Batch &next();

  /// Seconds spent in `next` because the batch was not ready.
  double waitedSeconds() const { return waited; }

private:
  void serve();
  void read(std::int64_t index, Batch &batch) const;

  const DataSet &data;
  std::int64_t batches;
  std::function<std::vector<std::int64_t>(std::int64_t)> idsOf;
  std::vector<Tile> tiles;

  /// One batch is in use while the other is filled.
  Batch slots[2];
  std::mutex mutex;
  std::condition_variable changed;
  std::int64_t ready = 0;
  std::int64_t taken = 0;
  bool closing = false;
  std::exception_ptr failure;
  double waited = 0;
  std::thread thread;
};

} // namespace partita

#endif // PARTITA_CORE_LOADER_H
