//===- Communicator.cpp - What all communicators share ----------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements partita/communicator.h: the parts that do not depend on a back
// end.
//
//===----------------------------------------------------------------------===//

#include "partita/communicator.h"

#include "partita/backend.h"

using namespace partita;

std::int64_t Counts::offset(int rank) const {
  std::int64_t sum = 0;
  for (int i = 0; i < rank; ++i)
    sum += values[i];
  return sum;
}

const char *partita::nameOf(Algorithm algorithm) {
  switch (algorithm) {
  case Algorithm::automatic:
    return "automatic";
  case Algorithm::direct:
    return "direct";
  case Algorithm::ring:
    return "ring";
  case Algorithm::tree:
    return "tree";
  case Algorithm::hierarchical:
    return "hierarchical";
  }
  return "unknown";
}

Observer::~Observer() = default;
Communicator::~Communicator() = default;

void Communicator::communicate(Stream &stream, const IssuedCall &issued,
                               std::function<void()> work) {
  if (!observer)
    return stream.communicate(issued.kind, std::move(work));
  std::int64_t number = observer->issued(*this, issued);
  stream.communicate(
      issued.kind, [this, number, &stream, work = std::move(work)] {
        observer->started(number);
        bytesOfCall = 0;
        work();
        stream.whenDone(
            [this, number, bytes = bytesOfCall](const DeviceTimes *times) {
              observer->finished(number, bytes, times);
            });
      });
}

void Communicator::startAllReduce(Stream &stream, void *data,
                                  std::int64_t count, DType type,
                                  Reduction reduction, Algorithm algorithm,
                                  const CallSite &site) {
  IssuedCall issued{"allReduce", type, count, reduction};
  issued.algorithm = algorithm;
  issued.site = site;
  doAllReduce(stream, data, count, type, reduction, algorithm, issued);
}

void Communicator::startAllGather(Stream &stream, void *data,
                                  const Counts &counts, DType type,
                                  const CallSite &site) {
  IssuedCall issued{"allGather", type, counts.total()};
  issued.parts = &counts;
  issued.site = site;
  doAllGather(stream, data, counts, type, issued);
}

void Communicator::startReduceScatter(Stream &stream, void *data,
                                      const Counts &counts, DType type,
                                      Reduction reduction,
                                      const CallSite &site) {
  IssuedCall issued{"reduceScatter", type, counts.total(), reduction};
  issued.parts = &counts;
  issued.site = site;
  doReduceScatter(stream, data, counts, type, reduction, issued);
}

void Communicator::startPush(Stream &stream, void *data, const Counts &counts,
                             DType type, Reduction reduction, int workers,
                             const CallSite &site) {
  IssuedCall issued{"push", type, counts.total(), reduction};
  issued.parts = &counts;
  issued.workers = workers;
  issued.site = site;
  doPush(stream, data, counts, type, reduction, workers, issued);
}

void Communicator::startFetch(Stream &stream, void *data, const Counts &counts,
                              DType type, int workers, const CallSite &site) {
  IssuedCall issued{"fetch", type, counts.total()};
  issued.parts = &counts;
  issued.workers = workers;
  issued.site = site;
  doFetch(stream, data, counts, type, workers, issued);
}

void Communicator::startBroadcast(Stream &stream, void *data,
                                  std::int64_t count, DType type, int root,
                                  const CallSite &site) {
  IssuedCall issued{"broadcast", type, count};
  issued.root = root;
  issued.site = site;
  doBroadcast(stream, data, count, type, root, issued);
}

void Communicator::startExchange(Stream &stream, const void *send,
                                 const Counts &sendCounts, void *receive,
                                 const Counts &receiveCounts, DType type,
                                 const CallSite &site) {
  IssuedCall issued{"exchange", type, sendCounts.total()};
  issued.parts = &sendCounts;
  issued.awaited = &receiveCounts;
  issued.site = site;
  doExchange(stream, send, sendCounts, receive, receiveCounts, type, issued);
}

void Communicator::countSent(std::int64_t bytes) {
  bytesOfCall += bytes;
  if (traffic)
    traffic->add(bytes);
}

void Communicator::checkMessages(const Counts &sent,
                                 const Counts &received) const {
  checkParts(sent);
  checkParts(received);
  if (sent[rankIndex] != 0 || received[rankIndex] != 0)
    throw Error("an exchange was given a message of rank " +
                std::to_string(rankIndex) + " of its group to itself");
}

void Communicator::checkParts(const Counts &counts) const {
  if (counts.size() != rankCount)
    throw Error("a collective was given " + std::to_string(counts.size()) +
                " parts for a group of " + std::to_string(rankCount) +
                " ranks");
}

void Communicator::checkServers(const Counts &counts, int workers) const {
  checkParts(counts);
  if (workers < 1 || workers >= rankCount)
    throw Error("a push or fetch was given " + std::to_string(workers) +
                " workers in a group of " + std::to_string(rankCount) +
                " ranks, expected at least one worker and one server");
  for (int worker = 0; worker < workers; ++worker)
    if (counts[worker] != 0)
      throw Error("a push or fetch was given " +
                  std::to_string(counts[worker]) + " elements for rank " +
                  std::to_string(worker) +
                  " of its group, which is a worker, expected 0");
}
