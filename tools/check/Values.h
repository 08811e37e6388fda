//===- Values.h - What the bytes of an arena hold --------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A map from disjoint ranges of bytes to the value last written there.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_TOOLS_CHECK_VALUES_H
#define PARTITA_TOOLS_CHECK_VALUES_H

#include "Certificate.h"

#include <map>

namespace partita::check {

/// What is known of a value.
struct Value {
  /// The buffer through which it was written.
  int buffer = -1;
  /// Axes over which it is one of several parts still to be combined, and how.
  AxisSet partial = 0;
  Reduction by = Reduction::none;
  /// Changes nothing when it is combined by this; none for other values.
  Reduction neutral = Reduction::none;
  /// A call over several parts has changed it though it was no such part: bytes
  /// between the parts may hold anything. Says what is wrong when somebody
  /// reads it (a number of ValueCheck); -1 for all others.
  int spoiled = -1;
  /// Made of nothing that this rank has: what it is, those know who send it.
  bool isUnknown = false;
  /// Axes over which it has been combined since a kernel computed it, and the
  /// calls that did so or moved it.
  AxisSet combined = 0;
  std::vector<int> calls;
  /// Only this rank's part of the bytes from `base` on is right, by `parts`
  /// over `axes`. Empty parts: all of it is.
  Parts parts;
  AxisSet axes = 0;
  std::int64_t base = 0;
  /// Given away to servers: nobody may read it.
  bool isGone = false;
  /// Of a staging buffer: filled for, or received by, this call; else -1.
  int packedFor = -1, receivedBy = -1;

  bool isWhole() const { return parts.empty() && !isGone; }
  /// Whether it does not say what it becomes when other ranks add to it.
  bool isSilent() const { return isUnknown || neutral != Reduction::none; }
};

/// The values of an arena, by the bytes they lie in.
class Values {
public:
  struct Piece {
    Bytes bytes;
    const Value *value;
  };

  void write(const Bytes &bytes, const Value &value) {
    if (bytes.size() == 0)
      return;
    cutAt(bytes.begin);
    cutAt(bytes.end);
    pieces.erase(pieces.lower_bound(bytes.begin),
                 pieces.lower_bound(bytes.end));
    pieces[bytes.begin] = {bytes.end, value};
  }

  /// What lies in `bytes`, in order; bytes never written are left out.
  std::vector<Piece> in(const Bytes &bytes) const {
    std::vector<Piece> found;
    auto it = pieces.upper_bound(bytes.begin);
    if (it != pieces.begin() && std::prev(it)->second.end > bytes.begin)
      --it;
    for (; it != pieces.end() && it->first < bytes.end; ++it)
      found.push_back({{std::max(it->first, bytes.begin),
                        std::min(it->second.end, bytes.end)},
                       &it->second.value});
    return found;
  }

  /// Calls change(bytes, value) for every value in `bytes`.
  template <typename Change> void update(const Bytes &bytes, Change change) {
    cutAt(bytes.begin);
    cutAt(bytes.end);
    for (auto it = pieces.lower_bound(bytes.begin);
         it != pieces.end() && it->first < bytes.end; ++it)
      change(Bytes{it->first, it->second.end}, it->second.value);
  }

private:
  struct Entry {
    std::int64_t end = 0;
    Value value;
  };

  void cutAt(std::int64_t at) {
    auto next = pieces.upper_bound(at);
    if (next == pieces.begin())
      return;
    auto it = std::prev(next);
    if (it->first == at || it->second.end <= at)
      return;
    Entry tail = it->second;
    it->second.end = at;
    pieces.emplace(at, std::move(tail));
  }

  std::map<std::int64_t, Entry> pieces;
};

} // namespace partita::check

#endif // PARTITA_TOOLS_CHECK_VALUES_H
