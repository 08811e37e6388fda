//===- NodeContext.h - What a node's builder works with --------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Values of the model during the import, and the view of one node that the
// functions of the operator table get: inputs, attributes, results, errors.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_DIALECTS_NN_IMPORT_NODECONTEXT_H
#define PARTITA_DIALECTS_NN_IMPORT_NODECONTEXT_H

#include "dialects/NN/IR/NNOps.h"
#include "dialects/NN/Import/Constant.h"
#include "dialects/NN/Import/Graph.h"
#include "dialects/NN/Import/ImportOnnx.h"
#include "llvm/ADT/StringSet.h"
#include <memory>

namespace partita::nn::importer {

class Importer;

/// What a variable is to the node that reads it, which decides about its
/// values under an initialisation rule.
enum class Purpose {
  other,
  /// A bias or an additive parameter of a normalisation: zero.
  shift,
  /// A multiplicative parameter of a normalisation, a variance: one.
  scale,
  /// Filters [out, in / groups, kernel...].
  filter,
  /// A matrix [in, out].
  inByOut,
  /// A matrix [out, in].
  outByIn
};

/// A value of the ONNX graph. Names that are equal by construction (Identity)
/// share one.
struct OnnxValue {
  std::string name;
  mlir::RankedTensorType type;
  /// What defines it, for diagnostics: "node 'x' (Conv)", "initializer".
  std::string origin;
  /// The elements, where they are evaluated at compile time.
  std::shared_ptr<const Constant> constant;
  /// The message that holds the elements of an initializer or Constant.
  const ::onnx::TensorProto *tensor = nullptr;
  /// A weight: not evaluated, but read from a variable of role `parameter`.
  bool trainable = false;
  /// The value in the IR, once something needed it.
  mlir::Value value;
};

/// One node under import. Getters report what is wrong and return something
/// harmless; the importer asks hasFailed() when the builder is done.
class NodeContext {
public:
  NodeContext(Importer &importer, const GraphNode &node);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  const GraphNode &node;
  const ImportOptions &options;

  int64_t opset() const { return node.opset; }
  llvm::StringRef opType() const { return node.proto->op_type(); }

  //===--- Inputs ---------------------------------------------------------===//

  /// Number of inputs, trailing absent ones not counted.
  unsigned numInputs() const;
  /// Whether input `index` is there; an empty name means absent.
  bool has(unsigned index) const;
  mlir::RankedTensorType type(unsigned index) const;
  llvm::ArrayRef<int64_t> shape(unsigned index) const {
    return type(index).getShape();
  }
  int64_t rank(unsigned index) const { return type(index).getRank(); }
  mlir::Type elementType(unsigned index) const {
    return type(index).getElementType();
  }
  bool isFloat(unsigned index) const {
    return mlir::isa<mlir::FloatType>(elementType(index));
  }
  /// The value in the IR.
  mlir::Value operand(unsigned index, Purpose purpose = Purpose::other);
  /// A running statistic: a read of a variable of role `state`, or of role
  /// `constant` when it is never updated. Null after an error when the input
  /// is computed and an update would have nowhere to go.
  mlir::Value statistic(unsigned index, Purpose purpose, bool updated);
  /// The elements, when they are known at compile time and no weight; null
  /// otherwise.
  const Constant *constant(unsigned index);
  /// The elements, even of a weight: for inputs that are really attributes.
  const Constant *fixedInput(unsigned index);
  /// Elements of an integer input that shapes depend on; an error when they
  /// are not known at compile time.
  std::optional<llvm::SmallVector<int64_t>> fixedInts(unsigned index);
  /// A floating-point scalar that must be known at compile time.
  std::optional<double> fixedNumber(unsigned index);
  /// "input 'x' of shape 2x3 from node 'y' (Conv)".
  std::string describe(unsigned index) const;

  //===--- Attributes -----------------------------------------------------===//

  bool hasAttribute(llvm::StringRef name);
  int64_t intAttribute(llvm::StringRef name, int64_t absent);
  double floatAttribute(llvm::StringRef name, double absent);
  std::string stringAttribute(llvm::StringRef name, llvm::StringRef absent);
  std::optional<llvm::SmallVector<int64_t>> intsAttribute(llvm::StringRef name);
  std::optional<llvm::SmallVector<double>>
  floatsAttribute(llvm::StringRef name);
  const ::onnx::TensorProto *tensorAttribute(llvm::StringRef name);
  /// Accept an attribute that changes nothing here.
  void ignoreAttribute(llvm::StringRef name) { find(name); }
  /// The name of an attribute no getter asked for, or empty.
  std::string unreadAttribute() const;

  /// `axis` counted from the front; an error when it is not in
  /// [-rank, rank - 1] (with `end`: [-rank, rank]).
  std::optional<int64_t> normalizeAxis(int64_t axis, int64_t rank,
                                       bool end = false);
  /// Distinct axes of a tensor of `rank`, in increasing order.
  std::optional<llvm::SmallVector<int64_t>>
  normalizeAxes(llvm::ArrayRef<int64_t> axes, int64_t rank);

  //===--- Results --------------------------------------------------------===//

  unsigned numOutputs() const;
  /// Whether something needs result `index`.
  bool wants(unsigned index) const;
  void set(unsigned index, mlir::Value value);
  void set(unsigned index, Constant constant);
  /// A constant that may be trained (ImportOptions::trainConstants).
  void setWeight(unsigned index, std::shared_ptr<const Constant> constant,
                 const ::onnx::TensorProto *tensor,
                 mlir::RankedTensorType type);
  /// Result `index` is input `input`.
  void forward(unsigned index, unsigned input);
  /// Whether a result is computed by operations (and not folded).
  bool isRepresented() const { return represented; }

  //===--- Building -------------------------------------------------------===//

  template <typename Op, typename... Args> mlir::Value create(Args &&...args) {
    return builder.create<Op>(loc, std::forward<Args>(args)...);
  }
  /// A rank-0 constant.
  mlir::Value scalar(mlir::Type elementType, double value);
  mlir::Value literal(const Constant &constant);
  /// nn.reshape, or `value` itself when it has the shape already.
  mlir::Value reshape(mlir::Value value, llvm::ArrayRef<int64_t> shape);
  /// A tensor type within the limits, or null after an error.
  mlir::RankedTensorType resultType(llvm::ArrayRef<int64_t> shape,
                                    mlir::Type elementType);

  //===--- Checks; each reports and returns failure -----------------------===//

  llvm::LogicalResult error(const llvm::Twine &what);
  llvm::LogicalResult requireFloat(unsigned index);
  llvm::LogicalResult requireRank(unsigned index, int64_t least, int64_t most);
  llvm::LogicalResult requireSameElements(unsigned a, unsigned b);
  bool hasFailed() const { return failed; }
  /// Note something the user should know about this node.
  void finding(const llvm::Twine &what);

  Importer &getImporter() { return importer; }

private:
  const ::onnx::AttributeProto *find(llvm::StringRef name);
  const ::onnx::AttributeProto *
  findTyped(llvm::StringRef name, ::onnx::AttributeProto::AttributeType type);
  OnnxValue &input(unsigned index) const;
  void bind(unsigned index, std::shared_ptr<OnnxValue> value);

  Importer &importer;
  llvm::StringSet<> readAttributes;
  bool failed = false;
  bool represented = false;
};

} // namespace partita::nn::importer

#endif // PARTITA_DIALECTS_NN_IMPORT_NODECONTEXT_H
