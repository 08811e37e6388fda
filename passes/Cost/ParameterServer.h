//===- ParameterServer.h - What parameter servers move ----------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two published comparisons of servers with other ways: Poseidon's table of
// floats that a node moves (Zhang et al., USENIX ATC 2017), and BytePS's shares
// of servers on machines with and without GPUs (Jiang et al., OSDI 2020).
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_PASSES_COST_PARAMETERSERVER_H
#define PARTITA_PASSES_COST_PARAMETERSERVER_H

#include <cstdint>

namespace partita::cost {

/// A fully connected layer whose weight is m x n, trained by `workers` with
/// `samples` each and `servers` that share its weight.
struct Connected {
  double m = 0, n = 0;
  double samples = 0;
  double workers = 1, servers = 1;
};

/// Floats in and out of a node in a step. `both` is a node that trains and
/// serves.
struct Floats {
  double server = 0, worker = 0, both = 0;
};

/// The gradient to the servers and the weight back.
Floats serverFloats(const Connected &layer);
/// Sufficient factors to every other worker; no servers.
double factorFloats(const Connected &layer);
/// Factors to the servers, the weight back (Chilimbi et al., OSDI 2014, called
/// Adam there).
Floats factorsToServersFloats(const Connected &layer);

/// Whether factors move no more than the servers, on nodes that train and
/// serve: Poseidon's rule. A tie goes to factors.
bool prefersFactors(const Connected &layer);

/// Shares of the model's bytes that each server has so that all links take
/// equally long, and how long that is: `gpus` machines that train, `cpus`
/// machines that only serve, at most as many; `bytes` of the model over links
/// of `bytesPerSecond`.
struct BalancedServers {
  double cpuShare = 0, gpuShare = 0;
  double seconds = 0;
};
BalancedServers balanceServers(double gpus, double cpus, double bytes,
                               double bytesPerSecond);

} // namespace partita::cost

#endif // PARTITA_PASSES_COST_PARAMETERSERVER_H
