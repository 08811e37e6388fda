//===- Passes.td - Passes of the Schedule phase -----------*- tablegen -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// From local tensors to launches on streams and buffers of one arena.
//===----------------------------------------------------------------------===//

#ifndef PARTITA_PASSES_SCHEDULE_PASSES_TD
#define PARTITA_PASSES_SCHEDULE_PASSES_TD

include "mlir/Pass/PassBase.td"

def LowerNormalize : Pass<"partita-lower-normalize", "::mlir::ModuleOp"> {
  let summary = "turn normalisations into point-wise operations";
  let description = [{
    What: an nn.normalize becomes a few operations on channel vectors and one
    multiply-add over the tensor, and an nn.normalize_grad two of them, so that
    fusion joins them with the activation or the sum around them and memory is
    read once.

    Needs: nn operations on tensors.

    Holds afterwards: no nn.normalize and no nn.normalize_grad.

    Example:

    ```mlir
    func.func @predict(%x: tensor<2x3x4xf32>, %v: tensor<3xf32>) -> tensor<2x3x4xf32> {
      %y = nn.normalize %x, %v, %v, %v, %v {axis = 1 : i64, eps = 1.000000e-05 : f64}
          : tensor<2x3x4xf32>, tensor<3xf32>
      return %y : tensor<2x3x4xf32>
    }
    ```
    becomes x * a + b with a = gamma / sqrt(variance + eps) and
    b = beta - mean * a, both reshaped to [3, 1].

    Refuses: nothing.
  }];
  let dependentDialects = ["::partita::nn::NNDialect"];
}

def SplitHalos : Pass<"partita-split-halos", "::mlir::ModuleOp"> {
  let summary = "compute what needs no neighbour's elements on its own";
  let description = [{
    What: a convolution or pool that reads the result of an spmd.halo_exchange
    becomes several: one for the part of the result whose windows lie in the
    rank's own part, which needs no halo and reads the value before the
    exchange, and one for each border; their results are joined. The exchange
    can then take place while the first one runs.

    Needs: local tensors, as partita-partition-program leaves them.

    Holds afterwards: nothing new; results are the same, bit for bit, as far as
    kernels add up a window in the same order.

    Example:

    ```mlir
    module attributes {dist.grid = #dist.grid<row = 2>} {
      spmd.class @c0 ranks [0]
      func.func @predict_c0(%x: tensor<1x1x4x6xf32>) -> tensor<1x1x4x6xf32> attributes {spmd.class = @c0, spmd.phase = "predict"} {
        %h = spmd.halo_exchange %x over ["row"]
            from <[[], [], [row], []]>
            to <[[], [], [row] at [0:5, 3:8], []]>
            of tensor<1x1x8x6xf32> : tensor<1x1x4x6xf32> -> tensor<1x1x5x6xf32>
        %y = nn.max_pool %h {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 0, 1>} : tensor<1x1x5x6xf32> -> tensor<1x1x4x6xf32>
        return %y : tensor<1x1x4x6xf32>
      }
    }
    ```
    becomes a pool of the rank's rows that gives three rows, one of the last
    three rows with the halo that gives the fourth, and an nn.concat.

    Refuses: nothing.
  }];
  let statistics = [
    Statistic<"numSplit", "split-operations", "operations that were split">
  ];
  let dependentDialects = ["::partita::nn::NNDialect"];
}

