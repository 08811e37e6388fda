//===- Signals.h - SIGINT and SIGTERM ---------------------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The handler notes the signal; the training loop looks at step borders,
// where all ranks agree to stop.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_CORE_SIGNALS_H
#define PARTITA_CORE_SIGNALS_H

namespace partita {

/// Notes SIGINT and SIGTERM from now on, and restores the former behaviour at
/// the end. The second SIGINT ends the process at once.
class SignalWatch {
public:
  SignalWatch();
  SignalWatch(const SignalWatch &) = delete;
  SignalWatch &operator=(const SignalWatch &) = delete;
  ~SignalWatch();

  /// The signal that has come, or 0.
  static int pending();
};

} // namespace partita

#endif // PARTITA_CORE_SIGNALS_H
