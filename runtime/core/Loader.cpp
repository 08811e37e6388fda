//===- Loader.cpp - Batches, read ahead -------------------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements Loader.h with two slots: one in use, one being filled.
//
//===----------------------------------------------------------------------===//

#include "core/Loader.h"

#include <chrono>

using namespace partita;

Loader::Loader(const Program &program, const DataSet &data, int rank,
               std::int64_t batches,
               std::function<std::vector<std::int64_t>(std::int64_t)> idsOf)
    : data(data), batches(batches), idsOf(std::move(idsOf)) {
  for (const Input &input : program.inputs)
    tiles.push_back(tileOf(program, input.tensor, rank));
  for (Batch &slot : slots) {
    slot.inputs.resize(tiles.size());
    for (std::size_t i = 0; i < tiles.size(); ++i)
      if (data.sources[i])
        slot.inputs[i].resize(tiles[i].elements() *
                              sizeOf(program.inputs[i].tensor.type));
  }
  thread = std::thread([this] { serve(); });
}

Loader::~Loader() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    closing = true;
  }
  changed.notify_all();
  thread.join();
}

const Batch &Loader::next() {
  std::unique_lock<std::mutex> lock(mutex);
  // The batch handed out before may be overwritten from now on.
  ++taken;
  changed.notify_all();
  if (ready < taken && !failure) {
    auto start = std::chrono::steady_clock::now();
    changed.wait(lock, [this] { return ready >= taken || failure; });
    waited +=
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
            .count();
  }
  if (ready < taken)
    std::rethrow_exception(failure);
  return slots[(taken - 1) % 2];
}

void Loader::serve() {
  for (std::int64_t index = 0; index < batches; ++index) {
    {
      // Batch `index` goes where batch index - 2 was, which is free once batch
      // index - 1 has been taken.
      std::unique_lock<std::mutex> lock(mutex);
      changed.wait(lock, [&] { return closing || taken >= index; });
      if (closing)
        return;
    }
    std::exception_ptr caught;
    try {
      read(index, slots[index % 2]);
    } catch (...) {
      caught = std::current_exception();
    }
    {
      std::lock_guard<std::mutex> lock(mutex);
      failure = caught;
      if (!caught)
        ready = index + 1;
    }
    changed.notify_all();
    if (caught)
      return;
  }
}

void Loader::read(std::int64_t index, Batch &batch) const {
  std::vector<std::int64_t> ids = idsOf(index);
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    if (!data.sources[i])
      continue;
    auto first = ids.begin() + tiles[i].start[0];
    std::vector<std::int64_t> rows(first, first + tiles[i].size[0]);
    data.sources[i]->read(rows, tiles[i], batch.inputs[i].data());
  }
}
