//===- CallCheck.cpp - Collectives compared before they begin - -*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements CallCheck.h. What the ranks compare has a fixed size per group, so
// that even calls that have nothing in common can be compared.
//
//===----------------------------------------------------------------------===//

#include "core/CallCheck.h"

#include "core/RankLog.h"
#include "core/Timeline.h"

#include <algorithm>
#include <cstring>

using namespace partita;

namespace {

/// A stream that does its work at once on the calling thread.
class AtOnce final : public Stream {
public:
  explicit AtOnce(Device &device) : Stream(device) {}
  void record(Event &) override {}
  void wait(Event &) override {}
  void sync() override {}
  void communicate(const char *, std::function<void()> work) override {
    work();
  }
};

/// What ranks compare of a call, besides its parts.
struct Fixed {
  std::int64_t rankClass = 0;
  std::int64_t index = -1;
  std::int64_t type = 0;
  std::int64_t count = 0;
  std::int64_t reduction = 0;
  std::int64_t root = 0;
  std::int64_t algorithm = 0;
  std::int64_t workers = 0;
  std::int64_t isExchange = 0;
  char kind[16] = "";
  char label[96] = "";
};
constexpr std::size_t kFixedWords = sizeof(Fixed) / sizeof(std::int64_t);
static_assert(sizeof(Fixed) % sizeof(std::int64_t) == 0);

template <std::size_t N> void copyText(char (&to)[N], const char *from) {
  std::strncpy(to, from, N - 1);
  to[N - 1] = 0;
}

} // namespace

struct CallCheck::Group {
  const Communicator *original = nullptr;
  std::unique_ptr<Communicator> companion;
  std::vector<int> members;
  /// Calls so far.
  std::int64_t calls = 0;
};

/// The words that a rank shows: Fixed, the parts, what is awaited.
struct CallCheck::Card {
  std::vector<std::int64_t> words;
};

CallCheck::CallCheck(int rank, int rankClass, Device &device,
                     const Expected *expected, int workers)
    : rank(rank), rankClass(rankClass), workers(workers),
      stream(std::make_unique<AtOnce>(device)), expected(expected) {}

CallCheck::~CallCheck() = default;

std::string CallCheck::rankName(int of) const {
  return statusOf(of, workers).name();
}

void CallCheck::addGroup(const Communicator &group,
                         std::unique_ptr<Communicator> companion) {
  std::lock_guard<std::mutex> lock(mutex);
  groups.push_back(std::make_unique<Group>(
      Group{&group, std::move(companion), group.members(), 0}));
}

//===----------------------------------------------------------------------===//
// With the certificate
//===----------------------------------------------------------------------===//

void CallCheck::beginPhase(const std::string &name) {
  phase = name;
  next = 0;
  list = nullptr;
  if (!expected)
    return;
  auto it = lists.find(name);
  if (it == lists.end())
    it = lists.emplace(name, expected->calls(rank, name)).first;
  list = &it->second;
}

static std::string textOf(const std::vector<std::int64_t> &parts) {
  constexpr std::size_t kMost = 16;
  std::string text;
  for (std::size_t i = 0; i < parts.size() && i <= kMost; ++i)
    text += (i ? " + " : "") +
            (i < kMost ? std::to_string(parts[i]) : std::string("..."));
  return text;
}

static std::string textOf(const std::map<int, std::int64_t> &messages,
                          const char *preposition) {
  std::string text;
  for (auto [peer, elements] : messages)
    text += (text.empty() ? "" : ", ") + std::to_string(elements) + " " +
            preposition + " rank " + std::to_string(peer);
  return text.empty() ? "nothing" : text;
}

static std::string describe(const ExpectedCall &call) {
  std::string text = "call " + std::to_string(call.index) + " '" +
                     printable(call.label, 100) + "', " + call.kind + " of " +
                     std::to_string(call.count) + " " + call.type;
  if (!call.reduction.empty())
    text += " (" + call.reduction +
            (call.algorithm.empty() ? "" : ", " + call.algorithm) + ")";
  if (!call.parts.empty())
    text += " in parts of " + textOf(call.parts);
  if (call.kind == "exchange")
    text += " (sends " + textOf(call.sends, "to") + "; awaits " +
            textOf(call.awaits, "from") + ")";
  return text;
}

