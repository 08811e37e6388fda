//===- DataInputs.cpp - Sizes of the model's inputs ------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Binds symbolic dimensions to the sizes the user gave and finds the batch.
//
//===----------------------------------------------------------------------===//

#include "dialects/NN/Import/Importer.h"

#include "llvm/ADT/STLExtras.h"
#include <set>

using namespace llvm;
using namespace mlir;
using onnx::TensorShapeProto;
using onnx::ValueInfoProto;

namespace partita::nn::importer {
namespace {

/// A dimension of a data input before its size is known.
struct Dimension {
  /// Size in the file, or -1.
  int64_t fixed = -1;
  /// What the user calls it: its symbol, or INPUT[AXIS].
  std::string name;
};

Dimension readDimension(const ValueInfoProto &input, int axis) {
  const TensorShapeProto::Dimension &proto =
      input.type().tensor_type().shape().dim(axis);
  Dimension dimension;
  if (proto.has_dim_param() && !proto.dim_param().empty()) {
    dimension.name = proto.dim_param();
    return dimension;
  }
  dimension.name = input.name() + "[" + std::to_string(axis) + "]";
  // Old exporters write 0 or -1 for a batch that is not fixed.
  if (proto.has_dim_value() && proto.dim_value() >= (axis == 0 ? 1 : 0))
    dimension.fixed = proto.dim_value();
  return dimension;
}

/// Resolves one model's inputs.
class Resolver {
public:
  Resolver(const ImportOptions &options, Reporter &reporter)
      : options(options), reporter(reporter), sizes(options.dims) {}

  DataInputs resolve(const Graph &graph);

private:
  bool checkKind(const ValueInfoProto &input);
  void bindBatch(const Graph &graph);
  void resolveInput(const ValueInfoProto &input);
  void reportUnbound();
  void reportUnused();

