//===- Json.cpp - Reading and quoting JSON ----------------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A recursive descent over the grammar of RFC 8259.
//
//===----------------------------------------------------------------------===//

#include "core/Json.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <set>

using namespace partita;

const Json *Json::find(const std::string &name) const {
  for (const auto &member : members)
    if (member.first == name)
      return &member.second;
  return nullptr;
}

namespace {

constexpr int kDeepest = 32;

class Parser {
public:
  Parser(const char *text, std::size_t length)
      : start(text), next(text), end(text + length) {}

  Json parse() {
    Json value = parseValue(0);
    skipSpace();
    if (next != end)
      fail("text after the value");
    return value;
  }

private:
  [[noreturn]] void fail(const std::string &what) const {
    throw Error("not valid JSON at byte " + std::to_string(next - start) +
                ": " + what);
  }

  void skipSpace() {
    while (next != end &&
           (*next == ' ' || *next == '\t' || *next == '\n' || *next == '\r'))
      ++next;
  }

  bool accept(char c) {
    skipSpace();
    if (next == end || *next != c)
      return false;
    ++next;
    return true;
  }

  void expect(char c) {
    if (!accept(c))
      fail(std::string("expected '") + c + "'");
  }

  bool acceptWord(const char *word) {
    std::size_t length = std::strlen(word);
    if (static_cast<std::size_t>(end - next) < length ||
        std::memcmp(next, word, length) != 0)
      return false;
    next += length;
    return true;
  }

  Json parseValue(int depth) {
    if (depth > kDeepest)
      fail("nested deeper than " + std::to_string(kDeepest));
    Json value;
    skipSpace();
    if (next == end)
      fail("expected a value");
    if (*next == '{') {
      parseObject(value, depth);
    } else if (*next == '[') {
      parseArray(value, depth);
    } else if (*next == '"') {
      value.kind = Json::Kind::string;
      value.string = parseString();
    } else if (acceptWord("true") || acceptWord("false")) {
      value.kind = Json::Kind::boolean;
      value.boolean = next[-2] == 'u';
    } else if (!acceptWord("null")) {
      parseNumber(value);
    }
    return value;
  }

  void parseObject(Json &value, int depth) {
    value.kind = Json::Kind::object;
    std::set<std::string> names;
    expect('{');
    if (accept('}'))
      return;
    do {
      skipSpace();
      std::string name = parseString();
      if (!names.insert(name).second)
        fail("the name " + quoteJson(name) + " appears twice");
      expect(':');
      value.members.emplace_back(std::move(name), parseValue(depth + 1));
    } while (accept(','));
    expect('}');
  }

  void parseArray(Json &value, int depth) {
    value.kind = Json::Kind::array;
    expect('[');
    if (accept(']'))
      return;
    do
      value.elements.push_back(parseValue(depth + 1));
    while (accept(','));
    expect(']');
  }

  std::string parseString() {
    if (next == end || *next != '"')
      fail("expected a text in double quotes");
    ++next;
    std::string text;
    while (next != end && *next != '"') {
      if (static_cast<unsigned char>(*next) < 0x20)
        fail("a control character inside a text");
      if (*next != '\\') {
        text += *next++;
        continue;
      }
      ++next;
      parseEscape(text);
    }
    if (next == end)
      fail("the text ends inside quotes");
    ++next;
    return text;
  }

  void parseEscape(std::string &text) {
    static const char codes[] = "\"\\/bfnrt";
    static const char meanings[] = "\"\\/\b\f\n\r\t";
    if (next == end)
      fail("the text ends inside an escape");
    char code = *next++;
    if (code == 'u')
      return appendUtf8(text, parseUnicode());
    const char *place = std::strchr(codes, code);
    if (!place || code == '\0')
      fail("an unknown escape");
    text += meanings[place - codes];
  }

  unsigned parseUnicode() {
    unsigned point = parseHex();
    if (point < 0xD800 || point > 0xDFFF)
      return point;
    if (point > 0xDBFF || end - next < 2 || next[0] != '\\' || next[1] != 'u')
      fail("half of a surrogate pair");
    next += 2;
    unsigned low = parseHex();
    if (low < 0xDC00 || low > 0xDFFF)
      fail("half of a surrogate pair");
    return 0x10000 + ((point - 0xD800) << 10) + (low - 0xDC00);
  }

  unsigned parseHex() {
    unsigned value = 0;
    for (int i = 0; i < 4; ++i, ++next) {
      char c = next == end ? ' ' : *next;
      if (c >= '0' && c <= '9')
        value = value * 16 + (c - '0');
      else if (c >= 'a' && c <= 'f')
        value = value * 16 + (c - 'a' + 10);
      else if (c >= 'A' && c <= 'F')
        value = value * 16 + (c - 'A' + 10);
      else
        fail("expected four hexadecimal digits");
    }
    return value;
  }

  static void appendUtf8(std::string &text, unsigned point) {
    if (point < 0x80) {
      text += static_cast<char>(point);
      return;
    }
    int more = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
    static const unsigned char leads[] = {0, 0xC0, 0xE0, 0xF0};
    text += static_cast<char>(leads[more] | (point >> (6 * more)));
    while (more-- > 0)
      text += static_cast<char>(0x80 | ((point >> (6 * more)) & 0x3F));
  }

  void parseNumber(Json &value) {
    const char *first = next;
    bool integer = true;
    if (next != end && *next == '-')
      ++next;
    const char *digits = next;
    while (next != end && std::strchr("0123456789+-.eE", *next) && *next) {
      integer &= *next >= '0' && *next <= '9';
      ++next;
    }
    if (next == digits || *digits < '0' || *digits > '9')
      fail("expected a value");
    std::string text(first, next);
    char *stop = nullptr;
    value.kind = Json::Kind::number;
    value.number = std::strtod(text.c_str(), &stop);
    if (*stop)
      fail("'" + text + "' is not a number");
    errno = 0;
    value.integer = std::strtoll(text.c_str(), nullptr, 10);
    value.isInteger = integer && errno == 0;
  }

  const char *start;
  const char *next;
  const char *end;
};

} // namespace

Json partita::parseJson(const char *text, std::size_t length) {
  return Parser(text, length).parse();
}

std::string partita::quoteJson(const std::string &text) {
  static const char digits[] = "0123456789abcdef";
  std::string quoted = "\"";
  for (char c : text) {
    auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (code < 0x20) {
      quoted += "\\u00";
      quoted += digits[code >> 4];
      quoted += digits[code & 15];
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}
