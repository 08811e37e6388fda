// When gradients are sent, in which company, and when parameters are updated.
// a and c have 64 bytes, b has 16; each begins at a multiple of 64.
// RUN: partita-opt %s -partita-schedule-program -partita-verify-schedule | FileCheck %s --check-prefix=ONE
// RUN: partita-opt %s -partita-schedule-program=bucket-bytes=80 -partita-verify-schedule | FileCheck %s --check-prefix=TWO
// RUN: partita-opt %s -partita-schedule-program=bucket-bytes=81 -partita-verify-schedule | FileCheck %s --check-prefix=ONE
// RUN: partita-opt %s -partita-schedule-program=bucket-bytes=1 -partita-verify-schedule | FileCheck %s --check-prefix=EACH
// RUN: partita-opt %s -partita-schedule-program="bucket-bytes=1 overlap-steps=false" -partita-verify-schedule | FileCheck %s --check-prefix=STEP --implicit-check-not=previous
// RUN: partita-opt %s -partita-schedule-program="bucket-bytes=64 overlap=false" -partita-verify-schedule | FileCheck %s --check-prefix=AFTER --implicit-check-not=previous

// One bucket, sent behind the last gradient: parameters, gradients and state
// are one range each. The loss travels meanwhile and is waited for last. The
// update follows the gradients on the comm stream; the next step waits for it
// before it overwrites them.
// ONE: spmd.class @c0 ranks [0, 1] {arena_bytes = 640 : i64, persistent_bytes = 640 : i64}
// ONE-DAG: %[[X:.*]] = spmd.buffer input "x" at 384
// ONE-DAG: %[[LOSS:.*]] = spmd.buffer result "loss" at 576
// ONE-DAG: %[[GA:.*]] = spmd.buffer gradient "a" at 192 : memref<16xf32>
// ONE-DAG: %[[GB:.*]] = spmd.buffer gradient "b" at 256 : memref<4xf32>
// ONE-DAG: %[[GC:.*]] = spmd.buffer gradient "c" at 320 : memref<16xf32>
// ONE-DAG: %[[G:.*]] = spmd.buffer bucket "gradients of bucket 0" at 192 : memref<48xf32>
// ONE-DAG: %[[P:.*]] = spmd.buffer bucket "parameters of bucket 0" at 0 : memref<48xf32>
// ONE-DAG: spmd.buffer variable "a" at 0 of tensor<16xf32>
// ONE-DAG: spmd.buffer variable "b" at 64 of tensor<4xf32>
// ONE-DAG: spmd.buffer variable "c" at 128 of tensor<16xf32>
// ONE: spmd.launch "nn.reduce" on compute(%[[X]]) -> (%[[LOSS]]) {{.*}}section = "loss"
// ONE-NEXT: spmd.record [[R:.*]] on compute
// ONE-NEXT: spmd.wait [[R]] on comm
// ONE-NEXT: spmd.communicate "all_reduce" sum %[[LOSS]] on comm over ["data"] label "loss"
// ONE-NEXT: spmd.record [[L:.*]] on comm
// ONE-NEXT: spmd.wait [[U:.*]] on compute {previous}
// ONE-NEXT: spmd.launch "nn.reduce" on compute(%{{.*}}) -> (%[[GA]]) {{.*}}section = "backward"
// ONE-NEXT: spmd.launch "nn.reduce" on compute(%{{.*}}) -> (%[[GB]])
// ONE-NEXT: spmd.launch "nn.reduce" on compute(%{{.*}}) -> (%[[GC]])
// ONE-NEXT: spmd.record [[S:.*]] on compute
// ONE-NEXT: spmd.wait [[S]] on comm
// ONE-NEXT: spmd.communicate "all_reduce" sum %[[G]] on comm over ["data"] label "bucket 0: a, b, c" : memref<48xf32>
// ONE-NEXT: spmd.launch "nn.sgd" on comm(%[[P]], %[[G]]) -> (%[[P]]) {{.*}}section = "update"
// ONE-NEXT: spmd.record [[U]] on comm
// ONE-NEXT: spmd.wait [[L]] on compute
// ONE-NEXT: return

// A bucket closes when it has reached its size: 64 + 16 bytes.
// TWO: label "bucket 0: a, b" : memref<20xf32>
// TWO: label "bucket 1: c" : memref<16xf32>
// TWO-NOT: bucket 2

