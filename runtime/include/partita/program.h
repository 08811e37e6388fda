//===- program.h - What an emitted program is made of -----------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An emitted program consists of a `RankProgram`, whose `step()` is one
// training step of one rank, and of a `Program`: plain tables that tell the
// runtime which tensors there are, how they are split and where they lie in a
// rank's arena. `runProgram` does the rest: options, data, ranks, the training
// loop, metrics and files.
//
//   int main(int argc, char **argv) {
//     Program p;
//     p.name = "mlp";
//     p.grid = {{"data", 2}};
//     ...
//     p.make = [](Rank &rank) { return std::make_unique<Mlp>(rank); };
//     return runProgram(argc, argv, p);
//   }
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_PROGRAM_H
#define PARTITA_PROGRAM_H

#include "partita/communicator.h"
#include "partita/device.h"
#include "partita/shares.h"
#include "partita/types.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace partita {

/// One axis of the process grid. Ranks are numbered row-major: the last axis
/// varies fastest.
struct GridAxis {
  std::string name;
  int size = 1;
};

/// How one dimension of a tensor is cut over the grid. Not cut: no axes. Cut
/// over one axis: part i covers [bounds[i], bounds[i+1]), where i is the rank's
/// index on that axis. Cut over several axes: i counts row-major over them, the
/// first axis being the slowest. Parts may be uneven and empty.
///
/// Parts that overlap, as where each has a halo of its neighbours' elements, or
/// that do not cover the dimension are given by `ranges` in place of `bounds`:
/// part i covers [ranges[2 * i], ranges[2 * i + 1]). Only what lives inside a
/// step may be cut so: see partita/redistribution.h.
struct Split {
  Split() = default;
  Split(int axis, std::vector<std::int64_t> bounds)
      : axes(axis < 0 ? std::vector<int>{} : std::vector<int>{axis}),
        bounds(std::move(bounds)) {}
  Split(std::vector<int> axes, std::vector<std::int64_t> bounds)
      : axes(std::move(axes)), bounds(std::move(bounds)) {}

  /// A split by `ranges`, a begin and an end for each part.
  static Split overlapping(std::vector<int> axes,
                           std::vector<std::int64_t> ranges) {
    Split split(std::move(axes), {});
    split.ranges = std::move(ranges);
    return split;
  }

  /// Where a part begins and ends; only for dimensions that are cut.
  std::pair<std::int64_t, std::int64_t> range(int part) const {
    auto i = static_cast<std::size_t>(part);
    if (ranges.empty())
      return {bounds[i], bounds[i + 1]};
    return {ranges[2 * i], ranges[2 * i + 1]};
  }

  std::vector<int> axes;
  /// One more than there are parts, or empty where `ranges` is given.
  std::vector<std::int64_t> bounds;
  /// Twice as many as there are parts, or empty.
  std::vector<std::int64_t> ranges;
};

/// A tensor in the arena: what it is as a whole, and where a rank's tile lies.
struct Tensor {
  /// The ONNX name, as people know it.
  std::string name = {};
  DType type = DType::f32;
  /// The sizes of the whole tensor, over all ranks.
  Dims dims = {};
  /// One entry per dimension; may be shorter, the rest is not cut.
  std::vector<Split> splits = {};
  /// Byte offset of the tile in the arena, one entry per rank class; the tile
  /// is dense and row-major.
  std::vector<std::int64_t> offsets = {};
};

/// A model input or label. The first dimension counts samples.
struct Input {
  Tensor tensor;
  /// Labels are what the loss compares with; they are read from labels.npy, or
  /// from NAME.npy when there are several.
  bool isLabel = false;
  /// For integers: labels lie in [0, limit), other values index something of
  /// this size and lie in [-limit, limit); 0 means that any value goes.
  std::int64_t limit = 0;
};

/// What a variable is for.
enum class Role {
  parameter, ///< trained
  state,     ///< changed by the step without gradient, as running statistics
  optimizer, ///< moments and the like
  constant   ///< never changed
};

/// A tensor that lives from step to step.
struct Variable {
  Tensor tensor;
  Role role = Role::parameter;
  /// The start value of every element; without it the weights file is read.
  std::optional<double> fill = std::nullopt;
};

/// A variable that servers own.
struct ServedVariable {
  std::string name;
  /// The axes of the grid whose ranks share it, and have servers together.
  std::vector<int> axes;
  /// Byte offsets in the arena, per rank class: one for each group that a
  /// server of the class serves; none for classes of the grid.
  std::vector<std::vector<std::int64_t>> offsets;
};

/// Numbers the user may change per run; emitted code sets the defaults.
struct HyperParameters {
  std::string optimizer = "sgd";
  double lr = 0.01;
};

class Rank;
class RankProgram;

