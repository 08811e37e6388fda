//===- RankPrinter.cpp - The RankProgram class of emitted programs --------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// First names and kernels are chosen, then the text is printed.
//
//===----------------------------------------------------------------------===//

#include "codegen/Program/RankPrinter.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace partita::codegen {

std::string describeRanks(ArrayRef<int64_t> ranks) {
  std::string text;
  size_t runs = 0;
  for (size_t i = 0; i < ranks.size(); ++runs) {
    size_t end = i + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1)
      ++end;
    if (runs == 8)
      return "ranks " + text + ", ...";
    text += (text.empty() ? "" : ", ") + std::to_string(ranks[i]);
    if (end - i > 1)
      text += "-" + std::to_string(ranks[end - 1]);
    i = end;
  }
  return (ranks.size() == 1 ? "rank " : "ranks ") + text;
}

static std::string joinNames(ArrayRef<StringRef> names, StringRef separator,
                             size_t most = 4) {
  std::string text;
  for (auto [i, name] : llvm::enumerate(names)) {
    if (i == most)
      return text + " and " + std::to_string(names.size() - most) + " more";
    text += (i ? separator.str() : "") + commentText(name, 60);
  }
  return text;
}

/// What a launch is part of: "forward", "loss", "backward" or "update".
static StringRef sectionOf(spmd::LaunchOp launch) {
  auto section = launch->getAttrOfType<StringAttr>("section");
  return section ? section.getValue() : StringRef("forward");
}

RankPrinter::RankPrinter(const Schedule &schedule, const Group &group,
                         SharedText &shared, const std::string &modelName,
                         const std::string &number)
    : schedule(schedule), group(group), shared(shared), number(number),
      className(modelName + number), typeName("Sizes" + number),
      tableName("kSizes" + number), numbers(group.classes.size()),
      moves(schedule.grid, shared.splits) {
  for (const Phase &phase : group.phases)
    shared.names.reserve(callTable(phase));
}

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

LogicalResult RankPrinter::chooseGenerated() {
  for (const Phase &phase : group.phases) {
    std::vector<Choice> &list = choices[&phase];
    int sites = 0;
    for (const Action &action : phase.actions) {
      list.emplace_back();
      if (isa<spmd::CommunicateOp>(action.op()))
        list.back().site = sites++;
      if (!isa<spmd::LaunchOp>(action.op()))
        continue;
      Launch launch(phase, action);
      if (!GeneratedKernels::generates(launch.kernel()))
        continue;
      FailureOr<GeneratedCall> call =
          shared.generated.add(launch, shared.names);
      if (failed(call))
        return failure();
      list.back().call = std::make_unique<GeneratedCall>(std::move(*call));
    }
  }
  return success();
}

LogicalResult RankPrinter::prepare() {
  // The samples of a rank come first, so that multiples are written by them.
  for (const Phase &phase : group.phases)
    for (const Buffer &buffer : phase.buffers)
      if (buffer.purpose() == spmd::Purpose::input && !buffer.shape.empty())
        numbers.nameSize("batch", buffer.shape.front());
  // Members must not hide the functions that the class calls.
  names = shared.names;
  collectMembers();
  collectCommunicators();
  collectShares();
  for (const Phase &phase : group.phases)
    if (failed(chooseKernels(phase)))
      return failure();
  collectEvents();
  return success();
}

void RankPrinter::collectMembers() {
  std::map<std::string, std::string> known;
  for (const Phase &phase : group.phases)
    for (const Buffer &buffer : phase.buffers) {
      if (buffer.purpose() == spmd::Purpose::temporary || buffer.uses == 0)
        continue;
      // The same buffer in another phase has the same place and shape.
      std::string key;
      llvm::raw_string_ostream os(key);
      os << stringifyPurpose(buffer.purpose()) << '/' << buffer.name();
      for (spmd::BufferOp op : buffer.ops)
        os << '/' << op.getOffset() << '/' << op.getBuffer().getType();
      auto [it, isNew] = known.insert({key, ""});
      if (isNew) {
        StringRef suffix =
            buffer.purpose() == spmd::Purpose::gradient ? "Grad" : "";
        std::string hint = camelCase(buffer.name(), "buffer") + suffix.str();
        it->second = names.make(hint, "buffer");
        members.push_back({&buffer, it->second});
      }
      locals[&buffer] = it->second;
    }
}

