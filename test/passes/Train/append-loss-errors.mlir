// What appending a loss refuses.
// RUN: split-file %s %t
// RUN: partita-opt %t/default.mlir -split-input-file -verify-diagnostics -partita-append-loss
// RUN: partita-opt %t/loss.mlir -verify-diagnostics -partita-append-loss=loss=hinge
// RUN: partita-opt %t/output.mlir -verify-diagnostics -partita-append-loss=output=logit
// RUN: partita-opt %t/named-integer.mlir -verify-diagnostics -partita-append-loss=loss=output:i
// RUN: partita-opt %t/axis.mlir -split-input-file -verify-diagnostics -partita-append-loss=class-axis=-2
// RUN: partita-opt %t/cross-entropy-samples.mlir -split-input-file -verify-diagnostics -partita-append-loss=output=mean
// RUN: partita-opt %t/mse-samples.mlir -split-input-file -verify-diagnostics -partita-append-loss="loss=mse output=mean"

//--- default.mlir
// expected-error @below {{has no function @forward to train; import a model first}}
module {
}

// -----

// expected-error @+1 {{the model has no floating-point output to take a loss of}}
func.func @forward(%x: tensor<4x3xi32> {nn.name = "x"}) -> (tensor<4x3xi32> {nn.name = "y"}) {
  return %x : tensor<4x3xi32>
}

// -----

// expected-error @+1 {{cross-entropy over class axis 1 of output 'y' with type 'tensor<4xf32>'; the class axis must be a dimension after the batch, choose it by --class-axis}}
func.func @forward(%x: tensor<4xf32> {nn.name = "x"}) -> (tensor<4xf32> {nn.name = "y"}) {
  return %x : tensor<4xf32>
}

// -----

// expected-error @+1 {{needs a body of one block}}
func.func private @forward(%x: tensor<4x3xf32> {nn.name = "x"}) -> (tensor<4x3xf32> {nn.name = "y"})

// -----

// expected-error @+1 {{has an argument of type 'f32'; expected tensors of known shape}}
func.func @forward(%x: f32) -> f32 {
  return %x : f32
}

// -----

func.func @forward(%x: tensor<4x3xf32> {nn.name = "x"}) -> (tensor<4x3xf32> {nn.name = "y"}) {
  // expected-error @+1 {{has a result of type 'f32'; expected tensors of known shape}}
  %0 = arith.constant 1.0 : f32
  return %x : tensor<4x3xf32>
}

//--- loss.mlir
// expected-error @+1 {{unknown loss 'hinge'; use cross_entropy, mse or output:NAME}}
func.func @forward(%x: tensor<4x3xf32> {nn.name = "x"}) -> (tensor<4x3xf32> {nn.name = "y"}) {
  return %x : tensor<4x3xf32>
}

//--- output.mlir
// expected-error @+1 {{the model has no output 'logit'; its outputs are 'logits', 'i'}}
func.func @forward(%x: tensor<4x3xf32> {nn.name = "x"}, %i: tensor<4xi32>) -> (tensor<4x3xf32> {nn.name = "logits"}, tensor<4xi32> {nn.name = "i"}) {
  return %x, %i : tensor<4x3xf32>, tensor<4xi32>
}

//--- named-integer.mlir
// expected-error @+1 {{the loss needs a floating-point output, but 'i' has type 'tensor<4xi32>'}}
func.func @forward(%x: tensor<4x3xf32> {nn.name = "x"}, %i: tensor<4xi32>) -> (tensor<4x3xf32> {nn.name = "logits"}, tensor<4xi32> {nn.name = "i"}) {
  return %x, %i : tensor<4x3xf32>, tensor<4xi32>
}

//--- axis.mlir
// The batch cannot be the class dimension.
// expected-error @+1 {{cross-entropy over class axis -2 of output 'y' with type 'tensor<4x3xf32>'}}
func.func @forward(%x: tensor<4x3xf32> {nn.name = "x"}) -> (tensor<4x3xf32> {nn.name = "y"}) {
  return %x : tensor<4x3xf32>
}

//--- cross-entropy-samples.mlir
// Three rows are not four samples, so that there is no label for each.
// expected-error @+1 {{cross_entropy compares labels of 4 samples with output 'mean', whose type 'tensor<3x2xf32>' does not begin with them; choose another output by --output, or take an output as the loss by --loss output:NAME}}
func.func @forward(%x: tensor<4x3xf32> {nn.name = "x", nn.batch_dim = 0 : i64}, %m: tensor<3x2xf32> {nn.name = "m"}) -> (tensor<4x3xf32> {nn.name = "y"}, tensor<3x2xf32> {nn.name = "mean"}) {
  return %x, %m : tensor<4x3xf32>, tensor<3x2xf32>
}

//--- mse-samples.mlir
// expected-error @+1 {{mse compares labels of 4 samples with output 'mean', whose type 'tensor<3xf32>' does not begin with them}}
func.func @forward(%x: tensor<4x3xf32> {nn.name = "x", nn.batch_dim = 0 : i64}) -> (tensor<4x3xf32> {nn.name = "y"}, tensor<3xf32> {nn.name = "mean"}) {
  %m = nn.reduce sum %x {axes = array<i64: 0>} : tensor<4x3xf32>
  return %x, %m : tensor<4x3xf32>, tensor<3xf32>
}

// -----

// expected-error @+1 {{mse compares labels of 4 samples with output 'mean', whose type 'tensor<f32>' does not begin with them}}
func.func @forward(%x: tensor<4x3xf32> {nn.name = "x", nn.batch_dim = 0 : i64}) -> (tensor<f32> {nn.name = "mean"}) {
  %m = nn.reduce sum %x {axes = array<i64: 0, 1>} : tensor<4x3xf32>
  return %m : tensor<f32>
}
