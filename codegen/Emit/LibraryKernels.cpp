//===- LibraryKernels.cpp - Launches of the runtime's kernel classes ------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One function per family of kernels; the table at the end names them.
//
//===----------------------------------------------------------------------===//

#include "codegen/Emit/LibraryKernels.h"
#include "codegen/Emit/ScalarCode.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace partita::codegen {

std::string dimsText(ArrayRef<Number> dims, NumberTable &numbers) {
  std::string text;
  for (const Number &dim : dims)
    text += (text.empty() ? "" : ", ") + numbers.size(dim);
  return "{" + text + "}";
}

namespace {

using Dims = SmallVector<Number, 4>;

/// Builds the constructor's arguments of one launch.
class Builder {
public:
  Builder(const Launch &launch, NumberTable &numbers, SplitTables &splits)
      : launch(launch), numbers(numbers), splits(splits) {}

  FailureOr<LibraryKernel> conv(StringRef className, const Buffer &x,
                                const Buffer &w, StringRef suffix);
  FailureOr<LibraryKernel> pool(StringRef className, const Buffer &x,
                                const Buffer &y, StringRef suffix);
  FailureOr<LibraryKernel> matmul();
  FailureOr<LibraryKernel> lrn(StringRef className, StringRef suffix);
  FailureOr<LibraryKernel> reduce();
  FailureOr<LibraryKernel> variance();
  FailureOr<LibraryKernel> normalize(StringRef className, StringRef suffix);
  FailureOr<LibraryKernel> alongAxis(StringRef className, StringRef suffix,
                                     ArrayRef<std::string> more = {});
  FailureOr<LibraryKernel> crossEntropyGrad();
  FailureOr<LibraryKernel> lookUp(StringRef className, const Buffer &table,
                                  const Buffer &indices, StringRef suffix);
  FailureOr<LibraryKernel> transpose();
  FailureOr<LibraryKernel> slice();
  FailureOr<LibraryKernel> pad();
  FailureOr<LibraryKernel> concat();
  FailureOr<LibraryKernel> dropoutMask();
  FailureOr<LibraryKernel> iota();
  FailureOr<LibraryKernel> fill();
  FailureOr<LibraryKernel> copy();

private:
  std::string list(ArrayRef<Number> dims) { return dimsText(dims, numbers); }
  /// Numbers that are no sizes, such as pads, which may differ between the
  /// first, the inner and the last rank of a spatial split.
  std::string list(ArrayRef<Number> values, StringRef what) {
    SmallVector<StringRef> nodes = nodeNames(launch.loc());
    std::string hint =
        camelCase(nodes.empty() ? launch.kernel() : nodes[0]) + what.str();
    std::string text;
    for (const Number &value : values)
      text += (text.empty() ? "" : ", ") + numbers.count(value, hint);
    return "{" + text + "}";
  }
  std::string size(const Number &number) { return numbers.size(number); }
  std::string size(ArrayRef<Number> dims) {
    return numbers.size(product(dims, launch.numClasses()));
  }
  /// Outer, middle and inner sizes around a dimension.
  FailureOr<std::array<std::string, 3>> around(const Buffer &x);

