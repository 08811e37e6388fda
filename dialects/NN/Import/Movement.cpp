//===- Movement.cpp - Import of what moves elements ------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reshapes, transpositions, concatenation, broadcasts.
//
//===----------------------------------------------------------------------===//

#include "dialects/NN/Import/Builders.h"
#include "dialects/NN/Import/Evaluate.h"
#include "dialects/NN/Import/Importer.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace mlir;

namespace partita::nn::importer {
namespace {

/// Result 0 is input 0 under another shape of as many elements.
LogicalResult reshapeTo(NodeContext &c, ArrayRef<int64_t> shape) {
  if (c.shape(0) == shape) {
    c.forward(0, 0);
    return success();
  }
  if (!c.resultType(shape, c.elementType(0)))
    return failure();
  if (const Constant *x = c.constant(0)) {
    c.set(0, x->reshaped(shape));
    return success();
  }
  Value x = c.operand(0);
  if (!x)
    return failure();
  c.set(0, c.reshape(x, shape));
  return success();
}

/// Number of elements of `shape`, or -1 when it is beyond all limits.
int64_t countOf(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t size : shape) {
    if (size > 0 && count > std::numeric_limits<int64_t>::max() / size)
      return -1;
    count *= size;
  }
  return count;
}

/// Axes from the attribute (before opset 13) or from input 1.
std::optional<SmallVector<int64_t>> readAxes(NodeContext &c) {
  if (c.opset() < 13)
    return c.intsAttribute("axes");
  return c.has(1) ? c.fixedInts(1) : std::nullopt;
}

LogicalResult transposeTo(NodeContext &c, Value x,
                          ArrayRef<int64_t> permutation, Value &y) {
  if (!x)
    return failure();
  y = c.create<TransposeOp>(x, permutation);
  return success();
}

} // namespace

LogicalResult buildIdentity(NodeContext &c) {
  c.forward(0, 0);
  return success();
}

LogicalResult buildReshape(NodeContext &c) {
  bool allowZero = c.opset() >= 14 && c.intAttribute("allowzero", 0) != 0;
  std::optional<SmallVector<int64_t>> target = c.fixedInts(1);
  if (!target)
    return failure();
  if (c.rank(1) > 1)
    return c.error("the target shape, " + c.describe(1) + ", has rank " +
                   Twine(c.rank(1)) + ", expected 1");
  ArrayRef<int64_t> from = c.shape(0);
  const DataInputs &data = c.getImporter().data;
  // A target written for the file's own batch.
  if (data.replacedBatch != 0 && !target->empty() && !from.empty() &&
      target->front() == data.replacedBatch && from.front() == data.batch) {
    target->front() = data.batch;
    c.getImporter().rebatchedNodes.push_back(c.node.name);
  }

  std::optional<size_t> inferred;
  bool hasZero = false;
  SmallVector<int64_t> known;
  for (auto [axis, size] : llvm::enumerate(*target)) {
    if (size == -1) {
      if (inferred)
        return c.error("the target shape has more than one -1");
      inferred = axis;
      continue;
    }
    if (size < -1)
      return c.error("the target shape holds " + Twine(size) +
                     ", expected sizes, 0 or -1");
    if (size == 0 && !allowZero) {
      if (axis >= from.size())
        return c.error("the target shape copies dimension " + Twine(axis) +
                       ", which " + c.describe(0) + " does not have");
      size = from[axis];
    }
    hasZero |= size == 0;
    (*target)[axis] = size;
    known.push_back(size);
  }
  if (inferred && hasZero && allowZero)
    return c.error("the target shape has both 0 and -1 with allowzero=1, so "
                   "that the size for -1 is undefined");
  int64_t count = countOf(from), given = countOf(known);
  if (inferred) {
    if (given <= 0 || count % given != 0)
      return c.error("the target shape " + shapeText(*target) +
                     " leaves no whole size for -1: " + c.describe(0) +
                     " has " + Twine(count) + " elements");
    (*target)[*inferred] = count / given;
  } else if (given != count) {
    return c.error("the target shape " + shapeText(*target) + " has " +
                   Twine(given) + " elements, but " + c.describe(0) + " has " +
                   Twine(count));
  }
  return reshapeTo(c, *target);
}

LogicalResult buildFlatten(NodeContext &c) {
  std::optional<int64_t> axis =
      c.normalizeAxis(c.intAttribute("axis", 1), c.rank(0), /*end=*/true);
  if (!axis)
    return failure();
  return reshapeTo(c, {countOf(c.shape(0).take_front(*axis)),
                       countOf(c.shape(0).drop_front(*axis))});
}

