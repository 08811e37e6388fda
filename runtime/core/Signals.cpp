//===- Signals.cpp - SIGINT and SIGTERM -------------------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements Signals.h.
//
//===----------------------------------------------------------------------===//

#include "core/Signals.h"

#include <atomic>
#include <csignal>
#include <unistd.h>

using namespace partita;

/// Lock-free, and therefore safe in a handler.
static std::atomic<int> noted{0};

extern "C" {
static void noteSignal(int number) {
  if (number == SIGINT && noted == SIGINT)
    _exit(128 + number);
  noted = number;
}
}

SignalWatch::SignalWatch() {
  noted = 0;
  std::signal(SIGINT, noteSignal);
  std::signal(SIGTERM, noteSignal);
}

SignalWatch::~SignalWatch() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

int SignalWatch::pending() { return noted; }
