//===- LaunchFacts.cpp - What a launch does to values ---------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builds the nn operation of a launch again to ask for its iteration space.
//
//===----------------------------------------------------------------------===//

#include "passes/Certificate/LaunchFacts.h"
#include "dialects/Dist/Interfaces/Layouts.h"
#include "dialects/NN/IR/NNOps.h"
#include "mlir/IR/Matchers.h"
#include <cmath>

using namespace mlir;

namespace partita::certificate {

namespace {

RankedTensorType tensorOf(Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  return RankedTensorType::get(type.getShape(), type.getElementType());
}

/// The operation that a launch runs, on tensors of its own.
class LaunchedOperation {
public:
  explicit LaunchedOperation(spmd::LaunchOp launch) {
    std::optional<RegisteredOperationName> name =
        RegisteredOperationName::lookup(launch.getKernel(),
                                        launch.getContext());
    if (!name || !name->hasInterface<nn::PartitionableOp>() ||
        !launch.getBody().empty())
      return;
    OperationState state(launch.getLoc(), *name);
    for (Value input : launch.getInputs())
      state.operands.push_back(
          scope.addArgument(tensorOf(input), launch.getLoc()));
    for (Value output : launch.getOutputs())
      state.types.push_back(tensorOf(output));
    if (launch.getParams())
      state.addAttributes(launch.getParamsAttr().getValue());
    op = Operation::create(state);
  }
  ~LaunchedOperation() {
    if (op)
      op->destroy();
  }
  LaunchedOperation(const LaunchedOperation &) = delete;
  LaunchedOperation &operator=(const LaunchedOperation &) = delete;

  nn::PartitionableOp get() const {
    return dyn_cast_or_null<nn::PartitionableOp>(op);
  }

private:
  Block scope;
  Operation *op = nullptr;
};

/// A constant that a sum does not change by: what is left of an operand that
/// is empty on this class.
bool isZero(Operation *op) {
  Attribute value;
  return matchPattern(op, m_Constant(&value)) &&
         certificate::neutralOf(value) == "sum";
}

bool isSumOfArguments(spmd::LaunchOp launch) {
  if (launch.getBody().empty())
    return false;
  return llvm::all_of(launch.getBody().front(), [](Operation &op) {
    StringRef name = op.getName().getStringRef();
    return name == "arith.addf" || name == "arith.subf" ||
           name == "arith.negf" || isa<spmd::YieldOp>(op) || isZero(&op);
  });
}

/// What a launch without operands stores, or null.
Attribute storedNumber(spmd::LaunchOp launch) {
  if (launch.getBody().empty() || !launch.getInputs().empty())
    return Attribute();
  auto yield = dyn_cast<spmd::YieldOp>(launch.getBody().front().back());
  Attribute number;
  if (!yield || yield.getValues().size() != 1 ||
      !matchPattern(yield.getValues()[0], m_Constant(&number)))
    return Attribute();
  return number;
}

class Facts {
public:
  Facts(spmd::LaunchOp launch, dist::GridAttr grid, nn::PartitionableOp op)
      : launch(launch), grid(grid), op(op), space(op.getIterationSpace()) {
    auto split = launch->getAttrOfType<dist::SplitAttr>(dist::kSplitAttr);
    for (const nn::IterationDim &dim : space.dims)
      cuts.push_back(split ? dist::cutOf(grid, split, dim.name).axes
                           : std::vector<int>());
  }

  void findPartial(LaunchFacts &facts) {
    for (unsigned r = 0; r < op->getNumResults(); ++r) {
      auto &axes = facts.partial.emplace_back();
      for (auto [d, cut] : llvm::enumerate(cuts))
        for (int axis : cut)
          if (grid.getSizes()[axis] > 1 && space.isPartial(d, r)) {
            axes.push_back(grid.getAxes()[axis]);
            facts.by = dist::combinerName(space.dims[d].combiner);
          }
    }
  }

  /// The loss itself, and the gradient of the cross entropy: the two that say
  /// how much a sample counts.
  std::optional<MeanFacts> findMean() {
    auto section = launch->getAttrOfType<StringAttr>("section");
    if (auto grad = dyn_cast<nn::CrossEntropyGradOp>(op.getOperation()))
      return meanOf(space.operands[1], op->getOperand(1),
                    grad.getScale().convertToDouble());
    auto reduce = dyn_cast<nn::ReduceOp>(op.getOperation());
    auto result = launch.getOutputs()[0].getDefiningOp<spmd::BufferOp>();
    if (!reduce || reduce.getKind() != nn::ReduceKind::sum || !section ||
        section.getValue() != "loss" || !result ||
        result.getPurpose() != spmd::Purpose::result)
      return std::nullopt;
    MeanFacts mean = meanOf(space.operands[0], op->getOperand(0),
                            reduce.getScale().convertToDouble());
    mean.terms = 1;
    for (int64_t axis : reduce.getAxes())
      mean.terms *= nn::tensorType(reduce.getX()).getDimSize(axis);
    return mean;
  }

private:
  /// A mean whose terms are the elements of an operand.
  MeanFacts meanOf(const nn::TensorMap &map, Value operand,
                   double scale) const {
    MeanFacts mean;
    mean.terms = nn::tensorType(operand).getNumElements();
    mean.scale = scale;
    for (const nn::DimMap &dim : map)
      if (dim.dim >= 0)
        for (int axis : cuts[dim.dim])
          if (!llvm::is_contained(mean.over, grid.getAxes()[axis]))
            mean.over.push_back(grid.getAxes()[axis]);
    return mean;
  }

  spmd::LaunchOp launch;
  dist::GridAttr grid;
  nn::PartitionableOp op;
  nn::IterationSpace space;
  SmallVector<std::vector<int>> cuts;
};

} // namespace

StringRef neutralOf(Attribute number) {
  if (auto real = dyn_cast_or_null<FloatAttr>(number)) {
    double x = real.getValueAsDouble();
    if (std::isinf(x))
      return x < 0 ? "max" : "min";
    return x == 0 ? "sum" : x == 1 ? "prod" : "";
  }
  auto integer = dyn_cast_or_null<IntegerAttr>(number);
  if (!integer)
    return "";
  llvm::APInt x = integer.getValue();
  if (x.isZero() || x.isOne())
    return x.isZero() ? "sum" : "prod";
  return x.isMinSignedValue() ? "max" : x.isMaxSignedValue() ? "min" : "";
}

LaunchFacts factsOf(spmd::LaunchOp launch, dist::GridAttr grid,
                    bool isMeanStep) {
  LaunchFacts facts;
  facts.isLinear = isSumOfArguments(launch);
  facts.neutral = neutralOf(storedNumber(launch));
  LaunchedOperation operation(launch);
  nn::PartitionableOp op = operation.get();
  if (!op)
    return facts;
  Facts found(launch, grid, op);
  found.findPartial(facts);
  if (isMeanStep)
    facts.mean = found.findMean();
  return facts;
}

} // namespace partita::certificate