LogicalResult buildSqueeze(NodeContext &c) {
  std::optional<SmallVector<int64_t>> axes = readAxes(c);
  if (c.hasFailed())
    return failure();
  SmallVector<int64_t> shape;
  if (!axes) {
    llvm::copy_if(c.shape(0), std::back_inserter(shape),
                  [](int64_t size) { return size != 1; });
    return reshapeTo(c, shape);
  }
  std::optional<SmallVector<int64_t>> normal =
      c.normalizeAxes(*axes, c.rank(0));
  if (!normal)
    return failure();
  for (int64_t axis : *normal)
    if (c.shape(0)[axis] != 1)
      return c.error("dimension " + Twine(axis) + " of " + c.describe(0) +
                     " is squeezed, but is not 1");
  return reshapeTo(c, withoutAxes(c.shape(0), *normal));
}

LogicalResult buildUnsqueeze(NodeContext &c) {
  std::optional<SmallVector<int64_t>> axes = readAxes(c);
  if (c.hasFailed())
    return failure();
  if (!axes)
    return c.error("no axes are given");
  int64_t rank = c.rank(0) + static_cast<int64_t>(axes->size());
  std::optional<SmallVector<int64_t>> normal = c.normalizeAxes(*axes, rank);
  if (!normal)
    return failure();
  SmallVector<int64_t> shape(c.shape(0));
  for (int64_t axis : *normal)
    shape.insert(shape.begin() + axis, 1);
  return reshapeTo(c, shape);
}

LogicalResult buildTranspose(NodeContext &c) {
  int64_t rank = c.rank(0);
  SmallVector<int64_t> permutation =
      llvm::to_vector(llvm::reverse(llvm::seq<int64_t>(0, rank)));
  if (std::optional<SmallVector<int64_t>> given = c.intsAttribute("perm"))
    permutation = *given;
  SmallVector<bool> seen(rank, false);
  for (int64_t axis : permutation) {
    if (axis < 0 || axis >= rank || seen[axis])
      return c.error("attribute 'perm' is no permutation of the " +
                     Twine(rank) + " dimensions of " + c.describe(0));
    seen[axis] = true;
  }
  if (static_cast<int64_t>(permutation.size()) != rank)
    return c.error("attribute 'perm' has " + Twine(permutation.size()) +
                   " entries, expected " + Twine(rank));
  if (llvm::is_sorted(permutation)) {
    c.forward(0, 0);
    return success();
  }
  if (const Constant *x = c.constant(0)) {
    SmallVector<int64_t> shape;
    for (int64_t axis : permutation)
      shape.push_back(c.shape(0)[axis]);
    SmallVector<int64_t> strides = stridesOf(c.shape(0));
    c.set(0, x->gathered(shape, [&](int64_t index) {
      int64_t place = 0;
      for (auto [i, axis] : llvm::zip(unravel(index, shape), permutation))
        place += i * strides[axis];
      return place;
    }));
    return success();
  }
  Value x = c.operand(0), y;
  if (failed(transposeTo(c, x, permutation, y)))
    return failure();
  c.set(0, y);
  return success();
}

LogicalResult buildConcat(NodeContext &c) {
  if (!c.hasAttribute("axis"))
    return c.error("attribute 'axis' is missing");
  std::optional<int64_t> axis =
      c.normalizeAxis(c.intAttribute("axis", 0), c.rank(0));
  if (!axis)
    return failure();
  unsigned count = c.numInputs();
  SmallVector<int64_t> shape(c.shape(0));
  shape[*axis] = 0;
  bool allKnown = true;
  for (unsigned i = 0; i < count; ++i) {
    if (!c.has(i))
      return c.error("input " + Twine(i) + " is missing");
    if (failed(c.requireSameElements(0, i)))
      return failure();
    SmallVector<int64_t> other(c.shape(i));
    if (other.size() != shape.size())
      return c.error(c.describe(0) + " and " + c.describe(i) +
                     " have different ranks");
    shape[*axis] += other[*axis];
    other[*axis] = c.shape(0)[*axis];
    if (ArrayRef<int64_t>(other) != c.shape(0))
      return c.error(c.describe(0) + " and " + c.describe(i) +
                     " differ in a dimension besides axis " + Twine(*axis));
    allKnown &= c.constant(i) != nullptr;
  }
  if (!c.resultType(shape, c.elementType(0)))
    return failure();
  if (count == 1) {
    c.forward(0, 0);
    return success();
  }
  auto type = RankedTensorType::get(shape, c.elementType(0));
  if (allKnown && type.getNumElements() <= kConstantLimit) {
    std::vector<int64_t> ints;
    std::vector<double> floats;
    int64_t outer = countOf(ArrayRef<int64_t>(shape).take_front(*axis));
    for (int64_t row = 0; row < outer; ++row)
      for (unsigned i = 0; i < count; ++i) {
        const Constant &part = *c.constant(i);
        int64_t length = countOf(c.shape(i).drop_front(*axis));
        for (int64_t k = row * length; k < (row + 1) * length; ++k) {
          if (part.isFloat())
            floats.push_back(part.floatAt(k));
          else
            ints.push_back(part.intAt(k));
        }
      }
    if (c.isFloat(0))
      c.set(0, Constant::ofFloats(type, std::move(floats)));
    else
      c.set(0, Constant::ofInts(type, std::move(ints)));
    return success();
  }
  SmallVector<Value> parts;
  for (unsigned i = 0; i < count; ++i) {
    // Parts without elements add nothing.
    if (c.type(i).getNumElements() == 0 && type.getNumElements() != 0)
      continue;
    parts.push_back(c.operand(i));
    if (!parts.back())
      return failure();
  }
  c.set(0, c.create<ConcatOp>(parts, *axis));
  return success();
}

