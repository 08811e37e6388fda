//===- Staging.cpp - Copies between host and GPU memory ---------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements Staging.h.
//
//===----------------------------------------------------------------------===//

#include "device/cuda/Staging.h"

#include "partita/cuda.h"

#include <algorithm>
#include <cstring>

using namespace partita;

Staging::Staging() {
  PARTITA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  for (cudaEvent_t &event : done)
    PARTITA_CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  void *memory = nullptr;
  PARTITA_CHECK(cudaHostAlloc(&memory, 2 * kPiece, cudaHostAllocDefault));
  pinned = static_cast<std::byte *>(memory);
}

Staging::~Staging() {
  cudaFreeHost(pinned);
  for (cudaEvent_t event : done)
    if (event)
      cudaEventDestroy(event);
  if (stream)
    cudaStreamDestroy(stream);
}

void Staging::copyIn(void *onDevice, const void *host, std::size_t bytes) {
  auto *to = static_cast<std::byte *>(onDevice);
  auto *from = static_cast<const std::byte *>(host);
  for (std::size_t index = 0, at = 0; at < bytes; ++index, at += kPiece) {
    std::size_t size = std::min(kPiece, bytes - at);
    if (index >= 2)
      PARTITA_CHECK(cudaEventSynchronize(done[index % 2]));
    std::memcpy(piece(index), from + at, size);
    PARTITA_CHECK(cudaMemcpyAsync(to + at, piece(index), size,
                                  cudaMemcpyHostToDevice, stream));
    PARTITA_CHECK(cudaEventRecord(done[index % 2], stream));
  }
  PARTITA_CHECK(cudaStreamSynchronize(stream));
}

void Staging::copyOut(void *host, const void *onDevice, std::size_t bytes) {
  auto *to = static_cast<std::byte *>(host);
  auto *from = static_cast<const std::byte *>(onDevice);
  std::size_t pieces = (bytes + kPiece - 1) / kPiece;
  auto start = [&](std::size_t index) {
    std::size_t at = index * kPiece;
    PARTITA_CHECK(cudaMemcpyAsync(piece(index), from + at,
                                  std::min(kPiece, bytes - at),
                                  cudaMemcpyDeviceToHost, stream));
    PARTITA_CHECK(cudaEventRecord(done[index % 2], stream));
  };
  if (pieces > 0)
    start(0);
  for (std::size_t index = 0; index < pieces; ++index) {
    // Piece index - 1 has been emptied, so its place is free for the next.
    if (index + 1 < pieces)
      start(index + 1);
    PARTITA_CHECK(cudaEventSynchronize(done[index % 2]));
    std::size_t at = index * kPiece;
    std::memcpy(to + at, piece(index), std::min(kPiece, bytes - at));
  }
}

void Staging::zero(void *onDevice, std::size_t bytes) {
  PARTITA_CHECK(cudaMemsetAsync(onDevice, 0, bytes, stream));
  PARTITA_CHECK(cudaStreamSynchronize(stream));
}
