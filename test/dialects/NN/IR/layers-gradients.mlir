// The gradient rule of each layer, reduction and movement: the loss is the sum of
// c * op(p), so that %DY is c where the rule begins.
// RUN: partita-opt %s -split-input-file -partita-build-gradients | FileCheck %s

// CHECK-LABEL: func.func @step
// CHECK: nn.read @p
// CHECK: nn.broadcast %{{.*}} : tensor<f32>
// CHECK: %[[DY:.*]] = nn.mul %{{.*}}, %arg1 :
// CHECK-NEXT: %[[V7:.*]] = nn.conv_filter_grad %arg0, %[[DY]] {dilations = array<i64: 1>, pads = array<i64: 1, 0>, strides = array<i64: 2>}
// CHECK-NEXT: nn.sgd @p, %[[V7]]
nn.variable @p parameter : tensor<2x4x3xf32> = dense<1.0> : tensor<2x4x3xf32>
func.func @step(%k: tensor<1x4x6xf32>, %c: tensor<1x2x3xf32>) -> tensor<f32> {
  %p = nn.read @p : tensor<2x4x3xf32>
  %y = nn.conv %k, %p {strides = array<i64: 2>, dilations = array<i64: 1>, pads = array<i64: 1, 0>} : tensor<1x4x6xf32>, tensor<2x4x3xf32>
  %0 = nn.mul %y, %c : tensor<1x2x3xf32>, tensor<1x2x3xf32>
  %l = nn.reduce sum %0 {axes = array<i64: 0, 1, 2>} : tensor<1x2x3xf32>
  return %l : tensor<f32>
}

// -----

// CHECK-LABEL: func.func @step
// CHECK: nn.read @p
// CHECK: nn.broadcast %{{.*}} : tensor<f32>
// CHECK: %[[DY:.*]] = nn.mul %{{.*}}, %arg1 :
// CHECK-NEXT: %[[V7:.*]] = nn.conv_input_grad %[[DY]], %arg0 {dilations = array<i64: 1>, pads = array<i64: 1, 0>, strides = array<i64: 2>}
// CHECK-NEXT: nn.sgd @p, %[[V7]]
nn.variable @p parameter : tensor<1x4x6xf32> = dense<1.0> : tensor<1x4x6xf32>
func.func @step(%k: tensor<2x4x3xf32>, %c: tensor<1x2x3xf32>) -> tensor<f32> {
  %p = nn.read @p : tensor<1x4x6xf32>
  %y = nn.conv %p, %k {strides = array<i64: 2>, dilations = array<i64: 1>, pads = array<i64: 1, 0>} : tensor<1x4x6xf32>, tensor<2x4x3xf32>
  %0 = nn.mul %y, %c : tensor<1x2x3xf32>, tensor<1x2x3xf32>
  %l = nn.reduce sum %0 {axes = array<i64: 0, 1, 2>} : tensor<1x2x3xf32>
  return %l : tensor<f32>
}

// -----

// CHECK-LABEL: func.func @step
// CHECK: nn.read @p
// CHECK: nn.broadcast %{{.*}} : tensor<f32>
// CHECK: %[[DY:.*]] = nn.mul %{{.*}}, %arg2 :
// CHECK-NEXT: %[[V7:.*]] = nn.reduce sum %[[DY]] {axes = array<i64: 0, 2>}
// CHECK-NEXT: nn.sgd @p, %[[V7]]
nn.variable @p parameter : tensor<2xf32> = dense<1.0> : tensor<2xf32>
func.func @step(%k: tensor<1x4x6xf32>, %w: tensor<2x4x3xf32>, %c: tensor<1x2x4xf32>) -> tensor<f32> {
  %p = nn.read @p : tensor<2xf32>
  %y = nn.conv %k, %w bias %p {strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 0, 0>} : tensor<1x4x6xf32>, tensor<2x4x3xf32>, tensor<2xf32>
  %0 = nn.mul %y, %c : tensor<1x2x4xf32>, tensor<1x2x4xf32>
  %l = nn.reduce sum %0 {axes = array<i64: 0, 1, 2>} : tensor<1x2x4xf32>
  return %l : tensor<f32>
}

// -----

