// RUN: partita-opt %s -split-input-file -partita-schedule-program | FileCheck %s
// The scheduled form can be read back, and its own check has nothing to say.
// RUN: partita-opt %s -split-input-file -partita-schedule-program | partita-opt -split-input-file -partita-verify-schedule | FileCheck %s

// CHECK: spmd.class @c0 ranks [0] {arena_bytes = 128 : i64, persistent_bytes = 128 : i64}
// CHECK-LABEL: func.func @predict_c0() attributes {spmd.class = @c0, spmd.phase = "predict"}
// CHECK-NEXT: %[[X:.*]] = spmd.buffer input "x" at 0 of tensor<4xf32> {layout = #dist.layout<{{\[\[}}data]]>} : memref<4xf32>
// CHECK-NEXT: %[[Y:.*]] = spmd.buffer result "y" at 64 of tensor<4xf32> {layout = #dist.layout<{{\[\[}}data]]>} : memref<4xf32>
// CHECK-NEXT: spmd.launch "nn.softmax" on compute(%[[X]]) -> (%[[Y]]) {axis = 0 : i64} attributes {section = "forward"} : (memref<4xf32>) -> memref<4xf32>
// CHECK-NEXT: return
module attributes {dist.grid = #dist.grid<data = 1>} {
  spmd.class @c0 ranks [0]
  func.func @predict_c0(%x: tensor<4xf32> {nn.name = "x", dist.layout = #dist.layout<[[data]]>, spmd.global = tensor<4xf32>})
      -> (tensor<4xf32> {nn.name = "y", dist.layout = #dist.layout<[[data]]>, spmd.global = tensor<4xf32>})
      attributes {spmd.class = @c0, spmd.phase = "predict"} {
    %y = nn.softmax %x {axis = 0 : i64} : tensor<4xf32>
    return %y : tensor<4xf32>
  }
}

// -----

// A loop writes over an operand that dies with it; a reshape is another view of
// the same bytes; the value that is returned is computed where results lie.
// CHECK: spmd.class @c0 ranks [0] {arena_bytes = 192 : i64, persistent_bytes = 128 : i64}
// CHECK-LABEL: func.func @predict_c0
// CHECK-DAG: %[[T:.*]] = spmd.buffer temporary "/soft" at 128 : memref<16xf32>
// CHECK-DAG: %[[V:.*]] = spmd.buffer temporary "/soft" at 128 : memref<4x4xf32>
// CHECK-DAG: %[[Y:.*]] = spmd.buffer result "y" at 64 of tensor<16xf32> {{.*}} : memref<4x4xf32>
// CHECK: spmd.launch "nn.softmax" on compute(%{{.*}}) -> (%[[T]])
// CHECK: spmd.launch "nn.fused" on compute(%[[T]]) -> (%[[T]])
// CHECK: spmd.launch "nn.softmax" on compute(%[[V]]) -> (%[[Y]])
// CHECK-NEXT: return
module attributes {dist.grid = #dist.grid<data = 1>} {
  spmd.class @c0 ranks [0]
  func.func @predict_c0(%x: tensor<16xf32> {nn.name = "x", dist.layout = #dist.layout<[[]]>, spmd.global = tensor<16xf32>})
      -> (tensor<16xf32> {nn.name = "y", dist.layout = #dist.layout<[[]]>, spmd.global = tensor<16xf32>})
      attributes {spmd.class = @c0, spmd.phase = "predict"} {
    %0 = nn.softmax %x {axis = 0 : i64} : tensor<16xf32> loc("/soft")
    %1 = nn.fused(%0 : tensor<16xf32>) -> tensor<16xf32> {
    ^bb0(%e: f32):
      %f = arith.negf %e : f32
      nn.yield %f : f32
    } loc("/neg")
    %2 = nn.reshape %1 : tensor<16xf32> -> tensor<4x4xf32>
    %3 = nn.softmax %2 {axis = 1 : i64} : tensor<4x4xf32> loc("/again")
    %4 = nn.reshape %3 : tensor<4x4xf32> -> tensor<16xf32>
    return %4 : tensor<16xf32>
  }
}

// -----

// Neighbouring sums over the same axes are one call on adjacent bytes; a maximum
// is another call, which need not wait for the first. The compute stream waits
// for both where it needs them.
// CHECK-LABEL: func.func @predict_c0
// CHECK-DAG: %[[A:.*]] = spmd.buffer temporary "/bn" at 128 : memref<4xf32>
// CHECK-DAG: %[[B:.*]] = spmd.buffer temporary "/bn" at 192 : memref<f32>
// CHECK-DAG: %[[M:.*]] = spmd.buffer temporary "/max" at 256 : memref<4xf32>
// CHECK-DAG: %[[J:.*]] = spmd.buffer bucket "/bn values" at 128 : memref<17xf32>
// CHECK: spmd.record [[R:.*]] on compute
// CHECK-NEXT: spmd.wait [[R]] on comm
// CHECK-NEXT: spmd.communicate "all_reduce" sum %[[J]] on comm over ["data"] label "values of /bn" : memref<17xf32>
// CHECK-NEXT: spmd.record [[D:.*]] on comm
// CHECK: spmd.communicate "all_reduce" max %[[M]] on comm over ["data"] label "values of /max" : memref<4xf32>
// CHECK-NEXT: spmd.record [[E:.*]] on comm
// CHECK-NEXT: spmd.wait [[D]] on compute
// CHECK-NEXT: spmd.wait [[E]] on compute
// CHECK-NEXT: spmd.launch "nn.fused" on compute(%{{.*}}, %[[A]], %[[B]], %[[M]])
// CHECK-NOT: spmd.communicate
module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  func.func @predict_c0(%x: tensor<2x4xf32> {nn.name = "x", dist.layout = #dist.layout<[[data], []]>, spmd.global = tensor<4x4xf32>})
      -> (tensor<2x4xf32> {nn.name = "y", dist.layout = #dist.layout<[[data], []]>, spmd.global = tensor<4x4xf32>})
      attributes {spmd.class = @c0, spmd.phase = "predict"} {
    %a = nn.reduce sum %x {axes = array<i64: 0>} : tensor<2x4xf32> loc("/bn")
    %b = nn.reduce sum %x {axes = array<i64: 0, 1>} : tensor<2x4xf32> loc("/bn")
    %c = nn.reduce max %x {axes = array<i64: 0>} : tensor<2x4xf32> loc("/max")
    %sa = spmd.all_reduce sum %a over ["data"] : tensor<4xf32> loc("/bn")
    %sb = spmd.all_reduce sum %b over ["data"] : tensor<f32> loc("/bn")
    %sc = spmd.all_reduce max %c over ["data"] : tensor<4xf32> loc("/max")
    %y = nn.fused(%x, %sa, %sb, %sc : tensor<2x4xf32>, tensor<4xf32>, tensor<f32>, tensor<4xf32>) -> tensor<2x4xf32> {
    ^bb0(%e: f32, %f: f32, %g: f32, %h: f32):
      %i = arith.addf %e, %f : f32
      %j = arith.addf %g, %h : f32
      %k = arith.addf %i, %j : f32
      nn.yield %k : f32
    } loc("/sum")
    return %y : tensor<2x4xf32>
  }
}

// -----

// Copies where two things are one value: a sum whose own part is still needed,
// an argument that is returned.
// CHECK-LABEL: func.func @predict_c0
// CHECK-DAG: %[[X:.*]] = spmd.buffer input "x"
// CHECK-DAG: %[[OWN:.*]] = spmd.buffer result "own"
// CHECK-DAG: %[[SUM:.*]] = spmd.buffer temporary "/sum"
// CHECK-DAG: %[[AGAIN:.*]] = spmd.buffer result "x_again"
// CHECK: spmd.launch "nn.reduce" on compute(%[[X]]) -> (%[[OWN]])
// CHECK-NEXT: spmd.launch "copy" on compute(%[[OWN]]) -> (%[[SUM]])
// CHECK: spmd.communicate "all_reduce" sum %[[SUM]]
// CHECK: spmd.launch "nn.fused" on compute(%[[SUM]], %[[OWN]]) -> (%{{.*}})
// CHECK: spmd.launch "copy" on compute(%[[X]]) -> (%[[AGAIN]])
module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  func.func @predict_c0(%x: tensor<2x4xf32> {nn.name = "x", dist.layout = #dist.layout<[[data], []]>, spmd.global = tensor<4x4xf32>})
      -> (tensor<2x4xf32> {nn.name = "x_again", dist.layout = #dist.layout<[[data], []]>, spmd.global = tensor<4x4xf32>}, tensor<4xf32> {nn.name = "own", dist.layout = #dist.layout<[[]], varying [data]>, spmd.global = tensor<4xf32>}, tensor<4xf32> {nn.name = "e", dist.layout = #dist.layout<[[]]>, spmd.global = tensor<4xf32>})
      attributes {spmd.class = @c0, spmd.phase = "predict"} {
    %a = nn.reduce sum %x {axes = array<i64: 0>} : tensor<2x4xf32> loc("/sum")
    %sa = spmd.all_reduce sum %a over ["data"] : tensor<4xf32> loc("/sum")
    %e = nn.fused(%sa, %a : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%f: f32, %g: f32):
      %i = arith.addf %f, %g : f32
      nn.yield %i : f32
    } loc("/e")
    return %x, %a, %e : tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>
  }
}

// -----

// A variable takes its next value in place if that loop reads the old one last;
// n is read again afterwards and takes it at the end.
// CHECK-LABEL: func.func @step_c0
// CHECK-DAG: %[[M:.*]] = spmd.buffer variable "m" at 0
// CHECK-DAG: %[[N:.*]] = spmd.buffer variable "n" at 64
// CHECK-DAG: %[[NEXT:.*]] = spmd.buffer temporary "/n"
// CHECK: spmd.launch "nn.fused" on compute(%[[M]], %{{.*}}) -> (%[[M]])
// CHECK: spmd.launch "nn.fused" on compute(%[[N]], %{{.*}}) -> (%[[NEXT]])
// CHECK: spmd.launch "nn.softmax" on compute(%[[N]])
// CHECK-NEXT: spmd.launch "copy" on compute(%[[NEXT]]) -> (%[[N]])
module attributes {dist.grid = #dist.grid<data = 1>} {
  spmd.class @c0 ranks [0]
  nn.variable @m state : tensor<4xf32> = dense<0.0> : tensor<4xf32>
  nn.variable @n state : tensor<4xf32> = dense<0.0> : tensor<4xf32>
  func.func @step_c0(%x: tensor<4xf32> {nn.name = "x", dist.layout = #dist.layout<[[]]>, spmd.global = tensor<4xf32>})
      -> (tensor<4xf32> {nn.name = "y", dist.layout = #dist.layout<[[]]>, spmd.global = tensor<4xf32>})
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    %m = nn.read @m : tensor<4xf32>
    %n = nn.read @n : tensor<4xf32>
    %0 = nn.fused(%m, %x : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%f: f32, %g: f32):
      %i = arith.addf %f, %g : f32
      nn.yield %i : f32
    } loc("/m")
    nn.assign @m, %0 : tensor<4xf32>
    %1 = nn.fused(%n, %x : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%f: f32, %g: f32):
      %i = arith.addf %f, %g : f32
      nn.yield %i : f32
    } loc("/n")
    nn.assign @n, %1 : tensor<4xf32>
    %y = nn.softmax %n {axis = 0 : i64} : tensor<4xf32> loc("/y")
    return %y : tensor<4xf32>
  }
}

// -----

// Equal tables become one constant variable; labels keep their number of classes.
// CHECK: nn.variable @constant.0 constant : tensor<2x3xf32> = dense<
// CHECK-NOT: nn.variable
// CHECK-LABEL: func.func @eval_c0
// CHECK-DAG: %[[C:.*]] = spmd.buffer variable "constant.0" at 0 of tensor<2x3xf32>
// CHECK-DAG: spmd.buffer input "labels" at 64 of tensor<2xi64> {label, layout = #dist.layout<{{\[\[}}data]]>, limit = 3 : i64} : memref<2xi64>
// CHECK: spmd.launch "nn.concat" on compute(%[[C]], %[[C]])
module attributes {dist.grid = #dist.grid<data = 1>} {
  spmd.class @c0 ranks [0]
  func.func @eval_c0(%l: tensor<2xi64> {nn.name = "labels", nn.label, nn.limit = 3 : i64, dist.layout = #dist.layout<[[data]]>, spmd.global = tensor<2xi64>})
      -> (tensor<2xf32> {nn.name = "losses", dist.layout = #dist.layout<[[data]]>, spmd.global = tensor<2xf32>})
      attributes {spmd.class = @c0, spmd.phase = "eval"} {
    %c = nn.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
    %d = nn.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
    %0 = nn.concat %c, %d {axis = 0 : i64} : tensor<2x3xf32>, tensor<2x3xf32>
    %1 = nn.slice %0 {starts = array<i64: 0, 0>, sizes = array<i64: 2, 3>, steps = array<i64: 2, 1>} : tensor<4x3xf32>
    %2 = nn.cross_entropy %1, %l {axis = 1 : i64} : tensor<2x3xf32>, tensor<2xi64>
    return %2 : tensor<2xf32>
  }
}

// -----

// Buffers whose lives do not meet share bytes: the third value lies where the
// first one was. Nothing but a loop works in place.
// CHECK: spmd.class @c0 ranks [0] {arena_bytes = 256 : i64, persistent_bytes = 128 : i64}
// CHECK-LABEL: func.func @predict_c0
// CHECK-DAG: spmd.buffer temporary "/1" at 128
// CHECK-DAG: spmd.buffer temporary "/2" at 192
// CHECK-DAG: spmd.buffer temporary "/3" at 128
module attributes {dist.grid = #dist.grid<data = 1>} {
  spmd.class @c0 ranks [0]
  func.func @predict_c0(%x: tensor<16xf32> {nn.name = "x", dist.layout = #dist.layout<[[]]>, spmd.global = tensor<16xf32>})
      -> (tensor<16xf32> {nn.name = "y", dist.layout = #dist.layout<[[]]>, spmd.global = tensor<16xf32>})
      attributes {spmd.class = @c0, spmd.phase = "predict"} {
    %1 = nn.softmax %x {axis = 0 : i64} : tensor<16xf32> loc("/1")
    %2 = nn.softmax %1 {axis = 0 : i64} : tensor<16xf32> loc("/2")
    %3 = nn.softmax %2 {axis = 0 : i64} : tensor<16xf32> loc("/3")
    %4 = nn.softmax %3 {axis = 0 : i64} : tensor<16xf32> loc("/4")
    return %4 : tensor<16xf32>
  }
}

// -----

// A launch says of which split it is a part; its kernel does not see that.
// CHECK-LABEL: func.func @predict_c0
// CHECK: spmd.launch "nn.softmax" on compute(%{{.*}}) -> (%{{.*}}) {axis = 1 : i64} attributes {dist.split = #dist.split<d0 = [data]>, section = "forward"}
module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  func.func @predict_c0(%x: tensor<2x4xf32> {nn.name = "x", dist.layout = #dist.layout<[[data], []]>, spmd.global = tensor<4x4xf32>})
      -> (tensor<2x4xf32> {nn.name = "y", dist.layout = #dist.layout<[[data], []]>, spmd.global = tensor<4x4xf32>})
      attributes {spmd.class = @c0, spmd.phase = "predict"} {
    %y = nn.softmax %x {axis = 1 : i64, spmd.split = #dist.split<d0 = [data]>} : tensor<2x4xf32>
    return %y : tensor<2x4xf32>
  }
}

// -----

// An operand that is needed later, or that is broadcast, is not written over.
// CHECK-LABEL: func.func @predict_c0
// CHECK-DAG: %[[V:.*]] = spmd.buffer temporary "/v"
// CHECK-DAG: %[[S:.*]] = spmd.buffer temporary "/s"
// CHECK-DAG: %[[F:.*]] = spmd.buffer temporary "/f"
// CHECK: spmd.launch "nn.fused" on compute(%[[S]], %[[V]]) -> (%[[F]])
// CHECK: spmd.launch "nn.concat" on compute(%[[F]], %[[S]])
module attributes {dist.grid = #dist.grid<data = 1>} {
  spmd.class @c0 ranks [0]
  func.func @predict_c0(%x: tensor<4x4xf32> {nn.name = "x", dist.layout = #dist.layout<[[], []]>, spmd.global = tensor<4x4xf32>})
      -> (tensor<8x4xf32> {nn.name = "y", dist.layout = #dist.layout<[[], []]>, spmd.global = tensor<8x4xf32>})
      attributes {spmd.class = @c0, spmd.phase = "predict"} {
    %v = nn.reduce sum %x {axes = array<i64: 0>} : tensor<4x4xf32> loc("/v")
    %s = nn.softmax %x {axis = 0 : i64} : tensor<4x4xf32> loc("/s")
    %f = nn.fused(%s, %v : tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32> {
    ^bb0(%e: f32, %g: f32):
      %i = arith.addf %e, %g : f32
      nn.yield %i : f32
    } loc("/f")
    %y = nn.concat %f, %s {axis = 0 : i64} : tensor<4x4xf32>, tensor<4x4xf32> loc("/y")
    return %y : tensor<8x4xf32>
  }
}

// -----

// Functions of a class agree on inputs and variables, have results of their
// own, and overlay their temporaries. Each class has its own sizes.
// CHECK: spmd.class @c0 ranks [0] {arena_bytes = 384 : i64, persistent_bytes = 256 : i64}
// CHECK: spmd.class @c1 ranks [1] {arena_bytes = 256 : i64, persistent_bytes = 192 : i64}
// CHECK-LABEL: func.func @eval_c0
// CHECK-DAG: spmd.buffer input "x" at 0 of tensor<48xf32> {{.*}} : memref<32xf32>
// CHECK-DAG: spmd.buffer result "z" at 128 of tensor<f32>
// CHECK-DAG: spmd.buffer temporary "/s" at 256
// CHECK-LABEL: func.func @predict_c0
// CHECK-DAG: spmd.buffer input "x" at 0
// CHECK-DAG: spmd.buffer result "z" at 192 of tensor<f32>
// CHECK-DAG: spmd.buffer temporary "/t" at 256
// CHECK-LABEL: func.func @eval_c1
// CHECK-DAG: spmd.buffer input "x" at 0 of tensor<48xf32> {{.*}} : memref<16xf32>
// CHECK-DAG: spmd.buffer result "z" at 64
module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0]
  spmd.class @c1 ranks [1]
  func.func @eval_c0(%x: tensor<32xf32> {nn.name = "x", dist.layout = #dist.layout<[[data] by 16]>, spmd.global = tensor<48xf32>})
      -> (tensor<f32> {nn.name = "z", dist.layout = #dist.layout<[], varying [data]>, spmd.global = tensor<f32>})
      attributes {spmd.class = @c0, spmd.phase = "eval"} {
    %s = nn.softmax %x {axis = 0 : i64} : tensor<32xf32> loc("/s")
    %z = nn.reduce sum %s {axes = array<i64: 0>} : tensor<32xf32> loc("/z")
    return %z : tensor<f32>
  }
  func.func @predict_c0(%x: tensor<32xf32> {nn.name = "x", dist.layout = #dist.layout<[[data] by 16]>, spmd.global = tensor<48xf32>})
      -> (tensor<f32> {nn.name = "z", dist.layout = #dist.layout<[], varying [data]>, spmd.global = tensor<f32>})
      attributes {spmd.class = @c0, spmd.phase = "predict"} {
    %t = nn.log_softmax %x {axis = 0 : i64} : tensor<32xf32> loc("/t")
    %z = nn.reduce max %t {axes = array<i64: 0>} : tensor<32xf32> loc("/z")
    return %z : tensor<f32>
  }
  func.func @eval_c1(%x: tensor<16xf32> {nn.name = "x", dist.layout = #dist.layout<[[data] by 16]>, spmd.global = tensor<48xf32>})
      -> (tensor<f32> {nn.name = "z", dist.layout = #dist.layout<[], varying [data]>, spmd.global = tensor<f32>})
      attributes {spmd.class = @c1, spmd.phase = "eval"} {
    %s = nn.softmax %x {axis = 0 : i64} : tensor<16xf32> loc("/s")
    %z = nn.reduce sum %s {axes = array<i64: 0>} : tensor<16xf32> loc("/z")
    return %z : tensor<f32>
  }
  func.func @predict_c1(%x: tensor<16xf32> {nn.name = "x", dist.layout = #dist.layout<[[data] by 16]>, spmd.global = tensor<48xf32>})
      -> (tensor<f32> {nn.name = "z", dist.layout = #dist.layout<[], varying [data]>, spmd.global = tensor<f32>})
      attributes {spmd.class = @c1, spmd.phase = "predict"} {
    %t = nn.log_softmax %x {axis = 0 : i64} : tensor<16xf32> loc("/t")
    %z = nn.reduce max %t {axes = array<i64: 0>} : tensor<16xf32> loc("/z")
    return %z : tensor<f32>
  }
}
