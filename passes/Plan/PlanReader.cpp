//===- PlanReader.cpp - Reading plan files --------------------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM's JSON values have no positions and keep one of two equal keys, so a
// second walk over the text, which is known to be JSON by then, notes where
// every key stands.
//
//===----------------------------------------------------------------------===//

#include "passes/Plan/PlanReader.h"
#include "dialects/Dist/IR/DistDialect.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include <map>

using namespace llvm;
using namespace partita;
using namespace partita::plan;

namespace {

constexpr uint64_t kMostBytes = uint64_t(64) << 20;
constexpr unsigned kDeepest = 16;

/// Keys from the root to a value.
using KeyPath = std::vector<std::string>;

/// "key 'split' of layers / '/conv1/Conv'".
std::string describe(const KeyPath &path) {
  std::string text = "key " + quoted(path.back());
  for (auto [i, key] : enumerate(ArrayRef<std::string>(path).drop_back()))
    text += (i ? " / " : " of ") + quoted(key);
  return text;
}

std::string kindName(const json::Value &value) {
  switch (value.kind()) {
  case json::Value::Null:
    return "null";
  case json::Value::Boolean:
    return "a boolean";
  case json::Value::Number:
    return "a number";
  case json::Value::String:
    return "a string";
  case json::Value::Array:
    return "a list";
  case json::Value::Object:
    return "an object";
  }
  llvm_unreachable("unknown kind of value");
}

/// Where brackets nest deeper than `kDeepest`; line 0 where they do not.
PlanPosition findTooDeep(StringRef text) {
  unsigned depth = 0;
  PlanPosition position{1, 0};
  bool inString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    ++position.column;
    if (c == '\n') {
      ++position.line;
      position.column = 0;
    }
    if (inString) {
      if (c == '\\') {
        ++i;
        ++position.column;
      }
      inString = c != '"';
      continue;
    }
    inString = c == '"';
    if ((c == '{' || c == '[') && ++depth > kDeepest)
      return position;
    if ((c == '}' || c == ']') && depth > 0)
      --depth;
  }
  return {};
}

/// Notes where the keys of a JSON text stand, in order.
class KeyPositions {
public:
  struct Entry {
    KeyPath path;
    PlanPosition position;
  };

  explicit KeyPositions(StringRef text) : text(text) { walkValue(); }

  PlanPosition find(const KeyPath &path) const {
    auto found = positions.find(path);
    return found == positions.end() ? PlanPosition{1, 1} : found->second;
  }
  /// Keys that occur a second time in their object.
  const std::vector<Entry> &getRepeated() const { return repeated; }

private:
  char peek() const { return at < text.size() ? text[at] : '\0'; }

  void advance() {
    if (at >= text.size())
      return;
    if (text[at++] == '\n') {
      ++position.line;
      position.column = 1;
    } else {
      ++position.column;
    }
  }

  void skipSpace() {
    while (peek() == ' ' || peek() == '\t' || peek() == '\n' || peek() == '\r')
      advance();
  }

  /// Passes a string and returns what it says.
  std::string takeString() {
    size_t begin = at;
    advance();
    while (at < text.size() && peek() != '"') {
      if (peek() == '\\')
        advance();
      advance();
    }
    advance();
    // Escapes are decoded by the library.
    Expected<json::Value> value = json::parse(text.slice(begin, at));
    if (!value) {
      consumeError(value.takeError());
      return "";
    }
    std::optional<StringRef> decoded = value->getAsString();
    return decoded ? decoded->str() : "";
  }

  void walkObject() {
    advance();
    skipSpace();
    while (at < text.size() && peek() != '}') {
      PlanPosition where = position;
      path.push_back(takeString());
      bool isFirst = positions.try_emplace(path, where).second;
      if (!isFirst && !inRepeated)
        repeated.push_back({path, where});
      skipSpace();
      advance(); // The colon.
      bool outer = inRepeated;
      inRepeated |= !isFirst;
      walkValue();
      inRepeated = outer;
      path.pop_back();
      skipSpace();
      if (peek() == ',')
        advance();
      skipSpace();
    }
    advance();
  }

  void walkArray() {
    advance();
    skipSpace();
    while (at < text.size() && peek() != ']') {
      walkValue();
      skipSpace();
      if (peek() == ',')
        advance();
      skipSpace();
    }
    advance();
  }

  // The depth is limited by findTooDeep.
  void walkValue() {
    skipSpace();
    switch (peek()) {
    case '{':
      return walkObject();
    case '[':
      return walkArray();
    case '"':
      takeString();
      return;
    default:
      while (at < text.size() &&
             StringRef(",]} \t\r\n").find(peek()) == StringRef::npos)
        advance();
    }
  }

