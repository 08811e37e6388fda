//===- CheckCalls.cpp - Calls that meet -----------------------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The nth call of one member of a communicator meets the nth call of every
// other one. Classes are compared once per pair that shares a group, messages
// rank by rank.
//
//===----------------------------------------------------------------------===//

#include "Checks.h"

#include <algorithm>

namespace partita::check {

std::vector<std::string> phasesOf(const Certificate &certificate) {
  std::vector<std::string> names;
  for (const RankClass &each : certificate.classes)
    for (const Phase &phase : each.phases)
      if (std::find(names.begin(), names.end(), phase.name) == names.end())
        names.push_back(phase.name);
  return names;
}

Communicator communicatorOf(const Certificate &certificate,
                            const Action &call) {
  return {certificate.significant(call.axes), call.servers > 0};
}

namespace {

constexpr std::size_t kMaxMessages = std::size_t(1) << 27;

/// What a call is for: of "A reads B" and "values of A" it is A. A rank without
/// a part of B may name what stands for it.
std::string purposeOf(const std::string &label) {
  const std::string values = "values of ";
  if (label.compare(0, values.size(), values) == 0)
    return label.substr(values.size());
  return label.substr(0, label.find(" reads "));
}

std::string labelText(const Action &call) {
  return call.name + " '" + call.label + "'";
}

/// The calls of one phase on one communicator.
class CommunicatorCheck {
public:
  CommunicatorCheck(const Certificate &certificate, const ClassOfRank &classOf,
                    const std::string &phaseName,
                    const Communicator &communicator, Report &report,
                    Counts &counts)
      : certificate(certificate), classOf(classOf), phaseName(phaseName),
        communicator(communicator), report(report), counts(counts) {
    for (std::size_t c = 0; c < certificate.classes.size(); ++c)
      addColumn(static_cast<int>(c), 0);
    for (std::int64_t r = certificate.gridRanks();
         communicator.hasServers && r < certificate.allRanks(); ++r)
      for (std::int64_t place = 1;
           place < certificate.servedBy(r, communicator.axes); ++place)
        if (!columnOf.count({classOf[r], place}))
          addColumn(classOf[r], place);
  }

  void run() {
    if (!checkServers())
      return;
    bool isGood = true;
    for (auto [first, second] : pairs())
      isGood &= compare(first, second);
    if (!isGood)
      return;
    for (std::size_t n = 0; n < longest && report.isEmpty(); ++n)
      checkNumbers(n);
  }

private:
  /// The calls of a class on one of its groups.
  void addColumn(int rankClass, std::int64_t place) {
    columnOf[{rankClass, place}] = static_cast<int>(calls.size());
    classOfColumn.push_back(rankClass);
    placeOfColumn.push_back(place);
    const Phase *phase = certificate.classes[rankClass].findPhase(phaseName);
    phases.push_back(phase);
    std::vector<int> &own = calls.emplace_back();
    if (!phase)
      return;
    for (int i : phase->calls) {
      const Action &call = phase->actions[i];
      Communicator used = communicatorOf(certificate, call);
      if (!(used < communicator) && !(communicator < used) &&
          call.group == place)
        own.push_back(i);
    }
    longest = std::max(longest, own.size());
  }

  const RankClass &in(int column) const {
    return certificate.classes[classOfColumn[column]];
  }

  std::string name() const {
    std::string text =
        "the communicator over " + certificate.describe(communicator.axes);
    return text + (communicator.hasServers ? " with servers" : "");
  }

  /// Servers call on the groups they serve only, ranks of the grid on their own
  /// one, and all with as many servers as the group has.
  bool checkServers() {
    std::int64_t first = communicator.hasServers ? 0 : certificate.gridRanks();
    for (std::int64_t r = first; r < certificate.allRanks(); ++r) {
      int c = classOf[r];
      const Phase *phase = phases[c];
      for (int i : phase ? phase->calls : std::vector<int>()) {
        const Action &call = phase->actions[i];
        Communicator used = communicatorOf(certificate, call);
        if (!(used < communicator || communicator < used) &&
            !checkServersOf(r, call, placeOf(in(c), phase, i)))
          return false;
      }
    }
    return true;
  }

