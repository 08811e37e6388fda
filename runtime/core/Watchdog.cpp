//===- Watchdog.cpp - Ends a job that has come to a halt ------ -*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements Watchdog.h.
//
//===----------------------------------------------------------------------===//

#include "core/Watchdog.h"

#include <algorithm>
#include <cstdio>
#include <set>
#include <unistd.h>

using namespace partita;

static double secondsBetween(std::chrono::steady_clock::time_point from,
                             std::chrono::steady_clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

//===----------------------------------------------------------------------===//
// Texts and files
//===----------------------------------------------------------------------===//

std::string partita::callFileOf(int rank) {
  return "partita-rank-" + std::to_string(rank) + ".calls.txt";
}

bool partita::writeCalls(const RankLog &log) noexcept {
  try {
    std::string text = log.callList();
    if (text.empty())
      return false;
    std::FILE *file = std::fopen(callFileOf(log.rank).c_str(), "w");
    if (!file)
      return false;
    bool isWritten = std::fputs(text.c_str(), file) >= 0;
    return std::fclose(file) == 0 && isWritten;
  } catch (const std::exception &) {
    return false;
  }
}

static std::string secondsText(double seconds) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f s", seconds);
  return text;
}

std::string partita::describeHalt(std::vector<RankStatus> ranks,
                                  double seconds) {
  constexpr std::size_t kMost = 4;
  // Who waits for no other rank is what the others wait for.
  auto isWaiting = [](const RankStatus &rank) {
    return rank.activity == Activity::comm || rank.activity == Activity::ranks;
  };
  std::sort(ranks.begin(), ranks.end(),
            [&](const RankStatus &a, const RankStatus &b) {
              return std::make_pair(isWaiting(a), a.rank) <
                     std::make_pair(isWaiting(b), b.rank);
            });
  std::set<std::string> told;
  std::string text =
      "watchdog: no rank has made progress for " + secondsText(seconds);
  std::size_t left = 0;
  for (const RankStatus &rank : ranks) {
    std::string where = std::string(rank.phase) + rank.label +
                        std::to_string(rank.index) +
                        std::to_string(static_cast<int>(rank.activity));
    if (told.size() < kMost && told.insert(where).second)
      text += ". " + rank.text();
    else
      ++left;
  }
  if (left > 0)
    text += ". " + std::to_string(left) + " more wait as these";
  return text;
}

std::string partita::describeSilence(const RankStatus &lost, double silent,
                                     const RankStatus &witness) {
  return "watchdog: " + lost.name() + " has given no sign of life for " +
         secondsText(silent) +
         ": it is stopped, or its machine or the network is down. When last "
         "heard of, " +
         lost.text() + ". Meanwhile " + witness.text();
}

//===----------------------------------------------------------------------===//
// The thread
//===----------------------------------------------------------------------===//

/// What processes tell each other.
struct Watchdog::Message {
  enum Kind : std::int32_t { alive, writeCallsNow };
  Kind kind = alive;
  RankStatus status;
};

Watchdog::Watchdog(double seconds, std::vector<RankLog *> ranks, int size,
                   std::unique_ptr<Beacon> beacon, bool hasLauncher,
                   Alarm alarm)
    : seconds(seconds), ranks(std::move(ranks)), size(size),
      beacon(std::move(beacon)), alarm(std::move(alarm)),
      parent(hasLauncher ? getppid() : 0) {
  peers.resize(this->beacon ? static_cast<std::size_t>(size) : 0);
  for (std::size_t peer = 0; peer < peers.size(); ++peer) {
    peers[peer].heard = Clock::now();
    peers[peer].status =
        statusOf(static_cast<int>(peer), this->ranks.front()->workers);
  }
  thread = std::thread([this] { serve(); });
}

Watchdog::~Watchdog() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    stopping = true;
  }
  changed.notify_all();
  thread.join();
}

