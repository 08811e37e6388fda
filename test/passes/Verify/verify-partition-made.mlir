// What partitioning makes is accepted: here, and of all of its own tests.
// RUN: partita-opt %s -split-input-file -partita-partition-program -partita-verify-partition | FileCheck %s
// RUN: partita-opt %S/../Partition/partition-program.mlir -split-input-file -partita-partition-program -partita-verify-partition
// RUN: partita-opt %S/../Partition/partition-program-moves.mlir -split-input-file -partita-partition-program -partita-verify-partition

// A part that begins between two windows takes the one before, and computes its
// rows too.
// CHECK: spmd.slice {{.*}} from <{{\[\[}}], [], [row] at [0:3, 2:6, 6:8]]>
module attributes {dist.grid = #dist.grid<row = 3>} {
  func.func @step(%dy: tensor<1x1x4xf32> {dist.layout = #dist.layout<[[], [], [row]]>}, %w: tensor<1x1x1xf32>) -> tensor<1x1x8xf32> {
    %dx = nn.conv_input_grad %dy, %w {dist.split = #dist.split<w = [row]>, strides = array<i64: 2>, dilations = array<i64: 1>, pads = array<i64: 0, 0>} : tensor<1x1x4xf32>, tensor<1x1x1xf32> -> tensor<1x1x8xf32>
    return %dx : tensor<1x1x8xf32>
  }
}

// -----

// Empty parts may lie anywhere, and ranks without a part need nothing from
// anyone.
// CHECK-LABEL: func.func @step_c3(%arg0: tensor<0x0xf32>
module attributes {dist.grid = #dist.grid<a = 2, b = 2>} {
  func.func @step(%x: tensor<1x2xf32> {dist.layout = #dist.layout<[[a], [b] by 2]>}) -> tensor<1x2xf32> {
    %y = nn.relu %x {dist.split = #dist.split<d0 = [a], d1 = [b] by 2>} : tensor<1x2xf32>
    %z = nn.tanh %y {dist.split = #dist.split<d0 = [b], d1 = [a]>} : tensor<1x2xf32>
    %u = nn.exp %z {dist.split = #dist.split<d0 = [a]>} : tensor<1x2xf32>
    return %u : tensor<1x2xf32>
  }
}
