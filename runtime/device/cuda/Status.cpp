//===- Status.cpp - Statuses of the CUDA runtime as errors ------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one place where a cudaError_t becomes a sentence for the user.
//
//===----------------------------------------------------------------------===//

#include "device/cuda/CudaDevice.h"

using namespace partita;

/// What the user can do about it.
static const char *adviceFor(cudaError_t status) {
  switch (status) {
  case cudaErrorMemoryAllocation:
    return "compile for more ranks or for a smaller batch";
  case cudaErrorNoKernelImageForDevice:
  case cudaErrorInvalidDeviceFunction:
  case cudaErrorUnsupportedPtxVersion:
    return "the program was compiled for other GPUs; compile it again with "
           "--arch for this one";
  case cudaErrorInsufficientDriver:
  case cudaErrorSystemDriverMismatch:
    return "install a driver as new as the CUDA libraries";
  case cudaErrorNoDevice:
  case cudaErrorInvalidDevice:
    return "nvidia-smi lists the GPUs, CUDA_VISIBLE_DEVICES hides some of them";
  case cudaErrorDevicesUnavailable:
    return "another process uses this GPU alone; end it or use another GPU";
  case cudaErrorECCUncorrectable:
  case cudaErrorHardwareStackError:
    return "the GPU is at fault; reset it or use another one";
  case cudaErrorIllegalAddress:
  case cudaErrorMisalignedAddress:
  case cudaErrorIllegalInstruction:
  case cudaErrorLaunchFailure:
  case cudaErrorAssert:
    return "run the program under compute-sanitizer to see which kernel did "
           "this";
  default:
    return "nvidia-smi shows whether GPU and driver are in order";
  }
}

static std::string describe(cudaError_t status) {
  return std::string(" failed with ") + cudaGetErrorName(status) + " (" +
         cudaGetErrorString(status) + "); " + adviceFor(status);
}

void cuda::check(cudaError_t status, const char *call) {
  if (status == cudaSuccess)
    return;
  std::string name = call;
  throw Error(name.substr(0, name.find('(')) + describe(status));
}

void cuda::checkLaunch(cudaError_t status, Stream &stream) {
  if (status == cudaSuccess)
    return;
  std::string doing = static_cast<CudaStream &>(stream).doing();
  throw Error(
      (doing.empty() ? "a kernel" : "'" + doing + "' or a kernel before it") +
      describe(status));
}
