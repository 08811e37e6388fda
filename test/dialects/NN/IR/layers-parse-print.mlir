// Convolutions, products, pools, normalisations and dropout, printed and read
// back; attributes with their default value are not printed.
// RUN: partita-opt %s | partita-opt | FileCheck %s

// CHECK-LABEL: func.func @conv
func.func @conv(%x: tensor<8x1x28x28xf32>, %w: tensor<6x1x5x5xf32>, %b: tensor<6xf32>) -> tensor<8x6x24x24xf32> {
  // CHECK: nn.conv %{{.*}}, %{{.*}} bias %{{.*}} {dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : tensor<8x1x28x28xf32>, tensor<6x1x5x5xf32>, tensor<6xf32>
  %y = nn.conv %x, %w bias %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : tensor<8x1x28x28xf32>, tensor<6x1x5x5xf32>, tensor<6xf32>
  return %y : tensor<8x6x24x24xf32>
}

// One and three dimensions, without bias, in groups.
// CHECK-LABEL: func.func @conv_ranks
func.func @conv_ranks(%a: tensor<2x4x9xf32>, %v: tensor<6x2x3xf32>, %b: tensor<1x1x4x4x4xf64>, %w: tensor<1x1x2x2x2xf64>) -> (tensor<2x6x3xf32>, tensor<1x1x2x2x2xf64>) {
  // CHECK: nn.conv %{{.*}}, %{{.*}} {dilations = array<i64: 2>, groups = 2 : i64, pads = array<i64: 1, 0>, strides = array<i64: 2>} : tensor<2x4x9xf32>, tensor<6x2x3xf32>
  // CHECK-NOT: bias
  // CHECK: nn.conv %{{.*}}, %{{.*}} {dilations = array<i64: 1, 1, 1>, pads = array<i64: 0, 0, 0, 0, 0, 0>, strides = array<i64: 2, 2, 2>} : tensor<1x1x4x4x4xf64>, tensor<1x1x2x2x2xf64>
  %y = nn.conv %a, %v {strides = array<i64: 2>, dilations = array<i64: 2>, pads = array<i64: 1, 0>, groups = 2 : i64} : tensor<2x4x9xf32>, tensor<6x2x3xf32>
  %z = nn.conv %b, %w {strides = array<i64: 2, 2, 2>, dilations = array<i64: 1, 1, 1>, pads = array<i64: 0, 0, 0, 0, 0, 0>, groups = 1 : i64} : tensor<1x1x4x4x4xf64>, tensor<1x1x2x2x2xf64>
  return %y, %z : tensor<2x6x3xf32>, tensor<1x1x2x2x2xf64>
}

// A batch of nothing.
// CHECK-LABEL: func.func @conv_empty
func.func @conv_empty(%x: tensor<0x1x4x4xf32>, %w: tensor<2x1x3x3xf32>) -> tensor<0x2x2x2xf32> {
  // CHECK: nn.conv
  %y = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : tensor<0x1x4x4xf32>, tensor<2x1x3x3xf32>
  return %y : tensor<0x2x2x2xf32>
}

