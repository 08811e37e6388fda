//===- RankCalls.cpp - Launches and communications of emitted programs ----===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The lines of a phase that call kernels and communicators, and the tables of
// call sites.
//
//===----------------------------------------------------------------------===//

#include "codegen/Program/RankPrinter.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace partita::codegen {

//===----------------------------------------------------------------------===//
// Communicators and shares
//===----------------------------------------------------------------------===//

CommunicatorKey::CommunicatorKey(ArrayAttr list) {
  for (auto axis : list.getAsRange<StringAttr>())
    axes += (axes.empty() ? "" : ", ") + stringLiteral(axis.getValue());
}

static ArrayAttr axesOf(Operation *op) {
  if (auto communicate = dyn_cast<spmd::CommunicateOp>(op))
    return communicate.getAxes();
  return op->getAttrOfType<ArrayAttr>(spmd::kAxesAttr);
}

CommunicatorKey::CommunicatorKey(Operation *op) : CommunicatorKey(axesOf(op)) {
  hasServers = op->hasAttr(spmd::kServersAttr);
  group = spmd::numberOf(op, spmd::kGroupAttr);
}

std::string RankPrinter::communicatorOf(const CommunicatorKey &key) const {
  for (const CommunicatorMember &each : communicators)
    if (!(each.key < key) && !(key < each.key))
      return each.name;
  return "";
}

int64_t RankPrinter::workersOf(Operation *op) const {
  int64_t workers = 1;
  for (auto axis : axesOf(op).getAsRange<StringAttr>())
    workers *= schedule.grid.getAxisSize(axis.getValue());
  return workers;
}

void RankPrinter::collectCommunicators() {
  std::vector<CommunicatorKey> used;
  for (const Phase &phase : group.phases)
    for (const Action &action : phase.actions)
      if (isa<spmd::CommunicateOp>(action.op()))
        used.emplace_back(action.op());
  auto add = [&](const CommunicatorKey &key) {
    if (!communicatorOf(key).empty())
      return;
    std::string hint;
    SmallVector<StringRef> axes;
    StringRef(key.axes).split(axes, ", ");
    for (StringRef axis : axes)
      hint +=
          hint.empty() ? camelCase(axis.trim('"')) : typeCase(axis.trim('"'));
    hint += key.hasServers ? "Servers" : "Ranks";
    if (key.group > 0)
      hint += std::to_string(key.group);
    communicators.push_back({key, names.make(hint)});
  };
  if (!schedule.isServers(group)) {
    llvm::for_each(used, add);
    if (shared.communicators.empty())
      for (const CommunicatorMember &each : communicators)
        shared.communicators.push_back(each.key);
    return;
  }
  // Every rank makes the groups of all ranks, those without it as well.
  for (const CommunicatorKey &made : shared.communicators) {
    add(made);
    for (const CommunicatorKey &key : used)
      if (made.hasServers && key.axes == made.axes)
        add(key);
  }
}

Value partsOf(Operation *op) {
  if (auto communicate = dyn_cast<spmd::CommunicateOp>(op))
    return communicate.getBuffer();
  return cast<spmd::LaunchOp>(op).getOutputs()[0];
}

const std::string &RankPrinter::sharesOf(const Phase &phase,
                                         const Action &action) {
  Value buffer = partsOf(action.op());
  CommunicatorKey key(action.op());
  std::string communicator = communicatorOf(key);
  std::string elements = numbers.size(phase.buffer(buffer).elements());
  auto found = llvm::find_if(shares, [&](const SharesMember &each) {
    return each.communicator == communicator && each.elements == elements;
  });
  if (found != shares.end())
    return found->name;
  std::string hint = phase.buffer(buffer).name().rsplit(" of ").second.str();
  shares.push_back({communicator, elements,
                    names.make(camelCase(hint, "flat") + "Shares"),
                    key.hasServers ? workersOf(action.op()) : 0});
  return shares.back().name;
}

//===----------------------------------------------------------------------===//
// Lines
//===----------------------------------------------------------------------===//

void RankPrinter::printLaunch(raw_ostream &os, const Phase &phase,
                              size_t action) {
  Launch launch(phase, phase.actions[action]);
  const Choice &choice = choices[&phase][action];
  std::vector<std::string> args = {
      stringifyStream(launch.op().getStream()).str()};
  std::string callee;
  if (choice.call) {
    const GeneratedCall &call = *choice.call;
    callee = call.kernel->name;
    bool isOwned = launch.op()->hasAttr(spmd::kPartsAttr);
    std::string own = isOwned ? sharesOf(phase, phase.actions[action]) : "";
    for (const Number &size : call.sizes)
      args.push_back(isOwned ? own + ".count" : numbers.size(size));
    llvm::append_range(args, call.scalars);
    for (auto [buffer, operand] :
         llvm::zip_equal(call.buffers, call.kernel->operands))
      args.push_back((operand.isRead ? readName(os, *buffer)
                                     : writtenName(os, *buffer, launch.op())) +
                     (isOwned ? " + " + own + ".begin" : ""));
    if (!call.preparation.empty() &&
        printedPreparations.insert(llvm::join(call.preparation, "\n")).second)
      for (const std::string &line : call.preparation)
        os << "    " << line << '\n';
  } else {
    callee = objects[choice.object].name;
    llvm::append_range(
        args, callArguments(
                  launch, numbers,
                  [&](const Buffer &buffer) { return readName(os, buffer); },
                  [&](const Buffer &buffer) {
                    return writtenName(os, buffer, launch.op());
                  }));
  }
  std::string head = "    " + callee + "(";
  printList(os, head, args, ");", head.size() < 40 ? head.size() : 8);
}

