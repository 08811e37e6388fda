// Classes, collectives and the scheduled form, printed and read back.
// RUN: partita-opt %s | partita-opt | FileCheck %s

module attributes {dist.grid = #dist.grid<node = 2, data = 2>} {
  // CHECK: spmd.class @c0 ranks [0, 1] {arena_bytes = 8192 : i64, persistent_bytes = 4096 : i64}
  spmd.class @c0 ranks [0, 1] {arena_bytes = 8192 : i64, persistent_bytes = 4096 : i64}
  // CHECK: spmd.class @c1 ranks [2, 3]
  spmd.class @c1 ranks [2, 3]

  // CHECK-LABEL: func.func @collectives
  func.func @collectives(%x: tensor<4xf32>) {
    // CHECK: spmd.all_reduce sum %{{.*}} over ["data"] : tensor<4xf32>
    %0 = spmd.all_reduce sum %x over ["data"] : tensor<4xf32>
    // CHECK: spmd.all_reduce max %{{.*}} over ["node", "data"] : tensor<4xf32>
    %1 = spmd.all_reduce max %0 over ["node", "data"] : tensor<4xf32>
    // CHECK: spmd.all_reduce min
    %2 = spmd.all_reduce min %1 over ["node"] : tensor<4xf32>
    // CHECK: spmd.all_reduce prod
    %3 = spmd.all_reduce prod %2 over ["node"] : tensor<4xf32>
    return
  }

  // CHECK-LABEL: func.func @scheduled
  func.func @scheduled() {
    // CHECK: %[[X:.*]] = spmd.buffer input "x" at 0 of tensor<64x784xf32> {layout = #dist.layout<{{\[\[}}data], []]>} : memref<32x784xf32>
    %x = spmd.buffer input "x" at 0 of tensor<64x784xf32> {layout = #dist.layout<[[data], []]>} : memref<32x784xf32>
    // CHECK: %[[W:.*]] = spmd.buffer variable "w" at 131072 of tensor<850xf32> {layout = #dist.layout<{{\[\[\]\]}}>} : memref<850xf32>
    %w = spmd.buffer variable "w" at 131072 of tensor<850xf32> {layout = #dist.layout<[[]]>} : memref<850xf32>
    // CHECK: %[[G:.*]] = spmd.buffer gradient "w" at 192 : memref<850xf32>
    %g = spmd.buffer gradient "w" at 192 : memref<850xf32>
    // CHECK: %[[B:.*]] = spmd.buffer bucket "gradients of bucket 0" at 192 : memref<850xf32>
    %b = spmd.buffer bucket "gradients of bucket 0" at 192 : memref<850xf32>
    // CHECK: spmd.buffer result "loss" at 64 of tensor<f32> {layout = #dist.layout<[]>} : memref<f32>
    %l = spmd.buffer result "loss" at 64 of tensor<f32> {layout = #dist.layout<[]>} : memref<f32>
    // CHECK: %[[T:.*]] = spmd.buffer temporary "relu" at 256 : memref<32x784xf32>
    %t = spmd.buffer temporary "relu" at 256 : memref<32x784xf32>
    // CHECK: spmd.launch "nn.relu" on compute(%[[X]]) -> (%[[T]]) : (memref<32x784xf32>) -> memref<32x784xf32>
    spmd.launch "nn.relu" on compute (%x) -> (%t) : (memref<32x784xf32>) -> memref<32x784xf32>
    // CHECK: spmd.launch "nn.softmax" on compute(%[[X]]) -> (%[[T]]) {axis = 1 : i64} attributes {section = "forward"} : (memref<32x784xf32>) -> memref<32x784xf32>
    spmd.launch "nn.softmax" on compute (%x) -> (%t) {axis = 1 : i64} attributes {section = "forward"} : (memref<32x784xf32>) -> memref<32x784xf32>
    // Attributes that are no parameters of the kernel.
    // CHECK: spmd.launch "nn.relu" on compute(%[[X]]) -> (%[[T]]) attributes {section = "forward"} : (memref<32x784xf32>) -> memref<32x784xf32>
    spmd.launch "nn.relu" on compute (%x) -> (%t) attributes {section = "forward"} : (memref<32x784xf32>) -> memref<32x784xf32>
    // CHECK: spmd.launch "nn.fill" on compute() -> (%[[G]]) : () -> memref<850xf32>
    spmd.launch "nn.fill" on compute () -> (%g) : () -> memref<850xf32>
    // CHECK: spmd.launch "nn.fused" on compute(%[[G]], %[[W]]) -> (%[[W]]) : (memref<850xf32>, memref<850xf32>) -> memref<850xf32> {
    // CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %[[C:.*]]: f32):
    // CHECK-NEXT: %[[S:.*]] = arith.addf %[[A]], %[[C]] : f32
    // CHECK-NEXT: spmd.yield %[[S]] : f32
    spmd.launch "nn.fused" on compute (%g, %w) -> (%w) : (memref<850xf32>, memref<850xf32>) -> memref<850xf32> {
    ^bb0(%0: f32, %1: f32):
      %2 = arith.addf %0, %1 : f32
      spmd.yield %2 : f32
    }
    // CHECK: spmd.record 0 on compute
    spmd.record 0 on compute
    // CHECK: spmd.wait 0 on comm
    spmd.wait 0 on comm
    // CHECK: spmd.communicate "all_reduce" sum %[[B]] on comm over ["node", "data"] label "bucket 0: w" : memref<850xf32>
    spmd.communicate "all_reduce" sum %b on comm over ["node", "data"] label "bucket 0: w" : memref<850xf32>
    return
  }
}
