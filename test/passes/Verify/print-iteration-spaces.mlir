// RUN: partita-opt %s -split-input-file -verify-diagnostics -partita-print-iteration-spaces

func.func @matmul(%a: tensor<4x3xf32>, %b: tensor<2x3xf32>) {
  // expected-remark @+1 {{m = 4 parallel batch, n = 2 parallel model, k = 3 sum model: (m, k) (n, k) -> (m, n)}}
  %y = nn.matmul %a, %b {transpose_b} : tensor<4x3xf32>, tensor<2x3xf32>
  return
}

// -----

// Two dimensions with stride, dilation and padding; the bias follows the output
// channels.
func.func @conv(%x: tensor<4x1x6x5xf32>, %w: tensor<2x1x3x2xf32>, %b: tensor<2xf32>) {
  // expected-remark @+1 {{n = 4 parallel batch, co = 2 parallel model, ci = 1 sum model, kh = 3 whole, h = 3 parallel domain, kw = 2 whole, w = 3 parallel domain: (n, ci, h * 2 - 1 : 3, w * 1 - 0 : 3) (co, ci, kh, kw) (co) -> (n, co, h, w)}}
  %y = nn.conv %x, %w bias %b {strides = array<i64: 2, 1>, dilations = array<i64: 1, 2>, pads = array<i64: 1, 0, 0, 0>} : tensor<4x1x6x5xf32>, tensor<2x1x3x2xf32>, tensor<2xf32>
  return
}

// -----

// Groups are split as a whole: blocks of input and output channels.
func.func @conv_groups(%x: tensor<4x4x6xf32>, %w: tensor<6x2x3xf32>) {
  // expected-remark @+1 {{n = 4 parallel batch, g = 2 parallel model, kw = 3 whole, w = 4 parallel domain: (n, g by 2, w * 1 - 0 : 3) (g by 3, *, kw) -> (n, g by 3, w)}}
  %y = nn.conv %x, %w {strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 0, 0>, groups = 2 : i64} : tensor<4x4x6xf32>, tensor<6x2x3xf32>
  return
}

// -----

// The same loops, summed over what the result lacks. The gradient by the input
// runs over its own rows: it reads all windows that touch them and computes all
// rows that these touch, of which it keeps its own.
func.func @conv_gradients(%x: tensor<4x1x6xf32>, %w: tensor<2x1x3xf32>, %dy: tensor<4x2x4xf32>) {
  // expected-remark @+1 {{n = 4 parallel batch, co = 2 sum model, ci = 1 parallel model, kw = 3 whole, w = 6 parallel domain: (n, co, windows over w * 1 - 0 : 3) (co, ci, kw) -> (n, ci, w) from (n, ci, windows with w * 1 - 0 : 3)}}
  %dx = nn.conv_input_grad %dy, %w {strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 0, 0>} : tensor<4x2x4xf32>, tensor<2x1x3xf32> -> tensor<4x1x6xf32>
  // expected-remark @+1 {{n = 4 sum batch, co = 2 parallel model, ci = 1 parallel model, kw = 3 whole, w = 4 sum domain: (n, ci, w * 1 - 0 : 3) (n, co, w) -> (co, ci, kw)}}
  %dw = nn.conv_filter_grad %x, %dy {strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 0, 0>} : tensor<4x1x6xf32>, tensor<4x2x4xf32> -> tensor<2x1x3xf32>
  return
}

// -----

// A leading dimension of size 1 is read by every index.
func.func @matmul_batched(%a: tensor<2x1x4x3xf32>, %b: tensor<5x3x6xf32>) {
  // expected-remark @+1 {{b0 = 2 parallel batch, b1 = 5 parallel model, m = 4 parallel domain, n = 6 parallel model, k = 3 sum model: (b0, *, m, k) (b1, k, n) -> (b0, b1, m, n)}}
  %y = nn.matmul %a, %b : tensor<2x1x4x3xf32>, tensor<5x3x6xf32>
  return
}