// The gradient of a gradient is again a product of the three.
// CHECK-LABEL: func.func @step
// CHECK: nn.read @p
// CHECK: nn.broadcast %{{.*}} : tensor<f32>
// CHECK: %[[DY:.*]] = nn.mul %{{.*}}, %arg1 :
// CHECK-NEXT: %[[V7:.*]] = nn.conv_filter_grad %[[DY]], %arg0 {dilations = array<i64: 1>, pads = array<i64: 0, 0>, strides = array<i64: 1>}
// CHECK-NEXT: nn.sgd @p, %[[V7]]
nn.variable @p parameter : tensor<2x4x3xf32> = dense<1.0> : tensor<2x4x3xf32>
func.func @step(%k: tensor<1x2x4xf32>, %c: tensor<1x4x6xf32>) -> tensor<f32> {
  %p = nn.read @p : tensor<2x4x3xf32>
  %y = nn.conv_input_grad %k, %p {strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 0, 0>} : tensor<1x2x4xf32>, tensor<2x4x3xf32> -> tensor<1x4x6xf32>
  %0 = nn.mul %y, %c : tensor<1x4x6xf32>, tensor<1x4x6xf32>
  %l = nn.reduce sum %0 {axes = array<i64: 0, 1, 2>} : tensor<1x4x6xf32>
  return %l : tensor<f32>
}

// -----

// CHECK-LABEL: func.func @step
// CHECK: nn.read @p
// CHECK: nn.broadcast %{{.*}} : tensor<f32>
// CHECK: %[[DY:.*]] = nn.mul %{{.*}}, %arg1 :
// CHECK-NEXT: %[[V7:.*]] = nn.matmul %[[DY]], %arg0 {transpose_b}
// CHECK-NEXT: nn.sgd @p, %[[V7]]
nn.variable @p parameter : tensor<4x3xf32> = dense<1.0> : tensor<4x3xf32>
func.func @step(%k: tensor<3x2xf32>, %c: tensor<4x2xf32>) -> tensor<f32> {
  %p = nn.read @p : tensor<4x3xf32>
  %y = nn.matmul %p, %k : tensor<4x3xf32>, tensor<3x2xf32>
  %0 = nn.mul %y, %c : tensor<4x2xf32>, tensor<4x2xf32>
  %l = nn.reduce sum %0 {axes = array<i64: 0, 1>} : tensor<4x2xf32>
  return %l : tensor<f32>
}

// -----

// CHECK-LABEL: func.func @step
// CHECK: nn.read @p
// CHECK: nn.broadcast %{{.*}} : tensor<f32>
// CHECK: %[[DY:.*]] = nn.mul %{{.*}}, %arg1 :
// CHECK-NEXT: %[[V7:.*]] = nn.matmul %arg0, %[[DY]] {alpha = 5.000000e-01
// CHECK-NEXT: nn.sgd @p, %[[V7]]
nn.variable @p parameter : tensor<3x4xf32> = dense<1.0> : tensor<3x4xf32>
func.func @step(%k: tensor<3x2xf32>, %c: tensor<4x2xf32>) -> tensor<f32> {
  %p = nn.read @p : tensor<3x4xf32>
  %y = nn.matmul %p, %k {transpose_a, alpha = 0.5 : f64} : tensor<3x4xf32>, tensor<3x2xf32>
  %0 = nn.mul %y, %c : tensor<4x2xf32>, tensor<4x2xf32>
  %l = nn.reduce sum %0 {axes = array<i64: 0, 1>} : tensor<4x2xf32>
  return %l : tensor<f32>
}

// -----

// CHECK-LABEL: func.func @step
// CHECK: nn.read @p
// CHECK: nn.broadcast %{{.*}} : tensor<f32>
// CHECK: %[[DY:.*]] = nn.mul %{{.*}}, %arg1 :
// CHECK-NEXT: %[[V7:.*]] = nn.matmul %arg0, %[[DY]] {transpose_a}
// CHECK-NEXT: nn.sgd @p, %[[V7]]
nn.variable @p parameter : tensor<3x2xf32> = dense<1.0> : tensor<3x2xf32>
func.func @step(%k: tensor<4x3xf32>, %c: tensor<4x2xf32>) -> tensor<f32> {
  %p = nn.read @p : tensor<3x2xf32>
  %y = nn.matmul %k, %p : tensor<4x3xf32>, tensor<3x2xf32>
  %0 = nn.mul %y, %c : tensor<4x2xf32>, tensor<4x2xf32>
  %l = nn.reduce sum %0 {axes = array<i64: 0, 1>} : tensor<4x2xf32>
  return %l : tensor<f32>
}

// -----

