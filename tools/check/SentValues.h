//===- SentValues.h - What ranks put into calls ----------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Classes are checked one by one. Where one has nothing of its own to put into
// a call, what comes out of it is known from the classes that have.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_TOOLS_CHECK_SENTVALUES_H
#define PARTITA_TOOLS_CHECK_SENTVALUES_H

#include "Checks.h"
#include "Values.h"

#include <map>
#include <tuple>
#include <utility>

namespace partita::check {

/// What the classes put into the calls of one phase. All groups of the same
/// axes do the same, as they run one program.
class SentValues {
public:
  /// One of a communicator's calls in one of two steps.
  struct Meeting {
    Communicator communicator;
    int step = 0;
    int number = 0;

    bool operator<(const Meeting &other) const {
      auto key = [](const Meeting &m) {
        return std::tie(m.communicator.axes, m.communicator.hasServers, m.step,
                        m.number);
      };
      return key(*this) < key(other);
    }
  };

  struct State {
    /// Who has said so.
    const RankClass *by = nullptr;
    std::int64_t end = 0;
    AxisSet partial = 0, combined = 0;
    Reduction reduction = Reduction::none;
  };

  /// Notes what `in` puts into `bytes` (from the start of the buffer) of a
  /// call. Of several classes the first one counts; returns it where it has
  /// said something else, or null.
  const State *tell(const Meeting &meeting, const Bytes &bytes,
                    const Value &value, const RankClass &in) {
    State state{&in, bytes.end, value.partial, value.combined, value.by};
    auto [it, isNew] = states[meeting].insert({bytes.begin, state});
    State &known = it->second;
    if (isNew) {
      isChanged = true;
      return nullptr;
    }
    bool isSame =
        known.partial == state.partial && known.reduction == state.reduction;
    if (known.by != &in)
      return isSame ? nullptr : &known;
    isChanged |=
        !isSame || known.combined != state.combined || known.end != state.end;
    known = state;
    return nullptr;
  }

  /// What others put there, or null.
  const State *ask(const Meeting &meeting, std::int64_t begin) {
    isAsked = true;
    auto found = states.find(meeting);
    if (found == states.end())
      return nullptr;
    auto it = found->second.upper_bound(begin);
    if (it == found->second.begin())
      return nullptr;
    --it;
    return begin < it->second.end ? &it->second : nullptr;
  }

  /// Whether anyone has asked, or told something new, since the last time.
  bool takeAsked() { return std::exchange(isAsked, false); }
  bool takeChanged() { return std::exchange(isChanged, false); }

private:
  std::map<Meeting, std::map<std::int64_t, State>> states;
  bool isAsked = false, isChanged = false;
};

} // namespace partita::check

#endif // PARTITA_TOOLS_CHECK_SENTVALUES_H
