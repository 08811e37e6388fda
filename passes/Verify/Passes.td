//===- Passes.td - What must hold between the phases ------*- tablegen -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Read-only passes that run after every phase, always.
//===----------------------------------------------------------------------===//

#ifndef PARTITA_PASSES_VERIFY_PASSES_TD
#define PARTITA_PASSES_VERIFY_PASSES_TD

include "mlir/Pass/PassBase.td"

def VerifyImport : Pass<"partita-verify-import", "::mlir::ModuleOp"> {
  let summary = "only nn operations, each with an origin";
  let description = [{
    What: checks a module after import and changes nothing: one function
    `@forward`; only nn operations in it, which have static shapes by their
    own rules; every argument and result named; every operation located at the
    ONNX node it came from; no optimizer state yet.

    Needs: an imported module.

    Holds afterwards: the contract of the import phase.

    Example (accepted):

    ```mlir
    func.func @forward(%x: tensor<4xf32> {nn.name = "x"}) -> (tensor<4xf32> {nn.name = "y"}) {
      %y = nn.relu %x : tensor<4xf32> loc("/relu")
      return %y : tensor<4xf32>
    }
    ```

    Refuses: everything else, with the rule that is broken.
  }];
}

def VerifyTrain : Pass<"partita-verify-train", "::mlir::ModuleOp"> {
  let summary = "each parameter has one gradient and one update";
  let description = [{
    What: checks a module after the training program was built: functions
    `@step`, `@eval`, `@predict` (a module whose `partita.loss` is an output of
    the model may lack `@eval`); exactly one update per parameter in `@step`
    and none elsewhere; no optimizer state shared by two parameters; no
    nn.batch_norm or nn.dropout left; `@eval` and `@predict` write nothing.

    Needs: a module after partita-build-gradients.

    Holds afterwards: the contract of the train phase.

    Example (accepted):

    ```mlir
    nn.variable @w parameter : tensor<3xf32> = dense<1.0> : tensor<3xf32>
    func.func @step(%x: tensor<3xf32>) -> tensor<f32> {
      nn.sgd @w, %x : tensor<3xf32>
      %l = nn.reduce sum %x {axes = array<i64: 0>} : tensor<3xf32>
      return %l : tensor<f32>
    }
    func.func @eval(%x: tensor<3xf32>) -> tensor<3xf32> { return %x : tensor<3xf32> }
    func.func @predict(%x: tensor<3xf32>) -> tensor<3xf32> { return %x : tensor<3xf32> }
    ```

    Refuses: a parameter without update or with two, and what else is named
    above.
  }];
}

def VerifyPlan : Pass<"partita-verify-plan", "::mlir::ModuleOp"> {
  let summary = "every split is one that its operation allows";
  let description = [{
    What: checks a planned module: there is a grid; every `dist.split` names
    dimensions of its operation that can be split and axes of the grid
    (kernels stay whole, and dimensions whose indices depend on each other,
    such as the classes of a softmax, until partita-expand-coupled); every
    parameter has a `dist.sync` over axes of the grid. Operands need not lie
    as a split asks: partita-partition-program moves them.

    Needs: a module after planning.

    Holds afterwards: the contract of the plan phase.

    Example (accepted):

    ```mlir
    module attributes {dist.grid = #dist.grid<data = 2>} {
      func.func @predict(%x: tensor<4x3xf32> {dist.layout = #dist.layout<[[data], []]>}) -> tensor<4x3xf32> {
        %y = nn.relu %x {dist.split = #dist.split<d0 = [data]>} : tensor<4x3xf32>
        return %y : tensor<4x3xf32>
      }
    }
    ```

    Refuses: an illegal split, with the dimension and what it is.
  }];
}

