//===- CpuDevice.h - A CPU as a device: streams and events ------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The compute stream works inline on the rank's thread; the comm stream is a
// worker thread with a queue. Waiting never burns a core for long: waiters
// spin for some microseconds, then sleep on a condition variable.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_DEVICE_CPU_CPUDEVICE_H
#define PARTITA_DEVICE_CPU_CPUDEVICE_H

#include "partita/backend.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace partita {

/// A number that only grows and that threads can wait for.
class Progress {
public:
  /// Lets a thread that is just waking others get out of the way.
  ~Progress() { std::lock_guard<std::mutex> lock(mutex); }

  std::uint64_t value() const { return count.load(std::memory_order_acquire); }

  void advanceTo(std::uint64_t target);

  /// Returns when value() >= target; throws `JobEnded` after a failure.
  void await(std::uint64_t target, const Failure &failure);

  /// The same for targets that are reached after a failure, too.
  void await(std::uint64_t target);

private:
  std::atomic<std::uint64_t> count{0};
  std::mutex mutex;
  std::condition_variable moved;
};

/// Marks are numbered by the thread that issues; `reached` follows as the
/// streams get there.
struct CpuEvent : Event::State {
  std::uint64_t marked = 0;
  Progress reached;
};

class CpuComm;

/// Work is done when it is issued.
class CpuCompute final : public Stream {
public:
  CpuCompute(Device &device, const Failure &failure)
      : Stream(device), failure(failure) {}

  void record(Event &event) override;
  void wait(Event &event) override;
  void sync() override { failure.check(); }
  void communicate(const char *name, std::function<void()> work) override;
  double waitedSeconds() const override { return waited; }

private:
  friend class CpuComm;

  const Failure &failure;
  CpuComm *worker = nullptr;
  double waited = 0;
};

/// Work is done by a thread of its own, in the order of issue.
class CpuComm final : public Stream {
public:
  /// `threads` is the number of threads that kernels on this stream use.
  CpuComm(Device &device, CpuCompute &compute, int rank, int threads,
          Failure &failure);
  ~CpuComm() override;

  void record(Event &event) override;
  void wait(Event &event) override;
  void sync() override;
  void finish() noexcept override { done.await(issued); }
  void communicate(const char *name, std::function<void()> work) override {
    enqueue(name, std::move(work));
  }

protected:
  void enqueue(const char *name, std::function<void()> work) override;

private:
  struct Task {
    const char *name;
    std::function<void()> work;
  };

  void serve();

  CpuCompute &compute;
  int rank, threads;
  Failure &failure;

  std::mutex mutex;
  std::condition_variable arrived;
  std::deque<Task> tasks;
  bool closing = false;
  std::uint64_t issued = 0;
  Progress done;
  std::thread thread;
};

class CpuDevice final : public Device {
public:
  CpuDevice(int rank, int threads, Failure &failure);

  Kind kind() const override { return Kind::cpu; }
  std::string name() const override;
  void *allocate(std::size_t bytes) override;
  void release(void *memory) noexcept override;
  void copyIn(void *onDevice, const void *host, std::size_t bytes) override;
  void copyOut(void *host, const void *onDevice, std::size_t bytes) override;
  std::unique_ptr<Stream> makeCompute() override;
  std::unique_ptr<Stream> makeComm(Stream &compute) override;
  std::unique_ptr<Event::State> makeEvent() override;

private:
  int rank;
  int threads;
  Failure &failure;
};

} // namespace partita

#endif // PARTITA_DEVICE_CPU_CPUDEVICE_H
