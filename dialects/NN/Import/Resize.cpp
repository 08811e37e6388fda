//===- Resize.cpp - Import of Resize and Upsample --------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every mode of Resize is linear along one dimension after the other: element
// x of the result is a fixed combination of elements of the input. Repetitions
// become broadcasts, regular picks become slices, and everything else a product
// with a constant matrix, whose gradient is the product with its transpose.
//
//===----------------------------------------------------------------------===//

#include "dialects/NN/Import/Builders.h"
#include "dialects/NN/Import/Importer.h"

#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace llvm;
using namespace mlir;

namespace partita::nn::importer {
namespace {

/// Larger interpolation matrices are refused.
constexpr int64_t kMatrixLimit = int64_t(1) << 22;

struct Method {
  std::string mode, coordinates, nearest;
  double cubicA = -0.75;
  bool excludeOutside = false;
  bool antialias = false;
};

/// The change of one dimension.
struct AxisChange {
  int64_t axis = 0;
  int64_t from = 0, to = 0;
  double scale = 1.0;
};

/// A term of a result element: weight * input[index].
struct Term {
  int64_t index;
  double weight;
};

/// Where element `x` of the result lies in the input.
double originOf(const Method &method, const AxisChange &change, int64_t x) {
  auto place = static_cast<double>(x);
  auto from = static_cast<double>(change.from);
  // The size that the scale means may not be whole; ONNX's formulas use it.
  double exact = change.scale * from;
  StringRef kind = method.coordinates;
  if (kind == "asymmetric")
    return place / change.scale;
  if (kind == "align_corners")
    return exact == 1.0 || change.to == 1 ? 0.0
                                          : place * (from - 1) / (exact - 1);
  if (kind == "tf_half_pixel_for_nn")
    return (place + 0.5) / change.scale;
  if (kind == "pytorch_half_pixel" && change.to == 1)
    return 0.0;
  double origin = (place + 0.5) / change.scale - 0.5;
  if (kind == "half_pixel_symmetric")
    origin += from / 2 * (1 - static_cast<double>(change.to) / exact);
  return origin;
}

int64_t nearestTo(const Method &method, const AxisChange &change,
                  double origin) {
  StringRef kind = method.nearest;
  double place = kind == "floor"               ? std::floor(origin)
                 : kind == "ceil"              ? std::ceil(origin)
                 : kind == "round_prefer_ceil" ? std::floor(origin + 0.5)
                                               : std::ceil(origin - 0.5);
  return std::clamp<int64_t>(static_cast<int64_t>(place), 0, change.from - 1);
}

/// The kernel of linear or cubic (Keys) interpolation at distance `x`.
double kernelAt(const Method &method, double x) {
  x = std::fabs(x);
  if (method.mode == "linear")
    return std::max(0.0, 1.0 - x);
  double a = method.cubicA;
  if (x <= 1)
    return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2)
    return ((x - 5) * x + 8) * x * a - 4 * a;
  return 0.0;
}

/// What element `x` of the result is made of.
SmallVector<Term> termsOf(const Method &method, const AxisChange &change,
                          int64_t x) {
  double origin = originOf(method, change, x);
  if (method.mode == "nearest")
    return {{nearestTo(method, change, origin), 1.0}};
  // Of two neighbours equally far the left one counts, so that a whole origin
  // is the right end of its interval. Shrinking with antialias widens the
  // kernel by the factor.
  double base = std::ceil(origin) - 1;
  double ratio = origin - base;
  double width = method.antialias ? std::min(change.scale, 1.0) : 1.0;
  double reach = method.mode == "linear" ? 1.0 : 2.0;
  auto first = static_cast<int64_t>(std::floor(-reach / width)) + 1;
  int64_t last = 1 - first;
  SmallVector<Term> terms;
  double sum = 0.0;
  for (int64_t i = first; i <= last; ++i) {
    double weight = kernelAt(method, (static_cast<double>(i) - ratio) * width);
    int64_t index = static_cast<int64_t>(base) + i;
    if (method.excludeOutside && (index < 0 || index >= change.from))
      continue;
    terms.push_back({std::clamp<int64_t>(index, 0, change.from - 1), weight});
    sum += weight;
  }
  if (method.antialias || method.excludeOutside)
    for (Term &term : terms)
      term.weight /= sum;
  return terms;
}

/// y = x with dimension `axis` taken by the indices `picks`, where this is a
/// repetition or a regular choice; null otherwise.
Value pick(NodeContext &c, Value x, const AxisChange &change,
           ArrayRef<int64_t> picks) {
  SmallVector<int64_t> shape(shapeOf(x));
  int64_t repeat = change.to / change.from;
  if (repeat * change.from == change.to &&
      llvm::all_of(llvm::enumerate(picks), [&](auto entry) {
        return entry.value() == static_cast<int64_t>(entry.index()) / repeat;
      })) {
    SmallVector<int64_t> spread(shape), wide;
    spread.insert(spread.begin() + change.axis + 1, 1);
    wide = spread;
    wide[change.axis + 1] = repeat;
    shape[change.axis] = change.to;
    Value y = c.create<BroadcastOp>(
        RankedTensorType::get(wide, c.elementType(0)), c.reshape(x, spread));
    return c.reshape(y, shape);
  }
  int64_t step = picks.size() > 1 ? picks[1] - picks[0] : 1;
  if (step < 1)
    return Value();
  for (size_t i = 1; i < picks.size(); ++i)
    if (picks[i] - picks[i - 1] != step)
      return Value();
  SmallVector<int64_t> starts(shape.size(), 0), steps(shape.size(), 1);
  starts[change.axis] = picks[0];
  steps[change.axis] = step;
  shape[change.axis] = change.to;
  return c.create<SliceOp>(x, starts, shape, steps);
}

/// x multiplied along `axis` by the matrix of the terms.
Value multiply(NodeContext &c, Value x, const AxisChange &change,
               ArrayRef<SmallVector<Term>> rows) {
  if (change.from > kMatrixLimit / change.to) {
    (void)c.error("the irregular choice along dimension " + Twine(change.axis) +
                  " needs more than " + Twine(kMatrixLimit) + " numbers");
    return Value();
  }
  std::vector<double> numbers(change.from * change.to, 0.0);
  for (auto [row, terms] : llvm::enumerate(rows))
    for (const Term &term : terms)
      numbers[static_cast<int64_t>(row) * change.from + term.index] +=
          term.weight;
  OnnxValue table;
  table.name = c.node.name + "/interpolation" + std::to_string(change.axis);
  table.type =
      RankedTensorType::get({change.to, change.from}, c.elementType(0));
  table.origin = c.node.describe();
  table.constant = std::make_shared<const Constant>(
      Constant::ofFloats(table.type, std::move(numbers)));
  Value matrix = c.getImporter().materialize(table, Purpose::other, c.loc);
  if (!matrix)
    return Value();
  int64_t rank = tensorType(x).getRank();
  llvm::APFloat one(1.0);
  if (rank == 1) {
    Value column = c.reshape(x, {change.from, 1});
    Value y = c.create<MatmulOp>(matrix, column, false, false, one);
    return c.reshape(y, {change.to});
  }
  if (change.axis == rank - 1)
    return c.create<MatmulOp>(x, matrix, /*transpose_a=*/false,
                              /*transpose_b=*/true, one);
  if (change.axis == rank - 2)
    return c.create<MatmulOp>(matrix, x, false, false, one);
  // Bring the dimension to the end and back.
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  std::swap(order[change.axis], order[rank - 1]);
  Value y = c.create<TransposeOp>(x, order);
  y = c.create<MatmulOp>(y, matrix, /*transpose_a=*/false,
                         /*transpose_b=*/true, one);
  return c.create<TransposeOp>(y, order);
}

LogicalResult build(NodeContext &c, const Method &method,
                    ArrayRef<AxisChange> changes) {
  if (failed(c.requireFloat(0)))
    return failure();
  SmallVector<int64_t> shape(c.shape(0));
  for (const AxisChange &change : changes)
    shape[change.axis] = change.to;
  if (!c.resultType(shape, c.elementType(0)))
    return failure();
  Value y = c.operand(0);
  for (const AxisChange &change : changes) {
    if (!y)
      return failure();
    if (change.from == change.to && change.scale == 1.0)
      continue;
    if (change.to > kMatrixLimit ||
        (method.mode != "nearest" && change.from > kMatrixLimit / change.to))
      return c.error("the interpolation of dimension " + Twine(change.axis) +
                     " from " + Twine(change.from) + " to " + Twine(change.to) +
                     " elements needs more than " + Twine(kMatrixLimit) +
                     " numbers");
    SmallVector<SmallVector<Term>> rows;
    SmallVector<int64_t> picks;
    for (int64_t x = 0; x < change.to; ++x) {
      rows.push_back(termsOf(method, change, x));
      if (rows.back().size() == 1)
        picks.push_back(rows.back().front().index);
    }
    Value picked;
    if (picks.size() == rows.size())
      picked = pick(c, y, change, picks);
    y = picked ? picked : multiply(c, y, change, rows);
  }
  if (!y)
    return failure();
  if (y == c.operand(0))
    c.forward(0, 0);
  else
    c.set(0, y);
  return success();
}

/// A change of `axis` by a factor.
std::optional<AxisChange> scaled(NodeContext &c, int64_t axis, double scale) {
  int64_t from = c.shape(0)[axis];
  double to = std::floor(static_cast<double>(from) * scale);
  if (!(scale > 0) || !(to >= 1) || to > double(int64_t(1) << 30) || from < 1) {
    (void)c.error("dimension " + Twine(axis) + " of " + c.describe(0) +
                  " times the scale " + std::to_string(scale) +
                  " is no usable size");
    return std::nullopt;
  }
  return AxisChange{axis, from, static_cast<int64_t>(to), scale};
}

std::optional<SmallVector<double>> fixedNumbers(NodeContext &c,
                                                unsigned index) {
  const Constant *value = c.fixedInput(index);
  if (!value) {
    (void)c.error(c.describe(index) + " is not known at compile time");
    return std::nullopt;
  }
  SmallVector<double> numbers;
  for (int64_t i = 0; i < value->size(); ++i)
    numbers.push_back(value->numberAt(i));
  return numbers;
}

std::optional<SmallVector<AxisChange>>
scaledAxes(NodeContext &c, ArrayRef<double> scales, ArrayRef<int64_t> axes) {
  if (scales.size() != axes.size()) {
    (void)c.error(Twine(scales.size()) + " scales for " + Twine(axes.size()) +
                  " dimensions");
    return std::nullopt;
  }
  SmallVector<AxisChange> changes;
  for (auto [axis, scale] : llvm::zip(axes, scales)) {
    std::optional<AxisChange> change = scaled(c, axis, scale);
    if (!change)
      return std::nullopt;
    changes.push_back(*change);
  }
  return changes;
}

/// Changes to given sizes, by the policy for the aspect ratio.
std::optional<SmallVector<AxisChange>>
sizedAxes(NodeContext &c, ArrayRef<int64_t> sizes, ArrayRef<int64_t> axes) {
  std::string policy = c.stringAttribute("keep_aspect_ratio_policy", "stretch");
  if (policy != "stretch" && policy != "not_larger" &&
      policy != "not_smaller") {
    (void)c.error("attribute 'keep_aspect_ratio_policy' is " + quote(policy));
    return std::nullopt;
  }
  if (sizes.size() != axes.size()) {
    (void)c.error(Twine(sizes.size()) + " sizes for " + Twine(axes.size()) +
                  " dimensions");
    return std::nullopt;
  }
  SmallVector<AxisChange> changes;
  for (auto [axis, size] : llvm::zip(axes, sizes)) {
    int64_t from = c.shape(0)[axis];
    if (from < 1 || size < 1 || size > (int64_t(1) << 30)) {
      (void)c.error("size " + Twine(size) + " for dimension " + Twine(axis) +
                    " of " + c.describe(0));
      return std::nullopt;
    }
    changes.push_back({axis, from, size,
                       static_cast<double>(size) / static_cast<double>(from)});
  }
  if (policy == "stretch" || changes.empty())
    return changes;
  auto byScale = [](const AxisChange &a, const AxisChange &b) {
    return a.scale < b.scale;
  };
  double scale =
      (policy == "not_larger"
           ? std::min_element(changes.begin(), changes.end(), byScale)
           : std::max_element(changes.begin(), changes.end(), byScale))
          ->scale;
  for (AxisChange &change : changes) {
    change.scale = scale;
    change.to = std::max<int64_t>(
        1, static_cast<int64_t>(
               std::floor(scale * static_cast<double>(change.from) + 0.5)));
  }
  return changes;
}

/// Up to opset 10 there are two modes and one kind of coordinates.
LogicalResult buildByScales(NodeContext &c, ArrayRef<double> scales) {
  Method method;
  method.mode = c.stringAttribute("mode", "nearest");
  method.coordinates = "asymmetric";
  method.nearest = "floor";
  // Older names of the same.
  if (method.mode == "bilinear" || method.mode == "trilinear")
    method.mode = "linear";
  if (method.mode != "nearest" && method.mode != "linear")
    return c.error("mode " + quote(method.mode) +
                   ", expected nearest or linear");
  std::optional<SmallVector<AxisChange>> changes =
      scaledAxes(c, scales, llvm::to_vector(llvm::seq<int64_t>(0, c.rank(0))));
  if (!changes)
    return failure();
  return build(c, method, *changes);
}

} // namespace

