//===- SafetensorsTest.cpp - Safetensors, good and bad ----------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One file for every way in which a header can contradict the file.
//
//===----------------------------------------------------------------------===//

#include "core/Safetensors.h"

#include "TestFolder.h"

#include <cstring>

using namespace partita;

namespace {

class SafetensorsTest : public TestFolder {
protected:
  std::string complaint(const std::string &header,
                        const std::string &data = "") {
    std::string text;
    for (int i = 0; i < 8; ++i)
      text += static_cast<char>(std::uint64_t(header.size()) >> (8 * i));
    std::string file = write("a.safetensors", text + header + data);
    return messageOf([&] { Safetensors tensors(file); });
  }
};

TEST_F(SafetensorsTest, WritesWhatItReads) {
  float w[6] = {1, 2, 3, 4, 5, 6};
  std::int64_t n[1] = {-7};
  SafetensorsWriter writer;
  writer.announce("a/\"w\"\n\xc3\xa4", DType::f32, {2, 3});
  writer.announce("n", DType::i64, {});
  writer.announce("none", DType::f32, {0, 4});
  writer.note("producer", "partita");
  writer.begin(path("w.safetensors"));
  writer.append(w, sizeof(w));
  writer.append(n, sizeof(n));
  writer.commit();

  Safetensors tensors(path("w.safetensors"));
  EXPECT_EQ(tensors.all().size(), 3u);
  EXPECT_EQ(tensors.metadata().at("producer"), "partita");
  const Safetensors::Entry *entry = tensors.find("a/\"w\"\n\xc3\xa4");
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->type, DType::f32);
  EXPECT_EQ(entry->dims, (Dims{2, 3}));
  EXPECT_EQ(std::memcmp(entry->data, w, sizeof(w)), 0);
  EXPECT_EQ(tensors.find("none")->bytes, 0u);
  EXPECT_EQ(tensors.find("other"), nullptr);
}

TEST_F(SafetensorsTest, AnUnfinishedFileDoesNotAppear) {
  write("w.safetensors", "the old one");
  SafetensorsWriter writer;
  writer.announce("w", DType::f32, {2});
  writer.begin(path("w.safetensors"));
  float one = 1;
  writer.append(&one, sizeof(one));
  EXPECT_TRUE(says(messageOf([&] { writer.commit(); }),
                   "got 4 bytes of data, expected 8"));
  std::ifstream file(path("w.safetensors"));
  std::string text;
  std::getline(file, text);
  EXPECT_EQ(text, "the old one");
}

TEST_F(SafetensorsTest, RefusesBrokenHeaders) {
  std::string file = write("s.safetensors", "abc");
  EXPECT_TRUE(says(messageOf([&] { Safetensors t(file); }), "too short"));
  file = write("s.safetensors", std::string(7, '\0') + "\1{}");
  EXPECT_TRUE(
      says(messageOf([&] { Safetensors t(file); }), "its header claims"));
  EXPECT_TRUE(says(complaint("[1]"), "not an object"));
  EXPECT_TRUE(says(complaint("{\"a\":"), "not valid JSON at byte 5"));
  EXPECT_TRUE(says(complaint("{\"a\":1,\"a\":2}"), "appears twice"));
  EXPECT_TRUE(says(complaint("{\"a\":{}}"), "tensor \"a\" lacks dtype"));
}

TEST_F(SafetensorsTest, RefusesExtentsThatLie) {
  auto entry = [](const std::string &type, const std::string &shape,
                  const std::string &offsets) {
    return "{\"a\":{\"dtype\":\"" + type + "\",\"shape\":[" + shape +
           "],\"data_offsets\":[" + offsets + "]}}";
  };
  EXPECT_EQ(complaint(entry("F32", "2", "0,8"), "12345678"), "");
  EXPECT_TRUE(says(complaint(entry("F8", "2", "0,8"), "12345678"),
                   "unknown element type \"F8\""));
  EXPECT_TRUE(says(complaint(entry("F32", "-2", "0,8"), "12345678"),
                   "a size that is not a whole number"));
  EXPECT_TRUE(says(complaint(entry("F32", "2", "0,16"), "12345678"),
                   "offsets outside the file's 8 bytes"));
  EXPECT_TRUE(
      says(complaint(entry("F32", "2", "8,0"), "12345678"), "offsets outside"));
  EXPECT_TRUE(says(complaint(entry("F32", "2", "-8,0"), "12345678"),
                   "offsets outside"));
  EXPECT_TRUE(says(complaint(entry("F32", "3", "0,8"), "12345678"),
                   "which its shape [3] of f32 contradicts"));
  EXPECT_TRUE(says(complaint(entry("F32", "4611686018427387904,4", "0,0")),
                   "contradicts"));
  EXPECT_TRUE(says(complaint(entry("F32", "1", "4,8"), "12345678"),
                   "leave a hole at byte 0"));
  EXPECT_TRUE(says(complaint(entry("F32", "1", "0,4"), "12345678"),
                   "holds 8 bytes of data, expected 4"));
}

TEST_F(SafetensorsTest, RefusesOverlaps) {
  EXPECT_TRUE(says(
      complaint("{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]"
                "},\"b\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[2,6]"
                "}}",
                "123456"),
      "overlap"));
}

} // namespace
