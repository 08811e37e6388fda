// What splitting the batch refuses: whatever mixes samples.
// RUN: split-file %s %t
// RUN: partita-opt %t/two.mlir -split-input-file -verify-diagnostics -partita-propagate-splits=ranks=2
// RUN: partita-opt %t/zero.mlir -verify-diagnostics -partita-propagate-splits=ranks=0

//--- two.mlir
func.func @predict(%x: tensor<4x3xf32> {nn.batch_dim = 0 : i64}) -> tensor<4x3xf32> {
  // expected-error @+1 {{needs dimension 0 ('d0') of its operand whole, but it is split over the batch; this node mixes samples, so use --ranks 1 for this model}}
  %y = nn.softmax %x {axis = 0 : i64} : tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}

// -----

func.func @predict(%x: tensor<4x3xf32> {nn.batch_dim = 0 : i64}) -> tensor<8x3xf32> {
  // expected-error @+1 {{needs dimension 0 ('d0') of its operand whole}}
  %y = nn.concat %x, %x {axis = 0 : i64} : tensor<4x3xf32>, tensor<4x3xf32>
  return %y : tensor<8x3xf32>
}

// -----

func.func @predict(%x: tensor<4x3xf32> {nn.batch_dim = 0 : i64}) -> tensor<2x3xf32> {
  // expected-error @+1 {{needs dimension 0 ('d0') of its operand whole}}
  %y = nn.slice %x {starts = array<i64: 0, 0>, sizes = array<i64: 2, 3>, steps = array<i64: 1, 1>} : tensor<4x3xf32>
  return %y : tensor<2x3xf32>
}

// -----

// A reshape that tears samples apart.
func.func @predict(%x: tensor<4x3xf32> {nn.batch_dim = 0 : i64}) -> tensor<6x2xf32> {
  // expected-error @+1 {{needs dimension 0 ('g0') of its operand whole}}
  %y = nn.reshape %x : tensor<4x3xf32> -> tensor<6x2xf32>
  return %y : tensor<6x2xf32>
}

// -----

// A dimension no loop runs over.
func.func @predict(%x: tensor<3x4xf32> {nn.batch_dim = 1 : i64}) -> tensor<12xf32> {
  // expected-error @+1 {{needs dimension 1 of its operand whole}}
  %y = nn.reshape %x : tensor<3x4xf32> -> tensor<12xf32>
  return %y : tensor<12xf32>
}

// -----

// The rows of a window need their neighbours.
func.func @predict(%x: tensor<1x2x8xf32> {nn.batch_dim = 2 : i64}, %w: tensor<2x2x3xf32>) -> tensor<1x2x6xf32> {
  // expected-error @+1 {{needs dimension 2 ('w') of its operand whole}}
  %y = nn.conv %x, %w {strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 0, 0>} : tensor<1x2x8xf32>, tensor<2x2x3xf32>
  return %y : tensor<1x2x6xf32>
}

// -----

// Every sample with every other.
func.func @predict(%x: tensor<4x3xf32> {nn.batch_dim = 0 : i64}) -> tensor<4x4xf32> {
  // expected-error @+1 {{would need two of its dimensions split over the batch, 'm' and 'n'; use --ranks 1 for this model}}
  %y = nn.matmul %x, %x {transpose_b} : tensor<4x3xf32>, tensor<4x3xf32>
  return %y : tensor<4x4xf32>
}

// -----

// A table with a row per sample of the batch.
func.func @predict(%x: tensor<2x3xf32> {nn.batch_dim = 0 : i64}) -> tensor<2x3xf32> {
  %c = nn.constant dense<[[1.0], [2.0]]> : tensor<2x1xf32>
  // expected-error @+1 {{combines a batch split over ranks with a whole tensor of type 'tensor<2x1xf32>' along the batch; use --ranks 1 for this model}}
  %y = nn.mul %x, %c : tensor<2x3xf32>, tensor<2x1xf32>
  return %y : tensor<2x3xf32>
}

// -----

func.func @predict(%x: tensor<2x3xf32> {nn.batch_dim = 0 : i64}, %z: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // expected-error @+1 {{combines a batch split over ranks with a whole tensor of type 'tensor<2x3xf32>' along the batch}}
  %y = nn.mul %x, %z : tensor<2x3xf32>, tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// -----

nn.variable @s state : tensor<4x3xf32> = dense<0.0> : tensor<4x3xf32>
func.func @step(%x: tensor<4x3xf32> {nn.batch_dim = 0 : i64}) {
  // expected-error @+1 {{needs a value that is the same on all ranks, but it is split over the batch; use --ranks 1 for this model}}
  nn.assign @s, %x : tensor<4x3xf32>
  return
}

// -----

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
