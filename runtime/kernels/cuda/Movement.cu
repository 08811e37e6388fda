//===- Movement.cu - Concatenation, copies and fills ------------*- C++ -*-===//
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

#include "Fill.h"
#include "KernelState.h"

#include <algorithm>

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

__global__ void iotaKernel(std::int64_t count, std::int64_t start, float *y) {
  for (std::int64_t i = cuda::firstIndex(); i < count; i += cuda::indexStride())
    y[i] = static_cast<float>(start + i);
}

/// Copies rows of `width` elements into rows of `total`.
__global__ void concatKernel(const Word *x, Word *y, std::int64_t count,
                             std::int64_t width, std::int64_t total) {
  for (std::int64_t i = cuda::firstIndex(); i < count;
       i += cuda::indexStride()) {
    std::int64_t row = i / width;
    y[row * total + (i - row * width)] = x[i];
  }
}

__global__ void fillKernel(float value, float *y, std::int64_t count) {
  for (std::int64_t i = cuda::firstIndex(); i < count; i += cuda::indexStride())
    y[i] = value;
}

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
    refuse("concat", "found " + std::to_string(inputs.size()) +
                         " inputs, expected " +
                         std::to_string(concat.parts.size()));
  stream.run("concat", [&] {
    Word *to = static_cast<Word *>(y);
    const void *const *input = inputs.begin();
    for (std::int64_t part : concat.parts) {
      std::int64_t count = concat.outer * part;
      cuda::launch(concatKernel, cuda::blocksFor(count), cuda::kThreads, 0,
                   stream, static_cast<const Word *>(*input++), to, count, part,
                   concat.total);
      to += part;
    }
  });
}

void kernels::fill(Stream &stream, float value, float *y, std::int64_t count) {
  cuda::launch(fillKernel, cuda::blocksFor(count), cuda::kThreads, 0, stream,
               value, y, count);
}

Fill::Fill(Device &, std::int64_t count)
    : Kernel(std::make_unique<CountState>(count)) {
  checkShape("fill", {count});
}

void Fill::operator()(Stream &stream, float value, float *y) const {
  std::int64_t count = as<CountState>(state).count;
  stream.run("fill", [&] { fill(stream, value, y, count); });
}

Iota::Iota(Device &, std::int64_t count, std::int64_t start)
    : Kernel(std::make_unique<IotaState>(count, start)) {
  checkShape("iota", {count});
}

void Iota::operator()(Stream &stream, float *y) const {
  const auto &iota = as<IotaState>(state);
  stream.run("iota", [&] {
    cuda::launch(iotaKernel, cuda::blocksFor(iota.count), cuda::kThreads, 0,
                 stream, iota.count, iota.start, y);
  });
}

Copy::Copy(Device &, std::size_t bytes)
    : Kernel(std::make_unique<CountState>(static_cast<std::int64_t>(bytes))) {}

void Copy::operator()(Stream &stream, const void *x, void *y) const {
  std::int64_t bytes = as<CountState>(state).count;
  if (x == y || bytes == 0)
    return;
  stream.run("copy", [&] {
    PARTITA_CHECK(cudaMemcpyAsync(y, x, static_cast<std::size_t>(bytes),
                                  cudaMemcpyDeviceToDevice,
                                  cuda::nativeStream(stream)));
  });
}
