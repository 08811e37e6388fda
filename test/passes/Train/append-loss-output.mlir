// A result of the model that is the loss, per sample.
// RUN: partita-opt %s -partita-append-loss=loss=output:cost | FileCheck %s

// CHECK: module attributes {partita.loss = "output:cost"}
// CHECK-LABEL: func.func @step(
// CHECK-NOT: labels
// CHECK: %[[C:.*]] = nn.reduce sum %{{.*}} {axes = array<i64: 1>}
// CHECK: %[[M:.*]] = nn.reduce sum %[[C]] {axes = array<i64: 0>, scale = 2.500000e-01 : f64}
// CHECK: return %[[M]] : tensor<f32>
// CHECK-LABEL: func.func @eval(
// CHECK: %[[C:.*]] = nn.reduce sum
// CHECK-NEXT: return %[[C]] : tensor<4xf32>
// CHECK-LABEL: func.func @predict(
// CHECK: return %{{.*}}, %{{.*}} : tensor<4x2xf32>, tensor<4xf32>
func.func @forward(%x: tensor<4x2xf32> {nn.name = "x", nn.batch_dim = 0 : i64}) -> (tensor<4x2xf32> {nn.name = "y"}, tensor<4xf32> {nn.name = "cost"}) {
  %y = nn.mul %x, %x : tensor<4x2xf32>, tensor<4x2xf32>
  %c = nn.reduce sum %y {axes = array<i64: 1>} : tensor<4x2xf32>
  return %y, %c : tensor<4x2xf32>, tensor<4xf32>
}
