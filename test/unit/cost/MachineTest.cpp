//===- MachineTest.cpp - Machine files ------------------------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Cost/Machine.h"
#include "gtest/gtest.h"

using namespace partita::cost;

namespace {

constexpr char kTwoKinds[] = R"(name: mixed
groups:
  - nodes: 2
    devices: 4
    kind: a100-80
    price: 3.5
  - kind: toaster
    memory: 1.5 GB
    flops: 20 G
    bandwidth: 3200 MB/s
    price: 0.5
links:
  inside: nvlink-3
  between: {bandwidth: 25 Gbit/s, latency: 20 us}
)";

std::string errorOf(const std::string &text) {
  std::string error;
  EXPECT_FALSE(readMachine(text, "m.yaml", error));
  return error;
}

TEST(Machine, GroupsAndLinks) {
  std::string error;
  std::optional<Machine> machine = readMachine(kTwoKinds, "m.yaml", error);
  ASSERT_TRUE(machine) << error;
  EXPECT_EQ(machine->name, "mixed");
  EXPECT_EQ(machine->nodes(), 3);
  EXPECT_EQ(machine->devices(), 9);
  EXPECT_DOUBLE_EQ(machine->price(), 8 * 3.5 + 0.5);
  ASSERT_EQ(machine->groups.size(), 2u);
  EXPECT_DOUBLE_EQ(machine->groups[0].kind.memory, 80e9);
  EXPECT_DOUBLE_EQ(machine->groups[1].kind.memory, 1.5e9);
  EXPECT_DOUBLE_EQ(machine->groups[1].kind.flops, 2e10);
  EXPECT_DOUBLE_EQ(machine->groups[1].kind.bandwidth, 3.2e9);
  EXPECT_EQ(machine->groups[1].kind.source, "m.yaml");
  EXPECT_DOUBLE_EQ(machine->between.cost.alpha, 2e-5);
  EXPECT_DOUBLE_EQ(machine->between.cost.beta, 8 / 25e9);
}

// Four devices of a node share its link to the others.
TEST(Machine, LinkOfSoManyRanks) {
  std::string error;
  std::optional<Machine> machine = readMachine(kTwoKinds, "m.yaml", error);
  ASSERT_TRUE(machine) << error;
  EXPECT_EQ(machine->linkOf(4).name, "nvlink-3");
  EXPECT_DOUBLE_EQ(machine->linkOf(5).cost.beta, 4 * 8 / 25e9);
}

TEST(Machine, FiguresOfAFileWinOverThePreset) {
  std::string error;
  std::optional<Machine> machine = readMachine(
      "groups: [{kind: v100, memory: 32 GB}]\nlinks: {inside: pcie-3}\n",
      "m.yaml", error);
  ASSERT_TRUE(machine) << error;
  EXPECT_DOUBLE_EQ(machine->groups[0].kind.memory, 32e9);
  EXPECT_DOUBLE_EQ(machine->groups[0].kind.flops, 15.7e12);
  EXPECT_EQ(machine->price(), 0);
}

TEST(Machine, PresetsHaveEveryFigureAndASource) {
  for (const DeviceKind &kind : deviceKinds()) {
    EXPECT_GT(kind.memory, 1e9) << kind.name;
    EXPECT_GT(kind.flops, 1e10) << kind.name;
    EXPECT_GT(kind.bandwidth, 1e9) << kind.name;
    EXPECT_FALSE(kind.source.empty()) << kind.name;
    EXPECT_EQ(findDeviceKind(kind.name), &kind);
  }
  for (const LinkKind &kind : linkKinds()) {
    EXPECT_GT(kind.cost.alpha, 0) << kind.name;
    EXPECT_GT(kind.cost.beta, 0) << kind.name;
    EXPECT_FALSE(kind.source.empty()) << kind.name;
    EXPECT_EQ(findLinkKind(kind.name), &kind);
  }
  EXPECT_EQ(findDeviceKind("abacus"), nullptr);
}

TEST(Machine, SaysWhatIsWrongAndWhere) {
  const char *links = "links: {inside: memory}\n";
  EXPECT_EQ(errorOf("groups:\n  - kind: abacus\n" + std::string(links)),
            "m.yaml:2:5: 'abacus' is no preset and has no 'memory'; partita "
            "machines lists the presets");
  EXPECT_EQ(errorOf("groups:\n  - kind: t4\n    nodes: 0\n"),
            "m.yaml:3:12: found '0', expected a number from 1 to 1048576");
  EXPECT_EQ(errorOf("groups:\n  - kind: t4\n    memory: 16\n"),
            "m.yaml:3:13: found '16', expected a positive number with a unit, "
            "for example 80 GB");
  EXPECT_EQ(errorOf("groups:\n  - kind: t4\n    memory: -1 GB\n"),
            "m.yaml:3:13: found '-1 GB', expected a positive number with a "
            "unit, for example 80 GB");
  EXPECT_EQ(errorOf("groups: [{kind: t4, nodes: 2}]\n" + std::string(links)),
            "m.yaml:1:1: has several nodes and no link 'between' them");
  EXPECT_EQ(errorOf("groups: [{kind: t4, devices: 2}]\n"
                    "links: {between: ethernet-10}\n"),
            "m.yaml:1:1: has nodes with several devices and no link 'inside' "
            "them");
  EXPECT_EQ(errorOf(links),
            "m.yaml:1:1: has no 'groups', expected at least one group of "
            "nodes");
  EXPECT_EQ(errorOf("groups: []\n" + std::string(links)),
            "m.yaml:1:10: the list is empty, expected at least one group of "
            "nodes");
  EXPECT_EQ(errorOf("gruops: []\n"),
            "m.yaml:1:1: found 'gruops', expected one of name, groups, links");
  EXPECT_EQ(errorOf("name: a\nname: b\n"),
            "m.yaml:2:1: 'name' stands here twice");
  EXPECT_EQ(errorOf("links: {inside: string}\n").substr(0, 60),
            "m.yaml:1:17: found 'string', expected 'bandwidth' and 'laten");
  EXPECT_EQ(errorOf("links: {inside: {bandwidth: 1 GB/s}}\n"),
            "m.yaml:1:18: a link needs both 'bandwidth' and 'latency'");
  EXPECT_EQ(errorOf("- a\n"),
            "m.yaml:1:1: found no mapping, expected 'groups' and 'links'");
  EXPECT_NE(errorOf("").find("m.yaml"), std::string::npos);
  EXPECT_NE(errorOf("a: [").find("m.yaml:1:"), std::string::npos);
  EXPECT_NE(errorOf(std::string("\0\xff{", 3)).find("m.yaml"),
            std::string::npos);
  EXPECT_NE(errorOf(std::string((1 << 20) + 1, ' ')).find("at most 1 MiB"),
            std::string::npos);
}

} // namespace
