// RUN: partita-opt %s -split-input-file -partita-propagate-splits=ranks=2 | FileCheck %s

// CHECK: module attributes {dist.grid = #dist.grid<data = 2>, partita.semantics = "exact up to reduction order"}
// Nothing updates the parameter: there is no gradient to combine.
// CHECK: nn.variable @w {{.*}} {dist.sync = #dist.sync<all_reduce []>}
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
// Samples stay whole: they are dealt out in blocks of their three elements.
// CHECK: nn.relu %{{.*}} {dist.split = #dist.split<d0 = [data] by 3>} : tensor<12xf32>
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

// -----

// A softmax over the samples depends on all of them: it gets no split, and its
// operand is gathered.
// CHECK-LABEL: func.func @predict
// CHECK: nn.softmax %{{.*}} {axis = 0 : i64} : tensor<4x3xf32>
func.func @predict(%x: tensor<4x3xf32> {nn.batch_dim = 0 : i64}) -> tensor<4x3xf32> {
  %y = nn.softmax %x {axis = 0 : i64} : tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}

// -----

// Rows are joined along the batch: each rank makes its part of the result.
// CHECK-LABEL: func.func @predict
// CHECK: nn.concat {{.*}}dist.split = #dist.split<d0 = [data]>
func.func @predict(%x: tensor<4x3xf32> {nn.batch_dim = 0 : i64}) -> tensor<8x3xf32> {
  %y = nn.concat %x, %x {axis = 0 : i64} : tensor<4x3xf32>, tensor<4x3xf32>
  return %y : tensor<8x3xf32>
}

// -----

// Some of the samples, dealt out anew.
// CHECK-LABEL: func.func @predict
// CHECK: nn.slice {{.*}}dist.split = #dist.split<d0 = [data]>
func.func @predict(%x: tensor<4x3xf32> {nn.batch_dim = 0 : i64}) -> tensor<2x3xf32> {
  %y = nn.slice %x {starts = array<i64: 0, 0>, sizes = array<i64: 2, 3>, steps = array<i64: 1, 1>} : tensor<4x3xf32>
  return %y : tensor<2x3xf32>
}

// -----

// A reshape that tears samples apart is done whole.
// CHECK-LABEL: func.func @predict
// CHECK: nn.reshape %{{.*}} : tensor<4x3xf32> -> tensor<6x2xf32>
// CHECK-NOT: dist.split
// CHECK: return
func.func @predict(%x: tensor<4x3xf32> {nn.batch_dim = 0 : i64}) -> tensor<6x2xf32> {
  %y = nn.reshape %x : tensor<4x3xf32> -> tensor<6x2xf32>
  return %y : tensor<6x2xf32>
}

// -----

// So is one of a dimension that no loop runs over.
// CHECK-LABEL: func.func @predict
// CHECK-SAME: dist.layout = #dist.layout<{{\[\[}}], [data]]>
// CHECK: nn.reshape %{{.*}} : tensor<3x4xf32> -> tensor<12xf32>
// CHECK-NOT: dist.split
// CHECK: return
func.func @predict(%x: tensor<3x4xf32> {nn.batch_dim = 1 : i64}) -> tensor<12xf32> {
  %y = nn.reshape %x : tensor<3x4xf32> -> tensor<12xf32>
  return %y : tensor<12xf32>
}

// -----

// The rows of a window come from the neighbours.
// CHECK-LABEL: func.func @predict
// CHECK: nn.conv {{.*}}dist.split = #dist.split<w = [data]>
func.func @predict(%x: tensor<1x2x8xf32> {nn.batch_dim = 2 : i64}, %w: tensor<2x2x3xf32>) -> tensor<1x2x6xf32> {
  %y = nn.conv %x, %w {strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 0, 0>} : tensor<1x2x8xf32>, tensor<2x2x3xf32>
  return %y : tensor<1x2x6xf32>
}

// -----

// Every sample with every other: an axis splits one dimension, the other operand
// is gathered.
// CHECK-LABEL: func.func @predict
// CHECK: nn.matmul {{.*}}dist.split = #dist.split<m = [data]>, transpose_b
func.func @predict(%x: tensor<4x3xf32> {nn.batch_dim = 0 : i64}) -> tensor<4x4xf32> {
  %y = nn.matmul %x, %x {transpose_b} : tensor<4x3xf32>, tensor<4x3xf32>
  return %y : tensor<4x4xf32>
}

// -----

