// One refused module per constraint of the layers, named after its label.
// RUN: partita-opt %s -split-input-file -verify-diagnostics

func.func @conv_c1_ranks(%x: tensor<1x4x4xf32>, %w: tensor<1x1x3x3xf32>) {
  // expected-error @+1 {{'nn.conv' needs an input and a filter of the same rank 3 to 5, found shapes [1, 4, 4] and [1, 1, 3, 3]}}
  %y = nn.conv %x, %w {strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 0, 0>} : tensor<1x4x4xf32>, tensor<1x1x3x3xf32>
  return
}

// -----

func.func @conv_c1_matrix(%x: tensor<4x4xf32>, %w: tensor<3x3xf32>) {
  // expected-error @+1 {{'nn.conv' needs an input and a filter of the same rank 3 to 5, found shapes [4, 4] and [3, 3]}}
  %y = nn.conv %x, %w {strides = array<i64>, dilations = array<i64>, pads = array<i64>} : tensor<4x4xf32>, tensor<3x3xf32>
  return
}

// -----

func.func @conv_c1_element_type(%x: tensor<1x1x4xf32>, %w: tensor<1x1x3xf64>) {
  // expected-error @+1 {{'nn.conv' operands differ in element type}}
  %y = nn.conv %x, %w {strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 0, 0>} : tensor<1x1x4xf32>, tensor<1x1x3xf64>
  return
}

// -----

func.func @conv_c2_missing_pad(%x: tensor<1x1x4x4xf32>, %w: tensor<1x1x3x3xf32>) {
  // expected-error @+1 {{'nn.conv' needs 2 strides and dilations and twice as many pads}}
  %y = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0>} : tensor<1x1x4x4xf32>, tensor<1x1x3x3xf32>
  return
}

// -----

func.func @conv_c2_stride_zero(%x: tensor<1x1x4x4xf32>, %w: tensor<1x1x3x3xf32>) {
  // expected-error @+1 {{'nn.conv' strides and dilations must be positive}}
  %y = nn.conv %x, %w {strides = array<i64: 1, 0>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : tensor<1x1x4x4xf32>, tensor<1x1x3x3xf32>
  return
}

// -----

func.func @conv_c2_negative_pad(%x: tensor<1x1x4x4xf32>, %w: tensor<1x1x3x3xf32>) {
  // expected-error @+1 {{'nn.conv' pads must not be negative}}
  %y = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, -1, 0, 0>} : tensor<1x1x4x4xf32>, tensor<1x1x3x3xf32>
  return
}

// -----

func.func @conv_c2_missing_attribute(%x: tensor<1x1x4x4xf32>, %w: tensor<1x1x3x3xf32>) {
  // expected-error @+1 {{'nn.conv' needs strides, dilations and pads}}
  %y = nn.conv %x, %w {strides = array<i64: 1, 1>} : tensor<1x1x4x4xf32>, tensor<1x1x3x3xf32>
  return
}

// -----

func.func @conv_c2_kind_of_attribute(%x: tensor<1x1x4x4xf32>, %w: tensor<1x1x3x3xf32>) {
  // expected-error @+1 {{attribute 'pads' failed to satisfy constraint: i64 dense array attribute}}
  %y = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = 0 : i64} : tensor<1x1x4x4xf32>, tensor<1x1x3x3xf32>
  return
}

// -----

func.func @conv_c3_groups(%x: tensor<1x4x4xf32>, %w: tensor<6x4x3xf32>) {
  // expected-error @+1 {{'nn.conv' with 2 groups: input [1, 4, 4] and filter [6, 4, 3] do not fit; the filter's second dimension is the input channels of one group}}
  %y = nn.conv %x, %w {strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 0, 0>, groups = 2 : i64} : tensor<1x4x4xf32>, tensor<6x4x3xf32>
  return
}

// -----

func.func @conv_c3_no_group(%x: tensor<1x4x4xf32>, %w: tensor<6x4x3xf32>) {
  // expected-error @+1 {{'nn.conv' with 0 groups}}
  %y = nn.conv %x, %w {strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 0, 0>, groups = 0 : i64} : tensor<1x4x4xf32>, tensor<6x4x3xf32>
  return
}

// -----

