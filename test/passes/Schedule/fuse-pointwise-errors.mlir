// What passes on local tensors cannot work on.
// RUN: partita-opt %s -split-input-file -verify-diagnostics -partita-fuse-pointwise

// expected-error @+1 {{needs a body of one block}}
func.func private @predict(%x: tensor<4xf32>) -> tensor<4xf32>

// -----

// expected-error @+1 {{has an argument of type 'tensor<?xf32>'; expected tensors of known shape}}
func.func @predict(%x: tensor<?xf32>) {
  return
}