  bool checkServersOf(std::int64_t rank, const Action &call,
                      const std::string &place) {
    bool isServer = rank >= certificate.gridRanks();
    bool isThere = call.servers > 0 && certificate.servers > 0;
    std::int64_t groups = !isThere ? 0
                          : !isServer
                              ? 1
                              : certificate.servedBy(rank, communicator.axes);
    std::int64_t servers = 0;
    if (call.group < groups)
      servers = certificate.serversOf(
          certificate.groupOf(rank, communicator.axes, call.group),
          communicator.axes);
    if (servers > 0 && call.servers == servers)
      return true;
    report.add({"calls with servers do not fit the ranks",
                place + ", " + name() + ", rank " + std::to_string(rank),
                std::to_string(call.servers) + " servers in group " +
                    std::to_string(call.group) + " of the rank's " +
                    std::to_string(groups) + " groups",
                std::to_string(servers) + " servers",
                "the " + std::to_string(certificate.servers) +
                    " servers are dealt out to the groups over the axes in "
                    "turn; compile again"});
    return false;
  }

  /// Pairs of columns that share a group: the leader's and another member's.
  std::set<std::pair<int, int>> pairs() const {
    std::set<std::pair<int, int>> found;
    for (std::int64_t r = 0; r < certificate.gridRanks(); ++r) {
      int leader = classOf[certificate.leaderOf(r, communicator.axes)];
      if (leader != classOf[r])
        found.insert({leader, classOf[r]});
    }
    forServed([&](std::int64_t leader, std::int64_t server, int column) {
      (void)server;
      found.insert({classOf[leader], column});
    });
    return found;
  }

  /// Calls visit(leader, server, column) for every group of every server.
  template <typename Visit> void forServed(Visit visit) const {
    for (std::int64_t r = certificate.gridRanks();
         communicator.hasServers && r < certificate.allRanks(); ++r)
      for (std::int64_t place = 0;
           place < certificate.servedBy(r, communicator.axes); ++place)
        visit(certificate.leaderOfGroup(
                  certificate.groupOf(r, communicator.axes, place),
                  communicator.axes),
              r, columnOf.at({classOf[r], place}));
  }

  /// Two ranks of these columns that meet.
  std::pair<std::int64_t, std::int64_t> example(int first, int second) const {
    std::pair<std::int64_t, std::int64_t> found = {0, 0};
    forServed([&](std::int64_t leader, std::int64_t server, int column) {
      if (classOf[leader] == first && column == second)
        found = {leader, server};
    });
    for (std::int64_t r = 0; r < certificate.gridRanks(); ++r) {
      std::int64_t leader = certificate.leaderOf(r, communicator.axes);
      if (classOf[leader] == first && classOf[r] == second)
        return {leader, r};
    }
    return found;
  }

  /// In what two calls that meet differ, as (found, expected); empty texts
  /// where they do not.
  static std::pair<std::string, std::string> difference(const Action &mine,
                                                        const Action &other) {
    if (mine.name != other.name)
      return {mine.name, other.name};
    if (purposeOf(mine.label) != purposeOf(other.label))
      return {"'" + mine.label + "'", "'" + other.label + "'"};
    if (mine.type != other.type)
      return {"elements of " + mine.type, "elements of " + other.type};
    if (mine.reduction != other.reduction)
      return {std::string("reduction ") + nameOf(mine.reduction),
              nameOf(other.reduction)};
    if (mine.algorithm != other.algorithm)
      return {"algorithm '" + mine.algorithm + "'",
              "algorithm '" + other.algorithm + "'"};
    bool hasTables = mine.table >= 0 && other.table >= 0;
    if ((mine.table >= 0) != (other.table >= 0))
      return {mine.table >= 0 ? "a move of a tensor" : "parts of a bucket",
              mine.table >= 0 ? "parts of a bucket" : "a move of a tensor"};
    if (!(mine.parts == other.parts))
      return {"parts " + describe(mine.parts), describe(other.parts)};
    if (!hasTables && mine.count != other.count)
      return {std::to_string(mine.count) + " elements",
              std::to_string(other.count)};
    return {};
  }

