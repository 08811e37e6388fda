// What roles, names, blocks and tables mean for the operations of a layer, and
// which gradients follow.
// RUN: partita-opt %s "-partita-assign-splits=grid=pr=2,pc=2 splits=conv1=batch:pc,domain.h:pr;pool1=model:pr;fc1=model.in:pr,d0:pc+pr;loss=batch:pc,model:pr" | FileCheck %s --check-prefix=ROLES
// RUN: partita-opt %s "-partita-assign-splits=grid=pr=2,pc=2 splits=*=batch:pc;fc?=m:pc@2,n:pr=7/1;*1=batch:pr;fc1=m:pc@2,n:pr=7/1;pool1=whole" | FileCheck %s --check-prefix=LATER

// The forward operation and both its gradients, each in its own words; the
// matmul's gradients are left to propagation.
// ROLES-LABEL: func.func @step
// ROLES: nn.conv {{.*}} dist.split = #dist.split<n = [pc], h = [pr]>
// ROLES: nn.relu %{{[0-9]+}} : tensor
// ROLES: nn.max_pool {{.*}} dist.split = #dist.split<c = [pr]>
// ROLES: nn.reshape %{{[0-9]+}} : tensor
// ROLES: nn.matmul {{.*}} {dist.split = #dist.split<k = [pr]>, transpose_b}
// ROLES: nn.add {{.*}} {dist.split = #dist.split<d0 = [pc, pr]>}
// ROLES: nn.cross_entropy {{.*}} dist.split = #dist.split<d0 = [pc], d1 = [pr]>
// ROLES: nn.reduce sum {{.*}} dist.split = #dist.split<d0 = [pc]>
// ROLES: nn.cross_entropy_grad {{.*}} dist.split = #dist.split<d0 = [pc], d1 = [pr]>
// ROLES: nn.matmul %{{[0-9]+}}, %arg3 : tensor
// ROLES: nn.max_pool_grad {{.*}} dist.split = #dist.split<c = [pr]>
// ROLES: nn.conv_filter_grad {{.*}} dist.split = #dist.split<n = [pc], h = [pr]>
// ROLES: nn.conv_input_grad {{.*}} dist.split = #dist.split<n = [pc], h = [pr]>
// ROLES-LABEL: func.func @predict
// ROLES: nn.conv {{.*}} dist.split = #dist.split<n = [pc], h = [pr]>

// The last rule that matches a node counts, as a whole. A rule for everything
// passes over what follows its operands.
// LATER-LABEL: func.func @step
// LATER: nn.conv {{.*}} dist.split = #dist.split<n = [pr]>
// LATER: nn.relu %{{[0-9]+}} : tensor
// LATER: nn.max_pool {{.*}} dist.split = #dist.split<>
// LATER: nn.matmul {{.*}} {dist.split = #dist.split<m = [pc] by 2, n = [pr] at [0:7, 7:8]>, transpose_b}
// LATER: nn.cross_entropy {{.*}} dist.split = #dist.split<d0 = [pc]>
// LATER: nn.max_pool_grad {{.*}} dist.split = #dist.split<>
func.func @step(%x: tensor<4x3x8x8xf32>, %labels: tensor<4xi64>, %w: tensor<6x3x3x3xf32>, %v: tensor<8x96xf32>, %b: tensor<8xf32>) -> (tensor<f32>, tensor<4x3x8x8xf32>) {
  %1 = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : tensor<4x3x8x8xf32>, tensor<6x3x3x3xf32> loc("/conv1")
  %2 = nn.relu %1 : tensor<4x6x8x8xf32> loc("relu1")
  %3 = nn.max_pool %2 {dilations = array<i64: 1, 1>, kernel = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 2, 2>} : tensor<4x6x8x8xf32> -> tensor<4x6x4x4xf32> loc("pool1")
  %4 = nn.reshape %3 : tensor<4x6x4x4xf32> -> tensor<4x96xf32> loc("flatten")
  %5 = nn.matmul %4, %v {transpose_b} : tensor<4x96xf32>, tensor<8x96xf32> loc("fc1")
  %6 = nn.add %5, %b : tensor<4x8xf32>, tensor<8xf32> loc("fc1")
  %7 = nn.cross_entropy %6, %labels {axis = 1 : i64} : tensor<4x8xf32>, tensor<4xi64> loc("loss")
  %8 = nn.reduce sum %7 {axes = array<i64: 0>, scale = 0.25 : f64} : tensor<4xf32> loc("loss")
  %9 = nn.cross_entropy_grad %6, %labels {axis = 1 : i64, scale = 0.25 : f64} : tensor<4x8xf32>, tensor<4xi64> loc("loss")
  %10 = nn.matmul %9, %v : tensor<4x8xf32>, tensor<8x96xf32> loc("fc1")
  %11 = nn.reshape %10 : tensor<4x96xf32> -> tensor<4x6x4x4xf32> loc("flatten")
  %12 = nn.max_pool_grad %2, %11 {dilations = array<i64: 1, 1>, kernel = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 2, 2>} : tensor<4x6x8x8xf32>, tensor<4x6x4x4xf32> loc("pool1")
  %13 = nn.conv_filter_grad %x, %12 {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : tensor<4x3x8x8xf32>, tensor<4x6x8x8xf32> -> tensor<6x3x3x3xf32> loc("/conv1")
  %14 = nn.conv_input_grad %12, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : tensor<4x6x8x8xf32>, tensor<6x3x3x3xf32> -> tensor<4x3x8x8xf32> loc("/conv1")
  return %8, %x : tensor<f32>, tensor<4x3x8x8xf32>
}
func.func @predict(%x: tensor<4x3x8x8xf32>, %w: tensor<6x3x3x3xf32>) -> tensor<4x6x8x8xf32> {
  %y = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : tensor<4x3x8x8xf32>, tensor<6x3x3x3xf32> loc("/conv1")
  return %y : tensor<4x6x8x8xf32>
}
