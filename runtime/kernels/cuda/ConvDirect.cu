//===- ConvDirect.cu - Convolutions by their definition ---------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every element of a result is the sum of its own terms in a fixed order.
//
//===----------------------------------------------------------------------===//

#include "ConvDirect.h"

#include "Reduction.h"

#include <cstdlib>
#include <limits>

using namespace partita;
using namespace partita::kernels;

namespace {

/// A channel's cell, and the channel's place.
struct Place4 {
  int channel, d, h, w;
};

__device__ Place4 placeOf(int index, int cells, int heights, int widths) {
  int channel = index / cells;
  int cell = index - channel * cells;
  int row = cell / widths;
  return {channel, row / heights, row % heights, cell - row * widths};
}

/// The cell of x that output cell `output` reads with kernel cell `k`; -1
/// outside x.
__device__ int inputOf(const ConvAxis &axis, int output, int k) {
  int cell = output * axis.stride - axis.padLow + k * axis.dilation;
  return cell >= 0 && cell < axis.in ? cell : -1;
}

/// The output cell that reads `cell` of x with kernel cell `k`; -1 for none.
__device__ int outputOf(const ConvAxis &axis, int cell, int k) {
  int at = cell + axis.padLow - k * axis.dilation;
  int output = at / axis.stride;
  return at >= 0 && output * axis.stride == at && output < axis.out ? output
                                                                    : -1;
}

__global__ void forwardKernel(ConvShape shape, std::int64_t count,
                              const float *x, const float *w, float *y) {
  std::int64_t perSample =
      std::int64_t(shape.groups) * shape.outChannels * shape.outCells;
  for (std::int64_t i = cuda::firstIndex(); i < count;
       i += cuda::indexStride()) {
    std::int64_t sample = i / perSample;
    Place4 to = placeOf(static_cast<int>(i - sample * perSample),
                        shape.outCells, shape.height.out, shape.width.out);
    int group = to.channel / shape.outChannels;
    const float *filter =
        w + std::int64_t(to.channel) * shape.inChannels * shape.kernelCells;
    const float *from =
        x + (sample * shape.groups + group) * shape.inChannels * shape.inCells;
    float sum = 0.0f;
    for (int c = 0; c < shape.inChannels; ++c)
      for (int kd = 0; kd < shape.depth.kernel; ++kd)
        for (int kh = 0; kh < shape.height.kernel; ++kh)
          for (int kw = 0; kw < shape.width.kernel; ++kw) {
            int d = inputOf(shape.depth, to.d, kd);
            int h = inputOf(shape.height, to.h, kh);
            int column = inputOf(shape.width, to.w, kw);
            float weight = *filter++;
            if (d >= 0 && h >= 0 && column >= 0)
              sum += weight *
                     from[std::int64_t(c) * shape.inCells +
                          (d * shape.height.in + h) * shape.width.in + column];
          }
    y[i] = sum;
  }
}

__global__ void inputGradKernel(ConvShape shape, std::int64_t count,
                                const float *dy, const float *w, float *dx) {
  std::int64_t perSample =
      std::int64_t(shape.groups) * shape.inChannels * shape.inCells;
  for (std::int64_t i = cuda::firstIndex(); i < count;
       i += cuda::indexStride()) {
    std::int64_t sample = i / perSample;
    Place4 to = placeOf(static_cast<int>(i - sample * perSample), shape.inCells,
                        shape.height.in, shape.width.in);
    int group = to.channel / shape.inChannels;
    int channel = to.channel - group * shape.inChannels;
    const float *from = dy + (sample * shape.groups + group) *
                                 shape.outChannels * shape.outCells;
    float sum = 0.0f;
    for (int o = 0; o < shape.outChannels; ++o) {
      const float *filter = w + ((std::int64_t(group) * shape.outChannels + o) *
                                     shape.inChannels +
                                 channel) *
                                    shape.kernelCells;
      for (int kd = 0; kd < shape.depth.kernel; ++kd)
        for (int kh = 0; kh < shape.height.kernel; ++kh)
          for (int kw = 0; kw < shape.width.kernel; ++kw) {
            int d = outputOf(shape.depth, to.d, kd);
            int h = outputOf(shape.height, to.h, kh);
            int column = outputOf(shape.width, to.w, kw);
            float weight = *filter++;
            if (d >= 0 && h >= 0 && column >= 0)
              sum +=
                  weight *
                  from[std::int64_t(o) * shape.outCells +
                       (d * shape.height.out + h) * shape.width.out + column];
          }
    }
    dx[i] = sum;
  }
}

/// The gradient of one element of w: its terms are the cells of y of its
/// channel, over all samples. Both offsets of the plan are plain indices.
struct FilterGrad {
  using Value = double;
  __device__ Value start() const { return 0.0; }
  __device__ Value term(std::int64_t index, std::int64_t output) const {
    std::int64_t cellIndex = index - output;
    int sample = static_cast<int>(cellIndex / shape.outCells);
    Place4 cell = placeOf(
        static_cast<int>(cellIndex - std::int64_t(sample) * shape.outCells),
        shape.outCells, shape.height.out, shape.width.out);
    std::int64_t row = output / shape.kernelCells;
    Place4 tap =
        placeOf(static_cast<int>(output - row * shape.kernelCells),
                shape.kernelCells, shape.height.kernel, shape.width.kernel);
    int outChannel = static_cast<int>(row / shape.inChannels);
    int inChannel = static_cast<int>(row % shape.inChannels);
    int group = outChannel / shape.outChannels;
    int d = inputOf(shape.depth, cell.d, tap.d);
    int h = inputOf(shape.height, cell.h, tap.h);
    int column = inputOf(shape.width, cell.w, tap.w);
    if (d < 0 || h < 0 || column < 0)
      return 0.0;
    std::int64_t plane =
        (std::int64_t(sample) * shape.groups + group) * shape.inChannels +
        inChannel;
    std::int64_t gradientPlane =
        std::int64_t(sample) * shape.groups * shape.outChannels + outChannel;
    int place = (cell.d * shape.height.out + cell.h) * shape.width.out + cell.w;
    return dy[gradientPlane * shape.outCells + place] *
           x[plane * shape.inCells +
             (d * shape.height.in + h) * shape.width.in + column];
  }
  __device__ Value combine(Value a, Value b) const { return a + b; }
  __device__ void store(std::int64_t output, Value value) const {
    dw[output] = static_cast<float>(value);
  }

