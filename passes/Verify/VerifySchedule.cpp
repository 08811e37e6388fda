//===- VerifySchedule.cpp - Contract of the schedule phase ---------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Read-only checks of scheduled programs: races with vector clocks, contents
// of shared memory by following the writes.
//
//===----------------------------------------------------------------------===//

#include "dialects/SPMD/IR/SPMDDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Verify/Passes.h"
#include <map>

using namespace mlir;
using namespace partita;

namespace partita {
#define GEN_PASS_DEF_VERIFYSCHEDULE
#include "passes/Verify/Passes.h.inc"
} // namespace partita

namespace {

constexpr unsigned kStreams = 2;

/// How far each stream has come, as far as one of them knows.
using Clock = std::array<int64_t, kStreams>;

/// One access to a range of the arena.
struct Access {
  Operation *op = nullptr;
  int64_t begin = 0;
  int64_t end = 0;
  bool writes = false;
  unsigned stream = 0;
  int64_t time = 0;
};

/// A communication, as one class issues it.
struct Call {
  spmd::CommunicateOp op;
  /// What all classes agree on: kind, reduction, axes and move.
  std::string what;
  /// Whether it is with servers, and for which of a server's groups.
  bool hasServers = false;
  int64_t group = 0;
  int64_t elements = 0;
  /// Of a flat buffer whose parts have owners.
  Attribute parts;
};

/// Whether a launch is one of the two that a move needs beside its
/// communication.
bool isPack(spmd::LaunchOp launch) { return launch.getKernel() == "spmd.pack"; }
bool isUnpack(spmd::LaunchOp launch) {
  return launch.getKernel() == "spmd.unpack";
}

int64_t bytesOf(MemRefType type) {
  return type.getNumElements() * ((type.getElementTypeBitWidth() + 7) / 8);
}

/// The checks of one function.
class FunctionCheck {
public:
  FunctionCheck(func::FuncOp function, int64_t arenaBytes)
      : function(function), arenaBytes(arenaBytes) {}

  LogicalResult run() {
    if (!function.getBody().hasOneBlock()) {
      refuse(function, "the function needs a body of one block");
      return failure();
    }
    walk();
    // What one run leaves under way meets the next run.
    auto waits = function.getOps<spmd::WaitOp>();
    bool isLinked = llvm::any_of(waits, [](spmd::WaitOp wait) {
      return wait->hasAttr(spmd::kPreviousAttr);
    });
    if (isLinked && !failedAny) {
      isSecond = true;
      finishRun();
      walk();
    }
    // A move that ended in an error is not open for another reason.
    if (!failedAny)
      for (OpenMove &move : openMoves)
        refuse(move.op, "what is packed here is never sent");
    return failure(failedAny);
  }

  const std::vector<Call> &getCalls() const { return calls; }

private:
  void walk() {
    for (Operation &op : function.front().without_terminator()) {
      if (auto buffer = dyn_cast<spmd::BufferOp>(op))
        checkBuffer(buffer);
      else if (auto launch = dyn_cast<spmd::LaunchOp>(op))
        checkLaunch(launch);
      else if (auto communicate = dyn_cast<spmd::CommunicateOp>(op))
        checkCommunicate(communicate);
      else if (auto record = dyn_cast<spmd::RecordOp>(op))
        events[record.getEvent()] = clocks[index(record.getStream())];
      else if (auto wait = dyn_cast<spmd::WaitOp>(op))
        // In the first run there is nothing of a previous one.
        join(clocks[index(wait.getStream())], events[wait.getEvent()]);
      else
        refuse(&op, "'" + op.getName().getStringRef() +
                        "' is no scheduled operation");
    }
  }

  /// Between two runs the runtime waits for the compute stream and fills the
  /// inputs: whatever follows on either stream is behind it.
  void finishRun() {
    for (Clock &clock : clocks)
      clock[index(spmd::Stream::compute)] =
          clocks[index(spmd::Stream::compute)][index(spmd::Stream::compute)];
  }

  static unsigned index(spmd::Stream stream) {
    return static_cast<unsigned>(stream);
  }

  static void join(Clock &into, const Clock &from) {
    for (unsigned s = 0; s < kStreams; ++s)
      into[s] = std::max(into[s], from[s]);
  }

