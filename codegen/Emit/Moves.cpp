//===- Moves.cpp - Tensors that change their layout -----------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Objects are told apart by the attribute that the actions of a move share.
//
//===----------------------------------------------------------------------===//

#include "codegen/Emit/Moves.h"
#include "codegen/Emit/ScalarCode.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace partita::codegen {

namespace {

/// What is known of a kind of move.
struct KindText {
  StringRef enumerator; ///< Of the runtime's MoveKind.
  StringRef suffix;     ///< Of the object's name.
  StringRef meaning;    ///< For the object's comment.
};

KindText textOf(StringRef kind) {
  return llvm::StringSwitch<KindText>(kind)
      .Case("slice", {"slice", "Part", "each rank keeps a part of what it has"})
      .Case("all_gather",
            {"allGather", "Gather", "all ranks get what they have together"})
      .Case("reduce_scatter", {"reduceScatter", "ReduceScatter",
                               "values are combined, each rank gets its part"})
      .Case("all_to_all", {"allToAll", "AllToAll", "another dimension is cut"})
      .Case("halo_exchange", {"haloExchange", "Halo",
                              "each rank gets its neighbours' elements that "
                              "its windows reach"})
      .Case("exchange",
            {"exchange", "Exchange", "each rank gets the elements it lacks"})
      .Default({});
}

/// The attribute that says what is moved.
DictionaryAttr moveOf(Operation *op) {
  if (auto launch = dyn_cast<spmd::LaunchOp>(op))
    return launch.getParamsAttr();
  return cast<spmd::CommunicateOp>(op).getMoveAttr();
}

/// The number of inputs of a move's launch.
unsigned numInputs(StringRef kernel) { return kernel == "spmd.unpack" ? 2 : 1; }

std::string dimsText(RankedTensorType type) {
  std::string text;
  for (int64_t size : type.getShape())
    text += (text.empty() ? "" : ", ") + std::to_string(size);
  return "{" + text + "}";
}

} // namespace

bool isPartOfMove(Operation *op) {
  if (auto launch = dyn_cast<spmd::LaunchOp>(op))
    return launch.getKernel() == "spmd.slice" ||
           launch.getKernel() == "spmd.pack" ||
           launch.getKernel() == "spmd.unpack";
  auto communicate = dyn_cast<spmd::CommunicateOp>(op);
  return communicate && communicate.getMoveAttr();
}

FailureOr<MoveObjects::Object> MoveObjects::read(Operation *op) const {
  auto launch = dyn_cast<spmd::LaunchOp>(op);
  if (launch && (launch.getInputs().size() != numInputs(launch.getKernel()) ||
                 launch.getOutputs().size() != 1))
    return op->emitError() << "kernel '" << launch.getKernel()
                           << "' does not take " << launch.getInputs().size()
                           << " inputs and " << launch.getOutputs().size()
                           << " outputs";
  Object object;
  bool isSlice = launch && launch.getKernel() == "spmd.slice";
  if (DictionaryAttr move = moveOf(op)) {
    object.from = move.getAs<dist::LayoutAttr>("from");
    object.to = move.getAs<dist::LayoutAttr>("to");
    object.axes = move.getAs<ArrayAttr>("axes");
    if (auto global = move.getAs<TypeAttr>("global"))
      object.global = dyn_cast<RankedTensorType>(global.getValue());
    auto kind = move.getAs<StringAttr>("kind");
    object.kind = isSlice ? "slice" : kind ? kind.getValue() : "";
  }
  if (!object.from || !object.to || !object.global ||
      textOf(object.kind).enumerator.empty() || (!object.axes && !isSlice))
    return op->emitError() << "a move needs from, to, global"
                           << (isSlice ? "" : ", kind and axes") << "; found "
                           << moveOf(op);
  size_t rank = object.global.getRank();
  if (object.from.getDims().size() != rank ||
      object.to.getDims().size() != rank)
    return op->emitError() << "layouts " << object.from << " and " << object.to
                           << " do not belong to " << object.global;
  Type element = object.global.getElementType();
  if (cType(element).empty())
    return op->emitError() << "a move cannot hold elements of " << element
                           << ": expected f32, f64, i1, i8, i16, i32 or i64";
  return object;
}

