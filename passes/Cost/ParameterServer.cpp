//===- ParameterServer.cpp - What parameter servers move ------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Cost/ParameterServer.h"

namespace partita::cost {

Floats serverFloats(const Connected &layer) {
  double weight = layer.m * layer.n;
  return {2 * layer.workers * weight / layer.servers, 2 * weight,
          2 * weight * (layer.workers + layer.servers - 2) / layer.servers};
}

double factorFloats(const Connected &layer) {
  return 2 * layer.samples * (layer.workers - 1) * (layer.m + layer.n);
}

Floats factorsToServersFloats(const Connected &layer) {
  double weight = layer.m * layer.n;
  double factors = layer.samples * (layer.m + layer.n);
  return {layer.workers * (weight + factors), factors + weight,
          (layer.workers - 1) * (weight + factors)};
}

bool prefersFactors(const Connected &layer) {
  // Times the servers on both sides: a tie must not hang on a division.
  double server = 2 * layer.m * layer.n * (layer.workers + layer.servers - 2);
  return factorFloats(layer) * layer.servers <= server;
}

BalancedServers balanceServers(double gpus, double cpus, double bytes,
                               double bytesPerSecond) {
  double whole = gpus * gpus + cpus * gpus - 2 * cpus;
  return {2 * (gpus - 1) / whole, (gpus - cpus) / whole,
          2 * gpus * (gpus - 1) * bytes / (whole * bytesPerSecond)};
}

} // namespace partita::cost
