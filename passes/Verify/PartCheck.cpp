//===- PartCheck.cpp - Whether a part gets what it needs ------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loops, boxes and windows of one operation.
//
//===----------------------------------------------------------------------===//

#include "passes/Verify/PartCheck.h"
#include "dialects/SPMD/IR/SPMDDialect.h"
#include "passes/Verify/WholeOperation.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cmath>
#include <numeric>

using namespace mlir;
using namespace partita;
using namespace partita::dist;
using namespace partita::verify;

std::string partita::verify::rangeText(Range range) {
  return "[" + std::to_string(range.begin) + ", " + std::to_string(range.end) +
         ")";
}

std::string partita::verify::layoutText(MLIRContext *context, GridAttr grid,
                                        const Layout &layout) {
  std::string text;
  llvm::raw_string_ostream(text) << toAttr(context, grid, layout);
  return text;
}

std::string partita::verify::faultOf(GridAttr gridAttr, LayoutAttr attr,
                                     RankedTensorType type) {
  Grid grid = toGrid(gridAttr);
  std::string fault;
  llvm::raw_string_ostream out(fault);
  if (static_cast<int64_t>(attr.getDims().size()) != type.getRank()) {
    out << "layout " << attr << " does not fit " << type;
    return fault;
  }
  auto checkAxis = [&](StringAttr axis) {
    if (fault.empty() && gridAttr.findAxis(axis.getValue()) < 0)
      out << "layout " << attr << " names axis '" << axis.getValue()
          << "', which is not one of the grid " << gridAttr;
  };
  for (ArrayAttr axes : attr.getDims())
    for (auto axis : axes.getAsRange<StringAttr>())
      checkAxis(axis);
  for (StringAttr axis : attr.getPartial())
    checkAxis(axis);
  for (StringAttr axis : attr.getVarying())
    checkAxis(axis);
  if (!fault.empty())
    return fault;
  Layout layout = toLayout(gridAttr, attr);
  for (auto [d, cut] : llvm::enumerate(layout.dims)) {
    int64_t parts = grid.partsOf(cut.axes);
    bool fits =
        cut.ranges.empty() || static_cast<int64_t>(cut.ranges.size()) == parts;
    for (Range range : cut.ranges)
      fits = fits && range.begin >= 0 && range.begin <= range.end &&
             range.end <= type.getDimSize(d);
    if (!fits && fault.empty())
      out << "layout " << attr << " needs " << parts << " ranges inside [0, "
          << type.getDimSize(d) << ") for dimension " << d << " of " << type;
  }
  return fault;
}

namespace {

/// The indices of a tensor's dimension that part `part` of the loop which
/// indexes it touches.
Range neededRange(const nn::DimMap &map, Range part, int64_t size) {
  auto clip = [size](int64_t begin, int64_t end) {
    begin = std::clamp<int64_t>(begin, 0, size);
    return Range{begin, std::clamp<int64_t>(end, begin, size)};
  };
  if (map.dim < 0)
    return {0, size};
  if (map.kind == nn::DimMap::direct)
    return {part.begin * map.block, part.end * map.block};
  if (part.empty())
    return {0, 0};
  auto rowsOf = [&](int64_t first, int64_t last) {
    int64_t a = first * map.stride - map.pad, b = last * map.stride - map.pad;
    return clip(std::min(a, b), std::max(a, b) + map.extent);
  };
  if (map.kind == nn::DimMap::window)
    return rowsOf(part.begin, part.end - 1);
  // Window o touches the part when o * stride - pad < end and
  // o * stride - pad + extent > begin.
  int64_t first =
      llvm::divideFloorSigned(part.begin + map.pad - map.extent, map.stride) +
      1;
  int64_t last = llvm::divideCeilSigned(part.end + map.pad, map.stride) - 1;
  first = std::max<int64_t>(first, 0);
  last = std::min(last, map.count - 1);
  if (map.kind == nn::DimMap::covering)
    return last < first ? Range{0, 0} : Range{first, last + 1};
  if (last < first)
    return part;
  Range rows = rowsOf(first, last);
  return {std::min(rows.begin, part.begin), std::max(rows.end, part.end)};
}

bool isSameRange(Range a, Range b) {
  return a == b || (a.empty() && b.empty());
}

/// Operations that give the sum of results for the sum of operands.
bool isLinear(Operation *op) {
  return isa<nn::AddOp, nn::SubOp, nn::NegOp, nn::ReshapeOp, nn::TransposeOp>(
      op);
}

Combine combineOf(nn::Combiner combiner) {
  switch (combiner) {
  case nn::Combiner::sum:
    return Combine::sum;
  case nn::Combiner::max:
    return Combine::max;
  case nn::Combiner::min:
    return Combine::min;
  case nn::Combiner::prod:
    return Combine::prod;
  }
  llvm_unreachable("unknown combiner");
}

class PartCheck {
public:
  PartCheck(Operation *op, GridAttr gridAttr, ArrayRef<int64_t> ranks,
            ArrayRef<Placement> operands)
      : op(op), context(op->getContext()), gridAttr(gridAttr),
        grid(toGrid(gridAttr)), ranks(ranks), operands(operands) {}