func.func @conv_c3_output_channels(%x: tensor<1x4x4xf32>, %w: tensor<5x2x3xf32>) {
  // expected-error @+1 {{'nn.conv' with 2 groups}}
  %y = nn.conv %x, %w {strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 0, 0>, groups = 2 : i64} : tensor<1x4x4xf32>, tensor<5x2x3xf32>
  return
}

// -----

func.func @conv_c4_bias_shape(%x: tensor<1x1x4xf32>, %w: tensor<2x1x3xf32>, %b: tensor<1xf32>) {
  // expected-error @+1 {{'nn.conv' bias has shape [1], expected [2] of the input's element type}}
  %y = nn.conv %x, %w bias %b {strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 0, 0>} : tensor<1x1x4xf32>, tensor<2x1x3xf32>, tensor<1xf32>
  return
}

// -----

func.func @conv_c4_bias_element_type(%x: tensor<1x1x4xf32>, %w: tensor<2x1x3xf32>, %b: tensor<2xf16>) {
  // expected-error @+1 {{'nn.conv' bias has shape [2], expected [2] of the input's element type}}
  %y = nn.conv %x, %w bias %b {strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 0, 0>} : tensor<1x1x4xf32>, tensor<2x1x3xf32>, tensor<2xf16>
  return
}

// -----

func.func @conv_c5_kernel_too_large(%x: tensor<1x1x4xf32>, %w: tensor<1x1x3xf32>) {
  // expected-error @+1 {{'nn.conv' kernel of size 3 and dilation 3 does not fit into the padded input of size 5}}
  %y = nn.conv %x, %w {strides = array<i64: 1>, dilations = array<i64: 3>, pads = array<i64: 1, 0>} : tensor<1x1x4xf32>, tensor<1x1x3xf32>
  return
}

// -----

func.func @conv_c4_unranked(%x: tensor<1x1x4xf32>, %w: tensor<1x1x3xf32>, %b: tensor<*xf32>) {
  // expected-error @+1 {{'nn.conv' needs tensors of known shape, found 'tensor<*xf32>'}}
  %y = nn.conv %x, %w bias %b {strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 0, 0>} : tensor<1x1x4xf32>, tensor<1x1x3xf32>, tensor<*xf32>
  return
}

// -----

func.func @conv_integer(%x: tensor<1x1x4xi32>, %w: tensor<1x1x3xi32>) {
  // expected-error @+1 {{'nn.conv' op operand #0 must be statically shaped tensor of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values, but got 'tensor<1x1x4xi32>'}}
  %y = nn.conv %x, %w {strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 0, 0>} : tensor<1x1x4xi32>, tensor<1x1x3xi32>
  return
}

// -----

func.func @conv_input_grad_c1_result(%dy: tensor<1x1x3xf32>, %w: tensor<1x1x3xf32>) {
  // expected-error @+1 {{'nn.conv_input_grad' op is the gradient of a convolution with result 'tensor<1x1x2xf32>', but dy has type 'tensor<1x1x3xf32>'}}
  %y = nn.conv_input_grad %dy, %w {strides = array<i64: 2>, dilations = array<i64: 1>, pads = array<i64: 0, 0>} : tensor<1x1x3xf32>, tensor<1x1x3xf32> -> tensor<1x1x5xf32>
  return
}

// -----

func.func @conv_input_grad_c1_no_convolution(%dy: tensor<1x1x3xf32>, %w: tensor<1x1x3xf32>) {
  // expected-error @+1 {{'nn.conv' with 1 groups: input [1, 2, 5] and filter [1, 1, 3] do not fit}}
  %y = nn.conv_input_grad %dy, %w {strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 0, 0>} : tensor<1x1x3xf32>, tensor<1x1x3xf32> -> tensor<1x2x5xf32>
  return
}

// -----

func.func @conv_filter_grad_c1_result(%x: tensor<1x1x5xf32>, %dy: tensor<1x1x2xf32>) {
  // expected-error @+1 {{'nn.conv_filter_grad' op is the gradient of a convolution with result 'tensor<1x1x3xf32>', but dy has type 'tensor<1x1x2xf32>'}}
  %y = nn.conv_filter_grad %x, %dy {strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 0, 0>} : tensor<1x1x5xf32>, tensor<1x1x2xf32> -> tensor<1x1x3xf32>
  return
}

// -----

