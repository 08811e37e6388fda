// RUN: partita-opt %s -split-input-file -partita-group-statistics | FileCheck %s

// CHECK-LABEL: func.func @step_c0
// CHECK: %[[M:.*]] = nn.reduce  sum %arg0 {{.*}} local, scale = 2.500000e-01
// CHECK: %[[ROW:.*]] = nn.reshape %[[M]] : tensor<3xf32> -> tensor<1x3xf32>
// CHECK: %[[PART:.*]] = nn.reduce  sum %[[ROW]] {axes = array<i64: 0>, scale = 5.000000e-01 : f64, spmd.split = #dist.split<d0 = [data]>} : tensor<1x3xf32>
// CHECK: %[[Y:.*]] = nn.sub %arg0, %[[M]]
// CHECK: %[[LARGEST:.*]] = nn.reduce  max %[[Y]]
// CHECK: %[[WHOLE:.*]] = spmd.all_reduce  sum %[[PART]]
// CHECK-NEXT: %[[ALL:.*]] = spmd.all_reduce  max %[[LARGEST]]
// CHECK-NEXT: nn.assign @m, %[[WHOLE]]
// CHECK-NEXT: nn.assign @v, %[[ALL]]
// CHECK-NEXT: return %[[Y]]

module attributes {dist.grid = #dist.grid<data = 2>} {
  nn.variable @m state : tensor<3xf32> = dense<0.0> : tensor<3xf32>
  nn.variable @v state : tensor<3xf32> = dense<0.0> : tensor<3xf32>
  spmd.class @c0 ranks [0, 1]
  func.func @step_c0(%x: tensor<4x3xf32>) -> tensor<4x3xf32>
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    %m = nn.reduce sum %x {axes = array<i64: 0>, local, scale = 2.500000e-01 : f64, spmd.split = #dist.split<d0 = [data]>} : tensor<4x3xf32>
    %part = nn.reduce sum %x {axes = array<i64: 0>, scale = 1.250000e-01 : f64, spmd.split = #dist.split<d0 = [data]>} : tensor<4x3xf32>
    %whole = spmd.all_reduce sum %part over ["data"] : tensor<3xf32>
    nn.assign @m, %whole : tensor<3xf32>
    %y = nn.sub %x, %m : tensor<4x3xf32>, tensor<3xf32>
    %largest = nn.reduce max %y {axes = array<i64: 0>} : tensor<4x3xf32>
    %all = spmd.all_reduce max %largest over ["data"] : tensor<3xf32>
    nn.assign @v, %all : tensor<3xf32>
    return %y : tensor<4x3xf32>
  }
}

// -----

// Mean and variance: the second needs the first. What the step waits for (the
// largest value) stays where it is; the loss, which is only returned, keeps its
// place between the levels.
// CHECK-LABEL: func.func @step_c1
// CHECK: spmd.all_reduce  max
// CHECK: nn.sub
// CHECK: %[[M:.*]] = spmd.all_reduce  sum %{{.*}} {spmd.late} : tensor<3xf32>
// CHECK-NEXT: %[[LOSS:.*]] = spmd.all_reduce  sum %{{.*}} : tensor<f32>
// CHECK-NEXT: nn.assign @m, %[[M]]
// CHECK-NEXT: %[[APART:.*]] = nn.sub %[[OWN:.*]], %[[M]]
// CHECK-NEXT: %[[SQUARE:.*]] = nn.mul %[[APART]], %[[APART]]
// CHECK-NEXT: %[[AROUND:.*]] = nn.add %{{.*}}, %[[SQUARE]]
// CHECK-NEXT: nn.reshape %[[AROUND]] : tensor<3xf32> -> tensor<1x3xf32>
// CHECK-NEXT: nn.reduce  sum {{.*}} scale = 5.000000e-01
// CHECK-NEXT: %[[V:.*]] = spmd.all_reduce  sum %{{.*}} : tensor<3xf32>
// CHECK-NEXT: nn.assign @v, %[[V]]
// CHECK-NEXT: return %[[LOSS]]
//
// A rank without samples has zeros, and issues the same calls in the same
// order: the second level stays behind the loss.
// CHECK-LABEL: func.func @step_c2
// CHECK: %[[M:.*]] = spmd.all_reduce  sum %{{.*}} {spmd.late} : tensor<3xf32>
// CHECK-NEXT: %[[LOSS:.*]] = spmd.all_reduce  sum %{{.*}} : tensor<f32>
// CHECK-NEXT: nn.assign @m, %[[M]]
// CHECK-NEXT: %[[V:.*]] = spmd.all_reduce  sum %{{.*}} : tensor<3xf32>
// CHECK-NEXT: nn.assign @v, %[[V]]
// CHECK-NEXT: return %[[LOSS]]
module attributes {dist.grid = #dist.grid<data = 2>} {
  nn.variable @m state : tensor<3xf32> = dense<0.0> : tensor<3xf32>
  nn.variable @v state : tensor<3xf32> = dense<0.0> : tensor<3xf32>
  spmd.class @c1 ranks [0]
  spmd.class @c2 ranks [1]
  func.func @step_c1(%x: tensor<8192x3xf32>) -> tensor<f32>
      attributes {spmd.class = @c1, spmd.phase = "step"} {
    %own = nn.reduce sum %x {axes = array<i64: 0>, local, scale = 1.220703125E-4 : f64, spmd.split = #dist.split<d0 = [data]>} : tensor<8192x3xf32>
    %spread = nn.variance %x, %own {axes = array<i64: 0>, local, scale = 1.220703125E-4 : f64, spmd.split = #dist.split<d0 = [data]>} : tensor<8192x3xf32>, tensor<3xf32>
    %part = nn.reduce sum %x {axes = array<i64: 0>, scale = 6.103515625E-5 : f64, spmd.split = #dist.split<d0 = [data]>} : tensor<8192x3xf32>
    %mean = spmd.all_reduce sum %part over ["data"] : tensor<3xf32>
    nn.assign @m, %mean : tensor<3xf32>
    %around = nn.variance %x, %mean {axes = array<i64: 0>, scale = 6.103515625E-5 : f64, spmd.split = #dist.split<d0 = [data]>} : tensor<8192x3xf32>, tensor<3xf32>
    %variance = spmd.all_reduce sum %around over ["data"] : tensor<3xf32>
    nn.assign @v, %variance : tensor<3xf32>
    %top = nn.reduce max %x {axes = array<i64: 0, 1>} : tensor<8192x3xf32>
    %most = spmd.all_reduce max %top over ["data"] : tensor<f32>
    %y = nn.sub %x, %most : tensor<8192x3xf32>, tensor<f32>
    %s = nn.reduce sum %y {axes = array<i64: 0, 1>} : tensor<8192x3xf32>
    %loss = spmd.all_reduce sum %s over ["data"] : tensor<f32>
    return %loss : tensor<f32>
  }
  func.func @step_c2(%x: tensor<0x3xf32>) -> tensor<f32>
      attributes {spmd.class = @c2, spmd.phase = "step"} {
    %part = nn.constant dense<0.0> : tensor<3xf32>
    %mean = spmd.all_reduce sum %part over ["data"] : tensor<3xf32>
    nn.assign @m, %mean : tensor<3xf32>
    %around = nn.constant dense<0.0> : tensor<3xf32>
    %variance = spmd.all_reduce sum %around over ["data"] : tensor<3xf32>
    nn.assign @v, %variance : tensor<3xf32>
    %top = nn.constant dense<0xFF800000> : tensor<f32>
    %most = spmd.all_reduce max %top over ["data"] : tensor<f32>
    %y = nn.sub %x, %most : tensor<0x3xf32>, tensor<f32>
    %s = nn.constant dense<0.0> : tensor<f32>
    %loss = spmd.all_reduce sum %s over ["data"] : tensor<f32>
    return %loss : tensor<f32>
  }
}
