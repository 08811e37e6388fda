//===- Collectives.cpp - Collectives made of messages -----------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements Collectives.h. The patterns' sources stand with `Algorithm` in
// partita/communicator.h. Sums are made here and not by MPI, which promises
// neither an order nor equal bits on all ranks.
//
//===----------------------------------------------------------------------===//

#include "comm/mpi/Collectives.h"

#include <algorithm>
#include <cstring>

using namespace partita;

namespace {

using Requests = Channel::Requests;

/// Segments on their way at once, to each rank: inside a node so many that
/// nobody waits for a wake-up; between nodes about what links and a switch
/// hold, for what a switch drops costs more than what it delays (an all-gather
/// of 0.9 MB on four hosts at 100 Mbit/s: 74 ms with 8, 60 with 2, 53 at best).
constexpr int kWindow = 8, kWindowBetweenNodes = 2;

/// Elements [from, from + count) of a shard.
struct Segment {
  std::int64_t start, count;
};

Segment segmentOf(std::int64_t start, std::int64_t count, std::int64_t index,
                  std::int64_t length) {
  std::int64_t from = std::min(count, index * length);
  return {start + from, std::min(length, count - from)};
}

Message messageOf(const Elements &elements, int peer, const Segment &segment) {
  return {peer, elements.at(segment.start),
          segment.count * static_cast<std::int64_t>(sizeOf(elements.type))};
}

bool has(const std::vector<int> &ranks, int rank) {
  return std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
}

/// The others of `ranks`, those behind this rank first, so that not all ranks
/// send to the same one first.
std::vector<int> othersOf(const std::vector<int> &ranks, int self) {
  std::vector<int> others;
  for (int rank : ranks)
    if (rank > self)
      others.push_back(rank);
  for (int rank : ranks)
    if (rank < self)
      others.push_back(rank);
  return others;
}

} // namespace

std::vector<int> Collectives::everybody() const {
  std::vector<int> ranks(size());
  for (int peer = 0; peer < size(); ++peer)
    ranks[peer] = peer;
  return ranks;
}

std::int64_t Collectives::segmentElements(const Elements &elements) const {
  // Between nodes, just below what MPI sends over TCP without asking the
  // receiver first (64 KB in Open MPI), so that no answer is waited for. Inside
  // a node, what fits into the cache several times.
  constexpr std::int64_t kBetweenNodes = 48 * 1024, kInsideNode = 256 * 1024;
  std::int64_t bytes = nodes.count() > 1 ? kBetweenNodes : kInsideNode;
  return bytes / static_cast<std::int64_t>(sizeOf(elements.type));
}

char *Collectives::scratchOf(std::int64_t bytes) {
  if (static_cast<std::int64_t>(scratch.size()) < bytes)
    scratch.resize(static_cast<std::size_t>(bytes));
  return scratch.data();
}

void Collectives::allReduce(const Elements &elements, Algorithm algorithm) {
  switch (patternFor(algorithm, elements.bytes(), nodes)) {
  case Pattern::gather:
    return allReduceByGather(elements);
  case Pattern::direct:
    return share(elements, shardsOf(0, elements.count, everybody()),
                 everybody(), everybody());
  case Pattern::ring:
    return allReduceInRing(elements);
  case Pattern::tree:
    return allReduceInTree(elements);
  case Pattern::hierarchical:
    return allReduceInHierarchy(elements);
  }
}

//===----------------------------------------------------------------------===//
// Direct messages
//===----------------------------------------------------------------------===//

void Collectives::allReduceByGather(const Elements &elements) {
  std::int64_t bytes = elements.bytes();
  char *space = scratchOf(bytes * size());
  Requests requests;
  std::vector<const void *> parts(size(), elements.data);
  for (int peer : othersOf(everybody(), rank)) {
    parts[peer] = space + peer * bytes;
    channel.receive(requests, {peer, space + peer * bytes, bytes},
                    MessageKind::reduced);
  }
  for (int peer : othersOf(everybody(), rank))
    channel.send(requests, {peer, elements.data, bytes}, MessageKind::reduced);
  channel.await(requests);
  combineInOrder(elements.data, parts, elements.count, elements.type,
                 elements.reduction);
}