void RankPrinter::collectShares() {
  for (const Phase &phase : group.phases)
    for (const Action &action : phase.actions)
      if (action.op()->hasAttr(spmd::kPartsAttr))
        sharesOf(phase, action);
}

/// Whether a value is a parameter's gradient, or is moved to become one.
static bool becomesGradient(const Phase &phase, Value value) {
  if (phase.buffer(value).purpose() == spmd::Purpose::gradient)
    return true;
  return llvm::any_of(phase.actions, [&](const Action &action) {
    auto launch = dyn_cast<spmd::LaunchOp>(action.op());
    return launch && isPartOfMove(launch) && launch.getInputs()[0] == value &&
           phase.buffer(launch.getOutputs()[0]).purpose() ==
               spmd::Purpose::gradient;
  });
}

LogicalResult RankPrinter::chooseKernels(const Phase &phase) {
  for (auto [action, choice] :
       llvm::zip_equal(phase.actions, choices[&phase])) {
    if (isPartOfMove(action.op())) {
      FailureOr<int> move = moves.add(phase, action, names);
      if (failed(move))
        return failure();
      choice.move = *move;
      continue;
    }
    auto op = dyn_cast<spmd::LaunchOp>(action.op());
    if (!op || choice.call)
      continue;
    Launch launch(phase, action);
    FailureOr<LibraryKernel> kernel =
        libraryKernel(launch, numbers, shared.splits);
    if (failed(kernel))
      return failure();
    // Phases share the objects of a layer.
    SmallVector<StringRef> nodes = nodeNames(op.getLoc());
    std::string key =
        kernel->className + "/" + llvm::join(kernel->arguments, ",") + "/" +
        llvm::join(nodes, "/") + "/" + stringifyStream(op.getStream()).str();
    auto [it, isNew] = objectIndex.insert({key, 0});
    if (isNew) {
      std::string suffix = kernel->suffix;
      if (kernel->className == "Matmul" && sectionOf(op) == "backward")
        suffix = becomesGradient(phase, op.getOutputs()[0]) ? "WeightGrad"
                                                            : "InputGrad";
      std::string hint =
          nodes.empty() ? camelCase(kernel->className) : camelCase(nodes[0]);
      it->second = static_cast<int>(objects.size());
      objects.push_back({*kernel, names.make(hint + suffix)});
    }
    choice.object = it->second;
  }
  return success();
}

