//===- Timeline.h - What happened when on a rank -------------- -*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Spans of time with names, how communication and computation overlap in them,
// and their file. Plain data: nothing here knows streams or ranks that run.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_CORE_TIMELINE_H
#define PARTITA_CORE_TIMELINE_H

#include "partita/types.h"

#include <string>
#include <vector>

namespace partita {

/// "rank 1", of a server "rank 5 (server 1)"; `server` is its number among the
/// servers, -1 for others.
std::string rankName(int rank, int server);

/// Something that took time on a rank.
struct Span {
  enum class Kind {
    layer,   ///< the compute stream works for a layer
    kernel,  ///< one kernel, on either stream
    call,    ///< a collective, from its begin to its end
    wait,    ///< the compute stream waits for the comm stream
    commWait ///< the comm stream waits for the compute stream
  };

  Kind kind = Kind::kernel;
  /// Whether it took place on the comm stream.
  bool onComm = false;
  /// Of a call its label.
  std::string name;
  std::string layer;
  /// "forward", "loss", "backward" or "update".
  std::string section;
  std::int64_t step = 0;
  /// Seconds, on a clock that all spans of a file share.
  double begin = 0;
  double end = 0;

  // Of a call only.
  std::string callKind;
  /// Place in the phase's list of communications; -1 for none.
  int index = -1;
  /// Bytes this rank has sent.
  std::int64_t bytes = 0;
};

/// The spans of one rank.
struct Timeline {
  std::int64_t rank = 0;
  /// Its number among the servers; -1 for others.
  std::int64_t server = -1;
  std::vector<Span> spans;
  /// Spans that were left out because there were too many.
  std::int64_t dropped = 0;

  /// As bytes, for sending, and back, with times moved by `shift` seconds.
  std::vector<std::byte> pack() const;
  static Timeline unpack(const std::vector<std::byte> &bytes, double shift);
};

/// How the communication of one layer is hidden behind computation.
struct LayerOverlap {
  std::string layer;
  std::int64_t calls = 0;
  std::int64_t bytes = 0;
  /// Seconds in calls, the wait for later ranks included.
  double total = 0;
  /// Those of them in which the compute stream waited.
  double exposed = 0;

  /// The share of the communication that computation hides; 1 without any.
  double hidden() const { return total > 0 ? 1 - exposed / total : 1; }
};

/// The layers that communicate, in the order of their first call. A second of
/// a call is exposed when the compute stream spends it waiting, whatever for:
/// as the comm stream does one call after the other, that is what holds the
/// computation up then. Waits may overlap each other. Calls with a layer of "("
/// and so on are the runtime's own and left out.
std::vector<LayerOverlap> overlapOf(const std::vector<Span> &spans);

/// The sum over layers and ranks, and per layer the sum over ranks, in the
/// order in which layers first appear.
std::vector<LayerOverlap>
sumOverlaps(const std::vector<std::vector<LayerOverlap>> &ranks);
LayerOverlap totalOf(const std::vector<LayerOverlap> &layers);

/// Names of models may hold anything; messages and terminals get printable
/// ASCII, cut to `most` characters.
std::string printable(std::string text, std::size_t most);

/// A table for people: a row per layer and the sum, per rank and step.
std::string overlapTable(const std::vector<LayerOverlap> &layers, int ranks,
                         std::int64_t steps);

/// The spans as a file in the Trace Event Format, JSON object form, complete
/// events ("X"): a process per rank, and in it a thread for each stream and
/// for each stream's waits. Format: "Trace Event Format", Nicholas Duca and
/// Dominic Sinnerbrink, Google, 2016. Perfetto and chrome://tracing open it.
std::string traceJson(const std::vector<Timeline> &ranks,
                      const std::string &program);

} // namespace partita

#endif // PARTITA_CORE_TIMELINE_H