  void refuse(Operation *op, const Twine &rule) {
    op->emitError() << "contract of the schedule phase: " << rule;
    failedAny = true;
  }

  void checkBuffer(spmd::BufferOp buffer) {
    auto type = cast<MemRefType>(buffer.getBuffer().getType());
    int64_t begin = buffer.getOffset();
    if (begin + bytesOf(type) > arenaBytes)
      refuse(buffer, "buffer '" + buffer.getName() + "' ends at byte " +
                         Twine(begin + bytesOf(type)) + " of an arena of " +
                         Twine(arenaBytes));
  }

  Access accessOf(Operation *op, Value value, bool writes, unsigned stream) {
    auto buffer = value.getDefiningOp<spmd::BufferOp>();
    Access access;
    access.op = op;
    if (buffer) {
      access.begin = buffer.getOffset();
      access.end = access.begin + bytesOf(cast<MemRefType>(value.getType()));
    }
    access.writes = writes;
    access.stream = stream;
    access.time = clocks[stream][stream];
    return access;
  }

  /// Adds an access after comparing it with those it may race with: accesses
  /// of another stream that this one has not waited for.
  void add(const Access &access) {
    const Clock &clock = clocks[access.stream];
    for (const Access &before : accesses[1 - access.stream]) {
      bool overlaps = before.begin < access.end && access.begin < before.end;
      if (!overlaps || !(before.writes || access.writes) ||
          before.time <= clock[before.stream])
        continue;
      InFlightDiagnostic error = access.op->emitError()
                                 << "contract of the schedule phase: bytes "
                                 << std::max(before.begin, access.begin)
                                 << " to " << std::min(before.end, access.end)
                                 << " of the arena are used on two streams "
                                    "without an event between the uses";
      error.attachNote(before.op->getLoc()) << "the other use is here";
      failedAny = true;
      break;
    }
    if (access.begin < access.end)
      accesses[access.stream].push_back(access);
  }

  /// Bytes of the arena and the buffer through which they were last written.
  struct Segment {
    int64_t end = 0;
    spmd::BufferOp writer;
  };

  /// Cuts segments so that one begins at `at`, where one covers it.
  void cutAt(int64_t at) {
    auto next = written.upper_bound(at);
    if (next == written.begin())
      return;
    auto [begin, segment] = *std::prev(next);
    if (begin == at || segment.end <= at)
      return;
    written[begin].end = at;
    written[at] = segment;
  }

  void addWrite(Value value) {
    auto buffer = value.getDefiningOp<spmd::BufferOp>();
    int64_t bytes = buffer ? bytesOf(cast<MemRefType>(value.getType())) : 0;
    if (bytes == 0)
      return;
    int64_t begin = buffer.getOffset(), end = begin + bytes;
    cutAt(begin);
    cutAt(end);
    written.erase(written.lower_bound(begin), written.lower_bound(end));
    written[begin] = {end, buffer};
  }

  /// Whether what was written through `writer` may be read through `reader`:
  /// it is the same thing, or one is a bucket around the other.
  static bool isSameContent(spmd::BufferOp writer, spmd::BufferOp reader) {
    if (writer.getPurpose() == spmd::Purpose::bucket ||
        reader.getPurpose() == spmd::Purpose::bucket)
      return true;
    return writer.getOffset() == reader.getOffset() &&
           writer.getName() == reader.getName();
  }

  /// A buffer still holds what was written into it when it is read: no other
  /// that shares its bytes was written since.
  void checkRead(Operation *op, Value value) {
    auto buffer = value.getDefiningOp<spmd::BufferOp>();
    int64_t bytes = buffer ? bytesOf(cast<MemRefType>(value.getType())) : 0;
    if (bytes == 0)
      return;
    int64_t begin = buffer.getOffset(), end = begin + bytes;
    cutAt(begin);
    int64_t covered = begin;
    for (auto it = written.lower_bound(begin);
         it != written.end() && it->first < end; ++it) {
      auto [writtenEnd, writer] = it->second;
      if (!isSameContent(writer, buffer))
        return refuse(op, "buffer '" + buffer.getName() + "' is read after '" +
                              writer.getName() + "' has overwritten it");
      if (it->first == covered)
        covered = writtenEnd;
    }
    spmd::Purpose purpose = buffer.getPurpose();
    bool isFilledBefore = purpose == spmd::Purpose::input ||
                          purpose == spmd::Purpose::variable ||
                          purpose == spmd::Purpose::bucket;
    if (covered < end && !isFilledBefore)
      refuse(op,
             "buffer '" + buffer.getName() + "' is read before it is written");
  }

