//===- communicator.h - Collectives over a group of ranks -------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The collectives an emitted program calls. Every rank of the group makes the
// same calls in the same order. All work in place, on the order of the stream
// they are given, and give bit-equal results on all ranks: each element is
// combined in one order, whoever needs it. For the threads and mpi channels,
// which give the same bits, that order follows from the call, the group and its
// nodes alone; NCCL's is that of its topology. A group of one rank and a count
// of zero cost nothing.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_COMMUNICATOR_H
#define PARTITA_COMMUNICATOR_H

#include "partita/device.h"
#include "partita/observer.h"
#include "partita/types.h"

#include <initializer_list>
#include <vector>

namespace partita {

/// Elements per rank of a group, in rank order; parts may differ and be empty.
class Counts {
public:
  Counts(std::initializer_list<std::int64_t> counts) : values(counts) {}
  Counts(std::vector<std::int64_t> counts) : values(std::move(counts)) {}
  template <std::size_t N>
  Counts(const std::int64_t (&counts)[N]) : values(counts, counts + N) {}

  int size() const { return static_cast<int>(values.size()); }
  std::int64_t operator[](int rank) const { return values[rank]; }
  /// Elements before the part of `rank`; `offset(size())` is the total.
  std::int64_t offset(int rank) const;
  std::int64_t total() const { return offset(size()); }

private:
  std::vector<std::int64_t> values;
};

/// How an all-reduce of B bytes over n ranks is done. Bytes are what a rank
/// sends; steps are messages that wait for one another.
///
/// - direct: every rank combines one part of n and receives that part from all
///   others at once, then sends it to all (a reduce-scatter and an all-gather).
///   2 B (n - 1) / n bytes, 2 steps. Combines in rank order.
/// - ring: the parts travel around a ring twice, combined in the first round
///   (Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters
///   of workstations", 2009). 2 B (n - 1) / n bytes, 2 (n - 1) steps, one
///   sender and one receiver per rank. Part p is combined in the order of the
///   ranks p + 1, p + 2, ..., p.
/// - tree: recursive doubling of whole buffers; what is beyond a power of two
///   of ranks is folded in before and out after (Thakur, Rabenseifner and
///   Gropp, "Optimization of collective communication operations in MPICH",
///   2005, section 4.4). B log2(n) bytes, log2(n) steps. Combines in a binary
///   tree over the ranks.
/// - hierarchical: a reduce-scatter inside each node, direct all-reduces of the
///   parts between nodes, an all-gather inside each node. Between nodes of k
///   ranks a rank sends 2 (B / k) (N - 1) / N bytes, with N nodes. Combines in
///   rank order inside a node, then in node order.
/// - automatic: the channel decides, by size and group.
enum class Algorithm { automatic, direct, ring, tree, hierarchical };

/// The name people read in messages: "ring", ...
const char *nameOf(Algorithm algorithm);

/// Where a program calls a collective: a row of the tables in emitted programs.
/// The texts are string literals.
struct CallSite {
  /// What is sent: "conv1 reads x", "bucket 0: fc.bias, fc.weight".
  const char *label = "";
  /// The layers of the model it serves; "" for none.
  const char *layer = "";
  /// Its place among the communications of the phase (step, eval or predict) of
  /// this rank class, from 0 in program order, which is its place in the
  /// certificate; -1 where there is no table.
  int index = -1;
};

/// A collective as its observer sees it.
struct IssuedCall {
  /// "allReduce", "allGather", "reduceScatter", "push", "fetch", "broadcast" or
  /// "exchange"; a string literal.
  const char *kind = "";
  DType type = DType::f32;
  /// Elements of the buffer; of an exchange, those that this rank sends.
  std::int64_t count = 0;
  /// Matters to reductions only.
  Reduction reduction = Reduction::sum;
  /// Matters to a broadcast only.
  int root = 0;
  /// The parts of an allGather, a reduceScatter, a push or a fetch, what an
  /// exchange sends to each rank of the group; null for other kinds.
  const Counts *parts = nullptr;
  /// What an exchange awaits from each rank of the group; null for other kinds.
  const Counts *awaited = nullptr;
  /// Matters to an allReduce only.
  Algorithm algorithm = Algorithm::automatic;
  /// Matters to a push and a fetch only.
  int workers = 0;
  CallSite site = {};
};

class Redistribution;

/// Counts what a rank sends; its network figures come from here.
class Traffic;

/// A group of ranks that communicate, seen from one of them.
class Communicator {
public:
  Communicator(int rank, int size) : rankIndex(rank), rankCount(size) {}
  Communicator(const Communicator &) = delete;
  Communicator &operator=(const Communicator &) = delete;
  virtual ~Communicator();

