//===- Timeline.cpp - What happened when on a rank ------------ -*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements Timeline.h.
//
//===----------------------------------------------------------------------===//

#include "core/Timeline.h"

#include "core/Json.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>

using namespace partita;

std::string partita::rankName(int rank, int server) {
  return "rank " + std::to_string(rank) +
         (server < 0 ? "" : " (server " + std::to_string(server) + ")");
}

//===----------------------------------------------------------------------===//
// Packing
//===----------------------------------------------------------------------===//

namespace {

/// Writes and reads numbers and texts one after the other.
class Packer {
public:
  template <typename T> void put(T value) {
    auto *from = reinterpret_cast<const std::byte *>(&value);
    bytes.insert(bytes.end(), from, from + sizeof(T));
  }
  /// Texts repeat; each is written once and named by its number.
  void put(const std::string &text) {
    auto [it, isNew] = known.emplace(text, known.size());
    put(static_cast<std::uint32_t>(it->second));
    if (!isNew)
      return;
    put(static_cast<std::uint32_t>(text.size()));
    auto *from = reinterpret_cast<const std::byte *>(text.data());
    bytes.insert(bytes.end(), from, from + text.size());
  }

  std::vector<std::byte> bytes;

private:
  std::map<std::string, std::size_t> known;
};

class Unpacker {
public:
  explicit Unpacker(const std::vector<std::byte> &bytes) : bytes(bytes) {}

  template <typename T> T get() {
    T value;
    std::memcpy(&value, take(sizeof(T)), sizeof(T));
    return value;
  }
  std::string text() {
    auto number = get<std::uint32_t>();
    if (number < known.size())
      return known[number];
    auto size = get<std::uint32_t>();
    auto *from = reinterpret_cast<const char *>(take(size));
    return known.emplace_back(from, size);
  }

private:
  const std::byte *take(std::size_t size) {
    if (size > bytes.size() - at)
      throw Error("the trace of a rank arrived incomplete");
    at += size;
    return bytes.data() + at - size;
  }

  const std::vector<std::byte> &bytes;
  std::size_t at = 0;
  std::vector<std::string> known;
};

} // namespace

std::vector<std::byte> Timeline::pack() const {
  Packer packer;
  packer.put(rank);
  packer.put(server);
  packer.put(dropped);
  packer.put(static_cast<std::int64_t>(spans.size()));
  for (const Span &span : spans) {
    packer.put(static_cast<std::int32_t>(span.kind));
    packer.put(static_cast<std::int32_t>(span.onComm));
    packer.put(span.name);
    packer.put(span.layer);
    packer.put(span.section);
    packer.put(span.step);
    packer.put(span.begin);
    packer.put(span.end);
    packer.put(span.callKind);
    packer.put(static_cast<std::int32_t>(span.index));
    packer.put(span.bytes);
  }
  return std::move(packer.bytes);
}

Timeline Timeline::unpack(const std::vector<std::byte> &bytes, double shift) {
  Unpacker packed(bytes);
  Timeline timeline;
  timeline.rank = packed.get<std::int64_t>();
  timeline.server = packed.get<std::int64_t>();
  timeline.dropped = packed.get<std::int64_t>();
  auto count = packed.get<std::int64_t>();
  for (std::int64_t i = 0; i < count; ++i) {
    Span span;
    span.kind = static_cast<Span::Kind>(packed.get<std::int32_t>());
    span.onComm = packed.get<std::int32_t>() != 0;
    span.name = packed.text();
    span.layer = packed.text();
    span.section = packed.text();
    span.step = packed.get<std::int64_t>();
    span.begin = packed.get<double>() + shift;
    span.end = packed.get<double>() + shift;
    span.callKind = packed.text();
    span.index = packed.get<std::int32_t>();
    span.bytes = packed.get<std::int64_t>();
    timeline.spans.push_back(std::move(span));
  }
  return timeline;
}

//===----------------------------------------------------------------------===//
// Overlap
//===----------------------------------------------------------------------===//

namespace {
struct Interval {
  double begin, end;
};
} // namespace

