// The gradient rule of each point-wise operation: the loss is the sum of
// c * op(p), so that %DY is c where the rule begins.
// RUN: partita-opt %s -split-input-file -partita-build-gradients | FileCheck %s

// The second operand's sign.
// CHECK-LABEL: func.func @step
// CHECK: nn.read @p
// CHECK: nn.broadcast %{{.*}} : tensor<f32>
// CHECK: %[[DY:.*]] = nn.mul %{{.*}}, %arg1 :
// CHECK-NEXT: %[[V7:.*]] = nn.neg %[[DY]]
// CHECK-NEXT: nn.sgd @p, %[[V7]]
nn.variable @p parameter : tensor<4x3xf32> = dense<1.0> : tensor<4x3xf32>
func.func @step(%k: tensor<4x3xf32>, %c: tensor<4x3xf32>) -> tensor<f32> {
  %p = nn.read @p : tensor<4x3xf32>
  %y = nn.sub %k, %p : tensor<4x3xf32>, tensor<4x3xf32>
  %0 = nn.mul %y, %c : tensor<4x3xf32>, tensor<4x3xf32>
  %l = nn.reduce sum %0 {axes = array<i64: 0, 1>} : tensor<4x3xf32>
  return %l : tensor<f32>
}

// -----

// -dy * y / b, summed over what b was broadcast to.
// CHECK-LABEL: func.func @step
// CHECK: %[[P:.*]] = nn.read @p
// CHECK-NEXT: %[[Y:.*]] = nn.div
// CHECK: nn.broadcast %{{.*}} : tensor<f32>
// CHECK: %[[DY:.*]] = nn.mul %{{.*}}, %arg1 :
// CHECK-NEXT: %[[V7:.*]] = nn.mul %[[DY]], %[[Y]]
// CHECK-NEXT: %[[V8:.*]] = nn.div %[[V7]], %[[P]]
// CHECK-NEXT: %[[V9:.*]] = nn.neg %[[V8]]
// CHECK-NEXT: %[[V10:.*]] = nn.reduce sum %[[V9]] {axes = array<i64: 0>}
// CHECK-NEXT: nn.sgd @p, %[[V10]]
nn.variable @p parameter : tensor<3xf32> = dense<1.0> : tensor<3xf32>
func.func @step(%k: tensor<4x3xf32>, %c: tensor<4x3xf32>) -> tensor<f32> {
  %p = nn.read @p : tensor<3xf32>
  %y = nn.div %k, %p : tensor<4x3xf32>, tensor<3xf32>
  %0 = nn.mul %y, %c : tensor<4x3xf32>, tensor<4x3xf32>
  %l = nn.reduce sum %0 {axes = array<i64: 0, 1>} : tensor<4x3xf32>
  return %l : tensor<f32>
}

// -----

// dy * b * a^(b-1), and 0 where b is 0.
// CHECK-LABEL: func.func @step
// CHECK: %[[P:.*]] = nn.read @p
// CHECK: nn.broadcast %{{.*}} : tensor<f32>
// CHECK: %[[DY:.*]] = nn.mul %{{.*}}, %arg1 :
// CHECK-NEXT: %[[V7:.*]] = nn.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V8:.*]] = nn.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V9:.*]] = nn.sub %arg0, %[[V8]]
// CHECK-NEXT: %[[V10:.*]] = nn.pow %[[P]], %[[V9]]
// CHECK-NEXT: %[[V11:.*]] = nn.mul %arg0, %[[V10]]
// CHECK-NEXT: %[[V12:.*]] = nn.compare eq, %arg0, %[[V7]]
// CHECK-NEXT: %[[V13:.*]] = nn.select %[[V12]], %[[V7]], %[[V11]]
// CHECK-NEXT: %[[V14:.*]] = nn.mul %[[DY]], %[[V13]]
// CHECK-NEXT: nn.sgd @p, %[[V14]]
nn.variable @p parameter : tensor<4xf32> = dense<1.0> : tensor<4xf32>
func.func @step(%k: tensor<4xf32>, %c: tensor<4xf32>) -> tensor<f32> {
  %p = nn.read @p : tensor<4xf32>
  %y = nn.pow %p, %k : tensor<4xf32>, tensor<4xf32>
  %0 = nn.mul %y, %c : tensor<4xf32>, tensor<4xf32>
  %l = nn.reduce sum %0 {axes = array<i64: 0>} : tensor<4xf32>
  return %l : tensor<f32>
}

