// What building gradients refuses.
// RUN: split-file %s %t
// RUN: partita-opt %t/step.mlir -split-input-file -verify-diagnostics -partita-build-gradients
// RUN: partita-opt %t/optimizer.mlir -verify-diagnostics -partita-build-gradients=optimizer=lion

//--- step.mlir
// expected-error @below {{has no function @step with a scalar loss}}
module {
}

// -----

// expected-error @below {{has no function @step with a scalar loss}}
module {
  func.func @step(%x: tensor<3xf32>) -> tensor<3xf32> {
    return %x : tensor<3xf32>
  }
}

// -----

// expected-error @below {{has no function @step with a scalar loss}}
module {
  func.func @step(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
    return %x, %x : tensor<f32>, tensor<f32>
  }
}

// -----

// expected-error @+1 {{the loss does not depend on any parameter}}
func.func @step(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}

// -----

// The operation is named with all parameters it blocks, near and far.
nn.variable @a parameter : tensor<2x3xf32> = dense<1.0> : tensor<2x3xf32>
nn.variable @b parameter : tensor<2x3xf32> = dense<1.0> : tensor<2x3xf32>
nn.variable @c parameter : tensor<2x3xf32> = dense<1.0> : tensor<2x3xf32>
func.func @step(%x: tensor<2x3xf32>) -> tensor<f32> {
  %a = nn.read @a : tensor<2x3xf32>
  %b = nn.read @b : tensor<2x3xf32>
  %c = nn.read @c : tensor<2x3xf32>
  %0 = nn.mul %x, %a : tensor<2x3xf32>, tensor<2x3xf32>
  // expected-error @+1 {{'nn.softmax_grad' has no gradient, but the parameters 'b', 'a' are trained through it; keep them constant or replace the operation}}
  %1 = nn.softmax_grad %0, %b {axis = 1 : i64} : tensor<2x3xf32>
  %2 = nn.mul %1, %c : tensor<2x3xf32>, tensor<2x3xf32>
  %l = nn.reduce sum %2 {axes = array<i64: 0, 1>} : tensor<2x3xf32>
  return %l : tensor<f32>
}

// -----

// Every such operation is reported.
nn.variable @a parameter : tensor<2x3xf32> = dense<1.0> : tensor<2x3xf32>
func.func @step(%x: tensor<2x3xf32>) -> tensor<f32> {
  %a = nn.read @a : tensor<2x3xf32>
  // expected-error @+1 {{'nn.variance' has no gradient, but the parameters 'a' are trained through it}}
  %0 = nn.variance %a, %x {axes = array<i64>, scale = 1.0 : f64} : tensor<2x3xf32>, tensor<2x3xf32>
  // expected-error @+1 {{'nn.dropout' has no gradient, but the parameters 'a' are trained through it}}
  %1 = nn.dropout %a {ratio = 0.5 : f64, stream = 0 : i64} : tensor<2x3xf32>
  %2 = nn.add %0, %1 : tensor<2x3xf32>, tensor<2x3xf32>
  %l = nn.reduce sum %2 {axes = array<i64: 0, 1>} : tensor<2x3xf32>
  return %l : tensor<f32>
}

//--- optimizer.mlir
// expected-error @below {{unknown optimizer 'lion'; use sgd, adam or adamw}}
module {
  func.func @step(%x: tensor<f32>) -> tensor<f32> {
    return %x : tensor<f32>
  }
}