void Collectives::share(const Elements &elements,
                        const std::vector<Shard> &shards,
                        const std::vector<int> &contributors,
                        const std::vector<int> &receivers) {
  std::int64_t length = segmentElements(elements);
  std::int64_t longest = 0;
  Shard mine{rank, 0, 0};
  // Those behind this rank first, as everywhere.
  std::vector<Shard> others;
  for (bool behind : {true, false})
    for (const Shard &shard : shards)
      if (shard.owner != rank && (shard.owner > rank) == behind)
        others.push_back(shard);
  for (const Shard &shard : shards) {
    longest = std::max(longest, shard.count);
    if (shard.owner == rank)
      mine = shard;
  }
  std::int64_t segments = (longest + length - 1) / length;
  auto ownSegment = [&](std::int64_t index) {
    return segmentOf(mine.start, mine.count, index, length);
  };
  auto forOthers = [&](std::int64_t index, auto action) {
    for (const Shard &shard : others)
      action(shard.owner, segmentOf(shard.start, shard.count, index, length));
  };

  // Where the segments of the contributors arrive: a window of slots for each.
  int window = static_cast<int>(std::min<std::int64_t>(
      nodes.count() > 1 ? kWindowBetweenNodes : kWindow, segments));
  std::vector<int> sources = othersOf(contributors, rank);
  std::int64_t slotBytes = std::min(mine.count, length) *
                           static_cast<std::int64_t>(sizeOf(elements.type));
  std::int64_t sourceCount = static_cast<std::int64_t>(sources.size());
  char *space = scratchOf(slotBytes * sourceCount * window);
  auto slot = [&](std::int64_t index, std::size_t source) {
    return space +
           (index % window * sourceCount + static_cast<std::int64_t>(source)) *
               slotBytes;
  };

  auto postReduce = [&](std::int64_t index, Requests &requests) {
    for (std::size_t i = 0; i < sources.size(); ++i) {
      Message message = messageOf(elements, sources[i], ownSegment(index));
      message.data = slot(index, i);
      channel.receive(requests, message, MessageKind::toReduce);
    }
    if (has(contributors, rank))
      forOthers(index, [&](int owner, const Segment &segment) {
        channel.send(requests, messageOf(elements, owner, segment),
                     MessageKind::toReduce);
      });
  };
  auto combine = [&](std::int64_t index) {
    Segment segment = ownSegment(index);
    bool combines = !sources.empty() && segment.count > 0;
    if (!combines)
      return;
    std::vector<const void *> parts;
    for (int contributor : contributors) {
      auto place = std::find(sources.begin(), sources.end(), contributor);
      parts.push_back(contributor == rank
                          ? elements.at(segment.start)
                          : slot(index, place - sources.begin()));
    }
    combineInOrder(elements.at(segment.start), parts, segment.count,
                   elements.type, elements.reduction);
  };
  auto postGather = [&](std::int64_t index, Requests &requests) {
    if (has(receivers, rank))
      forOthers(index, [&](int owner, const Segment &segment) {
        channel.receive(requests, messageOf(elements, owner, segment),
                        MessageKind::reduced);
      });
    for (int receiver : othersOf(receivers, rank))
      channel.send(requests, messageOf(elements, receiver, ownSegment(index)),
                   MessageKind::reduced);
  };

  // What has been sent of a segment is overwritten only when it has left:
  // `reducing` holds the sends, too.
  std::vector<Requests> reducing(window), gathering(window);
  std::int64_t posted = 0;
  for (std::int64_t index = 0; index < segments; ++index) {
    for (; posted < std::min(segments, index + window); ++posted)
      postReduce(posted, reducing[posted % window]);
    channel.await(reducing[index % window]);
    combine(index);
    channel.await(gathering[index % window]);
    postGather(index, gathering[index % window]);
  }
  for (Requests &requests : gathering)
    channel.await(requests);
}

