//===- Safetensors.cpp - Named tensors in a file ----------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements Safetensors.h. Offsets are 64 bits wide; tensors must tile the
// data exactly, without holes and overlaps, as the format demands.
//
//===----------------------------------------------------------------------===//

#include "core/Safetensors.h"

#include "core/Json.h"

#include <algorithm>
#include <limits>

using namespace partita;

namespace {

/// The format's own limit on the header.
constexpr std::uint64_t kLongestHeader = 100 * 1000 * 1000;

struct TypeName {
  const char *name;
  DType type;
};

constexpr TypeName kTypeNames[] = {
    {"F32", DType::f32},   {"F64", DType::f64},      {"F16", DType::f16},
    {"BF16", DType::bf16}, {"BOOL", DType::boolean}, {"I8", DType::i8},
    {"U8", DType::u8},     {"I16", DType::i16},      {"I32", DType::i32},
    {"I64", DType::i64},
};

/// Reads one member of the header; throws with the tensor's name.
Safetensors::Entry readEntry(const std::string &name, const Json &json,
                             const std::byte *data, std::uint64_t dataBytes) {
  auto fail = [&](const std::string &what) {
    throw Error("tensor " + quoteJson(name) + " " + what);
  };
  const Json *type = json.find("dtype");
  const Json *shape = json.find("shape");
  const Json *offsets = json.find("data_offsets");
  if (!type || type->kind != Json::Kind::string || !shape ||
      shape->kind != Json::Kind::array || !offsets ||
      offsets->kind != Json::Kind::array || offsets->elements.size() != 2)
    fail("lacks dtype, shape or data_offsets");

  Safetensors::Entry entry;
  auto known = std::find_if(std::begin(kTypeNames), std::end(kTypeNames),
                            [&](const TypeName &candidate) {
                              return candidate.name == type->string;
                            });
  if (known == std::end(kTypeNames))
    fail("has the unknown element type " + quoteJson(type->string));
  entry.type = known->type;

  std::uint64_t bytes = sizeOf(entry.type);
  bool tooLarge = false;
  for (const Json &dim : shape->elements) {
    if (!dim.isInteger || dim.integer < 0)
      fail("has a size that is not a whole number from 0");
    entry.dims.push_back(dim.integer);
    auto factor = static_cast<std::uint64_t>(dim.integer);
    tooLarge |= factor != 0 &&
                bytes > std::numeric_limits<std::uint64_t>::max() / factor;
    bytes *= factor;
  }
  const Json &begin = offsets->elements[0], &end = offsets->elements[1];
  if (!begin.isInteger || !end.isInteger || begin.integer < 0 ||
      end.integer < begin.integer ||
      static_cast<std::uint64_t>(end.integer) > dataBytes)
    fail("has offsets outside the file's " + std::to_string(dataBytes) +
         " bytes of data");
  entry.bytes = static_cast<std::size_t>(end.integer - begin.integer);
  if (tooLarge || entry.bytes != bytes)
    fail("has " + std::to_string(entry.bytes) +
         " bytes between its offsets, which its shape " + toString(entry.dims) +
         " of " + nameOf(entry.type) + " contradicts");
  entry.data = data + begin.integer;
  return entry;
}

/// Tensors must follow each other without holes and overlaps.
void checkTiling(const std::map<std::string, Safetensors::Entry> &entries,
                 const std::byte *data, std::uint64_t dataBytes) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> extents;
  extents.reserve(entries.size());
  for (const auto &named : entries) {
    auto start = static_cast<std::uint64_t>(named.second.data - data);
    extents.emplace_back(start, start + named.second.bytes);
  }
  std::sort(extents.begin(), extents.end());
  std::uint64_t reached = 0;
  for (const auto &extent : extents) {
    if (extent.first != reached)
      throw Error("its tensors overlap or leave a hole at byte " +
                  std::to_string(reached) + " of the data");
    reached = extent.second;
  }
  if (reached != dataBytes)
    throw Error("it holds " + std::to_string(dataBytes) +
                " bytes of data, expected " + std::to_string(reached));
}

} // namespace

Safetensors::Safetensors(const std::string &path) : file(path) {
  try {
    if (file.size() < 8)
      throw Error("it is too short");
    std::uint64_t headerBytes = 0;
    for (int i = 0; i < 8; ++i)
      headerBytes |= static_cast<std::uint64_t>(file.data()[i]) << (8 * i);
    if (headerBytes > kLongestHeader || headerBytes > file.size() - 8)
      throw Error("its header claims " + std::to_string(headerBytes) +
                  " bytes");
    const std::byte *data = file.data() + 8 + headerBytes;
    std::uint64_t dataBytes = file.size() - 8 - headerBytes;
    Json header =
        parseJson(reinterpret_cast<const char *>(file.data()) + 8, headerBytes);
    if (header.kind != Json::Kind::object)
      throw Error("its header is not an object");
    for (const auto &member : header.members) {
      if (member.first != "__metadata__") {
        entries[member.first] =
            readEntry(member.first, member.second, data, dataBytes);
        continue;
      }
      for (const auto &note : member.second.members)
        notes[note.first] = note.second.string;
    }
    checkTiling(entries, data, dataBytes);
  } catch (const Error &error) {
    throw Error("'" + path +
                "' is not a usable safetensors file: " + error.what());
  }
}

const Safetensors::Entry *Safetensors::find(const std::string &name) const {
  auto place = entries.find(name);
  return place == entries.end() ? nullptr : &place->second;
}

void SafetensorsWriter::announce(const std::string &name, DType type,
                                 const Dims &dims) {
  const char *typeName = "";
  for (const TypeName &known : kTypeNames)
    if (known.type == type)
      typeName = known.name;
  std::size_t bytes = elementsOf(dims) * sizeOf(type);
  std::string shape;
  for (std::int64_t dim : dims)
    shape += (shape.empty() ? "" : ",") + std::to_string(dim);
  header += (header.empty() ? "" : ",") + quoteJson(name) + ":{\"dtype\":\"" +
            typeName + "\",\"shape\":[" + shape + "],\"data_offsets\":[" +
            std::to_string(announced) + "," +
            std::to_string(announced + bytes) + "]}";
  announced += bytes;
}

void SafetensorsWriter::note(const std::string &key, const std::string &text) {
  notes += (notes.empty() ? "" : ",") + quoteJson(key) + ":" + quoteJson(text);
}

void SafetensorsWriter::begin(const std::string &target) {
  path = target;
  std::string text = "{";
  if (!notes.empty())
    text += "\"__metadata__\":{" + notes + "}" + (header.empty() ? "" : ",");
  text += header + "}";
  // Readers map the file; aligned data can be used where they lie.
  text.resize((text.size() + 7) / 8 * 8, ' ');
  std::uint64_t length = text.size();
  unsigned char prefix[8];
  for (int i = 0; i < 8; ++i)
    prefix[i] = static_cast<unsigned char>(length >> (8 * i));
  file = std::make_unique<NewFile>(path);
  file->write(prefix, sizeof(prefix));
  file->write(text.data(), text.size());
}

void SafetensorsWriter::append(const void *data, std::size_t bytes) {
  file->write(data, bytes);
  written += bytes;
}

void SafetensorsWriter::commit() {
  if (written != announced)
    throw Error("'" + path + "' got " + std::to_string(written) +
                " bytes of data, expected " + std::to_string(announced));
  file->commit();
}
