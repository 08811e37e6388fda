// RUN: partita-opt %s -split-input-file -verify-diagnostics -partita-verify-schedule

module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1] {arena_bytes = 64 : i64, persistent_bytes = 0 : i64}
  func.func @step_c0() attributes {spmd.class = @c0, spmd.phase = "step"} {
    %b = spmd.buffer temporary "b" at 0 : memref<4xf32>
    spmd.launch "nn.fill" on compute() -> (%b) : () -> (memref<4xf32>)
    spmd.record 0 on compute
    spmd.wait 0 on comm
    spmd.communicate "all_reduce" sum %b on comm over ["data"] label "b" : memref<4xf32>
    return
  }
}

// -----

// Two streams may read the same bytes, and write different ones, unordered. An
// event orders everything before it; waiting for one stream brings what that
// one has waited for.
module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1] {arena_bytes = 192 : i64, persistent_bytes = 64 : i64}
  func.func @step_c0() attributes {spmd.class = @c0, spmd.phase = "step"} {
    %x = spmd.buffer input "x" at 0 of tensor<8xf32> {layout = #dist.layout<[[data]]>} : memref<4xf32>
    %a = spmd.buffer temporary "a" at 64 : memref<4xf32>
    %b = spmd.buffer temporary "b" at 128 : memref<4xf32>
    spmd.launch "nn.softmax" on comm(%x) -> (%a) : (memref<4xf32>) -> (memref<4xf32>)
    spmd.launch "nn.softmax" on compute(%x) -> (%b) : (memref<4xf32>) -> (memref<4xf32>)
    spmd.record 0 on compute
    spmd.wait 0 on comm
    spmd.communicate "all_reduce" sum %b on comm over ["data"] label "b" : memref<4xf32>
    spmd.record 1 on comm
    spmd.wait 1 on compute
    spmd.launch "nn.concat" on compute(%b, %a) -> (%x) : (memref<4xf32>, memref<4xf32>) -> (memref<4xf32>)
    return
  }
}

// -----

// Loops and updates may work in place; bytes are shared in turn; a bucket is
// the gradients in it.
module attributes {dist.grid = #dist.grid<data = 1>} {
  spmd.class @c0 ranks [0] {arena_bytes = 320 : i64, persistent_bytes = 256 : i64}
  func.func @step_c0() attributes {spmd.class = @c0, spmd.phase = "step"} {
    %x = spmd.buffer input "x" at 0 of tensor<4xf32> {layout = #dist.layout<[[]]>} : memref<4xf32>
    %p = spmd.buffer bucket "parameters" at 64 : memref<4xf32>
    %g = spmd.buffer gradient "g" at 128 : memref<4xf32>
    %h = spmd.buffer gradient "h" at 192 : memref<4xf32>
    %b = spmd.buffer bucket "gradients" at 128 : memref<20xf32>
    %t = spmd.buffer temporary "t" at 256 : memref<4xf32>
    %v = spmd.buffer temporary "t" at 256 : memref<2x2xf32>
    %u = spmd.buffer temporary "u" at 256 : memref<2xf32>
    spmd.launch "nn.softmax" on compute(%x) -> (%t) : (memref<4xf32>) -> (memref<4xf32>)
    spmd.launch "nn.fused" on compute(%t) -> (%t) : (memref<4xf32>) -> (memref<4xf32>)
    spmd.launch "nn.transpose" on compute(%v) -> (%g) : (memref<2x2xf32>) -> (memref<4xf32>)
    spmd.launch "nn.slice" on compute(%x) -> (%u) : (memref<4xf32>) -> (memref<2xf32>)
    spmd.launch "nn.pad" on compute(%u) -> (%h) : (memref<2xf32>) -> (memref<4xf32>)
    spmd.launch "nn.sgd" on compute(%p, %b) -> (%p) : (memref<4xf32>, memref<20xf32>) -> (memref<4xf32>)
    return
  }
}

// -----

// A move in order; what is sent for an empty result is not unpacked, and the
// staging buffer is free for others. Ranks that differ along another axis combine
// another number of elements; an empty staging buffer is sent by its ranks, too.
module attributes {dist.grid = #dist.grid<model = 2, data = 2>} {
  spmd.class @c0 ranks [0, 1] {arena_bytes = 256 : i64}
  spmd.class @c1 ranks [2, 3] {arena_bytes = 256 : i64}
  func.func @step_c0() attributes {spmd.class = @c0, spmd.phase = "step"} {
    %g = spmd.buffer bucket "g" at 0 : memref<5xf32>
    %x = spmd.buffer input "x" at 64 of tensor<4xf32> {layout = #dist.layout<[[data]]>} : memref<2xf32>
    %s = spmd.buffer temporary "s" at 128 : memref<4xf32>
    %y = spmd.buffer temporary "y" at 192 : memref<4xf32>
    spmd.communicate "all_reduce" sum %g on comm over ["data"] label "g" : memref<5xf32>
    spmd.launch "spmd.pack" on compute(%x) -> (%s) {from = #dist.layout<[[data]]>, to = #dist.layout<[[]]>, global = tensor<4xf32>} : (memref<2xf32>) -> (memref<4xf32>)
    spmd.record 0 on compute
    spmd.wait 0 on comm
    spmd.communicate "all_gather" sum %s on comm over ["data"] label "s" {move = {from = #dist.layout<[[data]]>, to = #dist.layout<[[]]>, global = tensor<4xf32>}} : memref<4xf32>
    spmd.record 1 on comm
    spmd.wait 1 on compute
    spmd.launch "spmd.unpack" on compute(%x, %s) -> (%y) {from = #dist.layout<[[data]]>, to = #dist.layout<[[]]>, global = tensor<4xf32>} : (memref<2xf32>, memref<4xf32>) -> (memref<4xf32>)
    spmd.launch "spmd.pack" on compute(%x) -> (%s) {from = #dist.layout<[[data]]>, to = #dist.layout<[[data] at [0:4, 4:4]]>, global = tensor<4xf32>} : (memref<2xf32>) -> (memref<4xf32>)
    spmd.record 2 on compute
    spmd.wait 2 on comm
    spmd.communicate "exchange" sum %s on comm over ["data"] label "t" {move = {from = #dist.layout<[[data]]>, to = #dist.layout<[[data] at [0:4, 4:4]]>, global = tensor<4xf32>}} : memref<4xf32>
    spmd.record 3 on comm
    spmd.wait 3 on compute
    spmd.launch "nn.fill" on compute() -> (%s) : () -> (memref<4xf32>)
    return
  }
  func.func @step_c1() attributes {spmd.class = @c1, spmd.phase = "step"} {
    %g = spmd.buffer bucket "g" at 0 : memref<4xf32>
    %s = spmd.buffer temporary "s" at 128 : memref<0xf32>
    spmd.communicate "all_reduce" sum %g on comm over ["data"] label "g" : memref<4xf32>
    spmd.communicate "all_gather" sum %s on comm over ["data"] label "s" {move = {from = #dist.layout<[[data]]>, to = #dist.layout<[[]]>, global = tensor<4xf32>}} : memref<0xf32>
    spmd.communicate "exchange" sum %s on comm over ["data"] label "t" {move = {from = #dist.layout<[[data]]>, to = #dist.layout<[[data] at [0:4, 4:4]]>, global = tensor<4xf32>}} : memref<0xf32>
    return
  }
}