  PartFinding run() {
    SmallVector<RankedTensorType> types;
    for (const Placement &operand : operands)
      types.push_back(operand.whole);
    WholeOperation wholeOperation(op, types);
    if (!wholeOperation.get()) {
      fault() << "is a part of no whole operation: " << wholeOperation.fault();
      return std::move(finding);
    }
    if (!isa<nn::ConcatOp>(op) && !wholeOperation.hasAllOperands()) {
      fault() << "must have all operands of the whole operation";
      return std::move(finding);
    }
    present = &wholeOperation;
    whole = wholeOperation.get();
    space = cast<nn::PartitionableOp>(whole).getIterationSpace();
    local = cast<nn::PartitionableOp>(op).getIterationSpace();
    if (!readSplit() || !checkValues() || !checkScales())
      return std::move(finding);
    placeResults();
    for (int64_t rank : ranks)
      if (!checkRank(rank))
        return std::move(finding);
    describe();
    return std::move(finding);
  }

private:
  llvm::raw_string_ostream &fault() { return out; }
  bool good() const { return finding.fault.empty(); }

  std::string operandText(unsigned i) const {
    return "operand " + std::to_string(i);
  }
  std::string text(const Layout &layout) const {
    return layoutText(context, gridAttr, layout);
  }

  /// Reads the cuts of the loops.
  bool readSplit() {
    cuts.resize(space.dims.size());
    split = op->getAttrOfType<SplitAttr>(spmd::kSplitAttr);
    if (!split)
      return true;
    for (auto [name, axes] : llvm::zip(split.getDims(), split.getAxes())) {
      int dim = space.find(name.getValue());
      if (dim < 0 || space.dims[dim].kind == nn::DimKind::coupled ||
          space.dims[dim].kind == nn::DimKind::whole) {
        fault() << "cannot be split along '" << name.getValue() << "', found "
                << split;
        return false;
      }
      for (auto axis : axes.getAsRange<StringAttr>())
        if (gridAttr.findAxis(axis.getValue()) < 0) {
          fault() << "is split over axis '" << axis.getValue()
                  << "', which is not one of the grid " << gridAttr;
          return false;
        }
      cuts[dim] = cutOf(gridAttr, split, name.getValue());
      Layout one;
      one.dims = {cuts[dim]};
      int64_t size = space.dims[dim].size;
      int64_t parts = grid.partsOf(cuts[dim].axes);
      if ((!cuts[dim].ranges.empty() &&
           static_cast<int64_t>(cuts[dim].ranges.size()) != parts) ||
          !isTiling(grid, one, {size})) {
        fault() << "computes some of the " << size << " indices of '"
                << name.getValue() << "' twice or never, found " << split;
        return false;
      }
    }
    return true;
  }

  bool isSplitOver(int axis) const {
    return llvm::any_of(cuts, [&](const DimCut &cut) {
      return llvm::is_contained(cut.axes, axis);
    });
  }

