//===- Safetensors.h - Named tensors in a file ------------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads and writes the safetensors format: the length of a JSON header, the
// header, and the tensors' bytes. All offsets are checked against the file
// before anything is read.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_CORE_SAFETENSORS_H
#define PARTITA_CORE_SAFETENSORS_H

#include "core/File.h"

#include <map>
#include <memory>

namespace partita {

/// A mapped safetensors file.
class Safetensors {
public:
  struct Entry {
    DType type = DType::f32;
    Dims dims;
    /// Dense, row-major, perhaps not aligned.
    const std::byte *data = nullptr;
    std::size_t bytes = 0;
  };

  /// Throws `Error` naming the file and what is wrong with it.
  explicit Safetensors(const std::string &path);

  /// The tensor of that name, or null.
  const Entry *find(const std::string &name) const;
  const std::map<std::string, Entry> &all() const { return entries; }
  const std::map<std::string, std::string> &metadata() const { return notes; }
  const std::string &path() const { return file.path(); }

private:
  MappedFile file;
  std::map<std::string, Entry> entries;
  std::map<std::string, std::string> notes;
};

/// Writes a safetensors file: first all tensors are announced, then their bytes
/// follow in the same order. The file appears when it is complete.
class SafetensorsWriter {
public:
  void announce(const std::string &name, DType type, const Dims &dims);
  void note(const std::string &key, const std::string &text);

  /// Creates the file and writes the header.
  void begin(const std::string &path);
  void append(const void *data, std::size_t bytes);
  /// Throws `Error` when less was written than announced.
  void commit();

private:
  std::string header;
  std::string notes;
  std::size_t announced = 0;
  std::size_t written = 0;
  std::string path;
  std::unique_ptr<NewFile> file;
};

} // namespace partita

#endif // PARTITA_CORE_SAFETENSORS_H
