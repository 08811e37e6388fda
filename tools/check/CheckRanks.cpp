//===- CheckRanks.cpp - Who is there and what lies where ------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rank classes, arenas, and the parts of parameters.
//
//===----------------------------------------------------------------------===//

#include "Checks.h"

#include <algorithm>

namespace partita::check {

namespace {

class RankCheck {
public:
  RankCheck(const Certificate &certificate, Report &report)
      : certificate(certificate), report(report) {}

  ClassOfRank run() {
    ClassOfRank classOf(certificate.allRanks(), -1);
    bool isGood = assign(classOf);
    for (const RankClass &each : certificate.classes) {
      isGood &= checkArena(each);
      isGood &= checkParameters(each);
    }
    for (std::size_t i = 0; i < certificate.parameters.size(); ++i)
      isGood &= checkTiling(certificate.parameters[i]);
    if (isGood)
      checkParts();
    return isGood ? classOf : ClassOfRank();
  }

private:
  bool assign(ClassOfRank &classOf) {
    bool isGood = true;
    for (std::size_t c = 0; c < certificate.classes.size(); ++c) {
      const RankClass &each = certificate.classes[c];
      for (const RankRange &range : each.ranks)
        for (std::int64_t r = range.first; r <= range.last; r += range.step) {
          if (classOf[r] >= 0) {
            report.add({"a rank is in two classes", placeOf(each, nullptr),
                        "rank " + std::to_string(r) + " is in class " +
                            certificate.classes[classOf[r]].name + " too",
                        "every rank in exactly one class",
                        "take the rank out of one of the two classes"});
            return false;
          }
          classOf[r] = static_cast<int>(c);
          bool isServer = r >= certificate.gridRanks();
          if (isServer == each.isServers)
            continue;
          report.add(
              {isServer ? "a server is in a class of the grid"
                        : "a rank of the grid is in a class of servers",
               placeOf(each, nullptr), "rank " + std::to_string(r),
               "ranks 0 to " + std::to_string(certificate.gridRanks() - 1) +
                   " in classes of the grid, " +
                   std::to_string(certificate.servers) + " servers behind them",
               "list the rank with the others of its kind"});
          isGood = false;
        }
    }
    auto missing = std::find(classOf.begin(), classOf.end(), -1);
    if (missing != classOf.end()) {
      std::int64_t count = std::count(classOf.begin(), classOf.end(), -1);
      report.add(
          {"a rank is in no class", "the classes",
           "rank " + std::to_string(missing - classOf.begin()) +
               (count > 1 ? " and " + std::to_string(count - 1) + " more ranks"
                          : "") +
               " without a program",
           "one class for each of " + std::to_string(certificate.allRanks()) +
               " ranks, the product of the grid" +
               (certificate.servers ? " and the servers" : ""),
           "compare the sizes of the grid's axes with the classes"});
      isGood = false;
    }
    return isGood;
  }

  bool checkArena(const RankClass &in) {
    bool isGood = true;
    if (in.persistent > in.arena) {
      report.add({"the persistent part is larger than the arena",
                  placeOf(in, nullptr),
                  std::to_string(in.persistent) + " bytes",
                  "at most " + std::to_string(in.arena), "compile again"});
      isGood = false;
    }
    for (const Phase &phase : in.phases)
      for (const Buffer &buffer : phase.buffers)
        if (buffer.bytes.end > in.arena) {
          report.add({"a buffer does not lie in the arena",
                      placeOf(in, &phase) + ", buffer '" + buffer.name + "'",
                      "it ends at byte " + std::to_string(buffer.bytes.end),
                      "at most " + std::to_string(in.arena), "compile again"});
          isGood = false;
        }
    return isGood;
  }

  /// Values, gradients and states of a class's parameters are disjoint.
  bool checkParameters(const RankClass &in) {
    struct Piece {
      Bytes bytes;
      std::string what;
    };
    std::vector<Piece> pieces;
    std::set<int> seen;
    std::set<std::pair<int, std::int64_t>> uses;
    bool isGood = true;
    for (const ParameterUse &use : in.parameters) {
      const Parameter &parameter = certificate.parameters[use.parameter];
      seen.insert(use.parameter);
      if (!uses.insert({use.parameter, in.isServers ? use.group : 0}).second) {
        report.add({"a parameter is listed twice",
                    placeOf(in, nullptr) + ", parameter " + parameter.name,
                    "two entries",
                    "one entry per parameter, and of servers one per group",
                    "compile again"});
        isGood = false;
      }
      pieces.push_back({use.value, "the value of " + parameter.name});
      pieces.push_back({use.gradient, "the gradient of " + parameter.name});
      for (const Bytes &state : use.states)
        pieces.push_back({state, "a state of " + parameter.name});
      for (const Bytes &state : use.states)
        isGood &= checkSize(in, parameter, state, use.value, "state");
      isGood &= checkSize(in, parameter, use.gradient, use.value, "gradient");
    }
    std::sort(pieces.begin(), pieces.end(), [](const Piece &a, const Piece &b) {
      return a.bytes.begin != b.bytes.begin ? a.bytes.begin < b.bytes.begin
                                            : a.what < b.what;
    });
    const Piece *reaching = nullptr;
    for (const Piece &piece : pieces) {
      if (piece.bytes.size() == 0)
        continue;
      if (piece.bytes.end > in.arena) {
        report.add({piece.what + " does not lie in the arena",
                    placeOf(in, nullptr),
                    "it ends at byte " + std::to_string(piece.bytes.end),
                    "at most " + std::to_string(in.arena), "compile again"});
        isGood = false;
      }
      if (reaching && reaching->bytes.overlaps(piece.bytes)) {
        report.add({"parameters overlap in the arena", placeOf(in, nullptr),
                    piece.what + " at bytes " +
                        std::to_string(piece.bytes.begin) + " to " +
                        std::to_string(piece.bytes.end) + ", " +
                        reaching->what + " at bytes " +
                        std::to_string(reaching->bytes.begin) + " to " +
                        std::to_string(reaching->bytes.end),
                    "bytes of their own for every parameter of a bucket",
                    "compile again; with another --bucket-size the buckets "
                    "are laid out anew"});
        isGood = false;
      }
      if (!reaching || piece.bytes.end > reaching->bytes.end)
        reaching = &piece;
    }
    for (std::size_t p = 0; p < certificate.parameters.size(); ++p)
      if (!seen.count(static_cast<int>(p))) {
        report.add({"a parameter is missing in a class",
                    placeOf(in, nullptr) + ", parameter " +
                        certificate.parameters[p].name,
                    "no entry",
                    "every parameter, with no bytes where the "
                    "rank has no part of it",
                    "compile again"});
        isGood = false;
      }
    return isGood;
  }

