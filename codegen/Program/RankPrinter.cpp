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

static bool isUpdate(StringRef kernel) {
  return kernel == "nn.sgd" || kernel == "nn.adam";
}

RankPrinter::RankPrinter(const Schedule &schedule, const Group &group,
                         SharedText &shared, std::string className,
                         std::string typeName, std::string tableName)
    : schedule(schedule), group(group), shared(shared),
      className(std::move(className)), typeName(std::move(typeName)),
      tableName(std::move(tableName)), numbers(group.classes.size()) {}

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

LogicalResult RankPrinter::prepare() {
  // The samples of a rank come first, so that multiples are written by them.
  for (const Phase &phase : group.phases)
    for (const Buffer &buffer : phase.buffers)
      if (buffer.purpose() == spmd::Purpose::input && !buffer.shape.empty())
        numbers.nameSize("batch", buffer.shape.front());

  for (const Phase &phase : group.phases) {
    // The loss is what has the names of the launch that writes it; what
    // comes after it, or computes a gradient, is the backward pass.
    size_t count = phase.actions.size();
    size_t loss = count, backward = count, update = count;
    SmallVector<StringRef> lossNames;
    for (size_t i = 0; i < count; ++i) {
      auto launch = dyn_cast<spmd::LaunchOp>(phase.actions[i].op());
      if (!launch || phase.name != "step")
        continue;
      StringRef kernel = launch.getKernel();
      bool writesLoss = false, writesGradient = false;
      for (Value output : launch.getOutputs()) {
        spmd::Purpose purpose = phase.buffer(output).purpose();
        writesLoss |= purpose == spmd::Purpose::result;
        writesGradient |= purpose == spmd::Purpose::gradient;
      }
      if (isUpdate(kernel)) {
        update = std::min(update, i);
      } else if (kernel.ends_with("_grad") || writesGradient) {
        backward = std::min(backward, i);
      } else if (writesLoss && backward == count) {
        lossNames = nodeNames(launch.getLoc());
        loss = i;
      }
    }
    for (size_t i = 0; i < loss && i < count; ++i)
      if (auto launch = dyn_cast<spmd::LaunchOp>(phase.actions[i].op()))
        if (llvm::equal(nodeNames(launch.getLoc()), lossNames) &&
            !lossNames.empty())
          loss = i;
    borders[&phase] = {std::min(loss, backward), backward, update};
  }

  collectMembers();
  for (const Phase &phase : group.phases)
    if (failed(chooseKernels(phase)))
      return failure();
  collectEvents();
  return success();
}

