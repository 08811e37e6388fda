// Reductions, movement, softmax and losses, printed and read back.
// RUN: partita-opt %s | partita-opt | FileCheck %s

// CHECK-LABEL: func.func @reduce
func.func @reduce(%x: tensor<2x3x2x2xf32>) -> (tensor<3xf32>, tensor<f32>, tensor<2x3x2x2xf32>) {
  // CHECK: nn.reduce sum %{{.*}} {axes = array<i64: 0, 2, 3>, scale = 1.250000e-01 : f64} : tensor<2x3x2x2xf32>
  %0 = nn.reduce sum %x {axes = array<i64: 0, 2, 3>, scale = 0.125 : f64} : tensor<2x3x2x2xf32>
  // CHECK: nn.reduce sum %{{.*}} {axes = array<i64: 0>, local} : tensor<2x3x2x2xf32>
  %1 = nn.reduce sum %x {axes = array<i64: 0>, local} : tensor<2x3x2x2xf32>
  // CHECK: nn.reduce max %{{.*}} {axes = array<i64: 0, 1, 2, 3>} : tensor<2x3x2x2xf32>
  %2 = nn.reduce max %x {axes = array<i64: 0, 1, 2, 3>} : tensor<2x3x2x2xf32>
  // CHECK: nn.reduce min
  %3 = nn.reduce min %x {axes = array<i64: 1>} : tensor<2x3x2x2xf32>
  // CHECK: nn.reduce prod %{{.*}} {axes = array<i64>} : tensor<2x3x2x2xf32>
  %4 = nn.reduce prod %x {axes = array<i64>} : tensor<2x3x2x2xf32>
  return %0, %2, %4 : tensor<3xf32>, tensor<f32>, tensor<2x3x2x2xf32>
}

// CHECK-LABEL: func.func @variance
func.func @variance(%x: tensor<2x3xf32>, %m: tensor<3xf32>) {
  // CHECK: nn.variance %{{.*}}, %{{.*}} {axes = array<i64: 0>, scale = 5.000000e-01 : f64} : tensor<2x3xf32>, tensor<3xf32>
  %0 = nn.variance %x, %m {axes = array<i64: 0>, scale = 0.5 : f64} : tensor<2x3xf32>, tensor<3xf32>
  // CHECK: nn.variance %{{.*}}, %{{.*}} {axes = array<i64: 0>, local, scale = 5.000000e-01 : f64}
  %1 = nn.variance %x, %m {axes = array<i64: 0>, scale = 0.5 : f64, local} : tensor<2x3xf32>, tensor<3xf32>
  return
}

// CHECK-LABEL: func.func @movement
func.func @movement(%x: tensor<2x6xf32>, %t: tensor<2x3x4xf32>) {
  // CHECK: nn.reshape %{{.*}} : tensor<2x6xf32> -> tensor<3x4xf32>
  %0 = nn.reshape %x : tensor<2x6xf32> -> tensor<3x4xf32>
  // CHECK: nn.transpose %{{.*}} {permutation = array<i64: 2, 0, 1>} : tensor<2x3x4xf32>
  %1 = nn.transpose %t {permutation = array<i64: 2, 0, 1>} : tensor<2x3x4xf32>
  // CHECK: nn.add %{{.*}}, %{{.*}} : tensor<4x2x3xf32>, tensor<4x2x3xf32>
  %2 = nn.add %1, %1 : tensor<4x2x3xf32>, tensor<4x2x3xf32>
  // CHECK: nn.broadcast %{{.*}} : tensor<2x6xf32> -> tensor<5x2x6xf32>
  %3 = nn.broadcast %x : tensor<2x6xf32> -> tensor<5x2x6xf32>
  // Elements 5, 3, 1 of each row.
  // CHECK: nn.slice %{{.*}} {sizes = array<i64: 2, 3>, starts = array<i64: 0, 5>, steps = array<i64: 1, -2>} : tensor<2x6xf32>
  %4 = nn.slice %x {starts = array<i64: 0, 5>, sizes = array<i64: 2, 3>, steps = array<i64: 1, -2>} : tensor<2x6xf32>
  // One row cropped; one element before, one between, two after: 1 + 11 + 2.
  // CHECK: nn.pad %{{.*}} {high = array<i64: 0, 2>, interior = array<i64: 0, 1>, low = array<i64: -1, 1>} : tensor<2x6xf32>
  %5 = nn.pad %x {low = array<i64: -1, 1>, interior = array<i64: 0, 1>, high = array<i64: 0, 2>} : tensor<2x6xf32>
  // CHECK: nn.pad %{{.*}} {high = array<i64: 0>, interior = array<i64: 0>, low = array<i64: 1>, value = -1.000000e+00 : f64} : tensor<14xf32>
  %6 = nn.reshape %5 : tensor<1x14xf32> -> tensor<14xf32>
  %7 = nn.pad %6 {low = array<i64: 1>, interior = array<i64: 0>, high = array<i64: 0>, value = -1.0 : f64} : tensor<14xf32>
  // CHECK: nn.concat %{{.*}}, %{{.*}}, %{{.*}} {axis = 1 : i64} : tensor<2x6xf32>, tensor<2x3xf32>, tensor<2x6xf32>
  %8 = nn.concat %x, %4, %x {axis = 1 : i64} : tensor<2x6xf32>, tensor<2x3xf32>, tensor<2x6xf32>
  // CHECK: nn.reshape %{{.*}} : tensor<2x15xf32> -> tensor<30xf32>
  %9 = nn.reshape %8 : tensor<2x15xf32> -> tensor<30xf32>
  return
}

