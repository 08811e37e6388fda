//===- Sizes.cpp - Checks of kernel sizes for both back ends --------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The size structures of partita/kernels.h and their checks.
//
//===----------------------------------------------------------------------===//

#include "Sizes.h"

#include <algorithm>

using namespace partita;
using namespace partita::kernels;

Dims kernels::rowMajorStrides(const Dims &shape) {
  Dims strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;)
    strides[i - 1] = strides[i] * shape[i];
  return strides;
}

void kernels::refuse(const char *kernel, const std::string &what) {
  throw Error(std::string(kernel) + ": " + what);
}

//===----------------------------------------------------------------------===//
// Convolution and pooling
//===----------------------------------------------------------------------===//

/// Size of one axis of a convolution's result.
static std::int64_t convOut(std::int64_t in, std::int64_t kernel,
                            std::int64_t stride, std::int64_t dilation,
                            std::int64_t pads) {
  std::int64_t room = in + pads - dilation * (kernel - 1) - 1;
  return room < 0 ? 0 : room / stride + 1;
}

Dims ConvSizes::out() const {
  Dims out;
  for (std::size_t i = 0; i < in.size(); ++i)
    out.push_back(convOut(in[i], kernel[i], strides[i], dilations[i],
                          padLow[i] + padHigh[i]));
  return out;
}

/// The lists every window has one entry of per spatial axis.
static void checkWindow(const char *kernel, std::size_t rank,
                        const Dims &window, const Dims &strides,
                        const Dims &dilations, const Dims &padLow,
                        const Dims &padHigh) {
  if (rank < 1 || rank > 3)
    refuse(kernel, "found " + std::to_string(rank) +
                       " spatial dimensions, expected 1 to 3");
  if (window.size() != rank || strides.size() != rank ||
      dilations.size() != rank || padLow.size() != rank ||
      padHigh.size() != rank)
    refuse(kernel, "kernel, strides, dilations and pads must have " +
                       std::to_string(rank) + " entries per end, as the input");
  for (std::size_t i = 0; i < rank; ++i)
    if (window[i] < 1 || strides[i] < 1 || dilations[i] < 1)
      refuse(kernel, "found kernel " + toString(window) + ", strides " +
                         toString(strides) + ", dilations " +
                         toString(dilations) + ", expected positive values");
}

void kernels::checkShape(const char *kernel, const Dims &shape) {
  for (std::int64_t size : shape)
    if (size < 0)
      refuse(kernel, "found the shape " + toString(shape) +
                         ", expected no negative size");
}

void kernels::checkConv(const char *kernel, const ConvSizes &sizes) {
  checkWindow(kernel, sizes.in.size(), sizes.kernel, sizes.strides,
              sizes.dilations, sizes.padLow, sizes.padHigh);
  checkShape(kernel, sizes.in);
  checkShape(kernel, {sizes.batch, sizes.inChannels, sizes.outChannels});
  if (sizes.groups < 1 || sizes.inChannels % sizes.groups != 0 ||
      sizes.outChannels % sizes.groups != 0)
    refuse(kernel, "found " + std::to_string(sizes.groups) + " groups for " +
                       std::to_string(sizes.inChannels) + " input and " +
                       std::to_string(sizes.outChannels) +
                       " output channels, expected a common divisor");
}

void kernels::checkPool(const char *kernel, const PoolSizes &sizes) {
  checkWindow(kernel, sizes.in.size(), sizes.kernel, sizes.strides,
              sizes.dilations, sizes.padLow, sizes.padHigh);
  checkShape(kernel, sizes.in);
  checkShape(kernel, sizes.out);
  checkShape(kernel, {sizes.batch, sizes.channels});
  if (sizes.out.size() != sizes.in.size())
    refuse(kernel, "found the input " + toString(sizes.in) +
                       " and the output " + toString(sizes.out) +
                       ", expected the same number of dimensions");
}

