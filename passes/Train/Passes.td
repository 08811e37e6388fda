//===- Passes.td - Passes of the Train phase --------------*- tablegen -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// From the forward function to the training step, the evaluation and the
// prediction.
//===----------------------------------------------------------------------===//

#ifndef PARTITA_PASSES_TRAIN_PASSES_TD
#define PARTITA_PASSES_TRAIN_PASSES_TD

include "mlir/Pass/PassBase.td"

def AppendLoss : Pass<"partita-append-loss", "::mlir::ModuleOp"> {
  let summary = "make @step, @eval and @predict of @forward";
  let description = [{
    What: replaces `@forward` by three copies. `@step` returns the mean loss
    over the global batch, `@eval` the loss of every sample and position and,
    for cross-entropy, whether it was predicted right; `@predict` returns the
    model's results. Labels become an argument named `labels`. A softmax that
    ends the model is left out of the loss, which contains it.

    The batch is the first argument's dimension `nn.batch_dim`. A result whose
    first dimension is not as long has no row per sample: `@predict` leaves it
    out, with a warning. Where it is the loss (output:NAME), there is no
    `@eval`.

    Needs: a module after import.

    Holds afterwards: `@step`, `@predict` and, where the loss is one per sample,
    `@eval`; no `@forward`. Results of `@predict` begin with the batch.

    Example (loss=cross_entropy):

    ```mlir
    func.func @forward(%x: tensor<4x3xf32> {nn.name = "x", nn.batch_dim = 0 : i64})
        -> (tensor<4x3xf32> {nn.name = "logits"}) {
      %y = nn.relu %x : tensor<4x3xf32>
      return %y : tensor<4x3xf32>
    }
    ```
    becomes, for `@step`,
    ```mlir
    func.func @step(%x: tensor<4x3xf32> {...}, %labels: tensor<4xi64> {...}) -> tensor<f32> {
      %y = nn.relu %x : tensor<4x3xf32>
      %l = nn.cross_entropy %y, %labels {axis = 1 : i64} : tensor<4x3xf32>, tensor<4xi64>
      %m = nn.reduce sum %l {axes = array<i64: 0>, scale = 2.500000e-01 : f64} : tensor<4xf32>
      return %m : tensor<f32>
    }
    ```

    Refuses: a model without a floating-point result, a class axis that is no
    dimension of it, an unknown loss, an output name that does not exist,
    labels for a result that does not begin with the batch.
  }];
  let options = [
    Option<"loss", "loss", "std::string", "\"cross_entropy\"",
           "cross_entropy, mse or output:NAME">,
    Option<"output", "output", "std::string", "\"\"",
           "the result the loss is taken of; default: the first">,
    Option<"classAxis", "class-axis", "int64_t", "1",
           "the class dimension of cross_entropy; negative counts from the end">
  ];
  let dependentDialects = ["::partita::nn::NNDialect"];
}

def ExpandTraining : Pass<"partita-expand-training", "::mlir::ModuleOp"> {
  let summary = "expand what behaves differently in training";
  let description = [{
    What: in `@step`, nn.batch_norm becomes batch statistics, nn.normalize
    and an update of the running statistics, and nn.dropout a product with
    nn.dropout_mask. In `@eval` and `@predict` the first normalises with the
    running statistics and the second passes through.

    Needs: `@step`, `@eval`, `@predict`.

    Holds afterwards: no nn.batch_norm and no nn.dropout.

    Example:

    ```mlir
    func.func @step(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
      %y = nn.dropout %x {ratio = 5.000000e-01 : f64, stream = 1 : i64} : tensor<4x3xf32>
      return %y : tensor<4x3xf32>
    }
    ```
    becomes
    ```mlir
    func.func @step(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
      %m = nn.dropout_mask {global_shape = array<i64: 4, 3>, ratio = 5.000000e-01 : f64,
                            start = array<i64: 0, 0>, stream = 1 : i64} : tensor<4x3xf32>
      %y = nn.mul %x, %m : tensor<4x3xf32>, tensor<4x3xf32>
      return %y : tensor<4x3xf32>
    }
    ```

    Refuses: nothing.
  }];
  let dependentDialects = ["::partita::nn::NNDialect"];
}

def BuildGradients : Pass<"partita-build-gradients", "::mlir::ModuleOp"> {
  let summary = "append gradients and optimizer updates to @step";
  let description = [{
    What: walks `@step` backwards from the loss, asks every operation for its
    vector-Jacobian product, adds up the gradients of values with several
    uses, and appends one optimizer operation per parameter, the last layer's
    first. Optimizer state becomes variables. A parameter that does not
    influence the loss becomes a constant, with a warning.

    Needs: `@step` with one scalar result, after partita-expand-training.

    Holds afterwards: each parameter has one gradient and one update; integer
    paths carry none.

    Example (optimizer=sgd):

    ```mlir
    nn.variable @w parameter : tensor<3xf32> = dense<1.0> : tensor<3xf32>
    func.func @step(%x: tensor<3xf32>) -> tensor<f32> {
      %w = nn.read @w : tensor<3xf32>
      %y = nn.mul %x, %w : tensor<3xf32>, tensor<3xf32>
      %l = nn.reduce sum %y {axes = array<i64: 0>} : tensor<3xf32>
      return %l : tensor<f32>
    }
    ```
    gains
    ```mlir
      %one = nn.constant dense<1.000000e+00> : tensor<f32>
      %dy = nn.broadcast %one : tensor<f32> -> tensor<3xf32>
      %g = nn.mul %dy, %x : tensor<3xf32>, tensor<3xf32>
      nn.sgd @w, %g : tensor<3xf32>
    ```

    Refuses: an operation on a parameter's path that has no gradient (named
    with the parameters it blocks), a program without parameters.
  }];
  let options = [
    Option<"optimizer", "optimizer", "std::string", "\"sgd\"",
           "sgd, adam or adamw">,
    Option<"lr", "lr", "double", "0.01", "default learning rate">,
    Option<"momentum", "momentum", "double", "0.0", "momentum of sgd">,
    Option<"nesterov", "nesterov", "bool", "false", "Nesterov momentum">,
    Option<"weightDecay", "weight-decay", "double", "0.0", "weight decay">,
    Option<"beta1", "beta1", "double", "0.9", "Adam's first decay rate">,
    Option<"beta2", "beta2", "double", "0.999", "Adam's second decay rate">,
    Option<"eps", "eps", "double", "1e-8", "Adam's epsilon">
  ];
  let statistics = [
    Statistic<"numParameters", "parameters", "parameters with an update">
  ];
  let dependentDialects = ["::partita::nn::NNDialect"];
}

#endif // PARTITA_PASSES_TRAIN_PASSES_TD
