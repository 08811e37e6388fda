//===- RankLog.cpp - What a rank is doing and has done -------- -*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements RankLog.h. Kernels cost an atomic addition each, collectives a
// lock; spans are recorded only when a trace was asked for.
//
//===----------------------------------------------------------------------===//

#include "core/RankLog.h"

#include "core/CallCheck.h"

#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <ctime>

using namespace partita;

/// Spans of one stream that are kept at most; some 200 bytes each.
static constexpr std::size_t kMostSpans = 200000;

//===----------------------------------------------------------------------===//
// Texts
//===----------------------------------------------------------------------===//

const char *partita::textOf(Activity activity) {
  switch (activity) {
  case Activity::starting:
    return "starts";
  case Activity::computing:
    return "computes";
  case Activity::comm:
    return "waits for its communication";
  case Activity::device:
    return "waits for its GPU";
  case Activity::data:
    return "waits for data";
  case Activity::ranks:
    return "waits for the other ranks";
  case Activity::files:
    return "writes files";
  case Activity::done:
    return "is done";
  }
  return "";
}

bool partita::mayHang(Activity activity) {
  return activity == Activity::comm || activity == Activity::device ||
         activity == Activity::data || activity == Activity::ranks;
}

std::string partita::rankList(const std::vector<int> &ranks, std::size_t most) {
  std::string text;
  std::size_t runs = 0;
  for (std::size_t i = 0; i < ranks.size(); ++runs) {
    std::size_t end = i + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1)
      ++end;
    if (runs == most) {
      text += ", ...";
      break;
    }
    text += (text.empty() ? "" : ", ") + std::to_string(ranks[i]);
    if (end - i > 1)
      text += "-" + std::to_string(ranks[end - 1]);
    i = end;
  }
  return (ranks.size() == 1 ? "rank " : "ranks ") + text;
}

/// Copies as much as there is room for; other than printable ASCII, which names
/// of models may hold, becomes '?'.
template <std::size_t N> static void copyText(char (&to)[N], const char *from) {
  std::size_t length = std::strlen(from), i = 0;
  for (; i < length && i + 1 < N; ++i)
    to[i] = from[i] < ' ' || from[i] > '~' ? '?' : from[i];
  to[i] = 0;
  if (length >= N)
    std::memcpy(to + N - 4, "...", 4);
}

RankStatus partita::statusOf(int rank, int workers) {
  RankStatus status;
  status.rank = rank;
  status.server = rank < workers ? -1 : rank - workers;
  return status;
}

std::string RankStatus::name() const { return rankName(rank, server); }

std::string RankStatus::text() const {
  std::string text = name() + " " + textOf(activity);
  if (*phase)
    text += std::string(" in ") + phase + " " + std::to_string(step);
  if (*layer)
    text += std::string(", ") + section + " of '" + layer + "'";
  if (inCall) {
    text += begun ? ", in call " : ", with call ";
    if (index >= 0)
      text += std::to_string(index) + " ";
    text += std::string("'") + label + "' (";
    if (*callLayer)
      text += std::string("for '") + callLayer + "', ";
    text += std::string(kind) + " of " + std::to_string(count) + " " + type +
            ", " + std::to_string(bytes) + " bytes)";
    text += begun ? " with " : " queued, which needs ";
    text += peers;
  }
  return text + "; its last completed step is " + std::to_string(stepsDone);
}

//===----------------------------------------------------------------------===//
// The rank's own thread
//===----------------------------------------------------------------------===//

void RankLog::enter() {
  std::lock_guard<std::mutex> lock(clockMutex);
  hasClock = pthread_getcpuclockid(pthread_self(), &threadClock) == 0;
  movedAt = seenAt = Clock::now();
}

void RankLog::leave() {
  activity = Activity::done;
  std::lock_guard<std::mutex> lock(clockMutex);
  hasClock = false;
}

void RankLog::beginPhase(const char *name, std::int64_t number) {
  phase = name;
  step = number;
  layerName = "";
  sectionName = "";
  activity = Activity::computing;
  progressed();
}

void RankLog::endPhase() {
  closeLayer();
  layerName = "";
  sectionName = "";
  progressed();
}

void RankLog::layer(const char *name, const char *section) {
  closeLayer();
  layerName = name;
  sectionName = section;
  layerAt = Clock::now();
  progressed();
}

