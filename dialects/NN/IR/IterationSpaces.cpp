//===- IterationSpaces.cpp - How each nn operation iterates ---------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The iteration space of every operation that is not point-wise, and the
// attributes that change when a part of the space is computed.
//
//===----------------------------------------------------------------------===//

#include "dialects/NN/IR/NNOps.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace mlir;
using namespace partita;
using namespace partita::nn;

int IterationSpace::addDim(StringRef name, int64_t size, DimKind kind,
                           DimRole role, Combiner combiner) {
  IterationDim dim;
  dim.name = name.str();
  dim.size = size;
  dim.kind = kind;
  dim.role = role;
  dim.combiner = combiner;
  dims.push_back(dim);
  return dims.size() - 1;
}

int IterationSpace::find(StringRef name) const {
  for (auto [i, dim] : llvm::enumerate(dims))
    if (dim.name == name)
      return i;
  return -1;
}

dist::Range DimMap::rangeOf(dist::Range part, int64_t size) const {
  auto clip = [size](int64_t begin, int64_t end) {
    begin = std::clamp<int64_t>(begin, 0, size);
    return dist::Range{begin, std::clamp<int64_t>(end, begin, size)};
  };
  if (dim < 0)
    return {0, size};
  if (kind == direct)
    return clip(part.begin * block, part.end * block);
  if (part.empty())
    return clip(part.begin, part.begin);
  auto windows = [&](int64_t first, int64_t last) {
    if (stride < 0)
      std::swap(first, last);
    return clip(first * stride - pad, last * stride - pad + extent);
  };
  if (kind == window)
    return windows(part.begin, part.end - 1);
  // The windows that touch the part. A part that lies in a gap between windows
  // takes the one before it, so that sizes stay those of a real window.
  int64_t first = llvm::divideCeilSigned(part.begin + pad - extent + 1, stride);
  int64_t before = llvm::divideFloorSigned(part.begin + pad, stride);
  int64_t last = llvm::divideFloorSigned(part.end - 1 + pad, stride);
  first = std::clamp<int64_t>(std::min(first, before), 0, count - 1);
  last = std::clamp<int64_t>(last, first, count - 1);
  if (count == 0)
    return kind == covering ? dist::Range{0, 0} : part;
  if (kind == covering)
    return clip(first, last + 1);
  dist::Range touched = windows(first, last);
  return clip(std::min(touched.begin, part.begin),
              std::max(touched.end, part.end));
}

bool IterationSpace::isPartial(int dim, unsigned result) const {
  if (dims[dim].kind != DimKind::reduction)
    return false;
  return llvm::none_of(results[result],
                       [&](const DimMap &map) { return map.dim == dim; });
}

