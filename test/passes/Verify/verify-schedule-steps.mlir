// Updates on the comm stream, owners of shares, and steps that reach into each
// other: what is right, and what is not.
// RUN: partita-opt %s -split-input-file -verify-diagnostics -partita-verify-schedule

// Pushed, updated and fetched while the next step begins.
module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1] {arena_bytes = 256 : i64, persistent_bytes = 192 : i64}
  func.func @step_c0() attributes {spmd.class = @c0, spmd.phase = "step"} {
    %p = spmd.buffer bucket "p" at 0 : memref<4xf32>
    %g = spmd.buffer bucket "g" at 64 : memref<4xf32>
    %x = spmd.buffer input "x" at 128 of tensor<8xf32> {layout = #dist.layout<[[data]]>} : memref<4xf32>
    %t = spmd.buffer temporary "t" at 192 : memref<8xf32>
    spmd.launch "nn.softmax" on compute(%x) -> (%t) : (memref<4xf32>) -> (memref<8xf32>)
    spmd.wait 0 on compute {previous}
    spmd.launch "nn.concat" on compute(%x, %p) -> (%t) : (memref<4xf32>, memref<4xf32>) -> (memref<8xf32>)
    spmd.launch "nn.softmax" on compute(%x) -> (%g) : (memref<4xf32>) -> (memref<4xf32>)
    spmd.record 1 on compute
    spmd.wait 1 on comm
    spmd.communicate "reduce_scatter" sum %g on comm over ["data"] label "push" {parts = array<i64: 3, 1>} : memref<4xf32>
    spmd.launch "nn.sgd" on comm(%p, %g) -> (%p) attributes {axes = ["data"], parts = array<i64: 3, 1>} : (memref<4xf32>, memref<4xf32>) -> (memref<4xf32>)
    spmd.communicate "all_gather" sum %p on comm over ["data"] label "fetch" {parts = array<i64: 3, 1>} : memref<4xf32>
    spmd.record 0 on comm
    return
  }
}

// -----

// Where nothing waits for the previous step, the runtime lets each step end.
module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1] {arena_bytes = 192 : i64, persistent_bytes = 192 : i64}
  func.func @step_c0() attributes {spmd.class = @c0, spmd.phase = "step"} {
    %p = spmd.buffer bucket "p" at 0 : memref<4xf32>
    %g = spmd.buffer bucket "g" at 64 : memref<4xf32>
    spmd.launch "nn.softmax" on compute(%p) -> (%g) : (memref<4xf32>) -> (memref<4xf32>)
    spmd.record 0 on compute
    spmd.wait 0 on comm
    spmd.communicate "all_reduce" sum %g on comm over ["data"] label "g" : memref<4xf32>
    spmd.launch "nn.sgd" on comm(%p, %g) -> (%p) : (memref<4xf32>, memref<4xf32>) -> (memref<4xf32>)
    return
  }
}

// -----

// The backward pass reads the parameter when the gradient has long been sent.
module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1] {arena_bytes = 256 : i64, persistent_bytes = 192 : i64}
  func.func @step_c0() attributes {spmd.class = @c0, spmd.phase = "step"} {
    %p = spmd.buffer bucket "p" at 0 : memref<4xf32>
    %g = spmd.buffer bucket "g" at 64 : memref<4xf32>
    %t = spmd.buffer temporary "t" at 192 : memref<4xf32>
    spmd.launch "nn.fill" on compute() -> (%g) : () -> (memref<4xf32>)
    spmd.record 0 on compute
    spmd.wait 0 on comm
    spmd.communicate "all_reduce" sum %g on comm over ["data"] label "g" : memref<4xf32>
    // expected-note @+1 {{the other use is here}}
    spmd.launch "nn.sgd" on comm(%p, %g) -> (%p) : (memref<4xf32>, memref<4xf32>) -> (memref<4xf32>)
    // expected-error @+1 {{contract of the schedule phase: bytes 0 to 16 of the arena are used on two streams without an event between the uses}}
    spmd.launch "nn.softmax" on compute(%p) -> (%t) : (memref<4xf32>) -> (memref<4xf32>)
    return
  }
}