  const Launch &launch;
  NumberTable &numbers;
  SplitTables &splits;
};

bool isAll(ArrayRef<Number> list, int64_t value) {
  return llvm::all_of(list, [&](const Number &number) {
    return llvm::all_of(number, [&](int64_t v) { return v == value; });
  });
}

std::string flag(bool value) { return value ? "true" : "false"; }

FailureOr<LibraryKernel> Builder::conv(StringRef className, const Buffer &x,
                                       const Buffer &w, StringRef suffix) {
  auto strides = launch.integers("strides");
  auto dilations = launch.integers("dilations");
  auto pads = launch.integers("pads");
  auto groups = launch.integer("groups", 1);
  if (failed(strides) || failed(dilations) || failed(pads) || failed(groups))
    return failure();
  // Trailing arguments that have their default value are left out.
  std::vector<std::string> args = {list(x.shape), list(w.shape)};
  bool grouped = !isAll({*groups}, 1);
  bool padded = grouped || !isAll(*pads, 0);
  bool dilated = padded || !isAll(*dilations, 1);
  if (dilated || !isAll(*strides, 1))
    args.push_back(list(*strides));
  if (dilated)
    args.push_back(list(*dilations));
  if (padded)
    args.push_back(list(*pads, "Pad"));
  if (grouped)
    args.push_back(size(*groups));
  LibraryKernel kernel{className.str(),
                       {"convSizes(" + llvm::join(args, ", ") + ")"},
                       suffix.str()};
  if (className == "ConvForward")
    kernel.arguments.push_back(flag(launch.numInputs() == 3));
  return kernel;
}

FailureOr<LibraryKernel> Builder::pool(StringRef className, const Buffer &x,
                                       const Buffer &y, StringRef suffix) {
  auto window = launch.integers("kernel");
  auto strides = launch.integers("strides");
  auto dilations = launch.integers("dilations");
  auto pads = launch.integers("pads");
  if (failed(window) || failed(strides) || failed(dilations) || failed(pads))
    return failure();
  std::vector<std::string> args = {list(x.shape), list(y.shape), list(*window),
                                   list(*strides)};
  bool padded = !isAll(*pads, 0);
  if (padded || !isAll(*dilations, 1))
    args.push_back(list(*dilations));
  if (padded)
    args.push_back(list(*pads, "Pad"));
  LibraryKernel kernel{className.str(),
                       {"poolSizes(" + llvm::join(args, ", ") + ")"},
                       suffix.str()};
  if (className.starts_with("Avg"))
    kernel.arguments.push_back(flag(launch.has("count_include_pad")));
  return kernel;
}

FailureOr<LibraryKernel> Builder::matmul() {
  auto alpha = launch.real("alpha", 1.0);
  if (failed(alpha))
    return failure();
  ArrayRef<Number> a = launch.input(0).shape, b = launch.input(1).shape;
  ArrayRef<Number> y = launch.output(0).shape;
  bool transA = launch.has("transpose_a"), transB = launch.has("transpose_b");
  if (a.size() < 2 || b.size() < 2 || y.size() < 2)
    return launch.op().emitError("a matrix product needs matrices");
  size_t classes = launch.numClasses();
  Number m = y[y.size() - 2], n = y.back();
  Number k = transA ? a[a.size() - 2] : a.back();
  Number batch = product(y.drop_back(2), classes);
  Number batchA = product(a.drop_back(2), classes);
  Number batchB = product(b.drop_back(2), classes);
  Number one(classes, 1);
  auto strideOf = [&](const Number &own, const Number &rows,
                      const Number &cols) {
    return own == one ? Number(classes, 0) : product({rows, cols}, classes);
  };
  Number strideA = strideOf(batchA, m, k), strideB = strideOf(batchB, k, n);
  if ((batchA != one && batchA != batch) || (batchB != one && batchB != batch))
    return launch.op().emitError()
           << "matrix products whose operands repeat along some of the batch "
              "dimensions are not computed; expand the smaller operand to the "
              "batch of the result first";
  // One matrix for all: the rows of the batch are rows of one product.
  if (batch != one && batchA == batch && batchB == one && !transA) {
    m = product({batch, m}, classes);
    batch = one;
    strideA = Number(classes, 0);
  }
  std::vector<std::string> args = {size(batch), size(m), size(n), size(k)};
  bool scaled = !llvm::all_of(*alpha, [](double v) { return v == 1.0; });
  bool batched = scaled || batch != one;
  if (batched || transA || transB) {
    args.push_back(flag(transA));
    args.push_back(flag(transB));
  }
  if (batched) {
    args.push_back(size(strideA));
    args.push_back(size(strideB));
  }
  if (scaled)
    args.push_back(numbers.real(*alpha, "alpha"));
  return LibraryKernel{
      "Matmul", {"MatmulSizes{" + llvm::join(args, ", ") + "}"}, ""};
}

FailureOr<std::array<std::string, 3>> Builder::around(const Buffer &x) {
  auto axis = launch.integer("axis");
  if (failed(axis))
    return failure();
  ArrayRef<Number> shape = x.shape;
  int64_t at = axis->front();
  if (at < 0 || at >= static_cast<int64_t>(shape.size()))
    return launch.op().emitError() << "axis " << at << " is not one of "
                                   << shape.size() << " dimensions";
  return std::array<std::string, 3>{size(shape.take_front(at)), size(shape[at]),
                                    size(shape.drop_front(at + 1))};
}

FailureOr<LibraryKernel> Builder::lrn(StringRef className, StringRef suffix) {
  auto window = launch.integer("size");
  auto alpha = launch.real("alpha"), beta = launch.real("beta");
  auto bias = launch.real("bias");
  if (failed(window) || failed(alpha) || failed(beta) || failed(bias))
    return failure();
  ArrayRef<Number> x = launch.input(0).shape;
  return LibraryKernel{className.str(),
                       {size(x[0]), size(x[1]), size(x.drop_front(2)),
                        size(*window), numbers.real(*alpha, "alpha"),
                        numbers.real(*beta, "beta"),
                        numbers.real(*bias, "bias")},
                       suffix.str()};
}

FailureOr<LibraryKernel> Builder::reduce() {
  auto kind = launch.keyword("kind");
  auto axes = launch.integers("axes");
  auto scale = launch.real("scale", 1.0);
  if (failed(kind) || failed(axes) || failed(scale))
    return failure();
  LibraryKernel kernel{
      "Reduce",
      {"ReduceKind::" + *kind, list(launch.input(0).shape), list(*axes)},
      typeCase(*kind)};
  if (!llvm::all_of(*scale, [](double v) { return v == 1.0; }))
    kernel.arguments.push_back(numbers.real(*scale, "scale"));
  return kernel;
}

FailureOr<LibraryKernel> Builder::variance() {
  auto axes = launch.integers("axes");
  auto scale = launch.real("scale");
  if (failed(axes) || failed(scale))
    return failure();
  return LibraryKernel{
      "Variance",
      {list(launch.input(0).shape), list(*axes), numbers.real(*scale, "scale")},
      "Variance"};
}

FailureOr<LibraryKernel> Builder::normalize(StringRef className,
                                            StringRef suffix) {
  auto sizes = around(launch.input(0));
  auto eps = launch.real("eps");
  if (failed(sizes) || failed(eps))
    return failure();
  LibraryKernel kernel{
      className.str(),
      {(*sizes)[0], (*sizes)[1], (*sizes)[2], numbers.real(*eps, "eps")},
      suffix.str()};
  if (className == "NormalizeGrad") {
    auto scale = launch.real("scale");
    if (failed(scale))
      return failure();
    kernel.arguments.push_back(numbers.real(*scale, "scale"));
  }
  return kernel;
}

FailureOr<LibraryKernel> Builder::alongAxis(StringRef className,
                                            StringRef suffix,
                                            ArrayRef<std::string> more) {
  auto sizes = around(launch.input(0));
  if (failed(sizes))
    return failure();
  LibraryKernel kernel{
      className.str(), {(*sizes)[0], (*sizes)[1], (*sizes)[2]}, suffix.str()};
  kernel.arguments.insert(kernel.arguments.end(), more.begin(), more.end());
  return kernel;
}

FailureOr<LibraryKernel> Builder::crossEntropyGrad() {
  auto scale = launch.real("scale");
  if (failed(scale))
    return failure();
  return alongAxis("CrossEntropyGrad", "CrossEntropyGrad",
                   {numbers.real(*scale, "scale")});
}

FailureOr<LibraryKernel> Builder::lookUp(StringRef className,
                                         const Buffer &table,
                                         const Buffer &indices,
                                         StringRef suffix) {
  auto sizes = around(table);
  auto axis = launch.integer("axis"), limit = launch.integer("limit");
  auto start = launch.integer("start", 0);
  if (failed(sizes) || failed(axis) || failed(limit) || failed(start))
    return failure();
  std::vector<std::string> args = {(*sizes)[0], (*sizes)[1], (*sizes)[2],
                                   size(indices.shape), size(*limit)};
  // Ranks of one class hold different rows of the whole table.
  std::string begin = size(*start);
  SmallVector<int64_t> dims(table.shape.size(), 1);
  dims[axis->front()] = limit->front();
  DictionaryAttr params = launch.op().getParamsAttr();
  auto layout = dyn_cast_or_null<dist::LayoutAttr>(params.get("layout"));
  auto grid =
      launch.op()->getParentOfType<ModuleOp>()->getAttrOfType<dist::GridAttr>(
          dist::kGridAttr);
  Cut cut = cutsOf(grid, layout, dims)[axis->front()];
  if (!cut.axes.empty())
    begin = (begin == "0" ? "" : begin + " + ") + splits.begin(cut);
  if (begin != "0")
    args.push_back(begin);
  LibraryKernel kernel{className.str(),
                       {"GatherSizes{" + llvm::join(args, ", ") + "}"},
                       suffix.str()};
  unsigned bytes = (table.elementType.getIntOrFloatBitWidth() + 7) / 8;
  if (bytes != 4)
    kernel.arguments.push_back(std::to_string(bytes));
  return kernel;
}

FailureOr<LibraryKernel> Builder::transpose() {
  auto permutation = launch.integers("permutation");
  if (failed(permutation))
    return failure();
  return LibraryKernel{"Transpose",
                       {list(launch.input(0).shape), list(*permutation)},
                       "Transpose"};
}

FailureOr<LibraryKernel> Builder::slice() {
  auto starts = launch.integers("starts"), sizes = launch.integers("sizes");
  auto steps = launch.integers("steps");
  if (failed(starts) || failed(sizes) || failed(steps))
    return failure();
  return LibraryKernel{"Slice",
                       {list(launch.input(0).shape), list(*starts, "Start"),
                        list(*sizes), list(*steps, "Step")},
                       "Slice"};
}

FailureOr<LibraryKernel> Builder::pad() {
  auto low = launch.integers("low"), high = launch.integers("high");
  auto interior = launch.integers("interior");
  auto value = launch.real("value", 0.0);
  if (failed(low) || failed(high) || failed(interior) || failed(value))
    return failure();
  return LibraryKernel{"Pad",
                       {list(launch.input(0).shape), list(*low, "Low"),
                        list(*interior, "Interior"), list(*high, "High"),
                        numbers.real(*value, "value")},
                       "Pad"};
}

FailureOr<LibraryKernel> Builder::concat() {
  auto axis = launch.integer("axis");
  if (failed(axis))
    return failure();
  ArrayRef<Number> y = launch.output(0).shape;
  int64_t at = axis->front();
  if (at < 0 || at >= static_cast<int64_t>(y.size()))
    return launch.op().emitError()
           << "axis " << at << " is not one of " << y.size() << " dimensions";
  Dims parts;
  for (unsigned i = 0; i < launch.numInputs(); ++i)
    parts.push_back(
        product(ArrayRef<Number>(launch.input(i).shape).drop_front(at),
                launch.numClasses()));
  return LibraryKernel{
      "Concat", {size(y.take_front(at)), list(parts)}, "Concat"};
}

FailureOr<LibraryKernel> Builder::dropoutMask() {
  auto ratio = launch.real("ratio");
  auto stream = launch.integer("stream");
  auto global = launch.integers("global_shape");
  if (failed(ratio) || failed(stream) || failed(global))
    return failure();
  DictionaryAttr params = launch.op().getParamsAttr();
  auto layout = dyn_cast_or_null<dist::LayoutAttr>(params.get("layout"));
  auto grid =
      launch.op()->getParentOfType<ModuleOp>()->getAttrOfType<dist::GridAttr>(
          dist::kGridAttr);
  SmallVector<int64_t> dims;
  for (const Number &dim : *global)
    dims.push_back(dim.front());
  // Ranks of one class lie at different places of the whole tensor.
  std::string starts;
  for (const Cut &cut : cutsOf(grid, layout, dims))
    starts += (starts.empty() ? "" : ", ") + splits.begin(cut);
  return LibraryKernel{"DropoutMask",
                       {list(launch.output(0).shape), list(*global),
                        "{" + starts + "}", numbers.real(*ratio, "ratio"),
                        size(*stream)},
                       "Mask"};
}

FailureOr<LibraryKernel> Builder::iota() {
  auto count = launch.integer("size");
  if (failed(count))
    return failure();
  DictionaryAttr params = launch.op().getParamsAttr();
  auto layout = dyn_cast_or_null<dist::LayoutAttr>(params.get("layout"));
  auto grid =
      launch.op()->getParentOfType<ModuleOp>()->getAttrOfType<dist::GridAttr>(
          dist::kGridAttr);
  SmallVector<Cut, 4> cuts = cutsOf(grid, layout, {count->front()});
  return LibraryKernel{
      "Iota",
      {size(launch.output(0).shape.front()), splits.begin(cuts.front())},
      "Index"};
}

FailureOr<LibraryKernel> Builder::fill() {
  if (failed(launch.real("value")))
    return failure();
  return LibraryKernel{"Fill", {size(launch.output(0).shape)}, "Fill"};
}

FailureOr<LibraryKernel> Builder::copy() {
  const Buffer &y = launch.output(0);
  Type type = y.elementType;
  unsigned bits = type.isIntOrFloat() ? type.getIntOrFloatBitWidth() : 0;
  Number bytes =
      product({y.elements(), Number(launch.numClasses(), (bits + 7) / 8)},
              launch.numClasses());
  std::string count = size(bytes);
  if (!isSame(bytes))
    count = "static_cast<std::size_t>(" + count + ")";
  return LibraryKernel{"Copy", {count}, "Copy"};
}

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

enum class Elements { f32, labelled, indexed, indexedAny, fourBytes, any };

LogicalResult checkType(const Launch &launch, const Buffer &buffer,
                        bool isRight, StringRef expected) {
  if (isRight)
    return success();
  return launch.op().emitError()
         << "kernel '" << launch.kernel() << "' takes " << expected
         << ", found " << buffer.elementType << " in buffer '" << buffer.name()
         << "'; insert a Cast to that type in the model";
}

LogicalResult checkTypes(const Launch &launch, Elements elements) {
  bool takesIndices =
      elements == Elements::indexed || elements == Elements::indexedAny;
  auto check = [&](const Buffer &buffer, bool isSecond) {
    Type type = buffer.elementType;
    if (isSecond && elements == Elements::labelled)
      return checkType(launch, buffer, type.isInteger(64), "labels of i64");
    if (isSecond && takesIndices)
      return checkType(launch, buffer, type.isInteger(64) || type.isInteger(32),
                       "indices of i64 or i32");
    if (elements == Elements::fourBytes)
      return checkType(launch, buffer, type.isF32() || type.isInteger(32),
                       "elements of 4 bytes");
    bool takesAny =
        elements == Elements::any || elements == Elements::indexedAny;
    return checkType(launch, buffer, type.isF32() || takesAny, "f32");
  };
  for (unsigned i = 0; i < launch.numInputs(); ++i)
    if (failed(check(launch.input(i), i == 1)))
      return failure();
  for (unsigned i = 0; i < launch.numOutputs(); ++i)
    if (failed(check(launch.output(i), false)))
      return failure();
  return success();
}

struct Entry {
  unsigned minInputs, maxInputs, outputs;
  Elements elements;
  FailureOr<LibraryKernel> (*build)(Builder &, const Launch &);
};

const llvm::StringMap<Entry> &kernelTable() {
  using B = Builder;
  using L = const Launch;
  using E = Elements;
  static const llvm::StringMap<Entry> table = {
      {"nn.conv",
       {2, 3, 1, E::f32,
        [](B &b, L &l) {
          return b.conv("ConvForward", l.input(0), l.input(1), "");
        }}},
      {"nn.conv_input_grad",
       {2, 2, 1, E::f32,
        [](B &b, L &l) {
          return b.conv("ConvInputGrad", l.output(0), l.input(1), "InputGrad");
        }}},
      {"nn.conv_filter_grad",
       {2, 2, 1, E::f32,
        [](B &b, L &l) {
          return b.conv("ConvFilterGrad", l.input(0), l.output(0),
                        "FilterGrad");
        }}},
      {"nn.matmul", {2, 2, 1, E::f32, [](B &b, L &) { return b.matmul(); }}},
      {"nn.max_pool",
       {1, 1, 1, E::f32,
        [](B &b, L &l) {
          return b.pool("MaxPool", l.input(0), l.output(0), "");
        }}},
      {"nn.max_pool_grad",
       {2, 2, 1, E::f32,
        [](B &b, L &l) {
          return b.pool("MaxPoolGrad", l.input(0), l.input(1), "Grad");
        }}},
      {"nn.avg_pool",
       {1, 1, 1, E::f32,
        [](B &b, L &l) {
          return b.pool("AvgPool", l.input(0), l.output(0), "");
        }}},
      {"nn.avg_pool_grad",
       {1, 1, 1, E::f32,
        [](B &b, L &l) {
          return b.pool("AvgPoolGrad", l.output(0), l.input(0), "Grad");
        }}},
      {"nn.lrn", {1, 1, 1, E::f32, [](B &b, L &) { return b.lrn("Lrn", ""); }}},
      {"nn.lrn_grad",
       {2, 2, 1, E::f32, [](B &b, L &) { return b.lrn("LrnGrad", "Grad"); }}},
      {"nn.reduce", {1, 1, 1, E::f32, [](B &b, L &) { return b.reduce(); }}},
      {"nn.variance",
       {2, 2, 1, E::f32, [](B &b, L &) { return b.variance(); }}},
      {"nn.normalize",
       {5, 5, 1, E::f32,
        [](B &b, L &) { return b.normalize("Normalize", ""); }}},
      {"nn.normalize_sums",
       {4, 4, 2, E::f32,
        [](B &b, L &) { return b.normalize("NormalizeSums", "Sums"); }}},
      {"nn.normalize_grad",
       {7, 7, 1, E::f32,
        [](B &b, L &) { return b.normalize("NormalizeGrad", "Grad"); }}},
      {"nn.softmax",
       {1, 1, 1, E::f32,
        [](B &b, L &) { return b.alongAxis("Softmax", "", {"false"}); }}},
      {"nn.log_softmax",
       {1, 1, 1, E::f32,
        [](B &b, L &) { return b.alongAxis("Softmax", "", {"true"}); }}},
      {"nn.softmax_grad",
       {2, 2, 1, E::f32,
        [](B &b, L &) {
          return b.alongAxis("SoftmaxGrad", "Grad", {"false"});
        }}},
      {"nn.log_softmax_grad",
       {2, 2, 1, E::f32,
        [](B &b, L &) {
          return b.alongAxis("SoftmaxGrad", "Grad", {"true"});
        }}},
      {"nn.cross_entropy",
       {2, 2, 1, E::labelled,
        [](B &b, L &) { return b.alongAxis("CrossEntropy", "CrossEntropy"); }}},
      {"nn.cross_entropy_grad",
       {2, 2, 1, E::labelled, [](B &b, L &) { return b.crossEntropyGrad(); }}},
      {"nn.correct",
       {2, 2, 1, E::labelled,
        [](B &b, L &) { return b.alongAxis("Correct", "Correct"); }}},
      {"nn.gather",
       {2, 2, 1, E::indexedAny,
        [](B &b, L &l) {
          return b.lookUp("Gather", l.input(0), l.input(1), "");
        }}},
      {"nn.scatter_add",
       {2, 2, 1, E::indexed,
        [](B &b, L &l) {
          return b.lookUp("ScatterAdd", l.output(0), l.input(1), "Grad");
        }}},
      {"nn.transpose",
       {1, 1, 1, E::fourBytes, [](B &b, L &) { return b.transpose(); }}},
      {"nn.iota", {0, 0, 1, E::f32, [](B &b, L &) { return b.iota(); }}},
      {"nn.slice",
       {1, 1, 1, E::fourBytes, [](B &b, L &) { return b.slice(); }}},
      {"nn.pad", {1, 1, 1, E::f32, [](B &b, L &) { return b.pad(); }}},
      {"nn.concat",
       {1, ~0u, 1, E::fourBytes, [](B &b, L &) { return b.concat(); }}},
      {"nn.dropout_mask",
       {0, 0, 1, E::f32, [](B &b, L &) { return b.dropoutMask(); }}},
      {"nn.fill", {0, 0, 1, E::f32, [](B &b, L &) { return b.fill(); }}},
      {"copy", {1, 1, 1, E::any, [](B &b, L &) { return b.copy(); }}}};
  return table;
}

} // namespace

