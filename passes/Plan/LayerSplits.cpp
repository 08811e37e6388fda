//===- LayerSplits.cpp - What a split means for a layer -------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From node names and roles to operations and dimensions, and back.
//
//===----------------------------------------------------------------------===//

#include "passes/Plan/LayerSplits.h"
#include <numeric>
#include <set>

using namespace mlir;
using namespace partita;
using namespace partita::plan;
using namespace partita::nn;

std::string partita::plan::layerName(Location loc) {
  if (auto name = dyn_cast<NameLoc>(loc))
    return name.getName().str();
  if (auto fused = dyn_cast<FusedLoc>(loc))
    for (Location part : llvm::reverse(fused.getLocations()))
      if (std::string name = layerName(part); !name.empty())
        return name;
  if (auto call = dyn_cast<CallSiteLoc>(loc))
    return layerName(call.getCallee());
  return "";
}

Operation *partita::plan::lossOf(func::FuncOp function) {
  if (function.getName() != "step")
    return nullptr;
  Operation *last = nullptr;
  for (Value result : function.front().getTerminator()->getOperands())
    if (Operation *op = result.getDefiningOp();
        op && (!last || last->isBeforeInBlock(op)))
      last = op;
  return last;
}

namespace {

/// Operations that take the split of their operands or users as it is.
bool followsOperands(Operation *op) {
  return isa<PointwiseOpInterface, DropoutOp, DropoutMaskOp, ConstantOp,
             BroadcastOp, ReshapeOp, TransposeOp, SliceOp, PadOp, ConcatOp>(op);
}

template <typename Predicate>
int findRole(const IterationSpace &space, DimRole role, Predicate fits) {
  for (auto [i, dim] : llvm::enumerate(space.dims))
    if (dim.role == role && fits(dim))
      return static_cast<int>(i);
  return -1;
}

StringRef roleName(DimRole role) {
  switch (role) {
  case DimRole::batch:
    return "batch";
  case DimRole::model:
    return "model";
  case DimRole::domain:
    return "domain";
  case DimRole::none:
    return "";
  }
  llvm_unreachable("unknown role");
}

/// The gradient operations of a family have their forward operation's
/// dimensions by the same names; "" for other operations.
StringRef familyOf(Operation *op) {
  StringRef name = op->getName().stripDialect();
  if (name.starts_with("conv"))
    return "conv";
  if (name.starts_with("normalize"))
    return "normalize";
  StringRef layer = name.ends_with("_grad") ? name.drop_back(5) : name;
  if (layer.contains("pool") || layer == "softmax" || layer == "log_softmax" ||
      layer == "cross_entropy" || layer == "lrn")
    return layer;
  return "";
}

/// The part of `split` that `op` has dimensions for. A dimension of another
/// size (rows of the input in place of those of the output) has parts of its
/// own.
dist::SplitAttr restricted(Operation *op, dist::SplitAttr split) {
  IterationSpace space = cast<PartitionableOp>(op).getIterationSpace();
  SplitItems items = itemsOf(split);
  SmallVector<Cut> cuts;
  for (SplitItem &item : items) {
    int dim = space.find(item.what);
    if (dim < 0 || !canSplit(space.dims[dim]))
      continue;
    int64_t size = space.dims[dim].size;
    if (size % item.block != 0)
      item.block = 1;
    if (std::accumulate(item.sizes.begin(), item.sizes.end(), int64_t(0)) !=
        size)
      item.sizes.clear();
    cuts.push_back({static_cast<unsigned>(dim), &item});
  }
  return makeSplit(op->getContext(), space, cuts);
}

/// The split an operation would get from `cuts`, or nothing where they are no
/// split.
dist::SplitAttr splitOrNull(const LayerOp &layerOp, ArrayRef<Cut> cuts) {
  if (cuts.empty())
    return {};
  // An axis splits one dimension.
  std::set<StringRef> axes;
  for (const Cut &cut : cuts)
    for (const std::string &axis : cut.item->axes)
      if (!axes.insert(axis).second)
        return {};
  return makeSplit(layerOp.op->getContext(), layerOp.space, cuts);
}

/// Whether `items` give every operation that they touch the split it has.
bool saysWhatIsThere(const Layer &layer, const SplitItems &items) {
  SmallVector<const SplitItem *> unused;
  for (auto [layerOp, cuts] :
       llvm::zip(layer.ops, applySplit(layer, items, unused))) {
    auto split = layerOp.op->getAttrOfType<dist::SplitAttr>(dist::kSplitAttr);
    if (!cuts.empty() && splitOrNull(layerOp, cuts) != split)
      return false;
  }
  return true;
}

} // namespace

