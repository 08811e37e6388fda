//===- Pad.cpp - Padding, cropping and spreading --------------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each row of y is either filled, or filled at its ends around a row of x.
// Trailing axes without padding make one block.
//
//===----------------------------------------------------------------------===//

#include "KernelState.h"
#include "Parallel.h"

using namespace partita;
using namespace partita::kernels;

namespace {

/// How one axis of y is made from one of x.
struct PadAxis {
  std::int64_t in = 1, out = 1, low = 0, step = 1;

  /// The index in x of index `o` of y, or -1 where y is filled.
  std::int64_t source(std::int64_t o) const {
    std::int64_t at = o - low;
    return at >= 0 && at % step == 0 && at / step < in ? at / step : -1;
  }
};

struct PadState final : Kernel::State {
  /// Offset in x of the source of row `row` of y, or -1.
  std::int64_t sourceRow(std::int64_t row) const;
  void fillRow(const float *from, float *to) const;

  std::vector<PadAxis> outer;
  PadAxis last;
  std::int64_t block = 1, rows = 1;
  float value = 0.0f;
};

} // namespace

static std::unique_ptr<Kernel::State> prepare(const Dims &shape,
                                              const Dims &low,
                                              const Dims &interior,
                                              const Dims &high, float value) {
  Dims out = padShape("pad", shape, low, interior, high);
  auto state = std::make_unique<PadState>();
  state->value = value;
  std::size_t axis = shape.size();
  while (axis > 0 && low[axis - 1] == 0 && high[axis - 1] == 0 &&
         interior[axis - 1] == 0)
    state->block *= shape[--axis];
  for (std::size_t i = 0; i < axis; ++i) {
    PadAxis padded{shape[i], out[i], low[i], interior[i] + 1};
    if (i + 1 == axis) {
      state->last = padded;
    } else {
      state->outer.push_back(padded);
      state->rows *= out[i];
    }
  }
  return state;
}

std::int64_t PadState::sourceRow(std::int64_t row) const {
  std::int64_t offset = 0, stride = last.in * block;
  for (std::size_t i = outer.size(); i-- > 0;) {
    std::int64_t source = outer[i].source(row % outer[i].out);
    if (source < 0)
      return -1;
    row /= outer[i].out;
    offset += source * stride;
    stride *= outer[i].in;
  }
  return offset;
}

void PadState::fillRow(const float *from, float *to) const {
  // The elements of x that land inside y.
  std::int64_t first =
      last.low >= 0 ? 0 : (-last.low + last.step - 1) / last.step;
  std::int64_t end =
      last.out <= last.low
          ? 0
          : std::min(last.in, (last.out - 1 - last.low) / last.step + 1);
  if (first >= end) {
    std::fill_n(to, last.out * block, value);
    return;
  }
  if (last.step == 1) {
    std::int64_t begin = (last.low + first) * block;
    std::int64_t count = (end - first) * block;
    std::fill_n(to, begin, value);
    std::copy_n(from + first * block, count, to + begin);
    std::fill_n(to + begin + count, last.out * block - begin - count, value);
    return;
  }
  std::fill_n(to, last.out * block, value);
  for (std::int64_t i = first; i < end; ++i)
    std::copy_n(from + i * block, block,
                to + (last.low + i * last.step) * block);
}

Pad::Pad(Device &, Dims shape, Dims low, Dims interior, Dims high, float value)
    : Kernel(prepare(shape, low, interior, high, value)) {}

void Pad::operator()(Stream &stream, const float *x, float *y) const {
  const auto &pad = as<PadState>(state);
  stream.run("pad", [&pad, x, y] {
    std::int64_t length = pad.last.out * pad.block;
    if (length == 0)
      return;
    parallelFor(pad.rows, length,
                [&](std::int64_t begin, std::int64_t end, int) {
                  for (std::int64_t row = begin; row < end; ++row) {
                    std::int64_t source = pad.sourceRow(row);
                    if (source < 0)
                      std::fill_n(y + row * length, length, pad.value);
                    else
                      pad.fillRow(x + source, y + row * length);
                  }
                });
  });
}
