//===- Constant.h - Small tensors known at compile time --------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shape arithmetic in ONNX files is done by ordinary operators on small
// tensors. A Constant is such a tensor while it is being evaluated: integers
// (and booleans) as int64, floating-point numbers as double, each rounded to
// its element type, so that evaluation is exact.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_DIALECTS_NN_IMPORT_CONSTANT_H
#define PARTITA_DIALECTS_NN_IMPORT_CONSTANT_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>
#include <vector>

namespace partita::nn::importer {

/// Tensors of more elements are neither folded nor written into the text,
/// unless all their elements are equal.
constexpr int64_t kConstantLimit = 4096;

class Constant {
public:
  Constant() = default;

  /// All elements of `type` equal.
  static Constant splat(mlir::RankedTensorType type, double value);
  static Constant splatInt(mlir::RankedTensorType type, int64_t value);
  /// One value per element; rounded to the element type.
  static Constant ofInts(mlir::RankedTensorType type,
                         std::vector<int64_t> values);
  static Constant ofFloats(mlir::RankedTensorType type,
                           std::vector<double> values);
  /// An int64 vector, the usual form of a shape.
  static Constant ofShape(mlir::MLIRContext *context,
                          llvm::ArrayRef<int64_t> values);

  mlir::RankedTensorType getType() const { return type; }
  llvm::ArrayRef<int64_t> getShape() const { return type.getShape(); }
  int64_t size() const { return type.getNumElements(); }
  bool isFloat() const { return mlir::isa<mlir::FloatType>(elementType()); }
  bool isSplat() const { return splatForm; }
  mlir::Type elementType() const { return type.getElementType(); }
  /// Whether evaluation may touch every element.
  bool isSmall() const { return size() <= kConstantLimit; }

  int64_t intAt(int64_t index) const { return ints[splatForm ? 0 : index]; }
  double floatAt(int64_t index) const { return floats[splatForm ? 0 : index]; }
  /// The element as a double, whatever its type.
  double numberAt(int64_t index) const;
  /// All elements of an integer constant.
  llvm::SmallVector<int64_t> getInts() const;

  /// The same elements under another shape.
  Constant reshaped(llvm::ArrayRef<int64_t> shape) const;
  /// A tensor of `shape` whose element i is this one's element source(i); a
  /// splat stays one without calling it.
  Constant gathered(llvm::ArrayRef<int64_t> shape,
                    llvm::function_ref<int64_t(int64_t)> source) const;
  /// Conversion by ONNX's Cast; nothing when a value does not fit.
  std::optional<Constant> castTo(mlir::Type elementType) const;

  mlir::DenseElementsAttr toAttribute() const;

private:
  mlir::RankedTensorType type;
  bool splatForm = false;
  std::vector<int64_t> ints;
  std::vector<double> floats;
};

/// `value` rounded to the floating-point type, as a double.
double roundTo(mlir::Type type, double value);

/// `value` wrapped to the integer type's width.
int64_t wrapTo(mlir::Type type, int64_t value);

/// Splits a linear index into one per dimension of `shape`.
llvm::SmallVector<int64_t> unravel(int64_t index,
                                   llvm::ArrayRef<int64_t> shape);

/// Row-major strides of `shape`.
llvm::SmallVector<int64_t> stridesOf(llvm::ArrayRef<int64_t> shape);

} // namespace partita::nn::importer

#endif // PARTITA_DIALECTS_NN_IMPORT_CONSTANT_H
