//===- Check.cpp - All proofs in order ------------------------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs the proofs and words what they found.
//
//===----------------------------------------------------------------------===//

#include "Check.h"
#include "Checks.h"
#include "Json.h"

namespace partita::check {

constexpr std::size_t kMaxFindings = 20;
/// Ranks times calls that are looked at one by one.
constexpr std::int64_t kMaxWork = std::int64_t(1) << 27;

void Report::add(Finding finding) {
  if (findings.size() < kMaxFindings)
    findings.push_back(std::move(finding));
  else
    ++more;
}

void Report::add(const Report &other) {
  for (const Finding &finding : other.findings)
    add(finding);
  more += other.more;
}

std::string placeOf(const RankClass &in, const Phase *phase, int action) {
  std::string ranks = describe(in.ranks);
  bool isOne =
      in.ranks.size() == 1 && in.ranks.front().first == in.ranks.front().last;
  std::string text =
      "class " + in.name + " (" + (isOne ? "rank " : "ranks ") + ranks + ")";
  if (!phase)
    return text;
  text += ", phase " + phase->name;
  if (action < 0)
    return text;
  const Action &at = phase->actions[action];
  switch (at.kind) {
  case ActionKind::call:
    return text + ", call " + std::to_string(at.index) + " '" + at.label + "'";
  case ActionKind::launch:
    return text + ", action " + std::to_string(action) + ": " + at.name +
           (at.layer.empty() ? "" : " of " + at.layer);
  case ActionKind::record:
    return text + ", action " + std::to_string(action) + ": record";
  case ActionKind::wait:
    return text + ", action " + std::to_string(action) + ": wait";
  }
  return text;
}

namespace {

/// Proves everything about a certificate that could be read.
class Proof {
public:
  explicit Proof(const Certificate &certificate) : certificate(certificate) {}

  void run() {
    if (!checkSize())
      return;
    ClassOfRank classOf = checkRanks(certificate, report);
    if (classOf.empty())
      return;
    checkWeights(certificate, classOf, report);
    checkCalls(certificate, classOf, report, counts);
    for (const std::string &name : phasesOf(certificate)) {
      std::vector<ClassPhase> classes;
      for (const RankClass &each : certificate.classes)
        for (const Phase &phase : each.phases)
          if (phase.name == name)
            classes.push_back({&each, &phase});
      std::size_t before = report.getFindings().size();
      for (auto [in, phase] : classes)
        checkStreams(*in, *phase, report);
      if (report.getFindings().size() == before)
        checkValues(certificate, classes, report);
    }
    // Orders are compared call by call, once it is known which calls meet.
    if (report.isEmpty())
      checkOrder(certificate, classOf, report, counts);
    for (const RankClass &each : certificate.classes)
      for (const Phase &phase : each.phases)
        counts.launches += phase.actions.size() - phase.calls.size();
    counts.parameters = certificate.parameters.size();
  }

  const Report &getReport() const { return report; }

  std::string summary() const {
    auto number = [](std::size_t count, const std::string &what) {
      return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
    };
    std::int64_t ranks = certificate.allRanks();
    std::string text =
        "proved: " + number(counts.calls, "call") + " in " +
        number(counts.communicators, "communicator") + " on " +
        number(static_cast<std::size_t>(ranks), "rank") + " (" +
        std::to_string(certificate.classes.size()) +
        (certificate.classes.size() == 1 ? " class" : " classes");
    text += ") match and end; " + number(counts.messages, "message") +
            " received as sent; " + number(counts.parameters, "gradient") +
            " reduced and used once; no races; weights add up to batch " +
            std::to_string(certificate.batch);
    return text;
  }

private:
  bool checkSize() {
    std::size_t most = 1;
    for (const RankClass &each : certificate.classes)
      for (const Phase &phase : each.phases)
        most =
            std::max(most, phase.calls.size() + certificate.parameters.size() +
                               certificate.classes.size());
    if (certificate.allRanks() <= kMaxWork / static_cast<std::int64_t>(most))
      return true;
    report.add({"the certificate is too large to check", "the certificate",
                std::to_string(certificate.allRanks()) + " ranks with " +
                    std::to_string(most) + " calls, parameters and classes",
                "at most 2^27 together", "check a smaller grid"});
    return false;
  }

  const Certificate &certificate;
  Report report;
  Counts counts;
};

} // namespace

Result check(const std::string &text, const std::string &name) {
  Result result;
  Certificate certificate;
  try {
    certificate = readCertificate(text);
  } catch (const Refusal &refusal) {
    result.errors.push_back(name + ":" + placeOf(text, refusal.offset) +
                            ": error: " + refusal.message);
    return result;
  }
  Proof proof(certificate);
  proof.run();
  for (const Finding &finding : proof.getReport().getFindings())
    result.errors.push_back(
        name + ": error: " + finding.what + "\n  where:    " + finding.where +
        "\n  found:    " + finding.found + "\n  expected: " + finding.expected +
        "\n  try:      " + finding.advice);
  if (std::size_t more = proof.getReport().getMore())
    result.errors.push_back(name + ": error: " + std::to_string(more) +
                            " more contradictions");
  result.isProven = result.errors.empty();
  if (result.isProven)
    result.summary = proof.summary();
  return result;
}

} // namespace partita::check
