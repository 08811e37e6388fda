//===- Failure.cpp - The failure of a job; its traffic ----------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements the small shared objects of partita/backend.h.
//
//===----------------------------------------------------------------------===//

#include "partita/backend.h"

#include <algorithm>

using namespace partita;

World::~World() = default;
Beacon::~Beacon() = default;

void Failure::raise(int rank, const std::string &message) noexcept {
  std::lock_guard<std::mutex> lock(mutex);
  if (raised())
    return;
  firstRank = rank;
  firstMessage = message;
  flag.store(true, std::memory_order_release);
}

int Failure::rank() const {
  std::lock_guard<std::mutex> lock(mutex);
  return firstRank;
}

std::string Failure::message() const {
  std::lock_guard<std::mutex> lock(mutex);
  return firstMessage;
}

static double secondsBetween(std::chrono::steady_clock::time_point from,
                             std::chrono::steady_clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

void Traffic::add(std::int64_t bytes) {
  Clock::time_point now = Clock::now();
  double seconds = secondsBetween(windowStart, now);
  if (seconds >= windowSeconds) {
    peak = std::max(peak, double(windowBytes) / seconds);
    windowStart = now;
    windowBytes = 0;
  }
  windowBytes += bytes;
  total += bytes;
}

void Traffic::restart() { *this = Traffic(); }

double Traffic::peakRate() const {
  // A short last window would turn one burst into an absurd rate; it counts
  // only when it is all there is.
  double seconds = secondsBetween(windowStart, Clock::now());
  if (seconds >= windowSeconds || peak == 0)
    return std::max(peak, double(windowBytes) / std::max(seconds, 1e-6));
  return peak;
}
