//===- PhaseText.cpp - One phase of one class as text ---------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Buffers and calls are numbered by their order in the function.
//
//===----------------------------------------------------------------------===//

#include "passes/Certificate/PhaseText.h"
#include "dialects/Dist/Interfaces/Layouts.h"
#include "passes/Certificate/LaunchFacts.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"

using namespace mlir;

namespace partita::certificate {

std::string quoted(StringRef text) {
  std::string result;
  llvm::raw_string_ostream os(result);
  os << llvm::json::Value(llvm::json::fixUTF8(text));
  return result;
}

std::string axesText(ArrayRef<StringAttr> axes) {
  std::string text = "[";
  for (StringAttr axis : axes)
    text += (text.size() > 1 ? "," : "") + quoted(axis.getValue());
  return text + "]";
}

static std::string axesText(ArrayAttr axes) {
  return axesText(llvm::to_vector(axes.getAsRange<StringAttr>()));
}

std::string typeText(Type element) {
  std::string text;
  llvm::raw_string_ostream(text) << element;
  return quoted(text);
}

std::string bytesText(ByteRange bytes) {
  return "[" + std::to_string(bytes.begin) + "," +
         std::to_string(bytes.end - bytes.begin) + "]";
}

/// Every name of a location, the consumer's last: "/conv1/Conv".
static void collectNames(Location loc, SmallVectorImpl<StringRef> &names) {
  if (auto name = dyn_cast<NameLoc>(loc)) {
    names.push_back(name.getName());
  } else if (auto fused = dyn_cast<FusedLoc>(loc)) {
    for (Location part : fused.getLocations())
      collectNames(part, names);
  } else if (auto call = dyn_cast<CallSiteLoc>(loc)) {
    collectNames(call.getCallee(), names);
  }
}
static std::string layerText(Operation *op) {
  SmallVector<StringRef> names;
  collectNames(op->getLoc(), names);
  return names.empty() ? "" : ",\"layer\":" + quoted(names.back());
}

/// By which combination a constant changes nothing, or "".
static StringRef neutralOf(nn::VariableOp variable) {
  auto value = dyn_cast<DenseElementsAttr>(variable.getInitial());
  if (variable.getRole() != nn::Role::constant || !value || !value.isSplat())
    return "";
  return certificate::neutralOf(value.getSplatValue<Attribute>());
}

static bool isPack(spmd::LaunchOp launch) {
  return launch.getKernel() == "spmd.pack";
}
static bool isUnpack(spmd::LaunchOp launch) {
  return launch.getKernel() == "spmd.unpack";
}

PhaseText::PhaseText(ModuleOp module, dist::GridAttr grid,
                     func::FuncOp function, MoveTables &tables)
    : module(module), grid(grid), function(function), tables(tables) {
  auto phase = function->getAttrOfType<StringAttr>(spmd::kPhaseAttr);
  name = phase ? phase.getValue() : function.getName();
  for (Operation &op : function.front().without_terminator()) {
    if (auto buffer = dyn_cast<spmd::BufferOp>(op)) {
      indices[buffer.getBuffer()] = static_cast<int64_t>(buffers.size());
      buffers.push_back(buffer);
      continue;
    }
    if (isa<spmd::CommunicateOp>(op)) {
      int64_t number = static_cast<int64_t>(callNumbers.size());
      callNumbers[&op] = number;
    }
    actions.push_back(&op);
  }
  matchMoves();
}

void PhaseText::matchMoves() {
  // The last call, and the packs that wait for theirs, by staging buffer and
  // move: ranks that send nothing share an empty buffer.
  using Key = std::pair<Value, Attribute>;
  llvm::DenseMap<Key, int64_t> sent;
  llvm::DenseMap<Key, Operation *> packed;
  for (Operation *op : actions) {
    if (auto call = dyn_cast<spmd::CommunicateOp>(op)) {
      Key key = {call.getBuffer(), call.getMoveAttr()};
      if (Operation *pack = packed.lookup(key))
        moveOf[pack] = callNumbers.lookup(op);
      packed.erase(key);
      sent[key] = callNumbers.lookup(op);
    }
    auto launch = dyn_cast<spmd::LaunchOp>(op);
    if (launch && isPack(launch))
      packed[{launch.getOutputs()[0], launch.getParamsAttr()}] = op;
    if (launch && isUnpack(launch) && launch.getInputs().size() == 2)
      if (auto it = sent.find({launch.getInputs()[1], launch.getParamsAttr()});
          it != sent.end())
        moveOf[op] = it->second;
  }
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

void PhaseText::print(llvm::raw_ostream &os) {
  os << "{\"phase\":" << quoted(name) << ",\n\"inputs\":[";
  printInputs(os);
  os << "],\n\"buffers\":[";
  for (auto [i, buffer] : llvm::enumerate(buffers)) {
    os << (i ? ",\n " : "\n ");
    printBuffer(buffer, os);
  }
  os << "],\n\"actions\":[";
  for (auto [i, op] : llvm::enumerate(actions)) {
    os << (i ? ",\n " : "\n ");
    if (auto launch = dyn_cast<spmd::LaunchOp>(op))
      printLaunch(launch, os);
    else if (auto call = dyn_cast<spmd::CommunicateOp>(op))
      printCall(call, os);
    else if (auto record = dyn_cast<spmd::RecordOp>(op))
      os << "{\"record\":" << record.getEvent() << ",\"stream\":\""
         << stringifyStream(record.getStream()) << "\"}";
    else if (auto wait = dyn_cast<spmd::WaitOp>(op))
      os << "{\"wait\":" << wait.getEvent() << ",\"stream\":\""
         << stringifyStream(wait.getStream()) << "\""
         << (wait->hasAttr("previous") ? ",\"previous\":true}" : "}");
  }
  os << "]}";
}

void PhaseText::printInputs(llvm::raw_ostream &os) const {
  auto batch = module->getAttrOfType<IntegerAttr>("partita.batch");
  bool isFirst = true;
  for (spmd::BufferOp buffer : buffers) {
    auto whole = buffer.getGlobal()
                     ? dyn_cast<RankedTensorType>(*buffer.getGlobal())
                     : RankedTensorType();
    auto layout = dyn_cast_or_null<dist::LayoutAttr>(
        buffer.getLayout().value_or(Attribute()));
    // Samples are the first dimension.
    if (buffer.getPurpose() != spmd::Purpose::input || !whole || !layout ||
        whole.getRank() == 0 || !batch || whole.getDimSize(0) != batch.getInt())
      continue;
    SmallVector<StringAttr> axes;
    dist::Layout parts = dist::toLayout(grid, layout);
    for (int axis : parts.dims[0].axes)
      axes.push_back(grid.getAxes()[axis]);
    auto type = cast<MemRefType>(buffer.getBuffer().getType());
    os << (isFirst ? "\n " : ",\n ") << "{\"name\":" << quoted(buffer.getName())
       << ",\"samples\":" << type.getDimSize(0)
       << ",\"axes\":" << axesText(axes) << "}";
    isFirst = false;
  }
}

void PhaseText::printBuffer(spmd::BufferOp buffer, llvm::raw_ostream &os) {
  auto type = cast<MemRefType>(buffer.getBuffer().getType());
  os << "{\"name\":" << quoted(buffer.getName()) << ",\"purpose\":\""
     << stringifyPurpose(buffer.getPurpose())
     << "\",\"type\":" << typeText(type.getElementType())
     << ",\"count\":" << type.getNumElements()
     << ",\"at\":" << buffer.getOffset();
  if (buffer.getPurpose() == spmd::Purpose::variable)
    if (auto variable = module.lookupSymbol<nn::VariableOp>(buffer.getName()))
      if (StringRef neutral = neutralOf(variable); !neutral.empty())
        os << ",\"neutral\":\"" << neutral << "\"";
  os << "}";
}

/// How owners divide what launches and calls work on.
static void printParts(Operation *op, llvm::raw_ostream &os) {
  for (StringRef name : {spmd::kServersAttr, spmd::kGroupAttr})
    if (int64_t number = spmd::numberOf(op, name))
      os << ",\"" << name << "\":" << number;
  if (auto parts = op->getAttrOfType<DenseI64ArrayAttr>("parts"))
    os << ",\"parts\":" << partsText(parts.asArrayRef());
}

void PhaseText::printLaunch(spmd::LaunchOp launch,
                            llvm::raw_ostream &os) const {
  auto list = [&](StringRef key, ValueRange values) {
    os << ",\"" << key << "\":[";
    llvm::interleave(
        values, os, [&](Value value) { os << indexOf(value); }, ",");
    os << "]";
  };
  auto loss = module->getAttrOfType<StringAttr>("partita.loss");
  bool isMeanStep =
      name == "step" && loss && !loss.getValue().starts_with("output:");
  LaunchFacts facts = certificate::factsOf(launch, grid, isMeanStep);
  os << "{\"launch\":" << quoted(launch.getKernel()) << layerText(launch)
     << ",\"stream\":\"" << stringifyStream(launch.getStream()) << "\"";
  list("reads", launch.getInputs());
  list("writes", launch.getOutputs());
  if (!facts.by.empty()) {
    os << ",\"partial\":[";
    llvm::interleave(
        facts.partial, os,
        [&](ArrayRef<StringAttr> axes) { os << axesText(axes); }, ",");
    os << "],\"by\":\"" << facts.by << "\"";
  }
  if (facts.isLinear)
    os << ",\"linear\":true";
  if (!facts.neutral.empty())
    os << ",\"neutral\":\"" << facts.neutral << "\"";
  if (facts.mean)
    os << ",\"mean\":{\"terms\":" << facts.mean->terms
       << ",\"scale\":" << llvm::format("%.17g", facts.mean->scale)
       << ",\"over\":" << axesText(facts.mean->over) << "}";
  if (auto it = moveOf.find(launch); it != moveOf.end())
    os << ",\"move\":" << it->second;
  if (auto axes = launch->getAttrOfType<ArrayAttr>("axes"))
    os << ",\"axes\":" << axesText(axes);
  printParts(launch, os);
  os << "}";
}

void PhaseText::printCall(spmd::CommunicateOp call, llvm::raw_ostream &os) {
  auto type = cast<MemRefType>(call.getBuffer().getType());
  os << "{\"call\":" << callNumbers.lookup(call)
     << ",\"kind\":" << quoted(call.getKind())
     << ",\"label\":" << quoted(call.getLabel()) << layerText(call)
     << ",\"stream\":\"" << stringifyStream(call.getStream())
     << "\",\"axes\":" << axesText(call.getAxes());
  if (auto algorithm = call->getAttrOfType<StringAttr>("algorithm"))
    os << ",\"algorithm\":" << quoted(algorithm.getValue());
  if (call.getKind() == "all_reduce" || call.getKind() == "reduce_scatter")
    os << ",\"reduction\":\"" << stringifyReduction(call.getReduction())
       << "\"";
  os << ",\"type\":" << typeText(type.getElementType())
     << ",\"count\":" << type.getNumElements()
     << ",\"buffer\":" << indexOf(call.getBuffer());
  if (call.getMove())
    os << ",\"table\":" << tables.add(call.getMoveAttr());
  printParts(call, os);
  os << "}";
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

ByteRange PhaseText::bytesOf(Value value) const {
  auto buffer = value.getDefiningOp<spmd::BufferOp>();
  auto type = cast<MemRefType>(value.getType());
  int64_t begin = buffer ? buffer.getOffset() : 0;
  return {begin, begin + type.getNumElements() *
                             ((type.getElementTypeBitWidth() + 7) / 8)};
}

spmd::BufferOp PhaseText::findBuffer(spmd::Purpose purpose, StringRef wanted,
                                     int64_t group) const {
  for (spmd::BufferOp buffer : buffers)
    if (buffer.getPurpose() == purpose && buffer.getName() == wanted &&
        spmd::numberOf(buffer, spmd::kGroupAttr) == group)
      return buffer;
  return {};
}

ByteRange PhaseText::find(spmd::Purpose purpose, StringRef wanted,
                          int64_t group) const {
  spmd::BufferOp buffer = findBuffer(purpose, wanted, group);
  return buffer ? bytesOf(buffer.getBuffer()) : ByteRange();
}

int64_t PhaseText::numGroupsOf(StringRef parameter) const {
  int64_t groups = 1;
  while (findBuffer(spmd::Purpose::variable, parameter, groups))
    ++groups;
  return groups;
}

ParameterFacts PhaseText::factsOf(StringRef parameter,
                                  ArrayRef<StringRef> states,
                                  int64_t group) const {
  ParameterFacts facts;
  facts.value = find(spmd::Purpose::variable, parameter, group);
  facts.gradient = find(spmd::Purpose::gradient, parameter, group);
  // Where servers update, the ranks of the grid have no state.
  for (StringRef state : states)
    if (findBuffer(spmd::Purpose::variable, state, group))
      facts.states.push_back(find(spmd::Purpose::variable, state, group));
  for (auto [i, op] : llvm::enumerate(actions)) {
    if (auto launch = dyn_cast<spmd::LaunchOp>(op))
      for (Value output : launch.getOutputs())
        if (bytesOf(output).overlaps(facts.value))
          facts.update = static_cast<int64_t>(i);
    auto call = dyn_cast<spmd::CommunicateOp>(op);
    if (call && call.getKind() == "all_gather" && !call.getMove() &&
        bytesOf(call.getBuffer()).overlaps(facts.value))
      facts.fetches.push_back(callNumbers.lookup(op));
  }
  if (facts.gradient.end > facts.gradient.begin)
    collectCalls(facts);
  return facts;
}

/// Goes back from the update to where the gradient was computed, through what
/// only moves or adds values.
void PhaseText::collectCalls(ParameterFacts &facts) const {
  SmallVector<ByteRange> held = {facts.gradient};
  auto holds = [&](ByteRange bytes) {
    return llvm::any_of(held, [&](ByteRange at) { return at.overlaps(bytes); });
  };
  size_t end = facts.update >= 0 ? facts.update : actions.size();
  for (size_t i = end; i-- > 0;) {
    if (auto call = dyn_cast<spmd::CommunicateOp>(actions[i]))
      if (holds(bytesOf(call.getBuffer())))
        facts.calls.push_back(callNumbers.lookup(call));
    auto launch = dyn_cast<spmd::LaunchOp>(actions[i]);
    if (!launch)
      continue;
    SmallVector<ByteRange> written;
    for (Value output : launch.getOutputs())
      if (holds(bytesOf(output)))
        written.push_back(bytesOf(output));
    if (written.empty())
      continue;
    llvm::erase_if(held, [&](ByteRange at) {
      return llvm::any_of(written,
                          [&](ByteRange bytes) { return bytes.contains(at); });
    });
    LaunchFacts made = certificate::factsOf(launch, grid, false);
    for (const auto &axes : made.partial)
      for (StringAttr axis : axes)
        if (!llvm::is_contained(facts.partial, axis))
          facts.partial.push_back(axis);
    StringRef kernel = launch.getKernel();
    bool isSum = kernel == "nn.add" || kernel == "nn.sub" ||
                 kernel == "nn.neg" || made.isLinear;
    bool isMove = kernel == "copy" || kernel.starts_with("spmd.") ||
                  kernel == "nn.reshape" || kernel == "nn.transpose";
    if (!isSum && !isMove)
      continue;
    // What has arrived tells the way of a move.
    ValueRange inputs = launch.getInputs();
    if (isUnpack(launch) && inputs.size() == 2 &&
        cast<MemRefType>(inputs[1].getType()).getNumElements() > 0)
      inputs = inputs.drop_front();
    for (Value input : inputs)
      held.push_back(bytesOf(input));
  }
  std::reverse(facts.calls.begin(), facts.calls.end());
}

} // namespace partita::certificate
