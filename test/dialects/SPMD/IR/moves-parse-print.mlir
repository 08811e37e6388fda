// Moves between layouts, on tensors and scheduled, printed and read back.
// RUN: partita-opt %s | partita-opt | FileCheck %s

module attributes {dist.grid = #dist.grid<row = 2, col = 2>} {
  // CHECK-LABEL: func.func @moves
  func.func @moves(%whole: tensor<5x8xf32>, %rows: tensor<3x8xf32>, %part: tensor<3x4xf32>) {
    // CHECK{LITERAL}: spmd.slice %arg0 from <[[], []]> to <[[row], [col]]> of tensor<5x8xf32> : tensor<5x8xf32> -> tensor<3x4xf32>
    %0 = spmd.slice %whole from <[[], []]> to <[[row], [col]]> of tensor<5x8xf32> : tensor<5x8xf32> -> tensor<3x4xf32>
    // CHECK{LITERAL}: spmd.all_gather %arg1 over ["row"] from <[[row], []]> to <[[], []]> of tensor<5x8xf32> : tensor<3x8xf32> -> tensor<5x8xf32>
    %1 = spmd.all_gather %rows over ["row"] from <[[row], []]> to <[[], []]> of tensor<5x8xf32> : tensor<3x8xf32> -> tensor<5x8xf32>
    // CHECK{LITERAL}: spmd.reduce_scatter %arg0 over ["row"] from <[[], []], partial sum [row]> to <[[row], []]> of tensor<5x8xf32> : tensor<5x8xf32> -> tensor<3x8xf32>
    %2 = spmd.reduce_scatter %whole over ["row"] from <[[], []], partial sum [row]> to <[[row], []]> of tensor<5x8xf32> : tensor<5x8xf32> -> tensor<3x8xf32>
    // CHECK{LITERAL}: spmd.all_to_all %arg1 over ["row"] from <[[row], []]> to <[[], [row]]> of tensor<5x8xf32> : tensor<3x8xf32> -> tensor<5x4xf32>
    %3 = spmd.all_to_all %rows over ["row"] from <[[row], []]> to <[[], [row]]> of tensor<5x8xf32> : tensor<3x8xf32> -> tensor<5x4xf32>
    // CHECK{LITERAL}: spmd.halo_exchange %arg1 over ["row"] from <[[row], []]> to <[[row] at [0:4, 2:5], []]> of tensor<5x8xf32> : tensor<3x8xf32> -> tensor<4x8xf32>
    %4 = spmd.halo_exchange %rows over ["row"] from <[[row], []]> to <[[row] at [0:4, 2:5], []]> of tensor<5x8xf32> : tensor<3x8xf32> -> tensor<4x8xf32>
    // CHECK{LITERAL}: spmd.exchange %arg2 over ["row", "col"] from <[[row], [col]]> to <[[col], [row]]> of tensor<5x8xf32> : tensor<3x4xf32> -> tensor<3x4xf32>
    %5 = spmd.exchange %part over ["row", "col"] from <[[row], [col]]> to <[[col], [row]]> of tensor<5x8xf32> : tensor<3x4xf32> -> tensor<3x4xf32>
    return
  }

  // Two axes on one dimension: a group of ranks has no order.
  // CHECK-LABEL: func.func @axes
  func.func @axes(%part: tensor<2x8xf32>, %whole: tensor<8x8xf32>) {
    // CHECK{LITERAL}: spmd.all_gather %arg0 over ["row", "col"] from <[[col, row], []]>
    %0 = spmd.all_gather %part over ["row", "col"] from <[[col, row], []]> to <[[], []]> of tensor<8x8xf32> : tensor<2x8xf32> -> tensor<8x8xf32>
    // CHECK{LITERAL}: spmd.all_gather %arg0 over ["col"] from <[[row, col], []]> to <[[row], []]>
    %1 = spmd.all_gather %part over ["col"] from <[[row, col], []]> to <[[row], []]> of tensor<8x8xf32> : tensor<2x8xf32> -> tensor<4x8xf32>
    // CHECK{LITERAL}: spmd.reduce_scatter %arg1 over ["col"] from <[[], []], partial max [row, col]> to <[[], [col]], partial max [row]>
    %2 = spmd.reduce_scatter %whole over ["col"] from <[[], []], partial max [row, col]> to <[[], [col]], partial max [row]> of tensor<8x8xf32> : tensor<8x8xf32> -> tensor<8x4xf32>
    return
  }

  // CHECK-LABEL: func.func @scheduled
  func.func @scheduled() {
    // CHECK: %[[S:.*]] = spmd.buffer
    %s = spmd.buffer temporary "rows of x" at 0 : memref<40xf32>
    // CHECK: spmd.communicate "all_gather" sum %[[S]] on comm over ["row"] label "fc reads x" {move = {
    // CHECK-SAME{LITERAL}: from = #dist.layout<[[row], []]>, global = tensor<5x8xf32>, to = #dist.layout<[[], []]>}} : memref<40xf32>
    spmd.communicate "all_gather" sum %s on comm over ["row"] label "fc reads x" {move = {from = #dist.layout<[[row], []]>, to = #dist.layout<[[], []]>, global = tensor<5x8xf32>}} : memref<40xf32>
    // CHECK: spmd.communicate "reduce_scatter" max
    spmd.communicate "reduce_scatter" max %s on comm over ["row"] label "x" {move = {from = #dist.layout<[[], []], partial max [row]>, to = #dist.layout<[[row], []]>, global = tensor<5x8xf32>}} : memref<40xf32>
    // CHECK: spmd.communicate "all_to_all" sum
    spmd.communicate "all_to_all" sum %s on comm over ["row"] label "x" {move = {from = #dist.layout<[[row], []]>, to = #dist.layout<[[], [row]]>, global = tensor<5x8xf32>}} : memref<40xf32>
    // CHECK: spmd.communicate "halo_exchange" sum
    spmd.communicate "halo_exchange" sum %s on comm over ["row"] label "x" {move = {from = #dist.layout<[[row], []]>, to = #dist.layout<[[row] at [0:4, 2:5], []]>, global = tensor<5x8xf32>}} : memref<40xf32>
    // CHECK: spmd.communicate "exchange" sum
    spmd.communicate "exchange" sum %s on comm over ["row", "col"] label "x" {move = {from = #dist.layout<[[row], [col]]>, to = #dist.layout<[[col], [row]]>, global = tensor<5x8xf32>}} : memref<40xf32>
    return
  }
}
