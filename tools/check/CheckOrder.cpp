//===- CheckOrder.cpp - No rank waits in a circle -------------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A graph over the calls of all groups of two steps. Call B follows call A
// where some rank begins B only after it has ended A: because they are on one
// stream, or through events. A call ends when all members have begun it, so
// all calls end if and only if the graph has no cycle (Kahn's topological
// sort, "Topological sorting of large networks", 1962).
//
//===----------------------------------------------------------------------===//

#include "Checks.h"

#include <algorithm>

namespace partita::check {

namespace {

/// Call `to` of a class begins after its call `from`.
struct Dependency {
  std::int32_t from = 0, to = 0;
};

class OrderCheck {
public:
  OrderCheck(const Certificate &certificate, const ClassOfRank &classOf,
             const std::string &phaseName, Report &report, Counts &counts)
      : certificate(certificate), classOf(classOf), phaseName(phaseName),
        report(report), counts(counts) {}

  void run() {
    for (const RankClass &each : certificate.classes)
      addClass(each.findPhase(phaseName));
    numberNodes();
    buildEdges();
    sort();
  }

private:
  /// Of a call of one step the communicator, the place of the group, which only
  /// servers have several of, and its number there.
  struct Position {
    int communicator = 0;
    std::int64_t place = 0, number = 0;
  };

  /// What a class does: its calls in two steps, numbered step by step.
  struct ClassCalls {
    const Phase *phase = nullptr;
    std::vector<Dependency> dependencies;
    std::vector<Position> positions;
  };

  void addClass(const Phase *phase) {
    ClassCalls &own = classes.emplace_back();
    own.phase = phase;
    if (!phase)
      return;
    std::map<std::pair<int, std::int64_t>, std::int64_t> next;
    for (int i : phase->calls) {
      const Action &action = phase->actions[i];
      Communicator used = communicatorOf(certificate, action);
      int number =
          communicators.try_emplace(used, communicators.size()).first->second;
      own.positions.push_back(
          {number, action.group, next[{number, action.group}]++});
    }
    // Calls that have ended when a stream has done so many items.
    std::array<std::vector<std::int32_t>, kStreams> lastCall;
    for (auto &list : lastCall)
      list.push_back(-1);
    std::int32_t call = 0;
    for (const Item &item : unroll(*phase).items) {
      bool isCall = phase->actions[item.action].kind == ActionKind::call;
      if (isCall)
        for (int s = 0; s < kStreams; ++s)
          if (std::int32_t from = lastCall[s][item.before[s]]; from >= 0)
            own.dependencies.push_back({from, call});
      std::vector<std::int32_t> &list = lastCall[item.stream];
      list.push_back(isCall ? call++ : list.back());
    }
  }

  //===--------------------------------------------------------------------===//
  // Nodes: (step, communicator, group, number of the call)
  //===--------------------------------------------------------------------===//

  void numberNodes() {
    std::vector<std::int64_t> longest(communicators.size(), 0);
    for (const ClassCalls &own : classes)
      for (const Position &each : own.positions)
        longest[each.communicator] =
            std::max(longest[each.communicator], each.number + 1);
    nodes.resize(communicators.size());
    for (const auto &[communicator, c] : communicators) {
      Numbering &numbering = nodes[c];
      numbering.axes = communicator.axes;
      numbering.length = longest[c];
      numbering.begin = total;
      total += longest[c] * certificate.groupsOver(communicator.axes);
    }
  }

  std::int64_t nodeOf(std::int64_t rank, std::int32_t call) const {
    const ClassCalls &own = classes[classOf[rank]];
    std::int64_t perStep = static_cast<std::int64_t>(own.positions.size());
    const Position &position = own.positions[call % perStep];
    const Numbering &numbering = nodes[position.communicator];
    return call / perStep * total + numbering.begin +
           certificate.groupOf(rank, numbering.axes, position.place) *
               numbering.length +
           position.number;
  }

  void buildEdges() {
    std::vector<std::int64_t> degree(2 * total + 1, 0);
    forEdges([&](std::int64_t from, std::int64_t) { ++degree[from + 1]; });
    for (std::size_t i = 1; i < degree.size(); ++i)
      degree[i] += degree[i - 1];
    begins = degree;
    targets.resize(begins.back());
    std::vector<std::int64_t> next(begins.begin(), begins.end() - 1);
    forEdges([&](std::int64_t from, std::int64_t to) {
      targets[next[from]++] = to;
    });
    counts.orderings += targets.size();
  }

  template <typename Visit> void forEdges(Visit visit) const {
    for (std::int64_t r = 0; r < certificate.allRanks(); ++r)
      for (const Dependency &each : classes[classOf[r]].dependencies)
        visit(nodeOf(r, each.from), nodeOf(r, each.to));
  }

