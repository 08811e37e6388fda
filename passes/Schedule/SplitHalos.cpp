//===- SplitHalos.cpp - The interior before the borders -------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Splits the windowed operations of the forward pass that read a halo. One
// dimension, windows of three rows, the rank's own rows 1 to 4:
//
//     with halo   0 | 1 2 3 4 | 5          rows of x
//     results       | a b c d |            b and c need own rows only
//
// becomes  bc = op(own rows),  a = op(0 1 2),  d = op(3 4 5),  concat a bc d.
// With two cut dimensions the interior is split again along the second one.
//
// In the backward pass the gradient of the filter, which needs no halo of the
// gradient, runs while that travels; ordering sees to it (Overlap.h).
//
//===----------------------------------------------------------------------===//

#include "dialects/Dist/Interfaces/Layouts.h"
#include "passes/Schedule/Moves.h"
#include "passes/Schedule/Overlap.h"
#include "passes/Schedule/Passes.h"

using namespace mlir;
using namespace partita;

namespace partita {
#define GEN_PASS_DEF_SPLITHALOS
#include "passes/Schedule/Passes.h.inc"
} // namespace partita

namespace {

using dist::Box;
using dist::Range;

/// A window that slides over one dimension.
struct Window {
  int64_t kernel, stride, dilation, padBegin, padEnd;

  int64_t extent() const { return (kernel - 1) * dilation + 1; }
  /// Elements of x, padding included, that results [begin, end) read.
  Range reads(Range results) const {
    int64_t first = results.begin * stride - padBegin;
    return {first, (results.end - 1) * stride - padBegin + extent()};
  }
};

/// The windows of `op` over its spatial dimensions, or nothing where it has
/// none that can be split.
std::optional<SmallVector<Window>> windowsOf(Operation *op) {
  if (!isa<nn::ConvOp, nn::MaxPoolOp, nn::AvgPoolOp>(op))
    return std::nullopt;
  auto list = [&](StringRef name) {
    return op->getAttrOfType<DenseI64ArrayAttr>(name).asArrayRef();
  };
  ArrayRef<int64_t> strides = list("strides"), dilations = list("dilations"),
                    pads = list("pads");
  ArrayRef<int64_t> kernel = isa<nn::ConvOp>(op)
                                 ? nn::shapeOf(op->getOperand(1)).drop_front(2)
                                 : list("kernel");
  SmallVector<Window> windows;
  for (size_t i = 0; i < strides.size(); ++i)
    windows.push_back({kernel[i], strides[i], dilations[i], pads[i],
                       pads[strides.size() + i]});
  return windows;
}

class HaloSplitter {
public:
  HaloSplitter(Operation *op, spmd::HaloExchangeOp exchange,
               SmallVector<Window> windows, ArrayRef<int64_t> ranks,
               dist::GridAttr grid)
      : op(op), exchange(exchange), windows(std::move(windows)), ranks(ranks),
        grid(grid), builder(op) {}

  /// False where nothing is to be gained.
  bool run() {
    Value y = op->getResult(0);
    ArrayRef<int64_t> results = nn::shapeOf(y);
    if (!findOwn() || nn::tensorType(y).getNumElements() == 0)
      return false;
    // The results that need own elements only.
    interior.assign(results.size(), Range{0, 0});
    for (auto [d, size] : llvm::enumerate(results)) {
      interior[d] = {0, size};
      if (d >= 2 && isCut[d])
        interior[d] = interiorOf(d, size);
      if (interior[d].begin >= interior[d].end)
        return false;
    }
    for (size_t d = 2; d < results.size(); ++d)
      if (isCut[d] && !padsCount(d, results[d]))
        return false;
    Box all;
    for (int64_t size : results)
      all.push_back({0, size});
    // The interior stands first, so that it runs first.
    Value inside = make(interior, exchange.getX(), own);
    y.replaceAllUsesWith(wrap(inside, all, 2));
    op->erase();
    return true;
  }

private:
  /// Where the rank's own part lies in the exchanged one; false where ranks of
  /// the class disagree.
  bool findOwn() {
    auto type = cast<RankedTensorType>(exchange.getGlobal());
    isCut.assign(type.getRank(), false);
    for (int64_t rank : ranks) {
      Box before = dist::boxOf(grid, exchange.getFrom(), type, rank);
      Box after = dist::boxOf(grid, exchange.getTo(), type, rank);
      Box place;
      for (auto [d, inner, outer] : llvm::enumerate(before, after)) {
        place.push_back({inner.begin - outer.begin, inner.end - outer.begin});
        bool isSame = inner.begin == outer.begin && inner.end == outer.end;
        isCut[d] = isCut[d] || !isSame;
        if (inner.begin < outer.begin || inner.end > outer.end ||
            inner.begin >= inner.end || (d < 2 && !isSame))
          return false;
      }
      if (rank == ranks.front())
        own = place;
      for (auto [a, b] : llvm::zip(own, place))
        if (a.begin != b.begin || a.end != b.end)
          return false;
    }
    return llvm::is_contained(isCut, true);
  }

  /// Whether padding means the same to a part as to the whole: windows of ceil
  /// mode that hang over the padded edge do not, where padding is counted.
  bool padsCount(size_t d, int64_t size) const {
    const Window &window = windows[d - 2];
    int64_t end = exchangedSize(d) + window.padEnd;
    return window.reads({0, size}).end <= end || !isa<nn::AvgPoolOp>(op);
  }

