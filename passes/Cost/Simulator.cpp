//===- Simulator.cpp - Plays scheduled programs over streams --------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Cost/Simulator.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>

namespace partita::cost {

namespace {

/// The first steps fill the pipeline.
constexpr int kSteps = 4;

/// A class on its way through its steps. Times follow from the order of issue,
/// so actions can be played in it as long as their partners have come as far.
class Player {
public:
  Player(size_t index, const SimClass &program)
      : index(index), program(program) {}

  bool isDone() const { return step == kSteps; }
  const SimAction &action() const { return program.step[at]; }
  bool isAtCall() const {
    return !isDone() && at < program.step.size() &&
           action().kind == SimAction::Kind::call;
  }

  /// Plays up to the next call, or to the end.
  void advance() {
    while (!isDone()) {
      if (at == program.step.size()) {
        endStep();
        continue;
      }
      if (isAtCall())
        return;
      play(action());
      ++at;
    }
  }

  /// When this class is ready for the call at which it stands.
  double ready() const { return time(action().stream); }

  void finishCall(double begin, double end) {
    const SimAction &call = action();
    double from = time(call.stream);
    time(call.stream) = end;
    note(call.stream == SimStream::comm ? SimSpan::Lane::comm
                                        : SimSpan::Lane::compute,
         from, end, call);
    if (step == kSteps - 1)
      sends.push_back({begin, end, call.bytes});
    ++at;
  }

  struct Send {
    double begin, end, bytes;
  };

  size_t index;
  const SimClass &program;
  int step = 0;
  size_t at = 0;
  double began = 0, lastBegan = 0, busy = 0;
  std::vector<SimSpan> spans;
  std::vector<Send> sends;

private:
  double &time(SimStream stream) { return times[size_t(stream)]; }
  double time(SimStream stream) const { return times[size_t(stream)]; }

  void play(const SimAction &action) {
    double &now = time(action.stream);
    switch (action.kind) {
    case SimAction::Kind::launch: {
      double from = now;
      now += action.seconds;
      if (step == kSteps - 1 && action.stream == SimStream::compute)
        busy += action.seconds;
      note(action.stream == SimStream::comm ? SimSpan::Lane::comm
                                            : SimSpan::Lane::compute,
           from, now, action);
      break;
    }
    case SimAction::Kind::record:
      events[action.event] = now;
      break;
    case SimAction::Kind::wait: {
      auto &known = action.isPrevious ? before : events;
      auto it = known.find(action.event);
      if (it == known.end() || it->second <= now)
        break;
      if (action.stream == SimStream::compute)
        note(SimSpan::Lane::wait, now, it->second, action);
      now = it->second;
      break;
    }
    case SimAction::Kind::call:
      break;
    }
  }

  void endStep() {
    before = events;
    events.clear();
    at = 0;
    ++step;
    lastBegan = began;
    began = time(SimStream::compute);
    // The host issues what follows once the compute stream is through.
    time(SimStream::comm) = std::max(time(SimStream::comm), began);
  }

  void note(SimSpan::Lane lane, double begin, double end,
            const SimAction &action) {
    if (step == kSteps - 1 && end > begin)
      spans.push_back(
          {index, lane, begin, end, action.name, action.layer, action.bytes});
  }