/// The times at which the compute stream waits, in order and apart.
static std::vector<Interval> waitsOf(const std::vector<Span> &spans) {
  std::vector<Interval> waits, apart;
  for (const Span &span : spans)
    if (span.kind == Span::Kind::wait && span.end > span.begin)
      waits.push_back({span.begin, span.end});
  std::sort(
      waits.begin(), waits.end(),
      [](const Interval &a, const Interval &b) { return a.begin < b.begin; });
  for (const Interval &wait : waits) {
    if (!apart.empty() && wait.begin <= apart.back().end)
      apart.back().end = std::max(apart.back().end, wait.end);
    else
      apart.push_back(wait);
  }
  return apart;
}

/// Seconds of [begin, end) that lie in one of the intervals.
static double common(double begin, double end,
                     const std::vector<Interval> &intervals) {
  double seconds = 0;
  auto first = std::lower_bound(intervals.begin(), intervals.end(), begin,
                                [](const Interval &interval, double time) {
                                  return interval.end < time;
                                });
  for (auto it = first; it != intervals.end() && it->begin < end; ++it)
    seconds +=
        std::max(0.0, std::min(end, it->end) - std::max(begin, it->begin));
  return seconds;
}

/// The row that a call belongs to: its layer, or the first part of its label.
static std::string rowOf(const Span &call) {
  if (!call.layer.empty())
    return call.layer;
  return call.name.substr(0, call.name.find(':'));
}

static void add(LayerOverlap &row, const LayerOverlap &more) {
  row.calls += more.calls;
  row.bytes += more.bytes;
  row.total += more.total;
  row.exposed += more.exposed;
}

std::vector<LayerOverlap> partita::overlapOf(const std::vector<Span> &spans) {
  std::vector<Interval> waits = waitsOf(spans);
  std::vector<LayerOverlap> rows;
  std::map<std::string, std::size_t> places;
  for (const Span &span : spans) {
    if (span.kind != Span::Kind::call || span.layer.rfind('(', 0) == 0)
      continue;
    std::string name = rowOf(span);
    auto [it, isNew] = places.emplace(name, rows.size());
    if (isNew)
      rows.push_back({name});
    add(rows[it->second], {name, 1, span.bytes, span.end - span.begin,
                           common(span.begin, span.end, waits)});
  }
  return rows;
}

std::vector<LayerOverlap>
partita::sumOverlaps(const std::vector<std::vector<LayerOverlap>> &ranks) {
  std::vector<LayerOverlap> rows;
  std::map<std::string, std::size_t> places;
  for (const std::vector<LayerOverlap> &rank : ranks)
    for (const LayerOverlap &row : rank) {
      auto [it, isNew] = places.emplace(row.layer, rows.size());
      if (isNew)
        rows.push_back({row.layer});
      add(rows[it->second], row);
    }
  return rows;
}

LayerOverlap partita::totalOf(const std::vector<LayerOverlap> &layers) {
  LayerOverlap sum{"all"};
  for (const LayerOverlap &row : layers)
    add(sum, row);
  return sum;
}

std::string partita::printable(std::string text, std::size_t most) {
  if (text.size() > most)
    text = text.substr(0, most - 3) + "...";
  for (char &c : text)
    if (c < ' ' || c > '~')
      c = '?';
  return text;
}

std::string partita::overlapTable(const std::vector<LayerOverlap> &layers,
                                  int ranks, std::int64_t steps) {
  constexpr std::size_t kWidest = 40;
  std::size_t width = 5;
  for (const LayerOverlap &row : layers)
    width = std::max(width, printable(row.layer, kWidest).size());
  std::string text = "communication per rank and step, mean of " +
                     std::to_string(ranks) + (ranks == 1 ? " rank" : " ranks") +
                     " and " + std::to_string(steps) +
                     (steps == 1 ? " step" : " steps") + ", measured\n";
  char line[320];
  auto append = [&](const std::string &name, const char *calls,
                    const char *bytes, const char *total, const char *exposed,
                    const char *hidden) {
    std::snprintf(line, sizeof(line), "  %-*s %7s %12s %11s %11s %9s\n",
                  static_cast<int>(width), name.c_str(), calls, bytes, total,
                  exposed, hidden);
    text += line;
  };
  append("layer", "calls", "bytes", "total ms", "exposed ms", "hidden %");
  double share =
      1.0 / (double(ranks) * double(std::max<std::int64_t>(steps, 1)));
  auto row = [&](const LayerOverlap &layer) {
    char numbers[5][32];
    std::snprintf(numbers[0], 32, "%.4g", double(layer.calls) * share);
    std::snprintf(numbers[1], 32, "%.0f", double(layer.bytes) * share);
    std::snprintf(numbers[2], 32, "%.3f", 1e3 * layer.total * share);
    std::snprintf(numbers[3], 32, "%.3f", 1e3 * layer.exposed * share);
    std::snprintf(numbers[4], 32, "%.1f", 100 * layer.hidden());
    append(printable(layer.layer, kWidest), numbers[0], numbers[1], numbers[2],
           numbers[3], numbers[4]);
  };
  for (const LayerOverlap &layer : layers)
    row(layer);
  row(totalOf(layers));
  std::snprintf(line, sizeof(line),
                "overlap efficiency  %.1f %% of the communication time is "
                "hidden behind computation, measured\n",
                100 * totalOf(layers).hidden());
  return text + line;
}

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