namespace {

std::string numbered(StringRef name, size_t i) {
  return (name + std::to_string(i)).str();
}

/// Spatial dimension names of a tensor with `count` of them.
StringRef spatialName(size_t i, size_t count) {
  static constexpr StringRef names[] = {"d", "h", "w"};
  return names[3 - count + i];
}

/// Dimensions of `shape` one to one, named d0, d1, ...
TensorMap addShape(IterationSpace &space, ArrayRef<int64_t> shape) {
  TensorMap map;
  for (auto [i, size] : llvm::enumerate(shape))
    map.push_back(direct(space.addDim(numbered("d", i), size)));
  return map;
}

/// The space all three products of a convolution share; they differ in which
/// of x, w and y is the result and hence which dimensions are summed. Spatial
/// loops run over the rows of y, except for the gradient by the input, where
/// they run over its own rows and take the windows that touch them.
struct ConvMaps {
  IterationSpace space;
  TensorMap x, w, y, bias, computedX;
};

enum class ConvProduct { forward, inputGrad, filterGrad };

ConvMaps convMaps(ArrayRef<int64_t> x, ArrayRef<int64_t> w, ArrayRef<int64_t> y,
                  ArrayRef<int64_t> strides, ArrayRef<int64_t> dilations,
                  ArrayRef<int64_t> pads, int64_t groups, ConvProduct product) {
  ConvMaps maps;
  IterationSpace &space = maps.space;
  bool inputGrad = product == ConvProduct::inputGrad;
  bool filterGrad = product == ConvProduct::filterGrad;
  auto kind = [](bool summed) {
    return summed ? DimKind::reduction : DimKind::parallel;
  };
  int n = space.addDim("n", y[0], kind(filterGrad), DimRole::batch);
  if (groups > 1) {
    // A part takes whole groups of inputs and outputs together.
    int g = space.addDim("g", groups, DimKind::parallel, DimRole::model);
    auto grouped = [&](int64_t channels) {
      DimMap map = direct(g);
      map.block = channels / groups;
      return map;
    };
    maps.x = {direct(n), grouped(x[1])};
    maps.w = {grouped(w[0]), wholeDim()};
    maps.y = {direct(n), grouped(w[0])};
    maps.bias = {grouped(w[0])};
  } else {
    int co = space.addDim("co", w[0], kind(inputGrad), DimRole::model);
    int ci = space.addDim("ci", x[1], kind(product == ConvProduct::forward),
                          DimRole::model);
    maps.x = {direct(n), direct(ci)};
    maps.w = {direct(co), direct(ci)};
    maps.y = {direct(n), direct(co)};
    maps.bias = {direct(co)};
  }
  maps.computedX = maps.x;
  size_t spatial = x.size() - 2;
  for (size_t i = 0; i < spatial; ++i) {
    StringRef name = spatialName(i, spatial);
    int kernel = space.addDim(("k" + name).str(), w[2 + i], DimKind::whole);
    maps.w.push_back(direct(kernel));
    int64_t extent = dilations[i] * (w[2 + i] - 1) + 1;
    int rows = space.addDim(name, inputGrad ? x[2 + i] : y[2 + i],
                            kind(filterGrad), DimRole::domain);
    if (inputGrad) {
      maps.y.push_back(windowed(rows, DimMap::covering, strides[i], pads[i],
                                extent, y[2 + i]));
      maps.x.push_back(direct(rows));
      maps.computedX.push_back(windowed(rows, DimMap::covered, strides[i],
                                        pads[i], extent, y[2 + i]));
      continue;
    }
    maps.x.push_back(
        windowed(rows, DimMap::window, strides[i], pads[i], extent));
    maps.y.push_back(direct(rows));
  }
  return maps;
}

/// Pools: forward over the rows of y, gradients over the rows of dx. A gradient
/// of a maximum needs all of each window that touches its rows.
template <typename OpT>
IterationSpace poolSpace(OpT op, ArrayRef<int64_t> x, ArrayRef<int64_t> y,
                         bool hasX, bool hasDy, bool resultIsX) {
  IterationSpace space;
  int n = space.addDim("n", x[0], DimKind::parallel, DimRole::batch);
  int c = space.addDim("c", x[1], DimKind::parallel, DimRole::model);
  TensorMap mapX = {direct(n), direct(c)}, mapY = mapX, result = mapX;
  size_t spatial = x.size() - 2;
  for (size_t i = 0; i < spatial; ++i) {
    StringRef name = spatialName(i, spatial);
    int64_t stride = op.getStrides()[i], pad = op.getPads()[i];
    int64_t extent = op.getDilations()[i] * (op.getKernel()[i] - 1) + 1;
    space.addDim(("k" + name).str(), op.getKernel()[i], DimKind::whole);
    int rows = space.addDim(name, resultIsX ? x[2 + i] : y[2 + i],
                            DimKind::parallel, DimRole::domain);
    result.push_back(direct(rows));
    if (!resultIsX) {
      mapX.push_back(windowed(rows, DimMap::window, stride, pad, extent));
      continue;
    }
    mapX.push_back(
        windowed(rows, DimMap::covered, stride, pad, extent, y[2 + i]));
    mapY.push_back(
        windowed(rows, DimMap::covering, stride, pad, extent, y[2 + i]));
  }
  if (hasX)
    space.operands.push_back(mapX);
  if (hasDy)
    space.operands.push_back(mapY);
  space.results.push_back(result);
  if (resultIsX)
    space.computed.push_back(mapX);
  return space;
}

/// Channel normalisations: everything but `axis` is reduced where `sums`.
IterationSpace normalizeSpace(ArrayRef<int64_t> shape, int64_t axis, bool sums,
                              bool local, TensorMap &full, TensorMap &channel) {
  IterationSpace space;
  for (auto [i, size] : llvm::enumerate(shape)) {
    bool isChannel = static_cast<int64_t>(i) == axis;
    DimKind kind =
        sums && !isChannel && !local ? DimKind::reduction : DimKind::parallel;
    DimRole role = i == 0      ? DimRole::batch
                   : isChannel ? DimRole::model
                               : DimRole::domain;
    full.push_back(direct(space.addDim(numbered("d", i), size, kind, role)));
  }
  channel = {full[axis]};
  return space;
}

/// Positions of a class dimension: classes are coupled, positions parallel.
IterationSpace classSpace(ArrayRef<int64_t> shape, int64_t axis,
                          TensorMap &full, TensorMap &positions) {
  IterationSpace space;
  for (auto [i, size] : llvm::enumerate(shape)) {
    bool isClass = static_cast<int64_t>(i) == axis;
    full.push_back(direct(space.addDim(
        numbered("d", i), size, isClass ? DimKind::coupled : DimKind::parallel,
        i == 0    ? DimRole::batch
        : isClass ? DimRole::model
                  : DimRole::domain)));
    if (!isClass)
      positions.push_back(full.back());
  }
  return space;
}

Combiner combinerOf(ReduceKind kind) {
  switch (kind) {
  case ReduceKind::sum:
    return Combiner::sum;
  case ReduceKind::max:
    return Combiner::max;
  case ReduceKind::min:
    return Combiner::min;
  case ReduceKind::prod:
    return Combiner::prod;
  }
  llvm_unreachable("unknown reduction");
}

/// Logits and labels; the result is one value per position, or one per logit.
IterationSpace labelSpace(Value logits, int64_t axis, bool givesPositions) {
  TensorMap full, positions;
  IterationSpace space = classSpace(shapeOf(logits), axis, full, positions);
  space.operands = {full, positions};
  space.results = {givesPositions ? positions : full};
  return space;
}

/// `operands` tensors and a result of one shape, where each channel (dimension
/// 1) depends on up to `before` channels before and `after` after it.
IterationSpace acrossChannelsSpace(ArrayRef<int64_t> shape, unsigned operands,
                                   int64_t before, int64_t after) {
  IterationSpace space;
  TensorMap map;
  for (auto [i, size] : llvm::enumerate(shape)) {
    DimRole role = i == 0   ? DimRole::batch
                   : i == 1 ? DimRole::model
                            : DimRole::domain;
    map.push_back(
        direct(space.addDim(numbered("d", i), size, DimKind::parallel, role)));
  }
  space.results = {map};
  map[1] = windowed(1, DimMap::window, 1, before, before + 1 + after);
  space.operands.assign(operands, map);
  space.computed = {map};
  return space;
}

/// A reduction over `axes`; `local` ones keep each rank's value.
IterationSpace reduceSpace(ArrayRef<int64_t> shape, ArrayRef<int64_t> axes,
                           bool local, Combiner combiner, TensorMap &full,
                           TensorMap &kept) {
  IterationSpace space;
  for (auto [i, size] : llvm::enumerate(shape)) {
    bool reduced = llvm::is_contained(axes, static_cast<int64_t>(i));
    DimKind kind = reduced && !local ? DimKind::reduction : DimKind::parallel;
    full.push_back(direct(space.addDim(numbered("d", i), size, kind,
                                       i == 0 ? DimRole::batch : DimRole::none,
                                       combiner)));
    if (!reduced)
      kept.push_back(full.back());
  }
  return space;
}

} // namespace

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

