// The parameter server: gradients are pushed to the ranks that own shares of a
// bucket, these update their shares, and the others fetch them. a has 80 bytes,
// b 64; shares are whole cache lines.
// RUN: partita-opt %s -partita-schedule-program -partita-verify-schedule | FileCheck %s --check-prefix=ONE
// RUN: partita-opt %s -partita-schedule-program=bucket-bytes=1 -partita-verify-schedule | FileCheck %s --check-prefix=FIRST
// RUN: partita-opt %s -partita-schedule-program="bucket-bytes=1 priorities=false" -partita-verify-schedule | FileCheck %s --check-prefix=READY
// RUN: partita-opt %s -partita-schedule-program="bucket-bytes=1 overlap-steps=false" -partita-verify-schedule | FileCheck %s --check-prefix=STEP --implicit-check-not=previous
// RUN: partita-opt %s -partita-schedule-program="bucket-bytes=1 overlap=false" -partita-verify-schedule | FileCheck %s --check-prefix=OFF --implicit-check-not=previous

// All on the comm stream, and the next step waits before it reads.
// ONE-DAG: %[[P:.*]] = spmd.buffer bucket "parameters of bucket 0" at 0 : memref<48xf32>
// ONE-DAG: %[[G:.*]] = spmd.buffer bucket "gradients of bucket 0" at 192 : memref<48xf32>
// ONE-DAG: %[[M:.*]] = spmd.buffer bucket "momentum of bucket 0" at 384 : memref<48xf32>
// ONE: spmd.wait [[U:.*]] on compute {previous}
// ONE-NEXT: spmd.launch "nn.mul"
// ONE-NEXT: spmd.launch "nn.mul"
// ONE: spmd.launch "nn.reduce" {{.*}}section = "backward"
// ONE-NEXT: spmd.launch "nn.reduce" {{.*}}section = "backward"
// ONE-NEXT: spmd.record [[R:.*]] on compute
// ONE-NEXT: spmd.wait [[R]] on comm
// ONE-NEXT: spmd.communicate "reduce_scatter" sum %[[G]] on comm over ["data"] label "push bucket 0: a, b" {parts = array<i64: 16, 32>} : memref<48xf32>
// ONE-NEXT: spmd.launch "nn.sgd" on comm(%[[P]], %[[G]], %[[M]]) -> (%[[P]], %[[M]]) {momentum = {{.*}}} attributes {axes = ["data"], parts = array<i64: 16, 32>, section = "update"}
// ONE-NEXT: spmd.communicate "all_gather" sum %[[P]] on comm over ["data"] label "fetch bucket 0: a, b" {parts = array<i64: 16, 32>} : memref<48xf32>
// ONE-NEXT: spmd.record [[U]] on comm
// ONE-NEXT: spmd.wait {{.*}} on compute
// ONE-NEXT: return

// The next step needs a first: its fetch goes before the gradients of b, which
// are ready by then. Who has no share takes part with none.
// FIRST: spmd.wait [[A:.*]] on compute {previous}
// FIRST-NEXT: spmd.launch "nn.mul" {{.*}}memref<20xf32>
// FIRST-NEXT: spmd.wait [[B:.*]] on compute {previous}
// FIRST-NEXT: spmd.launch "nn.mul" {{.*}}memref<16xf32>
// FIRST: label "push bucket 0: a" {parts = array<i64: 16, 4>}
// FIRST-NEXT: spmd.launch "nn.sgd" on comm
// FIRST-NEXT: spmd.communicate {{.*}} label "fetch bucket 0: a" {parts = array<i64: 16, 4>}
// FIRST-NEXT: spmd.record [[A]] on comm
// FIRST: label "push bucket 1: b" {parts = array<i64: 0, 16>}
// FIRST-NEXT: spmd.launch "nn.sgd" on comm
// FIRST-NEXT: spmd.communicate {{.*}} label "fetch bucket 1: b" {parts = array<i64: 0, 16>}
// FIRST-NEXT: spmd.record [[B]] on comm

// Without priorities what is ready goes first, gradients before parameters.
// READY: label "push bucket 0: a"
// READY: label "push bucket 1: b"
// READY-NEXT: spmd.launch "nn.sgd" on comm
// READY-NEXT: spmd.communicate {{.*}} label "fetch bucket 0: a"
// READY-NEXT: spmd.record
// READY-NEXT: spmd.launch "nn.sgd" on comm
// READY-NEXT: spmd.communicate {{.*}} label "fetch bucket 1: b"

// Within the step, the compute stream updates and the step's end waits for what
// is fetched.
// STEP: label "push bucket 0: a"
// STEP-NEXT: spmd.record [[A:.*]] on comm
// STEP: label "push bucket 1: b"
// STEP-NEXT: spmd.record [[B:.*]] on comm
// STEP-NEXT: spmd.wait [[A]] on compute
// STEP-NEXT: spmd.launch "nn.sgd" on compute({{.*}} attributes {axes = ["data"], parts = array<i64: 16, 4>
// STEP-NEXT: spmd.record [[UA:.*]] on compute
// STEP-NEXT: spmd.wait [[UA]] on comm
// STEP-NEXT: spmd.communicate {{.*}} label "fetch bucket 0: a"
// STEP-NEXT: spmd.record [[FA:.*]] on comm
// STEP-NEXT: spmd.wait [[B]] on compute
// STEP-NEXT: spmd.launch "nn.sgd" on compute
// STEP-NEXT: spmd.record [[UB:.*]] on compute
// STEP-NEXT: spmd.wait [[UB]] on comm
// STEP-NEXT: spmd.communicate {{.*}} label "fetch bucket 1: b"
// STEP-NEXT: spmd.record [[FB:.*]] on comm
// STEP-NEXT: spmd.wait {{.*}} on compute
// STEP-NEXT: spmd.wait [[FA]] on compute
// STEP-NEXT: spmd.wait [[FB]] on compute
// STEP-NEXT: return

// One after the other.
// OFF: label "push bucket 0: a"
// OFF-NEXT: spmd.record [[A:.*]] on comm
// OFF-NEXT: spmd.wait [[A]] on compute
// OFF-NEXT: spmd.launch "nn.sgd" on compute
// OFF: label "fetch bucket 0: a"
// OFF-NEXT: spmd.record [[F:.*]] on comm
// OFF-NEXT: spmd.wait [[F]] on compute
// OFF: label "push bucket 1: b"
// OFF: label "fetch bucket 1: b"
// OFF-NEXT: spmd.record [[G:.*]] on comm
// OFF-NEXT: spmd.wait [[G]] on compute
// OFF-NEXT: return
module attributes {dist.grid = #dist.grid<data = 2>} {
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