  /// Which operands may be partial or each rank's own.
  bool checkValues() {
    for (auto [i, operand] : llvm::enumerate(operands)) {
      if (!sameBoxes(grid, operand.held, operand.good,
                     sizesOf(operand.whole))) {
        fault() << operandText(i)
                << " holds rows that lack what other ranks add to them; cut "
                   "them off by spmd.slice first";
        return false;
      }
      if (operand.held.isPartial() && !isLinear(op)) {
        fault() << operandText(i) << " is partial, found " << text(operand.held)
                << "; combine it first, for " << op->getName()
                << " of a sum is not the sum of its parts'";
        return false;
      }
    }
    bool isPartial = llvm::any_of(operands, [](const Placement &operand) {
      return operand.held.isPartial();
    });
    if (isPartial) {
      const Layout &first = operands[0].held;
      for (auto [i, operand] : llvm::enumerate(operands))
        if (operand.held.partial != first.partial ||
            operand.held.combine != first.combine) {
          fault() << "all operands must be partial alike, found operand 0 "
                  << text(first) << " and " << operandText(i) << ' '
                  << text(operand.held)
                  << "; what is whole would be counted once per rank";
          return false;
        }
      if (first.combine != Combine::sum &&
          !isa<nn::ReshapeOp, nn::TransposeOp>(op)) {
        fault() << "operands are partial by another kind than sum, found "
                << text(first);
        return false;
      }
      for (int axis : first.partial)
        if (isSplitOver(axis)) {
          fault() << "is split over an axis over which its operands are "
                     "partial, found "
                  << split << " and " << text(first);
          return false;
        }
    }
    // A convolution that sums over input channels in parts.
    auto conv = dyn_cast<nn::ConvOp>(op);
    int ci = space.find("ci");
    if (conv && conv.getBias() && ci >= 0 && grid.partsOf(cuts[ci].axes) > 1) {
      fault() << "adds its bias to each of " << grid.partsOf(cuts[ci].axes)
              << " partial sums; add it once, to the combined sum";
      return false;
    }
    return true;
  }

  //===--------------------------------------------------------------------===//
  // Scales of means
  //===--------------------------------------------------------------------===//

  /// The dimensions that a statistic runs over; none for other operations.
  SmallVector<int64_t> statisticAxes() const {
    SmallVector<int64_t> axes;
    if (auto axesAttr = whole->getAttrOfType<DenseI64ArrayAttr>("axes"))
      axes.assign(axesAttr.asArrayRef().begin(), axesAttr.asArrayRef().end());
    if (auto grad = dyn_cast<nn::NormalizeGradOp>(whole))
      for (int64_t i = 0; i < nn::tensorType(grad.getX()).getRank(); ++i)
        if (i != static_cast<int64_t>(grad.getAxis()))
          axes.push_back(i);
    return axes;
  }
  static double scaleOf(Operation *op) {
    return op->getAttrOfType<FloatAttr>("scale").getValueAsDouble();
  }
  static bool isClose(double a, double b) {
    // Scales may have been numbers of single precision.
    return std::abs(a - b) <= 1e-6 * std::max(std::abs(a), std::abs(b));
  }

  /// The scales of means count all elements, on every rank. Sums have none.
  bool checkScales() {
    auto reduce = dyn_cast<nn::ReduceOp>(op);
    bool isSum = reduce && reduce.getKind() == nn::ReduceKind::sum;
    if ((!isSum && !isa<nn::VarianceOp, nn::NormalizeGradOp>(op)) ||
        op->hasAttr("local"))
      return true;
    int64_t count = 1;
    for (int64_t axis : statisticAxes())
      count *= space.dims[axis].size;
    double scale = scaleOf(op);
    if (isClose(scale * static_cast<double>(count), 1) ||
        (isSum && scale == 1) || (isa<nn::NormalizeGradOp>(op) && scale == 0))
      return true;
    fault() << "has scale " << scale << ", expected 1 / " << count
            << ", the elements of the whole tensor"
            << (isSum ? ", for a mean or 1 for a sum" : "");
    return false;
  }