// -----

// Windows; a gradient takes all that touch its rows, and the rows of those.
func.func @pools(%x: tensor<4x2x5xf32>, %dy: tensor<4x2x2xf32>) {
  // expected-remark @+1 {{n = 4 parallel batch, c = 2 parallel model, kw = 3 whole, w = 2 parallel domain: (n, c, w * 2 - 1 : 3) -> (n, c, w)}}
  %0 = nn.max_pool %x {kernel = array<i64: 3>, strides = array<i64: 2>, dilations = array<i64: 1>, pads = array<i64: 1, 0>} : tensor<4x2x5xf32> -> tensor<4x2x2xf32>
  // expected-remark @+1 {{n = 4 parallel batch, c = 2 parallel model, kw = 3 whole, w = 5 parallel domain: (n, c, windows with w * 2 - 1 : 3) (n, c, windows over w * 2 - 1 : 3) -> (n, c, w) from (n, c, windows with w * 2 - 1 : 3)}}
  %1 = nn.max_pool_grad %x, %dy {kernel = array<i64: 3>, strides = array<i64: 2>, dilations = array<i64: 1>, pads = array<i64: 1, 0>} : tensor<4x2x5xf32>, tensor<4x2x2xf32>
  // expected-remark @+1 {{n = 4 parallel batch, c = 2 parallel model, kw = 3 whole, w = 5 parallel domain: (n, c, windows over w * 2 - 1 : 3) -> (n, c, w) from (n, c, windows with w * 2 - 1 : 3)}}
  %2 = nn.avg_pool_grad %dy {kernel = array<i64: 3>, strides = array<i64: 2>, dilations = array<i64: 1>, pads = array<i64: 1, 0>} : tensor<4x2x2xf32> -> tensor<4x2x5xf32>
  return
}

// -----

// Sums leave the channels; with `local` they are each rank's own.
func.func @norm(%x: tensor<4x3x2xf32>, %v: tensor<3xf32>) {
  // expected-remark @+1 {{d0 = 4 parallel batch, d1 = 3 parallel model, d2 = 2 parallel domain: (d0, d1, d2) (d1) (d1) (d1) (d1) -> (d0, d1, d2)}}
  %0 = nn.batch_norm frozen %x, %v, %v, %v, %v {eps = 1.0e-5 : f64, momentum = 0.9 : f64} : tensor<4x3x2xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
  // expected-remark @+1 {{d0 = 4 parallel batch, d1 = 3 parallel model, d2 = 2 parallel domain: (d0, d1, d2) (d1) (d1) (d1) (d1) -> (d0, d1, d2)}}
  %1 = nn.normalize %x, %v, %v, %v, %v {axis = 1 : i64, eps = 1.0e-5 : f64} : tensor<4x3x2xf32>, tensor<3xf32>
  // expected-remark @+1 {{d0 = 4 sum batch, d1 = 3 parallel model, d2 = 2 sum domain: (d0, d1, d2) (d0, d1, d2) (d1) (d1) -> (d1) (d1)}}
  %2, %3 = nn.normalize_sums %x, %x, %v, %v {axis = 1 : i64, eps = 1.0e-5 : f64} : tensor<4x3x2xf32>, tensor<3xf32>
  // expected-remark @+1 {{d0 = 4 parallel batch, d1 = 3 parallel model, d2 = 2 parallel domain: (d0, d1, d2) (d0, d1, d2) (d1) (d1) -> (d1) (d1)}}
  %4, %5 = nn.normalize_sums %x, %x, %v, %v {axis = 1 : i64, eps = 1.0e-5 : f64, local} : tensor<4x3x2xf32>, tensor<3xf32>
  // expected-remark @+1 {{d0 = 4 parallel batch, d1 = 3 parallel model, d2 = 2 parallel domain: (d0, d1, d2) (d0, d1, d2) (d1) (d1) (d1) (d1) (d1) -> (d0, d1, d2)}}
  %6 = nn.normalize_grad %x, %x, %v, %v, %v, %v, %v {axis = 1 : i64, eps = 1.0e-5 : f64, scale = 0.125 : f64} : tensor<4x3x2xf32>, tensor<3xf32>
  // expected-remark @+1 {{d0 = 4 parallel batch, d1 = 3 parallel model, d2 = 2 parallel domain: (d0, d1 * 1 - 1 : 3, d2) -> (d0, d1, d2) from (d0, d1 * 1 - 1 : 3, d2)}}
  %7 = nn.lrn %x {alpha = 1.0e-4 : f64, beta = 0.75 : f64, bias = 1.0 : f64, size = 3 : i64} : tensor<4x3x2xf32>
  // expected-remark @+1 {{d0 = 4 parallel batch, d1 = 3 parallel model, d2 = 2 parallel domain: (d0, d1 * 1 - 2 : 5, d2) (d0, d1 * 1 - 2 : 5, d2) -> (d0, d1, d2) from (d0, d1 * 1 - 2 : 5, d2)}}
  %8 = nn.lrn_grad %x, %x {alpha = 1.0e-4 : f64, beta = 0.75 : f64, bias = 1.0 : f64, size = 3 : i64} : tensor<4x3x2xf32>
  return
}

