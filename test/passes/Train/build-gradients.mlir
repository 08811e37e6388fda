// RUN: partita-opt %s -split-input-file -verify-diagnostics -partita-build-gradients | FileCheck %s

// CHECK: module attributes {partita.lr = 1.000000e-02 : f64, partita.optimizer = "sgd"}
// CHECK-LABEL: func.func @step(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<3xf32>
// CHECK: %[[L:.*]] = nn.reduce sum
// CHECK-NEXT: %[[ONE:.*]] = nn.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[DY:.*]] = nn.broadcast %[[ONE]] : tensor<f32> -> tensor<3xf32>
// CHECK-NEXT: %[[G:.*]] = nn.mul %[[DY]], %[[X]]
// CHECK-NEXT: nn.sgd @w, %[[G]] : tensor<3xf32>
// CHECK-NEXT: return %[[L]]
nn.variable @w parameter : tensor<3xf32> = dense<1.0> : tensor<3xf32>
func.func @step(%x: tensor<3xf32>) -> tensor<f32> {
  %w = nn.read @w : tensor<3xf32>
  %y = nn.mul %x, %w : tensor<3xf32>, tensor<3xf32>
  %l = nn.reduce sum %y {axes = array<i64: 0>} : tensor<3xf32>
  return %l : tensor<f32>
}

// -----

// The mean's factor goes into the loss; all gradients after it are sums. The
// data need no gradient, so there is no product by the weights of the first
// layer. Updates stand behind all gradients, the last layer's first.
nn.variable @w1 parameter : tensor<5x3xf32> = #nn.file<"m.onnx", 0, 60>
nn.variable @b1 parameter : tensor<5xf32> = #nn.file<"m.onnx", 60, 20>
nn.variable @w2 parameter : tensor<2x5xf32> = #nn.file<"m.onnx", 80, 40>
// CHECK-LABEL: func.func @step(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4x3xf32>, %[[LABELS:[a-z0-9]+]]: tensor<4xi64>
// CHECK: %[[H:.*]] = nn.relu
// CHECK: %[[LOGITS:.*]] = nn.matmul %[[H]], %{{.*}} {transpose_b}
// CHECK: %[[LOSS:.*]] = nn.reduce sum %{{.*}} {axes = array<i64: 0>, scale = 2.500000e-01 : f64}
// CHECK: %[[D2:.*]] = nn.cross_entropy_grad %[[LOGITS]], %[[LABELS]] {axis = 1 : i64, scale = 2.500000e-01 : f64}
// CHECK: %[[DH:.*]] = nn.matmul %[[D2]], %{{.*}} : tensor<4x2xf32>, tensor<2x5xf32>
// CHECK: %[[DW2:.*]] = nn.matmul %[[D2]], %[[H]] {transpose_a} : tensor<4x2xf32>, tensor<4x5xf32>
// CHECK: %[[POSITIVE:.*]] = nn.compare gt, %[[H]]
// CHECK: %[[D1:.*]] = nn.select %[[POSITIVE]], %[[DH]]
// CHECK: %[[DB1:.*]] = nn.reduce sum %[[D1]] {axes = array<i64: 0>} : tensor<4x5xf32>
// CHECK: %[[DW1:.*]] = nn.matmul %[[D1]], %[[X]] {transpose_a} : tensor<4x5xf32>, tensor<4x3xf32>
// CHECK-NOT: nn.matmul
// CHECK: nn.sgd @w2, %[[DW2]]
// CHECK-NEXT: nn.sgd @b1, %[[DB1]]
// CHECK-NEXT: nn.sgd @w1, %[[DW1]]
// CHECK-NEXT: return %[[LOSS]]
func.func @step(%x: tensor<4x3xf32>, %labels: tensor<4xi64>) -> tensor<f32> {
  %w1 = nn.read @w1 : tensor<5x3xf32>
  %b1 = nn.read @b1 : tensor<5xf32>
  %w2 = nn.read @w2 : tensor<2x5xf32>
  %0 = nn.matmul %x, %w1 {transpose_b} : tensor<4x3xf32>, tensor<5x3xf32>
  %1 = nn.add %0, %b1 : tensor<4x5xf32>, tensor<5xf32>
  %2 = nn.relu %1 : tensor<4x5xf32>
  %3 = nn.matmul %2, %w2 {transpose_b} : tensor<4x5xf32>, tensor<2x5xf32>
  %4 = nn.cross_entropy %3, %labels {axis = 1 : i64} : tensor<4x2xf32>, tensor<4xi64>
  %5 = nn.reduce sum %4 {axes = array<i64: 0>, scale = 0.25 : f64} : tensor<4xf32>
  return %5 : tensor<f32>
}