  /// A staging buffer between pack and unpack.
  struct OpenMove {
    Operation *op = nullptr;
    spmd::BufferOp staging;
    Attribute move;
    bool isSent = false;
  };

  /// The open move whose staging buffer is `value`, or null.
  OpenMove *findMove(Value value) {
    auto it = llvm::find_if(openMoves, [&](OpenMove &move) {
      return move.staging.getBuffer() == value;
    });
    return it == openMoves.end() ? nullptr : &*it;
  }

  /// Nobody writes into a staging buffer between pack and unpack but the
  /// communication of the move it was packed for.
  void checkStagings(Operation *op, Value output) {
    if (isa<spmd::CommunicateOp>(op) && findMove(output))
      return;
    Access access = accessOf(op, output, /*writes=*/true, 0);
    for (OpenMove &move : openMoves) {
      Access staging = accessOf(op, move.staging.getBuffer(), true, 0);
      if (access.begin < staging.end && staging.begin < access.end)
        refuse(op, "buffer '" + move.staging.getName() +
                       "' is written before its move has been unpacked");
    }
  }

  /// Whether a value has no bytes; then there is nothing to follow.
  static bool isEmpty(Value value) {
    return bytesOf(cast<MemRefType>(value.getType())) == 0;
  }

  void checkPack(spmd::LaunchOp launch) {
    if (launch.getInputs().size() != 1 || launch.getOutputs().size() != 1)
      return refuse(launch, "a pack has one operand and one staging buffer");
    auto staging = launch.getOutputs()[0].getDefiningOp<spmd::BufferOp>();
    if (staging && !isEmpty(staging.getBuffer()))
      openMoves.push_back({launch, staging, launch.getParamsAttr(), false});
  }

  void checkSent(spmd::CommunicateOp communicate) {
    if (!communicate.getMoveAttr() || isEmpty(communicate.getBuffer()))
      return;
    OpenMove *move = findMove(communicate.getBuffer());
    if (!move || move->isSent || move->move != communicate.getMoveAttr())
      return refuse(communicate, "buffer '" +
                                     bufferName(communicate.getBuffer()) +
                                     "' was not packed for this move");
    move->isSent = true;
    // Where the result is empty there is nothing to unpack.
    if (!isUnpackedLater(communicate))
      close(move);
  }

  /// Whether the next launch that uses what is sent unpacks it.
  static bool isUnpackedLater(spmd::CommunicateOp communicate) {
    for (Operation *op = communicate->getNextNode(); op; op = op->getNextNode())
      if (llvm::is_contained(op->getOperands(), communicate.getBuffer())) {
        auto launch = dyn_cast<spmd::LaunchOp>(op);
        return launch && isUnpack(launch);
      }
    return false;
  }

  void close(OpenMove *move) {
    openMoves.erase(openMoves.begin() + (move - openMoves.data()));
  }

  void checkUnpack(spmd::LaunchOp launch) {
    if (launch.getInputs().size() != 2 || launch.getOutputs().size() != 1)
      return refuse(launch, "an unpack has an operand, a staging buffer and "
                            "one result");
    Value staging = launch.getInputs()[1];
    if (isEmpty(staging))
      return;
    OpenMove *move = findMove(staging);
    if (!move || !move->isSent || move->move != launch.getParamsAttr())
      return refuse(launch, "buffer '" + bufferName(staging) +
                                "' holds nothing that this move has received");
    close(move);
  }

  static std::string bufferName(Value value) {
    auto buffer = value.getDefiningOp<spmd::BufferOp>();
    return buffer ? buffer.getName().str() : "";
  }