bool Layer::follows() const {
  return llvm::all_of(ops, [](const LayerOp &op) { return op.follows; });
}

Layers partita::plan::layersOf(ModuleOp module) {
  Layers layers;
  for (auto function : module.getOps<func::FuncOp>()) {
    Operation *loss = lossOf(function);
    llvm::DenseSet<Operation *> generated;
    for (Operation &op : function.front()) {
      auto partitionable = dyn_cast<PartitionableOp>(op);
      if (!partitionable)
        continue;
      if (llvm::all_of(op.getOperands(), [&](Value operand) {
            return generated.contains(operand.getDefiningOp());
          })) {
        generated.insert(&op);
        continue;
      }
      std::string name = layerName(op.getLoc());
      if (name.empty() || (loss && loss->isBeforeInBlock(&op)))
        continue;
      Layer &layer = layers[name];
      layer.name = name;
      layer.ops.push_back({&op, partitionable.getIterationSpace(), function,
                           followsOperands(&op)});
    }
  }
  return layers;
}

int partita::plan::findDim(const IterationSpace &space, StringRef what) {
  auto any = [](const IterationDim &) { return true; };
  if (what == "batch")
    return findRole(space, DimRole::batch, any);
  if (what == "model")
    return findRole(space, DimRole::model, [](const IterationDim &dim) {
      return dim.kind == DimKind::parallel || dim.kind == DimKind::coupled;
    });
  if (what == "model.in")
    return findRole(space, DimRole::model, [](const IterationDim &dim) {
      return dim.kind == DimKind::reduction;
    });
  if (what == "domain")
    return findRole(space, DimRole::domain, any);
  if (what.consume_front("domain."))
    return findRole(space, DimRole::domain,
                    [&](const IterationDim &dim) { return dim.name == what; });
  return space.find(what);
}

SmallVector<SmallVector<Cut>>
partita::plan::applySplit(const Layer &layer, const SplitItems &items,
                          SmallVectorImpl<const SplitItem *> &unused) {
  SmallVector<SmallVector<Cut>> cuts(layer.ops.size());
  // Operations of one function decide together who has a dimension.
  SmallVector<func::FuncOp> functions;
  for (const LayerOp &op : layer.ops)
    if (!llvm::is_contained(functions, op.function))
      functions.push_back(op.function);
  for (const SplitItem &item : items) {
    bool used = false;
    auto apply = [&](func::FuncOp function, bool follows) {
      bool found = false;
      for (auto [i, op] : llvm::enumerate(layer.ops)) {
        if (op.function != function || op.follows != follows)
          continue;
        int dim = findDim(op.space, item.what);
        if (dim < 0)
          continue;
        cuts[i].push_back({static_cast<unsigned>(dim), &item});
        found = true;
      }
      used |= found;
      return found;
    };
    for (func::FuncOp function : functions)
      if (!apply(function, /*follows=*/false) && !isRole(item.what))
        apply(function, /*follows=*/true);
    if (!used)
      unused.push_back(&item);
  }
  return cuts;
}

