// Where values do not lie as their users need them: which collectives a split
// costs, and which not.
// RUN: partita-opt %s -split-input-file -partita-partition-program | FileCheck %s

// The batch of a strided, padded convolution: nothing is sent.
// CHECK-LABEL: func.func @predict_c0
// CHECK-NEXT: %[[Y:.*]] = nn.conv %arg0, %arg1 {{.*}}pads = array<i64: 3, 3, 3, 3>{{.*}} : tensor<2x3x16x16xf32>, tensor<8x3x7x7xf32>
// CHECK-NEXT: return %[[Y]]
module attributes {dist.grid = #dist.grid<data = 2>} {
  func.func @predict(%x: tensor<4x3x16x16xf32> {dist.layout = #dist.layout<[[data], [], [], []]>}, %w: tensor<8x3x7x7xf32>) -> tensor<4x8x8x8xf32> {
    %y = nn.conv %x, %w {dist.split = #dist.split<n = [data]>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 3, 3, 3, 3>} : tensor<4x3x16x16xf32>, tensor<8x3x7x7xf32>
    return %y : tensor<4x8x8x8xf32>
  }
}

// -----

// Columns, then rows (Shoeybi et al., 2019, section 3): one all_reduce per pair of
// products, none between them.
// CHECK-LABEL: func.func @predict_c0
// CHECK-NEXT: nn.read @w1
// CHECK-NEXT: nn.read @b1
// CHECK-NEXT: nn.read @w2
// CHECK-NEXT: nn.matmul {{.*}} : tensor<4x6xf32>, tensor<4x6xf32>
// CHECK-NEXT: nn.add {{.*}} : tensor<4x4xf32>, tensor<4xf32>
// CHECK-NEXT: nn.relu
// CHECK-NEXT: %[[D:.*]] = nn.matmul {{.*}} : tensor<4x4xf32>, tensor<6x4xf32>
// CHECK-NEXT: %[[S:.*]] = spmd.all_reduce sum %[[D]] over ["model"] : tensor<4x6xf32>
// CHECK-NEXT: nn.add %[[S]], %arg0
// CHECK-NEXT: return
module attributes {dist.grid = #dist.grid<model = 2>} {
  nn.variable @w1 parameter : tensor<8x6xf32> = dense<1.0> : tensor<8x6xf32> {dist.layout = #dist.layout<[[model], []]>}
  nn.variable @b1 parameter : tensor<8xf32> = dense<1.0> : tensor<8xf32> {dist.layout = #dist.layout<[[model]]>}
  nn.variable @w2 parameter : tensor<6x8xf32> = dense<1.0> : tensor<6x8xf32> {dist.layout = #dist.layout<[[], [model]]>}
  func.func @predict(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
    %w1 = nn.read @w1 : tensor<8x6xf32>
    %b1 = nn.read @b1 : tensor<8xf32>
    %w2 = nn.read @w2 : tensor<6x8xf32>
    %a = nn.matmul %x, %w1 {dist.split = #dist.split<n = [model]>, transpose_b} : tensor<4x6xf32>, tensor<8x6xf32>
    %b = nn.add %a, %b1 {dist.split = #dist.split<d1 = [model]>} : tensor<4x8xf32>, tensor<8xf32>
    %c = nn.relu %b {dist.split = #dist.split<d1 = [model]>} : tensor<4x8xf32>
    %d = nn.matmul %c, %w2 {dist.split = #dist.split<k = [model]>, transpose_b} : tensor<4x8xf32>, tensor<6x8xf32>
    %e = nn.add %d, %x : tensor<4x6xf32>, tensor<4x6xf32>
    return %e : tensor<4x6xf32>
  }
}

// -----

// Exactly the rows that windows reach, on the side where they reach them: one
// above and below for the padded kernel of three rows; for the kernel of two rows
// that steps by two, what the balanced rows of the result cover.
// CHECK-LABEL: func.func @predict_c0
// CHECK-NEXT: spmd.halo_exchange %arg0 over ["row"] from <{{\[\[}}], [], [row], []]> to <{{\[\[}}], [], [row] at [0:4, 2:7, 5:9], []]> of tensor<1x1x9x4xf32> : tensor<1x1x3x4xf32> -> tensor<1x1x4x4xf32>
// CHECK-NEXT: nn.conv {{.*}}pads = array<i64: 1, 1, 0, 1>
// CHECK-NEXT: spmd.halo_exchange {{.*}} to <{{\[\[}}], [], [row] at [0:4, 4:6, 6:8], []]> of tensor<1x1x9x4xf32> : tensor<1x1x3x4xf32> -> tensor<1x1x4x4xf32>
// CHECK-NEXT: nn.conv {{.*}}pads = array<i64: 0, 0, 0, 0>
// CHECK-NEXT: return
// CHECK-LABEL: func.func @predict_c1
// CHECK-NEXT: spmd.halo_exchange {{.*}} : tensor<1x1x3x4xf32> -> tensor<1x1x5x4xf32>
// CHECK-NEXT: nn.conv {{.*}}pads = array<i64: 0, 1, 0, 1>
// CHECK-LABEL: func.func @predict_c2
// CHECK-NEXT: spmd.halo_exchange {{.*}} : tensor<1x1x3x4xf32> -> tensor<1x1x4x4xf32>
// CHECK-NEXT: nn.conv {{.*}}pads = array<i64: 0, 1, 1, 1>
module attributes {dist.grid = #dist.grid<row = 3>} {
  func.func @predict(%x: tensor<1x1x9x4xf32> {dist.layout = #dist.layout<[[], [], [row], []]>}, %w: tensor<1x1x3x3xf32>, %v: tensor<1x1x2x2xf32>) -> tensor<1x1x4x3xf32> {
    %y = nn.conv %x, %w {dist.split = #dist.split<h = [row]>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : tensor<1x1x9x4xf32>, tensor<1x1x3x3xf32>
    %z = nn.conv %y, %v {dist.split = #dist.split<h = [row]>, strides = array<i64: 2, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : tensor<1x1x9x4xf32>, tensor<1x1x2x2xf32>
    return %z : tensor<1x1x4x3xf32>
  }
}

// -----

// Where a part of a sum is wanted, it is combined and cut in one call.
// CHECK-LABEL: func.func @predict_c0
// CHECK-NEXT: %[[Y:.*]] = nn.matmul
// CHECK-NEXT: spmd.reduce_scatter %[[Y]] over ["model"] from <{{\[\[}}], []], partial sum [model]> to <{{\[\[}}model], []]> of tensor<4x8xf32> : tensor<4x8xf32> -> tensor<2x8xf32>
// CHECK-NEXT: nn.relu
// CHECK-NEXT: return
module attributes {dist.grid = #dist.grid<model = 2>} {
  func.func @predict(%x: tensor<4x6xf32> {dist.layout = #dist.layout<[[], [model]]>}, %w: tensor<8x6xf32> {dist.layout = #dist.layout<[[], [model]]>}) -> tensor<4x8xf32> {
    %y = nn.matmul %x, %w {dist.split = #dist.split<k = [model]>, transpose_b} : tensor<4x6xf32>, tensor<8x6xf32>
    %z = nn.relu %y {dist.split = #dist.split<d0 = [model]>} : tensor<4x8xf32>
    return %z : tensor<4x8xf32>
  }
}

// -----

// A split that changes its dimension is no gather.
// CHECK-LABEL: func.func @predict_c0
// CHECK-NEXT: spmd.all_to_all %arg0 over ["axis"] from <{{\[\[}}axis], []]> to <{{\[\[}}], [axis]]> of tensor<64x64xf32> : tensor<32x64xf32> -> tensor<64x32xf32>
// CHECK-NEXT: nn.relu
// CHECK-NEXT: return
module attributes {dist.grid = #dist.grid<axis = 2>} {
  func.func @predict(%x: tensor<64x64xf32> {dist.layout = #dist.layout<[[axis], []]>}) -> tensor<64x64xf32> {
    %y = nn.relu %x {dist.split = #dist.split<d1 = [axis]>} : tensor<64x64xf32>
    return %y : tensor<64x64xf32>
  }
}

// -----

// A value with two layouts: one user takes it as it lies, two want it whole and
// share what was gathered, and a sum over the split rows gathers nothing.
// CHECK-LABEL: func.func @predict_c0
// CHECK: %[[Y:.*]] = nn.conv
// CHECK-NEXT: nn.add %arg0, %[[Y]]
// CHECK-NEXT: %[[M:.*]] = nn.reduce sum %[[Y]]
// CHECK-NEXT: spmd.all_reduce sum %[[M]]
// CHECK-NEXT: %[[W:.*]] = spmd.all_gather %[[Y]] over ["row"]
// CHECK-NEXT: nn.reshape %[[W]]
// CHECK-NEXT: nn.relu %[[W]]
// CHECK-NEXT: return
module attributes {dist.grid = #dist.grid<row = 2>} {
  func.func @predict(%x: tensor<1x2x8x4xf32> {dist.layout = #dist.layout<[[], [], [row], []]>}, %w: tensor<2x2x3x3xf32>) -> (tensor<1x2x8x4xf32>, tensor<2xf32>, tensor<64x1xf32>) {
    %y = nn.conv %x, %w {dist.split = #dist.split<h = [row]>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : tensor<1x2x8x4xf32>, tensor<2x2x3x3xf32>
    %a = nn.add %x, %y {dist.split = #dist.split<d2 = [row]>} : tensor<1x2x8x4xf32>, tensor<1x2x8x4xf32>
    %m = nn.reduce sum %y {axes = array<i64: 0, 2, 3>, dist.split = #dist.split<d2 = [row]>, scale = 0.03125 : f64} : tensor<1x2x8x4xf32>
    %r = nn.reshape %y : tensor<1x2x8x4xf32> -> tensor<64x1xf32>
    %t = nn.relu %y : tensor<1x2x8x4xf32>
    return %a, %m, %r : tensor<1x2x8x4xf32>, tensor<2xf32>, tensor<64x1xf32>
  }
}

// -----

// Two samples on four ranks. Ranks without samples compute nothing but take part
// in every collective with the value that changes nothing.
// CHECK: spmd.class @c1 ranks [2, 3]
// CHECK-LABEL: func.func @step_c0
// CHECK-NEXT: nn.read
// CHECK-NEXT: nn.matmul {{.*}} : tensor<1x4xf32>
// CHECK-NEXT: nn.reduce sum
// CHECK-NEXT: spmd.all_reduce sum %{{.*}} over ["data"] : tensor<f32>
// CHECK-NEXT: nn.reduce max
// CHECK-NEXT: spmd.all_reduce max %{{.*}} over ["data"] : tensor<f32>
// CHECK: spmd.all_reduce sum %{{.*}} over ["data"] : tensor<3x4xf32>
// CHECK-LABEL: func.func @step_c1(%arg0: tensor<0x4xf32>
// CHECK-NOT: = nn.matmul
// CHECK: %[[L:.*]] = nn.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: spmd.all_reduce sum %[[L]]
// CHECK-NEXT: %[[M:.*]] = nn.constant dense<0xFF800000> : tensor<f32>
// CHECK-NEXT: spmd.all_reduce max %[[M]]
// CHECK-NEXT: %[[G:.*]] = nn.constant dense<0.000000e+00> : tensor<3x4xf32>
// CHECK-NEXT: %[[S:.*]] = spmd.all_reduce sum %[[G]] over ["data"] : tensor<3x4xf32>
// CHECK-NEXT: nn.sgd @w, %[[S]]
// CHECK-NEXT: return
module attributes {dist.grid = #dist.grid<data = 4>} {
  nn.variable @w parameter : tensor<3x4xf32> = dense<1.0> : tensor<3x4xf32>
  func.func @step(%x: tensor<2x4xf32> {dist.layout = #dist.layout<[[data], []]>}) -> (tensor<f32>, tensor<f32>) {
    %w = nn.read @w : tensor<3x4xf32>
    %y = nn.matmul %x, %w {dist.split = #dist.split<m = [data]>, transpose_b} : tensor<2x4xf32>, tensor<3x4xf32>
    %l = nn.reduce sum %y {axes = array<i64: 0, 1>, dist.split = #dist.split<d0 = [data]>} : tensor<2x3xf32>
    %m = nn.reduce max %y {axes = array<i64: 0, 1>, dist.split = #dist.split<d0 = [data]>} : tensor<2x3xf32>
    %g = nn.matmul %y, %x {dist.split = #dist.split<k = [data]>, transpose_a} : tensor<2x3xf32>, tensor<2x4xf32>
    nn.sgd @w, %g : tensor<3x4xf32>
    return %m, %l : tensor<f32>, tensor<f32>
  }
}

// -----

// Joined, taken apart and filled along a split dimension: each rank gets the rows
// that its part of the result is made of.
// CHECK-LABEL: func.func @predict_c0
// CHECK-NEXT: %[[Z:.*]] = spmd.slice %arg1 {{.*}} -> tensor<2x2xf32>
// CHECK-NEXT: %[[X:.*]] = spmd.exchange %arg0 over ["row"] from <{{\[\[}}row], []]> to <{{\[\[}}row] at [0:2, 2:6], []]> of tensor<6x2xf32> : tensor<3x2xf32> -> tensor<2x2xf32>
// CHECK-NEXT: nn.concat %[[Z]], %[[X]]
// CHECK-NEXT: spmd.slice {{.*}} to <{{\[\[}}row] at [1:4, 5:8], []]>
// CHECK-NEXT: nn.slice {{.*}}starts = array<i64: 0, 0>
// CHECK-NEXT: spmd.halo_exchange {{.*}} to <{{\[\[}}row] at [0:2, 1:4], []]>
// CHECK-NEXT: nn.pad {{.*}}low = array<i64: 1, 0>
// CHECK-LABEL: func.func @predict_c1
// The first operand has no rows there.
// CHECK: spmd.exchange {{.*}} -> tensor<4x2xf32>
// CHECK-NEXT: nn.concat %{{[0-9]+}} {
// CHECK: nn.pad {{.*}}low = array<i64: -1, 0>
module attributes {dist.grid = #dist.grid<row = 2>} {
  func.func @predict(%x: tensor<6x2xf32> {dist.layout = #dist.layout<[[row], []]>}, %z: tensor<2x2xf32>) -> tensor<8x2xf32> {
    %a = nn.concat %z, %x {axis = 0 : i64, dist.split = #dist.split<d0 = [row]>} : tensor<2x2xf32>, tensor<6x2xf32>
    %s = nn.slice %a {dist.split = #dist.split<d0 = [row]>, starts = array<i64: 1, 0>, sizes = array<i64: 4, 2>, steps = array<i64: 2, 1>} : tensor<8x2xf32>
    %p = nn.pad %s {dist.split = #dist.split<d0 = [row]>, low = array<i64: 1, 0>, interior = array<i64: 1, 0>, high = array<i64: 0, 0>} : tensor<4x2xf32>
    return %p : tensor<8x2xf32>
  }
}

// -----

// A reshape keeps the axes of dimensions that stay outermost in their group; of
// one that goes inside another it needs all.
// CHECK-LABEL: func.func @predict_c0
// CHECK-NEXT: nn.reshape %arg0 {{.*}} : tensor<2x4x2xf32> -> tensor<2x8xf32>
// CHECK-NEXT: %[[W:.*]] = spmd.all_gather %arg0 over ["model"]
// CHECK-NEXT: nn.reshape %[[W]] {{.*}} : tensor<2x8x2xf32> -> tensor<16x2xf32>
// CHECK-NEXT: return
module attributes {dist.grid = #dist.grid<data = 2, model = 2>} {
  func.func @predict(%x: tensor<4x8x2xf32> {dist.layout = #dist.layout<[[data], [model], []]>}) -> (tensor<4x16xf32>, tensor<32x2xf32>) {
    %a = nn.reshape %x {dist.split = #dist.split<g0 = [data], g1 = [model]>} : tensor<4x8x2xf32> -> tensor<4x16xf32>
    %b = nn.reshape %x {dist.split = #dist.split<g0 = [data]>} : tensor<4x8x2xf32> -> tensor<32x2xf32>
    return %a, %b : tensor<4x16xf32>, tensor<32x2xf32>
  }
}

// -----

// Depthwise and grouped convolutions are split at group borders: the depthwise one
// sends nothing, three groups on two ranks are four channels and two.
// CHECK-LABEL: func.func @predict_c0
// CHECK-NEXT: nn.conv %arg0, %arg1 {{.*}}groups = 3 : i64
// CHECK-NEXT: %[[X:.*]] = spmd.exchange %arg0 over ["model"] {{.*}} to <{{\[\[}}data], [model] by 2, []]>
// CHECK-NEXT: nn.conv %[[X]], %arg2 {{.*}}groups = 2 : i64
// CHECK-NEXT: return
// CHECK-LABEL: func.func @predict_c1
// CHECK: nn.conv {{.*}} : tensor<2x2x8xf32>, tensor<2x2x3xf32>
module attributes {dist.grid = #dist.grid<data = 2, model = 2>} {
  func.func @predict(%x: tensor<4x6x8xf32> {dist.layout = #dist.layout<[[data], [model], []]>}, %w: tensor<6x1x3xf32> {dist.layout = #dist.layout<[[model], [], []]>}, %v: tensor<6x2x3xf32> {dist.layout = #dist.layout<[[model] by 2, [], []]>}) -> (tensor<4x6x8xf32>, tensor<4x6x8xf32>) {
    %y = nn.conv %x, %w {dist.split = #dist.split<g = [model], n = [data]>, groups = 6 : i64, strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 1, 1>} : tensor<4x6x8xf32>, tensor<6x1x3xf32>
    %z = nn.conv %x, %v {dist.split = #dist.split<g = [model], n = [data]>, groups = 3 : i64, strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 1, 1>} : tensor<4x6x8xf32>, tensor<6x2x3xf32>
    return %y, %z : tensor<4x6x8xf32>, tensor<4x6x8xf32>
  }
}

// -----

// The gradient by the input has the layout of the input. Each rank computes all
// rows that its windows touch and keeps its own.
// CHECK-LABEL: func.func @step_c0
// CHECK-SAME: -> (tensor<1x1x4xf32> {dist.layout = #dist.layout<{{\[\[}}], [], [col]]>
// CHECK-NEXT: spmd.halo_exchange %arg0 over ["col"] {{.*}} to <{{\[\[}}], [], [col] at [0:5, 3:8]]>
// CHECK-NEXT: nn.conv_input_grad {{.*}}pads = array<i64: 1, 0>{{.*}} -> tensor<1x1x6xf32>
// CHECK-NEXT: spmd.slice {{.*}} from <{{\[\[}}], [], [col] at [0:6, 2:8]]> to <{{\[\[}}], [], [col]]>
// CHECK-NEXT: return
module attributes {dist.grid = #dist.grid<col = 2>} {
  func.func @step(%dy: tensor<1x1x8xf32> {dist.layout = #dist.layout<[[], [], [col]]>}, %w: tensor<1x1x3xf32>) -> tensor<1x1x8xf32> {
    %dx = nn.conv_input_grad %dy, %w {dist.split = #dist.split<w = [col]>, strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 1, 1>} : tensor<1x1x8xf32>, tensor<1x1x3xf32> -> tensor<1x1x8xf32>
    return %dx : tensor<1x1x8xf32>
  }
}

// -----

// Windows that see nothing but padding hold the bias.
// CHECK-LABEL: func.func @predict_c0
// CHECK-NEXT: spmd.exchange
// CHECK-NEXT: %[[B:.*]] = nn.reshape %arg2
// CHECK-NEXT: nn.broadcast %[[B]] {{.*}}-> tensor<1x2x2xf32>
// CHECK-NEXT: return
// CHECK-LABEL: func.func @predict_c1
// CHECK-NEXT: spmd.exchange
// CHECK-NEXT: nn.conv
module attributes {dist.grid = #dist.grid<row = 4>} {
  func.func @predict(%x: tensor<1x1x1xf32> {dist.layout = #dist.layout<[[], [], [row]]>}, %w: tensor<2x1x2xf32>, %b: tensor<2xf32>) -> tensor<1x2x6xf32> {
    %y = nn.conv %x, %w bias %b {dist.split = #dist.split<w = [row]>, strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 3, 3>} : tensor<1x1x1xf32>, tensor<2x1x2xf32>, tensor<2xf32>
    return %y : tensor<1x2x6xf32>
  }
}

// -----

// Partial values are added before they are combined; what both operands of a sum
// are partial over is combined once.
// CHECK-LABEL: func.func @step_c0
// CHECK: %[[A:.*]] = nn.matmul
// CHECK-NEXT: %[[B:.*]] = nn.matmul
// CHECK-NEXT: %[[C:.*]] = nn.matmul
// CHECK-NEXT: %[[S:.*]] = nn.add %[[A]], %[[B]]
// CHECK-NEXT: %[[T:.*]] = nn.sub %[[S]], %[[C]]
// CHECK-NEXT: %[[G:.*]] = spmd.all_reduce sum %[[T]] over ["data"] : tensor<3x3xf32>
// CHECK-NEXT: nn.sgd @w, %[[G]]
// CHECK-NEXT: return
module attributes {dist.grid = #dist.grid<data = 2>} {
  nn.variable @w parameter : tensor<3x3xf32> = dense<1.0> : tensor<3x3xf32>
  func.func @step(%x: tensor<4x3xf32> {dist.layout = #dist.layout<[[data], []]>}, %y: tensor<4x3xf32> {dist.layout = #dist.layout<[[data], []]>}) {
    %a = nn.matmul %x, %x {dist.split = #dist.split<k = [data]>, transpose_a} : tensor<4x3xf32>, tensor<4x3xf32>
    %b = nn.matmul %x, %y {dist.split = #dist.split<k = [data]>, transpose_a} : tensor<4x3xf32>, tensor<4x3xf32>
    %c = nn.matmul %y, %y {dist.split = #dist.split<k = [data]>, transpose_a} : tensor<4x3xf32>, tensor<4x3xf32>
    %s = nn.add %a, %b : tensor<3x3xf32>, tensor<3x3xf32>
    %t = nn.sub %s, %c : tensor<3x3xf32>, tensor<3x3xf32>
    nn.sgd @w, %t : tensor<3x3xf32>
    return
  }
}

// -----

// The bias of a convolution split over its input channels, which propagation
// has taken out: added once, to the combined sum.
// CHECK-LABEL: func.func @predict_c0
// CHECK: %[[Y:.*]] = nn.conv %arg0, %arg1 {
// CHECK-NEXT: %[[B:.*]] = nn.reshape %arg2
// CHECK-NEXT: %[[S:.*]] = spmd.all_reduce sum %[[Y]] over ["model"]
// CHECK-NEXT: nn.add %[[S]], %[[B]]
module attributes {dist.grid = #dist.grid<model = 2>} {
  func.func @predict(%x: tensor<2x4x6xf32> {dist.layout = #dist.layout<[[], [model], []]>}, %w: tensor<3x4x3xf32> {dist.layout = #dist.layout<[[], [model], []]>}, %b: tensor<3xf32>) -> tensor<2x3x4xf32> {
    %y = nn.conv %x, %w {dist.split = #dist.split<ci = [model]>, strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 0, 0>} : tensor<2x4x6xf32>, tensor<3x4x3xf32>
    %r = nn.reshape %b : tensor<3xf32> -> tensor<1x3x1xf32>
    %s = nn.add %y, %r : tensor<2x3x4xf32>, tensor<1x3x1xf32>
    return %s : tensor<2x3x4xf32>
  }
}

// -----

// What is whole is cut without communication; what is wanted whole is gathered,
// by operations without split and by variables.
// CHECK-LABEL: func.func @step_c0
// CHECK-SAME: %arg1: tensor<4x3xf32> {dist.layout = #dist.layout<{{\[\[}}], []]>, spmd.global = tensor<4x3xf32>}
// CHECK-NEXT: %[[S:.*]] = spmd.slice %arg1 from <{{\[\[}}], []]> to <{{\[\[}}data], []]> of tensor<4x3xf32>
// CHECK-NEXT: nn.relu %[[S]] {{.*}} : tensor<2x3xf32>
// CHECK-NEXT: %[[G:.*]] = spmd.all_gather %arg0 over ["data"]
// CHECK-NEXT: nn.sigmoid %[[G]] : tensor<4x3xf32>
// CHECK-NEXT: nn.assign @s, %[[G]]
// CHECK-NEXT: return
module attributes {dist.grid = #dist.grid<data = 2>} {
  nn.variable @s state : tensor<4x3xf32> = dense<0.0> : tensor<4x3xf32>
  func.func @step(%x: tensor<4x3xf32> {dist.layout = #dist.layout<[[data], []]>}, %z: tensor<4x3xf32>) {
    %a = nn.relu %z {dist.split = #dist.split<d0 = [data]>} : tensor<4x3xf32>
    %b = nn.sigmoid %x : tensor<4x3xf32>
    nn.assign @s, %x : tensor<4x3xf32>
    return
  }
}