LogicalResult buildExpand(NodeContext &c) {
  std::optional<SmallVector<int64_t>> target = c.fixedInts(1);
  if (!target)
    return failure();
  for (int64_t &size : *target) {
    // Some exporters write -1 for "as it is".
    if (size == -1)
      size = 1;
    if (size < 0)
      return c.error("the target shape holds " + Twine(size) +
                     ", expected sizes");
  }
  std::optional<SmallVector<int64_t>> shape =
      broadcastShapes(c.shape(0), *target);
  if (!shape)
    return c.error(c.describe(0) + " does not broadcast to the target shape " +
                   shapeText(*target));
  if (ArrayRef<int64_t>(*shape) == c.shape(0)) {
    c.forward(0, 0);
    return success();
  }
  RankedTensorType type = c.resultType(*shape, c.elementType(0));
  if (!type)
    return failure();
  if (const Constant *x = c.constant(0))
    if (std::optional<Constant> value = evaluateBroadcast(*x, *shape)) {
      c.set(0, std::move(*value));
      return success();
    }
  Value x = c.operand(0);
  if (!x)
    return failure();
  c.set(0, c.create<BroadcastOp>(type, x));
  return success();
}

LogicalResult buildTile(NodeContext &c) {
  std::optional<SmallVector<int64_t>> repeats = c.fixedInts(1);
  if (!repeats)
    return failure();
  if (static_cast<int64_t>(repeats->size()) != c.rank(0))
    return c.error("the repeats have " + Twine(repeats->size()) +
                   " entries, expected " + Twine(c.rank(0)));
  // [a, b] becomes [1, a, 1, b], is broadcast to [ra, a, rb, b] and merged.
  SmallVector<int64_t> spread, repeated, shape;
  for (auto [size, repeat] : llvm::zip(c.shape(0), *repeats)) {
    if (repeat < 1 || (size > 0 && repeat > (int64_t(1) << 40) / size))
      return c.error("the repeats hold " + Twine(repeat) +
                     ", expected 1 or more and a result of reasonable size");
    spread.append({1, size});
    repeated.append({repeat, size});
    shape.push_back(repeat * size);
  }
  if (ArrayRef<int64_t>(shape) == c.shape(0)) {
    c.forward(0, 0);
    return success();
  }
  if (!c.resultType(shape, c.elementType(0)))
    return failure();
  if (const Constant *x = c.constant(0))
    if (std::optional<Constant> value =
            evaluateBroadcast(x->reshaped(spread), repeated)) {
      c.set(0, value->reshaped(shape));
      return success();
    }
  Value x = c.operand(0);
  if (!x)
    return failure();
  Value wide = c.create<BroadcastOp>(
      RankedTensorType::get(repeated, c.elementType(0)), c.reshape(x, spread));
  c.set(0, c.reshape(wide, shape));
  return success();
}

/// The block size of the two operators between depth and space.
static std::optional<int64_t> readBlock(NodeContext &c) {
  int64_t block = c.intAttribute("blocksize", 0);
  if (failed(c.requireRank(0, 4, 4)))
    return std::nullopt;
  if (block < 1 || block > (int64_t(1) << 20)) {
    (void)c.error("attribute 'blocksize' is " + Twine(block) +
                  ", expected 1 or more");
    return std::nullopt;
  }
  return block;
}

static std::optional<bool> readDepthFirst(NodeContext &c) {
  std::string mode = c.stringAttribute("mode", "DCR");
  if (mode == "DCR" || mode == "CRD")
    return mode == "DCR";
  (void)c.error("attribute 'mode' is " + quote(mode) + ", expected DCR or CRD");
  return std::nullopt;
}

