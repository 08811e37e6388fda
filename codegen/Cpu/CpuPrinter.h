//===- CpuPrinter.h - Generated kernels as loops for cpus -------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels as loop nests that the C++ compiler vectorises.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_CODEGEN_CPU_CPUPRINTER_H
#define PARTITA_CODEGEN_CPU_CPUPRINTER_H

#include "codegen/Emit/GeneratedKernels.h"

namespace partita::codegen {

/// train.cpp
class CpuPrinter final : public TargetPrinter {
public:
  llvm::StringRef target() const override { return "cpu"; }
  llvm::StringRef fileName() const override { return "train.cpp"; }
  void printIncludes(llvm::raw_ostream &os) const override;
  void printGlobals(llvm::raw_ostream &os,
                    const GeneratedKernels &kernels) const override;
  llvm::StringRef helperQualifier() const override { return ""; }
  void printShared(llvm::raw_ostream &os,
                   const GeneratedKernels &kernels) const override;
  void printKernel(llvm::raw_ostream &os,
                   const GeneratedKernel &kernel) const override;
};

} // namespace partita::codegen

#endif // PARTITA_CODEGEN_CPU_CPUPRINTER_H