  bool compare(int first, int second) {
    const std::vector<int> &expected = calls[first], &own = calls[second];
    for (std::size_t n = 0; n < std::min(expected.size(), own.size()); ++n) {
      const Action &mine = phases[second]->actions[own[n]];
      const Action &other = phases[first]->actions[expected[n]];
      auto [found, wanted] = difference(mine, other);
      if (found.empty())
        continue;
      auto [leader, rank] = example(first, second);
      report.add({"ranks of one communicator issue different calls",
                  placeOf(in(second), phases[second], own[n]) + ", call " +
                      std::to_string(n) + " of " + name() + ", rank " +
                      std::to_string(rank),
                  labelText(mine) + ": " + found,
                  labelText(other) + ": " + wanted + ", as rank " +
                      std::to_string(leader) + " of class " + in(first).name +
                      " issues in call " + std::to_string(other.index),
                  "all members must issue the same calls in the same order; "
                  "look for a call that one class lacks, adds or reorders"});
      return false;
    }
    if (expected.size() == own.size())
      return compareBuckets(first, second);
    bool isShort = own.size() < expected.size();
    int longer = isShort ? first : second;
    int at = calls[longer][std::min(expected.size(), own.size())];
    auto [leader, rank] = example(first, second);
    report.add({"a rank issues a call that others of its communicator do not",
                placeOf(in(longer), phases[longer], at) + ", " + name(),
                "rank " + std::to_string(rank) + " of class " +
                    in(second).name + " issues " + std::to_string(own.size()) +
                    " calls",
                std::to_string(expected.size()) + ", as rank " +
                    std::to_string(leader) + " of class " + in(first).name +
                    "; else one waits for the other for ever",
                "every rank takes part in every call of its communicators, "
                "also with nothing to send"});
    return false;
  }

  /// Where parameters lie in the buffer of a call: number, offset, size.
  using BucketLayout = std::vector<std::array<std::int64_t, 3>>;
  BucketLayout bucketOf(int column, int action) const {
    const Action &call = phases[column]->actions[action];
    const Bytes &bucket = phases[column]->buffers[call.buffer].bytes;
    BucketLayout layout;
    if (phaseName != "step" || call.table >= 0)
      return layout;
    for (const ParameterUse &use : in(column).parameters) {
      // What a server keeps for another group is not this one's.
      if (use.group != placeOfColumn[column])
        continue;
      for (const Bytes &bytes : {use.gradient, use.value})
        if (bytes.size() > 0 && bucket.contains(bytes))
          layout.push_back(
              {use.parameter, bytes.begin - bucket.begin, bytes.size()});
    }
    return layout;
  }

  /// What is combined element by element is the same parameter everywhere.
  bool compareBuckets(int first, int second) {
    for (std::size_t n = 0; n < calls[first].size(); ++n) {
      BucketLayout expected = bucketOf(first, calls[first][n]);
      BucketLayout own = bucketOf(second, calls[second][n]);
      auto [mine, other] = std::mismatch(own.begin(), own.end(),
                                         expected.begin(), expected.end());
      if (mine == own.end() && other == expected.end())
        continue;
      auto text = [&](BucketLayout::iterator at, BucketLayout::iterator end) {
        return at == end ? std::string("no more parameters")
                         : certificate.parameters[(*at)[0]].name + ", " +
                               std::to_string((*at)[2]) + " bytes, at byte " +
                               std::to_string((*at)[1]);
      };
      report.add(
          {"a bucket holds other parameters on other ranks",
           placeOf(in(second), phases[second], calls[second][n]),
           text(mine, own.end()),
           text(other, expected.end()) + ", as in class " + in(first).name,
           "buckets are laid out alike on all ranks that share them"});
      return false;
    }
    return true;
  }

  //===--------------------------------------------------------------------===//
  // Numbers of elements
  //===--------------------------------------------------------------------===//

  void checkNumbers(std::size_t n) {
    // Per column the table of its nth call; -1: parts in the call, or none.
    std::vector<int> tables;
    bool hasParts = false, hasMessages = false;
    for (std::size_t c = 0; c < calls.size(); ++c) {
      if (n >= calls[c].size()) {
        tables.push_back(-1);
        continue;
      }
      const Action &call = phases[c]->actions[calls[c][n]];
      checkOwn(static_cast<int>(c), calls[c][n]);
      tables.push_back(call.table);
      if (call.table >= 0)
        (certificate.tables[call.table].isParts ? hasParts : hasMessages) =
            true;
    }
    if (hasParts)
      checkPartTables(n, tables);
    if (hasMessages)
      checkMessages(n, tables);
  }

