// RUN: partita-opt %s -split-input-file -partita-propagate-splits=ranks=2 | FileCheck %s

// CHECK: module attributes {dist.grid = #dist.grid<data = 2>, partita.semantics = "exact up to reduction order"}
// CHECK: nn.variable @w {{.*}} {dist.sync = #dist.sync<all_reduce [data]>}
// CHECK-LABEL: func.func @predict
// CHECK-SAME: dist.layout = #dist.layout<{{\[\[}}data], []]>, nn.batch_dim = 0 : i64
// CHECK: %[[W:.*]] = nn.read @w : tensor<3xf32>
// CHECK: nn.mul %{{.*}}, %[[W]] {dist.split = #dist.split<d0 = [data]>} : tensor<4x3xf32>, tensor<3xf32>
nn.variable @w parameter : tensor<3xf32> = dense<1.0> : tensor<3xf32>
func.func @predict(%x: tensor<4x3xf32> {nn.batch_dim = 0 : i64, nn.name = "x"}) -> tensor<4x3xf32> {
  %w = nn.read @w : tensor<3xf32>
  %y = nn.mul %x, %w : tensor<4x3xf32>, tensor<3xf32>
  return %y : tensor<4x3xf32>
}

// -----

// Only parameters have gradients to combine; what is only read has no split.
// CHECK: nn.variable @running state : tensor<3xf32>
// CHECK-NOT: dist.sync
// CHECK-LABEL: func.func @predict
// CHECK: nn.relu %{{.*}} : tensor<3xf32>
nn.variable @running state : tensor<3xf32> = dense<1.0> : tensor<3xf32>
func.func @predict(%x: tensor<4x3xf32> {nn.batch_dim = 0 : i64}) -> tensor<3xf32> {
  %r = nn.read @running : tensor<3xf32>
  %y = nn.relu %r : tensor<3xf32>
  return %y : tensor<3xf32>
}

// -----

// Each operation names the batch in its own words.
// CHECK-LABEL: func.func @step
// CHECK: nn.conv {{.*}} {dilations = array<i64: 1>, dist.split = #dist.split<n = [data]>
// CHECK: nn.max_pool {{.*}}dist.split = #dist.split<n = [data]>
// CHECK: nn.reshape %{{.*}} {dist.split = #dist.split<g0 = [data]>} : tensor<4x2x2xf32> -> tensor<4x4xf32>
// CHECK: nn.matmul {{.*}}dist.split = #dist.split<m = [data]>
// CHECK: nn.cross_entropy {{.*}}dist.split = #dist.split<d0 = [data]>
// CHECK: nn.reduce sum {{.*}}dist.split = #dist.split<d0 = [data]>
// The gradient by the weights contracts the batch.
// CHECK: nn.cross_entropy_grad {{.*}}dist.split = #dist.split<d0 = [data]>
// CHECK: nn.matmul %{{.*}}, %{{.*}} {dist.split = #dist.split<k = [data]>, transpose_a} : tensor<4x5xf32>, tensor<4x4xf32>
// CHECK: nn.conv_filter_grad {{.*}}dist.split = #dist.split<n = [data]>
func.func @step(%x: tensor<4x1x6xf32> {nn.batch_dim = 0 : i64}, %labels: tensor<4xi64> {nn.batch_dim = 0 : i64}, %w: tensor<2x1x3xf32>, %v: tensor<5x4xf32>) -> tensor<f32> {
  %0 = nn.conv %x, %w {strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 0, 0>} : tensor<4x1x6xf32>, tensor<2x1x3xf32>
  %1 = nn.max_pool %0 {kernel = array<i64: 2>, strides = array<i64: 2>, dilations = array<i64: 1>, pads = array<i64: 0, 0>} : tensor<4x2x4xf32> -> tensor<4x2x2xf32>
  %2 = nn.reshape %1 : tensor<4x2x2xf32> -> tensor<4x4xf32>
  %3 = nn.matmul %2, %v {transpose_b} : tensor<4x4xf32>, tensor<5x4xf32>
  %4 = nn.cross_entropy %3, %labels {axis = 1 : i64} : tensor<4x5xf32>, tensor<4xi64>
  %5 = nn.reduce sum %4 {axes = array<i64: 0>, scale = 0.25 : f64} : tensor<4xf32>
  %6 = nn.cross_entropy_grad %3, %labels {axis = 1 : i64, scale = 0.25 : f64} : tensor<4x5xf32>, tensor<4xi64>
  %7 = nn.matmul %6, %2 {transpose_a} : tensor<4x5xf32>, tensor<4x4xf32>
  %8 = nn.conv_filter_grad %x, %0 {strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 0, 0>} : tensor<4x1x6xf32>, tensor<4x2x4xf32> -> tensor<2x1x3xf32>
  return %5 : tensor<f32>
}

// -----

// The batch follows transposes and merges with what stands inside it.
// CHECK-LABEL: func.func @predict
// CHECK-SAME: dist.layout = #dist.layout<{{\[\[}}], [data]]>
// CHECK: nn.transpose %{{.*}} {dist.split = #dist.split<d1 = [data]>
// CHECK: nn.reshape %{{.*}} {dist.split = #dist.split<g0 = [data]>} : tensor<4x3xf32> -> tensor<12xf32>
// CHECK: nn.relu %{{.*}} {dist.split = #dist.split<d0 = [data]>} : tensor<12xf32>
// CHECK: nn.reshape %{{.*}} {dist.split = #dist.split<g0 = [data]>} : tensor<12xf32> -> tensor<4x3xf32>
func.func @predict(%x: tensor<3x4xf32> {nn.batch_dim = 1 : i64}) -> tensor<4x3xf32> {
  %0 = nn.transpose %x {permutation = array<i64: 1, 0>} : tensor<3x4xf32>
  %1 = nn.reshape %0 : tensor<4x3xf32> -> tensor<12xf32>
  %2 = nn.relu %1 : tensor<12xf32>
  %3 = nn.reshape %2 : tensor<12xf32> -> tensor<4x3xf32>
  return %3 : tensor<4x3xf32>
}

