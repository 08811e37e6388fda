//===- Certificate.h - What a compiled program will do ---------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A certificate as read from its JSON text; README.md describes every field.
// Ranks are numbered row-major over the grid, then come the servers. Times are
// never in it: only what is done, in which order, on which bytes.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_TOOLS_CHECK_CERTIFICATE_H
#define PARTITA_TOOLS_CHECK_CERTIFICATE_H

#include <cstdint>
#include <string>
#include <vector>

namespace partita::check {

/// A set of grid axes: bit i is axis i.
using AxisSet = std::uint32_t;

constexpr int kMaxAxes = 31;
constexpr std::int64_t kMaxRanks = std::int64_t(1) << 20;
/// Two queues of work: 0 computes, 1 communicates.
constexpr int kStreams = 2;

/// Ranks first, first + step, ..., last.
struct RankRange {
  std::int64_t first = 0, last = 0, step = 1;
};
using RankSet = std::vector<RankRange>;

/// "0-3, 8": for messages.
std::string describe(const RankSet &ranks);

/// Bytes [begin, end) of an arena.
struct Bytes {
  std::int64_t begin = 0, end = 0;

  std::int64_t size() const { return end - begin; }
  bool overlaps(const Bytes &other) const {
    return begin < other.end && other.begin < end;
  }
  bool contains(const Bytes &other) const {
    return begin <= other.begin && other.end <= end;
  }
  bool operator==(const Bytes &other) const {
    return begin == other.begin && end == other.end;
  }
};

struct Axis {
  std::string name;
  std::int64_t size = 1;
};

/// The cut of one dimension of a parameter: one range per part, the parts
/// numbered row-major over `axes`. Without axes every rank has all of it.
struct DimCut {
  std::vector<int> axes;
  std::vector<Bytes> ranges;
};

struct Parameter {
  std::string name;
  std::string type;
  std::vector<std::int64_t> shape;
  /// Axes over which its gradient is a partial sum.
  AxisSet partial = 0;
  std::vector<DimCut> cut;

  std::int64_t elements() const;
};

/// `times` members of a communicator, one after the other, that have
/// `elements` elements each.
struct PartRun {
  std::int64_t elements = 0, times = 1;