  /// Statistics of the rank's own count its own elements.
  bool checkLocalScale(int64_t rank, ArrayRef<Range> bounds) {
    auto kind = dyn_cast<nn::ReduceOp>(op);
    if (!op->hasAttr("local") || !op->hasAttr("scale") ||
        (kind && kind.getKind() != nn::ReduceKind::sum))
      return true;
    double all = 1, own = 1;
    for (int64_t axis : statisticAxes()) {
      all *= static_cast<double>(space.dims[axis].size);
      own *= static_cast<double>(bounds[axis].size());
    }
    double expected = own == 0 ? 0 : scaleOf(whole) * all / own;
    if (isClose(scaleOf(op), expected))
      return true;
    fault() << "has scale " << scaleOf(op) << ", but on rank " << rank
            << " expected " << expected << " for its own " << own << " of "
            << all << " elements";
    return false;
  }

  //===--------------------------------------------------------------------===//
  // Boxes
  //===--------------------------------------------------------------------===//

  SmallVector<Range> boundsOf(int64_t rank) const {
    SmallVector<Range> bounds;
    for (auto [dim, cut] : llvm::zip(space.dims, cuts))
      bounds.push_back(cut.axes.empty()
                           ? Range{0, dim.size}
                           : cut.rangeOf(dim.size, grid.partsOf(cut.axes),
                                         grid.partOf(rank, cut.axes)));
    return bounds;
  }

  static Box boxOf(const nn::TensorMap &map, ArrayRef<Range> bounds,
                   ArrayRef<int64_t> shape) {
    Box box;
    for (auto [entry, size] : llvm::zip(map, shape))
      box.push_back(neededRange(
          entry, entry.dim < 0 ? Range() : bounds[entry.dim], size));
    return box;
  }

  const nn::TensorMap &computedMap(unsigned result) const {
    return space.computed.empty() ? space.results[result]
                                  : space.computed[result];
  }

  /// What of dimension `d` of a result the part of `rank` computes: its own
  /// part, and all rows of the windows that it holds, which may be more windows
  /// than it needs.
  Range computedRange(unsigned result, size_t d, int64_t rank,
                      ArrayRef<Range> bounds) const {
    const nn::DimMap &map = computedMap(result)[d];
    int64_t size = nn::shapeOf(whole->getResult(result))[d];
    Range part = map.dim < 0 ? Range() : bounds[map.dim];
    if (map.kind != nn::DimMap::covered || part.empty())
      return neededRange(map, part, size);
    for (auto [i, operand] : llvm::enumerate(operands))
      for (auto [e, other] :
           llvm::enumerate(space.operands[present->operandOf(i)])) {
        if (other.dim != map.dim || other.kind != nn::DimMap::covering)
          continue;
        Range windows =
            dist::boxOf(grid, operand.held, sizesOf(operand.whole), rank)[e];
        if (windows.empty())
          return part;
        nn::DimMap rows = map;
        rows.kind = nn::DimMap::window;
        Range touched = neededRange(rows, windows, size);
        return {std::min(touched.begin, part.begin),
                std::max(touched.end, part.end)};
      }
    return neededRange(map, part, size);
  }

  Box computedBox(unsigned result, int64_t rank, ArrayRef<Range> bounds) const {
    Box box;
    for (size_t d = 0; d < computedMap(result).size(); ++d)
      box.push_back(computedRange(result, d, rank, bounds));
    return box;
  }

  bool checkRank(int64_t rank) {
    SmallVector<Range> bounds = boundsOf(rank);
    std::vector<bool> isPresent(whole->getNumOperands(), false);
    for (auto [i, operand] : llvm::enumerate(operands)) {
      unsigned at = present->operandOf(i);
      isPresent[at] = true;
      Box have = dist::boxOf(grid, operand.held, sizesOf(operand.whole), rank);
      for (auto [d, map] : llvm::enumerate(space.operands[at])) {
        Range needed = neededRange(map, map.dim < 0 ? Range() : bounds[map.dim],
                                   operand.whole.getDimSize(d));
        bool isDirect = map.dim < 0 || map.kind == nn::DimMap::direct;
        if (isDirect ? isSameRange(have[d], needed) : have[d].contains(needed))
          continue;
        fault() << "needs " << rangeText(needed) << " of dimension " << d
                << " of " << operandText(i) << " on rank " << rank
                << (split ? " for " : " whole");
        if (split)
          fault() << split;
        fault() << ", found " << rangeText(have[d]) << ", for it lies as "
                << text(operand.held);
        return false;
      }
    }
    for (auto [at, map] : llvm::enumerate(space.operands)) {
      Box needed = boxOf(map, bounds, nn::shapeOf(whole->getOperand(at)));
      if (isPresent[at] || isEmpty(needed))
        continue;
      fault() << "leaves out operand " << at << " of the whole operation, of "
              << "which rank " << rank << " needs a part";
      return false;
    }
    return checkWindows(rank, bounds) && checkPlace(rank) &&
           checkLocalScale(rank, bounds);
  }

