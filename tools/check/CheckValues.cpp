//===- CheckValues.cpp - Values on their way through the arena ------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Abstract interpretation of one class over two steps. The order of issue is
// one of those that the streams allow, and as there are no races, all of them
// give the same values. The state of a value is which axes it is partial on;
// the transfer functions:
//
//   launch        what it reads must be whole, unless it is linear and all
//                 operands are partial alike; then its result is partial too.
//                 A split reduction makes its result partial.
//   all_reduce    must be partial over its axes, by its reduction; no longer
//                 is afterwards
//   reduce_scatter  the same, and only this rank's part is right afterwards
//   all_gather    whole again, from this rank's part
//   update        must read a gradient that is partial over nothing any more
//
//===----------------------------------------------------------------------===//

#include "Checks.h"
#include "Values.h"

#include <algorithm>

namespace partita::check {

namespace {

/// Kernels that move values and do not compute.
bool isMover(const Action &launch) {
  static const std::set<std::string> kernels = {"copy",        "spmd.pack",
                                                "spmd.unpack", "spmd.slice",
                                                "nn.reshape",  "nn.transpose"};
  return kernels.count(launch.name) != 0;
}

/// Kernels whose result for a sum is the sum of their results.
bool isLinear(const Action &launch) {
  return isMover(launch) || launch.name == "nn.add" ||
         launch.name == "nn.sub" || launch.name == "nn.neg" ||
         (launch.name == "nn.fused" && launch.isLinear);
}

class ValueCheck {
public:
  ValueCheck(const Certificate &certificate, const RankClass &in,
             const Phase &phase, Report &report)
      : certificate(certificate), in(in), phase(phase), report(report),
        isStep(phase.name == "step") {}

  void run() {
    fillByHost();
    checkUses();
    for (step = 0; step < 2 && isGood; ++step) {
      updates.assign(in.parameters.size(), 0);
      fetched.assign(in.parameters.size(), 0);
      for (std::size_t i = 0; i < phase.actions.size() && isGood; ++i) {
        at = static_cast<int>(i);
        const Action &action = phase.actions[i];
        if (action.kind == ActionKind::launch)
          visitLaunch(action);
        else if (action.kind == ActionKind::call)
          visitCall(action);
      }
      if (isGood)
        checkEnd();
    }
  }

private:
  void refuse(const std::string &what, const std::string &found,
              const std::string &expected, const std::string &advice,
              const std::string &where = "") {
    report.add(
        {what, placeOf(in, &phase, at) + where, found, expected, advice});
    isGood = false;
  }

  std::string axesText(AxisSet axes) const {
    return certificate.describe(axes);
  }

  /// What lies in the arena before the first step. A bucket is what its
  /// parameters are.
  void fillByHost() {
    for (std::size_t b = 0; b < phase.buffers.size(); ++b) {
      const Buffer &buffer = phase.buffers[b];
      if (buffer.purpose != Purpose::input &&
          buffer.purpose != Purpose::variable)
        continue;
      Value value;
      value.buffer = static_cast<int>(b);
      value.neutral = buffer.neutral;
      values.write(buffer.bytes, value);
    }
  }

  /// Entries of the account against the phase.
  void checkUses() {
    if (!isStep)
      return;
    for (const ParameterUse &use : in.parameters) {
      if (use.update >= 0)
        updatedBy[use.update].push_back(&use);
      at = use.update;
      if (use.update >= 0 &&
          phase.actions[use.update].kind != ActionKind::launch)
        refuse("a parameter is updated by something that is no launch",
               "action " + std::to_string(use.update), "a launch",
               "compile again", ", parameter " + nameOf(use));
    }
  }

  const std::string &nameOf(const ParameterUse &use) const {
    return certificate.parameters[use.parameter].name;
  }

  //===--------------------------------------------------------------------===//
  // Reading
  //===--------------------------------------------------------------------===//

  /// Whether what was written through one buffer may be read through another:
  /// it is the same thing, or one is a bucket around the other.
  bool isSameContent(int written, int read) const {
    const Buffer &a = phase.buffers[written], &b = phase.buffers[read];
    return a.purpose == Purpose::bucket || b.purpose == Purpose::bucket ||
           (a.name == b.name && a.bytes.begin == b.bytes.begin);
  }