func.func @conv_filter_grad_missing_attribute(%x: tensor<1x1x5xf32>, %dy: tensor<1x1x3xf32>) {
  // expected-error @+1 {{'nn.conv_filter_grad' op requires attribute 'dilations'}}
  %y = nn.conv_filter_grad %x, %dy {strides = array<i64: 1>, pads = array<i64: 0, 0>} : tensor<1x1x5xf32>, tensor<1x1x3xf32> -> tensor<1x1x3xf32>
  return
}

// -----

func.func @matmul_c1_vector(%a: tensor<4xf32>, %b: tensor<4x3xf32>) {
  // expected-error @+1 {{'nn.matmul' operands need rank 2 or more, found [4] and [4, 3]}}
  %y = nn.matmul %a, %b : tensor<4xf32>, tensor<4x3xf32>
  return
}

// -----

func.func @matmul_c1_element_type(%a: tensor<2x4xf32>, %b: tensor<4x3xf64>) {
  // expected-error @+1 {{'nn.matmul' operands differ in element type}}
  %y = nn.matmul %a, %b : tensor<2x4xf32>, tensor<4x3xf64>
  return
}

// -----

func.func @matmul_c2_contracted(%a: tensor<2x4xf32>, %b: tensor<4x3xf32>) {
  // expected-error @+1 {{'nn.matmul' contracts sizes 4 and 3 of [2, 4] and [4, 3]}}
  %y = nn.matmul %a, %b {transpose_b} : tensor<2x4xf32>, tensor<4x3xf32>
  return
}

// -----

func.func @matmul_c3_leading(%a: tensor<2x3x4xf32>, %b: tensor<3x4x3xf32>) {
  // expected-error @+1 {{'nn.matmul' leading dimensions of [2, 3, 4] and [3, 4, 3] do not broadcast}}
  %y = nn.matmul %a, %b : tensor<2x3x4xf32>, tensor<3x4x3xf32>
  return
}

// -----

func.func @max_pool_c1_rank(%x: tensor<4x4xf32>) {
  // expected-error @+1 {{'nn.max_pool' op needs an input of rank 3 to 5, found 'tensor<4x4xf32>'}}
  %y = nn.max_pool %x {kernel = array<i64>, strides = array<i64>, dilations = array<i64>, pads = array<i64>} : tensor<4x4xf32> -> tensor<4x4xf32>
  return
}

// -----

func.func @max_pool_c1_scalar(%x: tensor<f32>) {
  // expected-error @+1 {{'nn.max_pool' op needs an input of rank 3 to 5, found 'tensor<f32>'}}
  %y = nn.max_pool %x {kernel = array<i64>, strides = array<i64>, dilations = array<i64>, pads = array<i64>} : tensor<f32> -> tensor<f32>
  return
}

// -----

func.func @max_pool_c1_pads(%x: tensor<1x1x4xf32>) {
  // expected-error @+1 {{'nn.max_pool' op needs 1 kernel sizes, strides and dilations and twice as many pads}}
  %y = nn.max_pool %x {kernel = array<i64: 2>, strides = array<i64: 2>, dilations = array<i64: 1>, pads = array<i64: 0>} : tensor<1x1x4xf32> -> tensor<1x1x2xf32>
  return
}

// -----

func.func @max_pool_c1_kernel_zero(%x: tensor<1x1x4xf32>) {
  // expected-error @+1 {{'nn.max_pool' op kernel sizes, strides and dilations must be positive and pads not negative}}
  %y = nn.max_pool %x {kernel = array<i64: 0>, strides = array<i64: 2>, dilations = array<i64: 1>, pads = array<i64: 0, 0>} : tensor<1x1x4xf32> -> tensor<1x1x2xf32>
  return
}

// -----

func.func @max_pool_c2_size(%x: tensor<1x1x5xf32>) {
  // expected-error @+1 {{'nn.max_pool' op pooled type 'tensor<1x1x4xf32>' is neither floor nor ceil mode's of 'tensor<1x1x5xf32>'}}
  %y = nn.max_pool %x {kernel = array<i64: 2>, strides = array<i64: 2>, dilations = array<i64: 1>, pads = array<i64: 0, 0>} : tensor<1x1x5xf32> -> tensor<1x1x4xf32>
  return
}

// -----

