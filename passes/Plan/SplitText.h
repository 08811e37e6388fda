//===- SplitText.h - Splits and grids as people write them -----*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The text of --grid, --split and plan files, without IR.
//
//   rule   PATTERN=SPLIT            'conv*=batch:pc,domain.h:pr'
//   PATTERN  a node's name, '*' for any text, '?' for one character; the '/'
//          that PyTorch puts first may be left out
//   split  ITEM(,ITEM)* | whole     whole: nothing is split
//   item   WHAT:AXIS(+AXIS)*        axes, the coarsest first
//          WHAT:AXES@N              parts of whole blocks of N elements
//          WHAT:AXES=N(/N)*         the size of every part
//   WHAT   a dimension of the operation (n, co, h, d0, ...), or a role:
//          batch, model, model.in, domain, domain.NAME
//   grid   AXIS=N(,AXIS=N)* | N | batch | N:STYLE | RxC | RxC:STYLE
//   STYLE  batch, model, domain; for RxC also model+batch (unless said
//          otherwise), domain+batch, paper
//
// RxC is the Pr x Pc grid of Gholami et al. (SPAA'18), with axes pr and pc.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_PASSES_PLAN_SPLITTEXT_H
#define PARTITA_PASSES_PLAN_SPLITTEXT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace partita::plan {

/// The most ranks a grid may have.
constexpr int64_t kMaxRanks = int64_t(1) << 20;

/// How one dimension is to be dealt out.
struct SplitItem {
  /// A dimension's name or a role.
  std::string what;
  /// Not empty; the coarsest axis first.
  std::vector<std::string> axes;
  /// Elements dealt out together.
  int64_t block = 1;
  /// The size of every part; empty: balanced parts.
  std::vector<int64_t> sizes = {};
};

/// A split; empty: whole on every rank.
using SplitItems = std::vector<SplitItem>;

/// PATTERN=SPLIT.
struct SplitRule {
  std::string pattern;
  SplitItems items;
};

/// Which dimensions a grid shorthand splits. `none`: the axes were named, and
/// nothing is split by itself.
enum class GridStyle {
  none,
  batch,
  model,
  domain,
  modelAndBatch,
  domainAndBatch,
  paper
};

/// A grid: its axes with their sizes, and what its shorthand stands for.
struct GridText {
  std::vector<std::pair<std::string, int64_t>> axes;
  GridStyle style = GridStyle::none;

  int64_t numRanks() const;
};

/// The parsers return nothing after setting `error` to what was found and
/// expected: lower case, no full stop.
std::optional<SplitItems> parseSplit(llvm::StringRef text, std::string &error);

/// A pattern may hold '=': the rule is cut at the first one behind which a
/// split stands.
std::optional<SplitRule> parseSplitRule(llvm::StringRef text,
                                        std::string &error);

/// `ranks` is the number of ranks where it is known, else 0; a grid of another
/// size is an error.
std::optional<GridText> parseGrid(llvm::StringRef text, int64_t ranks,
                                  std::string &error);

/// Checks axes from elsewhere as parseGrid does; "" or what is wrong.
std::string checkGrid(const GridText &grid, int64_t ranks);

/// The rules that an option of a pass holds: several joined by ';', or each
/// with its line, for names may hold ';' and never a line's end.
llvm::SmallVector<llvm::StringRef> splitRules(llvm::StringRef text);

/// The text in quotes, for messages.
std::string quoted(llvm::StringRef text);

/// The text that parseSplit reads back.
std::string printSplit(const SplitItems &items);

/// "pr = 2, pc = 2".
std::string describeAxes(const GridText &grid);

/// Whether `what` is a role (batch, model, model.in, domain, domain.NAME) and
/// not the name of a dimension.
bool isRole(llvm::StringRef what);

/// Whether the whole of `name`, or all of it but a first '/', is matched; '*'
/// stands for any text, '?' for one character.
bool matchesPattern(llvm::StringRef pattern, llvm::StringRef name);

/// Whether `pattern` has a '*' or '?'.
bool isWildcard(llvm::StringRef pattern);

/// Names a user may have meant by `wanted`, wildcards and case left out of
/// account: "near names are 'a', 'b'" with up to four, nearest first; where
/// none is near "the nodes are 'a', 'b', ..." (`things` is "nodes").
std::string nearNames(llvm::StringRef things, llvm::StringRef wanted,
                      llvm::ArrayRef<std::string> names);

} // namespace partita::plan

#endif // PARTITA_PASSES_PLAN_SPLITTEXT_H
