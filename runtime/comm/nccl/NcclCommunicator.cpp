//===- NcclCommunicator.cpp - Collectives between GPUs by NCCL --*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One NCCL communicator per group of ranks, whether these are threads or
// processes. Communicators do not block, so that a rank that has to wait for
// others notices failures and can end. All collectives of a rank run on its
// comm stream in the order of issue: collectives of several communicators that
// run at the same time can block each other for ever.
//
//===----------------------------------------------------------------------===//

#include "device/cuda/CudaDevice.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <nccl.h>
#include <thread>

using namespace partita;

//===----------------------------------------------------------------------===//
// Statuses
//===----------------------------------------------------------------------===//

static const char *adviceFor(ncclResult_t status) {
  switch (status) {
  case ncclSystemError:
    return "check shared memory (/dev/shm), file limits and network interfaces";
  case ncclRemoteError:
    return "another rank has ended or cannot be reached; see its messages";
  case ncclUnhandledCudaError:
    return "nvidia-smi shows whether GPUs and driver are in order";
  default:
    return "run again with NCCL_DEBUG=INFO, which tells more";
  }
}

/// Throws `Error` unless the status is a success or says that work goes on.
/// `comm` may be null.
static void check(ncclResult_t status, const char *call, ncclComm_t comm) {
  if (status == ncclSuccess || status == ncclInProgress)
    return;
  const char *detail = ncclGetLastError(comm);
  throw Error(std::string(call) + " failed: " + ncclGetErrorString(status) +
              (detail && *detail ? std::string(" (") + detail + ")" : "") +
              "; " + adviceFor(status));
}

static ncclDataType_t typeOf(DType type) {
  switch (type) {
  case DType::f32:
    return ncclFloat32;
  case DType::f64:
    return ncclFloat64;
  case DType::i32:
    return ncclInt32;
  case DType::i64:
    return ncclInt64;
  default:
    throw Error(std::string("a reduction over ranks was given elements of "
                            "type ") +
                nameOf(type) + ", expected f32, f64, i32 or i64");
  }
}

static ncclRedOp_t operationOf(Reduction reduction) {
  switch (reduction) {
  case Reduction::sum:
    return ncclSum;
  case Reduction::max:
    return ncclMax;
  case Reduction::min:
    return ncclMin;
  case Reduction::prod:
    return ncclProd;
  }
  throw Error("a reduction over ranks of an unknown kind");
}

//===----------------------------------------------------------------------===//
// The communicator
//===----------------------------------------------------------------------===//

namespace {

class NcclCommunicator final : public Communicator, CudaDevice::Watched {
public:
  /// Returns when all ranks of the group have joined.
  NcclCommunicator(CudaDevice &device, const ncclUniqueId &id, int rank,
                   int size);
  ~NcclCommunicator() override;

protected:
  void doAllReduce(Stream &stream, void *data, std::int64_t count, DType type,
                   Reduction reduction, Algorithm algorithm,
                   const IssuedCall &issued) override;
  void doAllGather(Stream &stream, void *data, const Counts &counts, DType type,
                   const IssuedCall &issued) override;
  void doReduceScatter(Stream &stream, void *data, const Counts &counts,
                       DType type, Reduction reduction,
                       const IssuedCall &issued) override;
  void doPush(Stream &stream, void *data, const Counts &counts, DType type,
              Reduction reduction, int workers,
              const IssuedCall &issued) override;
  void doFetch(Stream &stream, void *data, const Counts &counts, DType type,
               int workers, const IssuedCall &issued) override;
  void doBroadcast(Stream &stream, void *data, std::int64_t count, DType type,
                   int root, const IssuedCall &issued) override;
  void doExchange(Stream &stream, const void *send, const Counts &sendCounts,
                  void *receive, const Counts &receiveCounts, DType type,
                  const IssuedCall &issued) override;

private:
  /// The bytes of a part of a buffer.
  struct Bytes {
    std::byte *data;
    std::size_t size;
  };