// The last window would begin in the padding: ceil mode drops it.
func.func @max_pool_c2_window_in_padding(%x: tensor<1x1x4xf32>) {
  // expected-error @+1 {{'nn.max_pool' op pooled type 'tensor<1x1x3xf32>' is neither floor nor ceil mode's of 'tensor<1x1x4xf32>'}}
  %y = nn.max_pool %x {kernel = array<i64: 2>, strides = array<i64: 2>, dilations = array<i64: 1>, pads = array<i64: 0, 1>} : tensor<1x1x4xf32> -> tensor<1x1x3xf32>
  return
}

// -----

func.func @max_pool_c2_channels(%x: tensor<1x3x4xf32>) {
  // expected-error @+1 {{'nn.max_pool' op pooled type 'tensor<1x2x2xf32>' is neither floor nor ceil mode's of 'tensor<1x3x4xf32>'}}
  %y = nn.max_pool %x {kernel = array<i64: 2>, strides = array<i64: 2>, dilations = array<i64: 1>, pads = array<i64: 0, 0>} : tensor<1x3x4xf32> -> tensor<1x2x2xf32>
  return
}

// -----

func.func @max_pool_c3_empty_window(%x: tensor<1x1x4xf32>) {
  // expected-error @+1 {{'nn.max_pool' op pads [2, 0] reach beyond the window of dimension 2, so that a window would be empty}}
  %y = nn.max_pool %x {kernel = array<i64: 2>, strides = array<i64: 2>, dilations = array<i64: 1>, pads = array<i64: 2, 0>} : tensor<1x1x4xf32> -> tensor<1x1x3xf32>
  return
}

// -----

func.func @max_pool_grad_c1_pooled(%x: tensor<1x1x4xf32>, %dy: tensor<1x1x3xf32>) {
  // expected-error @+1 {{'nn.max_pool_grad' op pooled type 'tensor<1x1x3xf32>' is neither floor nor ceil mode's of 'tensor<1x1x4xf32>'}}
  %y = nn.max_pool_grad %x, %dy {kernel = array<i64: 2>, strides = array<i64: 2>, dilations = array<i64: 1>, pads = array<i64: 0, 0>} : tensor<1x1x4xf32>, tensor<1x1x3xf32>
  return
}

// -----

