// Moves between layouts: pack, communicate, unpack, and what lives how long.
// RUN: partita-opt %s -split-input-file -partita-schedule-program=bucket-bytes=192 -partita-verify-schedule | FileCheck %s

// Unequal halos: rank 0 gets one row from below, rank 1 one from above. x and
// the staging buffer live until the result is unpacked beside them.
// CHECK-LABEL: func.func @predict_c0
// CHECK-DAG: %[[X:.*]] = spmd.buffer input "x" at {{[0-9]+}} of tensor<1x1x7x4xf32> {{.*}} : memref<1x1x4x4xf32>
// CHECK-DAG: %[[H:.*]] = spmd.buffer temporary "x for conv1" at 192 : memref<1x1x5x4xf32>
// CHECK-DAG: %[[S:.*]] = spmd.buffer temporary "staging of conv1" at 320 : memref<8xf32>
// CHECK-DAG: %[[Y:.*]] = spmd.buffer result "y"
// CHECK: spmd.launch "spmd.pack" on compute(%[[X]]) -> (%[[S]]) {[[MOVE:axes = \["row"\], from = .*, global = tensor<1x1x7x4xf32>, kind = "halo_exchange", to = .*at \[0:5, 3:7\], \[\]\]>]]}
// CHECK-NEXT: spmd.record 0 on compute
// CHECK-NEXT: spmd.wait 0 on comm
// CHECK-NEXT: spmd.communicate "halo_exchange" sum %[[S]] on comm over ["row"] label "conv1 reads x" {move = {[[MOVE]]}} : memref<8xf32>
// CHECK-NEXT: spmd.record 1 on comm
// CHECK-NEXT: spmd.wait 1 on compute
// CHECK-NEXT: spmd.launch "spmd.unpack" on compute(%[[X]], %[[S]]) -> (%[[H]]) {[[MOVE]]}
// CHECK-NEXT: spmd.launch "nn.conv" on compute(%[[H]], %{{.*}}) -> (%[[Y]]) {{.*}}pads = array<i64: 1, 1, 0, 1>
// CHECK-LABEL: func.func @predict_c1
// CHECK-DAG: spmd.buffer temporary "x for conv1" at 192 : memref<1x1x4x4xf32>
// CHECK-DAG: spmd.buffer temporary "staging of conv1" at 256 : memref<8xf32>
// CHECK: spmd.launch "nn.conv" {{.*}}pads = array<i64: 0, 1, 1, 1>
module attributes {dist.grid = #dist.grid<row = 2>} {
  spmd.class @c0 ranks [0]
  spmd.class @c1 ranks [1]
  nn.variable @w parameter : tensor<1x1x3x3xf32> = dense<1.0> : tensor<1x1x3x3xf32>
  func.func @predict_c0(%x: tensor<1x1x4x4xf32> {nn.name = "x", dist.layout = #dist.layout<[[], [], [row], []]>, spmd.global = tensor<1x1x7x4xf32>})
      -> (tensor<1x1x4x4xf32> {nn.name = "y", dist.layout = #dist.layout<[[], [], [row], []]>, spmd.global = tensor<1x1x7x4xf32>})
      attributes {spmd.class = @c0, spmd.phase = "predict"} {
    %w = nn.read @w : tensor<1x1x3x3xf32>
    %h = spmd.halo_exchange %x over ["row"] from #dist.layout<[[], [], [row], []]> to #dist.layout<[[], [], [row] at [0:5, 3:7], []]> of tensor<1x1x7x4xf32> : tensor<1x1x4x4xf32> -> tensor<1x1x5x4xf32> loc("conv1")
    %y = nn.conv %h, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 0, 1>, groups = 1 : i64} : tensor<1x1x5x4xf32>, tensor<1x1x3x3xf32> loc("conv1")
    return %y : tensor<1x1x4x4xf32>
  }
  func.func @predict_c1(%x: tensor<1x1x3x4xf32> {nn.name = "x", dist.layout = #dist.layout<[[], [], [row], []]>, spmd.global = tensor<1x1x7x4xf32>})
      -> (tensor<1x1x3x4xf32> {nn.name = "y", dist.layout = #dist.layout<[[], [], [row], []]>, spmd.global = tensor<1x1x7x4xf32>})
      attributes {spmd.class = @c1, spmd.phase = "predict"} {
    %w = nn.read @w : tensor<1x1x3x3xf32>
    %h = spmd.halo_exchange %x over ["row"] from #dist.layout<[[], [], [row], []]> to #dist.layout<[[], [], [row] at [0:5, 3:7], []]> of tensor<1x1x7x4xf32> : tensor<1x1x3x4xf32> -> tensor<1x1x4x4xf32> loc("conv1")
    %y = nn.conv %h, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 1, 1, 1>, groups = 1 : i64} : tensor<1x1x4x4xf32>, tensor<1x1x3x3xf32> loc("conv1")
    return %y : tensor<1x1x3x4xf32>
  }
}

// -----

// A result is moved into its place, and so is the next value of a variable that
// nobody reads any more; m is read by its own move and is copied at the end. A
// slice is one launch. Independent moves are calls of their own; y, which only
// the outside waits for, is unpacked at the end.
// CHECK-LABEL: func.func @step_c0
// CHECK-DAG: %[[X:.*]] = spmd.buffer input "x"
// CHECK-DAG: %[[M:.*]] = spmd.buffer variable "m" {{.*}} : memref<4xf32>
// CHECK-DAG: %[[N:.*]] = spmd.buffer variable "n" {{.*}} : memref<4xf32>
// CHECK-DAG: %[[Y:.*]] = spmd.buffer result "y"
// CHECK-DAG: %[[T:.*]] = spmd.buffer temporary "m for next.grad"
// CHECK-DAG: %[[C:.*]] = spmd.buffer temporary "a for part" {{.*}} : memref<2xf32>
// CHECK: spmd.launch "spmd.slice" on compute(%{{.*}}) -> (%[[C]]) {from = {{.*}}, global = tensor<4xf32>, to = {{.*}}}
// CHECK-NEXT: spmd.launch "spmd.pack" on compute(%[[X]])
// CHECK: spmd.communicate "all_to_all" {{.*}} label "turned reads x"
// CHECK-NEXT: spmd.record [[D:.*]] on comm
// CHECK-NEXT: spmd.launch "spmd.pack" on compute(%[[C]])
// CHECK: spmd.launch "spmd.pack" on compute(%[[M]])
// CHECK: spmd.launch "spmd.unpack" on compute(%[[C]], %{{.*}}) -> (%[[N]])
// CHECK: spmd.launch "spmd.unpack" on compute(%[[M]], %{{.*}}) -> (%[[T]])
// CHECK-NEXT: spmd.wait [[D]] on compute
// CHECK-NEXT: spmd.launch "spmd.unpack" on compute(%[[X]], %{{.*}}) -> (%[[Y]])
// CHECK-NEXT: spmd.launch "copy" on compute(%[[T]]) -> (%[[M]])
// CHECK-NEXT: return
module attributes {dist.grid = #dist.grid<row = 2>} {
  spmd.class @c0 ranks [0, 1]
  nn.variable @m state : tensor<8xf32> = dense<0.0> : tensor<8xf32> {dist.layout = #dist.layout<[[row]]>}
  nn.variable @n state : tensor<4xf32> = dense<0.0> : tensor<4xf32>
  func.func @step_c0(%x: tensor<2x2xf32> {nn.name = "x", dist.layout = #dist.layout<[[row], []]>, spmd.global = tensor<4x2xf32>})
      -> (tensor<4x1xf32> {nn.name = "y", dist.layout = #dist.layout<[[], [row]]>, spmd.global = tensor<4x2xf32>})
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    %m = nn.read @m : tensor<4xf32>
    %n = nn.read @n : tensor<4xf32>
    %a = nn.softmax %n {axis = 0 : i64} : tensor<4xf32> loc("a")
    %p = spmd.slice %a from #dist.layout<[[]]> to #dist.layout<[[row]]> of tensor<4xf32> : tensor<4xf32> -> tensor<2xf32> loc("part")
    %y = spmd.all_to_all %x over ["row"] from #dist.layout<[[row], []]> to #dist.layout<[[], [row]]> of tensor<4x2xf32> : tensor<2x2xf32> -> tensor<4x1xf32> loc("turned")
    %g = spmd.all_gather %p over ["row"] from #dist.layout<[[row]]> to #dist.layout<[[]]> of tensor<4xf32> : tensor<2xf32> -> tensor<4xf32> loc("gathered")
    nn.assign @n, %g : tensor<4xf32>
    %o = spmd.exchange %m over ["row"] from #dist.layout<[[row]]> to #dist.layout<[[row] at [4:8, 0:4]]> of tensor<8xf32> : tensor<4xf32> -> tensor<4xf32> loc("next")
    nn.assign @m, %o : tensor<4xf32>
    return %y : tensor<4x1xf32>
  }
}

// -----

// @w is cut over model, unevenly: its parts, gradient and momentum are 3 rows or
// 2, and it is summed over data with @b, in one bucket of the same members
// everywhere: what closes a bucket is its size in the largest class. @v is whole
// but its gradient arrives in parts: it is moved where it stands, into its place.
// CHECK: spmd.class @c0
// CHECK-LABEL: func.func @step_c0
// CHECK-DAG: spmd.buffer variable "w" {{.*}} of tensor<5x16xf32> {layout = #dist.layout<{{\[\[}}model], []]>} : memref<3x16xf32>
// CHECK-DAG: spmd.buffer gradient "w" {{.*}} of tensor<5x16xf32> {layout = #dist.layout<{{\[\[}}model], []]>} : memref<3x16xf32>
// CHECK-DAG: spmd.buffer variable "w.momentum" {{.*}} of tensor<5x16xf32> {layout = #dist.layout<{{\[\[}}model], []]>} : memref<3x16xf32>
// CHECK-DAG: %[[GV:.*]] = spmd.buffer gradient "v" {{.*}} of tensor<16xf32> {layout = #dist.layout<{{\[\[}}data]]>} : memref<8xf32>
// CHECK-DAG: %[[PV:.*]] = spmd.buffer bucket "parameters of bucket 2" {{.*}} : memref<8xf32>
// CHECK: spmd.communicate "all_reduce" sum %{{.*}} on comm over ["data"] label "bucket 0: w" : memref<48xf32>
// CHECK: spmd.communicate "all_reduce" sum %{{.*}} on comm over ["data"] label "bucket 1: b" : memref<16xf32>
// CHECK: spmd.launch "nn.sgd" on comm({{.*}} : (memref<48xf32>, memref<48xf32>, memref<48xf32>)
// CHECK: spmd.launch "spmd.unpack" on compute(%{{.*}}, %{{.*}}) -> (%[[GV]])
// CHECK: spmd.launch "nn.sgd" on compute(%[[PV]]
// CHECK-LABEL: func.func @step_c1
// CHECK: label "bucket 0: w" : memref<32xf32>
// CHECK: label "bucket 1: b" : memref<16xf32>
module attributes {dist.grid = #dist.grid<model = 2, data = 2>} {
  spmd.class @c0 ranks [0, 1]
  spmd.class @c1 ranks [2, 3]
  nn.variable @w parameter : tensor<5x16xf32> = dense<1.0> : tensor<5x16xf32> {dist.layout = #dist.layout<[[model], []]>}
  nn.variable @w.momentum optimizer : tensor<5x16xf32> = dense<0.0> : tensor<5x16xf32>
  nn.variable @b parameter : tensor<16xf32> = dense<1.0> : tensor<16xf32>
  nn.variable @b.momentum optimizer : tensor<16xf32> = dense<0.0> : tensor<16xf32>
  nn.variable @v parameter : tensor<16xf32> = dense<1.0> : tensor<16xf32> {dist.layout = #dist.layout<[[data]]>}
  nn.variable @v.momentum optimizer : tensor<16xf32> = dense<0.0> : tensor<16xf32>
  func.func @step_c0(%x: tensor<3x2x16xf32> {nn.name = "x", dist.layout = #dist.layout<[[model], [data], []]>, spmd.global = tensor<5x4x16xf32>})
      -> (tensor<f32> {nn.name = "loss", dist.layout = #dist.layout<[], varying [model, data]>, spmd.global = tensor<f32>})
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    %l = nn.reduce sum %x {axes = array<i64: 0, 1, 2>} : tensor<3x2x16xf32> loc("loss")
    %gw = nn.reduce sum %x {axes = array<i64: 1>} : tensor<3x2x16xf32> loc("w")
    %gb = nn.reduce max %x {axes = array<i64: 0, 1>} : tensor<3x2x16xf32> loc("b")
    %gv = nn.reduce min %x {axes = array<i64: 0, 1>} : tensor<3x2x16xf32> loc("v")
    %sw = spmd.all_reduce sum %gw over ["data"] : tensor<3x16xf32> loc("w")
    nn.sgd @w state @w.momentum, %sw {momentum = 9.0e-01 : f64} : tensor<3x16xf32>
    %sv = spmd.reduce_scatter %gv over ["data"] from #dist.layout<[[]], partial sum [data]> to #dist.layout<[[data]]> of tensor<16xf32> : tensor<16xf32> -> tensor<8xf32> loc("v")
    nn.sgd @v state @v.momentum, %sv {momentum = 9.0e-01 : f64} : tensor<8xf32>
    %sb = spmd.all_reduce sum %gb over ["data"] : tensor<16xf32> loc("b")
    nn.sgd @b state @b.momentum, %sb {momentum = 9.0e-01 : f64} : tensor<16xf32>
    return %l : tensor<f32>
  }
  func.func @step_c1(%x: tensor<2x2x16xf32> {nn.name = "x", dist.layout = #dist.layout<[[model], [data], []]>, spmd.global = tensor<5x4x16xf32>})
      -> (tensor<f32> {nn.name = "loss", dist.layout = #dist.layout<[], varying [model, data]>, spmd.global = tensor<f32>})
      attributes {spmd.class = @c1, spmd.phase = "step"} {
    %l = nn.reduce sum %x {axes = array<i64: 0, 1, 2>} : tensor<2x2x16xf32> loc("loss")
    %gw = nn.reduce sum %x {axes = array<i64: 1>} : tensor<2x2x16xf32> loc("w")
    %gb = nn.reduce max %x {axes = array<i64: 0, 1>} : tensor<2x2x16xf32> loc("b")
    %gv = nn.reduce min %x {axes = array<i64: 0, 1>} : tensor<2x2x16xf32> loc("v")
    %sw = spmd.all_reduce sum %gw over ["data"] : tensor<2x16xf32> loc("w")
    nn.sgd @w state @w.momentum, %sw {momentum = 9.0e-01 : f64} : tensor<2x16xf32>
    %sv = spmd.reduce_scatter %gv over ["data"] from #dist.layout<[[]], partial sum [data]> to #dist.layout<[[data]]> of tensor<16xf32> : tensor<16xf32> -> tensor<8xf32> loc("v")
    nn.sgd @v state @v.momentum, %sv {momentum = 9.0e-01 : f64} : tensor<8xf32>
    %sb = spmd.all_reduce sum %gb over ["data"] : tensor<16xf32> loc("b")
    nn.sgd @b state @b.momentum, %sb {momentum = 9.0e-01 : f64} : tensor<16xf32>
    return %l : tensor<f32>
  }
}

// -----

// Rank 1 has no row of x: nothing is computed and nothing packed for it, but its
// calls are those of the others, and its input and its variable have a place.
// CHECK-LABEL: func.func @predict_c1
// CHECK-DAG: spmd.buffer input "x" {{.*}} : memref<0x4xf32>
// CHECK-DAG: spmd.buffer variable "w" {{.*}} : memref<4xf32>
// CHECK-DAG: %[[R:.*]] = spmd.buffer result "r" {{.*}} : memref<0x4xf32>
// CHECK-DAG: %[[Y:.*]] = spmd.buffer result "y" {{.*}} : memref<1x4xf32>
// CHECK-DAG: %[[E:.*]] = spmd.buffer temporary "staging of stay" {{.*}} : memref<0xf32>
// CHECK-NOT: nn.softmax
// CHECK-NOT: "spmd.pack"
// CHECK: spmd.record 0 on compute
// CHECK-NEXT: spmd.wait 0 on comm
// CHECK-NEXT: spmd.communicate "exchange" sum %[[E]] on comm over ["row"] label "stay reads soft" {{.*}} : memref<0xf32>
// CHECK-NEXT: spmd.record 1 on comm
// CHECK-NEXT: spmd.wait 1 on compute
// CHECK-NOT: "spmd.unpack"
// CHECK: spmd.launch "spmd.pack" on compute(%[[R]])
// CHECK: spmd.communicate "all_gather"
// CHECK: spmd.launch "spmd.unpack" on compute(%[[R]], %{{.*}}) -> (%[[Y]])
// CHECK-NEXT: return
module attributes {dist.grid = #dist.grid<row = 2>} {
  spmd.class @c0 ranks [0]
  spmd.class @c1 ranks [1]
  nn.variable @w parameter : tensor<4xf32> = dense<1.0> : tensor<4xf32>
  func.func @predict_c0(%x: tensor<1x4xf32> {nn.name = "x", dist.layout = #dist.layout<[[row], []]>, spmd.global = tensor<1x4xf32>})
      -> (tensor<1x4xf32> {nn.name = "y", dist.layout = #dist.layout<[[], []]>, spmd.global = tensor<1x4xf32>}, tensor<1x4xf32> {nn.name = "r", dist.layout = #dist.layout<[[row], []]>, spmd.global = tensor<1x4xf32>})
      attributes {spmd.class = @c0, spmd.phase = "predict"} {
    %w = nn.read @w : tensor<4xf32>
    %s = nn.softmax %x {axis = 1 : i64} : tensor<1x4xf32> loc("soft")
    %f = nn.fused(%s, %w : tensor<1x4xf32>, tensor<4xf32>) -> tensor<1x4xf32> {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      nn.yield %c : f32
    } loc("soft")
    %r = spmd.exchange %f over ["row"] from #dist.layout<[[row], []]> to #dist.layout<[[row] at [0:1, 1:1], []]> of tensor<1x4xf32> : tensor<1x4xf32> -> tensor<1x4xf32> loc("stay")
    %y = spmd.all_gather %r over ["row"] from #dist.layout<[[row], []]> to #dist.layout<[[], []]> of tensor<1x4xf32> : tensor<1x4xf32> -> tensor<1x4xf32> loc("all")
    return %y, %r : tensor<1x4xf32>, tensor<1x4xf32>
  }
  func.func @predict_c1(%x: tensor<0x4xf32> {nn.name = "x", dist.layout = #dist.layout<[[row], []]>, spmd.global = tensor<1x4xf32>})
      -> (tensor<1x4xf32> {nn.name = "y", dist.layout = #dist.layout<[[], []]>, spmd.global = tensor<1x4xf32>}, tensor<0x4xf32> {nn.name = "r", dist.layout = #dist.layout<[[row], []]>, spmd.global = tensor<1x4xf32>})
      attributes {spmd.class = @c1, spmd.phase = "predict"} {
    %w = nn.read @w : tensor<4xf32>
    %s = nn.softmax %x {axis = 1 : i64} : tensor<0x4xf32> loc("soft")
    %f = nn.fused(%s, %w : tensor<0x4xf32>, tensor<4xf32>) -> tensor<0x4xf32> {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      nn.yield %c : f32
    } loc("soft")
    %r = spmd.exchange %f over ["row"] from #dist.layout<[[row], []]> to #dist.layout<[[row] at [0:1, 1:1], []]> of tensor<1x4xf32> : tensor<0x4xf32> -> tensor<0x4xf32> loc("stay")
    %y = spmd.all_gather %r over ["row"] from #dist.layout<[[row], []]> to #dist.layout<[[], []]> of tensor<1x4xf32> : tensor<0x4xf32> -> tensor<1x4xf32> loc("all")
    return %y, %r : tensor<1x4xf32>, tensor<0x4xf32>
  }
}
