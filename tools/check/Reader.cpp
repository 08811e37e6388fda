//===- Reader.cpp - From JSON to a certificate ----------------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every member is asked for by name; one that nobody asked for is refused, so
// that nothing in a certificate goes unchecked by a spelling mistake.
//
//===----------------------------------------------------------------------===//

#include "Certificate.h"
#include "Json.h"

#include <algorithm>

namespace partita::check {

namespace {

constexpr std::int64_t kMaxNumber = std::int64_t(1) << 50;

[[noreturn]] void refuse(const Json &at, const std::string &message) {
  throw Refusal{at.offset, message};
}

const char *nameOf(Json::Kind kind) {
  switch (kind) {
  case Json::Kind::null:
    return "null";
  case Json::Kind::boolean:
    return "a boolean";
  case Json::Kind::number:
    return "a number";
  case Json::Kind::string:
    return "a string";
  case Json::Kind::array:
    return "an array";
  case Json::Kind::object:
    return "an object";
  }
  return "nothing";
}

const Json &require(const Json &value, Json::Kind kind,
                    const std::string &what) {
  if (value.kind != kind)
    refuse(value,
           what + " must be " + nameOf(kind) + ", found " + nameOf(value.kind));
  return value;
}

std::int64_t readNumber(const Json &value, const std::string &what,
                        std::int64_t least = 0) {
  require(value, Json::Kind::number, what);
  if (!value.isInteger || value.integer < least || value.integer > kMaxNumber)
    refuse(value, what + " must be an integer from " + std::to_string(least) +
                      " to 2^50");
  return value.integer;
}

const std::string &readText(const Json &value, const std::string &what) {
  return require(value, Json::Kind::string, what).string;
}

/// An object whose members are taken one by one.
class Members {
public:
  Members(const Json &value, std::string what) : value(value), what(what) {
    require(value, Json::Kind::object, what);
    taken.resize(value.members.size(), false);
  }

  /// Null where there is none.
  const Json *optional(const char *name) {
    for (std::size_t i = 0; i < value.members.size(); ++i)
      if (value.members[i].first == name) {
        taken[i] = true;
        return &value.members[i].second;
      }
    return nullptr;
  }
  const Json &take(const char *name) {
    if (const Json *member = optional(name))
      return *member;
    refuse(value, what + " has no \"" + name + "\"");
  }
  std::int64_t number(const char *name, std::int64_t least = 0) {
    return readNumber(take(name), text(name), least);
  }
  std::int64_t numberOr(const char *name, std::int64_t otherwise,
                        std::int64_t least = 0) {
    const Json *member = optional(name);
    return member ? readNumber(*member, text(name), least) : otherwise;
  }
  std::string string(const char *name) {
    return readText(take(name), text(name));
  }
  std::string stringOr(const char *name, const char *otherwise) {
    const Json *member = optional(name);
    return member ? readText(*member, text(name)) : otherwise;
  }
  bool flag(const char *name) {
    const Json *member = optional(name);
    return member && require(*member, Json::Kind::boolean, text(name)).boolean;
  }
  const std::vector<Json> &list(const char *name) {
    return require(take(name), Json::Kind::array, text(name)).elements;
  }
  /// Empty where there is none.
  const std::vector<Json> &listOr(const char *name) {
    static const std::vector<Json> none;
    const Json *member = optional(name);
    return member ? require(*member, Json::Kind::array, text(name)).elements
                  : none;
  }
  void finish() const {
    for (std::size_t i = 0; i < taken.size(); ++i)
      if (!taken[i])
        refuse(value.members[i].second, what + " has no member \"" +
                                            value.members[i].first +
                                            "\" in this version of the format");
  }
  std::string text(const char *name) const {
    return std::string("\"") + name + "\" of " + what;
  }

private:
  const Json &value;
  std::string what;
  std::vector<bool> taken;
};

class Reader {
public:
  Certificate read(const Json &root) {
    Members members(root, "the certificate");
    std::string format = members.string("format");
    if (format != "partita-certificate")
      refuse(members.take("format"),
             "the format is \"" + format +
                 "\", expected \"partita-certificate\"");
    std::int64_t version = members.number("version");
    if (version != 1)
      refuse(members.take("version"), "the format's version is " +
                                          std::to_string(version) +
                                          ", this checker reads version 1");
    certificate.program = members.string("program");
    for (const char *name : {"model", "loss", "optimizer", "semantics"})
      members.stringOr(name, "");
    certificate.batch = members.number("batch");
    readGrid(members);
    for (const Json &entry : members.list("parameters"))
      readParameter(entry);
    for (const Json &entry : members.list("tables"))
      readTable(entry);
    for (const Json &entry : members.list("classes"))
      readClass(entry);
    members.finish();
    return std::move(certificate);
  }

private:
  void readGrid(Members &members) {
    std::int64_t ranks = 1;
    for (const Json &entry : members.list("grid")) {
      require(entry, Json::Kind::array, "an axis");
      if (entry.elements.size() != 2)
        refuse(entry, "an axis must be [name, size]");
      Axis axis;
      axis.name = readText(entry.elements[0], "the name of an axis");
      axis.size = readNumber(entry.elements[1], "the size of an axis", 1);
      for (const Axis &other : certificate.grid)
        if (other.name == axis.name)
          refuse(entry, "axis \"" + axis.name + "\" is given twice");
      if (axis.size > kMaxRanks || ranks * axis.size > kMaxRanks)
        refuse(entry, "the grid has more than " + std::to_string(kMaxRanks) +
                          " ranks");
      ranks *= axis.size;
      certificate.grid.push_back(axis);
      if (certificate.grid.size() > kMaxAxes)
        refuse(entry, "the grid has more than 31 axes");
    }
    certificate.servers = members.number("servers");
    if (ranks + certificate.servers > kMaxRanks)
      refuse(members.take("servers"),
             "there are more than " + std::to_string(kMaxRanks) + " ranks");
  }

