//===- Safetensors.cpp - Reading trained weights ---------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A reader that trusts no number of the header.
//
//===----------------------------------------------------------------------===//

#include "dialects/NN/Import/Safetensors.h"

#include "dialects/NN/Import/Reporter.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/JSON.h"
#include <limits>

using namespace llvm;

namespace partita::nn::importer {
namespace {

/// Headers beyond this are no headers; the format's own limit.
constexpr uint64_t kHeaderLimit = 100000000;

Error fail(const Twine &what) {
  return createStringError(inconvertibleErrorCode(), what);
}

/// Bytes per element, or 0 for a type we do not know.
int64_t elementBytes(StringRef type) {
  return StringSwitch<int64_t>(type)
      .Cases("F64", "I64", "U64", 8)
      .Cases("F32", "I32", "U32", 4)
      .Cases("F16", "BF16", "I16", "U16", 2)
      .Cases("I8", "U8", "BOOL", 1)
      .Default(0);
}

Expected<StoredTensor> readEntry(StringRef name, const json::Value &value,
                                 StringRef data) {
  const json::Object *entry = value.getAsObject();
  std::optional<StringRef> type;
  const json::Array *shape = nullptr, *offsets = nullptr;
  if (entry) {
    type = entry->getString("dtype");
    shape = entry->getArray("shape");
    offsets = entry->getArray("data_offsets");
  }
  if (!type || !shape || !offsets || offsets->size() != 2)
    return fail("tensor " + quote(name) +
                ": expected dtype, shape and two data_offsets");
  StoredTensor tensor;
  tensor.type = type->str();
  int64_t bytes = elementBytes(*type);
  if (bytes == 0)
    return fail("tensor " + quote(name) + ": unknown dtype " + quote(*type));
  for (const json::Value &dimension : *shape) {
    std::optional<int64_t> size = dimension.getAsInteger();
    if (!size || *size < 0 ||
        (*size > 0 && bytes > std::numeric_limits<int64_t>::max() / *size))
      return fail("tensor " + quote(name) + ": impossible shape");
    bytes *= *size;
    tensor.shape.push_back(*size);
  }
  std::optional<int64_t> begin = (*offsets)[0].getAsInteger();
  std::optional<int64_t> end = (*offsets)[1].getAsInteger();
  if (!begin || !end || *begin < 0 || *end < *begin ||
      static_cast<uint64_t>(*end) > data.size())
    return fail("tensor " + quote(name) +
                ": data_offsets lie outside the file's " + Twine(data.size()) +
                " bytes of data");
  if (*end - *begin != bytes)
    return fail("tensor " + quote(name) + ": " + Twine(*end - *begin) +
                " bytes of data, expected " + Twine(bytes) + " for its shape " +
                shapeText(tensor.shape));
  tensor.bytes = data.substr(*begin, bytes);
  return tensor;
}

} // namespace

Expected<std::unique_ptr<SafetensorsFile>>
SafetensorsFile::open(StringRef path) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = MemoryBuffer::getFile(
      path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return fail("cannot be read: " + buffer.getError().message());
  auto file = std::make_unique<SafetensorsFile>();
  file->buffer = std::move(*buffer);
  StringRef bytes = file->buffer->getBuffer();
  constexpr size_t kLengthBytes = 8;
  if (bytes.size() < kLengthBytes)
    return fail("has " + Twine(bytes.size()) +
                " bytes, too few for a safetensors file");
  uint64_t length = support::endian::read64le(bytes.data());
  if (length > kHeaderLimit || length > bytes.size() - kLengthBytes)
    return fail("is no safetensors file: its header would have " +
                Twine(length) + " bytes");
  Expected<json::Value> header =
      json::parse(bytes.substr(kLengthBytes, length));
  if (!header)
    return fail("has a header that is no JSON: " +
                toString(header.takeError()));
  const json::Object *entries = header->getAsObject();
  if (!entries)
    return fail("has a header that is no JSON object");
  StringRef data = bytes.substr(kLengthBytes + length);
  for (const auto &[key, value] : *entries) {
    StringRef name = key;
    if (name == "__metadata__")
      continue;
    Expected<StoredTensor> tensor = readEntry(name, value, data);
    if (!tensor)
      return tensor.takeError();
    file->tensors[name.str()] = std::move(*tensor);
  }
  return file;
}

} // namespace partita::nn::importer