namespace {
/// The threads of a rank's process in the file.
enum Track { computeTrack, commTrack, waitTrack, commWaitTrack };
} // namespace

static Track trackOf(const Span &span) {
  switch (span.kind) {
  case Span::Kind::layer:
  case Span::Kind::kernel:
    return span.onComm ? commTrack : computeTrack;
  case Span::Kind::call:
    return commTrack;
  case Span::Kind::wait:
    return waitTrack;
  case Span::Kind::commWait:
    return commWaitTrack;
  }
  return computeTrack;
}

static const char *categoryOf(Span::Kind kind) {
  switch (kind) {
  case Span::Kind::layer:
    return "layer";
  case Span::Kind::kernel:
    return "kernel";
  case Span::Kind::call:
    return "communication";
  case Span::Kind::wait:
  case Span::Kind::commWait:
    return "wait";
  }
  return "";
}

static std::string metadata(const char *what, std::int64_t rank, int track,
                            const std::string &name) {
  return std::string("{\"ph\":\"M\",\"name\":\"") + what +
         "\",\"pid\":" + std::to_string(rank) +
         ",\"tid\":" + std::to_string(track) +
         ",\"args\":{\"name\":" + quoteJson(name) + "}}";
}

std::string partita::traceJson(const std::vector<Timeline> &ranks,
                               const std::string &program) {
  static const char *const names[] = {
      "compute", "comm", "compute waits for comm", "comm waits for compute"};
  // Times count from the first span: doubles keep nanoseconds then.
  double origin = 0;
  bool isFirst = true;
  for (const Timeline &rank : ranks)
    for (const Span &span : rank.spans) {
      origin = isFirst ? span.begin : std::min(origin, span.begin);
      isFirst = false;
    }
  std::string text = "{\"displayTimeUnit\":\"ms\",\"otherData\":{"
                     "\"program\":" +
                     quoteJson(program) + "},\"traceEvents\":[\n";
  const char *comma = "";
  for (const Timeline &rank : ranks) {
    text += comma;
    comma = ",\n";
    text += metadata("process_name", rank.rank, 0,
                     rankName(rank.rank, rank.server));
    for (int track = computeTrack; track <= commWaitTrack; ++track)
      text += comma + metadata("thread_name", rank.rank, track, names[track]);
    for (const Span &span : rank.spans) {
      char times[96];
      std::snprintf(times, sizeof(times), "\"ts\":%.3f,\"dur\":%.3f",
                    1e6 * (span.begin - origin), 1e6 * (span.end - span.begin));
      text += comma;
      text += "{\"ph\":\"X\",\"name\":" + quoteJson(span.name) + ",\"cat\":\"" +
              categoryOf(span.kind) +
              "\",\"pid\":" + std::to_string(rank.rank) +
              ",\"tid\":" + std::to_string(trackOf(span)) + "," + times +
              ",\"args\":{\"step\":" + std::to_string(span.step);
      if (!span.section.empty())
        text += ",\"phase\":" + quoteJson(span.section);
      if (!span.layer.empty())
        text += ",\"layer\":" + quoteJson(span.layer);
      if (span.kind == Span::Kind::call)
        text += ",\"kind\":" + quoteJson(span.callKind) +
                ",\"call\":" + std::to_string(span.index) +
                ",\"bytes\":" + std::to_string(span.bytes);
      text += "}}";
    }
  }
  return text + "\n]}\n";
}