func.func @avg_pool_c1_kernel(%x: tensor<1x1x4x4xf32>) {
  // expected-error @+1 {{'nn.avg_pool' op needs 2 kernel sizes, strides and dilations and twice as many pads}}
  %y = nn.avg_pool %x {kernel = array<i64: 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : tensor<1x1x4x4xf32> -> tensor<1x1x2x2xf32>
  return
}

// -----

func.func @avg_pool_c2_element_type(%x: tensor<1x1x4xf32>) {
  // expected-error @+1 {{'nn.avg_pool' op pooled type 'tensor<1x1x2xf64>' is neither floor nor ceil mode's of 'tensor<1x1x4xf32>'}}
  %y = nn.avg_pool %x {kernel = array<i64: 2>, strides = array<i64: 2>, dilations = array<i64: 1>, pads = array<i64: 0, 0>} : tensor<1x1x4xf32> -> tensor<1x1x2xf64>
  return
}

// -----

func.func @avg_pool_c3_empty_window(%x: tensor<1x1x4xf32>) {
  // expected-error @+1 {{'nn.avg_pool' op pads [0, 3] reach beyond the window of dimension 2}}
  %y = nn.avg_pool %x {kernel = array<i64: 3>, strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 0, 3>} : tensor<1x1x4xf32> -> tensor<1x1x5xf32>
  return
}

// -----

func.func @avg_pool_grad_c1_pooled(%dy: tensor<1x1x3xf32>) {
  // expected-error @+1 {{'nn.avg_pool_grad' op pooled type 'tensor<1x1x3xf32>' is neither floor nor ceil mode's of 'tensor<1x1x4xf32>'}}
  %y = nn.avg_pool_grad %dy {kernel = array<i64: 2>, strides = array<i64: 2>, dilations = array<i64: 1>, pads = array<i64: 0, 0>} : tensor<1x1x3xf32> -> tensor<1x1x4xf32>
  return
}

// -----

func.func @batch_norm_c1_rank(%x: tensor<3xf32>, %v: tensor<3xf32>) {
  // expected-error @+1 {{'nn.batch_norm' op needs an input of rank 2 or more, found 'tensor<3xf32>'}}
  %y = nn.batch_norm frozen %x, %v, %v, %v, %v {eps = 1.0e-5 : f64, momentum = 0.9 : f64} : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
  return
}

// -----

func.func @batch_norm_c2_channels(%x: tensor<4x3xf32>, %v: tensor<3xf32>, %b: tensor<4xf32>) {
  // expected-error @+1 {{'nn.batch_norm' op channel vector of type 'tensor<4xf32>', expected [3]}}
  %y = nn.batch_norm frozen %x, %v, %b, %v, %v {eps = 1.0e-5 : f64, momentum = 0.9 : f64} : tensor<4x3xf32>, tensor<3xf32>, tensor<4xf32>, tensor<3xf32>
  return
}

// -----

func.func @batch_norm_c3_eps(%x: tensor<4x3xf32>, %v: tensor<3xf32>) {
  // expected-error @+1 {{'nn.batch_norm' op needs a positive eps and a momentum in [0, 1]}}
  %y = nn.batch_norm frozen %x, %v, %v, %v, %v {eps = 0.0 : f64, momentum = 0.9 : f64} : tensor<4x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
  return
}

// -----

func.func @batch_norm_c3_momentum(%x: tensor<4x3xf32>, %v: tensor<3xf32>) {
  // expected-error @+1 {{'nn.batch_norm' op needs a positive eps and a momentum in [0, 1]}}
  %y = nn.batch_norm frozen %x, %v, %v, %v, %v {eps = 1.0e-5 : f64, momentum = 1.5 : f64} : tensor<4x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
  return
}

// -----

func.func @batch_norm_c4_not_read(%x: tensor<4x3xf32>, %v: tensor<3xf32>) {
  // expected-error @+1 {{'nn.batch_norm' op mode global updates its running statistics, so they must be read from variables}}
  %y = nn.batch_norm global %x, %v, %v, %v, %v {eps = 1.0e-5 : f64, momentum = 0.9 : f64} : tensor<4x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
  return
}

// -----

func.func @normalize_c1_axis(%x: tensor<4x3xf32>, %v: tensor<3xf32>) {
  // expected-error @+1 {{'nn.normalize' op axis 2 is no dimension of 'tensor<4x3xf32>'}}
  %y = nn.normalize %x, %v, %v, %v, %v {axis = 2 : i64, eps = 1.0e-5 : f64} : tensor<4x3xf32>, tensor<3xf32>
  return
}

// -----

func.func @normalize_c1_channels(%x: tensor<4x3xf32>, %v: tensor<4xf32>) {
  // expected-error @+1 {{'nn.normalize' op channel vectors have type 'tensor<4xf32>', expected [3], the size of axis 1}}
  %y = nn.normalize %x, %v, %v, %v, %v {axis = 1 : i64, eps = 1.0e-5 : f64} : tensor<4x3xf32>, tensor<4xf32>
  return
}

// -----

func.func @normalize_c2_eps(%x: tensor<4x3xf32>, %v: tensor<3xf32>) {
  // expected-error @+1 {{'nn.normalize' op eps must be positive}}
  %y = nn.normalize %x, %v, %v, %v, %v {axis = 1 : i64, eps = 0x7FF8000000000000 : f64} : tensor<4x3xf32>, tensor<3xf32>
  return
}

// -----

func.func @normalize_sums_c1_axis(%x: tensor<4x3xf32>, %v: tensor<3xf32>) {
  // expected-error @+1 {{'nn.normalize_sums' op axis -1 is no dimension of 'tensor<4x3xf32>'}}
  %b, %g = nn.normalize_sums %x, %x, %v, %v {axis = -1 : i64, eps = 1.0e-5 : f64} : tensor<4x3xf32>, tensor<3xf32>
  return
}

// -----

func.func @normalize_sums_c2_eps(%x: tensor<4x3xf32>, %v: tensor<3xf32>) {
  // expected-error @+1 {{'nn.normalize_sums' op eps must be positive}}
  %b, %g = nn.normalize_sums %x, %x, %v, %v {axis = 1 : i64, eps = -1.0 : f64} : tensor<4x3xf32>, tensor<3xf32>
  return
}

// -----

func.func @normalize_grad_c1_channels(%x: tensor<4x3xf32>, %v: tensor<4xf32>) {
  // expected-error @+1 {{'nn.normalize_grad' op channel vectors have type 'tensor<4xf32>', expected [3], the size of axis 1}}
  %y = nn.normalize_grad %x, %x, %v, %v, %v, %v, %v {axis = 1 : i64, eps = 1.0e-5 : f64, scale = 0.25 : f64} : tensor<4x3xf32>, tensor<4xf32>
  return
}

// -----

func.func @normalize_grad_c2_eps(%x: tensor<4x3xf32>, %v: tensor<3xf32>) {
  // expected-error @+1 {{'nn.normalize_grad' op eps must be positive}}
  %y = nn.normalize_grad %x, %x, %v, %v, %v, %v, %v {axis = 1 : i64, eps = 0.0 : f64, scale = 0.25 : f64} : tensor<4x3xf32>, tensor<3xf32>
  return
}

// -----

func.func @normalize_grad_c3_scale(%x: tensor<4x3xf32>, %v: tensor<3xf32>) {
  // expected-error @+1 {{'nn.normalize_grad' op scale must not be negative}}
  %y = nn.normalize_grad %x, %x, %v, %v, %v, %v, %v {axis = 1 : i64, eps = 1.0e-5 : f64, scale = -0.25 : f64} : tensor<4x3xf32>, tensor<3xf32>
  return
}

// -----

func.func @lrn_c1_rank(%x: tensor<4xf32>) {
  // expected-error @+1 {{'nn.lrn' op needs an input of rank 2 or more, found 'tensor<4xf32>'}}
  %y = nn.lrn %x {alpha = 1.0e-4 : f64, beta = 0.75 : f64, bias = 1.0 : f64, size = 5 : i64} : tensor<4xf32>
  return
}

// -----

func.func @lrn_c2_size(%x: tensor<4x3xf32>) {
  // expected-error @+1 {{'nn.lrn' op size must be positive, found -3}}
  %y = nn.lrn %x {alpha = 1.0e-4 : f64, beta = 0.75 : f64, bias = 1.0 : f64, size = -3 : i64} : tensor<4x3xf32>
  return
}

// -----

func.func @lrn_grad_c1_rank(%x: tensor<4xf32>) {
  // expected-error @+1 {{'nn.lrn_grad' op needs an input of rank 2 or more, found 'tensor<4xf32>'}}
  %y = nn.lrn_grad %x, %x {alpha = 1.0e-4 : f64, beta = 0.75 : f64, bias = 1.0 : f64, size = 5 : i64} : tensor<4xf32>
  return
}

// -----

func.func @lrn_grad_c2_size(%x: tensor<4x3xf32>) {
  // expected-error @+1 {{'nn.lrn_grad' op size must be positive, found 0}}
  %y = nn.lrn_grad %x, %x {alpha = 1.0e-4 : f64, beta = 0.75 : f64, bias = 1.0 : f64, size = 0 : i64} : tensor<4x3xf32>
  return
}

// -----

func.func @dropout_c1_ratio(%x: tensor<4xf32>) {
  // expected-error @+1 {{'nn.dropout' op ratio must lie in [0, 1), found 1}}
  %y = nn.dropout %x {ratio = 1.0 : f64, stream = 0 : i64} : tensor<4xf32>
  return
}

// -----

func.func @dropout_mask_c1_ratio() {
  // expected-error @+1 {{'nn.dropout_mask' op ratio must lie in [0, 1), found -5.000000e-01}}
  %y = nn.dropout_mask {ratio = -0.5 : f64, stream = 0 : i64, global_shape = array<i64: 4>, start = array<i64: 0>} : tensor<4xf32>
  return
}

// -----

func.func @dropout_mask_c2_rank() {
  // expected-error @+1 {{'nn.dropout_mask' op the result 'tensor<4xf32>' does not lie inside the whole tensor}}
  %y = nn.dropout_mask {ratio = 0.5 : f64, stream = 0 : i64, global_shape = array<i64: 4, 4>, start = array<i64: 0, 0>} : tensor<4xf32>
  return
}

// -----

func.func @dropout_mask_c2_outside() {
  // expected-error @+1 {{'nn.dropout_mask' op the result 'tensor<4xf32>' does not lie inside the whole tensor}}
  %y = nn.dropout_mask {ratio = 0.5 : f64, stream = 0 : i64, global_shape = array<i64: 6>, start = array<i64: 3>} : tensor<4xf32>
  return
}
