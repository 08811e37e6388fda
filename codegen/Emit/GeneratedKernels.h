//===- GeneratedKernels.h - Kernels printed into the program ----*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Fused point-wise chains and optimizer updates. Launches with the same scalar
// body and the same way of broadcasting share one kernel, whatever their sizes.
// A target's printer (codegen/Cpu, codegen/Cuda) writes the kernel as a
// function of a stream, the sizes of its loops and pointers.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_CODEGEN_EMIT_GENERATEDKERNELS_H
#define PARTITA_CODEGEN_EMIT_GENERATEDKERNELS_H

#include "codegen/Emit/Numbers.h"
#include "codegen/Emit/ScalarCode.h"
#include "codegen/Emit/Schedule.h"

#include <functional>
#include <memory>

namespace partita::codegen {

/// A pointer argument of a generated kernel.
struct KernelOperand {
  std::string name;
  std::string type; ///< Element type in C++.
  bool isRead = false;
  bool isWritten = false;
  /// Which loops move it; a broadcast operand stands still in some.
  llvm::SmallVector<bool, 4> moves;

  bool movesInAll() const {
    return llvm::all_of(moves, [](bool m) { return m; });
  }
  bool movesInnermost() const { return moves.back(); }
};

/// A scalar argument, equal for all elements.
struct KernelScalar {
  std::string name;
  std::string type;
};

/// A kernel.
struct GeneratedKernel {
  std::string name;
  /// The number of nested loops, at least 1.
  unsigned loops = 1;
  std::vector<KernelScalar> scalars;
  std::vector<KernelOperand> operands;
  /// The body. The names are those of the values read, in the order of the
  /// operands that are read; the results are those of the operands written.
  std::function<ScalarCode(llvm::ArrayRef<std::string>)> code;
  /// What it is for, for its comment.
  std::string purpose;
  std::vector<std::string> usedBy;
  /// Every use has fewer than 2^31 elements.
  bool isNarrow = true;
  /// Every use has innermost loops of a multiple of four elements.
  bool isInFours = true;

  unsigned numReads() const;
};

/// One use of a generated kernel.
struct GeneratedCall {
  const GeneratedKernel *kernel;
  llvm::SmallVector<Number, 4> sizes; ///< One per loop.
  std::vector<std::string> scalars;
  /// Buffers in the order of the kernel's operands.
  std::vector<const Buffer *> buffers;
  /// Lines before the call, printed once in a function.
  std::vector<std::string> preparation;
};

/// The generated kernels of a program.
class GeneratedKernels {
public:
  /// Whether such a launch is done by generated code.
  static bool generates(llvm::StringRef kernel);

  /// The call that does `launch`; adds its kernel when it is new.
  mlir::FailureOr<GeneratedCall> add(const Launch &launch, Names &names);

  llvm::ArrayRef<std::unique_ptr<GeneratedKernel>> all() const {
    return kernels;
  }
  /// The helpers and functions that any of the kernels uses; no other part of
  /// the code is filled.
  ScalarCode used() const;

private:
  mlir::FailureOr<GeneratedCall> addFused(const Launch &launch, Names &names);
  mlir::FailureOr<GeneratedCall> addSgd(const Launch &launch, Names &names);
  mlir::FailureOr<GeneratedCall> addAdam(const Launch &launch, Names &names);
  /// What all Adam updates of a step with the same betas share.
  struct AdamCorrection {
    double beta1, beta2;
    std::string stepSize, root; ///< Names of variables.
    std::vector<std::string> statements;
  };
  AdamCorrection &findCorrection(double beta1, double beta2, Names &names);
  GeneratedKernel &find(GeneratedKernel kernel, llvm::StringRef key,
                        llvm::StringRef title, const Launch &launch,
                        llvm::ArrayRef<Number> sizes, Names &names);

  std::vector<std::unique_ptr<GeneratedKernel>> kernels;
  std::vector<std::string> keys;
  std::vector<AdamCorrection> corrections;
};

/// Prints what a target's programs have that others have not.
class TargetPrinter {
public:
  virtual ~TargetPrinter() = default;

  /// "cpu" or "cuda".
  virtual llvm::StringRef target() const = 0;
  /// The name of the source file.
  virtual llvm::StringRef fileName() const = 0;
  /// Includes beyond those of every program.
  virtual void printIncludes(llvm::raw_ostream &os) const = 0;
  /// Declarations outside of all namespaces.
  virtual void printGlobals(llvm::raw_ostream & /*os*/,
                            const GeneratedKernels & /*kernels*/) const {}
  /// What precedes "inline" for functions that kernels call.
  virtual llvm::StringRef helperQualifier() const = 0;
  /// Definitions that the kernels of this program share.
  virtual void printShared(llvm::raw_ostream &os,
                           const GeneratedKernels &kernels) const = 0;
  /// A kernel with its host function
  ///   void NAME(Stream &stream, sizes..., scalars..., pointers...).
  virtual void printKernel(llvm::raw_ostream &os,
                           const GeneratedKernel &kernel) const = 0;
};

} // namespace partita::codegen

#endif // PARTITA_CODEGEN_EMIT_GENERATEDKERNELS_H
