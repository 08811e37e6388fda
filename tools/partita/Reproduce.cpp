//===- Reproduce.cpp - partita reproduce ----------------------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tables of papers, computed by the formulas in passes/Cost. Nothing here is
// simulated or measured.
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"
#include "Subcommands.h"
#include "passes/Cost/IntegratedParallelism.h"
#include "passes/Cost/ParameterServer.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace partita;
using namespace partita::cost;
using namespace partita::driver;

namespace {

/// A table on stdout, with columns as wide as their widest text, or as CSV.
class Table {
public:
  Table(bool csv, std::vector<std::string> head) : csv(csv) {
    rows.push_back(std::move(head));
  }
  ~Table() {
    std::vector<size_t> widths(rows.front().size(), 0);
    for (const std::vector<std::string> &row : rows)
      for (auto [i, text] : llvm::enumerate(row))
        widths[i] = std::max(widths[i], text.size());
    for (const std::vector<std::string> &row : rows) {
      for (auto [i, text] : llvm::enumerate(row)) {
        if (csv)
          llvm::outs() << (i ? "," : "") << text;
        else if (i == 0)
          llvm::outs() << "  " << text
                       << std::string(widths[i] - text.size(), ' ');
        else
          llvm::outs() << "  " << std::string(widths[i] - text.size(), ' ')
                       << text;
      }
      llvm::outs() << '\n';
    }
  }
  Table(const Table &) = delete;
  Table &operator=(const Table &) = delete;