// CHECK-LABEL: func.func @step
// CHECK: nn.read @p
// CHECK: nn.broadcast %{{.*}} : tensor<f32>
// CHECK: %[[DY:.*]] = nn.mul %{{.*}}, %arg1 :
// CHECK-NEXT: %[[V7:.*]] = nn.matmul %[[DY]], %arg0 {transpose_a, transpose_b}
// CHECK-NEXT: nn.sgd @p, %[[V7]]
nn.variable @p parameter : tensor<2x3xf32> = dense<1.0> : tensor<2x3xf32>
func.func @step(%k: tensor<3x4xf32>, %c: tensor<4x2xf32>) -> tensor<f32> {
  %p = nn.read @p : tensor<2x3xf32>
  %y = nn.matmul %k, %p {transpose_a, transpose_b} : tensor<3x4xf32>, tensor<2x3xf32>
  %0 = nn.mul %y, %c : tensor<4x2xf32>, tensor<4x2xf32>
  %l = nn.reduce sum %0 {axes = array<i64: 0, 1>} : tensor<4x2xf32>
  return %l : tensor<f32>
}

// -----

// A matrix that every batch shares gets the sum over them.
// CHECK-LABEL: func.func @step
// CHECK: nn.read @p
// CHECK: nn.broadcast %{{.*}} : tensor<f32>
// CHECK: %[[DY:.*]] = nn.mul %{{.*}}, %arg1 :
// CHECK-NEXT: %[[V7:.*]] = nn.matmul %arg0, %[[DY]] {transpose_a}
// CHECK-NEXT: %[[V8:.*]] = nn.reduce sum %[[V7]] {axes = array<i64: 0>}
// CHECK-NEXT: nn.sgd @p, %[[V8]]
nn.variable @p parameter : tensor<3x2xf32> = dense<1.0> : tensor<3x2xf32>
func.func @step(%k: tensor<5x4x3xf32>, %c: tensor<5x4x2xf32>) -> tensor<f32> {
  %p = nn.read @p : tensor<3x2xf32>
  %y = nn.matmul %k, %p : tensor<5x4x3xf32>, tensor<3x2xf32>
  %0 = nn.mul %y, %c : tensor<5x4x2xf32>, tensor<5x4x2xf32>
  %l = nn.reduce sum %0 {axes = array<i64: 0, 1, 2>} : tensor<5x4x2xf32>
  return %l : tensor<f32>
}

// -----

// CHECK-LABEL: func.func @step
// CHECK: %[[P:.*]] = nn.read @p
// CHECK: nn.broadcast %{{.*}} : tensor<f32>
// CHECK: %[[DY:.*]] = nn.mul %{{.*}}, %arg0 :
// CHECK-NEXT: %[[V7:.*]] = nn.max_pool_grad %[[P]], %[[DY]] {dilations = array<i64: 1>, kernel = array<i64: 2>, pads = array<i64: 0, 0>, strides = array<i64: 2>}
// CHECK-NEXT: nn.sgd @p, %[[V7]]
nn.variable @p parameter : tensor<1x2x5xf32> = dense<1.0> : tensor<1x2x5xf32>
func.func @step(%c: tensor<1x2x2xf32>) -> tensor<f32> {
  %p = nn.read @p : tensor<1x2x5xf32>
  %y = nn.max_pool %p {kernel = array<i64: 2>, strides = array<i64: 2>, dilations = array<i64: 1>, pads = array<i64: 0, 0>} : tensor<1x2x5xf32> -> tensor<1x2x2xf32>
  %0 = nn.mul %y, %c : tensor<1x2x2xf32>, tensor<1x2x2xf32>
  %l = nn.reduce sum %0 {axes = array<i64: 0, 1, 2>} : tensor<1x2x2xf32>
  return %l : tensor<f32>
}

// -----

