// What no plan may say.
// RUN: partita-opt %s -split-input-file -verify-diagnostics -partita-verify-plan

// expected-error @below {{contract of the plan phase: there must be a dist.grid}}
module {
}

// -----

// Classes depend on each other: partita-expand-coupled comes first.
module attributes {dist.grid = #dist.grid<data = 2>} {
  func.func @predict(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
    // expected-error @+1 {{contract of the plan phase: 'nn.softmax' cannot be split along 'd1'; it can along: d0}}
    %y = nn.softmax %x {axis = 1 : i64, dist.split = #dist.split<d1 = [data]>} : tensor<4x3xf32>
    return %y : tensor<4x3xf32>
  }
}

// -----

module attributes {dist.grid = #dist.grid<data = 2>} {
  func.func @predict(%a: tensor<4x3xf32>, %b: tensor<3x2xf32>) -> tensor<4x2xf32> {
    // expected-error @+1 {{contract of the plan phase: 'nn.matmul' cannot be split along 'rows'; it can along: m, n, k}}
    %y = nn.matmul %a, %b {dist.split = #dist.split<rows = [data]>} : tensor<4x3xf32>, tensor<3x2xf32>
    return %y : tensor<4x2xf32>
  }
}

// -----

// Kernels stay whole; rows and columns of a window can be split.
module attributes {dist.grid = #dist.grid<data = 2>} {
  func.func @predict(%x: tensor<1x2x8x8xf32>, %w: tensor<4x2x3x3xf32>) {
    // expected-error @+1 {{contract of the plan phase: 'nn.conv' cannot be split along 'kh'; it can along: n, co, ci, h, w}}
    %y = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dist.split = #dist.split<kh = [data]>} : tensor<1x2x8x8xf32>, tensor<4x2x3x3xf32>
    return
  }
}

// -----

// In groups, the channels of a group belong together.
module attributes {dist.grid = #dist.grid<data = 2>} {
  func.func @predict(%x: tensor<1x4x8xf32>, %w: tensor<4x2x3xf32>) {
    // expected-error @+1 {{contract of the plan phase: 'nn.conv' cannot be split along 'ci'; it can along: n, g, w}}
    %y = nn.conv %x, %w {strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 0, 0>, groups = 2 : i64, dist.split = #dist.split<ci = [data]>} : tensor<1x4x8xf32>, tensor<4x2x3xf32>
    return
  }
}

// -----

// Losses too.
module attributes {dist.grid = #dist.grid<data = 2>} {
  func.func @eval(%x: tensor<4x3x5xf32>, %l: tensor<4x5xi64>) -> tensor<4x5xf32> {
    // expected-error @+1 {{contract of the plan phase: 'nn.cross_entropy' cannot be split along 'd1'; it can along: d0, d2}}
    %y = nn.cross_entropy %x, %l {axis = 1 : i64, dist.split = #dist.split<d1 = [data]>} : tensor<4x3x5xf32>, tensor<4x5xi64>
    return %y : tensor<4x5xf32>
  }
}

// -----

// A reshape that does not keep the elements of a dimension together.
module attributes {dist.grid = #dist.grid<data = 2>} {
  func.func @predict(%x: tensor<4x3xf32>) -> tensor<6x2xf32> {
    // expected-error @+1 {{contract of the plan phase: 'nn.reshape' cannot be split along 'g0'; it can along: nothing}}
    %y = nn.reshape %x {dist.split = #dist.split<g0 = [data]>} : tensor<4x3xf32> -> tensor<6x2xf32>
    return %y : tensor<6x2xf32>
  }
}

// -----

module attributes {dist.grid = #dist.grid<data = 2>} {
  func.func @predict(%x: tensor<f32>) -> tensor<f32> {
    // expected-error @+1 {{contract of the plan phase: 'nn.relu' cannot be split along 'd0'; it can along: nothing}}
    %y = nn.relu %x {dist.split = #dist.split<d0 = [data]>} : tensor<f32>
    return %y : tensor<f32>
  }
}

// -----

module attributes {dist.grid = #dist.grid<data = 2>} {
  func.func @predict(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
    // expected-error @+1 {{contract of the plan phase: axis 'model' is not one of the grid #dist.grid<data = 2>}}
    %y = nn.relu %x {dist.split = #dist.split<d0 = [model]>} : tensor<4x3xf32>
    return %y : tensor<4x3xf32>
  }
}

// -----

module attributes {dist.grid = #dist.grid<data = 2>} {
  nn.variable @w parameter : tensor<3xf32> = dense<1.0> : tensor<3xf32> {dist.sync = #dist.sync<all_reduce []>}
  func.func @predict() {
    // expected-error @+1 {{contract of the plan phase: 'nn.read' cannot be split but has #dist.split<d0 = [data]>}}
    %y = nn.read @w {dist.split = #dist.split<d0 = [data]>} : tensor<3xf32>
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<data = 2>} {
  // expected-error @+1 {{contract of the plan phase: parameter 'w' has no dist.sync}}
  nn.variable @w parameter : tensor<3xf32> = dense<1.0> : tensor<3xf32>
}

// -----

module attributes {dist.grid = #dist.grid<data = 2>} {
  // expected-error @+1 {{contract of the plan phase: axis 'node' is not one of the grid #dist.grid<data = 2>}}
  nn.variable @w parameter : tensor<3xf32> = dense<1.0> : tensor<3xf32> {dist.sync = #dist.sync<all_reduce [node]>}
}