IterationSpace ConvOp::getIterationSpace() {
  ConvMaps maps =
      convMaps(shapeOf(getX()), shapeOf(getW()), shapeOf(getY()), getStrides(),
               getDilations(), getPads(), getGroups(), ConvProduct::forward);
  maps.space.operands = {maps.x, maps.w};
  if (getBias())
    maps.space.operands.push_back(maps.bias);
  maps.space.results = {maps.y};
  return maps.space;
}

IterationSpace ConvInputGradOp::getIterationSpace() {
  ConvMaps maps = convMaps(shapeOf(getDx()), shapeOf(getW()), shapeOf(getDy()),
                           getStrides(), getDilations(), getPads(), getGroups(),
                           ConvProduct::inputGrad);
  maps.space.operands = {maps.y, maps.w};
  maps.space.results = {maps.x};
  maps.space.computed = {maps.computedX};
  return maps.space;
}

IterationSpace ConvFilterGradOp::getIterationSpace() {
  ConvMaps maps = convMaps(shapeOf(getX()), shapeOf(getDw()), shapeOf(getDy()),
                           getStrides(), getDilations(), getPads(), getGroups(),
                           ConvProduct::filterGrad);
  maps.space.operands = {maps.x, maps.y};
  maps.space.results = {maps.w};
  return maps.space;
}