  /// The values in a buffer, after checking that they are the buffer's.
  std::vector<Values::Piece> read(int index) {
    const Buffer &buffer = phase.buffers[index];
    std::vector<Values::Piece> found = values.in(buffer.bytes);
    std::int64_t covered = buffer.bytes.begin;
    for (const Values::Piece &piece : found) {
      if (piece.bytes.begin == covered)
        covered = piece.bytes.end;
      if (piece.value->buffer < 0 || isSameContent(piece.value->buffer, index))
        continue;
      refuse("a buffer is read after it was overwritten",
             "'" + buffer.name + "' holds '" +
                 phase.buffers[piece.value->buffer].name + "' from byte " +
                 std::to_string(piece.bytes.begin) + " on",
             "what was written through '" + buffer.name + "'",
             "buffers that are used at the same time need bytes of their own");
      return found;
    }
    // Buckets have gaps between their parts.
    if (covered < buffer.bytes.end && buffer.purpose != Purpose::bucket)
      refuse("a buffer is read before it is written",
             "nothing in '" + buffer.name + "' from byte " +
                 std::to_string(covered) + " on",
             "a launch or a call that writes it first",
             "look for the launch that one class lacks, or for a record that "
             "stands too early");
    return found;
  }

  bool isOwnPart(const Value &value, const Action &action,
                 const Buffer &buffer) const {
    return value.parts == action.parts && value.axes == action.axes &&
           value.base == buffer.bytes.begin;
  }

  /// Nobody but the owner of a part may read what has not been fetched.
  void checkWhole(const Value &value, const Action &action, int index) {
    const Buffer &buffer = phase.buffers[index];
    if (value.isWhole() || (!value.isGone && isOwnPart(value, action, buffer)))
      return;
    refuse(
        value.isGone ? "a value is read that was given to servers"
                     : "a value is read of which this rank has only its part",
        "'" + buffer.name + "'" +
            (value.isGone ? ""
                          : ", divided over " + axesText(value.axes) + " as " +
                                describe(value.parts)),
        "an all_gather over " + axesText(value.axes) + " that fetches it first",
        "each update of an owner needs a fetch before the next use; look "
        "for a missing \"fetch bucket\" call or wait");
  }

  void visitLaunch(const Action &launch) {
    auto updated = isStep ? updatedBy.find(at) : updatedBy.end();
    bool isUpdate = updated != updatedBy.end();
    bool isEndOfMove = launch.name == "spmd.unpack";
    Value result;
    bool isFirst = true, allNeutral = true;
    for (int index : launch.reads) {
      for (const Values::Piece &piece : read(index)) {
        const Value &value = *piece.value;
        if (!isGood)
          return;
        checkWhole(value, launch, index);
        checkStaging(launch, index, value);
        // What a move does not send comes from its operand; whether that is
        // partial is known by what it has sent.
        bool isKept = isEndOfMove && index == launch.reads.front() &&
                      launch.reads.size() > 1 &&
                      phase.buffers[launch.reads[1]].count > 0;
        if (isUpdate || isKept || !isGood)
          continue;
        combineOperand(launch, index, value, result, isFirst, allNeutral);
      }
    }
    if (!isGood)
      return;
    if (isUpdate)
      for (const ParameterUse *use : updated->second)
        checkUpdate(launch, *use);
    finishResult(launch, result, allNeutral && !isFirst);
    for (std::size_t w = 0; w < launch.writes.size() && isGood; ++w) {
      Value written = result;
      addPartial(launch, w, written);
      if (isGood)
        write(launch, launch.writes[w], written, isUpdate);
    }
  }

