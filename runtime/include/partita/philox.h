//===- philox.h - Counter-based random numbers ------------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Philox 4x32-10 (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as
// easy as 1, 2, 3", 2011): a function from a counter and a key to 128 random
// bits. A number depends on nothing but its key and its place, so any split of
// a tensor over ranks draws the same numbers for the same elements.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_PHILOX_H
#define PARTITA_PHILOX_H

#include <cstdint>

#ifdef __CUDACC__
#define PARTITA_HOST_DEVICE __host__ __device__
#else
#define PARTITA_HOST_DEVICE
#endif

namespace partita {

/// Four random words.
struct Random4 {
  std::uint32_t word[4];
};

/// The random words of one counter value under one key.
PARTITA_HOST_DEVICE inline Random4 philox(std::uint32_t c0, std::uint32_t c1,
                                          std::uint32_t c2, std::uint32_t c3,
                                          std::uint32_t k0, std::uint32_t k1) {
  for (int round = 0; round < 10; ++round) {
    std::uint64_t p0 = std::uint64_t(0xD2511F53u) * c0;
    std::uint64_t p1 = std::uint64_t(0xCD9E8D57u) * c2;
    std::uint32_t n0 = std::uint32_t(p1 >> 32) ^ c1 ^ k0;
    std::uint32_t n2 = std::uint32_t(p0 >> 32) ^ c3 ^ k1;
    c0 = n0;
    c1 = std::uint32_t(p1);
    c2 = n2;
    c3 = std::uint32_t(p0);
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return {{c0, c1, c2, c3}};
}

/// The same for 64-bit halves: the counter is `place` and `round`, the key is
/// `seed` mixed with `purpose`, which keeps different uses of one seed apart.
PARTITA_HOST_DEVICE inline Random4 philox(std::uint64_t seed,
                                          std::uint32_t purpose,
                                          std::uint64_t place,
                                          std::uint64_t round) {
  return philox(std::uint32_t(place), std::uint32_t(place >> 32),
                std::uint32_t(round), std::uint32_t(round >> 32),
                std::uint32_t(seed),
                std::uint32_t(seed >> 32) ^ (purpose * 0x85EBCA6Bu));
}

/// A number in [0, 1) from one word, with 24 random bits.
PARTITA_HOST_DEVICE inline float uniformOf(std::uint32_t word) {
  return float(word >> 8) * 0x1.0p-24f;
}

} // namespace partita

#endif // PARTITA_PHILOX_H