  int readAxis(const Json &value) {
    const std::string &name = readText(value, "an axis");
    for (std::size_t i = 0; i < certificate.grid.size(); ++i)
      if (certificate.grid[i].name == name)
        return static_cast<int>(i);
    refuse(value, "the grid has no axis \"" + name + "\"");
  }

  AxisSet readAxes(const std::vector<Json> &list) {
    AxisSet axes = 0;
    for (const Json &entry : list) {
      AxisSet bit = AxisSet(1) << readAxis(entry);
      if (axes & bit)
        refuse(entry, "axis \"" + entry.string + "\" is named twice");
      axes |= bit;
    }
    return axes;
  }

  std::string readType(Members &members, const char *name) {
    std::string type = members.string(name);
    if (widthOf(type) == 0)
      refuse(members.take(name), "unknown element type \"" + type + "\"");
    return type;
  }

  Reduction readReduction(const Json *value) {
    if (!value)
      return Reduction::none;
    const std::string &name = readText(*value, "a reduction");
    for (Reduction each :
         {Reduction::sum, Reduction::max, Reduction::min, Reduction::prod})
      if (name == check::nameOf(each))
        return each;
    refuse(*value, "unknown reduction \"" + name +
                       "\"; expected sum, max, min or prod");
  }

  /// Pairs and more of integers: [[first, last], ...].
  std::vector<std::int64_t> readTuple(const Json &value, std::size_t least,
                                      std::size_t most, const std::string &what,
                                      std::int64_t smallest = 0) {
    require(value, Json::Kind::array, what);
    if (value.elements.size() < least || value.elements.size() > most)
      refuse(value, what + " must have " + std::to_string(least) +
                        (most > least ? " to " + std::to_string(most) : "") +
                        " numbers");
    std::vector<std::int64_t> numbers;
    for (const Json &entry : value.elements)
      numbers.push_back(readNumber(entry, what, smallest));
    return numbers;
  }

  RankSet readRanks(const std::vector<Json> &list) {
    RankSet ranks;
    std::int64_t count = 0;
    for (const Json &entry : list) {
      auto numbers = readTuple(entry, 2, 3, "ranks [first, last, step]");
      RankRange range{numbers[0], numbers[1],
                      numbers.size() == 3 ? numbers[2] : 1};
      if (range.step < 1 || range.last < range.first ||
          (range.last - range.first) % range.step != 0)
        refuse(entry, "ranks [first, last, step] must go from first to last "
                      "in whole steps");
      if (range.last >= certificate.allRanks())
        refuse(entry, "rank " + std::to_string(range.last) +
                          " is none of the " +
                          std::to_string(certificate.allRanks()) + " ranks");
      count += (range.last - range.first) / range.step + 1;
      if (count > certificate.allRanks())
        refuse(entry, "more ranks are listed than there are");
      ranks.push_back(range);
    }
    return ranks;
  }

  Parts readParts(const std::vector<Json> &list) {
    Parts parts;
    std::int64_t members = 0;
    for (const Json &entry : list) {
      auto numbers = readTuple(entry, 2, 2, "parts [elements, members]");
      if (numbers[1] < 1 || (members += numbers[1]) > kMaxRanks)
        refuse(entry, "parts of no or too many members");
      // One spelling for equal parts.
      if (!parts.empty() && parts.back().elements == numbers[0])
        parts.back().times += numbers[1];
      else
        parts.push_back({numbers[0], numbers[1]});
    }
    return parts;
  }

