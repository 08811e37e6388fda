// What may not stand in a partitioned program.
// RUN: partita-opt %s -split-input-file -verify-diagnostics -partita-verify-partition

// expected-error @below {{contract of the partition phase: there must be a dist.grid}}
module {
}

// -----

// expected-error @below {{contract of the partition phase: the classes name 1 of 2 ranks}}
module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0]
}

// -----

module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  // expected-error @+1 {{contract of the partition phase: rank 1 is in two classes or not in the grid}}
  spmd.class @c1 ranks [1]
}

// -----

// expected-error @below {{contract of the partition phase: the classes name 3 of 2 ranks}}
module attributes {dist.grid = #dist.grid<data = 2>} {
  // expected-error @+1 {{contract of the partition phase: rank 2 is in two classes or not in the grid}}
  spmd.class @c0 ranks [0, 1, 2]
}

// -----

module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  // expected-error @+1 {{contract of the partition phase: argument 0 has no spmd.global or dist.layout}}
  func.func @predict_c0(%x: tensor<2xf32> {dist.layout = #dist.layout<[[data]]>}) attributes {spmd.class = @c0, spmd.phase = "predict"} {
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  // expected-error @+1 {{contract of the partition phase: argument 0 has a layout that does not fit its spmd.global}}
  func.func @predict_c0(%x: tensor<2xf32> {dist.layout = #dist.layout<[[data], []]>, spmd.global = tensor<4xf32>}) attributes {spmd.class = @c0, spmd.phase = "predict"} {
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  // expected-error @+1 {{contract of the partition phase: it belongs to no class}}
  func.func @predict_c0(%x: tensor<2xf32> {dist.layout = #dist.layout<[[data]]>, spmd.global = tensor<4xf32>}) attributes {spmd.class = @c1, spmd.phase = "predict"} {
    return
  }
}

// -----

// 5 elements are 3 and 2: the two ranks cannot be one class.
module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  // expected-error @+1 {{contract of the partition phase: argument 0 has type tensor<3xf32>, but rank 1 holds tensor<2xf32> of tensor<5xf32>}}
  func.func @predict_c0(%x: tensor<3xf32> {dist.layout = #dist.layout<[[data]]>, spmd.global = tensor<5xf32>}) attributes {spmd.class = @c0, spmd.phase = "predict"} {
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  // expected-error @+1 {{contract of the partition phase: result 0 has type tensor<2xf32>, but rank 0 holds tensor<4xf32> of tensor<4xf32>}}
  func.func @predict_c0(%x: tensor<2xf32> {dist.layout = #dist.layout<[[data]]>, spmd.global = tensor<4xf32>})
      -> (tensor<2xf32> {dist.layout = #dist.layout<[[]], varying [data]>, spmd.global = tensor<4xf32>})
      attributes {spmd.class = @c0, spmd.phase = "predict"} {
    return %x : tensor<2xf32>
  }
}

// -----

// One class combines a value that the other does not: both would wait forever.
module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0]
  spmd.class @c1 ranks [1]
  func.func @step_c0(%x: tensor<2xf32> {dist.layout = #dist.layout<[[data]]>, spmd.global = tensor<3xf32>}) attributes {spmd.class = @c0, spmd.phase = "step"} {
    %s = nn.reduce sum %x {axes = array<i64: 0>} : tensor<2xf32>
    %0 = spmd.all_reduce sum %s over ["data"] : tensor<f32>
    return
  }
  // expected-error @+1 {{contract of the partition phase: collectives differ from those of @step_c0}}
  func.func @step_c1(%x: tensor<1xf32> {dist.layout = #dist.layout<[[data]]>, spmd.global = tensor<3xf32>}) attributes {spmd.class = @c1, spmd.phase = "step"} {
    return
  }
}

// -----

// The same number of collectives, in another order.
module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0]
  spmd.class @c1 ranks [1]
  func.func @step_c0(%x: tensor<2xf32> {dist.layout = #dist.layout<[[data]]>, spmd.global = tensor<3xf32>}) attributes {spmd.class = @c0, spmd.phase = "step"} {
    %s = nn.reduce sum %x {axes = array<i64: 0>} : tensor<2xf32>
    %0 = spmd.all_reduce sum %s over ["data"] : tensor<f32>
    %1 = spmd.all_reduce max %s over ["data"] : tensor<f32>
    return
  }
  // expected-error @+1 {{contract of the partition phase: collectives differ from those of @step_c0}}
  func.func @step_c1(%x: tensor<1xf32> {dist.layout = #dist.layout<[[data]]>, spmd.global = tensor<3xf32>}) attributes {spmd.class = @c1, spmd.phase = "step"} {
    %s = nn.reduce sum %x {axes = array<i64: 0>} : tensor<1xf32>
    %0 = spmd.all_reduce max %s over ["data"] : tensor<f32>
    %1 = spmd.all_reduce sum %s over ["data"] : tensor<f32>
    return
  }
}

// -----

// The gradient's collective is missing.
module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  nn.variable @w parameter : tensor<3xf32> = dense<1.0> : tensor<3xf32>
  func.func @step_c0(%x: tensor<2x3xf32> {dist.layout = #dist.layout<[[data], []]>, spmd.global = tensor<4x3xf32>}) attributes {spmd.class = @c0, spmd.phase = "step"} {
    %g = nn.reduce sum %x {axes = array<i64: 0>} : tensor<2x3xf32>
    // expected-error @+1 {{contract of the partition phase: the value differs over axis 'data', so that ranks would give the variable different values; combine it first}}
    nn.sgd @w, %g : tensor<3xf32>
    return
  }
}

// -----

// It is combined over one of two axes only; running statistics count, too.
module attributes {dist.grid = #dist.grid<node = 2, data = 2>} {
  spmd.class @c0 ranks [0, 1, 2, 3]
  nn.variable @s state : tensor<3xf32> = dense<1.0> : tensor<3xf32>
  func.func @step_c0(%x: tensor<1x3xf32> {dist.layout = #dist.layout<[[node, data], []]>, spmd.global = tensor<4x3xf32>}) attributes {spmd.class = @c0, spmd.phase = "step"} {
    %g = nn.reduce sum %x {axes = array<i64: 0>} : tensor<1x3xf32>
    %s = spmd.all_reduce sum %g over ["data"] : tensor<3xf32>
    // expected-error @+1 {{contract of the partition phase: the value differs over axis 'node'}}
    nn.assign @s, %s : tensor<3xf32>
    return
  }
}

// -----

// A mask drawn in parts differs from rank to rank as data do.
module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  nn.variable @w parameter : tensor<3xf32> = dense<1.0> : tensor<3xf32>
  func.func @step_c0() attributes {spmd.class = @c0, spmd.phase = "step"} {
    %m = nn.dropout_mask {global_shape = array<i64: 4, 3>, layout = #dist.layout<[[data], []]>, ratio = 0.5 : f64, start = array<i64: 0, 0>, stream = 1 : i64} : tensor<2x3xf32>
    %g = nn.reduce sum %m {axes = array<i64: 0>} : tensor<2x3xf32>
    // expected-error @+1 {{contract of the partition phase: the value differs over axis 'data'}}
    nn.sgd @w, %g : tensor<3xf32>
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  // expected-error @+1 {{contract of the partition phase: result 0 differs over axis 'data', but its layout does not say so}}
  func.func @step_c0(%x: tensor<2x3xf32> {dist.layout = #dist.layout<[[data], []]>, spmd.global = tensor<4x3xf32>})
      -> (tensor<f32> {dist.layout = #dist.layout<[]>, spmd.global = tensor<f32>})
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    %l = nn.reduce sum %x {axes = array<i64: 0, 1>} : tensor<2x3xf32>
    return %l : tensor<f32>
  }
}

// -----

// Combined twice, the sum counts every rank's part twice.
module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  func.func @step_c0(%x: tensor<2x3xf32> {dist.layout = #dist.layout<[[data], []]>, spmd.global = tensor<4x3xf32>}) attributes {spmd.class = @c0, spmd.phase = "step"} {
    %g = nn.reduce sum %x {axes = array<i64: 0>} : tensor<2x3xf32>
    %s = spmd.all_reduce sum %g over ["data"] : tensor<3xf32>
    %r = nn.reshape %s : tensor<3xf32> -> tensor<3x1xf32>
    // expected-error @+1 {{contract of the partition phase: a value is combined twice over the same axes}}
    %t = spmd.all_reduce sum %r over ["data"] : tensor<3x1xf32>
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<data = 1>} {
  spmd.class @c0 ranks [0]
  // expected-error @+1 {{needs a body of one block}}
  func.func private @step_c0()
}
