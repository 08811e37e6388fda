//===- ExpandCoupled.cpp - Softmax and losses over split classes ----------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operations whose indices along a dimension depend on each other are replaced
// by reductions and point-wise operations where that dimension is split. The
// reductions say how partial values combine: maxima by maximum, sums by sum,
// and the first largest class by the smallest index among the largest.
//
//===----------------------------------------------------------------------===//

#include "dialects/Dist/Interfaces/Layouts.h"
#include "dialects/NN/IR/NNOps.h"
#include "passes/Plan/Passes.h"

using namespace mlir;
using namespace partita;
using namespace partita::dist;

namespace partita {
#define GEN_PASS_DEF_EXPANDCOUPLED
#include "passes/Plan/Passes.h.inc"
} // namespace partita

namespace {

/// Builds the replacement of one operation. Operations over the whole shape get
/// its split; what is reduced follows.
class Expansion {
public:
  Expansion(Operation *op, int64_t axis)
      : builder(op), loc(op->getLoc()), split(op->getAttr(kSplitAttr)),
        axis(axis) {}

  Value reduce(nn::ReduceKind kind, Value x) {
    auto op =
        builder.create<nn::ReduceOp>(loc, kind, x, ArrayRef<int64_t>(axis));
    op->setAttr(kSplitAttr, split);
    return op;
  }

  /// A value without the class dimension, for use beside those that have it.
  Value keepAxis(Value x) {
    RankedTensorType type = nn::tensorType(x);
    SmallVector<int64_t> shape(type.getShape());
    shape.insert(shape.begin() + axis, 1);
    return builder.create<nn::ReshapeOp>(
        loc, RankedTensorType::get(shape, type.getElementType()), x);
  }

  template <typename OpT> Value full(ValueRange operands) {
    auto op = builder.create<OpT>(loc, operands);
    op->setAttr(kSplitAttr, split);
    return op->getResult(0);
  }
  template <typename OpT> Value positions(ValueRange operands) {
    return builder.create<OpT>(loc, operands)->getResult(0);
  }

  Value scalar(Value like, double value) {
    return nn::scalarConstant(builder, loc,
                              nn::tensorType(like).getElementType(), value);
  }

  /// x - max x: exp of it neither overflows nor underflows altogether.
  Value shifted(Value x) {
    Value largest = reduce(nn::ReduceKind::max, x);
    Value kept = keepAxis(largest);
    return full<nn::SubOp>({x, kept});
  }
  Value sumOfExp(Value x) {
    Value powers = full<nn::ExpOp>(x);
    return reduce(nn::ReduceKind::sum, powers);
  }

  /// The class indices 0, 1, ... as numbers, shaped [classes, 1, ...].
  Value classes(Value x) {
    RankedTensorType type = nn::tensorType(x);
    int64_t count = type.getDimSize(axis);
    Value index = builder.create<nn::IotaOp>(
        loc, RankedTensorType::get({count}, type.getElementType()),
        builder.getI64IntegerAttr(count));
    SmallVector<int64_t> shape(type.getRank() - axis, 1);
    shape[0] = count;
    return builder.create<nn::ReshapeOp>(
        loc, RankedTensorType::get(shape, type.getElementType()), index);
  }

  Value asNumbers(Value labels, Value like) {
    RankedTensorType type = nn::tensorType(labels);
    return builder.create<nn::CastOp>(
        loc,
        RankedTensorType::get(type.getShape(),
                              nn::tensorType(like).getElementType()),
        labels);
  }

  Value equals(Value a, Value b, bool isFull) {
    auto op = builder.create<nn::CompareOp>(loc, nn::Predicate::eq, a, b);
    if (isFull)
      op->setAttr(kSplitAttr, split);
    return op;
  }

  /// Where the class is the label's.
  Value isLabel(Value logits, Value labels) {
    Value index = classes(logits);
    Value numbers = asNumbers(labels, logits);
    Value kept = keepAxis(numbers);
    return equals(index, kept, /*isFull=*/true);
  }

