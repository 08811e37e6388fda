// Ranks at the borders of a spatial split pad where the others have their
// neighbours' rows: pads, starts and the like are read from the table, too.
// RUN: partita-translate --print-source %s > %t.cpp
// RUN: tr -s '\n ' ' ' < %t.cpp > %t.line
// RUN: FileCheck %s --input-file=%t.cpp
// RUN: FileCheck %s --check-prefix=OBJECT --input-file=%t.line
// RUN: %check-cpp %t.cpp

// CHECK: struct Sizes {
// CHECK-NEXT: std::int64_t n0, c1Pad, c1Pad_2, avgPad, avgPad_2, cutStart, padLow, padHigh,
// CHECK-NEXT: padHigh_2;
// CHECK: // class 0: rank 0
// CHECK-NEXT: {10, 1, 0, 2, -1, 0, 4, 0, 3},
// CHECK-NEXT: // class 1: rank 1
// CHECK-NEXT: {10, 0, 0, 0, 0, 3, 0, 0, 4},
// CHECK-NEXT: // class 2: rank 2
// CHECK-NEXT: {11, 0, 1, 0, 2, 4, 0, 2, 2},
module attributes {dist.grid = #dist.grid<row = 3>, nn.model = "borders", partita.batch = 1 : i64} {
  spmd.class @c0 ranks [0] {arena_bytes = 16384 : i64}
  spmd.class @c1 ranks [1] {arena_bytes = 16384 : i64}
  spmd.class @c2 ranks [2] {arena_bytes = 16384 : i64}
  func.func @step_c0() attributes {spmd.class = @c0, spmd.phase = "step"} {
    %x = spmd.buffer temporary "x" at 0 : memref<1x1x10x8xf32>
    %w = spmd.buffer temporary "w" at 2048 : memref<1x1x3x3xf32>
    %y = spmd.buffer temporary "y" at 4096 : memref<1x1x9x8xf32>
    %z = spmd.buffer temporary "z" at 6144 : memref<1x1x4x8xf32>
    %loss = spmd.buffer result "loss" at 8192 of tensor<f32> {layout = #dist.layout<[]>} : memref<f32>
    // OBJECT: ConvForward c1{device, convSizes({1, 1, s.n0, 8}, {1, 1, 3, 3}, {1, 1}, {1, 1}, {s.c1Pad, 1, s.c1Pad_2, 1}), false};
    spmd.launch "nn.conv" on compute(%x, %w) -> (%y) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 0, 1>} : (memref<1x1x10x8xf32>, memref<1x1x3x3xf32>) -> memref<1x1x9x8xf32> loc("c1")
    // OBJECT: AvgPool avg{device, poolSizes({1, 1, s.n0, 8}, {1, 1, 4, 8}, {3, 1}, {2, 1}, {1, 1}, {s.avgPad, 0, s.avgPad_2, 0}), false};
    spmd.launch "nn.avg_pool" on compute(%x) -> (%z) {kernel = array<i64: 3, 1>, strides = array<i64: 2, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 2, 0, -1, 0>} : (memref<1x1x10x8xf32>) -> memref<1x1x4x8xf32> loc("avg")
    // OBJECT: Slice cutSlice{device, {1, 1, s.n0, 8}, {0, 0, s.cutStart, 0}, {1, 1, 4, 8}, {1, 1, 1, 1}};
    spmd.launch "nn.slice" on compute(%x) -> (%z) {starts = array<i64: 0, 0, 0, 0>, sizes = array<i64: 1, 1, 4, 8>, steps = array<i64: 1, 1, 1, 1>} : (memref<1x1x10x8xf32>) -> memref<1x1x4x8xf32> loc("cut")
    // OBJECT: Pad padPad{device, {1, 1, 4, 8}, {0, 0, s.padLow, 0}, {0, 0, 0, 0}, {0, s.padHigh, s.padHigh_2, 0}, 0.0f};
    spmd.launch "nn.pad" on compute(%z) -> (%y) {low = array<i64: 0, 0, 4, 0>, interior = array<i64: 0, 0, 0, 0>, high = array<i64: 0, 0, 3, 0>, value = 0.0 : f64} : (memref<1x1x4x8xf32>) -> memref<1x1x9x8xf32> loc("pad")
    spmd.launch "nn.reduce" on compute(%y) -> (%loss) {axes = array<i64: 0, 1, 2, 3>, kind = #nn<kind sum>} : (memref<1x1x9x8xf32>) -> (memref<f32>) loc("loss")
    return
  }
  func.func @step_c1() attributes {spmd.class = @c1, spmd.phase = "step"} {
    %x = spmd.buffer temporary "x" at 0 : memref<1x1x10x8xf32>
    %w = spmd.buffer temporary "w" at 2048 : memref<1x1x3x3xf32>
    %y = spmd.buffer temporary "y" at 4096 : memref<1x1x9x8xf32>
    %z = spmd.buffer temporary "z" at 6144 : memref<1x1x4x8xf32>
    %loss = spmd.buffer result "loss" at 8192 of tensor<f32> {layout = #dist.layout<[]>} : memref<f32>
    spmd.launch "nn.conv" on compute(%x, %w) -> (%y) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 1, 0, 1>} : (memref<1x1x10x8xf32>, memref<1x1x3x3xf32>) -> memref<1x1x9x8xf32> loc("c1")
    spmd.launch "nn.avg_pool" on compute(%x) -> (%z) {kernel = array<i64: 3, 1>, strides = array<i64: 2, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (memref<1x1x10x8xf32>) -> memref<1x1x4x8xf32> loc("avg")
    spmd.launch "nn.slice" on compute(%x) -> (%z) {starts = array<i64: 0, 0, 3, 0>, sizes = array<i64: 1, 1, 4, 8>, steps = array<i64: 1, 1, 1, 1>} : (memref<1x1x10x8xf32>) -> memref<1x1x4x8xf32> loc("cut")
    spmd.launch "nn.pad" on compute(%z) -> (%y) {low = array<i64: 0, 0, 0, 0>, interior = array<i64: 0, 0, 0, 0>, high = array<i64: 0, 0, 4, 0>, value = 0.0 : f64} : (memref<1x1x4x8xf32>) -> memref<1x1x9x8xf32> loc("pad")
    spmd.launch "nn.reduce" on compute(%y) -> (%loss) {axes = array<i64: 0, 1, 2, 3>, kind = #nn<kind sum>} : (memref<1x1x9x8xf32>) -> (memref<f32>) loc("loss")
    return
  }
  func.func @step_c2() attributes {spmd.class = @c2, spmd.phase = "step"} {
    %x = spmd.buffer temporary "x" at 0 : memref<1x1x11x8xf32>
    %w = spmd.buffer temporary "w" at 2048 : memref<1x1x3x3xf32>
    %y = spmd.buffer temporary "y" at 4096 : memref<1x1x9x8xf32>
    %z = spmd.buffer temporary "z" at 6144 : memref<1x1x4x8xf32>
    %loss = spmd.buffer result "loss" at 8192 of tensor<f32> {layout = #dist.layout<[]>} : memref<f32>
    spmd.launch "nn.conv" on compute(%x, %w) -> (%y) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 1, 1, 1>} : (memref<1x1x11x8xf32>, memref<1x1x3x3xf32>) -> memref<1x1x9x8xf32> loc("c1")
    spmd.launch "nn.avg_pool" on compute(%x) -> (%z) {kernel = array<i64: 3, 1>, strides = array<i64: 2, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 2, 0>} : (memref<1x1x11x8xf32>) -> memref<1x1x4x8xf32> loc("avg")
    spmd.launch "nn.slice" on compute(%x) -> (%z) {starts = array<i64: 0, 0, 4, 0>, sizes = array<i64: 1, 1, 4, 8>, steps = array<i64: 1, 1, 1, 1>} : (memref<1x1x11x8xf32>) -> memref<1x1x4x8xf32> loc("cut")
    spmd.launch "nn.pad" on compute(%z) -> (%y) {low = array<i64: 0, 0, 0, 0>, interior = array<i64: 0, 0, 0, 0>, high = array<i64: 0, 2, 2, 0>, value = 0.0 : f64} : (memref<1x1x4x8xf32>) -> memref<1x1x9x8xf32> loc("pad")
    spmd.launch "nn.reduce" on compute(%y) -> (%loss) {axes = array<i64: 0, 1, 2, 3>, kind = #nn<kind sum>} : (memref<1x1x9x8xf32>) -> (memref<f32>) loc("loss")
    return
  }
}
