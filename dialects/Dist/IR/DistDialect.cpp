//===- DistDialect.cpp - Grids, splits and layouts ------------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Text form and verification of the attributes.
//
//===----------------------------------------------------------------------===//

#include "dialects/Dist/IR/DistDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace partita::dist;

#include "dialects/Dist/IR/DistDialect.cpp.inc"
#include "dialects/Dist/IR/DistEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/Dist/IR/DistAttrs.cpp.inc"

void DistDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/Dist/IR/DistAttrs.cpp.inc"
      >();
}

namespace {

using Verifier = function_ref<InFlightDiagnostic()>;

bool isIdentifier(StringRef name) {
  auto isWord = [](char c) { return llvm::isAlnum(c) || c == '_'; };
  return !name.empty() && !llvm::isDigit(name[0]) && llvm::all_of(name, isWord);
}

/// A name that is an identifier, as a string attribute.
ParseResult parseName(AsmParser &parser, SmallVectorImpl<StringAttr> &names) {
  std::string name;
  if (parser.parseKeywordOrString(&name))
    return failure();
  names.push_back(StringAttr::get(parser.getContext(), name));
  return success();
}

/// `[` name (`,` name)* `]`
ParseResult parseAxes(AsmParser &parser, SmallVectorImpl<StringAttr> &axes) {
  return parser.parseCommaSeparatedList(
      AsmParser::Delimiter::Square, [&] { return parseName(parser, axes); });
}

FailureOr<ArrayAttr> parseAxesAttr(AsmParser &parser) {
  SmallVector<StringAttr> axes;
  if (parseAxes(parser, axes))
    return failure();
  SmallVector<Attribute> attributes(axes.begin(), axes.end());
  return ArrayAttr::get(parser.getContext(), attributes);
}

/// axes (`by` block | `at` `[` begin `:` end, ... `]`)?
ParseResult parseCut(AsmParser &parser, SmallVectorImpl<ArrayAttr> &axes,
                     SmallVectorImpl<int64_t> &blocks,
                     SmallVectorImpl<DenseI64ArrayAttr> &ranges) {
  FailureOr<ArrayAttr> list = parseAxesAttr(parser);
  if (failed(list))
    return failure();
  axes.push_back(*list);
  blocks.push_back(1);
  SmallVector<int64_t> table;
  auto parseRange = [&]() -> ParseResult {
    return failure(parser.parseInteger(table.emplace_back()) ||
                   parser.parseColon() ||
                   parser.parseInteger(table.emplace_back()));
  };
  if (succeeded(parser.parseOptionalKeyword("by"))) {
    if (parser.parseInteger(blocks.back()))
      return failure();
  } else if (succeeded(parser.parseOptionalKeyword("at"))) {
    if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                       parseRange))
      return failure();
  }
  ranges.push_back(DenseI64ArrayAttr::get(parser.getContext(), table));
  return success();
}

void printName(AsmPrinter &printer, StringAttr name) {
  printer.printKeywordOrString(name.getValue());
}

template <typename Range> void printAxes(AsmPrinter &printer, Range axes) {
  printer << '[';
  llvm::interleaveComma(axes, printer, [&](Attribute axis) {
    printName(printer, cast<StringAttr>(axis));
  });
  printer << ']';
}

void printCut(AsmPrinter &printer, ArrayAttr axes, int64_t block,
              ArrayRef<int64_t> ranges) {
  printAxes(printer, axes.getValue());
  if (block != 1)
    printer << " by " << block;
  if (ranges.empty())
    return;
  printer << " at [";
  for (size_t i = 0; i + 1 < ranges.size(); i += 2)
    printer << (i ? ", " : "") << ranges[i] << ':' << ranges[i + 1];
  printer << ']';
}

/// Reports an axis that occurs twice in `axes`.
LogicalResult verifyDistinct(Verifier emitError, ArrayRef<Attribute> axes,
                             StringRef what) {
  llvm::StringSet<> seen;
  for (Attribute attribute : axes) {
    auto axis = dyn_cast<StringAttr>(attribute);
    if (!axis)
      return emitError() << "axes are strings, found " << attribute;
    if (!seen.insert(axis.getValue()).second)
      return emitError() << what << " '" << axis.getValue()
                         << "' is named twice";
  }
  return success();
}

} // namespace

