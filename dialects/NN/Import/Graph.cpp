//===- Graph.cpp - The nodes of a model in order ---------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Structure checks, inlining of local functions, topological order.
//
//===----------------------------------------------------------------------===//

#include "dialects/NN/Import/Graph.h"

#include "llvm/ADT/STLExtras.h"
#include <queue>
#include <utility>

using namespace llvm;
using namespace onnx;

namespace partita::nn::importer {
namespace {

/// Function bodies can call each other so that the number of nodes explodes.
constexpr size_t kNodeLimit = 1000000;

std::string functionKey(StringRef domain, StringRef name, StringRef overload) {
  return (canonicalDomain(domain) + "::" + name + ":" + overload).str();
}

} // namespace

Graph::Graph(const ModelProto &model, Reporter &reporter)
    : model(model), reporter(reporter) {
  for (const FunctionProto &function : model.functions()) {
    std::string key =
        functionKey(function.domain(), function.name(), function.overload());
    if (!functions.try_emplace(key, &function).second)
      reporter.error("the function " + quote(key) + " is defined twice");
  }
  Opsets opsets = readOpsets(model.opset_import());
  for (const NodeProto &node : model.graph().node())
    expand(node, opsets, /*depth=*/0);
  nodeCount = static_cast<int64_t>(nodes.size());
  if (nodes.size() + inlined.size() > kNodeLimit) {
    reporter.error("more than " + Twine(kNodeLimit) +
                   " nodes after inlining the model's functions");
    return;
  }
  nameNodes();
  collectValues();
  if (reporter.failed())
    return;
  order();
  dropUnneeded();
}

Graph::Opsets Graph::readOpsets(
    const google::protobuf::RepeatedPtrField<OperatorSetIdProto> &imports) {
  Opsets opsets;
  for (const OperatorSetIdProto &import : imports) {
    StringRef domain = canonicalDomain(import.domain());
    if (!opsets.try_emplace(domain, import.version()).second)
      reporter.error("the opset of domain " + quote(domain) +
                     " is imported twice");
    if (!domain.empty())
      continue;
    if (import.version() < kOldestOpset)
      reporter.error("unsupported opset " + Twine(import.version()) +
                     ", expected " + Twine(kOldestOpset) + " to " +
                     Twine(kNewestOpset) +
                     "; convert the model with onnx.version_converter");
    else if (import.version() > kNewestOpset)
      reporter.error("unsupported opset " + Twine(import.version()) +
                     ", expected " + Twine(kOldestOpset) + " to " +
                     Twine(kNewestOpset) +
                     "; export the model again with an older opset");
  }
  return opsets;
}

void Graph::expand(const NodeProto &node, const Opsets &opsets,
                   unsigned depth) {
  if (nodes.size() + inlined.size() > kNodeLimit)
    return;
  const FunctionProto *function = functions.lookup(
      functionKey(node.domain(), node.op_type(), node.overload()));
  if (!function) {
    GraphNode entry;
    entry.proto = &node;
    entry.opset = opsets.lookup(canonicalDomain(node.domain()));
    nodes.push_back(entry);
    return;
  }
  if (depth >= kCallLimit) {
    // Once: a function that calls itself twice would report 2^32 times.
    if (!std::exchange(reportedDepth, true))
      reporter.error("calls of the function " + quote(node.op_type()) +
                     " are nested deeper than " + Twine(kCallLimit) +
                     "; does it call itself?");
    return;
  }
  if (!reportedDepth)
    expandCall(node, *function, depth + 1);
}

void Graph::expandCall(const NodeProto &call, const FunctionProto &function,
                       unsigned depth) {
  if (call.input_size() > function.input_size() ||
      call.output_size() > function.output_size()) {
    reporter.error("node " + quote(call.name()) + " calls the function " +
                   quote(function.name()) + " with " +
                   Twine(call.input_size()) + " inputs and " +
                   Twine(call.output_size()) + " outputs, expected at most " +
                   Twine(function.input_size()) + " and " +
                   Twine(function.output_size()));
    return;
  }
  // A name inside is distinct in the whole graph once the call's first output
  // is put before it, because that is distinct itself.
  std::string prefix = call.name();
  for (const std::string &output : call.output())
    if (!output.empty()) {
      prefix = output;
      break;
    }
  StringMap<std::string> names;
  names[""] = "";
  for (auto [i, name] : llvm::enumerate(function.input()))
    names[name] = static_cast<int>(i) < call.input_size() ? call.input(i) : "";
  for (auto [i, name] : llvm::enumerate(function.output()))
    if (static_cast<int>(i) < call.output_size() && !call.output(i).empty())
      names[name] = call.output(i);
  auto rename = [&](const std::string &name) {
    return names.try_emplace(name, prefix + "/" + name).first->second;
  };
  StringMap<const AttributeProto *> attributes;
  for (const AttributeProto &attribute : function.attribute_proto())
    attributes[attribute.name()] = &attribute;
  for (const AttributeProto &attribute : call.attribute())
    attributes[attribute.name()] = &attribute;

  Opsets opsets = readOpsets(function.opset_import());
  for (const NodeProto &original : function.node()) {
    NodeProto &node = inlined.emplace_back(original);
    StringRef callName =
        call.name().empty() ? StringRef(prefix) : StringRef(call.name());
    if (!node.name().empty())
      node.set_name((callName + "/" + node.name()).str());
    for (std::string &name : *node.mutable_input())
      name = rename(name);
    for (std::string &name : *node.mutable_output())
      name = rename(name);
    node.clear_attribute();
    for (const AttributeProto &attribute : original.attribute()) {
      if (attribute.ref_attr_name().empty()) {
        *node.add_attribute() = attribute;
        continue;
      }
      // An attribute the call does not give is absent inside as well.
      if (const AttributeProto *given =
              attributes.lookup(attribute.ref_attr_name())) {
        AttributeProto &copy = *node.add_attribute();
        copy = *given;
        copy.set_name(attribute.name());
      }
    }
    expand(node, opsets, depth);
  }
}

void Graph::nameNodes() {
  StringMap<unsigned> taken;
  for (auto [index, node] : llvm::enumerate(nodes)) {
    std::string name = node.proto->name();
    if (name.empty()) {
      const auto &results = node.proto->output();
      auto result = llvm::find_if(
          results, [](const std::string &output) { return !output.empty(); });
      name = node.proto->op_type() + "_of_" +
             (result == results.end() ? std::to_string(index) : *result);
    }
    node.name = name;
    while (taken.contains(node.name))
      node.name = name + "#" + std::to_string(++taken[name]);
    taken[node.name] = 1;
  }
}

void Graph::collectValues() {
  const GraphProto &graph = model.graph();
  for (const TensorProto &tensor : graph.initializer()) {
    if (tensor.name().empty())
      reporter.error("an initializer without a name");
    else if (!initializers.try_emplace(tensor.name(), &tensor).second)
      reporter.error("the initializer " + quote(tensor.name()) +
                     " is defined twice");
    producers[tensor.name()] = -1;
  }
  for (const SparseTensorProto &tensor : graph.sparse_initializer())
    reporter.error("sparse initializer " + quote(tensor.values().name()) +
                   "; export the model with dense weights");
  for (const ValueInfoProto &input : graph.input()) {
    // Up to IR version 3 every initializer is listed as an input, too.
    if (initializers.contains(input.name()))
      continue;
    if (input.name().empty())
      reporter.error("an input without a name");
    else if (!producers.try_emplace(input.name(), -1).second)
      reporter.error("the input " + quote(input.name()) + " is defined twice");
    inputs.push_back(&input);
  }
  for (auto [index, node] : llvm::enumerate(nodes)) {
    for (const std::string &output : node.proto->output()) {
      if (output.empty())
        continue;
      auto [entry, isNew] =
          producers.try_emplace(output, static_cast<int>(index));
      if (isNew)
        continue;
      int other = entry->second;
      reporter.error(node.describe() + " defines " + quote(output) +
                     (other < 0 ? std::string(", which is an input or an "
                                              "initializer")
                                : ", which " + nodes[other].describe() +
                                      " defines already"));
    }
  }
  for (const GraphNode &node : nodes)
    for (const std::string &input : node.proto->input())
      if (!input.empty() && !producers.contains(input))
        reporter.error(node.describe() + " reads " + quote(input) +
                       ", which nothing defines");
  StringSet<> outputNames;
  for (const ValueInfoProto &output : graph.output()) {
    if (output.name().empty() || !producers.contains(output.name()))
      reporter.error("the output " + quote(output.name()) +
                     " is defined by nothing");
    else if (!outputNames.insert(output.name()).second)
      reporter.error("the output " + quote(output.name()) + " is listed twice");
    outputs.push_back(&output);
  }
  if (outputs.empty())
    reporter.error("the graph has no outputs");
}

void Graph::order() {
  // Kahn's algorithm; among the nodes that are ready the first of the file
  // goes first, so that an ordered file stays as it is.
  std::vector<unsigned> waiting(nodes.size(), 0);
  std::vector<std::vector<unsigned>> readers(nodes.size());
  std::priority_queue<unsigned, std::vector<unsigned>, std::greater<>> ready;
  for (auto [index, node] : llvm::enumerate(nodes)) {
    for (const std::string &input : node.proto->input()) {
      int producer = input.empty() ? -1 : producers.lookup(input);
      if (producer < 0)
        continue;
      readers[producer].push_back(index);
      ++waiting[index];
    }
    if (waiting[index] == 0)
      ready.push(index);
  }
  std::vector<unsigned> ordered;
  while (!ready.empty()) {
    unsigned index = ready.top();
    ready.pop();
    ordered.push_back(index);
    for (unsigned reader : readers[index])
      if (--waiting[reader] == 0)
        ready.push(reader);
  }
  if (ordered.size() != nodes.size()) {
    for (auto [index, node] : llvm::enumerate(nodes))
      if (waiting[index] > 0)
        reporter.error(node.describe() +
                       " waits for its own result: it lies on a cycle of "
                       "nodes, or behind one");
    return;
  }
  std::vector<GraphNode> sorted;
  for (unsigned index : ordered)
    sorted.push_back(nodes[index]);
  nodes = std::move(sorted);
}

void Graph::dropUnneeded() {
  for (const ValueInfoProto *output : outputs) {
    needed.insert(output->name());
    ++reads[output->name()];
  }
  std::vector<GraphNode> kept;
  for (const GraphNode &node : llvm::reverse(nodes)) {
    if (llvm::none_of(node.proto->output(), [&](const std::string &output) {
          return needed.contains(output);
        }))
      continue;
    kept.push_back(node);
    for (const std::string &input : node.proto->input()) {
      if (input.empty())
        continue;
      needed.insert(input);
      ++reads[input];
    }
  }
  std::reverse(kept.begin(), kept.end());
  nodes = std::move(kept);
}

} // namespace partita::nn::importer
