// Parts at the ends of things: axes of one rank, windows that hang over, ranks
// that hold nothing.
// RUN: partita-opt %s -split-input-file -partita-partition-program -partita-verify-partition | FileCheck %s

// An axis of one rank cuts nothing: the operation has the whole operand, also
// the elements that its windows leave out, and the attributes that go with it.
// CHECK-LABEL: func.func @step_c0
// CHECK-NEXT: nn.slice %arg0 {sizes = array<i64: 2>, {{.*}}starts = array<i64: 3>, steps = array<i64: 1>} : tensor<6xf32>
// CHECK-NEXT: nn.conv_input_grad %arg1, %arg2 {{.*}}pads = array<i64: 3, 0>{{.*}} : tensor<1x1x3xf32>, tensor<1x1x2xf32> -> tensor<1x1x1xf32>
module attributes {dist.grid = #dist.grid<data = 1>} {
  func.func @step(%x: tensor<6xf32>, %dy: tensor<1x1x3xf32>, %w: tensor<1x1x2xf32>) -> (tensor<2xf32>, tensor<1x1x1xf32>) {
    %y = nn.slice %x {dist.split = #dist.split<d0 = [data]>, sizes = array<i64: 2>, starts = array<i64: 3>, steps = array<i64: 1>} : tensor<6xf32>
    %d = nn.conv_input_grad %dy, %w {dilations = array<i64: 1>, dist.split = #dist.split<w = [data]>, pads = array<i64: 3, 0>, strides = array<i64: 1>} : tensor<1x1x3xf32>, tensor<1x1x2xf32> -> tensor<1x1x1xf32>
    return %y, %d : tensor<2xf32>, tensor<1x1x1xf32>
  }
}

// -----

// In ceil mode the last window hangs over; a rank may have that one alone.
// CHECK-LABEL: func.func @step_c1
// CHECK: nn.max_pool %{{.*}} {{.*}}pads = array<i64: 0, 0>{{.*}} : tensor<1x1x2xf32> -> tensor<1x1x1xf32>
module attributes {dist.grid = #dist.grid<row = 2>} {
  func.func @step(%x: tensor<1x1x5xf32> {dist.layout = #dist.layout<[[], [], [row]]>}) -> tensor<1x1x2xf32> {
    %y = nn.max_pool %x {dilations = array<i64: 1>, dist.split = #dist.split<w = [row]>, kernel = array<i64: 3>, pads = array<i64: 0, 0>, strides = array<i64: 3>} : tensor<1x1x5xf32> -> tensor<1x1x2xf32>
    return %y : tensor<1x1x2xf32>
  }
}

// -----

// One sample on two ranks: the second gets none of it, and needs no channels
// from ranks it does not talk to.
// CHECK-LABEL: func.func @predict_c0
// CHECK: spmd.exchange %arg0 over ["b"]
// CHECK: nn.relu %{{.*}} : tensor<1x1x6xf32>
module attributes {dist.grid = #dist.grid<a = 2, b = 3>} {
  func.func @predict(%x: tensor<1x1x6xf32> {dist.layout = #dist.layout<[[], [a], [b]]>}) -> tensor<1x1x6xf32> {
    %y = nn.relu %x {dist.split = #dist.split<d0 = [a], d1 = [b]>} : tensor<1x1x6xf32>
    return %y : tensor<1x1x6xf32>
  }
}
