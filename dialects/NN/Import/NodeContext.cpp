//===- NodeContext.cpp - What a node's builder works with ------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Access to the inputs, attributes and results of one ONNX node.
//
//===----------------------------------------------------------------------===//

#include "dialects/NN/Import/NodeContext.h"

#include "dialects/NN/Import/Importer.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace mlir;
using onnx::AttributeProto;

namespace partita::nn::importer {

NodeContext::NodeContext(Importer &importer, const GraphNode &node)
    : builder(importer.builder),
      loc(NameLoc::get(importer.builder.getStringAttr(node.name))), node(node),
      options(importer.options), importer(importer) {}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

unsigned NodeContext::numInputs() const {
  unsigned count = node.proto->input_size();
  while (count > 0 && node.proto->input(count - 1).empty())
    --count;
  return count;
}

bool NodeContext::has(unsigned index) const {
  return static_cast<int>(index) < node.proto->input_size() &&
         !node.proto->input(index).empty();
}

OnnxValue &NodeContext::input(unsigned index) const {
  return *importer.lookup(node.proto->input(index));
}

RankedTensorType NodeContext::type(unsigned index) const {
  return input(index).type;
}

Value NodeContext::operand(unsigned index, Purpose purpose) {
  Value value = importer.materialize(input(index), purpose, loc);
  failed |= !value;
  return value;
}

Value NodeContext::statistic(unsigned index, Purpose purpose, bool updated) {
  OnnxValue &value = input(index);
  if (!value.tensor && !value.constant) {
    if (!updated)
      return operand(index, purpose);
    (void)error(describe(index) +
                " is computed, so that running statistics cannot be updated; "
                "expected an initializer; freeze the statistics with "
                "--batch-norm=frozen");
    return Value();
  }
  // A tensor that something else reads, too, must not change with the
  // statistics, so that each of its readers gets a variable of its own.
  std::string symbol = value.name;
  if (updated && importer.graph.countReads(value.name) > 1)
    symbol += "@" + node.name;
  Value read = importer.readVariable(
      value, symbol, updated ? Role::state : Role::constant, purpose);
  failed |= !read;
  return read;
}

const Constant *NodeContext::constant(unsigned index) {
  OnnxValue &value = input(index);
  if (value.trainable)
    return nullptr;
  if (!value.constant && value.type.getNumElements() > kConstantLimit)
    return nullptr;
  return importer.evaluate(value);
}

const Constant *NodeContext::fixedInput(unsigned index) {
  OnnxValue &value = input(index);
  if (!value.constant && !value.tensor)
    return nullptr;
  return importer.evaluate(value);
}

std::optional<SmallVector<int64_t>> NodeContext::fixedInts(unsigned index) {
  const Constant *value = fixedInput(index);
  if (!value) {
    (void)error(describe(index) +
                " is not known at compile time; the shapes of a training "
                "program are fixed, so it must come from constants and shapes");
    return std::nullopt;
  }
  if (value->isFloat() || value->elementType().isInteger(1)) {
    (void)error(describe(index) + " has no integer elements");
    return std::nullopt;
  }
  if (!value->isSmall()) {
    (void)error(describe(index) + " has " + Twine(value->size()) +
                " elements, expected at most " + Twine(kConstantLimit));
    return std::nullopt;
  }
  return value->getInts();
}

std::optional<double> NodeContext::fixedNumber(unsigned index) {
  const Constant *value = fixedInput(index);
  if (!value) {
    (void)error(describe(index) + " is not known at compile time");
    return std::nullopt;
  }
  if (value->size() != 1) {
    (void)error(describe(index) + " has " + Twine(value->size()) +
                " elements, expected one");
    return std::nullopt;
  }
  return value->numberAt(0);
}

std::string NodeContext::describe(unsigned index) const {
  const OnnxValue &value = input(index);
  return ("input " + quote(node.proto->input(index)) + " of shape " +
          shapeText(value.type.getShape()) + " from " + value.origin);
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

const AttributeProto *NodeContext::find(StringRef name) {
  readAttributes.insert(name);
  const AttributeProto *found = nullptr;
  for (const AttributeProto &attribute : node.proto->attribute()) {
    if (attribute.name() != name)
      continue;
    if (found) {
      (void)error("attribute " + quote(name) + " is given twice");
      return nullptr;
    }
    found = &attribute;
  }
  if (found && !found->ref_attr_name().empty()) {
    (void)error("attribute " + quote(name) +
                " refers to an attribute of a function, but stands in none");
    return nullptr;
  }
  return found;
}

const AttributeProto *
NodeContext::findTyped(StringRef name, AttributeProto::AttributeType type) {
  const AttributeProto *attribute = find(name);
  // Files of the first IR versions do not state the type.
  if (!attribute || attribute->type() == type ||
      attribute->type() == AttributeProto::UNDEFINED)
    return attribute;
  (void)error("attribute " + quote(name) + " is of type " +
              AttributeProto::AttributeType_Name(attribute->type()) +
              ", expected " + AttributeProto::AttributeType_Name(type));
  return nullptr;
}

bool NodeContext::hasAttribute(StringRef name) { return find(name); }

int64_t NodeContext::intAttribute(StringRef name, int64_t absent) {
  const AttributeProto *attribute = findTyped(name, AttributeProto::INT);
  return attribute ? attribute->i() : absent;
}

double NodeContext::floatAttribute(StringRef name, double absent) {
  const AttributeProto *attribute = findTyped(name, AttributeProto::FLOAT);
  return attribute ? attribute->f() : absent;
}

std::string NodeContext::stringAttribute(StringRef name, StringRef absent) {
  const AttributeProto *attribute = findTyped(name, AttributeProto::STRING);
  return attribute ? attribute->s() : absent.str();
}

std::optional<SmallVector<int64_t>> NodeContext::intsAttribute(StringRef name) {
  const AttributeProto *attribute = findTyped(name, AttributeProto::INTS);
  if (!attribute)
    return std::nullopt;
  return SmallVector<int64_t>(attribute->ints().begin(),
                              attribute->ints().end());
}

std::optional<SmallVector<double>>
NodeContext::floatsAttribute(StringRef name) {
  const AttributeProto *attribute = findTyped(name, AttributeProto::FLOATS);
  if (!attribute)
    return std::nullopt;
  return SmallVector<double>(attribute->floats().begin(),
                             attribute->floats().end());
}

const onnx::TensorProto *NodeContext::tensorAttribute(StringRef name) {
  const AttributeProto *attribute = findTyped(name, AttributeProto::TENSOR);
  return attribute ? &attribute->t() : nullptr;
}

std::string NodeContext::unreadAttribute() const {
  for (const AttributeProto &attribute : node.proto->attribute())
    if (!readAttributes.contains(attribute.name()))
      return attribute.name();
  return "";
}

std::optional<int64_t> NodeContext::normalizeAxis(int64_t axis, int64_t rank,
                                                  bool end) {
  if (axis < -rank || axis > (end ? rank : rank - 1)) {
    (void)error("axis is " + Twine(axis) + ", expected " + Twine(-rank) +
                " to " + Twine(end ? rank : rank - 1));
    return std::nullopt;
  }
  return axis < 0 ? axis + rank : axis;
}

std::optional<SmallVector<int64_t>>
NodeContext::normalizeAxes(ArrayRef<int64_t> axes, int64_t rank) {
  SmallVector<int64_t> result;
  for (int64_t axis : axes) {
    std::optional<int64_t> normal = normalizeAxis(axis, rank);
    if (!normal)
      return std::nullopt;
    if (llvm::is_contained(result, *normal)) {
      (void)error("axis " + Twine(axis) + " is given twice");
      return std::nullopt;
    }
    result.push_back(*normal);
  }
  llvm::sort(result);
  return result;
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

unsigned NodeContext::numOutputs() const { return node.proto->output_size(); }

bool NodeContext::wants(unsigned index) const {
  return index < numOutputs() && !node.proto->output(index).empty() &&
         importer.graph.isNeeded(node.proto->output(index));
}

void NodeContext::bind(unsigned index, std::shared_ptr<OnnxValue> value) {
  if (index < numOutputs() && !node.proto->output(index).empty())
    importer.define(node.proto->output(index), std::move(value));
}

void NodeContext::set(unsigned index, Value value) {
  if (!value) {
    failed = true;
    return;
  }
  if (index >= numOutputs())
    return;
  auto result = std::make_shared<OnnxValue>();
  result->name = node.proto->output(index);
  result->type = tensorType(value);
  result->origin = node.describe();
  result->value = value;
  represented = true;
  bind(index, std::move(result));
}

void NodeContext::set(unsigned index, Constant constant) {
  if (index >= numOutputs())
    return;
  auto result = std::make_shared<OnnxValue>();
  result->name = node.proto->output(index);
  result->type = constant.getType();
  result->origin = node.describe();
  result->constant = std::make_shared<const Constant>(std::move(constant));
  bind(index, std::move(result));
}

void NodeContext::setWeight(unsigned index,
                            std::shared_ptr<const Constant> constant,
                            const onnx::TensorProto *tensor,
                            RankedTensorType type) {
  if (index >= numOutputs())
    return;
  auto result = std::make_shared<OnnxValue>();
  result->name = node.proto->output(index);
  result->type = type;
  result->origin = node.describe();
  result->constant = std::move(constant);
  result->tensor = tensor;
  // Single numbers are parts of formulas, not weights.
  result->trainable = options.trainConstants &&
                      isa<FloatType>(type.getElementType()) &&
                      type.getNumElements() > 1;
  bind(index, std::move(result));
}

void NodeContext::forward(unsigned index, unsigned input) {
  bind(index, importer.lookup(node.proto->input(input)));
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

Value NodeContext::scalar(Type elementType, double value) {
  return literal(
      Constant::splat(RankedTensorType::get({}, elementType), value));
}

Value NodeContext::literal(const Constant &constant) {
  return create<ConstantOp>(constant.toAttribute());
}

Value NodeContext::reshape(Value value, ArrayRef<int64_t> shape) {
  if (!value || shapeOf(value) == shape)
    return value;
  return create<ReshapeOp>(
      RankedTensorType::get(shape, tensorType(value).getElementType()), value);
}

RankedTensorType NodeContext::resultType(ArrayRef<int64_t> shape,
                                         Type elementType) {
  Expected<RankedTensorType> type = checkedType(shape, elementType);
  if (type)
    return *type;
  (void)error("the result of shape " + shapeText(shape) + " has " +
              toString(type.takeError()));
  return RankedTensorType();
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

LogicalResult NodeContext::error(const Twine &what) {
  failed = true;
  importer.reporter.error(node.describe() + ": " + what);
  return failure();
}

LogicalResult NodeContext::requireFloat(unsigned index) {
  if (isFloat(index))
    return success();
  std::string text;
  raw_string_ostream(text) << elementType(index);
  return error(describe(index) + " has elements " + text +
               ", expected floating-point numbers");
}

LogicalResult NodeContext::requireRank(unsigned index, int64_t least,
                                       int64_t most) {
  if (rank(index) >= least && rank(index) <= most)
    return success();
  return error(
      describe(index) + " has rank " + Twine(rank(index)) + ", expected " +
      (least == most ? Twine(least) : Twine(least) + " to " + Twine(most)));
}

LogicalResult NodeContext::requireSameElements(unsigned a, unsigned b) {
  if (elementType(a) == elementType(b))
    return success();
  std::string text;
  raw_string_ostream stream(text);
  stream << elementType(a) << " and " << elementType(b);
  return error(describe(a) + " and " + describe(b) +
               " have different elements, " + text);
}

void NodeContext::finding(const Twine &what) {
  importer.reporter.finding(node.describe() + ": " + what);
}

} // namespace partita::nn::importer