  /// Adds what an operand says of the result.
  void combineOperand(const Action &launch, int index, const Value &value,
                      Value &result, bool &isFirst, bool &allNeutral) {
    if (isMover(launch) || isLinear(launch)) {
      result.combined |= value.combined;
      for (int call : value.calls)
        if (std::find(result.calls.begin(), result.calls.end(), call) ==
            result.calls.end())
          result.calls.push_back(call);
    }
    if (value.neutral != Reduction::none) {
      result.neutral = value.neutral;
      isFirst = false;
      return;
    }
    const std::string &name = phase.buffers[index].name;
    if (value.partial && !isLinear(launch))
      return refuse("a partial value is used before it is combined",
                    "'" + name + "' is partial by " + check::nameOf(value.by) +
                        " over " + axesText(value.partial),
                    "a value that is partial over nothing: " + launch.name +
                        " of a sum is not the sum over its parts",
                    "combine it over " + axesText(value.partial) +
                        " first; look for a dropped reduction");
    bool isAlike = allNeutral ||
                   (value.partial == result.partial && value.by == result.by);
    if (!isAlike)
      return refuse(
          "partial and whole values are added",
          "'" + name + "' is partial over " + axesText(value.partial) +
              ", the operands before over " + axesText(result.partial),
          "operands that are partial alike; what is whole would "
          "count once per rank",
          "add it once, to the combined value");
    result.partial = value.partial;
    result.by = value.by;
    isFirst = allNeutral = false;
  }

  void finishResult(const Action &launch, Value &result, bool isNeutral) {
    if (!(isNeutral && isLinear(launch)))
      result.neutral = launch.neutral;
    if (launch.name == "spmd.pack")
      result.packedFor = launch.ofCall;
    if (!launch.parts.empty()) {
      result.parts = launch.parts;
      result.axes = launch.axes;
    }
  }

  /// A split reduction makes its result partial, beside what it was before.
  void addPartial(const Action &launch, std::size_t output, Value &result) {
    if (launch.partial.empty())
      return;
    AxisSet own = certificate.significant(launch.partial[output]);
    if (own && result.partial &&
        ((own & result.partial) || launch.partialBy != result.by))
      return refuse("a sum is split over axes over which its operand is "
                    "partial already",
                    "partial over " + axesText(result.partial),
                    "an operand that is whole over " + axesText(own),
                    "combine the operand first");
    result.partial |= own;
    if (own)
      result.by = launch.partialBy;
  }

  /// Staging buffers are used by the launches and the call of one move only.
  void checkStaging(const Action &launch, int index, const Value &value) {
    if (value.packedFor < 0 && value.receivedBy < 0)
      return;
    bool isReceived = launch.name == "spmd.unpack" && launch.ofCall >= 0 &&
                      value.receivedBy == launch.ofCall;
    if (isReceived)
      return;
    refuse(
        "a launch reads a staging buffer of another move",
        "'" + phase.buffers[index].name + "' " +
            (value.packedFor >= 0
                 ? "is packed for call " + std::to_string(value.packedFor) +
                       ", which has not sent it"
                 : "was received by call " + std::to_string(value.receivedBy)),
        "what call " + std::to_string(launch.ofCall) + " has received",
        "each move packs, communicates and unpacks in this order");
  }

  void write(const Action &launch, int index, Value result, bool isUpdate) {
    const Buffer &buffer = phase.buffers[index];
    result.buffer = index;
    result.base = buffer.bytes.begin;
    checkDivision(launch, buffer);
    if (launch.name == "spmd.unpack")
      checkUnpacked(launch, buffer);
    checkParameterWrite(buffer, isUpdate ? &updatedBy[at] : nullptr);
    if (!isUpdate) {
      values.write(buffer.bytes, result);
      return;
    }
    // What a bucket holds keeps its names: parameters and their states.
    Value whole;
    whole.parts = launch.parts;
    whole.axes = launch.parts.empty() ? 0 : launch.axes;
    whole.base = buffer.bytes.begin;
    for (const Values::Piece &piece : values.in(buffer.bytes)) {
      Value &value = pendingWrites.emplace_back(piece.bytes, whole).second;
      value.buffer = piece.value->buffer;
    }
    whole.buffer = index;
    values.write(buffer.bytes, whole);
    for (const auto &[bytes, value] : pendingWrites)
      values.write(bytes, value);
    pendingWrites.clear();
  }

