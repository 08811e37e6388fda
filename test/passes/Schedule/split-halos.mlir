// RUN: partita-opt %s -split-input-file -partita-split-halos -cse | FileCheck %s

// CHECK-LABEL: func.func @predict_c0(%arg0: tensor<1x1x4x6xf32>)
// CHECK-NEXT: %[[H:.*]] = spmd.halo_exchange %arg0
// CHECK-NEXT: %[[IN:.*]] = nn.max_pool %arg0 {{.*}}pads = array<i64: 1, 1, 0, 1>{{.*}} : tensor<1x1x4x6xf32> -> tensor<1x1x3x6xf32>
// CHECK-NEXT: %[[ROWS:.*]] = nn.slice %[[H]] {sizes = array<i64: 1, 1, 3, 6>, starts = array<i64: 0, 0, 2, 0>, steps = array<i64: 1, 1, 1, 1>} : tensor<1x1x5x6xf32>
// CHECK-NEXT: %[[LOW:.*]] = nn.max_pool %[[ROWS]] {{.*}}pads = array<i64: 0, 1, 0, 1>{{.*}} : tensor<1x1x3x6xf32> -> tensor<1x1x1x6xf32>
// CHECK-NEXT: %[[Y:.*]] = nn.concat %[[IN]], %[[LOW]] {axis = 2 : i64}
// CHECK-NEXT: return %[[Y]]
module attributes {dist.grid = #dist.grid<row = 2>} {
  spmd.class @c0 ranks [0]
  func.func @predict_c0(%x: tensor<1x1x4x6xf32>) -> tensor<1x1x4x6xf32> attributes {spmd.class = @c0, spmd.phase = "predict"} {
    %h = spmd.halo_exchange %x over ["row"]
        from <[[], [], [row], []]>
        to <[[], [], [row] at [0:5, 3:8], []]>
        of tensor<1x1x8x6xf32> : tensor<1x1x4x6xf32> -> tensor<1x1x5x6xf32>
    %y = nn.max_pool %h {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 0, 1>} : tensor<1x1x5x6xf32> -> tensor<1x1x4x6xf32>
    return %y : tensor<1x1x4x6xf32>
  }
}

// -----

// Unequal halos of a window of four rows: two from above, one from below. The
// bias goes to every part.
// CHECK-LABEL: func.func @predict_c1
// CHECK: %[[H:.*]] = spmd.halo_exchange %arg0
// CHECK-NEXT: %[[IN:.*]] = nn.conv %arg0, %arg1 bias %arg2 {{.*}}pads = array<i64: 0, 0, 0, 0>{{.*}} : tensor<1x1x4x4xf32>, {{.*}}
// CHECK-NEXT: %[[A:.*]] = nn.slice %[[H]] {sizes = array<i64: 1, 1, 5, 4>, starts = array<i64: 0, 0, 0, 0>
// CHECK-NEXT: %[[TOP:.*]] = nn.conv %[[A]], %arg1 bias %arg2 {{.*}}pads = array<i64: 0, 0, 0, 0>{{.*}} : tensor<1x1x5x4xf32>, {{.*}}
// CHECK-NEXT: %[[B:.*]] = nn.slice %[[H]] {sizes = array<i64: 1, 1, 4, 4>, starts = array<i64: 0, 0, 3, 0>
// CHECK-NEXT: %[[END:.*]] = nn.conv %[[B]], %arg1 bias %arg2
// CHECK-NEXT: nn.concat %[[TOP]], %[[IN]], %[[END]] {axis = 2 : i64} : tensor<1x1x2x4xf32>, tensor<1x1x1x4xf32>, tensor<1x1x1x4xf32>
module attributes {dist.grid = #dist.grid<row = 3>} {
  spmd.class @c1 ranks [1]
  func.func @predict_c1(%x: tensor<1x1x4x4xf32>, %w: tensor<1x1x4x1xf32>, %b: tensor<1xf32>) -> tensor<1x1x4x4xf32> attributes {spmd.class = @c1, spmd.phase = "predict"} {
    %h = spmd.halo_exchange %x over ["row"] from <[[], [], [row], []]> to <[[], [], [row] at [0:5, 2:9, 6:12], []]> of tensor<1x1x12x4xf32> : tensor<1x1x4x4xf32> -> tensor<1x1x7x4xf32>
    %y = nn.conv %h, %w bias %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : tensor<1x1x7x4xf32>, tensor<1x1x4x1xf32>, tensor<1xf32>
    return %y : tensor<1x1x4x4xf32>
  }
}

// -----

