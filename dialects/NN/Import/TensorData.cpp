//===- TensorData.cpp - Where an ONNX tensor's elements lie ----*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decoding of TensorProto in all its encodings, and of external data.
//
//===----------------------------------------------------------------------===//

#include "dialects/NN/Import/TensorData.h"

#include "dialects/NN/IR/NNOps.h"
#include "dialects/NN/Import/ExternalData.h"
#include "dialects/NN/Import/WireFormat.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cstring>
#include <limits>

using namespace llvm;
using namespace mlir;
using onnx::TensorProto;

namespace partita::nn::importer {
namespace {

Error fail(const Twine &what) {
  return createStringError(inconvertibleErrorCode(), what);
}

/// Append the low bytes of each number of `values`, `width` bytes each.
template <typename Values>
void appendLow(std::string &bytes, const Values &values, size_t width) {
  for (auto value : values) {
    auto bits = static_cast<uint64_t>(value);
    bytes.append(reinterpret_cast<const char *>(&bits), width);
  }
}

/// The bytes of the typed fields, or of raw_data; and how many of these fields
/// hold something.
struct InlineData {
  std::string bytes;
  unsigned fields = 0;
};

InlineData readInline(const TensorProto &tensor, size_t width) {
  InlineData data;
  if (!tensor.raw_data().empty()) {
    ++data.fields;
    data.bytes += tensor.raw_data();
  }
  if (tensor.float_data_size() > 0) {
    ++data.fields;
    data.bytes.append(
        reinterpret_cast<const char *>(tensor.float_data().data()),
        sizeof(float) * tensor.float_data_size());
  }
  if (tensor.double_data_size() > 0) {
    ++data.fields;
    data.bytes.append(
        reinterpret_cast<const char *>(tensor.double_data().data()),
        sizeof(double) * tensor.double_data_size());
  }
  if (tensor.int32_data_size() > 0) {
    ++data.fields;
    appendLow(data.bytes, tensor.int32_data(), width);
  }
  if (tensor.int64_data_size() > 0) {
    ++data.fields;
    appendLow(data.bytes, tensor.int64_data(), width);
  }
  if (tensor.uint64_data_size() > 0) {
    ++data.fields;
    appendLow(data.bytes, tensor.uint64_data(), width);
  }
  return data;
}

/// Whether the typed field that is filled is the one ONNX assigns to the type.
bool fieldFitsType(const TensorProto &tensor) {
  switch (tensor.data_type()) {
  case TensorProto::FLOAT:
    return tensor.double_data_size() + tensor.int32_data_size() +
               tensor.int64_data_size() + tensor.uint64_data_size() ==
           0;
  case TensorProto::DOUBLE:
    return tensor.float_data_size() + tensor.int32_data_size() +
               tensor.int64_data_size() + tensor.uint64_data_size() ==
           0;
  case TensorProto::INT64:
    return tensor.float_data_size() + tensor.double_data_size() +
               tensor.int32_data_size() + tensor.uint64_data_size() ==
           0;
  case TensorProto::UINT32:
  case TensorProto::UINT64:
    return tensor.float_data_size() + tensor.double_data_size() +
               tensor.int32_data_size() + tensor.int64_data_size() ==
           0;
  default:
    return tensor.float_data_size() + tensor.double_data_size() +
               tensor.int64_data_size() + tensor.uint64_data_size() ==
           0;
  }
}

/// Bytes of one element in a file; a boolean takes one.
size_t elementBytes(Type elementType) {
  return std::max(1u, elementType.getIntOrFloatBitWidth() / 8);
}

} // namespace

Type elementTypeOf(MLIRContext *context, int dataType) {
  Builder builder(context);
  switch (dataType) {
  case TensorProto::FLOAT:
    return builder.getF32Type();
  case TensorProto::DOUBLE:
    return builder.getF64Type();
  case TensorProto::FLOAT16:
    return builder.getF16Type();
  case TensorProto::BFLOAT16:
    return builder.getBF16Type();
  case TensorProto::BOOL:
    return builder.getI1Type();
  case TensorProto::INT8:
    return builder.getIntegerType(8);
  case TensorProto::INT16:
    return builder.getIntegerType(16);
  case TensorProto::INT32:
    return builder.getIntegerType(32);
  case TensorProto::INT64:
    return builder.getIntegerType(64);
  case TensorProto::UINT8:
    return builder.getIntegerType(8, /*isSigned=*/false);
  case TensorProto::UINT16:
    return builder.getIntegerType(16, /*isSigned=*/false);
  case TensorProto::UINT32:
    return builder.getIntegerType(32, /*isSigned=*/false);
  case TensorProto::UINT64:
    return builder.getIntegerType(64, /*isSigned=*/false);
  default:
    return Type();
  }
}

int dataTypeOf(Type elementType) {
  for (int dataType = TensorProto::DataType_MIN;
       dataType <= TensorProto::DataType_MAX; ++dataType)
    if (elementTypeOf(elementType.getContext(), dataType) == elementType)
      return dataType;
  return TensorProto::UNDEFINED;
}

std::string dataTypeName(int dataType) {
  if (TensorProto::DataType_IsValid(dataType))
    return TensorProto::DataType_Name(
        static_cast<TensorProto::DataType>(dataType));
  return "data type " + std::to_string(dataType);
}

Expected<RankedTensorType> checkedType(ArrayRef<int64_t> shape,
                                       Type elementType) {
  int64_t count = 1;
  for (auto [axis, size] : llvm::enumerate(shape)) {
    if (size < 0)
      return fail("dimension " + Twine(axis) + " is " + Twine(size) +
                  ", expected a size of 0 or more");
    // A later 0 must not hide an overflow before it.
    if (size > 0 && count > kElementLimit / size)
      return fail("more than 2^40 elements");
    count *= std::max<int64_t>(size, 1);
  }
  return RankedTensorType::get(shape, elementType);
}

Expected<std::unique_ptr<ModelFile>> ModelFile::open(StringRef path,
                                                     MLIRContext *context) {
  sys::fs::file_status status;
  if (std::error_code error = sys::fs::status(path, status))
    return fail("cannot be opened: " + error.message());
  if (status.type() != sys::fs::file_type::regular_file)
    return fail("is not a regular file");
  // No null terminator, so that the file is mapped and not read.
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = MemoryBuffer::getFile(
      path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return fail("cannot be read: " + buffer.getError().message());
  std::unique_ptr<ModelFile> file(new ModelFile(path, context));
  file->buffer = std::move(*buffer);
  if (file->buffer->getBufferSize() == 0)
    return fail("is empty, expected an ONNX model");

  Expected<std::string> hollow = hollowModel(file->buffer->getBuffer());
  if (!hollow)
    return fail("is damaged or no ONNX model: " + toString(hollow.takeError()));
  if (hollow->size() > size_t(std::numeric_limits<int>::max()))
    return fail("holds more than 2 GB beside its weights");
  if (!file->model.ParseFromArray(hollow->data(),
                                  static_cast<int>(hollow->size())))
    return fail("is damaged or no ONNX model: protobuf cannot parse it");
  if (!file->model.has_graph())
    return fail("has no graph; is it an ONNX model?");
  return file;
}

Expected<RankedTensorType> ModelFile::getType(const TensorProto &tensor) const {
  Type elementType = elementTypeOf(context, tensor.data_type());
  if (!elementType)
    return fail("elements of type " + dataTypeName(tensor.data_type()) +
                ", expected floating-point numbers, integers of 8 to 64 bits "
                "or booleans");
  return checkedType(
      ArrayRef<int64_t>(tensor.dims().data(), tensor.dims_size()), elementType);
}

Expected<std::optional<Extent>> ModelFile::locate(const TensorProto &tensor,
                                                  RankedTensorType type) const {
  int64_t expected = byteSize(type);
  if (tensor.data_location() == TensorProto::EXTERNAL) {
    Expected<Extent> extent =
        locateExternalData(path, tensor.external_data(), expected);
    if (!extent)
      return extent.takeError();
    return std::optional<Extent>(std::move(*extent));
  }
  if (!tensor.has_segment())
    return std::optional<Extent>();
  Extent extent;
  extent.path = path;
  extent.offset = tensor.segment().begin();
  extent.length = tensor.segment().end() - tensor.segment().begin();
  if (readInline(tensor, elementBytes(type.getElementType())).fields > 0)
    return fail("data in two fields at once");
  if (extent.length != expected)
    return fail(Twine(extent.length) + " bytes of data, expected " +
                Twine(expected) + " for its shape");
  return std::optional<Extent>(std::move(extent));
}

Expected<std::string> ModelFile::readBytes(const TensorProto &tensor,
                                           RankedTensorType type) const {
  Expected<std::optional<Extent>> extent = locate(tensor, type);
  if (!extent)
    return extent.takeError();
  if (*extent && (*extent)->path == path)
    return buffer->getBuffer()
        .substr((*extent)->offset, (*extent)->length)
        .str();
  if (*extent) {
    ErrorOr<std::unique_ptr<MemoryBuffer>> slice = MemoryBuffer::getFileSlice(
        (*extent)->path, (*extent)->length, (*extent)->offset);
    if (!slice)
      return fail("the side file '" + (*extent)->path +
                  "' cannot be read: " + slice.getError().message());
    return (*slice)->getBuffer().str();
  }
  size_t width = elementBytes(type.getElementType());
  InlineData data = readInline(tensor, width);
  if (data.fields > 1)
    return fail("data in two fields at once");
  if (!fieldFitsType(tensor))
    return fail("data in a field that is not for " +
                dataTypeName(tensor.data_type()));
  if (data.bytes.size() != static_cast<size_t>(byteSize(type)))
    return fail(Twine(data.bytes.size() / width) + " elements, expected " +
                Twine(type.getNumElements()) + " for its shape");
  return std::move(data.bytes);
}

Expected<Constant> ModelFile::getConstant(const TensorProto &tensor) const {
  Expected<RankedTensorType> type = getType(tensor);
  if (!type)
    return type.takeError();
  if (type->getNumElements() > kConstantLimit)
    return fail(Twine(type->getNumElements()) +
                " elements where a value known at compile time is needed; at "
                "most " +
                Twine(kConstantLimit) + " are evaluated");
  Expected<std::string> bytes = readBytes(tensor, *type);
  if (!bytes)
    return bytes.takeError();
  Type elementType = type->getElementType();
  size_t width = elementBytes(elementType);
  std::vector<int64_t> ints;
  std::vector<double> floats;
  for (size_t place = 0; place < bytes->size(); place += width) {
    uint64_t bits = 0;
    std::memcpy(&bits, bytes->data() + place, width);
    if (auto floatType = dyn_cast<FloatType>(elementType)) {
      APFloat value(floatType.getFloatSemantics(), APInt(width * 8, bits));
      bool losesInfo;
      value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                    &losesInfo);
      floats.push_back(value.convertToDouble());
    } else {
      ints.push_back(static_cast<int64_t>(bits));
    }
  }
  if (isa<FloatType>(elementType))
    return Constant::ofFloats(*type, std::move(floats));
  return Constant::ofInts(*type, std::move(ints));
}

Expected<StringRef> ModelFile::mapBytes(const TensorProto &tensor) const {
  // The extent of a segment was checked when the file was read.
  if (tensor.data_location() != TensorProto::EXTERNAL)
    return buffer->getBuffer().substr(tensor.segment().begin(),
                                      tensor.segment().end() -
                                          tensor.segment().begin());
  Expected<RankedTensorType> type = getType(tensor);
  if (!type)
    return type.takeError();
  Expected<Extent> extent =
      locateExternalData(path, tensor.external_data(), byteSize(*type));
  if (!extent)
    return extent.takeError();
  std::unique_ptr<MemoryBuffer> &side = sideFiles[extent->path];
  if (!side) {
    ErrorOr<std::unique_ptr<MemoryBuffer>> mapped = MemoryBuffer::getFile(
        extent->path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
    if (!mapped)
      return fail("the side file '" + extent->path +
                  "' cannot be read: " + mapped.getError().message());
    side = std::move(*mapped);
  }
  if (side->getBufferSize() <
      static_cast<size_t>(extent->offset + extent->length))
    return fail("the side file '" + extent->path + "' became shorter");
  return side->getBuffer().substr(extent->offset, extent->length);
}

Expected<Attribute>
ModelFile::getInitialValue(const TensorProto &tensor) const {
  Expected<RankedTensorType> type = getType(tensor);
  if (!type)
    return type.takeError();
  Type elementType = type->getElementType();
  Expected<std::optional<Extent>> extent = locate(tensor, *type);
  if (!extent)
    return extent.takeError();
  // Booleans are packed differently in attributes and files.
  if (*extent && !elementType.isInteger(1))
    return FileAttr::get(context, (*extent)->path, (*extent)->offset,
                         (*extent)->length);
  Expected<std::string> bytes = readBytes(tensor, *type);
  if (!bytes)
    return bytes.takeError();
  if (elementType.isInteger(1)) {
    SmallVector<bool> values;
    for (char byte : *bytes)
      values.push_back(byte != 0);
    return DenseElementsAttr::get(*type, values);
  }
  if (type->getNumElements() == 0)
    return DenseElementsAttr::get(*type, ArrayRef<Attribute>());
  return DenseElementsAttr::getFromRawBuffer(
      *type, ArrayRef<char>(bytes->data(), bytes->size()));
}

} // namespace partita::nn::importer
