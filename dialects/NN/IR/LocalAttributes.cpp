//===- LocalAttributes.cpp - Attributes of one rank's part ----------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Paddings, starts and scales change when an operation works on a part: at the
// border of the whole tensor the padding stays, inside it the neighbours' rows
// take its place.
//
//===----------------------------------------------------------------------===//

#include "dialects/NN/IR/NNOps.h"
#include <algorithm>

using namespace mlir;
using namespace partita;
using namespace partita::nn;

namespace {

/// The scale that makes a mean of a sum over one rank's part of `axes`; 0 for
/// an empty part.
double meanScale(ArrayRef<int64_t> axes, const LocalPart &part) {
  int64_t count = 1;
  for (int64_t axis : axes)
    count *= part.bounds[axis].size();
  return count ? 1.0 / count : 0.0;
}

/// The paddings of a window operation that computes windows `y` of the elements
/// `x`, spatial dimensions only. What a window reaches beyond the padded whole
/// (ceil mode) is no padding.
SmallVector<int64_t> localPads(ArrayRef<int64_t> strides,
                               ArrayRef<int64_t> dilations,
                               ArrayRef<int64_t> kernel, ArrayRef<int64_t> pads,
                               ArrayRef<int64_t> wholeX,
                               ArrayRef<int64_t> wholeY, const dist::Box &x,
                               const dist::Box &y) {
  size_t spatial = strides.size();
  SmallVector<int64_t> result(pads);
  for (size_t i = 0; i < spatial; ++i) {
    dist::Range rows = x[2 + i], windows = y[2 + i];
    bool isWhole =
        rows.size() == wholeX[2 + i] && windows.size() == wholeY[2 + i];
    if (isWhole || windows.empty())
      continue;
    int64_t extent = dilations[i] * (kernel[i] - 1) + 1;
    int64_t first = windows.begin * strides[i] - pads[i];
    int64_t end = (windows.end - 1) * strides[i] - pads[i] + extent;
    int64_t room = wholeX[2 + i] + pads[spatial + i] - rows.end;
    result[i] = rows.begin - first;
    result[spatial + i] = std::max<int64_t>(0, std::min(end - rows.end, room));
  }
  return result;
}

/// Kernel sizes of a filter [co, ci, k...].
ArrayRef<int64_t> kernelOf(Value filter) {
  return shapeOf(filter).drop_front(2);
}

template <typename OpT>
void localizeGroups(OpT op, ArrayRef<int64_t> x, ArrayRef<int64_t> w) {
  if (op.getGroups() > 1)
    op.setGroups(w[1] ? std::max<int64_t>(x[1] / w[1], 1) : 1);
}

} // namespace

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

void ConvOp::localizeAttributes(Operation *whole, const LocalPart &part) {
  auto op = cast<ConvOp>(whole);
  setPads(localPads(getStrides(), getDilations(), kernelOf(getW()), getPads(),
                    shapeOf(op.getX()), shapeOf(op.getY()), part.operands[0],
                    part.results[0]));
  localizeGroups(*this, shapeOf(getX()), shapeOf(getW()));
}

void ConvInputGradOp::localizeAttributes(Operation *whole,
                                         const LocalPart &part) {
  auto op = cast<ConvInputGradOp>(whole);
  setPads(localPads(getStrides(), getDilations(), kernelOf(getW()), getPads(),
                    shapeOf(op.getDx()), shapeOf(op.getDy()), part.results[0],
                    part.operands[0]));
  localizeGroups(*this, shapeOf(getDx()), shapeOf(getW()));
}

void ConvFilterGradOp::localizeAttributes(Operation *whole,
                                          const LocalPart &part) {
  auto op = cast<ConvFilterGradOp>(whole);
  setPads(localPads(getStrides(), getDilations(), kernelOf(getDw()), getPads(),
                    shapeOf(op.getX()), shapeOf(op.getDy()), part.operands[0],
                    part.operands[1]));
  localizeGroups(*this, shapeOf(getX()), shapeOf(getDw()));
}