void CallCheck::endPhase() {
  while (list && next < list->size() && (*list)[next].isSkipped)
    ++next;
  if (list && next < list->size())
    throw Error("--debug-collectives: " + rankName(rank) + " has ended '" +
                phase +
                "' without a communication that the certificate lists, "
                "expected " +
                describe((*list)[next]));
}

static bool reduces(const IssuedCall &call) {
  return std::strcmp(call.kind, "allReduce") == 0 ||
         std::strcmp(call.kind, "reduceScatter") == 0 ||
         std::strcmp(call.kind, "push") == 0;
}

void CallCheck::checkExpected(const Communicator &group,
                              const IssuedCall &call) {
  ExpectedCall found;
  found.index = call.site.index;
  found.kind = call.kind;
  found.label = call.site.label;
  found.type = nameOf(call.type);
  found.reduction = reduces(call) ? nameOf(call.reduction) : "";
  if (call.algorithm != Algorithm::automatic)
    found.algorithm = nameOf(call.algorithm);
  found.count = call.count;
  for (int member = 0; call.parts && member < group.size(); ++member) {
    int peer = group.members()[member];
    if (!call.awaited)
      found.parts.push_back((*call.parts)[member]);
    else if ((*call.parts)[member] > 0)
      found.sends[peer] = (*call.parts)[member];
    if (call.awaited && (*call.awaited)[member] > 0)
      found.awaits[peer] = (*call.awaited)[member];
  }
  while (next < list->size() && (*list)[next].isSkipped &&
         (*list)[next].index != found.index)
    ++next;
  std::string where = "--debug-collectives: " + rankName(rank) +
                      " differs from the certificate in '" + phase +
                      "': found " + describe(found) + ", expected ";
  if (next == list->size())
    throw Error(where + "no further communication");
  const ExpectedCall &wanted = (*list)[next++];
  bool isEqual = found.index == wanted.index && found.kind == wanted.kind &&
                 found.label == wanted.label && found.type == wanted.type &&
                 found.reduction == wanted.reduction &&
                 found.algorithm == wanted.algorithm &&
                 found.count == wanted.count && found.parts == wanted.parts &&
                 found.sends == wanted.sends && found.awaits == wanted.awaits;
  if (!isEqual)
    throw Error(where + describe(wanted));
}

//===----------------------------------------------------------------------===//
// With the other ranks
//===----------------------------------------------------------------------===//

void CallCheck::issued(std::int64_t number, const Communicator &group,
                       const IssuedCall &call) {
  // Only calls of emitted programs have a place in the list.
  if (list && call.site.index >= 0)
    checkExpected(group, call);
  std::lock_guard<std::mutex> lock(mutex);
  auto it = std::find_if(groups.begin(), groups.end(), [&](const auto &each) {
    return each->original == &group;
  });
  if (it == groups.end())
    return;
  Fixed fixed;
  fixed.rankClass = rankClass;
  fixed.index = call.site.index;
  fixed.type = static_cast<std::int64_t>(call.type);
  fixed.isExchange = call.awaited != nullptr;
  // What an exchange sends differs from rank to rank.
  fixed.count = call.awaited ? 0 : call.count;
  fixed.reduction =
      reduces(call) ? static_cast<std::int64_t>(call.reduction) : 0;
  fixed.root = call.root;
  fixed.algorithm = static_cast<std::int64_t>(call.algorithm);
  fixed.workers = call.workers;
  copyText(fixed.kind, call.kind);
  copyText(fixed.label, call.site.label);
  int size = group.size();
  Card card;
  card.words.assign(kFixedWords + 2 * static_cast<std::size_t>(size), 0);
  std::memcpy(card.words.data(), &fixed, sizeof(fixed));
  for (int member = 0; member < size; ++member) {
    std::int64_t *words = card.words.data() + kFixedWords + member;
    if (call.parts)
      words[0] = (*call.parts)[member];
    if (call.awaited)
      words[size] = (*call.awaited)[member];
  }
  cards[number] = {it->get(), std::move(card)};
}