void Collectives::allReduceInHierarchy(const Elements &elements) {
  std::vector<int> owners = nodes.ranksOf(nodes.nodeOf(rank));
  const std::vector<int> neighbours = owners;
  owners.resize(nodes.shards());
  std::vector<Shard> shards = shardsOf(0, elements.count, owners);
  reduce(elements, shards, neighbours);
  int index = nodes.indexOf(rank);
  if (index < nodes.shards()) {
    std::vector<int> peers = nodes.acrossNodes(index);
    share(elements, shardsOf(shards[index].start, shards[index].count, peers),
          peers, peers);
  }
  gather(elements, shards, neighbours);
}

//===----------------------------------------------------------------------===//
// Ring and tree
//===----------------------------------------------------------------------===//

void Collectives::allReduceInRing(const Elements &elements) {
  int next = (rank + 1) % size(), before = (rank + size() - 1) % size();
  std::vector<Shard> parts = shardsOf(0, elements.count, everybody());
  std::int64_t longest = 0;
  for (const Shard &part : parts)
    longest = std::max(longest, part.count);
  // Some segments in each part, so that a rank sends one while it waits for
  // another; but none so small that it is not worth a message.
  constexpr std::int64_t kFewestPerPart = 4, kLeastBytes = 16 * 1024;
  std::int64_t elementBytes = sizeOf(elements.type);
  std::int64_t length =
      std::clamp((longest + kFewestPerPart - 1) / kFewestPerPart,
                 kLeastBytes / elementBytes, segmentElements(elements));
  std::int64_t perPart = (longest + length - 1) / length;
  std::int64_t window = std::min<std::int64_t>(kWindow, perPart);
  char *space = scratchOf(window * length * elementBytes);

  // In step t a rank sends part rank - 1 - t and receives the one before that:
  // the first n - 1 steps reduce, the others pass on what is done. What is
  // received in one step is sent in the next.
  int steps = 2 * size() - 2;
  auto segmentAt = [&](int step, std::int64_t tick) {
    int part = ((rank - 2 - step) % size() + size()) % size();
    return segmentOf(parts[part].start, parts[part].count, tick % perPart,
                     length);
  };
  std::int64_t ticks = steps * perPart, reduceTicks = (size() - 1) * perPart;
  std::vector<Requests> receives(window), sends(ticks);
  auto send = [&](std::int64_t tick) {
    if (tick < ticks)
      channel.send(
          sends[tick],
          messageOf(elements, next,
                    segmentAt(static_cast<int>(tick / perPart) - 1, tick)),
          MessageKind::toReduce);
  };
  auto receive = [&](std::int64_t tick) {
    if (tick >= ticks)
      return;
    Message message = messageOf(
        elements, before, segmentAt(static_cast<int>(tick / perPart), tick));
    // The last part arrives in place, where an old one has to have left.
    if (tick < reduceTicks)
      message.data = space + tick % window * length * elementBytes;
    else
      channel.await(sends[tick - reduceTicks]);
    channel.receive(receives[tick % window], message, MessageKind::toReduce);
  };
  for (std::int64_t tick = 0; tick < perPart; ++tick)
    send(tick);
  for (std::int64_t tick = 0; tick < window; ++tick)
    receive(tick);
  for (std::int64_t tick = 0; tick < ticks; ++tick) {
    channel.await(receives[tick % window]);
    if (tick < reduceTicks) {
      Segment segment = segmentAt(static_cast<int>(tick / perPart), tick);
      combineInOrder(elements.at(segment.start),
                     {space + tick % window * length * elementBytes,
                      elements.at(segment.start)},
                     segment.count, elements.type, elements.reduction);
    }
    send(tick + perPart);
    receive(tick + window);
  }
  for (Requests &requests : sends)
    channel.await(requests);
}