  bool checkSize(const RankClass &in, const Parameter &parameter,
                 const Bytes &bytes, const Bytes &value, const char *what) {
    if (bytes.size() == value.size())
      return true;
    report.add(
        {std::string("a parameter and its ") + what + " have different sizes",
         placeOf(in, nullptr) + ", parameter " + parameter.name,
         std::to_string(bytes.size()) + " bytes",
         std::to_string(value.size()) + " bytes, as the value has",
         "compile again"});
    return false;
  }

  /// Every dimension's parts cover it once.
  bool checkTiling(const Parameter &parameter) {
    for (std::size_t d = 0; d < parameter.cut.size(); ++d) {
      std::vector<Bytes> ranges;
      for (const Bytes &range : parameter.cut[d].ranges)
        if (range.end > range.begin)
          ranges.push_back(range);
      if (parameter.cut[d].axes.empty())
        continue;
      std::sort(
          ranges.begin(), ranges.end(),
          [](const Bytes &a, const Bytes &b) { return a.begin < b.begin; });
      std::int64_t covered = 0;
      for (const Bytes &range : ranges) {
        if (range.begin != covered)
          return refuseTiling(parameter, d, covered, range.begin);
        covered = range.end;
      }
      if (covered != parameter.shape[d])
        return refuseTiling(parameter, d, covered, parameter.shape[d]);
    }
    AxisSet seen = 0;
    for (const DimCut &cut : parameter.cut)
      for (int axis : cut.axes) {
        if (seen >> axis & 1) {
          report.add({"an axis cuts two dimensions of a parameter",
                      "parameter " + parameter.name,
                      "axis " + certificate.grid[axis].name + " twice",
                      "once, so that all combinations of parts exist",
                      "split one of the dimensions over another axis"});
          return false;
        }
        seen |= AxisSet(1) << axis;
      }
    return true;
  }

  bool refuseTiling(const Parameter &parameter, std::size_t d,
                    std::int64_t covered, std::int64_t next) {
    report.add(
        {next < covered ? "shards of a parameter overlap"
                        : "shards of a parameter leave a gap",
         "parameter " + parameter.name + ", dimension " + std::to_string(d),
         "a shard ends at " + std::to_string(covered) + ", " +
             (next == parameter.shape[d] ? "the dimension ends at "
                                         : "the next begins at ") +
             std::to_string(next),
         "shards that cover the " + std::to_string(parameter.shape[d]) +
             " elements exactly once",
         "shards take ceil(size / parts) or floor(size / parts) elements; "
         "offsets are the sums of the sizes before"});
    return false;
  }

  /// Every rank has as many elements as its class says.
  void checkParts() {
    for (const RankClass &in : certificate.classes)
      if (!in.isServers)
        for (const ParameterUse &use : in.parameters)
          checkPart(in, use);
  }

  void checkPart(const RankClass &in, const ParameterUse &use) {
    const Parameter &parameter = certificate.parameters[use.parameter];
    std::int64_t width = widthOf(parameter.type);
    for (const RankRange &range : in.ranks)
      for (std::int64_t r = range.first; r <= range.last; r += range.step) {
        std::int64_t elements = 1;
        bool isCut = false;
        for (std::size_t d = 0; d < parameter.cut.size(); ++d) {
          const DimCut &cut = parameter.cut[d];
          if (cut.axes.empty()) {
            elements *= parameter.shape[d];
            continue;
          }
          isCut = true;
          std::int64_t part = 0;
          for (int axis : cut.axes)
            part = part * certificate.grid[axis].size +
                   certificate.coordinate(r, axis);
          elements *= std::max<std::int64_t>(cut.ranges[part].size(), 0);
        }
        if (elements * width != use.value.size()) {
          report.add({"a rank's shard has another size than its class says",
                      placeOf(in, nullptr) + ", rank " + std::to_string(r) +
                          ", parameter " + parameter.name,
                      std::to_string(use.value.size()) + " bytes",
                      std::to_string(elements * width) +
                          " bytes: " + std::to_string(elements) +
                          " elements of " + parameter.type,
                      "ranks with other shards need a class of their own"});
          return;
        }
        if (!isCut)
          return; // The same on all ranks.
      }
  }

  const Certificate &certificate;
  Report &report;
};

} // namespace

ClassOfRank checkRanks(const Certificate &certificate, Report &report) {
  return RankCheck(certificate, report).run();
}

} // namespace partita::check