// With stride 2 only rank 1 has a halo, of one row; it reads it once.
// CHECK-LABEL: func.func @predict_c0
// CHECK: nn.max_pool
// CHECK-NOT: nn.max_pool
// CHECK-LABEL: func.func @predict_c1
// CHECK: %[[H:.*]] = spmd.halo_exchange %arg0
// CHECK-NEXT: %[[OWN:.*]] = nn.slice %arg0 {sizes = array<i64: 1, 1, 7>, starts = array<i64: 0, 0, 1>
// CHECK-NEXT: %[[IN:.*]] = nn.max_pool %[[OWN]] {{.*}}pads = array<i64: 0, 0>{{.*}} : tensor<1x1x7xf32> -> tensor<1x1x3xf32>
// CHECK-NEXT: %[[ROWS:.*]] = nn.slice %[[H]] {sizes = array<i64: 1, 1, 3>, starts = array<i64: 0, 0, 0>
// CHECK-NEXT: %[[TOP:.*]] = nn.max_pool %[[ROWS]] {{.*}}pads = array<i64: 0, 0>{{.*}} : tensor<1x1x3xf32> -> tensor<1x1x1xf32>
// CHECK-NEXT: nn.concat %[[TOP]], %[[IN]] {axis = 2 : i64}
module attributes {dist.grid = #dist.grid<row = 2>} {
  spmd.class @c0 ranks [0]
  spmd.class @c1 ranks [1]
  func.func @predict_c0(%x: tensor<1x1x8xf32>) -> tensor<1x1x4xf32> attributes {spmd.class = @c0, spmd.phase = "predict"} {
    %h = spmd.halo_exchange %x over ["row"] from <[[], [], [row]]> to <[[], [], [row] at [0:8, 7:16]]> of tensor<1x1x16xf32> : tensor<1x1x8xf32> -> tensor<1x1x8xf32>
    %y = nn.max_pool %h {kernel = array<i64: 3>, strides = array<i64: 2>, dilations = array<i64: 1>, pads = array<i64: 1, 0>} : tensor<1x1x8xf32> -> tensor<1x1x4xf32>
    return %y : tensor<1x1x4xf32>
  }
  func.func @predict_c1(%x: tensor<1x1x8xf32>) -> tensor<1x1x4xf32> attributes {spmd.class = @c1, spmd.phase = "predict"} {
    %h = spmd.halo_exchange %x over ["row"] from <[[], [], [row]]> to <[[], [], [row] at [0:8, 7:16]]> of tensor<1x1x16xf32> : tensor<1x1x8xf32> -> tensor<1x1x9xf32>
    %y = nn.max_pool %h {kernel = array<i64: 3>, strides = array<i64: 2>, dilations = array<i64: 1>, pads = array<i64: 0, 0>} : tensor<1x1x9xf32> -> tensor<1x1x4xf32>
    return %y : tensor<1x1x4xf32>
  }
}

// -----

// With dilation 2 a window of three spans five rows, and the halo has two.
// CHECK-LABEL: func.func @predict_c0
// CHECK: %[[H:.*]] = spmd.halo_exchange %arg0
// CHECK-NEXT: %[[IN:.*]] = nn.avg_pool %arg0 {{.*}}pads = array<i64: 2, 0>{{.*}} : tensor<1x1x8xf32> -> tensor<1x1x6xf32>
// CHECK-NEXT: %[[ROWS:.*]] = nn.slice %[[H]] {sizes = array<i64: 1, 1, 6>, starts = array<i64: 0, 0, 4>
// CHECK-NEXT: %[[END:.*]] = nn.avg_pool %[[ROWS]] {{.*}}pads = array<i64: 0, 0>{{.*}} : tensor<1x1x6xf32> -> tensor<1x1x2xf32>
// CHECK-NEXT: nn.concat %[[IN]], %[[END]]
module attributes {dist.grid = #dist.grid<row = 2>} {
  spmd.class @c0 ranks [0]
  func.func @predict_c0(%x: tensor<1x1x8xf32>) -> tensor<1x1x8xf32> attributes {spmd.class = @c0, spmd.phase = "predict"} {
    %h = spmd.halo_exchange %x over ["row"] from <[[], [], [row]]> to <[[], [], [row] at [0:10, 6:16]]> of tensor<1x1x16xf32> : tensor<1x1x8xf32> -> tensor<1x1x10xf32>
    %y = nn.avg_pool %h {kernel = array<i64: 3>, strides = array<i64: 1>, dilations = array<i64: 2>, pads = array<i64: 2, 0>, count_include_pad} : tensor<1x1x10xf32> -> tensor<1x1x8xf32>
    return %y : tensor<1x1x8xf32>
  }
}

// -----

