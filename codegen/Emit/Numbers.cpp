//===- Numbers.cpp - Numbers that rank classes may disagree on ------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The table of what differs between rank classes.
//
//===----------------------------------------------------------------------===//

#include "codegen/Emit/Numbers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace partita::codegen {

bool isSame(ArrayRef<int64_t> number) { return all_equal(number); }
bool isSame(ArrayRef<double> number) { return all_equal(number); }

Number product(ArrayRef<Number> factors, size_t classes) {
  Number result(classes, 1);
  for (const Number &factor : factors)
    for (size_t c = 0; c < classes; ++c)
      result[c] *= factor[c];
  return result;
}

/// k when `number` is k times `unit` in every class, else 0.
static int64_t multipleOf(const Number &number, const Number &unit) {
  int64_t factor = 0;
  for (auto [value, one] : zip_equal(number, unit))
    if (one != 0 && factor == 0)
      factor = value / one;
  for (auto [value, one] : zip_equal(number, unit))
    if (value != factor * one)
      return 0;
  return factor;
}

void NumberTable::nameSize(StringRef hint, const Number &number) {
  if (!isSame(number))
    find(number, hint, Use::size);
}

std::string NumberTable::find(const Number &number, StringRef hint, Use use) {
  for (const Entry<Number> &entry : integers) {
    if (entry.use != use)
      continue;
    if (entry.values == number)
      return "s." + entry.name;
    if (use != Use::size)
      continue;
    if (int64_t factor = multipleOf(number, entry.values); factor > 1)
      return "s." + entry.name + " * " + std::to_string(factor);
  }
  // Temporaries are t1, t2, ...
  std::string name =
      hint == "t" ? "t" + std::to_string(++temporaries) : hint.str();
  integers.push_back({names.make(name, "n"), number, use});
  return "s." + integers.back().name;
}

std::string NumberTable::size(const Number &number) {
  if (isSame(number))
    return std::to_string(number.front());
  return find(number, "n" + std::to_string(integers.size()), Use::size);
}

std::string NumberTable::offset(const Number &number, StringRef hint) {
  if (isSame(number))
    return std::to_string(number.front());
  return find(number, hint, Use::offset);
}

std::string NumberTable::count(const Number &number, StringRef hint) {
  if (isSame(number))
    return std::to_string(number.front());
  return find(number, hint, Use::count);
}

std::string NumberTable::real(const Real &number, StringRef hint) {
  if (isSame(number))
    return floatLiteral(static_cast<float>(number.front()));
  for (const Entry<Real> &entry : reals)
    if (entry.values == number)
      return "s." + entry.name;
  reals.push_back({names.make(hint, "x"), number, Use::count});
  return "s." + reals.back().name;
}

static std::string withoutTable(const std::string &text) {
  return StringRef(text).starts_with("s.") ? text.substr(2) : text;
}

std::string NumberTable::describe(const Number &number) {
  return withoutTable(size(number));
}

std::string NumberTable::describe(const Number &number, StringRef hint) {
  return withoutTable(count(number, hint));
}

void NumberTable::print(raw_ostream &os, StringRef type, StringRef table,
                        ArrayRef<std::string> classNames) const {
  auto namesOf = [](const auto &entries) {
    std::vector<std::string> list;
    for (const auto &entry : entries)
      list.push_back(entry.name);
    return list;
  };
  os << "/// What differs between the rank classes: sizes, pads and the like, "
        "and\n/// offsets, which end in At or, for temporaries, are t1, t2, "
        "...\n"
     << "struct " << type << " {\n";
  if (!integers.empty())
    printList(os, "  std::int64_t ", namesOf(integers), ";", 6);
  if (!reals.empty())
    printList(os, "  float ", namesOf(reals), ";", 6);
  os << "};\nconstexpr " << type << " " << table << "[] = {\n";
  for (size_t c = 0; c < classes; ++c) {
    std::vector<std::string> values;
    for (const auto &entry : integers)
      values.push_back(std::to_string(entry.values[c]));
    for (const auto &entry : reals)
      values.push_back(floatLiteral(static_cast<float>(entry.values[c])));
    printComment(os, classNames[c], 4);
    printList(os, "    {", values, "},", 5);
  }
  os << "};\n";
}

} // namespace partita::codegen