//===----------------------------------------------------------------------===//
// #dist.grid
//===----------------------------------------------------------------------===//

Attribute GridAttr::parse(AsmParser &parser, Type) {
  SmallVector<StringAttr> axes;
  SmallVector<int64_t> sizes;
  auto parseAxis = [&]() -> ParseResult {
    return failure(parseName(parser, axes) || parser.parseEqual() ||
                   parser.parseInteger(sizes.emplace_back()));
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater,
                                     parseAxis))
    return {};
  return parser.getChecked<GridAttr>(parser.getContext(), axes, sizes);
}

void GridAttr::print(AsmPrinter &printer) const {
  printer << '<';
  llvm::interleaveComma(llvm::zip(getAxes(), getSizes()), printer,
                        [&](auto axis) {
                          printName(printer, std::get<0>(axis));
                          printer << " = " << std::get<1>(axis);
                        });
  printer << '>';
}

LogicalResult GridAttr::verify(Verifier emitError, ArrayRef<StringAttr> axes,
                               ArrayRef<int64_t> sizes) {
  if (axes.size() != sizes.size())
    return emitError() << "grid needs one size per axis";
  // C1
  for (StringAttr axis : axes)
    if (!isIdentifier(axis.getValue()))
      return emitError() << "grid axis '" << axis.getValue()
                         << "' is no identifier";
  SmallVector<Attribute> names(axes.begin(), axes.end());
  if (failed(verifyDistinct(emitError, names, "grid axis")))
    return failure();
  // C2
  for (auto [axis, size] : llvm::zip(axes, sizes))
    if (size < 1)
      return emitError() << "grid axis '" << axis.getValue() << "' has size "
                         << size << ", expected a positive one";
  return success();
}

int64_t GridAttr::getNumRanks() const {
  int64_t ranks = 1;
  for (int64_t size : getSizes())
    ranks *= size;
  return ranks;
}

int GridAttr::findAxis(StringRef name) const {
  for (auto [i, axis] : llvm::enumerate(getAxes()))
    if (axis.getValue() == name)
      return i;
  return -1;
}

int64_t GridAttr::getAxisSize(StringRef name) const {
  int axis = findAxis(name);
  return axis < 0 ? 1 : getSizes()[axis];
}

int64_t GridAttr::getCoordinate(int64_t rank, int axis) const {
  for (int i = static_cast<int>(getSizes().size()) - 1; i > axis; --i)
    rank /= getSizes()[i];
  return rank % getSizes()[axis];
}

//===----------------------------------------------------------------------===//
// #dist.split
//===----------------------------------------------------------------------===//

Attribute SplitAttr::parse(AsmParser &parser, Type) {
  SmallVector<StringAttr> dims;
  SmallVector<ArrayAttr> axes;
  SmallVector<int64_t> blocks;
  SmallVector<DenseI64ArrayAttr> ranges;
  auto parseDim = [&]() -> ParseResult {
    return failure(parseName(parser, dims) || parser.parseEqual() ||
                   parseCut(parser, axes, blocks, ranges));
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater,
                                     parseDim))
    return {};
  return parser.getChecked<SplitAttr>(parser.getContext(), dims, axes, blocks,
                                      ranges);
}

void SplitAttr::print(AsmPrinter &printer) const {
  printer << '<';
  llvm::interleaveComma(
      llvm::seq<size_t>(0, getDims().size()), printer, [&](size_t i) {
        printName(printer, getDims()[i]);
        printer << " = ";
        printCut(printer, getAxes()[i], getBlocks()[i], getRanges()[i]);
      });
  printer << '>';
}