  /// Where the part's loops begin in those of the whole operation.
  SmallVector<int64_t> originsOf(int64_t rank, ArrayRef<Range> bounds) const {
    SmallVector<int64_t> origins;
    for (Range range : bounds)
      origins.push_back(range.begin);
    for (unsigned r = 0; r < space.computed.size(); ++r)
      for (auto [d, map] : llvm::enumerate(space.computed[r]))
        if (map.dim >= 0)
          origins[map.dim] = computedRange(r, d, rank, bounds).begin;
    return origins;
  }

  /// The first window of the part must be the right one of the whole.
  bool checkWindows(int64_t rank, ArrayRef<Range> bounds) {
    SmallVector<int64_t> origins = originsOf(rank, bounds);
    for (auto [i, operand] : llvm::enumerate(operands)) {
      unsigned at = present->operandOf(i);
      Box have = dist::boxOf(grid, operand.held, sizesOf(operand.whole), rank);
      for (auto [d, map] : llvm::enumerate(space.operands[at])) {
        nn::DimMap part = local.operands[i][d];
        bool isDirect =
            map.kind == nn::DimMap::direct && part.kind == nn::DimMap::direct;
        if (map.dim < 0 || isDirect || have[d].empty() ||
            bounds[map.dim].empty())
          continue;
        // Element of the whole where the part's first window begins, and where
        // it must begin.
        int64_t found, expected;
        bool reads =
            map.kind == nn::DimMap::window ||
            (map.kind == nn::DimMap::direct && part.kind == nn::DimMap::window);
        if (map.kind == nn::DimMap::covered) {
          found = have[d].begin;
          expected = origins[map.dim];
        } else {
          int64_t element = reads ? have[d].begin : origins[map.dim];
          int64_t window = reads ? origins[map.dim] : have[d].begin;
          found = element - part.pad;
          expected = window * map.stride - map.pad;
        }
        if (found == expected && part.stride == map.stride &&
            part.extent == map.extent)
          continue;
        fault() << "begins its windows over dimension " << d << " of "
                << operandText(i) << " at row " << found << " on rank " << rank
                << " (stride " << part.stride << ", extent " << part.extent
                << "), expected row " << expected << " (stride " << map.stride
                << ", extent " << map.extent
                << "); its paddings or starts do not fit its part";
        return false;
      }
    }
    return checkDivisors(rank, bounds);
  }