  void checkLaunch(spmd::LaunchOp launch) {
    unsigned stream = index(launch.getStream());
    ++clocks[stream][stream];
    if (isUnpack(launch))
      checkUnpack(launch);
    for (Value input : launch.getInputs()) {
      add(accessOf(launch, input, /*writes=*/false, stream));
      checkRead(launch, input);
    }
    for (Value output : launch.getOutputs()) {
      checkStagings(launch, output);
      add(accessOf(launch, output, /*writes=*/true, stream));
      addWrite(output);
    }
    if (isPack(launch))
      checkPack(launch);
    bool isElementwise =
        launch.getKernel() == "nn.fused" || launch.getKernel() == "nn.sgd" ||
        launch.getKernel() == "nn.adam" || launch.getKernel() == "copy";
    // A kernel that works on windows or sums must not overwrite its operands.
    for (Value input : launch.getInputs())
      for (Value output : launch.getOutputs()) {
        Access a = accessOf(launch, input, false, stream);
        Access b = accessOf(launch, output, true, stream);
        bool overlaps = a.begin < b.end && b.begin < a.end;
        bool isSame = a.begin == b.begin && a.end == b.end;
        if (overlaps && !(isElementwise && isSame))
          refuse(launch, "kernel '" + launch.getKernel() +
                             "' overwrites an operand it still reads");
      }
  }

  void checkCommunicate(spmd::CommunicateOp communicate) {
    unsigned stream = index(communicate.getStream());
    ++clocks[stream][stream];
    checkStagings(communicate, communicate.getBuffer());
    checkSent(communicate);
    add(accessOf(communicate, communicate.getBuffer(), /*writes=*/true,
                 stream));
    checkRead(communicate, communicate.getBuffer());
    addWrite(communicate.getBuffer());
    Call call;
    call.op = communicate;
    auto type = cast<MemRefType>(communicate.getBuffer().getType());
    call.elements = type.getNumElements();
    llvm::raw_string_ostream(call.what)
        << communicate.getKind() << ' '
        << stringifyReduction(communicate.getReduction()) << ' '
        << communicate.getAxes() << ' ' << type.getElementType() << ' '
        << communicate.getMoveAttr() << ' '
        << communicate->getAttr(spmd::kAlgorithmAttr);
    call.parts = communicate->getAttr(spmd::kPartsAttr);
    call.hasServers = communicate->hasAttr(spmd::kServersAttr);
    call.group = spmd::numberOf(communicate, spmd::kGroupAttr);
    if (!isSecond)
      calls.push_back(std::move(call));
  }

  func::FuncOp function;
  int64_t arenaBytes;
  std::array<Clock, kStreams> clocks = {};
  std::map<int64_t, Clock> events;
  std::array<std::vector<Access>, kStreams> accesses;
  /// What each byte holds, as disjoint segments by their begin.
  std::map<int64_t, Segment> written;
  std::vector<OpenMove> openMoves;
  std::vector<Call> calls;
  bool isSecond = false;
  bool failedAny = false;
};

/// The communication of one phase in all classes.
class CallComparison {
public:
  explicit CallComparison(dist::GridAttr grid) : grid(grid) {}

  void add(spmd::ClassOp classOp, func::FuncOp function,
           std::vector<Call> calls) {
    (classOp->hasAttr(spmd::kServersAttr) ? servers : classes)
        .push_back({classOp, function, std::move(calls)});
  }

  LogicalResult run() const {
    if (classes.empty())
      return success();
    bool failedAny = false;
    for (const Entry &entry : servers)
      failedAny |= failed(compareServers(entry));
    for (const Entry &entry : llvm::drop_begin(classes)) {
      bool isSame = entry.calls.size() == classes.front().calls.size() &&
                    llvm::all_of(llvm::zip(entry.calls, classes.front().calls),
                                 [](const auto &pair) {
                                   return std::get<0>(pair).what ==
                                          std::get<1>(pair).what;
                                 });
      if (isSame)
        continue;
      func::FuncOp first = classes.front().function, own = entry.function;
      own.emitError() << "contract of the schedule phase: communication "
                         "differs from that of @"
                      << first.getName();
      failedAny = true;
    }
    if (failedAny)
      return failure();
    for (size_t i = 0, e = classes.front().calls.size(); i < e; ++i)
      failedAny |= failed(compareElements(i));
    return failure(failedAny);
  }

private:
  struct Entry {
    spmd::ClassOp classOp;
    func::FuncOp function;
    std::vector<Call> calls;
  };

