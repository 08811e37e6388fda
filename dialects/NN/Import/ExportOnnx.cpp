//===- ExportOnnx.cpp - Trained weights back into an ONNX file -*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Changes the model's message: values, nodes of training, weights that were
// nodes; then streams it out.
//
//===----------------------------------------------------------------------===//

#include "dialects/NN/Import/ExportOnnx.h"

#include "dialects/NN/Import/Graph.h"
#include "dialects/NN/Import/ModelWriter.h"
#include "dialects/NN/Import/Safetensors.h"
#include "dialects/NN/Import/TensorData.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace onnx;

namespace partita::nn {
namespace importer {
namespace {

int dataTypeOfStored(StringRef type) {
  return StringSwitch<int>(type)
      .Case("F64", TensorProto::DOUBLE)
      .Case("F32", TensorProto::FLOAT)
      .Case("F16", TensorProto::FLOAT16)
      .Case("BF16", TensorProto::BFLOAT16)
      .Case("I64", TensorProto::INT64)
      .Case("I32", TensorProto::INT32)
      .Case("I16", TensorProto::INT16)
      .Case("I8", TensorProto::INT8)
      .Case("U64", TensorProto::UINT64)
      .Case("U32", TensorProto::UINT32)
      .Case("U16", TensorProto::UINT16)
      .Case("U8", TensorProto::UINT8)
      .Case("BOOL", TensorProto::BOOL)
      .Default(TensorProto::UNDEFINED);
}

void clearData(TensorProto &tensor) {
  tensor.clear_raw_data();
  tensor.clear_float_data();
  tensor.clear_double_data();
  tensor.clear_int32_data();
  tensor.clear_int64_data();
  tensor.clear_uint64_data();
  tensor.clear_segment();
  tensor.clear_external_data();
  tensor.clear_data_location();
}

class Exporter {
public:
  Exporter(const ModelFile &file, const SafetensorsFile &weights,
           Reporter &reporter, ExportReport &report)
      : file(file), weights(weights), reporter(reporter), report(report),
        model(file.getModel()), graph(*model.mutable_graph()) {}

  void run(StringRef outPath);

private:
  void separateStatistics();
  void replaceInitializers();
  void replaceConstantNodes();
  void reportUnknown();
  void inferNodes(google::protobuf::RepeatedPtrField<NodeProto> &nodes,
                  int64_t opset);
  void dropLostOutputs();
  void dropUnusedInitializers();
  void freeInitializers();
  void collectPayloads();
  void embedTensors(google::protobuf::RepeatedPtrField<NodeProto> &nodes);
  void embed(TensorProto &tensor);
  TensorProto *addInitializer(StringRef name, const StoredTensor &stored);

