//===- SplitText.cpp - Splits and grids as people write them --------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Parsing and printing of splits and grids.
//
//===----------------------------------------------------------------------===//

#include "passes/Plan/SplitText.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include <algorithm>
#include <limits>

using namespace llvm;
using namespace partita;
using namespace partita::plan;

namespace {

constexpr StringRef kSplitForm =
    "WHAT:AXES such as batch:pc, domain.h:pr or co:pr+pc, several joined by "
    "',', or whole";
constexpr StringRef kGridForm =
    "axes such as pr=2,pc=2, a number of ranks, batch, N:STYLE or RxC:STYLE "
    "such as 4:batch or 2x2:model+batch";

bool isIdentifier(StringRef text) {
  auto isWord = [](char c) { return isAlnum(c) || c == '_'; };
  return !text.empty() && !isDigit(text[0]) && all_of(text, isWord);
}

/// A dimension, or a role with an optional part behind a dot.
bool isWhat(StringRef text) {
  auto [head, tail] = text.split('.');
  return isIdentifier(head) && (!text.contains('.') || isIdentifier(tail));
}

std::optional<SplitItem> parseItem(StringRef text, std::string &error) {
  SplitItem item;
  if (!text.contains(':')) {
    error = "found " + quoted(text) + ", expected " + kSplitForm.str();
    return std::nullopt;
  }
  auto [what, rest] = text.split(':');
  item.what = what.str();
  if (!isWhat(what)) {
    error = "found " + quoted(what) + " before ':' in " + quoted(text) +
            ", expected the name of a dimension, batch, model, model.in, "
            "domain or domain.NAME";
    return std::nullopt;
  }
  StringRef axes = rest.take_until([](char c) { return c == '@' || c == '='; });
  StringRef parts = rest.drop_front(axes.size());
  SmallVector<StringRef> names;
  axes.split(names, '+');
  for (StringRef name : names) {
    if (!isIdentifier(name)) {
      error = "found " + quoted(name) + " as an axis in " + quoted(text) +
              ", expected names of grid axes joined by '+'";
      return std::nullopt;
    }
    if (is_contained(item.axes, name.str())) {
      error = "axis " + quoted(name) + " is named twice in " + quoted(text) +
              "; leave one out";
      return std::nullopt;
    }
    item.axes.push_back(name.str());
  }
  if (parts.consume_front("@")) {
    if (parts.getAsInteger(10, item.block) || item.block < 1) {
      error = "found " + quoted(parts) + " behind '@' in " + quoted(text) +
              ", expected one positive number of elements";
      return std::nullopt;
    }
  } else if (parts.consume_front("=")) {
    SmallVector<StringRef> sizes;
    parts.split(sizes, '/');
    for (StringRef size : sizes) {
      int64_t parsed = 0;
      // Sums of sizes stay far from the limits of 64 bits.
      if (size.getAsInteger(10, parsed) || parsed < 0 ||
          parsed > (int64_t(1) << 40)) {
        error = "found " + quoted(size) + " as the size of a part in " +
                quoted(text) + ", expected sizes joined by '/'";
        return std::nullopt;
      }
      item.sizes.push_back(parsed);
    }
  }
  return item;
}

std::optional<GridStyle> parseStyle(StringRef text) {
  constexpr std::pair<StringRef, GridStyle> styles[] = {
      {"batch", GridStyle::batch},
      {"model", GridStyle::model},
      {"domain", GridStyle::domain},
      {"model+batch", GridStyle::modelAndBatch},
      {"domain+batch", GridStyle::domainAndBatch},
      {"paper", GridStyle::paper}};
  for (auto [name, style] : styles)
    if (name == text)
      return style;
  return std::nullopt;
}

/// A positive number of at most kMaxRanks.
bool parseCount(StringRef text, int64_t &count) {
  return !text.getAsInteger(10, count) && count > 0 && count <= kMaxRanks;
}

/// AXIS=N(,AXIS=N)*
bool parseAxes(StringRef text, GridText &grid, std::string &error) {
  SmallVector<StringRef> axes;
  text.split(axes, ',');
  for (StringRef axis : axes) {
    auto [name, size] = axis.split('=');
    int64_t count = 0;
    if (!isIdentifier(name) || !parseCount(size, count)) {
      error = "found " + quoted(axis) + ", expected AXIS=N such as pr=2";
      return false;
    }
    grid.axes.emplace_back(name.str(), count);
  }
  return true;
}

/// [R x] C with the style, all axes of a shorthand.
bool parseShorthand(StringRef text, int64_t ranks, GridText &grid,
                    std::string &error) {
  auto [shape, styleText] = text.split(':');
  bool isTwoDimensional = shape.contains('x');
  std::optional<GridStyle> style =
      parseStyle(text.contains(':') ? styleText
                 : isTwoDimensional ? StringRef("model+batch")
                                    : StringRef("batch"));
  if (!style) {
    error = "found style " + quoted(styleText) +
            ", expected batch, model, domain, model+batch, domain+batch or "
            "paper";
    return false;
  }
  grid.style = *style;
  if (isTwoDimensional) {
    auto [rows, columns] = shape.split('x');
    grid.axes = {{"pr", 0}, {"pc", 0}};
    if (parseCount(rows, grid.axes[0].second) &&
        parseCount(columns, grid.axes[1].second))
      return true;
    error = "found " + quoted(shape) + ", expected RxC such as 2x2";
    return false;
  }
  if (*style != GridStyle::batch && *style != GridStyle::model &&
      *style != GridStyle::domain) {
    error = "style " + quoted(styleText) +
            " splits two dimensions; expected "
            "a grid RxC such as 2x2:" +
            styleText.str();
    return false;
  }
  int64_t count = ranks;
  if (shape == "batch" && !text.contains(':')) {
    if (ranks == 0) {
      error = "'batch' takes the number of ranks from --ranks; give --ranks N, "
              "or N in place of batch";
      return false;
    }
  } else if (!parseCount(shape, count)) {
    error = "found " + quoted(text) + ", expected " + kGridForm.str();
    return false;
  }
  StringRef axis = *style == GridStyle::model    ? "model"
                   : *style == GridStyle::domain ? "domain"
                                                 : "data";
  grid.axes = {{axis.str(), count}};
  return true;
}

/// Whether all of `name` is matched.
bool matchesAll(StringRef pattern, StringRef name) {
  // On a mismatch the last '*' takes one character more.
  size_t p = 0, n = 0, star = StringRef::npos, resume = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = n;
    } else if (p < pattern.size() &&
               (pattern[p] == '?' || pattern[p] == name[n])) {
      ++p;
      ++n;
    } else if (star != StringRef::npos) {
      p = star + 1;
      n = ++resume;
    } else {
      return false;
    }
  }
  return pattern.drop_front(p).find_first_not_of('*') == StringRef::npos;
}