  bool operator==(const PartRun &other) const {
    return elements == other.elements && times == other.times;
  }
};
using Parts = std::vector<PartRun>;

std::string describe(const Parts &parts);

/// Messages of `elements` elements to (or from) the ranks that are `delta`,
/// `delta + stride`, ... (`count` of them) away, by global number.
struct MessageRun {
  std::int64_t delta = 0, stride = 1, count = 1, elements = 0;
};

/// What ranks send and receive in one move; or how they divide a buffer.
struct TableEntry {
  RankSet ranks;
  /// Elements of the result that a rank has already.
  std::int64_t own = 0;
  std::vector<MessageRun> sends, receives;
  Parts parts;
};
struct Table {
  /// Whether it lists parts; else messages.
  bool isParts = false;
  std::vector<TableEntry> entries;
};

enum class Purpose { input, variable, gradient, bucket, result, temporary };
enum class Reduction { none, sum, max, min, prod };
const char *nameOf(Reduction reduction);

struct Buffer {
  std::string name;
  Purpose purpose = Purpose::temporary;
  std::string type;
  std::int64_t count = 0;
  Bytes bytes;
  /// Of a constant: the combination that it does not change.
  Reduction neutral = Reduction::none;
};

enum class ActionKind { launch, call, record, wait };

/// One entry of a stream's queue.
struct Action {
  ActionKind kind = ActionKind::launch;
  int stream = 0;
  /// Launch: the kernel. Call: all_reduce, halo_exchange, ...
  std::string name;
  std::string layer;
  // Launches.
  std::vector<int> reads, writes;
  /// Axes over which each of `writes` is partial; empty: none is.
  std::vector<AxisSet> partial;
  Reduction partialBy = Reduction::none;
  /// A fused kernel whose sum of results is the result of the sums.
  bool isLinear = false;
  /// Of a launch that fills its outputs with one number: the combination that
  /// this does not change.
  Reduction neutral = Reduction::none;
  /// Of pack and unpack: the call of their move, or -1.
  int ofCall = -1;
  /// Terms of a mean that this launch weighs by `scale`; 0: none. `over`: the
  /// axes that divide the terms among ranks.
  std::int64_t terms = 0;
  double scale = 0;
  AxisSet over = 0;
  // Calls. `axes` and `parts` may be of launches too.
  int index = -1;
  std::string label;
  AxisSet axes = 0;
  /// Servers of the communicator; the place of the group among those that this
  /// server serves.
  std::int64_t servers = 0, group = 0;
  std::string algorithm;
  Reduction reduction = Reduction::none;
  std::string type;
  std::int64_t count = 0;
  int buffer = -1;
  int table = -1;
  Parts parts;
  // Records and waits.
  std::int64_t event = -1;
  bool isPrevious = false;
};

/// Samples of one input that a rank has; `axes` divide them among ranks.
struct InputShare {
  std::string name;
  std::int64_t samples = 0;
  AxisSet axes = 0;
};

struct Phase {
  std::string name;
  std::vector<InputShare> inputs;
  std::vector<Buffer> buffers;
  std::vector<Action> actions;
  /// The actions that are calls, in order.
  std::vector<int> calls;
};

/// What a class does with one parameter in a step.
struct ParameterUse {
  int parameter = 0;
  /// Of a server: the place of the group among those that it serves.
  std::int64_t group = 0;
  Bytes value, gradient;
  std::vector<Bytes> states;
  /// Calls of the step that carry the gradient, then those that fetch the
  /// value.
  std::vector<int> calls, fetches;
  /// The action that updates the value, or -1: a server does it.
  int update = -1;
};

/// Ranks that run one static program.
struct RankClass {
  std::string name;
  RankSet ranks;
  bool isServers = false;
  std::int64_t arena = 0, persistent = 0;
  std::vector<ParameterUse> parameters;
  std::vector<Phase> phases;

  const Phase *findPhase(const std::string &name) const;
};

struct Certificate {
  std::string program;
  std::int64_t batch = 0;
  std::vector<Axis> grid;
  std::int64_t servers = 0;
  std::vector<Parameter> parameters;
  std::vector<Table> tables;
  std::vector<RankClass> classes;

  /// Ranks of the grid; all ranks, servers included.
  std::int64_t gridRanks() const;
  std::int64_t allRanks() const { return gridRanks() + servers; }
  std::int64_t coordinate(std::int64_t rank, int axis) const;
  /// "[pr, pc]"
  std::string describe(AxisSet axes) const;
  /// The axes of the set that have several ranks.
  AxisSet significant(AxisSet axes) const;
  /// Members of a group over `axes`, without servers.
  std::int64_t groupSize(AxisSet axes) const;
  /// The member of the group of `rank` over `axes` with the lowest number.
  std::int64_t leaderOf(std::int64_t rank, AxisSet axes) const;
  /// The number of `rank` in its group, which is ordered by rank.
  std::int64_t memberIndex(std::int64_t rank, AxisSet axes) const;
  /// Groups over `axes`, which are numbered row-major over the other axes, and
  /// their lowest ranks.
  std::int64_t groupsOver(AxisSet axes) const;
  std::int64_t leaderOfGroup(std::int64_t group, AxisSet axes) const;
  /// Servers of a group; groups that a server serves.
  std::int64_t serversOf(std::int64_t group, AxisSet axes) const;
  std::int64_t servedBy(std::int64_t rank, AxisSet axes) const;
  /// The group of a rank: its own one, or that at a place among those that a
  /// server serves.
  std::int64_t groupOf(std::int64_t rank, AxisSet axes,
                       std::int64_t place) const;
};

/// Bytes of one element of a type, or 0 for an unknown type.
std::int64_t widthOf(const std::string &type);

/// Reads a certificate. Every index in the result is valid, names of axes are
/// resolved, numbers of bytes and elements are not negative. Throws `Refusal`.
Certificate readCertificate(const std::string &text);

} // namespace partita::check

#endif // PARTITA_TOOLS_CHECK_CERTIFICATE_H