// -----

// The same with the read before the update in the text, but behind the event.
module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1] {arena_bytes = 256 : i64, persistent_bytes = 192 : i64}
  func.func @step_c0() attributes {spmd.class = @c0, spmd.phase = "step"} {
    %p = spmd.buffer bucket "p" at 0 : memref<4xf32>
    %g = spmd.buffer bucket "g" at 64 : memref<4xf32>
    %t = spmd.buffer temporary "t" at 192 : memref<4xf32>
    spmd.launch "nn.fill" on compute() -> (%g) : () -> (memref<4xf32>)
    spmd.record 0 on compute
    // expected-note @+1 {{the other use is here}}
    spmd.launch "nn.softmax" on compute(%p) -> (%t) : (memref<4xf32>) -> (memref<4xf32>)
    spmd.wait 0 on comm
    spmd.communicate "all_reduce" sum %g on comm over ["data"] label "g" : memref<4xf32>
    // expected-error @+1 {{contract of the schedule phase: bytes 0 to 16 of the arena are used on two streams without an event between the uses}}
    spmd.launch "nn.sgd" on comm(%p, %g) -> (%p) : (memref<4xf32>, memref<4xf32>) -> (memref<4xf32>)
    return
  }
}

// -----

// One run is right. But p and q travel on, and the next run waits for q only.
module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1] {arena_bytes = 320 : i64, persistent_bytes = 256 : i64}
  func.func @step_c0() attributes {spmd.class = @c0, spmd.phase = "step"} {
    %p = spmd.buffer bucket "p" at 0 : memref<4xf32>
    %q = spmd.buffer bucket "q" at 64 : memref<4xf32>
    %t = spmd.buffer temporary "t" at 256 : memref<4xf32>
    // expected-error @+1 {{contract of the schedule phase: bytes 0 to 16 of the arena are used on two streams without an event between the uses}}
    spmd.launch "nn.softmax" on compute(%p) -> (%t) : (memref<4xf32>) -> (memref<4xf32>)
    spmd.wait 0 on compute {previous}
    spmd.launch "nn.softmax" on compute(%q) -> (%t) : (memref<4xf32>) -> (memref<4xf32>)
    spmd.record 1 on compute
    spmd.wait 1 on comm
    // expected-note @+1 {{the other use is here}}
    spmd.communicate "all_gather" sum %p on comm over ["data"] label "fetch p" {parts = array<i64: 2, 2>} : memref<4xf32>
    spmd.communicate "all_gather" sum %q on comm over ["data"] label "fetch q" {parts = array<i64: 2, 2>} : memref<4xf32>
    spmd.record 0 on comm
    return
  }
}

// -----

// The mark stands before the fetch: waiting for it is not enough.
module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1] {arena_bytes = 256 : i64, persistent_bytes = 192 : i64}
  func.func @step_c0() attributes {spmd.class = @c0, spmd.phase = "step"} {
    %p = spmd.buffer bucket "p" at 0 : memref<4xf32>
    %t = spmd.buffer temporary "t" at 192 : memref<4xf32>
    spmd.wait 0 on compute {previous}
    // expected-error @+1 {{contract of the schedule phase: bytes 0 to 16 of the arena are used on two streams without an event between the uses}}
    spmd.launch "nn.softmax" on compute(%p) -> (%t) : (memref<4xf32>) -> (memref<4xf32>)
    spmd.record 1 on compute
    spmd.wait 1 on comm
    spmd.record 0 on comm
    // expected-note @+1 {{the other use is here}}
    spmd.communicate "all_gather" sum %p on comm over ["data"] label "fetch p" {parts = array<i64: 2, 2>} : memref<4xf32>
    return
  }
}

// -----

