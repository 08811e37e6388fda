//===- CudaDevice.h - A GPU as a device: streams and events -----*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Both streams are CUDA streams; the comm stream has the higher priority, so
// that a collective does not wait for room behind long kernels. Everything is
// called by the rank's own thread, which has made this GPU its current one.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_DEVICE_CUDA_CUDADEVICE_H
#define PARTITA_DEVICE_CUDA_CUDADEVICE_H

#include "device/cuda/Staging.h"
#include "partita/backend.h"
#include "partita/cuda.h"

#include <deque>

namespace partita {

class CudaDevice;

/// A point in a CUDA stream.
class CudaEvent final : public Event::State {
public:
  /// Events with time can be subtracted, at some cost.
  explicit CudaEvent(bool withTime = false);
  CudaEvent(const CudaEvent &) = delete;
  CudaEvent &operator=(const CudaEvent &) = delete;
  ~CudaEvent() override { cudaEventDestroy(native); }

  void record(cudaStream_t stream) {
    PARTITA_CHECK(cudaEventRecord(native, stream));
  }
  /// Later work of the stream waits for the latest record, if there is one.
  void holdUp(cudaStream_t stream) {
    PARTITA_CHECK(cudaStreamWaitEvent(stream, native, 0));
  }
  /// Whether all work before the latest record is done.
  bool isReached() const;
  /// Seconds between two events that have been reached.
  static double seconds(const CudaEvent &from, const CudaEvent &to);

private:
  cudaEvent_t native = nullptr;
};

/// Work on a CUDA stream.
class CudaStream : public Stream {
public:
  enum class Purpose { compute, comm };

  CudaStream(CudaDevice &device, Purpose purpose);
  ~CudaStream() override;

  void record(Event &event) override;
  void wait(Event &event) override;
  void sync() override;
  void finish() noexcept override;
  void communicate(const char *name, std::function<void()> work) override;
  void whenDone(std::function<void(const DeviceTimes *)> told) override;
  double waitedSeconds() const override { return waited; }
  void *nativeHandle() override { return native; }

  /// Tells of the communication that the GPU has done meanwhile.
  void tell();

  /// What is being issued, or was issued last; "" at first.
  const char *doing() const { return current; }

  const Purpose purpose;

private:
  /// From the arrival of this stream at a wait to the end of that wait.
  struct Wait {
    CudaEvent begin{/*withTime=*/true}, end{/*withTime=*/true};
  };

  /// A communication of which somebody is to be told.
  struct Issued {
    CudaEvent begin{/*withTime=*/true}, end{/*withTime=*/true};
    std::function<void(const DeviceTimes *)> told;
  };

  /// Waits for the event and measures how long.
  void waitFor(CudaEvent &event);

  CudaDevice &owner;
  cudaStream_t native = nullptr;
  /// The ends of the way to the comm stream and back; see communicate.
  CudaEvent there, back;
  /// The waits since the last sync; the events are used again and again.
  std::vector<std::unique_ptr<Wait>> waits;
  std::size_t waitCount = 0;
  double waited = 0;
  /// In the order of issue; those that are done are used again.
  std::deque<std::unique_ptr<Issued>> issued;
  std::vector<std::unique_ptr<Issued>> spare;
  /// The one whose work is being queued.
  std::unique_ptr<Issued> queuing;
};

/// The memory and the streams of one GPU.
class CudaDevice final : public Device {
public:
  /// Makes a GPU the calling thread's current one. Throws `Error` when there
  /// is none.
  CudaDevice(int rank, int localRank, Failure &failure);
  ~CudaDevice() override;

  Kind kind() const override { return Kind::cuda; }
  std::string name() const override { return properties.name; }
  void *allocate(std::size_t bytes) override;
  void release(void *memory) noexcept override;
  void copyIn(void *onDevice, const void *host, std::size_t bytes) override;
  void copyOut(void *host, const void *onDevice, std::size_t bytes) override;
  std::unique_ptr<Stream> makeCompute() override;
  std::unique_ptr<Stream> makeComm(Stream &compute) override;
  std::unique_ptr<Event::State> makeEvent() override;

  /// Identifies the GPU among those of all machines.
  const cudaUUID_t &uuid() const { return properties.uuid; }

  /// All communication of the rank is done on this stream, in the order of
  /// issue. Throws `Error` naming the work when there is none.
  CudaStream &commFor(const char *name) const;

  /// Something that can fail while the host waits for a stream.
  class Watched {
  public:
    /// Throws `Error` when it has failed. Called now and then while the
    /// host waits.
    virtual void poll() = 0;
    /// After a failure: ends what may be waiting for other ranks.
    virtual void abandon() noexcept = 0;

  protected:
    ~Watched() = default;
  };
  void watch(Watched &watched) { watchedOnes.push_back(&watched); }
  void unwatch(Watched &watched);

  /// When an event that has been reached was reached, on the host's clock. It
  /// may lie before the comparison of clocks: the difference is negative then.
  std::chrono::steady_clock::time_point timeOf(const CudaEvent &event) const;
  /// Compares the clocks of host and GPU again: times are measured from here,
  /// in floats, which do not stay precise for long. The stream is idle.
  void compareClocks(cudaStream_t idle);

  /// Throws when anything watched, or another rank, has failed.
  void poll() const;

  /// After a failure: ends work that may be waiting for other ranks.
  void abandon() const noexcept;

  /// What the kernels keep per device (library handles, workspace); made by
  /// them, freed with the device.
  struct Extension {
    virtual ~Extension();
  };
  std::unique_ptr<Extension> extension;

  const int rank;
  Failure &failure;

private:
  friend class CudaStream;

  cudaDeviceProp properties{};
  std::unique_ptr<Staging> staging;
  CudaStream *comm = nullptr;
  std::vector<Watched *> watchedOnes;
  /// A moment by both clocks.
  std::unique_ptr<CudaEvent> origin;
  std::chrono::steady_clock::time_point originTime;
};

} // namespace partita

#endif // PARTITA_DEVICE_CUDA_CUDADEVICE_H
