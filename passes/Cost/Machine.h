//===- Machine.h - What a cluster is made of --------------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The machine file, in YAML:
//
//   name: four machines with two cards each
//   groups:
//     - nodes: 4
//       devices: 2            # on each node; 1 where it is missing
//       kind: a100-80         # a preset (partita machines lists them), or any
//       memory: 80 GB         # name; figures given here win over the preset's
//       flops: 19.5 T         # per second, in single precision
//       bandwidth: 2039 GB/s  # of the memory
//       price: 3.20           # of a device for an hour, in any currency
//   links:
//     inside: nvlink-3        # a preset, or the figures
//     between:
//       bandwidth: 25 Gbit/s  # of one direction
//       latency: 20 us        # before the first byte arrives
//
// `inside` joins the devices of a node, `between` the nodes; all devices of a
// node share the latter. Units are B, KB, MB, GB, TB (powers of 1000), the same
// per second, kbit/s, Mbit/s, Gbit/s, and us, ms, s. Files of more than 1 MiB
// are refused.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_PASSES_COST_MACHINE_H
#define PARTITA_PASSES_COST_MACHINE_H

#include "passes/Cost/Collectives.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <vector>

namespace partita::cost {

/// A device as its data sheet has it.
struct DeviceKind {
  std::string name;
  /// Bytes.
  double memory = 0;
  /// Operations per second in single precision, without tensor cores.
  double flops = 0;
  /// Bytes per second between the device and its memory.
  double bandwidth = 0;
  /// Where the figures come from.
  std::string source;
};

/// A link as its standard has it, in one direction.
struct LinkKind {
  std::string name;
  AlphaBeta cost;
  std::string source;
};

/// Nodes that are alike.
struct DeviceGroup {
  int64_t nodes = 1;
  int64_t devices = 1;
  DeviceKind kind;
  /// Of a device for an hour; 0: not given.
  double price = 0;

  int64_t size() const { return nodes * devices; }
};

struct Machine {
  std::string name;
  std::vector<DeviceGroup> groups;
  LinkKind inside, between;

  int64_t nodes() const;
  /// How many ranks it has place for.
  int64_t devices() const;
  /// Of all devices for an hour; 0 where some price is missing.
  double price() const;
  /// What ranks that are placed node by node have for each other when all of
  /// them communicate at the same time: the devices of a node share `between`.
  LinkKind linkOf(int64_t ranks) const;
};

/// Devices and links whose figures are published.
llvm::ArrayRef<DeviceKind> deviceKinds();
llvm::ArrayRef<LinkKind> linkKinds();
const DeviceKind *findDeviceKind(llvm::StringRef name);
const LinkKind *findLinkKind(llvm::StringRef name);

/// Reads a machine file. `name` is for messages; on failure `error` is
/// "NAME:LINE:COLUMN: what is wrong, what was expected".
std::optional<Machine> readMachine(llvm::StringRef text, llvm::StringRef name,
                                   std::string &error);

} // namespace partita::cost

#endif // PARTITA_PASSES_COST_MACHINE_H
