//===- ModelWriter.cpp - Writes a model of any size ------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A serialised message is the concatenation of its fields in any order, so the
// graph is written as the serialised rest and one field per initializer.
//
//===----------------------------------------------------------------------===//

#include "dialects/NN/Import/ModelWriter.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <optional>
#include <unistd.h>

using namespace llvm;
using namespace onnx;

namespace partita::nn::importer {
namespace {

/// Smaller payloads stay in the model when the others go to a side file.
constexpr size_t kSidePayload = 1024;
/// Where tensors begin in a side file, so that they can be mapped.
constexpr uint64_t kSideAlignment = 4096;

Error fail(const Twine &what) {
  return createStringError(inconvertibleErrorCode(), what);
}

std::string varintOf(uint64_t value) {
  std::string text;
  for (; value >= 0x80; value >>= 7)
    text.push_back(static_cast<char>(value | 0x80));
  text.push_back(static_cast<char>(value));
  return text;
}

/// The tag and length before a field of `length` bytes.
std::string fieldHead(unsigned field, uint64_t length) {
  constexpr unsigned kBytesWireType = 2;
  return varintOf(field << 3 | kBytesWireType) + varintOf(length);
}

// Field numbers of onnx.proto.
constexpr unsigned kModelGraph = 7;
constexpr unsigned kGraphInitializer = 5;
constexpr unsigned kTensorRawData = 9;

/// A file that appears under its name when it is complete.
class PendingFile {
public:
  explicit PendingFile(StringRef path) : path(path.str()) {}
  ~PendingFile() {
    if (!temporary.empty())
      sys::fs::remove(temporary);
  }
  PendingFile(const PendingFile &) = delete;
  PendingFile &operator=(const PendingFile &) = delete;

  Error open() {
    SmallString<128> name;
    int descriptor;
    // Readable by others like any file the user writes.
    if (std::error_code error = sys::fs::createUniqueFile(
            path + ".%%%%%%.tmp", descriptor, name, sys::fs::OF_None,
            sys::fs::all_read | sys::fs::owner_write))
      return fail("cannot write '" + path + "': " + error.message());
    temporary = std::string(name);
    stream.emplace(descriptor, /*shouldClose=*/true);
    fileDescriptor = descriptor;
    return Error::success();
  }

  raw_fd_ostream &out() { return *stream; }

  Error commit() {
    stream->flush();
    if (!stream->has_error() && fsync(fileDescriptor) != 0)
      return fail("cannot write '" + path + "': " +
                  std::error_code(errno, std::generic_category()).message());
    stream->close();
    if (stream->has_error()) {
      std::string message = stream->error().message();
      stream->clear_error();
      return fail("cannot write '" + path + "': " + message);
    }
    if (std::error_code error = sys::fs::rename(temporary, path))
      return fail("cannot write '" + path + "': " + error.message());
    temporary.clear();
    return Error::success();
  }

private:
  std::string path, temporary;
  std::optional<raw_fd_ostream> stream;
  int fileDescriptor = -1;
};

/// The parts of a serialised model.
struct Parts {
  std::string head;
  std::string graph;
  std::vector<std::string> tensors;
  std::vector<StringRef> payloads;

  static Parts of(const ModelProto &model,
                  const std::vector<StringRef> &payloads) {
    Parts parts;
    ModelProto head = model;
    head.clear_graph();
    parts.head = head.SerializeAsString();
    GraphProto graph = model.graph();
    graph.clear_initializer();
    parts.graph = graph.SerializeAsString();
    for (const TensorProto &tensor : model.graph().initializer())
      parts.tensors.push_back(tensor.SerializeAsString());
    parts.payloads = payloads;
    return parts;
  }

  uint64_t tensorSize(size_t i) const {
    if (payloads[i].empty())
      return tensors[i].size();
    return tensors[i].size() +
           fieldHead(kTensorRawData, payloads[i].size()).size() +
           payloads[i].size();
  }
  uint64_t graphSize() const {
    uint64_t size = graph.size();
    for (size_t i = 0; i < tensors.size(); ++i)
      size +=
          fieldHead(kGraphInitializer, tensorSize(i)).size() + tensorSize(i);
    return size;
  }
  uint64_t size() const {
    return head.size() + fieldHead(kModelGraph, graphSize()).size() +
           graphSize();
  }
  void write(raw_ostream &out) const {
    out << head << fieldHead(kModelGraph, graphSize()) << graph;
    for (size_t i = 0; i < tensors.size(); ++i) {
      out << fieldHead(kGraphInitializer, tensorSize(i)) << tensors[i];
      if (!payloads[i].empty())
        out << fieldHead(kTensorRawData, payloads[i].size()) << payloads[i];
    }
  }
};

void addEntry(TensorProto &tensor, StringRef key, const Twine &value) {
  StringStringEntryProto &entry = *tensor.add_external_data();
  entry.set_key(key.str());
  entry.set_value(value.str());
}

} // namespace

Expected<std::string> writeModel(const ModelProto &model,
                                 const std::vector<StringRef> &payloads,
                                 StringRef path, uint64_t limit) {
  Parts parts = Parts::of(model, payloads);
  PendingFile file(path);
  if (parts.size() <= limit) {
    if (Error error = file.open())
      return error;
    parts.write(file.out());
    if (Error error = file.commit())
      return error;
    return std::string();
  }

  std::string sidePath = (path + ".data").str();
  PendingFile side(sidePath);
  if (Error error = side.open())
    return error;
  ModelProto outside = model;
  std::vector<StringRef> inside = payloads;
  uint64_t offset = 0;
  for (size_t i = 0; i < inside.size(); ++i) {
    if (inside[i].size() < kSidePayload)
      continue;
    uint64_t begin = llvm::alignTo(offset, kSideAlignment);
    side.out().write_zeros(begin - offset);
    side.out() << inside[i];
    TensorProto &tensor =
        *outside.mutable_graph()->mutable_initializer(static_cast<int>(i));
    tensor.set_data_location(TensorProto::EXTERNAL);
    addEntry(tensor, "location", sys::path::filename(sidePath));
    addEntry(tensor, "offset", Twine(begin));
    addEntry(tensor, "length", Twine(inside[i].size()));
    offset = begin + inside[i].size();
    inside[i] = StringRef();
  }
  parts = Parts::of(outside, inside);
  if (parts.size() > limit)
    return fail("the model has more than " + Twine(limit) +
                " bytes beside its initializers");
  if (Error error = file.open())
    return error;
  parts.write(file.out());
  // The weights first: a model that names them must find them.
  if (Error error = side.commit())
    return error;
  if (Error error = file.commit())
    return error;
  return sidePath;
}

} // namespace partita::nn::importer
