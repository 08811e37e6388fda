// What may not stand in a scheduled program.
// RUN: partita-opt %s -split-input-file -verify-diagnostics -partita-verify-schedule

// expected-error @+1 {{contract of the schedule phase: the function belongs to no class with an arena}}
func.func @step_c0() attributes {spmd.class = @c0, spmd.phase = "step"} {
  return
}

// -----

spmd.class @c0 ranks [0]
// expected-error @+1 {{contract of the schedule phase: the function belongs to no class with an arena}}
func.func @step_c0() attributes {spmd.class = @c0, spmd.phase = "step"} {
  return
}

// -----

spmd.class @c0 ranks [0] {arena_bytes = 64 : i64}
// expected-error @+1 {{contract of the schedule phase: the function needs a body of one block}}
func.func private @step_c0() attributes {spmd.class = @c0, spmd.phase = "step"}

// -----

spmd.class @c0 ranks [0] {arena_bytes = 64 : i64}
func.func @step_c0(%x: tensor<4xf32>) attributes {spmd.class = @c0, spmd.phase = "step"} {
  // expected-error @+1 {{contract of the schedule phase: 'nn.relu' is no scheduled operation}}
  %0 = nn.relu %x : tensor<4xf32>
  return
}

// -----

spmd.class @c0 ranks [0] {arena_bytes = 64 : i64}
func.func @step_c0() attributes {spmd.class = @c0, spmd.phase = "step"} {
  // expected-error @+1 {{contract of the schedule phase: buffer 'b' ends at byte 80 of an arena of 64}}
  %b = spmd.buffer temporary "b" at 64 : memref<4xf32>
  return
}

// -----

// The wait of the comm stream is missing.
module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1] {arena_bytes = 64 : i64}
  func.func @step_c0() attributes {spmd.class = @c0, spmd.phase = "step"} {
    %b = spmd.buffer temporary "b" at 0 : memref<4xf32>
    // expected-note @+1 {{the other use is here}}
    spmd.launch "nn.fill" on compute() -> (%b) : () -> (memref<4xf32>)
    spmd.record 0 on compute
    // expected-error @+1 {{contract of the schedule phase: bytes 0 to 16 of the arena are used on two streams without an event between the uses}}
    spmd.communicate "all_reduce" sum %b on comm over ["data"] label "b" : memref<4xf32>
    return
  }
}

// -----

// The event was recorded too early.
module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1] {arena_bytes = 64 : i64}
  func.func @step_c0() attributes {spmd.class = @c0, spmd.phase = "step"} {
    %b = spmd.buffer temporary "b" at 0 : memref<4xf32>
    spmd.record 0 on compute
    // expected-note @+1 {{the other use is here}}
    spmd.launch "nn.fill" on compute() -> (%b) : () -> (memref<4xf32>)
    spmd.wait 0 on comm
    // expected-error @+1 {{bytes 0 to 16 of the arena are used on two streams without an event between the uses}}
    spmd.communicate "all_reduce" sum %b on comm over ["data"] label "b" : memref<4xf32>
    return
  }
}

// -----

// The compute stream does not wait for the sum before it reads it.
module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1] {arena_bytes = 128 : i64}
  func.func @step_c0() attributes {spmd.class = @c0, spmd.phase = "step"} {
    %b = spmd.buffer temporary "b" at 0 : memref<4xf32>
    %c = spmd.buffer temporary "c" at 64 : memref<4xf32>
    spmd.launch "nn.fill" on compute() -> (%b) : () -> (memref<4xf32>)
    spmd.record 0 on compute
    spmd.wait 0 on comm
    // expected-note @+1 {{the other use is here}}
    spmd.communicate "all_reduce" sum %b on comm over ["data"] label "b" : memref<4xf32>
    spmd.record 1 on comm
    // expected-error @+1 {{bytes 0 to 16 of the arena are used on two streams without an event between the uses}}
    spmd.launch "nn.softmax" on compute(%b) -> (%c) : (memref<4xf32>) -> (memref<4xf32>)
    return
  }
}

// -----

// A buffer that is still being sent is given to the next temporary; they share
// its last bytes only.
module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1] {arena_bytes = 192 : i64}
  func.func @step_c0() attributes {spmd.class = @c0, spmd.phase = "step"} {
    %b = spmd.buffer temporary "b" at 0 : memref<24xf32>
    %t = spmd.buffer temporary "t" at 64 : memref<16xf32>
    spmd.launch "nn.fill" on compute() -> (%b) : () -> (memref<24xf32>)
    spmd.record 0 on compute
    spmd.wait 0 on comm
    // expected-note @+1 {{the other use is here}}
    spmd.communicate "all_reduce" sum %b on comm over ["data"] label "b" : memref<24xf32>
    // expected-error @+1 {{bytes 64 to 96 of the arena are used on two streams without an event between the uses}}
    spmd.launch "nn.fill" on compute() -> (%t) : () -> (memref<16xf32>)
    return
  }
}