void Collectives::allReduceInTree(const Elements &elements) {
  /// One message each way at most; what arrives is combined or taken.
  struct Step {
    int peer;
    bool sends, receives, combines;
  };
  int inner = powerOfTwoWithin(size());
  std::vector<Step> steps;
  if (rank >= inner) {
    steps.push_back({rank - inner, true, false, false});
    // Its result is ready when the inner ranks have done their steps.
    for (int distance = 1; distance < inner; distance *= 2)
      steps.push_back({rank, false, false, false});
    steps.push_back({rank - inner, false, true, false});
  } else {
    bool folds = rank + inner < size();
    if (size() > inner)
      steps.push_back({rank + inner, false, folds, true});
    for (int distance = 1; distance < inner; distance *= 2)
      steps.push_back({rank ^ distance, true, true, true});
    if (size() > inner)
      steps.push_back({rank + inner, folds, false, false});
  }

  std::int64_t length = segmentElements(elements);
  std::int64_t elementBytes = sizeOf(elements.type);
  std::int64_t segments = (elements.count + length - 1) / length;
  std::int64_t stages = static_cast<std::int64_t>(steps.size());
  std::int64_t slotBytes = std::min(length, elements.count) * elementBytes;
  char *space = scratchOf(stages * slotBytes);
  // In a wave every step works on another segment.
  for (std::int64_t wave = 0; wave < segments + stages - 1; ++wave) {
    Requests requests;
    auto forSteps = [&](auto action) {
      for (std::int64_t stage = 0; stage < stages; ++stage)
        if (wave >= stage && wave - stage < segments)
          action(steps[stage], space + stage * slotBytes,
                 segmentOf(0, elements.count, wave - stage, length));
    };
    forSteps([&](const Step &step, char *slot, const Segment &segment) {
      Message message = messageOf(elements, step.peer, segment);
      if (step.sends)
        channel.send(requests, message, MessageKind::toReduce);
      if (step.combines)
        message.data = slot;
      if (step.receives)
        channel.receive(requests, message, MessageKind::toReduce);
    });
    channel.await(requests);
    forSteps([&](const Step &step, char *slot, const Segment &segment) {
      if (!step.receives || !step.combines)
        return;
      // Both sides combine in the order of their ranks.
      char *mine = elements.at(segment.start);
      bool first = rank < step.peer;
      combineInOrder(mine, {first ? mine : slot, first ? slot : mine},
                     segment.count, elements.type, elements.reduction);
    });
  }
}

//===----------------------------------------------------------------------===//
// Broadcast
//===----------------------------------------------------------------------===//

void Collectives::broadcast(const Elements &elements, int root) {
  Requests requests;
  if (elements.bytes() > kTreeBroadcastBytes) {
    std::vector<Shard> shards = shardsOf(0, elements.count, everybody());
    const Shard &mine = shards[rank];
    if (rank != root)
      channel.receive(requests,
                      messageOf(elements, root, {mine.start, mine.count}),
                      MessageKind::exchange);
    else
      for (int peer : othersOf(everybody(), rank))
        channel.send(
            requests,
            messageOf(elements, peer, {shards[peer].start, shards[peer].count}),
            MessageKind::exchange);
    channel.await(requests);
    std::vector<int> receivers = everybody();
    receivers.erase(receivers.begin() + root);
    return gather(elements, shards, receivers);
  }
  int place = (rank - root + size()) % size();
  Segment all{0, elements.count};
  int bit = 1;
  for (; bit < size() && !(place & bit); bit *= 2)
    continue;
  if (place != 0) {
    int parent = (place - bit + root) % size();
    channel.receive(requests, messageOf(elements, parent, all),
                    MessageKind::exchange);
    channel.await(requests);
  }
  // The child with the most ranks below it first.
  for (bit /= 2; bit > 0; bit /= 2)
    if (place + bit < size())
      channel.send(requests,
                   messageOf(elements, (place + bit + root) % size(), all),
                   MessageKind::exchange);
  channel.await(requests);
}
