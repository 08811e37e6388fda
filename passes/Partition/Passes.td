//===- Passes.td - Passes of the Partition phase ----------*- tablegen -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// From global tensors with splits to local tensors with collectives.
//===----------------------------------------------------------------------===//

#ifndef PARTITA_PASSES_PARTITION_PASSES_TD
#define PARTITA_PASSES_PARTITION_PASSES_TD

include "mlir/Pass/PassBase.td"

def PartitionProgram : Pass<"partita-partition-program", "::mlir::ModuleOp"> {
  let summary = "make one program per rank class, on local shapes";
  let description = [{
    What: finds the classes of ranks with equal local shapes (and, with
    `dist.servers`, as many servers for their group) and copies every function
    once per class with local types. Where a value does not lie as its user
    needs it, a shortest path of moves brings it there: slices, gathers, halos,
    reductions (dialects/Dist/IR/Redistribution.h); a second user of the
    same layout shares them. A sum of two partial values stays partial, so that
    a shared weight's gradient is combined once. Ranks whose part of an
    operation is empty leave it out, but no collective.

    Needs: `dist.grid`, and `dist.split` on the operations.

    Holds afterwards: functions `@step_c0`, ..., one spmd.class per class;
    only spmd collectives communicate. Arguments and results keep their global
    type and layout (`spmd.global`, `dist.layout`), operations their split
    (`spmd.split`), for readers of the program.

    Example (a batch of 3 on 2 ranks; the class of rank 0):

    ```mlir
    module attributes {dist.grid = #dist.grid<data = 2>} {
      func.func @step(%x: tensor<3x4xf32> {dist.layout = #dist.layout<[[data], []]>, nn.name = "x"})
          -> (tensor<f32> {nn.name = "loss"}) {
        %s = nn.reduce sum %x {axes = array<i64: 0, 1>, dist.split = #dist.split<d0 = [data]>} : tensor<3x4xf32>
        return %s : tensor<f32>
      }
    }
    ```
    becomes
    ```mlir
      spmd.class @c0 ranks [0]
      spmd.class @c1 ranks [1]
      func.func @step_c0(%x: tensor<2x4xf32> {...}) -> (tensor<f32> {...}) {
        %s = nn.reduce sum %x {axes = array<i64: 0, 1>} : tensor<2x4xf32>
        %t = spmd.all_reduce sum %s over ["data"] : tensor<f32>
        return %t : tensor<f32>
      }
    ```

    Refuses: a layout that does not fit its argument; a variable that would get
    each rank's own value.
  }];
  let statistics = [
    Statistic<"numClasses", "classes", "rank classes">,
    Statistic<"numCollectives", "collectives",
              "collectives of the first class">
  ];
  let dependentDialects = ["::partita::spmd::SPMDDialect"];
}

#endif // PARTITA_PASSES_PARTITION_PASSES_TD