// An empty slice may start anywhere.
// CHECK-LABEL: func.func @slice_of_nothing
func.func @slice_of_nothing(%x: tensor<4xf32>) -> tensor<0xf32> {
  // CHECK: nn.slice %{{.*}} {sizes = array<i64: 0>, starts = array<i64: 9>, steps = array<i64: 1>}
  %0 = nn.slice %x {starts = array<i64: 9>, sizes = array<i64: 0>, steps = array<i64: 1>} : tensor<4xf32>
  return %0 : tensor<0xf32>
}

// CHECK-LABEL: func.func @softmax
func.func @softmax(%x: tensor<4x10xf32>) {
  // CHECK: nn.softmax %{{.*}} {axis = 1 : i64} : tensor<4x10xf32>
  %0 = nn.softmax %x {axis = 1 : i64} : tensor<4x10xf32>
  // CHECK: nn.log_softmax %{{.*}} {axis = 0 : i64} : tensor<4x10xf32>
  %1 = nn.log_softmax %x {axis = 0 : i64} : tensor<4x10xf32>
  // CHECK: nn.softmax_grad %{{.*}}, %{{.*}} {axis = 1 : i64} : tensor<4x10xf32>
  %2 = nn.softmax_grad %0, %x {axis = 1 : i64} : tensor<4x10xf32>
  // CHECK: nn.log_softmax_grad %{{.*}}, %{{.*}} {axis = 0 : i64} : tensor<4x10xf32>
  %3 = nn.log_softmax_grad %1, %x {axis = 0 : i64} : tensor<4x10xf32>
  return
}

// CHECK-LABEL: func.func @losses
func.func @losses(%x: tensor<4x10x5xf32>, %l: tensor<4x5xi64>, %s: tensor<4x10xi32>) -> tensor<4x5xf32> {
  // CHECK: nn.cross_entropy %{{.*}}, %{{.*}} {axis = 1 : i64} : tensor<4x10x5xf32>, tensor<4x5xi64>
  %0 = nn.cross_entropy %x, %l {axis = 1 : i64} : tensor<4x10x5xf32>, tensor<4x5xi64>
  // CHECK: nn.cross_entropy %{{.*}}, %{{.*}} {axis = 2 : i64} : tensor<4x10x5xf32>, tensor<4x10xi32>
  %1 = nn.cross_entropy %x, %s {axis = 2 : i64} : tensor<4x10x5xf32>, tensor<4x10xi32>
  // CHECK: nn.cross_entropy_grad %{{.*}}, %{{.*}} {axis = 1 : i64, scale = 5.000000e-02 : f64} : tensor<4x10x5xf32>, tensor<4x5xi64>
  %2 = nn.cross_entropy_grad %x, %l {axis = 1 : i64, scale = 0.05 : f64} : tensor<4x10x5xf32>, tensor<4x5xi64>
  // CHECK: nn.correct %{{.*}}, %{{.*}} {axis = 1 : i64} : tensor<4x10x5xf32>, tensor<4x5xi64>
  %3 = nn.correct %x, %l {axis = 1 : i64} : tensor<4x10x5xf32>, tensor<4x5xi64>
  return %3 : tensor<4x5xf32>
}

// CHECK-LABEL: func.func @look_ups
func.func @look_ups(%table: tensor<61x32xf32>, %tokens: tensor<8x16xi64>, %x: tensor<2x5x3xi64>, %one: tensor<i32>) {
  // CHECK: nn.gather %{{.*}}, %{{.*}} {axis = 0 : i64, limit = 61 : i64} : tensor<61x32xf32>, tensor<8x16xi64>
  %0 = nn.gather %table, %tokens {axis = 0 : i64, limit = 61 : i64} : tensor<61x32xf32>, tensor<8x16xi64>
  // CHECK: nn.gather %{{.*}}, %{{.*}} {axis = 1 : i64, limit = 9 : i64, start = 4 : i64} : tensor<2x5x3xi64>, tensor<i32>
  %1 = nn.gather %x, %one {axis = 1 : i64, limit = 9 : i64, start = 4 : i64} : tensor<2x5x3xi64>, tensor<i32>
  // CHECK: nn.add %{{.*}}, %{{.*}} : tensor<2x3xi64>, tensor<2x3xi64>
  %2 = nn.add %1, %1 : tensor<2x3xi64>, tensor<2x3xi64>
  // CHECK: nn.scatter_add %{{.*}}, %{{.*}} {axis = 0 : i64, layout = "whole", limit = 61 : i64} : tensor<8x16x32xf32>, tensor<8x16xi64> -> tensor<61x32xf32>
  %3 = nn.scatter_add %0, %tokens {axis = 0 : i64, limit = 61 : i64, layout = "whole"} : tensor<8x16x32xf32>, tensor<8x16xi64> -> tensor<61x32xf32>
  return
}
