//===- WindowShapes.cpp - Sizes that windows produce ----------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one formula behind the shapes of convolutions and pools.
//
//===----------------------------------------------------------------------===//

#include "dialects/NN/IR/NNOps.h"

int64_t partita::nn::windowOutputSize(int64_t size, int64_t kernel,
                                      int64_t stride, int64_t dilation,
                                      int64_t padBegin, int64_t padEnd,
                                      bool ceilMode) {
  int64_t room = size + padBegin + padEnd - dilation * (kernel - 1) - 1;
  int64_t count = room < 0 ? 0 : room / stride + 1;
  // One more window may hang over the end by less than a stride, even the only
  // one. A window that starts beyond the last element sees only padding.
  if (ceilMode && room > -stride && room % stride != 0 &&
      count * stride < size + padBegin)
    ++count;
  return count;
}