// -----

// dy * y * log a, with log 1 where a is 0.
// CHECK-LABEL: func.func @step
// CHECK: nn.read @p
// CHECK-NEXT: %[[Y:.*]] = nn.pow
// CHECK: nn.broadcast %{{.*}} : tensor<f32>
// CHECK: %[[DY:.*]] = nn.mul %{{.*}}, %arg1 :
// CHECK-NEXT: %[[V7:.*]] = nn.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V8:.*]] = nn.compare eq, %arg0, %[[V7]]
// CHECK-NEXT: %[[V9:.*]] = nn.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V10:.*]] = nn.select %[[V8]], %[[V9]], %arg0
// CHECK-NEXT: %[[V11:.*]] = nn.log %[[V10]]
// CHECK-NEXT: %[[V12:.*]] = nn.mul %[[Y]], %[[V11]]
// CHECK-NEXT: %[[V13:.*]] = nn.mul %[[DY]], %[[V12]]
// CHECK-NEXT: nn.sgd @p, %[[V13]]
nn.variable @p parameter : tensor<4xf32> = dense<1.0> : tensor<4xf32>
func.func @step(%k: tensor<4xf32>, %c: tensor<4xf32>) -> tensor<f32> {
  %p = nn.read @p : tensor<4xf32>
  %y = nn.pow %k, %p : tensor<4xf32>, tensor<4xf32>
  %0 = nn.mul %y, %c : tensor<4xf32>, tensor<4xf32>
  %l = nn.reduce sum %0 {axes = array<i64: 0>} : tensor<4xf32>
  return %l : tensor<f32>
}

// -----

// All of it where p wins, half where both are equal.
// CHECK-LABEL: func.func @step
// CHECK: %[[P:.*]] = nn.read @p
// CHECK: nn.broadcast %{{.*}} : tensor<f32>
// CHECK: %[[DY:.*]] = nn.mul %{{.*}}, %arg1 :
// CHECK-NEXT: %[[V7:.*]] = nn.constant dense<5.000000e-01> : tensor<f32>
// CHECK-NEXT: %[[V8:.*]] = nn.mul %[[DY]], %[[V7]]
// CHECK-NEXT: %[[V9:.*]] = nn.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V10:.*]] = nn.compare eq, %[[P]], %arg0
// CHECK-NEXT: %[[V11:.*]] = nn.select %[[V10]], %[[V8]], %[[V9]]
// CHECK-NEXT: %[[V12:.*]] = nn.compare gt, %[[P]], %arg0
// CHECK-NEXT: %[[V13:.*]] = nn.select %[[V12]], %[[DY]], %[[V11]]
// CHECK-NEXT: nn.sgd @p, %[[V13]]
nn.variable @p parameter : tensor<4xf32> = dense<1.0> : tensor<4xf32>
func.func @step(%k: tensor<4xf32>, %c: tensor<4xf32>) -> tensor<f32> {
  %p = nn.read @p : tensor<4xf32>
  %y = nn.max %p, %k : tensor<4xf32>, tensor<4xf32>
  %0 = nn.mul %y, %c : tensor<4xf32>, tensor<4xf32>
  %l = nn.reduce sum %0 {axes = array<i64: 0>} : tensor<4xf32>
  return %l : tensor<f32>
}

// -----

