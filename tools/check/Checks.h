//===- Checks.h - The single proofs ----------------------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each function proves one property and reports what contradicts it. Those
// below `checkRanks` rely on what the ones above them have proven.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_TOOLS_CHECK_CHECKS_H
#define PARTITA_TOOLS_CHECK_CHECKS_H

#include "Certificate.h"

#include <array>
#include <functional>
#include <map>
#include <set>

namespace partita::check {

/// A contradiction, as a reader needs it.
struct Finding {
  std::string what;
  std::string where;
  std::string found;
  std::string expected;
  std::string advice;
};

class Report {
public:
  void add(Finding finding);
  void add(const Report &other);
  bool isEmpty() const { return findings.empty(); }
  const std::vector<Finding> &getFindings() const { return findings; }
  /// Findings beyond the limit.
  std::size_t getMore() const { return more; }

private:
  std::vector<Finding> findings;
  std::size_t more = 0;
};

/// What has been counted, for the summary.
struct Counts {
  std::size_t calls = 0, communicators = 0, messages = 0, launches = 0;
  std::size_t orderings = 0, parameters = 0;
};

/// "class c0 (ranks 0-3), phase step, call 2 'bucket 0: fc1.weight'". The
/// action may be -1.
std::string placeOf(const RankClass &in, const Phase *phase, int action = -1);

/// The class of every rank. Empty unless classes partition the ranks.
using ClassOfRank = std::vector<int>;

/// Classes partition the ranks; buffers and parameters lie in the arena and
/// parameters do not overlap; parts of a parameter cover it once and are as
/// large on every rank as its class says.
ClassOfRank checkRanks(const Certificate &certificate, Report &report);

/// Samples of all inputs add up to the global batch, weights of means to 1.
void checkWeights(const Certificate &certificate, const ClassOfRank &classOf,
                  Report &report);

/// Communicators over the same axes, one per group: the ranks that differ on
/// `axes` only, and the servers of the group.
struct Communicator {
  AxisSet axes = 0;
  bool hasServers = false;

  bool operator<(const Communicator &other) const {
    return axes != other.axes ? axes < other.axes
                              : hasServers < other.hasServers;
  }
};

/// The names of all phases, in the order of the classes.
std::vector<std::string> phasesOf(const Certificate &certificate);
/// The communicator that a call uses.
Communicator communicatorOf(const Certificate &certificate, const Action &call);

/// Members of every communicator issue the same calls with matching counts;
/// every message has its receiver.
void checkCalls(const Certificate &certificate, const ClassOfRank &classOf,
                Report &report, Counts &counts);

/// How far each stream has come, as far as something knows: the number of
/// launches and calls on it that have ended.
using Clock = std::array<std::int64_t, kStreams>;

/// The order of a phase that runs twice, one after the other. Steps are 0 and
/// 1. An item is a launch or a call.
struct Item {
  int action = 0;
  int step = 0;
  int stream = 0;
  /// Its number on its stream, from 1.
  std::int64_t time = 0;
  /// What has ended before it begins.
  Clock before = {};
};
/// Items in the order in which they are issued, and at the end of each step
/// what the compute stream knows then.
struct Unrolled {
  std::vector<Item> items;
  std::array<Clock, 2> atEnd = {};
};
Unrolled unroll(const Phase &phase);

/// Events: recorded once, waits after records. Two uses of the same bytes on
/// two streams, one of them a write, are ordered, also between one step and the
/// next.
void checkStreams(const RankClass &in, const Phase &phase, Report &report);

/// One order of all calls on all ranks extends every rank's own: no rank waits
/// for another in a circle.
void checkOrder(const Certificate &certificate, const ClassOfRank &classOf,
                Report &report, Counts &counts);

/// A class and its phase of a name.
struct ClassPhase {
  const RankClass *in;
  const Phase *phase;
};

/// Follows the values of one phase through the arenas of its classes: what is
/// partial is combined once over exactly its axes before it is used; parameters
/// are updated once per step from their own gradient and are whole where they
/// are read; buffers still hold what is read from them.
void checkValues(const Certificate &certificate,
                 const std::vector<ClassPhase> &classes, Report &report);

} // namespace partita::check

#endif // PARTITA_TOOLS_CHECK_CHECKS_H