  /// A server joins in what its groups leave to servers, for all groups in the
  /// same order. That their parts are equal is proven by tools/check.
  LogicalResult compareServers(const Entry &entry) const {
    using Calls = std::vector<StringRef>;
    llvm::DenseMap<Attribute, Calls> expected;
    llvm::DenseMap<std::pair<Attribute, int64_t>, Calls> found;
    for (const Call &call : classes.front().calls)
      if (spmd::CommunicateOp op = call.op; call.hasServers)
        expected[op.getAxes()].push_back(call.what);
    for (const Call &call : entry.calls) {
      spmd::CommunicateOp op = call.op;
      found[{op.getAxes(), call.group}].push_back(call.what);
    }
    bool isSame = llvm::all_of(expected, [&](const auto &each) {
      return found.contains({each.first, 0});
    });
    for (const auto &[key, calls] : found)
      isSame &= expected.lookup(key.first) == calls;
    if (isSame)
      return success();
    func::FuncOp first = classes.front().function, own = entry.function;
    return own.emitError() << "contract of the schedule phase: communication "
                              "of servers differs from what @"
                           << first.getName() << " leaves to them";
  }

  /// Ranks that combine values hold as many of them. Those that differ along
  /// other axes may hold others: parts of a sharded parameter.
  LogicalResult compareElements(size_t i) const {
    const Call &first = classes.front().calls[i];
    spmd::CommunicateOp op = first.op;
    bool isEqual = llvm::all_of(classes, [&](const Entry &entry) {
      return entry.calls[i].elements == first.elements &&
             entry.calls[i].parts == first.parts;
    });
    if (op.getMoveAttr() || isEqual)
      return success();
    std::map<std::vector<int64_t>, std::pair<const Entry *, int64_t>> groups;
    for (const Entry &entry : classes) {
      spmd::ClassOp classOp = entry.classOp;
      for (int64_t rank : classOp.getRanks()) {
        auto [it, isNew] =
            groups.try_emplace(groupOf(rank, op.getAxes()), &entry, rank);
        auto [other, otherRank] = it->second;
        spmd::CommunicateOp own = entry.calls[i].op;
        if (other->calls[i].parts != entry.calls[i].parts) {
          own.emitError() << "contract of the schedule phase: rank " << rank
                          << " has other parts than rank " << otherRank;
          return failure();
        }
        if (other->calls[i].elements == entry.calls[i].elements)
          continue;
        InFlightDiagnostic error =
            own.emitError()
            << "contract of the schedule phase: rank " << rank << " combines "
            << entry.calls[i].elements << " elements with "
            << other->calls[i].elements << " of rank " << otherRank;
        error.attachNote(other->calls[i].op->getLoc())
            << "the other rank's call is here";
        return failure();
      }
    }
    return success();
  }

  /// The coordinates of `rank` on the axes other than `axes`.
  std::vector<int64_t> groupOf(int64_t rank, ArrayAttr axes) const {
    std::vector<int64_t> key;
    if (grid)
      for (auto [i, axis] : llvm::enumerate(grid.getAxes()))
        if (!llvm::is_contained(axes, axis))
          key.push_back(grid.getCoordinate(rank, i));
    return key;
  }

  dist::GridAttr grid;
  std::vector<Entry> classes, servers;
};

struct VerifySchedulePass
    : partita::impl::VerifyScheduleBase<VerifySchedulePass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    bool failedAny = false;
    auto grid = module->getAttrOfType<dist::GridAttr>(dist::kGridAttr);
    std::map<std::string, CallComparison> callsOfPhase;
    for (auto function : module.getOps<func::FuncOp>()) {
      auto symbol =
          function->getAttrOfType<FlatSymbolRefAttr>(spmd::kClassAttr);
      auto classOp = symbol
                         ? module.lookupSymbol<spmd::ClassOp>(symbol.getValue())
                         : spmd::ClassOp();
      if (!classOp || !classOp.getArenaBytes()) {
        function.emitError("contract of the schedule phase: the function "
                           "belongs to no class with an arena");
        failedAny = true;
        continue;
      }
      FunctionCheck check(function, *classOp.getArenaBytes());
      failedAny |= failed(check.run());
      auto phase = function->getAttrOfType<StringAttr>(spmd::kPhaseAttr);
      callsOfPhase.try_emplace(phase ? phase.str() : "", grid)
          .first->second.add(classOp, function, check.getCalls());
    }
    for (const auto &[phase, comparison] : callsOfPhase)
      failedAny |= failed(comparison.run());
    if (failedAny)
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};

} // namespace
