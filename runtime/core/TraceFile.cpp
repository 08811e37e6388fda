//===- TraceFile.cpp - The trace of all ranks in one file -------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The part of RankRun.h that writes --trace: rank 0 collects the spans of all
// ranks, brings their clocks together, and prints how much of the communication
// was hidden.
//
//===----------------------------------------------------------------------===//

#include "core/File.h"
#include "core/RankRun.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

using namespace partita;

namespace {

/// When a rank came out of some barriers, by its own clock.
struct ClockCard {
  static constexpr int kRounds = 16;

  /// Machines that have been started at another time have another clock.
  char machine[64] = "";
  double left[kRounds] = {};
};

} // namespace

static void readMachine(char (&name)[64]) {
  std::FILE *file = std::fopen("/proc/sys/kernel/random/boot_id", "r");
  if (!file)
    return;
  if (!std::fgets(name, sizeof(name), file))
    name[0] = 0;
  std::fclose(file);
}

/// Seconds to be added to a rank's times to get rank 0's. All ranks come out of
/// a barrier at about the same time; the median over rounds leaves out those in
/// which one was late.
static double shiftOf(const ClockCard &first, const ClockCard &rank) {
  if (*first.machine && std::strcmp(first.machine, rank.machine) == 0)
    return 0;
  std::vector<double> shifts;
  for (int round = 0; round < ClockCard::kRounds; ++round)
    shifts.push_back(first.left[round] - rank.left[round]);
  auto middle = shifts.begin() + ClockCard::kRounds / 2;
  std::nth_element(shifts.begin(), middle, shifts.end());
  return *middle;
}

void RankRun::writeTrace(std::int64_t steps) {
  RankLog::Doing doing(log, Activity::files);
  ClockCard card;
  readMachine(card.machine);
  for (double &left : card.left) {
    world.barrier();
    left =
        std::chrono::duration<double>(RankLog::Clock::now().time_since_epoch())
            .count();
  }
  auto cards = world.gather(&card, sizeof(card));
  std::vector<std::byte> packed = log.timeline().pack();
  auto all = world.gather(packed.data(), packed.size());
  if (!first())
    return;
  std::vector<Timeline> ranks;
  std::vector<std::vector<LayerOverlap>> overlaps;
  std::int64_t dropped = 0;
  for (std::size_t index = 0; index < all.size(); ++index) {
    ClockCard theirs;
    std::memcpy(&theirs, cards[index].data(), sizeof(theirs));
    ranks.push_back(Timeline::unpack(all[index], shiftOf(card, theirs)));
    // Servers have nothing to hide their communication behind.
    if (ranks.back().server < 0)
      overlaps.push_back(overlapOf(ranks.back().spans));
    dropped += ranks.back().dropped;
    all[index].clear();
  }
  std::string text = traceJson(ranks, program.name);
  NewFile file(job.options.trace);
  file.write(text.data(), text.size());
  file.commit();
  if (!talks())
    return;
  std::fputs(
      overlapTable(sumOverlaps(overlaps), program.workers(), steps).c_str(),
      stdout);
  std::printf("trace               written to '%s', the last %lld %s%s\n",
              job.options.trace.c_str(), static_cast<long long>(steps),
              steps == 1 ? "step" : "steps",
              device->kind() == Device::Kind::cuda
                  ? "; layers and kernels when the host issued them, "
                    "collectives and waits when the GPU did them"
                  : "");
  if (dropped > 0)
    std::printf("                    %lld spans did not fit and are missing; "
                "use a smaller --trace-steps\n",
                static_cast<long long>(dropped));
  std::fflush(stdout);
}
