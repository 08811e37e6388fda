//===- CudnnConv.cpp - One convolution as cuDNN sees it ---------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Convolutions over one axis are described as over two, the first of size 1:
// cuDNN takes two or three.
//
//===----------------------------------------------------------------------===//

#include "CudnnConv.h"

#include "../Sizes.h"

using namespace partita;
using namespace partita::kernels;

/// What one convolution may use beside its tensors. Algorithms that want more
/// gain little over the next.
static constexpr std::size_t kMostWorkspace = std::size_t(512) << 20;

//===----------------------------------------------------------------------===//
// Descriptors
//===----------------------------------------------------------------------===//

/// The numbers as ints, with `filler` for the second axis of a convolution that
/// has one.
static std::vector<int> ints(std::int64_t filler, const Dims &spatial,
                             const Dims &before = {}) {
  std::vector<int> result;
  for (std::int64_t value : before)
    result.push_back(static_cast<int>(value));
  if (spatial.size() == 1)
    result.push_back(static_cast<int>(filler));
  for (std::int64_t value : spatial)
    result.push_back(static_cast<int>(value));
  return result;
}

/// Thrown inside this file when cuDNN cannot do something.
namespace {
struct Refused {};
} // namespace

/// Whether cuDNN says that it cannot do this, and nothing worse. Such statuses
/// lie between 3000 and 3999.
static bool isRefusal(cudnnStatus_t status) {
  return static_cast<int>(status) / 1000 == 3;
}

static void checkSetting(cudnnStatus_t status, const char *call) {
  if (isRefusal(status))
    throw Refused();
  cuda::check(status, call);
}

static TensorDescriptor makeTensor(const std::vector<int> &dims) {
  std::vector<int> strides(dims.size(), 1);
  for (std::size_t i = dims.size(); i-- > 1;)
    strides[i - 1] = strides[i] * dims[i];
  cudnnTensorDescriptor_t made = nullptr;
  PARTITA_CHECK(cudnnCreateTensorDescriptor(&made));
  TensorDescriptor tensor(made);
  checkSetting(cudnnSetTensorNdDescriptor(made, CUDNN_DATA_FLOAT,
                                          static_cast<int>(dims.size()),
                                          dims.data(), strides.data()),
               "cudnnSetTensorNdDescriptor");
  return tensor;
}

static FilterDescriptor makeFilter(const std::vector<int> &dims) {
  cudnnFilterDescriptor_t made = nullptr;
  PARTITA_CHECK(cudnnCreateFilterDescriptor(&made));
  FilterDescriptor filter(made);
  checkSetting(
      cudnnSetFilterNdDescriptor(made, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW,
                                 static_cast<int>(dims.size()), dims.data()),
      "cudnnSetFilterNdDescriptor");
  return filter;
}

static ConvDescriptor makeConv(const ConvSizes &sizes) {
  std::vector<int> pads = ints(0, sizes.padLow);
  std::vector<int> strides = ints(1, sizes.strides);
  std::vector<int> dilations = ints(1, sizes.dilations);
  cudnnConvolutionDescriptor_t made = nullptr;
  PARTITA_CHECK(cudnnCreateConvolutionDescriptor(&made));
  ConvDescriptor conv(made);
  checkSetting(cudnnSetConvolutionNdDescriptor(
                   made, static_cast<int>(pads.size()), pads.data(),
                   strides.data(), dilations.data(), CUDNN_CROSS_CORRELATION,
                   CUDNN_DATA_FLOAT),
               "cudnnSetConvolutionNdDescriptor");
  checkSetting(
      cudnnSetConvolutionGroupCount(made, static_cast<int>(sizes.groups)),
      "cudnnSetConvolutionGroupCount");
  // Full single precision: the default would round products to TF32.
  checkSetting(cudnnSetConvolutionMathType(made, CUDNN_FMA_MATH),
               "cudnnSetConvolutionMathType");
  return conv;
}

CudnnConv::CudnnConv(const ConvSizes &sizes)
    : x(makeTensor(ints(1, sizes.in, {sizes.batch, sizes.inChannels}))),
      y(makeTensor(ints(1, sizes.out(), {sizes.batch, sizes.outChannels}))),
      w(makeFilter(ints(1, sizes.kernel,
                        {sizes.outChannels, sizes.inChannels / sizes.groups}))),
      conv(makeConv(sizes)) {}

//===----------------------------------------------------------------------===//
// Algorithms
//===----------------------------------------------------------------------===//

// Winograd's rounding errors grow with its tiles, and ranks with other shapes
// would get other tiles; results should depend on the split as little as can
// be.
static bool isExact(cudnnConvolutionFwdAlgo_t algorithm) {
  return algorithm != CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD &&
         algorithm != CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD_NONFUSED;
}
static bool isExact(cudnnConvolutionBwdDataAlgo_t algorithm) {
  return algorithm != CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD &&
         algorithm != CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD_NONFUSED;
}
static bool isExact(cudnnConvolutionBwdFilterAlgo_t algorithm) {
  return algorithm != CUDNN_CONVOLUTION_BWD_FILTER_ALGO_WINOGRAD &&
         algorithm != CUDNN_CONVOLUTION_BWD_FILTER_ALGO_WINOGRAD_NONFUSED;
}