  void refuseCount(const RankClass &in, const Phase &phase, int action,
                   std::int64_t found, std::int64_t expected,
                   const std::string &why) {
    report.add({"a call has a wrong number of elements",
                placeOf(in, &phase, action), std::to_string(found),
                std::to_string(expected) + ", " + why,
                "counts come from one table of sizes; compile again"});
  }

  /// The call against its own buffer and parts.
  void checkOwn(int column, int action) {
    const RankClass &in = this->in(column);
    const Phase &phase = *phases[column];
    const Action &call = phase.actions[action];
    const Buffer &buffer = phase.buffers[call.buffer];
    if (call.type != buffer.type) {
      report.add({"a call sends another type than its buffer has",
                  placeOf(in, &phase, action), call.type, buffer.type,
                  "compile again"});
      return;
    }
    if (call.count != buffer.count)
      return refuseCount(in, phase, action, call.count, buffer.count,
                         "those of buffer '" + buffer.name + "'");
    if (!call.parts.empty())
      checkParts(in, phase, action, call.parts);
  }

  void checkParts(const RankClass &in, const Phase &phase, int action,
                  const Parts &parts) {
    const Action &call = phase.actions[action];
    std::int64_t members = 0, sum = 0;
    for (const PartRun &run : parts) {
      members += run.times;
      // More than there are, and perhaps more than a number can hold.
      bool isTooMuch =
          run.elements > 0 && run.times > (call.count - sum) / run.elements;
      if (isTooMuch) {
        report.add({"the parts of a call are more than its buffer",
                    placeOf(in, &phase, action), "parts " + describe(parts),
                    std::to_string(call.count) + " elements together",
                    "counts come from one table of sizes; compile again"});
        return;
      }
      sum += run.elements * run.times;
    }
    std::int64_t size = certificate.groupSize(communicator.axes) + call.servers;
    if (members != size) {
      report.add({"a call does not have one part per member",
                  placeOf(in, &phase, action),
                  std::to_string(members) + " parts " + describe(parts),
                  std::to_string(size) + ", the members of " + name(),
                  "members without a part have a part of 0 elements"});
      return;
    }
    if (sum != call.count)
      refuseCount(in, phase, action, call.count, sum,
                  "the sum of the parts " + describe(parts));
  }

  /// The entry of every rank of `table`, or null after an error.
  const std::vector<const TableEntry *> *entriesOf(int table) {
    auto [it, isNew] = entries.try_emplace(table);
    if (!isNew)
      return it->second.empty() ? nullptr : &it->second;
    std::vector<const TableEntry *> of(certificate.allRanks(), nullptr);
    for (const TableEntry &entry : certificate.tables[table].entries)
      for (const RankRange &range : entry.ranks)
        for (std::int64_t r = range.first; r <= range.last; r += range.step) {
          if (of[r]) {
            report.add({"a table lists a rank twice",
                        "table " + std::to_string(table),
                        "rank " + std::to_string(r) + " in two entries",
                        "every rank once", "compile again"});
            return nullptr;
          }
          of[r] = &entry;
        }
    it->second = std::move(of);
    return &it->second;
  }

  /// The entry of a rank for the nth call; null after an error.
  const TableEntry *entryOf(std::size_t n, std::int64_t rank,
                            const std::vector<int> &tables) {
    int table = tables[classOf[rank]];
    const auto *of = entriesOf(table);
    if (!of)
      return nullptr;
    if (!(*of)[rank]) {
      int c = classOf[rank];
      report.add({"a table lacks a rank that uses it",
                  placeOf(certificate.classes[c], phases[c], calls[c][n]),
                  "table " + std::to_string(table) + " without rank " +
                      std::to_string(rank),
                  "an entry for every rank", "compile again"});
      return nullptr;
    }
    return (*of)[rank];
  }

