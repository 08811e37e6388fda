//===- Json.h - Reading JSON with places in the text -----------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// As much JSON (RFC 8259) as certificates need. The text is not trusted: its
// size, its nesting and the number of its values are limited.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_TOOLS_CHECK_JSON_H
#define PARTITA_TOOLS_CHECK_JSON_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace partita::check {

/// Limits of what is read.
constexpr std::size_t kMaxBytes = std::size_t(1) << 28;
constexpr int kMaxNesting = 24;
constexpr std::size_t kMaxValues = std::size_t(1) << 25;

/// Thrown where a text is not what it should be.
struct Refusal {
  /// Byte of the text the message is about.
  std::size_t offset = 0;
  std::string message;
};

/// A JSON value; the members of an object keep the order of the text.
struct Json {
  enum class Kind { null, boolean, number, string, array, object };

  Kind kind = Kind::null;
  bool boolean = false;
  /// Whether the number was written as an integer that fits 64 bits.
  bool isInteger = false;
  std::int64_t integer = 0;
  double number = 0;
  std::string string;
  std::vector<Json> elements;
  std::vector<std::pair<std::string, Json>> members;
  /// Where the value begins in the text.
  std::size_t offset = 0;

  /// The member of that name, or null.
  const Json *find(const char *name) const;
};

/// Reads one value that fills `text`. Throws `Refusal` at the byte where the
/// text stops being JSON; a member given twice is refused too.
Json parseJson(const std::string &text);

/// "line 3, column 14" of a byte; both count from 1, columns in bytes.
std::string placeOf(const std::string &text, std::size_t offset);

} // namespace partita::check

#endif // PARTITA_TOOLS_CHECK_JSON_H
