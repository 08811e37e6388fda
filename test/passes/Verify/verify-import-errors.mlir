// What may not stand in a module after import.
// RUN: partita-opt %s -split-input-file -verify-diagnostics -allow-unregistered-dialect -partita-verify-import

// expected-error @below {{contract of the import phase: there must be a function @forward}}
module {
}

// -----

// expected-error @+2 {{contract of the import phase: argument 0 has no nn.name}}
// expected-error @+1 {{contract of the import phase: result 1 has no nn.name}}
func.func @forward(%x: tensor<4xf32>) -> (tensor<4xf32> {nn.name = "y"}, tensor<4xf32>) {
  return %x, %x : tensor<4xf32>, tensor<4xf32>
}

// -----

func.func @forward(%x: tensor<4xf32> {nn.name = "x"}) -> (tensor<4xf32> {nn.name = "y"}) {
  // expected-error @+1 {{contract of the import phase: 'nn.relu' does not name the ONNX node it came from}}
  %y = nn.relu %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @forward(%x: tensor<4xf32> {nn.name = "x"}) -> (tensor<4xf32> {nn.name = "y"}) {
  // expected-error @+2 {{contract of the import phase: 'arith.addf' is no nn operation}}
  // expected-error @+1 {{contract of the import phase: 'arith.addf' does not name the ONNX node it came from}}
  %y = arith.addf %x, %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @forward(%x: tensor<4xf32> {nn.name = "x"}) -> (tensor<4xf32> {nn.name = "y"}) {
  // expected-error @+2 {{contract of the import phase: 'onnx.Relu' is no nn operation}}
  // expected-error @+1 {{contract of the import phase: 'onnx.Relu' does not name the ONNX node it came from}}
  %y = "onnx.Relu"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// expected-error @+1 {{contract of the import phase: optimizer state before there is an optimizer}}
nn.variable @m optimizer : tensor<4xf32> = dense<0.0> : tensor<4xf32>
func.func @forward(%x: tensor<4xf32> {nn.name = "x"}) -> (tensor<4xf32> {nn.name = "y"}) {
  return %x : tensor<4xf32>
}

// -----

// expected-error @+1 {{has an argument of type 'tensor<?xf32>'; expected tensors of known shape}}
func.func @forward(%x: tensor<?xf32> {nn.name = "x"}) -> (tensor<?xf32> {nn.name = "y"}) {
  return %x : tensor<?xf32>
}
