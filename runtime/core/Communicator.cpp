//===- Communicator.cpp - What all communicators share ----------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements partita/communicator.h: the parts that do not depend on a back
// end.
//
//===----------------------------------------------------------------------===//

#include "partita/communicator.h"

#include "partita/backend.h"

using namespace partita;

std::int64_t Counts::offset(int rank) const {
  std::int64_t sum = 0;
  for (int i = 0; i < rank; ++i)
    sum += values[i];
  return sum;
}

Communicator::~Communicator() = default;

void Communicator::countSent(std::int64_t bytes) {
  if (traffic)
    traffic->add(bytes);
}

void Communicator::checkMessages(const Counts &sent,
                                 const Counts &received) const {
  checkParts(sent);
  checkParts(received);
  if (sent[rankIndex] != 0 || received[rankIndex] != 0)
    throw Error("an exchange was given a message of rank " +
                std::to_string(rankIndex) + " of its group to itself");
}

void Communicator::checkParts(const Counts &counts) const {
  if (counts.size() != rankCount)
    throw Error("a collective was given " + std::to_string(counts.size()) +
                " parts for a group of " + std::to_string(rankCount) +
                " ranks");
}
