// RUN: partita-opt %s -split-input-file -partita-partition-program | FileCheck %s

// CHECK: spmd.class @c0 ranks [0]
// CHECK-NEXT: spmd.class @c1 ranks [1]
// CHECK-LABEL: func.func @step_c0(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x4xf32> {dist.layout = #dist.layout<{{\[\[}}data], []]>, nn.name = "x", spmd.global = tensor<3x4xf32>}
// CHECK-SAME: -> (tensor<f32> {dist.layout = #dist.layout<[]>, nn.name = "loss", spmd.global = tensor<f32>})
// CHECK-SAME: attributes {spmd.class = @c0, spmd.phase = "step"}
// CHECK-NEXT: %[[S:.*]] = nn.reduce sum %[[X]] {axes = array<i64: 0, 1>{{.*}}} : tensor<2x4xf32>
// CHECK-NEXT: %[[T:.*]] = spmd.all_reduce sum %[[S]] over ["data"] : tensor<f32>
// CHECK-NEXT: return %[[T]]
// CHECK-LABEL: func.func @step_c1(
// CHECK-SAME: tensor<1x4xf32>
// CHECK-NEXT: nn.reduce sum %{{.*}} : tensor<1x4xf32>
// CHECK-NEXT: spmd.all_reduce sum
// CHECK-NOT: @step(
module attributes {dist.grid = #dist.grid<data = 2>} {
  func.func @step(%x: tensor<3x4xf32> {dist.layout = #dist.layout<[[data], []]>, nn.name = "x"})
      -> (tensor<f32> {nn.name = "loss"}) {
    %s = nn.reduce sum %x {axes = array<i64: 0, 1>, dist.split = #dist.split<d0 = [data]>} : tensor<3x4xf32>
    return %s : tensor<f32>
  }
}

// -----

// A local operation says of which split it is a part.
// CHECK-LABEL: func.func @predict_c0
// CHECK: nn.relu %{{.*}} {spmd.split = #dist.split<d0 = [data]>} : tensor<2xf32>
module attributes {dist.grid = #dist.grid<data = 2>} {
  func.func @predict(%x: tensor<4xf32> {dist.layout = #dist.layout<[[data]]>}) -> tensor<4xf32> {
    %y = nn.relu %x {dist.split = #dist.split<d0 = [data]>} : tensor<4xf32>
    return %y : tensor<4xf32>
  }
}

// -----

// 7 samples on 3 ranks are 3, 2, 2: two classes for each function.
// CHECK: spmd.class @c0 ranks [0]
// CHECK-NEXT: spmd.class @c1 ranks [1, 2]
// CHECK-LABEL: func.func @step_c0(%arg0: tensor<3xf32>
// CHECK-LABEL: func.func @step_c1(%arg0: tensor<2xf32>
// CHECK-LABEL: func.func @predict_c0(%arg0: tensor<3xf32>
// CHECK-SAME: -> (tensor<3xf32> {dist.layout = #dist.layout<{{\[\[}}data]]>, spmd.global = tensor<7xf32>})
// CHECK-SAME: spmd.phase = "predict"
// CHECK-LABEL: func.func @predict_c1(%arg0: tensor<2xf32>
module attributes {dist.grid = #dist.grid<data = 3>} {
  func.func @step(%x: tensor<7xf32> {dist.layout = #dist.layout<[[data]]>}) -> tensor<7xf32> {
    return %x : tensor<7xf32>
  }
  func.func @predict(%x: tensor<7xf32> {dist.layout = #dist.layout<[[data]]>}) -> tensor<7xf32> {
    return %x : tensor<7xf32>
  }
}

// -----

// Fewer samples than ranks: the last ranks have none and still take part.
// CHECK: spmd.class @c0 ranks [0, 1]
// CHECK-NEXT: spmd.class @c1 ranks [2, 3]
// CHECK-LABEL: func.func @step_c1(%arg0: tensor<0x4xf32>
// CHECK-NEXT: %[[S:.*]] = nn.constant dense<0.000000e+00> : tensor<4xf32>
// CHECK-NEXT: spmd.all_reduce sum %[[S]] over ["data"] : tensor<4xf32>
module attributes {dist.grid = #dist.grid<data = 4>} {
  func.func @step(%x: tensor<2x4xf32> {dist.layout = #dist.layout<[[data], []]>}) -> tensor<4xf32> {
    %s = nn.reduce sum %x {axes = array<i64: 0>, dist.split = #dist.split<d0 = [data]>} : tensor<2x4xf32>
    return %s : tensor<4xf32>
  }
}

// -----

// A tied weight's two gradients are added on each rank and combined once.
// CHECK-LABEL: func.func @step_c0
// CHECK: %[[A:.*]] = nn.matmul %{{.*}}, %{{.*}} {{{.*}}transpose_a} : tensor<2x3xf32>, tensor<2x3xf32>
// CHECK: %[[B:.*]] = nn.matmul
// CHECK-NEXT: %[[S:.*]] = nn.add %[[A]], %[[B]]
// CHECK-NEXT: %[[G:.*]] = spmd.all_reduce sum %[[S]] over ["data"] : tensor<3x3xf32>
// CHECK-NEXT: nn.sgd @w, %[[G]]
// CHECK-NOT: spmd.all_reduce
// CHECK: return
module attributes {dist.grid = #dist.grid<data = 2>} {
  nn.variable @w parameter : tensor<3x3xf32> = dense<1.0> : tensor<3x3xf32>
  func.func @step(%x: tensor<4x3xf32> {dist.layout = #dist.layout<[[data], []]>}) {
    %a = nn.matmul %x, %x {dist.split = #dist.split<k = [data]>, transpose_a} : tensor<4x3xf32>, tensor<4x3xf32>
    %b = nn.matmul %x, %x {dist.split = #dist.split<k = [data]>, transpose_a} : tensor<4x3xf32>, tensor<4x3xf32>
    %s = nn.add %a, %b : tensor<3x3xf32>, tensor<3x3xf32>
    nn.sgd @w, %s : tensor<3x3xf32>
    return
  }
}

// -----

// A reshape passes the partial value on; a product does not, and the value is
// combined once for both of its users.
// CHECK-LABEL: func.func @step_c0
// CHECK: %[[S:.*]] = nn.reduce sum
// CHECK-NEXT: %[[R:.*]] = nn.reshape %[[S]] {{.*}}: tensor<3xf32> -> tensor<1x3xf32>
// CHECK-NEXT: %[[W:.*]] = spmd.all_reduce sum %[[R]] over ["data"] : tensor<1x3xf32>
// CHECK-NEXT: nn.relu %[[W]]
// CHECK-NEXT: nn.mul %[[W]], %[[W]]
// CHECK-NOT: all_reduce
// CHECK: return
module attributes {dist.grid = #dist.grid<data = 2>} {
  func.func @step(%x: tensor<4x3xf32> {dist.layout = #dist.layout<[[data], []]>}) -> (tensor<1x3xf32>, tensor<1x3xf32>) {
    %s = nn.reduce sum %x {axes = array<i64: 0>, dist.split = #dist.split<d0 = [data]>} : tensor<4x3xf32>
    %r = nn.reshape %s : tensor<3xf32> -> tensor<1x3xf32>
    %a = nn.relu %r : tensor<1x3xf32>
    %b = nn.mul %r, %r : tensor<1x3xf32>, tensor<1x3xf32>
    return %a, %b : tensor<1x3xf32>, tensor<1x3xf32>
  }
}

// -----

// A sum of a partial and a whole value is not linear in the partial one alone.
// CHECK-LABEL: func.func @step_c0
// CHECK: %[[S:.*]] = nn.reduce sum
// CHECK-NEXT: %[[W:.*]] = spmd.all_reduce sum %[[S]]
// CHECK-NEXT: nn.add %[[W]], %arg1
module attributes {dist.grid = #dist.grid<data = 2>} {
  func.func @step(%x: tensor<4x3xf32> {dist.layout = #dist.layout<[[data], []]>}, %b: tensor<3xf32>) -> tensor<3xf32> {
    %s = nn.reduce sum %x {axes = array<i64: 0>, dist.split = #dist.split<d0 = [data]>} : tensor<4x3xf32>
    %a = nn.add %s, %b : tensor<3xf32>, tensor<3xf32>
    return %a : tensor<3xf32>
  }
}

// -----

// Each kind of reduction combines by its own; maxima are not added up.
// CHECK-LABEL: func.func @step_c0
// CHECK: %[[A:.*]] = nn.reduce max
// CHECK: %[[B:.*]] = nn.reduce max
// CHECK-DAG: spmd.all_reduce max %[[A]]
// CHECK-DAG: spmd.all_reduce max %[[B]]
// CHECK: nn.add
// CHECK: nn.reduce prod
// CHECK: spmd.all_reduce prod
module attributes {dist.grid = #dist.grid<data = 2>} {
  func.func @step(%x: tensor<4x3xf32> {dist.layout = #dist.layout<[[data], []]>}) -> (tensor<3xf32>, tensor<3xf32>) {
    %a = nn.reduce max %x {axes = array<i64: 0>, dist.split = #dist.split<d0 = [data]>} : tensor<4x3xf32>
    %b = nn.reduce max %x {axes = array<i64: 0>, dist.split = #dist.split<d0 = [data]>} : tensor<4x3xf32>
    %s = nn.add %a, %b : tensor<3xf32>, tensor<3xf32>
    %p = nn.reduce prod %x {axes = array<i64: 0>, dist.split = #dist.split<d0 = [data]>} : tensor<4x3xf32>
    return %s, %p : tensor<3xf32>, tensor<3xf32>
  }
}

// -----

// The scale of a mean stays that of the whole batch, a local one becomes that
// of the part; local statistics are combined with nothing. What is returned
// travels as soon as it is made.
// CHECK-LABEL: func.func @step_c0
// CHECK: %[[M:.*]] = nn.reduce sum %{{.*}} {axes = array<i64: 0>, scale = 2.500000e-01 : f64{{.*}}} : tensor<2x3xf32>
// CHECK-NEXT: spmd.all_reduce sum %[[M]]
// CHECK-NEXT: %[[L:.*]] = nn.reduce sum %{{.*}} {axes = array<i64: 0>, local, scale = 5.000000e-01 : f64{{.*}}} : tensor<2x3xf32>
// CHECK-NEXT: %[[V:.*]] = nn.variance %{{.*}}, %[[L]] {axes = array<i64: 0>, local, scale = 5.000000e-01 : f64{{.*}}}
// CHECK-NEXT: nn.normalize %{{.*}}, %[[L]], %[[V]],
// CHECK-NEXT: nn.normalize_grad {{.*}} {axis = 1 : i64, eps = 1.000000e-05 : f64, local, scale = 5.000000e-01 : f64{{.*}}}
// CHECK-NOT: all_reduce
// CHECK: return
module attributes {dist.grid = #dist.grid<data = 2>} {
  func.func @step(%x: tensor<4x3xf32> {dist.layout = #dist.layout<[[data], []]>}, %g: tensor<3xf32>) -> (tensor<3xf32>, tensor<4x3xf32>, tensor<4x3xf32>) {
    %m = nn.reduce sum %x {axes = array<i64: 0>, dist.split = #dist.split<d0 = [data]>, scale = 0.25 : f64} : tensor<4x3xf32>
    %l = nn.reduce sum %x {axes = array<i64: 0>, dist.split = #dist.split<d0 = [data]>, local, scale = 0.25 : f64} : tensor<4x3xf32>
    %v = nn.variance %x, %l {axes = array<i64: 0>, dist.split = #dist.split<d0 = [data]>, local, scale = 0.25 : f64} : tensor<4x3xf32>, tensor<3xf32>
    %y = nn.normalize %x, %l, %v, %g, %g {axis = 1 : i64, dist.split = #dist.split<d0 = [data]>, eps = 1.0e-5 : f64} : tensor<4x3xf32>, tensor<3xf32>
    %d = nn.normalize_grad %x, %x, %l, %v, %g, %g, %g {axis = 1 : i64, dist.split = #dist.split<d0 = [data]>, eps = 1.0e-5 : f64, local, scale = 0.25 : f64} : tensor<4x3xf32>, tensor<3xf32>
    return %m, %y, %d : tensor<3xf32>, tensor<4x3xf32>, tensor<4x3xf32>
  }
}

// -----

// A mask keeps the whole shape and learns how it is laid out, because ranks of
// one class begin at different samples. Splats and slices get local sizes.
// CHECK-LABEL: func.func @step_c0
// CHECK: nn.dropout_mask {global_shape = array<i64: 4, 3>, layout = #dist.layout<{{\[\[}}data], []]>, ratio = 5.000000e-01 : f64,{{.*}} start = array<i64: 0, 0>, stream = 1 : i64} : tensor<2x3xf32>
// CHECK: nn.constant dense<3.000000e+00> : tensor<2x3xf32>
// CHECK: nn.slice %{{.*}} {sizes = array<i64: 2, 2>,{{.*}} starts = array<i64: 0, 1>, steps = array<i64: 1, 1>} : tensor<2x3xf32>
module attributes {dist.grid = #dist.grid<data = 2>} {
  func.func @step() -> (tensor<4x3xf32>, tensor<4x2xf32>) {
    %m = nn.dropout_mask {dist.split = #dist.split<d0 = [data]>, global_shape = array<i64: 4, 3>, ratio = 0.5 : f64, start = array<i64: 0, 0>, stream = 1 : i64} : tensor<4x3xf32>
    %c = nn.constant dense<3.0> : tensor<4x3xf32> {dist.split = #dist.split<d0 = [data]>}
    %y = nn.mul %m, %c {dist.split = #dist.split<d0 = [data]>} : tensor<4x3xf32>, tensor<4x3xf32>
    %s = nn.slice %y {dist.split = #dist.split<d0 = [data]>, sizes = array<i64: 4, 2>, starts = array<i64: 0, 1>, steps = array<i64: 1, 1>} : tensor<4x3xf32>
    return %y, %s : tensor<4x3xf32>, tensor<4x2xf32>
  }
}

// -----

// Samples of three elements each are dealt out whole: 3 samples on 2 ranks
// are 6 and 3 elements.
// CHECK-LABEL: func.func @predict_c0(%arg0: tensor<2x3xf32>
// CHECK-SAME: -> (tensor<6xf32> {dist.layout = #dist.layout<{{\[\[}}data] by 3]>, spmd.global = tensor<9xf32>})
// CHECK: nn.reshape %{{.*}} {{.*}}: tensor<2x3xf32> -> tensor<6xf32>
// CHECK-LABEL: func.func @predict_c1(%arg0: tensor<1x3xf32>
// CHECK: nn.reshape %{{.*}} {{.*}}: tensor<1x3xf32> -> tensor<3xf32>
module attributes {dist.grid = #dist.grid<data = 2>} {
  func.func @predict(%x: tensor<3x3xf32> {dist.layout = #dist.layout<[[data], []]>}) -> tensor<9xf32> {
    %y = nn.reshape %x {dist.split = #dist.split<g0 = [data]>} : tensor<3x3xf32> -> tensor<9xf32>
    %z = nn.relu %y {dist.split = #dist.split<d0 = [data] by 3>} : tensor<9xf32>
    return %z : tensor<9xf32>
  }
}

// -----

// The body of a fused loop does not change.
// CHECK-LABEL: func.func @predict_c0
// CHECK: nn.fused(%arg0 : tensor<2xf32>) {{.*}}-> tensor<2xf32> {
// CHECK: math.tanh %{{.*}} : f32
module attributes {dist.grid = #dist.grid<data = 2>} {
  func.func @predict(%x: tensor<4xf32> {dist.layout = #dist.layout<[[data]]>}) -> tensor<4xf32> {
    %y = nn.fused(%x : tensor<4xf32>) {dist.split = #dist.split<d0 = [data]>} -> tensor<4xf32> {
    ^bb0(%0: f32):
      %1 = math.tanh %0 : f32
      nn.yield %1 : f32
    }
    return %y : tensor<4xf32>
  }
}

// -----

// Two axes on one dimension split it one after the other.
// CHECK: spmd.class @c0 ranks [0, 1, 2, 3]
// CHECK-LABEL: func.func @step_c0(%arg0: tensor<2xf32>
// CHECK: spmd.all_reduce sum %{{.*}} over ["node", "data"] : tensor<f32>
module attributes {dist.grid = #dist.grid<node = 2, data = 2>} {
  func.func @step(%x: tensor<8xf32> {dist.layout = #dist.layout<[[node, data]]>}) -> tensor<f32> {
    %s = nn.reduce sum %x {axes = array<i64: 0>, dist.split = #dist.split<d0 = [node, data]>} : tensor<8xf32>
    return %s : tensor<f32>
  }
}

// -----

// Tables cut by rows: each rank knows by the layout which rows it holds. The
// parts of a look-up are added up, those of its gradient stay where they are.
// CHECK-LABEL: func.func @step_c0
// CHECK: %[[Y:.*]] = nn.gather %arg0, %arg1 {axis = 0 : i64, layout = #dist.layout<{{\[\[}}model], []]>, limit = 7 : i64{{.*}}} : tensor<4x3xf32>, tensor<5xi64>
// CHECK: %[[SUM:.*]] = spmd.all_reduce sum %[[Y]] over ["model"] : tensor<5x3xf32>
// CHECK: nn.scatter_add %[[SUM]], %arg1 {axis = 0 : i64, layout = #dist.layout<{{\[\[}}model], []]>, limit = 7 : i64{{.*}}} : tensor<5x3xf32>, tensor<5xi64> -> tensor<4x3xf32>
// CHECK-NOT: all_reduce
// CHECK-LABEL: func.func @step_c1
// CHECK: nn.gather %arg0, %arg1 {{.*}} : tensor<3x3xf32>, tensor<5xi64>
module attributes {dist.grid = #dist.grid<model = 2>} {
  func.func @step(%t: tensor<7x3xf32> {dist.layout = #dist.layout<[[model], []]>}, %i: tensor<5xi64>) -> tensor<7x3xf32> {
    %y = nn.gather %t, %i {axis = 0 : i64, dist.split = #dist.split<v = [model]>, limit = 7 : i64} : tensor<7x3xf32>, tensor<5xi64>
    %d = nn.scatter_add %y, %i {axis = 0 : i64, dist.split = #dist.split<v = [model]>, limit = 7 : i64} : tensor<5x3xf32>, tensor<5xi64> -> tensor<7x3xf32>
    return %d : tensor<7x3xf32>
  }
}

// -----

// Indices cut over the batch: the gradient of the table is a sum over ranks.
// CHECK-LABEL: func.func @step_c0
// CHECK: nn.gather %arg0, %arg1 {axis = 0 : i64, layout = #dist.layout<{{\[\[}}], []]>, limit = 7 : i64{{.*}}} : tensor<7x3xf32>, tensor<3xi64>
// CHECK: %[[D:.*]] = nn.scatter_add %{{.*}} : tensor<3x3xf32>, tensor<3xi64> -> tensor<7x3xf32>
// CHECK: spmd.all_reduce sum %[[D]] over ["data"] : tensor<7x3xf32>
module attributes {dist.grid = #dist.grid<data = 2>} {
  func.func @step(%t: tensor<7x3xf32>, %i: tensor<5xi64> {dist.layout = #dist.layout<[[data]]>}) -> tensor<7x3xf32> {
    %y = nn.gather %t, %i {axis = 0 : i64, dist.split = #dist.split<i0 = [data]>, limit = 7 : i64} : tensor<7x3xf32>, tensor<5xi64>
    %d = nn.scatter_add %y, %i {axis = 0 : i64, dist.split = #dist.split<i0 = [data]>, limit = 7 : i64} : tensor<5x3xf32>, tensor<5xi64> -> tensor<7x3xf32>
    return %d : tensor<7x3xf32>
  }
}