  ConvShape shape;
  const float *x, *dy;
  float *dw;
};

__global__ void biasKernel(std::int64_t count, int cells, int channels,
                           const float *bias, float *y) {
  for (std::int64_t i = cuda::firstIndex(); i < count; i += cuda::indexStride())
    y[i] += bias[i / cells % channels];
}

} // namespace

static constexpr std::int64_t kLargest = std::numeric_limits<int>::max();

/// The product, refused where it does not fit into int.
static int intProduct(const char *kernel, const Dims &factors) {
  std::int64_t product = 1;
  for (std::int64_t factor : factors) {
    // No factor is larger than 2^31 - 1, so this cannot overflow.
    product = factor > kLargest ? kLargest + 1 : product * factor;
    if (product > kLargest)
      refuse(kernel, "found a tensor with the sizes " + toString(factors) +
                         ", expected less than 2^31 elements per sample or "
                         "filter; split it over more ranks");
  }
  return static_cast<int>(product);
}

ConvShape::ConvShape(const char *kernel, const ConvSizes &sizes)
    : batch(intProduct(kernel, {sizes.batch})),
      groups(intProduct(kernel, {sizes.groups})),
      inChannels(intProduct(kernel, {sizes.inChannels / sizes.groups})),
      outChannels(intProduct(kernel, {sizes.outChannels / sizes.groups})) {
  Dims out = sizes.out();
  ConvAxis *axes[] = {&depth, &height, &width};
  Dims inAll{sizes.inChannels}, outAll{sizes.outChannels};
  std::size_t rank = sizes.in.size();
  for (std::size_t i = 0; i < rank; ++i) {
    ConvAxis &axis = *axes[3 - rank + i];
    axis.in = intProduct(kernel, {sizes.in[i]});
    axis.out = intProduct(kernel, {out[i]});
    axis.kernel = intProduct(kernel, {sizes.kernel[i]});
    axis.stride = intProduct(kernel, {sizes.strides[i]});
    axis.dilation = intProduct(kernel, {sizes.dilations[i]});
    // The places that kernel cells reach.
    intProduct(kernel, {std::abs(sizes.padLow[i]) + sizes.in[i] +
                        out[i] * sizes.strides[i] +
                        sizes.kernel[i] * sizes.dilations[i]});
    axis.padLow = static_cast<int>(sizes.padLow[i]);
    inAll.push_back(sizes.in[i]);
    outAll.push_back(out[i]);
  }
  // Everything about a sample is counted in int.
  intProduct(kernel, inAll);
  intProduct(kernel, outAll);
  inAll[0] = outAll[0] = 1;
  inCells = intProduct(kernel, inAll);
  outCells = intProduct(kernel, outAll);
  kernelCells = intProduct(kernel, sizes.kernel);
}

void kernels::convForward(Stream &stream, const ConvShape &shape,
                          const float *x, const float *w, float *y) {
  cuda::launch(forwardKernel, cuda::blocksFor(shape.yCount()), cuda::kThreads,
               0, stream, shape, shape.yCount(), x, w, y);
}

void kernels::convInputGrad(Stream &stream, const ConvShape &shape,
                            const float *dy, const float *w, float *dx) {
  cuda::launch(inputGradKernel, cuda::blocksFor(shape.xCount()), cuda::kThreads,
               0, stream, shape, shape.xCount(), dy, w, dx);
}

/// Outputs are the elements of w, terms the cells of one channel of y.
static ReducePlan filterGradPlan(const ConvShape &shape) {
  std::int64_t terms = std::int64_t(shape.batch) * shape.outCells;
  ReducePlan plan("conv_filter_grad", {shape.wCount(), terms}, {1});
  plan.kept = axisMap("conv_filter_grad", {shape.wCount()}, {1});
  plan.reduced = axisMap("conv_filter_grad", {terms}, {1});
  return plan;
}

std::size_t kernels::convFilterGradWorkspace(const ConvShape &shape) {
  return filterGradPlan(shape).workspaceBytes(sizeof(FilterGrad::Value));
}

void kernels::convFilterGrad(Stream &stream, const ConvShape &shape,
                             const float *x, const float *dy, float *dw) {
  reduce(stream, filterGradPlan(shape), FilterGrad{shape, x, dy, dw});
}

void kernels::addBias(Stream &stream, const ConvShape &shape, const float *bias,
                      float *y) {
  cuda::launch(biasKernel, cuda::blocksFor(shape.yCount()), cuda::kThreads, 0,
               stream, shape.yCount(), shape.outCells,
               shape.groups * shape.outChannels, bias, y);
}