  void checkPartTables(std::size_t n, const std::vector<int> &tables) {
    std::set<std::pair<int, const TableEntry *>> checked;
    for (std::int64_t r = 0; r < certificate.gridRanks(); ++r) {
      int c = classOf[r];
      if (tables[c] < 0)
        continue;
      const TableEntry *own = entryOf(n, r, tables);
      const TableEntry *leader =
          entryOf(n, certificate.leaderOf(r, communicator.axes), tables);
      if (!own || !leader)
        return;
      if (!(own->parts == leader->parts)) {
        report.add(
            {"members of a communicator divide a buffer differently",
             placeOf(certificate.classes[c], phases[c], calls[c][n]) +
                 ", rank " + std::to_string(r),
             "parts " + describe(own->parts),
             describe(leader->parts) + ", as rank " +
                 std::to_string(certificate.leaderOf(r, communicator.axes)),
             "parts come from one table of sizes; compile again"});
        return;
      }
      if (checked.insert({c, own}).second)
        checkParts(certificate.classes[c], *phases[c], calls[c][n], own->parts);
      if (!report.isEmpty())
        return;
    }
  }

  struct Message {
    std::int64_t from, to, elements;

    bool operator<(const Message &other) const {
      return from != other.from ? from < other.from
             : to != other.to   ? to < other.to
                                : elements < other.elements;
    }
    bool operator==(const Message &other) const {
      return from == other.from && to == other.to && elements == other.elements;
    }
  };

  void checkMessages(std::size_t n, const std::vector<int> &tables) {
    // A table that all classes use is checked once per phase.
    bool isShared = std::all_of(tables.begin(), tables.end(),
                                [&](int table) { return table == tables[0]; });
    bool isKnown = isShared && !mutual.insert(tables[0]).second;
    std::vector<Message> sent, received;
    for (std::int64_t r = 0; r < certificate.gridRanks(); ++r) {
      if (tables[classOf[r]] < 0)
        continue;
      const TableEntry *entry = entryOf(n, r, tables);
      if (!entry || !checkStaging(n, r, *entry))
        return;
      if (isKnown)
        continue;
      if (!expand(n, r, entry->sends, true, sent) ||
          !expand(n, r, entry->receives, false, received))
        return;
    }
    if (isKnown)
      return;
    counts.messages += sent.size();
    std::sort(sent.begin(), sent.end());
    std::sort(received.begin(), received.end());
    if (sent == received)
      return;
    std::size_t i = 0;
    while (i < sent.size() && i < received.size() && sent[i] == received[i])
      ++i;
    refuseMessage(n, sent, received, i);
  }

  /// What a rank sends and receives fills its staging buffer.
  bool checkStaging(std::size_t n, std::int64_t rank, const TableEntry &entry) {
    int c = classOf[rank];
    const Action &call = phases[c]->actions[calls[c][n]];
    std::int64_t sum = 0;
    bool isTooMuch = false;
    for (const auto *runs : {&entry.sends, &entry.receives})
      for (const MessageRun &run : *runs) {
        isTooMuch |= run.count > (call.count - sum) / run.elements;
        sum += isTooMuch ? 0 : run.count * run.elements;
      }
    if (sum == call.count && !isTooMuch)
      return true;
    report.add({"messages do not fill the buffer they are sent from",
                placeOf(certificate.classes[c], phases[c], calls[c][n]) +
                    ", rank " + std::to_string(rank),
                std::to_string(call.count) + " elements",
                (isTooMuch ? "more" : std::to_string(sum)) +
                    ", what the rank sends and receives",
                "a halo that is wider or narrower than the buffer planned for "
                "it: compare the window's extent, stride and padding"});
    return false;
  }