  /// This rank's index in the group, and the number of ranks in it.
  int rank() const { return rankIndex; }
  int size() const { return rankCount; }

  /// data[i] becomes the reduction of all ranks' data[i].
  /// Equivalent to MPI_Allreduce with MPI_IN_PLACE. Types: f32 f64 i32 i64.
  /// NCCL takes `algorithm` as a hint, that is, it chooses itself.
  template <typename T>
  void allReduce(Stream &stream, T *data, std::int64_t count,
                 Reduction reduction,
                 Algorithm algorithm = Algorithm::automatic,
                 const CallSite &site = {}) {
    if (rankCount > 1 && count > 0)
      startAllReduce(stream, data, count, DTypeOf<T>::value, reduction,
                     algorithm, site);
  }

  /// The same by the algorithm that the channel chooses.
  template <typename T>
  void allReduce(Stream &stream, T *data, std::int64_t count,
                 Reduction reduction, const CallSite &site) {
    allReduce(stream, data, count, reduction, Algorithm::automatic, site);
  }

  /// `data` holds counts.total() elements. Before the call rank r has filled
  /// its part, counts[r] elements at counts.offset(r); after it all parts are
  /// filled. Equivalent to MPI_Allgatherv with MPI_IN_PLACE.
  template <typename T>
  void allGather(Stream &stream, T *data, const Counts &counts,
                 const CallSite &site = {}) {
    checkParts(counts);
    if (rankCount > 1 && counts.total() > 0)
      startAllGather(stream, data, counts, DTypeOf<T>::value, site);
  }

  /// `data` holds counts.total() elements on every rank. After the call the
  /// part of this rank (see allGather) holds the reduction of all ranks' parts
  /// at that place; the other parts are undefined.
  /// Equivalent to MPI_Reduce_scatter with MPI_IN_PLACE, without the move to
  /// the front. Types: f32 f64 i32 i64.
  template <typename T>
  void reduceScatter(Stream &stream, T *data, const Counts &counts,
                     Reduction reduction, const CallSite &site = {}) {
    checkParts(counts);
    if (rankCount > 1 && counts.total() > 0)
      startReduceScatter(stream, data, counts, DTypeOf<T>::value, reduction,
                         site);
  }

  /// A reduce-scatter to servers. The first `workers` ranks of the group
  /// contribute and own nothing, their counts are 0; the other ranks are
  /// servers, which own and contribute nothing. `data` holds counts.total()
  /// elements on every rank. After the call the part of each server holds the
  /// reduction of all workers' parts at that place, combined in rank order;
  /// other parts are unchanged on workers and undefined on servers. A worker
  /// sends counts.total() elements, a server none. Types: f32 f64 i32 i64;
  /// over NCCL only sums.
  template <typename T>
  void push(Stream &stream, T *data, const Counts &counts, Reduction reduction,
            int workers, const CallSite &site = {}) {
    checkServers(counts, workers);
    if (counts.total() > 0)
      startPush(stream, data, counts, DTypeOf<T>::value, reduction, workers,
                site);
  }

  /// The way back: before the call each server has filled its part of `data`,
  /// after it all parts are filled on the workers. Servers receive nothing and
  /// send their part to each worker.
  template <typename T>
  void fetch(Stream &stream, T *data, const Counts &counts, int workers,
             const CallSite &site = {}) {
    checkServers(counts, workers);
    if (counts.total() > 0)
      startFetch(stream, data, counts, DTypeOf<T>::value, workers, site);
  }

  /// data of all ranks becomes data of rank `root`. Equivalent to MPI_Bcast.
  template <typename T>
  void broadcast(Stream &stream, T *data, std::int64_t count, int root,
                 const CallSite &site = {}) {
    if (rankCount > 1 && count > 0)
      startBroadcast(stream, data, count, DTypeOf<T>::value, root, site);
  }

