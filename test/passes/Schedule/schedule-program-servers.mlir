// Servers own parameters beside the grid: the ranks push gradients and fetch
// parameters at the places where they would do so among themselves, and have no
// optimizer state; a class of servers does the rest.
// RUN: partita-opt %s -partita-schedule-program -partita-verify-schedule | FileCheck %s
// RUN: partita-opt %s -partita-schedule-program=overlap-steps=false -partita-verify-schedule | FileCheck %s --check-prefix=STEP --implicit-check-not=previous
// RUN: partita-opt %s -partita-schedule-program="bucket-bytes=1 overlap=false" -partita-verify-schedule | FileCheck %s --check-prefix=OFF

// CHECK: spmd.class @c0 ranks [0, 1] {arena_bytes
// CHECK: spmd.class @s0 ranks [2, 3, 4] {arena_bytes = 576 : i64, persistent_bytes = 576 : i64, servers}
// CHECK-LABEL: func.func @step_c0
// CHECK-NOT: momentum
// CHECK: spmd.wait [[U:.*]] on compute {previous}
// CHECK-NEXT: spmd.launch "nn.mul"
// CHECK: spmd.communicate "reduce_scatter" sum %[[G:.*]] on comm over ["data"] label "push bucket 0: a, b" {parts = array<i64: 0, 0, 16, 16, 16>, servers = 3 : i64} : memref<48xf32>
// CHECK-NEXT: spmd.communicate "all_gather" sum %[[P:.*]] on comm over ["data"] label "fetch bucket 0: a, b" {parts = array<i64: 0, 0, 16, 16, 16>, servers = 3 : i64} : memref<48xf32>
// CHECK-NEXT: spmd.record [[U]] on comm
// CHECK-NEXT: spmd.wait {{.*}} on compute
// CHECK-NEXT: return

// CHECK-LABEL: func.func @step_s0() attributes {spmd.class = @s0, spmd.phase = "step"}
// CHECK-DAG: %[[P:.*]] = spmd.buffer bucket "parameters of bucket 0" at 0 : memref<48xf32>
// CHECK-DAG: %[[G:.*]] = spmd.buffer bucket "gradients of bucket 0" at 192 : memref<48xf32>
// CHECK-DAG: %[[M:.*]] = spmd.buffer bucket "momentum of bucket 0" at 384 : memref<48xf32>
// CHECK-DAG: spmd.buffer variable "b" at 128 of tensor<16xf32> {axes = ["data"], layout = #dist.layout<{{.*}}>} : memref<16xf32>
// CHECK-DAG: spmd.buffer variable "b.m" at 512 of tensor<16xf32> {axes = ["data"], layout
// CHECK: spmd.communicate "reduce_scatter" sum %[[G]] on comm over ["data"] label "push bucket 0: a, b" {parts = array<i64: 0, 0, 16, 16, 16>, servers = 3 : i64}
// CHECK-NEXT: spmd.launch "nn.sgd" on comm(%[[P]], %[[G]], %[[M]]) -> (%[[P]], %[[M]]) {momentum = {{.*}}} attributes {axes = ["data"], parts = array<i64: 0, 0, 16, 16, 16>, section = "update", servers = 3 : i64}
// CHECK-NEXT: spmd.communicate "all_gather" sum %[[P]] on comm over ["data"] label "fetch bucket 0: a, b" {parts = array<i64: 0, 0, 16, 16, 16>, servers = 3 : i64}
// CHECK-NEXT: return

// Within a step nothing waits for the update but what is fetched at its end.
// STEP-LABEL: func.func @step_c0
// STEP: label "push bucket 0: a, b"
// STEP: label "fetch bucket 0: a, b"
// STEP-NEXT: spmd.record [[F:.*]] on comm
// STEP: spmd.wait [[F]] on compute
// STEP-NEXT: return

// The servers keep the order of the ranks.
// OFF-LABEL: func.func @step_c0
// OFF: label "push bucket 0: a"
// OFF: label "fetch bucket 0: a"
// OFF: label "push bucket 1: b"
// OFF: label "fetch bucket 1: b"
// OFF-LABEL: func.func @step_s0
// OFF: label "push bucket 0: a"
// OFF: label "fetch bucket 0: a"
// OFF: label "push bucket 1: b"
// OFF: label "fetch bucket 1: b"
module attributes {dist.grid = #dist.grid<data = 2>, dist.servers = 3 : i64} {
  spmd.class @c0 ranks [0, 1]
  nn.variable @a parameter : tensor<20xf32> = dense<1.0> : tensor<20xf32>
  nn.variable @a.m optimizer : tensor<20xf32> = dense<0.0> : tensor<20xf32>
  nn.variable @b parameter : tensor<16xf32> = dense<1.0> : tensor<16xf32>
  nn.variable @b.m optimizer : tensor<16xf32> = dense<0.0> : tensor<16xf32>
  func.func @step_c0(%x: tensor<2x20xf32> {nn.name = "x", dist.layout = #dist.layout<[[data], []]>, spmd.global = tensor<4x20xf32>}, %y: tensor<2x16xf32> {nn.name = "y", dist.layout = #dist.layout<[[data], []]>, spmd.global = tensor<4x16xf32>})
      -> (tensor<f32> {nn.name = "loss", dist.layout = #dist.layout<[]>, spmd.global = tensor<f32>})
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    %a = nn.read @a : tensor<20xf32>
    %s = nn.mul %x, %a : tensor<2x20xf32>, tensor<20xf32> loc("/first")
    %b = nn.read @b : tensor<16xf32>
    %t = nn.mul %y, %b : tensor<2x16xf32>, tensor<16xf32> loc("/second")
    %l = nn.reduce sum %s {axes = array<i64: 0, 1>} : tensor<2x20xf32> loc("loss")
    %loss = spmd.all_reduce sum %l over ["data"] : tensor<f32> loc("loss")
    %ga = nn.reduce sum %x {axes = array<i64: 0>} : tensor<2x20xf32> loc("/a")
    %gb = nn.reduce sum %t {axes = array<i64: 0>} : tensor<2x16xf32> loc("/b")
    %sa = spmd.all_reduce sum %ga over ["data"] {dist.sync = #dist.sync<parameter_server [data]>} : tensor<20xf32> loc("/a")
    nn.sgd @a state @a.m, %sa {momentum = 9.0e-01 : f64} : tensor<20xf32>
    %sb = spmd.all_reduce sum %gb over ["data"] {dist.sync = #dist.sync<parameter_server [data]>} : tensor<16xf32> loc("/b")
    nn.sgd @b state @b.m, %sb {momentum = 9.0e-01 : f64} : tensor<16xf32>
    return %loss : tensor<f32>
  }
}
