//===- CudaStream.cpp - CUDA streams and events -----------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Order between streams is kept by the GPU; the host only waits at the end of
// a step, and looks out for failures meanwhile.
//
//===----------------------------------------------------------------------===//

#include "device/cuda/CudaDevice.h"

#include <thread>

using namespace partita;

using Clock = std::chrono::steady_clock;

static CudaEvent &stateOf(Event &event) {
  return static_cast<CudaEvent &>(event.state());
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

CudaEvent::CudaEvent(bool withTime) {
  PARTITA_CHECK(cudaEventCreateWithFlags(
      &native, withTime ? cudaEventDefault : cudaEventDisableTiming));
}

bool CudaEvent::isReached() const {
  cudaError_t status = cudaEventQuery(native);
  if (status != cudaErrorNotReady)
    cuda::check(status, "cudaEventQuery");
  return status == cudaSuccess;
}

double CudaEvent::seconds(const CudaEvent &from, const CudaEvent &to) {
  float milliseconds = 0;
  PARTITA_CHECK(cudaEventElapsedTime(&milliseconds, from.native, to.native));
  return milliseconds * 1e-3;
}

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

CudaStream::CudaStream(CudaDevice &device, Purpose purpose)
    : Stream(device), purpose(purpose), owner(device) {
  int lowest = 0, highest = 0;
  PARTITA_CHECK(cudaDeviceGetStreamPriorityRange(&lowest, &highest));
  PARTITA_CHECK(cudaStreamCreateWithPriority(
      &native, cudaStreamNonBlocking,
      purpose == Purpose::comm ? highest : lowest));
}

CudaStream::~CudaStream() {
  if (owner.comm == this)
    owner.comm = nullptr;
  cudaStreamDestroy(native);
}

void CudaStream::record(Event &event) { stateOf(event).record(native); }

void CudaStream::wait(Event &event) { waitFor(stateOf(event)); }

void CudaStream::waitFor(CudaEvent &event) {
  // Measuring more waits than this without a sync would cost more than the
  // figure is worth.
  constexpr std::size_t kMostWaits = 4096;
  if (waitCount == kMostWaits)
    return event.holdUp(native);
  if (waitCount == waits.size())
    waits.push_back(std::make_unique<Wait>());
  Wait &wait = *waits[waitCount++];
  wait.begin.record(native);
  event.holdUp(native);
  wait.end.record(native);
}

/// Between two looks at a stream that takes long.
static constexpr auto kNap = std::chrono::microseconds(50);

void CudaStream::sync() {
  // Yielding answers fast when the end is near and leaves the core to others;
  // after that, naps are short compared with what has been waited for.
  constexpr auto kEager = std::chrono::milliseconds(2);
  Clock::time_point start = Clock::now(), lastPoll = start;
  for (;;) {
    cudaError_t status = cudaStreamQuery(native);
    if (status == cudaSuccess)
      break;
    if (status != cudaErrorNotReady)
      cuda::checkLaunch(status, *this);
    Clock::time_point now = Clock::now();
    if (now - lastPoll >= Failure::pollInterval) {
      owner.poll();
      lastPoll = now;
    }
    if (now - start < kEager)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(kNap);
  }
  owner.poll();
  for (std::size_t i = 0; i < waitCount; ++i) {
    const Wait &wait = *waits[i];
    waited += CudaEvent::seconds(wait.begin, wait.end);
    if (observer)
      observer->waited(role,
                       {owner.timeOf(wait.begin), owner.timeOf(wait.end)});
  }
  waitCount = 0;
  if (observer && purpose == Purpose::compute)
    owner.compareClocks(native);
}

void CudaStream::finish() noexcept {
  for (;;) {
    // Collectives that wait for ranks that are gone would never end.
    if (owner.failure.raised())
      owner.abandon();
    // Any other status means that the GPU does nothing more for this process.
    if (cudaStreamQuery(native) != cudaErrorNotReady)
      return;
    std::this_thread::sleep_for(kNap);
  }
}

void CudaStream::communicate(const char *name, std::function<void()> work) {
  CudaStream &comm = owner.commFor(name);
  if (&comm == this) {
    current = name;
    if (!observer)
      return work();
    tell();
    if (!queuing && !spare.empty()) {
      queuing = std::move(spare.back());
      spare.pop_back();
    } else if (!queuing) {
      queuing = std::make_unique<Issued>();
    }
    queuing->begin.record(native);
    return work();
  }
  there.record(native);
  there.holdUp(comm.native);
  comm.communicate(name, std::move(work));
  back.record(comm.native);
  waitFor(back);
}

void CudaStream::whenDone(std::function<void(const DeviceTimes *)> told) {
  CudaStream &comm = owner.commFor("a collective");
  if (&comm != this)
    return comm.whenDone(std::move(told));
  if (!queuing)
    return;
  queuing->told = std::move(told);
  queuing->end.record(native);
  issued.push_back(std::move(queuing));
}

void CudaStream::tell() {
  while (!issued.empty() && issued.front()->end.isReached()) {
    std::unique_ptr<Issued> done = std::move(issued.front());
    issued.pop_front();
    DeviceTimes times{owner.timeOf(done->begin), owner.timeOf(done->end)};
    done->told(&times);
    done->told = nullptr;
    spare.push_back(std::move(done));
  }
  // Before the next collective begins, or without one, it computes.
  if (observer && (issued.empty() || !issued.front()->begin.isReached()))
    observer->deviceIsBusy();
}