dist::SplitAttr partita::plan::makeSplit(MLIRContext *context,
                                         const IterationSpace &space,
                                         ArrayRef<Cut> cuts) {
  SmallVector<Cut> sorted(cuts);
  llvm::stable_sort(sorted,
                    [](const Cut &a, const Cut &b) { return a.dim < b.dim; });
  SmallVector<StringAttr> dims;
  SmallVector<ArrayAttr> axes;
  SmallVector<int64_t> blocks;
  SmallVector<DenseI64ArrayAttr> ranges;
  for (const Cut &cut : sorted) {
    SmallVector<Attribute> names;
    for (StringRef axis : cut.item->axes)
      names.push_back(StringAttr::get(context, axis));
    SmallVector<int64_t> table;
    int64_t begin = 0;
    for (int64_t size : cut.item->sizes) {
      table.append({begin, begin + size});
      begin += size;
    }
    dims.push_back(StringAttr::get(context, space.dims[cut.dim].name));
    axes.push_back(ArrayAttr::get(context, names));
    blocks.push_back(cut.item->block);
    ranges.push_back(DenseI64ArrayAttr::get(context, table));
  }
  return dist::SplitAttr::get(context, dims, axes, blocks, ranges);
}

SplitItems partita::plan::itemsOf(dist::SplitAttr split) {
  SplitItems items;
  for (auto [dim, axes, block, ranges] :
       llvm::zip(split.getDims(), split.getAxes(), split.getBlocks(),
                 split.getRanges())) {
    SplitItem item;
    item.what = dim.str();
    for (auto axis : axes.getAsRange<StringAttr>())
      item.axes.push_back(axis.str());
    item.block = block;
    ArrayRef<int64_t> table = ranges.asArrayRef();
    for (size_t i = 0; i + 1 < table.size(); i += 2)
      item.sizes.push_back(table[i + 1] - table[i]);
    items.push_back(item);
  }
  return items;
}

std::optional<SplitItems> partita::plan::describeLayer(const Layer &layer) {
  // Operations that decide first: their dimensions must not be taken by those
  // that follow. The latter may have been made in this phase (sums of bias, the
  // parts of a softmax), but not beside a product.
  bool withFollowing =
      layer.follows() || llvm::all_of(layer.ops, [](const LayerOp &op) {
        return op.follows || isa<MatmulOp>(op.op);
      });
  SmallVector<dist::SplitAttr> splits;
  for (bool follows : {false, true})
    for (const LayerOp &op : layer.ops)
      if (auto split = op.op->getAttrOfType<dist::SplitAttr>(dist::kSplitAttr);
          split && op.follows == follows && (!follows || withFollowing))
        splits.push_back(split);
  for (; !splits.empty(); splits.pop_back()) {
    SplitItems items;
    for (dist::SplitAttr split : splits)
      for (const SplitItem &item : itemsOf(split))
        if (llvm::none_of(items, [&](const SplitItem &known) {
              return known.what == item.what;
            }))
          items.push_back(item);
    if (saysWhatIsThere(layer, items))
      return items;
  }
  return std::nullopt;
}

GradientSplits::GradientSplits(func::FuncOp function)
    : loss(lossOf(function)) {}

void GradientSplits::note(Operation *op, dist::SplitAttr split) {
  StringRef family = familyOf(op);
  if (loss && !family.empty() && !loss->isBeforeInBlock(op))
    forward.insert({{layerName(op->getLoc()), family.str()}, split});
}

dist::SplitAttr GradientSplits::find(Operation *op) const {
  if (!loss || !loss->isBeforeInBlock(op))
    return {};
  auto found = forward.find({layerName(op->getLoc()), familyOf(op).str()});
  if (found == forward.end())
    return {};
  return restricted(op, found->second);
}

std::string partita::plan::describeDims(const IterationSpace &space) {
  std::string text;
  for (const IterationDim &dim : space.dims) {
    if (!canSplit(dim))
      continue;
    std::string notes = roleName(dim.role).str();
    if (dim.kind == DimKind::reduction)
      notes += notes.empty() ? "reduced" : ", reduced";
    text += (text.empty() ? "" : ", ") + dim.name + " = " +
            std::to_string(dim.size) +
            (notes.empty() ? "" : " (" + notes + ")");
  }
  return text.empty() ? "nothing" : text;
}

std::string partita::plan::whyWhole(Operation *op) {
  if (isa<ConvOp, ConvInputGradOp, ConvFilterGradOp, MaxPoolOp, AvgPoolOp>(op))
    return "every element needs the whole window";
  if (isa<ReshapeOp>(op))
    return "the reshape would tear its parts apart";
  return "its elements depend on each other";
}
