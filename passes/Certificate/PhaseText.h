//===- PhaseText.h - One phase of one class as text ------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The buffers and actions of a scheduled function, and what happens to the
// parameters in it.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_PASSES_CERTIFICATE_PHASETEXT_H
#define PARTITA_PASSES_CERTIFICATE_PHASETEXT_H

#include "dialects/NN/IR/NNOps.h"
#include "dialects/SPMD/IR/SPMDDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Certificate/MoveTables.h"

namespace partita::certificate {

/// Text in double quotes, as JSON has it.
std::string quoted(llvm::StringRef text);
/// ["pr","pc"]
std::string axesText(llvm::ArrayRef<mlir::StringAttr> axes);
/// "f32"
std::string typeText(mlir::Type element);

/// Bytes [begin, end) of an arena.
struct ByteRange {
  int64_t begin = 0, end = 0;

  bool overlaps(ByteRange other) const {
    return begin < other.end && other.begin < end;
  }
  bool contains(ByteRange other) const {
    return begin <= other.begin && other.end <= end;
  }
};
/// [offset,bytes]
std::string bytesText(ByteRange bytes);

/// What a step does with a parameter.
struct ParameterFacts {
  ByteRange value, gradient;
  std::vector<ByteRange> states;
  /// Calls that carry the gradient; calls that fetch the value.
  llvm::SmallVector<int64_t> calls, fetches;
  /// Axes over which kernels make parts of the gradient that are to be added.
  llvm::SmallVector<mlir::StringAttr> partial;
  /// The action that updates it, or -1.
  int64_t update = -1;
};

class PhaseText {
public:
  PhaseText(mlir::ModuleOp module, dist::GridAttr grid,
            mlir::func::FuncOp function, MoveTables &tables);

  llvm::StringRef getName() const { return name; }
  void print(llvm::raw_ostream &os);
  /// Of a server for one of the groups that it serves.
  ParameterFacts factsOf(llvm::StringRef parameter,
                         llvm::ArrayRef<llvm::StringRef> states,
                         int64_t group) const;
  /// How many groups the phase holds a parameter for: 1 but for servers.
  int64_t numGroupsOf(llvm::StringRef parameter) const;

private:
  ByteRange bytesOf(mlir::Value value) const;
  /// The buffer of that purpose, name and group, or null; its bytes, or none.
  spmd::BufferOp findBuffer(spmd::Purpose purpose, llvm::StringRef name,
                            int64_t group) const;
  ByteRange find(spmd::Purpose purpose, llvm::StringRef name,
                 int64_t group) const;
  int64_t indexOf(mlir::Value value) const { return indices.lookup(value); }
  void matchMoves();
  void collectCalls(ParameterFacts &facts) const;

  void printInputs(llvm::raw_ostream &os) const;
  void printBuffer(spmd::BufferOp buffer, llvm::raw_ostream &os);
  void printLaunch(spmd::LaunchOp launch, llvm::raw_ostream &os) const;
  void printCall(spmd::CommunicateOp call, llvm::raw_ostream &os);

  mlir::ModuleOp module;
  dist::GridAttr grid;
  mlir::func::FuncOp function;
  MoveTables &tables;
  llvm::StringRef name;
  std::vector<spmd::BufferOp> buffers;
  llvm::DenseMap<mlir::Value, int64_t> indices;
  std::vector<mlir::Operation *> actions;
  /// Calls by their operation; the call that a pack or unpack belongs to.
  llvm::DenseMap<mlir::Operation *, int64_t> callNumbers, moveOf;
};

} // namespace partita::certificate

#endif // PARTITA_PASSES_CERTIFICATE_PHASETEXT_H