// -----

spmd.class @c0 ranks [0] {arena_bytes = 64 : i64}
func.func @step_c0() attributes {spmd.class = @c0, spmd.phase = "step"} {
  %x = spmd.buffer input "x" at 0 of tensor<4xf32> {layout = #dist.layout<[[]]>} : memref<4xf32>
  // expected-error @+1 {{contract of the schedule phase: kernel 'nn.softmax' overwrites an operand it still reads}}
  spmd.launch "nn.softmax" on compute(%x) -> (%x) : (memref<4xf32>) -> (memref<4xf32>)
  return
}

// -----

// Element by element, but shifted against each other.
spmd.class @c0 ranks [0] {arena_bytes = 192 : i64}
func.func @step_c0() attributes {spmd.class = @c0, spmd.phase = "step"} {
  %x = spmd.buffer input "x" at 0 of tensor<32xf32> {layout = #dist.layout<[[]]>} : memref<32xf32>
  %t = spmd.buffer temporary "t" at 64 : memref<32xf32>
  // expected-error @+1 {{contract of the schedule phase: kernel 'nn.fused' overwrites an operand it still reads}}
  spmd.launch "nn.fused" on compute(%x) -> (%t) : (memref<32xf32>) -> (memref<32xf32>)
  return
}

// -----

// Two temporaries share bytes while both are needed.
spmd.class @c0 ranks [0] {arena_bytes = 192 : i64}
func.func @step_c0() attributes {spmd.class = @c0, spmd.phase = "step"} {
  %x = spmd.buffer input "x" at 0 of tensor<4xf32> {layout = #dist.layout<[[]]>} : memref<4xf32>
  %a = spmd.buffer temporary "a" at 64 : memref<4xf32>
  %b = spmd.buffer temporary "b" at 64 : memref<4xf32>
  %c = spmd.buffer temporary "c" at 128 : memref<8xf32>
  spmd.launch "nn.softmax" on compute(%x) -> (%a) : (memref<4xf32>) -> (memref<4xf32>)
  spmd.launch "nn.softmax" on compute(%x) -> (%b) : (memref<4xf32>) -> (memref<4xf32>)
  // expected-error @+1 {{contract of the schedule phase: buffer 'a' is read after 'b' has overwritten it}}
  spmd.launch "nn.concat" on compute(%a, %b) -> (%c) : (memref<4xf32>, memref<4xf32>) -> (memref<8xf32>)
  return
}

// -----

// Only the last bytes were overwritten.
spmd.class @c0 ranks [0] {arena_bytes = 192 : i64}
func.func @step_c0() attributes {spmd.class = @c0, spmd.phase = "step"} {
  %x = spmd.buffer input "x" at 0 of tensor<32xf32> {layout = #dist.layout<[[]]>} : memref<32xf32>
  %t = spmd.buffer temporary "t" at 64 : memref<4xf32>
  %y = spmd.buffer temporary "y" at 128 : memref<16xf32>
  spmd.launch "nn.fill" on compute() -> (%t) : () -> (memref<4xf32>)
  // expected-error @+1 {{contract of the schedule phase: buffer 'x' is read after 't' has overwritten it}}
  spmd.launch "nn.slice" on compute(%x) -> (%y) : (memref<32xf32>) -> (memref<16xf32>)
  return
}

// -----

spmd.class @c0 ranks [0] {arena_bytes = 128 : i64}
func.func @step_c0() attributes {spmd.class = @c0, spmd.phase = "step"} {
  %t = spmd.buffer temporary "t" at 0 : memref<4xf32>
  %y = spmd.buffer temporary "y" at 64 : memref<4xf32>
  // expected-error @+1 {{contract of the schedule phase: buffer 't' is read before it is written}}
  spmd.launch "nn.softmax" on compute(%t) -> (%y) : (memref<4xf32>) -> (memref<4xf32>)
  return
}

// -----

// Ranks of one communicator combine as many elements.
module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0] {arena_bytes = 64 : i64}
  spmd.class @c1 ranks [1] {arena_bytes = 64 : i64}
  func.func @step_c0() attributes {spmd.class = @c0, spmd.phase = "step"} {
    %b = spmd.buffer bucket "b" at 0 : memref<4xf32>
    // expected-note @+1 {{the other rank's call is here}}
    spmd.communicate "all_reduce" sum %b on comm over ["data"] label "b" : memref<4xf32>
    return
  }
  func.func @step_c1() attributes {spmd.class = @c1, spmd.phase = "step"} {
    %b = spmd.buffer bucket "b" at 0 : memref<8xf32>
    // expected-error @+1 {{contract of the schedule phase: rank 1 combines 8 elements with 4 of rank 0}}
    spmd.communicate "all_reduce" sum %b on comm over ["data"] label "b" : memref<8xf32>
    return
  }
}

// -----

// What is moved where is the same on all ranks.
module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0] {arena_bytes = 64 : i64}
  spmd.class @c1 ranks [1] {arena_bytes = 64 : i64}
  func.func @step_c0() attributes {spmd.class = @c0, spmd.phase = "step"} {
    %b = spmd.buffer temporary "b" at 0 : memref<0xf32>
    spmd.communicate "exchange" sum %b on comm over ["data"] label "b" {move = {from = #dist.layout<[[data]]>, to = #dist.layout<[[]]>, global = tensor<4xf32>}} : memref<0xf32>
    return
  }
  // expected-error @+1 {{contract of the schedule phase: communication differs from that of @step_c0}}
  func.func @step_c1() attributes {spmd.class = @c1, spmd.phase = "step"} {
    %b = spmd.buffer temporary "b" at 0 : memref<0xf32>
    spmd.communicate "exchange" sum %b on comm over ["data"] label "b" {move = {from = #dist.layout<[[data]]>, to = #dist.layout<[[]]>, global = tensor<5xf32>}} : memref<0xf32>
    return
  }
}

// -----

// Nothing was packed.
module attributes {dist.grid = #dist.grid<row = 2>} {
  spmd.class @c0 ranks [0, 1] {arena_bytes = 64 : i64}
  func.func @step_c0() attributes {spmd.class = @c0, spmd.phase = "step"} {
    %s = spmd.buffer temporary "s" at 0 : memref<4xf32>
    spmd.launch "nn.fill" on compute() -> (%s) : () -> (memref<4xf32>)
    spmd.record 0 on compute
    spmd.wait 0 on comm
    // expected-error @+1 {{contract of the schedule phase: buffer 's' was not packed for this move}}
    spmd.communicate "all_gather" sum %s on comm over ["row"] label "s" {move = {from = #dist.layout<[[row]]>, to = #dist.layout<[[]]>, global = tensor<4xf32>}} : memref<4xf32>
    return
  }
}

// -----

// Another move was packed.
module attributes {dist.grid = #dist.grid<row = 2>} {
  spmd.class @c0 ranks [0, 1] {arena_bytes = 192 : i64}
  func.func @step_c0() attributes {spmd.class = @c0, spmd.phase = "step"} {
    %x = spmd.buffer input "x" at 0 of tensor<4xf32> {layout = #dist.layout<[[row]]>} : memref<2xf32>
    %s = spmd.buffer temporary "s" at 64 : memref<4xf32>
    %y = spmd.buffer temporary "y" at 128 : memref<4xf32>
    spmd.launch "spmd.pack" on compute(%x) -> (%s) {from = #dist.layout<[[row]]>, to = #dist.layout<[[row] at [0:3, 1:4]]>, global = tensor<4xf32>} : (memref<2xf32>) -> (memref<4xf32>)
    spmd.record 0 on compute
    spmd.wait 0 on comm
    // expected-error @+1 {{contract of the schedule phase: buffer 's' was not packed for this move}}
    spmd.communicate "all_gather" sum %s on comm over ["row"] label "s" {move = {from = #dist.layout<[[row]]>, to = #dist.layout<[[]]>, global = tensor<4xf32>}} : memref<4xf32>
    spmd.record 1 on comm
    spmd.wait 1 on compute
    // expected-error @+1 {{contract of the schedule phase: buffer 's' holds nothing that this move has received}}
    spmd.launch "spmd.unpack" on compute(%x, %s) -> (%y) {from = #dist.layout<[[row]]>, to = #dist.layout<[[]]>, global = tensor<4xf32>} : (memref<2xf32>, memref<4xf32>) -> (memref<4xf32>)
    return
  }
}

// -----

// The result is unpacked before anything was sent.
module attributes {dist.grid = #dist.grid<row = 2>} {
  spmd.class @c0 ranks [0, 1] {arena_bytes = 192 : i64}
  func.func @step_c0() attributes {spmd.class = @c0, spmd.phase = "step"} {
    %x = spmd.buffer input "x" at 0 of tensor<4xf32> {layout = #dist.layout<[[row]]>} : memref<2xf32>
    %s = spmd.buffer temporary "s" at 64 : memref<4xf32>
    %y = spmd.buffer temporary "y" at 128 : memref<4xf32>
    spmd.launch "spmd.pack" on compute(%x) -> (%s) {from = #dist.layout<[[row]]>, to = #dist.layout<[[]]>, global = tensor<4xf32>} : (memref<2xf32>) -> (memref<4xf32>)
    // expected-error @+1 {{contract of the schedule phase: buffer 's' holds nothing that this move has received}}
    spmd.launch "spmd.unpack" on compute(%x, %s) -> (%y) {from = #dist.layout<[[row]]>, to = #dist.layout<[[]]>, global = tensor<4xf32>} : (memref<2xf32>, memref<4xf32>) -> (memref<4xf32>)
    return
  }
}

// -----

// The compute stream does not wait for what arrives.
module attributes {dist.grid = #dist.grid<row = 2>} {
  spmd.class @c0 ranks [0, 1] {arena_bytes = 192 : i64}
  func.func @step_c0() attributes {spmd.class = @c0, spmd.phase = "step"} {
    %x = spmd.buffer input "x" at 0 of tensor<4xf32> {layout = #dist.layout<[[row]]>} : memref<2xf32>
    %s = spmd.buffer temporary "s" at 64 : memref<4xf32>
    %y = spmd.buffer temporary "y" at 128 : memref<4xf32>
    spmd.launch "spmd.pack" on compute(%x) -> (%s) {from = #dist.layout<[[row]]>, to = #dist.layout<[[]]>, global = tensor<4xf32>} : (memref<2xf32>) -> (memref<4xf32>)
    spmd.record 0 on compute
    spmd.wait 0 on comm
    // expected-note @+1 {{the other use is here}}
    spmd.communicate "all_gather" sum %s on comm over ["row"] label "s" {move = {from = #dist.layout<[[row]]>, to = #dist.layout<[[]]>, global = tensor<4xf32>}} : memref<4xf32>
    // expected-error @+1 {{bytes 64 to 80 of the arena are used on two streams without an event between the uses}}
    spmd.launch "spmd.unpack" on compute(%x, %s) -> (%y) {from = #dist.layout<[[row]]>, to = #dist.layout<[[]]>, global = tensor<4xf32>} : (memref<2xf32>, memref<4xf32>) -> (memref<4xf32>)
    return
  }
}

// -----

// Two moves share their staging buffer in time; that is not seen from the
// buffer's name.
module attributes {dist.grid = #dist.grid<row = 2>} {
  spmd.class @c0 ranks [0, 1] {arena_bytes = 192 : i64}
  func.func @step_c0() attributes {spmd.class = @c0, spmd.phase = "step"} {
    %x = spmd.buffer input "x" at 0 of tensor<4xf32> {layout = #dist.layout<[[row]]>} : memref<2xf32>
    %s = spmd.buffer temporary "s" at 64 : memref<4xf32>
    spmd.launch "spmd.pack" on compute(%x) -> (%s) {from = #dist.layout<[[row]]>, to = #dist.layout<[[]]>, global = tensor<4xf32>} : (memref<2xf32>) -> (memref<4xf32>)
    // expected-error @+1 {{contract of the schedule phase: buffer 's' is written before its move has been unpacked}}
    spmd.launch "spmd.pack" on compute(%x) -> (%s) {from = #dist.layout<[[row]]>, to = #dist.layout<[[]]>, global = tensor<4xf32>} : (memref<2xf32>) -> (memref<4xf32>)
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<row = 2>} {
  spmd.class @c0 ranks [0, 1] {arena_bytes = 192 : i64}
  func.func @step_c0() attributes {spmd.class = @c0, spmd.phase = "step"} {
    %x = spmd.buffer input "x" at 0 of tensor<4xf32> {layout = #dist.layout<[[row]]>} : memref<2xf32>
    %s = spmd.buffer temporary "s" at 64 : memref<4xf32>
    // expected-error @+1 {{contract of the schedule phase: what is packed here is never sent}}
    spmd.launch "spmd.pack" on compute(%x) -> (%s) {from = #dist.layout<[[row]]>, to = #dist.layout<[[]]>, global = tensor<4xf32>} : (memref<2xf32>) -> (memref<4xf32>)
    return
  }
}

// -----

spmd.class @c0 ranks [0] {arena_bytes = 192 : i64}
func.func @step_c0() attributes {spmd.class = @c0, spmd.phase = "step"} {
  %x = spmd.buffer input "x" at 0 of tensor<4xf32> {layout = #dist.layout<[[]]>} : memref<4xf32>
  %s = spmd.buffer temporary "s" at 64 : memref<4xf32>
  // expected-error @+1 {{contract of the schedule phase: a pack has one operand and one staging buffer}}
  spmd.launch "spmd.pack" on compute(%x, %x) -> (%s) : (memref<4xf32>, memref<4xf32>) -> (memref<4xf32>)
  // expected-error @+1 {{contract of the schedule phase: an unpack has an operand, a staging buffer and one result}}
  spmd.launch "spmd.unpack" on compute(%x) -> (%s) : (memref<4xf32>) -> (memref<4xf32>)
  return
}
