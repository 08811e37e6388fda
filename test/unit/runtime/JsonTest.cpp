//===- JsonTest.cpp - Reading JSON ------------------------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Values of every kind, and text that is not JSON.
//
//===----------------------------------------------------------------------===//

#include "core/Json.h"

#include "TestFolder.h"

using namespace partita;

static Json parse(const std::string &text) {
  return parseJson(text.data(), text.size());
}

TEST(Json, ReadsValues) {
  Json json = parse(" {\"a\": [1, -2.5e3, true, false, null], "
                    "\"b\": \"\\u00e4\\ud83d\\ude00\\n\\\"\"} ");
  const std::vector<Json> &a = json.find("a")->elements;
  EXPECT_EQ(a[0].integer, 1);
  EXPECT_TRUE(a[0].isInteger);
  EXPECT_EQ(a[1].number, -2500);
  EXPECT_FALSE(a[1].isInteger);
  EXPECT_TRUE(a[2].boolean);
  EXPECT_FALSE(a[3].boolean);
  EXPECT_EQ(a[4].kind, Json::Kind::null);
  EXPECT_EQ(json.find("b")->string, "\xc3\xa4\xf0\x9f\x98\x80\n\"");
  EXPECT_EQ(json.find("c"), nullptr);
}

TEST(Json, NumbersKeep64Bits) {
  EXPECT_EQ(parse("9223372036854775807").integer, INT64_MAX);
  EXPECT_FALSE(parse("9223372036854775808").isInteger);
}

TEST(Json, RefusesOtherText) {
  for (const char *text :
       {"", "{", "[1,]", "{\"a\" 1}", "nul", "01x", "-", "\"\\q\"",
        "\"\\ud800\"", "\"abc", "1 2", "{\"a\":1,\"a\":1}", "+1", "[1"})
    EXPECT_TRUE(says(messageOf([&] { parse(text); }), "not valid JSON"))
        << text;
  EXPECT_TRUE(says(messageOf([&] { parse(std::string(100000, '[')); }),
                   "nested deeper than 32"));
}

TEST(Json, QuotedTextReadsBack) {
  std::string text = "a\"b\\c\n\x01 \xc3\xa4";
  EXPECT_EQ(parse(quoteJson(text)).string, text);
}
