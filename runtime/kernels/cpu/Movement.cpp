//===- Movement.cpp - Concatenation, copies and fills ---------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernels that only move whole runs of memory.
//
//===----------------------------------------------------------------------===//

#include "KernelState.h"
#include "Parallel.h"

#include <array>
#include <cstring>

using namespace partita;
using namespace partita::kernels;

namespace {

using Word = std::uint32_t;

struct ConcatState final : Kernel::State {
  std::int64_t outer = 0, total = 0;
  Dims parts;
};

struct CountState final : Kernel::State {
  explicit CountState(std::int64_t count) : count(count) {}
  std::int64_t count;
};

struct IotaState final : Kernel::State {
  IotaState(std::int64_t count, std::int64_t start)
      : count(count), start(start) {}
  std::int64_t count, start;
};

/// Parts copied by one launch, whose pointers it can hold.
constexpr std::size_t kParts = 8;

/// Bytes or elements that one thread moves at a time.
constexpr std::int64_t kPiece = 1 << 14;

} // namespace

static std::unique_ptr<Kernel::State> prepareConcat(std::int64_t outer,
                                                    const Dims &parts) {
  checkShape("concat", {outer});
  checkShape("concat", parts);
  auto state = std::make_unique<ConcatState>();
  state->outer = outer;
  state->parts = parts;
  for (std::int64_t part : parts)
    state->total += part;
  return state;
}

Concat::Concat(Device &, std::int64_t outer, Dims parts)
    : Kernel(prepareConcat(outer, parts)) {}

void Concat::operator()(Stream &stream,
                        std::initializer_list<const void *> inputs,
                        void *y) const {
  const auto &concat = as<ConcatState>(state);
  if (inputs.size() != concat.parts.size())
    throw Error("concat: found " + std::to_string(inputs.size()) +
                " inputs, expected " + std::to_string(concat.parts.size()));
  std::int64_t at = 0;
  for (std::size_t first = 0; first < inputs.size(); first += kParts) {
    std::size_t count = std::min(kParts, inputs.size() - first);
    std::array<const void *, kParts> sources{};
    std::copy_n(inputs.begin() + first, count, sources.begin());
    stream.run("concat", [&concat, sources, first, count, at, y] {
      const std::int64_t *sizes = concat.parts.data() + first;
      parallelFor(concat.outer, concat.total,
                  [&](std::int64_t begin, std::int64_t end, int) {
                    for (std::int64_t row = begin; row < end; ++row) {
                      Word *to =
                          static_cast<Word *>(y) + row * concat.total + at;
                      for (std::size_t i = 0; i < count; ++i) {
                        auto *from = static_cast<const Word *>(sources[i]);
                        to = std::copy_n(from + row * sizes[i], sizes[i], to);
                      }
                    }
                  });
    });
    for (std::size_t i = first; i < first + count; ++i)
      at += concat.parts[i];
  }
}

Fill::Fill(Device &, std::int64_t count)
    : Kernel(std::make_unique<CountState>(count)) {
  checkShape("fill", {count});
}

void Fill::operator()(Stream &stream, float value, float *y) const {
  std::int64_t count = as<CountState>(state).count;
  stream.run("fill", [count, value, y] {
    parallelFor(count, 1, [&](std::int64_t begin, std::int64_t end, int) {
      std::fill(y + begin, y + end, value);
    });
  });
}

Iota::Iota(Device &, std::int64_t count, std::int64_t start)
    : Kernel(std::make_unique<IotaState>(count, start)) {
  checkShape("iota", {count});
}

void Iota::operator()(Stream &stream, float *y) const {
  const auto &iota = as<IotaState>(state);
  stream.run("iota", [&iota, y] {
    for (std::int64_t i = 0; i < iota.count; ++i)
      y[i] = static_cast<float>(iota.start + i);
  });
}

Copy::Copy(Device &, std::size_t bytes)
    : Kernel(std::make_unique<CountState>(static_cast<std::int64_t>(bytes))) {}

void Copy::operator()(Stream &stream, const void *x, void *y) const {
  std::int64_t bytes = as<CountState>(state).count;
  if (x == y || bytes == 0)
    return;
  stream.run("copy", [bytes, x, y] {
    std::int64_t pieces = (bytes + kPiece - 1) / kPiece;
    parallelFor(pieces, kPiece / 4,
                [&](std::int64_t begin, std::int64_t end, int) {
                  std::int64_t first = begin * kPiece;
                  std::memcpy(static_cast<char *>(y) + first,
                              static_cast<const char *>(x) + first,
                              std::min(bytes, end * kPiece) - first);
                });
  });
}