  /// Averages that count padding know where the padding ends.
  bool checkDivisors(int64_t rank, ArrayRef<Range> bounds) {
    if (!isa<nn::AvgPoolOp, nn::AvgPoolGradOp>(op) ||
        !op->hasAttr("count_include_pad"))
      return true;
    bool forward = isa<nn::AvgPoolOp>(op);
    auto readList = [](Operation *from, StringRef name) {
      return from->getAttrOfType<DenseI64ArrayAttr>(name).asArrayRef();
    };
    ArrayRef<int64_t> shape =
        nn::shapeOf(forward ? whole->getOperand(0) : whole->getResult(0));
    Box rows = forward ? dist::boxOf(grid, operands[0].held,
                                     sizesOf(operands[0].whole), rank)
                       : computedBox(0, rank, bounds);
    Box windows = forward ? boxOf(space.results[0], bounds,
                                  nn::shapeOf(whole->getResult(0)))
                          : dist::boxOf(grid, operands[0].held,
                                        sizesOf(operands[0].whole), rank);
    ArrayRef<int64_t> kernel = readList(op, "kernel");
    for (size_t i = 0, spatial = kernel.size(); i < spatial; ++i) {
      Range window = windows[2 + i];
      if (window.empty() || rows[2 + i].empty())
        continue;
      int64_t end = (window.end - 1) * readList(op, "strides")[i] -
                    readList(whole, "pads")[i] +
                    readList(op, "dilations")[i] * (kernel[i] - 1) + 1;
      int64_t found =
          std::min(end, rows[2 + i].end + readList(op, "pads")[spatial + i]);
      int64_t expected =
          std::min(end, shape[2 + i] + readList(whole, "pads")[spatial + i]);
      if (found == expected)
        continue;
      fault() << "counts padding of dimension " << 2 + i << " up to row "
              << found << " on rank " << rank << ", expected " << expected;
      return false;
    }
    return true;
  }

  /// Operations that depend on the place of a part know it by its layout.
  bool checkPlace(int64_t rank) {
    Value value = cast<nn::PartitionableOp>(whole).getPlacedValue();
    if (!value)
      return true;
    auto type = nn::tensorType(value);
    Box expected;
    for (auto [i, operand] : llvm::enumerate(whole->getOperands()))
      if (operand == value)
        expected = dist::boxOf(grid, operands[i].held, sizesOf(type), rank);
    for (auto [r, result] : llvm::enumerate(whole->getResults()))
      if (result == value)
        expected = computedBox(r, rank, boundsOf(rank));
    auto attr = op->getAttrOfType<LayoutAttr>("layout");
    if (attr) {
      std::string wrong = faultOf(gridAttr, attr, type);
      if (!wrong.empty()) {
        fault() << wrong;
        return false;
      }
    }
    Box found = dist::boxOf(grid,
                            attr ? toLayout(gridAttr, attr)
                                 : Layout::replicated(expected.size()),
                            sizesOf(type), rank);
    for (size_t d = 0; d < expected.size(); ++d) {
      if (isSameRange(found[d], expected[d]))
        continue;
      fault() << "takes its part for " << rangeText(found[d])
              << " of dimension " << d << " of " << type << " on rank " << rank
              << ", expected " << rangeText(expected[d])
              << "; its `layout` does not fit its split";
      return false;
    }
    return true;
  }

  //===--------------------------------------------------------------------===//
  // Results
  //===--------------------------------------------------------------------===//

  /// The cuts of a tensor's dimensions that `map` indexes.
  std::vector<DimCut> cutsOf(const nn::TensorMap &map,
                             ArrayRef<int64_t> shape) const {
    std::vector<DimCut> result(map.size());
    for (auto [d, entry] : llvm::enumerate(map)) {
      if (entry.dim < 0 || cuts[entry.dim].axes.empty())
        continue;
      const DimCut &cut = cuts[entry.dim];
      result[d].axes = cut.axes;
      if (entry.kind == nn::DimMap::direct && cut.ranges.empty()) {
        result[d].block = cut.block * entry.block;
        continue;
      }
      for (Range part : rangesOf(grid, cut, space.dims[entry.dim].size))
        result[d].ranges.push_back(neededRange(entry, part, shape[d]));
    }
    return result;
  }

  /// A rank that has part `part` of what is cut over `axes`.
  int64_t rankWith(ArrayRef<int> axes, int64_t part) const {
    std::vector<int64_t> coordinates(grid.sizes.size(), 0);
    for (int axis : llvm::reverse(axes)) {
      coordinates[axis] = part % grid.sizes[axis];
      part /= grid.sizes[axis];
    }
    return grid.rankOf(coordinates);
  }

