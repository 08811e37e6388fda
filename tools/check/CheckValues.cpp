//===- CheckValues.cpp - Values over two steps ----------------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The walk over the actions of a phase.
//
//===----------------------------------------------------------------------===//

#include "ValueCheck.h"

#include <algorithm>

namespace partita::check {

void ValueCheck::run() {
  isMember.resize(certificate.allRanks(), false);
  for (const RankRange &range : in.ranks)
    for (std::int64_t r = range.first; r <= range.last; r += range.step)
      isMember[r] = true;
  fillByHost(Purpose::variable);
  checkUses();
  for (step = 0; step < 2 && isGood; ++step) {
    fillByHost(Purpose::input);
    fetched.assign(in.parameters.size(), 0);
    numCalls.clear();
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

void ValueCheck::refuse(const std::string &what, const std::string &found,
                        const std::string &expected, const std::string &advice,
                        const std::string &where) {
  refuse(findingOf(what, found, expected, advice, where));
}

Finding ValueCheck::findingOf(const std::string &what, const std::string &found,
                              const std::string &expected,
                              const std::string &advice,
                              const std::string &where) const {
  return {what, placeOf(in, &phase, at) + where, found, expected, advice};
}

void ValueCheck::refuse(Finding finding) {
  if (!report)
    return;
  report->add(std::move(finding));
  isGood = false;
}

std::string ValueCheck::axesText(AxisSet axes) const {
  return certificate.describe(axes);
}

void ValueCheck::fillByHost(Purpose purpose) {
  for (std::size_t b = 0; b < phase.buffers.size(); ++b) {
    const Buffer &buffer = phase.buffers[b];
    if (buffer.purpose != purpose)
      continue;
    Value value;
    value.buffer = static_cast<int>(b);
    value.neutral = buffer.neutral;
    values.write(buffer.bytes, value);
  }
}

void checkValues(const Certificate &certificate,
                 const std::vector<ClassPhase> &classes, Report &report) {
  SentValues sent;
  auto visit = [&](Report *to) {
    for (auto [in, phase] : classes)
      ValueCheck(certificate, *in, *phase, sent, to).run();
  };
  Report first;
  visit(&first);
  bool isAsked = sent.takeAsked();
  // Who asks may come before who knows, or tell others what it has learned.
  for (int round = 0; isAsked && sent.takeChanged() && round < 16; ++round)
    visit(nullptr);
  if (isAsked)
    visit(&report);
  else
    report.add(first);
}

} // namespace partita::check
