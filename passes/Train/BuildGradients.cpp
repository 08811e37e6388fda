//===- BuildGradients.cpp - Reverse-mode gradients and updates ------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reverse accumulation over the straight-line step: operations are visited
// backwards, so that when one is reached all gradients of its results have
// been found.
//
//===----------------------------------------------------------------------===//

#include "dialects/NN/IR/NNOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Train/Passes.h"

using namespace mlir;
using namespace partita;
using namespace partita::nn;

namespace partita {
#define GEN_PASS_DEF_BUILDGRADIENTS
#include "passes/Train/Passes.h.inc"
} // namespace partita

namespace {

bool isFloat(Value value) {
  return isa<FloatType>(tensorType(value).getElementType());
}

/// The gradient of the loss by every value that depends on a parameter.
class ReverseSweep {
public:
  explicit ReverseSweep(func::FuncOp step) : step(step) {}

  /// Builds all gradient operations before the terminator. Fails after
  /// reporting every operation that has no gradient.
  LogicalResult run() {
    markDependents();
    Operation *terminator = step.front().getTerminator();
    Value loss = terminator->getOperand(0);
    if (!dependents.contains(loss))
      return step.emitError("the loss does not depend on any parameter");
    OpBuilder builder(terminator);
    gradients[loss] = scalarConstant(builder, loss.getLoc(),
                                     tensorType(loss).getElementType(), 1.0);
    SmallVector<Operation *> forward;
    for (Operation &op : step.front().without_terminator())
      if (&op != gradients[loss].getDefiningOp())
        forward.push_back(&op);
    bool failedAny = false;
    for (Operation *op : llvm::reverse(forward))
      failedAny |= failed(visit(builder, op));
    return failure(failedAny);
  }

  /// Parameters with a gradient, in the order in which it became ready.
  ArrayRef<std::pair<StringAttr, Value>> getParameterGradients() const {
    return parameterGradients;
  }

private:
  /// Values that a parameter reaches through floating-point tensors.
  void markDependents() {
    for (Operation &op : step.front()) {
      bool depends = false;
      if (auto read = dyn_cast<ReadOp>(op)) {
        auto variable = SymbolTable::lookupNearestSymbolFrom<VariableOp>(
            read, read.getVariableAttr());
        depends = variable && variable.getRole() == Role::parameter;
      } else {
        depends = llvm::any_of(op.getOperands(), [&](Value operand) {
          return dependents.contains(operand);
        });
      }
      if (!depends)
        continue;
      for (Value result : op.getResults())
        if (isFloat(result))
          dependents.insert(result);
    }
  }

  LogicalResult visit(OpBuilder &builder, Operation *op) {
    if (auto read = dyn_cast<ReadOp>(op)) {
      if (Value gradient = gradients.lookup(read.getValue()))
        addParameterGradient(builder, read, gradient);
      return success();
    }
    SmallVector<Value> resultGrads;
    bool any = false;
    for (Value result : op->getResults()) {
      resultGrads.push_back(gradients.lookup(result));
      any |= static_cast<bool>(resultGrads.back());
    }
    SmallVector<bool> wanted;
    for (Value operand : op->getOperands())
      wanted.push_back(dependents.contains(operand));
    if (!any || llvm::none_of(wanted, [](bool w) { return w; }))
      return success();
    auto differentiable = dyn_cast<DifferentiableOp>(op);
    if (!differentiable)
      return refuse(op);
    SmallVector<Value> operandGrads;
    if (failed(differentiable.buildVjp(builder, resultGrads, wanted,
                                       operandGrads)))
      return failure();
    for (auto [i, operand] : llvm::enumerate(op->getOperands()))
      if (Value gradient = operandGrads[i])
        accumulate(builder, operand, gradient);
    return success();
  }

  void accumulate(OpBuilder &builder, Value value, Value gradient) {
    Value &sum = gradients[value];
    sum = sum ? builder.create<AddOp>(gradient.getLoc(), sum, gradient)
              : gradient;
  }

  /// Several reads of one variable share one gradient.
  void addParameterGradient(OpBuilder &builder, ReadOp read, Value gradient) {
    StringAttr name = read.getVariableAttr().getAttr();
    for (auto &[known, sum] : parameterGradients)
      if (known == name) {
        sum = builder.create<AddOp>(gradient.getLoc(), sum, gradient);
        return;
      }
    parameterGradients.emplace_back(name, gradient);
  }

  /// Names the operation and the parameters whose gradients it blocks.
  LogicalResult refuse(Operation *op) {
    llvm::SetVector<Operation *> slice;
    slice.insert(op);
    std::string names;
    for (size_t i = 0; i < slice.size(); ++i)
      for (Value operand : slice[i]->getOperands())
        if (Operation *producer = operand.getDefiningOp())
          if (dependents.contains(operand) && slice.insert(producer))
            if (auto read = dyn_cast<ReadOp>(producer))
              names += (names.empty() ? "'" : ", '") +
                       read.getVariable().str() + "'";
    return op->emitError() << "'" << op->getName()
                           << "' has no gradient, but the parameters " << names
                           << " are trained through it; keep them constant "
                              "or replace the operation";
  }

