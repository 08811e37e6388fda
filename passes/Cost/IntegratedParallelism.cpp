//===- IntegratedParallelism.cpp - Pr x Pc grids in closed form -----------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Cost/IntegratedParallelism.h"

namespace partita::cost {

double layerSeconds(const GridLayer &layer, GridUse use, Grid grid,
                    double batch, bool isFirst, AlphaBeta word) {
  double samples = batch / double(grid.pc);
  switch (use) {
  case GridUse::batch:
    return allReduce(layer.weights, grid.ranks(), word);
  case GridUse::model: {
    double backward =
        isFirst ? 0 : allReduce(samples * layer.inputs, grid.pr, word);
    return allGather(samples * layer.outputs, grid.pr, word) + backward +
           allReduce(layer.weights / double(grid.pr), grid.pc, word);
  }
  case GridUse::domain: {
    double halos = 0;
    // Rows beside a strip that a kernel reaches, rounded down.
    int64_t rows = layer.kernelHeight / 2, columns = layer.kernelWidth / 2;
    if (grid.pr > 1 && rows > 0)
      halos += word.message(samples * layer.inputRow * double(rows));
    if (grid.pr > 1 && columns > 0)
      halos += word.message(samples * layer.outputRow * double(columns));
    return halos + allReduce(layer.weights, grid.ranks(), word);
  }
  }
  return 0;
}

double networkSeconds(const std::vector<GridLayer> &layers,
                      GridUse convolutions, GridUse others, Grid grid,
                      double batch, AlphaBeta word) {
  double seconds = 0;
  for (const GridLayer &layer : layers)
    seconds +=
        layerSeconds(layer, layer.isConvolution() ? convolutions : others, grid,
                     batch, &layer == &layers.front(), word);
  return seconds;
}

Grid bestGrid(const std::vector<GridLayer> &layers, GridUse convolutions,
              GridUse others, int64_t ranks, double batch, AlphaBeta word) {
  Grid best;
  double least = -1;
  for (int64_t pr = 1; pr <= ranks; ++pr) {
    Grid grid{pr, ranks / pr};
    if (ranks % pr != 0 || double(grid.pc) > batch)
      continue;
    double seconds =
        networkSeconds(layers, convolutions, others, grid, batch, word);
    if (least < 0 || seconds < least) {
      best = grid;
      least = seconds;
    }
  }
  return best;
}

double crossoverBatch(const GridLayer &layer) {
  return 2 * layer.weights / (3 * layer.outputs);
}

std::vector<GridLayer> alexNet() {
  auto convolution = [](std::string name, int64_t kernel, double inputSize,
                        double inputs, double outputSize, double outputs) {
    GridLayer layer;
    layer.name = std::move(name);
    layer.weights = double(kernel * kernel) * inputs * outputs;
    layer.inputs = inputSize * inputSize * inputs;
    layer.outputs = outputSize * outputSize * outputs;
    layer.inputRow = inputSize * inputs;
    layer.outputRow = outputSize * outputs;
    layer.kernelHeight = layer.kernelWidth = kernel;
    return layer;
  };
  auto connected = [](std::string name, double inputs, double outputs) {
    GridLayer layer;
    layer.name = std::move(name);
    layer.weights = inputs * outputs;
    layer.inputs = inputs;
    layer.outputs = outputs;
    return layer;
  };
  // Pools of 3 x 3 with stride 2 stand behind conv1, conv2 and conv5.
  return {convolution("conv1", 11, 227, 3, 55, 96),
          convolution("conv2", 5, 27, 96, 27, 256),
          convolution("conv3", 3, 13, 256, 13, 384),
          convolution("conv4", 3, 13, 384, 13, 384),
          convolution("conv5", 3, 13, 384, 13, 256),
          connected("fc6", 6 * 6 * 256, 4096),
          connected("fc7", 4096, 4096),
          connected("fc8", 4096, 1000)};
}

} // namespace partita::cost