// The same for the smaller one.
// CHECK-LABEL: func.func @step
// CHECK: %[[P:.*]] = nn.read @p
// CHECK: nn.broadcast %{{.*}} : tensor<f32>
// CHECK: %[[DY:.*]] = nn.mul %{{.*}}, %arg1 :
// CHECK-NEXT: %[[V7:.*]] = nn.constant dense<5.000000e-01> : tensor<f32>
// CHECK-NEXT: %[[V8:.*]] = nn.mul %[[DY]], %[[V7]]
// CHECK-NEXT: %[[V9:.*]] = nn.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V10:.*]] = nn.compare eq, %[[P]], %arg0
// CHECK-NEXT: %[[V11:.*]] = nn.select %[[V10]], %[[V8]], %[[V9]]
// CHECK-NEXT: %[[V12:.*]] = nn.compare lt, %[[P]], %arg0
// CHECK-NEXT: %[[V13:.*]] = nn.select %[[V12]], %[[DY]], %[[V11]]
// CHECK-NEXT: nn.sgd @p, %[[V13]]
nn.variable @p parameter : tensor<4xf32> = dense<1.0> : tensor<4xf32>
func.func @step(%k: tensor<4xf32>, %c: tensor<4xf32>) -> tensor<f32> {
  %p = nn.read @p : tensor<4xf32>
  %y = nn.min %k, %p : tensor<4xf32>, tensor<4xf32>
  %0 = nn.mul %y, %c : tensor<4xf32>, tensor<4xf32>
  %l = nn.reduce sum %0 {axes = array<i64: 0>} : tensor<4xf32>
  return %l : tensor<f32>
}

// -----

// CHECK-LABEL: func.func @step
// CHECK: nn.read @p
// CHECK: nn.broadcast %{{.*}} : tensor<f32>
// CHECK: %[[DY:.*]] = nn.mul %{{.*}}, %arg1 :
// CHECK-NEXT: %[[V7:.*]] = nn.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V8:.*]] = nn.select %arg0, %[[DY]], %[[V7]]
// CHECK-NEXT: %[[V9:.*]] = nn.select %arg0, %[[V7]], %[[DY]]
// CHECK-NEXT: %[[V10:.*]] = nn.add %[[V8]], %[[V9]]
// CHECK-NEXT: nn.sgd @p, %[[V10]]
nn.variable @p parameter : tensor<4xf32> = dense<1.0> : tensor<4xf32>
func.func @step(%k: tensor<4xi1>, %c: tensor<4xf32>) -> tensor<f32> {
  %p = nn.read @p : tensor<4xf32>
  %y = nn.select %k, %p, %p : tensor<4xi1>, tensor<4xf32>, tensor<4xf32>
  %0 = nn.mul %y, %c : tensor<4xf32>, tensor<4xf32>
  %l = nn.reduce sum %0 {axes = array<i64: 0>} : tensor<4xf32>
  return %l : tensor<f32>
}

// -----

// CHECK-LABEL: func.func @step
// CHECK: nn.read @p
// CHECK: nn.broadcast %{{.*}} : tensor<f64>
// CHECK: %[[DY:.*]] = nn.mul %{{.*}}, %arg0 :
// CHECK-NEXT: %[[V7:.*]] = nn.cast %[[DY]]
// CHECK-NEXT: nn.sgd @p, %[[V7]]
nn.variable @p parameter : tensor<4xf32> = dense<1.0> : tensor<4xf32>
func.func @step(%c: tensor<4xf64>) -> tensor<f64> {
  %p = nn.read @p : tensor<4xf32>
  %y = nn.cast %p : tensor<4xf32> -> tensor<4xf64>
  %0 = nn.mul %y, %c : tensor<4xf64>, tensor<4xf64>
  %l = nn.reduce sum %0 {axes = array<i64: 0>} : tensor<4xf64>
  return %l : tensor<f64>
}

// -----

