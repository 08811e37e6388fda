//===- PhiloxTest.cpp - Known answers of Philox -----------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The vectors of the authors' own test suite.
//
//===----------------------------------------------------------------------===//

#include "partita/philox.h"

#include "gtest/gtest.h"

using namespace partita;

static void expectWords(Random4 found, std::uint32_t w0, std::uint32_t w1,
                        std::uint32_t w2, std::uint32_t w3) {
  EXPECT_EQ(found.word[0], w0);
  EXPECT_EQ(found.word[1], w1);
  EXPECT_EQ(found.word[2], w2);
  EXPECT_EQ(found.word[3], w3);
}

TEST(Philox, KnownAnswers) {
  expectWords(philox(0, 0, 0, 0, 0, 0), 0x6627e8d5, 0xe169c58d, 0xbc57ac4c,
              0x9b00dbd8);
  constexpr std::uint32_t ones = 0xffffffff;
  expectWords(philox(ones, ones, ones, ones, ones, ones), 0x408f276d,
              0x41c83b0e, 0xa20bc7c6, 0x6d5451fd);
  expectWords(philox(0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822,
                     0x299f31d0),
              0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1);
}

TEST(Philox, UniformIsBelowOne) {
  EXPECT_EQ(uniformOf(0), 0.0f);
  EXPECT_LT(uniformOf(0xffffffff), 1.0f);
  EXPECT_EQ(uniformOf(0x80000000), 0.5f);
}

TEST(Philox, PurposesAreApart) {
  EXPECT_NE(philox(1, 1, 5, 9).word[0], philox(1, 2, 5, 9).word[0]);
}
