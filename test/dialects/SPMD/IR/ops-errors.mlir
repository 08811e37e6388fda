// One refused module per constraint, named after its label.
// RUN: partita-opt %s -split-input-file -verify-diagnostics

// class_c1_order
// expected-error @+1 {{'spmd.class' op ranks must not be negative and must increase}}
spmd.class @c0 ranks [1, 0]

// -----

// class_c1_negative
// expected-error @+1 {{'spmd.class' op ranks must not be negative and must increase}}
spmd.class @c0 ranks [-1, 0]

// -----

// class_c2_persistent_part
// expected-error @+1 {{'spmd.class' op persistent part of 128 bytes does not lie inside the arena of 64 bytes}}
spmd.class @c0 ranks [0] {arena_bytes = 64 : i64, persistent_bytes = 128 : i64}

// -----

// class_c2_negative_arena
// expected-error @+1 {{'spmd.class' op persistent part of 0 bytes does not lie inside the arena of -64 bytes}}
spmd.class @c0 ranks [0] {arena_bytes = -64 : i64, persistent_bytes = 0 : i64}

// -----

module attributes {dist.grid = #dist.grid<data = 2>} {
  // class_c3_server_in_grid
  // expected-error @+1 {{'spmd.class' op rank 1 is no server, but one of the 2 ranks of the grid}}
  spmd.class @s0 ranks [1, 2] {servers}
}

// -----

func.func @all_reduce_c1_no_axis(%x: tensor<4xf32>) {
  // expected-error @+1 {{'spmd.all_reduce' op needs at least one axis}}
  %0 = spmd.all_reduce sum %x over [] : tensor<4xf32>
  return
}

// -----

module attributes {dist.grid = #dist.grid<data = 2>} {
  func.func @all_reduce_c2_not_in_grid(%x: tensor<4xf32>) {
    // expected-error @+1 {{'spmd.all_reduce' op axis 'model' is not one of the grid #dist.grid<data = 2>}}
    %0 = spmd.all_reduce sum %x over ["model"] : tensor<4xf32>
    return
  }
}

// -----

func.func @all_reduce_c2_twice(%x: tensor<4xf32>) {
  // expected-error @+1 {{'spmd.all_reduce' op names axis 'data' twice}}
  %0 = spmd.all_reduce sum %x over ["data", "data"] : tensor<4xf32>
  return
}

// -----

func.func @buffer_c1_alignment() {
  // expected-error @+1 {{'spmd.buffer' op offset 96 is not a multiple of 64}}
  %0 = spmd.buffer temporary "t" at 96 : memref<4xf32>
  return
}

// -----

func.func @buffer_c1_negative() {
  // expected-error @+1 {{'spmd.buffer' op offset -64 is not a multiple of 64}}
  %0 = spmd.buffer temporary "t" at -64 : memref<4xf32>
  return
}

// -----

func.func @buffer_c2_dynamic() {
  // expected-error @+1 {{'spmd.buffer' op needs a static memref with identity layout, found 'memref<?xf32>'}}
  %0 = spmd.buffer temporary "t" at 0 : memref<?xf32>
  return
}

// -----

func.func @buffer_c2_strided() {
  // expected-error @+1 {{'spmd.buffer' op needs a static memref with identity layout, found 'memref<4xf32, strided<[2]>>'}}
  %0 = spmd.buffer temporary "t" at 0 : memref<4xf32, strided<[2]>>
  return
}

// -----

func.func @buffer_c3_no_layout() {
  // expected-error @+1 {{'spmd.buffer' op purpose input needs `of` the whole tensor and a layout}}
  %0 = spmd.buffer input "x" at 0 of tensor<8xf32> : memref<4xf32>
  return
}

// -----

