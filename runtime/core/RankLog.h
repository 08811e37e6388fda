//===- RankLog.h - What a rank is doing and has done ---------- -*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The runtime's observer: one per rank. It keeps the last collectives for
// messages, counts progress for the watchdog, which looks from a thread of its
// own, and records spans when a trace is asked for. It outlives the rank's
// streams.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_CORE_RANKLOG_H
#define PARTITA_CORE_RANKLOG_H

#include "core/Timeline.h"
#include "partita/communicator.h"

#include <array>
#include <atomic>
#include <chrono>
#include <deque>
#include <limits>
#include <mutex>
#include <pthread.h>

namespace partita {

class CallCheck;

/// What the rank's own thread does.
enum class Activity {
  starting,  ///< makes kernels and groups
  computing, ///< issues work and, on a CPU, does it
  comm,      ///< waits for the comm stream
  device,    ///< waits for a GPU
  data,      ///< waits for the next batch
  ranks,     ///< waits for the other ranks between two phases
  files,     ///< writes files
  done
};

/// "computes", "waits for its communication", ...
const char *textOf(Activity activity);

/// Whether a rank that does this for long may be waiting for ever.
bool mayHang(Activity activity);

/// The sentence parts that say where a rank is, of fixed size: it travels
/// between processes.
struct RankStatus {
  std::int32_t rank = 0;
  /// Its number among the servers; -1 for others.
  std::int32_t server = -1;
  Activity activity = Activity::starting;
  /// Seconds since the last sign of progress, on the rank's own clock.
  double quiet = 0;
  std::int64_t step = 0;
  std::int64_t stepsDone = 0;
  /// Whether a collective has begun, or is queued, and is not done.
  std::int32_t inCall = 0;
  /// Whether it has begun.
  std::int32_t begun = 0;
  std::int32_t index = -1;
  std::int64_t count = 0;
  std::int64_t bytes = 0;
  char phase[12] = "";
  char section[12] = "";
  char layer[64] = "";
  char kind[16] = "";
  char type[8] = "";
  char label[96] = "";
  char callLayer[64] = "";
  /// The ranks it needs for that: "rank 1" or "ranks 0-2, 5".
  char peers[64] = "";

  /// "rank 1", "rank 5 (server 1)"
  std::string name() const;
  /// "rank 1 waits for its communication in step 12, backward of 'fc', in call
  /// 3 'bucket 0: fc.weight' (allReduce of 10 f32, 40 bytes) with rank 0; its
  /// last completed step is 11"
  std::string text() const;
};

/// That of a rank that has not begun. Ranks from `workers` on are servers.
RankStatus statusOf(int rank, int workers);

/// "rank 1" or "ranks 0-2, 5"; at most `most` runs.
std::string rankList(const std::vector<int> &ranks, std::size_t most = 6);

class RankLog final : public Observer {
public:
  using Clock = std::chrono::steady_clock;

  /// Collectives that are kept.
  static constexpr std::size_t kCalls = 64;

  /// Ranks from `workers` on are servers, and are called so.
  explicit RankLog(int rank, int workers = std::numeric_limits<int>::max())
      : rank(rank), workers(workers) {}

  const int rank;
  const int workers;

  // From the rank's own thread.

  /// From now on the calling thread is the rank's own; until `leave`.
  void enter();
  void leave();
  /// A phase begins: "step", "eval" or "predict" (literals). `step` counts
  /// from 1.
  void beginPhase(const char *name, std::int64_t step);
  void endPhase();
  void stepDone(std::int64_t step) { stepsDone = step; }
  /// Records spans from now on and keeps those of the last `steps` steps.
  void trace(std::int64_t steps);
  /// The spans; both streams are idle.
  Timeline timeline() const;
  /// Compares calls before they begin, from now on; null for none.
  void check(CallCheck *with) { checks = with; }

  /// Does something else than computing, as long as this object lives.
  class Doing {
  public:
    Doing(RankLog &log, Activity activity)
        : log(log), before(log.activity.exchange(activity)) {
      log.progressed();
    }
    Doing(const Doing &) = delete;
    Doing &operator=(const Doing &) = delete;
    ~Doing() {
      log.activity = before;
      log.progressed();
    }

  private:
    RankLog &log;
    Activity before;
  };

  // From any thread.

  void progressed() { progress.fetch_add(1, std::memory_order_relaxed); }
  /// Where the rank is. To be called by one thread, now and then: progress is
  /// what has changed since its last call.
  RankStatus status();
  /// Forgets for how long nothing has moved, as after a time in which the whole
  /// process was stopped.
  void restartClock();
  /// The last collectives, oldest first, as lines; empty when there were none.
  std::string callList() const;

  // Observer.
  std::int64_t issued(const Communicator &group,
                      const IssuedCall &call) override;
  void started(std::int64_t number) override;
  void finished(std::int64_t number, std::int64_t bytesSent,
                const DeviceTimes *times) override;
  void layer(const char *name, const char *section) override;
  void kernelBegan(StreamRole role, const char *name) override;
  void kernelEnded(StreamRole role) override;
  void waitBegan(StreamRole role) override;
  void waitEnded(StreamRole role) override;
  void waited(StreamRole role, const DeviceTimes &times) override;
  void deviceIsBusy() override { progressed(); }

private:
  enum class State { issued, begun, done };

  struct Record {
    std::int64_t number = -1;
    State state = State::issued;
    CallSite site;
    const char *kind = "";
    DType type = DType::f32;
    std::int64_t count = 0;
    std::int64_t bytesSent = 0;
    const char *phase = "";
    const char *section = "";
    std::int64_t step = 0;
    const char *layer = "";
    std::string peers;
    Clock::time_point issuedAt, begunAt, doneAt;
  };

  Record *find(std::int64_t number);
  void add(std::deque<Span> &spans, Span span);
  void closeLayer();
  void addWait(StreamRole role, Clock::time_point begin, Clock::time_point end);
  double seconds(Clock::time_point time) const {
    return std::chrono::duration<double>(time.time_since_epoch()).count();
  }

  std::atomic<std::uint64_t> progress{0};
  std::atomic<Activity> activity{Activity::starting};
  std::atomic<std::int64_t> step{0}, stepsDone{0};
  std::atomic<const char *> phase{""}, layerName{""}, sectionName{""};

  mutable std::mutex mutex;
  std::array<Record, kCalls> records;
  std::int64_t nextNumber = 0;
  /// Of the call that was done last, for naming waits.
  const char *lastDone = "";

  CallCheck *checks = nullptr;

  /// The clock of the rank's own thread, while `hasClock`.
  std::mutex clockMutex;
  bool hasClock = false;
  clockid_t threadClock{};
  std::uint64_t seenProgress = 0;
  double seenSeconds = 0;
  Clock::time_point seenAt = Clock::now(), movedAt = Clock::now();

  // The trace. Each list is touched by one stream's thread.
  struct Lane {
    std::deque<Span> spans;
    const char *kernel = "";
    Clock::time_point kernelAt, waitAt;
    std::int64_t dropped = 0;
  };
  std::atomic<std::int64_t> tracedSteps{0};
  Lane lanes[2];
  std::deque<Span> layers;
  Clock::time_point layerAt;
  Lane &laneOf(StreamRole role) { return lanes[static_cast<int>(role)]; }
};

} // namespace partita

#endif // PARTITA_CORE_RANKLOG_H