  void sort() {
    std::vector<std::int32_t> waiting(2 * total, 0);
    for (std::int64_t target : targets)
      ++waiting[target];
    std::vector<std::int64_t> ready;
    for (std::int64_t node = 0; node < 2 * total; ++node)
      if (waiting[node] == 0)
        ready.push_back(node);
    std::int64_t done = 0;
    while (!ready.empty()) {
      std::int64_t node = ready.back();
      ready.pop_back();
      ++done;
      for (std::int64_t i = begins[node]; i < begins[node + 1]; ++i)
        if (--waiting[targets[i]] == 0)
          ready.push_back(targets[i]);
    }
    if (done < 2 * total)
      refuse(waiting);
  }

  /// Finds a cycle among the calls that wait for ever: every one of them
  /// follows another one.
  void refuse(const std::vector<std::int32_t> &waiting) {
    std::map<std::int64_t, std::int64_t> before;
    for (std::int64_t node = 0; node < 2 * total; ++node)
      if (waiting[node] > 0)
        for (std::int64_t i = begins[node]; i < begins[node + 1]; ++i)
          if (waiting[targets[i]] > 0)
            before.insert({targets[i], node});
    std::int64_t node = before.begin()->first;
    std::set<std::int64_t> seen;
    while (seen.insert(node).second)
      node = before[node];
    std::vector<std::int64_t> cycle;
    std::int64_t at = node;
    do {
      cycle.push_back(at);
      at = before[at];
    } while (at != node);
    std::reverse(cycle.begin(), cycle.end());
    describe(cycle);
  }

  void describe(const std::vector<std::int64_t> &cycle) {
    std::string text, where;
    for (std::size_t i = 0; i < cycle.size(); ++i) {
      std::int64_t from = cycle[i], to = cycle[(i + 1) % cycle.size()];
      if (i == 6) {
        text += "; and so on, " + std::to_string(cycle.size()) + " calls";
        break;
      }
      std::int64_t rank = rankBetween(from, to);
      if (rank < 0)
        continue;
      const ClassCalls &own = classes[classOf[rank]];
      text += (text.empty() ? "rank " : "; rank ") + std::to_string(rank) +
              " begins " + callText(own, rank, to) + " only after " +
              callText(own, rank, from);
      if (where.empty())
        where = placeOf(certificate.classes[classOf[rank]], own.phase,
                        actionOf(own, rank, to)) +
                ", rank " + std::to_string(rank);
    }
    report.add({"ranks wait for each other in a circle", where, text,
                "one order of all calls that every rank's streams and events "
                "keep",
                "give all ranks the same order of calls, or let one stream "
                "wait for the other's event so that the order is the same"});
  }

  /// A rank on which `to` follows `from`.
  std::int64_t rankBetween(std::int64_t from, std::int64_t to) const {
    for (std::int64_t r = 0; r < certificate.allRanks(); ++r)
      for (const Dependency &each : classes[classOf[r]].dependencies)
        if (nodeOf(r, each.from) == from && nodeOf(r, each.to) == to)
          return r;
    return -1;
  }

  int actionOf(const ClassCalls &own, std::int64_t rank,
               std::int64_t node) const {
    for (std::size_t call = 0; call < own.positions.size(); ++call)
      if (nodeOf(rank, static_cast<std::int32_t>(call)) % total == node % total)
        return own.phase->calls[call];
    return -1;
  }

  std::string callText(const ClassCalls &own, std::int64_t rank,
                       std::int64_t node) const {
    int action = actionOf(own, rank, node);
    if (action < 0)
      return "a call";
    const Action &call = own.phase->actions[action];
    return "call " + std::to_string(call.index) + " '" + call.label +
           "' over " + certificate.describe(call.axes);
  }

  struct Numbering {
    AxisSet axes = 0;
    std::int64_t begin = 0, length = 0;
  };

  const Certificate &certificate;
  const ClassOfRank &classOf;
  const std::string &phaseName;
  Report &report;
  Counts &counts;
  std::vector<ClassCalls> classes;
  std::map<Communicator, int> communicators;
  std::vector<Numbering> nodes;
  /// Nodes of one step.
  std::int64_t total = 0;
  /// Edges of node i: targets[begins[i]] to targets[begins[i + 1]].
  std::vector<std::int64_t> begins, targets;
};

} // namespace

void checkOrder(const Certificate &certificate, const ClassOfRank &classOf,
                Report &report, Counts &counts) {
  for (const std::string &name : phasesOf(certificate))
    OrderCheck(certificate, classOf, name, report, counts).run();
}

} // namespace partita::check
