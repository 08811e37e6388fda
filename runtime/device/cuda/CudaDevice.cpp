//===- CudaDevice.cpp - A GPU as a device -----------------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finding the GPU, its memory, and what is watched while the host waits.
//
//===----------------------------------------------------------------------===//

#include "device/cuda/CudaDevice.h"

#include <algorithm>

using namespace partita;

CudaDevice::Extension::~Extension() = default;

/// The number of GPUs. Without a driver, or without a GPU, this is where a
/// program ends.
static int countDevices() {
  int count = 0;
  cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaSuccess && count > 0)
    return count;
  throw Error(
      std::string("found no NVIDIA GPU that can be used (") +
      cudaGetErrorName(status == cudaSuccess ? cudaErrorNoDevice : status) +
      "), expected one for each rank; run on a machine with GPUs and "
      "a driver for CUDA " +
      std::to_string(CUDART_VERSION / 1000) + "." +
      std::to_string(CUDART_VERSION % 1000 / 10) +
      ", or compile with --target cpu");
}

CudaDevice::CudaDevice(int rank, int localRank, Failure &failure)
    : rank(rank), failure(failure) {
  // Launchers that show each process only its own GPU make every index 0. Two
  // ranks that end up on one GPU are refused when they want to communicate.
  int index = localRank % countDevices();
  PARTITA_CHECK(cudaSetDevice(index));
  PARTITA_CHECK(cudaGetDeviceProperties(&properties, index));
  staging = std::make_unique<Staging>();
}

CudaDevice::~CudaDevice() = default;

void *CudaDevice::allocate(std::size_t bytes) {
  void *memory = nullptr;
  // An empty buffer has an address, too.
  std::size_t size = std::max<std::size_t>(bytes, 1);
  cudaError_t status = cudaMalloc(&memory, size);
  if (status == cudaErrorMemoryAllocation) {
    // Forget the error: it concerns this call only.
    cudaGetLastError();
    std::size_t free = 0, total = 0;
    PARTITA_CHECK(cudaMemGetInfo(&free, &total));
    throw Error("rank " + std::to_string(rank) + " found no memory for " +
                std::to_string(bytes) + " bytes on its GPU (" + name() + ", " +
                std::to_string(free) + " of " + std::to_string(total) +
                " bytes free); compile for more ranks or for a smaller batch");
  }
  cuda::check(status, "cudaMalloc");
  try {
    staging->zero(memory, size);
  } catch (...) {
    cudaFree(memory);
    throw;
  }
  return memory;
}

void CudaDevice::release(void *memory) noexcept { cudaFree(memory); }

void CudaDevice::copyIn(void *onDevice, const void *host, std::size_t bytes) {
  staging->copyIn(onDevice, host, bytes);
}

void CudaDevice::copyOut(void *host, const void *onDevice, std::size_t bytes) {
  staging->copyOut(host, onDevice, bytes);
}

std::unique_ptr<Stream> CudaDevice::makeCompute() {
  return std::make_unique<CudaStream>(*this, CudaStream::Purpose::compute);
}

std::unique_ptr<Stream> CudaDevice::makeComm(Stream & /*compute*/) {
  auto stream = std::make_unique<CudaStream>(*this, CudaStream::Purpose::comm);
  comm = stream.get();
  compareClocks(cuda::nativeStream(*stream));
  return stream;
}

std::unique_ptr<Event::State> CudaDevice::makeEvent() {
  return std::make_unique<CudaEvent>();
}

CudaStream &CudaDevice::commFor(const char *name) const {
  if (!comm)
    throw Error(std::string("'") + name +
                "' communicates, and the rank has no comm stream");
  return *comm;
}

void CudaDevice::unwatch(Watched &watched) {
  watchedOnes.erase(
      std::remove(watchedOnes.begin(), watchedOnes.end(), &watched),
      watchedOnes.end());
}

std::chrono::steady_clock::time_point
CudaDevice::timeOf(const CudaEvent &event) const {
  std::chrono::duration<double> since(CudaEvent::seconds(*origin, event));
  return originTime +
         std::chrono::duration_cast<std::chrono::steady_clock::duration>(since);
}

void CudaDevice::compareClocks(cudaStream_t idle) {
  if (!origin)
    origin = std::make_unique<CudaEvent>(/*withTime=*/true);
  origin->record(idle);
  PARTITA_CHECK(cudaStreamSynchronize(idle));
  originTime = std::chrono::steady_clock::now();
}

void CudaDevice::poll() const {
  failure.check();
  if (comm)
    comm->tell();
  for (Watched *watched : watchedOnes)
    watched->poll();
}

void CudaDevice::abandon() const noexcept {
  for (Watched *watched : watchedOnes)
    watched->abandon();
}

std::unique_ptr<Device> partita::makeCudaDevice(int rank, int localRank,
                                                int /*threads*/,
                                                Failure &failure) {
  return std::make_unique<CudaDevice>(rank, localRank, failure);
}
