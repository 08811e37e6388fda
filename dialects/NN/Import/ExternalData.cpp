//===- ExternalData.cpp - Tensors in side files ----------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Confines the names of side files to the model's folder and their extents to
// the files.
//
//===----------------------------------------------------------------------===//

#include "dialects/NN/Import/ExternalData.h"

#include "dialects/NN/Import/TensorData.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace partita::nn::importer {
namespace {

Error fail(const Twine &what) {
  return createStringError(inconvertibleErrorCode(), what);
}

/// The path of the side file `location` of the model at `modelPath`.
Expected<std::string> confine(StringRef modelPath, StringRef location) {
  auto refuse = [&](const Twine &why) {
    return fail("external data in '" + location + "': " + why +
                "; side files must lie in the model's folder");
  };
  if (location.empty() || location.contains('\0'))
    return refuse("this is no file name");
  if (sys::path::is_absolute(location))
    return refuse("the path is absolute");

  StringRef folder = sys::path::parent_path(modelPath);
  SmallString<128> path(folder);
  for (StringRef part :
       llvm::make_range(sys::path::begin(location), sys::path::end(location))) {
    if (part == ".")
      continue;
    if (part == "..")
      return refuse("the path leaves the folder");
    sys::path::append(path, part);
    sys::fs::file_status status;
    if (std::error_code error = sys::fs::status(path, status, /*follow=*/false))
      return refuse(error.message());
    if (status.type() == sys::fs::file_type::symlink_file)
      return refuse("'" + part + "' is a symbolic link");
  }
  // The two canonical paths agree whatever the file system made of the name.
  SmallString<128> realFolder, realPath;
  if (std::error_code error = sys::fs::real_path(
          folder.empty() ? StringRef(".") : folder, realFolder))
    return refuse(error.message());
  if (std::error_code error = sys::fs::real_path(path, realPath))
    return refuse(error.message());
  if (!StringRef(realPath).starts_with(realFolder) ||
      (StringRef(realFolder) != "/" &&
       !StringRef(realPath).substr(realFolder.size()).starts_with("/")))
    return refuse("the path leaves the folder");
  if (!sys::fs::is_regular_file(realPath))
    return refuse("this is no regular file");
  return std::string(path);
}

/// A number written in decimal digits.
std::optional<int64_t> parseNumber(StringRef text) {
  int64_t value;
  if (text.empty() || !llvm::all_of(text, isDigit) ||
      text.getAsInteger(10, value))
    return std::nullopt;
  return value;
}

} // namespace

Expected<Extent> locateExternalData(
    StringRef modelPath,
    const google::protobuf::RepeatedPtrField<onnx::StringStringEntryProto>
        &entries,
    int64_t byteSize) {
  std::optional<std::string> location;
  std::optional<int64_t> offset, length;
  SmallVector<StringRef> seen;
  for (const onnx::StringStringEntryProto &entry : entries) {
    StringRef key = entry.key(), value = entry.value();
    if (llvm::is_contained(seen, key))
      return fail("external data: key '" + key + "' occurs twice");
    seen.push_back(key);
    if (key == "location") {
      location = value.str();
      continue;
    }
    if (key == "checksum")
      continue;
    if (key != "offset" && key != "length")
      return fail("external data: unknown key '" + key +
                  "', expected location, offset, length or checksum");
    std::optional<int64_t> number = parseNumber(value);
    if (!number)
      return fail("external data: " + key + " is '" + value +
                  "', expected a number of bytes that is not negative");
    (key == "offset" ? offset : length) = number;
  }
  if (!location)
    return fail("external data without a location");
  if (length && *length != byteSize)
    return fail("external data of " + Twine(*length) + " bytes, expected " +
                Twine(byteSize) + " for its shape");

  Expected<std::string> path = confine(modelPath, *location);
  if (!path)
    return path.takeError();
  uint64_t fileSize = 0;
  if (std::error_code error = sys::fs::file_size(*path, fileSize))
    return fail("external data in '" + *location + "': " + error.message());
  uint64_t begin = offset.value_or(0);
  if (begin > fileSize || uint64_t(byteSize) > fileSize - begin)
    return fail("external data in '" + *location + "': bytes " + Twine(begin) +
                " to " + Twine(begin + byteSize) + ", but the file has " +
                Twine(fileSize));
  Extent extent;
  extent.path = std::move(*path);
  extent.offset = static_cast<int64_t>(begin);
  extent.length = byteSize;
  return extent;
}

} // namespace partita::nn::importer
