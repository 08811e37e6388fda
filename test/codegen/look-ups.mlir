// Ranks of one class hold different rows of a table: each finds where its rows
// begin.
// RUN: partita-translate --print-source %s > %t.cpp
// RUN: FileCheck %s < %t.cpp
// RUN: %check-cpp %t.cpp

module attributes {dist.grid = #dist.grid<data = 2, model = 2>, nn.model = "tokens", partita.batch = 2 : i64} {
  spmd.class @c0 ranks [0, 1, 2, 3] {arena_bytes = 1024 : i64}
  // CHECK: // 8 elements cut over model: part i is [bound i, bound i + 1)
  // CHECK-NEXT: const Split kSplitModel8(std::vector<int>{1}, {0, 4, 8});
  // CHECK: embed(compute, table, tokens, y);
  // CHECK: embedGrad(compute, y, tokens, table);
  // CHECK: Gather embed{device, GatherSizes{1, 4, 3, 2, 8,
  // CHECK-NEXT: kSplitModel8.range(rank.coordinate(1)).first}};
  // CHECK: ScatterAdd embedGrad{device, GatherSizes{1, 4, 3, 2, 8,
  // CHECK-NEXT: kSplitModel8.range(rank.coordinate(1)).first}};
  func.func @step_c0() attributes {spmd.class = @c0, spmd.phase = "step"} {
    %t = spmd.buffer temporary "table" at 0 : memref<4x3xf32>
    %i = spmd.buffer input "tokens" at 64 of tensor<4xi64> {layout = #dist.layout<[[data]]>, limit = 8 : i64} : memref<2xi64>
    %y = spmd.buffer temporary "y" at 128 : memref<2x3xf32>
    %loss = spmd.buffer result "loss" at 192 of tensor<f32> {layout = #dist.layout<[]>} : memref<f32>
    spmd.launch "nn.gather" on compute(%t, %i) -> (%y) {axis = 0 : i64, limit = 8 : i64, layout = #dist.layout<[[model], []]>} : (memref<4x3xf32>, memref<2xi64>) -> (memref<2x3xf32>) loc("embed")
    spmd.launch "nn.scatter_add" on compute(%y, %i) -> (%t) {axis = 0 : i64, limit = 8 : i64, layout = #dist.layout<[[model], []]>} : (memref<2x3xf32>, memref<2xi64>) -> (memref<4x3xf32>) loc("embed")
    spmd.launch "nn.reduce" on compute(%y) -> (%loss) {axes = array<i64: 0, 1>, kind = #nn<kind sum>} : (memref<2x3xf32>) -> (memref<f32>) loc("loss")
    return
  }
}
