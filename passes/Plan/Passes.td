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

def ExpandCoupled : Pass<"partita-expand-coupled", "::mlir::ModuleOp"> {
  let summary = "replace softmax and losses whose class dimension is split";
  let description = [{
    What: an operation that is split along a dimension whose indices depend on
    each other is replaced by reductions over that dimension and point-wise
    operations with the same split: softmax and log-softmax with their
    gradients, cross-entropy with its gradient, and the test whether a
    prediction is right (the smallest index among the largest logits).

    Needs: `dist.split` on these operations, as a person or the planner chose.

    Holds afterwards: no operation is split along a coupled dimension.

    Example:

    ```mlir
    func.func @predict(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
      %y = nn.softmax %x {axis = 1 : i64, dist.split = #dist.split<d1 = [model]>} : tensor<4x6xf32>
      return %y : tensor<4x6xf32>
    }
    ```
    becomes, with that split on all operations of shape 4x6 and reductions,
    ```mlir
      %m = nn.reduce max %x {axes = array<i64: 1>} : tensor<4x6xf32>
      %k = nn.reshape %m : tensor<4xf32> -> tensor<4x1xf32>
      %d = nn.sub %x, %k : tensor<4x6xf32>, tensor<4x1xf32>
      %e = nn.exp %d : tensor<4x6xf32>
      %s = nn.reduce sum %e {axes = array<i64: 1>} : tensor<4x6xf32>
      %t = nn.reshape %s : tensor<4xf32> -> tensor<4x1xf32>
      %y = nn.div %e, %t : tensor<4x6xf32>, tensor<4x1xf32>
    ```

    Refuses: more classes than numbers of the logits' type can tell apart.
  }];
  let statistics = [
    Statistic<"numExpanded", "expanded", "operations that were replaced">
  ];
  let dependentDialects = ["::partita::dist::DistDialect",
                           "::partita::nn::NNDialect"];
}

def AssignSplits : Pass<"partita-assign-splits", "::mlir::ModuleOp"> {
  let summary = "splits of layers as options and a plan file say";
  let description = [{
    What: gives the module its grid, and the operations of the layers that
    --split, a plan file or the shorthand of --grid names their split. For one
    layer the last --split that matches its node's name counts, else the plan
    file, else the shorthand. A split names dimensions of the operation (`n`,
    `co`, `h`, `d0`) or roles: `batch`, `model`, `model.in`, `domain`,
    `domain.h`; SplitText.h has the grammar. Operations that follow their
    operands (point-wise ones, reshapes, ...) are split only where a dimension
    is named that no other operation of the node has. Gradients of
    convolutions, pools, normalisations, softmax and losses have their forward
    operation's dimensions and get its split; all other operations are left to
    propagation.

    Needs: functions of nn operations that are located at their ONNX nodes;
    gradients stand behind the loss in `@step`.

    Holds afterwards: `dist.grid` on the module, `dist.split` on every
    operation that was named. A layer that is said to be whole has the empty
    `#dist.split<>`.

    Example (grid=pr=2,pc=2 splits=fc*=model:pr+pc):

    ```mlir
    func.func @predict(%x: tensor<4x6xf32>, %w: tensor<8x6xf32>) -> tensor<4x8xf32> {
      %y = nn.matmul %x, %w {transpose_b} : tensor<4x6xf32>, tensor<8x6xf32> loc("fc1")
      %z = nn.relu %y : tensor<4x8xf32> loc("relu1")
      return %z : tensor<4x8xf32>
    }
    ```
    becomes, besides `dist.grid = #dist.grid<pr = 2, pc = 2>`,
    ```mlir
      %y = nn.matmul %x, %w {dist.split = #dist.split<n = [pr, pc]>, transpose_b} : tensor<4x6xf32>, tensor<8x6xf32>
    ```

    Refuses, all at once: text that is no grid, split or plan; axes the grid
    does not have; patterns and nodes that are not in the model, with names
    that come near; dimensions the layer does not have, with those it has;
    dimensions that stay whole, with the reason; one axis for two dimensions
    of an operation; tables and blocks that do not fit. Parts without elements
    are legal and a warning. What a shorthand leaves out is a remark.
  }];
  let options = [
    Option<"grid", "grid", "std::string", "\"\"",
           "the grid: pr=2,pc=2, or a shorthand such as 2x2:model+batch">,
    Option<"splits", "splits", "std::string", "\"\"",
           "PATTERN=SPLIT, several joined by ';' or each with its line; later "
           "ones win">,
    Option<"plan", "plan", "std::string", "\"\"", "path of a plan file">,
    Option<"ranks", "ranks", "int64_t", "0",
           "number of ranks; 0: as the grid says">
  ];
  let statistics = [
    Statistic<"numSplit", "split-operations", "operations that are split">
  ];
  let dependentDialects = ["::partita::dist::DistDialect"];
}

