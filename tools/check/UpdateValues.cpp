//===- UpdateValues.cpp - Gradients and updates of parameters -------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each parameter is updated once, from its own gradient, reduced once.
//
//===----------------------------------------------------------------------===//

#include "ValueCheck.h"

#include <algorithm>

namespace partita::check {

void ValueCheck::checkUses() {
  if (!isStep)
    return;
  for (const ParameterUse &use : in.parameters) {
    if (use.update >= 0)
      updatedBy[use.update].push_back(&use);
    at = use.update;
    if (use.update >= 0 && phase.actions[use.update].kind != ActionKind::launch)
      refuse("a parameter is updated by something that is no launch",
             "action " + std::to_string(use.update), "a launch",
             "compile again", ", parameter " + nameOf(use));
  }
}

const std::string &ValueCheck::nameOf(const ParameterUse &use) const {
  return certificate.parameters[use.parameter].name;
}

int ValueCheck::around(const std::vector<int> &buffers,
                       const Bytes &bytes) const {
  for (int index : buffers)
    if (phase.buffers[index].bytes.contains(bytes))
      return index;
  return -1;
}

void ValueCheck::checkUpdate(const Action &launch, const ParameterUse &use) {
  std::string where = ", parameter " + nameOf(use);
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

void ValueCheck::refusePair(std::int64_t valueAt, std::int64_t gradientAt,
                            const std::string &where) {
  refuse("an update pairs a parameter with another one's gradient",
         "the value lies " + std::to_string(valueAt) +
             " bytes into its bucket, the gradient " +
             std::to_string(gradientAt),
         "the same distance", "compile again", where);
}

void ValueCheck::checkGradient(const Action &launch, const ParameterUse &use,
                               int bucket, const std::string &where) {
  const Parameter &parameter = certificate.parameters[use.parameter];
  AxisSet partial = certificate.significant(parameter.partial);
  std::int64_t covered = use.gradient.begin;
  for (const Values::Piece &piece : values.in(use.gradient)) {
    const Value &value = *piece.value;
    if (piece.bytes.begin == covered)
      covered = piece.bytes.end;
    if (value.spoiled >= 0)
      return refuse(spoils[value.spoiled]);
    if (value.partial)
      return refuse(
          "a parameter is updated with a gradient that is not "
          "reduced",
          "the gradient is partial by " + std::string(check::nameOf(value.by)) +
              " over " + axesText(value.partial),
          "a reduction over " + axesText(partial) + " before the update",
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

std::string ValueCheck::callsText(const std::vector<int> &calls) {
  std::string text;
  for (int call : calls)
    text += (text.empty() ? "calls " : ", ") + std::to_string(call);
  return text.empty() ? "no call" : text;
}

void ValueCheck::checkPushed(const Action &call, const ParameterUse &use,
                             std::int64_t valueAt, const std::string &where) {
  if (call.servers == 0 || in.isServers)
    return;
  const Parameter &parameter = certificate.parameters[use.parameter];
  std::int64_t covered = use.gradient.begin;
  for (const Values::Piece &piece : values.in(use.gradient)) {
    if (piece.bytes.begin == covered)
      covered = piece.bytes.end;
    if (piece.value->spoiled >= 0)
      return refuse(spoils[piece.value->spoiled]);
    if (!piece.value->isGone ||
        piece.value->combined != certificate.significant(parameter.partial))
      return refuse(
          "a parameter is fetched from servers that have not got "
          "its gradient",
          piece.value->isGone ? "pushed over " + axesText(piece.value->combined)
                              : std::string("a gradient that was not pushed"),
          "a push over " + axesText(parameter.partial) + " before the fetch",
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

void ValueCheck::checkEnd() {
  at = -1;
  for (std::size_t b = 0; b < phase.buffers.size() && isGood; ++b)
    if (phase.buffers[b].purpose == Purpose::result)
      for (const Values::Piece &piece : read(static_cast<int>(b)))
        if (isGood && piece.value->partial)
          refuse("a result is still partial at the end",
                 "'" + phase.buffers[b].name + "' is partial over " +
                     axesText(piece.value->partial),
                 "a reduction before the end", "look for a dropped reduction");
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
               "this rank has its own part of " + describe(piece.value->parts) +
                   " only",
               "an all_gather behind the update of the owner",
               "look for a missing \"fetch bucket\" call", where);
  }
}

} // namespace partita::check
