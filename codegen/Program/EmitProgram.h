//===- EmitProgram.h - Writes the folder of an emitted program --*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The last phase of the compiler: from a scheduled module to a folder with
//
//     train.cpp or train.cu     the program
//     weights.safetensors       initial values under their ONNX names
//     CMakeLists.txt            builds it against an installed runtime
//
// and the files the caller adds. The bytes depend on the module and the options
// only.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_CODEGEN_PROGRAM_EMITPROGRAM_H
#define PARTITA_CODEGEN_PROGRAM_EMITPROGRAM_H

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <utility>
#include <vector>

namespace partita::codegen {

enum class Target { cpu, cuda };

struct EmitOptions {
  Target target = Target::cpu;
  /// The program's name; the module's attribute nn.model when empty.
  std::string name;
  /// GPU architectures, such as "sm_90", for the CMake file.
  std::vector<std::string> archs = {"sm_80", "sm_90"};
  /// More files of the folder: name and content, for example plan.json.
  std::vector<std::pair<std::string, std::string>> extraFiles;
};

/// Prints train.cpp or train.cu of a scheduled module. Errors are diagnostics.
mlir::LogicalResult printProgram(mlir::ModuleOp module,
                                 const EmitOptions &options,
                                 llvm::raw_ostream &os);

/// Writes the folder. It appears complete or not at all: files are written to
/// a folder beside it, which is renamed at the end. An existing folder is
/// replaced only when it holds an emitted program. Errors are diagnostics.
mlir::LogicalResult emitProgram(mlir::ModuleOp module,
                                const EmitOptions &options,
                                llvm::StringRef folder);

} // namespace partita::codegen

#endif // PARTITA_CODEGEN_PROGRAM_EMITPROGRAM_H