def PropagateSplits : Pass<"partita-propagate-splits", "::mlir::ModuleOp"> {
  let summary = "give every operation a split that follows from its operands";
  let description = [{
    What: operations that carry a `dist.split` keep it. Every other operation is
    split along the dimensions by which its operands are cut already, the
    largest operand first, so that little has to move. Arguments, variables and
    what is made of them alone are made in the layout in which they are first
    needed. Training decides, @eval and @predict follow. A convolution split
    over its input channels adds its bias after the sum.

    A module without grid gets one with the axis `data` of the given size, which
    splits the batch of the arguments.

    Needs: `@step`, `@eval`, `@predict`; the arguments' `nn.batch_dim`.

    Holds afterwards: `dist.grid` on the module, `dist.layout` on every
    argument and on variables that are cut, `dist.split` on every operation
    that is split, `dist.sync` on every parameter: the axes over which its
    gradient is a partial sum.

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

    Refuses: a batch dimension that its argument does not have.
  }];
  let options = [
    Option<"ranks", "ranks", "int64_t", "1",
           "number of ranks of a module without grid">
  ];
  let statistics = [
    Statistic<"numSplit", "split-operations", "operations that are split">
  ];
  let dependentDialects = ["::partita::dist::DistDialect"];
}

def ChooseSync : Pass<"partita-choose-sync", "::mlir::ModuleOp"> {
  let summary = "how each parameter's gradient is combined, as options say";
  let description = [{
    What: sets the method of every parameter's `dist.sync`: the last --sync rule
    that matches the parameter or a node that uses it counts, else the plan
    file, else all_reduce. SyncText.h has the grammar; `poseidon` chooses by
    that paper's rule on the sizes that a rank has: factor_broadcast where the
    two factors of a product are less to send than its result, else
    parameter_server. A parameter whose factors are broadcast loses the axes of
    the samples from the split of the product that is its gradient: the factors
    are gathered, and no sum is left. Such operations carry `dist.factors`.
    With `servers`, that many ranks beside the grid own the parameters of
    parameter_server, and the module says so in `dist.servers`.

    Needs: `dist.sync` with the axes over which gradients are partial sums, as
    partita-propagate-splits leaves it.

    Holds afterwards: every `dist.sync` has its method; axes are unchanged.

    Example (rules=*=factor_broadcast):

    ```mlir
    module attributes {dist.grid = #dist.grid<data = 2>} {
      nn.variable @w parameter : tensor<3x2xf32> = dense<1.0> : tensor<3x2xf32> {dist.sync = #dist.sync<all_reduce [data]>}
      func.func @step(%x: tensor<4x3xf32> {dist.layout = #dist.layout<[[data], []]>}, %dy: tensor<4x2xf32> {dist.layout = #dist.layout<[[data], []]>}) {
        %g = nn.matmul %x, %dy {dist.split = #dist.split<k = [data]>, transpose_a} : tensor<4x3xf32>, tensor<4x2xf32>
        nn.sgd @w, %g : tensor<3x2xf32>
        return
      }
    }
    ```
    becomes, with `dist.sync = #dist.sync<factor_broadcast [data]>`,
    ```mlir
        %g = nn.matmul %x, %dy {dist.factors, transpose_a} : tensor<4x3xf32>, tensor<4x2xf32>
    ```

    Refuses: text that is no rule; patterns that match nothing; factor_broadcast
    of a parameter whose gradient is no product over samples (filters of
    convolutions, tables, tied weights, biases), with the reason: an error where
    the rule names the parameter, or where no parameter it matches can have it,
    else a remark; servers without a parameter to own.
  }];
  let options = [
    Option<"rules", "rules", "std::string", "\"\"",
           "PATTERN=METHOD, several joined by ';' or each with its line; later "
           "ones win">,
    Option<"plan", "plan", "std::string", "\"\"", "path of a plan file">,
    Option<"servers", "servers", "int64_t", "0",
           "ranks beside the grid that own the parameters of "
           "parameter_server; 0: as the plan file says, else none">
  ];
  let statistics = [
    Statistic<"numServed", "parameter-server",
              "parameters that the parameter server updates">,
    Statistic<"numFactored", "factor-broadcast",
              "parameters whose factors are broadcast">
  ];
  let dependentDialects = ["::partita::dist::DistDialect"];
}

#endif // PARTITA_PASSES_PLAN_PASSES_TD
