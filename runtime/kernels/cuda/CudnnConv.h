//===- CudnnConv.h - One convolution as cuDNN sees it -----------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Descriptors, and an algorithm that is chosen once by cuDNN's estimate. No
// measuring: the choice is the same for every run on one kind of GPU.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_KERNELS_CUDA_CUDNNCONV_H
#define PARTITA_KERNELS_CUDA_CUDNNCONV_H

#include "Libraries.h"
#include "partita/kernels.h"

#include <memory>
#include <optional>

namespace partita::kernels {

/// Descriptors, destroyed with their owner.
struct DestroyDescriptor {
  void operator()(cudnnTensorStruct *tensor) const {
    cudnnDestroyTensorDescriptor(tensor);
  }
  void operator()(cudnnFilterStruct *filter) const {
    cudnnDestroyFilterDescriptor(filter);
  }
  void operator()(cudnnConvolutionStruct *conv) const {
    cudnnDestroyConvolutionDescriptor(conv);
  }
};
using TensorDescriptor = std::unique_ptr<cudnnTensorStruct, DestroyDescriptor>;
using FilterDescriptor = std::unique_ptr<cudnnFilterStruct, DestroyDescriptor>;
using ConvDescriptor =
    std::unique_ptr<cudnnConvolutionStruct, DestroyDescriptor>;

/// A convolution with the same pads at both ends, not negative.
class CudnnConv {
public:
  enum class Direction { forward, inputGrad, filterGrad };

  /// Prepares one direction; nothing when cuDNN has no deterministic algorithm
  /// for it. Throws `Error` when cuDNN fails otherwise.
  static std::optional<CudnnConv>
  make(cudnnHandle_t handle, const ConvSizes &sizes, Direction direction);

  std::size_t workspaceBytes() const { return bytes; }

  // Each queues the direction it was made for on the handle's stream.
  void forward(cudnnHandle_t handle, const float *x, const float *w,
               void *workspace, float *y) const;
  void inputGrad(cudnnHandle_t handle, const float *dy, const float *w,
                 void *workspace, float *dx) const;
  void filterGrad(cudnnHandle_t handle, const float *x, const float *dy,
                  void *workspace, float *dw) const;

private:
  explicit CudnnConv(const ConvSizes &sizes);
  bool choose(cudnnHandle_t handle, Direction direction);

  TensorDescriptor x, y;
  FilterDescriptor w;
  ConvDescriptor conv;
  /// The one of the direction is set.
  cudnnConvolutionFwdAlgo_t forwardAlgorithm{};
  cudnnConvolutionBwdDataAlgo_t inputGradAlgorithm{};
  cudnnConvolutionBwdFilterAlgo_t filterGradAlgorithm{};
  std::size_t bytes = 0;
};

} // namespace partita::kernels

#endif // PARTITA_KERNELS_CUDA_CUDNNCONV_H