void RankLog::closeLayer() {
  const char *name = layerName;
  if (tracedSteps == 0 || !*name)
    return;
  Span span;
  span.kind = Span::Kind::layer;
  span.name = span.layer = name;
  span.section = sectionName;
  span.step = step;
  span.begin = seconds(layerAt);
  span.end = seconds(Clock::now());
  add(layers, std::move(span));
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

/// The other ranks that a call needs.
static std::string peersOf(const Communicator &group, const IssuedCall &call,
                           int workers) {
  std::vector<int> peers, servers;
  for (int member = 0; member < group.size(); ++member) {
    bool needed = !call.awaited || (*call.awaited)[member] > 0 ||
                  (*call.parts)[member] > 0;
    if (member == group.rank() || !needed)
      continue;
    int peer = group.members().empty() ? member : group.members()[member];
    (peer < workers ? peers : servers).push_back(peer);
  }
  std::string text = peers.empty() ? "" : rankList(peers);
  if (!servers.empty())
    text += (text.empty() ? "" : " and ") + std::string("servers at ") +
            rankList(servers);
  return text.empty() ? "nobody" : text;
}

RankLog::Record *RankLog::find(std::int64_t number) {
  Record &record = records[static_cast<std::size_t>(number) % kCalls];
  return record.number == number ? &record : nullptr;
}

std::int64_t RankLog::issued(const Communicator &group,
                             const IssuedCall &call) {
  std::string peers = peersOf(group, call, workers);
  std::int64_t number;
  {
    std::lock_guard<std::mutex> lock(mutex);
    number = nextNumber++;
    Record &record = records[static_cast<std::size_t>(number) % kCalls];
    record = {};
    record.number = number;
    record.site = call.site;
    record.kind = call.kind;
    record.type = call.type;
    record.count = call.count;
    record.phase = phase;
    record.section = sectionName;
    record.step = step;
    record.layer = layerName;
    record.peers = std::move(peers);
    record.issuedAt = Clock::now();
  }
  if (checks)
    checks->issued(number, group, call);
  progressed();
  return number;
}

void RankLog::started(std::int64_t number) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (Record *record = find(number)) {
      record->state = State::begun;
      record->begunAt = Clock::now();
    }
  }
  if (checks)
    checks->compare(number);
}

void RankLog::finished(std::int64_t number, std::int64_t bytesSent,
                       const DeviceTimes *times) {
  Clock::time_point end = times ? times->end : Clock::now();
  Span span;
  {
    std::lock_guard<std::mutex> lock(mutex);
    // Null when more calls were issued meanwhile than are kept.
    Record *record = find(number);
    if (!record)
      return progressed();
    record->state = State::done;
    record->doneAt = end;
    if (times)
      record->begunAt = times->begin;
    record->bytesSent = bytesSent;
    lastDone = record->site.label;
    if (tracedSteps > 0) {
      span.kind = Span::Kind::call;
      span.onComm = true;
      span.name = *record->site.label ? record->site.label : record->kind;
      span.layer = record->site.layer;
      span.section = record->section;
      span.step = record->step;
      span.begin = seconds(record->begunAt);
      span.end = seconds(end);
      span.callKind = record->kind;
      span.index = record->site.index;
      span.bytes = bytesSent;
    }
  }
  if (tracedSteps > 0)
    add(laneOf(StreamRole::comm).spans, std::move(span));
  progressed();
}

//===----------------------------------------------------------------------===//
// Kernels and waits
//===----------------------------------------------------------------------===//

void RankLog::kernelBegan(StreamRole role, const char *name) {
  if (tracedSteps == 0)
    return;
  laneOf(role).kernel = name;
  laneOf(role).kernelAt = Clock::now();
}

void RankLog::kernelEnded(StreamRole role) {
  progressed();
  if (tracedSteps == 0)
    return;
  Lane &lane = laneOf(role);
  Span span;
  span.onComm = role == StreamRole::comm;
  span.name = lane.kernel;
  if (role == StreamRole::compute) {
    span.layer = layerName;
    span.section = sectionName;
  }
  span.step = step;
  span.begin = seconds(lane.kernelAt);
  span.end = seconds(Clock::now());
  add(lane.spans, std::move(span));
}

void RankLog::waitBegan(StreamRole role) {
  laneOf(role).waitAt = Clock::now();
  if (role == StreamRole::compute) {
    activity = Activity::comm;
    progressed();
  }
}

void RankLog::waitEnded(StreamRole role) {
  if (role == StreamRole::compute) {
    activity = Activity::computing;
    progressed();
  }
  addWait(role, laneOf(role).waitAt, Clock::now());
}

void RankLog::waited(StreamRole role, const DeviceTimes &times) {
  addWait(role, times.begin, times.end);
}

void RankLog::addWait(StreamRole role, Clock::time_point begin,
                      Clock::time_point end) {
  if (tracedSteps == 0)
    return;
  Span span;
  span.onComm = role == StreamRole::comm;
  span.kind = span.onComm ? Span::Kind::commWait : Span::Kind::wait;
  span.step = step;
  span.begin = seconds(begin);
  span.end = seconds(end);
  span.name = "wait";
  if (role == StreamRole::compute) {
    span.layer = layerName;
    span.section = sectionName;
    // What was done last is what has let it go on.
    std::lock_guard<std::mutex> lock(mutex);
    if (*lastDone)
      span.name = std::string("wait for ") + lastDone;
  }
  add(laneOf(role).spans, std::move(span));
}

//===----------------------------------------------------------------------===//
// The trace
//===----------------------------------------------------------------------===//

void RankLog::trace(std::int64_t steps) { tracedSteps = steps; }

