//===- LibraryKernels.h - Launches of the runtime's kernels -----*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The table from launches of the IR to the classes of partita/kernels.h: the
// arguments of the constructor, which are numbers, and those of the call, which
// are buffers.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_CODEGEN_EMIT_LIBRARYKERNELS_H
#define PARTITA_CODEGEN_EMIT_LIBRARYKERNELS_H

#include "codegen/Emit/Numbers.h"
#include "codegen/Emit/Schedule.h"
#include "codegen/Emit/Splits.h"

#include <functional>
#include <string>
#include <vector>

namespace partita::codegen {

/// An object of a kernel class.
struct LibraryKernel {
  std::string className;
  /// Constructor arguments after the device.
  std::vector<std::string> arguments;
  /// What its name adds to the layer's, such as "InputGrad".
  std::string suffix;
};

/// The object that does `launch`. Unknown kernels, element types the class
/// does not take, and shapes it cannot compute are errors on the launch.
mlir::FailureOr<LibraryKernel>
libraryKernel(const Launch &launch, NumberTable &numbers, SplitTables &splits);

/// The call's arguments after the stream. `read` and `written` give the
/// variables of buffers that the call reads and writes; reads are asked first.
std::vector<std::string>
callArguments(const Launch &launch, NumberTable &numbers,
              llvm::function_ref<std::string(const Buffer &)> read,
              llvm::function_ref<std::string(const Buffer &)> written);

/// "{1, 2, 3}"
std::string dimsText(llvm::ArrayRef<Number> dims, NumberTable &numbers);

} // namespace partita::codegen

#endif // PARTITA_CODEGEN_EMIT_LIBRARYKERNELS_H
