//===- CallValues.cpp - What calls do to values ---------------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reductions, fetches and moves.
//
//===----------------------------------------------------------------------===//

#include "ValueCheck.h"

#include <algorithm>

namespace partita::check {

void ValueCheck::visitCall(const Action &call) {
  const Buffer &buffer = phase.buffers[call.buffer];
  Communicator members = communicatorOf(certificate, call);
  meeting = {members, step, numCalls[members]++};
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
  read(call.buffer);
  if (!isGood)
    return;
  values.update(buffer.bytes, [&](const Bytes &bytes, Value &value) {
    bool isPart = !isLeftInGap(buffer, value) && value.spoiled < 0;
    std::optional<Finding> problem =
        isPart ? reductionProblem(call, value) : std::nullopt;
    if (problem && buffer.purpose == Purpose::bucket) {
      value.spoiled = static_cast<int>(spoils.size());
      spoils.push_back(std::move(*problem));
      return;
    }
    if (problem && isGood)
      refuse(std::move(*problem));
    if (isPart && isGood)
      meet(call,
           {bytes.begin - buffer.bytes.begin, bytes.end - buffer.bytes.begin},
           value);
    reduced(call, value);
    if (call.name == "reduce_scatter")
      divided(call, value);
  });
}

void ValueCheck::meet(const Action &call, const Bytes &bytes, Value &value) {
  const SentValues::State *other = value.isSilent()
                                       ? sent.ask(meeting, bytes.begin)
                                       : sent.tell(meeting, bytes, value, in);
  if (!other)
    return;
  if (value.isSilent()) {
    value.isUnknown = false;
    value.neutral = Reduction::none;
    value.partial = other->partial;
    value.by = other->reduction;
    value.combined |= other->combined;
    return;
  }
  if (!isGood)
    return;
  auto describe = [&](AxisSet partial, Reduction by) {
    return partial ? "partial over " + axesText(partial) + " by " +
                         std::string(check::nameOf(by))
                   : std::string("whole");
  };
  refuse("ranks put values of different kinds into a call",
         "'" + call.label + "' is " + describe(value.partial, value.by),
         describe(other->partial, other->reduction) + " as in class " +
             other->by->name,
         "look for a reduction that one class lacks");
}

/// Whether `value` is what an older buffer, which reaches beyond this bucket,
/// has left in a gap between the bucket's parts. Who reads it as one of the
/// parts is refused there.
bool ValueCheck::isLeftInGap(const Buffer &bucket, const Value &value) const {
  return bucket.purpose == Purpose::bucket && value.buffer >= 0 &&
         !bucket.bytes.contains(phase.buffers[value.buffer].bytes);
}

void ValueCheck::reduced(const Action &call, Value &value) {
  AxisSet axes = certificate.significant(call.axes);
  value.partial &= ~axes;
  if (!value.partial)
    value.by = Reduction::none;
  value.combined |= axes;
  value.calls.push_back(call.index);
}

void ValueCheck::divided(const Action &call, Value &value) const {
  value.parts = call.parts;
  value.axes = call.axes;
  value.base = phase.buffers[call.buffer].bytes.begin;
  value.isGone = call.servers > 0 && !in.isServers;
}

std::optional<Finding> ValueCheck::reductionProblem(const Action &call,
                                                    const Value &value) const {
  AxisSet axes = certificate.significant(call.axes);
  const std::string &name =
      value.buffer >= 0 ? phase.buffers[value.buffer].name : call.label;
  if (!value.isWhole() || value.packedFor >= 0 || value.receivedBy >= 0)
    return findingOf("a call reduces what is divided or in the middle of a "
                     "move",
                     "'" + name + "'", "a whole value",
                     "look for a reduction that is issued twice");
  if (value.neutral != Reduction::none) {
    if (value.neutral == call.reduction)
      return std::nullopt;
    return findingOf("a rank with nothing to add changes the result",
                     "'" + name + "' is neutral to " +
                         std::string(check::nameOf(value.neutral)),
                     std::string(check::nameOf(call.reduction)),
                     "compile again");
  }
  if (value.isUnknown)
    return std::nullopt;
  if (axes & ~value.partial)
    return findingOf(
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
    return findingOf("a value is reduced by another operation than its parts "
                     "need",
                     std::string(check::nameOf(call.reduction)),
                     std::string(check::nameOf(value.by)), "compile again");
  return std::nullopt;
}

void ValueCheck::visitFetch(const Action &call) {
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
  values.update(buffer.bytes, [](const Bytes &, Value &value) {
    value.parts.clear();
    value.axes = 0;
    value.base = 0;
    value.isGone = false;
  });
}

void ValueCheck::visitMove(const Action &call) {
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
                        ? "received by call " + std::to_string(value.receivedBy)
                        : std::string("not packed"),
                    "packed for call " + std::to_string(call.index),
                    "each move packs, communicates and unpacks in this "
                    "order; look for swapped or doubled calls");
    if (!isReducing)
      continue;
    Value plain = value;
    plain.packedFor = -1;
    if (std::optional<Finding> problem = reductionProblem(call, plain))
      return refuse(std::move(*problem));
  }
  if (!isGood)
    return;
  values.update(buffer.bytes, [&](const Bytes &, Value &value) {
    value.packedFor = -1;
    value.receivedBy = call.index;
    // Ranks send different amounts of one value.
    meet(call, {0, 1}, value);
    if (isReducing)
      reduced(call, value);
    else
      value.calls.push_back(call.index);
  });
}

} // namespace partita::check