// dy * sign x
// CHECK-LABEL: func.func @step
// CHECK: %[[P:.*]] = nn.read @p
// CHECK: nn.broadcast %{{.*}} : tensor<f32>
// CHECK: %[[DY:.*]] = nn.mul %{{.*}}, %arg0 :
// CHECK-NEXT: %[[V7:.*]] = nn.sign %[[P]]
// CHECK-NEXT: %[[V8:.*]] = nn.mul %[[DY]], %[[V7]]
// CHECK-NEXT: nn.sgd @p, %[[V8]]
nn.variable @p parameter : tensor<4xf32> = dense<1.0> : tensor<4xf32>
func.func @step(%c: tensor<4xf32>) -> tensor<f32> {
  %p = nn.read @p : tensor<4xf32>
  %y = nn.abs %p : tensor<4xf32>
  %0 = nn.mul %y, %c : tensor<4xf32>, tensor<4xf32>
  %l = nn.reduce sum %0 {axes = array<i64: 0>} : tensor<4xf32>
  return %l : tensor<f32>
}

// -----

// CHECK-LABEL: func.func @step
// CHECK: nn.read @p
// CHECK: nn.broadcast %{{.*}} : tensor<f32>
// CHECK: %[[DY:.*]] = nn.mul %{{.*}}, %arg0 :
// CHECK-NEXT: %[[V7:.*]] = nn.neg %[[DY]]
// CHECK-NEXT: nn.sgd @p, %[[V7]]
nn.variable @p parameter : tensor<4xf32> = dense<1.0> : tensor<4xf32>
func.func @step(%c: tensor<4xf32>) -> tensor<f32> {
  %p = nn.read @p : tensor<4xf32>
  %y = nn.neg %p : tensor<4xf32>
  %0 = nn.mul %y, %c : tensor<4xf32>, tensor<4xf32>
  %l = nn.reduce sum %0 {axes = array<i64: 0>} : tensor<4xf32>
  return %l : tensor<f32>
}

// -----

// dy * y
// CHECK-LABEL: func.func @step
// CHECK: nn.read @p
// CHECK-NEXT: %[[Y:.*]] = nn.exp
// CHECK: nn.broadcast %{{.*}} : tensor<f32>
// CHECK: %[[DY:.*]] = nn.mul %{{.*}}, %arg0 :
// CHECK-NEXT: %[[V7:.*]] = nn.mul %[[DY]], %[[Y]]
// CHECK-NEXT: nn.sgd @p, %[[V7]]
nn.variable @p parameter : tensor<4xf32> = dense<1.0> : tensor<4xf32>
func.func @step(%c: tensor<4xf32>) -> tensor<f32> {
  %p = nn.read @p : tensor<4xf32>
  %y = nn.exp %p : tensor<4xf32>
  %0 = nn.mul %y, %c : tensor<4xf32>, tensor<4xf32>
  %l = nn.reduce sum %0 {axes = array<i64: 0>} : tensor<4xf32>
  return %l : tensor<f32>
}

// -----

// dy / x
// CHECK-LABEL: func.func @step
// CHECK: %[[P:.*]] = nn.read @p
// CHECK: nn.broadcast %{{.*}} : tensor<f32>
// CHECK: %[[DY:.*]] = nn.mul %{{.*}}, %arg0 :
// CHECK-NEXT: %[[V7:.*]] = nn.div %[[DY]], %[[P]]
// CHECK-NEXT: nn.sgd @p, %[[V7]]
nn.variable @p parameter : tensor<4xf32> = dense<1.0> : tensor<4xf32>
func.func @step(%c: tensor<4xf32>) -> tensor<f32> {
  %p = nn.read @p : tensor<4xf32>
  %y = nn.log %p : tensor<4xf32>
  %0 = nn.mul %y, %c : tensor<4xf32>, tensor<4xf32>
  %l = nn.reduce sum %0 {axes = array<i64: 0>} : tensor<4xf32>
  return %l : tensor<f32>
}

// -----

