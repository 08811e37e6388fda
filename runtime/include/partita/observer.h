//===- observer.h - Who is told what a rank does ----------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Streams and communicators tell an observer what they are about to do and what
// they have done. The runtime's own observer keeps the last calls for error
// messages, feeds the watchdog and writes the trace; emitted programs only say
// which layer comes next.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_OBSERVER_H
#define PARTITA_OBSERVER_H

#include <chrono>
#include <cstdint>

namespace partita {

class Communicator;
struct IssuedCall;

/// The two streams of a rank.
enum class StreamRole { compute, comm };

/// When a GPU did something, on the host's clock.
struct DeviceTimes {
  std::chrono::steady_clock::time_point begin, end;
};

/// Told by one rank's streams and communicators. The streams of a CPU work on a
/// thread each, so that the calls for one stream come one after the other, and
/// those for the two at the same time. On a GPU everything is told by
/// the rank's own thread.
class Observer {
public:
  virtual ~Observer();

  /// A collective has been issued, by the rank's own thread. Returns the number
  /// by which the two functions below know it. `call` is valid during this
  /// function only.
  virtual std::int64_t issued(const Communicator &group,
                              const IssuedCall &call) = 0;
  /// It begins now, on the thread that does it. May throw `Error`: the
  /// collective is not begun then.
  virtual void started(std::int64_t number) = 0;
  /// It is done, and this rank has sent so many bytes. Not called after a
  /// failure. `times` is null when it was done between the call of `started`
  /// and this one; on a GPU, where the host only queues collectives and sees
  /// later that they are done, it says when.
  virtual void finished(std::int64_t number, std::int64_t bytesSent,
                        const DeviceTimes *times) = 0;

  /// The work issued from now on is for this layer; `section` is "forward",
  /// "loss", "backward" or "update". Both are string literals.
  virtual void layer(const char *name, const char *section) = 0;

  /// A kernel, named by a string literal, begins or is done. On a GPU: is being
  /// launched.
  virtual void kernelBegan(StreamRole role, const char *name) = 0;
  virtual void kernelEnded(StreamRole role) = 0;

  /// The stream waits for the other one, and goes on.
  virtual void waitBegan(StreamRole role) = 0;
  virtual void waitEnded(StreamRole role) = 0;
  /// The same for a stream of a GPU, told afterwards.
  virtual void waited(StreamRole role, const DeviceTimes &times) = 0;
  /// The host waits for a GPU, which is not waiting for other ranks.
  virtual void deviceIsBusy() = 0;
};

} // namespace partita

#endif // PARTITA_OBSERVER_H
