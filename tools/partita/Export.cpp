//===- Export.cpp - partita export ----------------------------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Puts trained weights back into the ONNX model they came from.
//
//===----------------------------------------------------------------------===//

#include "Diagnostics.h"
#include "Frontend.h"
#include "Subcommands.h"

using namespace mlir;
using namespace partita;
using namespace partita::driver;

int partita::driver::runExport(ArrayRef<const char *>) { return kFailure; }
