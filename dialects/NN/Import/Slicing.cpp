//===- Slicing.cpp - Import of parts and borders ---------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Slice, Split, Pad and Gather.
//
//===----------------------------------------------------------------------===//

#include "dialects/NN/Import/Builders.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace mlir;

namespace partita::nn::importer {
namespace {

/// A part of a tensor, per dimension.
struct Part {
  SmallVector<int64_t> starts, sizes, steps;

  explicit Part(ArrayRef<int64_t> shape)
      : starts(shape.size(), 0), sizes(shape), steps(shape.size(), 1) {}
};

/// Result `index` is the part of input 0.
LogicalResult takePart(NodeContext &c, unsigned index, const Part &part) {
  if (!c.resultType(part.sizes, c.elementType(0)))
    return failure();
  if (const Constant *x = c.constant(0)) {
    SmallVector<int64_t> strides = stridesOf(c.shape(0));
    c.set(index, x->gathered(part.sizes, [&](int64_t place) {
      int64_t source = 0;
      for (auto [axis, i] : llvm::enumerate(unravel(place, part.sizes)))
        source += (part.starts[axis] + i * part.steps[axis]) * strides[axis];
      return source;
    }));
    return success();
  }
  Value x = c.operand(0);
  if (!x)
    return failure();
  c.set(index, c.create<SliceOp>(x, part.starts, part.sizes, part.steps));
  return success();
}

/// Narrow `part` along `axis` by ONNX's rules for Slice.
void narrow(Part &part, int64_t axis, int64_t size, int64_t start, int64_t end,
            int64_t step) {
  if (size == 0)
    return;
  // Steps as long as the tensor take one element, whatever their number.
  step =
      std::clamp(step, -std::max<int64_t>(size, 1), std::max<int64_t>(size, 1));
  auto fromFront = [&](int64_t place) {
    return place < 0 ? std::max<int64_t>(place, -size - 1) + size : place;
  };
  int64_t low = step > 0 ? 0 : -1, high = step > 0 ? size : size - 1;
  start = std::clamp(fromFront(start), step > 0 ? low : int64_t(0), high);
  end = std::clamp(fromFront(end), low, step > 0 ? size : size - 1);
  int64_t distance = step > 0 ? end - start : start - end;
  int64_t stride = step > 0 ? step : -step;
  part.starts[axis] = start;
  part.steps[axis] = step;
  part.sizes[axis] = std::max<int64_t>(
      0, llvm::divideCeil(std::max<int64_t>(distance, 0), stride));
  if (part.sizes[axis] == 0)
    part.starts[axis] = 0;
}

} // namespace

LogicalResult buildSlice(NodeContext &c) {
  std::optional<SmallVector<int64_t>> starts, ends, axes, steps;
  if (c.opset() < 10) {
    starts = c.intsAttribute("starts");
    ends = c.intsAttribute("ends");
    axes = c.intsAttribute("axes");
    if (!starts || !ends)
      return c.error("attributes 'starts' and 'ends' are required");
  } else {
    starts = c.fixedInts(1);
    ends = c.fixedInts(2);
    if (c.has(3))
      axes = c.fixedInts(3);
    if (c.has(4))
      steps = c.fixedInts(4);
    if (c.hasFailed())
      return failure();
  }
  size_t count = starts->size();
  if (!axes)
    axes = llvm::to_vector(llvm::seq<int64_t>(0, count));
  if (!steps)
    steps = SmallVector<int64_t>(count, 1);
  if (ends->size() != count || axes->size() != count || steps->size() != count)
    return c.error("starts, ends, axes and steps have " + Twine(count) + ", " +
                   Twine(ends->size()) + ", " + Twine(axes->size()) + " and " +
                   Twine(steps->size()) + " entries, expected as many each");
  if (!c.normalizeAxes(*axes, c.rank(0)))
    return failure();
  Part part(c.shape(0));
  for (size_t i = 0; i < count; ++i) {
    int64_t axis = (*axes)[i] < 0 ? (*axes)[i] + c.rank(0) : (*axes)[i];
    if ((*steps)[i] == 0)
      return c.error("a step is 0");
    narrow(part, axis, c.shape(0)[axis], (*starts)[i], (*ends)[i], (*steps)[i]);
  }
  bool isWhole =
      ArrayRef<int64_t>(part.sizes) == c.shape(0) &&
      llvm::all_of(llvm::seq<size_t>(0, part.steps.size()), [&](size_t axis) {
        return part.steps[axis] > 0 || part.sizes[axis] <= 1;
      });
  if (isWhole) {
    c.forward(0, 0);
    return success();
  }
  return takePart(c, 0, part);
}

LogicalResult buildSplit(NodeContext &c) {
  std::optional<int64_t> axis =
      c.normalizeAxis(c.intAttribute("axis", 0), c.rank(0));
  if (!axis)
    return failure();
  int64_t whole = c.shape(0)[*axis];
  auto outputs = static_cast<int64_t>(c.numOutputs());
  std::optional<SmallVector<int64_t>> sizes;
  if (c.opset() < 13)
    sizes = c.intsAttribute("split");
  else if (c.has(1))
    sizes = c.fixedInts(1);
  if (c.hasFailed())
    return failure();
  if (c.opset() >= 18 && c.hasAttribute("num_outputs")) {
    int64_t stated = c.intAttribute("num_outputs", outputs);
    if (stated != outputs)
      return c.error("attribute 'num_outputs' is " + Twine(stated) +
                     ", but the node has " + Twine(outputs) + " results");
  }
  if (!sizes) {
    // Equal parts; from opset 18 on the last one may be smaller.
    if (outputs == 0 || (c.opset() < 18 && whole % outputs != 0))
      return c.error("dimension " + Twine(*axis) + " of " + c.describe(0) +
                     " cannot be split into " + Twine(outputs) +
                     " equal parts");
    int64_t size = llvm::divideCeil(whole, outputs);
    sizes = SmallVector<int64_t>(outputs, size);
    sizes->back() = whole - size * (outputs - 1);
  }
  if (static_cast<int64_t>(sizes->size()) != outputs)
    return c.error(Twine(sizes->size()) + " sizes for " + Twine(outputs) +
                   " results");
  int64_t start = 0;
  for (auto [index, size] : llvm::enumerate(*sizes)) {
    if (size < 0 || size > whole - start)
      return c.error("the part sizes " + shapeText(*sizes) +
                     " do not fit into dimension " + Twine(*axis) + " of " +
                     c.describe(0));
    if (c.wants(index)) {
      Part part(c.shape(0));
      part.starts[*axis] = start;
      part.sizes[*axis] = size;
      if (size == whole)
        c.forward(index, 0);
      else if (failed(takePart(c, index, part)))
        return failure();
    }
    start += size;
  }
  if (start != whole)
    return c.error("the part sizes " + shapeText(*sizes) +
                   " do not cover dimension " + Twine(*axis) + " of " +
                   c.describe(0));
  return success();
}

LogicalResult buildPad(NodeContext &c) {
  std::string mode = c.stringAttribute("mode", "constant");
  std::optional<SmallVector<int64_t>> pads;
  double value = 0.0;
  if (c.opset() < 11) {
    pads = c.intsAttribute("pads");
    value = c.floatAttribute("value", 0.0);
    if (!pads)
      return c.error("attribute 'pads' is missing");
  } else {
    pads = c.fixedInts(1);
    if (c.has(2)) {
      std::optional<double> given = c.fixedNumber(2);
      if (!given)
        return failure();
      value = *given;
    }
  }
  if (!pads)
    return failure();
  int64_t rank = c.rank(0);
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  if (c.opset() >= 18 && c.has(3)) {
    std::optional<SmallVector<int64_t>> given = c.fixedInts(3);
    if (!given || !c.normalizeAxes(*given, rank))
      return failure();
    axes = *given;
    for (int64_t &axis : axes)
      axis = axis < 0 ? axis + rank : axis;
  }
  if (pads->size() != 2 * axes.size())
    return c.error("the pads have " + Twine(pads->size()) +
                   " entries, expected " + Twine(2 * axes.size()));
  if (llvm::all_of(*pads, [](int64_t pad) { return pad == 0; })) {
    c.forward(0, 0);
    return success();
  }
  if (mode != "constant")
    return c.error("mode " + quote(mode) +
                   " of Pad is not available, expected constant");
  SmallVector<int64_t> low(rank, 0), high(rank, 0), shape(c.shape(0));
  constexpr int64_t kLimit = int64_t(1) << 40;
  for (auto [i, axis] : llvm::enumerate(axes)) {
    low[axis] = (*pads)[i];
    high[axis] = (*pads)[axes.size() + i];
    if (std::abs(low[axis]) > kLimit || std::abs(high[axis]) > kLimit)
      return c.error("the pads are too large");
    shape[axis] += low[axis] + high[axis];
    if (shape[axis] < 0)
      return c.error("the pads cut more than dimension " + Twine(axis) +
                     " of " + c.describe(0));
  }
  if (!c.resultType(shape, c.elementType(0)))
    return failure();
  Value x = c.operand(0);
  if (!x)
    return failure();
  SmallVector<int64_t> interior(rank, 0);
  c.set(0, c.create<PadOp>(x, low, interior, high, llvm::APFloat(value)));
  return success();
}

namespace {

/// Rows of input 0 along `axis` at indices that are part of the data, or that
/// are many: one look-up.
LogicalResult lookUp(NodeContext &c, int64_t axis, ArrayRef<int64_t> result) {
  Type element = c.elementType(1);
  if (!element.isInteger(32) && !element.isInteger(64))
    return c.error("the indices, " + c.describe(1) +
                   ", must be integers of 32 or 64 bits");
  RankedTensorType type = c.resultType(result, c.elementType(0));
  if (!type)
    return failure();
  if (c.shape(0)[axis] == 0)
    return c.error("dimension " + Twine(axis) + " of " + c.describe(0) +
                   " has no rows to look up");
  Value table = c.operand(0), indices = c.operand(1);
  if (!table || !indices)
    return failure();
  c.set(0, c.create<GatherOp>(table, indices, axis));
  return success();
}

/// The rows as runs of equal steps along `axis`; nothing when there are more
/// than a few, for which a look-up is cheaper.
std::optional<SmallVector<Part>> runsOf(ArrayRef<int64_t> rows,
                                        ArrayRef<int64_t> shape, int64_t axis) {
  constexpr size_t kMost = 16;
  SmallVector<Part> parts;
  for (size_t i = 0; i < rows.size();) {
    if (parts.size() == kMost)
      return std::nullopt;
    size_t end = i + 1;
    int64_t step = end < rows.size() ? rows[end] - rows[i] : 1;
    while (step != 0 && end < rows.size() && rows[end] - rows[end - 1] == step)
      ++end;
    Part part(shape);
    part.starts[axis] = rows[i];
    part.sizes[axis] = static_cast<int64_t>(end - i);
    part.steps[axis] = end - i > 1 ? step : 1;
    parts.push_back(part);
    i = end;
  }
  return parts;
}

} // namespace

LogicalResult buildGather(NodeContext &c) {
  std::optional<int64_t> axis =
      c.normalizeAxis(c.intAttribute("axis", 0), c.rank(0));
  if (!axis)
    return failure();
  if (c.isFloat(1))
    return c.error("the indices, " + c.describe(1) + ", must be integers");
  // The axis is replaced by the dimensions of the indices.
  SmallVector<int64_t> result(c.shape(0).take_front(*axis));
  llvm::append_range(result, c.shape(1));
  llvm::append_range(result, c.shape(0).drop_front(*axis + 1));
  const Constant *indices = c.fixedInput(1);
  if (!indices || !indices->isSmall())
    return lookUp(c, *axis, result);
  int64_t size = c.shape(0)[*axis];
  SmallVector<int64_t> rows = indices->getInts();
  for (int64_t &row : rows) {
    if (row < -size || row >= size)
      return c.error("index " + Twine(row) + " is outside dimension " +
                     Twine(*axis) + " of " + c.describe(0));
    row = row < 0 ? row + size : row;
  }
  RankedTensorType type = c.resultType(result, c.elementType(0));
  if (!type)
    return failure();
  if (const Constant *x = c.constant(0);
      x && type.getNumElements() <= kConstantLimit) {
    int64_t inner = stridesOf(c.shape(0))[*axis];
    auto count = static_cast<int64_t>(rows.size());
    c.set(0, x->gathered(result, [&](int64_t place) {
      int64_t within = place % inner, row = place / inner % count,
              outer = place / (inner * count);
      return (outer * size + rows[row]) * inner + within;
    }));
    return success();
  }
  if (rows.empty() || type.getNumElements() == 0)
    return c.error("the result has no elements");
  std::optional<SmallVector<Part>> runs = runsOf(rows, c.shape(0), *axis);
  if (!runs)
    return lookUp(c, *axis, result);
  Value x = c.operand(0);
  if (!x)
    return failure();
  SmallVector<Value> parts;
  for (const Part &run : *runs)
    parts.push_back(c.create<SliceOp>(x, run.starts, run.sizes, run.steps));
  Value joined =
      parts.size() == 1 ? parts[0] : c.create<ConcatOp>(parts, *axis);
  c.set(0, c.reshape(joined, result));
  return success();
}

} // namespace partita::nn::importer
