//===- KernelState.cpp - What the cuda kernels have in common ---*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The base class of the kernels and what they keep per device: a workspace and
// library handles for each of its two streams.
//
//===----------------------------------------------------------------------===//

#include "KernelState.h"

#include "Libraries.h"
#include "device/cuda/CudaDevice.h"

#include <algorithm>
#include <optional>

using namespace partita;

Kernel::State::~State() = default;

Kernel::Kernel(std::unique_ptr<State> state) : state(std::move(state)) {}
Kernel::Kernel(Kernel &&other) noexcept = default;
Kernel &Kernel::operator=(Kernel &&other) noexcept = default;
Kernel::~Kernel() = default;

std::size_t Kernel::workspaceBytes() const { return state->workspace; }

//===----------------------------------------------------------------------===//
// What is kept per stream
//===----------------------------------------------------------------------===//

namespace {

/// What the kernels on one stream use.
struct Lane {
  Lane() = default;
  Lane(const Lane &) = delete;
  Lane &operator=(const Lane &) = delete;
  ~Lane() {
    if (cudnn)
      cudnnDestroy(cudnn);
    if (cublas)
      cublasDestroy(cublas);
  }

  void reserve(Device &device, std::size_t bytes) {
    if (memory && memory->size() >= bytes)
      return;
    // Freed first: there may not be room for both.
    memory.reset();
    memory.emplace(device, bytes);
  }

  cublasHandle_t cublas = nullptr;
  cudnnHandle_t cudnn = nullptr;
  /// The stream that the handles are set to.
  cudaStream_t cublasStream = nullptr, cudnnStream = nullptr;
  std::optional<Memory> memory;
};

struct Lanes final : CudaDevice::Extension {
  Lane compute, comm;
};

Lanes &lanesOf(Device &device) {
  auto &gpu = static_cast<CudaDevice &>(device);
  if (!gpu.extension)
    gpu.extension = std::make_unique<Lanes>();
  return static_cast<Lanes &>(*gpu.extension);
}

Lane &laneOf(Stream &stream) {
  Lanes &lanes = lanesOf(stream.device);
  bool isComm =
      static_cast<CudaStream &>(stream).purpose == CudaStream::Purpose::comm;
  return isComm ? lanes.comm : lanes.compute;
}

cublasHandle_t cublasIn(Lane &lane) {
  // Products are in full single precision and never use atomics: this is what
  // a new handle does.
  if (!lane.cublas)
    PARTITA_CHECK(cublasCreate(&lane.cublas));
  return lane.cublas;
}

cudnnHandle_t cudnnIn(Lane &lane) {
  if (!lane.cudnn)
    PARTITA_CHECK(cudnnCreate(&lane.cudnn));
  return lane.cudnn;
}

} // namespace

void kernels::reserveWorkspace(Device &device, std::size_t bytes) {
  if (bytes > 0)
    lanesOf(device).compute.reserve(device, bytes);
}

void *kernels::workspace(Stream &stream, std::size_t bytes) {
  if (bytes == 0)
    return nullptr;
  Lane &lane = laneOf(stream);
  lane.reserve(stream.device, bytes);
  return lane.memory->data();
}

void kernels::prepareCublas(Device &device) {
  cublasIn(lanesOf(device).compute);
}

cudnnHandle_t kernels::prepareCudnn(Device &device) {
  return cudnnIn(lanesOf(device).compute);
}

cublasHandle_t kernels::cublasOf(Stream &stream) {
  Lane &lane = laneOf(stream);
  cublasHandle_t handle = cublasIn(lane);
  cudaStream_t native = cuda::nativeStream(stream);
  if (lane.cublasStream != native) {
    PARTITA_CHECK(cublasSetStream(handle, native));
    lane.cublasStream = native;
  }
  return handle;
}

cudnnHandle_t kernels::cudnnOf(Stream &stream) {
  Lane &lane = laneOf(stream);
  cudnnHandle_t handle = cudnnIn(lane);
  cudaStream_t native = cuda::nativeStream(stream);
  if (lane.cudnnStream != native) {
    PARTITA_CHECK(cudnnSetStream(handle, native));
    lane.cudnnStream = native;
  }
  return handle;
}

//===----------------------------------------------------------------------===//
// Statuses
//===----------------------------------------------------------------------===//

/// The name of the function in the text of a call.
static std::string nameIn(const char *call) {
  std::string text = call;
  return text.substr(0, text.find('('));
}

void cuda::check(cublasStatus_t status, const char *call) {
  if (status == CUBLAS_STATUS_SUCCESS)
    return;
  const char *advice =
      status == CUBLAS_STATUS_ALLOC_FAILED ||
              status == CUBLAS_STATUS_NOT_INITIALIZED
          ? "compile for more ranks or for a smaller batch, which leaves the "
            "library more memory"
          : "CUBLAS_LOGINFO_DBG=1 makes the library tell more";
  throw Error(nameIn(call) + " failed with " + cublasGetStatusName(status) +
              " (" + cublasGetStatusString(status) + "); " + advice);
}

void cuda::check(cudnnStatus_t status, const char *call) {
  if (status == CUDNN_STATUS_SUCCESS)
    return;
  const char *advice =
      status == CUDNN_STATUS_NOT_INITIALIZED
          ? "check that driver and cuDNN fit together and that memory is free"
          : "CUDNN_LOGLEVEL_DBG=1 CUDNN_LOGDEST_DBG=stderr makes the library "
            "tell more";
  char detail[256] = "";
  cudnnGetLastErrorString(detail, sizeof(detail));
  throw Error(nameIn(call) + " failed with " + cudnnGetErrorString(status) +
              (*detail ? std::string(" (") + detail + ")" : "") + "; " +
              advice);
}
