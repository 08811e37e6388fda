//===- Json.h - Reading and quoting JSON ------------------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// As much JSON as the runtime's own files need: a reader with a limit on
// nesting and a function that quotes text.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_CORE_JSON_H
#define PARTITA_CORE_JSON_H

#include "partita/types.h"

#include <utility>

namespace partita {

/// A JSON value. Members of an object keep the order of the text.
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

  /// The member of that name, or null.
  const Json *find(const std::string &name) const;
};

/// Reads one value that fills the text. Throws `Error` with the byte at which
/// the text stops being JSON; nesting deeper than 32 and members that appear
/// twice are refused.
Json parseJson(const char *text, std::size_t length);

/// The text in double quotes, with everything escaped that JSON asks for.
std::string quoteJson(const std::string &text);

} // namespace partita

#endif // PARTITA_CORE_JSON_H
