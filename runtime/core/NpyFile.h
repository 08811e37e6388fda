//===- NpyFile.h - Arrays in NumPy's file format ----------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads and writes .npy files, versions 1 to 3, little-endian and in C order.
// A file that is anything else is refused in one sentence.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_CORE_NPYFILE_H
#define PARTITA_CORE_NPYFILE_H

#include "core/File.h"

#include <memory>

namespace partita {

/// An array in a mapped .npy file. The constructor checks the header against
/// the file's size, so that all elements can be read.
class NpyFile {
public:
  /// Throws `Error` naming the file and what is wrong with it.
  explicit NpyFile(const std::string &path);

  DType type() const { return elementType; }
  const Dims &dims() const { return sizes; }
  /// The elements, densely packed, row-major, perhaps not aligned.
  const std::byte *data() const { return file.data() + dataOffset; }
  const std::string &path() const { return file.path(); }

private:
  MappedFile file;
  std::size_t dataOffset = 0;
  DType elementType = DType::f32;
  Dims sizes;
};

/// Writes an array row block by row block; the file appears when it is
/// complete.
class NpyWriter {
public:
  NpyWriter(const std::string &path, DType type, const Dims &dims);
  void append(const void *data, std::size_t bytes) { file.write(data, bytes); }
  void commit() { file.commit(); }

private:
  NewFile file;
};

} // namespace partita

#endif // PARTITA_CORE_NPYFILE_H
