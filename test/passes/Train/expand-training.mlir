// RUN: partita-opt %s -split-input-file -partita-expand-training | FileCheck %s

// CHECK-LABEL: func.func @step
// CHECK: %[[M:.*]] = nn.dropout_mask {global_shape = array<i64: 4, 3>, ratio = 5.000000e-01 : f64, start = array<i64: 0, 0>, stream = 1 : i64} : tensor<4x3xf32>
// CHECK: %[[Y:.*]] = nn.mul %{{.*}}, %[[M]] : tensor<4x3xf32>, tensor<4x3xf32>
// CHECK: return %[[Y]]
func.func @step(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %y = nn.dropout %x {ratio = 5.000000e-01 : f64, stream = 1 : i64} : tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}

// -----

// Nothing is dropped outside of training, nor with ratio 0 in it.
// CHECK-LABEL: func.func @step
// CHECK-NEXT: return %arg0
func.func @step(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %y = nn.dropout %x {ratio = 0.0 : f64, stream = 1 : i64} : tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}
// CHECK-LABEL: func.func @eval
// CHECK-NEXT: return %arg0
func.func @eval(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %y = nn.dropout %x {ratio = 0.5 : f64, stream = 1 : i64} : tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}
// CHECK-LABEL: func.func @predict
// CHECK-NEXT: return %arg0
func.func @predict(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %y = nn.dropout %x {ratio = 0.5 : f64, stream = 1 : i64} : tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}

// -----

// Statistics of the global batch, 4 * 2 elements per channel; the running ones
// move towards them by 1 - momentum.
nn.variable @mean state : tensor<3xf32> = dense<0.0> : tensor<3xf32>
nn.variable @variance state : tensor<3xf32> = dense<1.0> : tensor<3xf32>
// CHECK-LABEL: func.func @step
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4x3x2xf32>, %[[G:[a-z0-9]+]]: tensor<3xf32>, %[[B:[a-z0-9]+]]: tensor<3xf32>
// CHECK: %[[RM:.*]] = nn.read @mean
// CHECK: %[[RV:.*]] = nn.read @variance
// CHECK: %[[M:.*]] = nn.reduce sum %[[X]] {axes = array<i64: 0, 2>, scale = 1.250000e-01 : f64}
// CHECK: %[[V:.*]] = nn.variance %[[X]], %[[M]] {axes = array<i64: 0, 2>, scale = 1.250000e-01 : f64}
// CHECK: %[[Y:.*]] = nn.normalize %[[X]], %[[M]], %[[V]], %[[G]], %[[B]] {axis = 1 : i64, eps = 1.000000e-05 : f64}
// CHECK: %[[KEEP:.*]] = nn.constant dense<7.500000e-01> : tensor<f32>
// CHECK: %[[KEPT:.*]] = nn.mul %[[RM]], %[[KEEP]]
// CHECK: %[[GO:.*]] = nn.constant dense<2.500000e-01> : tensor<f32>
// CHECK: %[[ADDED:.*]] = nn.mul %[[M]], %[[GO]]
// CHECK: %[[NEXT:.*]] = nn.add %[[KEPT]], %[[ADDED]]
// CHECK: nn.assign @mean, %[[NEXT]]
// CHECK: nn.mul %[[RV]]
// CHECK: nn.assign @variance
// CHECK: return %[[Y]]
func.func @step(%x: tensor<4x3x2xf32>, %g: tensor<3xf32>, %b: tensor<3xf32>) -> tensor<4x3x2xf32> {
  %m = nn.read @mean : tensor<3xf32>
  %v = nn.read @variance : tensor<3xf32>
  %y = nn.batch_norm global %x, %g, %b, %m, %v {eps = 1.0e-5 : f64, momentum = 0.75 : f64} : tensor<4x3x2xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
  return %y : tensor<4x3x2xf32>
}
// The running statistics elsewhere, and no update.
// CHECK-LABEL: func.func @eval
// CHECK: %[[RM:.*]] = nn.read @mean
// CHECK: %[[RV:.*]] = nn.read @variance
// CHECK-NEXT: nn.normalize %{{.*}}, %[[RM]], %[[RV]], %{{.*}}, %{{.*}} {axis = 1 : i64, eps = 1.000000e-05 : f64}
// CHECK-NEXT: return
func.func @eval(%x: tensor<4x3x2xf32>, %g: tensor<3xf32>, %b: tensor<3xf32>) -> tensor<4x3x2xf32> {
  %m = nn.read @mean : tensor<3xf32>
  %v = nn.read @variance : tensor<3xf32>
  %y = nn.batch_norm global %x, %g, %b, %m, %v {eps = 1.0e-5 : f64, momentum = 0.75 : f64} : tensor<4x3x2xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
  return %y : tensor<4x3x2xf32>
}

// -----

// Each rank normalises with its own statistics; the running ones are those of
// the global batch, so that they stay equal on all ranks.
nn.variable @mean state : tensor<3xf32> = dense<0.0> : tensor<3xf32>
nn.variable @variance state : tensor<3xf32> = dense<1.0> : tensor<3xf32>
// CHECK-LABEL: func.func @step
// CHECK: %[[M:.*]] = nn.reduce sum %{{.*}} {axes = array<i64: 0>, local, scale = 2.500000e-01 : f64}
// CHECK: %[[V:.*]] = nn.variance %{{.*}}, %[[M]] {axes = array<i64: 0>, local, scale = 2.500000e-01 : f64}
// CHECK: %[[GM:.*]] = nn.reduce sum %{{.*}} {axes = array<i64: 0>, scale = 2.500000e-01 : f64}
// CHECK: %[[GV:.*]] = nn.variance %{{.*}}, %[[GM]] {axes = array<i64: 0>, scale = 2.500000e-01 : f64}
// CHECK: nn.normalize %{{.*}}, %[[M]], %[[V]],
// CHECK: nn.mul %[[GM]]
// CHECK: nn.assign @mean
// CHECK: nn.mul %[[GV]]
// CHECK: nn.assign @variance
func.func @step(%x: tensor<4x3xf32>, %g: tensor<3xf32>, %b: tensor<3xf32>) -> tensor<4x3xf32> {
  %m = nn.read @mean : tensor<3xf32>
  %v = nn.read @variance : tensor<3xf32>
  %y = nn.batch_norm local %x, %g, %b, %m, %v {eps = 1.0e-5 : f64, momentum = 0.9 : f64} : tensor<4x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
  return %y : tensor<4x3xf32>
}

// -----

// Frozen statistics are used in training, too, and never updated.
// CHECK-LABEL: func.func @step
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4x3xf32>, %[[S:[a-z0-9]+]]: tensor<3xf32>
// CHECK-NEXT: nn.normalize %[[X]], %[[S]], %[[S]], %[[S]], %[[S]] {axis = 1 : i64, eps = 1.000000e-05 : f64}
// CHECK-NEXT: return
func.func @step(%x: tensor<4x3xf32>, %s: tensor<3xf32>) -> tensor<4x3xf32> {
  %y = nn.batch_norm frozen %x, %s, %s, %s, %s {eps = 1.0e-5 : f64, momentum = 0.9 : f64} : tensor<4x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
  return %y : tensor<4x3xf32>
}
