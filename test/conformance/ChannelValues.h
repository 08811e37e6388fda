//===- ChannelValues.h - What ranks put into buffers ------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Values are functions of rank and place, so each rank knows everybody's
// buffers and what should come out, without asking anybody.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_TEST_CONFORMANCE_CHANNELVALUES_H
#define PARTITA_TEST_CONFORMANCE_CHANNELVALUES_H

#include "ChannelCases.h"

#include "partita/philox.h"

#include <algorithm>
#include <cstring>

namespace partita {

constexpr std::int64_t kSizes[] = {0, 1, 7, 1000, 20000};
constexpr Reduction kReductions[] = {Reduction::sum, Reduction::max,
                                     Reduction::min, Reduction::prod};

/// The value at a place of a rank's buffer: floats whose sum depends on the
/// order of the summands, integers that overflow when multiplied.
template <typename T> T valueAt(int rank, std::int64_t place) {
  Random4 random = philox(7, 3, static_cast<std::uint64_t>(place), rank);
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::int32_t>(random.word[0]));
  else
    return T(uniformOf(random.word[0]) - 0.5f) * T(1 << (random.word[1] % 12));
}

template <typename T> std::vector<T> bufferOf(int rank, std::int64_t count) {
  std::vector<T> buffer(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i)
    buffer[i] = valueAt<T>(rank, i);
  return buffer;
}

template <typename T> T combine(T a, T b, Reduction reduction) {
  switch (reduction) {
  case Reduction::max:
    return std::max(a, b);
  case Reduction::min:
    return std::min(a, b);
  default:
    break;
  }
  bool isSum = reduction == Reduction::sum;
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    return T(isSum ? U(a) + U(b) : U(a) * U(b));
  } else {
    return isSum ? a + b : a * b;
  }
}

/// What the ranks `members` reduce to at a place.
template <typename T>
T reducedAt(const std::vector<int> &members, std::int64_t place,
            Reduction reduction) {
  T result = valueAt<T>(members[0], place);
  for (std::size_t i = 1; i < members.size(); ++i)
    result = combine(result, valueAt<T>(members[i], place), reduction);
  return result;
}

template <typename T>
void expectSame(T found, T expected, const std::string &what) {
  if (std::memcmp(&found, &expected, sizeof(T)) != 0)
    throw Error(what + ": found " + std::to_string(found) + ", expected " +
                std::to_string(expected));
}

inline std::vector<int> everybody(const World &world) {
  std::vector<int> members(world.size);
  for (int i = 0; i < world.size; ++i)
    members[i] = i;
  return members;
}

/// Calls test(T()) for each type that can be reduced.
template <typename Test> void forTypes(Test test) {
  test(float());
  test(double());
  test(std::int32_t());
  test(std::int64_t());
}

/// Uneven parts, with empty ones among them.
inline Counts unevenCounts(int size, std::int64_t scale) {
  std::vector<std::int64_t> counts;
  for (int i = 0; i < size; ++i)
    counts.push_back(i % 3 == 1 ? 0 : scale * (i + 1));
  return Counts(counts);
}

} // namespace partita

#endif // PARTITA_TEST_CONFORMANCE_CHANNELVALUES_H