def VerifyPartition : Pass<"partita-verify-partition", "::mlir::ModuleOp"> {
  let summary = "parts belong to a whole, gradients are combined once";
  let description = [{
    What: checks a partitioned module without knowing the plan:

    - the classes name every rank exactly once; the layouts of arguments,
      results and variables tile the whole, and types are the parts of every
      rank of the class;
    - through each function it follows of which whole tensor a value is a part,
      which part, and whether it is partial or each rank's own (Placement.h). A
      move begins where the value lies, and every element comes from a rank
      that takes part; all_reduce combines over axes over which the value is
      partial, by its kind;
    - every nn operation is a part of a whole one: operands hold what the split
      needs, dimension by dimension, windows begin where they do in the whole,
      a partial operand only goes into what is linear in all operands together
      (PartCheck.h, WholeOperation.h);
    - what a variable gets lies as the variable does and is neither partial nor
      each rank's own: so each gradient is combined exactly once, over exactly
      the axes over which it is partial;
    - means count the elements of all ranks: the loss and its gradient, and
      statistics; `local` ones those of the rank;
    - all classes run parts of the same operations, leave out only empty parts,
      and communicate the same in the same order.

    Needs: a module after partita-partition-program.

    Holds afterwards: the contract of the partition phase.

    Example (accepted):

    ```mlir
    module attributes {dist.grid = #dist.grid<data = 2>} {
      spmd.class @c0 ranks [0, 1]
      func.func @predict_c0(%x: tensor<2xf32> {dist.layout = #dist.layout<[[data]]>, spmd.global = tensor<4xf32>})
          -> (tensor<2xf32> {dist.layout = #dist.layout<[[data]]>, spmd.global = tensor<4xf32>})
          attributes {spmd.class = @c0, spmd.phase = "predict"} {
        return %x : tensor<2xf32>
      }
    }
    ```

    Refuses: everything else, with the rule that is broken.
  }];
}

def VerifySchedule : Pass<"partita-verify-schedule", "::mlir::ModuleOp"> {
  let summary = "no two accesses to memory without an order";
  let description = [{
    What: checks a scheduled module: every buffer lies inside its class's
    arena and holds what was written into it when it is read, however memory
    is shared; of two accesses to the same bytes on different streams, one of
    them a write, an event orders them; only element-wise kernels work in
    place; a move's staging buffer is packed, sent and unpacked for that move,
    and nobody else writes into it meanwhile; all classes communicate in the
    same order, and ranks that combine values hold as many of them.

    Needs: a module after partita-schedule-program.

    Holds afterwards: the contract of the schedule phase.

    Example (accepted):

    ```mlir
    module attributes {dist.grid = #dist.grid<data = 2>} {
      spmd.class @c0 ranks [0, 1] {arena_bytes = 64 : i64, persistent_bytes = 0 : i64}
      func.func @step_c0() attributes {spmd.class = @c0, spmd.phase = "step"} {
        %b = spmd.buffer temporary "b" at 0 : memref<4xf32>
        spmd.launch "nn.fill" on compute() -> (%b) : () -> (memref<4xf32>)
        spmd.record 0 on compute
        spmd.wait 0 on comm
        spmd.communicate "all_reduce" sum %b on comm over ["data"] label "b" : memref<4xf32>
        return
      }
    }
    ```

    Refuses: a race, named by both operations and the buffers; a move without
    one of its parts; communication that differs between classes.
  }];
}

def PrintIterationSpaces : Pass<"partita-print-iteration-spaces",
                                "::mlir::ModuleOp"> {
  let summary = "say as a remark how each operation iterates";
  let description = [{
    What: emits a remark at every operation that states its iteration space:
    the dimensions with size, kind and role, then how each operand and result
    is indexed by them. For tests and for looking; in no pipeline.

    Needs: nothing.

    Holds afterwards: the module is unchanged.

    Example:

    ```mlir
    func.func @matmul(%a: tensor<4x3xf32>, %b: tensor<2x3xf32>) {
      %y = nn.matmul %a, %b {transpose_b} : tensor<4x3xf32>, tensor<2x3xf32>
      return
    }
    ```
    remarks `m = 4 parallel batch, n = 2 parallel model, k = 3 sum model:
    (m, k) (n, k) -> (m, n)`. A window is `h * stride - pad : extent`;
    `windows over h * ...` are those that touch the rows of a part, `windows
    with h * ...` all rows that these touch. `from` says what a part computes
    where that is more than its result. A dimension dealt out in blocks is `g0
    by 16`, one that no loop indexes `*`.

    Refuses: nothing.
  }];
}

#endif // PARTITA_PASSES_VERIFY_PASSES_TD