// -----

// A value that is used twice has the sum of two gradients.
nn.variable @w parameter : tensor<3xf32> = dense<1.0> : tensor<3xf32>
// CHECK-LABEL: func.func @step
// CHECK: %[[DY:.*]] = nn.broadcast
// CHECK: %[[A:.*]] = nn.mul %[[DY]], %[[W:.*]] :
// CHECK: %[[B:.*]] = nn.mul %[[DY]], %[[W]] :
// CHECK: %[[G:.*]] = nn.add %[[A]], %[[B]]
// CHECK: nn.sgd @w, %[[G]]
func.func @step(%x: tensor<3xf32>) -> tensor<f32> {
  %w = nn.read @w : tensor<3xf32>
  %y = nn.mul %w, %w : tensor<3xf32>, tensor<3xf32>
  %l = nn.reduce sum %y {axes = array<i64: 0>} : tensor<3xf32>
  return %l : tensor<f32>
}

// -----

// A tied parameter, read twice, has one gradient and one update.
nn.variable @w parameter : tensor<3xf32> = dense<1.0> : tensor<3xf32>
// CHECK-LABEL: func.func @step
// CHECK: %[[DY:.*]] = nn.broadcast
// CHECK-DAG: %[[A:.*]] = nn.mul %[[DY]], %arg0
// CHECK-DAG: %[[B:.*]] = nn.mul %[[DY]], %arg1
// CHECK: %[[G:.*]] = nn.add
// CHECK: nn.sgd @w, %[[G]]
// CHECK-NOT: nn.sgd
func.func @step(%x: tensor<3xf32>, %z: tensor<3xf32>) -> tensor<f32> {
  %w = nn.read @w : tensor<3xf32>
  %y = nn.mul %x, %w : tensor<3xf32>, tensor<3xf32>
  %again = nn.read @w : tensor<3xf32>
  %v = nn.mul %z, %again : tensor<3xf32>, tensor<3xf32>
  %s = nn.add %y, %v : tensor<3xf32>, tensor<3xf32>
  %l = nn.reduce sum %s {axes = array<i64: 0>} : tensor<3xf32>
  return %l : tensor<f32>
}

// -----

// A bias that was broadcast gets the sum over what it was broadcast to.
nn.variable @b parameter : tensor<2x1xf32> = dense<1.0> : tensor<2x1xf32>
// CHECK-LABEL: func.func @step
// CHECK: %[[DY:.*]] = nn.broadcast %{{.*}} : tensor<f32> -> tensor<4x2x3xf32>
// CHECK: %[[S:.*]] = nn.reduce sum %[[DY]] {axes = array<i64: 0, 2>} : tensor<4x2x3xf32>
// CHECK: %[[G:.*]] = nn.reshape %[[S]] : tensor<2xf32> -> tensor<2x1xf32>
// CHECK: nn.sgd @b, %[[G]]
func.func @step(%x: tensor<4x2x3xf32>) -> tensor<f32> {
  %b = nn.read @b : tensor<2x1xf32>
  %y = nn.add %x, %b : tensor<4x2x3xf32>, tensor<2x1xf32>
  %l = nn.reduce sum %y {axes = array<i64: 0, 1, 2>} : tensor<4x2x3xf32>
  return %l : tensor<f32>
}

// -----

