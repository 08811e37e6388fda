// What may not stand in a partitioned program: parts that do not belong to a
// whole, do not hold what they need, or come from nowhere.
// RUN: partita-opt %s -split-input-file -verify-diagnostics -partita-verify-partition

// Its layout says where the part is: all ranks would draw the first rows.
module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  func.func @step_c0()
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    // expected-error @+1 {{contract of the partition phase: takes its part for [0, 4) of dimension 0 of tensor<4x3xf32> on rank 0, expected [0, 2); its `layout` does not fit its split}}
    %m = nn.dropout_mask {global_shape = array<i64: 4, 3>, ratio = 0.5 : f64, spmd.split = #dist.split<d0 = [data]>, spmd.whole = {results = [tensor<4x3xf32>]}, start = array<i64: 0, 0>, stream = 1 : i64} : tensor<2x3xf32>
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  func.func @step_c0()
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    // expected-error @+1 {{contract of the partition phase: layout #dist.layout<[[data], []]> does not fit tensor<4xf32>}}
    %m = nn.iota {size = 4 : i64, layout = #dist.layout<[[data], []]>, spmd.split = #dist.split<d0 = [data]>, spmd.whole = {results = [tensor<4xf32>]}} : tensor<2xf32>
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  func.func @step_c0(%x: tensor<1x1x4xf32> {dist.layout = #dist.layout<[[], [data], []]>, spmd.global = tensor<1x2x4xf32>}, %w: tensor<3x1x1xf32> {dist.layout = #dist.layout<[[], [data], []]>, spmd.global = tensor<3x2x1xf32>}, %b: tensor<3xf32> {dist.layout = #dist.layout<[[]]>, spmd.global = tensor<3xf32>})
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    // expected-error @+1 {{contract of the partition phase: adds its bias to each of 2 partial sums; add it once, to the combined sum}}
    %y = nn.conv %x, %w bias %b {dilations = array<i64: 1>, pads = array<i64: 0, 0>, spmd.split = #dist.split<ci = [data]>, strides = array<i64: 1>} : tensor<1x1x4xf32>, tensor<3x1x1xf32>, tensor<3xf32>
    return
  }
}

// -----

// The split was forgotten: the operation would take a part for the whole.
module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  func.func @step_c0(%x: tensor<2x3xf32> {dist.layout = #dist.layout<[[data], []]>, spmd.global = tensor<4x3xf32>})
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    // expected-error @+1 {{contract of the partition phase: needs [0, 4) of dimension 0 of operand 0 on rank 0 whole, found [0, 2), for it lies as #dist.layout<[[data], []]>}}
    %y = nn.relu %x : tensor<2x3xf32>
    return
  }
}

// -----

// The gradient by the input is split over another dimension than dy is.
module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  func.func @step_c0(%dy: tensor<2x1x4xf32> {dist.layout = #dist.layout<[[], [], [data]]>, spmd.global = tensor<2x1x8xf32>}, %w: tensor<1x1x1xf32> {dist.layout = #dist.layout<[[], [], []]>, spmd.global = tensor<1x1x1xf32>})
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    // expected-error @+1 {{contract of the partition phase: needs [0, 1) of dimension 0 of operand 0 on rank 0 for #dist.split<n = [data]>, found [0, 2), for it lies as}}
    %y = nn.conv_input_grad %dy, %w {dilations = array<i64: 1>, pads = array<i64: 0, 0>, spmd.split = #dist.split<n = [data]>, spmd.whole = {results = [tensor<2x1x8xf32>]}, strides = array<i64: 1>} : tensor<2x1x4xf32>, tensor<1x1x1xf32> -> tensor<2x1x4xf32>
    return
  }
}

// -----

// Two axes in the wrong order: rank 1 has the rows of rank 2.
module attributes {dist.grid = #dist.grid<row = 2, col = 2>} {
  spmd.class @c0 ranks [0, 1, 2, 3]
  func.func @step_c0(%x: tensor<1xf32> {dist.layout = #dist.layout<[[row, col]]>, spmd.global = tensor<4xf32>})
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    // expected-error @+1 {{contract of the partition phase: needs [2, 3) of dimension 0 of operand 0 on rank 1 for #dist.split<d0 = [col, row]>, found [1, 2)}}
    %y = nn.relu %x {spmd.split = #dist.split<d0 = [col, row]>} : tensor<1xf32>
    return
  }
}

// -----

// A halo as wide as the kernel without its dilation.
module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0]
  spmd.class @c1 ranks [1]
  func.func @step_c0(%x: tensor<1x1x4xf32> {dist.layout = #dist.layout<[[], [], [data]]>, spmd.global = tensor<1x1x8xf32>}, %w: tensor<1x1x3xf32> {dist.layout = #dist.layout<[[], [], []]>, spmd.global = tensor<1x1x3xf32>})
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    %0 = spmd.halo_exchange %x over ["data"] from <[[], [], [data]]> to <[[], [], [data] at [0:5, 3:8]]> of tensor<1x1x8xf32> : tensor<1x1x4xf32> -> tensor<1x1x5xf32>
    // expected-error @+1 {{contract of the partition phase: needs [0, 6) of dimension 2 of operand 0 on rank 0 for #dist.split<w = [data]>, found [0, 5)}}
    %1 = nn.conv %0, %w {dilations = array<i64: 2>, pads = array<i64: 2, 1>, spmd.split = #dist.split<w = [data]>, spmd.whole = {pads = array<i64: 2, 2>}, strides = array<i64: 1>} : tensor<1x1x5xf32>, tensor<1x1x3xf32>
    return
  }
  func.func @step_c1(%x: tensor<1x1x4xf32> {dist.layout = #dist.layout<[[], [], [data]]>, spmd.global = tensor<1x1x8xf32>}, %w: tensor<1x1x3xf32> {dist.layout = #dist.layout<[[], [], []]>, spmd.global = tensor<1x1x3xf32>})
      attributes {spmd.class = @c1, spmd.phase = "step"} {
    %0 = spmd.halo_exchange %x over ["data"] from <[[], [], [data]]> to <[[], [], [data] at [0:5, 3:8]]> of tensor<1x1x8xf32> : tensor<1x1x4xf32> -> tensor<1x1x5xf32>
    // expected-error @+1 {{contract of the partition phase: needs [2, 8) of dimension 2 of operand 0 on rank 1}}
    %1 = nn.conv %0, %w {dilations = array<i64: 2>, pads = array<i64: 1, 2>, spmd.split = #dist.split<w = [data]>, spmd.whole = {pads = array<i64: 2, 2>}, strides = array<i64: 1>} : tensor<1x1x5xf32>, tensor<1x1x3xf32>
    return
  }
}

// -----

// Padding where the neighbour's rows should be.
module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0]
  spmd.class @c1 ranks [1]
  func.func @step_c0(%x: tensor<1x1x4xf32> {dist.layout = #dist.layout<[[], [], [data]]>, spmd.global = tensor<1x1x8xf32>}, %w: tensor<1x1x3xf32> {dist.layout = #dist.layout<[[], [], []]>, spmd.global = tensor<1x1x3xf32>})
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    %0 = spmd.halo_exchange %x over ["data"] from <[[], [], [data]]> to <[[], [], [data] at [0:6, 2:8]]> of tensor<1x1x8xf32> : tensor<1x1x4xf32> -> tensor<1x1x6xf32>
    %1 = nn.conv %0, %w {dilations = array<i64: 2>, pads = array<i64: 2, 0>, spmd.split = #dist.split<w = [data]>, spmd.whole = {pads = array<i64: 2, 2>}, strides = array<i64: 1>} : tensor<1x1x6xf32>, tensor<1x1x3xf32>
    return
  }
  func.func @step_c1(%x: tensor<1x1x4xf32> {dist.layout = #dist.layout<[[], [], [data]]>, spmd.global = tensor<1x1x8xf32>}, %w: tensor<1x1x3xf32> {dist.layout = #dist.layout<[[], [], []]>, spmd.global = tensor<1x1x3xf32>})
      attributes {spmd.class = @c1, spmd.phase = "step"} {
    %0 = spmd.halo_exchange %x over ["data"] from <[[], [], [data]]> to <[[], [], [data] at [0:6, 2:8]]> of tensor<1x1x8xf32> : tensor<1x1x4xf32> -> tensor<1x1x6xf32>
    // expected-error @+1 {{contract of the partition phase: begins its windows over dimension 2 of operand 0 at row 0 on rank 1 (stride 1, extent 5), expected row 2 (stride 1, extent 5); its paddings or starts do not fit its part}}
    %1 = nn.conv %0, %w {dilations = array<i64: 2>, pads = array<i64: 2, 0>, spmd.split = #dist.split<w = [data]>, spmd.whole = {pads = array<i64: 2, 2>}, strides = array<i64: 1>} : tensor<1x1x6xf32>, tensor<1x1x3xf32>
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  func.func @step_c0(%x: tensor<2x3xf32> {dist.layout = #dist.layout<[[data], []]>, spmd.global = tensor<4x3xf32>})
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    // expected-error @+1 {{contract of the partition phase: is a part of no whole operation: spmd.whole cannot say that 'kernel' is array<i64: 1>}}
    %s = nn.relu %x {spmd.split = #dist.split<d0 = [data]>, spmd.whole = {kernel = array<i64: 1>}} : tensor<2x3xf32>
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  func.func @step_c0(%x: tensor<2x3xf32> {dist.layout = #dist.layout<[[data], []]>, spmd.global = tensor<4x3xf32>})
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    // expected-error @+1 {{contract of the partition phase: is a part of no whole operation: spmd.whole cannot say that 'results' is [3]}}
    %s = nn.relu %x {spmd.split = #dist.split<d0 = [data]>, spmd.whole = {results = [3]}} : tensor<2x3xf32>
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  func.func @step_c0(%x: tensor<2x3xf32> {dist.layout = #dist.layout<[[data], []]>, spmd.global = tensor<4x3xf32>})
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    // expected-error @+1 {{contract of the partition phase: is a part of no whole operation: spmd.whole names other operands than the part has}}
    %s = nn.relu %x {spmd.split = #dist.split<d0 = [data]>, spmd.whole = {operands = [tensor<8xf32>], present = array<i64: 0>}} : tensor<2x3xf32>
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  func.func @step_c0(%x: tensor<2x3xf32> {dist.layout = #dist.layout<[[data], []]>, spmd.global = tensor<4x3xf32>})
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    // expected-error @+1 {{contract of the partition phase: is a part of no whole operation:}}
    %s = nn.relu %x {spmd.split = #dist.split<d0 = [data]>, spmd.whole = {operands = [tensor<4x3xf32>, tensor<4x3xf32>], present = array<i64: 0>}} : tensor<2x3xf32>
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  func.func @step_c0()
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    // expected-error @+1 {{contract of the partition phase: is a part of no whole operation: only constants of one value have parts}}
    %c = nn.constant dense<[1.0, 2.0]> : tensor<2xf32> {spmd.split = #dist.split<d0 = [data]>, spmd.whole = {results = [tensor<4xf32>]}}
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  func.func @step_c0(%x: tensor<2x3xf32> {dist.layout = #dist.layout<[[data], []]>, spmd.global = tensor<4x3xf32>})
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    // expected-error @+1 {{contract of the partition phase: is a part of no whole operation: 'nn.reshape' op}}
    %s = nn.reshape %x {spmd.split = #dist.split<g0 = [data]>, spmd.whole = {results = [tensor<4x4xf32>]}} : tensor<2x3xf32> -> tensor<2x3xf32>
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  func.func @step_c0(%x: tensor<2x3xf32> {dist.layout = #dist.layout<[[data], []]>, spmd.global = tensor<4x3xf32>})
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    // expected-error @+1 {{contract of the partition phase: cannot be split along 'd7', found #dist.split<d7 = [data]>}}
    %s = nn.relu %x {spmd.split = #dist.split<d7 = [data]>} : tensor<2x3xf32>
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  func.func @step_c0(%x: tensor<2x3xf32> {dist.layout = #dist.layout<[[data], []]>, spmd.global = tensor<4x3xf32>})
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    // expected-error @+1 {{contract of the partition phase: is split over axis 'model', which is not one of the grid #dist.grid<data = 2>}}
    %s = nn.relu %x {spmd.split = #dist.split<d0 = [model]>} : tensor<2x3xf32>
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  func.func @step_c0(%x: tensor<2x3xf32> {dist.layout = #dist.layout<[[data], []]>, spmd.global = tensor<4x3xf32>})
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    // expected-error @+1 {{contract of the partition phase: computes some of the 4 indices of 'd0' twice or never, found #dist.split<d0 = [data] at [0:2, 1:4]>}}
    %s = nn.relu %x {spmd.split = #dist.split<d0 = [data] at [0:2, 1:4]>} : tensor<2x3xf32>
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  func.func @step_c0(%x: tensor<2x3xf32> {dist.layout = #dist.layout<[[data], []]>, spmd.global = tensor<4x3xf32>})
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    // expected-error @+1 {{contract of the partition phase: cannot be split along 'd0'}}
    %s = nn.softmax %x {axis = 0 : i64, spmd.split = #dist.split<d0 = [data]>} : tensor<2x3xf32>
    return
  }
}

// -----

// An operand is left out of which some rank has a part.
module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  func.func @step_c0(%x: tensor<2xf32> {dist.layout = #dist.layout<[[data]]>, spmd.global = tensor<4xf32>})
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    // expected-error @+1 {{contract of the partition phase: needs [0, 4) of dimension 0 of operand 0 on rank 0}}
    %s = nn.concat %x {axis = 0 : i64, spmd.split = #dist.split<d0 = [data]>, spmd.whole = {operands = [tensor<4xf32>, tensor<4xf32>], present = array<i64: 0>}} : tensor<2xf32>
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0]
  spmd.class @c1 ranks [1]
  func.func @step_c0(%x: tensor<4xf32> {dist.layout = #dist.layout<[[data] at [0:4, 4:4]]>, spmd.global = tensor<4xf32>})
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    %s = nn.concat %x {axis = 0 : i64, spmd.split = #dist.split<d0 = [data]>, spmd.whole = {operands = [tensor<4xf32>, tensor<4xf32>], present = array<i64: 0>}} : tensor<4xf32>
    return
  }
  func.func @step_c1(%x: tensor<0xf32> {dist.layout = #dist.layout<[[data] at [0:4, 4:4]]>, spmd.global = tensor<4xf32>})
      attributes {spmd.class = @c1, spmd.phase = "step"} {
    // expected-error @+1 {{contract of the partition phase: leaves out operand 1 of the whole operation, of which rank 1 needs a part}}
    %s = nn.concat %x {axis = 0 : i64, spmd.split = #dist.split<d0 = [data]>, spmd.whole = {operands = [tensor<4xf32>, tensor<4xf32>], present = array<i64: 0>}} : tensor<0xf32>
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  func.func @step_c0(%x: tensor<2x3xf32> {dist.layout = #dist.layout<[[data], []]>, spmd.global = tensor<4x3xf32>})
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    // expected-error @+1 {{contract of the partition phase: moves a value from #dist.layout<[[], []]>, but it lies as #dist.layout<[[data], []]>}}
    %y = spmd.slice %x from <[[], []]> to <[[], [data]]> of tensor<4x3xf32> : tensor<2x3xf32> -> tensor<2x2xf32>
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  func.func @step_c0(%x: tensor<2x3xf32> {dist.layout = #dist.layout<[[data], []]>, spmd.global = tensor<4x3xf32>})
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    // expected-error @+1 {{contract of the partition phase: moves a part of tensor<6x3xf32>, but the value is one of tensor<4x3xf32>}}
    %y = spmd.all_gather %x over ["data"] from <[[data], []]> to <[[], []]> of tensor<6x3xf32> : tensor<2x3xf32> -> tensor<6x3xf32>
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  func.func @step_c0(%x: tensor<2x3xf32> {dist.layout = #dist.layout<[[data], []]>, spmd.global = tensor<4x3xf32>})
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    // expected-error @+1 {{contract of the partition phase: a value has type tensor<3x3xf32>, but rank 0 holds tensor<4x3xf32> of tensor<4x3xf32> as #dist.layout<[[], []]>}}
    %y = spmd.all_gather %x over ["data"] from <[[data], []]> to <[[], []]> of tensor<4x3xf32> : tensor<2x3xf32> -> tensor<3x3xf32>
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  func.func @step_c0(%x: tensor<2x3xf32> {dist.layout = #dist.layout<[[data], []]>, spmd.global = tensor<4x3xf32>})
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    // expected-error @+1 {{contract of the partition phase: layout #dist.layout<[[data] at [0:5, 3:4], []]> needs 2 ranges inside [0, 4) for dimension 0 of tensor<4x3xf32>}}
    %y = spmd.exchange %x over ["data"] from <[[data], []]> to <[[data] at [0:5, 3:4], []]> of tensor<4x3xf32> : tensor<2x3xf32> -> tensor<4x3xf32>
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<data = 2, model = 2>} {
  spmd.class @c0 ranks [0, 1, 2, 3]
  func.func @step_c0(%x: tensor<2x3xf32> {dist.layout = #dist.layout<[[data], []]>, spmd.global = tensor<4x3xf32>})
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    // expected-error @+1 {{contract of the partition phase: makes #dist.layout<[[data], []], partial sum [model]> of #dist.layout<[[data], []]>; a move leaves values partial or each rank's own as they were, but for what it combines}}
    %y = spmd.slice %x from <[[data], []]> to <[[data], []], partial sum [model]> of tensor<4x3xf32> : tensor<2x3xf32> -> tensor<2x3xf32>
    return
  }
}

// -----

// A partial value is taken for a whole one.
module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  func.func @step_c0(%x: tensor<2x3xf32> {dist.layout = #dist.layout<[[data], []]>, spmd.global = tensor<4x3xf32>})
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    %g = nn.reduce sum %x {axes = array<i64: 0>, spmd.split = #dist.split<d0 = [data]>} : tensor<2x3xf32>
    // expected-error @+1 {{contract of the partition phase: moves a value from #dist.layout<[[]]>, but it lies as #dist.layout<[[]], partial sum [data]>}}
    %s = spmd.slice %g from <[[]]> to <[[]]> of tensor<3xf32> : tensor<3xf32> -> tensor<3xf32>
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  func.func @step_c0(%x: tensor<2x3xf32> {dist.layout = #dist.layout<[[data], []]>, spmd.global = tensor<4x3xf32>})
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    // expected-error @+1 {{contract of the partition phase: rank 1 is to keep [1, 2) of dimension 0, but has [2, 4) of it}}
    %y = spmd.slice %x from <[[data], []]> to <[[data] at [0:1, 1:2], []]> of tensor<4x3xf32> : tensor<2x3xf32> -> tensor<1x3xf32>
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  func.func @step_c0(%x: tensor<2x3xf32> {dist.layout = #dist.layout<[[data], []]>, spmd.global = tensor<4x3xf32>})
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    %h = spmd.halo_exchange %x over ["data"] from <[[data], []]> to <[[data] at [0:3, 1:4], []]> of tensor<4x3xf32> : tensor<2x3xf32> -> tensor<3x3xf32>
    // expected-error @+1 {{contract of the partition phase: begins with parts that overlap or leave gaps, found #dist.layout<[[data] at [0:3, 1:4], []]>}}
    %y = spmd.halo_exchange %h over ["data"] from <[[data] at [0:3, 1:4], []]> to <[[data], []]> of tensor<4x3xf32> : tensor<3x3xf32> -> tensor<2x3xf32>
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  func.func @step_c0(%x: tensor<2x3xf32> {dist.layout = #dist.layout<[[data], []]>, spmd.global = tensor<4x3xf32>})
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    // expected-error @+1 {{contract of the partition phase: makes parts that overlap or leave gaps, found #dist.layout<[[], [data] at [0:2, 1:3]]>}}
    %y = spmd.all_to_all %x over ["data"] from <[[data], []]> to <[[], [data] at [0:2, 1:3]]> of tensor<4x3xf32> : tensor<2x3xf32> -> tensor<4x2xf32>
    return
  }
}

// -----

// Halos from ranks that do not take part in the call.
module attributes {dist.grid = #dist.grid<data = 2, row = 2>} {
  spmd.class @c0 ranks [0, 1, 2, 3]
  func.func @step_c0(%x: tensor<2x2xf32> {dist.layout = #dist.layout<[[data], [row]]>, spmd.global = tensor<4x4xf32>})
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    // expected-error @+1 {{contract of the partition phase: rank 0 needs [0, 4) of dimension 0, but the ranks it communicates with hold 2 of these 4, found #dist.layout<[[data], [row]]>}}
    %y = spmd.exchange %x over ["row"] from <[[data], [row]]> to <[[], [row]]> of tensor<4x4xf32> : tensor<2x2xf32> -> tensor<4x2xf32>
    return
  }
}

// -----

// Rows that a rank computes of its neighbours lack what these add.
module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0]
  spmd.class @c1 ranks [1]
  func.func @step_c0(%dy: tensor<1x1x4xf32> {dist.layout = #dist.layout<[[], [], [data]]>, spmd.global = tensor<1x1x8xf32>}, %w: tensor<1x1x3xf32> {dist.layout = #dist.layout<[[], [], []]>, spmd.global = tensor<1x1x3xf32>})
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    %0 = spmd.halo_exchange %dy over ["data"] from <[[], [], [data]]> to <[[], [], [data] at [0:5, 3:8]]> of tensor<1x1x8xf32> : tensor<1x1x4xf32> -> tensor<1x1x5xf32>
    %1 = nn.conv_input_grad %0, %w {dilations = array<i64: 1>, pads = array<i64: 1, 0>, spmd.split = #dist.split<w = [data]>, spmd.whole = {pads = array<i64: 1, 1>, results = [tensor<1x1x8xf32>]}, strides = array<i64: 1>} : tensor<1x1x5xf32>, tensor<1x1x3xf32> -> tensor<1x1x6xf32>
    // expected-error @+1 {{contract of the partition phase: operand 0 holds rows that lack what other ranks add to them; cut them off by spmd.slice first}}
    %2 = nn.relu %1 {spmd.split = #dist.split<d2 = [data] at [0:4, 4:8]>} : tensor<1x1x6xf32>
    return
  }
  func.func @step_c1(%dy: tensor<1x1x4xf32> {dist.layout = #dist.layout<[[], [], [data]]>, spmd.global = tensor<1x1x8xf32>}, %w: tensor<1x1x3xf32> {dist.layout = #dist.layout<[[], [], []]>, spmd.global = tensor<1x1x3xf32>})
      attributes {spmd.class = @c1, spmd.phase = "step"} {
    %0 = spmd.halo_exchange %dy over ["data"] from <[[], [], [data]]> to <[[], [], [data] at [0:5, 3:8]]> of tensor<1x1x8xf32> : tensor<1x1x4xf32> -> tensor<1x1x5xf32>
    %1 = nn.conv_input_grad %0, %w {dilations = array<i64: 1>, pads = array<i64: 0, 1>, spmd.split = #dist.split<w = [data]>, spmd.whole = {pads = array<i64: 1, 1>, results = [tensor<1x1x8xf32>]}, strides = array<i64: 1>} : tensor<1x1x5xf32>, tensor<1x1x3xf32> -> tensor<1x1x6xf32>
    // expected-error @+1 {{contract of the partition phase: operand 0 holds rows that lack what other ranks add to them; cut them off by spmd.slice first}}
    %2 = nn.relu %1 {spmd.split = #dist.split<d2 = [data] at [0:4, 4:8]>} : tensor<1x1x6xf32>
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0]
  spmd.class @c1 ranks [1]
  func.func @step_c0(%dy: tensor<1x1x4xf32> {dist.layout = #dist.layout<[[], [], [data]]>, spmd.global = tensor<1x1x8xf32>}, %w: tensor<1x1x3xf32> {dist.layout = #dist.layout<[[], [], []]>, spmd.global = tensor<1x1x3xf32>})
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    %0 = spmd.halo_exchange %dy over ["data"] from <[[], [], [data]]> to <[[], [], [data] at [0:5, 3:8]]> of tensor<1x1x8xf32> : tensor<1x1x4xf32> -> tensor<1x1x5xf32>
    %1 = nn.conv_input_grad %0, %w {dilations = array<i64: 1>, pads = array<i64: 1, 0>, spmd.split = #dist.split<w = [data]>, spmd.whole = {pads = array<i64: 1, 1>, results = [tensor<1x1x8xf32>]}, strides = array<i64: 1>} : tensor<1x1x5xf32>, tensor<1x1x3xf32> -> tensor<1x1x6xf32>
    // expected-error @+1 {{contract of the partition phase: the value holds rows that lack what other ranks add to them, found}}
    %2 = spmd.all_reduce sum %1 over ["data"] : tensor<1x1x6xf32>
    return
  }
  func.func @step_c1(%dy: tensor<1x1x4xf32> {dist.layout = #dist.layout<[[], [], [data]]>, spmd.global = tensor<1x1x8xf32>}, %w: tensor<1x1x3xf32> {dist.layout = #dist.layout<[[], [], []]>, spmd.global = tensor<1x1x3xf32>})
      attributes {spmd.class = @c1, spmd.phase = "step"} {
    %0 = spmd.halo_exchange %dy over ["data"] from <[[], [], [data]]> to <[[], [], [data] at [0:5, 3:8]]> of tensor<1x1x8xf32> : tensor<1x1x4xf32> -> tensor<1x1x5xf32>
    %1 = nn.conv_input_grad %0, %w {dilations = array<i64: 1>, pads = array<i64: 0, 1>, spmd.split = #dist.split<w = [data]>, spmd.whole = {pads = array<i64: 1, 1>, results = [tensor<1x1x8xf32>]}, strides = array<i64: 1>} : tensor<1x1x5xf32>, tensor<1x1x3xf32> -> tensor<1x1x6xf32>
    // expected-error @+1 {{contract of the partition phase: the value holds rows that lack what other ranks add to them, found}}
    %2 = spmd.all_reduce sum %1 over ["data"] : tensor<1x1x6xf32>
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0]
  spmd.class @c1 ranks [1]
  func.func @step_c0(%dy: tensor<1x1x4xf32> {dist.layout = #dist.layout<[[], [], [data]]>, spmd.global = tensor<1x1x8xf32>}, %w: tensor<1x1x3xf32> {dist.layout = #dist.layout<[[], [], []]>, spmd.global = tensor<1x1x3xf32>})
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    %0 = spmd.halo_exchange %dy over ["data"] from <[[], [], [data]]> to <[[], [], [data] at [0:5, 3:8]]> of tensor<1x1x8xf32> : tensor<1x1x4xf32> -> tensor<1x1x5xf32>
    %1 = nn.conv_input_grad %0, %w {dilations = array<i64: 1>, pads = array<i64: 1, 0>, spmd.split = #dist.split<w = [data]>, spmd.whole = {pads = array<i64: 1, 1>, results = [tensor<1x1x8xf32>]}, strides = array<i64: 1>} : tensor<1x1x5xf32>, tensor<1x1x3xf32> -> tensor<1x1x6xf32>
    // expected-error @+1 {{contract of the partition phase: the value holds rows that lack what other ranks add to them, found}}
    %2 = spmd.exchange %1 over ["data"] from <[[], [], [data] at [0:6, 2:8]]> to <[[], [], [data]]> of tensor<1x1x8xf32> : tensor<1x1x6xf32> -> tensor<1x1x4xf32>
    return
  }
  func.func @step_c1(%dy: tensor<1x1x4xf32> {dist.layout = #dist.layout<[[], [], [data]]>, spmd.global = tensor<1x1x8xf32>}, %w: tensor<1x1x3xf32> {dist.layout = #dist.layout<[[], [], []]>, spmd.global = tensor<1x1x3xf32>})
      attributes {spmd.class = @c1, spmd.phase = "step"} {
    %0 = spmd.halo_exchange %dy over ["data"] from <[[], [], [data]]> to <[[], [], [data] at [0:5, 3:8]]> of tensor<1x1x8xf32> : tensor<1x1x4xf32> -> tensor<1x1x5xf32>
    %1 = nn.conv_input_grad %0, %w {dilations = array<i64: 1>, pads = array<i64: 0, 1>, spmd.split = #dist.split<w = [data]>, spmd.whole = {pads = array<i64: 1, 1>, results = [tensor<1x1x8xf32>]}, strides = array<i64: 1>} : tensor<1x1x5xf32>, tensor<1x1x3xf32> -> tensor<1x1x6xf32>
    // expected-error @+1 {{contract of the partition phase: the value holds rows that lack what other ranks add to them, found}}
    %2 = spmd.exchange %1 over ["data"] from <[[], [], [data] at [0:6, 2:8]]> to <[[], [], [data]]> of tensor<1x1x8xf32> : tensor<1x1x6xf32> -> tensor<1x1x4xf32>
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0]
  spmd.class @c1 ranks [1]
  func.func @step_c0(%dy: tensor<1x1x4xf32> {dist.layout = #dist.layout<[[], [], [data]]>, spmd.global = tensor<1x1x8xf32>}, %w: tensor<1x1x3xf32> {dist.layout = #dist.layout<[[], [], []]>, spmd.global = tensor<1x1x3xf32>})
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    %0 = spmd.halo_exchange %dy over ["data"] from <[[], [], [data]]> to <[[], [], [data] at [0:5, 3:8]]> of tensor<1x1x8xf32> : tensor<1x1x4xf32> -> tensor<1x1x5xf32>
    %1 = nn.conv_input_grad %0, %w {dilations = array<i64: 1>, pads = array<i64: 1, 0>, spmd.split = #dist.split<w = [data]>, spmd.whole = {pads = array<i64: 1, 1>, results = [tensor<1x1x8xf32>]}, strides = array<i64: 1>} : tensor<1x1x5xf32>, tensor<1x1x3xf32> -> tensor<1x1x6xf32>
    // expected-error @+1 {{contract of the partition phase: rank 0 is to keep [0, 5) of dimension 2, but has [0, 4) of it}}
    %2 = spmd.slice %1 from <[[], [], [data] at [0:6, 2:8]]> to <[[], [], [data] at [0:5, 3:8]]> of tensor<1x1x8xf32> : tensor<1x1x6xf32> -> tensor<1x1x5xf32>
    return
  }
  func.func @step_c1(%dy: tensor<1x1x4xf32> {dist.layout = #dist.layout<[[], [], [data]]>, spmd.global = tensor<1x1x8xf32>}, %w: tensor<1x1x3xf32> {dist.layout = #dist.layout<[[], [], []]>, spmd.global = tensor<1x1x3xf32>})
      attributes {spmd.class = @c1, spmd.phase = "step"} {
    %0 = spmd.halo_exchange %dy over ["data"] from <[[], [], [data]]> to <[[], [], [data] at [0:5, 3:8]]> of tensor<1x1x8xf32> : tensor<1x1x4xf32> -> tensor<1x1x5xf32>
    %1 = nn.conv_input_grad %0, %w {dilations = array<i64: 1>, pads = array<i64: 0, 1>, spmd.split = #dist.split<w = [data]>, spmd.whole = {pads = array<i64: 1, 1>, results = [tensor<1x1x8xf32>]}, strides = array<i64: 1>} : tensor<1x1x5xf32>, tensor<1x1x3xf32> -> tensor<1x1x6xf32>
    // expected-error @+1 {{contract of the partition phase: rank 1 is to keep [3, 8) of dimension 2, but has [4, 8) of it}}
    %2 = spmd.slice %1 from <[[], [], [data] at [0:6, 2:8]]> to <[[], [], [data] at [0:5, 3:8]]> of tensor<1x1x8xf32> : tensor<1x1x6xf32> -> tensor<1x1x5xf32>
    return
  }
}

// -----

// The last window reaches the padding, which counts.
module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0]
  spmd.class @c1 ranks [1]
  func.func @step_c0(%x: tensor<1x1x4xf32> {dist.layout = #dist.layout<[[], [], [data]]>, spmd.global = tensor<1x1x8xf32>})
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    %0 = spmd.halo_exchange %x over ["data"] from <[[], [], [data]]> to <[[], [], [data] at [0:5, 4:8]]> of tensor<1x1x8xf32> : tensor<1x1x4xf32> -> tensor<1x1x5xf32>
    %y = nn.avg_pool %0 {count_include_pad, kernel = array<i64: 3>, strides = array<i64: 2>, dilations = array<i64: 1>, pads = array<i64: 0, 0>, spmd.split = #dist.split<w = [data]>, spmd.whole = {pads = array<i64: 0, 1>, results = [tensor<1x1x4xf32>]}} : tensor<1x1x5xf32> -> tensor<1x1x2xf32>
    return
  }
  func.func @step_c1(%x: tensor<1x1x4xf32> {dist.layout = #dist.layout<[[], [], [data]]>, spmd.global = tensor<1x1x8xf32>})
      attributes {spmd.class = @c1, spmd.phase = "step"} {
    %0 = spmd.halo_exchange %x over ["data"] from <[[], [], [data]]> to <[[], [], [data] at [0:5, 4:8]]> of tensor<1x1x8xf32> : tensor<1x1x4xf32> -> tensor<1x1x4xf32>
    // expected-error @+1 {{contract of the partition phase: counts padding of dimension 2 up to row 8 on rank 1, expected 9}}
    %y = nn.avg_pool %0 {count_include_pad, kernel = array<i64: 3>, strides = array<i64: 2>, dilations = array<i64: 1>, pads = array<i64: 0, 0>, spmd.split = #dist.split<w = [data]>, spmd.whole = {pads = array<i64: 0, 1>, results = [tensor<1x1x4xf32>]}} : tensor<1x1x4xf32> -> tensor<1x1x2xf32>
    return
  }
}

// -----

// Only joining can do without operands.
module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  func.func @step_c0(%x: tensor<2xf32> {dist.layout = #dist.layout<[[data]]>, spmd.global = tensor<4xf32>})
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    // expected-error @+1 {{contract of the partition phase: must have all operands of the whole operation}}
    %y = nn.relu %x {spmd.split = #dist.split<d0 = [data]>, spmd.whole = {operands = [tensor<4xf32>], present = array<i64: 0>}} : tensor<2xf32>
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  func.func @step_c0() attributes {spmd.class = @c0, spmd.phase = "step"} {
    // expected-error @+1 {{contract of the partition phase: 'spmd.record' is no operation of a partitioned program}}
    spmd.record 0 on compute
    return
  }
}
