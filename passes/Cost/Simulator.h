//===- Simulator.h - Plays scheduled programs over streams ------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A discrete-event simulation of training steps, one run of the schedule after
// the other. Ranks of a class do the same at the same time, so a class is
// played once, however many ranks it has:
//
//   launch   occupies its stream for its seconds
//   call     begins on its stream when that is free; what is communicated
//   begins
//            when all classes have begun it and ends for all at once
//   record   notes when its stream has come there
//   wait     holds its stream until the event, of this run or of the previous
//
// A run begins for a class when its compute stream has ended the one before;
// what is still on its way on the comm stream goes on.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_PASSES_COST_SIMULATOR_H
#define PARTITA_PASSES_COST_SIMULATOR_H

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace partita::cost {

enum class SimStream { compute, comm };

struct SimAction {
  enum class Kind { launch, call, record, wait };

  Kind kind = Kind::launch;
  SimStream stream = SimStream::compute;
  /// Of a launch, or of a call once all have begun it.
  double seconds = 0;
  /// Of a record or a wait.
  int64_t event = 0;
  bool isPrevious = false;
  /// Of a call: the communicator, and the bytes that a rank sends.
  std::string communicator;
  double bytes = 0;
  /// What a trace shows: a kernel or the purpose of a call, and the layer.
  std::string name, layer;
};

struct SimClass {
  std::string name;
  int64_t ranks = 1;
  std::vector<SimAction> step;
};

/// Something that took time, of the last simulated step.
struct SimSpan {
  enum class Lane { compute, comm, wait };

  size_t inClass = 0;
  Lane lane = Lane::compute;
  double begin = 0, end = 0;
  std::string name, layer;
  double bytes = 0;
};

/// The calls of one purpose.
struct SimCall {
  std::string name;
  int64_t calls = 0;
  double bytes = 0;
  /// Seconds from the first class's begin to the end, and those of them in
  /// which its compute stream only waited.
  double total = 0, exposed = 0;
};

struct Simulation {
  /// From one step to the next, when the pipeline is full.
  double stepSeconds = 0;
  /// Share of the step in which a class computes.
  std::vector<double> utilisation;
  /// Of the first class, in the order of their first begin.
  std::vector<SimCall> calls;
  std::vector<SimSpan> spans;
  /// Bytes per second that a rank sends at most in a tenth of a step.
  double networkPeak = 0;
  /// Empty, or why nothing was simulated: classes that do not issue the same
  /// calls.
  std::string error;

  double totalSeconds() const;
  double exposedSeconds() const;
};

Simulation simulate(const std::vector<SimClass> &classes);

/// The spans as a Chrome trace (one process per class, lanes as in the traces
/// of programs), times in microseconds from the beginning of the step.
std::string traceOf(const std::vector<SimClass> &classes,
                    const Simulation &simulation);

} // namespace partita::cost

#endif // PARTITA_PASSES_COST_SIMULATOR_H
