// RUN: partita-opt %s -split-input-file -verify-diagnostics -partita-verify-train

nn.variable @w parameter : tensor<3xf32> = dense<1.0> : tensor<3xf32>
func.func @step(%x: tensor<3xf32>) -> tensor<f32> {
  nn.sgd @w, %x : tensor<3xf32>
  %l = nn.reduce sum %x {axes = array<i64: 0>} : tensor<3xf32>
  return %l : tensor<f32>
}
func.func @eval(%x: tensor<3xf32>) -> tensor<3xf32> { return %x : tensor<3xf32> }
func.func @predict(%x: tensor<3xf32>) -> tensor<3xf32> { return %x : tensor<3xf32> }

// -----

// Running statistics are assigned in the step; constants need no update.
nn.variable @w parameter : tensor<3xf32> = dense<1.0> : tensor<3xf32>
nn.variable @m optimizer : tensor<3xf32> = dense<0.0> : tensor<3xf32>
nn.variable @v optimizer : tensor<3xf32> = dense<0.0> : tensor<3xf32>
nn.variable @s state : tensor<3xf32> = dense<0.0> : tensor<3xf32>
nn.variable @c constant : tensor<3xf32> = dense<0.0> : tensor<3xf32>
func.func @step(%x: tensor<3xf32>) -> tensor<f32> {
  nn.assign @s, %x : tensor<3xf32>
  nn.adam @w moments @m, @v, %x : tensor<3xf32>
  %l = nn.reduce sum %x {axes = array<i64: 0>} : tensor<3xf32>
  return %l : tensor<f32>
}
func.func @eval() { return }
func.func @predict() { return }

// -----

// A loss of the model's own may be one for all samples, which leaves no
// evaluation.
module attributes {partita.loss = "output:cost"} {
  func.func @step() { return }
  func.func @predict() { return }
}
