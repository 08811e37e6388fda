// Classes whose functions differ in more than numbers get a text each; those
// that differ in numbers share one.
// RUN: partita-translate --print-source %s > %t.cpp
// RUN: FileCheck %s < %t.cpp
// RUN: %check-cpp %t.cpp

module attributes {dist.grid = #dist.grid<x = 2, data = 2>, nn.model = "two kinds", partita.batch = 3 : i64} {
  spmd.class @c0 ranks [0] {arena_bytes = 1024 : i64}
  spmd.class @c1 ranks [1, 3] {arena_bytes = 1024 : i64}
  spmd.class @c2 ranks [2] {arena_bytes = 1024 : i64}
  // CHECK: struct Sizes0 {
  // CHECK-NEXT: std::int64_t batch;
  // CHECK-NEXT: float scale;
  // CHECK: constexpr Sizes0 kSizes0[] = {
  // CHECK-NEXT: // class 0: rank 0
  // CHECK-NEXT: {2, 0.5f},
  // CHECK-NEXT: // class 2: rank 2
  // CHECK-NEXT: {1, 0.25f},
  // CHECK: {{\[\[maybe_unused\]\]}} constexpr int kPlaceInGroup[] = {0, 0, 1};
  // CHECK: // 6 elements cut over x, data: part i is [bound i, bound i + 1)
  // CHECK-NEXT: const Split kSplitXData6(std::vector<int>{0, 1}, {0, 2, 4, 5, 6});
  // CHECK-NEXT: // 3 elements cut over x, data: part i is [bound i, bound i + 1)
  // CHECK-NEXT: const Split kSplitXData3(std::vector<int>{0, 1}, {0, 1, 2, 3, 3});

  // CHECK: class TwoKindsTraining0 final : public RankProgram {
  // CHECK: fusedMul(compute, s.batch * 3, x, x);
  // CHECK: dropMask(compute, rank.seed, rank.stepIndex, x);
  // CHECK: lossSum(compute, x, loss);
  // CHECK: const Sizes0 &s = kSizes0[kPlaceInGroup[rank.rankClass]];
  // CHECK: Communicator &dataXRanks = rank.communicator({"data", "x"});
  // CHECK: DropoutMask dropMask{device, {s.batch, 3}, {6, 3},
  // CHECK-NEXT: {kSplitXData6.range(rank.coordinate(0) * 2 + rank.coordinate(1)).first,
  // CHECK-NEXT: 0}, 0.25f, 7};
  // CHECK: Reduce lossSum{device, ReduceKind::sum, {s.batch, 3}, {0, 1}, s.scale};
  // CHECK: class TwoKindsTraining1 final : public RankProgram {
  // CHECK-NOT: fusedMul
  // CHECK: lossSum(compute, x, loss);
  // CHECK: {3, 3}, {0}, {kSplitXData3}
  // CHECK: case 0:
  // CHECK-NEXT: case 2:
  // CHECK-NEXT: return std::make_unique<TwoKindsTraining0>(rank);
  // CHECK-NEXT: case 1:
  // CHECK-NEXT: return std::make_unique<TwoKindsTraining1>(rank);
  func.func @step_c0() attributes {spmd.class = @c0, spmd.phase = "step"} {
    %x = spmd.buffer input "x" at 0 of tensor<3x3xf32> {layout = #dist.layout<[[x, data], []]>} : memref<2x3xf32>
    %loss = spmd.buffer result "loss" at 64 of tensor<f32> {layout = #dist.layout<[]>} : memref<f32>
    spmd.launch "nn.fused" on compute(%x) -> (%x) : (memref<2x3xf32>) -> (memref<2x3xf32>) {
    ^bb0(%0: f32):
      %1 = arith.mulf %0, %0 : f32
      spmd.yield %1 : f32
    }
    spmd.launch "nn.dropout_mask" on compute() -> (%x) {ratio = 2.5e-01 : f64, stream = 7 : i64, global_shape = array<i64: 6, 3>, start = array<i64: 0, 0>, layout = #dist.layout<[[x, data], []]>} : () -> (memref<2x3xf32>) loc("drop")
    spmd.launch "nn.reduce" on compute(%x) -> (%loss) {axes = array<i64: 0, 1>, kind = #nn<kind sum>, scale = 5.0e-01 : f64} : (memref<2x3xf32>) -> (memref<f32>) loc("loss")
    spmd.communicate "all_reduce" sum %loss on comm over ["data", "x"] label "loss" : memref<f32>
    return
  }
  func.func @step_c1() attributes {spmd.class = @c1, spmd.phase = "step"} {
    %x = spmd.buffer input "x" at 0 of tensor<3x3xf32> {layout = #dist.layout<[[x, data], []]>} : memref<1x3xf32>
    %loss = spmd.buffer result "loss" at 64 of tensor<f32> {layout = #dist.layout<[]>} : memref<f32>
    spmd.launch "nn.reduce" on compute(%x) -> (%loss) {axes = array<i64: 0, 1>, kind = #nn<kind sum>, scale = 5.0e-01 : f64} : (memref<1x3xf32>) -> (memref<f32>) loc("loss")
    spmd.communicate "all_reduce" sum %loss on comm over ["data", "x"] label "loss" : memref<f32>
    return
  }
  func.func @step_c2() attributes {spmd.class = @c2, spmd.phase = "step"} {
    %x = spmd.buffer input "x" at 0 of tensor<3x3xf32> {layout = #dist.layout<[[x, data], []]>} : memref<1x3xf32>
    %loss = spmd.buffer result "loss" at 64 of tensor<f32> {layout = #dist.layout<[]>} : memref<f32>
    spmd.launch "nn.fused" on compute(%x) -> (%x) : (memref<1x3xf32>) -> (memref<1x3xf32>) {
    ^bb0(%0: f32):
      %1 = arith.mulf %0, %0 : f32
      spmd.yield %1 : f32
    }
    spmd.launch "nn.dropout_mask" on compute() -> (%x) {ratio = 2.5e-01 : f64, stream = 7 : i64, global_shape = array<i64: 6, 3>, start = array<i64: 0, 0>, layout = #dist.layout<[[x, data], []]>} : () -> (memref<1x3xf32>) loc("drop")
    spmd.launch "nn.reduce" on compute(%x) -> (%loss) {axes = array<i64: 0, 1>, kind = #nn<kind sum>, scale = 2.5e-01 : f64} : (memref<1x3xf32>) -> (memref<f32>) loc("loss")
    spmd.communicate "all_reduce" sum %loss on comm over ["data", "x"] label "loss" : memref<f32>
    return
  }
}
