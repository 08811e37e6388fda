//===- Simd.h - Arithmetic inside vector loops ------------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What loops over floats need in a form that compilers turn into vector code.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_KERNELS_CPU_SIMD_H
#define PARTITA_KERNELS_CPU_SIMD_H

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace partita::kernels {

/// A sum as exact as one of doubles at nearly the speed of floats: the lanes
/// add a few floats each before they are added to a double.
class LongSum {
public:
  /// Adds value(i) for i in [0, count).
  template <typename Value> void add(std::int64_t count, const Value &value) {
    std::int64_t i = 0;
    while (i + kWidth <= count) {
      std::int64_t rounds = std::min(kRounds - pending, (count - i) / kWidth);
      float local[kWidth];
      for (std::int64_t lane = 0; lane < kWidth; ++lane)
        local[lane] = lanes[lane];
      for (std::int64_t round = 0; round < rounds; ++round, i += kWidth) {
#pragma omp simd
        for (std::int64_t lane = 0; lane < kWidth; ++lane)
          local[lane] += value(i + lane);
      }
      for (std::int64_t lane = 0; lane < kWidth; ++lane)
        lanes[lane] = local[lane];
      advance(rounds);
    }
    if (i == count)
      return;
#pragma omp simd
    for (std::int64_t lane = 0; lane < count - i; ++lane)
      lanes[lane] += value(i + lane);
    advance(1);
  }

  double total() {
    advance(kRounds);
    return sum;
  }

private:
  static constexpr std::int64_t kWidth = 32;
  static constexpr std::int64_t kRounds = 16;

  void advance(std::int64_t rounds) {
    pending += rounds;
    if (pending < kRounds)
      return;
    double added = 0.0;
#pragma omp simd reduction(+ : added)
    for (std::int64_t lane = 0; lane < kWidth; ++lane)
      added += lanes[lane];
    sum += added;
    for (float &lane : lanes)
      lane = 0.0f;
    pending = 0;
  }

  float lanes[kWidth] = {};
  std::int64_t pending = 0;
  double sum = 0.0;
};

/// e^x to 2 units in the last place: 0 below -104, infinity above 89; NaN stays
/// NaN. x = k ln 2 + r, a polynomial for e^r, and k put into the exponent.
inline float fastExp(float x) {
  float clamped = x < -104.0f ? -104.0f : x;
  clamped = clamped > 89.0f ? 89.0f : clamped;
  // Adding 1.5 * 2^23 rounds to an integer in the low bits.
  constexpr float kRound = 12582912.0f;
  float shifted = clamped * 1.44269504088896341f + kRound;
  float k = shifted - kRound;
  // ln 2 in two parts, the first exact in few bits.
  float r = clamped - k * 0.693359375f;
  r = r + k * 2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  // 2^k as the product of two powers, since k reaches below the smallest
  // normal exponent and above the largest.
  std::int32_t exponent = static_cast<std::int32_t>(k);
  std::int32_t half = exponent >> 1;
  std::int32_t bits[2] = {(half + 127) << 23, (exponent - half + 127) << 23};
  float powers[2];
  std::memcpy(powers, bits, sizeof(powers));
  return p * powers[0] * powers[1];
}

} // namespace partita::kernels

#endif // PARTITA_KERNELS_CPU_SIMD_H