LogicalResult buildUpsample(NodeContext &c) {
  if (c.opset() < 9) {
    std::optional<SmallVector<double>> scales = c.floatsAttribute("scales");
    if (!scales)
      return c.error("attribute 'scales' is missing");
    return buildByScales(c, *scales);
  }
  if (!c.has(1))
    return c.error("the scales are missing");
  std::optional<SmallVector<double>> scales = fixedNumbers(c, 1);
  return scales ? buildByScales(c, *scales) : failure();
}

LogicalResult buildResize10(NodeContext &c) {
  std::optional<SmallVector<double>> scales = fixedNumbers(c, 1);
  return scales ? buildByScales(c, *scales) : failure();
}

LogicalResult buildResize(NodeContext &c) {
  Method method;
  method.mode = c.stringAttribute("mode", "nearest");
  method.coordinates =
      c.stringAttribute("coordinate_transformation_mode", "half_pixel");
  method.nearest = c.stringAttribute("nearest_mode", "round_prefer_floor");
  method.cubicA = c.floatAttribute("cubic_coeff_a", -0.75);
  method.excludeOutside = c.intAttribute("exclude_outside", 0) != 0;
  method.antialias = c.intAttribute("antialias", 0) != 0;
  c.ignoreAttribute("keep_aspect_ratio_policy");
  c.ignoreAttribute("extrapolation_value");
  if (!llvm::is_contained({"nearest", "linear", "cubic"}, method.mode))
    return c.error("mode " + quote(method.mode) +
                   ", expected nearest, linear or cubic");
  if (!llvm::is_contained({"half_pixel", "half_pixel_symmetric",
                           "pytorch_half_pixel", "align_corners", "asymmetric",
                           "tf_half_pixel_for_nn"},
                          method.coordinates))
    return c.error("coordinate_transformation_mode " +
                   quote(method.coordinates) +
                   " is not available, expected half_pixel, "
                   "half_pixel_symmetric, pytorch_half_pixel, align_corners "
                   "or asymmetric");
  if (!llvm::is_contained(
          {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"},
          method.nearest))
    return c.error("nearest_mode " + quote(method.nearest) +
                   ", expected round_prefer_floor, round_prefer_ceil, floor "
                   "or ceil");
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, c.rank(0)));
  if (std::optional<SmallVector<int64_t>> given = c.intsAttribute("axes")) {
    if (!c.normalizeAxes(*given, c.rank(0)))
      return failure();
    axes = *given;
    for (int64_t &axis : axes)
      axis = axis < 0 ? axis + c.rank(0) : axis;
  }
  // An input without elements means absent, too.
  auto isGiven = [&](unsigned index) {
    return c.has(index) && c.type(index).getNumElements() > 0;
  };
  std::optional<SmallVector<AxisChange>> changes;
  if (isGiven(3)) {
    if (std::optional<SmallVector<int64_t>> sizes = c.fixedInts(3))
      changes = sizedAxes(c, *sizes, axes);
  } else if (isGiven(2)) {
    if (std::optional<SmallVector<double>> scales = fixedNumbers(c, 2))
      changes = scaledAxes(c, *scales, axes);
  } else {
    return c.error("neither scales nor sizes are given");
  }
  if (!changes)
    return failure();
  return build(c, method, *changes);
}

} // namespace partita::nn::importer