  StringRef text;
  size_t at = 0;
  PlanPosition position{1, 1};
  KeyPath path;
  /// Within the value of a key that was there before.
  bool inRepeated = false;
  std::map<KeyPath, PlanPosition> positions;
  std::vector<Entry> repeated;
};

/// Turns values into a plan, and notes everything that is wrong.
class Reader {
public:
  Reader(const KeyPositions &positions, PlanText &plan)
      : positions(positions), plan(plan) {}

  void read(const json::Object &root) {
    for (const auto &[key, value] : root) {
      KeyPath path = {key.str()};
      if (key == "version")
        readVersion(path, value);
      else if (key == "grid")
        readGrid(path, value);
      else if (key == "servers")
        readServers(path, value);
      else if (key == "layers")
        forEntries(path, value, &Reader::readLayer);
      else if (key == "parameters")
        forEntries(path, value, &Reader::readParameter);
      else if (key == "semantics")
        expectString(path, value);
      else
        unknown(path, {"version", "grid", "servers", "semantics", "layers",
                       "parameters"});
    }
    if (!root.get("version"))
      add({1, 1}, "key 'version' is missing; expected \"version\": 1");
    auto before = [](const auto &a, const auto &b) {
      return std::pair(a.position.line, a.position.column) <
             std::pair(b.position.line, b.position.column);
    };
    llvm::sort(plan.layers, before);
    llvm::sort(plan.parameters, before);
  }

  void add(PlanPosition position, const std::string &text) {
    findings.emplace_back(position, text);
  }

  /// Reports the findings in the order of the file. Returns whether there was
  /// none.
  bool report(PlanReport to) {
    llvm::stable_sort(findings, [](const auto &a, const auto &b) {
      return std::pair(a.first.line, a.first.column) <
             std::pair(b.first.line, b.first.column);
    });
    for (const auto &[position, text] : findings)
      to(position, text);
    return findings.empty();
  }

private:
  using ReadEntry = void (Reader::*)(const KeyPath &, const json::Object &);

  void add(const KeyPath &path, const std::string &text) {
    add(positions.find(path), describe(path) + ": " + text);
  }

  void unknown(const KeyPath &path, ArrayRef<StringRef> known) {
    add(path, "there is no such key; the keys here are " +
                  join(map_range(known, quoted), ", "));
  }

  void wrongKind(const KeyPath &path, const json::Value &value,
                 StringRef expected) {
    add(path, "found " + kindName(value) + ", expected " + expected.str());
  }

  std::optional<StringRef> expectString(const KeyPath &path,
                                        const json::Value &value) {
    std::optional<StringRef> text = value.getAsString();
    if (!text)
      wrongKind(path, value, "a string");
    return text;
  }

  void readVersion(const KeyPath &path, const json::Value &value) {
    std::optional<int64_t> version = value.getAsInteger();
    if (!version)
      wrongKind(path, value, "1");
    else if (*version != 1)
      add(path, "found " + std::to_string(*version) +
                    ", expected 1; this compiler reads no other version");
  }

  void readServers(const KeyPath &path, const json::Value &value) {
    std::optional<int64_t> servers = value.getAsInteger();
    if (!servers)
      return wrongKind(path, value, "a number of ranks");
    if (*servers < 0 || *servers > kMaxRanks)
      return add(path, "found " + std::to_string(*servers) +
                           ", expected a number of ranks from 0 to " +
                           std::to_string(kMaxRanks));
    plan.servers = *servers;
    plan.serversPosition = positions.find(path);
  }

  void readGrid(const KeyPath &path, const json::Value &value) {
    const json::Object *object = value.getAsObject();
    if (!object)
      return wrongKind(path, value, "an object such as {\"pr\": 2, \"pc\": 2}");
    plan.gridPosition = positions.find(path);
    // The library's objects have no order, the grid's axes have one.
    std::vector<std::pair<PlanPosition, StringRef>> ordered;
    bool isSound = true;
    for (const auto &[key, size] : *object) {
      KeyPath keyPath = {path[0], key.str()};
      if (!size.getAsInteger()) {
        wrongKind(keyPath, size, "the size of an axis");
        isSound = false;
      }
      ordered.emplace_back(positions.find(keyPath), key);
    }
    llvm::sort(ordered, [](const auto &a, const auto &b) {
      return std::pair(a.first.line, a.first.column) <
             std::pair(b.first.line, b.first.column);
    });
    if (!isSound)
      return;
    GridText grid;
    for (const auto &[position, key] : ordered)
      grid.axes.emplace_back(key.str(), *object->getInteger(key));
    std::string error = checkGrid(grid, /*ranks=*/0);
    if (grid.axes.empty())
      error = "found no axis, expected one such as {\"data\": 4}";
    if (!error.empty())
      return add(path, error);
    plan.grid = grid;
  }

