// RUN: partita-opt %s -split-input-file -partita-inject-fault=kind=dropped-reduction 2>/dev/null | FileCheck %s
// RUN: partita-opt %s -split-input-file -partita-inject-fault=kind=reduced-twice 2>/dev/null | FileCheck %s --check-prefix=TWICE
// RUN: partita-opt %s -split-input-file -partita-inject-fault="kind=dropped-reduction seed=3" 2>&1 | FileCheck %s --check-prefix=PLACE

// CHECK-LABEL: func.func @step_c0
// CHECK: %[[G:.*]] = nn.reduce
// CHECK-NEXT: nn.sgd @w, %[[G]]
// TWICE-LABEL: func.func @step_c0
// TWICE: %[[S:.*]] = spmd.all_reduce
// TWICE-NEXT: %[[T:.*]] = spmd.all_reduce sum %[[S]] over ["data"]
// TWICE-NEXT: nn.sgd @w, %[[T]]
// The seed counts around.
// PLACE: remark: dropped-reduction: place 0 of 1
// PLACE: remark: dropped-reduction: place 1 of 2
module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  nn.variable @w parameter : tensor<3xf32> = dense<1.0> : tensor<3xf32>
  func.func @step_c0(%x: tensor<2x3xf32> {dist.layout = #dist.layout<[[data], []]>, spmd.global = tensor<4x3xf32>})
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    %g = nn.reduce sum %x {axes = array<i64: 0>, spmd.split = #dist.split<d0 = [data]>} : tensor<2x3xf32>
    %s = spmd.all_reduce sum %g over ["data"] : tensor<3xf32>
    nn.sgd @w, %s : tensor<3xf32>
    return
  }
}

// -----

// A fault of all ranks is made in all classes, of which one has no part of the
// reduction.
// CHECK-LABEL: func.func @step_c0
// CHECK: %[[A:.*]] = nn.reduce max
// CHECK: %[[B:.*]] = nn.reduce sum
// CHECK-NOT: spmd.all_reduce max
// CHECK: spmd.all_reduce sum %[[B]]
// CHECK: return %[[A]]
// CHECK-LABEL: func.func @step_c1
// CHECK-NOT: spmd.all_reduce max
// CHECK: spmd.all_reduce sum
module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0]
  spmd.class @c1 ranks [1]
  func.func @step_c0(%x: tensor<1xf32>) -> tensor<f32> attributes {spmd.class = @c0, spmd.phase = "step"} {
    %a = nn.reduce max %x {axes = array<i64: 0>, spmd.split = #dist.split<d0 = [data]>} : tensor<1xf32>
    %b = nn.reduce sum %x {axes = array<i64: 0>, spmd.split = #dist.split<d0 = [data]>} : tensor<1xf32>
    %0 = spmd.all_reduce max %a over ["data"] : tensor<f32>
    %1 = spmd.all_reduce sum %b over ["data"] : tensor<f32>
    return %0 : tensor<f32>
  }
  func.func @step_c1(%x: tensor<0xf32>) -> tensor<f32> attributes {spmd.class = @c1, spmd.phase = "step"} {
    %a = nn.constant dense<0xFF800000> : tensor<f32> {spmd.stands_for = {op = "nn.reduce", result = 0 : i64, of = tensor<f32>, layout = #dist.layout<[], partial max [data]>}}
    %b = nn.constant dense<0.0> : tensor<f32> {spmd.stands_for = {op = "nn.reduce", result = 0 : i64, of = tensor<f32>, layout = #dist.layout<[], partial sum [data]>}}
    %0 = spmd.all_reduce max %a over ["data"] : tensor<f32>
    %1 = spmd.all_reduce sum %b over ["data"] : tensor<f32>
    return %0 : tensor<f32>
  }
}
