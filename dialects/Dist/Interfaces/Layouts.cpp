//===- Layouts.cpp - Layouts derived from iteration spaces ----------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Derivation of operand and result layouts from a split.
//
//===----------------------------------------------------------------------===//

#include "dialects/Dist/Interfaces/Layouts.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace partita;
using namespace partita::dist;

StringRef partita::dist::combinerName(nn::Combiner combiner) {
  switch (combiner) {
  case nn::Combiner::sum:
    return "sum";
  case nn::Combiner::max:
    return "max";
  case nn::Combiner::min:
    return "min";
  case nn::Combiner::prod:
    return "prod";
  }
  llvm_unreachable("unknown combiner");
}

namespace {

StringRef combineName(Combine combine) {
  switch (combine) {
  case Combine::none:
    return "";
  case Combine::sum:
    return "sum";
  case Combine::max:
    return "max";
  case Combine::min:
    return "min";
  case Combine::prod:
    return "prod";
  }
  llvm_unreachable("unknown combination");
}

Combine combineOf(StringRef kind) {
  return llvm::StringSwitch<Combine>(kind)
      .Case("sum", Combine::sum)
      .Case("max", Combine::max)
      .Case("min", Combine::min)
      .Case("prod", Combine::prod)
      .Default(Combine::none);
}

std::vector<int> sortedAxes(GridAttr grid, ArrayRef<StringAttr> axes) {
  std::vector<int> indices;
  for (StringAttr axis : axes)
    if (int index = grid.findAxis(axis.getValue()); index >= 0)
      indices.push_back(index);
  llvm::sort(indices);
  return indices;
}

DimCut toCut(GridAttr grid, ArrayRef<Attribute> axes, int64_t block,
             ArrayRef<int64_t> table) {
  DimCut cut;
  for (Attribute axis : axes)
    if (int index = grid.findAxis(cast<StringAttr>(axis).getValue());
        index >= 0)
      cut.axes.push_back(index);
  cut.block = block;
  for (size_t i = 0; i + 1 < table.size(); i += 2)
    cut.ranges.push_back({table[i], table[i + 1]});
  return cut;
}

ArrayAttr axesAttr(MLIRContext *context, GridAttr grid, ArrayRef<int> axes) {
  SmallVector<Attribute> names;
  for (int axis : axes)
    names.push_back(grid.getAxes()[axis]);
  return ArrayAttr::get(context, names);
}

DenseI64ArrayAttr tableAttr(MLIRContext *context,
                            const std::vector<Range> &ranges) {
  SmallVector<int64_t> table;
  for (Range range : ranges) {
    table.push_back(range.begin);
    table.push_back(range.end);
  }
  return DenseI64ArrayAttr::get(context, table);
}

/// The cut of a tensor dimension of `size` elements that `map` indexes, when
/// its iteration dimension of `count` is cut by `cut`.
DimCut indexedCut(const Grid &grid, const nn::DimMap &map, const DimCut &cut,
                  int64_t count, int64_t size) {
  DimCut result;
  if (cut.axes.empty() || map.dim < 0)
    return result;
  result.axes = cut.axes;
  // Where one rank computes everything it is given the whole dimension, also
  // the elements that it does not read, as an operation that is not split.
  if (grid.partsOf(cut.axes) == 1)
    return result;
  if (map.kind == nn::DimMap::direct && cut.ranges.empty()) {
    result.block = cut.block * map.block;
    return result;
  }
  for (Range part : rangesOf(grid, cut, count))
    result.ranges.push_back(map.rangeOf(part, size));
  return result;
}

/// The layout of a tensor indexed by `map`, without partial or varying axes.
Layout indexedLayout(const Grid &grid, const nn::IterationSpace &space,
                     const nn::TensorMap &map, ArrayRef<DimCut> cuts,
                     RankedTensorType type) {
  Layout layout = Layout::replicated(map.size());
  for (auto [i, dim] : llvm::enumerate(map))
    if (dim.dim >= 0)
      layout.dims[i] = indexedCut(grid, dim, cuts[dim.dim],
                                  space.dims[dim.dim].size, type.getDimSize(i));
  return layout;
}

RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

} // namespace

