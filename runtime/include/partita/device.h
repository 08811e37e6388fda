//===- device.h - Devices, streams and events -------------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What one rank computes on. The same three classes serve CPUs and GPUs:
//
//   Device  memory and copies
//   Stream  a queue of work that is done in order
//   Event   a point in one stream that another stream can wait for
//
// On a CPU the `compute` stream does its work at once on the rank's own thread
// and the `comm` stream is a worker thread with a first-in-first-out queue. On
// a GPU both are device streams. Programs order work between streams with
// events only, so one program text is right for both:
//
//   compute.record(gradientReady);          // everything issued so far ...
//   comm.wait(gradientReady);               // ... is done before the sum
//   data.allReduce(comm, gradient, n, Reduction::sum);
//   comm.record(gradientSummed);
//   ...                                     // compute goes on meanwhile
//   compute.wait(gradientSummed);
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_DEVICE_H
#define PARTITA_DEVICE_H

#include "partita/observer.h"
#include "partita/types.h"

#include <functional>
#include <memory>
#include <utility>

namespace partita {

class Device;
class Failure;

/// A point in a stream's work. Reusable: each `record` moves it, and a `wait`
/// waits for the latest `record` issued before it (none so far: no wait).
class Event {
public:
  /// What a device keeps for an event.
  struct State {
    virtual ~State();
  };

  explicit Event(Device &device);

  /// For device back ends: the state that `Device::makeEvent` made.
  State &state() { return *impl; }

private:
  std::unique_ptr<State> impl;
};

/// A queue of work done in the order in which it was issued. Work is issued by
/// the rank's own thread only. Pointers given to queued work must stay valid
/// until the work is done, which holds for every buffer of the arena.
class Stream {
public:
  Stream(Device &device) : device(device) {}
  Stream(const Stream &) = delete;
  Stream &operator=(const Stream &) = delete;
  virtual ~Stream();

  /// Marks the end of the work issued so far.
  virtual void record(Event &event) = 0;

  /// Makes later work of this stream start after the event's latest mark.
  virtual void wait(Event &event) = 0;

  /// Returns when all work issued so far is done. Throws `Error` when that
  /// work failed.
  virtual void sync() = 0;

  /// Returns when no issued work will touch a buffer, an event or a
  /// communicator any more: it is done or, after a failure, dropped. Called
  /// before these are destroyed.
  virtual void finish() noexcept;

  /// Does `work()` in the order of this stream. On a CPU's compute stream, and
  /// on a GPU, where `work` launches kernels on the native stream, `work` is
  /// called at once; on a CPU's comm stream it is copied and queued, so capture
  /// by value. `name` is a string literal that messages use.
  template <typename Work> void run(const char *name, Work &&work) {
    if (!queues) {
      current = name;
      return runObserved(name, work);
    }
    if (!observer)
      return enqueue(name, std::forward<Work>(work));
    enqueue(name, [this, name, work = std::forward<Work>(work)]() mutable {
      runObserved(name, work);
    });
  }

  /// Like `run`, for communication that blocks its thread. All communication of
  /// a CPU rank is done by the worker thread of its comm stream, in the order
  /// of issue; issued on the compute stream, it is handed to that worker and
  /// waited for.
  virtual void communicate(const char *name, std::function<void()> work) = 0;

  /// To be called by the work of `communicate` at its end: calls `told` once
  /// the communication is done. On CPUs that is now, and `told` gets null. On a
  /// GPU the work only queues: `told` is called when the GPU has come that far
  /// and the host looks again, in the order of issue, with the times; never
  /// after a failure.
  virtual void whenDone(std::function<void(const DeviceTimes *)> told) {
    told(nullptr);
  }

  /// Who is told what this stream does, as the work of this role; null for
  /// nobody. Set before anything is issued; outlives the stream's work.
  void observeBy(Observer *who, StreamRole asRole) {
    observer = who;
    role = asRole;
  }

  /// Seconds this stream has spent waiting for other streams, ranks or data.
  virtual double waitedSeconds() const { return 0; }

  /// The device's own handle: a cudaStream_t on GPUs (see partita/cuda.h),
  /// null on CPUs.
  virtual void *nativeHandle() { return nullptr; }

  Device &device;

protected:
  /// Queues work; only for streams that set `queues`.
  virtual void enqueue(const char *name, std::function<void()> work);

  /// Tells the observer that this stream waits, as long as it exists.
  class ObservedWait {
  public:
    explicit ObservedWait(Stream &stream) : stream(stream) {
      if (stream.observer)
        stream.observer->waitBegan(stream.role);
    }
    ObservedWait(const ObservedWait &) = delete;
    ObservedWait &operator=(const ObservedWait &) = delete;
    ~ObservedWait() {
      if (stream.observer)
        stream.observer->waitEnded(stream.role);
    }

  private:
    Stream &stream;
  };

  bool queues = false;
  const char *current = "";
  Observer *observer = nullptr;
  StreamRole role = StreamRole::compute;

private:
  template <typename Work> void runObserved(const char *name, Work &work) {
    if (observer)
      observer->kernelBegan(role, name);
    work();
    if (observer)
      observer->kernelEnded(role);
  }
};

/// The memory and the streams of one rank's processor.
class Device {
public:
  enum class Kind { cpu, cuda };

  Device() = default;
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;
  virtual ~Device();

  virtual Kind kind() const = 0;

  /// What people call it: "cpu, 2 threads" or the GPU's product name.
  virtual std::string name() const = 0;

  /// Zero-filled memory, aligned to at least 64 bytes, freed by `release`.
  /// Throws `Error` naming the bytes asked for when there is not enough.
  virtual void *allocate(std::size_t bytes) = 0;
  virtual void release(void *memory) noexcept = 0;

  /// Copies between host memory and this device's memory, done on return and
  /// ordered with no stream: the caller has synchronised the streams in use.
  virtual void copyIn(void *onDevice, const void *host, std::size_t bytes) = 0;
  virtual void copyOut(void *host, const void *onDevice, std::size_t bytes) = 0;

  /// Streams and events for this device. `makeComm` gives the communication
  /// stream that goes with `compute`.
  virtual std::unique_ptr<Stream> makeCompute() = 0;
  virtual std::unique_ptr<Stream> makeComm(Stream &compute) = 0;
  virtual std::unique_ptr<Event::State> makeEvent() = 0;
};

/// One rank's device memory, released with it.
class Memory {
public:
  Memory(Device &device, std::size_t bytes)
      : device(device), start(device.allocate(bytes)), bytes(bytes) {}
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;
  ~Memory() { device.release(start); }

  std::byte *data() { return static_cast<std::byte *>(start); }
  std::size_t size() const { return bytes; }

private:
  Device &device;
  void *start;
  std::size_t bytes;
};

} // namespace partita

#endif // PARTITA_DEVICE_H
