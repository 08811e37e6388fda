// RUN: partita-opt %s -split-input-file -partita-expand-coupled | FileCheck %s

// CHECK-LABEL: func.func @predict
// CHECK: %[[M:.*]] = nn.reduce  max %{{.*}} {axes = array<i64: 1>, dist.split = #dist.split<d1 = [model]>}
// CHECK: %[[K:.*]] = nn.reshape %[[M]] : tensor<4xf32> -> tensor<4x1xf32>
// CHECK: %[[D:.*]] = nn.sub %{{.*}}, %[[K]] {dist.split = #dist.split<d1 = [model]>}
// CHECK: %[[E:.*]] = nn.exp %[[D]] {dist.split = #dist.split<d1 = [model]>}
// CHECK: %[[S:.*]] = nn.reduce{{ +}}sum %[[E]] {axes = array<i64: 1>, dist.split = #dist.split<d1 = [model]>}
// CHECK: %[[T:.*]] = nn.reshape %[[S]]
// CHECK: nn.div %[[E]], %[[T]] {dist.split = #dist.split<d1 = [model]>}
func.func @predict(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %y = nn.softmax %x {axis = 1 : i64, dist.split = #dist.split<d1 = [model]>} : tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// -----

// Positions may be split without this; the operation stays.
// CHECK-LABEL: func.func @predict
// CHECK: nn.softmax
func.func @predict(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %y = nn.softmax %x {axis = 1 : i64, dist.split = #dist.split<d0 = [data]>} : tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// -----

// The first largest class: the smallest index among the largest logits.
// CHECK-LABEL: func.func @eval
// CHECK: nn.reduce{{ +}}max
// CHECK: nn.compare{{ +}}eq
// CHECK: nn.iota {size = 6 : i64} : tensor<6xf32>
// CHECK: nn.reduce{{ +}}min
// CHECK-NOT: nn.correct
func.func @eval(%x: tensor<4x6xf32>, %l: tensor<4xi64>) -> tensor<4xf32> {
  %y = nn.correct %x, %l {axis = 1 : i64, dist.split = #dist.split<d1 = [model]>} : tensor<4x6xf32>, tensor<4xi64>
  return %y : tensor<4xf32>
}
