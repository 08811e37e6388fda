//===- Combine.cpp - Reductions in rank order -------------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Adds block by block, so that the running result stays in the cache and the
// compiler can use vector instructions.
//
//===----------------------------------------------------------------------===//

#include "comm/combine/Combine.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

using namespace partita;

namespace {

/// Elements combined at a time: small enough for the first-level cache.
constexpr std::int64_t kBlock = 1024;

// The operations are lambdas and not functions: each is a type of its own, so
// that the loop below is compiled, and vectorised, once per operation.

/// Signed overflow is undefined in C++; the sum of counters must not be.
template <typename T> auto wrappingSum() {
  return [](T a, T b) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(std::make_unsigned_t<T>(a) +
                            std::make_unsigned_t<T>(b));
    else
      return a + b;
  };
}

template <typename T> auto wrappingProduct() {
  return [](T a, T b) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(std::make_unsigned_t<T>(a) *
                            std::make_unsigned_t<T>(b));
    else
      return a * b;
  };
}

template <typename T> bool isNan(T value) {
  if constexpr (std::is_floating_point_v<T>)
    return std::isnan(value);
  else
    return false;
}

template <typename T, typename Op>
void combine(T *out, const std::vector<const void *> &parts, std::int64_t count,
             Op op) {
  T block[kBlock];
  for (std::int64_t start = 0; start < count; start += kBlock) {
    std::int64_t n = std::min(kBlock, count - start);
    std::memcpy(block, static_cast<const T *>(parts[0]) + start, n * sizeof(T));
    for (std::size_t part = 1; part < parts.size(); ++part) {
      const T *next = static_cast<const T *>(parts[part]) + start;
      for (std::int64_t i = 0; i < n; ++i)
        block[i] = op(block[i], next[i]);
    }
    std::memcpy(out + start, block, n * sizeof(T));
  }
}

template <typename T>
void combine(void *out, const std::vector<const void *> &parts,
             std::int64_t count, Reduction reduction) {
  T *result = static_cast<T *>(out);
  switch (reduction) {
  case Reduction::sum:
    return combine(result, parts, count, wrappingSum<T>());
  case Reduction::prod:
    return combine(result, parts, count, wrappingProduct<T>());
  case Reduction::max:
    return combine(result, parts, count,
                   [](T a, T b) { return a < b || isNan(b) ? b : a; });
  case Reduction::min:
    return combine(result, parts, count,
                   [](T a, T b) { return a > b || isNan(b) ? b : a; });
  }
}

} // namespace

void partita::combineInOrder(void *out, const std::vector<const void *> &parts,
                             std::int64_t count, DType type,
                             Reduction reduction) {
  switch (type) {
  case DType::f32:
    return combine<float>(out, parts, count, reduction);
  case DType::f64:
    return combine<double>(out, parts, count, reduction);
  case DType::i32:
    return combine<std::int32_t>(out, parts, count, reduction);
  case DType::i64:
    return combine<std::int64_t>(out, parts, count, reduction);
  default:
    throw Error(std::string("a reduction over ranks was given elements of ") +
                "type " + nameOf(type) + ", expected f32, f64, i32 or i64");
  }
}
