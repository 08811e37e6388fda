//===- Options.h - The command line of an emitted program -------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads the options and writes --help. Everything a user can get wrong on the
// command line is a UsageError.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_CORE_OPTIONS_H
#define PARTITA_CORE_OPTIONS_H

#include "partita/program.h"

namespace partita {

/// A wrong command line; the program exits with 2.
class UsageError : public Error {
public:
  using Error::Error;
};

/// What the command line asks for.
struct Options {
  bool help = false;

  /// The number of ranks the user named; 0 when not named.
  int ranks = 0;
  /// Threads per rank; 0: cores divided by the ranks on this machine.
  int threads = 0;

  /// A folder of .npy files, or empty.
  std::string data;
  bool synthetic = false;
  std::optional<std::int64_t> epochs;
  std::optional<std::int64_t> steps;
  std::uint64_t seed = 0;
  bool shuffle = true;
  double lr = 0;

  bool eval = false;
  /// A folder to evaluate and predict on in place of `data`, or empty.
  std::string evalData;
  /// A .npy file or a folder, or empty.
  std::string predict;

  std::string weights;
  std::string save;
  std::string metrics;
  std::string dumpStep;
  bool gradientNorm = false;
  bool checkReplicas = false;

  /// A file for the trace, or empty, and of how many steps it is: the last
  /// ones.
  std::string trace;
  std::int64_t traceSteps = 5;
  /// Seconds without progress after which the job is ended; 0: never.
  double watchdog = 60;
  /// Compare collectives before they begin; with this certificate, or with the
  /// one beside the program.
  bool debugCollectives = false;
  std::string certificate;
  bool quiet = false;

  /// Training is what a program does unless it is asked only to evaluate or to
  /// predict.
  bool trains() const { return epochs || steps || (!eval && predict.empty()); }
};

/// Throws `UsageError`.
Options parseOptions(int argc, const char *const *argv, const Program &program);

/// The text of --help.
std::string helpText(const Program &program, const std::string &executable);

} // namespace partita

#endif // PARTITA_CORE_OPTIONS_H
