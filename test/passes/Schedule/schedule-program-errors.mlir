// What scheduling cannot work on.
// RUN: partita-opt %s -split-input-file -verify-diagnostics -partita-schedule-program

// expected-error @+1 {{needs a body of one block}}
func.func private @predict(%x: tensor<4xf32>) -> tensor<4xf32>

// -----

func.func @predict() {
  // expected-error @+1 {{has a result of type 'i32'; expected tensors of known shape}}
  %0 = arith.constant 1 : i32
  return
}

// -----

spmd.class @c0 ranks [0, 1]
func.func @predict_c0(%x: tensor<2xf32>) -> tensor<4xf32> attributes {spmd.class = @c0, spmd.phase = "predict"} {
  // expected-error @+1 {{a move needs the grid of its layouts, but the module has no attribute dist.grid; partition the module first}}
  %y = spmd.all_gather %x over ["row"] from #dist.layout<[[row]]> to #dist.layout<[[]]> of tensor<4xf32> : tensor<2xf32> -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

module attributes {dist.grid = #dist.grid<row = 2>} {
  spmd.class @c0 ranks [0, 1]
  func.func @predict_c0(%x: tensor<3xf32>) -> tensor<5xf32> attributes {spmd.class = @c0, spmd.phase = "predict"} {
    // expected-error @+1 {{the operand has type 'tensor<3xf32>', but the part of 'tensor<5xf32>' that rank 1 has in layout #dist.layout<}}
    %y = spmd.all_gather %x over ["row"] from #dist.layout<[[row]]> to #dist.layout<[[]]> of tensor<5xf32> : tensor<3xf32> -> tensor<5xf32>
    return %y : tensor<5xf32>
  }
}

// -----

module attributes {dist.grid = #dist.grid<row = 2>} {
  spmd.class @c0 ranks [0, 1]
  func.func @predict_c0(%x: tensor<4xf32>) -> tensor<1xf32> attributes {spmd.class = @c0, spmd.phase = "predict"} {
    // expected-error @+1 {{the result has type 'tensor<1xf32>', but the part of 'tensor<4xf32>' that rank 0 has in layout}}
    %y = spmd.slice %x from #dist.layout<[[]]> to #dist.layout<[[row]]> of tensor<4xf32> : tensor<4xf32> -> tensor<1xf32>
    return %y : tensor<1xf32>
  }
}

// -----

// The first and the last rank exchange one element each way with the one between
// them, which itself only gets one.
module attributes {dist.grid = #dist.grid<row = 3>} {
  spmd.class @c0 ranks [0, 1, 2]
  func.func @predict_c0(%x: tensor<2xf32>) -> tensor<3xf32> attributes {spmd.class = @c0, spmd.phase = "predict"} {
    // expected-error @+1 {{rank 1 sends and receives 3 elements, but rank 0 of the same class @c0 2; ranks of one class need equal staging buffers, put these into classes of their own}}
    %y = spmd.halo_exchange %x over ["row"] from #dist.layout<[[row]]> to #dist.layout<[[row] at [0:3, 1:4, 3:6]]> of tensor<6xf32> : tensor<2xf32> -> tensor<3xf32>
    return %y : tensor<3xf32>
  }
}

// -----

module attributes {dist.grid = #dist.grid<row = 2>} {
  spmd.class @c0 ranks [0, 1]
  nn.variable @w parameter : tensor<4xf32> = dense<1.0> : tensor<4xf32> {dist.layout = #dist.layout<[[row]]>}
  func.func @step_c0() -> tensor<4xf32> attributes {spmd.class = @c0, spmd.phase = "step"} {
    // expected-error @+1 {{the value of 'w' has type 'tensor<4xf32>', but the part of 'tensor<4xf32>' that rank 0 has in layout #dist.layout<}}
    %w = nn.read @w : tensor<4xf32>
    nn.sgd @w, %w : tensor<4xf32>
    return %w : tensor<4xf32>
  }
}

// -----

module attributes {dist.grid = #dist.grid<row = 2>} {
  // expected-error @+1 {{rank 2 is not one of the 2 of the grid #dist.grid<row = 2>}}
  spmd.class @c0 ranks [0, 1, 2]
}