// CHECK-LABEL: func.func @step
// CHECK: nn.read @p
// CHECK: nn.broadcast %{{.*}} : tensor<f32>
// CHECK: %[[DY:.*]] = nn.mul %{{.*}}, %arg0 :
// CHECK-NEXT: %[[V7:.*]] = nn.avg_pool_grad %[[DY]] {count_include_pad, dilations = array<i64: 1>, kernel = array<i64: 2>, pads = array<i64: 0, 0>, strides = array<i64: 2>}
// CHECK-NEXT: nn.sgd @p, %[[V7]]
nn.variable @p parameter : tensor<1x2x5xf32> = dense<1.0> : tensor<1x2x5xf32>
func.func @step(%c: tensor<1x2x2xf32>) -> tensor<f32> {
  %p = nn.read @p : tensor<1x2x5xf32>
  %y = nn.avg_pool %p {kernel = array<i64: 2>, strides = array<i64: 2>, dilations = array<i64: 1>, pads = array<i64: 0, 0>, count_include_pad} : tensor<1x2x5xf32> -> tensor<1x2x2xf32>
  %0 = nn.mul %y, %c : tensor<1x2x2xf32>, tensor<1x2x2xf32>
  %l = nn.reduce sum %0 {axes = array<i64: 0, 1, 2>} : tensor<1x2x2xf32>
  return %l : tensor<f32>
}

// -----

// CHECK-LABEL: func.func @step
// CHECK: %[[P:.*]] = nn.read @p
// CHECK: nn.broadcast %{{.*}} : tensor<f32>
// CHECK: %[[DY:.*]] = nn.mul %{{.*}}, %arg0 :
// CHECK-NEXT: %[[V7:.*]] = nn.lrn_grad %[[P]], %[[DY]] {alpha = 1.000000e-04
// CHECK-NEXT: nn.sgd @p, %[[V7]]
nn.variable @p parameter : tensor<1x4x2xf32> = dense<1.0> : tensor<1x4x2xf32>
func.func @step(%c: tensor<1x4x2xf32>) -> tensor<f32> {
  %p = nn.read @p : tensor<1x4x2xf32>
  %y = nn.lrn %p {alpha = 1.0e-4 : f64, beta = 0.75 : f64, bias = 1.0 : f64, size = 3 : i64} : tensor<1x4x2xf32>
  %0 = nn.mul %y, %c : tensor<1x4x2xf32>, tensor<1x4x2xf32>
  %l = nn.reduce sum %0 {axes = array<i64: 0, 1, 2>} : tensor<1x4x2xf32>
  return %l : tensor<f32>
}

// -----

// CHECK-LABEL: func.func @step
// CHECK: nn.read @p
// CHECK: nn.broadcast %{{.*}} : tensor<f32>
// CHECK: %[[DY:.*]] = nn.mul %{{.*}}, %arg0 :
// CHECK-NEXT: %[[V7:.*]] = nn.reshape %[[DY]]
// CHECK-NEXT: %[[V8:.*]] = nn.constant dense<2.500000e-01> : tensor<f32>
// CHECK-NEXT: %[[V9:.*]] = nn.mul %[[V7]], %[[V8]]
// CHECK-NEXT: %[[V10:.*]] = nn.broadcast %[[V9]]
// CHECK-NEXT: nn.sgd @p, %[[V10]]
nn.variable @p parameter : tensor<4x3xf32> = dense<1.0> : tensor<4x3xf32>
func.func @step(%c: tensor<4xf32>) -> tensor<f32> {
  %p = nn.read @p : tensor<4x3xf32>
  %y = nn.reduce sum %p {axes = array<i64: 1>, scale = 0.25 : f64} : tensor<4x3xf32>
  %0 = nn.mul %y, %c : tensor<4xf32>, tensor<4xf32>
  %l = nn.reduce sum %0 {axes = array<i64: 0>} : tensor<4xf32>
  return %l : tensor<f32>
}

// -----

// Equal extremes share.
// CHECK-LABEL: func.func @step
// CHECK: %[[P:.*]] = nn.read @p
// CHECK-NEXT: %[[Y:.*]] = nn.reduce
// CHECK: nn.broadcast %{{.*}} : tensor<f32>
// CHECK: %[[DY:.*]] = nn.mul %{{.*}}, %arg0 :
// CHECK-NEXT: %[[V7:.*]] = nn.reshape %[[DY]]
// CHECK-NEXT: %[[V8:.*]] = nn.reshape %[[Y]]
// CHECK-NEXT: %[[V9:.*]] = nn.compare eq, %[[P]], %[[V8]]
// CHECK-NEXT: %[[V10:.*]] = nn.cast %[[V9]]
// CHECK-NEXT: %[[V11:.*]] = nn.reduce sum %[[V10]] {axes = array<i64: 1>}
// CHECK-NEXT: %[[V12:.*]] = nn.reshape %[[V11]]
// CHECK-NEXT: %[[V13:.*]] = nn.div %[[V7]], %[[V12]]
// CHECK-NEXT: %[[V14:.*]] = nn.mul %[[V10]], %[[V13]]
// CHECK-NEXT: nn.sgd @p, %[[V14]]
nn.variable @p parameter : tensor<4x3xf32> = dense<1.0> : tensor<4x3xf32>
func.func @step(%c: tensor<4xf32>) -> tensor<f32> {
  %p = nn.read @p : tensor<4x3xf32>
  %y = nn.reduce max %p {axes = array<i64: 1>} : tensor<4x3xf32>
  %0 = nn.mul %y, %c : tensor<4xf32>, tensor<4xf32>
  %l = nn.reduce sum %0 {axes = array<i64: 0>} : tensor<4xf32>
  return %l : tensor<f32>
}

