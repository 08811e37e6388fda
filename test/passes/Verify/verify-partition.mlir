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
    %l = nn.reduce sum %x {axes = array<i64: 0>, local, scale = 0.5 : f64, spmd.split = #dist.split<d0 = [data]>, spmd.whole = {scale = 0.33333333333333331 : f64}} : tensor<2x3xf32>
    %g = nn.reduce sum %x {axes = array<i64: 0>, spmd.split = #dist.split<d0 = [data]>} : tensor<2x3xf32>
    %s = spmd.all_reduce sum %g over ["data"] : tensor<3xf32>
    nn.sgd @w, %s : tensor<3xf32>
    return %l : tensor<3xf32>
  }
  func.func @step_c1(%x: tensor<1x3xf32> {dist.layout = #dist.layout<[[data], []]>, spmd.global = tensor<3x3xf32>})
      -> (tensor<3xf32> {dist.layout = #dist.layout<[[]], varying [data]>, spmd.global = tensor<3xf32>})
      attributes {spmd.class = @c1, spmd.phase = "step"} {
    %l = nn.reduce sum %x {axes = array<i64: 0>, local, scale = 1.0 : f64, spmd.split = #dist.split<d0 = [data]>, spmd.whole = {scale = 0.33333333333333331 : f64}} : tensor<1x3xf32>
    %g = nn.reduce sum %x {axes = array<i64: 0>, spmd.split = #dist.split<d0 = [data]>} : tensor<1x3xf32>
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

// -----

// Rows beyond a part, paddings at the borders of the whole only, and a gradient
// that computes rows of its neighbours and cuts them off.
module attributes {dist.grid = #dist.grid<row = 2>} {
  spmd.class @c0 ranks [0]
  spmd.class @c1 ranks [1]
  func.func @step_c0(%x: tensor<1x1x4xf32> {dist.layout = #dist.layout<[[], [], [row]]>, spmd.global = tensor<1x1x8xf32>}, %w: tensor<1x1x3xf32> {dist.layout = #dist.layout<[[], [], []]>, spmd.global = tensor<1x1x3xf32>})
      -> (tensor<1x1x4xf32> {dist.layout = #dist.layout<[[], [], [row]]>, spmd.global = tensor<1x1x8xf32>})
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    %0 = spmd.halo_exchange %x over ["row"] from <[[], [], [row]]> to <[[], [], [row] at [0:5, 3:8]]> of tensor<1x1x8xf32> : tensor<1x1x4xf32> -> tensor<1x1x5xf32>
    %1 = nn.conv %0, %w {dilations = array<i64: 1>, pads = array<i64: 1, 0>, spmd.split = #dist.split<w = [row]>, spmd.whole = {pads = array<i64: 1, 1>}, strides = array<i64: 1>} : tensor<1x1x5xf32>, tensor<1x1x3xf32>
    %2 = spmd.halo_exchange %1 over ["row"] from <[[], [], [row]]> to <[[], [], [row] at [0:5, 3:8]]> of tensor<1x1x8xf32> : tensor<1x1x4xf32> -> tensor<1x1x5xf32>
    %3 = nn.conv_input_grad %2, %w {dilations = array<i64: 1>, pads = array<i64: 1, 0>, spmd.split = #dist.split<w = [row]>, spmd.whole = {pads = array<i64: 1, 1>, results = [tensor<1x1x8xf32>]}, strides = array<i64: 1>} : tensor<1x1x5xf32>, tensor<1x1x3xf32> -> tensor<1x1x6xf32>
    %4 = spmd.slice %3 from <[[], [], [row] at [0:6, 2:8]]> to <[[], [], [row]]> of tensor<1x1x8xf32> : tensor<1x1x6xf32> -> tensor<1x1x4xf32>
    return %4 : tensor<1x1x4xf32>
  }
  func.func @step_c1(%x: tensor<1x1x4xf32> {dist.layout = #dist.layout<[[], [], [row]]>, spmd.global = tensor<1x1x8xf32>}, %w: tensor<1x1x3xf32> {dist.layout = #dist.layout<[[], [], []]>, spmd.global = tensor<1x1x3xf32>})
      -> (tensor<1x1x4xf32> {dist.layout = #dist.layout<[[], [], [row]]>, spmd.global = tensor<1x1x8xf32>})
      attributes {spmd.class = @c1, spmd.phase = "step"} {
    %0 = spmd.halo_exchange %x over ["row"] from <[[], [], [row]]> to <[[], [], [row] at [0:5, 3:8]]> of tensor<1x1x8xf32> : tensor<1x1x4xf32> -> tensor<1x1x5xf32>
    %1 = nn.conv %0, %w {dilations = array<i64: 1>, pads = array<i64: 0, 1>, spmd.split = #dist.split<w = [row]>, spmd.whole = {pads = array<i64: 1, 1>}, strides = array<i64: 1>} : tensor<1x1x5xf32>, tensor<1x1x3xf32>
    %2 = spmd.halo_exchange %1 over ["row"] from <[[], [], [row]]> to <[[], [], [row] at [0:5, 3:8]]> of tensor<1x1x8xf32> : tensor<1x1x4xf32> -> tensor<1x1x5xf32>
    %3 = nn.conv_input_grad %2, %w {dilations = array<i64: 1>, pads = array<i64: 0, 1>, spmd.split = #dist.split<w = [row]>, spmd.whole = {pads = array<i64: 1, 1>, results = [tensor<1x1x8xf32>]}, strides = array<i64: 1>} : tensor<1x1x5xf32>, tensor<1x1x3xf32> -> tensor<1x1x6xf32>
    %4 = spmd.slice %3 from <[[], [], [row] at [0:6, 2:8]]> to <[[], [], [row]]> of tensor<1x1x8xf32> : tensor<1x1x6xf32> -> tensor<1x1x4xf32>
    return %4 : tensor<1x1x4xf32>
  }
}

// -----

// A rank without samples: constants stand for what it does not compute.
module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0]
  spmd.class @c1 ranks [1]
  func.func @step_c0(%x: tensor<1x3xf32> {dist.layout = #dist.layout<[[data], []]>, spmd.global = tensor<1x3xf32>})
      -> (tensor<f32> {dist.layout = #dist.layout<[]>, spmd.global = tensor<f32>})
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    %y = nn.relu %x {spmd.split = #dist.split<d0 = [data]>} : tensor<1x3xf32>
    %m = nn.reduce max %y {axes = array<i64: 0, 1>, spmd.split = #dist.split<d0 = [data]>} : tensor<1x3xf32>
    %s = spmd.all_reduce max %m over ["data"] : tensor<f32>
    return %s : tensor<f32>
  }
  func.func @step_c1(%x: tensor<0x3xf32> {dist.layout = #dist.layout<[[data], []]>, spmd.global = tensor<1x3xf32>})
      -> (tensor<f32> {dist.layout = #dist.layout<[]>, spmd.global = tensor<f32>})
      attributes {spmd.class = @c1, spmd.phase = "step"} {
    %y = nn.constant dense<0.0> : tensor<0x3xf32> {spmd.stands_for = {op = "nn.relu", result = 0 : i64, of = tensor<1x3xf32>, layout = #dist.layout<[[data], []]>}}
    %m = nn.constant dense<0xFF800000> : tensor<f32> {spmd.stands_for = {op = "nn.reduce", result = 0 : i64, of = tensor<f32>, layout = #dist.layout<[], partial max [data]>}}
    %s = spmd.all_reduce max %m over ["data"] : tensor<f32>
    return %s : tensor<f32>
  }
}