func.func @buffer_c3_no_whole() {
  // expected-error @+1 {{'spmd.buffer' op purpose variable needs `of` the whole tensor and a layout}}
  %0 = spmd.buffer variable "w" at 0 {layout = #dist.layout<[[]]>} : memref<4xf32>
  return
}

// -----

func.func @buffer_c3_other_attribute() {
  // expected-error @+1 {{'spmd.buffer' op purpose result needs `of` the whole tensor and a layout}}
  %0 = spmd.buffer result "y" at 0 of tensor<4xf32> {layout = "whole"} : memref<4xf32>
  return
}

// -----

func.func @launch_c1_no_kernel() {
  %0 = spmd.buffer temporary "t" at 0 : memref<4xf32>
  // expected-error @+1 {{'spmd.launch' op needs a kernel name}}
  spmd.launch "" on compute() -> (%0) : () -> (memref<4xf32>)
  return
}

// -----

func.func @launch_c2_no_output() {
  %0 = spmd.buffer temporary "t" at 0 : memref<4xf32>
  // expected-error @+1 {{'spmd.launch' op needs at least one output}}
  spmd.launch "nn.relu" on compute(%0) -> () : (memref<4xf32>) -> ()
  return
}

// -----

module attributes {dist.grid = #dist.grid<data = 2>} {
  func.func @launch_c3_parts_alone() {
    %0 = spmd.buffer bucket "p" at 0 : memref<4xf32>
    // expected-error @+1 {{'spmd.launch' op has either both of 'parts' and 'axes' or none}}
    spmd.launch "nn.sgd" on comm(%0) -> (%0) attributes {parts = array<i64: 2, 2>} : (memref<4xf32>) -> (memref<4xf32>)
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<data = 2>} {
  func.func @launch_c3_axes_alone() {
    %0 = spmd.buffer bucket "p" at 0 : memref<4xf32>
    // expected-error @+1 {{'spmd.launch' op has either both of 'parts' and 'axes' or none}}
    spmd.launch "nn.sgd" on comm(%0) -> (%0) attributes {axes = ["data"]} : (memref<4xf32>) -> (memref<4xf32>)
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<data = 2>} {
  func.func @launch_c3_axis() {
    %0 = spmd.buffer bucket "p" at 0 : memref<4xf32>
    // expected-error @+1 {{'spmd.launch' op axis 'node' is not one of the grid #dist.grid<data = 2>}}
    spmd.launch "nn.sgd" on comm(%0) -> (%0) attributes {axes = ["node"], parts = array<i64: 2, 2>} : (memref<4xf32>) -> (memref<4xf32>)
    return
  }
}

// -----

// Each operand has to be of that size.
module attributes {dist.grid = #dist.grid<data = 2>} {
  func.func @launch_c3_elements() {
    %0 = spmd.buffer bucket "p" at 0 : memref<4xf32>
    %1 = spmd.buffer bucket "g" at 64 : memref<5xf32>
    // expected-error @+1 {{'spmd.launch' op parts have 4 elements in all, the buffer has 5}}
    spmd.launch "nn.sgd" on comm(%0, %1) -> (%0) attributes {axes = ["data"], parts = array<i64: 2, 2>} : (memref<4xf32>, memref<5xf32>) -> (memref<4xf32>)
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<data = 2, model = 2>} {
  func.func @launch_c3_ranks() {
    %0 = spmd.buffer bucket "p" at 0 : memref<4xf32>
    // expected-error @+1 {{'spmd.launch' op has 2 parts for 4 ranks}}
    spmd.launch "nn.sgd" on comm(%0) -> (%0) attributes {axes = ["data", "model"], parts = array<i64: 2, 2>} : (memref<4xf32>) -> (memref<4xf32>)
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<data = 2>} {
  func.func @launch_c3_type() {
    %0 = spmd.buffer bucket "p" at 0 : memref<4xf32>
    // expected-error @+1 {{'spmd.launch' op 'parts' must be an array of i64}}
    spmd.launch "nn.sgd" on comm(%0) -> (%0) attributes {axes = ["data"], parts = "half"} : (memref<4xf32>) -> (memref<4xf32>)
    return
  }
}

// -----

func.func @communicate_c1_kind() {
  %0 = spmd.buffer temporary "t" at 0 : memref<4xf32>
  // expected-error @+1 {{'spmd.communicate' op kind must be all_reduce, reduce_scatter, all_gather, all_to_all, halo_exchange, exchange; found 'gossip'}}
  spmd.communicate "gossip" sum %0 on comm over ["data"] label "t" : memref<4xf32>
  return
}

// -----

func.func @communicate_c2_no_axis() {
  %0 = spmd.buffer temporary "t" at 0 : memref<4xf32>
  // expected-error @+1 {{'spmd.communicate' op needs at least one axis}}
  spmd.communicate "all_reduce" sum %0 on comm over [] label "t" : memref<4xf32>
  return
}

// -----

module attributes {dist.grid = #dist.grid<data = 2>} {
  func.func @communicate_c2_not_in_grid() {
    %0 = spmd.buffer temporary "t" at 0 : memref<4xf32>
    // expected-error @+1 {{'spmd.communicate' op axis 'node' is not one of the grid #dist.grid<data = 2>}}
    spmd.communicate "all_reduce" sum %0 on comm over ["node"] label "t" : memref<4xf32>
    return
  }
}

// -----

func.func @communicate_c3_no_move() {
  %0 = spmd.buffer temporary "t" at 0 : memref<4xf32>
  // expected-error @+1 {{'spmd.communicate' op kind 'all_gather' needs a move with from, to and global}}
  spmd.communicate "all_gather" sum %0 on comm over ["data"] label "t" : memref<4xf32>
  return
}

// -----

func.func @communicate_c3_no_whole() {
  %0 = spmd.buffer temporary "t" at 0 : memref<4xf32>
  // expected-error @+1 {{'spmd.communicate' op kind 'exchange' needs a move with from, to and global}}
  spmd.communicate "exchange" sum %0 on comm over ["data"] label "t" {move = {from = #dist.layout<[[data]]>, to = #dist.layout<[[]]>}} : memref<4xf32>
  return
}

// -----

func.func @communicate_c3_no_layout() {
  %0 = spmd.buffer temporary "t" at 0 : memref<4xf32>
  // expected-error @+1 {{'spmd.communicate' op kind 'halo_exchange' needs a move with from, to and global}}
  spmd.communicate "halo_exchange" sum %0 on comm over ["data"] label "t" {move = {from = #dist.layout<[[data]]>, to = "whole", global = tensor<8xf32>}} : memref<4xf32>
  return
}

// -----

func.func @communicate_c4_kind() {
  %0 = spmd.buffer bucket "p" at 0 : memref<4xf32>
  // expected-error @+1 {{'spmd.communicate' op only an all_reduce has an algorithm; found "ring" of kind 'all_gather'}}
  spmd.communicate "all_gather" sum %0 on comm over ["data"] label "p" {algorithm = "ring", parts = array<i64: 2, 2>} : memref<4xf32>
  return
}

// -----

func.func @communicate_c4_name() {
  %0 = spmd.buffer bucket "g" at 0 : memref<4xf32>
  // expected-error @+1 {{'spmd.communicate' op algorithm must be direct, ring, tree or hierarchical; found "star"}}
  spmd.communicate "all_reduce" sum %0 on comm over ["data"] label "g" {algorithm = "star"} : memref<4xf32>
  return
}

// -----

// Which is said by saying nothing.
func.func @communicate_c4_automatic() {
  %0 = spmd.buffer bucket "g" at 0 : memref<4xf32>
  // expected-error @+1 {{'spmd.communicate' op algorithm must be direct, ring, tree or hierarchical; found "automatic"}}
  spmd.communicate "all_reduce" sum %0 on comm over ["data"] label "g" {algorithm = "automatic"} : memref<4xf32>
  return
}

// -----

func.func @communicate_c4_text() {
  %0 = spmd.buffer bucket "g" at 0 : memref<4xf32>
  // expected-error @+1 {{'spmd.communicate' op algorithm must be direct, ring, tree or hierarchical; found 1 : i64}}
  spmd.communicate "all_reduce" sum %0 on comm over ["data"] label "g" {algorithm = 1 : i64} : memref<4xf32>
  return
}

// -----

func.func @communicate_c5_kind() {
  %0 = spmd.buffer bucket "g" at 0 : memref<4xf32>
  // expected-error @+1 {{'spmd.communicate' op only a reduce_scatter or an all_gather of a flat buffer has 'parts'}}
  spmd.communicate "all_reduce" sum %0 on comm over ["data"] label "g" {parts = array<i64: 2, 2>} : memref<4xf32>
  return
}

// -----

func.func @communicate_c5_move() {
  %0 = spmd.buffer temporary "t" at 0 : memref<4xf32>
  // expected-error @+1 {{'spmd.communicate' op only a reduce_scatter or an all_gather of a flat buffer has 'parts'}}
  spmd.communicate "all_gather" sum %0 on comm over ["data"] label "t" {move = {from = #dist.layout<[[data]]>, to = #dist.layout<[[]]>, global = tensor<4xf32>}, parts = array<i64: 2, 2>} : memref<4xf32>
  return
}

// -----

func.func @communicate_c5_elements() {
  %0 = spmd.buffer bucket "g" at 0 : memref<4xf32>
  // expected-error @+1 {{'spmd.communicate' op parts have 5 elements in all, the buffer has 4}}
  spmd.communicate "reduce_scatter" sum %0 on comm over ["data"] label "g" {parts = array<i64: 2, 3>} : memref<4xf32>
  return
}

// -----

func.func @communicate_c5_negative() {
  %0 = spmd.buffer bucket "g" at 0 : memref<4xf32>
  // expected-error @+1 {{'spmd.communicate' op part of -1 elements}}
  spmd.communicate "reduce_scatter" sum %0 on comm over ["data"] label "g" {parts = array<i64: 5, -1>} : memref<4xf32>
  return
}

// -----

module attributes {dist.grid = #dist.grid<data = 2>} {
  func.func @communicate_c5_ranks() {
    %0 = spmd.buffer bucket "g" at 0 : memref<4xf32>
    // expected-error @+1 {{'spmd.communicate' op has 3 parts for 2 ranks}}
    spmd.communicate "reduce_scatter" sum %0 on comm over ["data"] label "g" {parts = array<i64: 2, 1, 1>} : memref<4xf32>
    return
  }
}

// -----

func.func @communicate_c5_type() {
  %0 = spmd.buffer bucket "g" at 0 : memref<4xf32>
  // expected-error @+1 {{'spmd.communicate' op 'parts' must be an array of i64}}
  spmd.communicate "reduce_scatter" sum %0 on comm over ["data"] label "g" {parts = array<i32: 2, 2>} : memref<4xf32>
  return
}

// -----

func.func @record_c1_negative() {
  // expected-error @+1 {{'spmd.record' op event must not be negative}}
  spmd.record -1 on compute
  return
}

// -----

func.func @record_c2_twice() {
  spmd.record 0 on compute
  // expected-error @+1 {{'spmd.record' op event 0 is recorded twice}}
  spmd.record 0 on comm
  return
}

// -----

func.func @wait_c1_not_recorded() {
  // expected-error @+1 {{'spmd.wait' op event 0 is not recorded before this wait}}
  spmd.wait 0 on comm
  spmd.record 0 on compute
  return
}

// -----

func.func @wait_c2_never_recorded() {
  // expected-error @+1 {{'spmd.wait' op event 0 of the previous run is not recorded behind this wait}}
  spmd.wait 0 on compute {previous}
  spmd.record 1 on comm
  return
}

// -----

// What stands before the wait is of this run.
func.func @wait_c2_recorded_before() {
  spmd.record 0 on comm
  // expected-error @+1 {{'spmd.wait' op event 0 of the previous run is not recorded behind this wait}}
  spmd.wait 0 on compute {previous}
  return
}

// -----

func.func @yield_outside() {
  // expected-error @+1 {{'spmd.yield' op expects parent op 'spmd.launch'}}
  spmd.yield
}

// -----

module attributes {dist.grid = #dist.grid<data = 2>} {
  func.func @communicate_c5_parts_of_servers() {
    %0 = spmd.buffer bucket "b" at 0 : memref<4xf32>
    // expected-error @+1 {{'spmd.communicate' op has 3 parts for 4 ranks}}
    spmd.communicate "reduce_scatter" sum %0 on comm over ["data"] label "t" {parts = array<i64: 0, 0, 4>, servers = 2 : i64} : memref<4xf32>
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<data = 2>} {
  func.func @communicate_c6_part_of_a_worker() {
    %0 = spmd.buffer bucket "b" at 0 : memref<4xf32>
    // expected-error @+1 {{'spmd.communicate' op gives rank 1 of its communicator a part of 1 elements, expected 0 beside servers}}
    spmd.communicate "all_gather" sum %0 on comm over ["data"] label "t" {parts = array<i64: 0, 1, 3>, servers = 1 : i64} : memref<4xf32>
    return
  }
}

// -----

func.func @communicate_c6_no_parts() {
  %0 = spmd.buffer bucket "b" at 0 : memref<4xf32>
  // expected-error @+1 {{'spmd.communicate' op 'servers' must be a positive number beside 'parts', and 'group' one beside both}}
  spmd.communicate "all_reduce" sum %0 on comm over ["data"] label "t" {servers = 1 : i64} : memref<4xf32>
  return
}
