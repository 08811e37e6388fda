// What partitioning refuses.
// RUN: partita-opt %s -split-input-file -verify-diagnostics -partita-partition-program

// expected-error @below {{has no dist.grid; plan it first}}
module {
}

// -----

// Statistics of each rank's own are no value for all.
module attributes {dist.grid = #dist.grid<data = 2>} {
  nn.variable @s state : tensor<3xf32> = dense<0.0> : tensor<3xf32>
  func.func @step(%x: tensor<4x3xf32> {dist.layout = #dist.layout<[[data], []]>}) {
    %m = nn.reduce sum %x {axes = array<i64: 0>, dist.split = #dist.split<d0 = [data]>, local, scale = 0.25 : f64} : tensor<4x3xf32>
    // expected-error @+1 {{needs a value that is the same on all ranks, found layout #dist.layout<[[]], varying [data]>}}
    nn.assign @s, %m : tensor<3xf32>
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<data = 2>} {
  // expected-error @+1 {{argument 0 of type 'tensor<4x3xf32>' has layout #dist.layout<[[data]]>; expected a list of axes per dimension}}
  func.func @predict(%x: tensor<4x3xf32> {dist.layout = #dist.layout<[[data]]>}) -> tensor<4x3xf32> {
    return %x : tensor<4x3xf32>
  }
}

// -----

module attributes {dist.grid = #dist.grid<data = 2>} {
  // expected-error @+1 {{has an argument of type 'memref<4xf32>'; expected tensors of known shape}}
  func.func @predict(%x: memref<4xf32>) {
    return
  }
}