void RankLog::add(std::deque<Span> &spans, Span span) {
  std::int64_t oldest = span.step - tracedSteps + 1;
  while (!spans.empty() && spans.front().step < oldest)
    spans.pop_front();
  if (spans.size() >= kMostSpans) {
    ++lanes[span.onComm].dropped;
    spans.pop_front();
  }
  spans.push_back(std::move(span));
}

Timeline RankLog::timeline() const {
  Timeline timeline;
  timeline.rank = rank;
  timeline.server = rank < workers ? -1 : rank - workers;
  // A stream that had nothing to do in the last steps still has older spans.
  std::int64_t oldest = step - tracedSteps + 1;
  for (const std::deque<Span> *spans :
       {&layers, &lanes[0].spans, &lanes[1].spans})
    for (const Span &span : *spans)
      if (span.step >= oldest)
        timeline.spans.push_back(span);
  timeline.dropped = lanes[0].dropped + lanes[1].dropped;
  return timeline;
}

//===----------------------------------------------------------------------===//
// For the watchdog
//===----------------------------------------------------------------------===//

RankStatus RankLog::status() {
  // Where CPU time is progress: a kernel may take long.
  constexpr double kBusyShare = 0.02;
  RankStatus status = statusOf(rank, workers);
  Clock::time_point now = Clock::now();
  status.activity = activity;
  {
    std::lock_guard<std::mutex> lock(clockMutex);
    double used = seenSeconds;
    timespec time{};
    if (hasClock && clock_gettime(threadClock, &time) == 0)
      used = double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
    double elapsed = std::chrono::duration<double>(now - seenAt).count();
    std::uint64_t reached = progress.load(std::memory_order_relaxed);
    bool isBusy =
        !mayHang(status.activity) && used - seenSeconds > kBusyShare * elapsed;
    if (reached != seenProgress || isBusy ||
        status.activity == Activity::files || status.activity == Activity::done)
      movedAt = now;
    seenProgress = reached;
    seenSeconds = used;
    seenAt = now;
    status.quiet = std::chrono::duration<double>(now - movedAt).count();
  }
  status.step = step;
  status.stepsDone = stepsDone;
  copyText(status.phase, phase);
  copyText(status.section, sectionName);
  copyText(status.layer, layerName);
  std::lock_guard<std::mutex> lock(mutex);
  const Record *current = nullptr;
  for (const Record &record : records)
    if (record.number >= 0 && record.state != State::done &&
        (!current || record.number < current->number))
      current = &record;
  if (!current)
    return status;
  status.inCall = 1;
  status.begun = current->state == State::begun;
  status.index = current->site.index;
  status.count = current->count;
  status.bytes =
      current->count * static_cast<std::int64_t>(sizeOf(current->type));
  copyText(status.kind, current->kind);
  copyText(status.type, nameOf(current->type));
  copyText(status.label, current->site.label);
  copyText(status.callLayer, current->site.layer);
  copyText(status.peers, current->peers.c_str());
  return status;
}

void RankLog::restartClock() {
  std::lock_guard<std::mutex> lock(clockMutex);
  movedAt = seenAt = Clock::now();
}

std::string RankLog::callList() const {
  std::lock_guard<std::mutex> lock(mutex);
  if (nextNumber == 0)
    return "";
  std::string text =
      "rank " + std::to_string(rank) + (rank < workers ? "" : ", a server") +
      ": the last " +
      std::to_string(std::min<std::int64_t>(nextNumber, kCalls)) + " of " +
      std::to_string(nextNumber) +
      " collectives, oldest first; times in seconds before this "
      "was written\n"
      "step phase    call state     issued    begun     done  "
      "kind, elements, type, with; label, layer\n";
  Clock::time_point now = Clock::now();
  auto ago = [&](char(&to)[16], bool known, Clock::time_point time) {
    if (known)
      std::snprintf(to, sizeof(to), "%8.3f",
                    std::chrono::duration<double>(now - time).count());
    else
      std::snprintf(to, sizeof(to), "%8s", "-");
  };
  std::int64_t first = std::max<std::int64_t>(0, nextNumber - kCalls);
  for (std::int64_t number = first; number < nextNumber; ++number) {
    const Record &record = records[static_cast<std::size_t>(number) % kCalls];
    char issued[16], begun[16], done[16], line[160];
    ago(issued, true, record.issuedAt);
    ago(begun, record.state != State::issued, record.begunAt);
    ago(done, record.state == State::done, record.doneAt);
    static const char *const states[] = {"issued", "begun", "done"};
    std::snprintf(line, sizeof(line), "%4" PRId64 " %-8s %4d %-6s %s %s %s  ",
                  record.step, *record.section ? record.section : record.phase,
                  record.site.index, states[static_cast<int>(record.state)],
                  issued, begun, done);
    text += std::string(line) + record.kind + ", " +
            std::to_string(record.count) + ", " + nameOf(record.type) +
            ", with " + record.peers + "; '" +
            printable(record.site.label, 200) + "'";
    if (*record.site.layer)
      text += ", '" + printable(record.site.layer, 200) + "'";
    text += "\n";
  }
  return text;
}
