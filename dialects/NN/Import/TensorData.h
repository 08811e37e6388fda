//===- TensorData.h - Where an ONNX tensor's elements lie ------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Opens a model file and answers, for each of its tensors, what type it has and
// where its elements are: in the model file, in a side file, or in the message
// itself. Every extent is checked against the file and the tensor's size before
// anything is read.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_DIALECTS_NN_IMPORT_TENSORDATA_H
#define PARTITA_DIALECTS_NN_IMPORT_TENSORDATA_H

#include "dialects/NN/Import/Constant.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "onnx.pb.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>
#include <string>

namespace partita::nn::importer {

/// Tensors of more elements are refused: no machine could hold them, and sizes
/// in bytes stay far from overflow.
constexpr int64_t kElementLimit = int64_t(1) << 40;

/// A range of bytes in a file.
struct Extent {
  std::string path;
  int64_t offset = 0;
  int64_t length = 0;
};

/// The element type of the ONNX enumeration value `dataType`, or null when
/// Partita has none for it.
mlir::Type elementTypeOf(mlir::MLIRContext *context, int dataType);

/// The ONNX enumeration value of an element type.
int dataTypeOf(mlir::Type elementType);

/// The name of the ONNX enumeration value `dataType`, for diagnostics.
std::string dataTypeName(int dataType);

/// A static shape of at most kElementLimit elements, or what is wrong with it.
llvm::Expected<mlir::RankedTensorType>
checkedType(llvm::ArrayRef<int64_t> shape, mlir::Type elementType);

/// An ONNX file: its message without the large payloads, and access to these.
class ModelFile {
public:
  /// Map and parse the file. The error says what is wrong with it.
  static llvm::Expected<std::unique_ptr<ModelFile>>
  open(llvm::StringRef path, mlir::MLIRContext *context);

  const ::onnx::ModelProto &getModel() const { return model; }

  /// The type of `tensor`.
  llvm::Expected<mlir::RankedTensorType>
  getType(const ::onnx::TensorProto &tensor) const;

  /// The initial value of a variable: `#nn.file` when the elements lie in a
  /// file, little-endian and row by row; else `dense<...>`.
  llvm::Expected<mlir::Attribute>
  getInitialValue(const ::onnx::TensorProto &tensor) const;

  /// The elements of a tensor of at most kConstantLimit elements.
  llvm::Expected<Constant> getConstant(const ::onnx::TensorProto &tensor) const;

  /// The bytes of a tensor that lie in the model file or a side file, mapped
  /// as long as this object lives.
  llvm::Expected<llvm::StringRef>
  mapBytes(const ::onnx::TensorProto &tensor) const;

private:
  ModelFile(llvm::StringRef path, mlir::MLIRContext *context)
      : path(path.str()), context(context) {}

  /// Where the elements lie; nothing when they are in the message itself.
  llvm::Expected<std::optional<Extent>>
  locate(const ::onnx::TensorProto &tensor, mlir::RankedTensorType type) const;
  /// Little-endian elements, row by row; booleans take a byte each.
  llvm::Expected<std::string> readBytes(const ::onnx::TensorProto &tensor,
                                        mlir::RankedTensorType type) const;

  std::string path;
  mlir::MLIRContext *context;
  std::unique_ptr<llvm::MemoryBuffer> buffer;
  ::onnx::ModelProto model;
  /// Side files that were mapped, by path.
  mutable llvm::StringMap<std::unique_ptr<llvm::MemoryBuffer>> sideFiles;
};

} // namespace partita::nn::importer

#endif // PARTITA_DIALECTS_NN_IMPORT_TENSORDATA_H