IterationSpace MatmulOp::getIterationSpace() {
  IterationSpace space;
  ArrayRef<int64_t> a = shapeOf(getA()), b = shapeOf(getB());
  ArrayRef<int64_t> y = shapeOf(getY());
  size_t lead = y.size() - 2;
  TensorMap mapA, mapB, mapY;
  for (size_t i = 0; i < lead; ++i) {
    // [batch, heads, rows, columns] in attention.
    int dim = space.addDim(numbered("b", i), y[i], DimKind::parallel,
                           i == 0 ? DimRole::batch : DimRole::model);
    mapY.push_back(direct(dim));
    auto addLead = [&](ArrayRef<int64_t> shape, TensorMap &map) {
      if (i + shape.size() < y.size())
        return;
      int64_t size = shape[i + shape.size() - y.size()];
      map.push_back(size == 1 && y[i] != 1 ? wholeDim() : direct(dim));
    };
    addLead(a, mapA);
    addLead(b, mapB);
  }
  int m = space.addDim("m", y[lead], DimKind::parallel,
                       lead ? DimRole::domain : DimRole::batch);
  int n = space.addDim("n", y[lead + 1], DimKind::parallel, DimRole::model);
  int64_t contracted = a[a.size() - (getTransposeA() ? 2 : 1)];
  int k = space.addDim("k", contracted, DimKind::reduction, DimRole::model);
  auto addPair = [](TensorMap &map, int rows, int columns, bool flip) {
    map.push_back(direct(flip ? columns : rows));
    map.push_back(direct(flip ? rows : columns));
  };
  addPair(mapA, m, k, getTransposeA());
  addPair(mapB, k, n, getTransposeB());
  addPair(mapY, m, n, /*flip=*/false);
  space.operands = {mapA, mapB};
  space.results = {mapY};
  return space;
}

IterationSpace MaxPoolOp::getIterationSpace() {
  return poolSpace(*this, shapeOf(getX()), shapeOf(getY()), /*hasX=*/true,
                   /*hasDy=*/false, /*resultIsX=*/false);
}
IterationSpace MaxPoolGradOp::getIterationSpace() {
  return poolSpace(*this, shapeOf(getX()), shapeOf(getDy()), /*hasX=*/true,
                   /*hasDy=*/true, /*resultIsX=*/true);
}
IterationSpace AvgPoolOp::getIterationSpace() {
  return poolSpace(*this, shapeOf(getX()), shapeOf(getY()), /*hasX=*/true,
                   /*hasDy=*/false, /*resultIsX=*/false);
}
IterationSpace AvgPoolGradOp::getIterationSpace() {
  return poolSpace(*this, shapeOf(getDx()), shapeOf(getDy()), /*hasX=*/false,
                   /*hasDy=*/true, /*resultIsX=*/true);
}

IterationSpace BatchNormOp::getIterationSpace() {
  TensorMap full, channel;
  IterationSpace space =
      normalizeSpace(shapeOf(getX()), /*axis=*/1,
                     /*sums=*/false, /*local=*/false, full, channel);
  space.operands = {full, channel, channel, channel, channel};
  space.results = {full};
  return space;
}

