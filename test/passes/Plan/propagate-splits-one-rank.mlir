// A plan for one rank is exact and splits nothing.
// RUN: partita-opt %s -partita-propagate-splits | FileCheck %s

// CHECK: module attributes {dist.grid = #dist.grid<data = 1>, partita.semantics = "exact"}
// CHECK: nn.relu %{{.*}} : tensor<4x3xf32>
func.func @predict(%x: tensor<4x3xf32> {nn.batch_dim = 0 : i64}) -> tensor<4x3xf32> {
  %y = nn.relu %x : tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}