/// How far `wanted`, in lower case, is from `name`: 0 when it is a part of it.
unsigned distanceOf(StringRef wanted, StringRef name) {
  std::string lower = name.lower();
  StringRef text = lower;
  if (text.contains(wanted))
    return 0;
  unsigned best = wanted.edit_distance(text);
  // Also the parts of a path, and as much of them as was written.
  SmallVector<StringRef> parts;
  text.split(parts, '/', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef part : parts)
    best = std::min({best, wanted.edit_distance(part),
                     wanted.edit_distance(part.take_front(wanted.size()))});
  return best;
}

std::string joinQuoted(ArrayRef<std::string> names) {
  return join(map_range(names, [](StringRef name) { return quoted(name); }),
              ", ");
}

} // namespace

int64_t GridText::numRanks() const {
  int64_t ranks = 1;
  for (const auto &[axis, size] : axes)
    ranks *= size;
  return ranks;
}

std::optional<SplitItems> partita::plan::parseSplit(StringRef text,
                                                    std::string &error) {
  SplitItems items;
  if (text == "whole")
    return items;
  if (text.empty()) {
    error = "found nothing, expected " + kSplitForm.str();
    return std::nullopt;
  }
  SmallVector<StringRef> parts;
  text.split(parts, ',');
  for (StringRef part : parts) {
    std::optional<SplitItem> item = parseItem(part, error);
    if (!item)
      return std::nullopt;
    items.push_back(*item);
  }
  return items;
}

std::optional<SplitRule> partita::plan::parseSplitRule(StringRef text,
                                                       std::string &error) {
  std::string firstError;
  for (size_t at = text.find('='); at != StringRef::npos;
       at = text.find('=', at + 1)) {
    std::string partError;
    std::optional<SplitItems> items =
        parseSplit(text.drop_front(at + 1), partError);
    if (items && at > 0)
      return SplitRule{text.take_front(at).str(), *items};
    if (firstError.empty())
      firstError = at == 0 ? "found no pattern before '=', expected "
                             "PATTERN=SPLIT such as 'conv*=batch:pc'"
                           : partError;
  }
  error = firstError.empty() ? "found no '=', expected PATTERN=SPLIT such as "
                               "'conv*=batch:pc'"
                             : firstError;
  return std::nullopt;
}