IterationSpace NormalizeOp::getIterationSpace() {
  TensorMap full, channel;
  IterationSpace space =
      normalizeSpace(shapeOf(getX()), getAxis(),
                     /*sums=*/false, /*local=*/false, full, channel);
  space.operands = {full, channel, channel, channel, channel};
  space.results = {full};
  return space;
}

IterationSpace NormalizeSumsOp::getIterationSpace() {
  TensorMap full, channel;
  IterationSpace space =
      normalizeSpace(shapeOf(getX()), getAxis(),
                     /*sums=*/true, getLocal(), full, channel);
  space.operands = {full, full, channel, channel};
  space.results = {channel, channel};
  return space;
}

IterationSpace NormalizeGradOp::getIterationSpace() {
  TensorMap full, channel;
  IterationSpace space =
      normalizeSpace(shapeOf(getX()), getAxis(),
                     /*sums=*/false, /*local=*/false, full, channel);
  space.operands = {full, full, channel, channel, channel, channel, channel};
  space.results = {full};
  return space;
}

IterationSpace LrnOp::getIterationSpace() {
  int64_t size = getSize();
  return acrossChannelsSpace(shapeOf(getX()), /*operands=*/1, (size - 1) / 2,
                             size / 2);
}
IterationSpace LrnGradOp::getIterationSpace() {
  // The sum over windows that hold a channel, and the channels of those.
  int64_t reach = getSize() - 1;
  return acrossChannelsSpace(shapeOf(getX()), /*operands=*/2, reach, reach);
}

IterationSpace DropoutOp::getIterationSpace() {
  return pointwiseSpace(getOperation());
}

IterationSpace DropoutMaskOp::getIterationSpace() {
  return pointwiseSpace(getOperation());
}
Value DropoutMaskOp::getPlacedValue() { return getY(); }
//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

IterationSpace ConstantOp::getIterationSpace() {
  IterationSpace space = pointwiseSpace(getOperation());
  // Ranks of one class have one program, and with it one table of elements.
  if (!getValue().isSplat())
    for (IterationDim &dim : space.dims)
      dim.kind = DimKind::whole;
  return space;
}

IterationSpace ReduceOp::getIterationSpace() {
  TensorMap full, kept;
  IterationSpace space = reduceSpace(shapeOf(getX()), getAxes(), getLocal(),
                                     combinerOf(getKind()), full, kept);
  space.operands = {full};
  space.results = {kept};
  return space;
}
IterationSpace VarianceOp::getIterationSpace() {
  TensorMap full, kept;
  IterationSpace space = reduceSpace(shapeOf(getX()), getAxes(), getLocal(),
                                     Combiner::sum, full, kept);
  space.operands = {full, kept};
  space.results = {kept};
  return space;
}
IterationSpace ReshapeOp::getIterationSpace() {
  // Both shapes are cut into the finest groups of equal products, e.g.
  // [8, 16, 5, 5] -> [8, 400] into (8 | 8) and (16, 5, 5 | 400). The
  // outermost dimension of a group can be split when one side's divides into
  // the other's; the rest of the group stays inside it.
  IterationSpace space;
  ArrayRef<int64_t> x = shapeOf(getX()), y = shapeOf(getY());
  TensorMap mapX(x.size(), wholeDim()), mapY(y.size(), wholeDim());
  size_t i = 0, j = 0;
  int group = 0;
  while (i < x.size() && j < y.size()) {
    size_t beginX = i, beginY = j;
    int64_t productX = x[i++], productY = y[j++];
    while (productX != productY) {
      if (productX < productY && i < x.size())
        productX *= x[i++];
      else if (productY < productX && j < y.size())
        productY *= y[j++];
      else
        break;
    }
    if (productX != productY)
      break;
    // Leading dimensions of size 1 do not change the order of elements.
    while (x[beginX] == 1 && beginX + 1 < i)
      ++beginX;
    while (y[beginY] == 1 && beginY + 1 < j)
      ++beginY;
    int64_t outerX = x[beginX], outerY = y[beginY];
    int64_t outer = std::min(outerX, outerY);
    // Splitting the smaller outer dimension takes whole blocks of the larger.
    bool fits = outer > 0 && outerX % outer == 0 && outerY % outer == 0;
    int dim = space.addDim(numbered("g", group), outer,
                           fits ? DimKind::parallel : DimKind::whole,
                           group == 0 ? DimRole::batch : DimRole::none);
    ++group;
    mapX[beginX] = direct(dim);
    mapY[beginY] = direct(dim);
    if (fits) {
      mapX[beginX].block = outerX / outer;
      mapY[beginY].block = outerY / outer;
    }
  }
  space.operands = {mapX};
  space.results = {mapY};
  return space;
}