// -----

// Each kind combines by its own.
func.func @reduce(%x: tensor<4x3xf32>, %m: tensor<3xf32>) {
  // expected-remark @+1 {{d0 = 4 sum batch, d1 = 3 parallel: (d0, d1) -> (d1)}}
  %0 = nn.reduce sum %x {axes = array<i64: 0>} : tensor<4x3xf32>
  // expected-remark @+1 {{d0 = 4 max batch, d1 = 3 max: (d0, d1) -> ()}}
  %1 = nn.reduce max %x {axes = array<i64: 0, 1>} : tensor<4x3xf32>
  // expected-remark @+1 {{d0 = 4 parallel batch, d1 = 3 prod: (d0, d1) -> (d0)}}
  %2 = nn.reduce prod %x {axes = array<i64: 1>} : tensor<4x3xf32>
  // expected-remark @+1 {{d0 = 4 parallel batch, d1 = 3 parallel: (d0, d1) -> (d1)}}
  %3 = nn.reduce sum %x {axes = array<i64: 0>, local} : tensor<4x3xf32>
  // expected-remark @+1 {{d0 = 4 sum batch, d1 = 3 parallel: (d0, d1) (d1) -> (d1)}}
  %4 = nn.variance %x, %m {axes = array<i64: 0>, scale = 0.25 : f64} : tensor<4x3xf32>, tensor<3xf32>
  return
}

// -----

// Groups of dimensions that hold the same elements on both sides, dealt out by
// the outermost; dimensions of size 1 do not count.
func.func @reshape(%a: tensor<8x16x5x5xf32>, %b: tensor<64x10xf32>, %c: tensor<6x4xf32>, %d: tensor<4x2x3xf32>, %e: tensor<1x4x6xf32>) {
  // expected-remark @+1 {{g0 = 8 parallel batch, g1 = 16 parallel: (g0, g1, *, *) -> (g0, g1 by 25)}}
  %0 = nn.reshape %a : tensor<8x16x5x5xf32> -> tensor<8x400xf32>
  // expected-remark @+1 {{g0 = 64 parallel batch: (g0, *) -> (g0 by 10)}}
  %1 = nn.reshape %b : tensor<64x10xf32> -> tensor<640xf32>
  // expected-remark @+1 {{g0 = 6 whole batch: (g0, *) -> (g0, *)}}
  %2 = nn.reshape %c : tensor<6x4xf32> -> tensor<8x3xf32>
  // expected-remark @+1 {{g0 = 2 parallel batch, g1 = 3 parallel: (g0 by 2, *, g1) -> (g0, *, g1)}}
  %3 = nn.reshape %d : tensor<4x2x3xf32> -> tensor<2x4x3xf32>
  // expected-remark @+1 {{g0 = 4 parallel batch, g1 = 6 parallel: (*, g0, g1) -> (g0, g1)}}
  %4 = nn.reshape %e : tensor<1x4x6xf32> -> tensor<4x6xf32>
  // expected-remark @+1 {{g0 = 4 parallel batch, g1 = 2 parallel, g2 = 3 parallel: (g0, g1, g2) -> (g0, g1, g2, *)}}
  %5 = nn.reshape %d : tensor<4x2x3xf32> -> tensor<4x2x3x1xf32>
  return
}