  Bytes readBytes(const Json &value, const std::string &what) {
    auto numbers = readTuple(value, 2, 2, what + " [offset, bytes]");
    return {numbers[0], numbers[0] + numbers[1]};
  }

  void readParameter(const Json &value) {
    Members members(value, "a parameter");
    Parameter parameter;
    parameter.name = members.string("name");
    parameter.type = readType(members, "type");
    std::int64_t elements = 1;
    for (const Json &size : members.list("shape")) {
      parameter.shape.push_back(readNumber(size, "a size"));
      if (parameter.shape.back() > 0 &&
          elements > kMaxNumber / parameter.shape.back())
        refuse(size, "the parameter has more than 2^50 elements");
      elements *= parameter.shape.back();
    }
    parameter.partial = readAxes(members.list("partial"));
    for (const Json &entry : members.list("cut"))
      parameter.cut.push_back(readCut(entry));
    if (parameter.cut.size() != parameter.shape.size())
      refuse(members.take("cut"), "\"cut\" must have one entry per dimension");
    members.finish();
    certificate.parameters.push_back(std::move(parameter));
  }

  DimCut readCut(const Json &value) {
    DimCut cut;
    Members members(value, "the cut of a dimension");
    std::int64_t parts = 1;
    AxisSet seen = 0;
    for (const Json &axis : members.listOr("axes")) {
      int index = readAxis(axis);
      if (seen >> index & 1)
        refuse(axis, "axis \"" + axis.string + "\" cuts the dimension twice");
      seen |= AxisSet(1) << index;
      cut.axes.push_back(index);
      parts *= certificate.grid[index].size;
    }
    for (const Json &range : members.listOr("ranges")) {
      auto numbers = readTuple(range, 2, 2, "a range [begin, end]");
      cut.ranges.push_back({numbers[0], numbers[1]});
    }
    std::int64_t expected = cut.axes.empty() ? 0 : parts;
    if (static_cast<std::int64_t>(cut.ranges.size()) != expected)
      refuse(value, "expected " + std::to_string(expected) +
                        " ranges, one per part, found " +
                        std::to_string(cut.ranges.size()));
    members.finish();
    return cut;
  }

  std::vector<MessageRun> readMessages(const std::vector<Json> &list) {
    std::vector<MessageRun> runs;
    std::int64_t total = 0;
    for (const Json &entry : list) {
      auto numbers = readTuple(
          entry, 4, 4, "messages [delta, stride, count, elements]", -kMaxRanks);
      MessageRun run{numbers[0], numbers[1], numbers[2], numbers[3]};
      if (run.count < 1 || run.count > kMaxRanks || run.elements < 1 ||
          run.stride > kMaxRanks || run.delta > kMaxRanks)
        refuse(entry, "messages [delta, stride, count, elements] need a count "
                      "and a size of at least 1");
      if (run.elements > (kMaxNumber - total) / run.count)
        refuse(entry, "messages have more than 2^50 elements");
      total += run.count * run.elements;
      runs.push_back(run);
    }
    return runs;
  }

  void readTable(const Json &value) {
    Members members(value, "a table");
    Table table;
    std::int64_t ranks = 0;
    const Json *parts = members.optional("parts");
    table.isParts = parts != nullptr;
    const std::vector<Json> &entries =
        parts ? members.list("parts") : members.list("messages");
    for (const Json &entry : entries) {
      Members fields(entry, "an entry of a table");
      TableEntry row;
      row.ranks = readRanks(fields.list("ranks"));
      for (const RankRange &range : row.ranks)
        ranks += (range.last - range.first) / range.step + 1;
      if (ranks > certificate.allRanks())
        refuse(entry, "the table lists more ranks than there are");
      if (table.isParts) {
        row.parts = readParts(fields.list("parts"));
      } else {
        row.own = fields.numberOr("own", 0);
        row.sends = readMessages(fields.listOr("send"));
        row.receives = readMessages(fields.listOr("receive"));
      }
      fields.finish();
      table.entries.push_back(std::move(row));
    }
    members.finish();
    certificate.tables.push_back(std::move(table));
  }

  void readClass(const Json &value) {
    Members members(value, "a class");
    RankClass result;
    result.name = members.string("name");
    for (const RankClass &other : certificate.classes)
      if (other.name == result.name)
        refuse(value, "class \"" + result.name + "\" is given twice");
    result.ranks = readRanks(members.list("ranks"));
    result.isServers = members.flag("servers");
    result.arena = members.number("arena");
    result.persistent = members.number("persistent");
    for (const Json &entry : members.list("phases"))
      readPhase(entry, result);
    for (const Json &entry : members.list("parameters"))
      readUse(entry, result);
    members.finish();
    certificate.classes.push_back(std::move(result));
  }

