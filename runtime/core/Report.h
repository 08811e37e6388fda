//===- Report.h - What a run tells the user ---------------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The progress line, the three closing figures and the metrics file. Only
// rank 0 reports.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_CORE_REPORT_H
#define PARTITA_CORE_REPORT_H

#include "partita/program.h"

#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>

namespace partita {

/// A file with one JSON object per line; see runtime/README.md for the keys.
class Metrics {
public:
  /// Creates the file; does nothing for an empty path.
  explicit Metrics(const std::string &path);

  void step(std::int64_t step, std::int64_t epoch, double loss, double lr,
            double seconds, double samplesPerSecond,
            std::optional<double> gradientNorm);
  void evaluation(std::int64_t step, double loss, double accuracy,
                  bool hasAccuracy, std::int64_t samples);
  struct Closing;
  void closing(const Closing &figures);

private:
  void line(const char *text);

  std::string path;
  std::unique_ptr<std::FILE, int (*)(std::FILE *)> file;
};

/// The figures at the end of training, all measured.
struct Metrics::Closing {
  std::int64_t steps = 0;
  std::int64_t samples = 0;
  double seconds = 0;
  /// Compute time divided by training time: mean over ranks, and the lowest.
  double utilisation = 0;
  double lowestUtilisation = 0;
  int lowestRank = 0;
  /// Per rank: the highest over ranks. Bytes per second.
  double peakRate = 0;
  /// Over all ranks.
  double bytesSent = 0;
};

/// The line that says how far training is.
class ProgressLine {
public:
  /// `rewrites` is set where standard output may be a terminal; mpirun gives
  /// its processes one even when nobody looks at it.
  ProgressLine(bool quiet, bool rewrites, std::int64_t batch,
               std::int64_t epochs, std::int64_t stepsPerEpoch,
               std::int64_t allSteps);

  /// Called after each step. On a terminal the line is rewritten in place a few
  /// times per second, elsewhere a new one is written every few seconds.
  void step(std::int64_t done, double loss, double seconds);

  /// Leaves the terminal's cursor on a fresh line.
  void finish();

private:
  bool quiet;
  bool terminal;
  std::int64_t batch;
  std::int64_t epochs;
  std::int64_t stepsPerEpoch;
  std::int64_t allSteps;
  std::chrono::steady_clock::time_point last;
  bool open = false;
  double epochLoss = 0;
  std::int64_t epochCount = 0;
};

/// Prints the closing figures for people.
void printClosing(const Metrics::Closing &figures, bool sharedMemory);

} // namespace partita

#endif // PARTITA_CORE_REPORT_H
