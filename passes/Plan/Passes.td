//===- Passes.td - Passes of the Plan phase ---------------*- tablegen -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Decisions: the grid, the split of every operation, the synchronisation of
// every parameter.
//===----------------------------------------------------------------------===//

#ifndef PARTITA_PASSES_PLAN_PASSES_TD
#define PARTITA_PASSES_PLAN_PASSES_TD

include "mlir/Pass/PassBase.td"

def PlanDataParallel : Pass<"partita-plan-data-parallel", "::mlir::ModuleOp"> {
  let summary = "split the batch over all ranks";
  let description = [{
    What: gives the module a grid with one axis `data`, splits the batch
    dimension of every operation that touches it, and lets every parameter's
    gradient be combined by all_reduce. Operations that make values out of
    nothing (dropout masks, broadcasts of constants) are split as their users
    need. For one rank nothing is split.

    Needs: `@step`, `@eval`, `@predict`; the arguments' `nn.batch_dim`.

    Holds afterwards: `dist.grid` on the module, `dist.layout` on every
    argument with a batch dimension, `dist.split` on every operation that is
    split, `dist.sync` on every parameter.

    Example (ranks=2):

    ```mlir
    nn.variable @w parameter : tensor<3xf32> = dense<1.0> : tensor<3xf32>
    func.func @predict(%x: tensor<4x3xf32> {nn.batch_dim = 0 : i64, nn.name = "x"}) -> tensor<4x3xf32> {
      %w = nn.read @w : tensor<3xf32>
      %y = nn.mul %x, %w : tensor<4x3xf32>, tensor<3xf32>
      return %y : tensor<4x3xf32>
    }
    ```
    becomes, besides `dist.grid = #dist.grid<data = 2>`,
    ```mlir
      %y = nn.mul %x, %w {dist.split = #dist.split<d0 = [data]>} : tensor<4x3xf32>, tensor<3xf32>
    ```

    Refuses: an operation that needs the whole batch at once, named with its
    ONNX node and dimension; use one rank for such a model.
  }];
  let options = [
    Option<"ranks", "ranks", "int64_t", "1", "number of ranks">
  ];
  let statistics = [
    Statistic<"numSplit", "split-operations", "operations that are split">
  ];
  let dependentDialects = ["::partita::dist::DistDialect"];
}

#endif // PARTITA_PASSES_PLAN_PASSES_TD
