//===- NNDialect.h - The layer graph dialect -------------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The dialect `nn`, its enumerations, attributes and interfaces.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_DIALECTS_NN_IR_NNDIALECT_H
#define PARTITA_DIALECTS_NN_IR_NNDIALECT_H

#include "dialects/NN/IR/IterationSpace.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"

#include "dialects/NN/IR/NNDialect.h.inc"
#include "dialects/NN/IR/NNEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/NN/IR/NNAttrs.h.inc"

#include "dialects/NN/IR/NNInterfaces.h.inc"

#endif // PARTITA_DIALECTS_NN_IR_NNDIALECT_H
