//===- Machine.cpp - Devices and links with published figures -------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The presets. Latencies of networks are no figures of a standard: they are
// those of a message over TCP or InfiniBand as its users report them, and
// marked so.
//
//===----------------------------------------------------------------------===//

#include "passes/Cost/Machine.h"
#include "llvm/ADT/STLExtras.h"

namespace partita::cost {

constexpr double kGiga = 1e9, kTera = 1e12;

llvm::ArrayRef<DeviceKind> deviceKinds() {
  static const std::vector<DeviceKind> kinds = {
      {"titanx-maxwell", 12 * kGiga, 6.14 * kTera, 336.5 * kGiga,
       "NVIDIA: 3072 cores at 1000 MHz, 384 bits at 7.0 Gbit/s"},
      {"titanx-pascal", 12 * kGiga, 10.16 * kTera, 480 * kGiga,
       "NVIDIA: 3584 cores at 1417 MHz, 384 bits at 10 Gbit/s"},
      {"v100", 16 * kGiga, 15.7 * kTera, 900 * kGiga,
       "NVIDIA V100 data sheet, SXM2"},
      {"t4", 16 * kGiga, 8.1 * kTera, 300 * kGiga, "NVIDIA T4 data sheet"},
      {"a40", 48 * kGiga, 37.4 * kTera, 696 * kGiga, "NVIDIA A40 data sheet"},
      {"a100-40", 40 * kGiga, 19.5 * kTera, 1555 * kGiga,
       "NVIDIA A100 data sheet, 40 GB"},
      {"a100-80", 80 * kGiga, 19.5 * kTera, 2039 * kGiga,
       "NVIDIA A100 data sheet, 80 GB SXM"},
      {"h100", 80 * kGiga, 67 * kTera, 3350 * kGiga,
       "NVIDIA H100 data sheet, SXM"},
      {"h200", 141 * kGiga, 67 * kTera, 4800 * kGiga,
       "NVIDIA H200 data sheet, SXM"},
      {"knl", 16 * kGiga, 6.09 * kTera, 450 * kGiga,
       "Intel Xeon Phi 7250: 68 cores at 1.4 GHz, two vectors of 16 fused "
       "operations; MCDRAM"},
      {"cpu-core", 4 * kGiga, 0.1 * kTera, 10 * kGiga,
       "nominal: a core with AVX2 at 3 GHz, its part of two memory channels"},
  };
  return kinds;
}

static LinkKind ethernet(const char *name, double gigabits, double latency) {
  return {name,
          {latency, 8 / (gigabits * kGiga)},
          "IEEE 802.3; latency of TCP and a waking thread, nominal"};
}

llvm::ArrayRef<LinkKind> linkKinds() {
  static const std::vector<LinkKind> kinds = {
      ethernet("ethernet-1", 1, 2e-4),
      ethernet("ethernet-10", 10, 5e-5),
      ethernet("ethernet-25", 25, 3e-5),
      ethernet("ethernet-40", 40, 3e-5),
      ethernet("ethernet-100", 100, 2e-5),
      {"infiniband-100",
       {2e-6, 8 / (100 * kGiga)},
       "InfiniBand EDR, 4 lanes; latency of a message in MPI, nominal"},
      {"pcie-3",
       {5e-6, 1 / (15.75 * kGiga)},
       "PCI Express 3.0, 16 lanes of 8 GT/s with 128b/130b; latency nominal"},
      {"pcie-4",
       {5e-6, 1 / (31.5 * kGiga)},
       "PCI Express 4.0, 16 lanes of 16 GT/s with 128b/130b; latency nominal"},
      {"nvlink-2",
       {3e-6, 1 / (150 * kGiga)},
       "NVIDIA V100: six links, 300 GB/s both ways; latency nominal"},
      {"nvlink-3",
       {3e-6, 1 / (300 * kGiga)},
       "NVIDIA A100: 600 GB/s both ways; latency nominal"},
      {"nvlink-4",
       {3e-6, 1 / (450 * kGiga)},
       "NVIDIA H100: 900 GB/s both ways; latency nominal"},
      {"memory",
       {1e-6, 1 / (10 * kGiga)},
       "nominal: processes of one machine through shared memory"},
  };
  return kinds;
}

template <typename Kind>
static const Kind *find(llvm::ArrayRef<Kind> kinds, llvm::StringRef name) {
  auto it = llvm::find_if(kinds, [&](const Kind &kind) {
    return llvm::StringRef(kind.name) == name;
  });
  return it == kinds.end() ? nullptr : it;
}

const DeviceKind *findDeviceKind(llvm::StringRef name) {
  return find(deviceKinds(), name);
}
const LinkKind *findLinkKind(llvm::StringRef name) {
  return find(linkKinds(), name);
}

int64_t Machine::nodes() const {
  int64_t sum = 0;
  for (const DeviceGroup &group : groups)
    sum += group.nodes;
  return sum;
}

int64_t Machine::devices() const {
  int64_t sum = 0;
  for (const DeviceGroup &group : groups)
    sum += group.size();
  return sum;
}

double Machine::price() const {
  double sum = 0;
  for (const DeviceGroup &group : groups) {
    if (group.price <= 0)
      return 0;
    sum += group.price * double(group.size());
  }
  return sum;
}

LinkKind Machine::linkOf(int64_t ranks) const {
  if (!groups.empty() && ranks <= groups.front().devices)
    return inside;
  int64_t sharing = 1;
  for (const DeviceGroup &group : groups)
    sharing = std::max(sharing, group.devices);
  LinkKind link = between;
  link.cost.beta *= double(sharing);
  return link;
}

} // namespace partita::cost
