//===- Convolution.cpp - Convolutions by oneDNN ---------------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each convolution is a fixed sequence: reorder the operands into the layout
// oneDNN computes fastest in, compute, reorder the result back. The README
// says how the layouts were chosen. Layers of very few channels are computed by
// NarrowConv, what oneDNN refuses (cropping pads, empty tensors) by ConvLoops.
//
//===----------------------------------------------------------------------===//

#include "ConvLoops.h"
#include "KernelState.h"
#include "NarrowConv.h"
#include "OneDnn.h"

#include <optional>

using namespace partita;
using namespace partita::kernels;
using dnnl::memory;
using Slot = OneDnnSequence::Slot;

namespace {

/// What a convolution is prepared as: vectors along the rows, oneDNN's sequence
/// or, without either, loops.
struct ConvState final : Kernel::State {
  explicit ConvState(const ConvSizes &sizes) : loops(sizes) {}

  std::optional<NarrowConv> narrow;
  std::optional<OneDnnSequence> sequence;
  ConvLoops loops;
  bool bias = false;
};

/// A layout of x and y to ask oneDNN for.
enum class Layout { chosen, channelsLast, plain };

/// One convolution as oneDNN sees it.
class Problem {
public:
  explicit Problem(const ConvSizes &sizes, bool bias = false);

  /// False for what only the loops can do.
  bool fitsOneDnn() const;

  /// The operation with x and y in the layout and w in any.
  OneDnnConv in(Layout layout) const;

  Dims x, w, bias, y;

private:
  memory::desc image(const Dims &shape, Layout layout) const;

  const ConvSizes &sizes;
  bool hasBias;
};

} // namespace

Problem::Problem(const ConvSizes &sizes, bool bias)
    : bias{sizes.outChannels}, sizes(sizes), hasBias(bias) {
  x = {sizes.batch, sizes.inChannels};
  x.insert(x.end(), sizes.in.begin(), sizes.in.end());
  if (sizes.groups > 1)
    w.push_back(sizes.groups);
  w.push_back(sizes.outChannels / sizes.groups);
  w.push_back(sizes.inChannels / sizes.groups);
  w.insert(w.end(), sizes.kernel.begin(), sizes.kernel.end());
  Dims out = sizes.out();
  y = {sizes.batch, sizes.outChannels};
  y.insert(y.end(), out.begin(), out.end());
}

bool Problem::fitsOneDnn() const {
  if (elementsOf(x) == 0 || elementsOf(w) == 0 || elementsOf(y) == 0)
    return false;
  for (std::size_t i = 0; i < sizes.in.size(); ++i)
    if (sizes.padLow[i] < 0 || sizes.padHigh[i] < 0)
      return false;
  return true;
}

memory::desc Problem::image(const Dims &shape, Layout layout) const {
  if (layout == Layout::chosen)
    return anyDesc(shape);
  Dims strides = rowMajorStrides(shape);
  if (layout == Layout::channelsLast) {
    for (std::size_t i = 2; i < shape.size(); ++i)
      strides[i] *= shape[1];
    strides[1] = 1;
  }
  return stridedDesc(shape, strides);
}

OneDnnConv Problem::in(Layout layout) const {
  Dims skipped;
  for (std::int64_t dilation : sizes.dilations)
    skipped.push_back(dilation - 1);
  return {image(x, layout), anyDesc(w),    plainDesc(bias),
          image(y, layout), sizes.strides, skipped,
          sizes.padLow,     sizes.padHigh, hasBias};
}

static bool isDepthwise(const ConvSizes &sizes) {
  return sizes.groups > 1 && sizes.groups == sizes.inChannels &&
         sizes.groups == sizes.outChannels;
}

/// oneDNN's own choice works on blocks of 16 channels; with fewer, most of the
/// work would be on padding, and channels-last has none.
static Layout inputGradLayout(const ConvSizes &sizes) {
  std::int64_t channels = sizes.inChannels / sizes.groups;
  if (isDepthwise(sizes) || channels >= 16)
    return Layout::chosen;
  // A plain matrix product and a scatter: with one channel there is nothing to
  // block.
  return channels == 1 ? Layout::plain : Layout::channelsLast;
}

/// For channels that are no multiple of 16, oneDNN's own choice is code for
/// older processors, which is good for 8 of them only.
static Layout filterGradLayout(const ConvSizes &sizes) {
  std::int64_t channels = sizes.inChannels / sizes.groups;
  if (isDepthwise(sizes) || channels % 16 == 0 || channels == 8)
    return Layout::chosen;
  return Layout::channelsLast;
}

/// Tries `make` for the layout and, where oneDNN has nothing for it, for its
/// own choice.
template <typename Make>
static OneDnnPrimitive makeIn(const Problem &problem, Layout layout,
                              Make make) {
  try {
    return make(problem.in(layout));
  } catch (const dnnl::error &) {
    if (layout == Layout::chosen)
      throw;
    return make(problem.in(Layout::chosen));
  }
}

