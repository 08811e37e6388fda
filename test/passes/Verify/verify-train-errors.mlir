// What may not stand in a training program.
// RUN: partita-opt %s -split-input-file -verify-diagnostics -partita-verify-train

// expected-error @below {{contract of the train phase: there must be a function @predict}}
module {
  func.func @step() { return }
  func.func @eval() { return }
}

// -----

// expected-error @below {{contract of the train phase: there must be a function @eval}}
module attributes {partita.loss = "mse"} {
  func.func @step() { return }
  func.func @predict() { return }
}

// -----

// expected-error @+1 {{contract of the train phase: parameter 'w' has no update}}
nn.variable @w parameter : tensor<3xf32> = dense<1.0> : tensor<3xf32>
func.func @step() { return }
func.func @eval() { return }
func.func @predict() { return }

// -----

nn.variable @w parameter : tensor<3xf32> = dense<1.0> : tensor<3xf32>
func.func @step(%x: tensor<3xf32>) {
  nn.sgd @w, %x : tensor<3xf32>
  // expected-error @+1 {{contract of the train phase: parameter 'w' is updated twice}}
  nn.sgd @w, %x : tensor<3xf32>
  return
}
func.func @eval() { return }
func.func @predict() { return }

// -----

nn.variable @a parameter : tensor<3xf32> = dense<1.0> : tensor<3xf32>
nn.variable @b parameter : tensor<3xf32> = dense<1.0> : tensor<3xf32>
nn.variable @m optimizer : tensor<3xf32> = dense<0.0> : tensor<3xf32>
func.func @step(%x: tensor<3xf32>) {
  nn.sgd @a state @m, %x {momentum = 0.9 : f64} : tensor<3xf32>
  // expected-error @+1 {{contract of the train phase: state 'm' belongs to two updates}}
  nn.sgd @b state @m, %x {momentum = 0.9 : f64} : tensor<3xf32>
  return
}
func.func @eval() { return }
func.func @predict() { return }

// -----

// One variable for both moments is as wrong.
nn.variable @a parameter : tensor<3xf32> = dense<1.0> : tensor<3xf32>
nn.variable @m optimizer : tensor<3xf32> = dense<0.0> : tensor<3xf32>
func.func @step(%x: tensor<3xf32>) {
  // expected-error @+1 {{contract of the train phase: state 'm' belongs to two updates}}
  nn.adam @a moments @m, @m, %x : tensor<3xf32>
  return
}
func.func @eval() { return }
func.func @predict() { return }

// -----

nn.variable @w parameter : tensor<3xf32> = dense<1.0> : tensor<3xf32>
nn.variable @s state : tensor<3xf32> = dense<1.0> : tensor<3xf32>
func.func @step(%x: tensor<3xf32>) {
  nn.sgd @w, %x : tensor<3xf32>
  return
}
func.func @eval(%x: tensor<3xf32>) {
  // expected-error @+1 {{contract of the train phase: only @step writes variables, not @eval}}
  nn.assign @s, %x : tensor<3xf32>
  return
}
func.func @predict(%x: tensor<3xf32>) {
  // expected-error @+1 {{contract of the train phase: only @step writes variables, not @predict}}
  nn.sgd @w, %x : tensor<3xf32>
  return
}

// -----

func.func @step(%x: tensor<3xf32>) {
  // expected-error @+1 {{contract of the train phase: 'nn.dropout' must have been expanded}}
  %0 = nn.dropout %x {ratio = 0.5 : f64, stream = 0 : i64} : tensor<3xf32>
  return
}
func.func @eval(%x: tensor<4x3xf32>, %v: tensor<3xf32>) {
  // expected-error @+1 {{contract of the train phase: 'nn.batch_norm' must have been expanded}}
  %y = nn.batch_norm frozen %x, %v, %v, %v, %v {eps = 1.0e-5 : f64, momentum = 0.9 : f64} : tensor<4x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
  return
}
func.func @predict() { return }