  /// Sends sendCounts[r] elements at sendCounts.offset(r) of `send` to rank r,
  /// and receives receiveCounts[r] elements from rank r at
  /// receiveCounts.offset(r) of `receive`; the two buffers do not overlap.
  /// What a rank sends to another, that one has to expect; nobody sends to
  /// itself: its own counts are 0. Ranks without messages take part.
  /// Equivalent to MPI_Alltoallv.
  template <typename T>
  void exchange(Stream &stream, const T *send, const Counts &sendCounts,
                T *receive, const Counts &receiveCounts,
                const CallSite &site = {}) {
    checkMessages(sendCounts, receiveCounts);
    if (rankCount > 1)
      startExchange(stream, send, sendCounts, receive, receiveCounts,
                    DTypeOf<T>::value, site);
  }

  /// Where sent bytes are counted; set once by the runtime, may be null.
  void setTraffic(Traffic *meter) { traffic = meter; }

  /// Who is told of this group's calls, null for nobody, and the group's ranks
  /// by their numbers in the job. Set before anything is called; the observer
  /// outlives the work.
  void observeBy(Observer *who, std::vector<int> members) {
    observer = who;
    memberRanks = std::move(members);
  }
  /// The group's ranks by their numbers in the job; empty when not known.
  const std::vector<int> &members() const { return memberRanks; }

protected:
  // What a back end implements. Called with size() > 1 and something to do.
  // The work is done through `communicate` below, which gets `issued`.
  virtual void doAllReduce(Stream &stream, void *data, std::int64_t count,
                           DType type, Reduction reduction, Algorithm algorithm,
                           const IssuedCall &issued) = 0;
  virtual void doAllGather(Stream &stream, void *data, const Counts &counts,
                           DType type, const IssuedCall &issued) = 0;
  virtual void doReduceScatter(Stream &stream, void *data, const Counts &counts,
                               DType type, Reduction reduction,
                               const IssuedCall &issued) = 0;
  virtual void doPush(Stream &stream, void *data, const Counts &counts,
                      DType type, Reduction reduction, int workers,
                      const IssuedCall &issued) = 0;
  virtual void doFetch(Stream &stream, void *data, const Counts &counts,
                       DType type, int workers, const IssuedCall &issued) = 0;
  virtual void doBroadcast(Stream &stream, void *data, std::int64_t count,
                           DType type, int root, const IssuedCall &issued) = 0;
  virtual void doExchange(Stream &stream, const void *send,
                          const Counts &sendCounts, void *receive,
                          const Counts &receiveCounts, DType type,
                          const IssuedCall &issued) = 0;

  /// Does `work()` as `stream.communicate` does, and tells the observer when
  /// the call is issued, begins and is done.
  void communicate(Stream &stream, const IssuedCall &issued,
                   std::function<void()> work);

  /// Counts `bytes` as sent now by this rank; called by `work`.
  void countSent(std::int64_t bytes);

private:
  /// Moves tensors of any element type.
  friend class Redistribution;

  // What the templates above and moves come down to.
  void startAllReduce(Stream &stream, void *data, std::int64_t count,
                      DType type, Reduction reduction, Algorithm algorithm,
                      const CallSite &site);
  void startAllGather(Stream &stream, void *data, const Counts &counts,
                      DType type, const CallSite &site);
  void startReduceScatter(Stream &stream, void *data, const Counts &counts,
                          DType type, Reduction reduction,
                          const CallSite &site);
  void startPush(Stream &stream, void *data, const Counts &counts, DType type,
                 Reduction reduction, int workers, const CallSite &site);
  void startFetch(Stream &stream, void *data, const Counts &counts, DType type,
                  int workers, const CallSite &site);
  void startBroadcast(Stream &stream, void *data, std::int64_t count,
                      DType type, int root, const CallSite &site);
  void startExchange(Stream &stream, const void *send, const Counts &sendCounts,
                     void *receive, const Counts &receiveCounts, DType type,
                     const CallSite &site);
  void checkParts(const Counts &counts) const;
  void checkServers(const Counts &counts, int workers) const;
  void checkMessages(const Counts &sent, const Counts &received) const;

  int rankIndex;
  int rankCount;
  Traffic *traffic = nullptr;
  Observer *observer = nullptr;
  std::vector<int> memberRanks;
  /// Of the call that is being worked on.
  std::int64_t bytesOfCall = 0;
};

} // namespace partita

#endif // PARTITA_COMMUNICATOR_H
