//===- ValueCheck.h - Values on their way through the arena -----*- C++ -*-===//
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
// A rank that adds nothing to a call (an empty part of a tensor, or zeros to a
// sum) takes what it gets for what the ranks say it is that do add to it.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_TOOLS_CHECK_VALUECHECK_H
#define PARTITA_TOOLS_CHECK_VALUECHECK_H

#include "Checks.h"
#include "SentValues.h"
#include "Values.h"

#include <optional>

namespace partita::check {

/// One class in one phase. It stops at the first contradiction, since what
/// follows from a wrong value is not known.
class ValueCheck {
public:
  /// Without a report it only tells `sent` what it sends, and goes on after a
  /// contradiction.
  ValueCheck(const Certificate &certificate, const RankClass &in,
             const Phase &phase, SentValues &sent, Report *report)
      : certificate(certificate), in(in), phase(phase), sent(sent),
        report(report), isStep(phase.name == "step") {}

  void run();

private:
  Finding findingOf(const std::string &what, const std::string &found,
                    const std::string &expected, const std::string &advice,
                    const std::string &where = "") const;
  void refuse(Finding finding);
  void refuse(const std::string &what, const std::string &found,
              const std::string &expected, const std::string &advice,
              const std::string &where = "");
  std::string axesText(AxisSet axes) const;
  /// What lies in the arena before the first step (variables), and what comes
  /// before each (inputs). A bucket is what its parameters are.
  void fillByHost(Purpose purpose);
  /// Entries of the account against the phase.
  void checkUses();
  const std::string &nameOf(const ParameterUse &use) const;
  /// Whether what was written through one buffer may be read through another:
  /// it is the same thing, or one is a bucket around the other.
  bool isSameContent(int written, int read) const;
  /// The values in a buffer, after checking that they are the buffer's.
  std::vector<Values::Piece> read(int index);
  bool isOwnPart(const Value &value, const Action &action,
                 const Buffer &buffer) const;
  /// Nobody but the owner of a part may read what has not been fetched.
  void checkWhole(const Value &value, const Action &action, int index);
  void visitLaunch(const Action &launch);
  /// Adds what an operand says of the result.
  void combineOperand(const Action &launch, int index, const Value &value,
                      Value &result, bool &isFirst, bool &allNeutral);
  void finishResult(const Action &launch, Value &result, bool isNeutral);
  /// A split reduction makes its result partial, beside what it was before.
  void addPartial(const Action &launch, std::size_t output, Value &result);
  /// Staging buffers are used by the launches and the call of one move only.
  void checkStaging(const Action &launch, int index, const Value &value);
  void write(const Action &launch, int index, Value result, bool isUpdate);
  /// Parts of a launch fill its buffer, one part per member.
  void checkDivision(const Action &launch, const Buffer &buffer);
  /// What a rank had and what it has received is what it needs.
  void checkUnpacked(const Action &launch, const Buffer &buffer);
  /// Only its update, and the fetch behind that, may write a parameter.
  void checkParameterWrite(const Buffer &buffer,
                           const std::vector<const ParameterUse *> *by);
  /// The buffer of a list that contains `bytes`, or -1.
  int around(const std::vector<int> &buffers, const Bytes &bytes) const;
  void checkUpdate(const Action &launch, const ParameterUse &use);
  void refusePair(std::int64_t valueAt, std::int64_t gradientAt,
                  const std::string &where);
  void checkGradient(const Action &launch, const ParameterUse &use, int bucket,
                     const std::string &where);
  static std::string callsText(const std::vector<int> &calls);
  void visitCall(const Action &call);
  bool isLeftInGap(const Buffer &bucket, const Value &value) const;
  /// What a call does with the value in `bytes` of its buffer before anything
  /// else: tells the others what it is, or asks them.
  void meet(const Action &call, const Bytes &bytes, Value &value);
  void reduced(const Action &call, Value &value);
  void divided(const Action &call, Value &value) const;
  /// Why a call cannot reduce a value, if it cannot.
  std::optional<Finding> reductionProblem(const Action &call,
                                          const Value &value) const;
  void visitFetch(const Action &call);
  /// A server has got the gradient of what it sends.
  void checkPushed(const Action &call, const ParameterUse &use,
                   std::int64_t valueAt, const std::string &where);
  void visitMove(const Action &call);
  void checkEnd();

  const Certificate &certificate;
  const RankClass &in;
  const Phase &phase;
  SentValues &sent;
  Report *report;
  bool isStep;
  bool isGood = true;
  int step = 0;
  /// Calls so far in this step, by communicator.
  std::map<Communicator, int> numCalls;
  SentValues::Meeting meeting;
  /// The action being looked at.
  int at = -1;
  Values values;
  /// Launches and the parameters they update.
  std::map<int, std::vector<const ParameterUse *>> updatedBy;
  std::vector<int> fetched;
  /// Per rank whether it is in the class; tables and sizes of unpacked values
  /// that have been compared.
  std::vector<bool> isMember;
  std::set<std::pair<int, std::int64_t>> unpacked;
  std::vector<std::pair<Bytes, Value>> pendingWrites;
  /// What is wrong with spoiled values.
  std::vector<Finding> spoils;
};

} // namespace partita::check

#endif // PARTITA_TOOLS_CHECK_VALUECHECK_H