  const ImportOptions &options;
  Reporter &reporter;
  DataInputs result;
  std::map<std::string, int64_t> sizes;
  /// Names of all symbolic dimensions of the model.
  std::set<std::string> known;
  /// Dimensions without a size, with the inputs that have them.
  std::map<std::string, std::vector<std::string>> unbound;
  std::set<std::string> leading;
};

bool Resolver::checkKind(const ValueInfoProto &input) {
  if (!input.type().has_tensor_type()) {
    reporter.error("input " + quote(input.name()) +
                   " is no tensor; sequences, maps and optional values cannot "
                   "be trained on");
    return false;
  }
  int dataType = input.type().tensor_type().elem_type();
  Type elementType = elementTypeOf(reporter.getContext(), dataType);
  if (!elementType || elementType.isUnsignedInteger()) {
    reporter.error("input " + quote(input.name()) + " has elements of type " +
                   dataTypeName(dataType) +
                   ", expected floating-point numbers, signed integers or "
                   "booleans; convert the data before the model");
    return false;
  }
  if (!input.type().tensor_type().has_shape()) {
    reporter.error("input " + quote(input.name()) +
                   " has no shape; export the model with shapes, the rank at "
                   "least");
    return false;
  }
  return true;
}

void Resolver::bindBatch(const Graph &graph) {
  for (const ValueInfoProto *input : graph.getInputs()) {
    if (input->type().tensor_type().shape().dim_size() == 0)
      continue;
    Dimension first = readDimension(*input, 0);
    if (first.fixed >= 0) {
      // The first fixed batch is the model's.
      if (options.batch > 0 && result.replacedBatch == 0 && leading.empty() &&
          first.fixed != options.batch)
        result.replacedBatch = first.fixed;
      leading.insert(first.name);
      continue;
    }
    leading.insert(first.name);
    if (options.batch == 0)
      continue;
    auto [entry, isNew] = sizes.try_emplace(first.name, options.batch);
    if (!isNew && entry->second != options.batch)
      reporter.error("the batch dimension " + quote(first.name) + " is " +
                     Twine(entry->second) + " by --dim and " +
                     Twine(options.batch) +
                     " by --batch; give one of them, or the same size");
  }
}

void Resolver::resolveInput(const ValueInfoProto &input) {
  SmallVector<int64_t> shape;
  int rank = input.type().tensor_type().shape().dim_size();
  for (int axis = 0; axis < rank; ++axis) {
    Dimension dimension = readDimension(input, axis);
    if (dimension.fixed >= 0) {
      if (auto given = sizes.find(dimension.name); given != sizes.end()) {
        known.insert(dimension.name);
        reporter.error("dimension " + Twine(axis) + " of input " +
                       quote(input.name()) + " is fixed to " +
                       Twine(dimension.fixed) + ", but --dim sets it to " +
                       Twine(given->second));
      }
      bool isBatch = axis == 0 && result.replacedBatch != 0 &&
                     dimension.fixed == result.replacedBatch;
      shape.push_back(isBatch ? options.batch : dimension.fixed);
      continue;
    }
    known.insert(dimension.name);
    auto size = sizes.find(dimension.name);
    if (size == sizes.end()) {
      unbound[dimension.name].push_back(input.name());
      shape.push_back(1);
      continue;
    }
    if (size->second <= 0)
      reporter.error("--dim " + dimension.name + "=" + Twine(size->second) +
                     ": expected a size of 1 or more");
    shape.push_back(std::max<int64_t>(size->second, 1));
  }
  Type elementType = elementTypeOf(reporter.getContext(),
                                   input.type().tensor_type().elem_type());
  Expected<RankedTensorType> type = checkedType(shape, elementType);
  if (!type) {
    reporter.error("input " + quote(input.name()) + ": " +
                   toString(type.takeError()));
    return;
  }
  result.inputs.push_back({&input, *type, /*hasBatch=*/false});
}

void Resolver::reportUnbound() {
  for (const auto &[name, inputs] : unbound) {
    std::string flag = leading.count(name) ? "--batch N" : "";
    if (!flag.empty())
      flag += " or ";
    reporter.error("the size of dimension " + quote(name) + " of input " +
                   quote(inputs.front()) + " is not known; set it with " +
                   flag + "--dim " + name + "=N");
  }
}

void Resolver::reportUnused() {
  for (const auto &[name, size] : options.dims) {
    if (known.count(name))
      continue;
    std::string names;
    raw_string_ostream stream(names);
    llvm::interleaveComma(known, stream);
    reporter.error("--dim " + name + "=" + Twine(size) +
                   ": the model has no symbolic dimension of this name; it "
                   "has " +
                   (known.empty() ? "none" : StringRef(names)));
  }
}

DataInputs Resolver::resolve(const Graph &graph) {
  if (options.batch < 0)
    reporter.error("--batch " + Twine(options.batch) +
                   ": expected a size of 1 or more");
  if (graph.getInputs().empty())
    reporter.error("the model has no data inputs: every input is an "
                   "initializer");
  bool usable = true;
  for (const ValueInfoProto *input : graph.getInputs())
    usable &= checkKind(*input);
  if (!usable)
    return result;
  bindBatch(graph);
  for (const ValueInfoProto *input : graph.getInputs())
    resolveInput(*input);
  reportUnbound();
  reportUnused();

  // The batch is the first dimension of the first input that has one; other
  // inputs share it when theirs has the same size.
  for (DataInput &input : result.inputs) {
    if (input.type.getRank() == 0)
      continue;
    if (result.batch == 0)
      result.batch = input.type.getDimSize(0);
    input.hasBatch = input.type.getDimSize(0) == result.batch;
  }
  return result;
}

} // namespace

DataInputs resolveInputs(const Graph &graph, const ImportOptions &options,
                         Reporter &reporter) {
  return Resolver(options, reporter).resolve(graph);
}

} // namespace partita::nn::importer
