// Results without a row per sample are left out of predictions, with a warning;
// one that is the loss leaves no evaluation.
// RUN: split-file %s %t
// RUN: partita-opt %t/predict.mlir -split-input-file -verify-diagnostics -partita-append-loss | FileCheck %t/predict.mlir
// RUN: partita-opt %t/loss.mlir -split-input-file -verify-diagnostics -partita-append-loss=loss=output:cost | FileCheck %t/loss.mlir

//--- predict.mlir
// Those that stay keep their order, names and attributes.
// CHECK-LABEL: func.func @step(
// CHECK-LABEL: func.func @eval(
// CHECK-LABEL: func.func @predict(
// CHECK-SAME: -> (tensor<4x3xf32> {nn.name = "y"}, tensor<4x1xf32> {nn.name = "z", test.kept})
// CHECK: return %{{.*}}, %{{.*}} : tensor<4x3xf32>, tensor<4x1xf32>
// expected-warning @+2 {{output 'mean' with type 'tensor<1x3xf32>' is left out of predictions: its first dimension is not the batch of 4 samples}}
// expected-warning @+1 {{output 'all' with type 'tensor<f32>' is left out of predictions: its first dimension is not the batch of 4 samples}}
func.func @forward(%x: tensor<4x3xf32> {nn.name = "x", nn.batch_dim = 0 : i64}) -> (tensor<4x3xf32> {nn.name = "y"}, tensor<1x3xf32> {nn.name = "mean"}, tensor<f32> {nn.name = "all"}, tensor<4x1xf32> {nn.name = "z", test.kept}) {
  %y = nn.relu %x : tensor<4x3xf32>
  %s = nn.reduce sum %x {axes = array<i64: 0>} : tensor<4x3xf32>
  %m = nn.reshape %s : tensor<3xf32> -> tensor<1x3xf32>
  %a = nn.reduce sum %x {axes = array<i64: 0, 1>} : tensor<4x3xf32>
  %r = nn.reduce sum %x {axes = array<i64: 1>} : tensor<4x3xf32>
  %z = nn.reshape %r : tensor<4xf32> -> tensor<4x1xf32>
  return %y, %m, %a, %z : tensor<4x3xf32>, tensor<1x3xf32>, tensor<f32>, tensor<4x1xf32>
}

// -----

// The batch need not be the first argument's, nor its first dimension.
// CHECK-LABEL: func.func @predict(
// CHECK-SAME: -> (tensor<4x3xf32> {nn.name = "y"})
// expected-warning @+1 {{output 'w' with type 'tensor<3x4xf32>' is left out of predictions: its first dimension is not the batch of 4 samples}}
func.func @forward(%w: tensor<3x4xf32> {nn.name = "v"}, %x: tensor<3x4xf32> {nn.name = "x", nn.batch_dim = 1 : i64}) -> (tensor<4x3xf32> {nn.name = "y"}, tensor<3x4xf32> {nn.name = "w"}) {
  %y = nn.transpose %x {permutation = array<i64: 1, 0>} : tensor<3x4xf32>
  return %y, %w : tensor<4x3xf32>, tensor<3x4xf32>
}

// -----

// Without a batch there is nothing to compare with.
// CHECK-LABEL: func.func @predict(
// CHECK-SAME: -> (tensor<4x3xf32> {nn.name = "y"}, tensor<3xf32> {nn.name = "w"})
func.func @forward(%x: tensor<4x3xf32> {nn.name = "x"}, %w: tensor<3xf32> {nn.name = "v"}) -> (tensor<4x3xf32> {nn.name = "y"}, tensor<3xf32> {nn.name = "w"}) {
  return %x, %w : tensor<4x3xf32>, tensor<3xf32>
}

//--- loss.mlir
// CHECK: module attributes {partita.loss = "output:cost"}
// CHECK-LABEL: func.func @step(
// CHECK: %[[C:.*]] = nn.reduce sum
// CHECK: return %[[C]] : tensor<f32>
// CHECK-NOT: @eval
// CHECK-LABEL: func.func @predict(
// CHECK-SAME: -> (tensor<4x3xf32> {nn.name = "y"})
// expected-warning @+2 {{output 'cost' with type 'tensor<f32>' is left out of predictions: its first dimension is not the batch of 4 samples}}
// expected-note @+1 {{it is the loss of a whole batch, not of each sample, so that the program cannot evaluate (--eval)}}
func.func @forward(%x: tensor<4x3xf32> {nn.name = "x", nn.batch_dim = 0 : i64}) -> (tensor<4x3xf32> {nn.name = "y"}, tensor<f32> {nn.name = "cost"}) {
  %y = nn.relu %x : tensor<4x3xf32>
  %c = nn.reduce sum %y {axes = array<i64: 0, 1>} : tensor<4x3xf32>
  return %y, %c : tensor<4x3xf32>, tensor<f32>
}

// -----

// Several numbers for a batch are averaged; nothing is left to predict.
// CHECK-LABEL: func.func @step(
// CHECK: %[[C:.*]] = nn.reduce sum %{{.*}} {axes = array<i64: 0>}
// CHECK: %[[M:.*]] = nn.reduce sum %[[C]] {axes = array<i64: 0>, scale = 0.33333333333333331 : f64}
// CHECK: return %[[M]] : tensor<f32>
// CHECK-NOT: @eval
// CHECK-LABEL: func.func @predict(
// CHECK-NOT: ->
// CHECK: return{{$}}
// expected-warning @+2 {{output 'cost' with type 'tensor<3xf32>' is left out}}
// expected-note @+1 {{it is the loss of a whole batch}}
func.func @forward(%x: tensor<4x3xf32> {nn.name = "x", nn.batch_dim = 0 : i64}) -> (tensor<3xf32> {nn.name = "cost"}) {
  %c = nn.reduce sum %x {axes = array<i64: 0>} : tensor<4x3xf32>
  return %c : tensor<3xf32>
}
