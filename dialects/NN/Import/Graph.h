//===- Graph.h - The nodes of a model in order -----------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The structure of an ONNX graph, checked: every name is defined once, every
// read has a definition, there is no cycle. Calls of the model's own functions
// are replaced by the functions' nodes.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_DIALECTS_NN_IMPORT_GRAPH_H
#define PARTITA_DIALECTS_NN_IMPORT_GRAPH_H

#include "dialects/NN/Import/Reporter.h"
#include "onnx.pb.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include <deque>
#include <vector>

namespace partita::nn::importer {

/// Opset versions that the operator table covers.
constexpr int64_t kOldestOpset = 7;
constexpr int64_t kNewestOpset = 28;

/// Calls of functions nested deeper than this are refused.
constexpr unsigned kCallLimit = 32;

/// The canonical name of the standard domain is the empty one.
inline llvm::StringRef canonicalDomain(llvm::StringRef domain) {
  return domain == "ai.onnx" ? llvm::StringRef() : domain;
}

/// A node that takes part in computing the outputs.
struct GraphNode {
  const ::onnx::NodeProto *proto = nullptr;
  /// The node's name, or OPERATOR_of_OUTPUT; distinct from all others.
  std::string name;
  /// Version of the node's domain.
  int64_t opset = 0;

  /// "node '/conv1/Conv' (Conv)".
  std::string describe() const {
    return "node " + quote(name) + " (" + proto->op_type() + ")";
  }
};

class Graph {
public:
  /// Check and order the graph of `model`; faults go to the reporter.
  Graph(const ::onnx::ModelProto &model, Reporter &reporter);

  /// The nodes that an output needs, in an order in which definitions come
  /// before reads: the file's order where that is one.
  const std::vector<GraphNode> &getNodes() const { return nodes; }
  /// All nodes, those that no output needs included.
  int64_t getNodeCount() const { return nodeCount; }
  /// Graph inputs that are not initializers.
  const std::vector<const ::onnx::ValueInfoProto *> &getInputs() const {
    return inputs;
  }
  const std::vector<const ::onnx::ValueInfoProto *> &getOutputs() const {
    return outputs;
  }
  /// The initializer `name`, or null.
  const ::onnx::TensorProto *getInitializer(llvm::StringRef name) const {
    return initializers.lookup(name);
  }
  /// How many nodes read `name`; a graph output counts as one.
  unsigned countReads(llvm::StringRef name) const { return reads.lookup(name); }
  /// Whether a node that is needed, or an output, reads `name`.
  bool isNeeded(llvm::StringRef name) const { return needed.contains(name); }

private:
  using Opsets = llvm::StringMap<int64_t>;
  Opsets readOpsets(
      const ::google::protobuf::RepeatedPtrField<::onnx::OperatorSetIdProto>
          &imports);
  void expand(const ::onnx::NodeProto &node, const Opsets &opsets,
              unsigned depth);
  void expandCall(const ::onnx::NodeProto &call,
                  const ::onnx::FunctionProto &function, unsigned depth);
  void nameNodes();
  void collectValues();
  void order();
  void dropUnneeded();

  const ::onnx::ModelProto &model;
  Reporter &reporter;
  llvm::StringMap<const ::onnx::FunctionProto *> functions;
  /// Nodes made by inlining; a deque keeps their addresses.
  std::deque<::onnx::NodeProto> inlined;
  std::vector<GraphNode> nodes;
  int64_t nodeCount = 0;
  std::vector<const ::onnx::ValueInfoProto *> inputs, outputs;
  llvm::StringMap<const ::onnx::TensorProto *> initializers;
  /// Index into `nodes` of what produces a value; -1 for inputs.
  llvm::StringMap<int> producers;
  llvm::StringMap<unsigned> reads;
  llvm::StringSet<> needed;
  bool reportedDepth = false;
};

} // namespace partita::nn::importer

#endif // PARTITA_DIALECTS_NN_IMPORT_GRAPH_H