  /// Calls `read` for the value of every key of an object of objects.
  void forEntries(const KeyPath &path, const json::Value &value,
                  ReadEntry read) {
    const json::Object *object = value.getAsObject();
    if (!object)
      return wrongKind(path, value, "an object");
    for (const auto &[key, entry] : *object) {
      KeyPath keyPath = {path[0], key.str()};
      if (const json::Object *inner = entry.getAsObject())
        (this->*read)(keyPath, *inner);
      else
        wrongKind(keyPath, entry, "an object");
    }
  }

  void readLayer(const KeyPath &path, const json::Object &entry) {
    PlanLayer layer;
    layer.name = path.back();
    layer.position = positions.find(path);
    bool isSplit = false;
    for (const auto &[key, value] : entry) {
      KeyPath keyPath = {path[0], path[1], key.str()};
      if (key == "op") {
        expectString(keyPath, value);
        continue;
      }
      if (key != "split") {
        unknown(keyPath, {"op", "split"});
        continue;
      }
      std::optional<StringRef> text = expectString(keyPath, value);
      if (!text)
        continue;
      std::string error;
      std::optional<SplitItems> items = parseSplit(*text, error);
      if (!items) {
        add(keyPath, error);
        continue;
      }
      layer.items = *items;
      isSplit = true;
    }
    if (isSplit)
      plan.layers.push_back(layer);
    else if (!entry.get("split"))
      add(path, "key 'split' is missing; expected a split such as "
                "\"batch:pc\", or \"whole\"");
  }

  void readParameter(const KeyPath &path, const json::Object &entry) {
    PlanParameter parameter;
    parameter.name = path.back();
    parameter.position = positions.find(path);
    for (const auto &[key, value] : entry) {
      KeyPath keyPath = {path[0], path[1], key.str()};
      if (key == "sync") {
        std::optional<StringRef> text = expectString(keyPath, value);
        std::string error;
        if (text) {
          parameter.sync = parseSync(*text, error);
          if (!parameter.sync)
            add(keyPath, error);
        }
      } else if (key == "axes") {
        readAxes(keyPath, value, parameter);
      } else {
        unknown(keyPath, {"sync", "axes"});
      }
    }
    plan.parameters.push_back(parameter);
  }

  void readAxes(const KeyPath &path, const json::Value &value,
                PlanParameter &parameter) {
    const json::Array *axes = value.getAsArray();
    if (!axes)
      return wrongKind(path, value, "a list of axes");
    for (const json::Value &axis : *axes)
      if (std::optional<StringRef> name = expectString(path, axis))
        parameter.axes.push_back(name->str());
  }

  const KeyPositions &positions;
  PlanText &plan;
  std::vector<std::pair<PlanPosition, std::string>> findings;
};

/// The library's message starts with "[line:column, byte=offset]: ".
void reportSyntax(const std::string &message, PlanReport report) {
  StringRef rest = message;
  PlanPosition position{1, 1};
  if (rest.consume_front("[") && !rest.consumeInteger(10, position.line) &&
      rest.consume_front(":") && !rest.consumeInteger(10, position.column))
    rest = rest.split(": ").second;
  else
    rest = message;
  report(position, "no JSON: " + rest.lower());
}

} // namespace

std::optional<PlanText> partita::plan::parsePlan(StringRef text,
                                                 PlanReport report) {
  if (PlanPosition deep = findTooDeep(text); deep.line) {
    report(deep, "nested deeper than " + std::to_string(kDeepest) +
                     " levels; a plan has five");
    return std::nullopt;
  }
  Expected<json::Value> root = json::parse(text);
  if (!root) {
    reportSyntax(toString(root.takeError()), report);
    return std::nullopt;
  }
  const json::Object *object = root->getAsObject();
  if (!object) {
    report({1, 1}, "found " + kindName(*root) +
                       ", expected a plan: an object "
                       "with a \"version\"");
    return std::nullopt;
  }
  PlanText plan;
  KeyPositions positions(text);
  Reader reader(positions, plan);
  for (const KeyPositions::Entry &entry : positions.getRepeated())
    reader.add(entry.position,
               describe(entry.path) +
                   ": it stands here a second time; the "
                   "first is in line " +
                   std::to_string(positions.find(entry.path).line));
  reader.read(*object);
  if (!reader.report(report))
    return std::nullopt;
  return plan;
}

std::optional<PlanText> partita::plan::readPlanFile(StringRef path,
                                                    PlanReport report) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = MemoryBuffer::getFile(path);
  if (!buffer) {
    report({}, "cannot read the plan: " + buffer.getError().message());
    return std::nullopt;
  }
  if ((*buffer)->getBufferSize() > kMostBytes) {
    report({}, "a plan of " + std::to_string((*buffer)->getBufferSize()) +
                   " bytes; expected at most " + std::to_string(kMostBytes));
    return std::nullopt;
  }
  return parsePlan((*buffer)->getBuffer(), report);
}