// -----

// The product of the others, also where one or several factors are 0.
// CHECK-LABEL: func.func @step
// CHECK: %[[P:.*]] = nn.read @p
// CHECK: nn.broadcast %{{.*}} : tensor<f32>
// CHECK: %[[DY:.*]] = nn.mul %{{.*}}, %arg0 :
// CHECK-NEXT: %[[V7:.*]] = nn.reshape %[[DY]]
// CHECK-NEXT: %[[V8:.*]] = nn.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V9:.*]] = nn.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V10:.*]] = nn.compare eq, %[[P]], %[[V8]]
// CHECK-NEXT: %[[V11:.*]] = nn.select %[[V10]], %[[V9]], %[[P]]
// CHECK-NEXT: %[[V12:.*]] = nn.reduce prod %[[V11]] {axes = array<i64: 1>}
// CHECK-NEXT: %[[V13:.*]] = nn.cast %[[V10]]
// CHECK-NEXT: %[[V14:.*]] = nn.reduce sum %[[V13]] {axes = array<i64: 1>}
// CHECK-NEXT: %[[V15:.*]] = nn.reshape %[[V12]]
// CHECK-NEXT: %[[V16:.*]] = nn.reshape %[[V14]]
// CHECK-NEXT: %[[V17:.*]] = nn.div %[[V15]], %[[V11]]
// CHECK-NEXT: %[[V18:.*]] = nn.compare eq, %[[V16]], %[[V8]]
// CHECK-NEXT: %[[V19:.*]] = nn.compare eq, %[[V16]], %[[V9]]
// CHECK-NEXT: %[[V20:.*]] = nn.select %[[V10]], %[[V17]], %[[V8]]
// CHECK-NEXT: %[[V21:.*]] = nn.select %[[V19]], %[[V20]], %[[V8]]
// CHECK-NEXT: %[[V22:.*]] = nn.select %[[V18]], %[[V17]], %[[V21]]
// CHECK-NEXT: %[[V23:.*]] = nn.mul %[[V7]], %[[V22]]
// CHECK-NEXT: nn.sgd @p, %[[V23]]
nn.variable @p parameter : tensor<4x3xf32> = dense<1.0> : tensor<4x3xf32>
func.func @step(%c: tensor<4xf32>) -> tensor<f32> {
  %p = nn.read @p : tensor<4x3xf32>
  %y = nn.reduce prod %p {axes = array<i64: 1>} : tensor<4x3xf32>
  %0 = nn.mul %y, %c : tensor<4xf32>, tensor<4xf32>
  %l = nn.reduce sum %0 {axes = array<i64: 0>} : tensor<4xf32>
  return %l : tensor<f32>
}

// -----

// CHECK-LABEL: func.func @step
// CHECK: nn.read @p
// CHECK: nn.broadcast %{{.*}} : tensor<f32>
// CHECK: %[[DY:.*]] = nn.mul %{{.*}}, %arg0 :
// CHECK-NEXT: %[[V7:.*]] = nn.reshape %[[DY]]
// CHECK-NEXT: nn.sgd @p, %[[V7]]
nn.variable @p parameter : tensor<4x3xf32> = dense<1.0> : tensor<4x3xf32>
func.func @step(%c: tensor<12xf32>) -> tensor<f32> {
  %p = nn.read @p : tensor<4x3xf32>
  %y = nn.reshape %p : tensor<4x3xf32> -> tensor<12xf32>
  %0 = nn.mul %y, %c : tensor<12xf32>, tensor<12xf32>
  %l = nn.reduce sum %0 {axes = array<i64: 0>} : tensor<12xf32>
  return %l : tensor<f32>
}

// -----

