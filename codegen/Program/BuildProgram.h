//===- BuildProgram.h - Compiles an emitted program -------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs the C++ compiler (for GPUs nvcc, too) on the source of an emitted folder
// and links it with the runtime that belongs to this compiler.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_CODEGEN_PROGRAM_BUILDPROGRAM_H
#define PARTITA_CODEGEN_PROGRAM_BUILDPROGRAM_H

#include "codegen/Program/EmitProgram.h"
#include "llvm/Support/Error.h"

namespace partita::codegen {

struct BuildOptions {
  Target target = Target::cpu;
  /// The folder with the runtime's libraries and link files. Empty: found from
  /// the place of the running program, built or installed.
  std::string runtimeFolder;
  /// The C++ compiler. Empty: $CXX, else the one Partita was built with, else
  /// c++.
  std::string compiler;
  /// Empty: $CUDACXX, else the one Partita was built with, else nvcc.
  std::string cudaCompiler;
  /// The processor to compile for, as -march.
  std::string cpuArch = "native";
  /// GPU architectures, such as "sm_90".
  std::vector<std::string> archs = {"sm_80", "sm_90"};
  /// Print the commands to stderr before they run.
  bool verbose = false;
};

/// Compiles `folder`/train.cpp or train.cu to `executable`, which appears
/// when it is complete. The error is one sentence followed, if a compiler
/// failed, by what it said.
llvm::Error buildProgram(llvm::StringRef folder, llvm::StringRef executable,
                         const BuildOptions &options);

} // namespace partita::codegen

#endif // PARTITA_CODEGEN_PROGRAM_BUILDPROGRAM_H