  void row(std::vector<std::string> cells) { rows.push_back(std::move(cells)); }

private:
  bool csv;
  std::vector<std::vector<std::string>> rows;
};

std::string fixed(double value, int digits) {
  return llvm::formatv(("{0:F" + std::to_string(digits) + "}").c_str(), value)
      .str();
}

std::string gridText(Grid grid) {
  return std::to_string(grid.pr) + "x" + std::to_string(grid.pc);
}

void title(bool csv, llvm::StringRef text) {
  llvm::outs() << (csv ? "# " : "") << text << '\n';
}

void reproduceIntegrated(bool csv) {
  // The paper's parameters, for NERSC's Cori.
  constexpr AlphaBeta word{2e-6, 4 / 6e9};
  std::vector<GridLayer> layers = alexNet();
  auto milliseconds = [&](GridUse convolutions, GridUse others, Grid grid,
                          double batch) {
    return 1e3 *
           networkSeconds(layers, convolutions, others, grid, batch, word);
  };
  title(csv, "AlexNet: the batch below which splitting the model moves less "
             "than splitting the batch, by the paper's formulas");
  {
    Table table(csv, {"layer", "weights", "outputs", "batch"});
    for (const GridLayer &layer : layers)
      table.row({layer.name, fixed(layer.weights, 0), fixed(layer.outputs, 0),
                 fixed(crossoverBatch(layer), 2)});
  }
  title(csv, "AlexNet, batch 2048, latency 2 us, 6 GB/s: milliseconds of "
             "communication in a step, by the paper's formulas");
  {
    Table table(csv,
                {"ranks", "pure batch", "pure model", "best grid for all", "ms",
                 "best, convolutions by batch", "ms", "times faster"});
    for (int64_t ranks : {8, 16, 32, 64, 128, 256, 512}) {
      Grid all =
          bestGrid(layers, GridUse::model, GridUse::model, ranks, 2048, word);
      Grid mixed =
          bestGrid(layers, GridUse::batch, GridUse::model, ranks, 2048, word);
      double batch =
          milliseconds(GridUse::batch, GridUse::batch, {1, ranks}, 2048);
      double least = milliseconds(GridUse::batch, GridUse::model, mixed, 2048);
      table.row(
          {std::to_string(ranks), fixed(batch, 1),
           fixed(milliseconds(GridUse::model, GridUse::model, {ranks, 1}, 2048),
                 1),
           gridText(all),
           fixed(milliseconds(GridUse::model, GridUse::model, all, 2048), 1),
           gridText(mixed), fixed(least, 1), fixed(batch / least, 1)});
    }
  }
  title(csv, "The optimum is neither pure batch nor pure model, as the paper "
             "concludes; it states 9.7 times less communication on 512 ranks");
  title(csv, "AlexNet, batch 512, more ranks than samples: convolutions by "
             "strips of the images");
  Table table(csv, {"ranks", "grid", "ms"});
  for (int64_t pr : {1, 2, 4, 8})
    table.row(
        {std::to_string(pr * 512), gridText({pr, 512}),
         fixed(milliseconds(GridUse::domain, GridUse::model, {pr, 512}, 512),
               1)});
}

void reproducePoseidon(bool csv) {
  title(csv, "Millions of floats that a node moves in a step, nodes that train "
             "and serve, by the paper's cost table");
  struct Row {
    const char *name;
    double m, n, samples;
  };
  const Row rows[] = {{"VGG19 fc6", 25088, 4096, 32},
                      {"VGG19 fc7", 4096, 4096, 32},
                      {"VGG19 fc7", 4096, 4096, 256},
                      {"VGG19 fc8", 4096, 1000, 32},
                      {"VGG19-22K fc8", 4096, 21841, 32},
                      {"GoogLeNet classifier", 1024, 1000, 128}};
  {
    Table table(csv, {"layer", "m x n", "batch", "nodes", "server", "factors",
                      "chosen"});
    for (const Row &row : rows)
      for (double nodes : {2, 8, 32}) {
        Connected layer{row.m, row.n, row.samples, nodes, nodes};
        table.row(
            {row.name, fixed(row.m, 0) + " x " + fixed(row.n, 0),
             fixed(row.samples, 0), fixed(nodes, 0),
             fixed(serverFloats(layer).both / 1e6, 2),
             fixed(factorFloats(layer) / 1e6, 2),
             prefersFactors(layer) ? "factor_broadcast" : "parameter_server"});
      }
  }
  Connected worked{4096, 4096, 32, 8, 8};
  title(csv, "The paper's example, 4096 x 4096, 32 samples, 8 workers and 8 "
             "servers, beside what it prints");
  Table table(csv, {"", "millions of floats", "published"});
  table.row({"a server", fixed(serverFloats(worked).server / 1e6, 1), "34"});
  table.row({"a worker", fixed(serverFloats(worked).worker / 1e6, 1), "34"});
  table.row({"both", fixed(serverFloats(worked).both / 1e6, 1), "58.7"});
  table.row({"factors", fixed(factorFloats(worked) / 1e6, 1), "3.7"});
}

void reproduceBytePS(bool csv) {
  title(csv, "8 machines with GPUs and some that only serve: shares of the "
             "model and time over that of an all-reduce, by the paper's "
             "formulas");
  Table table(
      csv, {"only serve", "share of each", "share of one with GPUs", "time"});
  double reduce = balanceServers(8, 0, 1, 1).seconds;
  for (int cpus = 0; cpus <= 8; ++cpus) {
    BalancedServers found = balanceServers(8, cpus, 1, 1);
    table.row({std::to_string(cpus), cpus ? fixed(found.cpuShare, 3) : "",
               fixed(found.gpuShare, 3), fixed(found.seconds / reduce, 3)});
  }
}

} // namespace

int partita::driver::runReproduce(llvm::ArrayRef<const char *> given) {
  Arguments arguments(
      "reproduce PAPER [options]",
      "Prints tables of a paper from its own formulas, as Partita uses them: "
      "integrated-parallelism (Gholami et al., SPAA 2018), poseidon (Zhang et "
      "al., ATC 2017), byteps (Jiang et al., OSDI 2020). Nothing is measured.");
  bool csv = false;
  arguments.toggle("--csv", "comma-separated values, titles as # comments",
                   csv);
  int exitCode = kSuccess;
  if (!arguments.parse(given, exitCode))
    return exitCode;
  if (arguments.getPositional().size() != 1)
    return arguments.usageError(
        "expected one paper: integrated-parallelism, poseidon or byteps");
  llvm::StringRef paper = arguments.getPositional().front();
  if (paper == "integrated-parallelism")
    reproduceIntegrated(csv);
  else if (paper == "poseidon")
    reproducePoseidon(csv);
  else if (paper == "byteps")
    reproduceBytePS(csv);
  else
    return arguments.usageError(
        "found paper '" + paper.str() +
        "', expected integrated-parallelism, poseidon or byteps");
  return kSuccess;
}