// -----

// What is cut, filled or joined is a window over the result.
func.func @movement(%x: tensor<4x3xf32>, %v: tensor<3x1xf32>) {
  // expected-remark @+1 {{d0 = 4 parallel, d1 = 3 parallel: (d0, d1) -> (d1, d0)}}
  %0 = nn.transpose %x {permutation = array<i64: 1, 0>} : tensor<4x3xf32>
  // expected-remark @+1 {{d0 = 4 parallel, d1 = 3 parallel, d2 = 2 parallel: (d1, *) -> (d0, d1, d2)}}
  %1 = nn.broadcast %v : tensor<3x1xf32> -> tensor<4x3x2xf32>
  // expected-remark @+1 {{d0 = 4 parallel, d1 = 2 parallel: (d0, d1 * 1 - -1 : 1) -> (d0, d1)}}
  %2 = nn.slice %x {starts = array<i64: 0, 1>, sizes = array<i64: 4, 2>, steps = array<i64: 1, 1>} : tensor<4x3xf32>
  // expected-remark @+1 {{d0 = 4 parallel, d1 = 4 parallel: (d0, windows over d1 * 1 - -1 : 1) -> (d0, d1)}}
  %3 = nn.pad %x {low = array<i64: 0, 1>, interior = array<i64: 0, 0>, high = array<i64: 0, 0>} : tensor<4x3xf32>
  // expected-remark @+1 {{d0 = 4 parallel, d1 = 6 parallel: (d0, d1 * 1 - 0 : 1) (d0, d1 * 1 - 3 : 1) -> (d0, d1)}}
  %4 = nn.concat %x, %x {axis = 1 : i64} : tensor<4x3xf32>, tensor<4x3xf32>
  // expected-remark @+1 {{d0 = 4 parallel, d1 = 3 parallel: -> (d0, d1)}}
  %5 = nn.constant dense<1.0> : tensor<4x3xf32>
  // expected-remark @+1 {{d0 = 4 parallel: -> (d0)}}
  %6 = nn.dropout_mask {ratio = 0.5 : f64, stream = 0 : i64, global_shape = array<i64: 4>, start = array<i64: 0>} : tensor<4xf32>
  // expected-remark @+1 {{d0 = 4 parallel, d1 = 3 parallel: (d0, d1) -> (d0, d1)}}
  %7 = nn.dropout %x {ratio = 0.5 : f64, stream = 0 : i64} : tensor<4x3xf32>
  return
}

// -----

// Classes depend on each other.
func.func @classes(%x: tensor<4x10x5xf32>, %l: tensor<4x5xi64>) {
  // expected-remark @+1 {{d0 = 4 parallel batch, d1 = 10 coupled model, d2 = 5 parallel domain: (d0, d1, d2) -> (d0, d1, d2)}}
  %0 = nn.softmax %x {axis = 1 : i64} : tensor<4x10x5xf32>
  // expected-remark @+1 {{d0 = 4 parallel batch, d1 = 10 coupled model, d2 = 5 parallel domain: (d0, d1, d2) (d0, d1, d2) -> (d0, d1, d2)}}
  %1 = nn.log_softmax_grad %x, %x {axis = 1 : i64} : tensor<4x10x5xf32>
  // expected-remark @+1 {{d0 = 4 parallel batch, d1 = 10 coupled model, d2 = 5 parallel domain: (d0, d1, d2) (d0, d2) -> (d0, d2)}}
  %2 = nn.cross_entropy %x, %l {axis = 1 : i64} : tensor<4x10x5xf32>, tensor<4x5xi64>
  // expected-remark @+1 {{d0 = 4 parallel batch, d1 = 10 coupled model, d2 = 5 parallel domain: (d0, d1, d2) (d0, d2) -> (d0, d1, d2)}}
  %3 = nn.cross_entropy_grad %x, %l {axis = 1 : i64, scale = 0.05 : f64} : tensor<4x10x5xf32>, tensor<4x5xi64>
  // expected-remark @+1 {{d0 = 4 parallel batch, d1 = 10 coupled model, d2 = 5 parallel domain: (d0, d1, d2) (d0, d2) -> (d0, d2)}}
  %4 = nn.correct %x, %l {axis = 1 : i64} : tensor<4x10x5xf32>, tensor<4x5xi64>
  return
}

