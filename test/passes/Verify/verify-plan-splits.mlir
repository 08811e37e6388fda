// Splits that leave an operation or its result wrong.
// RUN: partita-opt %s -split-input-file -verify-diagnostics -partita-verify-plan

// Each part of the sum over input channels would have the bias.
module attributes {dist.grid = #dist.grid<model = 2>} {
  func.func @predict(%x: tensor<1x4x5xf32>, %w: tensor<3x4x3xf32>, %b: tensor<3xf32>) -> tensor<1x3x3xf32> {
    // expected-error @+1 {{contract of the plan phase: 'nn.conv' is split along 'ci' and would add its bias 2 times; add it to the sum instead, as partita-propagate-splits does}}
    %y = nn.conv %x, %w bias %b {dilations = array<i64: 1>, dist.split = #dist.split<ci = [model]>, pads = array<i64: 0, 0>, strides = array<i64: 1>} : tensor<1x4x5xf32>, tensor<3x4x3xf32>, tensor<3xf32>
    return %y : tensor<1x3x3xf32>
  }
}

// -----

// Ranks of one class would need different programs.
module attributes {dist.grid = #dist.grid<data = 2>} {
  func.func @predict() -> tensor<2xf32> {
    // expected-error @+1 {{contract of the plan phase: 'nn.constant' cannot be split along 'd0'; it can along: nothing}}
    %c = nn.constant dense<[1.0, 2.0]> : tensor<2xf32> {dist.split = #dist.split<d0 = [data]>}
    return %c : tensor<2xf32>
  }
}
