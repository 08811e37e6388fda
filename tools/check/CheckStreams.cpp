//===- CheckStreams.cpp - Events, and races between streams ---------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Vector clocks (Mattern, "Virtual time and global states of distributed
// systems", 1989) over two steps: a stream's clock says how far it knows each
// stream to have come. An earlier use of bytes is ordered before a later one on
// the other stream when the later one's clock has passed it. Two steps are
// enough: streams are queues, so what is ordered before some use in the next
// step is ordered before the same use in all later ones.
//
//===----------------------------------------------------------------------===//

#include "Checks.h"

#include <algorithm>

namespace partita::check {

Unrolled unroll(const Phase &phase) {
  Unrolled result;
  std::array<Clock, kStreams> clocks = {};
  std::map<std::int64_t, Clock> events, previous;
  auto join = [](Clock &into, const Clock &from) {
    for (int s = 0; s < kStreams; ++s)
      into[s] = std::max(into[s], from[s]);
  };
  for (int step = 0; step < 2; ++step) {
    for (std::size_t i = 0; i < phase.actions.size(); ++i) {
      const Action &action = phase.actions[i];
      Clock &clock = clocks[action.stream];
      switch (action.kind) {
      case ActionKind::record:
        events[action.event] = clock;
        break;
      case ActionKind::wait: {
        // The first step has no previous one: nothing is waited for.
        const auto &marks = action.isPrevious ? previous : events;
        auto mark = marks.find(action.event);
        if (mark != marks.end())
          join(clock, mark->second);
        break;
      }
      case ActionKind::launch:
      case ActionKind::call: {
        Item item;
        item.action = static_cast<int>(i);
        item.step = step;
        item.stream = action.stream;
        item.before = clock;
        item.time = ++clock[action.stream];
        result.items.push_back(item);
        break;
      }
      }
    }
    result.atEnd[step] = clocks[0];
    previous = std::move(events);
    events.clear();
    // The host issues the next step when compute has ended.
    join(clocks[1], clocks[0]);
  }
  return result;
}

namespace {

const char *const kStreamNames[kStreams] = {"compute", "comm"};

class StreamCheck {
public:
  StreamCheck(const RankClass &in, const Phase &phase, Report &report)
      : in(in), phase(phase), report(report) {}

  void run() {
    if (!checkEvents())
      return;
    Unrolled unrolled = unroll(phase);
    int step = -1;
    for (const Item &item : unrolled.items) {
      if (item.step != step)
        beginStep(step = item.step, unrolled);
      const Action &action = phase.actions[item.action];
      if (action.kind == ActionKind::call) {
        use(item, action.buffer, true);
        continue;
      }
      for (int buffer : action.reads)
        use(item, buffer, false);
      for (int buffer : action.writes)
        use(item, buffer, true);
    }
    endStep(1, unrolled);
  }

private:
  bool checkEvents() {
    std::map<std::int64_t, int> recorded;
    bool isGood = true;
    auto refuse = [&](int action, const std::string &what,
                      const std::string &found, const std::string &expected) {
      report.add({what,
                  placeOf(in, &phase, action) + ", event " +
                      std::to_string(phase.actions[action].event),
                  found, expected,
                  "an event is recorded once per run of a phase; waits come "
                  "after it, or wait for its mark in the previous run"});
      isGood = false;
    };
    std::set<std::int64_t> all;
    for (const Action &action : phase.actions)
      if (action.kind == ActionKind::record)
        all.insert(action.event);
    for (std::size_t i = 0; i < phase.actions.size(); ++i) {
      const Action &action = phase.actions[i];
      int at = static_cast<int>(i);
      bool isRecorded = recorded.count(action.event) != 0;
      if (action.kind == ActionKind::record) {
        if (isRecorded)
          refuse(at, "an event is recorded twice",
                 "a second record, after that of action " +
                     std::to_string(recorded[action.event]),
                 "one record");
        recorded[action.event] = at;
      }
      if (action.kind != ActionKind::wait)
        continue;
      if (!all.count(action.event))
        refuse(at, "a stream waits for an event that is never recorded",
               "no record", "a record");
      else if (!action.isPrevious && !isRecorded)
        refuse(at, "a stream waits for an event before it is recorded",
               "the record comes later", "the record first");
      else if (action.isPrevious && isRecorded)
        refuse(at,
               "a wait for the previous step's mark stands behind the "
               "record",
               "the record of this step comes first",
               "the record later in the step");
    }
    return isGood;
  }