void Watchdog::serve() {
  const double interval = std::min(1.0, seconds / 8);
  Clock::time_point last = Clock::now();
  std::unique_lock<std::mutex> lock(mutex);
  while (!stopping) {
    changed.wait_for(lock, std::chrono::duration<double>(interval));
    if (stopping)
      return;
    Clock::time_point now = Clock::now();
    if (secondsBetween(last, now) > 3 * interval + 1) {
      // This process was stopped itself and has heard nobody meanwhile.
      for (RankLog *rank : ranks)
        rank->restartClock();
      for (Peer &peer : peers)
        peer.heard = now;
    }
    last = now;
    lock.unlock();
    std::string reason = look();
    if (!reason.empty()) {
      tellOthers();
      return alarm(reason);
    }
    lock.lock();
  }
}

std::string Watchdog::look() {
  if (parent && getppid() != parent)
    return "watchdog: the launcher of rank " + std::to_string(ranks[0]->rank) +
           " (process " + std::to_string(parent) + ") has ended. " +
           ranks[0]->status().text();
  std::vector<RankStatus> mine;
  double quiet = seconds;
  bool isWaiting = false;
  for (RankLog *rank : ranks) {
    mine.push_back(rank->status());
    if (mine.back().activity == Activity::done)
      continue;
    isWaiting = true;
    quiet = std::min(quiet, mine.back().quiet);
  }
  if (!beacon)
    return isWaiting && quiet >= seconds ? describeHalt(mine, quiet) : "";
  receive();
  return mine[0].rank == 0 ? lookAtAll(mine[0]) : lookAtFirst(mine[0]);
}

double Watchdog::silence(const Peer &peer) const {
  return secondsBetween(peer.heard, Clock::now());
}

void Watchdog::receive() {
  Message message;
  for (int from; (from = beacon->receive(&message, sizeof(message))) >= 0;) {
    peers[static_cast<std::size_t>(from)] = {message.status, Clock::now()};
    if (message.kind == Message::writeCallsNow)
      for (RankLog *rank : ranks)
        writeCalls(*rank);
  }
}

/// On rank 0.
std::string Watchdog::lookAtAll(const RankStatus &mine) {
  peers[0] = {mine, Clock::now()};
  Message message{Message::alive, mine};
  for (int peer = 1; peer < size; ++peer)
    beacon->send(peer, &message, sizeof(message));
  std::vector<RankStatus> all;
  bool isHalt = false;
  double least = -1;
  for (Peer &peer : peers) {
    all.push_back(peer.status);
    if (peer.status.activity == Activity::done)
      continue;
    isHalt = true;
    double quiet = peer.status.quiet + silence(peer);
    least = least < 0 ? quiet : std::min(least, quiet);
    if (silence(peer) >= seconds)
      return describeSilence(peer.status, silence(peer), mine);
  }
  return isHalt && least >= seconds ? describeHalt(all, least) : "";
}

/// On all other ranks.
std::string Watchdog::lookAtFirst(const RankStatus &mine) {
  Message message{Message::alive, mine};
  beacon->send(0, &message, sizeof(message));
  // When rank 0 is gone, all others notice; one after the other, so that the
  // first can end the job before the next says the same.
  constexpr int kMostTurns = 10;
  double turn = 0.3 * double(std::min(mine.rank - 1, kMostTurns));
  if (peers[0].status.activity == Activity::done ||
      silence(peers[0]) < seconds + turn)
    return "";
  return describeSilence(peers[0].status, silence(peers[0]), mine);
}

void Watchdog::tellOthers() {
  for (RankLog *rank : ranks)
    writeCalls(*rank);
  if (!beacon)
    return;
  Message message{Message::writeCallsNow, ranks[0]->status()};
  for (int peer = 0; peer < size; ++peer)
    if (peer != ranks[0]->rank)
      beacon->send(peer, &message, sizeof(message));
  // They look once per interval; messages leave only while somebody looks.
  constexpr int kLooks = 20;
  for (int i = 0; i < kLooks; ++i) {
    std::this_thread::sleep_for(std::chrono::duration<double>(
        std::min(1.0, seconds / 8) * 1.2 / kLooks));
    receive();
  }
}