// -----

// Dimensions of size 1 may stand before the batch.
// CHECK-LABEL: func.func @predict
// CHECK: nn.reshape %{{.*}} {dist.split = #dist.split<g0 = [data]>} : tensor<4x3xf32> -> tensor<1x4x3xf32>
// CHECK: nn.relu %{{.*}} {dist.split = #dist.split<d1 = [data]>}
// CHECK: nn.reshape %{{.*}} {dist.split = #dist.split<g0 = [data]>} : tensor<1x4x3xf32> -> tensor<4x3xf32>
func.func @predict(%x: tensor<4x3xf32> {nn.batch_dim = 0 : i64}) -> tensor<4x3xf32> {
  %0 = nn.reshape %x : tensor<4x3xf32> -> tensor<1x4x3xf32>
  %1 = nn.relu %0 : tensor<1x4x3xf32>
  %2 = nn.reshape %1 : tensor<1x4x3xf32> -> tensor<4x3xf32>
  return %2 : tensor<4x3xf32>
}

// -----

// Masks and broadcasts of constants are made in parts.
// CHECK-LABEL: func.func @step
// CHECK: nn.dropout_mask {dist.split = #dist.split<d0 = [data]>
// CHECK: nn.mul {{.*}} {dist.split = #dist.split<d0 = [data]>}
// CHECK: %[[C:.*]] = nn.constant dense<2.000000e+00> : tensor<f32>
// CHECK: nn.broadcast %[[C]] {dist.split = #dist.split<d0 = [data]>} : tensor<f32> -> tensor<4x3xf32>
// CHECK: nn.constant dense<3.000000e+00> : tensor<4x3xf32> {dist.split = #dist.split<d0 = [data]>}
func.func @step(%x: tensor<4x3xf32> {nn.batch_dim = 0 : i64}) -> tensor<4x3xf32> {
  %m = nn.dropout_mask {global_shape = array<i64: 4, 3>, ratio = 0.5 : f64, start = array<i64: 0, 0>, stream = 1 : i64} : tensor<4x3xf32>
  %0 = nn.mul %x, %m : tensor<4x3xf32>, tensor<4x3xf32>
  %c = nn.constant dense<2.0> : tensor<f32>
  %b = nn.broadcast %c : tensor<f32> -> tensor<4x3xf32>
  %1 = nn.mul %0, %b : tensor<4x3xf32>, tensor<4x3xf32>
  %s = nn.constant dense<3.0> : tensor<4x3xf32>
  %2 = nn.mul %1, %s : tensor<4x3xf32>, tensor<4x3xf32>
  return %2 : tensor<4x3xf32>
}

// -----

// One user wants the mask whole, the other in parts: it is drawn twice.
// CHECK-LABEL: func.func @step
// CHECK-DAG: %[[PART:.*]] = nn.dropout_mask {dist.split = #dist.split<d0 = [data]>,
// CHECK-DAG: %[[WHOLE:.*]] = nn.dropout_mask {global_shape
// CHECK: nn.relu %[[WHOLE]] :
// CHECK: nn.mul %{{.*}}, %[[PART]] {dist.split
func.func @step(%x: tensor<4x3xf32> {nn.batch_dim = 0 : i64}) -> (tensor<4x3xf32>, tensor<4x3xf32>) {
  %m = nn.dropout_mask {global_shape = array<i64: 4, 3>, ratio = 0.5 : f64, start = array<i64: 0, 0>, stream = 1 : i64} : tensor<4x3xf32>
  %0 = nn.relu %m : tensor<4x3xf32>
  %1 = nn.mul %x, %m : tensor<4x3xf32>, tensor<4x3xf32>
  return %0, %1 : tensor<4x3xf32>, tensor<4x3xf32>
}

// -----

// Statistics over the batch are reductions; with `local` they are parts.
// CHECK-LABEL: func.func @step
// CHECK: nn.reduce sum {{.*}} {axes = array<i64: 0>, dist.split = #dist.split<d0 = [data]>, scale
// CHECK: nn.variance {{.*}}dist.split = #dist.split<d0 = [data]>
// CHECK: nn.normalize {{.*}}dist.split = #dist.split<d0 = [data]>
// CHECK: nn.reduce sum {{.*}}dist.split = #dist.split<d0 = [data]>, local
func.func @step(%x: tensor<4x3xf32> {nn.batch_dim = 0 : i64}, %g: tensor<3xf32>) -> tensor<4x3xf32> {
  %m = nn.reduce sum %x {axes = array<i64: 0>, scale = 0.25 : f64} : tensor<4x3xf32>
  %v = nn.variance %x, %m {axes = array<i64: 0>, scale = 0.25 : f64} : tensor<4x3xf32>, tensor<3xf32>
  %y = nn.normalize %x, %m, %v, %g, %g {axis = 1 : i64, eps = 1.0e-5 : f64} : tensor<4x3xf32>, tensor<3xf32>
  %l = nn.reduce sum %x {axes = array<i64: 0>, scale = 0.25 : f64, local} : tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}