// Two cut dimensions: the rows that need no row from below are split again by
// columns. Of the last row the corner is read as well.
// CHECK-LABEL: func.func @predict_c0
// CHECK: %[[H:.*]] = spmd.halo_exchange %arg0
// CHECK-NEXT: %[[IN:.*]] = nn.max_pool %arg0 {{.*}}pads = array<i64: 1, 1, 0, 0>{{.*}} : tensor<1x1x4x4xf32> -> tensor<1x1x3x3xf32>
// CHECK-NEXT: %[[A:.*]] = nn.slice %[[H]] {sizes = array<i64: 1, 1, 4, 3>, starts = array<i64: 0, 0, 0, 2>
// CHECK-NEXT: %[[RIGHT:.*]] = nn.max_pool %[[A]] {{.*}}pads = array<i64: 1, 0, 0, 0>{{.*}} -> tensor<1x1x3x1xf32>
// CHECK-NEXT: %[[UP:.*]] = nn.concat %[[IN]], %[[RIGHT]] {axis = 3 : i64}
// CHECK-NEXT: %[[B:.*]] = nn.slice %[[H]] {sizes = array<i64: 1, 1, 3, 5>, starts = array<i64: 0, 0, 2, 0>
// CHECK-NEXT: %[[LOW:.*]] = nn.max_pool %[[B]] {{.*}}pads = array<i64: 0, 1, 0, 0>{{.*}} -> tensor<1x1x1x4xf32>
// CHECK-NEXT: nn.concat %[[UP]], %[[LOW]] {axis = 2 : i64}
module attributes {dist.grid = #dist.grid<row = 2, col = 2>} {
  spmd.class @c0 ranks [0]
  func.func @predict_c0(%x: tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32> attributes {spmd.class = @c0, spmd.phase = "predict"} {
    %h = spmd.halo_exchange %x over ["row", "col"] from <[[], [], [row], [col]]> to <[[], [], [row] at [0:5, 3:8], [col] at [0:5, 3:8]]> of tensor<1x1x8x8xf32> : tensor<1x1x4x4xf32> -> tensor<1x1x5x5xf32>
    %y = nn.max_pool %h {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 0, 0>} : tensor<1x1x5x5xf32> -> tensor<1x1x4x4xf32>
    return %y : tensor<1x1x4x4xf32>
  }
}

// -----

// The last window hangs over the edge (ceil mode). A mean counts what is inside
// the padded extent only, and padding would be counted: it is left alone. A
// maximum is not: padding never wins.
// CHECK-LABEL: func.func @predict_c1
// CHECK: %[[H:.*]] = spmd.halo_exchange %arg0
// CHECK-NEXT: nn.avg_pool %[[H]] {{.*}} : tensor<1x1x4xf32> -> tensor<1x1x2xf32>
// CHECK-NEXT: %[[G:.*]] = spmd.halo_exchange %arg1
// CHECK-NEXT: %[[OWN:.*]] = nn.slice %arg1 {sizes = array<i64: 1, 1, 2>, starts = array<i64: 0, 0, 1>
// CHECK-NEXT: nn.max_pool %[[OWN]] {{.*}}pads = array<i64: 0, 1>{{.*}} : tensor<1x1x2xf32> -> tensor<1x1x1xf32>
// CHECK: nn.max_pool {{.*}}pads = array<i64: 0, 0>{{.*}} : tensor<1x1x3xf32> -> tensor<1x1x1xf32>
// CHECK: nn.concat
module attributes {dist.grid = #dist.grid<row = 2>} {
  spmd.class @c1 ranks [1]
  func.func @predict_c1(%x: tensor<1x1x3xf32>, %z: tensor<1x1x3xf32>) -> (tensor<1x1x2xf32>, tensor<1x1x2xf32>) attributes {spmd.class = @c1, spmd.phase = "predict"} {
    %h = spmd.halo_exchange %x over ["row"] from <[[], [], [row] at [0:5, 5:8]]> to <[[], [], [row] at [0:5, 4:8]]> of tensor<1x1x8xf32> : tensor<1x1x3xf32> -> tensor<1x1x4xf32>
    %y = nn.avg_pool %h {kernel = array<i64: 3>, strides = array<i64: 2>, dilations = array<i64: 1>, pads = array<i64: 0, 0>, count_include_pad} : tensor<1x1x4xf32> -> tensor<1x1x2xf32>
    %g = spmd.halo_exchange %z over ["row"] from <[[], [], [row] at [0:5, 5:8]]> to <[[], [], [row] at [0:5, 4:8]]> of tensor<1x1x8xf32> : tensor<1x1x3xf32> -> tensor<1x1x4xf32>
    %m = nn.max_pool %g {kernel = array<i64: 3>, strides = array<i64: 2>, dilations = array<i64: 1>, pads = array<i64: 0, 0>} : tensor<1x1x4xf32> -> tensor<1x1x2xf32>
    return %y, %m : tensor<1x1x2xf32>, tensor<1x1x2xf32>
  }
}

// -----

// Ranks of the class have their own rows at different places of what they
// exchange: one program cannot say which results need them alone.
// CHECK-LABEL: func.func @predict_c0
// CHECK: nn.max_pool
// CHECK-NOT: nn.max_pool
module attributes {dist.grid = #dist.grid<row = 2>} {
  spmd.class @c0 ranks [0, 1]
  func.func @predict_c0(%x: tensor<1x1x4xf32>) -> tensor<1x1x3xf32> attributes {spmd.class = @c0, spmd.phase = "predict"} {
    %h = spmd.halo_exchange %x over ["row"] from <[[], [], [row]]> to <[[], [], [row] at [0:5, 3:8]]> of tensor<1x1x8xf32> : tensor<1x1x4xf32> -> tensor<1x1x5xf32>
    %y = nn.max_pool %h {kernel = array<i64: 3>, strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 0, 0>} : tensor<1x1x5xf32> -> tensor<1x1x3xf32>
    return %y : tensor<1x1x3xf32>
  }
}

// -----

// One row each: every result needs a neighbour's.
// CHECK-LABEL: func.func @predict_c1
// CHECK: nn.max_pool
// CHECK-NOT: nn.max_pool
module attributes {dist.grid = #dist.grid<row = 3>} {
  spmd.class @c1 ranks [1]
  func.func @predict_c1(%x: tensor<1x1x1xf32>) -> tensor<1x1x1xf32> attributes {spmd.class = @c1, spmd.phase = "predict"} {
    %h = spmd.halo_exchange %x over ["row"] from <[[], [], [row]]> to <[[], [], [row] at [0:2, 0:3, 1:3]]> of tensor<1x1x3xf32> : tensor<1x1x1xf32> -> tensor<1x1x3xf32>
    %y = nn.max_pool %h {kernel = array<i64: 3>, strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 0, 0>} : tensor<1x1x3xf32> -> tensor<1x1x1xf32>
    return %y : tensor<1x1x1xf32>
  }
}

// -----

// Of two that read the same halo the first hides it.
// CHECK-LABEL: func.func @predict_c0
// CHECK: %[[H:.*]] = spmd.halo_exchange %arg0
// CHECK-NEXT: nn.max_pool %arg0
// CHECK: nn.concat
// CHECK-NEXT: nn.avg_pool %[[H]] {{.*}} : tensor<1x1x5xf32> -> tensor<1x1x4xf32>
module attributes {dist.grid = #dist.grid<row = 2>} {
  spmd.class @c0 ranks [0]
  func.func @predict_c0(%x: tensor<1x1x4xf32>) -> (tensor<1x1x4xf32>, tensor<1x1x4xf32>) attributes {spmd.class = @c0, spmd.phase = "predict"} {
    %h = spmd.halo_exchange %x over ["row"] from <[[], [], [row]]> to <[[], [], [row] at [0:5, 3:8]]> of tensor<1x1x8xf32> : tensor<1x1x4xf32> -> tensor<1x1x5xf32>
    %y = nn.max_pool %h {kernel = array<i64: 3>, strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 1, 0>} : tensor<1x1x5xf32> -> tensor<1x1x4xf32>
    %z = nn.avg_pool %h {kernel = array<i64: 3>, strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 1, 0>} : tensor<1x1x5xf32> -> tensor<1x1x4xf32>
    return %y, %z : tensor<1x1x4xf32>, tensor<1x1x4xf32>
  }
}

// -----

// What is no window keeps its exchange: gradients are hidden by what else there
// is to compute.
// CHECK-LABEL: func.func @step_c0
// CHECK: %[[H:.*]] = spmd.halo_exchange
// CHECK-NEXT: nn.relu %[[H]]
// CHECK-NEXT: return
module attributes {dist.grid = #dist.grid<row = 2>} {
  spmd.class @c0 ranks [0]
  func.func @step_c0(%x: tensor<1x1x4xf32>) -> tensor<1x1x5xf32> attributes {spmd.class = @c0, spmd.phase = "step"} {
    %h = spmd.halo_exchange %x over ["row"] from <[[], [], [row]]> to <[[], [], [row] at [0:5, 3:8]]> of tensor<1x1x8xf32> : tensor<1x1x4xf32> -> tensor<1x1x5xf32>
    %y = nn.relu %h : tensor<1x1x5xf32>
    return %y : tensor<1x1x5xf32>
  }
}