// Batch statistics: two sums, and the gradient by x with the batch's share.
nn.variable @g parameter : tensor<3xf32> = dense<1.0> : tensor<3xf32>
nn.variable @b parameter : tensor<3xf32> = dense<0.0> : tensor<3xf32>
nn.variable @w parameter : tensor<3x3xf32> = dense<0.5> : tensor<3x3xf32>
// CHECK-LABEL: func.func @step
// CHECK: %[[M:.*]] = nn.reduce sum
// CHECK: %[[V:.*]] = nn.variance
// CHECK: %[[DBETA:.*]], %[[DGAMMA:.*]] = nn.normalize_sums %[[DY:.*]], %[[X:.*]], %[[M]], %[[V]] {axis = 1 : i64, eps = 1.000000e-05 : f64}
// CHECK: %[[DX:.*]] = nn.normalize_grad %[[DY]], %[[X]], %[[M]], %[[V]], %{{.*}}, %[[DBETA]], %[[DGAMMA]] {axis = 1 : i64, eps = 1.000000e-05 : f64, scale = 2.500000e-01 : f64}
// CHECK: nn.matmul %{{.*}}, %[[DX]]
// CHECK: nn.sgd @b, %[[DBETA]]
// CHECK-NEXT: nn.sgd @g, %[[DGAMMA]]
// CHECK-NEXT: nn.sgd @w
func.func @step(%x: tensor<4x3xf32>) -> tensor<f32> {
  %w = nn.read @w : tensor<3x3xf32>
  %g = nn.read @g : tensor<3xf32>
  %b = nn.read @b : tensor<3xf32>
  %0 = nn.matmul %x, %w : tensor<4x3xf32>, tensor<3x3xf32>
  %m = nn.reduce sum %0 {axes = array<i64: 0>, scale = 0.25 : f64} : tensor<4x3xf32>
  %v = nn.variance %0, %m {axes = array<i64: 0>, scale = 0.25 : f64} : tensor<4x3xf32>, tensor<3xf32>
  %y = nn.normalize %0, %m, %v, %g, %b {axis = 1 : i64, eps = 1.0e-5 : f64} : tensor<4x3xf32>, tensor<3xf32>
  %l = nn.reduce sum %y {axes = array<i64: 0, 1>} : tensor<4x3xf32>
  return %l : tensor<f32>
}

// -----

// Constant statistics do not depend on x: scale 0.
nn.variable @s state : tensor<3xf32> = dense<1.0> : tensor<3xf32>
nn.variable @w parameter : tensor<3x3xf32> = dense<0.5> : tensor<3x3xf32>
// CHECK-LABEL: func.func @step
// CHECK: nn.normalize_grad {{.*}} {axis = 1 : i64, eps = 1.000000e-05 : f64, scale = 0.000000e+00 : f64}
func.func @step(%x: tensor<4x3xf32>) -> tensor<f32> {
  %w = nn.read @w : tensor<3x3xf32>
  %s = nn.read @s : tensor<3xf32>
  %0 = nn.matmul %x, %w : tensor<4x3xf32>, tensor<3x3xf32>
  %y = nn.normalize %0, %s, %s, %s, %s {axis = 1 : i64, eps = 1.0e-5 : f64} : tensor<4x3xf32>, tensor<3xf32>
  %l = nn.reduce sum %y {axes = array<i64: 0, 1>} : tensor<4x3xf32>
  return %l : tensor<f32>
}

// -----

