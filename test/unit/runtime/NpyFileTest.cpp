//===- NpyFileTest.cpp - Reading and refusing .npy files --------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Headers as NumPy writes them, in all versions, and one file for every way
// to be wrong.
//
//===----------------------------------------------------------------------===//

#include "core/NpyFile.h"

#include "TestFolder.h"

#include <cstring>

using namespace partita;

namespace {

class NpyFileTest : public TestFolder {
protected:
  /// A file of that version, header and data.
  std::string make(int version, std::string header, const std::string &data) {
    std::string text = "\x93NUMPY";
    text += static_cast<char>(version);
    text += '\0';
    std::size_t size = header.size();
    for (int i = 0; i < (version == 1 ? 2 : 4); ++i)
      text += static_cast<char>(size >> (8 * i));
    return write("a.npy", text + header + data);
  }

  std::string complaint(const std::string &header,
                        const std::string &data = "") {
    std::string file = make(1, header, data);
    return messageOf([&] { NpyFile array(file); });
  }
};

const std::string kFour(16, '\1');

TEST_F(NpyFileTest, ReadsAllVersions) {
  for (int version : {1, 2, 3}) {
    NpyFile array(make(version,
                       "{'descr': '<f4', 'fortran_order': False, "
                       "'shape': (2, 2), }   \n",
                       kFour));
    EXPECT_EQ(array.type(), DType::f32);
    EXPECT_EQ(array.dims(), (Dims{2, 2}));
    EXPECT_EQ(array.data()[15], std::byte(1));
  }
}

TEST_F(NpyFileTest, ReadsUnusualHeaders) {
  NpyFile swapped(make(1,
                       "{\"shape\":(4,),\"fortran_order\":True,"
                       "\"descr\":\"<i4\"}",
                       kFour));
  EXPECT_EQ(swapped.dims(), (Dims{4}));
  NpyFile scalar(
      make(1, "{'descr':'<f8','fortran_order':False,'shape':()}", "12345678"));
  EXPECT_EQ(scalar.dims(), Dims{});
  NpyFile empty(
      make(1, "{'descr':'|u1','fortran_order':False,'shape':(0,3)}", ""));
  EXPECT_EQ(empty.dims(), (Dims{0, 3}));
}

TEST_F(NpyFileTest, RefusesWhatIsNotNpy) {
  EXPECT_TRUE(
      says(messageOf([&] { NpyFile a(path("none.npy")); }), "cannot open"));
  EXPECT_TRUE(
      says(messageOf([&] { NpyFile a(folder); }), "not a regular file"));
  for (const char *text : {"", "\x93NUM", "hello, this is text"}) {
    std::string file = write("b.npy", text);
    EXPECT_TRUE(
        says(messageOf([&] { NpyFile a(file); }), "it is not a .npy file"));
  }
  std::string file = make(9, "{}", "abcdefghijk");
  EXPECT_TRUE(says(messageOf([&] { NpyFile a(file); }),
                   "format version is 9, expected 1, 2 or 3"));
}

TEST_F(NpyFileTest, RefusesHeadersThatLie) {
  std::string longer("\x93NUMPY\1\0\xff\x70{'descr", 17);
  std::string file = write("c.npy", longer);
  EXPECT_TRUE(
      says(messageOf([&] { NpyFile a(file); }), "it ends inside its header"));
  std::string huge("\x93NUMPY\2\0\xff\xff\xff\x7f{'descr", 19);
  file = write("d.npy", huge);
  EXPECT_TRUE(says(messageOf([&] { NpyFile a(file); }),
                   "its header claims 2147483647 bytes"));
  EXPECT_TRUE(says(complaint("{'descr': '<f4'"), "expected '}'"));
  EXPECT_TRUE(says(complaint("{'descr': '<f4', 'x': 1}"), "unknown key 'x'"));
  EXPECT_TRUE(says(complaint("{'descr': '<f4'}"), "lacks"));
  EXPECT_TRUE(says(complaint("{'descr"), "ends inside a quoted word"));
}

TEST_F(NpyFileTest, RefusesWhatItCannotUse) {
  auto with = [](const std::string &descr, const std::string &fortran,
                 const std::string &shape) {
    return "{'descr': " + descr + ", 'fortran_order': " + fortran +
           ", 'shape': " + shape + "}";
  };
  EXPECT_TRUE(says(complaint(with("'>f4'", "False", "(4,)"), kFour),
                   "big-endian (>f4), expected little-endian; convert it with "
                   "array.astype('<f4')"));
  EXPECT_TRUE(says(complaint(with("'<U5'", "False", "(4,)"), kFour),
                   "its element type is '<U5', expected one of"));
  EXPECT_TRUE(says(complaint(with("[('a', '<f4')]", "False", "(4,)"), kFour),
                   "named fields"));
  EXPECT_TRUE(says(complaint(with("'<f4'", "True", "(2, 2)"), kFour),
                   "column by column"));
  EXPECT_TRUE(says(complaint(with("'<f4'", "Perhaps", "(4,)"), kFour),
                   "fortran_order is 'Perhaps'"));
  EXPECT_TRUE(says(complaint(with("'<f4'", "False", "(-4,)"), kFour),
                   "something that is not a size"));
  EXPECT_TRUE(says(complaint(with("'<f4'", "False", "(5,)"), kFour),
                   "holds 16 bytes of data, expected 20 for shape [5] of f32"));
  EXPECT_TRUE(says(complaint(with("'<f4'", "False", "(3,)"), kFour),
                   "holds 16 bytes of data, expected 12"));
  EXPECT_TRUE(
      says(complaint(with("'<f4'", "False", "(4611686018427387904, 8)")),
           "too large"));
  EXPECT_TRUE(says(complaint(with("'<f4'", "False", "(99999999999999999999,)")),
                   "too large"));
}

TEST_F(NpyFileTest, WritesWhatItReads) {
  std::int64_t values[6] = {1, -2, 3, -4, 5, 1LL << 40};
  {
    NpyWriter writer(path("w.npy"), DType::i64, {3, 2});
    writer.append(values, sizeof(values));
    EXPECT_FALSE(fileExists(path("w.npy")));
    writer.commit();
  }
  NpyFile array(path("w.npy"));
  EXPECT_EQ(array.type(), DType::i64);
  EXPECT_EQ(array.dims(), (Dims{3, 2}));
  EXPECT_EQ(std::memcmp(array.data(), values, sizeof(values)), 0);
  {
    NpyWriter abandoned(path("x.npy"), DType::f32, {1});
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
}

} // namespace
