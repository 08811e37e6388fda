//===- CudaPrinter.h - Generated kernels for GPUs ---------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels as CUDA functions with grid-stride loops over 16-byte accesses.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_CODEGEN_CUDA_CUDAPRINTER_H
#define PARTITA_CODEGEN_CUDA_CUDAPRINTER_H

#include "codegen/Emit/GeneratedKernels.h"

namespace partita::codegen {

/// train.cu
class CudaPrinter final : public TargetPrinter {
public:
  llvm::StringRef target() const override { return "cuda"; }
  llvm::StringRef fileName() const override { return "train.cu"; }
  void printIncludes(llvm::raw_ostream &os) const override;
  llvm::StringRef helperQualifier() const override { return "__device__"; }
  void printShared(llvm::raw_ostream &os,
                   const GeneratedKernels &kernels) const override;
  void printKernel(llvm::raw_ostream &os,
                   const GeneratedKernel &kernel) const override;

private:
  void printElement(llvm::raw_ostream &os, const GeneratedKernel &kernel) const;
  void printFlat(llvm::raw_ostream &os, const GeneratedKernel &kernel) const;
  void printNest(llvm::raw_ostream &os, const GeneratedKernel &kernel) const;
  void printHost(llvm::raw_ostream &os, const GeneratedKernel &kernel) const;
};

} // namespace partita::codegen

#endif // PARTITA_CODEGEN_CUDA_CUDAPRINTER_H