  std::array<double, 2> times = {};
  std::map<int64_t, double> events, before;
};

/// Seconds of [begin, end) that lie in the waits of a class.
double overlapWith(const std::vector<SimSpan> &spans, double begin,
                   double end) {
  double sum = 0;
  for (const SimSpan &span : spans)
    if (span.lane == SimSpan::Lane::wait)
      sum +=
          std::max(0.0, std::min(end, span.end) - std::max(begin, span.begin));
  return sum;
}

double peakOf(const std::vector<Player::Send> &sends, double step) {
  double window = step / 10, peak = 0;
  if (window <= 0)
    return 0;
  // A peak begins where something begins.
  for (const Player::Send &first : sends) {
    double bytes = 0;
    for (const Player::Send &send : sends) {
      double inside = std::min(send.end, first.begin + window) -
                      std::max(send.begin, first.begin);
      if (inside > 0)
        bytes += send.bytes * inside / (send.end - send.begin);
    }
    peak = std::max(peak, bytes / window);
  }
  return peak;
}

} // namespace

double Simulation::totalSeconds() const {
  double sum = 0;
  for (const SimCall &call : calls)
    sum += call.total;
  return sum;
}

double Simulation::exposedSeconds() const {
  double sum = 0;
  for (const SimCall &call : calls)
    sum += call.exposed;
  return sum;
}

Simulation simulate(const std::vector<SimClass> &classes) {
  Simulation result;
  std::vector<Player> players;
  for (auto [i, program] : llvm::enumerate(classes))
    players.emplace_back(i, program);
  // Who takes part in the calls of a communicator.
  std::map<std::string, std::vector<size_t>> members;
  for (auto [i, program] : llvm::enumerate(classes))
    for (const SimAction &action : program.step)
      if (action.kind == SimAction::Kind::call) {
        std::vector<size_t> &list = members[action.communicator];
        if (list.empty() || list.back() != i)
          list.push_back(i);
      }
  for (Player &player : players)
    player.advance();
  for (bool isMoving = true; isMoving;) {
    isMoving = false;
    for (Player &player : players) {
      if (!player.isAtCall())
        continue;
      const std::vector<size_t> &group = members[player.action().communicator];
      bool isReady = llvm::all_of(group, [&](size_t i) {
        return players[i].isAtCall() &&
               players[i].action().communicator == player.action().communicator;
      });
      if (!isReady)
        continue;
      double begin = 0, seconds = 0;
      for (size_t i : group) {
        begin = std::max(begin, players[i].ready());
        seconds = std::max(seconds, players[i].action().seconds);
      }
      for (size_t i : group)
        players[i].finishCall(begin, begin + seconds);
      for (size_t i : group)
        players[i].advance();
      isMoving = true;
    }
  }
  for (Player &player : players)
    if (!player.isDone()) {
      result.error = "class " + player.program.name + " waits for others in '" +
                     player.action().name + "', which they do not issue";
      return result;
    }
  for (Player &player : players)
    result.stepSeconds =
        std::max(result.stepSeconds, player.began - player.lastBegan);
  for (Player &player : players) {
    result.utilisation.push_back(
        result.stepSeconds > 0 ? player.busy / result.stepSeconds : 0);
    result.networkPeak =
        std::max(result.networkPeak, peakOf(player.sends, result.stepSeconds));
  }
  if (players.empty())
    return result;
  const Player &first = players.front();
  for (const SimSpan &span : first.spans) {
    if (span.lane != SimSpan::Lane::comm || span.bytes <= 0)
      continue;
    auto it = llvm::find_if(result.calls, [&](const SimCall &call) {
      return call.name == span.name;
    });
    if (it == result.calls.end())
      it = result.calls.insert(it, {span.name, 0, 0, 0, 0});
    ++it->calls;
    it->bytes += span.bytes;
    it->total += span.end - span.begin;
    // What goes on beyond the step is waited for in the next one, which is like
    // this one.
    for (double shift : {0.0, result.stepSeconds})
      it->exposed +=
          overlapWith(first.spans, span.begin - shift, span.end - shift);
  }
  for (const Player &player : players)
    for (SimSpan span : player.spans) {
      span.begin -= first.lastBegan;
      span.end -= first.lastBegan;
      result.spans.push_back(std::move(span));
    }
  return result;
}

std::string traceOf(const std::vector<SimClass> &classes,
                    const Simulation &simulation) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::json::OStream json(stream);
  constexpr const char *kLanes[] = {"compute", "comm",
                                    "compute waits for comm"};
  json.object([&] {
    json.attribute("displayTimeUnit", "ms");
    json.attributeArray("traceEvents", [&] {
      auto name = [&](const char *what, size_t pid, size_t tid,
                      const std::string &text) {
        json.object([&] {
          json.attribute("ph", "M");
          json.attribute("name", what);
          json.attribute("pid", int64_t(pid));
          json.attribute("tid", int64_t(tid));
          json.attributeObject("args", [&] { json.attribute("name", text); });
        });
      };
      for (auto [i, program] : llvm::enumerate(classes)) {
        name("process_name", i, 0,
             "class " + program.name + " (" + std::to_string(program.ranks) +
                 (program.ranks == 1 ? " rank" : " ranks") + "), simulated");
        for (size_t lane = 0; lane < 3; ++lane)
          name("thread_name", i, lane, kLanes[lane]);
      }
      for (const SimSpan &span : simulation.spans)
        json.object([&] {
          json.attribute("ph", "X");
          json.attribute("name", span.name);
          json.attribute("pid", int64_t(span.inClass));
          json.attribute("tid", int64_t(span.lane));
          json.attribute("ts", 1e6 * span.begin);
          json.attribute("dur", 1e6 * (span.end - span.begin));
          json.attributeObject("args", [&] {
            if (!span.layer.empty())
              json.attribute("layer", span.layer);
            if (span.bytes > 0)
              json.attribute("bytes", int64_t(span.bytes));
          });
        });
    });
  });
  return text + "\n";
}

} // namespace partita::cost