RankPrinter::Section RankPrinter::sectionOf(const Phase &phase,
                                            size_t action) const {
  const auto &[loss, backward, update] = borders.at(&phase);
  if (phase.name != "step")
    return Section::none;
  auto launch = dyn_cast<spmd::LaunchOp>(phase.actions[action].op());
  if (launch && isUpdate(launch.getKernel()))
    return Section::update;
  return action >= backward ? Section::backward
         : action >= loss   ? Section::loss
                            : Section::forward;
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

LogicalResult RankPrinter::chooseKernels(const Phase &phase) {
  std::vector<Choice> &list = choices[&phase];
  for (auto [index, action] : llvm::enumerate(phase.actions)) {
    Choice choice;
    if (auto op = dyn_cast<spmd::CommunicateOp>(action.op())) {
      std::string key, hint;
      for (auto axis : op.getAxes().getAsRange<StringAttr>()) {
        key += (key.empty() ? "" : ", ") + stringLiteral(axis.getValue());
        hint += hint.empty() ? camelCase(axis.getValue())
                             : typeCase(axis.getValue());
      }
      auto [it, isNew] = communicators.insert({key, ""});
      if (isNew) {
        it->second = names.make(hint + "Ranks");
        communicatorList.emplace_back(key, it->second);
      }
    }
    if (auto op = dyn_cast<spmd::LaunchOp>(action.op())) {
      Launch launch(phase, action);
      if (GeneratedKernels::generates(launch.kernel())) {
        FailureOr<GeneratedCall> call =
            shared.generated.add(launch, shared.names);
        if (failed(call))
          return failure();
        choice.call = std::make_unique<GeneratedCall>(std::move(*call));
        list.push_back(std::move(choice));
        continue;
      }
      FailureOr<LibraryKernel> kernel =
          libraryKernel(launch, numbers, shared.splits);
      if (failed(kernel))
        return failure();
      // Phases share the objects of a layer.
      SmallVector<StringRef> nodes = nodeNames(op.getLoc());
      std::string key = kernel->className + "/" +
                        llvm::join(kernel->arguments, ",") + "/" +
                        llvm::join(nodes, "/") + "/" + kernel->suffix +
                        stringifyStream(op.getStream()).str();
      auto [it, isNew] = objectIndex.insert({key, 0});
      if (isNew) {
        std::string suffix = kernel->suffix;
        if (kernel->className == "Matmul" && phase.name == "step" &&
            sectionOf(phase, index) == Section::backward)
          suffix = launch.output(0).purpose() == spmd::Purpose::gradient
                       ? "WeightGrad"
                       : "InputGrad";
        std::string hint =
            camelCase(nodes.empty() ? StringRef(kernel->className) : nodes[0]) +
            suffix;
        it->second = static_cast<int>(objects.size());
        objects.push_back({*kernel, names.make(hint), joinNames(nodes, " + "),
                           op.getStream()});
      }
      choice.object = it->second;
    }
    list.push_back(std::move(choice));
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
    for (size_t i = 0; i < phase.actions.size(); ++i) {
      auto op = dyn_cast<spmd::CommunicateOp>(phase.actions[i].op());
      if (!op)
        continue;
      std::string hint =
          camelCase(op.getLabel().split(':').first, "communication");
      for (size_t k = i; k-- > 0;) {
        auto wait = dyn_cast<spmd::WaitOp>(phase.actions[k].op());
        if (!wait || wait.getStream() != op.getStream())
          break;
        give(wait.getEvent(), hint + "Ready");
      }
      if (i + 1 < phase.actions.size())
        if (auto record = dyn_cast<spmd::RecordOp>(phase.actions[i + 1].op()))
          if (record.getStream() == op.getStream())
            give(record.getEvent(), hint + "Done");
    }
    for (const Action &action : phase.actions)
      if (auto record = dyn_cast<spmd::RecordOp>(action.op()))
        give(record.getEvent(), "event");
  }
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

std::string RankPrinter::streamName(spmd::Stream stream) const {
  return stringifyStream(stream).str();
}

/// "[batch, 784], cut over data"
std::string RankPrinter::describe(const Buffer &buffer) {
  std::string text;
  for (const Number &size : buffer.shape)
    text += (text.empty() ? "" : ", ") + numbers.describe(size);
  text = "[" + text + "]";
  spmd::BufferOp op = buffer.op();
  auto layout =
      dyn_cast_or_null<dist::LayoutAttr>(op.getLayout().value_or(Attribute()));
  auto global = op.getGlobal() ? dyn_cast<RankedTensorType>(*op.getGlobal())
                               : RankedTensorType();
  if (!layout || !global)
    return text;
  std::string cuts;
  SmallVector<Cut, 4> list = cutsOf(schedule.grid, layout, global.getShape());
  for (auto [d, cut] : llvm::enumerate(list))
    if (!cut.axes.empty())
      cuts += (cuts.empty() ? "" : "; ") + std::string("dimension ") +
              std::to_string(d) + " of " + std::to_string(cut.size) + " over " +
              shared.splits.describe(cut);
  return cuts.empty() ? text : text + ", " + cuts;
}

std::string RankPrinter::declaration(const Buffer &buffer, StringRef name,
                                     bool isMember) {
  std::string type = cType(buffer.elementType);
  // Copies move elements that no kernel computes with.
  if (type.empty())
    type = "std::byte";
  std::string hint = name.str() + "At";
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
  os.indent(indent) << code << '\n';
}

std::string RankPrinter::nameOf(raw_ostream &os, const Buffer &buffer) {
  auto it = locals.find(&buffer);
  if (it != locals.end())
    return it->second;
  std::string name = localNames.make(buffer.name(), "Out", "buffer");
  locals[&buffer] = name;
  printWithComment(os, declaration(buffer, name, /*isMember=*/false),
                   describe(buffer), 4);
  return name;
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
  std::string memberText;
  llvm::raw_string_ostream memberStream(memberText);
  printMembers(memberStream);

  os << "/// One rank's part of every step.\n"
     << "class " << className << " final : public RankProgram {\npublic:\n"
     << "  using RankProgram::RankProgram;\n\n"
     << phases << "\nprivate:\n";
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
  os << "  // Buffers that other steps or phases use, too.\n";
  spmd::Purpose last = spmd::Purpose::temporary;
  for (const Member &member : members) {
    const Buffer &buffer = *member.buffer;
    if (buffer.purpose() != last) {
      last = buffer.purpose();
      os << "  // " << stringifyPurpose(last) << ":\n";
    }
    std::string comment = describe(buffer);
    if (member.name != buffer.name())
      comment = commentText(buffer.name()) + " " + comment;
    printWithComment(os, declaration(buffer, member.name, /*isMember=*/true),
                     comment, 2);
  }
  if (!communicatorList.empty())
    os << "\n  // The ranks this one communicates with, by grid axes.\n";
  for (const auto &[axes, name] : communicatorList)
    os << "  Communicator &" << name << " = rank.communicator({" << axes
       << "});\n";
  if (!eventList.empty())
    os << '\n';
  for (const std::string &event : eventList)
    os << "  Event " << event << "{device};\n";
  if (!objects.empty())
    os << "\n  // Kernels of the library.\n";
  for (const LibraryObject &object : objects) {
    std::vector<std::string> args = {"device"};
    llvm::append_range(args, object.kernel.arguments);
    printList(os, "  " + object.kernel.className + " " + object.name + "{",
              args, "};", 6);
  }
}

void RankPrinter::printPhase(raw_ostream &os, const Phase &phase) {
  constexpr const char *titles[] = {"", "forward", "loss", "backward",
                                    "update"};
  // Locals are named after the members, whose names they must not hide.
  localNames = names;
  std::map<const Buffer *, std::string> memberNames = locals;
  printedPreparations.clear();

  os << "  void " << phase.name << "() override {\n";
  Section section = Section::none;
  SmallVector<StringRef> nodes;
  for (size_t i = 0; i < phase.actions.size(); ++i) {
    Operation *op = phase.actions[i].op();
    if (auto launch = dyn_cast<spmd::LaunchOp>(op)) {
      Section own = sectionOf(phase, i);
      bool entered = own > section;
      if (entered) {
        section = own;
        std::string title =
            std::string("    // ---- ") + titles[static_cast<int>(own)] + " ";
        os << (i ? "\n" : "") << title << std::string(80 - title.size(), '-')
           << "\n";
        nodes.clear();
      }
      SmallVector<StringRef> own_nodes = nodeNames(launch.getLoc());
      if (own_nodes != nodes && !own_nodes.empty()) {
        nodes = own_nodes;
        std::string text = section == Section::backward ? "gradient of " : "";
        text += joinNames(nodes, " + ");
        if (auto split =
                launch->getAttrOfType<dist::SplitAttr>(dist::kSplitAttr)) {
          std::string cut;
          for (auto [dim, axes] :
               llvm::zip_equal(split.getDims(), split.getAxes()))
            for (auto axis : axes.getAsRange<StringAttr>())
              cut += (cut.empty() ? "" : ", ") + commentText(dim.getValue()) +
                     " over " + commentText(axis.getValue());
          text += cut.empty() ? ": whole on every rank" : ": " + cut;
        }
        os << '\n';
        printComment(os, text, 4);
      }
      printLaunch(os, phase, i);
      continue;
    }
    if (isa<spmd::CommunicateOp>(op)) {
      printCommunicate(os, phase, i);
      continue;
    }
    if (auto record = dyn_cast<spmd::RecordOp>(op))
      os << "    " << streamName(record.getStream()) << ".record("
         << eventNames[{&phase, record.getEvent()}] << ");\n";
    if (auto wait = dyn_cast<spmd::WaitOp>(op))
      os << "    " << streamName(wait.getStream()) << ".wait("
         << eventNames[{&phase, wait.getEvent()}] << ");\n";
  }
  os << "  }\n";
  locals = std::move(memberNames);
}

void RankPrinter::printLaunch(raw_ostream &os, const Phase &phase,
                              size_t action) {
  Launch launch(phase, phase.actions[action]);
  const Choice &choice = choices[&phase][action];
  std::vector<std::string> args = {streamName(launch.op().getStream())};
  std::string callee;
  if (choice.call) {
    const GeneratedCall &call = *choice.call;
    callee = call.kernel->name;
    for (const Number &size : call.sizes)
      args.push_back(numbers.size(size));
    llvm::append_range(args, call.scalars);
    for (const Buffer *buffer : call.buffers)
      args.push_back(nameOf(os, *buffer));
    if (!call.preparation.empty() &&
        printedPreparations.insert(llvm::join(call.preparation, "\n")).second)
      for (const std::string &line : call.preparation)
        os << "    " << line << '\n';
  } else {
    callee = objects[choice.object].name;
    llvm::append_range(
        args, callArguments(launch, numbers, [&](const Buffer &buffer) {
          return nameOf(os, buffer);
        }));
  }
  printList(os, "    " + callee + "(", args, ");", 8);
}

void RankPrinter::printCommunicate(raw_ostream &os, const Phase &phase,
                                   size_t action) {
  auto op = cast<spmd::CommunicateOp>(phase.actions[action].op());
  const Buffer &buffer = phase.buffer(op.getBuffer());
  std::string key;
  for (auto axis : op.getAxes().getAsRange<StringAttr>())
    key += (key.empty() ? "" : ", ") + stringLiteral(axis.getValue());
  std::string name = nameOf(os, buffer);
  printComment(os, commentText(op.getLabel(), 600), 4);
  printList(os, "    " + communicators[key] + ".allReduce(",
            {streamName(op.getStream()), name, numbers.size(buffer.elements()),
             "Reduction::" + stringifyReduction(op.getReduction()).str()},
            ");", 8);
}

} // namespace partita::codegen
