// What code generation refuses, and where it says so.
// RUN: partita-translate --print-source --split-input-file --verify-diagnostics %s

// expected-error @below {{has no attribute dist.grid; partition the module before emitting it}}
module {
}

// -----

// expected-error @below {{rank 1 is in no spmd.class}}
module attributes {dist.grid = #dist.grid<data = 2>, partita.batch = 2 : i64} {
  spmd.class @c0 ranks [0] {arena_bytes = 64 : i64}
}

// -----

module attributes {dist.grid = #dist.grid<data = 1>, partita.batch = 2 : i64} {
  // expected-error @below {{has no function of phase 'step'}}
  spmd.class @c0 ranks [0] {arena_bytes = 64 : i64}
}

// -----

module attributes {dist.grid = #dist.grid<data = 1>, partita.batch = 2 : i64} {
  spmd.class @c0 ranks [0] {arena_bytes = 64 : i64}
  func.func @step_c0() attributes {spmd.class = @c0, spmd.phase = "step"} {
    // expected-error @below {{is not an operation of a scheduled program; schedule the module before emitting it}}
    %0 = nn.constant dense<1.0> : tensor<2xf32>
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<data = 1>, partita.batch = 2 : i64} {
  spmd.class @c0 ranks [0] {arena_bytes = 64 : i64}
  func.func @step_c0() attributes {spmd.class = @c0, spmd.phase = "step"} {
    %x = spmd.buffer temporary "x" at 0 : memref<4xf32>
    // expected-error @below {{no kernel computes 'nn.unknown'}}
    spmd.launch "nn.unknown" on compute(%x) -> (%x) : (memref<4xf32>) -> (memref<4xf32>)
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<data = 1>, partita.batch = 2 : i64} {
  spmd.class @c0 ranks [0] {arena_bytes = 64 : i64}
  func.func @step_c0() attributes {spmd.class = @c0, spmd.phase = "step"} {
    %x = spmd.buffer temporary "the input" at 0 : memref<4x4xf64>
    // expected-error @below {{kernel 'nn.softmax' takes f32, found 'f64' in buffer 'the input'; insert a Cast to that type in the model}}
    spmd.launch "nn.softmax" on compute(%x) -> (%x) {axis = 1 : i64} : (memref<4x4xf64>) -> (memref<4x4xf64>)
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<data = 1>, partita.batch = 2 : i64} {
  spmd.class @c0 ranks [0] {arena_bytes = 64 : i64}
  func.func @step_c0() attributes {spmd.class = @c0, spmd.phase = "step"} {
    %x = spmd.buffer temporary "x" at 0 : memref<4x4xf32>
    %l = spmd.buffer temporary "labels" at 64 : memref<4xi32>
    %y = spmd.buffer temporary "y" at 128 : memref<4xf32>
    // expected-error @below {{kernel 'nn.cross_entropy' takes labels of i64, found 'i32' in buffer 'labels'}}
    spmd.launch "nn.cross_entropy" on compute(%x, %l) -> (%y) {axis = 1 : i64} : (memref<4x4xf32>, memref<4xi32>) -> (memref<4xf32>)
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<data = 1>, partita.batch = 2 : i64} {
  spmd.class @c0 ranks [0] {arena_bytes = 64 : i64}
  func.func @step_c0() attributes {spmd.class = @c0, spmd.phase = "step"} {
    %x = spmd.buffer temporary "x" at 0 : memref<4x4xf32>
    // expected-error @below {{kernel 'nn.softmax' needs the parameter 'axis', an integer; found none}}
    spmd.launch "nn.softmax" on compute(%x) -> (%x) : (memref<4x4xf32>) -> (memref<4x4xf32>)
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<data = 1>, partita.batch = 2 : i64} {
  spmd.class @c0 ranks [0] {arena_bytes = 64 : i64}
  func.func @step_c0() attributes {spmd.class = @c0, spmd.phase = "step"} {
    %x = spmd.buffer temporary "x" at 0 : memref<4x4xf32>
    // expected-error @below {{kernel 'nn.max_pool' does not take 2 inputs and 1 outputs}}
    spmd.launch "nn.max_pool" on compute(%x, %x) -> (%x) : (memref<4x4xf32>, memref<4x4xf32>) -> (memref<4x4xf32>)
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<data = 1>, partita.batch = 2 : i64} {
  spmd.class @c0 ranks [0] {arena_bytes = 64 : i64}
  func.func @step_c0() attributes {spmd.class = @c0, spmd.phase = "step"} {
    %a = spmd.buffer temporary "a" at 0 : memref<2x1x4x4xf32>
    %b = spmd.buffer temporary "b" at 1024 : memref<1x3x4x4xf32>
    %y = spmd.buffer temporary "y" at 2048 : memref<2x3x4x4xf32>
    // expected-error @below {{matrix products whose operands repeat along some of the batch dimensions are not computed}}
    spmd.launch "nn.matmul" on compute(%a, %b) -> (%y) : (memref<2x1x4x4xf32>, memref<1x3x4x4xf32>) -> (memref<2x3x4x4xf32>)
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<data = 1>, partita.batch = 2 : i64} {
  spmd.class @c0 ranks [0] {arena_bytes = 64 : i64}
  func.func @step_c0() attributes {spmd.class = @c0, spmd.phase = "step"} {
    %a = spmd.buffer temporary "a" at 0 : memref<4xf16>
    // expected-error @below {{kernel 'nn.fused' cannot hold elements of 'f16' (buffer 'a'): expected f32, f64, i1, i8, i16, i32 or i64}}
    spmd.launch "nn.fused" on compute(%a) -> (%a) : (memref<4xf16>) -> (memref<4xf16>) {
    ^bb0(%0: f16):
      %1 = arith.negf %0 : f16
      spmd.yield %1 : f16
    }
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<data = 1>, partita.batch = 2 : i64} {
  spmd.class @c0 ranks [0] {arena_bytes = 64 : i64}
  func.func @step_c0() attributes {spmd.class = @c0, spmd.phase = "step"} {
    %a = spmd.buffer temporary "a" at 0 : memref<4xi64>
    spmd.launch "nn.fused" on compute(%a) -> (%a) : (memref<4xi64>) -> (memref<4xi64>) {
    ^bb0(%0: i64):
      // expected-error @below {{has no C++ form in a fused kernel}}
      %1 = math.ctlz %0 : i64
      spmd.yield %1 : i64
    }
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<data = 1>, partita.batch = 2 : i64} {
  spmd.class @c0 ranks [0] {arena_bytes = 64 : i64}
  func.func @step_c0() attributes {spmd.class = @c0, spmd.phase = "step"} {
    %a = spmd.buffer temporary "a" at 0 : memref<3xf32>
    %y = spmd.buffer temporary "y" at 64 : memref<4xf32>
    // expected-error @below {{input 0 does not broadcast to the outputs}}
    spmd.launch "nn.fused" on compute(%a) -> (%y) : (memref<3xf32>) -> (memref<4xf32>) {
    ^bb0(%0: f32):
      spmd.yield %0 : f32
    }
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<data = 1>, partita.batch = 2 : i64} {
  spmd.class @c0 ranks [0] {arena_bytes = 64 : i64}
  func.func @step_c0() attributes {spmd.class = @c0, spmd.phase = "step"} {
    %x = spmd.buffer input "x" at 0 of tensor<2xf32> {layout = #dist.layout<[[data]]>} : memref<2xf32>
    spmd.launch "copy" on compute(%x) -> (%x) : (memref<2xf32>) -> (memref<2xf32>)
    return
  }
  func.func @eval_c0() attributes {spmd.class = @c0, spmd.phase = "eval"} {
    // expected-error @below {{input 'x' lies at offset 64 in phase 'eval' and at 0 in another}}
    %x = spmd.buffer input "x" at 64 of tensor<2xf32> {layout = #dist.layout<[[data]]>} : memref<2xf32>
    spmd.launch "copy" on compute(%x) -> (%x) : (memref<2xf32>) -> (memref<2xf32>)
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<data = 2>, partita.batch = 2 : i64} {
  spmd.class @c0 ranks [0] {arena_bytes = 64 : i64}
  spmd.class @c1 ranks [1] {arena_bytes = 64 : i64}
  func.func @step_c0() attributes {spmd.class = @c0, spmd.phase = "step"} {
    // expected-error @below {{input 'x' has no buffer in class 'c1'}}
    %x = spmd.buffer input "x" at 0 of tensor<2xf32> {layout = #dist.layout<[[data]]>} : memref<1xf32>
    spmd.launch "copy" on compute(%x) -> (%x) : (memref<1xf32>) -> memref<1xf32>
    return
  }
  func.func @step_c1() attributes {spmd.class = @c1, spmd.phase = "step"} {
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<row = 2>, partita.batch = 2 : i64} {
  spmd.class @c0 ranks [0, 1] {arena_bytes = 256 : i64}
  func.func @step_c0() attributes {spmd.class = @c0, spmd.phase = "step"} {
    %x = spmd.buffer temporary "x" at 0 : memref<2xf32>
    %s = spmd.buffer temporary "s" at 64 : memref<4xf32>
    // expected-error @below {{a move needs from, to, global, kind and axes; found {from = #dist.layout<}}
    spmd.launch "spmd.pack" on compute(%x) -> (%s) {from = #dist.layout<[[row]]>, to = #dist.layout<[[]]>, global = tensor<4xf32>} : (memref<2xf32>) -> (memref<4xf32>)
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<row = 2>, partita.batch = 2 : i64} {
  spmd.class @c0 ranks [0, 1] {arena_bytes = 256 : i64}
  func.func @step_c0() attributes {spmd.class = @c0, spmd.phase = "step"} {
    %x = spmd.buffer temporary "x" at 0 : memref<4xf32>
    %y = spmd.buffer temporary "y" at 64 : memref<2xf32>
    // expected-error @below {{a move needs from, to, global; found}}
    spmd.launch "spmd.slice" on compute(%x) -> (%y) : (memref<4xf32>) -> (memref<2xf32>)
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<row = 2>, partita.batch = 2 : i64} {
  spmd.class @c0 ranks [0, 1] {arena_bytes = 256 : i64}
  func.func @step_c0() attributes {spmd.class = @c0, spmd.phase = "step"} {
    %x = spmd.buffer temporary "x" at 0 : memref<4xf32>
    %y = spmd.buffer temporary "y" at 64 : memref<2xf32>
    // expected-error @below {{kernel 'spmd.slice' does not take 2 inputs and 1 outputs}}
    spmd.launch "spmd.slice" on compute(%x, %x) -> (%y) {from = #dist.layout<[[]]>, to = #dist.layout<[[row]]>, global = tensor<4xf32>} : (memref<4xf32>, memref<4xf32>) -> (memref<2xf32>)
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<row = 2>, partita.batch = 2 : i64} {
  spmd.class @c0 ranks [0, 1] {arena_bytes = 256 : i64}
  func.func @step_c0() attributes {spmd.class = @c0, spmd.phase = "step"} {
    %x = spmd.buffer temporary "x" at 0 : memref<4xf32>
    %y = spmd.buffer temporary "y" at 64 : memref<2xf32>
    // expected-error @below {{layouts #dist.layout<}}
    spmd.launch "spmd.slice" on compute(%x) -> (%y) {from = #dist.layout<[[], []]>, to = #dist.layout<[[row]]>, global = tensor<4xf32>} : (memref<4xf32>) -> (memref<2xf32>)
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<row = 2>, partita.batch = 2 : i64} {
  spmd.class @c0 ranks [0, 1] {arena_bytes = 256 : i64}
  func.func @step_c0() attributes {spmd.class = @c0, spmd.phase = "step"} {
    %x = spmd.buffer temporary "x" at 0 : memref<4xf16>
    %y = spmd.buffer temporary "y" at 64 : memref<2xf16>
    // expected-error @below {{a move cannot hold elements of 'f16': expected f32, f64, i1, i8, i16, i32 or i64}}
    spmd.launch "spmd.slice" on compute(%x) -> (%y) {from = #dist.layout<[[]]>, to = #dist.layout<[[row]]>, global = tensor<4xf16>} : (memref<4xf16>) -> (memref<2xf16>)
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<row = 2>, partita.batch = 2 : i64} {
  spmd.class @c0 ranks [0, 1] {arena_bytes = 256 : i64}
  func.func @step_c0() attributes {spmd.class = @c0, spmd.phase = "step"} {
    // expected-error @below {{result 'loss' is cut into parts that overlap or leave gaps in layout}}
    %loss = spmd.buffer result "loss" at 0 of tensor<4xf32> {layout = #dist.layout<[[row] at [0:3, 1:4]]>} : memref<3xf32>
    spmd.launch "nn.fill" on compute() -> (%loss) {value = 1.0 : f64} : () -> memref<3xf32>
    return
  }
}