  /// Parts of a launch fill its buffer, one part per member.
  void checkDivision(const Action &launch, const Buffer &buffer) {
    if (launch.parts.empty())
      return;
    std::int64_t members = 0;
    double sum = 0;
    for (const PartRun &run : launch.parts) {
      members += run.times;
      sum += static_cast<double>(run.elements) * static_cast<double>(run.times);
    }
    std::int64_t group = certificate.groupSize(launch.axes);
    if (in.isServers || members == group + certificate.servers)
      group = members;
    if (members != group || sum != static_cast<double>(buffer.count))
      refuse("a launch on parts does not divide its buffer",
             "parts " + describe(launch.parts) + " of " +
                 std::to_string(buffer.count) + " elements",
             "one part for each of " + std::to_string(group) +
                 " members, all elements together",
             "parts come from one table of sizes; compile again");
  }

  /// What a rank had and what it has received is what it needs.
  void checkUnpacked(const Action &launch, const Buffer &buffer) {
    if (launch.ofCall < 0)
      return refuse("an unpack belongs to no call", "no \"move\"",
                    "the number of its call", "compile again");
    const Action &call = phase.actions[phase.calls[launch.ofCall]];
    if (call.table < 0 || certificate.tables[call.table].isParts)
      return;
    std::int64_t rank = in.ranks.empty() ? 0 : in.ranks.front().first;
    for (const TableEntry &entry : certificate.tables[call.table].entries)
      for (const RankRange &range : entry.ranks) {
        if (rank < range.first || rank > range.last ||
            (rank - range.first) % range.step != 0)
          continue;
        std::int64_t sum = entry.own;
        for (const MessageRun &run : entry.receives)
          sum += run.count * run.elements;
        if (sum != buffer.count)
          refuse(
              "a move does not give a rank what it needs",
              std::to_string(sum) + " elements: " + std::to_string(entry.own) +
                  " of its own and " + std::to_string(sum - entry.own) +
                  " received",
              std::to_string(buffer.count) + ", those of '" + buffer.name + "'",
              "the pieces of a move cover the new part exactly once; a "
              "halo follows stride, dilation and padding");
        return;
      }
  }

  /// Only its update, and the fetch behind that, may write a parameter.
  void checkParameterWrite(const Buffer &buffer,
                           const std::vector<const ParameterUse *> *by) {
    for (std::size_t p = 0; p < in.parameters.size(); ++p) {
      const ParameterUse &use = in.parameters[p];
      if (use.value.size() == 0 || !buffer.bytes.overlaps(use.value))
        continue;
      bool isOwn = by && std::find(by->begin(), by->end(), &use) != by->end();
      if (!isOwn)
        return refuse(
            "a parameter is written by something else than its "
            "update",
            "buffer '" + buffer.name + "' lies on the value of " + nameOf(use),
            use.update >= 0 ? "action " + std::to_string(use.update) + " only"
                            : std::string("a fetch only"),
            "each parameter has one update per step");
    }
  }

  //===--------------------------------------------------------------------===//
  // Updates
  //===--------------------------------------------------------------------===//

  /// The buffer of a list that contains `bytes`, or -1.
  int around(const std::vector<int> &buffers, const Bytes &bytes) const {
    for (int index : buffers)
      if (phase.buffers[index].bytes.contains(bytes))
        return index;
    return -1;
  }

  void checkUpdate(const Action &launch, const ParameterUse &use) {
    std::string where = ", parameter " + nameOf(use);
    ++updates[&use - in.parameters.data()];
    if (use.value.size() == 0)
      return;
    int value = around(launch.writes, use.value);
    int gradient = around(launch.reads, use.gradient);
    if (value < 0 || gradient < 0)
      return refuse(
          value < 0 ? "an update does not write its parameter"
                    : "an update does not read its gradient",
          std::string("no buffer of the launch around bytes ") +
              std::to_string(value < 0 ? use.value.begin : use.gradient.begin) +
              " to " +
              std::to_string(value < 0 ? use.value.end : use.gradient.end),
          "the bucket of the parameter",
          "the bucket misses a parameter; compile again", where);
    std::int64_t valueAt = use.value.begin - phase.buffers[value].bytes.begin;
    std::int64_t gradientAt =
        use.gradient.begin - phase.buffers[gradient].bytes.begin;
    if (valueAt != gradientAt)
      return refusePair(valueAt, gradientAt, where);
    checkGradient(launch, use, gradient, where);
  }

