//===- Text.h - Names, literals and comments of emitted code ----*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one place through which text of a model (names of nodes, tensors, axes)
// reaches a source file. A name becomes an identifier, a string literal or
// a comment here, and nothing it contains can end the literal or the comment,
// or be taken for code.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_CODEGEN_EMIT_TEXT_H
#define PARTITA_CODEGEN_EMIT_TEXT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"

#include <string>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace partita::codegen {

/// `text` as a C++ string literal with its quotes. Bytes outside printable
/// ASCII are written as octal escapes.
std::string stringLiteral(llvm::StringRef text);

/// `text` as a part of a `//` comment: one line, printable ASCII, no backslash
/// (which could continue the comment on the next line), at most `limit`
/// characters.
std::string commentText(llvm::StringRef text, size_t limit = 100);

/// The shortest literal that reads back as this float or double.
std::string floatLiteral(float value);
std::string doubleLiteral(double value);

/// `text` in camel case, from ASCII letters and digits only, beginning with a
/// letter; `fallback` when nothing is left. At most `longest` characters.
///
///     /conv1/Conv -> conv1Conv     fc1.weight -> fc1Weight     10 -> v10
std::string camelCase(llvm::StringRef text, llvm::StringRef fallback = "v",
                      size_t longest = 40);

/// The same beginning with a capital letter: names of types.
std::string typeCase(llvm::StringRef text, llvm::StringRef fallback = "V");

/// The identifiers of a scope. Distinct calls give distinct identifiers, none
/// of them a keyword or a name that emitted code uses itself.
class Names {
public:
  Names();

  /// A new identifier made from `text`: its camel case, numbered when taken.
  std::string make(llvm::StringRef text, llvm::StringRef fallback = "v");
  /// As `make`, but tries `text` followed by `suffix` before numbering.
  std::string make(llvm::StringRef text, llvm::StringRef suffix,
                   llvm::StringRef fallback);
  /// Marks an identifier as taken.
  void reserve(llvm::StringRef identifier) { taken.insert(identifier); }

private:
  llvm::StringSet<> taken;
};

/// Prints `head` + items joined by ", " + `tail`, broken after commas so that
/// lines keep to 80 columns where they can; later lines are indented by
/// `indent`. Items too long for a line are broken after their own commas.
void printList(llvm::raw_ostream &os, llvm::StringRef head,
               llvm::ArrayRef<std::string> items, llvm::StringRef tail,
               unsigned indent);

/// Prints `text` as `//` comment lines of at most 80 columns. Its words must
/// have gone through `commentText`.
void printComment(llvm::raw_ostream &os, llvm::StringRef text, unsigned indent,
                  llvm::StringRef mark = "// ");

} // namespace partita::codegen

#endif // PARTITA_CODEGEN_EMIT_TEXT_H
