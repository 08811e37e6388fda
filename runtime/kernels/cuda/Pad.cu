//===- Pad.cu - Padding, cropping and spreading -----------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One thread per element of y looks up its source. Axes without padding are
// merged with their neighbours or become part of the innermost block.
//
//===----------------------------------------------------------------------===//

#include "KernelState.h"
#include "Padding.h"

using namespace partita;
using namespace partita::kernels;

namespace {

struct PadState final : Kernel::State {
  Padding padding;
};

__global__ void padKernel(Padding padding, const float *x, float *y) {
  for (std::int64_t i = cuda::firstIndex(); i < padding.count;
       i += cuda::indexStride()) {
    std::int64_t rest = i / padding.block;
    std::int64_t offset = i - rest * padding.block;
    std::int64_t stride = padding.block;
    bool inside = true;
    for (int a = padding.axes - 1; a >= 0; --a) {
      const PadAxis &axis = padding.axis[a];
      std::int64_t next = rest / axis.out;
      std::int64_t at = rest - next * axis.out - axis.low;
      std::int64_t source = axis.step == 1 ? at : at / axis.step;
      inside =
          inside && at >= 0 && source * axis.step == at && source < axis.in;
      offset += source * stride;
      stride *= axis.in;
      rest = next;
    }
    y[i] = inside ? x[offset] : padding.value;
  }
}

} // namespace

Padding::Padding(const char *kernel, const Dims &shape, const Dims &low,
                 const Dims &interior, const Dims &high, float value)
    : value(value) {
  Dims out = padShape(kernel, shape, low, interior, high);
  count = elementsOf(out);
  // Innermost first: the block, then the axes, where runs of axes without
  // padding become one.
  std::vector<PadAxis> found;
  bool merges = false;
  for (std::size_t i = shape.size(); i-- > 0;) {
    bool plain = low[i] == 0 && high[i] == 0 && interior[i] == 0;
    if (plain && found.empty()) {
      block *= shape[i];
    } else if (plain && merges) {
      found.back().in *= shape[i];
      found.back().out *= shape[i];
    } else {
      found.push_back({shape[i], out[i], low[i], interior[i] + 1});
      merges = plain;
    }
  }
  if (found.size() > kMostAxes)
    refuse(kernel, "found " + std::to_string(found.size()) +
                       " axes that cannot be merged, expected at most " +
                       std::to_string(kMostAxes) +
                       "; compile with --target cpu, which has no limit");
  for (; axes < static_cast<int>(found.size()); ++axes)
    axis[axes] = found[found.size() - 1 - axes];
}

void Padding::operator()(Stream &stream, const float *x, float *y) const {
  cuda::launch(padKernel, cuda::blocksFor(count), cuda::kThreads, 0, stream,
               *this, x, y);
}

static std::unique_ptr<Kernel::State> prepare(const Dims &shape,
                                              const Dims &low,
                                              const Dims &interior,
                                              const Dims &high, float value) {
  auto state = std::make_unique<PadState>();
  state->padding = Padding("pad", shape, low, interior, high, value);
  return state;
}

Pad::Pad(Device &, Dims shape, Dims low, Dims interior, Dims high, float value)
    : Kernel(prepare(shape, low, interior, high, value)) {}

void Pad::operator()(Stream &stream, const float *x, float *y) const {
  const auto &pad = as<PadState>(state);
  stream.run("pad", [&] { pad.padding(stream, x, y); });
}