std::string partita::plan::checkGrid(const GridText &grid, int64_t ranks) {
  StringSet<> seen;
  int64_t product = 1;
  for (const auto &[axis, size] : grid.axes) {
    if (!isIdentifier(axis))
      return "axis " + quoted(axis) +
             " is no name; expected letters, digits and '_', a letter first";
    if (!seen.insert(axis).second)
      return "axis " + quoted(axis) + " is named twice";
    if (size < 1 || size > kMaxRanks || size * product > kMaxRanks)
      return "axis " + quoted(axis) + " has size " + std::to_string(size) +
             ", expected a positive one, and at most " +
             std::to_string(kMaxRanks) + " ranks in all";
    product *= size;
  }
  if (ranks > 0 && product != ranks)
    return "the grid " + describeAxes(grid) + " has " +
           std::to_string(product) + " ranks, but --ranks says " +
           std::to_string(ranks) + "; leave --ranks out, or make them agree";
  return "";
}

std::optional<GridText> partita::plan::parseGrid(StringRef text, int64_t ranks,
                                                 std::string &error) {
  GridText grid;
  if (text.empty()) {
    error = "found nothing, expected " + kGridForm.str();
    return std::nullopt;
  }
  if (text.contains('=') ? !parseAxes(text, grid, error)
                         : !parseShorthand(text, ranks, grid, error))
    return std::nullopt;
  error = checkGrid(grid, ranks);
  if (!error.empty())
    return std::nullopt;
  return grid;
}

SmallVector<StringRef> partita::plan::splitRules(StringRef text) {
  SmallVector<StringRef> rules;
  text.split(rules, text.contains('\n') ? '\n' : ';', /*MaxSplit=*/-1,
             /*KeepEmpty=*/false);
  return rules;
}

std::string partita::plan::quoted(StringRef text) {
  return "'" + text.str() + "'";
}

std::string partita::plan::printSplit(const SplitItems &items) {
  if (items.empty())
    return "whole";
  std::string text;
  for (const SplitItem &item : items) {
    text += (text.empty() ? "" : ",") + item.what + ":" + join(item.axes, "+");
    if (item.block != 1)
      text += "@" + std::to_string(item.block);
    for (auto [i, size] : enumerate(item.sizes))
      text += (i ? "/" : "=") + std::to_string(size);
  }
  return text;
}

std::string partita::plan::describeAxes(const GridText &grid) {
  std::string text;
  for (const auto &[axis, size] : grid.axes)
    text += (text.empty() ? "" : ", ") + axis + " = " + std::to_string(size);
  return text.empty() ? "without axes" : text;
}

bool partita::plan::isRole(StringRef what) {
  return what == "batch" || what == "model" || what == "model.in" ||
         what == "domain" || what.starts_with("domain.");
}

bool partita::plan::matchesPattern(StringRef pattern, StringRef name) {
  return matchesAll(pattern, name) ||
         (name.consume_front("/") && matchesAll(pattern, name));
}

bool partita::plan::isWildcard(StringRef pattern) {
  return pattern.find_first_of("*?") != StringRef::npos;
}

std::string partita::plan::nearNames(StringRef things, StringRef wanted,
                                     ArrayRef<std::string> names) {
  constexpr size_t kMost = 4;
  if (names.empty())
    return "the model has no " + things.str();
  std::string literal;
  for (char c : wanted.lower())
    if (c != '*' && c != '?')
      literal += c;
  // Two letters that changed places are two steps.
  size_t tolerated =
      std::max<size_t>(literal.size() < 4 ? 1 : 2, literal.size() / 3);
  std::vector<std::pair<unsigned, size_t>> ranked;
  if (!literal.empty())
    for (auto [i, name] : enumerate(names))
      if (unsigned distance = distanceOf(literal, name); distance <= tolerated)
        ranked.emplace_back(distance, i);
  llvm::sort(ranked);
  std::vector<std::string> chosen;
  for (auto [distance, i] : ranked)
    if (chosen.size() < kMost)
      chosen.push_back(names[i]);
  if (!chosen.empty())
    return "near names are " + joinQuoted(chosen);
  return "the " + things.str() + " are " + joinQuoted(names.take_front(kMost)) +
         (names.size() > kMost ? ", ..." : "");
}