/// Fills in the defaults of strides, dilations and pads and splits the pads.
static void completeWindow(const char *kernel, std::size_t rank, Dims &strides,
                           Dims &dilations, const Dims &pads, Dims &padLow,
                           Dims &padHigh) {
  if (strides.empty())
    strides.assign(rank, 1);
  if (dilations.empty())
    dilations.assign(rank, 1);
  if (pads.empty()) {
    padLow.assign(rank, 0);
    padHigh.assign(rank, 0);
    return;
  }
  if (pads.size() != 2 * rank)
    refuse(kernel, "found " + std::to_string(pads.size()) +
                       " pads, expected a low and a high one for " +
                       std::to_string(rank) + " dimensions");
  padLow.assign(pads.begin(), pads.begin() + rank);
  padHigh.assign(pads.begin() + rank, pads.end());
}

ConvSizes partita::convSizes(Dims x, Dims w, Dims strides, Dims dilations,
                             Dims pads, std::int64_t groups) {
  if (x.size() < 3 || x.size() != w.size())
    refuse("conv", "found the input " + toString(x) + " and the filter " +
                       toString(w) + ", expected the same rank, 3 to 5");
  ConvSizes sizes;
  sizes.batch = x[0];
  sizes.inChannels = x[1];
  sizes.outChannels = w[0];
  sizes.groups = groups;
  sizes.in.assign(x.begin() + 2, x.end());
  sizes.kernel.assign(w.begin() + 2, w.end());
  sizes.strides = std::move(strides);
  sizes.dilations = std::move(dilations);
  completeWindow("conv", sizes.in.size(), sizes.strides, sizes.dilations, pads,
                 sizes.padLow, sizes.padHigh);
  checkConv("conv", sizes);
  if (w[1] * groups != x[1])
    refuse("conv", "found " + std::to_string(x[1]) + " input channels, the " +
                       "filter " + toString(w) + " with " +
                       std::to_string(groups) + " groups expects " +
                       std::to_string(w[1] * groups));
  return sizes;
}

PoolSizes partita::poolSizes(Dims x, Dims y, Dims kernel, Dims strides,
                             Dims dilations, Dims pads) {
  if (x.size() < 3 || x.size() != y.size() || x[0] != y[0] || x[1] != y[1])
    refuse("pool", "found the input " + toString(x) + " and the output " +
                       toString(y) +
                       ", expected the same rank, batch and channels");
  PoolSizes sizes;
  sizes.batch = x[0];
  sizes.channels = x[1];
  sizes.in.assign(x.begin() + 2, x.end());
  sizes.out.assign(y.begin() + 2, y.end());
  sizes.kernel = std::move(kernel);
  sizes.strides = std::move(strides);
  sizes.dilations = std::move(dilations);
  completeWindow("pool", sizes.in.size(), sizes.strides, sizes.dilations, pads,
                 sizes.padLow, sizes.padHigh);
  checkPool("pool", sizes);
  return sizes;
}

//===----------------------------------------------------------------------===//
// Everything else
//===----------------------------------------------------------------------===//

void kernels::checkMatmul(const char *kernel, const MatmulSizes &sizes) {
  checkShape(kernel, {sizes.batch, sizes.m, sizes.n, sizes.k});
  checkShape(kernel, {sizes.strideA, sizes.strideB});
}

void kernels::checkAxes(const char *kernel, const Dims &axes,
                        std::size_t rank) {
  std::vector<bool> seen(rank, false);
  for (std::int64_t axis : axes) {
    if (axis < 0 || axis >= static_cast<std::int64_t>(rank) || seen[axis])
      refuse(kernel, "found axis " + std::to_string(axis) +
                         ", expected distinct axes in [0, " +
                         std::to_string(rank) + ")");
    seen[axis] = true;
  }
}

void kernels::checkPermutation(const char *kernel, const Dims &perm,
                               std::size_t rank) {
  if (perm.size() != rank)
    refuse(kernel, "found a permutation of " + std::to_string(perm.size()) +
                       " axes, expected " + std::to_string(rank));
  checkAxes(kernel, perm, rank);
}

void kernels::checkGather(const char *kernel, const GatherSizes &sizes,
                          std::size_t elementBytes) {
  checkShape(kernel, {sizes.outer, sizes.rows, sizes.inner, sizes.count,
                      sizes.limit, sizes.start});
  if (sizes.start + sizes.rows > sizes.limit)
    refuse(kernel, "found the rows " + std::to_string(sizes.start) + " to " +
                       std::to_string(sizes.start + sizes.rows) +
                       " of a table, expected no more than its " +
                       std::to_string(sizes.limit) + " rows");
  if (elementBytes != 1 && elementBytes != 2 && elementBytes != 4 &&
      elementBytes != 8)
    refuse(kernel, "found elements of " + std::to_string(elementBytes) +
                       " bytes, expected 1, 2, 4 or 8");
}

