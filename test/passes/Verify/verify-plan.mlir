// RUN: partita-opt %s -split-input-file -verify-diagnostics -partita-verify-plan

module attributes {dist.grid = #dist.grid<data = 2>} {
  func.func @predict(%x: tensor<4x3xf32> {dist.layout = #dist.layout<[[data], []]>}) -> tensor<4x3xf32> {
    %y = nn.relu %x {dist.split = #dist.split<d0 = [data]>} : tensor<4x3xf32>
    return %y : tensor<4x3xf32>
  }
}

// -----

// Reductions may be split, and a parameter need not be combined over any axis.
module attributes {dist.grid = #dist.grid<data = 2>} {
  nn.variable @w parameter : tensor<3xf32> = dense<1.0> : tensor<3xf32> {dist.sync = #dist.sync<all_reduce []>}
  nn.variable @c constant : tensor<3xf32> = dense<1.0> : tensor<3xf32>
  func.func @predict(%x: tensor<4x3xf32> {dist.layout = #dist.layout<[[data], []]>}) -> tensor<3xf32> {
    %y = nn.reduce max %x {axes = array<i64: 0>, dist.split = #dist.split<d0 = [data]>} : tensor<4x3xf32>
    return %y : tensor<3xf32>
  }
}

// -----

// Windows, groups and several axes on one dimension can be split.
module attributes {dist.grid = #dist.grid<row = 2, col = 2>} {
  func.func @predict(%x: tensor<2x4x8x8xf32>, %w: tensor<4x2x3x3xf32>) -> tensor<2x4x4x4xf32> {
    %y = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, groups = 2 : i64, dist.split = #dist.split<g = [col], h = [row]>} : tensor<2x4x8x8xf32>, tensor<4x2x3x3xf32>
    %z = nn.max_pool %y {dist.split = #dist.split<h = [row, col]>, kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : tensor<2x4x8x8xf32> -> tensor<2x4x4x4xf32>
    return %z : tensor<2x4x4x4xf32>
  }
}