// dy / 2 / y
// CHECK-LABEL: func.func @step
// CHECK: nn.read @p
// CHECK-NEXT: %[[Y:.*]] = nn.sqrt
// CHECK: nn.broadcast %{{.*}} : tensor<f32>
// CHECK: %[[DY:.*]] = nn.mul %{{.*}}, %arg0 :
// CHECK-NEXT: %[[V7:.*]] = nn.constant dense<5.000000e-01> : tensor<f32>
// CHECK-NEXT: %[[V8:.*]] = nn.mul %[[DY]], %[[V7]]
// CHECK-NEXT: %[[V9:.*]] = nn.div %[[V8]], %[[Y]]
// CHECK-NEXT: nn.sgd @p, %[[V9]]
nn.variable @p parameter : tensor<4xf32> = dense<1.0> : tensor<4xf32>
func.func @step(%c: tensor<4xf32>) -> tensor<f32> {
  %p = nn.read @p : tensor<4xf32>
  %y = nn.sqrt %p : tensor<4xf32>
  %0 = nn.mul %y, %c : tensor<4xf32>, tensor<4xf32>
  %l = nn.reduce sum %0 {axes = array<i64: 0>} : tensor<4xf32>
  return %l : tensor<f32>
}

// -----

// dy * 2 / sqrt(pi) * exp(-x^2)
// CHECK-LABEL: func.func @step
// CHECK: %[[P:.*]] = nn.read @p
// CHECK: nn.broadcast %{{.*}} : tensor<f32>
// CHECK: %[[DY:.*]] = nn.mul %{{.*}}, %arg0 :
// CHECK-NEXT: %[[V7:.*]] = nn.mul %[[P]], %[[P]]
// CHECK-NEXT: %[[V8:.*]] = nn.neg %[[V7]]
// CHECK-NEXT: %[[V9:.*]] = nn.exp %[[V8]]
// CHECK-NEXT: %[[V10:.*]] = nn.constant dense<1.12837923> : tensor<f32>
// CHECK-NEXT: %[[V11:.*]] = nn.mul %[[V9]], %[[V10]]
// CHECK-NEXT: %[[V12:.*]] = nn.mul %[[DY]], %[[V11]]
// CHECK-NEXT: nn.sgd @p, %[[V12]]
nn.variable @p parameter : tensor<4xf32> = dense<1.0> : tensor<4xf32>
func.func @step(%c: tensor<4xf32>) -> tensor<f32> {
  %p = nn.read @p : tensor<4xf32>
  %y = nn.erf %p : tensor<4xf32>
  %0 = nn.mul %y, %c : tensor<4xf32>, tensor<4xf32>
  %l = nn.reduce sum %0 {axes = array<i64: 0>} : tensor<4xf32>
  return %l : tensor<f32>
}

// -----

// dy * (1 - y^2)
// CHECK-LABEL: func.func @step
// CHECK: nn.read @p
// CHECK-NEXT: %[[Y:.*]] = nn.tanh
// CHECK: nn.broadcast %{{.*}} : tensor<f32>
// CHECK: %[[DY:.*]] = nn.mul %{{.*}}, %arg0 :
// CHECK-NEXT: %[[V7:.*]] = nn.mul %[[Y]], %[[Y]]
// CHECK-NEXT: %[[V8:.*]] = nn.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V9:.*]] = nn.sub %[[V8]], %[[V7]]
// CHECK-NEXT: %[[V10:.*]] = nn.mul %[[DY]], %[[V9]]
// CHECK-NEXT: nn.sgd @p, %[[V10]]
nn.variable @p parameter : tensor<4xf32> = dense<1.0> : tensor<4xf32>
func.func @step(%c: tensor<4xf32>) -> tensor<f32> {
  %p = nn.read @p : tensor<4xf32>
  %y = nn.tanh %p : tensor<4xf32>
  %0 = nn.mul %y, %c : tensor<4xf32>, tensor<4xf32>
  %l = nn.reduce sum %0 {axes = array<i64: 0>} : tensor<4xf32>
  return %l : tensor<f32>
}

// -----

