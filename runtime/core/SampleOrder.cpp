//===- SampleOrder.cpp - The order in which samples are trained -*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements SampleOrder.h with Philox as the hash of the rounds.
//
//===----------------------------------------------------------------------===//

#include "core/SampleOrder.h"

#include "core/Purposes.h"
#include "partita/philox.h"

using namespace partita;

SampleOrder::SampleOrder(std::uint64_t seed, std::int64_t epoch,
                         std::int64_t samples, bool shuffle)
    : seed(seed), epoch(static_cast<std::uint64_t>(epoch)),
      samples(static_cast<std::uint64_t>(samples)), shuffle(shuffle) {
  while (halfBits < 32 && (std::uint64_t(1) << (2 * halfBits)) < this->samples)
    ++halfBits;
}

std::uint64_t SampleOrder::permute(std::uint64_t value) const {
  constexpr int kRounds = 6;
  std::uint64_t mask = (std::uint64_t(1) << halfBits) - 1;
  std::uint64_t left = value >> halfBits, right = value & mask;
  for (int round = 0; round < kRounds; ++round) {
    std::uint64_t place = right << 8 | static_cast<std::uint64_t>(round);
    Random4 hash = philox(seed, kPurposeOfOrder, place, epoch);
    std::uint64_t mixed = left ^ (hash.word[0] & mask);
    left = right;
    right = mixed;
  }
  return left << halfBits | right;
}

std::int64_t SampleOrder::at(std::int64_t place) const {
  if (!shuffle)
    return place;
  auto value = static_cast<std::uint64_t>(place);
  do
    value = permute(value);
  while (value >= samples);
  return static_cast<std::int64_t>(value);
}
