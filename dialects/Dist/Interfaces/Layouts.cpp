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
#include "dialects/Dist/IR/Partition.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace partita;
using namespace partita::dist;

namespace {

StringRef combinerName(nn::Combiner combiner) {
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

/// The layout of a tensor indexed by `map`, without partial or varying axes.
LayoutAttr indexedLayout(MLIRContext *context, const nn::TensorMap &map,
                         ArrayRef<ArrayRef<Attribute>> axesOfDim,
                         ArrayRef<int64_t> blocks) {
  SmallVector<ArrayAttr> dims;
  SmallVector<int64_t> dimBlocks;
  for (const nn::DimMap &dim : map) {
    ArrayRef<Attribute> axes;
    if (dim.dim >= 0)
      axes = axesOfDim[dim.dim];
    dims.push_back(ArrayAttr::get(context, axes));
    dimBlocks.push_back(axes.empty() ? 1 : blocks[dim.dim] * dim.block);
  }
  SmallVector<DenseI64ArrayAttr> ranges(dims.size(),
                                        DenseI64ArrayAttr::get(context, {}));
  return LayoutAttr::get(context, dims, dimBlocks, ranges,
                         StringAttr::get(context, ""), {}, {});
}

} // namespace

OpLayouts partita::dist::deriveLayouts(Operation *op,
                                       const nn::IterationSpace &space,
                                       SplitAttr split,
                                       ArrayRef<LayoutAttr> have) {
  MLIRContext *context = op->getContext();
  OpLayouts layouts;
  SmallVector<ArrayRef<Attribute>> axesOfDim;
  for (const nn::IterationDim &dim : space.dims) {
    axesOfDim.push_back(split ? split.getAxesOf(dim.name)
                              : ArrayRef<Attribute>());
    layouts.blocks.push_back(1);
  }
  // Operands that are split already fix the size of what is dealt out.
  for (auto [layout, map] : llvm::zip(have, space.operands))
    for (auto [i, dim] : llvm::enumerate(map))
      if (layout && dim.dim >= 0 && layout.isSplit(i))
        layouts.blocks[dim.dim] =
            std::max(layouts.blocks[dim.dim],
                     layout.getBlocks()[i] / std::max<int64_t>(dim.block, 1));
  for (const nn::TensorMap &map : space.operands)
    layouts.operands.push_back(
        indexedLayout(context, map, axesOfDim, layouts.blocks));

  // Axes on which an operand differs from rank to rank reach the results.
  SmallVector<StringAttr> inherited;
  for (LayoutAttr layout : have)
    if (layout)
      for (StringAttr axis : layout.getVarying())
        if (!llvm::is_contained(inherited, axis))
          inherited.push_back(axis);

  for (auto [r, map] : llvm::enumerate(space.results)) {
    LayoutAttr indexed = indexedLayout(context, map, axesOfDim, layouts.blocks);
    SmallVector<StringAttr> partial, varying;
    StringRef kind;
    llvm::SmallSet<StringRef, 4> indexing;
    for (ArrayAttr axes : indexed.getDims())
      for (auto axis : axes.getAsRange<StringAttr>())
        indexing.insert(axis.getValue());
    for (auto [d, dim] : llvm::enumerate(space.dims)) {
      bool isIndexed = llvm::any_of(map, [d = d](const nn::DimMap &entry) {
        return entry.dim == static_cast<int>(d);
      });
      if (isIndexed)
        continue;
      for (Attribute attribute : axesOfDim[d]) {
        auto axis = cast<StringAttr>(attribute);
        if (dim.kind == nn::DimKind::reduction) {
          partial.push_back(axis);
          kind = combinerName(dim.combiner);
        } else {
          varying.push_back(axis);
        }
      }
    }
    for (StringAttr axis : inherited)
      if (!indexing.contains(axis.getValue()) &&
          !llvm::is_contained(partial, axis) &&
          !llvm::is_contained(varying, axis))
        varying.push_back(axis);
    layouts.results.push_back(LayoutAttr::get(
        context, indexed.getDims(), indexed.getBlocks(), indexed.getRanges(),
        StringAttr::get(context, kind), partial, varying));
  }
  return layouts;
}

bool partita::dist::fits(RankedTensorType type, LayoutAttr have,
                         LayoutAttr want) {
  for (unsigned i = 0, e = type.getRank(); i < e; ++i) {
    if (have.getDims()[i] == want.getDims()[i] &&
        (!have.isSplit(i) || have.getBlocks()[i] == want.getBlocks()[i]))
      continue;
    if (!have.isSplit(i) && type.getDimSize(i) == 1)
      continue;
    return false;
  }
  return true;
}

std::pair<int64_t, int64_t> partita::dist::boundsOf(GridAttr grid,
                                                    LayoutAttr layout,
                                                    unsigned dim, int64_t size,
                                                    int64_t rank) {
  // Several axes deal out in turn: the first the coarsest.
  int64_t parts = 1, part = 0;
  for (Attribute attribute : layout.getAxesOf(dim)) {
    int axis = grid.findAxis(cast<StringAttr>(attribute).getValue());
    if (axis < 0)
      continue;
    parts *= grid.getSizes()[axis];
    part = part * grid.getSizes()[axis] + grid.getCoordinate(rank, axis);
  }
  return partBounds(size, parts, part, layout.getBlocks()[dim]);
}

RankedTensorType partita::dist::localType(GridAttr grid, LayoutAttr layout,
                                          RankedTensorType type, int64_t rank) {
  SmallVector<int64_t> shape;
  for (unsigned i = 0, e = type.getRank(); i < e; ++i) {
    auto bounds = boundsOf(grid, layout, i, type.getDimSize(i), rank);
    shape.push_back(bounds.second - bounds.first);
  }
  return RankedTensorType::get(shape, type.getElementType());
}

Grid partita::dist::toGrid(GridAttr grid) {
  return Grid{{grid.getSizes().begin(), grid.getSizes().end()}};
}

namespace {

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

} // namespace

Layout partita::dist::toLayout(GridAttr grid, LayoutAttr layout) {
  Layout result;
  for (auto [axes, block, ranges] : llvm::zip_equal(
           layout.getDims(), layout.getBlocks(), layout.getRanges())) {
    DimCut cut;
    for (auto axis : axes.getAsRange<StringAttr>())
      if (int index = grid.findAxis(axis.getValue()); index >= 0)
        cut.axes.push_back(index);
    cut.block = block;
    ArrayRef<int64_t> table = ranges.asArrayRef();
    for (size_t i = 0; i + 1 < table.size(); i += 2)
      cut.ranges.push_back({table[i], table[i + 1]});
    result.dims.push_back(std::move(cut));
  }
  result.partial = sortedAxes(grid, layout.getPartial());
  result.varying = sortedAxes(grid, layout.getVarying());
  if (!result.partial.empty())
    result.combine = combineOf(layout.getPartialKind().getValue());
  return result;
}

Sizes partita::dist::sizesOf(RankedTensorType type) {
  return {type.getShape().begin(), type.getShape().end()};
}