FailureOr<LibraryKernel>
libraryKernel(const Launch &launch, NumberTable &numbers, SplitTables &splits) {
  auto it = kernelTable().find(launch.kernel());
  if (it == kernelTable().end())
    return launch.op().emitError()
           << "no kernel computes '" << launch.kernel() << "'";
  const Entry &entry = it->second;
  if (launch.numInputs() < entry.minInputs ||
      launch.numInputs() > entry.maxInputs ||
      launch.numOutputs() != entry.outputs)
    return launch.op().emitError()
           << "kernel '" << launch.kernel() << "' does not take "
           << launch.numInputs() << " inputs and " << launch.numOutputs()
           << " outputs";
  if (failed(checkTypes(launch, entry.elements)))
    return failure();
  Builder builder(launch, numbers, splits);
  return entry.build(builder, launch);
}

std::vector<std::string>
callArguments(const Launch &launch, NumberTable &numbers,
              llvm::function_ref<std::string(const Buffer &)> read,
              llvm::function_ref<std::string(const Buffer &)> written) {
  std::vector<std::string> args;
  for (unsigned i = 0; i < launch.numInputs(); ++i)
    args.push_back(read(launch.input(i)));
  StringRef kernel = launch.kernel();
  if (kernel == "nn.conv" && args.size() == 2)
    args.push_back("nullptr");
  if (kernel == "nn.concat")
    args = {"{" + llvm::join(args, ", ") + "}"};
  if (kernel == "nn.dropout_mask")
    args = {"rank.seed", "rank.stepIndex"};
  if (kernel == "nn.fill")
    args = {numbers.real(*launch.real("value"), "value")};
  for (unsigned i = 0; i < launch.numOutputs(); ++i)
    args.push_back(written(launch.output(i)));
  return args;
}

} // namespace partita::codegen
