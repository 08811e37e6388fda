//===- MachineReader.cpp - Reading machine files --------------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// On LLVM's YAML parser; every message says where, what was found and what was
// expected.
//
//===----------------------------------------------------------------------===//

#include "passes/Cost/Machine.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/YAMLParser.h"

namespace partita::cost {

namespace {

using llvm::StringRef;
using llvm::Twine;

constexpr size_t kLargestFile = 1 << 20;
constexpr int64_t kMostNodes = 1 << 20;

struct Unit {
  const char *name;
  double factor;
};
constexpr Unit kBytes[] = {
    {"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}, {"B", 1}};
constexpr Unit kRates[] = {{"TB/s", 1e12},      {"GB/s", 1e9},
                           {"MB/s", 1e6},       {"KB/s", 1e3},
                           {"B/s", 1},          {"Gbit/s", 1e9 / 8},
                           {"Mbit/s", 1e6 / 8}, {"kbit/s", 1e3 / 8}};
constexpr Unit kTimes[] = {{"us", 1e-6}, {"ms", 1e-3}, {"s", 1}};
constexpr Unit kFlops[] = {{"P", 1e15}, {"T", 1e12}, {"G", 1e9}};

class Reader {
public:
  Reader(StringRef text, StringRef name, std::string &error)
      : text(text), name(name), error(error), stream(text, sources) {
    // The parser's own messages, for text that is no YAML.
    sources.setDiagHandler(
        [](const llvm::SMDiagnostic &diagnostic, void *reader) {
          auto &self = *static_cast<Reader *>(reader);
          if (self.error.empty())
            self.error = self.name.str() + ":" +
                         std::to_string(diagnostic.getLineNo()) + ":" +
                         std::to_string(diagnostic.getColumnNo() + 1) +
                         ": this is no YAML: " + diagnostic.getMessage().str();
        },
        this);
  }

  std::optional<Machine> read() {
    auto document = stream.begin();
    llvm::yaml::Node *root =
        document == stream.end() ? nullptr : document->getRoot();
    auto *mapping = llvm::dyn_cast_or_null<llvm::yaml::MappingNode>(root);
    if (!mapping) {
      fail(root, "found no mapping, expected 'groups' and 'links'");
      return std::nullopt;
    }
    Machine machine;
    bool hasGroups = false, hasLinks = false;
    forMembers(mapping, {"name", "groups", "links"},
               [&](StringRef key, llvm::yaml::Node *value) {
                 if (key == "name")
                   machine.name = textOf(value);
                 else if (key == "groups")
                   hasGroups = readGroups(value, machine);
                 else
                   hasLinks = readLinks(value, machine);
               });
    if (error.empty() && !hasGroups)
      fail(root, "has no 'groups', expected at least one group of nodes");
    if (error.empty() && !hasLinks)
      fail(root, "has no 'links', expected 'inside' or 'between'");
    if (!error.empty() || stream.failed())
      return std::nullopt;
    if (machine.nodes() > 1 && machine.between.name.empty()) {
      fail(root, "has several nodes and no link 'between' them");
      return std::nullopt;
    }
    if (machine.devices() > machine.nodes() && machine.inside.name.empty()) {
      fail(root, "has nodes with several devices and no link 'inside' them");
      return std::nullopt;
    }
    return machine;
  }

private:
  /// The first thing that is wrong.
  void fail(llvm::yaml::Node *node, const Twine &what) {
    if (!error.empty())
      return;
    size_t place = 0;
    if (node && node->getSourceRange().Start.isValid())
      place = size_t(node->getSourceRange().Start.getPointer() - text.data());
    StringRef before = text.take_front(std::min(place, text.size()));
    size_t line = before.count('\n') + 1;
    size_t column = before.size() - (before.rfind('\n') + 1) + 1;
    error =
        (name + ":" + Twine(line) + ":" + Twine(column) + ": " + what).str();
  }

  std::string textOf(llvm::yaml::Node *node) {
    llvm::SmallString<32> storage;
    if (auto *scalar = llvm::dyn_cast_or_null<llvm::yaml::ScalarNode>(node))
      return scalar->getValue(storage).str();
    fail(node, "found something with parts, expected one value");
    return "";
  }

  void
  forMembers(llvm::yaml::MappingNode *mapping, llvm::ArrayRef<StringRef> known,
             llvm::function_ref<void(StringRef, llvm::yaml::Node *)> visit) {
    llvm::StringSet<> seen;
    for (llvm::yaml::KeyValueNode &member : *mapping) {
      std::string key = textOf(member.getKey());
      if (!llvm::is_contained(known, key))
        fail(member.getKey(),
             "found '" + key + "', expected one of " + llvm::join(known, ", "));
      else if (!seen.insert(key).second)
        fail(member.getKey(), "'" + key + "' stands here twice");
      if (!error.empty())
        return;
      visit(key, member.getValue());
    }
  }

  /// A positive number with a unit.
  double quantity(llvm::yaml::Node *node, llvm::ArrayRef<Unit> units,
                  StringRef example) {
    std::string given = textOf(node);
    StringRef rest = given;
    double value = 0;
    for (const Unit &unit : units) {
      StringRef number = rest;
      if (!number.consume_back(unit.name))
        continue;
      number = number.rtrim();
      if (!number.getAsDouble(value) && value > 0 && value < 1e18)
        return value * unit.factor;
    }
    fail(node, "found '" + given +
                   "', expected a positive number with a unit, "
                   "for example " +
                   example);
    return 0;
  }

  int64_t count(llvm::yaml::Node *node) {
    std::string given = textOf(node);
    int64_t value = 0;
    if (StringRef(given).getAsInteger(10, value) || value < 1 ||
        value > kMostNodes)
      fail(node, "found '" + given + "', expected a number from 1 to " +
                     Twine(kMostNodes));
    return value;
  }

  bool readGroups(llvm::yaml::Node *node, Machine &machine) {
    auto *list = llvm::dyn_cast_or_null<llvm::yaml::SequenceNode>(node);
    if (!list) {
      fail(node, "found no list, expected the groups of nodes, each with '- '");
      return false;
    }
    for (llvm::yaml::Node &entry : *list) {
      auto *mapping = llvm::dyn_cast<llvm::yaml::MappingNode>(&entry);
      if (mapping)
        machine.groups.push_back(readGroup(mapping));
      else
        fail(&entry, "found no mapping, expected 'nodes', 'devices', 'kind'");
      if (!error.empty())
        return false;
    }
    if (machine.groups.empty())
      fail(node, "the list is empty, expected at least one group of nodes");
    return error.empty();
  }

  DeviceGroup readGroup(llvm::yaml::MappingNode *mapping) {
    DeviceGroup group;
    DeviceKind own;
    forMembers(
        mapping,
        {"nodes", "devices", "kind", "memory", "flops", "bandwidth", "price"},
        [&](StringRef key, llvm::yaml::Node *value) {
          if (key == "nodes")
            group.nodes = count(value);
          else if (key == "devices")
            group.devices = count(value);
          else if (key == "kind")
            own.name = textOf(value);
          else if (key == "memory")
            own.memory = quantity(value, kBytes, "80 GB");
          else if (key == "flops")
            own.flops = quantity(value, kFlops, "19.5 T");
          else if (key == "bandwidth")
            own.bandwidth = quantity(value, kRates, "2039 GB/s");
          else
            group.price = price(value);
        });
    if (!error.empty())
      return group;
    if (const DeviceKind *preset = findDeviceKind(own.name))
      group.kind = *preset;
    else if (own.name.empty())
      fail(mapping, "a group has no 'kind'; expected a preset, as partita "
                    "machines lists them, or a name of its own");
    group.kind.name = own.name;
    bool isChanged = false;
    auto take = [&](double DeviceKind::*figure, const char *what) {
      if (own.*figure > 0) {
        group.kind.*figure = own.*figure;
        isChanged = true;
      } else if (group.kind.*figure <= 0) {
        fail(mapping, "'" + own.name + "' is no preset and has no '" + what +
                          "'; partita machines lists the presets");
      }
    };
    take(&DeviceKind::memory, "memory");
    take(&DeviceKind::flops, "flops");
    take(&DeviceKind::bandwidth, "bandwidth");
    if (isChanged)
      group.kind.source = name.str();
    return group;
  }

  double price(llvm::yaml::Node *node) {
    std::string given = textOf(node);
    double value = 0;
    if (StringRef(given).getAsDouble(value) || !(value >= 0 && value < 1e9))
      fail(node, "found '" + given + "', expected a price for an hour");
    return value;
  }

  bool readLinks(llvm::yaml::Node *node, Machine &machine) {
    auto *mapping = llvm::dyn_cast_or_null<llvm::yaml::MappingNode>(node);
    if (!mapping) {
      fail(node, "found no mapping, expected 'inside' and 'between'");
      return false;
    }
    forMembers(mapping, {"inside", "between"},
               [&](StringRef key, llvm::yaml::Node *value) {
                 (key == "inside" ? machine.inside : machine.between) =
                     readLink(value);
               });
    return error.empty();
  }

  LinkKind readLink(llvm::yaml::Node *node) {
    if (auto *mapping = llvm::dyn_cast_or_null<llvm::yaml::MappingNode>(node)) {
      LinkKind link{name.str(), {0, 0}, name.str()};
      forMembers(mapping, {"bandwidth", "latency"},
                 [&](StringRef key, llvm::yaml::Node *value) {
                   if (key == "latency")
                     link.cost.alpha = quantity(value, kTimes, "20 us");
                   else if (double rate = quantity(value, kRates, "25 Gbit/s");
                            rate > 0)
                     link.cost.beta = 1 / rate;
                 });
      if (link.cost.alpha <= 0 || link.cost.beta <= 0)
        fail(node, "a link needs both 'bandwidth' and 'latency'");
      return link;
    }
    std::string given = textOf(node);
    if (const LinkKind *preset = findLinkKind(given))
      return *preset;
    std::vector<StringRef> names;
    for (const LinkKind &kind : linkKinds())
      names.push_back(kind.name);
    fail(node, "found '" + given +
                   "', expected 'bandwidth' and 'latency', or "
                   "one of " +
                   llvm::join(names, ", "));
    return {};
  }

  StringRef text, name;
  std::string &error;
  llvm::SourceMgr sources;
  llvm::yaml::Stream stream;
};

} // namespace

std::optional<Machine> readMachine(StringRef text, StringRef name,
                                   std::string &error) {
  error.clear();
  if (text.size() > kLargestFile) {
    error = (name + ": has " + Twine(text.size()) +
             " bytes, expected a machine file of at most 1 MiB")
                .str();
    return std::nullopt;
  }
  std::optional<Machine> machine = Reader(text, name, error).read();
  if (!machine && error.empty())
    error = (name + ": cannot be read as YAML").str();
  return machine;
}

} // namespace partita::cost
