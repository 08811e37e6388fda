//===- Purposes.h - What the runtime draws random numbers for ---*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every use of the seed has a number of its own, so that no two uses see the
// same random numbers. Numbers below are the emitted program's (dropout).
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_CORE_PURPOSES_H
#define PARTITA_CORE_PURPOSES_H

#include <cstdint>

namespace partita {

constexpr std::uint32_t kPurposeOfOrder = 0x80000000u;
/// Plus the index of the input.
constexpr std::uint32_t kPurposeOfTemplates = 0x80020000u;
/// Plus the index of the input.
constexpr std::uint32_t kPurposeOfInputs = 0x80010000u;

} // namespace partita

#endif // PARTITA_CORE_PURPOSES_H
