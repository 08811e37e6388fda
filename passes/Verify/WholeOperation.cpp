//===- WholeOperation.cpp - What a part is a part of ----------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Building an operation from its part and what the part says of it.
//
//===----------------------------------------------------------------------===//

#include "passes/Verify/WholeOperation.h"
#include "dialects/SPMD/IR/SPMDDialect.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace partita;
using namespace partita::verify;

namespace {

/// Attributes that hold sizes and places; no other one may differ.
constexpr StringLiteral kLocalAttributes[] = {"pads", "starts", "sizes", "low",
                                              "high", "groups", "scale"};

/// The types that an array attribute lists; false when it lists others.
bool readTypes(Attribute attr, SmallVectorImpl<Type> &types) {
  auto array = dyn_cast_or_null<ArrayAttr>(attr);
  if (!array)
    return false;
  for (Attribute entry : array) {
    auto type = dyn_cast<TypeAttr>(entry);
    auto tensor =
        type ? dyn_cast<RankedTensorType>(type.getValue()) : RankedTensorType();
    if (!tensor || !tensor.hasStaticShape())
      return false;
    types.push_back(tensor);
  }
  return true;
}

} // namespace

WholeOperation::WholeOperation(Operation *part,
                               ArrayRef<RankedTensorType> operands) {
  // Findings of the operation's own rules are the reason.
  ScopedDiagnosticHandler handler(part->getContext(), [&](Diagnostic &found) {
    if (reason.empty())
      reason = found.str();
    return success();
  });
  build(part, operands);
  if (reason.empty() && failed(mlir::verify(op)) && reason.empty())
    reason = "its own rules do not hold";
  if (reason.empty() || !op)
    return;
  op->destroy();
  op = nullptr;
}

WholeOperation::~WholeOperation() {
  if (op)
    op->destroy();
}

void WholeOperation::build(Operation *part,
                           ArrayRef<RankedTensorType> operands) {
  MLIRContext *context = part->getContext();
  auto claims = part->getAttrOfType<DictionaryAttr>(spmd::kWholeAttr);
  SmallVector<Type> inputs(operands), results;
  NamedAttrList attributes(part->getAttrDictionary());
  for (StringRef name : {StringRef(spmd::kWholeAttr),
                         StringRef(spmd::kSplitAttr), StringRef("layout")})
    attributes.erase(name);
  if (claims)
    for (NamedAttribute claim : claims) {
      StringRef name = claim.getName().getValue();
      bool isRead = true;
      if (name == "results") {
        isRead = readTypes(claim.getValue(), results) &&
                 results.size() == part->getNumResults();
      } else if (name == "operands") {
        inputs.clear();
        isRead = readTypes(claim.getValue(), inputs);
      } else if (name == "present") {
        auto list = dyn_cast<DenseI64ArrayAttr>(claim.getValue());
        isRead = list && claims.get("operands");
        if (isRead)
          present.assign(list.asArrayRef().begin(), list.asArrayRef().end());
      } else if (llvm::is_contained(kLocalAttributes, name) &&
                 part->hasAttr(name)) {
        attributes.set(name, claim.getValue());
      } else {
        isRead = false;
      }
      if (!isRead) {
        llvm::raw_string_ostream(reason) << "spmd.whole cannot say that '"
                                         << name << "' is " << claim.getValue();
        return;
      }
    }
  if (claims && claims.get("operands")) {
    bool fits = present.size() == operands.size();
    int64_t last = -1;
    for (auto [i, whole] : llvm::enumerate(present)) {
      fits = fits && whole > last &&
             whole < static_cast<int64_t>(inputs.size()) &&
             inputs[whole] == operands[i];
      last = whole;
    }
    if (!fits) {
      reason = "spmd.whole names other operands than the part has";
      return;
    }
  }
  if (results.empty())
    llvm::append_range(results, part->getResultTypes());
  // Literals are the same everywhere.
  auto value = part->getAttrOfType<DenseElementsAttr>("value");
  if (isa<nn::ConstantOp>(part) && value && value.getType() != results[0]) {
    if (!value.isSplat()) {
      reason = "only constants of one value have parts";
      return;
    }
    attributes.set("value",
                   value.resizeSplat(cast<RankedTensorType>(results[0])));
  }
  OperationState state(part->getLoc(), part->getName());
  for (Type type : inputs)
    state.operands.push_back(scope.addArgument(type, part->getLoc()));
  state.addTypes(results);
  state.addAttributes(attributes);
  for (unsigned i = 0; i < part->getNumRegions(); ++i)
    state.addRegion();
  op = Operation::create(state);
  IRMapping mapping;
  for (auto [from, to] : llvm::zip(part->getRegions(), op->getRegions()))
    from.cloneInto(&to, mapping);
  auto infer = dyn_cast<InferTypeOpInterface>(op);
  if (!infer || (claims && claims.get("results")))
    return;
  SmallVector<Type> inferred;
  if (failed(infer.inferReturnTypes(context, op->getLoc(), op->getOperands(),
                                    op->getDiscardableAttrDictionary(),
                                    op->getPropertiesStorage(),
                                    op->getRegions(), inferred))) {
    if (reason.empty())
      reason = "its operands do not fit together";
    return;
  }
  for (auto [result, type] : llvm::zip(op->getResults(), inferred))
    result.setType(type);
}
