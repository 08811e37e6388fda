//===- LayerSplits.h - What a split means for a layer ----------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A layer is what one ONNX node became: its forward operations in every
// function, which carry the node's name. A split names dimensions or roles;
// here it is decided which dimension of which operation that is.
//
//   Gemm "fc1"  ->  nn.matmul (m, n, k)  nn.add (d0, d1)
//   batch:pc         m of the matmul
//   d1:pr            d1 of the add: the matmul has no such dimension
//
// Operations that only follow their operands (point-wise ones, and those that
// move elements) are split by hand only where a dimension is named which no
// other operation of the node has.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_PASSES_PLAN_LAYERSPLITS_H
#define PARTITA_PASSES_PLAN_LAYERSPLITS_H

#include "dialects/Dist/IR/DistDialect.h"
#include "dialects/NN/IR/NNOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Plan/SplitText.h"
#include "llvm/ADT/MapVector.h"
#include <map>

namespace partita::plan {

/// The ONNX node that a location names, the innermost consumer of a fused one;
/// "" where there is none.
std::string layerName(mlir::Location loc);

/// The operation of `@step` that computes the loss: those behind it compute
/// gradients. Null for any other function, which is forward to its end.
mlir::Operation *lossOf(mlir::func::FuncOp function);

/// One forward operation of a layer.
struct LayerOp {
  mlir::Operation *op = nullptr;
  nn::IterationSpace space;
  mlir::func::FuncOp function;
  /// Whether it only follows its operands.
  bool follows = false;
};

/// The forward operations of one ONNX node, function by function.
struct Layer {
  std::string name;
  llvm::SmallVector<LayerOp, 4> ops;

  /// Whether all its operations only follow.
  bool follows() const;
};

/// The layers of a module by node name, in program order. Operations on
/// constants alone belong to none: they are made in the parts that their users
/// want.
using Layers =
    llvm::MapVector<std::string, Layer, std::map<std::string, unsigned>>;
Layers layersOf(mlir::ModuleOp module);

/// The dimension that `what` means for an operation, or -1: the first with
/// role batch or domain, the first parallel or coupled one with role model, the
/// first reduction with role model (model.in), else the one of that name.
int findDim(const nn::IterationSpace &space, llvm::StringRef what);

/// An item of a split applied to a dimension of an operation.
struct Cut {
  unsigned dim = 0;
  const SplitItem *item = nullptr;
};

/// The cuts of every operation of `layer` (one list per operation of
/// `layer.ops`, empty for one that is left alone). `unused` gets the items
/// that no operation has a dimension for. Nothing is checked.
llvm::SmallVector<llvm::SmallVector<Cut>>
applySplit(const Layer &layer, const SplitItems &items,
           llvm::SmallVectorImpl<const SplitItem *> &unused);

/// The attribute of legal cuts; dimensions stand in the order of the
/// iteration space.
dist::SplitAttr makeSplit(mlir::MLIRContext *context,
                          const nn::IterationSpace &space,
                          llvm::ArrayRef<Cut> cuts);

/// The items that an attribute says, with dimension names.
SplitItems itemsOf(dist::SplitAttr split);

/// What a plan file says of `layer`, whose operations carry splits: the items
/// that give every operation just the split it has. Splits that cannot be told
/// apart by dimension names are left to propagation; nothing where no
/// operation of the layer is split.
std::optional<SplitItems> describeLayer(const Layer &layer);

/// Splits of gradient operations. Those of convolutions, pools, normalisations,
/// softmax and losses have the dimensions of their layer's forward operation by
/// the same names, and are split as it is.
class GradientSplits {
public:
  explicit GradientSplits(mlir::func::FuncOp function);

  /// Takes the split of a forward operation; other operations are left out.
  void note(mlir::Operation *op, dist::SplitAttr split);
  /// The split of a gradient operation whose forward operation was noted, else
  /// null.
  dist::SplitAttr find(mlir::Operation *op) const;

private:
  mlir::Operation *loss;
  /// By node and kind of layer.
  std::map<std::pair<std::string, std::string>, dist::SplitAttr> forward;
};

/// Whether a dimension can be split by hand. Coupled ones can: their operation
/// is replaced before it is partitioned.
inline bool canSplit(const nn::IterationDim &dim) {
  return dim.kind != nn::DimKind::whole;
}

/// The dimensions that can be split: "n = 8 (batch), ci = 3 (model, reduced)".
std::string describeDims(const nn::IterationSpace &space);

/// Why a dimension of `op` that cannot be split stays whole.
std::string whyWhole(mlir::Operation *op);

} // namespace partita::plan

#endif // PARTITA_PASSES_PLAN_LAYERSPLITS_H