  struct Use {
    Bytes bytes;
    bool isWrite = false;
    int action = 0;
    int step = 0;
    int buffer = 0;
    std::int64_t time = 0;
  };

  void use(const Item &item, int buffer, bool isWrite) {
    use(item.stream, item.before, item.time, item.action, item.step, buffer,
        isWrite);
  }

  void use(int stream, const Clock &clock, std::int64_t time, int action,
           int step, int buffer, bool isWrite) {
    const Bytes &bytes = phase.buffers[buffer].bytes;
    if (bytes.size() == 0)
      return;
    // A clock never goes back: what it has passed is ordered for good.
    int other = 1 - stream;
    std::vector<Use> &others = uses[other];
    std::size_t &begin = passed[other];
    while (begin < others.size() && others[begin].time <= clock[other])
      ++begin;
    for (std::size_t i = begin; i < others.size(); ++i) {
      const Use &earlier = others[i];
      if (!earlier.bytes.overlaps(bytes) || !(earlier.isWrite || isWrite))
        continue;
      refuse(earlier, stream, action, step, buffer, isWrite);
      return;
    }
    uses[stream].push_back({bytes, isWrite, action, step, buffer, time});
  }

  std::string useText(int action, int buffer, bool isWrite, int step) const {
    std::string text = action == kHost ? "the host"
                                       : "action " + std::to_string(action) +
                                             " (" + actionText(action) + ")";
    text += isWrite ? " writes '" : " reads '";
    return text + phase.buffers[buffer].name + "'" +
           (step ? " in the next step" : "");
  }

  std::string actionText(int index) const {
    const Action &action = phase.actions[index];
    return action.kind == ActionKind::call
               ? "call " + std::to_string(action.index) + " '" + action.label +
                     "'"
               : action.name +
                     (action.layer.empty() ? "" : " of " + action.layer);
  }

  void refuse(const Use &earlier, int stream, int action, int step, int buffer,
              bool isWrite) {
    const Bytes &a = earlier.bytes, &b = phase.buffers[buffer].bytes;
    if (!reported.insert({earlier.action, action}).second)
      return;
    report.add(
        {"the streams race for bytes of the arena",
         placeOf(in, &phase, action == kHost ? earlier.action : action) +
             ", bytes " + std::to_string(std::max(a.begin, b.begin)) + " to " +
             std::to_string(std::min(a.end, b.end)),
         useText(earlier.action, earlier.buffer, earlier.isWrite,
                 earlier.step) +
             " on " + kStreamNames[1 - stream] + "; " +
             useText(action, buffer, isWrite, step) + " on " +
             kStreamNames[stream],
         "an event recorded on " + std::string(kStreamNames[1 - stream]) +
             " after the first use, and a wait for it on " +
             kStreamNames[stream] + " before the second",
         earlier.step != step
             ? "the next step begins before the communication of this one "
               "ends: wait for its event with \"previous\""
             : "add the wait, or give one of the two bytes of its own"});
  }

  /// Before a step the host fills the inputs, when compute has done what came
  /// before.
  void beginStep(int step, const Unrolled &unrolled) {
    if (step > 0)
      endStep(step - 1, unrolled);
    Clock clock = step > 0 ? unrolled.atEnd[step - 1] : Clock{};
    host(step, clock, Purpose::input, true);
  }
  /// After a step the host reads the results, when compute has ended.
  void endStep(int step, const Unrolled &unrolled) {
    host(step, unrolled.atEnd[step], Purpose::result, false);
  }
  void host(int step, const Clock &clock, Purpose purpose, bool isWrite) {
    for (std::size_t b = 0; b < phase.buffers.size(); ++b)
      if (phase.buffers[b].purpose == purpose)
        use(0, clock, clock[0], kHost, step, static_cast<int>(b), isWrite);
  }

  static constexpr int kHost = -1;

  const RankClass &in;
  const Phase &phase;
  Report &report;
  std::array<std::vector<Use>, kStreams> uses;
  /// Uses that the other stream has passed.
  std::array<std::size_t, kStreams> passed = {};
  std::set<std::pair<int, int>> reported;
};

} // namespace

void checkStreams(const RankClass &in, const Phase &phase, Report &report) {
  StreamCheck(in, phase, report).run();
}

} // namespace partita::check
