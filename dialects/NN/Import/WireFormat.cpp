//===- WireFormat.cpp - Protobuf bytes without the weights -----*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The walker knows only the messages on the way to a tensor; every other field
// is copied as it is.
//
//===----------------------------------------------------------------------===//

#include "dialects/NN/Import/WireFormat.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallSet.h"
#include <optional>

using namespace llvm;

namespace partita::nn::importer {
namespace {

/// How a field is encoded (the lower three bits of its tag).
enum WireType : unsigned { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

/// The messages the walker looks into.
enum class Message {
  model,
  graph,
  node,
  attribute,
  tensor,
  sparseTensor,
  function,
  trainingInfo,
};

/// A field that holds another of these messages.
struct Child {
  Message parent;
  unsigned field;
  Message child;
  bool repeated;
};

// The numbers are those of onnx.proto.
constexpr Child kChildren[] = {
    {Message::model, 7, Message::graph, /*repeated=*/false},
    {Message::model, 20, Message::trainingInfo, /*repeated=*/true},
    {Message::model, 25, Message::function, /*repeated=*/true},
    {Message::trainingInfo, 1, Message::graph, /*repeated=*/false},
    {Message::trainingInfo, 2, Message::graph, /*repeated=*/false},
    {Message::function, 7, Message::node, /*repeated=*/true},
    {Message::function, 11, Message::attribute, /*repeated=*/true},
    {Message::graph, 1, Message::node, /*repeated=*/true},
    {Message::graph, 5, Message::tensor, /*repeated=*/true},
    {Message::graph, 15, Message::sparseTensor, /*repeated=*/true},
    {Message::node, 5, Message::attribute, /*repeated=*/true},
    {Message::attribute, 5, Message::tensor, /*repeated=*/false},
    {Message::attribute, 6, Message::graph, /*repeated=*/false},
    {Message::attribute, 10, Message::tensor, /*repeated=*/true},
    {Message::attribute, 11, Message::graph, /*repeated=*/true},
    {Message::attribute, 22, Message::sparseTensor, /*repeated=*/false},
    {Message::attribute, 23, Message::sparseTensor, /*repeated=*/true},
    {Message::sparseTensor, 1, Message::tensor, /*repeated=*/false},
    {Message::sparseTensor, 2, Message::tensor, /*repeated=*/false},
};

// Fields of TensorProto, and the values of its data_type that matter here.
constexpr unsigned kDataTypeField = 2;
constexpr unsigned kSegmentField = 3;
constexpr unsigned kFloatDataField = 4;
constexpr unsigned kRawDataField = 9;
constexpr unsigned kDoubleDataField = 10;
constexpr uint64_t kFloatType = 1;
constexpr uint64_t kDoubleType = 11;

/// Whether a payload in `field` holds the elements of `dataType` as they are
/// in memory.
bool holdsElements(unsigned field, uint64_t dataType) {
  return field == kRawDataField ||
         (field == kFloatDataField && dataType == kFloatType) ||
         (field == kDoubleDataField && dataType == kDoubleType);
}

bool isPayload(Message message, unsigned field) {
  return message == Message::tensor &&
         (field == kFloatDataField || field == kRawDataField ||
          field == kDoubleDataField);
}

const Child *findChild(Message parent, unsigned field) {
  const Child *child = llvm::find_if(kChildren, [&](const Child &c) {
    return c.parent == parent && c.field == field;
  });
  return child == std::end(kChildren) ? nullptr : child;
}

void appendVarint(std::string &out, uint64_t value) {
  for (; value >= 0x80; value >>= 7)
    out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

class Walker {
public:
  explicit Walker(StringRef file) : file(file) {}

  Error walk(Message message, size_t begin, size_t end, unsigned depth,
             std::string &out);

private:
  Error fault(size_t place, const Twine &what) const {
    return createStringError(inconvertibleErrorCode(),
                             "byte " + Twine(place) + ": " + what);
  }
  std::optional<uint64_t> readVarint(size_t &place, size_t end) const;
  /// The end of the field's value, which begins at `place`; for `bytes` the
  /// length is read and `place` moved behind it.
  Expected<size_t> findEnd(unsigned wireType, size_t &place, size_t end) const;
  /// Whether the payload `field` comes again between `place` and `end`.
  bool occursAgain(unsigned field, size_t place, size_t end) const;

  StringRef file;
};

std::optional<uint64_t> Walker::readVarint(size_t &place, size_t end) const {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (place == end)
      return std::nullopt;
    uint64_t byte = static_cast<unsigned char>(file[place++]);
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80)
      return value;
  }
  return std::nullopt;
}

Expected<size_t> Walker::findEnd(unsigned wireType, size_t &place,
                                 size_t end) const {
  size_t begin = place;
  size_t size = 0;
  switch (wireType) {
  case WireType::varint: {
    size_t cursor = place;
    if (!readVarint(cursor, end))
      return fault(begin, "a number that does not end");
    return cursor;
  }
  case WireType::fixed64:
    size = 8;
    break;
  case WireType::fixed32:
    size = 4;
    break;
  case WireType::bytes: {
    std::optional<uint64_t> length = readVarint(place, end);
    if (!length)
      return fault(begin, "a length that does not end");
    if (*length > end - place)
      return fault(begin, "a field of " + Twine(*length) + " bytes where " +
                              Twine(end - place) +
                              " are left; is the file cut off?");
    return place + *length;
  }
  default:
    return fault(begin,
                 "wire type " + Twine(wireType) + ", expected 0, 1, 2 or 5");
  }
  if (size > end - place)
    return fault(begin, "a field of " + Twine(size) + " bytes where " +
                            Twine(end - place) + " are left");
  return place + size;
}

bool Walker::occursAgain(unsigned field, size_t place, size_t end) const {
  while (place < end) {
    std::optional<uint64_t> tag = readVarint(place, end);
    if (!tag)
      return false;
    if (*tag >> 3 == field)
      return true;
    Expected<size_t> valueEnd = findEnd(*tag & 7, place, end);
    if (!valueEnd) {
      consumeError(valueEnd.takeError());
      return false;
    }
    place = *valueEnd;
  }
  return false;
}

Error Walker::walk(Message message, size_t begin, size_t end, unsigned depth,
                   std::string &out) {
  if (depth > kNestingLimit)
    return fault(begin, "messages nested deeper than " + Twine(kNestingLimit));
  SmallSet<unsigned, 8> seen;
  unsigned payloadField = kRawDataField;
  uint64_t dataType = 0;
  for (size_t place = begin; place < end;) {
    size_t fieldBegin = place;
    std::optional<uint64_t> tag = readVarint(place, end);
    if (!tag || *tag >> 3 == 0 || *tag >> 32 != 0)
      return fault(fieldBegin, "no valid field tag");
    auto field = static_cast<unsigned>(*tag >> 3);
    auto wireType = static_cast<unsigned>(*tag & 7);
    Expected<size_t> valueEnd = findEnd(wireType, place, end);
    if (!valueEnd)
      return valueEnd.takeError();

    if (const Child *child = findChild(message, field)) {
      if (wireType != WireType::bytes)
        return fault(fieldBegin, "field " + Twine(field) + " has wire type " +
                                     Twine(wireType) + ", expected a message");
      // Protobuf would merge the two; a payload could then come from either.
      if (!child->repeated && !seen.insert(field).second)
        return fault(fieldBegin, "field " + Twine(field) + " occurs twice");
      std::string inner;
      if (Error error = walk(child->child, place, *valueEnd, depth + 1, inner))
        return error;
      appendVarint(out, *tag);
      appendVarint(out, inner.size());
      out += inner;
    } else if (message == Message::tensor && field == kSegmentField) {
      return fault(fieldBegin, "a tensor stored in segments; save the model "
                               "again with whole tensors");
    } else if (isPayload(message, field) && wireType == WireType::bytes &&
               *valueEnd - place >= kPayloadLimit) {
      if (!seen.insert(kSegmentField).second || !seen.insert(field).second ||
          occursAgain(field, *valueEnd, end))
        return fault(fieldBegin, "tensor data in several pieces");
      payloadField = field;
      std::string segment;
      appendVarint(segment, 1 << 3 | WireType::varint);
      appendVarint(segment, place);
      appendVarint(segment, 2 << 3 | WireType::varint);
      appendVarint(segment, *valueEnd);
      appendVarint(out, kSegmentField << 3 | WireType::bytes);
      appendVarint(out, segment.size());
      out += segment;
    } else {
      if (isPayload(message, field))
        seen.insert(field);
      if (message == Message::tensor && field == kDataTypeField &&
          wireType == WireType::varint) {
        size_t cursor = place;
        dataType = *readVarint(cursor, end);
      }
      out.append(file.data() + fieldBegin, *valueEnd - fieldBegin);
    }
    place = *valueEnd;
  }
  if (message == Message::tensor && !holdsElements(payloadField, dataType))
    return fault(begin, "a tensor of data type " + Twine(dataType) +
                            " with its data in field " + Twine(payloadField));
  return Error::success();
}

} // namespace

Expected<std::string> hollowModel(StringRef bytes) {
  std::string out;
  if (Error error = Walker(bytes).walk(Message::model, 0, bytes.size(),
                                       /*depth=*/0, out))
    return error;
  return out;
}

} // namespace partita::nn::importer
