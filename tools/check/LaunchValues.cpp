//===- LaunchValues.cpp - What launches read and write --------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Contents of buffers, and what kernels make of partial values.
//
//===----------------------------------------------------------------------===//

#include "ValueCheck.h"

#include <algorithm>

namespace partita::check {

namespace {

/// Kernels that move values and do not compute.
bool isMover(const Action &launch) {
  static const std::set<std::string> kernels = {
      "copy",       "spmd.pack",    "spmd.unpack", "spmd.slice",
      "nn.reshape", "nn.transpose", "nn.slice",    "nn.concat"};
  return kernels.count(launch.name) != 0;
}

/// Kernels whose result for a sum is the sum of their results.
bool isLinear(const Action &launch) {
  return isMover(launch) || launch.name == "nn.add" ||
         launch.name == "nn.sub" || launch.name == "nn.neg" ||
         (launch.name == "nn.fused" && launch.isLinear);
}

} // namespace

bool ValueCheck::isSameContent(int written, int read) const {
  const Buffer &a = phase.buffers[written], &b = phase.buffers[read];
  return a.purpose == Purpose::bucket || b.purpose == Purpose::bucket ||
         (a.name == b.name && a.bytes.begin == b.bytes.begin);
}

std::vector<Values::Piece> ValueCheck::read(int index) {
  const Buffer &buffer = phase.buffers[index];
  std::vector<Values::Piece> found = values.in(buffer.bytes);
  std::int64_t covered = buffer.bytes.begin;
  for (const Values::Piece &piece : found) {
    if (piece.bytes.begin == covered)
      covered = piece.bytes.end;
    if (piece.value->spoiled >= 0 && buffer.purpose != Purpose::bucket) {
      refuse(spoils[piece.value->spoiled]);
      return found;
    }
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

bool ValueCheck::isOwnPart(const Value &value, const Action &action,
                           const Buffer &buffer) const {
  return value.parts == action.parts && value.axes == action.axes &&
         value.base == buffer.bytes.begin;
}

void ValueCheck::checkWhole(const Value &value, const Action &action,
                            int index) {
  const Buffer &buffer = phase.buffers[index];
  if (value.isWhole() || (!value.isGone && isOwnPart(value, action, buffer)))
    return;
  refuse(value.isGone ? "a value is read that was given to servers"
                      : "a value is read of which this rank has only its part",
         "'" + buffer.name + "'" +
             (value.isGone ? ""
                           : ", divided over " + axesText(value.axes) + " as " +
                                 describe(value.parts)),
         "an all_gather over " + axesText(value.axes) +
             " that fetches it first",
         "each update of an owner needs a fetch before the next use; look "
         "for a missing \"fetch bucket\" call or wait");
}

void ValueCheck::visitLaunch(const Action &launch) {
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
  // A move of a part that is empty here.
  if (isFirst && isMover(launch) && !launch.reads.empty())
    result.isUnknown = true;
  for (std::size_t w = 0; w < launch.writes.size() && isGood; ++w) {
    Value written = result;
    addPartial(launch, w, written);
    if (isGood)
      write(launch, launch.writes[w], written, isUpdate);
  }
}

void ValueCheck::combineOperand(const Action &launch, int index,
                                const Value &value, Value &result,
                                bool &isFirst, bool &allNeutral) {
  if (isMover(launch) || isLinear(launch)) {
    result.combined |= value.combined;
    for (int call : value.calls)
      if (std::find(result.calls.begin(), result.calls.end(), call) ==
          result.calls.end())
        result.calls.push_back(call);
  }
  if (value.isUnknown && !isLinear(launch))
    return;
  if (value.isSilent()) {
    result.neutral = value.neutral;
    result.isUnknown |= value.isUnknown;
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
  bool isAlike =
      allNeutral || (value.partial == result.partial && value.by == result.by);
  if (!isAlike)
    return refuse("partial and whole values are added",
                  "'" + name + "' is partial over " + axesText(value.partial) +
                      ", the operands before over " + axesText(result.partial),
                  "operands that are partial alike; what is whole would "
                  "count once per rank",
                  "add it once, to the combined value");
  result.partial = value.partial;
  result.by = value.by;
  isFirst = allNeutral = false;
}

void ValueCheck::finishResult(const Action &launch, Value &result,
                              bool isNeutral) {
  if (!(isNeutral && isLinear(launch))) {
    result.neutral = launch.neutral;
    result.isUnknown = false;
  }
  if (launch.name == "spmd.pack")
    result.packedFor = launch.ofCall;
  if (!launch.parts.empty()) {
    result.parts = launch.parts;
    result.axes = launch.axes;
  }
}

void ValueCheck::addPartial(const Action &launch, std::size_t output,
                            Value &result) {
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

void ValueCheck::checkStaging(const Action &launch, int index,
                              const Value &value) {
  if (value.packedFor < 0 && value.receivedBy < 0)
    return;
  bool isReceived = launch.name == "spmd.unpack" && launch.ofCall >= 0 &&
                    value.receivedBy == launch.ofCall;
  if (isReceived)
    return;
  refuse("a launch reads a staging buffer of another move",
         "'" + phase.buffers[index].name + "' " +
             (value.packedFor >= 0
                  ? "is packed for call " + std::to_string(value.packedFor) +
                        ", which has not sent it"
                  : "was received by call " + std::to_string(value.receivedBy)),
         "what call " + std::to_string(launch.ofCall) + " has received",
         "each move packs, communicates and unpacks in this order");
}

void ValueCheck::write(const Action &launch, int index, Value result,
                       bool isUpdate) {
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

void ValueCheck::checkDivision(const Action &launch, const Buffer &buffer) {
  if (launch.parts.empty())
    return;
  std::int64_t members = 0;
  double sum = 0;
  for (const PartRun &run : launch.parts) {
    members += run.times;
    sum += static_cast<double>(run.elements) * static_cast<double>(run.times);
  }
  std::int64_t group = certificate.groupSize(launch.axes) + launch.servers;
  if (members != group || sum != static_cast<double>(buffer.count))
    refuse("a launch on parts does not divide its buffer",
           "parts " + describe(launch.parts) + " of " +
               std::to_string(buffer.count) + " elements",
           "one part for each of " + std::to_string(group) +
               " members, all elements together",
           "parts come from one table of sizes; compile again");
}

void ValueCheck::checkUnpacked(const Action &launch, const Buffer &buffer) {
  if (launch.ofCall < 0)
    return refuse("an unpack belongs to no call", "no \"move\"",
                  "the number of its call", "compile again");
  const Action &call = phase.actions[phase.calls[launch.ofCall]];
  if (call.table < 0 || certificate.tables[call.table].isParts)
    return;
  if (!unpacked.insert({call.table, buffer.count}).second)
    return;
  for (const TableEntry &entry : certificate.tables[call.table].entries) {
    std::int64_t sum = entry.own;
    for (const MessageRun &run : entry.receives)
      sum += run.count * run.elements;
    if (sum == buffer.count)
      continue;
    for (const RankRange &range : entry.ranks)
      for (std::int64_t r = range.first; r <= range.last; r += range.step)
        if (isMember[r])
          return refuse(
              "a move does not give a rank what it needs",
              std::to_string(sum) + " elements: " + std::to_string(entry.own) +
                  " of its own and " + std::to_string(sum - entry.own) +
                  " received",
              std::to_string(buffer.count) + ", those of '" + buffer.name + "'",
              "the pieces of a move cover the new part exactly "
              "once; a halo follows stride, dilation and padding",
              ", rank " + std::to_string(r));
  }
}

void ValueCheck::checkParameterWrite(
    const Buffer &buffer, const std::vector<const ParameterUse *> *by) {
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

} // namespace partita::check