  /// The cuts of what is computed of a result.
  std::vector<DimCut> computedCuts(unsigned result,
                                   std::vector<DimCut> cutsOfResult) const {
    if (space.computed.empty())
      return cutsOfResult;
    for (auto [d, map] : llvm::enumerate(space.computed[result])) {
      DimCut &cut = cutsOfResult[d];
      if (map.dim < 0 || map.kind == nn::DimMap::direct || cut.axes.empty())
        continue;
      cut.block = 1;
      cut.ranges.clear();
      for (int64_t part = 0; part < grid.partsOf(cut.axes); ++part) {
        int64_t rank = rankWith(cut.axes, part);
        cut.ranges.push_back(computedRange(result, d, rank, boundsOf(rank)));
      }
    }
    return cutsOfResult;
  }

  void placeResults() {
    // Axes over which some operand is each rank's own.
    SmallVector<int> inherited;
    Layout partial;
    for (const Placement &operand : operands) {
      llvm::append_range(inherited, operand.held.varying);
      if (operand.held.isPartial())
        partial = operand.held;
    }
    for (unsigned r = 0; r < whole->getNumResults(); ++r) {
      RankedTensorType type = nn::tensorType(whole->getResult(r));
      Layout layout;
      layout.dims = cutsOf(space.results[r], type.getShape());
      layout.partial = partial.partial;
      layout.combine = partial.combine;
      SmallVector<int> known(layout.partial.begin(), layout.partial.end());
      for (const DimCut &cut : layout.dims)
        llvm::append_range(known, cut.axes);
      for (auto [d, cut] : llvm::enumerate(cuts))
        for (int axis : cut.axes) {
          if (grid.sizes[axis] == 1 || llvm::is_contained(known, axis))
            continue;
          known.push_back(axis);
          bool reduces = space.dims[d].kind == nn::DimKind::reduction;
          (reduces ? layout.partial : layout.varying).push_back(axis);
          if (reduces)
            layout.combine = combineOf(space.dims[d].combiner);
        }
      for (int axis : inherited)
        if (!llvm::is_contained(known, axis)) {
          known.push_back(axis);
          layout.varying.push_back(axis);
        }
      llvm::sort(layout.partial);
      llvm::sort(layout.varying);
      Placement placement{type, layout, layout};
      placement.held.dims = computedCuts(r, layout.dims);
      finding.results.push_back(placement);
    }
  }

  /// What all classes must agree on.
  void describe() {
    Step &step = finding.step;
    step.op = op;
    llvm::raw_string_ostream made(step.made), how(step.how);
    made << op->getName();
    // Empty parts may lie anywhere.
    for (const Placement &result : finding.results)
      made << ' ' << result.whole << ' '
           << text(simplify(grid, result.held, sizesOf(result.whole)));
    how << split << ' ' << whole->getAttrDictionary();
    for (Type type : whole->getOperandTypes())
      how << ' ' << type;
    SmallVector<SmallVector<int64_t>> shapes;
    for (Value operand : whole->getOperands())
      shapes.emplace_back(nn::shapeOf(operand));
    step.isEmpty = [grid = grid, space = space, cuts = cuts,
                    shapes](int64_t rank) {
      SmallVector<Range> bounds;
      for (auto [dim, cut] : llvm::zip(space.dims, cuts)) {
        bounds.push_back(cut.axes.empty()
                             ? Range{0, dim.size}
                             : cut.rangeOf(dim.size, grid.partsOf(cut.axes),
                                           grid.partOf(rank, cut.axes)));
        if (bounds.back().empty())
          return true;
      }
      return llvm::any_of(llvm::zip(space.operands, shapes), [&](auto each) {
        return isEmpty(boxOf(std::get<0>(each), bounds, std::get<1>(each)));
      });
    };
  }

  Operation *op;
  MLIRContext *context;
  GridAttr gridAttr;
  Grid grid;
  ArrayRef<int64_t> ranks;
  ArrayRef<Placement> operands;
  PartFinding finding;
  llvm::raw_string_ostream out{finding.fault};
  const WholeOperation *present = nullptr;
  Operation *whole = nullptr;
  nn::IterationSpace space, local;
  SplitAttr split;
  SmallVector<DimCut> cuts;
};

} // namespace

PartFinding partita::verify::checkPart(Operation *op, GridAttr grid,
                                       ArrayRef<int64_t> ranks,
                                       ArrayRef<Placement> operands) {
  return PartCheck(op, grid, ranks, operands).run();
}