// The next step writes gradients that are still being sent.
module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1] {arena_bytes = 256 : i64, persistent_bytes = 192 : i64}
  func.func @step_c0() attributes {spmd.class = @c0, spmd.phase = "step"} {
    %p = spmd.buffer bucket "p" at 0 : memref<4xf32>
    %g = spmd.buffer bucket "g" at 64 : memref<4xf32>
    // expected-error @+1 {{contract of the schedule phase: bytes 64 to 80 of the arena are used on two streams without an event between the uses}}
    spmd.launch "nn.fill" on compute() -> (%g) : () -> (memref<4xf32>)
    spmd.wait 0 on compute {previous}
    spmd.record 1 on compute
    spmd.wait 1 on comm
    // expected-note @+1 {{the other use is here}}
    spmd.communicate "all_reduce" sum %g on comm over ["data"] label "g" : memref<4xf32>
    spmd.launch "nn.sgd" on comm(%p, %g) -> (%p) : (memref<4xf32>, memref<4xf32>) -> (memref<4xf32>)
    spmd.record 0 on comm
    return
  }
}

// -----

// Classes that do not agree on who owns what.
module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0] {arena_bytes = 64 : i64, persistent_bytes = 64 : i64}
  spmd.class @c1 ranks [1] {arena_bytes = 64 : i64, persistent_bytes = 64 : i64}
  func.func @step_c0() attributes {spmd.class = @c0, spmd.phase = "step"} {
    %g = spmd.buffer bucket "g" at 0 : memref<4xf32>
    spmd.communicate "reduce_scatter" sum %g on comm over ["data"] label "push" {parts = array<i64: 2, 2>} : memref<4xf32>
    return
  }
  func.func @step_c1() attributes {spmd.class = @c1, spmd.phase = "step"} {
    %g = spmd.buffer bucket "g" at 0 : memref<4xf32>
    // expected-error @+1 {{contract of the schedule phase: rank 1 has other parts than rank 0}}
    spmd.communicate "reduce_scatter" sum %g on comm over ["data"] label "push" {parts = array<i64: 1, 3>} : memref<4xf32>
    return
  }
}

// -----

// Ranks that are in no common communicator may have other parts.
module attributes {dist.grid = #dist.grid<model = 2, data = 2>} {
  spmd.class @c0 ranks [0, 1] {arena_bytes = 64 : i64, persistent_bytes = 64 : i64}
  spmd.class @c1 ranks [2, 3] {arena_bytes = 64 : i64, persistent_bytes = 64 : i64}
  func.func @step_c0() attributes {spmd.class = @c0, spmd.phase = "step"} {
    %g = spmd.buffer bucket "g" at 0 : memref<4xf32>
    spmd.communicate "reduce_scatter" sum %g on comm over ["data"] label "push" {parts = array<i64: 2, 2>} : memref<4xf32>
    return
  }
  func.func @step_c1() attributes {spmd.class = @c1, spmd.phase = "step"} {
    %g = spmd.buffer bucket "g" at 0 : memref<3xf32>
    spmd.communicate "reduce_scatter" sum %g on comm over ["data"] label "push" {parts = array<i64: 1, 2>} : memref<3xf32>
    return
  }
}

// -----

// Nor may they send it by other ways.
module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0] {arena_bytes = 64 : i64, persistent_bytes = 64 : i64}
  spmd.class @c1 ranks [1] {arena_bytes = 64 : i64, persistent_bytes = 64 : i64}
  func.func @step_c0() attributes {spmd.class = @c0, spmd.phase = "step"} {
    %g = spmd.buffer bucket "g" at 0 : memref<4xf32>
    spmd.communicate "all_reduce" sum %g on comm over ["data"] label "g" {algorithm = "ring"} : memref<4xf32>
    return
  }
  // expected-error @+1 {{contract of the schedule phase: communication differs from that of @step_c0}}
  func.func @step_c1() attributes {spmd.class = @c1, spmd.phase = "step"} {
    %g = spmd.buffer bucket "g" at 0 : memref<4xf32>
    spmd.communicate "all_reduce" sum %g on comm over ["data"] label "g" {algorithm = "tree"} : memref<4xf32>
    return
  }
}
