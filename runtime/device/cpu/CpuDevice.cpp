//===- CpuDevice.cpp - A CPU as a device: streams and events ----*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements the cpu back end of partita/device.h.
//
//===----------------------------------------------------------------------===//

#include "device/cpu/CpuDevice.h"

#include <cstdlib>
#include <cstring>

#ifdef _OPENMP
#include <omp.h>
#endif

using namespace partita;

using Clock = std::chrono::steady_clock;

static double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// How many threads kernels use that the calling thread issues. Left to the
/// library it would be all cores, for every rank of the machine.
static void useThreads([[maybe_unused]] int threads) {
#ifdef _OPENMP
  omp_set_num_threads(threads);
#endif
}

//===----------------------------------------------------------------------===//
// Waiting
//===----------------------------------------------------------------------===//

void Progress::advanceTo(std::uint64_t target) {
  // Woken under the lock: whoever sees the new value may destroy this object,
  // and the destructor takes the lock.
  std::lock_guard<std::mutex> lock(mutex);
  if (count.load(std::memory_order_relaxed) >= target)
    return;
  count.store(target, std::memory_order_release);
  moved.notify_all();
}

void Progress::await(std::uint64_t target, const Failure &failure) {
  // Long enough for a hand-over between two running threads, short enough to
  // be no burden when there are more threads than cores.
  constexpr int kSpins = 500;
  for (int i = 0; i < kSpins; ++i) {
    if (value() >= target)
      return;
    if (i % 50 == 49)
      std::this_thread::yield();
  }
  std::unique_lock<std::mutex> lock(mutex);
  while (value() < target) {
    failure.check();
    moved.wait_for(lock, Failure::pollInterval);
  }
}

void Progress::await(std::uint64_t target) {
  std::unique_lock<std::mutex> lock(mutex);
  moved.wait(lock, [&] { return value() >= target; });
}

static CpuEvent &stateOf(Event &event) {
  return static_cast<CpuEvent &>(event.state());
}

//===----------------------------------------------------------------------===//
// The compute stream
//===----------------------------------------------------------------------===//

void CpuCompute::record(Event &event) {
  CpuEvent &state = stateOf(event);
  state.reached.advanceTo(++state.marked);
}

void CpuCompute::wait(Event &event) {
  CpuEvent &state = stateOf(event);
  if (state.reached.value() >= state.marked)
    return;
  ObservedWait observed(*this);
  Clock::time_point start = Clock::now();
  state.reached.await(state.marked, failure);
  waited += secondsSince(start);
}

void CpuCompute::communicate(const char *name, std::function<void()> work) {
  if (!worker)
    throw Error(std::string("'") + name +
                "' communicates, and the rank has no comm stream");
  ObservedWait observed(*this);
  Clock::time_point start = Clock::now();
  worker->communicate(name, std::move(work));
  worker->sync();
  waited += secondsSince(start);
}

//===----------------------------------------------------------------------===//
// The comm stream
//===----------------------------------------------------------------------===//

CpuComm::CpuComm(Device &device, CpuCompute &compute, int rank, int threads,
                 Failure &failure)
    : Stream(device), compute(compute), rank(rank), threads(threads),
      failure(failure) {
  queues = true;
  compute.worker = this;
  thread = std::thread([this] { serve(); });
}

CpuComm::~CpuComm() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    closing = true;
  }
  arrived.notify_one();
  thread.join();
  compute.worker = nullptr;
}

void CpuComm::enqueue(const char *name, std::function<void()> work) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    tasks.push_back({name, std::move(work)});
    ++issued;
  }
  arrived.notify_one();
}

void CpuComm::record(Event &event) {
  CpuEvent *state = &stateOf(event);
  std::uint64_t mark = ++state->marked;
  enqueue("record", [state, mark] { state->reached.advanceTo(mark); });
}

void CpuComm::wait(Event &event) {
  CpuEvent *state = &stateOf(event);
  std::uint64_t mark = state->marked;
  if (state->reached.value() >= mark)
    return;
  enqueue("wait", [this, state, mark] {
    ObservedWait observed(*this);
    state->reached.await(mark, failure);
  });
}

void CpuComm::sync() {
  // Only the rank's own thread issues, so `issued` cannot move meanwhile.
  done.await(issued, failure);
  failure.check();
}

void CpuComm::serve() {
  useThreads(threads);
  for (;;) {
    Task task;
    {
      std::unique_lock<std::mutex> lock(mutex);
      arrived.wait(lock, [this] { return closing || !tasks.empty(); });
      if (tasks.empty())
        return;
      task = std::move(tasks.front());
      tasks.pop_front();
    }
    // After a failure the queue is emptied without doing the work: nothing may
    // wait for ranks that are gone.
    try {
      failure.check();
      task.work();
    } catch (const JobEnded &) {
    } catch (const std::exception &error) {
      failure.raise(rank, std::string(task.name) + ": " + error.what());
    }
    done.advanceTo(done.value() + 1);
  }
}

//===----------------------------------------------------------------------===//
// The device
//===----------------------------------------------------------------------===//

CpuDevice::CpuDevice(int rank, int threads, Failure &failure)
    : rank(rank), threads(threads), failure(failure) {
  // On the rank's own thread.
  useThreads(threads);
}

std::string CpuDevice::name() const {
  return "cpu, " + std::to_string(threads) +
         (threads == 1 ? " thread" : " threads");
}

void *CpuDevice::allocate(std::size_t bytes) {
  constexpr std::size_t kAlignment = 64;
  std::size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  if (rounded == 0)
    rounded = kAlignment;
  void *memory =
      rounded < bytes ? nullptr : std::aligned_alloc(kAlignment, rounded);
  if (!memory)
    throw Error("rank " + std::to_string(rank) + " found no memory for " +
                std::to_string(bytes) +
                " bytes; compile for more ranks or for a smaller batch");
  std::memset(memory, 0, rounded);
  return memory;
}

void CpuDevice::release(void *memory) noexcept { std::free(memory); }

void CpuDevice::copyIn(void *onDevice, const void *host, std::size_t bytes) {
  if (bytes)
    std::memcpy(onDevice, host, bytes);
}

void CpuDevice::copyOut(void *host, const void *onDevice, std::size_t bytes) {
  if (bytes)
    std::memcpy(host, onDevice, bytes);
}

std::unique_ptr<Stream> CpuDevice::makeCompute() {
  return std::make_unique<CpuCompute>(*this, failure);
}

std::unique_ptr<Stream> CpuDevice::makeComm(Stream &compute) {
  return std::make_unique<CpuComm>(*this, static_cast<CpuCompute &>(compute),
                                   rank, threads, failure);
}

std::unique_ptr<Event::State> CpuDevice::makeEvent() {
  return std::make_unique<CpuEvent>();
}

std::unique_ptr<Device> partita::makeCpuDevice(int rank, int /*localRank*/,
                                               int threads, Failure &failure) {
  return std::make_unique<CpuDevice>(rank, threads, failure);
}
