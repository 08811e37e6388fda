//===- CheckWeights.cpp - Samples and weights of means --------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ranks with unequal batches must weigh by samples, not by rank.
//
//===----------------------------------------------------------------------===//

#include "Checks.h"

#include <cmath>

namespace partita::check {

namespace {

class WeightCheck {
public:
  WeightCheck(const Certificate &certificate, const ClassOfRank &classOf,
              Report &report)
      : certificate(certificate), classOf(classOf), report(report) {}

  void run() {
    for (const std::string &name : phasesOf(certificate)) {
      checkSamples(name);
      checkMeans(name);
    }
  }

private:
  /// Calls visit(leader of its group over `axes`, class, rank) for every rank
  /// of the grid.
  template <typename Visit> void forRanks(AxisSet axes, Visit visit) {
    for (std::int64_t r = 0; r < certificate.gridRanks(); ++r)
      visit(certificate.leaderOf(r, axes), classOf[r], r);
  }

  void checkSamples(const std::string &name) {
    std::map<std::string, AxisSet> axesOf;
    std::map<std::string, const RankClass *> statedBy;
    for (const RankClass &each : certificate.classes) {
      const Phase *phase = each.findPhase(name);
      if (!phase || each.isServers)
        continue;
      for (const InputShare &share : phase->inputs) {
        auto [it, isNew] = axesOf.insert({share.name, share.axes});
        if (isNew)
          statedBy[share.name] = &each;
        else if (it->second != share.axes)
          report.add({"classes divide an input over different axes",
                      placeOf(each, phase) + ", input '" + share.name + "'",
                      certificate.describe(share.axes),
                      certificate.describe(it->second) + ", as class " +
                          statedBy[share.name]->name + " does",
                      "compile again"});
      }
    }
    for (const auto &[input, axes] : axesOf)
      addUp(name, input, axes);
  }

  void addUp(const std::string &name, const std::string &input, AxisSet axes) {
    std::vector<std::int64_t> ofClass(certificate.classes.size(), 0);
    for (std::size_t c = 0; c < certificate.classes.size(); ++c)
      if (const Phase *phase = certificate.classes[c].findPhase(name))
        for (const InputShare &share : phase->inputs)
          if (share.name == input)
            ofClass[c] = share.samples;
    std::map<std::int64_t, std::int64_t> sums;
    forRanks(axes, [&](std::int64_t leader, int rankClass, std::int64_t) {
      sums[leader] += ofClass[rankClass];
    });
    for (auto [leader, sum] : sums) {
      if (sum == certificate.batch)
        continue;
      std::string each;
      for (std::size_t c = 0; c < certificate.classes.size() && c < 6; ++c)
        each += (c ? ", " : "") + certificate.classes[c].name + ": " +
                std::to_string(ofClass[c]);
      report.add(
          {"samples do not add up to the global batch",
           "phase " + name + ", input '" + input + "', the group of rank " +
               std::to_string(leader) + " over " + certificate.describe(axes),
           std::to_string(sum) + " samples (per rank of class " + each + ")",
           std::to_string(certificate.batch),
           "the remainder of the batch belongs to some rank too"});
      return;
    }
  }

  /// What one class contributes to a mean.
  struct Share {
    const Action *launch = nullptr;
    int action = -1;
    double tolerance = 0;
  };

  /// Scales are numbers of the loss's type, products of a few roundings.
  static double toleranceOf(const Phase &phase, const Action &launch) {
    std::string type =
        launch.writes.empty() ? "" : phase.buffers[launch.writes[0]].type;
    return type == "bf16" ? 4.0 / 128 : type == "f16" ? 4.0 / 1024 : 1e-6;
  }

  /// A mean of all terms: each has weight 1 / (terms on all ranks). The nth
  /// launch of a kernel in one class belongs to the nth one of the others.
  void checkMeans(const std::string &name) {
    std::map<std::pair<std::string, int>, std::map<int, Share>> means;
    for (std::size_t c = 0; c < certificate.classes.size(); ++c)
      if (const Phase *phase = certificate.classes[c].findPhase(name)) {
        std::map<std::string, int> seen;
        for (std::size_t i = 0; i < phase->actions.size(); ++i) {
          const Action &launch = phase->actions[i];
          if (launch.terms == 0)
            continue;
          means[{launch.name, seen[launch.name]++}][static_cast<int>(c)] = {
              &launch, static_cast<int>(i), toleranceOf(*phase, launch)};
        }
      }
    for (const auto &[key, shares] : means)
      checkMean(name, shares);
  }

  void checkMean(const std::string &name, const std::map<int, Share> &shares) {
    AxisSet over = shares.begin()->second.launch->over;
    for (const auto &[c, share] : shares)
      if (share.launch->over != over) {
        const RankClass &in = certificate.classes[c];
        report.add({"classes divide the terms of a mean over different axes",
                    placeOf(in, in.findPhase(name), share.action),
                    certificate.describe(share.launch->over),
                    certificate.describe(over), "compile again"});
        return;
      }
    std::map<std::int64_t, std::int64_t> terms;
    forRanks(over, [&](std::int64_t leader, int rankClass, std::int64_t) {
      auto share = shares.find(rankClass);
      terms[leader] += share == shares.end() ? 0 : share->second.launch->terms;
    });
    std::set<int> reported;
    forRanks(over, [&](std::int64_t leader, int rankClass, std::int64_t rank) {
      auto share = shares.find(rankClass);
      if (share == shares.end())
        return;
      const auto &[launch, action, tolerance] = share->second;
      double total = static_cast<double>(terms[leader]);
      if (std::abs(launch->scale * total - 1) <= tolerance ||
          !reported.insert(rankClass).second)
        return;
      const RankClass &in = certificate.classes[rankClass];
      report.add({"a mean gives its terms wrong weights",
                  placeOf(in, in.findPhase(name), action) + ", rank " +
                      std::to_string(rank),
                  "weight " + std::to_string(launch->scale) + " for each of " +
                      std::to_string(launch->terms) + " terms",
                  "1 / " + std::to_string(terms[leader]) +
                      ", the terms on all ranks of the group over " +
                      certificate.describe(over),
                  "weigh by samples, not by rank: ranks may have batches of "
                  "different sizes"});
    });
  }

  const Certificate &certificate;
  const ClassOfRank &classOf;
  Report &report;
};

} // namespace

void checkWeights(const Certificate &certificate, const ClassOfRank &classOf,
                  Report &report) {
  WeightCheck(certificate, classOf, report).run();
}

} // namespace partita::check