/// One of the parts of a move: pack, communicate, unpack, or slice.
void RankPrinter::printMove(raw_ostream &os, const Phase &phase,
                            size_t action) {
  Operation *op = phase.actions[action].op();
  std::vector<std::string> args;
  std::string part = "communicate";
  if (auto launch = dyn_cast<spmd::LaunchOp>(op)) {
    part = launch.getKernel().drop_front(StringRef("spmd.").size()).str();
    args.push_back(stringifyStream(launch.getStream()).str());
    for (Value input : launch.getInputs())
      args.push_back(readName(os, phase.buffer(input)));
    args.push_back(
        writtenName(os, phase.buffer(launch.getOutputs()[0]), launch));
  } else {
    auto communicate = cast<spmd::CommunicateOp>(op);
    args = {stringifyStream(communicate.getStream()).str(),
            readName(os, phase.buffer(communicate.getBuffer())),
            callSite(phase, action)};
  }
  std::string head =
      "    " + moves.name(choices[&phase][action].move) + "." + part + "(";
  printList(os, head, args, ");", head.size() < 40 ? head.size() : 8);
}

void RankPrinter::printGather(raw_ostream &os) {
  std::string calls;
  auto print = [&](const Phase &phase, const Action &action, StringRef function,
                   Value value) {
    std::string head = "    " + communicatorOf(CommunicatorKey(action.op())) +
                       "." + function.str() + "(";
    std::vector<std::string> args = {"comm", locals[&phase.buffer(value)],
                                     sharesOf(phase, action) + ".counts"};
    if (function == "fetch")
      args.push_back(std::to_string(workersOf(action.op())));
    llvm::raw_string_ostream line(calls);
    printList(line, head, args, ");", head.size() < 40 ? head.size() : 8);
  };
  for (const Phase &phase : group.phases)
    for (const Action &action : phase.actions) {
      if (!action.op()->hasAttr(spmd::kPartsAttr))
        continue;
      bool hasServers = action.op()->hasAttr(spmd::kServersAttr);
      // The state of what servers own is theirs alone.
      auto push = dyn_cast<spmd::CommunicateOp>(action.op());
      if (push && hasServers && push.getKind() == "reduce_scatter")
        print(phase, action, "fetch", push.getBuffer());
      auto launch = dyn_cast<spmd::LaunchOp>(action.op());
      if (!launch || hasServers)
        continue;
      // The parameters come first, and have been fetched.
      for (Value value : launch.getInputs().drop_front())
        print(phase, action, "allGather", value);
    }
  if (!calls.empty())
    os << "\n  void gather() override {\n" << calls << "  }\n";
}

std::string RankPrinter::callTable(const Phase &phase) const {
  return "k" + typeCase(phase.name) + "Calls" + number;
}

std::string RankPrinter::callSite(const Phase &phase, size_t action) {
  return callTable(phase) + "[" + std::to_string(choices[&phase][action].site) +
         "]";
}

void RankPrinter::printCalls(raw_ostream &os) {
  for (const Phase &phase : group.phases) {
    bool isFirst = true;
    for (auto [action, choice] :
         llvm::zip_equal(phase.actions, choices[&phase])) {
      auto op = dyn_cast<spmd::CommunicateOp>(action.op());
      if (!op)
        continue;
      if (isFirst) {
        printComment(os,
                     "What " + phase.name +
                         "() communicates, in this order: what is sent, the "
                         "layer it serves, its place.",
                     0, "/// ");
        os << "constexpr CallSite " << callTable(phase) << "[] = {\n";
      }
      isFirst = false;
      // A bucket serves several layers, which its label names.
      std::string layer = layerName(op.getLoc());
      if (layer == op.getLabel() || op.getLabel().contains("bucket "))
        layer.clear();
      printList(os, "    {",
                {stringLiteral(op.getLabel()), stringLiteral(layer),
                 std::to_string(choice.site)},
                "},", 5);
    }
    if (!isFirst)
      os << "};\n\n";
  }
}

void RankPrinter::printCommunicate(raw_ostream &os, const Phase &phase,
                                   size_t action) {
  auto op = cast<spmd::CommunicateOp>(phase.actions[action].op());
  const Buffer &buffer = phase.buffer(op.getBuffer());
  bool isOwned = op->hasAttr(spmd::kPartsAttr);
  bool hasServers = op->hasAttr(spmd::kServersAttr);
  bool isFetch = op.getKind() == "all_gather";
  std::string kind = "allReduce";
  if (isOwned)
    kind = isFetch ? "allGather" : "reduceScatter";
  if (hasServers)
    kind = isFetch ? "fetch" : "push";
  std::vector<std::string> args = {
      stringifyStream(op.getStream()).str(), readName(os, buffer),
      isOwned ? sharesOf(phase, phase.actions[action]) + ".counts"
              : numbers.size(buffer.elements())};
  if (!isFetch)
    args.push_back("Reduction::" + stringifyReduction(op.getReduction()).str());
  if (hasServers)
    args.push_back(std::to_string(workersOf(op)));
  if (auto algorithm = op->getAttrOfType<StringAttr>(spmd::kAlgorithmAttr))
    args.push_back("Algorithm::" + algorithm.getValue().str());
  args.push_back(callSite(phase, action));
  std::string head =
      "    " + communicatorOf(CommunicatorKey(op)) + "." + kind + "(";
  printList(os, head, args, ");", head.size() < 40 ? head.size() : 8);
}

} // namespace partita::codegen