/// The first algorithm of the list, which is ordered by estimated speed, that
/// gives the same bits every time. `list(capacity, count, found)` fills it in;
/// `workspace(algorithm, bytes)` asks for the bytes an algorithm needs.
template <typename Found, typename Algorithm, typename List, typename Workspace>
static bool chooseFrom(const List &list, const Workspace &workspace,
                       Algorithm &chosen, std::size_t &bytes) {
  constexpr int kCapacity = 16;
  Found found[kCapacity];
  int count = 0;
  checkSetting(list(kCapacity, &count, found),
               "cudnnGetConvolutionAlgorithm_v7");
  for (int i = 0; i < count; ++i) {
    std::size_t needed = 0;
    if (found[i].status != CUDNN_STATUS_SUCCESS ||
        found[i].determinism != CUDNN_DETERMINISTIC ||
        !isExact(found[i].algo) ||
        workspace(found[i].algo, &needed) != CUDNN_STATUS_SUCCESS ||
        needed > kMostWorkspace)
      continue;
    chosen = found[i].algo;
    bytes = needed;
    return true;
  }
  return false;
}

bool CudnnConv::choose(cudnnHandle_t handle, Direction direction) {
  switch (direction) {
  case Direction::forward:
    return chooseFrom<cudnnConvolutionFwdAlgoPerf_t>(
        [&](int capacity, int *count, auto *found) {
          return cudnnGetConvolutionForwardAlgorithm_v7(
              handle, x.get(), w.get(), conv.get(), y.get(), capacity, count,
              found);
        },
        [&](cudnnConvolutionFwdAlgo_t algorithm, std::size_t *needed) {
          return cudnnGetConvolutionForwardWorkspaceSize(
              handle, x.get(), w.get(), conv.get(), y.get(), algorithm, needed);
        },
        forwardAlgorithm, bytes);
  case Direction::inputGrad:
    return chooseFrom<cudnnConvolutionBwdDataAlgoPerf_t>(
        [&](int capacity, int *count, auto *found) {
          return cudnnGetConvolutionBackwardDataAlgorithm_v7(
              handle, w.get(), y.get(), conv.get(), x.get(), capacity, count,
              found);
        },
        [&](cudnnConvolutionBwdDataAlgo_t algorithm, std::size_t *needed) {
          return cudnnGetConvolutionBackwardDataWorkspaceSize(
              handle, w.get(), y.get(), conv.get(), x.get(), algorithm, needed);
        },
        inputGradAlgorithm, bytes);
  case Direction::filterGrad:
    return chooseFrom<cudnnConvolutionBwdFilterAlgoPerf_t>(
        [&](int capacity, int *count, auto *found) {
          return cudnnGetConvolutionBackwardFilterAlgorithm_v7(
              handle, x.get(), y.get(), conv.get(), w.get(), capacity, count,
              found);
        },
        [&](cudnnConvolutionBwdFilterAlgo_t algorithm, std::size_t *needed) {
          return cudnnGetConvolutionBackwardFilterWorkspaceSize(
              handle, x.get(), y.get(), conv.get(), w.get(), algorithm, needed);
        },
        filterGradAlgorithm, bytes);
  }
  return false;
}

std::optional<CudnnConv> CudnnConv::make(cudnnHandle_t handle,
                                         const ConvSizes &sizes,
                                         Direction direction) {
  try {
    CudnnConv conv(sizes);
    if (conv.choose(handle, direction))
      return conv;
  } catch (const Refused &) {
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

// Results are overwritten: 1 times the convolution plus 0 times what was there.
static constexpr float kOne = 1.0f, kZero = 0.0f;

void CudnnConv::forward(cudnnHandle_t handle, const float *xData,
                        const float *wData, void *workspace,
                        float *yData) const {
  PARTITA_CHECK(cudnnConvolutionForward(
      handle, &kOne, x.get(), xData, w.get(), wData, conv.get(),
      forwardAlgorithm, workspace, bytes, &kZero, y.get(), yData));
}

void CudnnConv::inputGrad(cudnnHandle_t handle, const float *dy,
                          const float *wData, void *workspace,
                          float *dx) const {
  PARTITA_CHECK(cudnnConvolutionBackwardData(
      handle, &kOne, w.get(), wData, y.get(), dy, conv.get(),
      inputGradAlgorithm, workspace, bytes, &kZero, x.get(), dx));
}

void CudnnConv::filterGrad(cudnnHandle_t handle, const float *xData,
                           const float *dy, void *workspace, float *dw) const {
  PARTITA_CHECK(cudnnConvolutionBackwardFilter(
      handle, &kOne, x.get(), xData, y.get(), dy, conv.get(),
      filterGradAlgorithm, workspace, bytes, &kZero, w.get(), dw));
}