void MaxPoolOp::localizeAttributes(Operation *whole, const LocalPart &part) {
  auto op = cast<MaxPoolOp>(whole);
  setPads(localPads(getStrides(), getDilations(), getKernel(), getPads(),
                    shapeOf(op.getX()), shapeOf(op.getY()), part.operands[0],
                    part.results[0]));
}

void MaxPoolGradOp::localizeAttributes(Operation *whole,
                                       const LocalPart &part) {
  auto op = cast<MaxPoolGradOp>(whole);
  setPads(localPads(getStrides(), getDilations(), getKernel(), getPads(),
                    shapeOf(op.getX()), shapeOf(op.getDy()), part.operands[0],
                    part.operands[1]));
}

void AvgPoolOp::localizeAttributes(Operation *whole, const LocalPart &part) {
  auto op = cast<AvgPoolOp>(whole);
  setPads(localPads(getStrides(), getDilations(), getKernel(), getPads(),
                    shapeOf(op.getX()), shapeOf(op.getY()), part.operands[0],
                    part.results[0]));
}

void AvgPoolGradOp::localizeAttributes(Operation *whole,
                                       const LocalPart &part) {
  auto op = cast<AvgPoolGradOp>(whole);
  setPads(localPads(getStrides(), getDilations(), getKernel(), getPads(),
                    shapeOf(op.getDx()), shapeOf(op.getDy()), part.results[0],
                    part.operands[0]));
}

//===----------------------------------------------------------------------===//
// Movement
//===----------------------------------------------------------------------===//

void SliceOp::localizeAttributes(Operation *whole, const LocalPart &part) {
  auto op = cast<SliceOp>(whole);
  SmallVector<int64_t> starts(op.getStarts()), sizes(op.getSizes());
  for (size_t i = 0; i < starts.size(); ++i) {
    dist::Range from = part.operands[0][i], to = part.results[0][i];
    sizes[i] = to.size();
    starts[i] = to.empty() ? 0
                           : op.getStarts()[i] + to.begin * op.getSteps()[i] -
                                 from.begin;
  }
  setStarts(starts);
  setSizes(sizes);
}

void PadOp::localizeAttributes(Operation *whole, const LocalPart &part) {
  auto op = cast<PadOp>(whole);
  SmallVector<int64_t> low(op.getLow()), high(op.getHigh());
  for (size_t i = 0; i < low.size(); ++i) {
    dist::Range from = part.operands[0][i], to = part.results[0][i];
    if (from.empty() || to.empty() ||
        (from.size() == shapeOf(op.getX())[i] &&
         to.size() == shapeOf(op.getY())[i]))
      continue;
    int64_t step = op.getInterior()[i] + 1;
    low[i] = op.getLow()[i] + from.begin * step - to.begin;
    high[i] = to.size() - low[i] - ((from.size() - 1) * step + 1);
  }
  setLow(low);
  setHigh(high);
}

//===----------------------------------------------------------------------===//
// Statistics and masks
//===----------------------------------------------------------------------===//

void NormalizeGradOp::localizeAttributes(Operation *, const LocalPart &part) {
  if (!getLocal() || getScale().isZero())
    return;
  SmallVector<int64_t> axes;
  for (int64_t i = 0, e = part.bounds.size(); i < e; ++i)
    if (i != static_cast<int64_t>(getAxis()))
      axes.push_back(i);
  setScale(APFloat(meanScale(axes, part)));
}

void ReduceOp::localizeAttributes(Operation *, const LocalPart &part) {
  if (getLocal() && getKind() == ReduceKind::sum)
    setScale(APFloat(meanScale(getAxes(), part)));
}

void VarianceOp::localizeAttributes(Operation *, const LocalPart &part) {
  if (getLocal())
    setScale(APFloat(meanScale(getAxes(), part)));
}