// Local statistics: gamma and beta take the sums over all ranks, x those of
// its own rank.
nn.variable @g parameter : tensor<3xf32> = dense<1.0> : tensor<3xf32>
nn.variable @s state : tensor<3xf32> = dense<0.0> : tensor<3xf32>
nn.variable @w parameter : tensor<3x3xf32> = dense<0.5> : tensor<3x3xf32>
// CHECK-LABEL: func.func @step
// CHECK: %{{.*}}, %[[ALL:.*]] = nn.normalize_sums %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {axis = 1 : i64, eps = 1.000000e-05 : f64} :
// CHECK: %[[B:.*]], %[[G:.*]] = nn.normalize_sums {{.*}} {axis = 1 : i64, eps = 1.000000e-05 : f64, local} :
// CHECK: nn.normalize_grad {{.*}}, %[[B]], %[[G]] {axis = 1 : i64, eps = 1.000000e-05 : f64, local, scale = 2.500000e-01 : f64}
// CHECK: nn.sgd @g, %[[ALL]]
func.func @step(%x: tensor<4x3xf32>) -> tensor<f32> {
  %w = nn.read @w : tensor<3x3xf32>
  %g = nn.read @g : tensor<3xf32>
  %s = nn.read @s : tensor<3xf32>
  %0 = nn.matmul %x, %w : tensor<4x3xf32>, tensor<3x3xf32>
  %m = nn.reduce sum %0 {axes = array<i64: 0>, scale = 0.25 : f64, local} : tensor<4x3xf32>
  %v = nn.variance %0, %m {axes = array<i64: 0>, scale = 0.25 : f64, local} : tensor<4x3xf32>, tensor<3xf32>
  %y = nn.normalize %0, %m, %v, %g, %s {axis = 1 : i64, eps = 1.0e-5 : f64} : tensor<4x3xf32>, tensor<3xf32>
  %l = nn.reduce sum %y {axes = array<i64: 0, 1>} : tensor<4x3xf32>
  return %l : tensor<f32>
}

// -----

// Integer paths carry no gradient: w counts through the product alone.
nn.variable @w parameter : tensor<3xf32> = dense<1.0> : tensor<3xf32>
// CHECK-LABEL: func.func @step
// CHECK: %[[Q:.*]] = nn.cast %{{.*}} : tensor<3xi32> -> tensor<3xf32>
// CHECK: nn.broadcast
// CHECK: %[[G:.*]] = nn.mul %{{.*}}, %[[Q]]
// CHECK: nn.sgd @w, %[[G]]
func.func @step(%x: tensor<3xf32>) -> tensor<f32> {
  %w = nn.read @w : tensor<3xf32>
  %i = nn.cast %w : tensor<3xf32> -> tensor<3xi32>
  %q = nn.cast %i : tensor<3xi32> -> tensor<3xf32>
  %y = nn.mul %w, %q : tensor<3xf32>, tensor<3xf32>
  %l = nn.reduce sum %y {axes = array<i64: 0>} : tensor<3xf32>
  return %l : tensor<f32>
}

// -----

// CHECK: nn.variable @unused constant
// expected-warning @+1 {{parameter 'unused' does not influence the loss and keeps its value}}
nn.variable @unused parameter : tensor<3xf32> = dense<1.0> : tensor<3xf32>
nn.variable @w parameter : tensor<3xf32> = dense<1.0> : tensor<3xf32>
// CHECK-LABEL: func.func @step
// CHECK: nn.sgd @w
// CHECK-NOT: nn.sgd
func.func @step() -> tensor<f32> {
  %w = nn.read @w : tensor<3xf32>
  %l = nn.reduce sum %w {axes = array<i64: 0>} : tensor<3xf32>
  return %l : tensor<f32>
}

// -----

// An embedding that is the output layer, too: one sum of both gradients and one
// update.
nn.variable @w parameter : tensor<5x3xf32> = dense<1.0> : tensor<5x3xf32>
// CHECK-LABEL: func.func @step
// CHECK: %[[W:.*]] = nn.read @w
// CHECK: %[[H:.*]] = nn.gather %[[W]]
// CHECK: %[[OUT:.*]] = nn.matmul %{{.*}}, %[[H]] {transpose_a}
// CHECK: %[[IN:.*]] = nn.scatter_add
// CHECK: %[[G:.*]] = nn.add %[[OUT]], %[[IN]] : tensor<5x3xf32>
// CHECK: nn.sgd @w, %[[G]]
// CHECK-NOT: nn.sgd
func.func @step(%i: tensor<4xi64>) -> tensor<f32> {
  %w = nn.read @w : tensor<5x3xf32>
  %h = nn.gather %w, %i {axis = 0 : i64, limit = 5 : i64} : tensor<5x3xf32>, tensor<4xi64>
  %y = nn.matmul %h, %w {transpose_b} : tensor<4x3xf32>, tensor<5x3xf32>
  %l = nn.reduce sum %y {axes = array<i64: 0, 1>} : tensor<4x5xf32>
  return %l : tensor<f32>
}
