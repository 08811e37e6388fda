//===- Numbers.h - Numbers that rank classes may disagree on ----*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One text serves all rank classes. A number that is equal in all of them is
// printed as a literal; one that differs becomes an entry of the table
// `kSizes`, which the text reads through the member `s`:
//
//     struct Sizes {
//       std::int64_t batch, fc1At;
//     };
//     constexpr Sizes kSizes[] = {
//         {22, 4096}, // ranks 0
//         {21, 4032}, // ranks 1-2
//     };
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_CODEGEN_EMIT_NUMBERS_H
#define PARTITA_CODEGEN_EMIT_NUMBERS_H

#include "codegen/Emit/Text.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <string>
#include <vector>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace partita::codegen {

/// One integer per rank class.
using Number = llvm::SmallVector<int64_t, 2>;
/// One real number per rank class.
using Real = llvm::SmallVector<double, 2>;

/// Whether all classes agree.
bool isSame(llvm::ArrayRef<int64_t> number);
bool isSame(llvm::ArrayRef<double> number);

/// The product, class by class. An empty list gives 1 for `classes` classes.
Number product(llvm::ArrayRef<Number> factors, size_t classes);

/// The numbers that differ between the classes of one program text.
class NumberTable {
public:
  explicit NumberTable(size_t classes) : classes(classes) {}

  size_t numClasses() const { return classes; }

  /// Gives a size the name `hint`, so that its multiples are written as such
  /// ("s.batch * 128"). Does nothing for a number that is the same everywhere.
  void nameSize(llvm::StringRef hint, const Number &number);

  /// The text of a size or count: a literal, an entry, or a multiple of one.
  std::string size(const Number &number);
  /// The text of a byte offset: a literal or an entry named after `hint`;
  /// "t" stands for the next temporary.
  std::string offset(const Number &number, llvm::StringRef hint);
  /// The text of another number, such as a pad or a start: a literal or an
  /// entry named after `hint`.
  std::string count(const Number &number, llvm::StringRef hint);
  /// The text of a real number as a float.
  std::string real(const Real &number, llvm::StringRef hint);

  /// How comments write a size: as `size`, without "s.".
  std::string describe(const Number &number);
  /// How comments write what `count` gives.
  std::string describe(const Number &number, llvm::StringRef hint);

  bool empty() const { return integers.empty() && reals.empty(); }
  /// Prints the type and the table; `classNames` describe the classes.
  void print(llvm::raw_ostream &os, llvm::StringRef type, llvm::StringRef table,
             llvm::ArrayRef<std::string> classNames) const;

private:
  enum class Use { size, offset, count };

  template <typename Values> struct Entry {
    std::string name;
    Values values;
    /// Only numbers of one use share an entry; others are equal by chance.
    Use use;
  };

  std::string find(const Number &number, llvm::StringRef hint, Use use);

  size_t classes;
  unsigned temporaries = 0;
  Names names;
  std::vector<Entry<Number>> integers;
  std::vector<Entry<Real>> reals;
};

} // namespace partita::codegen

#endif // PARTITA_CODEGEN_EMIT_NUMBERS_H
