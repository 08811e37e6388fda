//===- IntegratedParallelism.h - Pr x Pc grids in closed form ---*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Communication of one training step on a grid of Pr x Pc processes, where Pc
// divides the batch and Pr the model or the image (Gholami, Azad, Jin, Keutzer
// and Buluc, "Integrated Model, Batch, and Domain Parallelism in Training
// Neural Networks", SPAA 2018). For a layer with |W| weights,
// d' inputs and d outputs for each sample, batch B, words of beta seconds:
//
//     model     all-gather of (B / Pc) d over Pr going forward, all-reduce of
//               (B / Pc) d' over Pr going backward (not for the first layer),
//               all-reduce of |W| / Pr over Pc
//     domain    a halo of (B / Pc) Xw Xc floor(kh / 2) going forward and of
//               (B / Pc) Yw Yc floor(kw / 2) going backward, all-reduce of |W|
//               over all P
//     batch     all-reduce of |W| over all P
//
// An all-gather of n words over P takes alpha ceil(log2 P) + beta n (P - 1) /
// P, an all-reduce twice that (Collectives.h).
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_PASSES_COST_INTEGRATEDPARALLELISM_H
#define PARTITA_PASSES_COST_INTEGRATEDPARALLELISM_H

#include "passes/Cost/Collectives.h"
#include <string>
#include <vector>

namespace partita::cost {

/// A layer of the formulas; sizes are in words and for one sample.
struct GridLayer {
  std::string name;
  double weights = 0;
  double inputs = 0, outputs = 0;
  /// Convolutions only: width times channels of x and y, and the kernel.
  double inputRow = 0, outputRow = 0;
  int64_t kernelHeight = 1, kernelWidth = 1;

  bool isConvolution() const { return inputRow > 0; }
};

enum class GridUse { batch, model, domain };

struct Grid {
  int64_t pr = 1, pc = 1;
  int64_t ranks() const { return pr * pc; }
};

/// Seconds that a layer communicates in a step. The first layer sends no
/// gradient of its input.
double layerSeconds(const GridLayer &layer, GridUse use, Grid grid,
                    double batch, bool isFirst, AlphaBeta word);

/// The same for a network whose convolutions use the grid one way and whose
/// other layers another.
double networkSeconds(const std::vector<GridLayer> &layers,
                      GridUse convolutions, GridUse others, Grid grid,
                      double batch, AlphaBeta word);

/// The grid of `ranks` = Pr x Pc with the least communication, of those whose
/// Pc divides the batch at most into single samples.
Grid bestGrid(const std::vector<GridLayer> &layers, GridUse convolutions,
              GridUse others, int64_t ranks, double batch, AlphaBeta word);

/// The batch below which splitting the model moves less than splitting the
/// batch: 2 |W| / (3 d).
double crossoverBatch(const GridLayer &layer);

/// AlexNet without groups: five convolutions and three connected layers, 62.4
/// million weights (Krizhevsky et al., 2012, with the input of 227 x 227 that
/// its sizes need).
std::vector<GridLayer> alexNet();

} // namespace partita::cost

#endif // PARTITA_PASSES_COST_INTEGRATEDPARALLELISM_H
