//===- Json.cpp - Reading JSON with places in the text --------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A recursive descent reader.
//
//===----------------------------------------------------------------------===//

#include "Json.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>

namespace partita::check {

const Json *Json::find(const char *name) const {
  for (const auto &[key, value] : members)
    if (key == name)
      return &value;
  return nullptr;
}

std::string placeOf(const std::string &text, std::size_t offset) {
  offset = std::min(offset, text.size());
  std::size_t line = 1 + std::count(text.begin(), text.begin() + offset, '\n');
  std::size_t begin =
      offset == 0 ? std::string::npos : text.rfind('\n', offset - 1);
  std::size_t column = begin == std::string::npos ? offset + 1 : offset - begin;
  return std::to_string(line) + ":" + std::to_string(column);
}

namespace {

class Parser {
public:
  explicit Parser(const std::string &text) : text(text) {}

  Json parse() {
    if (text.size() > kMaxBytes)
      refuse("the text has " + std::to_string(text.size()) +
             " bytes, at most " + std::to_string(kMaxBytes) + " are read");
    Json value = parseValue(0);
    skipSpace();
    if (at != text.size())
      refuse("the text goes on after its value");
    return value;
  }

private:
  [[noreturn]] void refuse(const std::string &message) const {
    throw Refusal{at, message};
  }

  char peek() const { return at < text.size() ? text[at] : '\0'; }

  void skipSpace() {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\n' ||
                                text[at] == '\t' || text[at] == '\r'))
      ++at;
  }

  void expect(char c) {
    skipSpace();
    if (peek() != c || at >= text.size())
      refuse(std::string("expected '") + c + "', found " + foundText());
    ++at;
  }

  std::string foundText() const {
    if (at >= text.size())
      return "the end of the text";
    unsigned char c = static_cast<unsigned char>(text[at]);
    if (c < 0x20 || c >= 0x7f)
      return "byte " + std::to_string(c);
    return std::string("'") + text[at] + "'";
  }

  bool takeWord(const char *word) {
    std::string expected(word);
    if (text.compare(at, expected.size(), expected) != 0)
      return false;
    at += expected.size();
    return true;
  }

  Json parseValue(int depth) {
    if (depth > kMaxNesting)
      refuse("nested deeper than " + std::to_string(kMaxNesting));
    if (++values > kMaxValues)
      refuse("more than " + std::to_string(kMaxValues) + " values");
    skipSpace();
    Json value;
    value.offset = at;
    char c = peek();
    if (c == '{')
      parseObject(value, depth);
    else if (c == '[')
      parseArray(value, depth);
    else if (c == '"') {
      value.kind = Json::Kind::string;
      value.string = parseString();
    } else if (c == '-' || (c >= '0' && c <= '9'))
      parseNumber(value);
    else if (takeWord("true")) {
      value.kind = Json::Kind::boolean;
      value.boolean = true;
    } else if (takeWord("false"))
      value.kind = Json::Kind::boolean;
    else if (!takeWord("null"))
      refuse("expected a value, found " + foundText());
    return value;
  }

  void parseObject(Json &value, int depth) {
    value.kind = Json::Kind::object;
    ++at;
    skipSpace();
    if (peek() == '}') {
      ++at;
      return;
    }
    for (;;) {
      skipSpace();
      std::size_t begin = at;
      if (peek() != '"')
        refuse("expected the name of a member, found " + foundText());
      std::string name = parseString();
      if (value.members.size() >= 64)
        refuse("an object with more than 64 members");
      if (value.find(name.c_str())) {
        at = begin;
        refuse("member \"" + name + "\" is given twice");
      }
      expect(':');
      value.members.emplace_back(std::move(name), parseValue(depth + 1));
      skipSpace();
      if (peek() == '}') {
        ++at;
        return;
      }
      expect(',');
    }
  }

  void parseArray(Json &value, int depth) {
    value.kind = Json::Kind::array;
    ++at;
    skipSpace();
    if (peek() == ']') {
      ++at;
      return;
    }
    for (;;) {
      value.elements.push_back(parseValue(depth + 1));
      skipSpace();
      if (peek() == ']') {
        ++at;
        return;
      }
      expect(',');
    }
  }

