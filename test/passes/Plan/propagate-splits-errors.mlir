// What propagation refuses.
// RUN: split-file %s %t
// RUN: partita-opt %t/two.mlir -split-input-file -verify-diagnostics -partita-propagate-splits=ranks=2
// RUN: partita-opt %t/zero.mlir -verify-diagnostics -partita-propagate-splits=ranks=0

//--- two.mlir
// expected-error @+1 {{argument 0 has nn.batch_dim 2, which is no dimension of 'tensor<4x3xf32>'}}
func.func @predict(%x: tensor<4x3xf32> {nn.batch_dim = 2 : i64}) -> tensor<4x3xf32> {
  return %x : tensor<4x3xf32>
}

// -----

// expected-error @+1 {{needs a body of one block}}
func.func private @predict(%x: tensor<4x3xf32> {nn.batch_dim = 0 : i64}) -> tensor<4x3xf32>

//--- zero.mlir
// expected-error @below {{the number of ranks must be positive, found 0}}
module {
}
