//===- Samples.cpp - Samples from .npy files --------------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements the file part of Samples.h: which file holds which input, what
// types and shapes fit, and the range check of labels.
//
//===----------------------------------------------------------------------===//

#include "core/Samples.h"

#include "core/NpyFile.h"

#include <cstring>

using namespace partita;

SampleSource::~SampleSource() = default;

namespace {

/// The value at `from`, which may be unaligned.
template <typename T> T load(const std::byte *from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

class NpySource final : public SampleSource {
public:
  NpySource(const Input &input, std::unique_ptr<NpyFile> file)
      : input(input), file(std::move(file)) {
    sampleDims.assign(this->file->dims().begin() + 1, this->file->dims().end());
    sampleElements = elementsOf(sampleDims);
  }

  std::int64_t samples() const override { return file->dims()[0]; }

  void read(const std::vector<std::int64_t> &ids, const Tile &tile,
            std::byte *out) const override {
    Tile part{Dims(tile.start.begin() + 1, tile.start.end()),
              Dims(tile.size.begin() + 1, tile.size.end())};
    std::size_t fileBytes = sizeOf(file->type());
    std::size_t outBytes = sizeOf(input.tensor.type);
    std::int64_t elements = part.elements();
    std::vector<std::byte> raw;
    bool sameType = file->type() == input.tensor.type;
    if (!sameType)
      raw.resize(elements * fileBytes);
    for (std::int64_t id : ids) {
      const std::byte *sample = file->data() + id * sampleElements * fileBytes;
      copyTile(sameType ? out : raw.data(), sample, sampleDims, part,
               fileBytes);
      if (!sameType)
        convert(raw.data(), elements, out);
      if (input.limit > 0)
        checkRange(out, elements, id);
      out += elements * outBytes;
    }
  }

private:
  /// The pairs of types that `fits` lets pass.
  void convert(const std::byte *from, std::int64_t count,
               std::byte *out) const {
    for (std::int64_t i = 0; i < count; ++i) {
      if (input.tensor.type == DType::f32) {
        float value = float(load<std::uint8_t>(from + i)) / 255.0f;
        std::memcpy(out + i * sizeof(value), &value, sizeof(value));
        continue;
      }
      std::int64_t value = file->type() == DType::u8
                               ? load<std::uint8_t>(from + i)
                               : load<std::int32_t>(from + i * 4);
      std::memcpy(out + i * sizeof(value), &value, sizeof(value));
    }
  }

  void checkRange(const std::byte *values, std::int64_t count,
                  std::int64_t id) const {
    for (std::int64_t i = 0; i < count; ++i) {
      std::int64_t value = input.tensor.type == DType::i32
                               ? load<std::int32_t>(values + i * 4)
                               : load<std::int64_t>(values + i * 8);
      // Indices may count from the end.
      std::int64_t least = input.isLabel ? 0 : -input.limit;
      if (value < least || value >= input.limit)
        throw Error("sample " + std::to_string(id) + " of '" + file->path() +
                    "' has " + (input.isLabel ? "the label " : "the value ") +
                    std::to_string(value) + ", expected " +
                    std::to_string(least) + " to " +
                    std::to_string(input.limit - 1));
    }
  }

  const Input &input;
  std::unique_ptr<NpyFile> file;
  Dims sampleDims;
  std::int64_t sampleElements = 1;
};

bool fits(DType wanted, DType found) {
  if (wanted == found)
    return true;
  if (wanted == DType::f32)
    return found == DType::u8;
  if (wanted == DType::i64)
    return found == DType::i32 || found == DType::u8;
  return false;
}

/// What the file must look like, for messages.
std::string expectationOf(const Input &input) {
  Dims dims = input.tensor.dims;
  std::string text = toString(dims);
  text.replace(1, std::to_string(dims[0]).size(), "samples");
  text += std::string(" of ") + nameOf(input.tensor.type);
  if (input.tensor.type == DType::f32)
    text += " (or u8, divided by 255)";
  if (input.tensor.type == DType::i64)
    text += " (or i32, u8)";
  return text;
}

/// Why the file cannot be this input; empty when it can.
std::string complaintOn(const Input &input, const NpyFile &file) {
  const Dims &dims = file.dims();
  bool sameShape = dims.size() == input.tensor.dims.size();
  for (std::size_t i = 1; sameShape && i < dims.size(); ++i)
    sameShape = dims[i] == input.tensor.dims[i];
  if (sameShape && fits(input.tensor.type, file.type()))
    return "";
  return "'" + file.path() + "' holds " + toString(dims) + " of " +
         nameOf(file.type()) + ", expected " + expectationOf(input);
}

} // namespace

std::string partita::dataFileOf(const Program &program, const Input &input) {
  int labels = 0;
  for (const Input &other : program.inputs)
    labels += other.isLabel;
  if (input.isLabel && labels == 1)
    return "labels.npy";
  return fileNameOf(input.tensor.name) + ".npy";
}

DataSet partita::openFolder(const Program &program, const std::string &folder,
                            bool withLabels) {
  if (!isFolder(folder))
    throw Error("'" + folder +
                "' is not a folder, expected one with a .npy "
                "file per model input");
  DataSet data;
  data.name = "'" + folder + "'";
  std::string complaints, first;
  auto complain = [&](const std::string &what) {
    complaints += (complaints.empty() ? "" : "; ") + what;
  };
  for (const Input &input : program.inputs) {
    std::unique_ptr<SampleSource> &source = data.sources.emplace_back();
    if (input.isLabel && !withLabels)
      continue;
    std::string path = joinPath(folder, dataFileOf(program, input));
    if (!fileExists(path)) {
      complain("'" + path + "' is missing, expected " + expectationOf(input));
      continue;
    }
    try {
      auto file = std::make_unique<NpyFile>(path);
      std::string complaint = complaintOn(input, *file);
      if (complaint.empty())
        source = std::make_unique<NpySource>(input, std::move(file));
      else
        complain(complaint);
    } catch (const Error &error) {
      complain(error.what());
    }
    if (!source)
      continue;
    if (first.empty()) {
      first = path;
      data.samples = source->samples();
    } else if (source->samples() != data.samples) {
      complain("'" + path + "' has " + std::to_string(source->samples()) +
               " samples, and '" + first + "' has " +
               std::to_string(data.samples));
    }
  }
  if (!complaints.empty())
    throw Error(complaints);
  return data;
}