/// Everything the runtime knows about an emitted program.
struct Program {
  std::string name;
  /// "cpu" or "cuda".
  std::string target = "cpu";
  /// The number of workers is the product of the axes' sizes.
  std::vector<GridAxis> grid;
  /// Ranks that own parameters and do nothing else, behind the workers. Those
  /// that differ along some axes only are a group; groups over the same axes
  /// are numbered row-major over the other axes. Server s serves group s mod
  /// groups; where servers are fewer than groups, group g is served by server
  /// g mod servers.
  int servers = 0;
  /// Samples per step, over all ranks.
  std::int64_t globalBatch = 0;
  /// The rank class of every rank: ranks with equal local shapes share one.
  std::vector<int> classOfRank;
  /// Bytes of the arena, per rank class.
  std::vector<std::int64_t> arenaBytes;
  /// The leading part of the arena that keeps its content between steps, per
  /// rank class; informative.
  std::vector<std::int64_t> persistentBytes;
  /// Identifies the model; informative.
  std::string modelHash;
  /// "exact", "exact up to reduction order" or "changes the algorithm".
  std::string semantics;
  HyperParameters hyper;

  std::vector<Input> inputs;
  /// Where a rank class has nothing of a variable, its offset is -1.
  std::vector<Variable> variables;
  std::vector<ServedVariable> served;
  /// Gradients, named as their parameters; kept until the next step.
  std::vector<Tensor> gradients;

  /// One f32, the mean loss over the global batch, equal on all ranks after
  /// `step()`.
  Tensor loss;
  /// The losses of `eval()`: f32 [batch, positions...], one per sample and
  /// position. Absent: the program cannot evaluate.
  std::optional<Tensor> evalLoss;
  /// 1.0 where the prediction was right, shaped as evalLoss. Absent: the task
  /// has no accuracy.
  std::optional<Tensor> evalCorrect;
  /// The results of `predict()`; the first dimension counts samples.
  std::vector<Tensor> predictions;

  /// Whether communication of a step may still be going on while the next step
  /// computes, which then waits for it itself. The loss is complete when the
  /// compute stream is. Not set: the runtime waits for both streams.
  bool overlapsSteps = false;

  /// Makes the program of one rank; called once on each rank's own thread.
  std::function<std::unique_ptr<RankProgram>(Rank &)> make;

  int workers() const;
  int ranks() const { return workers() + servers; }
  /// "rank 3", of a server "rank 5 (server 1)".
  std::string nameOf(int rank) const;
};

/// One of the processes or threads that train together: its place in the grid,
/// its device, and what the emitted code needs in a step.
class Rank {
public:
  /// What a rank is made of; the runtime's launcher fills it in.
  struct Parts;

  explicit Rank(Parts &parts);

  /// The number of this rank, from 0.
  const int index;
  /// Selects the local shapes.
  const int rankClass;
  Device &device;
  Stream &compute;
  Stream &comm;
  /// The start of this rank's arena.
  std::byte *const arena;

  /// The learning rate of this step.
  float lr = 0;
  /// 1 in the first training step; counts on over epochs.
  std::int64_t stepIndex = 0;
  /// The seed of all random numbers, equal on all ranks.
  std::uint64_t seed = 0;

  /// Who is told what this rank does; null for nobody.
  Observer *const observer;

  /// The process grid.
  const std::vector<GridAxis> &grid() const;
  /// This rank's index on a grid axis.
  int coordinate(int axis) const;

  /// The group of ranks that differ from this one on the given axes only, in
  /// rank order. All ranks must ask for the same groups in the same order, in
  /// the constructor of their program. The group lives as long as the rank.
  /// A server is in a group of its own.
  Communicator &communicator(std::initializer_list<const char *> axes);

  /// The same ranks and, behind them, their servers. Of a server that serves
  /// several such groups `place` selects one.
  Communicator &withServers(std::initializer_list<const char *> axes,
                            int place = 0);

private:
  /// Makes a group; `members` is this rank alone where it is in none.
  Communicator &make(const std::vector<int> &members);

  Parts &parts;
};

/// The base of an emitted program: one object per rank. The constructor makes
/// kernels and communicators; the three functions issue one batch of work. When
/// they return the work may still be running: the runtime synchronises. What
/// they leave in the arena for each other (variables, gradients) is read after
/// both streams are done.
class RankProgram {
public:
  explicit RankProgram(Rank &rank)
      : rank(rank), device(rank.device), compute(rank.compute),
        comm(rank.comm) {}
  virtual ~RankProgram();

  /// One training step on the batch that lies in the input buffers.
  virtual void step() = 0;
  /// Fills the buffers `evalLoss` and `evalCorrect` without changing variables.
  virtual void eval() {}
  /// Fills the buffers `predictions`; labels are not looked at.
  virtual void predict() {}
  /// Brings gradients and optimizer state that only their owners have (see
  /// partita/shares.h) to all ranks, which is needed where somebody looks at
  /// them between steps.
  virtual void gather() {}

protected:
  /// The arena's memory at a byte offset.
  template <typename T> T *at(std::int64_t offset) const {
    return reinterpret_cast<T *>(rank.arena + offset);
  }

  /// Says that the work issued from now on is for this layer, for traces and
  /// messages; two string literals. `section` is "forward", "loss", "backward"
  /// or "update".
  void layer(const char *name, const char *section = "forward") {
    if (rank.observer)
      rank.observer->layer(name, section);
  }

  Rank &rank;
  Device &device;
  Stream &compute;
  Stream &comm;
};

/// Runs an emitted program as its command line says; see --help. Returns the
/// exit code: 0 done, 1 failed, 2 wrong usage, 128 + n stopped by signal n.
int runProgram(int argc, char **argv, const Program &program);

} // namespace partita

#endif // PARTITA_PROGRAM_H
