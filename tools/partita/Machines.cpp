//===- Machines.cpp - partita machines ------------------------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lists the devices and links that machine files may name, and checks files.
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"
#include "Subcommands.h"
#include "passes/Cost/Machine.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace partita;
using namespace partita::cost;
using namespace partita::driver;

namespace {

constexpr char kFormat[] = R"(
A machine file is YAML:

  name: four machines with two cards each
  groups:
    - nodes: 4
      devices: 2            # on each node
      kind: a100-80         # one of the above, or a name of its own with
      memory: 80 GB         # these three, which win over the preset's
      flops: 19.5 T         # per second, in single precision
      bandwidth: 2039 GB/s  # of the memory
      price: 3.20           # of a device for an hour
  links:
    inside: nvlink-3        # between the devices of a node
    between:                # between nodes; their devices share it
      bandwidth: 25 Gbit/s
      latency: 20 us
)";

void listPresets() {
  llvm::raw_ostream &os = llvm::outs();
  os << llvm::formatv("{0,-16}{1,10}{2,14}{3,12}  {4}\n", "device", "memory GB",
                      "Tflop/s fp32", "GB/s", "source");
  for (const DeviceKind &kind : deviceKinds())
    os << llvm::formatv("{0,-16}{1,10:F0}{2,14:F2}{3,12:F1}  {4}\n", kind.name,
                        kind.memory / 1e9, kind.flops / 1e12,
                        kind.bandwidth / 1e9, kind.source);
  os << llvm::formatv("\n{0,-16}{1,10}{2,14}  {3}\n", "link", "GB/s",
                      "latency us", "source");
  for (const LinkKind &kind : linkKinds())
    os << llvm::formatv("{0,-16}{1,10:F3}{2,14:F0}  {3}\n", kind.name,
                        1e-9 / kind.cost.beta, kind.cost.alpha * 1e6,
                        kind.source);
  os << kFormat;
}

void describe(llvm::StringRef where, const LinkKind &link) {
  if (!link.name.empty())
    llvm::outs() << llvm::formatv(
        "{0,-10}{1:F3} GB/s, {2:F0} us latency ({3})\n", where,
        1e-9 / link.cost.beta, link.cost.alpha * 1e6, link.source);
}

void describe(const Machine &machine) {
  llvm::raw_ostream &os = llvm::outs();
  if (!machine.name.empty())
    os << machine.name << '\n';
  for (const DeviceGroup &group : machine.groups)
    os << llvm::formatv("{0,-10}{1} x {2} {3}: {4:F0} GB, {5:F2} Tflop/s, "
                        "{6:F1} GB/s ({7})\n",
                        "group", group.nodes, group.devices, group.kind.name,
                        group.kind.memory / 1e9, group.kind.flops / 1e12,
                        group.kind.bandwidth / 1e9, group.kind.source);
  describe("inside", machine.inside);
  describe("between", machine.between);
  os << llvm::formatv("{0,-10}{1} devices on {2} nodes", "together",
                      machine.devices(), machine.nodes());
  if (machine.price() > 0)
    os << llvm::formatv(", {0:F2} an hour", machine.price());
  os << '\n';
}

} // namespace

int partita::driver::runMachines(llvm::ArrayRef<const char *> given) {
  Arguments arguments(
      "machines [FILE]",
      "Lists the devices and links that a machine file may name, with where "
      "their figures come from, or checks a machine file and says what it "
      "describes. Presets are data sheets, not measurements.");
  int exitCode = kSuccess;
  if (!arguments.parse(given, exitCode))
    return exitCode;
  if (arguments.getPositional().size() > 1)
    return arguments.usageError("expected one machine file at most");
  if (arguments.getPositional().empty()) {
    listPresets();
    return kSuccess;
  }
  const std::string &path = arguments.getPositional().front();
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer) {
    llvm::errs() << "partita: error: cannot read '" << path
                 << "': " << buffer.getError().message() << '\n';
    return kFailure;
  }
  std::string error;
  std::optional<Machine> machine =
      readMachine((*buffer)->getBuffer(), path, error);
  if (!machine) {
    llvm::errs() << "partita: error: " << error << '\n';
    return kFailure;
  }
  describe(*machine);
  return kSuccess;
}
