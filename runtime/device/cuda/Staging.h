//===- Staging.h - Copies between host and GPU memory -----------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A GPU reads and writes pinned host memory at full speed and by itself. Data
// goes through two pinned pieces in turn: while one travels, the host fills or
// empties the other.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_DEVICE_CUDA_STAGING_H
#define PARTITA_DEVICE_CUDA_STAGING_H

#include <cstddef>
#include <cuda_runtime.h>

namespace partita {

/// Copies through pinned memory on a stream of its own; done on return.
class Staging {
public:
  Staging();
  Staging(const Staging &) = delete;
  Staging &operator=(const Staging &) = delete;
  ~Staging();

  void copyIn(void *onDevice, const void *host, std::size_t bytes);
  void copyOut(void *host, const void *onDevice, std::size_t bytes);
  void zero(void *onDevice, std::size_t bytes);

private:
  /// Bytes of a piece: long enough to hide the cost of starting a transfer.
  static constexpr std::size_t kPiece = std::size_t(4) << 20;

  std::byte *piece(std::size_t index) const {
    return pinned + index % 2 * kPiece;
  }

  cudaStream_t stream = nullptr;
  /// The end of the latest transfer of each piece.
  cudaEvent_t done[2] = {nullptr, nullptr};
  std::byte *pinned = nullptr;
};

} // namespace partita

#endif // PARTITA_DEVICE_CUDA_STAGING_H
