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
