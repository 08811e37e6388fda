//===- TextTest.cpp - Escaping, identifiers, line breaks ------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Everything a model can call something must come out as harmless text.
//
//===----------------------------------------------------------------------===//

#include "codegen/Emit/Text.h"
#include "llvm/Support/raw_ostream.h"

#include "gtest/gtest.h"

using namespace partita::codegen;

namespace {

TEST(Text, LiteralsEscapeWhatEndsThem) {
  EXPECT_EQ(stringLiteral("fc1.weight"), "\"fc1.weight\"");
  EXPECT_EQ(stringLiteral("a\"b\\c?\n"), "\"a\\042b\\134c\\077\\012\"");
  // An octal escape does not swallow digits that follow it.
  EXPECT_EQ(stringLiteral(llvm::StringRef("\0"
                                          "12",
                                          3)),
            "\"\\00012\"");
  EXPECT_EQ(stringLiteral("\xc3\xbc"), "\"\\303\\274\"");
}

TEST(Text, CommentsStayOneLine) {
  EXPECT_EQ(commentText("/conv1/Conv"), "/conv1/Conv");
  EXPECT_EQ(commentText("a\nb\\"), "a<0a>b<5c>");
  EXPECT_EQ(commentText("\xe2\x80\xae"), "<e2><80><ae>");
  EXPECT_EQ(commentText(std::string(300, 'x'), 10), "xxxxxxxxxx...");
}

TEST(Text, FloatsReadBackExactly) {
  EXPECT_EQ(floatLiteral(0.9f), "0.9f");
  EXPECT_EQ(floatLiteral(1.0f), "1.0f");
  EXPECT_EQ(floatLiteral(1e-8f), "1e-08f");
  EXPECT_EQ(floatLiteral(-0.0f), "-0.0f");
  EXPECT_EQ(floatLiteral(16777217.0f), "16777216.0f");
  EXPECT_EQ(floatLiteral(1.0f / 3.0f), "0.33333334f");
  EXPECT_EQ(doubleLiteral(0.1), "0.1");
  EXPECT_EQ(doubleLiteral(1.0 / 3.0), "0.3333333333333333");
  EXPECT_EQ(floatLiteral(-__builtin_inff()), "-INFINITY");
  EXPECT_EQ(floatLiteral(__builtin_nanf("")), "NAN");
}

TEST(Text, CamelCaseKeepsLettersAndDigits) {
  EXPECT_EQ(camelCase("/conv1/Conv"), "conv1Conv");
  EXPECT_EQ(camelCase("fc1.weight"), "fc1Weight");
  EXPECT_EQ(camelCase("10"), "v10");
  EXPECT_EQ(camelCase("::"), "v");
  EXPECT_EQ(camelCase("", "buffer"), "buffer");
  EXPECT_EQ(typeCase("two kinds"), "TwoKinds");
  EXPECT_EQ(camelCase(std::string(300, 'a')).size(), 40u);
}

TEST(Text, NamesAreDistinctAndNoKeywords) {
  Names names;
  EXPECT_EQ(names.make("a-b"), "aB");
  EXPECT_EQ(names.make("a_b"), "aB_2");
  EXPECT_EQ(names.make("a--b"), "aB_3");
  EXPECT_EQ(names.make("class"), "class_2");
  EXPECT_EQ(names.make("rank"), "rank_2");
  EXPECT_EQ(names.make("fc1", "Out", "v"), "fc1");
  EXPECT_EQ(names.make("fc1", "Out", "v"), "fc1Out");
  EXPECT_EQ(names.make("fc1", "Out", "v"), "fc1Out_2");
  // A copy of a scope knows the names of the scope.
  Names inner = names;
  EXPECT_EQ(inner.make("aB"), "aB_4");
  EXPECT_EQ(names.make("aB"), "aB_4");
}

std::string listText(llvm::StringRef head, std::vector<std::string> items,
                     unsigned indent) {
  std::string text;
  llvm::raw_string_ostream os(text);
  printList(os, head, items, ");", indent);
  return text;
}

TEST(Text, ListsBreakAfterCommas) {
  EXPECT_EQ(listText("  f(", {"a", "b"}, 4), "  f(a, b);\n");
  EXPECT_EQ(listText("  f(", {}, 4), "  f();\n");
  std::string a(50, 'a'), b(40, 'b');
  EXPECT_EQ(listText("  f(", {a, b}, 4), "  f(" + a + ",\n    " + b + ");\n");
  // A long item breaks inside, but neither in literals nor in lists.
  std::string item = "g(\"x, y\", " + a + ", {1, 2, 3}, " + b + ")";
  EXPECT_EQ(listText("  f(", {item}, 4),
            "  f(g(\"x, y\", " + a + ", {1, 2, 3},\n    " + b + "));\n");
}

TEST(Text, CommentsBreakAtSpaces) {
  std::string text;
  llvm::raw_string_ostream os(text);
  printComment(os, std::string(50, 'a') + " " + std::string(40, 'b'), 2);
  EXPECT_EQ(text, "  // " + std::string(50, 'a') + "\n  // " +
                      std::string(40, 'b') + "\n");
}

} // namespace
