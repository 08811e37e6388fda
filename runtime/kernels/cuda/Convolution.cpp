//===- Convolution.cpp - Convolutions by cuDNN ------------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// cuDNN pads both ends of an axis alike. Where the ends differ, what they have
// in common is left to cuDNN and the rest is padded, or cropped, into the
// workspace first; for the input's gradient the other way round. Empty tensors
// and what cuDNN has no deterministic algorithm for are computed directly.
//
//===----------------------------------------------------------------------===//

#include "ConvDirect.h"
#include "CudnnConv.h"
#include "KernelState.h"
#include "Padding.h"

#include <algorithm>

using namespace partita;
using namespace partita::kernels;
using Direction = CudnnConv::Direction;

namespace {

struct ConvState final : Kernel::State {
  ConvState(const char *kernel, const ConvSizes &sizes)
      : shape(kernel, sizes) {}

  /// The part of the workspace that is cuDNN's.
  void *libraryPart(void *space) const {
    return static_cast<std::byte *>(space) + stagedBytes;
  }

  ConvShape shape;
  /// Without it, the convolution is computed directly.
  std::optional<CudnnConv> cudnn;
  /// From x to what cuDNN sees of it, or back from its gradient.
  std::optional<Padding> padding;
  std::size_t stagedBytes = 0;
  bool bias = false;
};

/// A convolution with equal pads, and the padding of x that leads to it.
struct Symmetric {
  explicit Symmetric(const ConvSizes &original);

  ConvSizes sizes;
  /// Of x including batch and channels; may be negative.
  Dims low, high;
  bool needsPadding = false;
  /// False where more is cropped than there is.
  bool isPossible = true;
};

} // namespace

Symmetric::Symmetric(const ConvSizes &original)
    : sizes(original), low{0, 0}, high{0, 0} {
  for (std::size_t i = 0; i < sizes.in.size(); ++i) {
    std::int64_t common = std::max<std::int64_t>(
        0, std::min(original.padLow[i], original.padHigh[i]));
    low.push_back(original.padLow[i] - common);
    high.push_back(original.padHigh[i] - common);
    needsPadding |= low.back() != 0 || high.back() != 0;
    sizes.in[i] += low.back() + high.back();
    sizes.padLow[i] = sizes.padHigh[i] = common;
    isPossible &= sizes.in[i] > 0;
  }
}

static Dims negated(Dims values) {
  for (std::int64_t &value : values)
    value = -value;
  return values;
}

/// The shape of x.
static Dims imageOf(const ConvSizes &sizes) {
  Dims shape{sizes.batch, sizes.inChannels};
  shape.insert(shape.end(), sizes.in.begin(), sizes.in.end());
  return shape;
}

static std::unique_ptr<Kernel::State>
prepare(const char *kernel, Device &device, const ConvSizes &sizes,
        Direction direction, bool bias = false) {
  checkConv(kernel, sizes);
  auto state = std::make_unique<ConvState>(kernel, sizes);
  state->bias = bias;
  const ConvShape &shape = state->shape;
  Symmetric symmetric(sizes);
  bool isEmpty =
      shape.xCount() == 0 || shape.wCount() == 0 || shape.yCount() == 0;
  if (!isEmpty && symmetric.isPossible)
    state->cudnn =
        CudnnConv::make(prepareCudnn(device), symmetric.sizes, direction);
  if (!state->cudnn) {
    if (direction == Direction::filterGrad)
      state->workspace = convFilterGradWorkspace(shape);
    return reserved(device, std::move(state));
  }
  if (symmetric.needsPadding) {
    Dims inner = imageOf(symmetric.sizes), none(inner.size(), 0);
    if (direction == Direction::inputGrad)
      state->padding = Padding(kernel, inner, negated(symmetric.low), none,
                               negated(symmetric.high), /*value=*/0.0f);
    else
      state->padding = Padding(kernel, imageOf(sizes), symmetric.low, none,
                               symmetric.high, /*value=*/0.0f);
    state->stagedBytes =
        aligned(static_cast<std::size_t>(elementsOf(inner)) * sizeof(float));
  }
  state->workspace = state->stagedBytes + state->cudnn->workspaceBytes();
  return reserved(device, std::move(state));
}

/// x as cuDNN sees it.
static const float *padded(const ConvState &conv, Stream &stream,
                           const float *x, void *space) {
  if (!conv.padding)
    return x;
  (*conv.padding)(stream, x, static_cast<float *>(space));
  return static_cast<float *>(space);
}

ConvForward::ConvForward(Device &device, const ConvSizes &sizes, bool bias)
    : Kernel(prepare("conv", device, sizes, Direction::forward, bias)) {}

void ConvForward::operator()(Stream &stream, const float *x, const float *w,
                             const float *bias, float *y) const {
  const auto &conv = as<ConvState>(state);
  stream.run("conv", [&] {
    void *space = workspace(stream, conv.workspace);
    if (conv.cudnn)
      conv.cudnn->forward(cudnnOf(stream), padded(conv, stream, x, space), w,
                          conv.libraryPart(space), y);
    else
      convForward(stream, conv.shape, x, w, y);
    if (conv.bias)
      addBias(stream, conv.shape, bias, y);
  });
}

ConvInputGrad::ConvInputGrad(Device &device, const ConvSizes &sizes)
    : Kernel(prepare("conv_input_grad", device, sizes, Direction::inputGrad)) {}

void ConvInputGrad::operator()(Stream &stream, const float *dy, const float *w,
                               float *dx) const {
  const auto &conv = as<ConvState>(state);
  stream.run("conv_input_grad", [&] {
    if (!conv.cudnn)
      return convInputGrad(stream, conv.shape, dy, w, dx);
    void *space = workspace(stream, conv.workspace);
    float *result = conv.padding ? static_cast<float *>(space) : dx;
    conv.cudnn->inputGrad(cudnnOf(stream), dy, w, conv.libraryPart(space),
                          result);
    if (conv.padding)
      (*conv.padding)(stream, result, dx);
  });
}

ConvFilterGrad::ConvFilterGrad(Device &device, const ConvSizes &sizes)
    : Kernel(
          prepare("conv_filter_grad", device, sizes, Direction::filterGrad)) {}

void ConvFilterGrad::operator()(Stream &stream, const float *x, const float *dy,
                                float *dw) const {
  const auto &conv = as<ConvState>(state);
  stream.run("conv_filter_grad", [&] {
    if (!conv.cudnn)
      return convFilterGrad(stream, conv.shape, x, dy, dw);
    void *space = workspace(stream, conv.workspace);
    conv.cudnn->filterGrad(cudnnOf(stream), padded(conv, stream, x, space), dy,
                           conv.libraryPart(space), dw);
  });
}
