// One refused move per constraint, named after its label.
// RUN: partita-opt %s -split-input-file -verify-diagnostics

module attributes {dist.grid = #dist.grid<row = 2, col = 2>} {
  func.func @slice_c1_rank_of_layout(%x: tensor<8x8xf32>) {
    // expected-error @+1 {{'spmd.slice' op layout #dist.layout<[[]]> and part 'tensor<8x8xf32>' do not belong to 'tensor<8x8xf32>'}}
    %0 = spmd.slice %x from <[[]]> to <[[row], []]> of tensor<8x8xf32> : tensor<8x8xf32> -> tensor<4x8xf32>
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<row = 2, col = 2>} {
  func.func @slice_c1_no_tensor(%x: tensor<8x8xf32>) {
    // expected-error @+1 {{'spmd.slice' op `of` names 'f32', expected a ranked tensor}}
    %0 = spmd.slice %x from <[[], []]> to <[[row], []]> of f32 : tensor<8x8xf32> -> tensor<4x8xf32>
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<row = 2, col = 2>} {
  func.func @slice_c1_element_type(%x: tensor<8x8xf32>) {
    // expected-error @+1 {{'spmd.slice' op layout #dist.layout<[[row], []]> and part 'tensor<4x8xf64>' do not belong to 'tensor<8x8xf32>'}}
    %0 = spmd.slice %x from <[[], []]> to <[[row], []]> of tensor<8x8xf32> : tensor<8x8xf32> -> tensor<4x8xf64>
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<row = 2, col = 2>} {
  func.func @slice_c2_axes(%x: tensor<8x8xf32>) {
    // expected-error @+1 {{'spmd.slice' op sends nothing and has no axes}}
    %0 = spmd.slice %x over ["row"] from <[[], []]> to <[[row], []]> of tensor<8x8xf32> : tensor<8x8xf32> -> tensor<4x8xf32>
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<row = 2, col = 2>} {
  func.func @slice_c3_larger(%x: tensor<4x8xf32>) {
    // expected-error @+1 {{'spmd.slice' op the new part 'tensor<8x8xf32>' does not lie in the old one 'tensor<4x8xf32>'}}
    %0 = spmd.slice %x from <[[row], []]> to <[[], []]> of tensor<8x8xf32> : tensor<4x8xf32> -> tensor<8x8xf32>
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<row = 2, col = 2>} {
  func.func @all_gather_c1_part_too_large(%x: tensor<4x8xf32>) {
    // expected-error @+1 {{'spmd.all_gather' op part 'tensor<9x8xf32>' is larger than 'tensor<8x8xf32>'}}
    %0 = spmd.all_gather %x over ["row"] from <[[row], []]> to <[[], []]> of tensor<8x8xf32> : tensor<4x8xf32> -> tensor<9x8xf32>
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<row = 2, col = 2>} {
  func.func @all_gather_c2_no_axis(%x: tensor<4x8xf32>) {
    // expected-error @+1 {{'spmd.all_gather' op needs at least one axis}}
    %0 = spmd.all_gather %x from <[[row], []]> to <[[], []]> of tensor<8x8xf32> : tensor<4x8xf32> -> tensor<8x8xf32>
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<row = 2, col = 2>} {
  func.func @all_gather_c2_not_in_grid(%x: tensor<4x8xf32>) {
    // expected-error @+1 {{'spmd.all_gather' op axis 'node' is not one of the grid #dist.grid<row = 2, col = 2>}}
    %0 = spmd.all_gather %x over ["node"] from <[[row], []]> to <[[], []]> of tensor<8x8xf32> : tensor<4x8xf32> -> tensor<8x8xf32>
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<row = 2, col = 2>} {
  func.func @all_gather_c2_twice(%x: tensor<4x8xf32>) {
    // expected-error @+1 {{'spmd.all_gather' op names axis 'row' twice}}
    %0 = spmd.all_gather %x over ["row", "row"] from <[[row], []]> to <[[], []]> of tensor<8x8xf32> : tensor<4x8xf32> -> tensor<8x8xf32>
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<row = 2, col = 2>} {
  func.func @all_gather_c3_other_axis(%x: tensor<4x8xf32>) {
    // expected-error @+1 {{'spmd.all_gather' op axes ["col"] are not the last ones of the one dimension whose cut differs between #dist.layout<[[row], []]> and #dist.layout<[[], []]>}}
    %0 = spmd.all_gather %x over ["col"] from <[[row], []]> to <[[], []]> of tensor<8x8xf32> : tensor<4x8xf32> -> tensor<8x8xf32>
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<row = 2, col = 2>} {
  func.func @all_gather_c3_first_axis(%x: tensor<2x8xf32>) {
    // expected-error @+1 {{'spmd.all_gather' op axes ["row"] are not the last ones of the one dimension}}
    %0 = spmd.all_gather %x over ["row"] from <[[row, col], []]> to <[[col], []]> of tensor<8x8xf32> : tensor<2x8xf32> -> tensor<4x8xf32>
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<row = 2, col = 2>} {
  func.func @all_gather_c3_two_dimensions(%x: tensor<4x4xf32>) {
    // expected-error @+1 {{'spmd.all_gather' op axes ["row", "col"] are not the last ones of the one dimension}}
    %0 = spmd.all_gather %x over ["row", "col"] from <[[row], [col]]> to <[[], []]> of tensor<8x8xf32> : tensor<4x4xf32> -> tensor<8x8xf32>
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<row = 2, col = 2>} {
  func.func @reduce_scatter_c1_part_too_large(%x: tensor<8x8xf32>) {
    // expected-error @+1 {{'spmd.reduce_scatter' op part 'tensor<9x8xf32>' is larger than 'tensor<8x8xf32>'}}
    %0 = spmd.reduce_scatter %x over ["row"] from <[[], []], partial sum [row]> to <[[row], []]> of tensor<8x8xf32> : tensor<8x8xf32> -> tensor<9x8xf32>
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<row = 2, col = 2>} {
  func.func @reduce_scatter_c2_no_axis(%x: tensor<8x8xf32>) {
    // expected-error @+1 {{'spmd.reduce_scatter' op needs at least one axis}}
    %0 = spmd.reduce_scatter %x from <[[], []], partial sum [row]> to <[[row], []]> of tensor<8x8xf32> : tensor<8x8xf32> -> tensor<4x8xf32>
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<row = 2, col = 2>} {
  func.func @reduce_scatter_c2_not_in_grid(%x: tensor<8x8xf32>) {
    // expected-error @+1 {{'spmd.reduce_scatter' op axis 'node' is not one of the grid #dist.grid<row = 2, col = 2>}}
    %0 = spmd.reduce_scatter %x over ["node"] from <[[], []], partial sum [row]> to <[[row], []]> of tensor<8x8xf32> : tensor<8x8xf32> -> tensor<4x8xf32>
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<row = 2, col = 2>} {
  func.func @reduce_scatter_c2_twice(%x: tensor<8x8xf32>) {
    // expected-error @+1 {{'spmd.reduce_scatter' op names axis 'row' twice}}
    %0 = spmd.reduce_scatter %x over ["row", "row"] from <[[], []], partial sum [row]> to <[[row], []]> of tensor<8x8xf32> : tensor<8x8xf32> -> tensor<4x8xf32>
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<row = 2, col = 2>} {
  func.func @reduce_scatter_c3_not_partial(%x: tensor<8x8xf32>) {
    // expected-error @+1 {{'spmd.reduce_scatter' op the value is not partial over axis 'row'}}
    %0 = spmd.reduce_scatter %x over ["row"] from <[[], []]> to <[[row], []]> of tensor<8x8xf32> : tensor<8x8xf32> -> tensor<4x8xf32>
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<row = 2, col = 2>} {
  func.func @reduce_scatter_c3_not_scattered(%x: tensor<8x8xf32>) {
    // expected-error @+1 {{'spmd.reduce_scatter' op axes ["row"] are not the last ones of the one dimension whose cut differs between #dist.layout<[[col], []]> and #dist.layout<[[], []], partial sum [row]>}}
    %0 = spmd.reduce_scatter %x over ["row"] from <[[], []], partial sum [row]> to <[[col], []]> of tensor<8x8xf32> : tensor<8x8xf32> -> tensor<4x8xf32>
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<row = 2, col = 2>} {
  func.func @all_to_all_c1_part_too_large(%x: tensor<4x8xf32>) {
    // expected-error @+1 {{'spmd.all_to_all' op part 'tensor<9x4xf32>' is larger than 'tensor<8x8xf32>'}}
    %0 = spmd.all_to_all %x over ["row"] from <[[row], []]> to <[[], [row]]> of tensor<8x8xf32> : tensor<4x8xf32> -> tensor<9x4xf32>
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<row = 2, col = 2>} {
  func.func @all_to_all_c2_no_axis(%x: tensor<4x8xf32>) {
    // expected-error @+1 {{'spmd.all_to_all' op needs at least one axis}}
    %0 = spmd.all_to_all %x from <[[row], []]> to <[[], [row]]> of tensor<8x8xf32> : tensor<4x8xf32> -> tensor<8x4xf32>
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<row = 2, col = 2>} {
  func.func @all_to_all_c2_not_in_grid(%x: tensor<4x8xf32>) {
    // expected-error @+1 {{'spmd.all_to_all' op axis 'node' is not one of the grid #dist.grid<row = 2, col = 2>}}
    %0 = spmd.all_to_all %x over ["node"] from <[[row], []]> to <[[], [row]]> of tensor<8x8xf32> : tensor<4x8xf32> -> tensor<8x4xf32>
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<row = 2, col = 2>} {
  func.func @all_to_all_c2_twice(%x: tensor<4x8xf32>) {
    // expected-error @+1 {{'spmd.all_to_all' op names axis 'row' twice}}
    %0 = spmd.all_to_all %x over ["row", "row"] from <[[row], []]> to <[[], [row]]> of tensor<8x8xf32> : tensor<4x8xf32> -> tensor<8x4xf32>
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<row = 2, col = 2>} {
  func.func @all_to_all_c3_one_dimension(%x: tensor<4x8xf32>) {
    // expected-error @+1 {{'spmd.all_to_all' op axes ["row"] do not move from one dimension of #dist.layout<[[row], []]> to another of #dist.layout<[[], []]>}}
    %0 = spmd.all_to_all %x over ["row"] from <[[row], []]> to <[[], []]> of tensor<8x8xf32> : tensor<4x8xf32> -> tensor<8x8xf32>
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<row = 2, col = 2>} {
  func.func @all_to_all_c3_other_axis(%x: tensor<4x8xf32>) {
    // expected-error @+1 {{'spmd.all_to_all' op axes ["row"] do not move from one dimension of #dist.layout<[[row], []]> to another of #dist.layout<[[], [col]]>}}
    %0 = spmd.all_to_all %x over ["row"] from <[[row], []]> to <[[], [col]]> of tensor<8x8xf32> : tensor<4x8xf32> -> tensor<8x4xf32>
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<row = 2, col = 2>} {
  func.func @halo_exchange_c1_part_too_large(%x: tensor<4x8xf32>) {
    // expected-error @+1 {{'spmd.halo_exchange' op part 'tensor<9x8xf32>' is larger than 'tensor<8x8xf32>'}}
    %0 = spmd.halo_exchange %x over ["row"] from <[[row], []]> to <[[row] at [0:5, 3:8], []]> of tensor<8x8xf32> : tensor<4x8xf32> -> tensor<9x8xf32>
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<row = 2, col = 2>} {
  func.func @halo_exchange_c2_no_axis(%x: tensor<4x8xf32>) {
    // expected-error @+1 {{'spmd.halo_exchange' op needs at least one axis}}
    %0 = spmd.halo_exchange %x from <[[row], []]> to <[[row] at [0:5, 3:8], []]> of tensor<8x8xf32> : tensor<4x8xf32> -> tensor<5x8xf32>
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<row = 2, col = 2>} {
  func.func @halo_exchange_c2_not_in_grid(%x: tensor<4x8xf32>) {
    // expected-error @+1 {{'spmd.halo_exchange' op axis 'node' is not one of the grid #dist.grid<row = 2, col = 2>}}
    %0 = spmd.halo_exchange %x over ["node"] from <[[row], []]> to <[[row] at [0:5, 3:8], []]> of tensor<8x8xf32> : tensor<4x8xf32> -> tensor<5x8xf32>
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<row = 2, col = 2>} {
  func.func @halo_exchange_c2_twice(%x: tensor<4x8xf32>) {
    // expected-error @+1 {{'spmd.halo_exchange' op names axis 'row' twice}}
    %0 = spmd.halo_exchange %x over ["row", "row"] from <[[row], []]> to <[[row] at [0:5, 3:8], []]> of tensor<8x8xf32> : tensor<4x8xf32> -> tensor<5x8xf32>
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<row = 2, col = 2>} {
  func.func @halo_exchange_c3_other_axes(%x: tensor<4x8xf32>) {
    // expected-error @+1 {{'spmd.halo_exchange' op dimensions keep their axes, found #dist.layout<[[row], []]> and #dist.layout<[[], [row]]>}}
    %0 = spmd.halo_exchange %x over ["row"] from <[[row], []]> to <[[], [row]]> of tensor<8x8xf32> : tensor<4x8xf32> -> tensor<8x4xf32>
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<row = 2, col = 2>} {
  func.func @exchange_c1_part_too_large(%x: tensor<4x8xf32>) {
    // expected-error @+1 {{'spmd.exchange' op part 'tensor<9x8xf32>' is larger than 'tensor<8x8xf32>'}}
    %0 = spmd.exchange %x over ["row"] from <[[row], []]> to <[[row] at [0:5, 5:8], []]> of tensor<8x8xf32> : tensor<4x8xf32> -> tensor<9x8xf32>
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<row = 2, col = 2>} {
  func.func @exchange_c2_no_axis(%x: tensor<4x8xf32>) {
    // expected-error @+1 {{'spmd.exchange' op needs at least one axis}}
    %0 = spmd.exchange %x from <[[row], []]> to <[[row] at [0:5, 5:8], []]> of tensor<8x8xf32> : tensor<4x8xf32> -> tensor<5x8xf32>
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<row = 2, col = 2>} {
  func.func @exchange_c2_not_in_grid(%x: tensor<4x8xf32>) {
    // expected-error @+1 {{'spmd.exchange' op axis 'node' is not one of the grid #dist.grid<row = 2, col = 2>}}
    %0 = spmd.exchange %x over ["node"] from <[[row], []]> to <[[row] at [0:5, 5:8], []]> of tensor<8x8xf32> : tensor<4x8xf32> -> tensor<5x8xf32>
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<row = 2, col = 2>} {
  func.func @exchange_c2_twice(%x: tensor<4x8xf32>) {
    // expected-error @+1 {{'spmd.exchange' op names axis 'row' twice}}
    %0 = spmd.exchange %x over ["row", "row"] from <[[row], []]> to <[[row] at [0:5, 5:8], []]> of tensor<8x8xf32> : tensor<4x8xf32> -> tensor<5x8xf32>
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<row = 2, col = 2>} {
  func.func @exchange_c3_combines(%x: tensor<4x8xf32>) {
    // expected-error @+1 {{'spmd.exchange' op cannot combine values; found #dist.layout<[[row], []], partial sum [col]> and #dist.layout<[[col], []]>}}
    %0 = spmd.exchange %x over ["row", "col"] from <[[row], []], partial sum [col]> to <[[col], []]> of tensor<8x8xf32> : tensor<4x8xf32> -> tensor<4x8xf32>
    return
  }
}