  void poll() override;
  void abandon() noexcept override;

  /// Returns when the communicator has done what `call` began, which gave
  /// `status`: queued a collective, joined or left.
  void settle(ncclResult_t status, const char *call);

  /// Calls part(r) for every rank r of the group as one collective.
  template <typename Part> void grouped(const char *call, const Part &part);

  /// Gives every rank the reduction of its part; parts may differ in size.
  void reduceToOwners(void *data, const Counts &counts, DType type,
                      Reduction reduction);

  Bytes partOf(void *data, const Counts &counts, DType type, int peer) const {
    auto size = static_cast<std::int64_t>(sizeOf(type));
    return {static_cast<std::byte *>(data) + counts.offset(peer) * size,
            static_cast<std::size_t>(counts[peer] * size)};
  }

  /// Where all collectives run.
  cudaStream_t channel() const {
    return cuda::nativeStream(device.commFor("a collective"));
  }

  CudaDevice &device;
  /// Null once it has been abandoned.
  ncclComm_t comm = nullptr;
};

} // namespace

NcclCommunicator::NcclCommunicator(CudaDevice &device, const ncclUniqueId &id,
                                   int rank, int size)
    : Communicator(rank, size), device(device) {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  try {
    settle(ncclCommInitRankConfig(&comm, size, id, rank, &config),
           "ncclCommInitRankConfig");
  } catch (...) {
    abandon();
    throw;
  }
  device.watch(*this);
}

NcclCommunicator::~NcclCommunicator() {
  device.unwatch(*this);
  // Leaving in good order needs the other ranks, which may never come after a
  // failure; one is on its way when this is the end of an exception's stack.
  bool failed = device.failure.raised() || std::uncaught_exceptions() > 0;
  if (comm && !failed) {
    try {
      settle(ncclCommFinalize(comm), "ncclCommFinalize");
      ncclCommDestroy(comm);
      return;
    } catch (const std::exception &) {
      // Nothing is lost: the job's work is done or its failure is known.
    }
  }
  abandon();
}

void NcclCommunicator::abandon() noexcept {
  if (comm)
    ncclCommAbort(comm);
  comm = nullptr;
}

void NcclCommunicator::poll() {
  if (!comm)
    return;
  ncclResult_t status = ncclSuccess;
  check(ncclCommGetAsyncError(comm, &status), "ncclCommGetAsyncError", comm);
  check(status, "a collective", comm);
}

void NcclCommunicator::settle(ncclResult_t status, const char *call) {
  constexpr auto kNap = std::chrono::microseconds(20);
  check(status, call, comm);
  while (status == ncclInProgress) {
    std::this_thread::sleep_for(kNap);
    device.poll();
    check(ncclCommGetAsyncError(comm, &status), call, comm);
    check(status, call, comm);
  }
}

template <typename Part>
void NcclCommunicator::grouped(const char *call, const Part &part) {
  check(ncclGroupStart(), "ncclGroupStart", comm);
  ncclResult_t status = ncclSuccess;
  for (int peer = 0; peer < size(); ++peer)
    if (status == ncclSuccess || status == ncclInProgress)
      status = part(peer);
  ncclResult_t end = ncclGroupEnd();
  check(status, call, comm);
  settle(end, call);
}

void NcclCommunicator::reduceToOwners(void *data, const Counts &counts,
                                      DType type, Reduction reduction) {
  grouped("ncclReduce", [&](int owner) {
    Bytes part = partOf(data, counts, type, owner);
    return part.size == 0 ? ncclSuccess
                          : ncclReduce(part.data, part.data,
                                       static_cast<std::size_t>(counts[owner]),
                                       typeOf(type), operationOf(reduction),
                                       owner, comm, channel());
  });
}

