//===- Simd.h - Vectors and arithmetic inside vector loops ------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sixteen floats at a time in the compilers' own vector types, which they split
// for processors with narrower registers. Only the loads and stores of fewer
// than sixteen know a processor.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_KERNELS_CPU_SIMD_H
#define PARTITA_KERNELS_CPU_SIMD_H

#include <algorithm>
#include <cstdint>
#include <cstring>
#ifdef __AVX512F__
#include <immintrin.h>
#endif

namespace partita::kernels {

/// Floats of a vector.
constexpr std::int64_t kLanes = 16;

typedef float Vector __attribute__((vector_size(64)));
/// The result of comparing vectors: all bits of a lane are set where it holds.
typedef std::int32_t Mask __attribute__((vector_size(64)));

// Everything that takes or returns a vector is inlined: there is no common
// calling convention for vectors wider than the processor's registers.
#define PARTITA_INLINE __attribute__((always_inline)) inline

PARTITA_INLINE Vector load(const float *from) {
  Vector v;
  std::memcpy(&v, from, sizeof(v));
  return v;
}

PARTITA_INLINE void store(float *to, Vector v) {
  std::memcpy(to, &v, sizeof(v));
}

/// The first `count` <= 16 floats, zeros behind them.
PARTITA_INLINE Vector load(const float *from, std::int64_t count) {
#ifdef __AVX512F__
  auto mask = static_cast<__mmask16>((1u << count) - 1);
  return reinterpret_cast<Vector>(_mm512_maskz_loadu_ps(mask, from));
#else
  Vector v = {};
  for (std::int64_t i = 0; i < count; ++i)
    v[i] = from[i];
  return v;
#endif
}

/// Stores the first `count` <= 16 floats.
PARTITA_INLINE void store(float *to, Vector v, std::int64_t count) {
#ifdef __AVX512F__
  auto mask = static_cast<__mmask16>((1u << count) - 1);
  _mm512_mask_storeu_ps(to, mask, reinterpret_cast<__m512>(v));
#else
  for (std::int64_t i = 0; i < count; ++i)
    to[i] = v[i];
#endif
}

/// Lanes 0, 2, 4, ... of the 32 floats in a and b.
PARTITA_INLINE Vector evenLanes(Vector a, Vector b) {
  return __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20,
                                 22, 24, 26, 28, 30);
}

/// Lanes 1, 3, 5, ... of the 32 floats in a and b.
PARTITA_INLINE Vector oddLanes(Vector a, Vector b) {
  return __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21,
                                 23, 25, 27, 29, 31);
}

/// from[0], from[kStride], from[2 * kStride], ...: `count` <= 16 of them, and
/// nothing behind the last one is read.
template <int kStride>
PARTITA_INLINE Vector loadStrided(const float *from, std::int64_t count) {
  static_assert(kStride == 1 || kStride == 2);
  if (kStride == 1)
    return load(from, count);
  if (count == kLanes)
    return evenLanes(load(from), load(from + kLanes, kLanes - 1));
  std::int64_t cells = 2 * count - 1;
  return evenLanes(
      load(from, std::min(cells, kLanes)),
      load(from + kLanes, std::max(cells - kLanes, std::int64_t(0))));
}

/// The first and the second half of a0, b0, a1, b1, ...
PARTITA_INLINE Vector zipLow(Vector a, Vector b) {
  return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21,
                                 6, 22, 7, 23);
}
PARTITA_INLINE Vector zipHigh(Vector a, Vector b) {
  return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13,
                                 29, 14, 30, 15, 31);
}

/// v in the first `count` lanes, zeros behind them.
PARTITA_INLINE Vector firstLanes(Vector v, std::int64_t count) {
  const Mask index = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  return index < static_cast<std::int32_t>(count) ? v : Vector{};
}

