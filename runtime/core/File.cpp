//===- File.cpp - Reading and replacing files -------------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements File.h with POSIX calls.
//
//===----------------------------------------------------------------------===//

#include "core/File.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace partita;

static std::string reason() { return std::strerror(errno); }

MappedFile::MappedFile(const std::string &path) : name(path) {
  int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0)
    throw Error("cannot open '" + path + "': " + reason());
  struct stat status;
  std::string failure;
  if (fstat(descriptor, &status) != 0) {
    failure = reason();
  } else if (!S_ISREG(status.st_mode)) {
    failure = "not a regular file";
  } else if (status.st_size > 0) {
    length = static_cast<std::size_t>(status.st_size);
    void *memory = mmap(nullptr, length, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (memory == MAP_FAILED)
      failure = reason();
    else
      start = static_cast<const std::byte *>(memory);
  }
  close(descriptor);
  if (!failure.empty())
    throw Error("cannot read '" + path + "': " + failure);
}

MappedFile::~MappedFile() {
  if (start)
    munmap(const_cast<std::byte *>(start), length);
}

NewFile::NewFile(std::string path)
    : path(std::move(path)),
      beside(this->path + ".new-" + std::to_string(getpid())) {
  descriptor =
      open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0)
    failed("create");
}

NewFile::~NewFile() {
  if (descriptor < 0)
    return;
  close(descriptor);
  unlink(beside.c_str());
}

void NewFile::failed(const char *what) const {
  throw Error(std::string("cannot ") + what + " '" + path + "': " + reason());
}

void NewFile::write(const void *data, std::size_t bytes) {
  const char *next = static_cast<const char *>(data);
  while (bytes > 0) {
    ssize_t written = ::write(descriptor, next, bytes);
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      failed("write");
    next += written;
    bytes -= static_cast<std::size_t>(written);
  }
}

void NewFile::commit() {
  if (fsync(descriptor) != 0)
    failed("write");
  int closed = close(descriptor);
  descriptor = -1;
  if (closed != 0 || rename(beside.c_str(), path.c_str()) != 0) {
    int error = errno;
    unlink(beside.c_str());
    errno = error;
    failed("write");
  }
  // The new name itself reaches the disk with the folder. Some file systems
  // cannot sync folders; the content is safe then, too.
  std::string folder = std::filesystem::path(path).parent_path().string();
  int parent = open(folder.empty() ? "." : folder.c_str(),
                    O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (parent >= 0) {
    (void)fsync(parent);
    close(parent);
  }
}

void partita::makeFolder(const std::string &path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error || !isFolder(path))
    throw Error("cannot create the folder '" + path + "': " +
                (error ? error.message() : "a file of that name exists"));
}

bool partita::fileExists(const std::string &path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

bool partita::isFolder(const std::string &path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error);
}

std::string partita::joinPath(const std::string &folder,
                              const std::string &name) {
  return (std::filesystem::path(folder) / name).string();
}

std::string partita::fileNameOf(const std::string &tensorName) {
  std::string name = tensorName.empty() ? "_" : tensorName;
  for (char &c : name) {
    bool plain = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                 (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
    if (!plain)
      c = '_';
  }
  if (name[0] == '.')
    name[0] = '_';
  // File systems take 255 bytes; ".npy" and the mark of a new file fit, too.
  return name.substr(0, std::min<std::size_t>(name.size(), 200));
}