// CHECK-LABEL: func.func @step
// CHECK: nn.read @p
// CHECK: nn.broadcast %{{.*}} : tensor<f32>
// CHECK: %[[DY:.*]] = nn.mul %{{.*}}, %arg0 :
// CHECK-NEXT: %[[V7:.*]] = nn.transpose %[[DY]] {permutation = array<i64: 1, 2, 0>}
// CHECK-NEXT: nn.sgd @p, %[[V7]]
nn.variable @p parameter : tensor<2x3x4xf32> = dense<1.0> : tensor<2x3x4xf32>
func.func @step(%c: tensor<4x2x3xf32>) -> tensor<f32> {
  %p = nn.read @p : tensor<2x3x4xf32>
  %y = nn.transpose %p {permutation = array<i64: 2, 0, 1>} : tensor<2x3x4xf32>
  %0 = nn.mul %y, %c : tensor<4x2x3xf32>, tensor<4x2x3xf32>
  %l = nn.reduce sum %0 {axes = array<i64: 0, 1, 2>} : tensor<4x2x3xf32>
  return %l : tensor<f32>
}

// -----

// CHECK-LABEL: func.func @step
// CHECK: nn.read @p
// CHECK: nn.broadcast %{{.*}} : tensor<f32>
// CHECK: %[[DY:.*]] = nn.mul %{{.*}}, %arg0 :
// CHECK-NEXT: %[[V7:.*]] = nn.reduce sum %[[DY]] {axes = array<i64: 0, 2>}
// CHECK-NEXT: %[[V8:.*]] = nn.reshape %[[V7]]
// CHECK-NEXT: nn.sgd @p, %[[V8]]
nn.variable @p parameter : tensor<3x1xf32> = dense<1.0> : tensor<3x1xf32>
func.func @step(%c: tensor<2x3x4xf32>) -> tensor<f32> {
  %p = nn.read @p : tensor<3x1xf32>
  %y = nn.broadcast %p : tensor<3x1xf32> -> tensor<2x3x4xf32>
  %0 = nn.mul %y, %c : tensor<2x3x4xf32>, tensor<2x3x4xf32>
  %l = nn.reduce sum %0 {axes = array<i64: 0, 1, 2>} : tensor<2x3x4xf32>
  return %l : tensor<f32>
}

// -----

// Gaps become zeros.
// CHECK-LABEL: func.func @step
// CHECK: nn.read @p
// CHECK: nn.broadcast %{{.*}} : tensor<f32>
// CHECK: %[[DY:.*]] = nn.mul %{{.*}}, %arg0 :
// CHECK-NEXT: %[[V7:.*]] = nn.pad %[[DY]] {high = array<i64: 1>, interior = array<i64: 1>, low = array<i64: 1>}
// CHECK-NEXT: nn.sgd @p, %[[V7]]
nn.variable @p parameter : tensor<7xf32> = dense<1.0> : tensor<7xf32>
func.func @step(%c: tensor<3xf32>) -> tensor<f32> {
  %p = nn.read @p : tensor<7xf32>
  %y = nn.slice %p {starts = array<i64: 1>, sizes = array<i64: 3>, steps = array<i64: 2>} : tensor<7xf32>
  %0 = nn.mul %y, %c : tensor<3xf32>, tensor<3xf32>
  %l = nn.reduce sum %0 {axes = array<i64: 0>} : tensor<3xf32>
  return %l : tensor<f32>
}

// -----

// Turned around first.
// CHECK-LABEL: func.func @step
// CHECK: nn.read @p
// CHECK: nn.broadcast %{{.*}} : tensor<f32>
// CHECK: %[[DY:.*]] = nn.mul %{{.*}}, %arg0 :
// CHECK-NEXT: %[[V7:.*]] = nn.slice %[[DY]] {sizes = array<i64: 3>, starts = array<i64: 2>, steps = array<i64: -1>}
// CHECK-NEXT: %[[V8:.*]] = nn.pad %[[V7]] {high = array<i64: 1>, interior = array<i64: 1>, low = array<i64: 1>}
// CHECK-NEXT: nn.sgd @p, %[[V8]]
nn.variable @p parameter : tensor<7xf32> = dense<1.0> : tensor<7xf32>
func.func @step(%c: tensor<3xf32>) -> tensor<f32> {
  %p = nn.read @p : tensor<7xf32>
  %y = nn.slice %p {starts = array<i64: 5>, sizes = array<i64: 3>, steps = array<i64: -2>} : tensor<7xf32>
  %0 = nn.mul %y, %c : tensor<3xf32>, tensor<3xf32>
  %l = nn.reduce sum %0 {axes = array<i64: 0>} : tensor<3xf32>
  return %l : tensor<f32>
}

