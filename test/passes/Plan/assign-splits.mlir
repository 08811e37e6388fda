// RUN: partita-opt %s -split-input-file "-partita-assign-splits=grid=pr=2,pc=2 splits=fc*=model:pr+pc" | FileCheck %s

// CHECK: module attributes {dist.grid = #dist.grid<pr = 2, pc = 2>}
// CHECK: nn.matmul %{{.*}} {dist.split = #dist.split<n = [pr, pc]>, transpose_b}
// CHECK: nn.relu %{{[0-9]+}} : tensor
func.func @predict(%x: tensor<4x6xf32>, %w: tensor<8x6xf32>) -> tensor<4x8xf32> {
  %y = nn.matmul %x, %w {transpose_b} : tensor<4x6xf32>, tensor<8x6xf32> loc("fc1")
  %z = nn.relu %y : tensor<4x8xf32> loc("relu1")
  return %z : tensor<4x8xf32>
}