LogicalResult SplitAttr::verify(Verifier emitError, ArrayRef<StringAttr> dims,
                                ArrayRef<ArrayAttr> axes,
                                ArrayRef<int64_t> blocks,
                                ArrayRef<DenseI64ArrayAttr> ranges) {
  if (dims.size() != axes.size() || dims.size() != ranges.size())
    return emitError() << "split needs a list of axes per dimension";
  // C1
  SmallVector<Attribute> names(dims.begin(), dims.end());
  if (failed(verifyDistinct(emitError, names, "split dimension")))
    return failure();
  // C2
  SmallVector<Attribute> all;
  for (ArrayAttr list : axes)
    llvm::append_range(all, list);
  if (failed(verifyDistinct(emitError, all, "split axis")))
    return failure();
  // C3
  for (auto [dim, list] : llvm::zip(dims, axes))
    if (list.empty())
      return emitError() << "split dimension '" << dim.getValue()
                         << "' has no axes; leave it out";
  // C4
  if (blocks.size() != dims.size() ||
      llvm::any_of(blocks, [](int64_t block) { return block < 1; }))
    return emitError() << "split needs a positive block size per dimension";
  // C5
  for (DenseI64ArrayAttr table : ranges)
    if (table.size() % 2 != 0)
      return emitError() << "split has a table of " << table.size()
                         << " numbers; expected a begin and an end per part";
  return success();
}

SplitAttr SplitAttr::getBalanced(MLIRContext *context,
                                 ArrayRef<StringAttr> dims,
                                 ArrayRef<ArrayAttr> axes) {
  SmallVector<int64_t> blocks(dims.size(), 1);
  SmallVector<DenseI64ArrayAttr> ranges(dims.size(),
                                        DenseI64ArrayAttr::get(context, {}));
  return get(context, dims, axes, blocks, ranges);
}

int SplitAttr::find(StringRef name) const {
  for (auto [i, dim] : llvm::enumerate(getDims()))
    if (dim.getValue() == name)
      return static_cast<int>(i);
  return -1;
}

ArrayRef<Attribute> SplitAttr::getAxesOf(StringRef name) const {
  int index = find(name);
  return index < 0 ? ArrayRef<Attribute>() : getAxes()[index].getValue();
}

//===----------------------------------------------------------------------===//
// #dist.layout
//===----------------------------------------------------------------------===//

Attribute LayoutAttr::parse(AsmParser &parser, Type) {
  SmallVector<ArrayAttr> dims;
  SmallVector<int64_t> blocks;
  SmallVector<DenseI64ArrayAttr> ranges;
  SmallVector<StringAttr> partial, varying;
  StringAttr kind = StringAttr::get(parser.getContext(), "");
  auto parseDim = [&] { return parseCut(parser, dims, blocks, ranges); };
  if (parser.parseLess() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseDim))
    return {};
  while (succeeded(parser.parseOptionalComma())) {
    if (succeeded(parser.parseOptionalKeyword("varying"))) {
      if (parseAxes(parser, varying))
        return {};
      continue;
    }
    std::string name;
    if (parser.parseKeyword("partial") || parser.parseKeywordOrString(&name) ||
        parseAxes(parser, partial))
      return {};
    kind = StringAttr::get(parser.getContext(), name);
  }
  if (parser.parseGreater())
    return {};
  return parser.getChecked<LayoutAttr>(parser.getContext(), dims, blocks,
                                       ranges, kind, partial, varying);
}

void LayoutAttr::print(AsmPrinter &printer) const {
  printer << "<[";
  llvm::interleaveComma(
      llvm::seq<size_t>(0, getDims().size()), printer, [&](size_t i) {
        printCut(printer, getDims()[i], getBlocks()[i], getRanges()[i]);
      });
  printer << ']';
  if (isPartial()) {
    printer << ", partial ";
    printName(printer, getPartialKind());
    printer << ' ';
    printAxes(printer, getPartial());
  }
  if (!getVarying().empty()) {
    printer << ", varying ";
    printAxes(printer, getVarying());
  }
  printer << '>';
}