  void refusePair(std::int64_t valueAt, std::int64_t gradientAt,
                  const std::string &where) {
    refuse("an update pairs a parameter with another one's gradient",
           "the value lies " + std::to_string(valueAt) +
               " bytes into its bucket, the gradient " +
               std::to_string(gradientAt),
           "the same distance", "compile again", where);
  }

  void checkGradient(const Action &launch, const ParameterUse &use, int bucket,
                     const std::string &where) {
    const Parameter &parameter = certificate.parameters[use.parameter];
    AxisSet partial = certificate.significant(parameter.partial);
    std::int64_t covered = use.gradient.begin;
    for (const Values::Piece &piece : values.in(use.gradient)) {
      const Value &value = *piece.value;
      if (piece.bytes.begin == covered)
        covered = piece.bytes.end;
      if (value.partial)
        return refuse("a parameter is updated with a gradient that is not "
                      "reduced",
                      "the gradient is partial by " +
                          std::string(check::nameOf(value.by)) + " over " +
                          axesText(value.partial),
                      "a reduction over " + axesText(partial) +
                          " before the update",
                      "look for a dropped call or a bucket that misses this "
                      "parameter",
                      where);
      if (value.combined != partial)
        return refuse("a gradient is reduced over other axes than it is "
                      "partial on",
                      "reduced over " + axesText(value.combined),
                      axesText(partial),
                      "the axes of the reduction follow from the split of the "
                      "layer; compile again",
                      where);
      std::vector<int> calls = value.calls;
      std::sort(calls.begin(), calls.end());
      std::vector<int> stated = use.calls;
      std::sort(stated.begin(), stated.end());
      if (calls != stated)
        return refuse("a gradient travels by other calls than stated",
                      callsText(calls), callsText(stated), "compile again",
                      where);
      if (!value.parts.empty() &&
          !isOwnPart(value, launch, phase.buffers[bucket]))
        return refuse("an update works on other parts than were reduced here",
                      "parts " + describe(launch.parts),
                      describe(value.parts) + " over " + axesText(value.axes),
                      "the owner of a part is the same in push, update and "
                      "fetch",
                      where);
    }
    if (covered < use.gradient.end)
      refuse("a parameter is updated without a gradient",
             "nothing at byte " + std::to_string(covered),
             "a gradient that this step computes",
             "look for a launch that one class lacks", where);
  }

  static std::string callsText(const std::vector<int> &calls) {
    std::string text;
    for (int call : calls)
      text += (text.empty() ? "calls " : ", ") + std::to_string(call);
    return text.empty() ? "no call" : text;
  }

  //===--------------------------------------------------------------------===//
  // Calls
  //===--------------------------------------------------------------------===//

  void visitCall(const Action &call) {
    const Buffer &buffer = phase.buffers[call.buffer];
    if (buffer.count == 0)
      return;
    if (call.table >= 0)
      return visitMove(call);
    if (call.name == "all_gather")
      return visitFetch(call);
    // What servers reduce is what the workers send them.
    bool isServer = in.isServers && call.servers > 0;
    if (isServer) {
      Value value;
      value.buffer = call.buffer;
      reduced(call, value);
      divided(call, value);
      values.write(buffer.bytes, value);
      return;
    }
    checkParameterWrite(buffer, nullptr);
    for (const Values::Piece &piece : read(call.buffer))
      if (isGood)
        checkReducible(call, *piece.value);
    if (!isGood)
      return;
    values.update(buffer.bytes, [&](Value &value) {
      reduced(call, value);
      if (call.name == "reduce_scatter")
        divided(call, value);
    });
  }

  void reduced(const Action &call, Value &value) {
    AxisSet axes = certificate.significant(call.axes);
    value.partial &= ~axes;
    if (!value.partial)
      value.by = Reduction::none;
    value.neutral = Reduction::none;
    value.combined |= axes;
    value.calls.push_back(call.index);
  }

  void divided(const Action &call, Value &value) const {
    value.parts = call.parts;
    value.axes = call.axes;
    value.base = phase.buffers[call.buffer].bytes.begin;
    value.isGone = call.servers > 0 && !in.isServers;
  }

