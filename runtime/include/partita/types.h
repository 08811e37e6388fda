//===- types.h - Element types and reductions -------------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The element types a tensor can have and the ways ranks can combine them.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_TYPES_H
#define PARTITA_TYPES_H

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace partita {

/// The type of one tensor element. Reductions and training use f32, f64, i32
/// and i64; the others appear in files and in constants.
enum class DType { f32, f64, f16, bf16, boolean, i8, u8, i16, i32, i64 };

/// Bytes of one element.
std::size_t sizeOf(DType type);

/// The name people read in messages: "f32", "i64", "bool", ...
const char *nameOf(DType type);

/// How values of several ranks become one.
enum class Reduction { sum, max, min, prod };

const char *nameOf(Reduction reduction);

/// DTypeOf<T>::value is the element type of the C++ type T.
template <typename T> struct DTypeOf;
template <> struct DTypeOf<float> {
  static constexpr DType value = DType::f32;
};
template <> struct DTypeOf<double> {
  static constexpr DType value = DType::f64;
};
template <> struct DTypeOf<std::int32_t> {
  static constexpr DType value = DType::i32;
};
template <> struct DTypeOf<std::int64_t> {
  static constexpr DType value = DType::i64;
};
template <> struct DTypeOf<std::uint8_t> {
  static constexpr DType value = DType::u8;
};

/// The sizes of a tensor, outermost first.
using Dims = std::vector<std::int64_t>;

/// The number of elements of a tensor with these sizes (1 for rank 0).
std::int64_t elementsOf(const Dims &dims);

/// Text such as "[64, 1, 28, 28]".
std::string toString(const Dims &dims);

/// What the runtime throws when it cannot go on: one sentence for the user,
/// lower-case start, no full stop. `runProgram` prints it and exits with 1.
class Error : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

} // namespace partita

#endif // PARTITA_TYPES_H