  void parseNumber(Json &value) {
    value.kind = Json::Kind::number;
    std::size_t begin = at;
    if (peek() == '-')
      ++at;
    auto digits = [&] {
      if (peek() < '0' || peek() > '9')
        refuse("expected a digit, found " + foundText());
      while (peek() >= '0' && peek() <= '9')
        ++at;
    };
    if (peek() == '0' && at + 1 < text.size() && text[at + 1] >= '0' &&
        text[at + 1] <= '9')
      refuse("a number begins with 0");
    digits();
    bool isInteger = true;
    if (peek() == '.') {
      isInteger = false;
      ++at;
      digits();
    }
    if (peek() == 'e' || peek() == 'E') {
      isInteger = false;
      ++at;
      if (peek() == '+' || peek() == '-')
        ++at;
      digits();
    }
    std::string digitsText = text.substr(begin, at - begin);
    value.number = std::strtod(digitsText.c_str(), nullptr);
    if (!std::isfinite(value.number)) {
      at = begin;
      refuse("the number is too large");
    }
    if (!isInteger)
      return;
    errno = 0;
    value.integer = std::strtoll(digitsText.c_str(), nullptr, 10);
    value.isInteger = errno == 0;
  }

  int hexDigit() {
    char c = peek();
    int digit = c >= '0' && c <= '9'   ? c - '0'
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                       : -1;
    if (digit < 0)
      refuse("expected a hexadecimal digit, found " + foundText());
    ++at;
    return digit;
  }

  unsigned parseUnit() {
    unsigned unit = 0;
    for (int i = 0; i < 4; ++i)
      unit = unit * 16 + static_cast<unsigned>(hexDigit());
    return unit;
  }

  static void appendUtf8(std::string &to, unsigned code) {
    auto byte = [&](unsigned value) { to += static_cast<char>(value); };
    if (code < 0x80) {
      byte(code);
    } else if (code < 0x800) {
      byte(0xc0 | (code >> 6));
      byte(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
      byte(0xe0 | (code >> 12));
      byte(0x80 | ((code >> 6) & 0x3f));
      byte(0x80 | (code & 0x3f));
    } else {
      byte(0xf0 | (code >> 18));
      byte(0x80 | ((code >> 12) & 0x3f));
      byte(0x80 | ((code >> 6) & 0x3f));
      byte(0x80 | (code & 0x3f));
    }
  }

  void parseEscape(std::string &to) {
    char c = peek();
    ++at;
    switch (c) {
    case '"':
    case '\\':
    case '/':
      to += c;
      return;
    case 'b':
      to += '\b';
      return;
    case 'f':
      to += '\f';
      return;
    case 'n':
      to += '\n';
      return;
    case 'r':
      to += '\r';
      return;
    case 't':
      to += '\t';
      return;
    case 'u':
      break;
    default:
      --at;
      refuse("no such escape in a string: " + foundText());
    }
    unsigned code = parseUnit();
    if (code >= 0xd800 && code < 0xdc00 && text.compare(at, 2, "\\u") == 0) {
      at += 2;
      unsigned low = parseUnit();
      if (low < 0xdc00 || low > 0xdfff)
        refuse("half of a surrogate pair");
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    } else if (code >= 0xd800 && code < 0xe000) {
      refuse("half of a surrogate pair");
    }
    appendUtf8(to, code);
  }

  std::string parseString() {
    std::string result;
    ++at;
    for (;;) {
      if (at >= text.size())
        refuse("a string without end");
      char c = text[at];
      if (static_cast<unsigned char>(c) < 0x20)
        refuse("a control character in a string: " + foundText());
      ++at;
      if (c == '"')
        return result;
      if (c == '\\')
        parseEscape(result);
      else
        result += c;
    }
  }

  const std::string &text;
  std::size_t at = 0;
  std::size_t values = 0;
};

} // namespace

Json parseJson(const std::string &text) { return Parser(text).parse(); }

} // namespace partita::check
