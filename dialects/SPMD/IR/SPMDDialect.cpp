//===- SPMDDialect.cpp - Registration of spmd -----------------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Registration of the dialect and the generated operation classes.
//
//===----------------------------------------------------------------------===//

#include "dialects/SPMD/IR/SPMDDialect.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace partita::spmd;

#include "dialects/SPMD/IR/SPMDDialect.cpp.inc"
#include "dialects/SPMD/IR/SPMDEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/SPMD/IR/SPMDAttrs.cpp.inc"

#define GET_OP_CLASSES
#include "dialects/SPMD/IR/SPMDOps.cpp.inc"

void SPMDDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/SPMD/IR/SPMDAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/SPMD/IR/SPMDOps.cpp.inc"
      >();
}