  const ModelFile &file;
  const SafetensorsFile &weights;
  Reporter &reporter;
  ExportReport &report;
  ModelProto model;
  GraphProto &graph;
  /// Names of weights that found their tensor.
  StringSet<> used;
  StringMap<StringRef> trained;
  std::vector<StringRef> payloads;
  /// Results that nodes of training had and those of inference lack.
  StringSet<> lost;
  /// Inputs of nodes that are gone.
  StringSet<> released;
};

TensorProto *Exporter::addInitializer(StringRef name,
                                      const StoredTensor &stored) {
  TensorProto *tensor = graph.add_initializer();
  tensor->set_name(name.str());
  tensor->set_data_type(dataTypeOfStored(stored.type));
  for (int64_t size : stored.shape)
    tensor->add_dims(size);
  trained[name] = stored.bytes;
  used.insert(name);
  ++report.replaced;
  return tensor;
}

void Exporter::separateStatistics() {
  // A statistic that shared its initial tensor with other readers was trained
  // under a name of its own (see NodeContext::statistic).
  Graph original(file.getModel(), reporter);
  for (const GraphNode &node : original.getNodes()) {
    if (node.proto->op_type() != "BatchNormalization")
      continue;
    for (int input : {3, 4}) {
      if (node.proto->input_size() <= input)
        continue;
      std::string name = node.proto->input(input) + "@" + node.name;
      auto stored = weights.getTensors().find(name);
      if (stored == weights.getTensors().end())
        continue;
      for (int i = 0; i < graph.node_size(); ++i)
        if (&file.getModel().graph().node(i) == node.proto) {
          if (!used.contains(name))
            addInitializer(name, stored->second);
          graph.mutable_node(i)->set_input(input, name);
        }
    }
  }
}

void Exporter::replaceInitializers() {
  for (TensorProto &tensor : *graph.mutable_initializer()) {
    auto entry = weights.getTensors().find(tensor.name());
    if (entry == weights.getTensors().end() || used.contains(tensor.name()))
      continue;
    const StoredTensor &stored = entry->second;
    ArrayRef<int64_t> shape(tensor.dims().data(), tensor.dims_size());
    used.insert(tensor.name());
    if (dataTypeOfStored(stored.type) != tensor.data_type() ||
        ArrayRef<int64_t>(stored.shape) != shape) {
      reporter.error("weight " + quote(tensor.name()) + " is " + stored.type +
                     " of shape " + shapeText(stored.shape) + ", expected " +
                     dataTypeName(tensor.data_type()) + " of shape " +
                     shapeText(shape) +
                     " as in the model; were the weights trained from it?");
      continue;
    }
    clearData(tensor);
    trained[tensor.name()] = stored.bytes;
    ++report.replaced;
  }
}

void Exporter::replaceConstantNodes() {
  google::protobuf::RepeatedPtrField<NodeProto> kept;
  for (NodeProto &node : *graph.mutable_node()) {
    bool isConstant =
        canonicalDomain(node.domain()).empty() &&
        (node.op_type() == "Constant" || node.op_type() == "ConstantOfShape");
    auto stored = isConstant && node.output_size() == 1
                      ? weights.getTensors().find(node.output(0))
                      : weights.getTensors().end();
    if (stored == weights.getTensors().end() || used.contains(node.output(0))) {
      kept.Add()->Swap(&node);
      continue;
    }
    for (const std::string &input : node.input())
      released.insert(input);
    addInitializer(node.output(0), stored->second);
  }
  graph.mutable_node()->Swap(&kept);
}

void Exporter::reportUnknown() {
  std::vector<std::string> unknown;
  for (const auto &entry : weights.getTensors())
    if (!used.contains(entry.first))
      unknown.push_back(quote(entry.first));
  if (unknown.empty())
    return;
  constexpr size_t kShown = 8;
  std::string names;
  raw_string_ostream stream(names);
  llvm::interleaveComma(ArrayRef(unknown).take_front(kShown), stream);
  if (unknown.size() > kShown)
    stream << ", ...";
  reporter.error(Twine(unknown.size()) +
                 " tensors of the weights file belong to no initializer or "
                 "constant of the model: " +
                 names + "; were the weights trained from this model?");
}

void Exporter::inferNodes(google::protobuf::RepeatedPtrField<NodeProto> &nodes,
                          int64_t opset) {
  for (NodeProto &node : nodes) {
    for (AttributeProto &attribute : *node.mutable_attribute()) {
      if (attribute.has_g())
        inferNodes(*attribute.mutable_g()->mutable_node(), opset);
      for (GraphProto &inner : *attribute.mutable_graphs())
        inferNodes(*inner.mutable_node(), opset);
    }
    if (!canonicalDomain(node.domain()).empty())
      continue;
    if (node.op_type() == "BatchNormalization") {
      bool trains = node.output_size() > 1;
      for (int i = 0; i < node.attribute_size(); ++i)
        if (node.attribute(i).name() == "training_mode") {
          trains |= node.attribute(i).i() != 0;
          node.mutable_attribute()->DeleteSubrange(i--, 1);
        }
      for (int i = 1; i < node.output_size(); ++i)
        if (!node.output(i).empty())
          lost.insert(node.output(i));
      while (node.output_size() > 1)
        node.mutable_output()->RemoveLast();
      report.nodes += trains;
    } else if (node.op_type() == "Dropout" && opset >= 12 &&
               node.input_size() > 2) {
      released.insert(node.input(2));
      node.mutable_input()->RemoveLast();
      ++report.nodes;
    }
  }
}

void Exporter::dropLostOutputs() {
  auto drop = [&](auto &values, bool isOutput) {
    for (int i = 0; i < values.size(); ++i) {
      if (!lost.contains(values[i].name()))
        continue;
      if (isOutput)
        reporter.finding("output " + quote(values[i].name()) +
                         " was an updated running statistic; the trained "
                         "model does not have it");
      values.DeleteSubrange(i--, 1);
    }
  };
  drop(*graph.mutable_output(), /*isOutput=*/true);
  drop(*graph.mutable_value_info(), /*isOutput=*/false);
}

void Exporter::dropUnusedInitializers() {
  // Shapes of ConstantOfShape nodes that became initializers, and the like.
  for (const NodeProto &node : graph.node())
    for (const std::string &input : node.input())
      released.erase(input);
  for (const ValueInfoProto &output : graph.output())
    released.erase(output.name());
  auto drop = [&](auto &values) {
    for (int i = 0; i < values.size(); ++i)
      if (released.contains(values[i].name()))
        values.DeleteSubrange(i--, 1);
  };
  for (int i = 0; i < graph.node_size(); ++i)
    if (graph.node(i).op_type() == "Constant" &&
        graph.node(i).output_size() == 1 &&
        released.contains(graph.node(i).output(0)))
      graph.mutable_node()->DeleteSubrange(i--, 1);
  StringSet<> removed;
  for (const TensorProto &tensor : graph.initializer())
    if (released.contains(tensor.name()))
      removed.insert(tensor.name());
  drop(*graph.mutable_initializer());
  // A data input that only a removed node read stays an input.
  released = std::move(removed);
  drop(*graph.mutable_input());
}

void Exporter::freeInitializers() {
  // Up to IR version 3 every initializer had to be an input as well, which new
  // ones are not, and runtimes take those that are for changeable.
  constexpr int64_t kFreeInitializers = 4;
  if (model.ir_version() >= kFreeInitializers)
    return;
  model.set_ir_version(kFreeInitializers);
  StringSet<> names;
  for (const TensorProto &tensor : graph.initializer())
    names.insert(tensor.name());
  auto &inputs = *graph.mutable_input();
  for (int i = 0; i < inputs.size(); ++i)
    if (names.contains(inputs[i].name()))
      inputs.DeleteSubrange(i--, 1);
}

void Exporter::embed(TensorProto &tensor) {
  if (!tensor.has_segment() && tensor.data_location() != TensorProto::EXTERNAL)
    return;
  Expected<StringRef> bytes = file.mapBytes(tensor);
  if (!bytes) {
    reporter.error("tensor " + quote(tensor.name()) + ": " +
                   toString(bytes.takeError()));
    return;
  }
  clearData(tensor);
  tensor.set_raw_data(bytes->str());
}

void Exporter::embedTensors(
    google::protobuf::RepeatedPtrField<NodeProto> &nodes) {
  auto embedGraph = [&](GraphProto &inner) {
    embedTensors(*inner.mutable_node());
    for (TensorProto &tensor : *inner.mutable_initializer())
      embed(tensor);
  };
  auto embedSparse = [&](SparseTensorProto &sparse) {
    embed(*sparse.mutable_values());
    embed(*sparse.mutable_indices());
  };
  for (NodeProto &node : nodes)
    for (AttributeProto &attribute : *node.mutable_attribute()) {
      if (attribute.has_t())
        embed(*attribute.mutable_t());
      for (TensorProto &tensor : *attribute.mutable_tensors())
        embed(tensor);
      if (attribute.has_sparse_tensor())
        embedSparse(*attribute.mutable_sparse_tensor());
      for (SparseTensorProto &sparse : *attribute.mutable_sparse_tensors())
        embedSparse(sparse);
      if (attribute.has_g())
        embedGraph(*attribute.mutable_g());
      for (GraphProto &inner : *attribute.mutable_graphs())
        embedGraph(inner);
    }
}

void Exporter::collectPayloads() {
  for (TensorProto &tensor : *graph.mutable_initializer()) {
    if (auto entry = trained.find(tensor.name()); entry != trained.end()) {
      payloads.push_back(entry->second);
      continue;
    }
    if (!tensor.has_segment() &&
        tensor.data_location() != TensorProto::EXTERNAL) {
      payloads.emplace_back();
      continue;
    }
    Expected<StringRef> bytes = file.mapBytes(tensor);
    if (!bytes) {
      reporter.error("tensor " + quote(tensor.name()) + ": " +
                     toString(bytes.takeError()));
      payloads.emplace_back();
      continue;
    }
    clearData(tensor);
    payloads.push_back(*bytes);
  }
}

void Exporter::run(StringRef outPath) {
  separateStatistics();
  replaceInitializers();
  replaceConstantNodes();
  reportUnknown();
  if (report.replaced == 0 && !reporter.failed())
    reporter.error("the weights file has no tensor of the model");
  if (reporter.failed())
    return;
  int64_t opset = 1;
  for (const OperatorSetIdProto &import : model.opset_import())
    if (canonicalDomain(import.domain()).empty())
      opset = import.version();
  inferNodes(*graph.mutable_node(), opset);
  for (FunctionProto &function : *model.mutable_functions())
    inferNodes(*function.mutable_node(), opset);
  dropLostOutputs();
  dropUnusedInitializers();
  // Training information describes a training that is over.
  model.clear_training_info();
  freeInitializers();
  embedTensors(*graph.mutable_node());
  for (FunctionProto &function : *model.mutable_functions())
    embedTensors(*function.mutable_node());
  for (SparseTensorProto &sparse : *graph.mutable_sparse_initializer()) {
    embed(*sparse.mutable_values());
    embed(*sparse.mutable_indices());
  }
  collectPayloads();
  Graph check(model, reporter);
  if (reporter.failed())
    return;
  Expected<std::string> sideFile = writeModel(model, payloads, outPath);
  if (!sideFile) {
    reporter.error(toString(sideFile.takeError()));
    return;
  }
  report.sideFile = *sideFile;
}

} // namespace
} // namespace importer

LogicalResult exportTrained(mlir::MLIRContext &context, StringRef modelPath,
                            StringRef weightsPath, StringRef outPath,
                            ExportReport &report) {
  using namespace importer;
  report = ExportReport();
  Reporter reporter(&context, modelPath, report.findings);
  Expected<std::unique_ptr<ModelFile>> file =
      ModelFile::open(modelPath, &context);
  if (!file) {
    reporter.error(toString(file.takeError()));
    return failure();
  }
  SmallString<128> path(weightsPath);
  if (sys::fs::is_directory(path))
    sys::path::append(path, "parameters.safetensors");
  Reporter weightsReporter(&context, path, report.findings);
  Expected<std::unique_ptr<SafetensorsFile>> weights =
      SafetensorsFile::open(path);
  if (!weights) {
    weightsReporter.error(toString(weights.takeError()));
    return failure();
  }
  Exporter(**file, **weights, reporter, report).run(outPath);
  return failure(reporter.failed());
}

} // namespace partita::nn
