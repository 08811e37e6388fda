// The mean squared error: over all elements in the step, per sample in the
// evaluation.
// RUN: partita-opt %s -split-input-file -partita-append-loss=loss=mse | FileCheck %s

// CHECK: module attributes {partita.loss = "mse"}
// CHECK-LABEL: func.func @step
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4x2xf32>
// CHECK-SAME: %[[T:[a-z0-9]+]]: tensor<4x2xf32> {nn.batch_dim = 0 : i64, nn.label, nn.name = "labels"}
// CHECK: %[[Y:.*]] = nn.relu %[[X]]
// CHECK: %[[D:.*]] = nn.sub %[[Y]], %[[T]]
// CHECK: %[[S:.*]] = nn.mul %[[D]], %[[D]]
// CHECK: nn.reduce sum %[[S]] {axes = array<i64: 0, 1>, scale = 1.250000e-01 : f64}
// CHECK-LABEL: func.func @eval
// CHECK-SAME: -> (tensor<4xf32> {nn.name = "losses"})
// CHECK: nn.reduce sum %{{.*}} {axes = array<i64: 1>, scale = 5.000000e-01 : f64}
// CHECK-NOT: nn.correct
func.func @forward(%x: tensor<4x2xf32> {nn.name = "x", nn.batch_dim = 0 : i64}) -> (tensor<4x2xf32> {nn.name = "y"}) {
  %y = nn.relu %x : tensor<4x2xf32>
  return %y : tensor<4x2xf32>
}

// -----

// One number per sample is its loss as it stands.
// CHECK-LABEL: func.func @eval
// CHECK: %[[S:.*]] = nn.mul
// CHECK-NEXT: return %[[S]] : tensor<4xf32>
func.func @forward(%x: tensor<4xf32> {nn.name = "x", nn.batch_dim = 0 : i64}) -> (tensor<4xf32> {nn.name = "y"}) {
  return %x : tensor<4xf32>
}
