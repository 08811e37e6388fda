//===- NpyFile.cpp - Arrays in NumPy's file format --------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The header is the text of a Python dictionary with three known keys, as
// NumPy's format description fixes it; the scanner knows exactly that much
// Python.
//
//===----------------------------------------------------------------------===//

#include "core/NpyFile.h"

#include <cstring>
#include <limits>

using namespace partita;

namespace {

constexpr char kMagic[] = {'\x93', 'N', 'U', 'M', 'P', 'Y'};

/// NumPy itself never writes longer ones unless an array has fields.
constexpr std::size_t kLongestHeader = 1 << 16;

struct TypeCode {
  const char *code;
  DType type;
};

constexpr TypeCode kTypeCodes[] = {
    {"<f4", DType::f32},     {"<f8", DType::f64}, {"<f2", DType::f16},
    {"|b1", DType::boolean}, {"|i1", DType::i8},  {"|u1", DType::u8},
    {"<i2", DType::i16},     {"<i4", DType::i32}, {"<i8", DType::i64},
};

/// Reads the dictionary of a header.
class HeaderScanner {
public:
  HeaderScanner(const char *text, std::size_t length, std::string path)
      : next(text), end(text + length), path(std::move(path)) {}

  void scan() {
    expect('{');
    while (!accept('}')) {
      std::string key = string();
      expect(':');
      if (key == "descr")
        descr = value();
      else if (key == "fortran_order")
        fortran = value();
      else if (key == "shape")
        tuple();
      else
        fail("its header has the unknown key '" + key + "'");
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    if (descr.empty() || fortran.empty() || !hasShape)
      fail("its header lacks descr, fortran_order or shape");
  }

  [[noreturn]] void fail(const std::string &what) const {
    throw Error("'" + path + "' cannot be used: " + what);
  }

  std::string descr;
  std::string fortran;
  Dims shape;

private:
  void skipSpace() {
    while (next != end && (*next == ' ' || *next == '\n' || *next == '\t'))
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
      fail(std::string("its header is not the dictionary that NumPy writes, "
                       "expected '") +
           c + "'");
  }

  std::string string() {
    skipSpace();
    if (next == end || (*next != '\'' && *next != '"'))
      fail("its header is not the dictionary that NumPy writes, expected a "
           "quoted word");
    char quote = *next++;
    const char *start = next;
    while (next != end && *next != quote)
      ++next;
    if (next == end)
      fail("its header ends inside a quoted word");
    return std::string(start, next++);
  }

  std::string value() {
    skipSpace();
    if (next != end && *next == '[')
      fail("its elements have named fields, expected plain numbers");
    if (next != end && (*next == '\'' || *next == '"'))
      return string();
    const char *start = next;
    while (next != end && *next >= 'A' && *next <= 'z')
      ++next;
    if (start == next)
      fail("its header holds a value that is neither a word nor a text");
    return std::string(start, next);
  }

  void tuple() {
    hasShape = true;
    expect('(');
    while (!accept(')')) {
      skipSpace();
      std::int64_t dim = 0;
      const char *start = next;
      for (; next != end && *next >= '0' && *next <= '9'; ++next) {
        int digit = *next - '0';
        if (dim > (std::numeric_limits<std::int64_t>::max() - digit) / 10)
          fail("its shape holds a number that is too large");
        dim = dim * 10 + digit;
      }
      if (start == next)
        fail("its shape holds something that is not a size");
      shape.push_back(dim);
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
  }

  const char *next;
  const char *end;
  std::string path;
  bool hasShape = false;
};

DType typeOf(const HeaderScanner &header) {
  for (const TypeCode &known : kTypeCodes)
    if (header.descr.size() == 3 && header.descr[1] == known.code[1] &&
        header.descr[2] == known.code[2]) {
      if (header.descr[0] == '>' && sizeOf(known.type) > 1)
        header.fail("its numbers are big-endian (" + header.descr +
                    "), expected little-endian; convert it with "
                    "array.astype('" +
                    known.code + "')");
      return known.type;
    }
  header.fail("its element type is '" + header.descr +
              "', expected one of <f4 <f8 <f2 |b1 |i1 |u1 <i2 <i4 <i8; convert "
              "it with array.astype(...)");
}

} // namespace

NpyFile::NpyFile(const std::string &path) : file(path) {
  auto fail = [&](const std::string &what) {
    throw Error("'" + path + "' cannot be used: " + what);
  };
  const auto *bytes = reinterpret_cast<const unsigned char *>(file.data());
  if (file.size() < 10 || std::memcmp(bytes, kMagic, sizeof(kMagic)) != 0)
    fail("it is not a .npy file; write it with numpy.save");
  int version = bytes[6];
  std::size_t headerLength = 0, headerStart = 0;
  if (version == 1) {
    headerLength = bytes[8] | std::size_t(bytes[9]) << 8;
    headerStart = 10;
  } else if ((version == 2 || version == 3) && file.size() >= 12) {
    for (int i = 0; i < 4; ++i)
      headerLength |= std::size_t(bytes[8 + i]) << (8 * i);
    headerStart = 12;
  } else {
    fail("its format version is " + std::to_string(version) +
         ", expected 1, 2 or 3");
  }
  if (headerLength > kLongestHeader)
    fail("its header claims " + std::to_string(headerLength) +
         " bytes, expected at most " + std::to_string(kLongestHeader));
  if (headerStart + headerLength > file.size())
    fail("it ends inside its header");

  HeaderScanner header(reinterpret_cast<const char *>(bytes) + headerStart,
                       headerLength, path);
  header.scan();
  elementType = typeOf(header);
  sizes = header.shape;
  if (header.fortran == "True" && sizes.size() > 1)
    fail("it is stored column by column; write it with "
         "numpy.save(file, numpy.ascontiguousarray(array))");
  if (header.fortran != "True" && header.fortran != "False")
    fail("its fortran_order is '" + header.fortran +
         "', expected True or False");

  dataOffset = headerStart + headerLength;
  std::size_t present = file.size() - dataOffset;
  std::size_t expected = sizeOf(elementType);
  bool empty = false;
  for (std::int64_t dim : sizes)
    empty |= dim == 0;
  for (std::int64_t dim : sizes) {
    auto factor = static_cast<std::size_t>(dim);
    if (!empty && expected > std::numeric_limits<std::size_t>::max() / factor)
      fail("its shape " + toString(sizes) + " is too large");
    expected = empty ? 0 : expected * factor;
  }
  if (expected != present)
    fail("it holds " + std::to_string(present) + " bytes of data, expected " +
         std::to_string(expected) + " for shape " + toString(sizes) + " of " +
         nameOf(elementType));
}

static std::string headerOf(DType type, const Dims &dims) {
  std::string code;
  for (const TypeCode &known : kTypeCodes)
    if (known.type == type)
      code = known.code;
  if (code.empty())
    throw Error(std::string("cannot write a .npy file of type ") +
                nameOf(type));
  std::string text =
      "{'descr': '" + code + "', 'fortran_order': False, " + "'shape': (";
  for (std::int64_t dim : dims)
    text += std::to_string(dim) + ", ";
  text += "), }";
  // The data begin at a multiple of 64 bytes; the header ends with a newline.
  text.resize((10 + text.size() + 1 + 63) / 64 * 64 - 10 - 1, ' ');
  text += '\n';
  std::string header(kMagic, sizeof(kMagic));
  header += '\1';
  header += '\0';
  header += static_cast<char>(text.size() & 0xff);
  header += static_cast<char>(text.size() >> 8);
  return header + text;
}

NpyWriter::NpyWriter(const std::string &path, DType type, const Dims &dims)
    : file(path) {
  std::string header = headerOf(type, dims);
  file.write(header.data(), header.size());
}
