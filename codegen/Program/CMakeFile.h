//===- CMakeFile.h - The CMake file of an emitted program -------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prints the CMakeLists.txt of the emitted folder.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_CODEGEN_PROGRAM_CMAKEFILE_H
#define PARTITA_CODEGEN_PROGRAM_CMAKEFILE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace partita::codegen {

/// The text for a program called `name`; `archs` are GPU architectures such as
/// "sm_90". The folder of the runtime is a variable of the file.
std::string cmakeFile(llvm::StringRef name, bool isCuda,
                      llvm::ArrayRef<std::string> archs);

/// Flags for the compiler of train.cpp: what its loops are written for. NaN and
/// infinity keep their meaning.
llvm::ArrayRef<const char *> cpuFlags();

} // namespace partita::codegen

#endif // PARTITA_CODEGEN_PROGRAM_CMAKEFILE_H