  void readUse(const Json &value, RankClass &to) {
    Members members(value, "a class's parameter");
    ParameterUse use;
    use.parameter = readIndex(members.take("parameter"), "parameter",
                              certificate.parameters.size());
    use.group = members.numberOr("group", 0);
    if (use.group > 0 && !to.isServers)
      refuse(members.take("group"), "\"group\" belongs to servers");
    use.value = readBytes(members.take("value"), "the value");
    use.gradient = readBytes(members.take("gradient"), "the gradient");
    for (const Json &state : members.listOr("states"))
      use.states.push_back(readBytes(state, "a state"));
    const Phase *step = to.findPhase("step");
    std::size_t calls = step ? step->calls.size() : 0;
    for (const Json &call : members.listOr("calls"))
      use.calls.push_back(readIndex(call, "call", calls));
    for (const Json &call : members.listOr("fetches"))
      use.fetches.push_back(readIndex(call, "call", calls));
    if (const Json *update = members.optional("update"))
      use.update =
          readIndex(*update, "action", step ? step->actions.size() : 0);
    members.finish();
    to.parameters.push_back(std::move(use));
  }

  int readIndex(const Json &value, const std::string &what, std::size_t size) {
    std::int64_t index = readNumber(value, "the number of a " + what);
    if (static_cast<std::size_t>(index) >= size)
      refuse(value, "there is no " + what + " " + std::to_string(index) +
                        ", there are " + std::to_string(size));
    return static_cast<int>(index);
  }

  void readPhase(const Json &value, RankClass &to) {
    Members members(value, "a phase");
    Phase phase;
    phase.name = members.string("phase");
    if (to.findPhase(phase.name))
      refuse(value, "phase \"" + phase.name + "\" is given twice");
    for (const Json &entry : members.list("inputs")) {
      Members fields(entry, "an input");
      InputShare share;
      share.name = fields.string("name");
      share.samples = fields.number("samples");
      share.axes = readAxes(fields.list("axes"));
      fields.finish();
      phase.inputs.push_back(std::move(share));
    }
    for (const Json &entry : members.list("buffers"))
      readBuffer(entry, phase);
    for (const Json &entry : members.list("actions"))
      readAction(entry, phase);
    for (const Action &action : phase.actions)
      if (action.ofCall >= static_cast<int>(phase.calls.size()))
        refuse(value, "a launch belongs to call " +
                          std::to_string(action.ofCall) + " of a phase with " +
                          std::to_string(phase.calls.size()) + " calls");
    members.finish();
    to.phases.push_back(std::move(phase));
  }

  void readBuffer(const Json &value, Phase &phase) {
    Members members(value, "a buffer");
    Buffer buffer;
    buffer.name = members.string("name");
    std::string purpose = members.string("purpose");
    const char *const names[] = {"input",  "variable", "gradient",
                                 "bucket", "result",   "temporary"};
    auto found = std::find(std::begin(names), std::end(names), purpose);
    if (found == std::end(names))
      refuse(members.take("purpose"), "unknown purpose \"" + purpose + "\"");
    buffer.purpose = static_cast<Purpose>(found - std::begin(names));
    buffer.type = readType(members, "type");
    buffer.count = members.number("count");
    if (buffer.count > kMaxNumber / 8)
      refuse(members.take("count"), "the buffer is too large");
    buffer.bytes.begin = members.number("at");
    buffer.bytes.end = buffer.bytes.begin + buffer.count * widthOf(buffer.type);
    buffer.neutral = readReduction(members.optional("neutral"));
    members.finish();
    phase.buffers.push_back(std::move(buffer));
  }

  void readAction(const Json &value, Phase &phase) {
    Members members(value, "an action");
    Action action;
    if (members.optional("launch"))
      readLaunch(members, phase, action);
    else if (members.optional("call"))
      readCall(members, phase, action);
    else if (members.optional("record"))
      action.kind = ActionKind::record, action.event = members.number("record");
    else if (members.optional("wait"))
      action.kind = ActionKind::wait, action.event = members.number("wait"),
      action.isPrevious = members.flag("previous");
    else
      refuse(value, "an action must be a \"launch\", a \"call\", a \"record\" "
                    "or a \"wait\"");
    std::string stream = members.string("stream");
    if (stream != "compute" && stream != "comm")
      refuse(members.take("stream"),
             "unknown stream \"" + stream + "\"; expected compute or comm");
    action.stream = stream == "comm";
    members.finish();
    if (action.kind == ActionKind::call)
      phase.calls.push_back(static_cast<int>(phase.actions.size()));
    phase.actions.push_back(std::move(action));
  }

