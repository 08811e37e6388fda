// Owners of shares: push, update of what a rank owns, fetch; a wait for the
// previous step; an algorithm by name.
// RUN: partita-translate --print-source %s > %t.cpp
// RUN: FileCheck %s < %t.cpp
// RUN: %check-cpp %t.cpp

// CHECK: constexpr CallSite kStepCalls[] = {
// CHECK-NEXT: {"push bucket 0: a, b", {{.*}}, 0},
// CHECK-NEXT: {"fetch bucket 0: a, b", {{.*}}, 1},
// CHECK-NEXT: {"bucket 1: c", {{.*}}, 2},
// CHECK-NEXT: };

// CHECK: void step() override {
// CHECK: compute.wait(fetchBucket0Done);
// CHECK: // push bucket 0: a, b: reduce scatter over data (160 bytes)
// CHECK-NEXT: compute.record(pushBucket0Ready);
// CHECK-NEXT: comm.wait(pushBucket0Ready);
// CHECK-NEXT: dataRanks.reduceScatter(comm, gradientsOfBucket0, bucket0Shares.counts,
// CHECK-NEXT: Reduction::sum, kStepCalls[0]);
// CHECK-NOT: sgdUpdate(
// CHECK: sgdUpdate(comm, bucket0Shares.count, rank.lr,
// CHECK-NEXT: parametersOfBucket0 + bucket0Shares.begin,
// CHECK-NEXT: gradientsOfBucket0 + bucket0Shares.begin,
// CHECK-NEXT: momentumOfBucket0 + bucket0Shares.begin);
// CHECK: // fetch bucket 0: a, b: all gather over data (160 bytes)
// CHECK-NEXT: dataRanks.allGather(comm, parametersOfBucket0, bucket0Shares.counts,
// CHECK-NEXT: kStepCalls[1]);
// CHECK-NEXT: comm.record(fetchBucket0Done);

// The update waits until nobody reads what it overwrites.
// CHECK: dataRanks.allReduce(comm, gradientsOfBucket1, 40, Reduction::sum,
// CHECK-NEXT: Algorithm::ring, kStepCalls[2]);
// CHECK: comm.wait(bucket1Read);
// CHECK-NEXT: sgdUpdate_2(comm, 40, rank.lr, parametersOfBucket1, gradientsOfBucket1);
// CHECK-NEXT: comm.record(bucket1Done);

// Who looks at gradients or optimizer state gets all of them; the parameters
// have been fetched.
// CHECK: void gather() override {
// CHECK-NEXT: dataRanks.allGather(comm, gradientsOfBucket0, bucket0Shares.counts);
// CHECK-NEXT: dataRanks.allGather(comm, momentumOfBucket0, bucket0Shares.counts);
// CHECK-NEXT: }

// CHECK: Communicator &dataRanks = rank.communicator({"data"});
// CHECK: // What this rank owns of buckets, and the others do.
// CHECK-NEXT: const Shares bucket0Shares{dataRanks, 40};
// CHECK: p.overlapsSteps = true;
module attributes {dist.grid = #dist.grid<data = 2>, partita.batch = 2 : i64} {
  spmd.class @c0 ranks [0, 1] {arena_bytes = 65536 : i64}
  func.func @step_c0() attributes {spmd.class = @c0, spmd.phase = "step"} {
    %w = spmd.buffer bucket "parameters of bucket 0" at 0 : memref<40xf32>
    %g = spmd.buffer bucket "gradients of bucket 0" at 512 : memref<40xf32>
    %m = spmd.buffer bucket "momentum of bucket 0" at 1024 : memref<40xf32>
    %v = spmd.buffer bucket "parameters of bucket 1" at 1536 : memref<40xf32>
    %h = spmd.buffer bucket "gradients of bucket 1" at 2048 : memref<40xf32>
    %loss = spmd.buffer result "loss" at 4096 of tensor<f32> {layout = #dist.layout<[]>} : memref<f32>
    spmd.wait 0 on compute {previous}
    spmd.launch "nn.reduce" on compute(%w) -> (%loss) {axes = array<i64: 0>, kind = #nn<kind sum>} : (memref<40xf32>) -> (memref<f32>)
    spmd.record 1 on compute
    spmd.wait 1 on comm
    spmd.communicate "reduce_scatter" sum %g on comm over ["data"] label "push bucket 0: a, b" {parts = array<i64: 16, 24>} : memref<40xf32>
    spmd.launch "nn.sgd" on comm(%w, %g, %m) -> (%w, %m) {momentum = 9.0e-01 : f64} attributes {axes = ["data"], parts = array<i64: 16, 24>, section = "update"} : (memref<40xf32>, memref<40xf32>, memref<40xf32>) -> (memref<40xf32>, memref<40xf32>) loc("bucket 0: a, b")
    spmd.communicate "all_gather" sum %w on comm over ["data"] label "fetch bucket 0: a, b" {parts = array<i64: 16, 24>} : memref<40xf32>
    spmd.record 0 on comm
    spmd.wait 2 on compute {previous}
    spmd.launch "nn.reduce" on compute(%v) -> (%loss) {axes = array<i64: 0>, kind = #nn<kind sum>} : (memref<40xf32>) -> (memref<f32>)
    spmd.communicate "all_reduce" sum %h on comm over ["data"] label "bucket 1: c" {algorithm = "ring"} : memref<40xf32>
    spmd.record 3 on compute
    spmd.wait 3 on comm
    spmd.launch "nn.sgd" on comm(%v, %h) -> (%v) {} attributes {section = "update"} : (memref<40xf32>, memref<40xf32>) -> (memref<40xf32>) loc("bucket 1: c")
    spmd.record 2 on comm
    return
  }
}