/// What two ranks disagree on: "count: 8 on rank 0, 10 on rank 1", or nothing.
static std::string difference(const Fixed &a, const Fixed &b,
                              const std::string &rankOfA,
                              const std::string &rankOfB) {
  auto tell = [&](const char *what, const std::string &ofA,
                  const std::string &ofB) {
    return std::string(what) + ": found " + ofA + " on " + rankOfA + " and " +
           ofB + " on " + rankOfB;
  };
  if (std::strcmp(a.kind, b.kind) != 0)
    return tell("kind", a.kind, b.kind);
  if (std::strcmp(a.label, b.label) != 0)
    return tell("label", "'" + printable(a.label, 96) + "'",
                "'" + printable(b.label, 96) + "'");
  // The lists of other classes may have other places.
  if (a.rankClass == b.rankClass && a.index != b.index)
    return tell("place", std::to_string(a.index), std::to_string(b.index));
  if (a.type != b.type)
    return tell("type", nameOf(static_cast<DType>(a.type)),
                nameOf(static_cast<DType>(b.type)));
  if (a.reduction != b.reduction)
    return tell("reduction", nameOf(static_cast<Reduction>(a.reduction)),
                nameOf(static_cast<Reduction>(b.reduction)));
  if (a.count != b.count)
    return tell("count", std::to_string(a.count), std::to_string(b.count));
  if (a.root != b.root)
    return tell("root", std::to_string(a.root), std::to_string(b.root));
  if (a.algorithm != b.algorithm)
    return tell("algorithm", nameOf(static_cast<Algorithm>(a.algorithm)),
                nameOf(static_cast<Algorithm>(b.algorithm)));
  if (a.workers != b.workers)
    return tell("workers", std::to_string(a.workers),
                std::to_string(b.workers));
  return "";
}

void CallCheck::compare(std::int64_t number) {
  Group *group;
  Card card;
  {
    std::lock_guard<std::mutex> lock(mutex);
    auto it = cards.find(number);
    if (it == cards.end())
      return;
    group = it->second.first;
    card = std::move(it->second.second);
    cards.erase(it);
  }
  auto width = static_cast<std::int64_t>(card.words.size());
  int size = group->companion->size(), self = group->companion->rank();
  std::vector<std::int64_t> all(static_cast<std::size_t>(width * size));
  std::copy(card.words.begin(), card.words.end(), all.begin() + self * width);
  group->companion->allGather(
      *stream, all.data(),
      Counts(std::vector<std::int64_t>(static_cast<std::size_t>(size), width)));
  ++group->calls;

  auto wordsOf = [&](int member) { return all.data() + member * width; };
  auto fixedOf = [&](int member) {
    Fixed fixed;
    std::memcpy(static_cast<void *>(&fixed), wordsOf(member), sizeof(fixed));
    return fixed;
  };
  Fixed mine = fixedOf(self), first = fixedOf(0);
  auto fail = [&](const std::string &what) {
    std::string call = mine.index >= 0 ? std::to_string(mine.index) + " " : "";
    throw Error("--debug-collectives: before call " + call + "'" +
                printable(mine.label, 96) + "' of " + rankName(rank) +
                ", number " + std::to_string(group->calls) + " of its group, " +
                what);
  };
  for (int member = 1; member < size; ++member) {
    std::string what =
        difference(first, fixedOf(member), rankName(group->members[0]),
                   rankName(group->members[member]));
    if (!what.empty())
      fail("ranks disagree on its " + what);
  }
  for (int member = 0; member < size; ++member)
    for (int peer = 0; peer < size; ++peer) {
      std::int64_t ours = wordsOf(member)[kFixedWords + peer];
      std::int64_t theirs = first.isExchange
                                ? wordsOf(peer)[kFixedWords + size + member]
                                : wordsOf(0)[kFixedWords + peer];
      if (ours == theirs)
        continue;
      if (first.isExchange)
        fail("rank " + std::to_string(group->members[member]) + " sends " +
             std::to_string(ours) + " elements to rank " +
             std::to_string(group->members[peer]) + ", which expects " +
             std::to_string(theirs));
      fail("ranks disagree on the part of " + rankName(group->members[peer]) +
           ": found " + std::to_string(theirs) + " elements on " +
           rankName(group->members[0]) + " and " + std::to_string(ours) +
           " on " + rankName(group->members[member]));
    }
}
