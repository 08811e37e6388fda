// RUN: partita-opt %s -split-input-file "-partita-choose-sync=rules=*=factor_broadcast" | FileCheck %s

// CHECK: nn.variable @w {{.*}} {dist.sync = #dist.sync<factor_broadcast [data]>}
// CHECK: nn.matmul %{{.*}}, %{{.*}} {dist.factors, transpose_a} : tensor<4x3xf32>, tensor<4x2xf32>
module attributes {dist.grid = #dist.grid<data = 2>} {
  nn.variable @w parameter : tensor<3x2xf32> = dense<1.0> : tensor<3x2xf32> {dist.sync = #dist.sync<all_reduce [data]>}
  func.func @step(%x: tensor<4x3xf32> {dist.layout = #dist.layout<[[data], []]>}, %dy: tensor<4x2xf32> {dist.layout = #dist.layout<[[data], []]>}) {
    %g = nn.matmul %x, %dy {dist.split = #dist.split<k = [data]>, transpose_a} : tensor<4x3xf32>, tensor<4x2xf32>
    nn.sgd @w, %g : tensor<3x2xf32>
    return
  }
}

// -----

// Other axes stay in the split; so do transposes and reshapes behind the
// product, which lose the samples' axes as well. A parameter that is whole on
// every rank is combined by nobody, and so any method is right for it.
// CHECK: nn.variable @v {{.*}} {dist.layout = {{.*}}, dist.sync = #dist.sync<factor_broadcast [data]>}
// CHECK: nn.variable @u {{.*}} {dist.sync = #dist.sync<all_reduce []>}
// CHECK: nn.matmul {{.*}} {dist.factors, dist.split = #dist.split<m = [model]>, transpose_a} : tensor<4x6xf32>, tensor<4x2xf32>
// CHECK-NEXT: nn.transpose {{.*}}dist.factors, {{.*}} : tensor<6x2xf32>
// CHECK: nn.matmul {{.*}} {transpose_a} : tensor<4x6xf32>, tensor<4x2xf32>
module attributes {dist.grid = #dist.grid<data = 2, model = 2>} {
  nn.variable @v parameter : tensor<2x6xf32> = dense<1.0> : tensor<2x6xf32> {dist.layout = #dist.layout<[[], [model]]>, dist.sync = #dist.sync<all_reduce [data]>}
  nn.variable @u parameter : tensor<6x2xf32> = dense<1.0> : tensor<6x2xf32> {dist.sync = #dist.sync<all_reduce []>}
  func.func @step(%x: tensor<4x6xf32>, %dy: tensor<4x2xf32>) {
    %p = nn.matmul %x, %dy {dist.split = #dist.split<m = [model], k = [data]>, transpose_a} : tensor<4x6xf32>, tensor<4x2xf32>
    %g = nn.transpose %p {permutation = array<i64: 1, 0>, dist.split = #dist.split<d1 = [model]>} : tensor<6x2xf32>
    nn.sgd @v, %g : tensor<2x6xf32>
    %q = nn.matmul %x, %dy {transpose_a} : tensor<4x6xf32>, tensor<4x2xf32>
    nn.sgd @u, %q : tensor<6x2xf32>
    return
  }
}