  bool expand(std::size_t n, std::int64_t rank,
              const std::vector<MessageRun> &runs, bool isSend,
              std::vector<Message> &to) {
    int c = classOf[rank];
    auto refuse = [&](const std::string &what, std::int64_t peer,
                      const std::string &expected) {
      report.add(
          {what,
           placeOf(certificate.classes[c], phases[c], calls[c][n]) + ", rank " +
               std::to_string(rank),
           std::string(isSend ? "sends to rank " : "receives from rank ") +
               std::to_string(peer),
           expected,
           "neighbours are global ranks, not places in the group: they "
           "differ on the call's axes only"});
      return false;
    };
    for (const MessageRun &run : runs)
      for (std::int64_t i = 0; i < run.count; ++i) {
        std::int64_t peer = rank + run.delta + i * run.stride;
        if (peer < 0 || peer >= certificate.gridRanks())
          return refuse("a message goes to a rank that does not exist", peer,
                        "ranks 0 to " +
                            std::to_string(certificate.gridRanks() - 1));
        if (peer == rank)
          return refuse("a rank sends to itself", peer,
                        "what a rank has already stays where it is");
        if (certificate.leaderOf(peer, communicator.axes) !=
            certificate.leaderOf(rank, communicator.axes))
          return refuse("a message leaves its communicator", peer,
                        "a member of the group of rank " +
                            std::to_string(
                                certificate.leaderOf(rank, communicator.axes)) +
                            " over " + certificate.describe(communicator.axes));
        if (to.size() >= kMaxMessages)
          return refuse("there are too many messages", peer,
                        "at most 2^27 per call");
        to.push_back(isSend ? Message{rank, peer, run.elements}
                            : Message{peer, rank, run.elements});
      }
    return true;
  }

  void refuseMessage(std::size_t n, const std::vector<Message> &sent,
                     const std::vector<Message> &received, std::size_t i) {
    bool isSent =
        i < sent.size() && (i >= received.size() || sent[i] < received[i]);
    const Message &message = isSent ? sent[i] : received[i];
    // The same two ranks on the other side, with another size.
    const std::vector<Message> &others = isSent ? received : sent;
    auto it = std::lower_bound(others.begin(), others.end(),
                               Message{message.from, message.to, 0});
    std::string expected =
        it != others.end() && it->from == message.from && it->to == message.to
            ? std::to_string(it->elements) + " elements"
            : "a message";
    int c = classOf[isSent ? message.from : message.to];
    report.add(
        {isSent ? "a message is sent that is not received like that"
                : "a message is awaited that is not sent like that",
         placeOf(certificate.classes[c], phases[c], calls[c][n]) +
             ", from rank " + std::to_string(message.from) + " to rank " +
             std::to_string(message.to),
         isSent ? "rank " + std::to_string(message.from) + " sends " +
                      std::to_string(message.elements) + " elements"
                : "rank " + std::to_string(message.to) + " receives " +
                      std::to_string(message.elements) + " elements",
         isSent
             ? "rank " + std::to_string(message.to) + " to receive them" +
                   (expected == "a message" ? "" : ", it receives " + expected)
             : "rank " + std::to_string(message.from) + " to send them" +
                   (expected == "a message" ? "" : ", it sends " + expected),
         "both sides must come from one table of pieces; compile again"});
  }

  const Certificate &certificate;
  const ClassOfRank &classOf;
  const std::string &phaseName;
  const Communicator &communicator;
  Report &report;
  Counts &counts;
  /// A column for each class, by its number, then one for each further group
  /// that the servers of a class serve: the class, its phase, and the actions
  /// that are calls of this communicator.
  std::vector<int> classOfColumn;
  std::vector<std::int64_t> placeOfColumn;
  std::vector<const Phase *> phases;
  std::vector<std::vector<int>> calls;
  std::map<std::pair<int, std::int64_t>, int> columnOf;
  std::size_t longest = 0;
  std::map<int, std::vector<const TableEntry *>> entries;
  /// Tables whose messages have been matched for all ranks.
  std::set<int> mutual;
};

} // namespace

void checkCalls(const Certificate &certificate, const ClassOfRank &classOf,
                Report &report, Counts &counts) {
  std::set<Communicator> all;
  for (const std::string &name : phasesOf(certificate)) {
    std::set<Communicator> used;
    std::size_t most = 0;
    for (const RankClass &each : certificate.classes)
      if (const Phase *phase = each.findPhase(name)) {
        most = std::max(most, phase->calls.size());
        for (int i : phase->calls)
          used.insert(communicatorOf(certificate, phase->actions[i]));
      }
    counts.calls += most;
    for (const Communicator &communicator : used)
      CommunicatorCheck(certificate, classOf, name, communicator, report,
                        counts)
          .run();
    all.insert(used.begin(), used.end());
  }
  counts.communicators = all.size();
}

} // namespace partita::check