DimCut partita::dist::cutOf(GridAttr grid, SplitAttr split, StringRef dim) {
  int index = split ? split.find(dim) : -1;
  if (index < 0)
    return {};
  return toCut(grid, split.getAxes()[index].getValue(),
               split.getBlocks()[index], split.getRanges()[index].asArrayRef());
}

OpLayouts partita::dist::deriveLayouts(Operation *op,
                                       const nn::IterationSpace &space,
                                       GridAttr gridAttr, SplitAttr split,
                                       ArrayRef<LayoutAttr> have) {
  MLIRContext *context = op->getContext();
  Grid grid = toGrid(gridAttr);
  OpLayouts layouts;
  SmallVector<DimCut> cuts;
  for (const nn::IterationDim &dim : space.dims)
    cuts.push_back(cutOf(gridAttr, split, dim.name));
  for (auto [operand, map] : llvm::zip(op->getOperands(), space.operands))
    layouts.operands.push_back(
        toAttr(context, gridAttr,
               indexedLayout(grid, space, map, cuts, typeOf(operand))));

  // Axes on which an operand differs from rank to rank reach the results.
  SmallVector<int> inherited;
  for (LayoutAttr layout : have)
    if (layout)
      for (int axis : sortedAxes(gridAttr, layout.getVarying()))
        if (!llvm::is_contained(inherited, axis))
          inherited.push_back(axis);

  for (auto [r, map] : llvm::enumerate(space.results)) {
    RankedTensorType type = typeOf(op->getResult(r));
    Layout layout = indexedLayout(grid, space, map, cuts, type);
    llvm::SmallVector<int> indexing;
    for (const DimCut &cut : layout.dims)
      llvm::append_range(indexing, cut.axes);
    for (auto [d, dim] : llvm::enumerate(space.dims)) {
      bool isIndexed = llvm::any_of(map, [d = d](const nn::DimMap &entry) {
        return entry.dim == static_cast<int>(d);
      });
      if (isIndexed || cuts[d].axes.empty())
        continue;
      std::vector<int> &axes =
          dim.kind == nn::DimKind::reduction ? layout.partial : layout.varying;
      axes.insert(axes.end(), cuts[d].axes.begin(), cuts[d].axes.end());
      if (dim.kind == nn::DimKind::reduction)
        layout.combine = combineOf(combinerName(dim.combiner));
    }
    for (int axis : inherited)
      if (!llvm::is_contained(indexing, axis) &&
          !llvm::is_contained(layout.partial, axis) &&
          !llvm::is_contained(layout.varying, axis))
        layout.varying.push_back(axis);
    llvm::sort(layout.partial);
    llvm::sort(layout.varying);
    layouts.results.push_back(toAttr(context, gridAttr, layout));
    if (!space.computed.empty())
      layout.dims =
          indexedLayout(grid, space, space.computed[r], cuts, type).dims;
    layouts.computed.push_back(toAttr(context, gridAttr, layout));
  }
  return layouts;
}

SmallVector<Range, 6> partita::dist::boundsOf(GridAttr gridAttr,
                                              const nn::IterationSpace &space,
                                              SplitAttr split, int64_t rank) {
  Grid grid = toGrid(gridAttr);
  SmallVector<Range, 6> bounds;
  for (const nn::IterationDim &dim : space.dims) {
    DimCut cut = cutOf(gridAttr, split, dim.name);
    bounds.push_back(cut.axes.empty()
                         ? Range{0, dim.size}
                         : cut.rangeOf(dim.size, grid.partsOf(cut.axes),
                                       grid.partOf(rank, cut.axes)));
  }
  return bounds;
}

SplitAttr partita::dist::makeSplit(MLIRContext *context, GridAttr grid,
                                   const nn::IterationSpace &space,
                                   ArrayRef<DimCut> cuts) {
  SmallVector<StringAttr> dims;
  SmallVector<ArrayAttr> axes;
  SmallVector<int64_t> blocks;
  SmallVector<DenseI64ArrayAttr> ranges;
  for (auto [dim, cut] : llvm::zip(space.dims, cuts)) {
    if (cut.axes.empty())
      continue;
    dims.push_back(StringAttr::get(context, dim.name));
    axes.push_back(axesAttr(context, grid, cut.axes));
    blocks.push_back(cut.block);
    ranges.push_back(tableAttr(context, cut.ranges));
  }
  return dims.empty() ? SplitAttr()
                      : SplitAttr::get(context, dims, axes, blocks, ranges);
}

