// What runs while ranks communicate.
// RUN: partita-opt %s -split-input-file -partita-schedule-program -partita-verify-schedule | FileCheck %s
// RUN: partita-opt %s -split-input-file -partita-schedule-program=overlap=false -partita-verify-schedule | FileCheck %s --check-prefix=OFF --implicit-check-not=previous

// A halo is waited for where it is needed; what needs none is computed in the
// meantime. Without overlap it is waited for where it stands.
// CHECK-LABEL: func.func @predict_c0
// CHECK: spmd.communicate "halo_exchange" {{.*}} label "pool reads x"
// CHECK-NEXT: spmd.record [[D:.*]] on comm
// CHECK-NEXT: spmd.launch "nn.softmax"
// CHECK-NEXT: spmd.wait [[D]] on compute
// CHECK-NEXT: spmd.launch "spmd.unpack"
// CHECK-NEXT: spmd.launch "nn.max_pool"
// OFF-LABEL: func.func @predict_c0
// OFF: spmd.communicate "halo_exchange"
// OFF-NEXT: spmd.record [[D:.*]] on comm
// OFF-NEXT: spmd.wait [[D]] on compute
// OFF-NEXT: spmd.launch "spmd.unpack"
// OFF-NEXT: spmd.launch "nn.max_pool"
// OFF-NEXT: spmd.launch "nn.softmax"
module attributes {dist.grid = #dist.grid<row = 2>} {
  spmd.class @c0 ranks [0]
  func.func @predict_c0(%x: tensor<1x1x4xf32> {nn.name = "x", dist.layout = #dist.layout<[[], [], [row]]>, spmd.global = tensor<1x1x8xf32>})
      -> (tensor<1x1x4xf32> {nn.name = "y", dist.layout = #dist.layout<[[], [], [row]]>, spmd.global = tensor<1x1x8xf32>}, tensor<1x1x4xf32> {nn.name = "z", dist.layout = #dist.layout<[[], [], [row]]>, spmd.global = tensor<1x1x8xf32>})
      attributes {spmd.class = @c0, spmd.phase = "predict"} {
    %h = spmd.halo_exchange %x over ["row"] from <[[], [], [row]]> to <[[], [], [row] at [0:5, 3:8]]> of tensor<1x1x8xf32> : tensor<1x1x4xf32> -> tensor<1x1x5xf32> loc("pool")
    %y = nn.max_pool %h {kernel = array<i64: 3>, strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 1, 0>} : tensor<1x1x5xf32> -> tensor<1x1x4xf32> loc("pool")
    %z = nn.softmax %x {axis = 1 : i64} : tensor<1x1x4xf32> loc("soft")
    return %y, %z : tensor<1x1x4xf32>, tensor<1x1x4xf32>
  }
}

// -----

// Factors travel as soon as they are there; the product of what has been
// gathered is the last thing before the updates, and no sum is left. Its update
// is on the compute stream; that of the bias is a bucket's.
// CHECK-LABEL: func.func @step_c0
// CHECK: spmd.communicate "all_gather" {{.*}} label "w.grad reads x"
// CHECK: spmd.communicate "all_gather" {{.*}} label "w.grad reads dy"
// CHECK-NEXT: spmd.record [[F:.*]] on comm
// CHECK: spmd.wait [[U:.*]] on compute {previous}
// CHECK-NEXT: spmd.launch "nn.reduce"
// CHECK: spmd.communicate "all_reduce" {{.*}} label "bucket 0: b" {algorithm = "ring"}
// CHECK: spmd.launch "nn.sgd" on comm({{.*}} : (memref<2xf32>, memref<2xf32>)
// CHECK-NEXT: spmd.record [[U]] on comm
// CHECK: spmd.wait [[F]] on compute
// CHECK-NEXT: spmd.launch "spmd.unpack"
// CHECK-NEXT: spmd.launch "nn.matmul" {{.*}}transpose_a{{.*}} : (memref<4x3xf32>, memref<4x2xf32>) -> memref<3x2xf32>
// CHECK-NEXT: spmd.launch "nn.sgd" on compute({{.*}} : (memref<6xf32>, memref<6xf32>)
// CHECK-NOT: spmd.communicate
// CHECK: return
// OFF-LABEL: func.func @step_c0
// OFF: label "w.grad reads x"
// OFF-NEXT: spmd.record [[F:.*]] on comm
// OFF-NEXT: spmd.wait [[F]] on compute
module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  nn.variable @w parameter : tensor<3x2xf32> = dense<1.0> : tensor<3x2xf32>
  nn.variable @b parameter : tensor<2xf32> = dense<1.0> : tensor<2xf32>
  func.func @step_c0(%x: tensor<2x3xf32> {nn.name = "x", dist.layout = #dist.layout<[[data], []]>, spmd.global = tensor<4x3xf32>}, %dy: tensor<2x2xf32> {nn.name = "dy", dist.layout = #dist.layout<[[data], []]>, spmd.global = tensor<4x2xf32>})
      -> (tensor<f32> {nn.name = "loss", dist.layout = #dist.layout<[], varying [data]>, spmd.global = tensor<f32>})
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    %loss = nn.reduce sum %x {axes = array<i64: 0, 1>} : tensor<2x3xf32> loc("loss")
    %gx = spmd.all_gather %x over ["data"] from <[[data], []]> to <[[], []]> of tensor<4x3xf32> : tensor<2x3xf32> -> tensor<4x3xf32> loc("w")
    %gd = spmd.all_gather %dy over ["data"] from <[[data], []]> to <[[], []]> of tensor<4x2xf32> : tensor<2x2xf32> -> tensor<4x2xf32> loc("w")
    %gw = nn.matmul %gx, %gd {dist.factors, transpose_a} : tensor<4x3xf32>, tensor<4x2xf32> loc("w")
    %gb = nn.reduce sum %dy {axes = array<i64: 0>} : tensor<2x2xf32> loc("b")
    %sb = spmd.all_reduce sum %gb over ["data"] {dist.sync = #dist.sync<all_reduce [data] by ring>} : tensor<2xf32> loc("b")
    nn.sgd @w, %gw : tensor<3x2xf32>
    nn.sgd @b, %sb : tensor<2xf32>
    return %loss : tensor<f32>
  }
}

// -----

// A parameter that the backward pass still reads is not updated under its
// hands: the update waits for the compute stream once more.
// CHECK-LABEL: func.func @step_c0
// CHECK: label "bucket 0: w"
// CHECK-NEXT: spmd.launch "nn.mul"
// CHECK-NEXT: spmd.record [[R:.*]] on compute
// CHECK-NEXT: spmd.wait [[R]] on comm
// CHECK-NEXT: spmd.launch "nn.sgd" on comm
module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  nn.variable @w parameter : tensor<2xf32> = dense<1.0> : tensor<2xf32>
  func.func @step_c0(%x: tensor<2x2xf32> {nn.name = "x", dist.layout = #dist.layout<[[data], []]>, spmd.global = tensor<4x2xf32>})
      -> (tensor<2x2xf32> {nn.name = "y", dist.layout = #dist.layout<[[data], []]>, spmd.global = tensor<4x2xf32>})
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    %w = nn.read @w : tensor<2xf32>
    %g = nn.reduce sum %x {axes = array<i64: 0>} : tensor<2x2xf32> loc("w")
    %s = spmd.all_reduce sum %g over ["data"] : tensor<2xf32> loc("w")
    %y = nn.mul %x, %w : tensor<2x2xf32>, tensor<2xf32> loc("late")
    nn.sgd @w, %s : tensor<2xf32>
    return %y : tensor<2x2xf32>
  }
}