  void checkReducible(const Action &call, const Value &value) {
    AxisSet axes = certificate.significant(call.axes);
    const std::string &name =
        value.buffer >= 0 ? phase.buffers[value.buffer].name : call.label;
    if (!value.isWhole() || value.packedFor >= 0 || value.receivedBy >= 0)
      return refuse("a call reduces what is divided or in the middle of a "
                    "move",
                    "'" + name + "'", "a whole value",
                    "look for a reduction that is issued twice");
    if (value.neutral != Reduction::none) {
      if (value.neutral != call.reduction)
        refuse("a rank with nothing to add changes the result",
               "'" + name + "' is neutral to " +
                   std::string(check::nameOf(value.neutral)),
               check::nameOf(call.reduction), "compile again");
      return;
    }
    if (axes & ~value.partial)
      return refuse(
          "a value is reduced over an axis over which it is not "
          "partial",
          "'" + name + "' is " +
              (value.partial ? "partial over " + axesText(value.partial)
                             : std::string("whole")) +
              (value.combined
                   ? ", combined over " + axesText(value.combined) + " already"
                   : ""),
          "partial over " + axesText(axes),
          "it would be counted once per rank; look for a reduction "
          "that is issued twice");
    if (axes && value.by != call.reduction)
      refuse("a value is reduced by another operation than its parts need",
             check::nameOf(call.reduction), check::nameOf(value.by),
             "compile again");
  }

  void visitFetch(const Action &call) {
    const Buffer &buffer = phase.buffers[call.buffer];
    std::vector<Values::Piece> found = values.in(buffer.bytes);
    for (const Values::Piece &piece : found) {
      const Value &value = *piece.value;
      bool isServersOwn = call.servers > 0 && !in.isServers;
      if (isServersOwn || isOwnPart(value, call, buffer))
        continue;
      return refuse(
          "a call gathers parts that no owner has made",
          value.parts.empty() ? std::string("a value that is not divided")
                              : "parts " + describe(value.parts) + " over " +
                                    axesText(value.axes),
          "parts " + describe(call.parts) + " over " + axesText(call.axes),
          "a fetch follows the update of the owner's part");
    }
    for (std::size_t p = 0; p < in.parameters.size(); ++p) {
      const ParameterUse &use = in.parameters[p];
      if (use.value.size() == 0 || !buffer.bytes.overlaps(use.value))
        continue;
      std::string where = ", parameter " + nameOf(use);
      if (!buffer.bytes.contains(use.value))
        return refuse("a fetch cuts a parameter",
                      "bytes " + std::to_string(buffer.bytes.begin) + " to " +
                          std::to_string(buffer.bytes.end),
                      "all bytes of the parameter", "compile again", where);
      std::int64_t covered = use.value.begin;
      for (const Values::Piece &piece : values.in(use.value))
        if (piece.bytes.begin == covered)
          covered = piece.bytes.end;
      if (covered < use.value.end && (in.isServers || call.servers == 0))
        return refuse("a parameter is fetched that no owner has updated",
                      "nothing at byte " + std::to_string(covered),
                      "an update of the owner's part first",
                      "a fetch follows the update", where);
      ++fetched[p];
      if (std::find(use.fetches.begin(), use.fetches.end(), call.index) ==
          use.fetches.end())
        return refuse("a parameter is fetched by another call than stated",
                      "call " + std::to_string(call.index),
                      callsText(use.fetches), "compile again", where);
      checkPushed(call, use, use.value.begin - buffer.bytes.begin, where);
    }
    // Servers have their own parts only.
    if (in.isServers)
      return;
    values.update(buffer.bytes, [](Value &value) {
      value.parts.clear();
      value.axes = 0;
      value.base = 0;
      value.isGone = false;
    });
  }