// NCCL measures its links when a communicator is made and chooses by that; the
// algorithm asked for is a hint that it cannot be given for one call.
void NcclCommunicator::doAllReduce(Stream &stream, void *data,
                                   std::int64_t count, DType type,
                                   Reduction reduction, Algorithm /*algorithm*/,
                                   const IssuedCall &issued) {
  communicate(stream, issued, [=] {
    settle(ncclAllReduce(data, data, static_cast<std::size_t>(count),
                         typeOf(type), operationOf(reduction), comm, channel()),
           "ncclAllReduce");
    std::int64_t bytes = count * static_cast<std::int64_t>(sizeOf(type));
    countSent(2 * bytes * (size() - 1) / size());
  });
}

/// Whether all ranks have the same number of elements.
static bool areEven(const Counts &counts) {
  for (int rank = 1; rank < counts.size(); ++rank)
    if (counts[rank] != counts[0])
      return false;
  return true;
}

void NcclCommunicator::doAllGather(Stream &stream, void *data,
                                   const Counts &counts, DType type,
                                   const IssuedCall &issued) {
  communicate(stream, issued, [=] {
    Bytes mine = partOf(data, counts, type, rank());
    if (areEven(counts)) {
      settle(
          ncclAllGather(mine.data, data, mine.size, ncclUint8, comm, channel()),
          "ncclAllGather");
    } else {
      grouped("ncclBroadcast", [&](int peer) {
        Bytes part = partOf(data, counts, type, peer);
        return part.size == 0 ? ncclSuccess
                              : ncclBroadcast(part.data, part.data, part.size,
                                              ncclUint8, peer, comm, channel());
      });
    }
    countSent(static_cast<std::int64_t>(mine.size) * (size() - 1));
  });
}

void NcclCommunicator::doReduceScatter(Stream &stream, void *data,
                                       const Counts &counts, DType type,
                                       Reduction reduction,
                                       const IssuedCall &issued) {
  communicate(stream, issued, [=] {
    Bytes mine = partOf(data, counts, type, rank());
    if (areEven(counts)) {
      settle(ncclReduceScatter(
                 data, mine.data, static_cast<std::size_t>(counts[rank()]),
                 typeOf(type), operationOf(reduction), comm, channel()),
             "ncclReduceScatter");
    } else {
      reduceToOwners(data, counts, type, reduction);
    }
    std::int64_t all = counts.total() * static_cast<std::int64_t>(sizeOf(type));
    countSent(all - static_cast<std::int64_t>(mine.size));
  });
}

// NCCL reduces over all ranks of a group only. Servers take part with zeros,
// which leaves the sums of the workers as they are.
void NcclCommunicator::doPush(Stream &stream, void *data, const Counts &counts,
                              DType type, Reduction reduction, int workers,
                              const IssuedCall &issued) {
  if (reduction != Reduction::sum)
    throw Error(std::string("a push over NCCL was given the reduction ") +
                nameOf(reduction) + ", expected sum");
  communicate(stream, issued, [=] {
    std::int64_t all = counts.total() * static_cast<std::int64_t>(sizeOf(type));
    if (rank() >= workers)
      cuda::check(
          cudaMemsetAsync(data, 0, static_cast<std::size_t>(all), channel()),
          "cudaMemsetAsync");
    reduceToOwners(data, counts, type, reduction);
    std::int64_t mine =
        counts[rank()] * static_cast<std::int64_t>(sizeOf(type));
    countSent(all - mine);
  });
}

void NcclCommunicator::doFetch(Stream &stream, void *data, const Counts &counts,
                               DType type, int workers,
                               const IssuedCall &issued) {
  communicate(stream, issued, [=] {
    Bytes mine = partOf(data, counts, type, rank());
    bool serves = rank() >= workers;
    grouped("ncclSend and ncclRecv", [&](int peer) {
      Bytes part = partOf(data, counts, type, peer);
      if (serves && peer < workers && mine.size > 0)
        return ncclSend(mine.data, mine.size, ncclUint8, peer, comm, channel());
      if (!serves && peer >= workers && part.size > 0)
        return ncclRecv(part.data, part.size, ncclUint8, peer, comm, channel());
      return ncclSuccess;
    });
    if (serves)
      countSent(static_cast<std::int64_t>(mine.size) * workers);
  });
}

