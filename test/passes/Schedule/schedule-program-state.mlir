// Optimizer state lies in bucket order, each kind in a range of its own; what
// is updated by another rule or needs no collective is another bucket.
// RUN: partita-opt %s -split-input-file -partita-schedule-program -partita-verify-schedule | FileCheck %s

// CHECK-LABEL: func.func @step_c0
// CHECK-DAG: %[[P:.*]] = spmd.buffer bucket "parameters of bucket 0" at 0 : memref<20xf32>
// CHECK-DAG: %[[G:.*]] = spmd.buffer bucket "gradients of bucket 0" at 128 : memref<20xf32>
// CHECK-DAG: %[[M:.*]] = spmd.buffer bucket "first moments of bucket 0" at 256 : memref<20xf32>
// CHECK-DAG: %[[V:.*]] = spmd.buffer bucket "second moments of bucket 0" at 384 : memref<20xf32>
// CHECK-DAG: spmd.buffer variable "a.m" at 256
// CHECK-DAG: spmd.buffer variable "b.m" at 320
// CHECK-DAG: spmd.buffer variable "a.v" at 384
// CHECK-DAG: spmd.buffer variable "b.v" at 448
// CHECK-NOT: spmd.communicate
// CHECK: spmd.launch "nn.adam" on compute(%[[P]], %[[G]], %[[M]], %[[V]]) -> (%[[P]], %[[M]], %[[V]]) {beta1 = 9.000000e-01 : f64, {{.*}}} attributes {section = "update"}
// CHECK-NOT: nn.adam
module attributes {dist.grid = #dist.grid<data = 1>} {
  spmd.class @c0 ranks [0]
  nn.variable @a parameter : tensor<16xf32> = dense<1.0> : tensor<16xf32>
  nn.variable @a.m optimizer : tensor<16xf32> = dense<0.0> : tensor<16xf32>
  nn.variable @a.v optimizer : tensor<16xf32> = dense<0.0> : tensor<16xf32>
  nn.variable @b parameter : tensor<4xf32> = dense<1.0> : tensor<4xf32>
  nn.variable @b.m optimizer : tensor<4xf32> = dense<0.0> : tensor<4xf32>
  nn.variable @b.v optimizer : tensor<4xf32> = dense<0.0> : tensor<4xf32>
  func.func @step_c0(%x: tensor<2x16xf32> {nn.name = "x", dist.layout = #dist.layout<[[], []]>, spmd.global = tensor<2x16xf32>}, %y: tensor<2x4xf32> {nn.name = "y", dist.layout = #dist.layout<[[], []]>, spmd.global = tensor<2x4xf32>}) attributes {spmd.class = @c0, spmd.phase = "step"} {
    %ga = nn.reduce sum %x {axes = array<i64: 0>} : tensor<2x16xf32>
    %gb = nn.reduce sum %y {axes = array<i64: 0>} : tensor<2x4xf32>
    nn.adam @a moments @a.m, @a.v, %ga : tensor<16xf32>
    nn.adam @b moments @b.m, @b.v, %gb : tensor<4xf32>
    return
  }
}

// -----

// One with momentum, one without, one in another type.
// CHECK-LABEL: func.func @step_c0
// CHECK: label "bucket 0: a"
// CHECK: label "bucket 1: b"
// CHECK: label "bucket 2: c"
// CHECK: spmd.launch "nn.sgd" on comm(%[[P:.*]], %{{.*}}, %[[M:.*]]) -> (%[[P]], %[[M]]) {momentum = 9.000000e-01 : f64
// CHECK: spmd.launch "nn.sgd" on comm(%[[P:.*]], %{{.*}}) -> (%[[P]]) {momentum = 0.000000e+00 : f64
// CHECK: spmd.launch "nn.sgd" on comm({{.*}} : (memref<4xf64>, memref<4xf64>) -> memref<4xf64>
module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  nn.variable @a parameter : tensor<4xf32> = dense<1.0> : tensor<4xf32>
  nn.variable @m optimizer : tensor<4xf32> = dense<0.0> : tensor<4xf32>
  nn.variable @b parameter : tensor<4xf32> = dense<1.0> : tensor<4xf32>
  nn.variable @c parameter : tensor<4xf64> = dense<1.0> : tensor<4xf64>
  func.func @step_c0(%x: tensor<2x4xf32> {nn.name = "x", dist.layout = #dist.layout<[[data], []]>, spmd.global = tensor<4x4xf32>}, %y: tensor<2x4xf64> {nn.name = "y", dist.layout = #dist.layout<[[data], []]>, spmd.global = tensor<4x4xf64>}) attributes {spmd.class = @c0, spmd.phase = "step"} {
    %ga = nn.reduce sum %x {axes = array<i64: 0>} : tensor<2x4xf32>
    %sa = spmd.all_reduce sum %ga over ["data"] : tensor<4xf32>
    %gb = nn.reduce sum %x {axes = array<i64: 0>} : tensor<2x4xf32>
    %sb = spmd.all_reduce sum %gb over ["data"] : tensor<4xf32>
    %gc = nn.reduce sum %y {axes = array<i64: 0>} : tensor<2x4xf64>
    %sc = spmd.all_reduce sum %gc over ["data"] : tensor<4xf64>
    nn.sgd @a state @m, %sa {momentum = 0.9 : f64} : tensor<4xf32>
    nn.sgd @b, %sb : tensor<4xf32>
    nn.sgd @c, %sc : tensor<4xf64>
    return
  }
}

// -----

// A combined gradient that something else reads, too, is combined and waited for
// there, in the gradient's place.
// CHECK-LABEL: func.func @step_c0
// CHECK-DAG: %[[G:.*]] = spmd.buffer gradient "a"
// CHECK-DAG: %[[N:.*]] = spmd.buffer result "norm"
// CHECK: spmd.communicate "all_reduce" sum %[[G]] on comm over ["data"] label "values of /a"
// CHECK-NEXT: spmd.record [[D:.*]] on comm
// CHECK-NEXT: spmd.wait [[D]] on compute
// CHECK-NEXT: spmd.launch "nn.reduce" on compute(%[[G]]) -> (%[[N]])
// CHECK: spmd.launch "nn.sgd"
// CHECK-NOT: spmd.communicate
module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  nn.variable @a parameter : tensor<4xf32> = dense<1.0> : tensor<4xf32>
  func.func @step_c0(%x: tensor<2x4xf32> {nn.name = "x", dist.layout = #dist.layout<[[data], []]>, spmd.global = tensor<4x4xf32>})
      -> (tensor<f32> {nn.name = "norm", dist.layout = #dist.layout<[]>, spmd.global = tensor<f32>})
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    %ga = nn.reduce sum %x {axes = array<i64: 0>} : tensor<2x4xf32> loc("/a")
    %sa = spmd.all_reduce sum %ga over ["data"] : tensor<4xf32> loc("/a")
    %n = nn.reduce max %sa {axes = array<i64: 0>} : tensor<4xf32> loc("/norm")
    nn.sgd @a, %sa : tensor<4xf32>
    return %n : tensor<f32>
  }
}
