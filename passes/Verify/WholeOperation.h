//===- WholeOperation.h - What a part is a part of -------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A partitioned program holds parts. To say whether they are the right ones,
// the whole operation is built again: its operands are the whole tensors that
// the part's operands are known to belong to, its attributes those of the part,
// but for what `spmd.whole` says. The operation's own rules then decide whether
// there is such an operation at all.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_PASSES_VERIFY_WHOLEOPERATION_H
#define PARTITA_PASSES_VERIFY_WHOLEOPERATION_H

#include "dialects/NN/IR/NNOps.h"
#include <memory>
#include <string>

namespace partita::verify {

class WholeOperation {
public:
  /// Builds the operation of which `part` is a part, given the whole types of
  /// its operands. Where there is none, fault() says why.
  WholeOperation(mlir::Operation *part,
                 llvm::ArrayRef<mlir::RankedTensorType> operands);
  ~WholeOperation();
  WholeOperation(const WholeOperation &) = delete;
  WholeOperation &operator=(const WholeOperation &) = delete;

  llvm::StringRef fault() const { return reason; }
  /// Null when there is a fault.
  mlir::Operation *get() const { return op; }
  /// The number of the whole operation's operand that operand `i` of the part
  /// belongs to.
  unsigned operandOf(unsigned i) const {
    return present.empty() ? i : present[i];
  }
  bool hasAllOperands() const { return present.empty(); }

private:
  void build(mlir::Operation *part,
             llvm::ArrayRef<mlir::RankedTensorType> operands);

  mlir::Block scope;
  mlir::Operation *op = nullptr;
  llvm::SmallVector<int64_t> present;
  std::string reason;
};

} // namespace partita::verify

#endif // PARTITA_PASSES_VERIFY_WHOLEOPERATION_H