// -----

// What was cropped is zero, what was added is dropped.
// CHECK-LABEL: func.func @step
// CHECK: nn.read @p
// CHECK: nn.broadcast %{{.*}} : tensor<f32>
// CHECK: %[[DY:.*]] = nn.mul %{{.*}}, %arg0 :
// CHECK-NEXT: %[[V7:.*]] = nn.pad %[[DY]] {high = array<i64: 1>, interior = array<i64: 0>, low = array<i64: -1>}
// CHECK-NEXT: %[[V8:.*]] = nn.slice %[[V7]] {sizes = array<i64: 3>, starts = array<i64: 0>, steps = array<i64: 2>}
// CHECK-NEXT: nn.sgd @p, %[[V8]]
nn.variable @p parameter : tensor<3xf32> = dense<1.0> : tensor<3xf32>
func.func @step(%c: tensor<5xf32>) -> tensor<f32> {
  %p = nn.read @p : tensor<3xf32>
  %y = nn.pad %p {low = array<i64: 1>, interior = array<i64: 1>, high = array<i64: -1>} : tensor<3xf32>
  %0 = nn.mul %y, %c : tensor<5xf32>, tensor<5xf32>
  %l = nn.reduce sum %0 {axes = array<i64: 0>} : tensor<5xf32>
  return %l : tensor<f32>
}

// -----

// CHECK-LABEL: func.func @step
// CHECK: nn.read @p
// CHECK: nn.broadcast %{{.*}} : tensor<f32>
// CHECK: %[[DY:.*]] = nn.mul %{{.*}}, %arg1 :
// CHECK-NEXT: %[[V7:.*]] = nn.slice %[[DY]] {sizes = array<i64: 2>, starts = array<i64: 3>, steps = array<i64: 1>}
// CHECK-NEXT: nn.sgd @p, %[[V7]]
nn.variable @p parameter : tensor<2xf32> = dense<1.0> : tensor<2xf32>
func.func @step(%k: tensor<3xf32>, %c: tensor<5xf32>) -> tensor<f32> {
  %p = nn.read @p : tensor<2xf32>
  %y = nn.concat %k, %p {axis = 0 : i64} : tensor<3xf32>, tensor<2xf32>
  %0 = nn.mul %y, %c : tensor<5xf32>, tensor<5xf32>
  %l = nn.reduce sum %0 {axes = array<i64: 0>} : tensor<5xf32>
  return %l : tensor<f32>
}

// -----

// CHECK-LABEL: func.func @step
// CHECK: nn.read @p
// CHECK-NEXT: %[[Y:.*]] = nn.softmax
// CHECK: nn.broadcast %{{.*}} : tensor<f32>
// CHECK: %[[DY:.*]] = nn.mul %{{.*}}, %arg0 :
// CHECK-NEXT: %[[V7:.*]] = nn.softmax_grad %[[Y]], %[[DY]] {axis = 1
// CHECK-NEXT: nn.sgd @p, %[[V7]]
nn.variable @p parameter : tensor<4x3xf32> = dense<1.0> : tensor<4x3xf32>
func.func @step(%c: tensor<4x3xf32>) -> tensor<f32> {
  %p = nn.read @p : tensor<4x3xf32>
  %y = nn.softmax %p {axis = 1 : i64} : tensor<4x3xf32>
  %0 = nn.mul %y, %c : tensor<4x3xf32>, tensor<4x3xf32>
  %l = nn.reduce sum %0 {axes = array<i64: 0, 1>} : tensor<4x3xf32>
  return %l : tensor<f32>
}

// -----

// CHECK-LABEL: func.func @step
// CHECK: nn.read @p
// CHECK-NEXT: %[[Y:.*]] = nn.log_softmax
// CHECK: nn.broadcast %{{.*}} : tensor<f32>
// CHECK: %[[DY:.*]] = nn.mul %{{.*}}, %arg0 :
// CHECK-NEXT: %[[V7:.*]] = nn.log_softmax_grad %[[Y]], %[[DY]] {axis = 1
// CHECK-NEXT: nn.sgd @p, %[[V7]]
nn.variable @p parameter : tensor<4x3xf32> = dense<1.0> : tensor<4x3xf32>
func.func @step(%c: tensor<4x3xf32>) -> tensor<f32> {
  %p = nn.read @p : tensor<4x3xf32>
  %y = nn.log_softmax %p {axis = 1 : i64} : tensor<4x3xf32>
  %0 = nn.mul %y, %c : tensor<4x3xf32>, tensor<4x3xf32>
  %l = nn.reduce sum %0 {axes = array<i64: 0, 1>} : tensor<4x3xf32>
  return %l : tensor<f32>
}