  /// Elements along `d` with the halo.
  int64_t exchangedSize(size_t d) const {
    spmd::HaloExchangeOp op = exchange;
    return nn::shapeOf(op.getY())[d];
  }

  Range interiorOf(size_t d, int64_t size) const {
    const Window &window = windows[d - 2];
    int64_t whole = exchangedSize(d);
    Range range{0, 0};
    bool open = false;
    for (int64_t i = 0; i < size; ++i) {
      Range reads = window.reads({i, i + 1});
      // Padding at the border of the whole tensor is no halo.
      bool inside = std::max<int64_t>(reads.begin, 0) >= own[d].begin &&
                    std::min(reads.end, whole) <= own[d].end;
      if (inside && !open)
        range.begin = i;
      if (inside)
        range.end = i + 1;
      if (!inside && open)
        break;
      open = inside;
    }
    return range;
  }

  /// The part `results` of the result, from `x`, which holds `held` of the
  /// exchanged tensor.
  Value make(const Box &results, Value x, const Box &held) {
    SmallVector<int64_t> starts, sizes, steps;
    SmallVector<int64_t> pads(
        op->getAttrOfType<DenseI64ArrayAttr>("pads").asArrayRef());
    SmallVector<int64_t> shape;
    bool isWhole = true;
    for (auto [d, range] : llvm::enumerate(results)) {
      int64_t size = nn::shapeOf(x)[d], begin = 0, end = size;
      shape.push_back(range.size());
      if (d >= 2 && isCut[d]) {
        Range reads = windows[d - 2].reads(range);
        int64_t whole = exchangedSize(d);
        pads[d - 2] = std::max<int64_t>(0, -reads.begin);
        pads[windows.size() + d - 2] = std::max<int64_t>(0, reads.end - whole);
        begin = std::max<int64_t>(reads.begin, 0) - held[d].begin;
        end = std::min(reads.end, whole) - held[d].begin;
      }
      isWhole &= begin == 0 && end == size;
      starts.push_back(begin);
      sizes.push_back(end - begin);
      steps.push_back(1);
    }
    if (!isWhole)
      x = builder.create<nn::SliceOp>(op->getLoc(), x, starts, sizes, steps);
    Operation *part = builder.clone(*op);
    part->setOperand(0, x);
    part->setAttr("pads", builder.getDenseI64ArrayAttr(pads));
    part->getResult(0).setType(RankedTensorType::get(
        shape, nn::tensorType(op->getResult(0)).getElementType()));
    return part->getResult(0);
  }

  /// Adds the borders along dimension `d` and those behind it to the interior
  /// of `all`.
  Value wrap(Value inside, Box all, size_t d) {
    if (d == all.size())
      return inside;
    Box low = all, high = all;
    low[d] = {0, interior[d].begin};
    high[d] = {interior[d].end, all[d].end};
    all[d] = interior[d];
    SmallVector<Value> parts;
    Box whole;
    for (int64_t size : nn::shapeOf(exchange.getY()))
      whole.push_back({0, size});
    Value middle = wrap(inside, all, d + 1);
    if (!low[d].empty())
      parts.push_back(make(low, exchange.getY(), whole));
    parts.push_back(middle);
    if (!high[d].empty())
      parts.push_back(make(high, exchange.getY(), whole));
    if (parts.size() == 1)
      return middle;
    return builder.create<nn::ConcatOp>(op->getLoc(), parts, int64_t(d));
  }

  Operation *op;
  spmd::HaloExchangeOp exchange;
  SmallVector<Window> windows;
  ArrayRef<int64_t> ranks;
  dist::GridAttr grid;
  OpBuilder builder;
  Box own, interior;
  SmallVector<bool> isCut;
};

struct SplitHalosPass : partita::impl::SplitHalosBase<SplitHalosPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto grid = module->getAttrOfType<dist::GridAttr>(dist::kGridAttr);
    for (auto function : module.getOps<func::FuncOp>()) {
      auto symbol =
          function->getAttrOfType<FlatSymbolRefAttr>(spmd::kClassAttr);
      auto classOp = symbol
                         ? module.lookupSymbol<spmd::ClassOp>(symbol.getValue())
                         : spmd::ClassOp();
      if (!grid || !classOp || !function.getBody().hasOneBlock())
        continue;
      for (Operation &op : llvm::make_early_inc_range(function.front())) {
        std::optional<SmallVector<Window>> windows = windowsOf(&op);
        auto exchange =
            windows ? op.getOperand(0).getDefiningOp<spmd::HaloExchangeOp>()
                    : spmd::HaloExchangeOp();
        // Where several operations need the halo, the first hides it.
        if (!exchange || !isFirstUser(exchange, &op))
          continue;
        if (HaloSplitter(&op, exchange, std::move(*windows), classOp.getRanks(),
                         grid)
                .run())
          ++numSplit;
      }
    }
  }

private:
  static bool isFirstUser(spmd::HaloExchangeOp exchange, Operation *op) {
    return llvm::none_of(exchange.getY().getUsers(), [&](Operation *user) {
      return user != op && user->isBeforeInBlock(op);
    });
  }
};

} // namespace
