//===- ConvLoops.cpp - Convolutions as plain loops ------------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All three passes walk the same runs: a kernel cell and a row of outputs meet
// a strided row of inputs.
//
//===----------------------------------------------------------------------===//

#include "ConvLoops.h"

#include "Parallel.h"

#include <cstring>

using namespace partita;
using namespace partita::kernels;

ConvLoops::ConvLoops(const ConvSizes &sizes)
    : batch(sizes.batch), inPerGroup(sizes.inChannels / sizes.groups),
      outPerGroup(sizes.outChannels / sizes.groups), groups(sizes.groups),
      inCells(elementsOf(sizes.in)), outCells(elementsOf(sizes.out())),
      kernelCells(elementsOf(sizes.kernel)) {
  Dims out = sizes.out();
  std::size_t rank = sizes.in.size();
  for (std::size_t i = 0; i < rank; ++i)
    axes[3 - rank + i] = {sizes.in[i],        out[i],
                          sizes.kernel[i],    sizes.strides[i],
                          sizes.dilations[i], sizes.padLow[i]};
}

void ConvLoops::Axis::range(std::int64_t k, std::int64_t &first,
                            std::int64_t &last) const {
  std::int64_t start = k * dilation - pad;
  first = start >= 0 ? 0 : (-start + stride - 1) / stride;
  last = start >= in ? 0 : std::min(out, (in - 1 - start) / stride + 1);
}

template <typename Visit> void ConvLoops::forEachRun(const Visit &visit) const {
  const auto &[depth, height, width] = axes;
  std::int64_t cell = 0;
  for (std::int64_t kd = 0; kd < depth.kernel; ++kd) {
    std::int64_t d0, d1;
    depth.range(kd, d0, d1);
    for (std::int64_t kh = 0; kh < height.kernel; ++kh) {
      std::int64_t h0, h1;
      height.range(kh, h0, h1);
      for (std::int64_t kw = 0; kw < width.kernel; ++kw, ++cell) {
        std::int64_t w0, w1;
        width.range(kw, w0, w1);
        if (w0 >= w1)
          continue;
        for (std::int64_t d = d0; d < d1; ++d)
          for (std::int64_t h = h0; h < h1; ++h)
            visit(cell,
                  (depth.cell(d, kd) * height.in + height.cell(h, kh)) *
                          width.in +
                      width.cell(w0, kw),
                  (d * height.out + h) * width.out + w0, w1 - w0, width.stride);
      }
    }
  }
}

void ConvLoops::forward(const float *x, const float *w, const float *bias,
                        float *y) const {
  std::int64_t outChannels = outPerGroup * groups;
  std::int64_t inChannels = inPerGroup * groups;
  parallelFor(
      batch * outChannels, outCells * inPerGroup * kernelCells,
      [&](std::int64_t begin, std::int64_t end, int) {
        for (std::int64_t plane = begin; plane < end; ++plane) {
          std::int64_t n = plane / outChannels, co = plane % outChannels;
          float *to = y + plane * outCells;
          std::fill(to, to + outCells, bias ? bias[co] : 0.0f);
          for (std::int64_t ci = 0; ci < inPerGroup; ++ci) {
            const float *from =
                x +
                (n * inChannels + co / outPerGroup * inPerGroup + ci) * inCells;
            const float *filter = w + (co * inPerGroup + ci) * kernelCells;
            forEachRun([&](std::int64_t cell, std::int64_t xAt,
                           std::int64_t yAt, std::int64_t count,
                           std::int64_t step) {
              for (std::int64_t i = 0; i < count; ++i)
                to[yAt + i] += filter[cell] * from[xAt + i * step];
            });
          }
        }
      });
}

void ConvLoops::inputGrad(const float *dy, const float *w, float *dx) const {
  std::int64_t outChannels = outPerGroup * groups;
  std::int64_t inChannels = inPerGroup * groups;
  parallelFor(batch * inChannels, outCells * outPerGroup * kernelCells,
              [&](std::int64_t begin, std::int64_t end, int) {
                for (std::int64_t plane = begin; plane < end; ++plane) {
                  std::int64_t n = plane / inChannels, c = plane % inChannels;
                  std::int64_t group = c / inPerGroup, ci = c % inPerGroup;
                  float *to = dx + plane * inCells;
                  std::fill(to, to + inCells, 0.0f);
                  for (std::int64_t i = 0; i < outPerGroup; ++i) {
                    std::int64_t co = group * outPerGroup + i;
                    const float *from = dy + (n * outChannels + co) * outCells;
                    const float *filter =
                        w + (co * inPerGroup + ci) * kernelCells;
                    forEachRun([&](std::int64_t cell, std::int64_t xAt,
                                   std::int64_t yAt, std::int64_t count,
                                   std::int64_t step) {
                      for (std::int64_t j = 0; j < count; ++j)
                        to[xAt + j * step] += filter[cell] * from[yAt + j];
                    });
                  }
                }
              });
}

void ConvLoops::filterGrad(const float *x, const float *dy, float *dw) const {
  std::int64_t outChannels = outPerGroup * groups;
  std::int64_t inChannels = inPerGroup * groups;
  parallelFor(outChannels * inPerGroup, batch * outCells * kernelCells,
              [&](std::int64_t begin, std::int64_t end, int) {
                for (std::int64_t pair = begin; pair < end; ++pair) {
                  std::int64_t co = pair / inPerGroup, ci = pair % inPerGroup;
                  float *to = dw + pair * kernelCells;
                  std::fill(to, to + kernelCells, 0.0f);
                  std::int64_t c = co / outPerGroup * inPerGroup + ci;
                  for (std::int64_t n = 0; n < batch; ++n) {
                    const float *input = x + (n * inChannels + c) * inCells;
                    const float *gradient =
                        dy + (n * outChannels + co) * outCells;
                    forEachRun([&](std::int64_t cell, std::int64_t xAt,
                                   std::int64_t yAt, std::int64_t count,
                                   std::int64_t step) {
                      float sum = 0.0f;
                      for (std::int64_t i = 0; i < count; ++i)
                        sum += gradient[yAt + i] * input[xAt + i * step];
                      to[cell] += sum;
                    });
                  }
                }
              });
}