Box partita::dist::boxOf(GridAttr grid, LayoutAttr layout,
                         RankedTensorType type, int64_t rank) {
  return boxOf(toGrid(grid), toLayout(grid, layout), sizesOf(type), rank);
}

RankedTensorType partita::dist::localType(GridAttr grid, LayoutAttr layout,
                                          RankedTensorType type, int64_t rank) {
  SmallVector<int64_t> shape;
  for (Range range : boxOf(grid, layout, type, rank))
    shape.push_back(range.size());
  return RankedTensorType::get(shape, type.getElementType());
}

LayoutAttr partita::dist::withoutPartial(LayoutAttr layout) {
  return LayoutAttr::get(layout.getContext(), layout.getDims(),
                         layout.getBlocks(), layout.getRanges(),
                         StringAttr::get(layout.getContext(), ""), {},
                         layout.getVarying());
}

LayoutAttr partita::dist::tilingOf(GridAttr gridAttr, LayoutAttr attr,
                                   RankedTensorType type) {
  Grid grid = toGrid(gridAttr);
  Layout layout = toLayout(gridAttr, attr);
  for (auto [cut, size] : llvm::zip(layout.dims, type.getShape())) {
    Layout one;
    one.dims = {cut};
    if (!cut.ranges.empty() && !isTiling(grid, one, {size}))
      cut.ranges.clear();
  }
  return toAttr(attr.getContext(), gridAttr,
                simplify(grid, std::move(layout), sizesOf(type)));
}

bool partita::dist::sameLayout(GridAttr gridAttr, LayoutAttr a, LayoutAttr b,
                               RankedTensorType type) {
  if (a == b)
    return true;
  Layout left = toLayout(gridAttr, a), right = toLayout(gridAttr, b);
  return left.partial == right.partial && left.varying == right.varying &&
         left.combine == right.combine &&
         sameBoxes(toGrid(gridAttr), left, right, sizesOf(type));
}

Grid partita::dist::toGrid(GridAttr grid) {
  return Grid{{grid.getSizes().begin(), grid.getSizes().end()}};
}

Layout partita::dist::toLayout(GridAttr grid, LayoutAttr layout) {
  Layout result;
  for (auto [axes, block, ranges] : llvm::zip_equal(
           layout.getDims(), layout.getBlocks(), layout.getRanges()))
    result.dims.push_back(
        toCut(grid, axes.getValue(), block, ranges.asArrayRef()));
  result.partial = sortedAxes(grid, layout.getPartial());
  result.varying = sortedAxes(grid, layout.getVarying());
  if (!result.partial.empty())
    result.combine = combineOf(layout.getPartialKind().getValue());
  return result;
}

LayoutAttr partita::dist::toAttr(MLIRContext *context, GridAttr grid,
                                 const Layout &layout) {
  SmallVector<ArrayAttr> dims;
  SmallVector<int64_t> blocks;
  SmallVector<DenseI64ArrayAttr> ranges;
  for (const DimCut &cut : layout.dims) {
    dims.push_back(axesAttr(context, grid, cut.axes));
    blocks.push_back(cut.axes.empty() ? 1 : cut.block);
    ranges.push_back(tableAttr(context, cut.ranges));
  }
  SmallVector<StringAttr> partial, varying;
  for (int axis : layout.partial)
    partial.push_back(grid.getAxes()[axis]);
  for (int axis : layout.varying)
    varying.push_back(grid.getAxes()[axis]);
  return LayoutAttr::get(context, dims, blocks, ranges,
                         StringAttr::get(context, combineName(layout.combine)),
                         partial, varying);
}

Sizes partita::dist::sizesOf(RankedTensorType type) {
  return {type.getShape().begin(), type.getShape().end()};
}