// -----

// The result's dimensions; operands are broadcast.
func.func @pointwise(%x: tensor<4x3xf32>, %v: tensor<3xf32>, %s: tensor<4x1xf32>, %p: tensor<4x3xi1>) {
  // expected-remark @+1 {{d0 = 4 parallel, d1 = 3 parallel: (d0, d1) (d1) -> (d0, d1)}}
  %0 = nn.add %x, %v : tensor<4x3xf32>, tensor<3xf32>
  // expected-remark @+1 {{d0 = 4 parallel, d1 = 3 parallel: (d0, *) (d1) -> (d0, d1)}}
  %1 = nn.mul %s, %v : tensor<4x1xf32>, tensor<3xf32>
  // expected-remark @+1 {{d0 = 4 parallel, d1 = 3 parallel: (d0, d1) (d0, *) (d1) -> (d0, d1)}}
  %2 = nn.select %p, %s, %v : tensor<4x3xi1>, tensor<4x1xf32>, tensor<3xf32>
  // expected-remark @+1 {{d0 = 4 parallel, d1 = 3 parallel: (d0, d1) -> (d0, d1)}}
  %3 = nn.relu %x : tensor<4x3xf32>
  // expected-remark @+1 {{d0 = 4 parallel, d1 = 3 parallel: (d0, *) -> (d0, d1) (d0, d1)}}
  %4:2 = nn.fused(%s : tensor<4x1xf32>) -> tensor<4x3xf32>, tensor<4x3xf32> {
  ^bb0(%e: f32):
    nn.yield %e, %e : f32, f32
  }
  return
}

// -----

// A part of the rows leaves partial sums of a look-up; a part of the indices
// leaves partial sums of its gradient.
func.func @look_ups(%t: tensor<2x7x3xf32>, %i: tensor<4x5xi64>, %s: tensor<i32>) {
  // expected-remark @+1 {{i0 = 4 parallel batch, i1 = 5 parallel domain, v = 7 sum model, c0 = 2 parallel model, c1 = 3 parallel model: (c0, v, c1) (i0, i1) -> (c0, i0, i1, c1)}}
  %y = nn.gather %t, %i {axis = 1 : i64, limit = 7 : i64} : tensor<2x7x3xf32>, tensor<4x5xi64>
  // expected-remark @+1 {{i0 = 4 sum batch, i1 = 5 sum domain, v = 7 parallel model, c0 = 2 parallel model, c1 = 3 parallel model: (c0, i0, i1, c1) (i0, i1) -> (c0, v, c1)}}
  %d = nn.scatter_add %y, %i {axis = 1 : i64, limit = 7 : i64} : tensor<2x4x5x3xf32>, tensor<4x5xi64> -> tensor<2x7x3xf32>
  // expected-remark @+1 {{v = 7 sum model, c0 = 2 parallel model, c1 = 3 parallel model: (c0, v, c1) () -> (c0, c1)}}
  %z = nn.gather %t, %s {axis = 1 : i64, limit = 7 : i64} : tensor<2x7x3xf32>, tensor<i32>
  return
}
