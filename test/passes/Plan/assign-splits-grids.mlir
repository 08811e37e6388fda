// What the shorthands of grids assign, and what they leave out.
// RUN: partita-opt %s "-partita-assign-splits=ranks=4" 2>&1 | FileCheck %s --check-prefix=RANKS
// RANKS: dist.grid = #dist.grid<data = 4>
// RANKS: nn.conv {{.*}} dist.split = #dist.split<n = [data]>
// RANKS: nn.conv {{.*}} dist.split = #dist.split<n = [data]>
// RANKS: nn.avg_pool {{.*}} dist.split = #dist.split<n = [data]>
// RANKS: nn.reshape %{{[0-9]+}} : tensor
// RANKS: nn.matmul {{.*}} {dist.split = #dist.split<m = [data]>, transpose_b}
// RANKS: nn.relu %{{[0-9]+}} : tensor
// RUN: partita-opt %s "-partita-assign-splits=grid=batch ranks=4" 2>&1 | FileCheck %s --check-prefix=RANKS
// RUN: partita-opt %s "-partita-assign-splits=grid=4" 2>&1 | FileCheck %s --check-prefix=RANKS
// RUN: partita-opt %s "-partita-assign-splits=grid=4:batch" 2>&1 | FileCheck %s --check-prefix=RANKS

// RUN: partita-opt %s "-partita-assign-splits=grid=2:model" 2>&1 | FileCheck %s --check-prefix=MODEL
// MODEL: dist.grid = #dist.grid<model = 2>
// MODEL: nn.conv {{.*}} dist.split = #dist.split<co = [model]>
// MODEL: nn.conv {{.*}} dist.split = #dist.split<g = [model]>
// MODEL: nn.avg_pool {{.*}} dist.split = #dist.split<c = [model]>
// MODEL: nn.matmul {{.*}} {dist.split = #dist.split<n = [model]>, transpose_b}

// RUN: partita-opt %s "-partita-assign-splits=grid=1x4:model" 2>&1 | FileCheck %s --check-prefix=PURE
// PURE: remark: loc("conv2"): --grid 1x4:model leaves 'g' = 3 of nn.conv whole: there would be 4 parts
// PURE: dist.grid = #dist.grid<pr = 1, pc = 4>
// PURE: nn.conv {{.*}} dist.split = #dist.split<co = [pr, pc]>
// PURE: nn.conv
// PURE-NOT: dist.split
// PURE: nn.avg_pool {{.*}} dist.split = #dist.split<c = [pr, pc]>

// RUN: partita-opt %s "-partita-assign-splits=grid=4:domain" 2>&1 | FileCheck %s --check-prefix=DOMAIN
// DOMAIN: remark: loc("pool"): --grid 4:domain leaves 'h' = 1 of nn.avg_pool whole: there would be 4 parts
// DOMAIN: dist.grid = #dist.grid<domain = 4>
// DOMAIN: nn.conv {{.*}} dist.split = #dist.split<h = [domain]>
// DOMAIN: nn.conv {{.*}} dist.split = #dist.split<h = [domain]>
// DOMAIN: nn.avg_pool
// DOMAIN-NOT: dist.split
// DOMAIN: nn.matmul %{{[^ ]*}}, %{{[^ ]*}} {transpose_b}

// RUN: partita-opt %s "-partita-assign-splits=grid=2x2" 2>&1 | FileCheck %s --check-prefix=INTEGRATED
// RUN: partita-opt %s "-partita-assign-splits=grid=2x2:model+batch" 2>&1 | FileCheck %s --check-prefix=INTEGRATED
// INTEGRATED: dist.grid = #dist.grid<pr = 2, pc = 2>
// INTEGRATED: nn.conv {{.*}} dist.split = #dist.split<n = [pc], co = [pr]>
// INTEGRATED: nn.matmul {{.*}} {dist.split = #dist.split<m = [pc], n = [pr]>, transpose_b}

// RUN: partita-opt %s "-partita-assign-splits=grid=2x2:domain+batch" 2>&1 | FileCheck %s --check-prefix=ROWS
// ROWS: nn.conv {{.*}} dist.split = #dist.split<n = [pc], h = [pr]>
// ROWS: nn.avg_pool {{.*}} dist.split = #dist.split<n = [pc]>
// ROWS: nn.matmul {{.*}} {dist.split = #dist.split<m = [pc]>, transpose_b}

// The whole scheme of the paper; by hand wins.
// RUN: partita-opt %s "-partita-assign-splits=grid=2x2:paper splits=conv2=h:pc" 2>&1 | FileCheck %s --check-prefix=PAPER
// PAPER: nn.conv {{.*}} dist.split = #dist.split<n = [pc], h = [pr]>
// PAPER: nn.conv {{.*}} dist.split = #dist.split<h = [pc]>
// PAPER: nn.avg_pool {{.*}} dist.split = #dist.split<n = [pc]>
// PAPER: nn.matmul {{.*}} {dist.split = #dist.split<m = [pc], n = [pr]>, transpose_b}
func.func @predict(%x: tensor<4x3x8x8xf32>, %w: tensor<6x3x3x3xf32>, %w2: tensor<6x2x3x3xf32>, %v: tensor<8x6xf32>) -> tensor<4x8xf32> {
  %1 = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : tensor<4x3x8x8xf32>, tensor<6x3x3x3xf32> loc("conv1")
  %2 = nn.conv %1, %w2 {groups = 3 : i64, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : tensor<4x6x8x8xf32>, tensor<6x2x3x3xf32> loc("conv2")
  %3 = nn.avg_pool %2 {dilations = array<i64: 1, 1>, kernel = array<i64: 8, 8>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 8, 8>} : tensor<4x6x8x8xf32> -> tensor<4x6x1x1xf32> loc("pool")
  %4 = nn.reshape %3 : tensor<4x6x1x1xf32> -> tensor<4x6xf32> loc("flatten")
  %5 = nn.matmul %4, %v {transpose_b} : tensor<4x6xf32>, tensor<8x6xf32> loc("fc1")
  %6 = nn.relu %5 : tensor<4x8xf32> loc("relu")
  return %6 : tensor<4x8xf32>
}