void RankPrinter::collectEvents() {
  // Events are called after the communication they start or end. Phases reuse
  // the events of the others: they never run at the same time.
  std::map<std::string, std::vector<std::string>> pool;
  for (const Phase &phase : group.phases) {
    std::map<std::string, size_t> used;
    auto give = [&](int64_t event, const std::string &hint) {
      std::string &name = eventNames[{&phase, event}];
      if (!name.empty())
        return;
      std::vector<std::string> &known = pool[hint];
      size_t &next = used[hint];
      if (next == known.size()) {
        known.push_back(names.make(hint, "event"));
        eventList.push_back(known.back());
      }
      name = known[next++];
    };
    // What action `i` waits for and what marks its end.
    auto giveAround = [&](size_t i, spmd::Stream stream,
                          const std::string &before, const std::string &after) {
      for (size_t k = i; k-- > 0;) {
        auto wait = dyn_cast<spmd::WaitOp>(phase.actions[k].op());
        if (!wait || wait.getStream() != stream)
          break;
        give(wait.getEvent(), before);
      }
      // An update may follow on the same stream.
      size_t end = i + 1;
      while (end < phase.actions.size()) {
        auto launch = dyn_cast<spmd::LaunchOp>(phase.actions[end].op());
        if (!launch || launch.getStream() != stream)
          break;
        ++end;
      }
      if (end < phase.actions.size())
        if (auto record = dyn_cast<spmd::RecordOp>(phase.actions[end].op()))
          if (record.getStream() == stream)
            give(record.getEvent(), after);
    };
    for (size_t i = 0; i < phase.actions.size(); ++i) {
      if (auto op = dyn_cast<spmd::CommunicateOp>(phase.actions[i].op())) {
        std::string hint =
            camelCase(op.getLabel().split(':').first, "communication", 32);
        giveAround(i, op.getStream(), hint + "Ready", hint + "Done");
      }
      // Updates of buckets, once nobody reads the old parameters.
      auto launch = dyn_cast<spmd::LaunchOp>(phase.actions[i].op());
      if (!launch || launch.getStream() != spmd::Stream::comm)
        continue;
      SmallVector<StringRef> nodes = nodeNames(launch.getLoc());
      std::string hint = camelCase(
          nodes.empty() ? "" : nodes.front().split(':').first, "launch", 32);
      giveAround(i, launch.getStream(), hint + "Read", hint + "Done");
    }
    for (const Action &action : phase.actions)
      if (auto record = dyn_cast<spmd::RecordOp>(action.op()))
        give(record.getEvent(), "event");
  }
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

/// "[batch = 64 over data, 784]"
std::string RankPrinter::describe(const Buffer &buffer) {
  spmd::BufferOp op = buffer.op();
  auto layout =
      dyn_cast_or_null<dist::LayoutAttr>(op.getLayout().value_or(Attribute()));
  auto global = op.getGlobal() ? dyn_cast<RankedTensorType>(*op.getGlobal())
                               : RankedTensorType();
  SmallVector<Cut, 4> cuts;
  if (layout && global)
    cuts = cutsOf(schedule.grid, layout, global.getShape());
  std::string text;
  for (auto [d, size] : llvm::enumerate(buffer.shape)) {
    text += (d ? ", " : "") + numbers.describe(size);
    if (cuts.size() == buffer.shape.size() && !cuts[d].axes.empty())
      text += " = " + std::to_string(cuts[d].size) + " over " +
              shared.splits.describe(cuts[d]);
  }
  return "[" + text + "]";
}

std::string RankPrinter::declaration(const Buffer &buffer, StringRef name,
                                     bool isMember) {
  std::string type = cType(buffer.elementType);
  // Copies move elements that no kernel computes with.
  if (type.empty())
    type = "std::byte";
  // Temporaries share memory, so that their offsets have no good names.
  std::string hint = isMember ? name.str() + "At" : "t";
  return type + " *" + (isMember ? "const " : "") + name.str() + " = at<" +
         type + ">(" + numbers.offset(buffer.offset, hint) + ");";
}

/// Prints `code` with `comment` behind it, or above it when there is no room.
static void printWithComment(raw_ostream &os, const std::string &code,
                             const std::string &comment, unsigned indent) {
  if (indent + code.size() + 4 + comment.size() <= 80) {
    os.indent(indent) << code << " // " << comment << '\n';
    return;
  }
  printComment(os, comment, indent);
  // A declaration of long names.
  size_t value = code.find(" = ");
  if (indent + code.size() > 80 && value != std::string::npos) {
    os.indent(indent) << code.substr(0, value + 2) << '\n';
    os.indent(indent + 4) << code.substr(value + 3) << '\n';
    return;
  }
  os.indent(indent) << code << '\n';
}

/// What tells two places of memory apart.
static std::string placeOf(const Buffer &buffer) {
  std::string place;
  llvm::raw_string_ostream os(place);
  os << buffer.elementType;
  for (int64_t offset : buffer.offset)
    os << "/" << offset;
  return place;
}

std::string RankPrinter::readName(raw_ostream &os, const Buffer &buffer) {
  auto it = locals.find(&buffer);
  if (it != locals.end())
    return it->second;
  // What is read before it was written is a view of what lies there, as a
  // reshape is.
  auto view = latestAt.find(placeOf(buffer));
  if (view == latestAt.end())
    return declare(os, buffer);
  return locals[&buffer] = view->second;
}

std::string RankPrinter::writtenName(raw_ostream &os, const Buffer &buffer,
                                     spmd::LaunchOp launch) {
  auto it = locals.find(&buffer);
  bool isMember = buffer.purpose() != spmd::Purpose::temporary;
  if (it != locals.end() &&
      (isMember || declaredIn[it->second] == currentSection))
    return it->second;
  auto view = latestAt.find(placeOf(buffer));
  if (view == latestAt.end() || it == locals.end())
    return declare(os, buffer);
  // A gradient takes the place of a value that is not needed any more.
  std::string old = it->second;
  SmallVector<StringRef> nodes = nodeNames(launch.getLoc());
  std::string hint = camelCase(nodes.empty() ? buffer.name() : nodes.back());
  std::string name = localNames.make(hint + "Grad", "Out", "buffer");
  std::string type = cType(buffer.elementType);
  printWithComment(os, type + " *" + name + " = " + old + ";",
                   describe(buffer) + ", in its place", 4);
  declaredIn[name] = currentSection;
  latestAt[placeOf(buffer)] = name;
  return locals[&buffer] = name;
}

std::string RankPrinter::declare(raw_ostream &os, const Buffer &buffer) {
  std::string place = placeOf(buffer);
  // Under the name it had before it is the same.
  std::string key = place + "/" + currentSection + "/" + buffer.name().str();
  std::string &name = localViews[key];
  if (name.empty()) {
    std::string hint = camelCase(buffer.name(), "buffer");
    if (currentSection == "backward" && !StringRef(hint).ends_with("Grad"))
      hint += "Grad";
    name = localNames.make(hint, "Out", "buffer");
    printWithComment(os, declaration(buffer, name, /*isMember=*/false),
                     describe(buffer), 4);
    declaredIn[name] = currentSection;
  }
  latestAt[place] = name;
  return locals[&buffer] = name;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

void RankPrinter::print(raw_ostream &os) {
  std::string phases;
  llvm::raw_string_ostream phaseStream(phases);
  for (const Phase &phase : group.phases) {
    if (&phase != &group.phases.front())
      phaseStream << '\n';
    printPhase(phaseStream, phase);
  }
  printGather(phaseStream);
  std::string memberText;
  llvm::raw_string_ostream memberStream(memberText);
  printMembers(memberStream);
  std::string constructor = "  using RankProgram::RankProgram;\n\n";
  if (moves.hasChecks()) {
    constructor = "  explicit " + className +
                  "(Rank &rank) : RankProgram(rank) {\n"
                  "    // Staging buffers lie in the arena as planned.\n";
    llvm::raw_string_ostream checks(constructor);
    moves.printChecks(checks, numbers);
    checks << "  }\n\n";
  }

  printCalls(os);
  printComment(
      os,
      schedule.isServers(group)
          ? "A server's part of every step: it owns parameters, adds "
            "up the gradients that the ranks of the grid push, updates "
            "what it owns, and lets the ranks fetch it."
          : "One rank's part of every step. Work is issued on two streams: "
            "compute runs the kernels, comm what ranks tell each other. "
            "Each works in order, and waits for points that the other has "
            "recorded.",
      0, "/// ");
  os << "class " << className << " final : public RankProgram {\npublic:\n"
     << constructor << phases << "\nprivate:\n";
  if (!numbers.empty()) {
    os << "  const " << typeName << " &s = " << tableName << "[";
    if (schedule.groups.size() > 1)
      os << "kPlaceInGroup[rank.rankClass]";
    else
      os << "rank.rankClass";
    os << "];\n\n";
  }
  os << memberText << "};\n";
}

void RankPrinter::printNumbers(raw_ostream &os) const {
  if (numbers.empty())
    return;
  std::vector<std::string> classNames;
  for (unsigned c : group.classes) {
    spmd::ClassOp op = schedule.classes[c];
    classNames.push_back("class " + std::to_string(c) + ": " +
                         describeRanks(op.getRanks()));
  }
  numbers.print(os, typeName, tableName, classNames);
  os << '\n';
}

void RankPrinter::printMembers(raw_ostream &os) {
  auto title = [](spmd::Purpose purpose) {
    switch (purpose) {
    case spmd::Purpose::input:
      return "What a step reads.";
    case spmd::Purpose::variable:
      return "What lives from step to step.";
    case spmd::Purpose::gradient:
      return "Gradients, kept until the next step.";
    case spmd::Purpose::bucket:
      return "Neighbouring tensors as one piece.";
    case spmd::Purpose::result:
      return "Results.";
    case spmd::Purpose::temporary:
      break;
    }
    return "";
  };
  spmd::Purpose last = spmd::Purpose::temporary;
  bool isFirst = true;
  // By purpose, in the order of their first use.
  for (auto purpose :
       {spmd::Purpose::input, spmd::Purpose::variable, spmd::Purpose::gradient,
        spmd::Purpose::bucket, spmd::Purpose::result})
    for (const Member &member : members) {
      const Buffer &buffer = *member.buffer;
      if (buffer.purpose() != purpose)
        continue;
      if (purpose != last)
        os << (isFirst ? "" : "\n") << "  // " << title(purpose) << '\n';
      last = purpose;
      isFirst = false;
      std::string comment = describe(buffer);
      if (member.name != buffer.name() && purpose != spmd::Purpose::bucket)
        comment = commentText(buffer.name()) + " " + comment;
      printWithComment(os, declaration(buffer, member.name, /*isMember=*/true),
                       comment, 2);
    }
  if (!communicators.empty()) {
    os << '\n';
    printComment(os,
                 schedule.isServers(group)
                     ? "All ranks make all groups together; servers are in "
                       "those that they serve."
                     : "The ranks that differ from this one along grid axes.",
                 2);
  }
  for (const auto &[key, name] : communicators) {
    std::string args = "{" + key.axes + "}";
    if (key.hasServers && schedule.isServers(group))
      args += ", " + std::to_string(key.group);
    os << "  Communicator &" << name << " = rank."
       << (key.hasServers ? "withServers(" : "communicator(") << args << ");\n";
  }
  if (!shares.empty())
    os << "\n  // What this rank owns of buckets, and the others do.\n";
  for (const SharesMember &each : shares)
    os << "  const Shares " << each.name << "{" << each.communicator << ", "
       << each.elements
       << (each.workers ? ", " + std::to_string(each.workers) : "") << "};\n";
  std::vector<std::string> events;
  for (const std::string &event : eventList)
    events.push_back(event + "{device}");
  if (!events.empty())
    os << "\n  // Points that one stream records and the other waits for.\n";
  if (!events.empty())
    printList(os, "  Event ", events, ";", 8);
  if (!moves.empty())
    os << "\n  // Tensors that change their layout.\n";
  moves.printMembers(os, numbers, [&](ArrayAttr axes) {
    return communicatorOf(CommunicatorKey(axes));
  });
  if (!objects.empty())
    os << "\n  // Kernels of the library, in the order of their first use.\n";
  for (const LibraryObject &object : objects) {
    std::vector<std::string> args = {"device"};
    llvm::append_range(args, object.kernel.arguments);
    std::string head = "  " + object.kernel.className + " " + object.name + "{";
    printList(os, head, args, "};", head.size() < 40 ? head.size() : 6);
  }
}

void RankPrinter::separate(raw_ostream &os) {
  if (!isFirstLine)
    os << '\n';
  isFirstLine = false;
}

void RankPrinter::printSection(raw_ostream &os, StringRef section) {
  if (section == currentSection)
    return;
  currentSection = section.str();
  currentNodes.clear();
  separate(os);
  std::string line = "    // ---- " + commentText(section, 40) + " ";
  os << line << std::string(80 - line.size(), '-') << '\n';
}

/// Says which nodes of the model the next launches compute, and how their
/// layer is split.
void RankPrinter::printNodes(raw_ostream &os, spmd::LaunchOp launch) {
  SmallVector<StringRef> nodes = nodeNames(launch.getLoc());
  if (nodes == currentNodes || nodes.empty())
    return;
  currentNodes = nodes;
  StringRef section = sectionOf(launch);
  std::string text = section == "backward" ? "gradient of " : "";
  text += section == "update" ? commentText(nodes[0], 600)
                              : joinNames(nodes, " + ");
  DictionaryAttr params = launch.getParamsAttr();
  auto split = launch->getAttrOfType<dist::SplitAttr>(dist::kSplitAttr);
  if (!split && params)
    split = dyn_cast_or_null<dist::SplitAttr>(params.get(dist::kSplitAttr));
  if (split) {
    std::string cuts;
    for (auto [dim, axes] : llvm::zip_equal(split.getDims(), split.getAxes()))
      for (auto axis : axes.getAsRange<StringAttr>())
        cuts += (cuts.empty() ? "" : ", ") + commentText(dim.getValue()) +
                " over " + commentText(axis.getValue());
    text += cuts.empty() ? ", whole on every rank" : ", " + cuts;
  }
  separate(os);
  printComment(os, text, 4);
  // The compute stream does not get there.
  if (launch.getStream() == spmd::Stream::compute)
    printLayer(os, launch.getLoc(), section);
}

std::string layerName(Location loc) {
  SmallVector<StringRef> nodes = nodeNames(loc);
  constexpr size_t kMost = 4;
  std::string name;
  for (StringRef node : ArrayRef(nodes).take_front(kMost))
    name += (name.empty() ? "" : " + ") + node.str();
  return nodes.size() > kMost ? name + " + ..." : name;
}

void RankPrinter::printLayer(raw_ostream &os, Location loc, StringRef section) {
  std::vector<std::string> args = {stringLiteral(layerName(loc))};
  if (section != "forward")
    args.push_back(stringLiteral(section));
  printList(os, "    layer(", args, ");", 10);
}

void RankPrinter::printWhy(raw_ostream &os, const Phase &phase,
                           spmd::CommunicateOp op) {
  const Buffer &buffer = phase.buffer(op.getBuffer());
  std::string over = " over";
  for (auto axis : op.getAxes().getAsRange<StringAttr>())
    over += " " + commentText(axis.getValue());
  std::string kind = op.getKind().str();
  std::replace(kind.begin(), kind.end(), '_', ' ');
  if (op->hasAttr(spmd::kServersAttr))
    kind = op.getKind() == "all_gather"
               ? "from the servers to the ranks"
               : "from the ranks to the servers, " +
                     stringifyReduction(op.getReduction()).str();
  bool isNamed = isPartOfMove(op) || op->hasAttr(spmd::kPartsAttr);
  std::string text = isNamed
                         ? commentText(op.getLabel(), 600) + ": " + kind + over
                         : stringifyReduction(op.getReduction()).str() + over +
                               " of " + commentText(op.getLabel(), 600);
  Number elements = buffer.elements();
  if (isSame(ArrayRef<int64_t>(elements)))
    text += " (" +
            std::to_string(elements.front() *
                           (buffer.elementType.getIntOrFloatBitWidth() / 8)) +
            " bytes)";
  separate(os);
  printComment(os, text, 4);
  currentNodes.clear();
}

/// The communication that sends what `launch`, at or behind `action`, packs.
static spmd::CommunicateOp communicationOf(const Phase &phase, size_t action,
                                           spmd::LaunchOp launch) {
  if (launch.getKernel() != "spmd.pack")
    return {};
  for (size_t k = action; k < phase.actions.size(); ++k)
    if (auto op = dyn_cast<spmd::CommunicateOp>(phase.actions[k].op());
        op && op.getBuffer() == launch.getOutputs()[0])
      return op;
  return {};
}

/// The communication that has brought what `launch`, at or behind `action`,
/// unpacks.
static spmd::CommunicateOp arrivalOf(const Phase &phase, size_t action,
                                     spmd::LaunchOp launch) {
  if (launch.getKernel() != "spmd.unpack")
    return {};
  for (size_t k = action; k-- > 0;)
    if (auto op = dyn_cast<spmd::CommunicateOp>(phase.actions[k].op());
        op && op.getBuffer() == launch.getInputs()[1])
      return op;
  return {};
}

void RankPrinter::printPhase(raw_ostream &os, const Phase &phase) {
  // Locals are named after the members, whose names they must not hide.
  localNames = names;
  localViews.clear();
  latestAt.clear();
  declaredIn.clear();
  std::map<const Buffer *, std::string> memberNames = locals;
  printedPreparations.clear();
  currentSection.clear();
  currentNodes.clear();
  isFirstLine = true;

  os << "  void " << phase.name << "() override {\n";
  bool explained = false;
  // The communication that the latest comment is about.
  spmd::CommunicateOp shown;
  for (size_t i = 0; i < phase.actions.size(); ++i) {
    Operation *op = phase.actions[i].op();
    // Records and waits belong to the communication or launch they precede,
    // but a record that marks the end of a communication belongs to that.
    Operation *next = op;
    bool marksEnd = isa<spmd::RecordOp>(op) && i > 0 &&
                    isa<spmd::CommunicateOp>(phase.actions[i - 1].op());
    for (size_t k = i + 1; k < phase.actions.size() && !marksEnd &&
                           isa<spmd::RecordOp, spmd::WaitOp>(next);
         ++k)
      next = phase.actions[k].op();
    if (auto communicate = dyn_cast<spmd::CommunicateOp>(next)) {
      if (!explained)
        printWhy(os, phase, communicate);
      explained = next != op;
      shown = communicate;
    }
    if (auto launch = dyn_cast<spmd::LaunchOp>(next);
        launch && !isa<spmd::RecordOp>(op)) {
      // Updates on the comm stream stand among the backward pass.
      if (phase.name == "step" && launch.getStream() == spmd::Stream::compute)
        printSection(os, sectionOf(launch));
      // A pack begins what the communication behind it is for.
      spmd::CommunicateOp sent = communicationOf(phase, i, launch);
      if (sent && !explained) {
        printWhy(os, phase, sent);
        printLayer(os, launch.getLoc(), sectionOf(launch));
        explained = true;
      } else if (!isPartOfMove(launch) || launch.getKernel() == "spmd.slice") {
        printNodes(os, launch);
        shown = {};
      }
      // What was computed meanwhile stands between the two.
      spmd::CommunicateOp arrived = arrivalOf(phase, i, launch);
      if (arrived && arrived != shown) {
        separate(os);
        printComment(os, commentText(arrived.getLabel(), 600) + ": arrives", 4);
        printLayer(os, launch.getLoc(), sectionOf(launch));
        currentNodes.clear();
        shown = arrived;
      }
    }
    if (choices[&phase][i].move >= 0) {
      printMove(os, phase, i);
      continue;
    }
    if (isa<spmd::LaunchOp>(op))
      printLaunch(os, phase, i);
    if (isa<spmd::CommunicateOp>(op))
      printCommunicate(os, phase, i);
    if (auto record = dyn_cast<spmd::RecordOp>(op))
      os << "    " << stringifyStream(record.getStream()) << ".record("
         << eventNames[{&phase, record.getEvent()}] << ");\n";
    if (auto wait = dyn_cast<spmd::WaitOp>(op))
      os << "    " << stringifyStream(wait.getStream()) << ".wait("
         << eventNames[{&phase, wait.getEvent()}] << ");\n";
  }
  os << "  }\n";
  locals = std::move(memberNames);
}

} // namespace partita::codegen
