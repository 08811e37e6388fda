//===- Importer.h - The import of one model --------------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The state of an import: the module under construction, the values known so
// far, the variables.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_DIALECTS_NN_IMPORT_IMPORTER_H
#define PARTITA_DIALECTS_NN_IMPORT_IMPORTER_H

#include "dialects/NN/Import/NodeContext.h"
#include "dialects/NN/Import/TensorData.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <set>

namespace partita::nn::importer {

/// A variable made by the import and what its first reader takes it for.
struct Variable {
  VariableOp op;
  Purpose purpose = Purpose::other;
};

/// A data input with its sizes fixed.
struct DataInput {
  const ::onnx::ValueInfoProto *proto;
  mlir::RankedTensorType type;
  bool hasBatch = false;
};

/// The data inputs of the model and the global batch.
struct DataInputs {
  std::vector<DataInput> inputs;
  /// Size of the batch, or 0 when no input has one.
  int64_t batch = 0;
  /// The fixed batch of the file, when the user asked for another one; else 0.
  int64_t replacedBatch = 0;
};

/// Fix all sizes of the data inputs; faults, all of them, go to the reporter.
DataInputs resolveInputs(const Graph &graph, const ImportOptions &options,
                         Reporter &reporter);

/// Replace the initial values of variables by the rules of `options`.
void applyInitRules(llvm::MutableArrayRef<Variable> variables,
                    const ImportOptions &options, Reporter &reporter);

/// Say of each integer input that tables are looked up at how large its values
/// may be: the attribute `nn.limit` of the argument, the size of the table.
void limitInputs(mlir::func::FuncOp function);

/// The stem of a model's file name.
llvm::StringRef modelNameOf(llvm::StringRef path);

class Importer {
public:
  Importer(const ModelFile &file, const Graph &graph,
           const ImportOptions &options, Reporter &reporter,
           ImportReport &report);

  /// Import; null after errors.
  mlir::OwningOpRef<mlir::ModuleOp> run(llvm::StringRef name);

  //===--- For NodeContext ------------------------------------------------===//

  std::shared_ptr<OnnxValue> lookup(llvm::StringRef name);
  void define(llvm::StringRef name, std::shared_ptr<OnnxValue> value);
  /// The value in the IR; null after an error.
  mlir::Value materialize(OnnxValue &value, Purpose purpose,
                          mlir::Location loc);
  /// A variable that holds the elements of `value`; null after an error.
  mlir::Value readVariable(const OnnxValue &value, llvm::StringRef symbol,
                           Role role, Purpose purpose);
  /// The elements of a value, read from the file when need be; null when they
  /// are not known, after an error when they cannot be read.
  const Constant *evaluate(OnnxValue &value);

  const ModelFile &file;
  const Graph &graph;
  const ImportOptions &options;
  Reporter &reporter;
  mlir::OpBuilder builder;
  DataInputs data;
  /// Numbers the Dropout nodes.
  int64_t dropoutNodes = 0;
  /// Nodes exported for inference, by operator, for one finding each.
  std::map<std::string, std::vector<std::string>> inferenceNodes;
  /// Reshape targets whose first entry was the replaced batch.
  std::vector<std::string> rebatchedNodes;
  /// Results that are updates of running statistics; they are not computed by
  /// the forward function.
  llvm::StringSet<> statisticResults;

private:
  bool checkSupport();
  void createFunction();
  void importNode(const GraphNode &node);
  void finishFunction();
  void demoteUntrained();
  void writeFindings();

  ImportReport &report;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp function;
  /// The last nn.read; reads stand together at the function's begin.
  mlir::Operation *lastRead = nullptr;
  llvm::StringMap<std::shared_ptr<OnnxValue>> values;
  llvm::StringMap<mlir::Value> reads;
  std::vector<Variable> variables;
  llvm::StringMap<size_t> variableIndex;
  /// Rank-0 initializers that were kept constant.
  std::set<std::string> constantScalars;
};

} // namespace partita::nn::importer

#endif // PARTITA_DIALECTS_NN_IMPORT_IMPORTER_H