  OpBuilder builder;
  Location loc;

private:
  Attribute split;
  int64_t axis;
};

Value expandSoftmax(Expansion &e, Value x) {
  Value shifted = e.shifted(x);
  Value powers = e.full<nn::ExpOp>(shifted);
  Value sum = e.reduce(nn::ReduceKind::sum, powers);
  Value kept = e.keepAxis(sum);
  return e.full<nn::DivOp>({powers, kept});
}

Value expandLogSoftmax(Expansion &e, Value x) {
  Value shifted = e.shifted(x);
  Value sum = e.sumOfExp(shifted);
  Value log = e.positions<nn::LogOp>(sum);
  Value kept = e.keepAxis(log);
  return e.full<nn::SubOp>({shifted, kept});
}

Value expandSoftmaxGrad(Expansion &e, Value y, Value dy) {
  Value product = e.full<nn::MulOp>({y, dy});
  Value sum = e.reduce(nn::ReduceKind::sum, product);
  Value kept = e.keepAxis(sum);
  Value difference = e.full<nn::SubOp>({dy, kept});
  return e.full<nn::MulOp>({y, difference});
}

Value expandLogSoftmaxGrad(Expansion &e, Value y, Value dy) {
  Value sum = e.reduce(nn::ReduceKind::sum, dy);
  Value kept = e.keepAxis(sum);
  Value powers = e.full<nn::ExpOp>(y);
  Value scaled = e.full<nn::MulOp>({powers, kept});
  return e.full<nn::SubOp>({dy, scaled});
}

Value expandCrossEntropy(Expansion &e, Value logits, Value labels) {
  Value shifted = e.shifted(logits);
  Value sum = e.sumOfExp(shifted);
  Value log = e.positions<nn::LogOp>(sum);
  Value isLabel = e.isLabel(logits, labels);
  Value zero = e.scalar(logits, 0);
  Value chosen = e.full<nn::SelectOp>({isLabel, shifted, zero});
  Value picked = e.reduce(nn::ReduceKind::sum, chosen);
  return e.positions<nn::SubOp>({log, picked});
}

Value expandCrossEntropyGrad(Expansion &e, Value logits, Value labels,
                             double scale) {
  Value probabilities = expandSoftmax(e, logits);
  Value isLabel = e.isLabel(logits, labels);
  Value one = e.scalar(logits, 1), zero = e.scalar(logits, 0);
  Value hot = e.full<nn::SelectOp>({isLabel, one, zero});
  Value difference = e.full<nn::SubOp>({probabilities, hot});
  Value factor = e.scalar(logits, scale);
  return e.full<nn::MulOp>({difference, factor});
}

Value expandCorrect(Expansion &e, Value logits, Value labels, int64_t count) {
  Value largest = e.reduce(nn::ReduceKind::max, logits);
  Value kept = e.keepAxis(largest);
  Value isLargest = e.equals(logits, kept, /*isFull=*/true);
  Value index = e.classes(logits);
  Value beyond = e.scalar(logits, static_cast<double>(count));
  Value candidates = e.full<nn::SelectOp>({isLargest, index, beyond});
  Value first = e.reduce(nn::ReduceKind::min, candidates);
  Value numbers = e.asNumbers(labels, logits);
  Value isRight = e.equals(first, numbers, /*isFull=*/false);
  Value one = e.scalar(logits, 1), zero = e.scalar(logits, 0);
  return e.positions<nn::SelectOp>({isRight, one, zero});
}

/// The coupled dimension of an operation, or -1.
int64_t coupledAxis(Operation *op) {
  auto axis = op->getAttrOfType<IntegerAttr>("axis");
  return axis ? axis.getInt() : -1;
}

/// Indices are kept as floating-point numbers: up to here they are exact.
int64_t exactClasses(Value logits) {
  auto type = cast<FloatType>(nn::tensorType(logits).getElementType());
  return int64_t(1) << type.getFPMantissaWidth();
}

struct ExpandCoupledPass : partita::impl::ExpandCoupledBase<ExpandCoupledPass> {
  void runOnOperation() override {
    SmallVector<Operation *> work;
    getOperation().walk([&](nn::PartitionableOp op) {
      auto split = op->getAttrOfType<SplitAttr>(kSplitAttr);
      if (!split)
        return;
      for (const nn::IterationDim &dim : op.getIterationSpace().dims)
        if (dim.kind == nn::DimKind::coupled && split.find(dim.name) >= 0)
          return work.push_back(op);
    });
    for (Operation *op : work) {
      if (failed(expand(op)))
        return signalPassFailure();
      ++numExpanded;
    }
  }

private:
  static LogicalResult expand(Operation *op) {
    int64_t axis = coupledAxis(op);
    Expansion e(op, axis);
    Value x = op->getOperand(0);
    int64_t classes = nn::tensorType(x).getDimSize(axis);
    if (op->getNumOperands() == 2 &&
        isa<IntegerType>(nn::tensorType(op->getOperand(1)).getElementType()) &&
        classes > exactClasses(x))
      return op->emitError()
             << "has " << classes << " classes along split dimension " << axis
             << ", more than the " << exactClasses(x)
             << " that numbers of type " << nn::tensorType(x).getElementType()
             << " can tell apart; leave this dimension whole";
    Value result;
    if (isa<nn::SoftmaxOp>(op))
      result = expandSoftmax(e, x);
    else if (isa<nn::LogSoftmaxOp>(op))
      result = expandLogSoftmax(e, x);
    else if (isa<nn::SoftmaxGradOp>(op))
      result = expandSoftmaxGrad(e, x, op->getOperand(1));
    else if (isa<nn::LogSoftmaxGradOp>(op))
      result = expandLogSoftmaxGrad(e, x, op->getOperand(1));
    else if (isa<nn::CrossEntropyOp>(op))
      result = expandCrossEntropy(e, x, op->getOperand(1));
    else if (auto grad = dyn_cast<nn::CrossEntropyGradOp>(op))
      result = expandCrossEntropyGrad(e, x, op->getOperand(1),
                                      grad.getScale().convertToDouble());
    else if (isa<nn::CorrectOp>(op))
      result = expandCorrect(e, x, op->getOperand(1), classes);
    else
      return op->emitError()
             << "'" << op->getName() << "' cannot be split along its dimension "
             << axis << "; leave this dimension whole";
    op->getResult(0).replaceAllUsesWith(result);
    op->erase();
    return success();
  }
};

} // namespace
