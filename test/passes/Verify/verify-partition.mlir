// RUN: partita-opt %s -split-input-file -verify-diagnostics -partita-verify-partition

module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  func.func @predict_c0(%x: tensor<2xf32> {dist.layout = #dist.layout<[[data]]>, spmd.global = tensor<4xf32>})
      -> (tensor<2xf32> {dist.layout = #dist.layout<[[data]]>, spmd.global = tensor<4xf32>})
      attributes {spmd.class = @c0, spmd.phase = "predict"} {
    return %x : tensor<2xf32>
  }
}

// -----

// A gradient is combined before its update; local statistics say that they
// vary; classes of different sizes communicate alike.
module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0]
  spmd.class @c1 ranks [1]
  nn.variable @w parameter : tensor<3xf32> = dense<1.0> : tensor<3xf32>
  func.func @step_c0(%x: tensor<2x3xf32> {dist.layout = #dist.layout<[[data], []]>, spmd.global = tensor<3x3xf32>})
      -> (tensor<3xf32> {dist.layout = #dist.layout<[[]], varying [data]>, spmd.global = tensor<3xf32>})
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    %l = nn.reduce sum %x {axes = array<i64: 0>, local, scale = 0.5 : f64} : tensor<2x3xf32>
    %g = nn.reduce sum %x {axes = array<i64: 0>} : tensor<2x3xf32>
    %s = spmd.all_reduce sum %g over ["data"] : tensor<3xf32>
    nn.sgd @w, %s : tensor<3xf32>
    return %l : tensor<3xf32>
  }
  func.func @step_c1(%x: tensor<1x3xf32> {dist.layout = #dist.layout<[[data], []]>, spmd.global = tensor<3x3xf32>})
      -> (tensor<3xf32> {dist.layout = #dist.layout<[[]], varying [data]>, spmd.global = tensor<3xf32>})
      attributes {spmd.class = @c1, spmd.phase = "step"} {
    %l = nn.reduce sum %x {axes = array<i64: 0>, local, scale = 1.0 : f64} : tensor<1x3xf32>
    %g = nn.reduce sum %x {axes = array<i64: 0>} : tensor<1x3xf32>
    %s = spmd.all_reduce sum %g over ["data"] : tensor<3xf32>
    nn.sgd @w, %s : tensor<3xf32>
    return %l : tensor<3xf32>
  }
}

// -----

// On one rank nothing differs.
module attributes {dist.grid = #dist.grid<data = 1>} {
  spmd.class @c0 ranks [0]
  nn.variable @w parameter : tensor<3xf32> = dense<1.0> : tensor<3xf32>
  func.func @step_c0(%x: tensor<3xf32> {dist.layout = #dist.layout<[[data]]>, spmd.global = tensor<3xf32>}) attributes {spmd.class = @c0, spmd.phase = "step"} {
    nn.sgd @w, %x : tensor<3xf32>
    return
  }
}