// Each gradient leaves as soon as it is ready. Updates follow on the comm
// stream; nobody waits for them in this step.
// EACH: spmd.launch "nn.reduce"{{.*}}section = "loss"
// EACH: spmd.wait [[A:.*]] on compute {previous}
// EACH-NEXT: spmd.launch "nn.reduce"
// EACH: spmd.communicate {{.*}} label "bucket 0: a"
// EACH-NEXT: spmd.wait [[B:.*]] on compute {previous}
// EACH-NEXT: spmd.launch "nn.reduce"
// EACH: spmd.communicate {{.*}} label "bucket 1: b"
// EACH-NEXT: spmd.wait [[C:.*]] on compute {previous}
// EACH-NEXT: spmd.launch "nn.reduce"
// EACH: spmd.communicate {{.*}} label "bucket 2: c"
// EACH-NEXT: spmd.launch "nn.sgd" on comm
// EACH-NEXT: spmd.record [[A]] on comm
// EACH-NEXT: spmd.launch "nn.sgd" on comm
// EACH-NEXT: spmd.record [[B]] on comm
// EACH-NEXT: spmd.launch "nn.sgd" on comm
// EACH-NEXT: spmd.record [[C]] on comm
// EACH-NEXT: spmd.wait {{.*}} on compute
// EACH-NEXT: return

// Within the step, updates stand at its end, in the order of arrival.
// STEP: label "bucket 0: a"
// STEP-NEXT: spmd.record [[A:.*]] on comm
// STEP: label "bucket 1: b"
// STEP-NEXT: spmd.record [[B:.*]] on comm
// STEP: label "bucket 2: c"
// STEP-NEXT: spmd.record [[C:.*]] on comm
// STEP-NEXT: spmd.wait [[A]] on compute
// STEP-NEXT: spmd.launch "nn.sgd" on compute
// STEP-NEXT: spmd.wait [[B]] on compute
// STEP-NEXT: spmd.launch "nn.sgd" on compute
// STEP-NEXT: spmd.wait [[C]] on compute
// STEP-NEXT: spmd.launch "nn.sgd" on compute
// STEP-NEXT: spmd.wait {{.*}} on compute
// STEP-NEXT: return

// Without overlap nothing is sent before the backward pass has ended, and
// everything is waited for at once, in this step.
// AFTER: label "loss"
// AFTER-NEXT: spmd.record 1 on comm
// AFTER-NEXT: spmd.wait 1 on compute
// AFTER-NEXT: spmd.launch "nn.reduce"
// AFTER-NEXT: spmd.launch "nn.reduce"
// AFTER-NEXT: spmd.launch "nn.reduce"
// AFTER: label "bucket 0: a" : memref<16xf32>
// AFTER-NEXT: spmd.record 3 on comm
// AFTER-NEXT: spmd.wait 3 on compute
// AFTER-NEXT: spmd.launch "nn.sgd"
// AFTER: label "bucket 1: b, c" : memref<32xf32>
// AFTER-NEXT: spmd.record 5 on comm
// AFTER-NEXT: spmd.wait 5 on compute
// AFTER-NEXT: spmd.launch "nn.sgd"
// AFTER-NEXT: return
module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  nn.variable @a parameter : tensor<16xf32> = dense<1.0> : tensor<16xf32>
  nn.variable @b parameter : tensor<4xf32> = dense<1.0> : tensor<4xf32>
  nn.variable @c parameter : tensor<16xf32> = dense<1.0> : tensor<16xf32>
  func.func @step_c0(%x: tensor<2x16xf32> {nn.name = "x", dist.layout = #dist.layout<[[data], []]>, spmd.global = tensor<4x16xf32>}, %y: tensor<2x4xf32> {nn.name = "y", dist.layout = #dist.layout<[[data], []]>, spmd.global = tensor<4x4xf32>})
      -> (tensor<f32> {nn.name = "loss", dist.layout = #dist.layout<[]>, spmd.global = tensor<f32>})
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    %l = nn.reduce sum %x {axes = array<i64: 0, 1>} : tensor<2x16xf32> loc("loss")
    %loss = spmd.all_reduce sum %l over ["data"] : tensor<f32> loc("loss")
    %ga = nn.reduce sum %x {axes = array<i64: 0>} : tensor<2x16xf32> loc("/a")
    %gb = nn.reduce sum %y {axes = array<i64: 0>} : tensor<2x4xf32> loc("/b")
    %gc = nn.reduce sum %x {axes = array<i64: 0>} : tensor<2x16xf32> loc("/c")
    %sa = spmd.all_reduce sum %ga over ["data"] : tensor<16xf32> loc("/a")
    nn.sgd @a, %sa : tensor<16xf32>
    %sb = spmd.all_reduce sum %gb over ["data"] : tensor<4xf32> loc("/b")
    nn.sgd @b, %sb : tensor<4xf32>
    %sc = spmd.all_reduce sum %gc over ["data"] : tensor<16xf32> loc("/c")
    nn.sgd @c, %sc : tensor<16xf32>
    return %loss : tensor<f32>
  }
}