  void readLaunch(Members &members, const Phase &phase, Action &action) {
    action.name = members.string("launch");
    action.layer = members.stringOr("layer", "");
    for (const Json &entry : members.list("reads"))
      action.reads.push_back(readIndex(entry, "buffer", phase.buffers.size()));
    for (const Json &entry : members.list("writes"))
      action.writes.push_back(readIndex(entry, "buffer", phase.buffers.size()));
    for (const Json &entry : members.listOr("partial"))
      action.partial.push_back(
          readAxes(require(entry, Json::Kind::array, "axes of a partial result")
                       .elements));
    if (!action.partial.empty() &&
        action.partial.size() != action.writes.size())
      refuse(members.take("partial"),
             "\"partial\" must have one entry per write");
    action.partialBy = readReduction(members.optional("by"));
    if (action.partial.empty() != (action.partialBy == Reduction::none))
      refuse(members.take("launch"), "\"partial\" and \"by\" go together");
    action.isLinear = members.flag("linear");
    action.neutral = readReduction(members.optional("neutral"));
    if (action.neutral != Reduction::none && !action.reads.empty())
      refuse(members.take("neutral"), "a launch that fills reads nothing");
    action.ofCall = static_cast<int>(members.numberOr("move", -1));
    if (const Json *mean = members.optional("mean")) {
      Members fields(*mean, "\"mean\" of an action");
      action.terms = fields.number("terms");
      const Json &scale = fields.take("scale");
      action.scale = require(scale, Json::Kind::number, "\"scale\"").number;
      action.over = readAxes(fields.list("over"));
      fields.finish();
    }
    action.axes = readAxes(members.listOr("axes"));
    readServers(members, action);
    action.parts = readParts(members.listOr("parts"));
  }

  void readServers(Members &members, Action &action) {
    action.servers = members.numberOr("servers", 0);
    action.group = members.numberOr("group", 0);
    if (action.group > 0 && action.servers == 0)
      refuse(members.take("group"),
             "\"group\" belongs to actions with \"servers\"");
  }

  void readCall(Members &members, const Phase &phase, Action &action) {
    action.kind = ActionKind::call;
    action.index = static_cast<int>(members.number("call"));
    if (action.index != static_cast<int>(phase.calls.size()))
      refuse(members.take("call"), "calls are numbered in order, expected " +
                                       std::to_string(phase.calls.size()));
    action.name = members.string("kind");
    const char *const kinds[] = {"all_reduce", "reduce_scatter", "all_gather",
                                 "all_to_all", "halo_exchange",  "exchange"};
    if (std::find(std::begin(kinds), std::end(kinds), action.name) ==
        std::end(kinds))
      refuse(members.take("kind"), "unknown kind \"" + action.name + "\"");
    action.label = members.string("label");
    action.layer = members.stringOr("layer", "");
    action.axes = readAxes(members.list("axes"));
    readServers(members, action);
    action.algorithm = members.stringOr("algorithm", "");
    action.reduction = readReduction(members.optional("reduction"));
    bool reduces =
        action.name == "all_reduce" || action.name == "reduce_scatter";
    if (reduces && action.reduction == Reduction::none)
      refuse(members.take("kind"), action.name + " needs a \"reduction\"");
    action.type = readType(members, "type");
    action.count = members.number("count");
    action.buffer =
        readIndex(members.take("buffer"), "buffer", phase.buffers.size());
    if (const Json *table = members.optional("table"))
      action.table = readIndex(*table, "table", certificate.tables.size());
    action.parts = readParts(members.listOr("parts"));
    bool isReduce = action.name == "all_reduce";
    bool hasBoth = action.table >= 0 && !action.parts.empty();
    bool hasNone = action.table < 0 && action.parts.empty();
    if (hasBoth || isReduce != hasNone)
      refuse(members.take("kind"),
             isReduce ? "all_reduce has neither \"table\" nor \"parts\""
                      : action.name + " needs a \"table\" or \"parts\"");
    if (action.table >= 0 && certificate.tables[action.table].isParts !=
                                 (reduces || action.name == "all_gather"))
      refuse(members.take("table"), "table " + std::to_string(action.table) +
                                        " is not of the kind that " +
                                        action.name + " needs");
  }

  Certificate certificate;
};

} // namespace

Certificate readCertificate(const std::string &text) {
  Json root = parseJson(text);
  return Reader().read(root);
}

} // namespace partita::check