// CHECK-LABEL: func.func @step
// CHECK: %[[P:.*]] = nn.read @p
// CHECK: nn.broadcast %{{.*}} : tensor<f32>
// CHECK: %[[DY:.*]] = nn.mul %{{.*}}, %arg0 :
// CHECK-NEXT: %[[V7:.*]] = nn.cos %[[P]]
// CHECK-NEXT: %[[V8:.*]] = nn.mul %[[DY]], %[[V7]]
// CHECK-NEXT: nn.sgd @p, %[[V8]]
nn.variable @p parameter : tensor<4xf32> = dense<1.0> : tensor<4xf32>
func.func @step(%c: tensor<4xf32>) -> tensor<f32> {
  %p = nn.read @p : tensor<4xf32>
  %y = nn.sin %p : tensor<4xf32>
  %0 = nn.mul %y, %c : tensor<4xf32>, tensor<4xf32>
  %l = nn.reduce sum %0 {axes = array<i64: 0>} : tensor<4xf32>
  return %l : tensor<f32>
}

// -----

// CHECK-LABEL: func.func @step
// CHECK: %[[P:.*]] = nn.read @p
// CHECK: nn.broadcast %{{.*}} : tensor<f32>
// CHECK: %[[DY:.*]] = nn.mul %{{.*}}, %arg0 :
// CHECK-NEXT: %[[V7:.*]] = nn.sin %[[P]]
// CHECK-NEXT: %[[V8:.*]] = nn.mul %[[DY]], %[[V7]]
// CHECK-NEXT: %[[V9:.*]] = nn.neg %[[V8]]
// CHECK-NEXT: nn.sgd @p, %[[V9]]
nn.variable @p parameter : tensor<4xf32> = dense<1.0> : tensor<4xf32>
func.func @step(%c: tensor<4xf32>) -> tensor<f32> {
  %p = nn.read @p : tensor<4xf32>
  %y = nn.cos %p : tensor<4xf32>
  %0 = nn.mul %y, %c : tensor<4xf32>, tensor<4xf32>
  %l = nn.reduce sum %0 {axes = array<i64: 0>} : tensor<4xf32>
  return %l : tensor<f32>
}

// -----

// dy * y * (1 - y)
// CHECK-LABEL: func.func @step
// CHECK: nn.read @p
// CHECK-NEXT: %[[Y:.*]] = nn.sigmoid
// CHECK: nn.broadcast %{{.*}} : tensor<f32>
// CHECK: %[[DY:.*]] = nn.mul %{{.*}}, %arg0 :
// CHECK-NEXT: %[[V7:.*]] = nn.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V8:.*]] = nn.sub %[[V7]], %[[Y]]
// CHECK-NEXT: %[[V9:.*]] = nn.mul %[[Y]], %[[V8]]
// CHECK-NEXT: %[[V10:.*]] = nn.mul %[[DY]], %[[V9]]
// CHECK-NEXT: nn.sgd @p, %[[V10]]
nn.variable @p parameter : tensor<4xf32> = dense<1.0> : tensor<4xf32>
func.func @step(%c: tensor<4xf32>) -> tensor<f32> {
  %p = nn.read @p : tensor<4xf32>
  %y = nn.sigmoid %p : tensor<4xf32>
  %0 = nn.mul %y, %c : tensor<4xf32>, tensor<4xf32>
  %l = nn.reduce sum %0 {axes = array<i64: 0>} : tensor<4xf32>
  return %l : tensor<f32>
}

// -----

// dy * sigmoid x
// CHECK-LABEL: func.func @step
// CHECK: %[[P:.*]] = nn.read @p
// CHECK: nn.broadcast %{{.*}} : tensor<f32>
// CHECK: %[[DY:.*]] = nn.mul %{{.*}}, %arg0 :
// CHECK-NEXT: %[[V7:.*]] = nn.sigmoid %[[P]]
// CHECK-NEXT: %[[V8:.*]] = nn.mul %[[DY]], %[[V7]]
// CHECK-NEXT: nn.sgd @p, %[[V8]]
nn.variable @p parameter : tensor<4xf32> = dense<1.0> : tensor<4xf32>
func.func @step(%c: tensor<4xf32>) -> tensor<f32> {
  %p = nn.read @p : tensor<4xf32>
  %y = nn.softplus %p : tensor<4xf32>
  %0 = nn.mul %y, %c : tensor<4xf32>, tensor<4xf32>
  %l = nn.reduce sum %0 {axes = array<i64: 0>} : tensor<4xf32>
  return %l : tensor<f32>
}