// A stride of 2 leaves the input's size open: 6 and 7 give the same result.
// CHECK-LABEL: func.func @conv_gradients
func.func @conv_gradients(%x: tensor<1x1x7x6xf32>, %w: tensor<1x1x3x3xf32>, %dy: tensor<1x1x3x2xf32>) -> (tensor<1x1x7x6xf32>, tensor<1x1x3x3xf32>) {
  // CHECK: nn.conv_input_grad %{{.*}}, %{{.*}} {dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 2, 2>} : tensor<1x1x3x2xf32>, tensor<1x1x3x3xf32> -> tensor<1x1x7x6xf32>
  %dx = nn.conv_input_grad %dy, %w {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : tensor<1x1x3x2xf32>, tensor<1x1x3x3xf32> -> tensor<1x1x7x6xf32>
  // CHECK: nn.conv_filter_grad %{{.*}}, %{{.*}} {dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 2, 2>} : tensor<1x1x7x6xf32>, tensor<1x1x3x2xf32> -> tensor<1x1x3x3xf32>
  %dw = nn.conv_filter_grad %x, %dy {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : tensor<1x1x7x6xf32>, tensor<1x1x3x2xf32> -> tensor<1x1x3x3xf32>
  return %dx, %dw : tensor<1x1x7x6xf32>, tensor<1x1x3x3xf32>
}

// CHECK-LABEL: func.func @matmul
func.func @matmul(%a: tensor<4x8xf32>, %b: tensor<8x3xf32>, %c: tensor<8x4xf32>, %d: tensor<3x8xf32>) -> (tensor<4x3xf32>, tensor<4x3xf32>) {
  // CHECK: nn.matmul %{{.*}}, %{{.*}} : tensor<4x8xf32>, tensor<8x3xf32>
  %0 = nn.matmul %a, %b : tensor<4x8xf32>, tensor<8x3xf32>
  // CHECK: nn.matmul %{{.*}}, %{{.*}} {alpha = 5.000000e-01 : f64, transpose_a, transpose_b} : tensor<8x4xf32>, tensor<3x8xf32>
  %1 = nn.matmul %c, %d {alpha = 0.5 : f64, transpose_a, transpose_b} : tensor<8x4xf32>, tensor<3x8xf32>
  return %0, %1 : tensor<4x3xf32>, tensor<4x3xf32>
}

// Leading dimensions broadcast: [2, 1] and [5] to [2, 5].
// CHECK-LABEL: func.func @matmul_batched
func.func @matmul_batched(%a: tensor<2x1x4x8xf32>, %b: tensor<5x8x3xf32>) -> tensor<2x5x4x3xf32> {
  // CHECK: nn.matmul %{{.*}}, %{{.*}} : tensor<2x1x4x8xf32>, tensor<5x8x3xf32>
  %0 = nn.matmul %a, %b : tensor<2x1x4x8xf32>, tensor<5x8x3xf32>
  return %0 : tensor<2x5x4x3xf32>
}

// Floor mode drops the last element, ceil mode takes a window that hangs over.
// CHECK-LABEL: func.func @pools
func.func @pools(%x: tensor<1x2x5x5xf32>, %dy: tensor<1x2x2x2xf32>) {
  // CHECK: nn.max_pool %{{.*}} {dilations = array<i64: 1, 1>, kernel = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 2, 2>} : tensor<1x2x5x5xf32> -> tensor<1x2x2x2xf32>
  %0 = nn.max_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : tensor<1x2x5x5xf32> -> tensor<1x2x2x2xf32>
  // CHECK: nn.max_pool {{.*}} : tensor<1x2x5x5xf32> -> tensor<1x2x3x3xf32>
  %1 = nn.max_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : tensor<1x2x5x5xf32> -> tensor<1x2x3x3xf32>
  // CHECK: nn.max_pool_grad %{{.*}}, %{{.*}} {dilations = array<i64: 1, 1>, kernel = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 2, 2>} : tensor<1x2x5x5xf32>, tensor<1x2x2x2xf32>
  %2 = nn.max_pool_grad %x, %dy {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : tensor<1x2x5x5xf32>, tensor<1x2x2x2xf32>
  // CHECK: nn.avg_pool %{{.*}} {dilations = array<i64: 1, 1>, kernel = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>} : tensor<1x2x5x5xf32> -> tensor<1x2x3x3xf32>
  %3 = nn.avg_pool %x {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : tensor<1x2x5x5xf32> -> tensor<1x2x3x3xf32>
  // CHECK: nn.avg_pool %{{.*}} {count_include_pad, dilations = array<i64: 1, 1>, kernel = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>}
  %4 = nn.avg_pool %x {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, count_include_pad} : tensor<1x2x5x5xf32> -> tensor<1x2x3x3xf32>
  // CHECK: nn.avg_pool_grad %{{.*}} {count_include_pad, dilations = array<i64: 1, 1>, kernel = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 2, 2>} : tensor<1x2x2x2xf32> -> tensor<1x2x5x5xf32>
  %5 = nn.avg_pool_grad %dy {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, count_include_pad} : tensor<1x2x2x2xf32> -> tensor<1x2x5x5xf32>
  return
}

// The only window hangs over by less than a stride.
// CHECK-LABEL: func.func @pool_hangs_over
func.func @pool_hangs_over(%x: tensor<1x1x2xf32>) -> tensor<1x1x1xf32> {
  // CHECK: nn.max_pool {{.*}} : tensor<1x1x2xf32> -> tensor<1x1x1xf32>
  %0 = nn.max_pool %x {kernel = array<i64: 3>, strides = array<i64: 3>, dilations = array<i64: 1>, pads = array<i64: 0, 0>} : tensor<1x1x2xf32> -> tensor<1x1x1xf32>
  return %0 : tensor<1x1x1xf32>
}

nn.variable @mean state : tensor<3xf32> = dense<0.0> : tensor<3xf32>
nn.variable @variance state : tensor<3xf32> = dense<1.0> : tensor<3xf32>

// CHECK-LABEL: func.func @batch_norm
func.func @batch_norm(%x: tensor<4x3x2xf32>, %v: tensor<3xf32>) {
  %m = nn.read @mean : tensor<3xf32>
  %s = nn.read @variance : tensor<3xf32>
  // CHECK: nn.batch_norm global %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {eps = 1.000000e-05 : f64, momentum = 9.000000e-01 : f64} : tensor<4x3x2xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
  %0 = nn.batch_norm global %x, %v, %v, %m, %s {eps = 1.0e-5 : f64, momentum = 0.9 : f64} : tensor<4x3x2xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
  // CHECK: nn.batch_norm local
  %1 = nn.batch_norm local %x, %v, %v, %m, %s {eps = 1.0e-5 : f64, momentum = 0.9 : f64} : tensor<4x3x2xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
  // Frozen statistics may come from anywhere.
  // CHECK: nn.batch_norm frozen
  %2 = nn.batch_norm frozen %x, %v, %v, %v, %v {eps = 1.0e-5 : f64, momentum = 0.9 : f64} : tensor<4x3x2xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
  return
}

// CHECK-LABEL: func.func @normalize
func.func @normalize(%x: tensor<4x3x2xf32>, %v: tensor<3xf32>) {
  // CHECK: nn.normalize %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {axis = 1 : i64, eps = 1.000000e-05 : f64} : tensor<4x3x2xf32>, tensor<3xf32>
  %0 = nn.normalize %x, %v, %v, %v, %v {axis = 1 : i64, eps = 1.0e-5 : f64} : tensor<4x3x2xf32>, tensor<3xf32>
  // CHECK: %{{.*}}, %{{.*}} = nn.normalize_sums %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {axis = 1 : i64, eps = 1.000000e-05 : f64} : tensor<4x3x2xf32>, tensor<3xf32>
  %1, %2 = nn.normalize_sums %x, %x, %v, %v {axis = 1 : i64, eps = 1.0e-5 : f64} : tensor<4x3x2xf32>, tensor<3xf32>
  // CHECK: nn.normalize_sums %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {axis = 1 : i64, eps = 1.000000e-05 : f64, local}
  %3, %4 = nn.normalize_sums %x, %x, %v, %v {axis = 1 : i64, eps = 1.0e-5 : f64, local} : tensor<4x3x2xf32>, tensor<3xf32>
  // CHECK: nn.normalize_grad %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {axis = 1 : i64, eps = 1.000000e-05 : f64, local, scale = 1.250000e-01 : f64} : tensor<4x3x2xf32>, tensor<3xf32>
  %5 = nn.normalize_grad %x, %x, %v, %v, %v, %1, %2 {axis = 1 : i64, eps = 1.0e-5 : f64, scale = 0.125 : f64, local} : tensor<4x3x2xf32>, tensor<3xf32>
  return
}

// CHECK-LABEL: func.func @lrn
func.func @lrn(%x: tensor<2x8x3x3xf32>) {
  // CHECK: nn.lrn %{{.*}} {alpha = 1.000000e-04 : f64, beta = 7.500000e-01 : f64, bias = 1.000000e+00 : f64, size = 5 : i64} : tensor<2x8x3x3xf32>
  %0 = nn.lrn %x {alpha = 1.0e-4 : f64, beta = 0.75 : f64, bias = 1.0 : f64, size = 5 : i64} : tensor<2x8x3x3xf32>
  // CHECK: nn.lrn_grad %{{.*}}, %{{.*}} {alpha = 1.000000e-04 : f64, beta = 7.500000e-01 : f64, bias = 1.000000e+00 : f64, size = 5 : i64} : tensor<2x8x3x3xf32>
  %1 = nn.lrn_grad %x, %0 {alpha = 1.0e-4 : f64, beta = 0.75 : f64, bias = 1.0 : f64, size = 5 : i64} : tensor<2x8x3x3xf32>
  return
}

// CHECK-LABEL: func.func @dropout
func.func @dropout(%x: tensor<4x3xf32>) {
  // CHECK: nn.dropout %{{.*}} {ratio = 5.000000e-01 : f64, stream = 2 : i64} : tensor<4x3xf32>
  %0 = nn.dropout %x {ratio = 0.5 : f64, stream = 2 : i64} : tensor<4x3xf32>
  // The last two rows of four.
  // CHECK: nn.dropout_mask {global_shape = array<i64: 4, 3>, ratio = 5.000000e-01 : f64, start = array<i64: 2, 0>, stream = 2 : i64} : tensor<2x3xf32>
  %1 = nn.dropout_mask {ratio = 0.5 : f64, stream = 2 : i64, global_shape = array<i64: 4, 3>, start = array<i64: 2, 0>} : tensor<2x3xf32>
  return
}
