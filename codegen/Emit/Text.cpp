//===- Text.cpp - Names, literals and comments of emitted code ------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Escaping, identifiers and line breaking.
//
//===----------------------------------------------------------------------===//

#include "codegen/Emit/Text.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>

using namespace llvm;

namespace partita::codegen {

namespace {

constexpr size_t kColumns = 80;

// Words of the language, macros of the standard headers, and what the runtime
// and emitted programs call by these names.
constexpr const char *kReserved[] = {
    "alignas",  "alignof",  "and",      "and_eq",    "asm",       "auto",
    "bitand",   "bitor",    "bool",     "break",     "case",      "catch",
    "char",     "class",    "compl",    "concept",   "const",     "constexpr",
    "continue", "decltype", "default",  "delete",    "do",        "double",
    "else",     "enum",     "explicit", "export",    "extern",    "false",
    "final",    "float",    "for",      "friend",    "goto",      "if",
    "inline",   "int",      "long",     "mutable",   "namespace", "new",
    "noexcept", "not",      "not_eq",   "nullptr",   "operator",  "or",
    "or_eq",    "override", "private",  "protected", "public",    "register",
    "requires", "return",   "short",    "signed",    "sizeof",    "static",
    "struct",   "switch",   "template", "this",      "throw",     "true",
    "try",      "typedef",  "typeid",   "typename",  "union",     "unsigned",
    "using",    "virtual",  "void",     "volatile",  "while",     "xor",
    "xor_eq",   "assert",   "errno",    "stdin",     "stdout",    "stderr",
    "linux",    "unix",     "signbit",  "isnan",     "isinf",     "main",
    "std",      "partita",  "rank",     "device",    "compute",   "comm",
    "at",       "step",     "eval",     "predict",   "s",         "data_t",
    "program",  "stream",   "layer"};

bool isKept(char c) { return isAlnum(c); }

template <typename T>
std::string shortestLiteral(T value, int digits, const char *suffix) {
  if (std::isnan(value))
    return "NAN";
  if (std::isinf(value))
    return value < 0 ? "-INFINITY" : "INFINITY";
  char buffer[64];
  for (int precision = 1; precision <= digits; ++precision) {
    std::snprintf(buffer, sizeof(buffer), "%.*g", precision,
                  static_cast<double>(value));
    if (static_cast<T>(std::strtod(buffer, nullptr)) == value)
      break;
  }
  std::string text = buffer;
  if (text.find_first_of(".e") == std::string::npos)
    text += ".0";
  return text + suffix;
}

} // namespace

std::string stringLiteral(StringRef text) {
  std::string result = "\"";
  for (char c : text) {
    if (isPrint(c) && c != '"' && c != '\\' && c != '?') {
      result += c;
      continue;
    }
    // Three octal digits end by themselves, whatever follows.
    auto byte = static_cast<unsigned char>(c);
    result += '\\';
    result += static_cast<char>('0' + (byte >> 6));
    result += static_cast<char>('0' + (byte >> 3) % 8);
    result += static_cast<char>('0' + byte % 8);
  }
  return result + '"';
}

std::string commentText(StringRef text, size_t limit) {
  std::string result;
  for (char c : text) {
    if (result.size() > limit)
      return result.substr(0, limit) + "...";
    if (isPrint(c) && c != '\\')
      result += c;
    else
      result += "<" + toHex(StringRef(&c, 1), /*LowerCase=*/true) + ">";
  }
  return result;
}

std::string floatLiteral(float value) { return shortestLiteral(value, 9, "f"); }

std::string doubleLiteral(double value) {
  return shortestLiteral(value, 17, "");
}

std::string camelCase(StringRef text, StringRef fallback, size_t longest) {
  std::string result;
  bool startWord = false;
  for (char c : text) {
    if (!isKept(c)) {
      startWord = true;
      continue;
    }
    if (result.size() >= longest)
      break;
    if (result.empty())
      result += isDigit(c) ? std::string("v") + c : std::string(1, toLower(c));
    else
      result += startWord ? toUpper(c) : c;
    startWord = false;
  }
  return result.empty() ? fallback.str() : result;
}

std::string typeCase(StringRef text, StringRef fallback) {
  std::string result = camelCase(text, fallback);
  result[0] = toUpper(result[0]);
  return result;
}

Names::Names() {
  for (const char *word : kReserved)
    taken.insert(word);
}

std::string Names::make(StringRef text, StringRef fallback) {
  return make(text, "", fallback);
}

std::string Names::make(StringRef text, StringRef suffix, StringRef fallback) {
  std::string base = camelCase(text, fallback);
  if (taken.insert(base).second)
    return base;
  base += suffix.str();
  if (!suffix.empty() && taken.insert(base).second)
    return base;
  // "fc1" gives fc1_2: no camel case contains an underscore, so that numbers
  // cannot collide with other names.
  for (unsigned number = 2;; ++number) {
    std::string candidate = base + "_" + std::to_string(number);
    if (taken.insert(candidate).second)
      return candidate;
  }
}

/// The parts of `text` after its commas, except commas inside string literals
/// and, unless `inLists`, inside lists of numbers in braces.
static std::vector<std::string> splitAtCommas(StringRef text, bool inLists) {
  std::vector<std::string> parts;
  std::string part;
  bool quoted = false;
  // Braces that do not follow a type's name.
  int lists = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    part += c;
    if (c == '"')
      quoted = !quoted;
    if (c == '\\' && i + 1 < text.size())
      part += text[++i];
    if (quoted)
      continue;
    if (c == '{' && (lists > 0 || i == 0 || !isAlnum(text[i - 1])))
      ++lists;
    if (c == '}' && lists > 0)
      --lists;
    if (c == ',' && (lists == 0 || inLists) &&
        text.substr(i + 1).starts_with(" ")) {
      parts.push_back(part);
      part.clear();
      ++i;
    }
  }
  parts.push_back(part);
  return parts;
}

void printList(raw_ostream &os, StringRef head, ArrayRef<std::string> items,
               StringRef tail, unsigned indent) {
  std::string line = head.str();
  bool startsLine = true;
  auto add = [&](const std::string &part) {
    size_t gap = startsLine ? 0 : 1;
    if (line.size() > indent && line.size() + gap + part.size() > kColumns) {
      os << StringRef(line).rtrim() << '\n';
      line.assign(indent, ' ');
      gap = 0;
    }
    line += (gap ? " " : "") + part;
    startsLine = false;
  };
  for (const std::string &item : items) {
    std::string whole =
        item + (&item == &items.back() ? tail.str() : std::string(","));
    if (indent + whole.size() <= kColumns) {
      add(whole);
      continue;
    }
    // Too long for a line of its own.
    for (const std::string &part : splitAtCommas(whole, /*inLists=*/false)) {
      if (indent + part.size() <= kColumns)
        add(part);
      else
        for (const std::string &piece : splitAtCommas(part, /*inLists=*/true))
          add(piece);
    }
  }
  if (items.empty())
    line += tail.str();
  os << line << '\n';
}

void printComment(raw_ostream &os, StringRef text, unsigned indent,
                  StringRef mark) {
  std::string start = std::string(indent, ' ') + mark.str();
  SmallVector<StringRef> words;
  text.split(words, ' ', -1, /*KeepEmpty=*/false);
  std::string line = start;
  bool empty = true;
  for (StringRef word : words) {
    if (!empty && line.size() + 1 + word.size() > kColumns) {
      os << line << '\n';
      line = start;
      empty = true;
    }
    line += (empty ? "" : " ") + word.str();
    empty = false;
  }
  os << StringRef(line).rtrim() << '\n';
}

} // namespace partita::codegen
