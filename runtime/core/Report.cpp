//===- Report.cpp - What a run tells the user -------------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements Report.h. Losses are written with nine digits, which gives every
// float back exactly.
//
//===----------------------------------------------------------------------===//

#include "core/Report.h"

#include <cerrno>
#include <cinttypes>
#include <cmath>
#include <cstring>
#include <unistd.h>

using namespace partita;

//===----------------------------------------------------------------------===//
// Metrics
//===----------------------------------------------------------------------===//

Metrics::Metrics(const std::string &path)
    : path(path), file(nullptr, std::fclose) {
  if (path.empty())
    return;
  file.reset(std::fopen(path.c_str(), "w"));
  if (!file)
    throw Error("cannot create '" + path + "': " + std::strerror(errno));
}

void Metrics::line(const char *text) {
  // Flushed, so that a reader sees every step of a run that is still going.
  if (std::fputs(text, file.get()) < 0 || std::fflush(file.get()) != 0)
    throw Error("cannot write '" + path + "': " + std::strerror(errno));
}

/// JSON has no NaN and no infinity.
static std::string numberOf(double value) {
  if (!std::isfinite(value))
    return "null";
  char text[40];
  std::snprintf(text, sizeof(text), "%.9g", value);
  return text;
}

void Metrics::step(std::int64_t step, std::int64_t epoch, double loss,
                   double lr, double seconds, double samplesPerSecond,
                   std::optional<double> gradientNorm) {
  if (!file)
    return;
  line(("{\"step\":" + std::to_string(step) +
        ",\"epoch\":" + std::to_string(epoch) + ",\"loss\":" + numberOf(loss) +
        ",\"lr\":" + numberOf(lr) + ",\"seconds\":" + numberOf(seconds) +
        ",\"samples_per_second\":" + numberOf(samplesPerSecond) +
        (gradientNorm ? ",\"grad_norm\":" + numberOf(*gradientNorm) : "") +
        "}\n")
           .c_str());
}

void Metrics::evaluation(std::int64_t step, double loss, double accuracy,
                         bool hasAccuracy, std::int64_t samples) {
  if (!file)
    return;
  line(("{\"eval_after_step\":" + std::to_string(step) +
        ",\"eval_loss\":" + numberOf(loss) +
        (hasAccuracy ? ",\"eval_accuracy\":" + numberOf(accuracy) : "") +
        ",\"eval_samples\":" + std::to_string(samples) + "}\n")
           .c_str());
}

void Metrics::closing(const Closing &figures) {
  if (!file)
    return;
  line(
      ("{\"training_seconds\":" + numberOf(figures.seconds) +
       ",\"steps\":" + std::to_string(figures.steps) +
       ",\"samples\":" + std::to_string(figures.samples) +
       ",\"device_utilisation\":" + numberOf(figures.utilisation) +
       ",\"lowest_device_utilisation\":" + numberOf(figures.lowestUtilisation) +
       ",\"network_peak_bytes_per_second\":" + numberOf(figures.peakRate) +
       ",\"network_bytes_sent\":" + numberOf(figures.bytesSent) + "}\n")
          .c_str());
}

//===----------------------------------------------------------------------===//
// The progress line
//===----------------------------------------------------------------------===//

static std::string durationOf(double seconds) {
  char text[40];
  auto whole = static_cast<std::int64_t>(seconds + 0.5);
  if (whole >= 3600)
    std::snprintf(text, sizeof(text), "%" PRId64 ":%02d:%02d", whole / 3600,
                  static_cast<int>(whole / 60 % 60),
                  static_cast<int>(whole % 60));
  else
    std::snprintf(text, sizeof(text), "%d:%02d", static_cast<int>(whole / 60),
                  static_cast<int>(whole % 60));
  return text;
}

ProgressLine::ProgressLine(bool quiet, bool rewrites, std::int64_t batch,
                           std::int64_t epochs, std::int64_t stepsPerEpoch,
                           std::int64_t allSteps)
    : quiet(quiet), terminal(rewrites && isatty(STDOUT_FILENO)), batch(batch),
      epochs(epochs), stepsPerEpoch(stepsPerEpoch), allSteps(allSteps),
      last(std::chrono::steady_clock::now()) {}

void ProgressLine::step(std::int64_t done, double loss, double seconds) {
  if (quiet)
    return;
  std::int64_t epoch = (done - 1) / stepsPerEpoch + 1;
  std::int64_t inEpoch = done - (epoch - 1) * stepsPerEpoch;
  epochLoss += loss;
  ++epochCount;
  bool epochEnds = inEpoch == stepsPerEpoch || done == allSteps;
  auto now = std::chrono::steady_clock::now();
  double silent = std::chrono::duration<double>(now - last).count();
  if (!epochEnds && silent < (terminal ? 0.2 : 5.0))
    return;
  last = now;
  double rate = seconds > 0 ? double(done * batch) / seconds : 0;
  double left = double(allSteps - done) * seconds / double(done);
  char text[200];
  int length = std::snprintf(text, sizeof(text),
                             "epoch %" PRId64 "/%" PRId64 "  step %" PRId64
                             "/%" PRId64 "  loss %.6g  %.4g samples/s  %s left",
                             epoch, epochs, inEpoch, stepsPerEpoch, loss, rate,
                             durationOf(left).c_str());
  if (epochEnds)
    std::snprintf(text + length, sizeof(text) - length, "  (mean loss %.6g)",
                  epochLoss / double(epochCount));
  if (terminal)
    std::printf("\r\033[K%s%s", text, epochEnds ? "\n" : "");
  else
    std::printf("%s\n", text);
  std::fflush(stdout);
  open = terminal && !epochEnds;
  if (epochEnds) {
    epochLoss = 0;
    epochCount = 0;
  }
}

void ProgressLine::finish() {
  if (open)
    std::printf("\n");
  open = false;
}

//===----------------------------------------------------------------------===//
// The closing figures
//===----------------------------------------------------------------------===//

static std::string bytesOf(double bytes, const char *suffix) {
  const char *units[] = {"B", "kB", "MB", "GB", "TB"};
  int unit = 0;
  while (bytes >= 1000 && unit < 4) {
    bytes /= 1000;
    ++unit;
  }
  char text[40];
  std::snprintf(text, sizeof(text), "%.4g %s%s", bytes, units[unit], suffix);
  return text;
}

void partita::printClosing(const Metrics::Closing &figures, bool sharedMemory) {
  std::printf("training time       %.3f s measured, %" PRId64
              " steps, %.4g samples/s\n",
              figures.seconds, figures.steps,
              figures.seconds > 0 ? double(figures.samples) / figures.seconds
                                  : 0);
  std::printf("device utilisation  %.1f %% measured, mean of the ranks; lowest "
              "%.1f %% on rank %d\n",
              100 * figures.utilisation, 100 * figures.lowestUtilisation,
              figures.lowestRank);
  std::printf("network peak        %s measured, sent by one rank; %s by all "
              "ranks in total%s\n",
              bytesOf(figures.peakRate, "/s").c_str(),
              bytesOf(figures.bytesSent, "").c_str(),
              sharedMemory ? " (through shared memory)" : "");
  std::fflush(stdout);
}
