//===- Layers.cpp - Import of convolutions, pools, products ----*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Windows over spatial dimensions with ONNX's rules for padding, and matrix
// products.
//
//===----------------------------------------------------------------------===//

#include "dialects/NN/Import/Builders.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace mlir;

namespace partita::nn::importer {
namespace {

/// Window parameters beyond this overflow nothing and make no sense.
constexpr int64_t kWindowLimit = int64_t(1) << 30;

/// Attributes of an operator with windows, one entry per spatial dimension.
struct Window {
  SmallVector<int64_t> kernel, strides, dilations, padBegin, padEnd;
  bool ceilMode = false;
  std::string autoPad;

  bool isSame() const {
    return autoPad == "SAME_UPPER" || autoPad == "SAME_LOWER";
  }
  /// ONNX's order: all begins, then all ends.
  SmallVector<int64_t> pads() const {
    SmallVector<int64_t> all = padBegin;
    llvm::append_range(all, padEnd);
    return all;
  }
  int64_t extent(size_t i) const { return (kernel[i] - 1) * dilations[i] + 1; }
};

/// The ints attribute `name`: `count` numbers in [least, kWindowLimit].
std::optional<SmallVector<int64_t>> readNumbers(NodeContext &c, StringRef name,
                                                size_t count, int64_t least,
                                                int64_t absent) {
  SmallVector<int64_t> values =
      c.intsAttribute(name).value_or(SmallVector<int64_t>(count, absent));
  if (values.size() != count) {
    (void)c.error("attribute '" + name + "' has " + Twine(values.size()) +
                  " numbers, expected " + Twine(count));
    return std::nullopt;
  }
  for (int64_t value : values)
    if (value < least || value > kWindowLimit) {
      (void)c.error("attribute '" + name + "' holds " + Twine(value) +
                    ", expected " + Twine(least) + " to " +
                    Twine(kWindowLimit));
      return std::nullopt;
    }
  return values;
}

/// Read the window attributes; `kernel` is what the weight says, or empty when
/// the attribute must say it.
std::optional<Window> readWindow(NodeContext &c, size_t spatial,
                                 ArrayRef<int64_t> kernel) {
  Window window;
  if (kernel.empty() && !c.hasAttribute("kernel_shape")) {
    (void)c.error("attribute 'kernel_shape' is missing");
    return std::nullopt;
  }
  SmallVector<int64_t> stated(kernel);
  if (c.hasAttribute("kernel_shape")) {
    std::optional<SmallVector<int64_t>> shape =
        readNumbers(c, "kernel_shape", spatial, /*least=*/1, /*absent=*/1);
    if (!shape)
      return std::nullopt;
    if (!kernel.empty() && ArrayRef<int64_t>(*shape) != kernel) {
      (void)c.error("attribute 'kernel_shape' is " + shapeText(*shape) +
                    ", but the weight's kernel is " + shapeText(kernel));
      return std::nullopt;
    }
    stated = *shape;
  }
  window.kernel = stated;
  auto strides = readNumbers(c, "strides", spatial, /*least=*/1, /*absent=*/1);
  auto dilations =
      readNumbers(c, "dilations", spatial, /*least=*/1, /*absent=*/1);
  auto pads = readNumbers(c, "pads", 2 * spatial, /*least=*/0, /*absent=*/0);
  window.autoPad = c.stringAttribute("auto_pad", "NOTSET");
  if (!strides || !dilations || !pads)
    return std::nullopt;
  window.strides = *strides;
  window.dilations = *dilations;
  for (size_t i = 0; i < spatial; ++i)
    if (window.kernel[i] > kWindowLimit / window.dilations[i]) {
      (void)c.error("the kernel is too large");
      return std::nullopt;
    }
  if (window.autoPad.empty())
    window.autoPad = "NOTSET";
  if (window.autoPad != "NOTSET" && window.autoPad != "VALID" &&
      !window.isSame()) {
    (void)c.error("attribute 'auto_pad' is " + quote(window.autoPad) +
                  ", expected NOTSET, VALID, SAME_UPPER or SAME_LOWER");
    return std::nullopt;
  }
  bool explicitPads = window.autoPad == "NOTSET";
  for (size_t i = 0; i < spatial; ++i) {
    window.padBegin.push_back(explicitPads ? (*pads)[i] : 0);
    window.padEnd.push_back(explicitPads ? (*pads)[spatial + i] : 0);
  }
  return window;
}

/// Fill in the padding of SAME_UPPER and SAME_LOWER: as many outputs as
/// strides fit into the input, the odd element at the end or at the begin.
void padSame(Window &window, ArrayRef<int64_t> sizes) {
  for (auto [i, size] : llvm::enumerate(sizes)) {
    int64_t outputs = llvm::divideCeil(size, window.strides[i]);
    int64_t total = std::max<int64_t>(
        (outputs - 1) * window.strides[i] + window.extent(i) - size, 0);
    int64_t smaller = total / 2;
    bool upper = window.autoPad == "SAME_UPPER";
    window.padBegin[i] = upper ? smaller : total - smaller;
    window.padEnd[i] = upper ? total - smaller : smaller;
  }
}

/// Sizes of the outputs of a window over the spatial dimensions `sizes`.
std::optional<SmallVector<int64_t>>
outputSizes(NodeContext &c, const Window &window, ArrayRef<int64_t> sizes) {
  SmallVector<int64_t> result;
  for (auto [i, size] : llvm::enumerate(sizes)) {
    int64_t outputs = windowOutputSize(
        size, window.kernel[i], window.strides[i], window.dilations[i],
        window.padBegin[i], window.padEnd[i], window.ceilMode);
    if (size <= 0 || outputs <= 0) {
      (void)c.error("the kernel covers " + Twine(window.extent(i)) +
                    " elements of spatial dimension " + Twine(i) +
                    ", but the padded input has " +
                    Twine(size + window.padBegin[i] + window.padEnd[i]));
      return std::nullopt;
    }
    result.push_back(outputs);
  }
  return result;
}

/// [n, c, sizes...] as a type.
RankedTensorType spatialType(NodeContext &c, int64_t channels,
                             ArrayRef<int64_t> sizes) {
  SmallVector<int64_t> shape = {c.shape(0)[0], channels};
  llvm::append_range(shape, sizes);
  return c.resultType(shape, c.elementType(0));
}

LogicalResult checkConvWeight(NodeContext &c, bool transposed) {
  if (failed(c.requireRank(0, 3, 5)) || failed(c.requireFloat(0)))
    return failure();
  if (c.rank(1) != c.rank(0))
    return c.error("the weight, " + c.describe(1) + ", has rank " +
                   Twine(c.rank(1)) + ", expected " + Twine(c.rank(0)) +
                   " as the data, " + c.describe(0));
  if (failed(c.requireSameElements(0, 1)))
    return failure();
  for (int64_t size : c.shape(1))
    if (size < 1 || size > kWindowLimit)
      return c.error("the weight, " + c.describe(1) +
                     ", has an empty or too large dimension");
  int64_t groups = c.intAttribute("group", 1);
  if (groups < 1 || groups > kWindowLimit)
    return c.error(Twine(groups) + " groups, expected 1 to " +
                   Twine(kWindowLimit));
  int64_t channels = transposed ? c.shape(1)[1] * groups : c.shape(1)[0];
  if (!c.has(2))
    return success();
  if (failed(c.requireSameElements(0, 2)))
    return failure();
  if (c.rank(2) != 1 || c.shape(2)[0] != channels)
    return c.error("the bias, " + c.describe(2) + ", must have the shape " +
                   Twine(channels));
  return success();
}

} // namespace

LogicalResult buildConv(NodeContext &c) {
  if (failed(checkConvWeight(c, /*transposed=*/false)))
    return failure();
  int64_t groups = c.intAttribute("group", 1);
  int64_t channels = c.shape(0)[1], outputs = c.shape(1)[0];
  if (channels % groups != 0 || outputs % groups != 0)
    return c.error(Twine(groups) + " groups do not divide " + Twine(channels) +
                   " input and " + Twine(outputs) + " output channels");
  if (c.shape(1)[1] != channels / groups)
    return c.error("the weight, " + c.describe(1) + ", is for " +
                   Twine(c.shape(1)[1] * groups) + " input channels, but " +
                   c.describe(0) + " has " + Twine(channels));
  ArrayRef<int64_t> sizes = c.shape(0).drop_front(2);
  std::optional<Window> window =
      readWindow(c, sizes.size(), c.shape(1).drop_front(2));
  if (!window)
    return failure();
  if (window->isSame())
    padSame(*window, sizes);
  std::optional<SmallVector<int64_t>> results = outputSizes(c, *window, sizes);
  if (!results || !spatialType(c, outputs, *results))
    return failure();
  Value x = c.operand(0), w = c.operand(1, Purpose::filter), bias;
  if (c.has(2))
    bias = c.operand(2, Purpose::shift);
  if (!x || !w || c.hasFailed())
    return failure();
  c.set(0, c.create<ConvOp>(x, w, bias, window->strides, window->dilations,
                            window->pads(), groups));
  return success();
}

LogicalResult buildConvTranspose(NodeContext &c) {
  if (failed(checkConvWeight(c, /*transposed=*/true)))
    return failure();
  int64_t groups = c.intAttribute("group", 1);
  int64_t channels = c.shape(0)[1];
  if (channels % groups != 0)
    return c.error(Twine(groups) + " groups do not divide " + Twine(channels) +
                   " input channels");
  if (c.shape(1)[0] != channels)
    return c.error("the weight, " + c.describe(1) + ", is for " +
                   Twine(c.shape(1)[0]) + " input channels, but " +
                   c.describe(0) + " has " + Twine(channels));
  ArrayRef<int64_t> sizes = c.shape(0).drop_front(2);
  std::optional<Window> window =
      readWindow(c, sizes.size(), c.shape(1).drop_front(2));
  if (!window)
    return failure();
  auto extra = readNumbers(c, "output_padding", sizes.size(), /*least=*/0,
                           /*absent=*/0);
  if (!extra)
    return failure();
  std::optional<SmallVector<int64_t>> wanted;
  if (c.hasAttribute("output_shape")) {
    wanted = readNumbers(c, "output_shape", sizes.size(), /*least=*/1,
                         /*absent=*/1);
    if (!wanted)
      return failure();
  }
  SmallVector<int64_t> results;
  for (auto [i, size] : llvm::enumerate(sizes)) {
    if (size < 1 || size > kWindowLimit)
      return c.error("spatial dimension " + Twine(i) + " is " + Twine(size));
    int64_t full =
        window->strides[i] * (size - 1) + (*extra)[i] + window->extent(i);
    if (wanted || window->isSame()) {
      int64_t result = wanted ? (*wanted)[i] : size * window->strides[i];
      int64_t total = std::max<int64_t>(full - result, 0);
      bool upper = window->autoPad == "SAME_UPPER";
      window->padBegin[i] = upper ? total / 2 : total - total / 2;
      window->padEnd[i] = total - window->padBegin[i];
      full = std::max(full, result);
    }
    results.push_back(full - window->padBegin[i] - window->padEnd[i]);
    // The adjoint must be a convolution of the result onto the input.
    if (results[i] < 1 ||
        windowOutputSize(results[i], window->kernel[i], window->strides[i],
                         window->dilations[i], window->padBegin[i],
                         window->padEnd[i], /*ceilMode=*/false) != size)
      return c.error("the result's spatial dimension " + Twine(i) + " is " +
                     Twine(results[i]) +
                     ", which a convolution with these "
                     "attributes does not map to " +
                     Twine(size));
  }
  int64_t outputs = c.shape(1)[1] * groups;
  RankedTensorType type = spatialType(c, outputs, results);
  if (!type)
    return failure();
  Value x = c.operand(0), w = c.operand(1, Purpose::filter);
  if (!x || !w)
    return failure();
  Value y = c.create<ConvInputGradOp>(
      type, x, w, window->strides, window->dilations, window->pads(), groups);
  if (c.has(2)) {
    Value bias = c.operand(2, Purpose::shift);
    SmallVector<int64_t> shape(sizes.size() + 1, 1);
    shape[0] = outputs;
    if (!bias)
      return failure();
    y = c.create<AddOp>(y, c.reshape(bias, shape));
  }
  c.set(0, y);
  return success();
}

//===----------------------------------------------------------------------===//
// Pools
//===----------------------------------------------------------------------===//

/// The window of a pool and the type of its result.
static std::optional<std::pair<Window, RankedTensorType>>
readPool(NodeContext &c) {
  if (failed(c.requireRank(0, 3, 5)) || failed(c.requireFloat(0)))
    return std::nullopt;
  ArrayRef<int64_t> sizes = c.shape(0).drop_front(2);
  std::optional<Window> window = readWindow(c, sizes.size(), {});
  if (!window)
    return std::nullopt;
  window->ceilMode = c.intAttribute("ceil_mode", 0) != 0;
  if (window->isSame()) {
    padSame(*window, sizes);
    window->ceilMode = false;
  }
  for (size_t i = 0; i < sizes.size(); ++i)
    if (window->padBegin[i] >= window->extent(i)) {
      (void)c.error("a padding of " + Twine(window->padBegin[i]) +
                    " makes windows of " + Twine(window->extent(i)) +
                    " elements that hold no input");
      return std::nullopt;
    }
  std::optional<SmallVector<int64_t>> results = outputSizes(c, *window, sizes);
  if (!results)
    return std::nullopt;
  RankedTensorType type = spatialType(c, c.shape(0)[1], *results);
  if (!type)
    return std::nullopt;
  return std::make_pair(std::move(*window), type);
}

LogicalResult buildMaxPool(NodeContext &c) {
  if (c.wants(1))
    return c.error("the result Indices is not available; export the model "
                   "without the indices of MaxPool (unpooling by index has no "
                   "training form here)");
  // Tells how indices count, which nobody asks for.
  c.ignoreAttribute("storage_order");
  auto pool = readPool(c);
  if (!pool)
    return failure();
  const auto &[window, type] = *pool;
  Value x = c.operand(0);
  if (!x)
    return failure();
  c.set(0, c.create<MaxPoolOp>(type, x, window.kernel, window.strides,
                               window.dilations, window.pads()));
  return success();
}

LogicalResult buildAveragePool(NodeContext &c) {
  bool countPadding = c.intAttribute("count_include_pad", 0) != 0;
  auto pool = readPool(c);
  if (!pool)
    return failure();
  const auto &[window, type] = *pool;
  Value x = c.operand(0);
  if (!x)
    return failure();
  c.set(0, c.create<AvgPoolOp>(type, x, window.kernel, window.strides,
                               window.dilations, window.pads(), countPadding));
  return success();
}

static LogicalResult buildGlobalPool(NodeContext &c, ReduceKind kind) {
  if (failed(c.requireFloat(0)))
    return failure();
  if (c.rank(0) < 2)
    return c.error(c.describe(0) + " has no spatial dimensions");
  SmallVector<int64_t> axes, shape(c.shape(0));
  int64_t count = 1;
  for (int64_t axis = 2; axis < c.rank(0); ++axis) {
    axes.push_back(axis);
    count *= shape[axis];
    shape[axis] = 1;
  }
  if (count == 0)
    return c.error(c.describe(0) + " has an empty spatial dimension");
  if (axes.empty()) {
    c.forward(0, 0);
    return success();
  }
  Value x = c.operand(0);
  if (!x)
    return failure();
  double scale =
      kind == ReduceKind::sum ? 1.0 / static_cast<double>(count) : 1.0;
  Value y = c.create<ReduceOp>(kind, x, axes, llvm::APFloat(scale),
                               /*local=*/false);
  c.set(0, c.reshape(y, shape));
  return success();
}

LogicalResult buildGlobalAveragePool(NodeContext &c) {
  return buildGlobalPool(c, ReduceKind::sum);
}
LogicalResult buildGlobalMaxPool(NodeContext &c) {
  return buildGlobalPool(c, ReduceKind::max);
}

//===----------------------------------------------------------------------===//
// Matrix products
//===----------------------------------------------------------------------===//

LogicalResult buildGemm(NodeContext &c) {
  double alpha = c.floatAttribute("alpha", 1.0);
  double beta = c.floatAttribute("beta", 1.0);
  bool transA = c.intAttribute("transA", 0) != 0;
  bool transB = c.intAttribute("transB", 0) != 0;
  if (failed(c.requireRank(0, 2, 2)) || failed(c.requireRank(1, 2, 2)) ||
      failed(c.requireFloat(0)) || failed(c.requireSameElements(0, 1)))
    return failure();
  int64_t m = c.shape(0)[transA], k = c.shape(0)[!transA];
  int64_t n = c.shape(1)[!transB], otherK = c.shape(1)[transB];
  if (k != otherK)
    return c.error("A, " + c.describe(0) + ", has " + Twine(k) +
                   " columns after transposition, but B, " + c.describe(1) +
                   ", has " + Twine(otherK) + " rows");
  if (!c.resultType({m, n}, c.elementType(0)))
    return failure();
  bool addsC = c.has(2) && beta != 0.0;
  if (c.has(2)) {
    SmallVector<int64_t> product = {m, n};
    std::optional<SmallVector<int64_t>> sum =
        broadcastShapes(product, c.shape(2));
    if (!sum || *sum != product)
      return c.error("C, " + c.describe(2) +
                     ", does not broadcast to the product's shape " +
                     shapeText(product));
    if (failed(c.requireSameElements(0, 2)))
      return failure();
  }
  Value a = c.operand(0);
  Value b = c.operand(1, transB ? Purpose::outByIn : Purpose::inByOut);
  if (!a || !b)
    return failure();
  Value y = c.create<MatmulOp>(a, b, transA, transB, llvm::APFloat(alpha));
  if (addsC) {
    Value bias = c.operand(2, Purpose::shift);
    if (!bias)
      return failure();
    if (beta != 1.0)
      bias = c.create<MulOp>(bias, c.scalar(c.elementType(0), beta));
    y = c.create<AddOp>(y, bias);
  }
  c.set(0, y);
  return success();
}

LogicalResult buildMatMul(NodeContext &c) {
  if (failed(c.requireFloat(0)) || failed(c.requireSameElements(0, 1)))
    return failure();
  if (c.rank(0) == 0 || c.rank(1) == 0)
    return c.error("a scalar, expected matrices or vectors");
  // A vector is a matrix with one row (on the left) or one column.
  SmallVector<int64_t> left(c.shape(0)), right(c.shape(1));
  if (c.rank(0) == 1)
    left.insert(left.begin(), 1);
  if (c.rank(1) == 1)
    right.push_back(1);
  int64_t k = left.back(), otherK = right[right.size() - 2];
  if (k != otherK)
    return c.error(c.describe(0) + " has rows of " + Twine(k) +
                   " elements, but " + c.describe(1) + " has columns of " +
                   Twine(otherK));
  std::optional<SmallVector<int64_t>> shape = broadcastShapes(
      ArrayRef(left).drop_back(2), ArrayRef(right).drop_back(2));
  if (!shape)
    return c.error("the leading dimensions of " + c.describe(0) + " and " +
                   c.describe(1) + " do not broadcast");
  SmallVector<int64_t> result = *shape;
  if (c.rank(0) != 1)
    result.push_back(left[left.size() - 2]);
  if (c.rank(1) != 1)
    result.push_back(right.back());
  if (!c.resultType(result, c.elementType(0)))
    return failure();
  Value a = c.operand(0), b = c.operand(1, Purpose::inByOut);
  if (!a || !b)
    return failure();
  a = c.reshape(a, left);
  b = c.reshape(b, right);
  Value y = c.create<MatmulOp>(a, b, /*transpose_a=*/false,
                               /*transpose_b=*/false, llvm::APFloat(1.0));
  c.set(0, c.reshape(y, result));
  return success();
}

} // namespace partita::nn::importer