std::string kernels::indexComplaint(const GatherSizes &sizes) {
  return "expected " + std::to_string(-sizes.limit) + " to " +
         std::to_string(sizes.limit - 1) + " for a table of " +
         std::to_string(sizes.limit) + " rows; check the data that the " +
         "indices come from";
}

void kernels::checkSlice(const char *kernel, const Dims &shape,
                         const Dims &starts, const Dims &sizes,
                         const Dims &steps) {
  checkShape(kernel, shape);
  checkShape(kernel, sizes);
  std::size_t rank = shape.size();
  if (starts.size() != rank || sizes.size() != rank || steps.size() != rank)
    refuse(kernel, "starts, sizes and steps must have " + std::to_string(rank) +
                       " entries, as the shape");
  for (std::size_t i = 0; i < rank; ++i) {
    if (sizes[i] == 0)
      continue;
    std::int64_t last = starts[i] + (sizes[i] - 1) * steps[i];
    if (std::min(starts[i], last) < 0 || std::max(starts[i], last) >= shape[i])
      refuse(kernel, "axis " + std::to_string(i) + " reads [" +
                         std::to_string(starts[i]) + ", " +
                         std::to_string(last) + "] of " +
                         std::to_string(shape[i]) + " elements");
  }
}

void kernels::checkBlock(const char *kernel, const Dims &local,
                         const Dims &global, const Dims &start) {
  checkShape(kernel, local);
  checkShape(kernel, global);
  if (local.size() != global.size() || start.size() != global.size())
    refuse(kernel, "local sizes, global sizes and start must have the same "
                   "number of axes");
  for (std::size_t i = 0; i < local.size(); ++i)
    if (start[i] < 0 || start[i] + local[i] > global[i])
      refuse(kernel, "the block " + toString(local) + " at " + toString(start) +
                         " leaves the tensor " + toString(global));
}

Dims kernels::padShape(const char *kernel, const Dims &shape, const Dims &low,
                       const Dims &interior, const Dims &high) {
  checkShape(kernel, shape);
  checkShape(kernel, interior);
  std::size_t rank = shape.size();
  if (low.size() != rank || interior.size() != rank || high.size() != rank)
    refuse(kernel, "low, interior and high must have " + std::to_string(rank) +
                       " entries, as the shape");
  Dims result;
  for (std::size_t i = 0; i < rank; ++i) {
    std::int64_t spread =
        shape[i] == 0 ? 0 : shape[i] + (shape[i] - 1) * interior[i];
    result.push_back(low[i] + spread + high[i]);
    if (result.back() < 0)
      refuse(kernel, "axis " + std::to_string(i) + " crops more than its " +
                         std::to_string(spread) + " elements");
  }
  return result;
}

DropoutPlan kernels::planDropout(const Dims &local, const Dims &global,
                                 const Dims &start, float ratio,
                                 std::uint32_t id) {
  checkBlock("dropout_mask", local, global, start);
  if (!(ratio >= 0.0f && ratio <= 1.0f))
    refuse("dropout_mask", "found the ratio " + std::to_string(ratio) +
                               ", expected a number in [0, 1]");
  DropoutPlan plan;
  plan.ratio = ratio;
  plan.kept = ratio < 1.0f ? 1.0f / (1.0f - ratio) : 0.0f;
  plan.id = id;
  Dims strides = rowMajorStrides(global);
  std::size_t axis = local.size();
  // Axes that the block takes whole are contiguous with the axis before.
  while (axis > 0 && local[axis - 1] == global[axis - 1])
    plan.width *= local[--axis];
  if (axis > 0) {
    --axis;
    plan.width *= local[axis];
    plan.start = start[axis] * strides[axis];
  }
  for (std::size_t i = 0; i < axis; ++i) {
    plan.outer.push_back(local[i]);
    plan.outerStrides.push_back(strides[i]);
    plan.start += start[i] * strides[i];
    plan.rows *= local[i];
  }
  return plan;
}
