//===- InputLimits.cpp - Values that integer inputs may have ---*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Token numbers are data that index tables. Where a look-up takes an input as
// it is, the table's size limits its values, so that the program can refuse bad
// data by file and sample, and make up data that fit.
//
//===----------------------------------------------------------------------===//

#include "dialects/NN/Import/Importer.h"

using namespace llvm;
using namespace mlir;

namespace partita::nn::importer {
namespace {

/// Whether all elements of the operand are elements of the result.
bool keepsElements(Operation *op) {
  if (isa<ReshapeOp, TransposeOp, BroadcastOp, ConcatOp>(op))
    return true;
  auto cast = dyn_cast<CastOp>(op);
  return cast && isa<IntegerType>(tensorType(cast.getY()).getElementType()) &&
         tensorType(cast.getY()).getElementTypeBitWidth() >=
             tensorType(cast.getX()).getElementTypeBitWidth();
}

/// The size of the smallest table that is looked up at the elements of `value`
/// themselves; 0 when there is none.
int64_t smallestTable(Value value) {
  int64_t smallest = 0;
  SmallVector<Value> pending = {value};
  while (!pending.empty()) {
    Value next = pending.pop_back_val();
    for (Operation *user : next.getUsers()) {
      if (auto gather = dyn_cast<GatherOp>(user);
          gather && gather.getIndices() == next) {
        auto limit = static_cast<int64_t>(gather.getLimit());
        smallest = smallest == 0 ? limit : std::min(smallest, limit);
      } else if (keepsElements(user)) {
        pending.push_back(user->getResult(0));
      }
    }
  }
  return smallest;
}

} // namespace

void limitInputs(func::FuncOp function) {
  OpBuilder builder(function.getContext());
  for (auto [i, argument] : llvm::enumerate(function.getArguments())) {
    if (!isa<IntegerType>(tensorType(argument).getElementType()))
      continue;
    if (int64_t limit = smallestTable(argument))
      function.setArgAttr(i, "nn.limit", builder.getI64IntegerAttr(limit));
  }
}

} // namespace partita::nn::importer
