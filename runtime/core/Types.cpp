//===- Types.cpp - Element types, sizes and their names ---------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements partita/types.h.
//
//===----------------------------------------------------------------------===//

#include "partita/types.h"

using namespace partita;

std::size_t partita::sizeOf(DType type) {
  switch (type) {
  case DType::f64:
  case DType::i64:
    return 8;
  case DType::f32:
  case DType::i32:
    return 4;
  case DType::f16:
  case DType::bf16:
  case DType::i16:
    return 2;
  case DType::boolean:
  case DType::i8:
  case DType::u8:
    return 1;
  }
  return 0;
}

const char *partita::nameOf(DType type) {
  switch (type) {
  case DType::f32:
    return "f32";
  case DType::f64:
    return "f64";
  case DType::f16:
    return "f16";
  case DType::bf16:
    return "bf16";
  case DType::boolean:
    return "bool";
  case DType::i8:
    return "i8";
  case DType::u8:
    return "u8";
  case DType::i16:
    return "i16";
  case DType::i32:
    return "i32";
  case DType::i64:
    return "i64";
  }
  return "unknown";
}

const char *partita::nameOf(Reduction reduction) {
  switch (reduction) {
  case Reduction::sum:
    return "sum";
  case Reduction::max:
    return "max";
  case Reduction::min:
    return "min";
  case Reduction::prod:
    return "prod";
  }
  return "unknown";
}

std::int64_t partita::elementsOf(const Dims &dims) {
  std::int64_t count = 1;
  for (std::int64_t dim : dims)
    count *= dim;
  return count;
}

std::string partita::toString(const Dims &dims) {
  std::string text = "[";
  for (std::size_t i = 0; i < dims.size(); ++i)
    text += (i ? ", " : "") + std::to_string(dims[i]);
  return text + "]";
}