/// Sets up the state; `build` makes oneDNN's sequence.
template <typename Build>
static std::unique_ptr<Kernel::State>
prepare(const char *kernel, const ConvSizes &sizes, bool bias,
        std::optional<NarrowConv> (*narrow)(const ConvSizes &),
        std::size_t (NarrowConv::*narrowBytes)() const, Build build) {
  checkConv(kernel, sizes);
  auto state = std::make_unique<ConvState>(sizes);
  state->bias = bias;
  Problem problem(sizes, bias);
  if (!problem.fitsOneDnn())
    return state;
  state->narrow = narrow(sizes);
  if (state->narrow) {
    state->workspace = (*state->narrow.*narrowBytes)();
  } else {
    try {
      state->sequence = build(problem);
      state->workspace = state->sequence->workspaceBytes();
    } catch (const dnnl::error &) {
      // No implementation in this version of oneDNN: the loops do it.
      state->sequence.reset();
    }
  }
  return reserved(std::move(state));
}

ConvForward::ConvForward(Device &, const ConvSizes &sizes, bool bias)
    : Kernel(prepare("conv", sizes, bias, NarrowConv::forForward,
                     &NarrowConv::forwardBytes, [&](const Problem &problem) {
                       OneDnnPrimitive conv =
                           makeIn(problem, Layout::chosen, makeConvForward);
                       OneDnnSequence sequence;
                       Slot x = sequence.addTensor(plainDesc(problem.x));
                       Slot w = sequence.addTensor(plainDesc(problem.w));
                       Slot b = sequence.addTensor(plainDesc(problem.bias));
                       Slot y = sequence.addTensor(plainDesc(problem.y));
                       Slot result = sequence.stagedFor(y, conv.y);
                       std::vector<std::pair<int, Slot>> arguments = {
                           {DNNL_ARG_SRC, sequence.reordered(x, conv.x)},
                           {DNNL_ARG_WEIGHTS, sequence.reordered(w, conv.w)},
                           {DNNL_ARG_DST, result}};
                       if (bias)
                         arguments.push_back({DNNL_ARG_BIAS, b});
                       sequence.add(conv, arguments);
                       sequence.addReorder(result, y);
                       return sequence;
                     })) {}

void ConvForward::operator()(Stream &stream, const float *x, const float *w,
                             const float *bias, float *y) const {
  const auto &conv = as<ConvState>(state);
  stream.run("conv", [&conv, x, w, bias, y] {
    const float *b = conv.bias ? bias : nullptr;
    if (conv.narrow)
      return conv.narrow->forward(x, w, b, y);
    if (!conv.sequence)
      return conv.loops.forward(x, w, b, y);
    const void *tensors[] = {x, w, b, y};
    conv.sequence->run(tensors);
  });
}

ConvInputGrad::ConvInputGrad(Device &, const ConvSizes &sizes)
    : Kernel(prepare(
          "conv_input_grad", sizes, /*bias=*/false, NarrowConv::forInputGrad,
          &NarrowConv::forwardBytes, [&](const Problem &problem) {
            OneDnnPrimitive conv =
                makeIn(problem, inputGradLayout(sizes), makeConvInputGrad);
            OneDnnSequence sequence;
            Slot y = sequence.addTensor(plainDesc(problem.y));
            Slot w = sequence.addTensor(plainDesc(problem.w));
            Slot x = sequence.addTensor(plainDesc(problem.x));
            Slot result = sequence.stagedFor(x, conv.x);
            sequence.add(conv,
                         {{DNNL_ARG_DIFF_DST, sequence.reordered(y, conv.y)},
                          {DNNL_ARG_WEIGHTS, sequence.reordered(w, conv.w)},
                          {DNNL_ARG_DIFF_SRC, result}});
            sequence.addReorder(result, x);
            return sequence;
          })) {}

void ConvInputGrad::operator()(Stream &stream, const float *dy, const float *w,
                               float *dx) const {
  const auto &conv = as<ConvState>(state);
  stream.run("conv_input_grad", [&conv, dy, w, dx] {
    if (conv.narrow)
      return conv.narrow->forward(dy, w, /*bias=*/nullptr, dx);
    if (!conv.sequence)
      return conv.loops.inputGrad(dy, w, dx);
    const void *tensors[] = {dy, w, dx};
    conv.sequence->run(tensors);
  });
}

ConvFilterGrad::ConvFilterGrad(Device &, const ConvSizes &sizes)
    : Kernel(prepare(
          "conv_filter_grad", sizes, /*bias=*/false, NarrowConv::forFilterGrad,
          &NarrowConv::filterGradBytes, [&](const Problem &problem) {
            OneDnnPrimitive conv =
                makeIn(problem, filterGradLayout(sizes), makeConvFilterGrad);
            OneDnnSequence sequence;
            Slot x = sequence.addTensor(plainDesc(problem.x));
            Slot y = sequence.addTensor(plainDesc(problem.y));
            Slot w = sequence.addTensor(plainDesc(problem.w));
            Slot result = sequence.stagedFor(w, conv.w);
            sequence.add(conv,
                         {{DNNL_ARG_SRC, sequence.reordered(x, conv.x)},
                          {DNNL_ARG_DIFF_DST, sequence.reordered(y, conv.y)},
                          {DNNL_ARG_DIFF_WEIGHTS, result}});
            sequence.addReorder(result, w);
            return sequence;
          })) {}

void ConvFilterGrad::operator()(Stream &stream, const float *x, const float *dy,
                                float *dw) const {
  const auto &conv = as<ConvState>(state);
  stream.run("conv_filter_grad", [&conv, x, dy, dw] {
    if (conv.narrow)
      return conv.narrow->filterGrad(x, dy, dw);
    if (!conv.sequence)
      return conv.loops.filterGrad(x, dy, dw);
    const void *tensors[] = {x, dy, dw};
    conv.sequence->run(tensors);
  });
}