/// Whether a value takes the place of the largest so far: the first maximum
/// stays, NaN wins. For floats and vectors.
PARTITA_INLINE bool isBetter(float value, float best) {
  return static_cast<bool>((value > best) | __builtin_isnan(value));
}
PARTITA_INLINE Mask isBetter(Vector value, Vector best) {
  // Only NaN differs from itself.
  return (value > best) | (value != value); // NOLINT(misc-redundant-expression)
}

/// The sum of the lanes in double.
PARTITA_INLINE double sumOf(Vector v) {
  typedef float Half __attribute__((vector_size(32)));
  typedef double Doubles __attribute__((vector_size(64)));
  Half low = __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7);
  Half high = __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15);
  Doubles d = __builtin_convertvector(low, Doubles) +
              __builtin_convertvector(high, Doubles);
  return ((d[0] + d[4]) + (d[1] + d[5])) + ((d[2] + d[6]) + (d[3] + d[7]));
}

/// A sum as exact as one of doubles at the speed of floats: each lane adds a
/// few floats before the lanes are added to a double.
class LongSum {
public:
  /// Adds term(row[i]...) for i in [0, count); `term` takes and returns
  /// vectors.
  template <typename Term, typename... Rows>
  PARTITA_INLINE void add(std::int64_t count, const Term &term,
                          const Rows *...rows) {
    std::int64_t i = 0;
    while (i + 4 * kLanes <= count) {
      std::int64_t rounds =
          std::min(kRounds - pending, (count - i) / (4 * kLanes));
      Vector s0 = lanes[0], s1 = lanes[1], s2 = lanes[2], s3 = lanes[3];
      for (std::int64_t end = i + rounds * 4 * kLanes; i < end;
           i += 4 * kLanes) {
        s0 += term(load(rows + i)...);
        s1 += term(load(rows + i + kLanes)...);
        s2 += term(load(rows + i + 2 * kLanes)...);
        s3 += term(load(rows + i + 3 * kLanes)...);
      }
      lanes[0] = s0;
      lanes[1] = s1;
      lanes[2] = s2;
      lanes[3] = s3;
      advance(rounds);
    }
    if (i == count)
      return;
    for (int lane = 0; i < count; i += kLanes, ++lane) {
      std::int64_t rest = std::min(kLanes, count - i);
      lanes[lane] += firstLanes(term(load(rows + i, rest)...), rest);
    }
    advance(1);
  }

  PARTITA_INLINE double total() {
    if (pending > 0)
      advance(kRounds);
    return sum;
  }

private:
  static constexpr std::int64_t kRounds = 16;

  PARTITA_INLINE void advance(std::int64_t rounds) {
    pending += rounds;
    if (pending < kRounds)
      return;
    Vector v = (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
    sum += sumOf(v);
    for (Vector &lane : lanes)
      lane = Vector{};
    pending = 0;
  }

  Vector lanes[4] = {};
  std::int64_t pending = 0;
  double sum = 0.0;
};

/// 2^k for k in [-126, 127].
inline float powerOfTwo(std::int32_t k) {
  std::uint32_t bits = static_cast<std::uint32_t>(k + 127) << 23;
  float power;
  std::memcpy(&power, &bits, sizeof(power));
  return power;
}

/// e^x to 2 units in the last place: 0 below -104, infinity above 89; NaN stays
/// NaN. x = k ln 2 + r, a polynomial for e^r, and k put into the exponent. For
/// loops under `omp simd`.
inline float fastExp(float x) {
  float clamped = x < -104.0f ? -104.0f : x;
  clamped = clamped > 89.0f ? 89.0f : clamped;
  // Adding 1.5 * 2^23 rounds to an integer in the low bits.
  constexpr float kRound = 12582912.0f;
  constexpr std::int32_t kRoundBits = 0x4B400000;
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
  std::int32_t exponent;
  std::memcpy(&exponent, &shifted, sizeof(exponent));
  exponent -= kRoundBits;
  std::int32_t half = exponent >> 1;
  return p * powerOfTwo(half) * powerOfTwo(exponent - half);
}

} // namespace partita::kernels

#endif // PARTITA_KERNELS_CPU_SIMD_H
