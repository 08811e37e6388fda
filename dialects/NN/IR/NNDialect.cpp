//===- NNDialect.cpp - Registration and attributes of nn ------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Registration of the dialect, its attributes and their verifiers.
//
//===----------------------------------------------------------------------===//

#include "dialects/NN/IR/NNDialect.h"
#include "dialects/NN/IR/NNOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;
using namespace partita::nn;

#include "dialects/NN/IR/NNDialect.cpp.inc"
#include "dialects/NN/IR/NNEnums.cpp.inc"
#include "dialects/NN/IR/NNInterfaces.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/NN/IR/NNAttrs.cpp.inc"

void NNDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/NN/IR/NNAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/NN/IR/NNOps.cpp.inc"
      >();
}

LogicalResult FileAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               StringRef path, int64_t offset, int64_t length) {
  // C1
  if (path.empty())
    return emitError() << "file reference needs a path";
  // C2
  if (offset < 0 || length < 0)
    return emitError() << "file reference needs a non-negative offset and "
                          "length, found "
                       << offset << " and " << length;
  return success();
}

LogicalResult RandomAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 StringRef rule, FloatAttr scale, int64_t,
                                 int64_t) {
  // C1
  if (rule != "uniform" && rule != "normal")
    return emitError() << "random rule must be uniform or normal, found '"
                       << rule << "'";
  // C2
  double value = scale.getValueAsDouble();
  if (!std::isfinite(value) || value < 0)
    return emitError() << "random scale must be finite and not negative";
  return success();
}
