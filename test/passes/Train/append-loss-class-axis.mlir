// The last dimension as the class dimension, of the result named t.
// RUN: partita-opt %s -partita-append-loss="class-axis=-1 output=t" | FileCheck %s

// CHECK-LABEL: func.func @step
// CHECK-SAME: tensor<4x3xi64> {nn.batch_dim = 0 : i64, nn.label, nn.limit = 5 : i64, nn.name = "labels"}
// CHECK: %[[T:.*]] = nn.tanh
// CHECK: nn.cross_entropy %[[T]], %{{.*}} {axis = 2 : i64} : tensor<4x3x5xf32>, tensor<4x3xi64>
func.func @forward(%x: tensor<4x3x5xf32> {nn.name = "x", nn.batch_dim = 0 : i64}) -> (tensor<4x3x5xf32> {nn.name = "r"}, tensor<4x3x5xf32> {nn.name = "t"}) {
  %r = nn.relu %x : tensor<4x3x5xf32>
  %t = nn.tanh %x : tensor<4x3x5xf32>
  return %r, %t : tensor<4x3x5xf32>, tensor<4x3x5xf32>
}