IterationSpace TransposeOp::getIterationSpace() {
  IterationSpace space;
  TensorMap map = addShape(space, shapeOf(getX())), permuted;
  for (int64_t dim : getPermutation())
    permuted.push_back(map[dim]);
  space.operands = {map};
  space.results = {permuted};
  return space;
}

IterationSpace IotaOp::getIterationSpace() {
  return pointwiseSpace(getOperation());
}
Value IotaOp::getPlacedValue() { return getY(); }

IterationSpace BroadcastOp::getIterationSpace() {
  return pointwiseSpace(getOperation());
}

IterationSpace SliceOp::getIterationSpace() {
  IterationSpace space;
  TensorMap result = addShape(space, shapeOf(getY())), map;
  for (auto [i, size] : llvm::enumerate(shapeOf(getX()))) {
    bool isWhole =
        getStarts()[i] == 0 && getSteps()[i] == 1 && getSizes()[i] == size;
    map.push_back(isWhole ? result[i]
                          : windowed(i, DimMap::window, getSteps()[i],
                                     -getStarts()[i], /*extent=*/1));
  }
  space.operands = {map};
  space.results = {result};
  return space;
}

IterationSpace PadOp::getIterationSpace() {
  IterationSpace space;
  TensorMap result = addShape(space, shapeOf(getY())), map;
  for (auto [i, size] : llvm::enumerate(shapeOf(getX()))) {
    bool isWhole =
        getLow()[i] == 0 && getInterior()[i] == 0 && getHigh()[i] == 0;
    // Element o lands at o * (interior + 1) + low.
    map.push_back(isWhole ? result[i]
                          : windowed(i, DimMap::covering, getInterior()[i] + 1,
                                     -getLow()[i], /*extent=*/1, size));
  }
  space.operands = {map};
  space.results = {result};
  return space;
}

IterationSpace ConcatOp::getIterationSpace() {
  IterationSpace space;
  TensorMap result = addShape(space, shapeOf(getY()));
  int64_t axis = getAxis(), offset = 0;
  for (Value input : getInputs()) {
    TensorMap map = result;
    map[axis] = windowed(axis, DimMap::window, 1, offset, /*extent=*/1);
    space.operands.push_back(map);
    offset += shapeOf(input)[axis];
  }
  space.results = {result};
  return space;
}

#define SOFTMAX_SPACE(OP, RESULT, OPERANDS)                                    \
  IterationSpace OP::getIterationSpace() {                                     \
    TensorMap full, positions;                                                 \
    IterationSpace space =                                                     \
        classSpace(shapeOf(RESULT), getAxis(), full, positions);               \
    space.operands.assign(OPERANDS, full);                                     \
    space.results = {full};                                                    \
    return space;                                                              \
  }
SOFTMAX_SPACE(SoftmaxOp, getY(), 1)
SOFTMAX_SPACE(LogSoftmaxOp, getY(), 1)
SOFTMAX_SPACE(SoftmaxGradOp, getDx(), 2)
SOFTMAX_SPACE(LogSoftmaxGradOp, getDx(), 2)
#undef SOFTMAX_SPACE

IterationSpace CrossEntropyOp::getIterationSpace() {
  return labelSpace(getLogits(), getAxis(), /*givesPositions=*/true);
}
IterationSpace CorrectOp::getIterationSpace() {
  return labelSpace(getLogits(), getAxis(), /*givesPositions=*/true);
}
IterationSpace CrossEntropyGradOp::getIterationSpace() {
  return labelSpace(getLogits(), getAxis(), /*givesPositions=*/false);
}