  /// A server has got the gradient of what it sends.
  void checkPushed(const Action &call, const ParameterUse &use,
                   std::int64_t valueAt, const std::string &where) {
    if (call.servers == 0 || in.isServers)
      return;
    const Parameter &parameter = certificate.parameters[use.parameter];
    std::int64_t covered = use.gradient.begin;
    for (const Values::Piece &piece : values.in(use.gradient)) {
      if (piece.bytes.begin == covered)
        covered = piece.bytes.end;
      if (!piece.value->isGone ||
          piece.value->combined != certificate.significant(parameter.partial))
        return refuse("a parameter is fetched from servers that have not got "
                      "its gradient",
                      piece.value->isGone
                          ? "pushed over " + axesText(piece.value->combined)
                          : std::string("a gradient that was not pushed"),
                      "a push over " + axesText(parameter.partial) +
                          " before the fetch",
                      "every fetch of a step has its push", where);
      std::int64_t gradientAt = use.gradient.begin - piece.value->base;
      if (gradientAt != valueAt)
        return refusePair(valueAt, gradientAt, where);
    }
    if (covered < use.gradient.end)
      refuse("a gradient is pushed to servers that was not computed",
             "nothing at byte " + std::to_string(covered),
             "a gradient that this step computes",
             "look for a launch that one class lacks", where);
  }

  void visitMove(const Action &call) {
    const Buffer &buffer = phase.buffers[call.buffer];
    bool isReducing = call.name == "reduce_scatter";
    for (const Values::Piece &piece : read(call.buffer)) {
      if (!isGood)
        return;
      const Value &value = *piece.value;
      if (value.packedFor != call.index)
        return refuse("a move sends what was not packed for it",
                      value.packedFor >= 0
                          ? "packed for call " + std::to_string(value.packedFor)
                      : value.receivedBy >= 0
                          ? "received by call " +
                                std::to_string(value.receivedBy)
                          : std::string("not packed"),
                      "packed for call " + std::to_string(call.index),
                      "each move packs, communicates and unpacks in this "
                      "order; look for swapped or doubled calls");
      if (!isReducing)
        continue;
      Value plain = value;
      plain.packedFor = -1;
      checkReducible(call, plain);
    }
    if (!isGood)
      return;
    values.update(buffer.bytes, [&](Value &value) {
      value.packedFor = -1;
      value.receivedBy = call.index;
      if (isReducing)
        reduced(call, value);
      else
        value.calls.push_back(call.index);
    });
  }

  //===--------------------------------------------------------------------===//
  // The end of a step
  //===--------------------------------------------------------------------===//

  void checkEnd() {
    at = -1;
    for (std::size_t b = 0; b < phase.buffers.size() && isGood; ++b)
      if (phase.buffers[b].purpose == Purpose::result)
        for (const Values::Piece &piece : read(static_cast<int>(b)))
          if (isGood && piece.value->partial)
            refuse("a result is still partial at the end",
                   "'" + phase.buffers[b].name + "' is partial over " +
                       axesText(piece.value->partial),
                   "a reduction before the end",
                   "look for a dropped reduction");
    if (!isStep)
      return;
    for (std::size_t p = 0; p < in.parameters.size() && isGood; ++p) {
      const ParameterUse &use = in.parameters[p];
      std::string where = ", parameter " + nameOf(use);
      if (use.update < 0 && fetched[p] == 0 && use.value.size() > 0)
        refuse("a parameter is never updated", "no update and no fetch",
               "one update per step", "compile again", where);
      else if (fetched[p] != static_cast<int>(use.fetches.size()))
        refuse("a parameter is not fetched as stated",
               std::to_string(fetched[p]) + " fetches", callsText(use.fetches),
               "look for a missing fetch", where);
      else if (!use.value.size() || in.isServers)
        continue;
      for (const Values::Piece &piece : values.in(use.value))
        if (isGood && !piece.value->isWhole())
          refuse("a parameter is not whole at the end of a step",
                 "this rank has its own part of " +
                     describe(piece.value->parts) + " only",
                 "an all_gather behind the update of the owner",
                 "look for a missing \"fetch bucket\" call", where);
    }
  }

  const Certificate &certificate;
  const RankClass &in;
  const Phase &phase;
  Report &report;
  bool isStep;
  bool isGood = true;
  int step = 0;
  /// The action being looked at.
  int at = -1;
  Values values;
  /// Launches and the parameters they update.
  std::map<int, std::vector<const ParameterUse *>> updatedBy;
  std::vector<int> updates, fetched;
  std::vector<std::pair<Bytes, Value>> pendingWrites;
};

} // namespace

void checkValues(const Certificate &certificate, const RankClass &in,
                 const Phase &phase, Report &report) {
  ValueCheck(certificate, in, phase, report).run();
}

} // namespace partita::check
