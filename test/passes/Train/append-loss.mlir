// RUN: partita-opt %s -split-input-file -partita-append-loss | FileCheck %s

// CHECK: module attributes {partita.loss = "cross_entropy"}
// CHECK-LABEL: func.func @step(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4x3xf32> {nn.batch_dim = 0 : i64, nn.name = "x"}, %[[L:[a-z0-9]+]]: tensor<4xi64> {nn.batch_dim = 0 : i64, nn.label, nn.limit = 3 : i64, nn.name = "labels"}) -> (tensor<f32> {nn.name = "loss"})
// CHECK-NEXT: %[[Y:.*]] = nn.relu %[[X]]
// CHECK-NEXT: %[[C:.*]] = nn.cross_entropy %[[Y]], %[[L]] {axis = 1 : i64} : tensor<4x3xf32>, tensor<4xi64>
// CHECK-NEXT: %[[M:.*]] = nn.reduce sum %[[C]] {axes = array<i64: 0>, scale = 2.500000e-01 : f64} : tensor<4xf32>
// CHECK-NEXT: return %[[M]] : tensor<f32>
// CHECK-LABEL: func.func @eval(
// CHECK-SAME: %[[L:[a-z0-9]+]]: tensor<4xi64>
// CHECK-SAME: -> (tensor<4xf32> {nn.name = "losses"}, tensor<4xf32> {nn.name = "hits"})
// CHECK-NEXT: %[[Y:.*]] = nn.relu
// CHECK-NEXT: %[[C:.*]] = nn.cross_entropy %[[Y]], %[[L]] {axis = 1 : i64}
// CHECK-NEXT: %[[H:.*]] = nn.correct %[[Y]], %[[L]] {axis = 1 : i64}
// CHECK-NEXT: return %[[C]], %[[H]]
// CHECK-LABEL: func.func @predict(
// CHECK-SAME: tensor<4x3xf32> {{.*}}) -> (tensor<4x3xf32> {nn.name = "logits"})
// CHECK-NEXT: nn.relu
// CHECK-NEXT: return
// CHECK-NOT: @forward
func.func @forward(%x: tensor<4x3xf32> {nn.name = "x", nn.batch_dim = 0 : i64})
    -> (tensor<4x3xf32> {nn.name = "logits"}) {
  %y = nn.relu %x : tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}

// -----

// A softmax that ends the model is in the loss already; the prediction keeps
// it.
// CHECK-LABEL: func.func @step(%arg0
// CHECK: nn.cross_entropy %arg0, %
// CHECK-LABEL: func.func @eval(%arg0
// CHECK: nn.cross_entropy %arg0, %
// CHECK: nn.correct %arg0, %
// CHECK-LABEL: func.func @predict
// CHECK: nn.softmax
func.func @forward(%x: tensor<4x3xf32> {nn.name = "x", nn.batch_dim = 0 : i64}) -> (tensor<4x3xf32> {nn.name = "p"}) {
  %y = nn.softmax %x {axis = 1 : i64} : tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}

// -----

// CHECK-LABEL: func.func @step(%arg0
// CHECK: nn.cross_entropy %arg0, %
// CHECK-LABEL: func.func @predict
// CHECK: nn.log_softmax
func.func @forward(%x: tensor<4x3xf32> {nn.name = "x", nn.batch_dim = 0 : i64}) -> (tensor<4x3xf32> {nn.name = "p"}) {
  %y = nn.log_softmax %x {axis = 1 : i64} : tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}

// -----

// A softmax over another dimension is part of the model.
// CHECK-LABEL: func.func @step
// CHECK: %[[Y:.*]] = nn.softmax %{{.*}} {axis = 2 : i64}
// CHECK: nn.cross_entropy %[[Y]], %
func.func @forward(%x: tensor<4x3x5xf32> {nn.name = "x", nn.batch_dim = 0 : i64}) -> (tensor<4x3x5xf32> {nn.name = "p"}) {
  %y = nn.softmax %x {axis = 2 : i64} : tensor<4x3x5xf32>
  return %y : tensor<4x3x5xf32>
}

// -----

// A label per position; the mean is over samples and positions: 1 / (4 * 5).
// CHECK-LABEL: func.func @step
// CHECK-SAME: tensor<4x5xi64> {nn.batch_dim = 0 : i64, nn.label, nn.limit = 3 : i64, nn.name = "labels"}
// CHECK: nn.cross_entropy %{{.*}}, %{{.*}} {axis = 1 : i64} : tensor<4x3x5xf32>, tensor<4x5xi64>
// CHECK: nn.reduce sum %{{.*}} {axes = array<i64: 0, 1>, scale = 5.000000e-02 : f64} : tensor<4x5xf32>
// CHECK-LABEL: func.func @eval
// CHECK: return %{{.*}}, %{{.*}} : tensor<4x5xf32>, tensor<4x5xf32>
func.func @forward(%x: tensor<4x3x5xf32> {nn.name = "x", nn.batch_dim = 0 : i64}) -> (tensor<4x3x5xf32> {nn.name = "p"}) {
  return %x : tensor<4x3x5xf32>
}

// -----

// The first floating-point result counts.
// CHECK-LABEL: func.func @step
// CHECK: %[[R:.*]] = nn.relu
// CHECK: nn.cross_entropy %[[R]], %
func.func @forward(%x: tensor<4x3xf32> {nn.name = "x", nn.batch_dim = 0 : i64}) -> (tensor<4x3xi32> {nn.name = "i"}, tensor<4x3xf32> {nn.name = "r"}, tensor<4x3xf32> {nn.name = "t"}) {
  %i = nn.cast %x : tensor<4x3xf32> -> tensor<4x3xi32>
  %r = nn.relu %x : tensor<4x3xf32>
  %t = nn.tanh %x : tensor<4x3xf32>
  return %i, %r, %t : tensor<4x3xi32>, tensor<4x3xf32>, tensor<4x3xf32>
}
