//===- Slice.cu - Strided slices --------------------------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One thread per element of y; merged axes keep the walk short.
//
//===----------------------------------------------------------------------===//

#include "AxisMap.h"
#include "KernelState.h"

using namespace partita;
using namespace partita::kernels;

namespace {

using Word = std::uint32_t;

struct SliceState final : Kernel::State {
  /// From y to x.
  AxisMap source;
  std::int64_t start = 0, count = 0;
};

__global__ void sliceKernel(AxisMap source, const Word *x, Word *y,
                            std::int64_t count) {
  for (std::int64_t i = cuda::firstIndex(); i < count; i += cuda::indexStride())
    y[i] = x[offsetOf(source, i)];
}

} // namespace

static std::unique_ptr<Kernel::State> prepare(const Dims &shape,
                                              const Dims &starts,
                                              const Dims &sizes,
                                              const Dims &steps) {
  checkSlice("slice", shape, starts, sizes, steps);
  auto state = std::make_unique<SliceState>();
  state->count = elementsOf(sizes);
  Dims strides = rowMajorStrides(shape);
  for (std::size_t i = 0; i < shape.size(); ++i) {
    state->start += strides[i] * starts[i];
    strides[i] *= steps[i];
  }
  state->source = axisMap("slice", sizes, strides);
  return state;
}

Slice::Slice(Device &, Dims shape, Dims starts, Dims sizes, Dims steps)
    : Kernel(prepare(shape, starts, sizes, steps)) {}

void Slice::operator()(Stream &stream, const void *x, void *y) const {
  const auto &slice = as<SliceState>(state);
  stream.run("slice", [&] {
    cuda::launch(sliceKernel, cuda::blocksFor(slice.count), cuda::kThreads, 0,
                 stream, slice.source,
                 static_cast<const Word *>(x) + slice.start,
                 static_cast<Word *>(y), slice.count);
  });
}
