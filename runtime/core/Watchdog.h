//===- Watchdog.h - Ends a job that has come to a halt -------- -*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A thread per process looks several times per watchdog time at what the ranks
// do. A job is ended, on all ranks, when
//
//   - no rank has made progress for the watchdog time: each waits for another
//     rank, for data or for its GPU. A kernel that uses the processor, a new
//     layer, a finished kernel or collective and a new batch are progress;
//   - a process has given no sign of life for that time, whatever the others
//     do: it is stopped, or its machine is gone;
//   - the process that started this one, as mpirun does, has ended.
//
// A rank that waits for a slow one is no reason: the slow one makes progress.
// Processes tell each other where they are through a Beacon, beside the
// program's own communication: all tell rank 0, which decides, and watch that
// rank 0 lives. Without a Beacon a process knows only itself; then it gives up
// when it has made no progress itself, and names the ranks that it waits for.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_CORE_WATCHDOG_H
#define PARTITA_CORE_WATCHDOG_H

#include "core/RankLog.h"
#include "partita/backend.h"

#include <condition_variable>
#include <thread>

namespace partita {

/// The file that holds a rank's last collectives: "partita-rank-3.calls.txt",
/// in the working directory.
std::string callFileOf(int rank);

/// Writes the last collectives of a rank to its file. Returns false when there
/// were none or the file cannot be written.
bool writeCalls(const RankLog &log) noexcept;

/// What the watchdog says when no rank makes progress: the ranks that are not
/// waiting for others first, as they are what the others wait for, then one
/// rank for each call that is waited in.
std::string describeHalt(std::vector<RankStatus> ranks, double seconds);

/// What it says about a rank that gives no sign of life, as it was when it was
/// last heard of. `witness` is a rank that lives.
std::string describeSilence(const RankStatus &lost, double silent,
                            const RankStatus &witness);

class Watchdog {
public:
  /// What is done when the job has come to a halt; the text says why. Called
  /// once, by the watchdog's thread.
  using Alarm = std::function<void(const std::string &)>;

  /// Watches the ranks of this process, from now to the end of this object.
  /// `beacon` is null when they are all ranks, or when there is no way to hear
  /// of the others; `size` is the number of all ranks. `hasLauncher` says that
  /// the process must not outlive its parent.
  Watchdog(double seconds, std::vector<RankLog *> ranks, int size,
           std::unique_ptr<Beacon> beacon, bool hasLauncher, Alarm alarm);
  ~Watchdog();

private:
  using Clock = std::chrono::steady_clock;

  /// What is known of another process.
  struct Peer {
    RankStatus status;
    Clock::time_point heard;
  };
  struct Message;

  void serve();
  /// One look. Returns the alarm's text, or nothing.
  std::string look();
  std::string lookAtAll(const RankStatus &mine);
  std::string lookAtFirst(const RankStatus &mine);
  void receive();
  /// Lets the others write their calls before the job ends.
  void tellOthers();
  double silence(const Peer &peer) const;

  const double seconds;
  const std::vector<RankLog *> ranks;
  const int size;
  const std::unique_ptr<Beacon> beacon;
  const Alarm alarm;
  std::vector<Peer> peers;
  /// Of a process that was started by mpirun.
  const pid_t parent;

  std::mutex mutex;
  std::condition_variable changed;
  bool stopping = false;
  std::thread thread;
};

} // namespace partita

#endif // PARTITA_CORE_WATCHDOG_H