// -----

// Through the result: dy where y > 0.
// CHECK-LABEL: func.func @step
// CHECK: nn.read @p
// CHECK-NEXT: %[[Y:.*]] = nn.relu
// CHECK: nn.broadcast %{{.*}} : tensor<f32>
// CHECK: %[[DY:.*]] = nn.mul %{{.*}}, %arg0 :
// CHECK-NEXT: %[[V7:.*]] = nn.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V8:.*]] = nn.compare gt, %[[Y]], %[[V7]]
// CHECK-NEXT: %[[V9:.*]] = nn.select %[[V8]], %[[DY]], %[[V7]]
// CHECK-NEXT: nn.sgd @p, %[[V9]]
nn.variable @p parameter : tensor<4xf32> = dense<1.0> : tensor<4xf32>
func.func @step(%c: tensor<4xf32>) -> tensor<f32> {
  %p = nn.read @p : tensor<4xf32>
  %y = nn.relu %p : tensor<4xf32>
  %0 = nn.mul %y, %c : tensor<4xf32>, tensor<4xf32>
  %l = nn.reduce sum %0 {axes = array<i64: 0>} : tensor<4xf32>
  return %l : tensor<f32>
}

// -----

// Zero everywhere; also ceil, round and sign.
// CHECK-LABEL: func.func @step
// CHECK: nn.read @p
// CHECK: nn.broadcast %{{.*}} : tensor<f32>
// CHECK: %[[DY:.*]] = nn.mul %{{.*}}, %arg0 :
// CHECK-NEXT: %[[V7:.*]] = nn.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V8:.*]] = nn.mul %[[DY]], %[[V7]]
// CHECK-NEXT: nn.sgd @p, %[[V8]]
nn.variable @p parameter : tensor<4xf32> = dense<1.0> : tensor<4xf32>
func.func @step(%c: tensor<4xf32>) -> tensor<f32> {
  %p = nn.read @p : tensor<4xf32>
  %y = nn.floor %p : tensor<4xf32>
  %0 = nn.mul %y, %c : tensor<4xf32>, tensor<4xf32>
  %l = nn.reduce sum %0 {axes = array<i64: 0>} : tensor<4xf32>
  return %l : tensor<f32>
}

// -----

// Passes at the bounds themselves.
// CHECK-LABEL: func.func @step
// CHECK: %[[P:.*]] = nn.read @p
// CHECK: nn.broadcast %{{.*}} : tensor<f32>
// CHECK: %[[DY:.*]] = nn.mul %{{.*}}, %arg0 :
// CHECK-NEXT: %[[V7:.*]] = nn.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V8:.*]] = nn.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V9:.*]] = nn.compare ge, %[[P]], %[[V8]]
// CHECK-NEXT: %[[V10:.*]] = nn.select %[[V9]], %[[DY]], %[[V7]]
// CHECK-NEXT: %[[V11:.*]] = nn.constant dense<6.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V12:.*]] = nn.compare le, %[[P]], %[[V11]]
// CHECK-NEXT: %[[V13:.*]] = nn.select %[[V12]], %[[V10]], %[[V7]]
// CHECK-NEXT: nn.sgd @p, %[[V13]]
nn.variable @p parameter : tensor<4xf32> = dense<1.0> : tensor<4xf32>
func.func @step(%c: tensor<4xf32>) -> tensor<f32> {
  %p = nn.read @p : tensor<4xf32>
  %y = nn.clip %p {low = 0.0 : f64, high = 6.0 : f64} : tensor<4xf32>
  %0 = nn.mul %y, %c : tensor<4xf32>, tensor<4xf32>
  %l = nn.reduce sum %0 {axes = array<i64: 0>} : tensor<4xf32>
  return %l : tensor<f32>
}