def FusePointwise : Pass<"partita-fuse-pointwise", "::mlir::ModuleOp"> {
  let summary = "join point-wise operations into nn.fused loops";
  let description = [{
    What: every point-wise operation becomes an nn.fused, and a producer is
    joined with its consumer when both iterate over the same shape (or the
    producer only repeats its operand) and nothing between them needs the
    producer's result. Splat constants become part of the body.

    Needs: nn operations on tensors.

    Holds afterwards: no point-wise operation outside nn.fused.

    Example:

    ```mlir
    func.func @predict(%x: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
      %s = nn.add %x, %b : tensor<4xf32>, tensor<4xf32>
      %y = nn.relu %s : tensor<4xf32>
      return %y : tensor<4xf32>
    }
    ```
    becomes
    ```mlir
      %y = nn.fused(%x, %b : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
      ^bb0(%0: f32, %1: f32):
        %2 = arith.addf %0, %1 : f32
        %3 = arith.constant 0.0 : f32
        %4 = arith.maximumf %2, %3 : f32
        nn.yield %4 : f32
      }
    ```

    Refuses: functions that are not one block of operations on tensors of
    known shape.
  }];
  let statistics = [
    Statistic<"numFused", "fused", "operations joined with another">
  ];
  let dependentDialects = ["::partita::nn::NNDialect"];
}

def GroupStatistics : Pass<"partita-group-statistics", "::mlir::ModuleOp"> {
  let summary = "send statistics that nobody waits for together";
  let description = [{
    What: makes sums over the batch from a rank's own statistic where it has
    one: `nn.reduce` and `nn.variance` beside their `local` twins, as batch
    normalisation by each rank's own samples leaves them for the running
    statistics. Then brings all_reduce operations of which only small values
    follow that are stored or returned (no gradients, nothing that the step
    computes with) to one place, that of the last of them or of a value that is
    only returned, as the loss is. Those that need what others bring come
    behind them. Adjacent ones become one call when they are scheduled.

    Needs: local tensors.

    Holds afterwards: the same values up to rounding; all classes issue the same
    collectives in the same order.

    Example:

    ```mlir
    module attributes {dist.grid = #dist.grid<data = 2>} {
      nn.variable @m state : tensor<3xf32> = dense<0.0> : tensor<3xf32>
      nn.variable @v state : tensor<3xf32> = dense<0.0> : tensor<3xf32>
      spmd.class @c0 ranks [0, 1]
      func.func @step_c0(%x: tensor<4x3xf32>) -> tensor<4x3xf32>
          attributes {spmd.class = @c0, spmd.phase = "step"} {
        %m = nn.reduce sum %x {axes = array<i64: 0>, local, scale = 2.500000e-01 : f64, spmd.split = #dist.split<d0 = [data]>} : tensor<4x3xf32>
        %part = nn.reduce sum %x {axes = array<i64: 0>, scale = 1.250000e-01 : f64, spmd.split = #dist.split<d0 = [data]>} : tensor<4x3xf32>
        %whole = spmd.all_reduce sum %part over ["data"] : tensor<3xf32>
        nn.assign @m, %whole : tensor<3xf32>
        %y = nn.sub %x, %m : tensor<4x3xf32>, tensor<3xf32>
        %largest = nn.reduce max %y {axes = array<i64: 0>} : tensor<4x3xf32>
        %all = spmd.all_reduce max %largest over ["data"] : tensor<3xf32>
        nn.assign @v, %all : tensor<3xf32>
        return %y : tensor<4x3xf32>
      }
    }
    ```
    becomes
    ```mlir
        %m = nn.reduce sum %x {axes = array<i64: 0>, local, scale = 2.500000e-01 : f64, spmd.split = #dist.split<d0 = [data]>} : tensor<4x3xf32>
        %row = nn.reshape %m : tensor<3xf32> -> tensor<1x3xf32>
        %part = nn.reduce sum %row {axes = array<i64: 0>, scale = 5.000000e-01 : f64, spmd.split = #dist.split<d0 = [data]>} : tensor<1x3xf32>
        %y = nn.sub %x, %m : tensor<4x3xf32>, tensor<3xf32>
        %largest = nn.reduce max %y {axes = array<i64: 0>} : tensor<4x3xf32>
        %whole = spmd.all_reduce sum %part over ["data"] : tensor<3xf32>
        %all = spmd.all_reduce max %largest over ["data"] : tensor<3xf32>
        nn.assign @m, %whole : tensor<3xf32>
        nn.assign @v, %all : tensor<3xf32>
        return %y : tensor<4x3xf32>
    ```
  }];
  let statistics = [
    Statistic<"numReused", "reused", "sums made from a rank's own statistic">,
    Statistic<"numGrouped", "grouped", "reductions that were brought together">
  ];
  let dependentDialects = ["::partita::nn::NNDialect"];
}