LogicalResult buildDepthToSpace(NodeContext &c) {
  std::optional<int64_t> block = readBlock(c);
  std::optional<bool> depthFirst = readDepthFirst(c);
  if (!block || !depthFirst)
    return failure();
  ArrayRef<int64_t> s = c.shape(0);
  int64_t b = *block;
  if (s[1] % (b * b) != 0)
    return c.error("the channels of " + c.describe(0) +
                   " are no multiple of the block's " + Twine(b * b) +
                   " elements");
  int64_t depth = s[1] / (b * b);
  if (!c.resultType({s[0], depth, s[2] * b, s[3] * b}, c.elementType(0)))
    return failure();
  Value x = c.operand(0), y;
  SmallVector<int64_t> split, order;
  if (*depthFirst) {
    split = {s[0], b, b, depth, s[2], s[3]};
    order = {0, 3, 4, 1, 5, 2};
  } else {
    split = {s[0], depth, b, b, s[2], s[3]};
    order = {0, 1, 4, 2, 5, 3};
  }
  if (!x || failed(transposeTo(c, c.reshape(x, split), order, y)))
    return failure();
  c.set(0, c.reshape(y, {s[0], depth, s[2] * b, s[3] * b}));
  return success();
}

LogicalResult buildSpaceToDepth(NodeContext &c) {
  std::optional<int64_t> block = readBlock(c);
  std::optional<bool> depthFirst = readDepthFirst(c);
  if (!block || !depthFirst)
    return failure();
  ArrayRef<int64_t> s = c.shape(0);
  int64_t b = *block;
  if (s[2] % b != 0 || s[3] % b != 0)
    return c.error("the spatial dimensions of " + c.describe(0) +
                   " are no multiples of the block size " + Twine(b));
  SmallVector<int64_t> split = {s[0], s[1], s[2] / b, b, s[3] / b, b};
  SmallVector<int64_t> result = {s[0], s[1] * b * b, s[2] / b, s[3] / b};
  SmallVector<int64_t> order = {0, 3, 5, 1, 2, 4};
  if (!*depthFirst)
    order = {0, 1, 3, 5, 2, 4};
  if (!c.resultType(result, c.elementType(0)))
    return failure();
  Value x = c.operand(0), y;
  if (!x || failed(transposeTo(c, c.reshape(x, split), order, y)))
    return failure();
  c.set(0, c.reshape(y, result));
  return success();
}

LogicalResult buildTrilu(NodeContext &c) {
  bool upper = c.intAttribute("upper", 1) != 0;
  int64_t diagonal = 0;
  if (c.has(1)) {
    std::optional<SmallVector<int64_t>> given = c.fixedInts(1);
    if (!given)
      return failure();
    if (given->size() != 1)
      return c.error(c.describe(1) + " is no scalar");
    diagonal = std::clamp((*given)[0], -(int64_t(1) << 40), int64_t(1) << 40);
  }
  if (c.rank(0) < 2)
    return c.error(c.describe(0) + " is no matrix");
  int64_t rows = c.shape(0)[c.rank(0) - 2], columns = c.shape(0).back();
  auto keeps = [&](int64_t row, int64_t column) {
    return upper ? column - row >= diagonal : column - row <= diagonal;
  };
  if (const Constant *x = c.constant(0); x && x->isSmall()) {
    std::vector<int64_t> ints;
    std::vector<double> floats;
    for (int64_t i = 0, e = x->size(); i < e; ++i) {
      bool kept = keeps(i / columns % rows, i % columns);
      if (x->isFloat())
        floats.push_back(kept ? x->floatAt(i) : 0.0);
      else
        ints.push_back(kept ? x->intAt(i) : 0);
    }
    if (x->isFloat())
      c.set(0, Constant::ofFloats(x->getType(), std::move(floats)));
    else
      c.set(0, Constant::ofInts(x->getType(), std::move(ints)));
    return success();
  }
  // The triangle is where the column's number reaches the row's.
  if (rows > kConstantLimit || columns > kConstantLimit)
    return c.error("the matrices of " + c.describe(0) + " have more than " +
                   Twine(kConstantLimit) + " rows or columns");
  auto numbers = [&](ArrayRef<int64_t> shape, int64_t count, int64_t from) {
    std::vector<int64_t> values;
    for (int64_t i = 0; i < count; ++i)
      values.push_back(i + from);
    return c.literal(
        Constant::ofInts(RankedTensorType::get(shape, c.builder.getI64Type()),
                         std::move(values)));
  };
  Value x = c.operand(0);
  if (!x)
    return failure();
  Value row = numbers({rows, 1}, rows, diagonal);
  Value column = numbers({1, columns}, columns, 0);
  Value mask =
      c.create<CompareOp>(upper ? Predicate::ge : Predicate::le, column, row);
  Value zero = c.scalar(c.elementType(0), 0.0);
  c.set(0, c.create<SelectOp>(mask, x, zero));
  return success();
}

} // namespace partita::nn::importer