LogicalResult LayoutAttr::verify(Verifier emitError, ArrayRef<ArrayAttr> dims,
                                 ArrayRef<int64_t> blocks,
                                 ArrayRef<DenseI64ArrayAttr> ranges,
                                 StringAttr partialKind,
                                 ArrayRef<StringAttr> partial,
                                 ArrayRef<StringAttr> varying) {
  // C1
  SmallVector<Attribute> all;
  for (ArrayAttr axes : dims)
    llvm::append_range(all, axes);
  all.append(partial.begin(), partial.end());
  all.append(varying.begin(), varying.end());
  if (failed(verifyDistinct(emitError, all, "layout axis")))
    return failure();
  // C2
  StringRef kind = partialKind.getValue();
  bool isKind =
      kind == "sum" || kind == "max" || kind == "min" || kind == "prod";
  if (partial.empty() ? !kind.empty() : !isKind)
    return emitError() << "layout is partial by '" << kind << "' over "
                       << partial.size()
                       << " axes; expected sum, max, min or prod and at least "
                          "one axis, or neither";
  // C3
  if (blocks.size() != dims.size() ||
      llvm::any_of(blocks, [](int64_t block) { return block < 1; }))
    return emitError() << "layout needs a positive block size per dimension";
  // C4
  if (ranges.size() != dims.size())
    return emitError() << "layout needs a table per dimension";
  for (auto [table, axes] : llvm::zip(ranges, dims))
    if (table.size() % 2 != 0 || (!table.empty() && axes.empty()))
      return emitError() << "layout has a table of " << table.size()
                         << " numbers over " << axes.size()
                         << " axes; expected a begin and an end per part";
  return success();
}

LayoutAttr LayoutAttr::getReplicated(MLIRContext *context, unsigned rank) {
  SmallVector<ArrayAttr> dims(rank, ArrayAttr::get(context, {}));
  SmallVector<int64_t> blocks(rank, 1);
  SmallVector<DenseI64ArrayAttr> ranges(rank,
                                        DenseI64ArrayAttr::get(context, {}));
  return get(context, dims, blocks, ranges, StringAttr::get(context, ""), {},
             {});
}

bool LayoutAttr::isReplicated() const {
  return getPartial().empty() && getVarying().empty() &&
         llvm::all_of(getDims(), [](ArrayAttr axes) { return axes.empty(); });
}

//===----------------------------------------------------------------------===//
// #dist.sync
//===----------------------------------------------------------------------===//

Attribute SyncAttr::parse(AsmParser &parser, Type) {
  StringRef keyword;
  SmallVector<StringAttr> axes;
  SMLoc where = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseKeyword(&keyword))
    return {};
  std::optional<SyncMethod> method = symbolizeSyncMethod(keyword);
  if (!method) {
    parser.emitError(where) << "unknown synchronisation '" << keyword << "'";
    return {};
  }
  if (parseAxes(parser, axes))
    return {};
  Algorithm algorithm = Algorithm::automatic;
  if (succeeded(parser.parseOptionalKeyword("by"))) {
    where = parser.getCurrentLocation();
    if (parser.parseKeyword(&keyword))
      return {};
    std::optional<Algorithm> named = symbolizeAlgorithm(keyword);
    if (!named) {
      parser.emitError(where) << "unknown algorithm '" << keyword << "'";
      return {};
    }
    algorithm = *named;
  }
  if (parser.parseGreater())
    return {};
  return parser.getChecked<SyncAttr>(parser.getContext(), *method, axes,
                                     algorithm);
}

void SyncAttr::print(AsmPrinter &printer) const {
  printer << '<' << stringifySyncMethod(getMethod()) << ' ';
  printAxes(printer, getAxes());
  if (getAlgorithm() != Algorithm::automatic)
    printer << " by " << stringifyAlgorithm(getAlgorithm());
  printer << '>';
}

LogicalResult SyncAttr::verify(Verifier emitError, SyncMethod method,
                               ArrayRef<StringAttr> axes, Algorithm algorithm) {
  // C2
  if (algorithm != Algorithm::automatic && method != SyncMethod::all_reduce)
    return emitError() << "a synchronisation by " << stringifySyncMethod(method)
                       << " has no algorithm, "
                       << "found '" << stringifyAlgorithm(algorithm) << "'";
  // C1
  SmallVector<Attribute> all(axes.begin(), axes.end());
  return verifyDistinct(emitError, all, "synchronisation axis");
}