  func::FuncOp step;
  llvm::DenseSet<Value> dependents;
  llvm::DenseMap<Value, Value> gradients;
  SmallVector<std::pair<StringAttr, Value>> parameterGradients;
};

struct BuildGradientsPass
    : partita::impl::BuildGradientsBase<BuildGradientsPass> {
  using BuildGradientsBase::BuildGradientsBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(verifyFunctions(module)))
      return signalPassFailure();
    auto step = module.lookupSymbol<func::FuncOp>("step");
    if (!step || step.getNumResults() != 1 ||
        cast<RankedTensorType>(step.getResultTypes()[0]).getRank() != 0) {
      module.emitError("has no function @step with a scalar loss");
      return signalPassFailure();
    }
    if (optimizer != "sgd" && optimizer != "adam" && optimizer != "adamw") {
      module.emitError() << "unknown optimizer '" << optimizer
                         << "'; use sgd, adam or adamw";
      return signalPassFailure();
    }
    ReverseSweep sweep(step);
    if (failed(sweep.run()))
      return signalPassFailure();
    for (auto [name, gradient] : sweep.getParameterGradients())
      appendUpdate(step, name, gradient);
    numParameters = sweep.getParameterGradients().size();
    freezeUnreached(module, sweep);
    eraseDead(step);
    OpBuilder builder(module.getContext());
    module->setAttr("partita.optimizer", builder.getStringAttr(optimizer));
    module->setAttr("partita.lr", builder.getF64FloatAttr(lr));
  }

private:
  /// A zero-initialised state variable of `parameter`.
  FlatSymbolRefAttr addState(VariableOp parameter, StringRef what) {
    OpBuilder builder(parameter->getContext());
    builder.setInsertionPointAfter(parameter);
    auto type = parameter.getTensorType();
    std::string name = (parameter.getSymName() + "." + what).str();
    // A model may use the name already.
    auto module = parameter->getParentOfType<ModuleOp>();
    while (module.lookupSymbol(name))
      name += "_";
    builder.create<VariableOp>(
        parameter.getLoc(), name, Role::optimizer, type,
        DenseElementsAttr::get(type,
                               builder.getZeroAttr(type.getElementType())));
    return FlatSymbolRefAttr::get(builder.getContext(), name);
  }

  void appendUpdate(func::FuncOp step, StringAttr name, Value gradient) {
    auto parameter =
        cast<VariableOp>(SymbolTable::lookupNearestSymbolFrom(step, name));
    OpBuilder builder(step.front().getTerminator());
    auto symbol = FlatSymbolRefAttr::get(name);
    auto f64 = [&](double value) { return builder.getF64FloatAttr(value); };
    if (optimizer == "sgd") {
      FlatSymbolRefAttr state;
      if (momentum != 0.0)
        state = addState(parameter, "momentum");
      builder.create<SgdOp>(parameter.getLoc(), symbol, gradient, state,
                            f64(momentum), f64(weightDecay),
                            nesterov ? builder.getUnitAttr() : UnitAttr());
      return;
    }
    // The second state is inserted first, so that both stand in order.
    FlatSymbolRefAttr second = addState(parameter, "exp_avg_sq");
    FlatSymbolRefAttr first = addState(parameter, "exp_avg");
    builder.create<AdamOp>(parameter.getLoc(), symbol, gradient, first, second,
                           f64(beta1), f64(beta2), f64(eps), f64(weightDecay),
                           optimizer == "adamw" ? builder.getUnitAttr()
                                                : UnitAttr());
  }

  /// A parameter the loss does not depend on keeps its value; say so once.
  static void freezeUnreached(ModuleOp module, const ReverseSweep &sweep) {
    for (auto variable : module.getOps<VariableOp>()) {
      if (variable.getRole() != Role::parameter)
        continue;
      bool reached =
          llvm::any_of(sweep.getParameterGradients(), [&](const auto &entry) {
            return entry.first == variable.getSymNameAttr();
          });
      if (reached)
        continue;
      variable.emitWarning() << "parameter '" << variable.getSymName()
                             << "' does not influence the loss and keeps its "
                                "value";
      variable.setRole(Role::constant);
    }
  }

  /// Gradient rules may build values that nobody needs.
  static void eraseDead(func::FuncOp step) {
    for (Operation &op :
         llvm::make_early_inc_range(llvm::reverse(step.front())))
      if (isOpTriviallyDead(&op))
        op.erase();
  }
};

} // namespace