void NcclCommunicator::doBroadcast(Stream &stream, void *data,
                                   std::int64_t count, DType type, int root,
                                   const IssuedCall &issued) {
  communicate(stream, issued, [=] {
    std::size_t bytes = static_cast<std::size_t>(count) * sizeOf(type);
    settle(ncclBroadcast(data, data, bytes, ncclUint8, root, comm, channel()),
           "ncclBroadcast");
    if (rank() == root)
      countSent(static_cast<std::int64_t>(bytes) * (size() - 1));
  });
}

void NcclCommunicator::doExchange(Stream &stream, const void *send,
                                  const Counts &sendCounts, void *receive,
                                  const Counts &receiveCounts, DType type,
                                  const IssuedCall &issued) {
  communicate(stream, issued, [=] {
    grouped("ncclSend and ncclRecv", [&](int peer) {
      // Only read, in spite of the type of `Bytes`.
      Bytes leaves = partOf(const_cast<void *>(send), sendCounts, type, peer);
      Bytes arrives = partOf(receive, receiveCounts, type, peer);
      ncclResult_t status = ncclSuccess;
      if (leaves.size > 0)
        status = ncclSend(leaves.data, leaves.size, ncclUint8, peer, comm,
                          channel());
      if (arrives.size > 0 &&
          (status == ncclSuccess || status == ncclInProgress))
        status = ncclRecv(arrives.data, arrives.size, ncclUint8, peer, comm,
                          channel());
      return status;
    });
    countSent(sendCounts.total() * static_cast<std::int64_t>(sizeOf(type)));
  });
}

//===----------------------------------------------------------------------===//
// Meeting
//===----------------------------------------------------------------------===//

namespace {
/// What a rank shows to all others before a communicator is made.
struct Card {
  /// Made by the first rank of each group.
  ncclUniqueId id;
  cudaUUID_t gpu;
};
} // namespace

/// The cards of all ranks of the world.
static std::vector<Card> exchangeCards(World &world, const Card &mine) {
  std::vector<Card> cards(world.size);
  std::vector<std::vector<std::byte>> all = world.gather(&mine, sizeof(mine));
  for (std::size_t rank = 0; rank < all.size(); ++rank)
    std::memcpy(&cards[rank], all[rank].data(), sizeof(Card));
  world.broadcast(cards.data(), cards.size() * sizeof(Card), /*root=*/0);
  return cards;
}

std::unique_ptr<Communicator>
partita::makeNcclCommunicator(World &world, const std::vector<int> &members,
                              Device &device, Failure & /*failure*/) {
  auto &gpu = static_cast<CudaDevice &>(device);
  Card mine{};
  mine.gpu = gpu.uuid();
  if (world.rank == members.front())
    check(ncclGetUniqueId(&mine.id), "ncclGetUniqueId", nullptr);
  std::vector<Card> cards = exchangeCards(world, mine);
  for (std::size_t i = 0; i < members.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (std::memcmp(&cards[members[i]].gpu, &cards[members[j]].gpu,
                      sizeof(cudaUUID_t)) == 0)
        throw Error("ranks " + std::to_string(members[j]) + " and " +
                    std::to_string(members[i]) + " share one GPU (" +
                    gpu.name() +
                    "), expected a GPU for each rank; run on "
                    "more GPUs or compile with a smaller --ranks");
  auto place = std::find(members.begin(), members.end(), world.rank);
  return std::make_unique<NcclCommunicator>(
      gpu, cards[members.front()].id, static_cast<int>(place - members.begin()),
      static_cast<int>(members.size()));
}