// -----

// A gradient that differs from sample to sample multiplies the unscaled one.
// CHECK-LABEL: func.func @step
// CHECK: %[[P:.*]] = nn.read @p
// CHECK: nn.broadcast %{{.*}} : tensor<f32>
// CHECK: %[[DY:.*]] = nn.mul %{{.*}}, %arg1 :
// CHECK-NEXT: %[[V7:.*]] = nn.cross_entropy_grad %[[P]], %arg0 {axis = 1
// CHECK-NEXT: %[[V8:.*]] = nn.reshape %[[DY]]
// CHECK-NEXT: %[[V9:.*]] = nn.mul %[[V7]], %[[V8]]
// CHECK-NEXT: nn.sgd @p, %[[V9]]
nn.variable @p parameter : tensor<4x3xf32> = dense<1.0> : tensor<4x3xf32>
func.func @step(%k: tensor<4xi64>, %c: tensor<4xf32>) -> tensor<f32> {
  %p = nn.read @p : tensor<4x3xf32>
  %y = nn.cross_entropy %p, %k {axis = 1 : i64} : tensor<4x3xf32>, tensor<4xi64>
  %0 = nn.mul %y, %c : tensor<4xf32>, tensor<4xf32>
  %l = nn.reduce sum %0 {axes = array<i64: 0>} : tensor<4xf32>
  return %l : tensor<f32>
}

// -----

// Rows that are looked up several times add up their gradients.
// CHECK-LABEL: func.func @step
// CHECK: nn.read @p
// CHECK: nn.broadcast %{{.*}} : tensor<f32>
// CHECK: %[[DY:.*]] = nn.mul %{{.*}}, %arg1 :
// CHECK-NEXT: %[[V7:.*]] = nn.scatter_add %[[DY]], %arg0 {axis = 1 : i64, limit = 9 : i64, start = 2 : i64} : tensor<2x4x3xf32>, tensor<4xi32> -> tensor<2x5x3xf32>
// CHECK-NEXT: nn.sgd @p, %[[V7]]
nn.variable @p parameter : tensor<2x5x3xf32> = dense<1.0> : tensor<2x5x3xf32>
func.func @step(%k: tensor<4xi32>, %c: tensor<2x4x3xf32>) -> tensor<f32> {
  %p = nn.read @p : tensor<2x5x3xf32>
  %y = nn.gather %p, %k {axis = 1 : i64, limit = 9 : i64, start = 2 : i64} : tensor<2x5x3xf32>, tensor<4xi32>
  %0 = nn.mul %y, %c : tensor<2x4x3xf32>, tensor<2x4x3xf32>
  %l = nn.reduce sum %0 {axes = array<i64: 0, 1, 2>} : tensor<2x4x3xf32>
  return %l : tensor<f32>
}

// -----

// The gradient of the sums is a look-up again.
// CHECK-LABEL: func.func @step
// CHECK: nn.read @p
// CHECK: nn.broadcast %{{.*}} : tensor<f32>
// CHECK: %[[DY:.*]] = nn.mul %{{.*}}, %arg1 :
// CHECK-NEXT: %[[V7:.*]] = nn.gather %[[DY]], %arg0 {axis = 0 : i64, limit = 5 : i64} : tensor<5x3xf32>, tensor<4xi64>
// CHECK-NEXT: nn.sgd @p, %[[V7]]
nn.variable @p parameter : tensor<4x3xf32> = dense<1.0> : tensor<4x3xf32>
func.func @step(%k: tensor<4xi64>, %c: tensor<5x3xf32>) -> tensor<f32> {
  %p = nn.read @p : tensor<4x3xf32>
  %y = nn.scatter_add %p, %k {axis = 0 : i64, limit = 5 : i64} : tensor<4x3xf32>, tensor<4xi64> -> tensor<5x3xf32>
  %0 = nn.mul %y, %c : tensor<5x3xf32>, tensor<5x3xf32>
  %l = nn.reduce sum %0 {axes = array<i64: 0, 1>} : tensor<5x3xf32>
  return %l : tensor<f32>
}