def ScheduleProgram : Pass<"partita-schedule-program", "::mlir::ModuleOp"> {
  let summary = "place buffers, launches and communication";
  let description = [{
    What: gives every tensor a place in the rank's arena, turns operations
    into launches on the compute stream, and gradients' all_reduce operations
    into buckets on the comm stream, each launched when its last gradient is
    ready (wait-free backpropagation, Zhang et al., ATC'17). Parameters, their
    gradients and optimizer state lie in the arena in bucket order, so that a
    bucket is sent and updated as one piece. Collectives whose result the step
    itself needs are waited for at once. A move between layouts becomes a pack
    into a staging buffer, a communication of that, and an unpack; a slice is
    one launch. Where a rank class has no elements to compute, the launch is
    left out, but never a communication. Where the module has `dist.servers`,
    ranks push and fetch the buckets that they own, and classes of servers are
    added: what these do between the two.

    Needs: local tensors, after partita-fuse-pointwise.

    Holds afterwards: only spmd operations on memrefs; spmd.class carries the
    size of the arena.

    Example:

    ```mlir
    module attributes {dist.grid = #dist.grid<data = 1>} {
      spmd.class @c0 ranks [0]
      func.func @predict_c0(%x: tensor<4xf32> {nn.name = "x", dist.layout = #dist.layout<[[data]]>, spmd.global = tensor<4xf32>})
          -> (tensor<4xf32> {nn.name = "y", dist.layout = #dist.layout<[[data]]>, spmd.global = tensor<4xf32>})
          attributes {spmd.class = @c0, spmd.phase = "predict"} {
        %y = nn.softmax %x {axis = 0 : i64} : tensor<4xf32>
        return %y : tensor<4xf32>
      }
    }
    ```
    becomes
    ```mlir
        %x = spmd.buffer input "x" at 0 of tensor<4xf32> {...} : memref<4xf32>
        %y = spmd.buffer result "y" at 64 of tensor<4xf32> {...} : memref<4xf32>
        spmd.launch "nn.softmax" on compute(%x) -> (%y) {axis = 0 : i64} : (memref<4xf32>) -> (memref<4xf32>)
    ```

    Refuses: functions that are not one block of operations on tensors of
    known shape; a value of a move or a variable that is not the part that its
    layout gives every rank of the class; ranks of one class that need staging
    buffers of different sizes.
  }];
  let options = [
    Option<"bucketBytes", "bucket-bytes", "int64_t", "0",
           "size from which a bucket is closed; 0: an eighth of all gradients, "
           "from 64 KiB to 4 MiB">,
    Option<"overlap", "overlap", "bool", "true",
           "communicate while kernels compute">,
    Option<"priorities", "priorities", "bool", "true",
           "of buckets that are ready, send first what the next step needs "
           "first">,
    Option<"overlapSteps", "overlap-steps", "bool", "true",
           "let buckets arrive while the next step computes">,
    Option<"overlapHalos", "overlap-halos", "bool", "true",
           "wait for moved values where they are used, not where they are moved">,
    Option<"linkBytesPerSecond", "link-bytes-per-second", "double", "1.25e8",
           "what a rank's link carries, which decides who goes first">,
    Option<"linkLatency", "link-latency", "double", "2e-4",
           "seconds before the first byte arrives">,
    Option<"slowness", "slowness", "double", "1",
           "how long a rank computes beside a nominal core">
  ];
  let statistics = [
    Statistic<"numBuckets", "buckets", "gradient buckets of the first class">,
    Statistic<"arenaBytes", "arena-bytes", "arena of the first class">
  ];
  let dependentDialects = ["::partita::spmd::SPMDDialect"];
}

#endif // PARTITA_PASSES_SCHEDULE_PASSES_TD