FailureOr<int> MoveObjects::add(const Phase &phase, const Action &action,
                                Names &names) {
  Operation *op = action.op();
  FailureOr<Object> read = this->read(op);
  if (failed(read))
    return failure();
  auto [it, isNew] = index.insert({moveOf(op), 0});
  if (isNew) {
    SmallVector<StringRef> nodes = nodeNames(op->getLoc());
    auto section = op->getAttrOfType<StringAttr>("section");
    bool isBackward = section && section.getValue() == "backward";
    std::string hint = camelCase(nodes.empty() ? "move" : nodes[0]) +
                       textOf(read->kind).suffix.str();
    read->name = isBackward ? names.make(hint, "Grad", "move")
                            : names.make(hint, "move");
    it->second = static_cast<int>(objects.size());
    objects.push_back(*read);
  }
  Object &object = objects[it->second];
  if (auto communicate = dyn_cast<spmd::CommunicateOp>(op)) {
    if (object.label.empty())
      object.label = communicate.getLabel().str();
    object.staging = phase.buffer(communicate.getBuffer()).elements();
  }
  return it->second;
}

/// "[7 over row (4 + 3), 10]"
std::string MoveObjects::describe(const Object &object,
                                  dist::LayoutAttr layout) const {
  constexpr size_t kMost = 4;
  std::string text;
  for (auto [d, cut] :
       llvm::enumerate(cutsOf(grid, layout, object.global.getShape()))) {
    text += (d ? ", " : "") + std::to_string(cut.size);
    if (cut.axes.empty())
      continue;
    std::string parts;
    for (auto [i, range] : llvm::enumerate(cut.ranges)) {
      if (i < kMost)
        parts += (i ? " + " : "") + std::to_string(range.size());
      else if (i == kMost)
        parts += " + ...";
    }
    text += " over " + splits.describe(cut) + " (" + parts + ")";
  }
  return "[" + text + "]";
}

std::string MoveObjects::comment(const Object &object,
                                 NumberTable &numbers) const {
  std::string text =
      object.label.empty() ? "" : commentText(object.label, 600) + ": ";
  if (object.axes) {
    text += "over ";
    for (auto axis : object.axes.getAsRange<StringAttr>())
      text += commentText(axis.getValue()) + ", ";
  }
  text += textOf(object.kind).meaning;
  text += "; from " + describe(object, object.from) + " to " +
          describe(object, object.to);
  if (object.staging.empty())
    return text;
  unsigned bits = object.global.getElementTypeBitWidth();
  int64_t width = (bits + 7) / 8;
  if (isSame(ArrayRef<int64_t>(object.staging)))
    return text + "; " + std::to_string(object.staging.front() * width) +
           " bytes of staging";
  return text + "; " + numbers.describe(object.staging, object.name) +
         " elements of " + std::to_string(width) + " bytes of staging";
}

std::string MoveObjects::splitList(const Object &object,
                                   dist::LayoutAttr layout) const {
  return "{" + splits.list(cutsOf(grid, layout, object.global.getShape())) +
         "}";
}

void MoveObjects::printMembers(
    raw_ostream &os, NumberTable &numbers,
    llvm::function_ref<std::string(ArrayAttr)> communicator) const {
  for (const Object &object : objects) {
    printComment(os, comment(object, numbers), 2);
    std::string axes;
    if (object.axes)
      for (auto axis : object.axes.getAsRange<StringAttr>())
        axes += (axes.empty() ? "" : ", ") + stringLiteral(axis.getValue());
    std::vector<std::string> args = {
        "rank",
        ("MoveKind::" + textOf(object.kind).enumerator).str(),
        object.axes ? "&" + communicator(object.axes) : "nullptr",
        "{" + axes + "}",
        dimsText(object.global),
        splitList(object, object.from),
        splitList(object, object.to),
        ("DType::" + dtypeName(object.global.getElementType())).str()};
    if (object.kind == "reduce_scatter")
      args.push_back("Reduction::" +
                     object.from.getPartialKind().getValue().str());
    std::string head = "  Redistribution " + object.name + "{";
    printList(os, head, args, "};", head.size() < 40 ? head.size() : 6);
  }
}

bool MoveObjects::hasChecks() const {
  return llvm::any_of(
      objects, [](const Object &object) { return !object.staging.empty(); });
}

void MoveObjects::printChecks(raw_ostream &os, NumberTable &numbers) const {
  for (const Object &object : objects)
    if (!object.staging.empty())
      printList(os, "    " + object.name + ".checkStaging(",
                {numbers.count(object.staging, object.name)}, ");", 8);
}

} // namespace partita::codegen