// A table with a row per sample of the batch is whole where it is made; a rank
// takes its rows.
// CHECK-LABEL: func.func @predict
// CHECK: nn.constant dense<{{.*}}> : tensor<2x1xf32>
// CHECK-NEXT: nn.mul {{.*}}dist.split = #dist.split<d0 = [data]>
func.func @predict(%x: tensor<2x3xf32> {nn.batch_dim = 0 : i64}) -> tensor<2x3xf32> {
  %c = nn.constant dense<[[1.0], [2.0]]> : tensor<2x1xf32>
  %y = nn.mul %x, %c : tensor<2x3xf32>, tensor<2x1xf32>
  return %y : tensor<2x3xf32>
}

// -----

// An argument without batch is cut as its first user needs it.
// CHECK-LABEL: func.func @predict
// CHECK-SAME: %arg1: tensor<2x3xf32> {dist.layout = #dist.layout<{{\[\[}}data], []]>}
// CHECK: nn.mul {{.*}}dist.split = #dist.split<d0 = [data]>
func.func @predict(%x: tensor<2x3xf32> {nn.batch_dim = 0 : i64}, %z: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y = nn.mul %x, %z : tensor<2x3xf32>, tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// -----

// A variable that is assigned keeps its own layout: whole, unless a plan says
// otherwise. The value is gathered.
// CHECK: nn.variable @s {{.*}} = dense<0.000000e+00> : tensor<4x3xf32>
// CHECK-NEXT: func.func @step
// CHECK-SAME: dist.layout = #dist.layout<{{\[\[}}data], []]>
// CHECK: nn.assign @s
nn.variable @s state : tensor<4x3xf32> = dense<0.0> : tensor<4x3xf32>
func.func @step(%x: tensor<4x3xf32> {nn.batch_dim = 0 : i64}) {
  nn.assign @s, %x : tensor<4x3xf32>
  return
}

// -----

// An operation keeps the split that somebody gave it, and the others follow the
// largest of their operands: the second product sums over its split columns,
// what comes after it is whole again but for the batch.
// CHECK: nn.variable @w1 {{.*}} {dist.layout = #dist.layout<{{\[\[}}model], []]>, dist.sync
// CHECK: nn.variable @w2 {{.*}} {dist.layout = #dist.layout<{{\[\[}}], [model]]>, dist.sync
// CHECK-LABEL: func.func @predict
// CHECK: nn.matmul {{.*}} {dist.split = #dist.split<m = [data], n = [model]>, transpose_b}
// CHECK: nn.relu {{.*}} {dist.split = #dist.split<d0 = [data], d1 = [model]>}
// CHECK: nn.matmul {{.*}} {dist.split = #dist.split<m = [data], k = [model]>, transpose_b}
// CHECK: nn.sigmoid {{.*}} {dist.split = #dist.split<d0 = [data]>}
module attributes {dist.grid = #dist.grid<data = 2, model = 2>} {
  nn.variable @w1 parameter : tensor<8x6xf32> = dense<1.0> : tensor<8x6xf32>
  nn.variable @w2 parameter : tensor<5x8xf32> = dense<1.0> : tensor<5x8xf32>
  func.func @predict(%x: tensor<4x6xf32> {dist.layout = #dist.layout<[[data], []]>, nn.batch_dim = 0 : i64}) -> tensor<4x5xf32> {
    %w1 = nn.read @w1 : tensor<8x6xf32>
    %w2 = nn.read @w2 : tensor<5x8xf32>
    %a = nn.matmul %x, %w1 {dist.split = #dist.split<m = [data], n = [model]>, transpose_b} : tensor<4x6xf32>, tensor<8x6xf32>
    %b = nn.relu %a : tensor<4x8xf32>
    %c = nn.matmul %b, %w2 {transpose_b} : tensor<4x8xf32>, tensor<5x8xf32>
    %d = nn.sigmoid %c : tensor<4x5xf32>
    return %d : tensor<4x5xf32>
  }
}

// -----

// The gradient of a parameter is a partial sum over the axes that split what it
// sums over, and over no other.
// CHECK: nn.variable @w {{.*}} {dist.layout = #dist.layout<{{\[\[}}model], []]>, dist.sync = #dist.sync<all_reduce [data]>}
// CHECK-LABEL: func.func @step
// CHECK: nn.matmul {{.*}} {dist.split = #dist.split<m = [data], n = [model]>, transpose_b}
// CHECK: nn.matmul {{.*}} {dist.split = #dist.split<m = [model], k = [data]>, transpose_a}
module attributes {dist.grid = #dist.grid<data = 2, model = 2>} {
  nn.variable @w parameter : tensor<8x6xf32> = dense<1.0> : tensor<8x6xf32>
  func.func @step(%x: tensor<4x6xf32> {nn.batch_dim = 0 : i64}) {
    %w = nn.read @w : tensor<8x6xf32>
    %y = nn.matmul %x, %w {dist.split = #dist.split<m = [data], n = [model]>, transpose_b} : tensor<4x6xf32>, tensor<8x6xf32>
    %g = nn.matmul %y, %x {transpose_a} : tensor<4x8xf32>, tensor<4x6xf32>
    nn.sgd @w, %g : tensor<8x6xf32>
    return
  }
}

// -----

// A convolution split over its input channels adds its bias after the sum.
// CHECK-LABEL: func.func @predict
// CHECK: %[[Y:.*]] = nn.conv %arg0, %arg1 {dilations = array<i64: 1>, dist.split = #dist.split<ci = [model]>{{.*}}} : tensor<2x4x6xf32>, tensor<3x4x3xf32>
// CHECK: %[[B:.*]] = nn.reshape %arg2 : tensor<3xf32> -> tensor<1x3x1xf32>
// CHECK: nn.add %[[Y]], %[[B]] : tensor<2x3x4xf32>, tensor<1x3x1xf32>
module attributes {dist.grid = #dist.grid<model = 2>} {
  func.func @predict(%x: tensor<2x4x6xf32>, %w: tensor<3x4x3xf32>, %b: tensor<3xf32>) -> tensor<2x3x4xf32> {
    %y = nn.conv %x, %w bias %b {dist.split = #dist.split<ci = [model]>, strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 0, 0>} : tensor<2x4x6xf32>, tensor<3x4x3xf32>, tensor<3xf32>
    return %y : tensor<2x3x4xf32>
  }
}

// -----

// A dimension that has become too small for all its parts is gathered.
// CHECK-LABEL: func.func @predict
// CHECK: nn.max_pool {{.*}}dist.split = #dist.split<w = [row]>{{.*}} : tensor<1x2x8xf32> -> tensor<1x2x4xf32>
// CHECK-NEXT: nn.max_pool %{{.*}} {dilations = array<i64: 1>, kernel = array<i64: 3>{{.*}} : tensor<1x2x4xf32> -> tensor<1x2x2xf32>
module attributes {dist.grid = #dist.grid<row = 4>} {
  func.func @predict(%x: tensor<1x2x8xf32> {dist.layout = #dist.layout<[[], [], [row]]>}) -> tensor<1x2x2xf32> {
    %0 = nn.max_pool %x {dist.split = #dist.split<w = [row]>, kernel = array<i64: 2>, strides = array<i64: 2>, dilations = array<i64: 1>, pads = array<i64: 0, 0>} : tensor<1x2x8xf32> -> tensor<1x2x4xf32>
    %1 = nn.max_pool %0 {kernel = array<i64: 3>, strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 0, 0>} : tensor<1x2x4xf32> -> tensor<1x2x2xf32>
    return %1 : tensor<1x2x2xf32>
  }
}

// -----

// @step decides in what layout a variable lies, whoever reads it first.
// CHECK: nn.variable @w {{.*}} {dist.layout = #dist.layout<{{\[\[}}], [model]]>
// CHECK-LABEL: func.func @predict
// CHECK: nn.relu %{{.*}} {dist.split = #dist.split<d1 = [model]>}
module attributes {dist.grid = #dist.grid<model = 2>} {
  nn.variable @w parameter : tensor<4x6xf32> = dense<1.0> : tensor<4x6xf32>
  func.func @predict() -> tensor<4x6xf32> {
    %w = nn.read @w : tensor<4x6xf32>
    %y = nn.relu %w : tensor<4x6xf32>
    return %y : tensor<4x6xf32>
  }
  func.func @step() {
    %w = nn.read @w : tensor<4x6xf32>
    %y = nn.relu %w {dist.split = #dist.split<d1 = [model]>} : tensor<4x6xf32>
    nn.sgd @w, %y : tensor<4x6xf32>
    return
  }
}

// -----

// Optimizer states lie as their parameter does.
// CHECK: nn.variable @w {{.*}} {dist.layout = #dist.layout<{{\[\[}}model]]>
// CHECK: nn.variable @w.momentum {{.*}} {dist.layout = #dist.layout<{{\[\[}}model]]>
module attributes {dist.grid = #dist.grid<model = 2>} {
  nn.variable @w parameter : tensor<6xf32> = dense<1.0> : tensor<6xf32>
  nn.variable @w.momentum state : tensor<6xf32> = dense<0.0> : tensor<6xf32>
  func.func @step() {
    %w = nn.read @w : tensor<6xf32>
    %y = nn.relu %w {dist.split = #dist.split<d0 = [model]>} : tensor<6xf32>
    nn.sgd @w state @w.momentum, %y {momentum = 0.9 : f64} : tensor<6xf32>
    return
  }
}
