//===- File.h - Reading and replacing files ---------------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Files are read through a mapping, so that only the bytes in use take
// memory, and written beside their final place and renamed, so that a reader
// never sees half a file.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_CORE_FILE_H
#define PARTITA_CORE_FILE_H

#include "partita/types.h"

namespace partita {

/// A file's bytes, read-only. Throws `Error` naming the file and the reason
/// when it cannot be read.
class MappedFile {
public:
  explicit MappedFile(const std::string &path);
  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;
  ~MappedFile();

  const std::byte *data() const { return start; }
  std::size_t size() const { return length; }
  const std::string &path() const { return name; }

private:
  std::string name;
  const std::byte *start = nullptr;
  std::size_t length = 0;
};

/// A file that takes its name when it is complete. Until `commit` it lies
/// beside its place under a name of its own; without `commit` it is removed.
/// All functions throw `Error` naming the file and the system's reason.
class NewFile {
public:
  explicit NewFile(std::string path);
  NewFile(const NewFile &) = delete;
  NewFile &operator=(const NewFile &) = delete;
  ~NewFile();

  void write(const void *data, std::size_t bytes);
  /// Brings the bytes to the disk and gives the file its name.
  void commit();

private:
  [[noreturn]] void failed(const char *what) const;

  std::string path;
  std::string beside;
  int descriptor = -1;
};

/// Makes a folder and those above it, when they do not exist.
void makeFolder(const std::string &path);

bool fileExists(const std::string &path);
bool isFolder(const std::string &path);

/// `folder` and `name` with one slash between them.
std::string joinPath(const std::string &folder, const std::string &name);

/// A tensor's name as a file name: characters outside [A-Za-z0-9_.-] become
/// '_', and so does a leading dot. Never leaves its folder.
std::string fileNameOf(const std::string &tensorName);

} // namespace partita

#endif // PARTITA_CORE_FILE_H
