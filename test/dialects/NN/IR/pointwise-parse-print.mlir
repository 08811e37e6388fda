// Point-wise operations and fused loops, printed and read back.
// RUN: partita-opt %s | partita-opt | FileCheck %s

// CHECK-LABEL: func.func @binary
func.func @binary(%a: tensor<4x3xf32>, %b: tensor<3xf32>, %i: tensor<4x3xi64>, %j: tensor<1xi64>) {
  // CHECK: nn.add %{{.*}}, %{{.*}} : tensor<4x3xf32>, tensor<3xf32>
  %0 = nn.add %a, %b : tensor<4x3xf32>, tensor<3xf32>
  // CHECK: nn.sub %{{.*}}, %{{.*}} : tensor<3xf32>, tensor<4x3xf32>
  %1 = nn.sub %b, %a : tensor<3xf32>, tensor<4x3xf32>
  // CHECK: nn.mul %{{.*}}, %{{.*}} : tensor<4x3xf32>, tensor<3xf32>
  %2 = nn.mul %a, %b : tensor<4x3xf32>, tensor<3xf32>
  // CHECK: nn.div %{{.*}}, %{{.*}} : tensor<4x3xi64>, tensor<1xi64>
  %3 = nn.div %i, %j : tensor<4x3xi64>, tensor<1xi64>
  // CHECK: nn.pow %{{.*}}, %{{.*}} : tensor<4x3xf32>, tensor<3xf32>
  %4 = nn.pow %a, %b : tensor<4x3xf32>, tensor<3xf32>
  // CHECK: nn.max %{{.*}}, %{{.*}} : tensor<4x3xf32>, tensor<3xf32>
  %5 = nn.max %a, %b : tensor<4x3xf32>, tensor<3xf32>
  // CHECK: nn.min %{{.*}}, %{{.*}} : tensor<4x3xf32>, tensor<3xf32>
  %6 = nn.min %a, %b : tensor<4x3xf32>, tensor<3xf32>
  return
}

// Both operands grow: [4, 1] and [3] to [4, 3].
// CHECK-LABEL: func.func @broadcast_both
func.func @broadcast_both(%a: tensor<4x1xf32>, %b: tensor<3xf32>) -> tensor<4x3xf32> {
  // CHECK: nn.add
  %0 = nn.add %a, %b : tensor<4x1xf32>, tensor<3xf32>
  return %0 : tensor<4x3xf32>
}

// CHECK-LABEL: func.func @choices
func.func @choices(%a: tensor<4x3xf32>, %b: tensor<3xf32>, %z: tensor<f32>) -> tensor<4x3xf32> {
  // CHECK: nn.compare eq, %{{.*}}, %{{.*}} : tensor<4x3xf32>, tensor<3xf32>
  %0 = nn.compare eq, %a, %b : tensor<4x3xf32>, tensor<3xf32>
  // CHECK: nn.compare ne,
  %1 = nn.compare ne, %a, %b : tensor<4x3xf32>, tensor<3xf32>
  // CHECK: nn.compare lt,
  %2 = nn.compare lt, %a, %b : tensor<4x3xf32>, tensor<3xf32>
  // CHECK: nn.compare le,
  %3 = nn.compare le, %a, %b : tensor<4x3xf32>, tensor<3xf32>
  // CHECK: nn.compare gt,
  %4 = nn.compare gt, %a, %b : tensor<4x3xf32>, tensor<3xf32>
  // CHECK: nn.compare ge,
  %5 = nn.compare ge, %a, %b : tensor<4x3xf32>, tensor<3xf32>
  // CHECK: nn.not %{{.*}} : tensor<4x3xi1>
  %6 = nn.not %0 : tensor<4x3xi1>
  // CHECK: nn.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<4x3xi1>, tensor<3xf32>, tensor<f32>
  %7 = nn.select %6, %b, %z : tensor<4x3xi1>, tensor<3xf32>, tensor<f32>
  return %7 : tensor<4x3xf32>
}

// CHECK-LABEL: func.func @casts
func.func @casts(%x: tensor<4xf32>) -> tensor<4xi1> {
  // CHECK: nn.cast %{{.*}} : tensor<4xf32> -> tensor<4xf16>
  %0 = nn.cast %x : tensor<4xf32> -> tensor<4xf16>
  // CHECK: nn.cast %{{.*}} : tensor<4xf16> -> tensor<4xbf16>
  %1 = nn.cast %0 : tensor<4xf16> -> tensor<4xbf16>
  // CHECK: nn.cast %{{.*}} : tensor<4xbf16> -> tensor<4xi32>
  %2 = nn.cast %1 : tensor<4xbf16> -> tensor<4xi32>
  // CHECK: nn.cast %{{.*}} : tensor<4xi32> -> tensor<4xi1>
  %3 = nn.cast %2 : tensor<4xi32> -> tensor<4xi1>
  return %3 : tensor<4xi1>
}

// CHECK-LABEL: func.func @unary
func.func @unary(%x: tensor<4xf32>) {
  // CHECK: nn.abs %{{.*}} : tensor<4xf32>
  %0 = nn.abs %x : tensor<4xf32>
  // CHECK: nn.neg %{{.*}} : tensor<4xf32>
  %1 = nn.neg %x : tensor<4xf32>
  // CHECK: nn.exp %{{.*}} : tensor<4xf32>
  %2 = nn.exp %x : tensor<4xf32>
  // CHECK: nn.log %{{.*}} : tensor<4xf32>
  %3 = nn.log %x : tensor<4xf32>
  // CHECK: nn.sqrt %{{.*}} : tensor<4xf32>
  %4 = nn.sqrt %x : tensor<4xf32>
  // CHECK: nn.erf %{{.*}} : tensor<4xf32>
  %5 = nn.erf %x : tensor<4xf32>
  // CHECK: nn.tanh %{{.*}} : tensor<4xf32>
  %6 = nn.tanh %x : tensor<4xf32>
  // CHECK: nn.sin %{{.*}} : tensor<4xf32>
  %7 = nn.sin %x : tensor<4xf32>
  // CHECK: nn.cos %{{.*}} : tensor<4xf32>
  %8 = nn.cos %x : tensor<4xf32>
  // CHECK: nn.sigmoid %{{.*}} : tensor<4xf32>
  %9 = nn.sigmoid %x : tensor<4xf32>
  // CHECK: nn.softplus %{{.*}} : tensor<4xf32>
  %10 = nn.softplus %x : tensor<4xf32>
  // CHECK: nn.relu %{{.*}} : tensor<4xf32>
  %11 = nn.relu %x : tensor<4xf32>
  // CHECK: nn.floor %{{.*}} : tensor<4xf32>
  %12 = nn.floor %x : tensor<4xf32>
  // CHECK: nn.ceil %{{.*}} : tensor<4xf32>
  %13 = nn.ceil %x : tensor<4xf32>
  // CHECK: nn.round %{{.*}} : tensor<4xf32>
  %14 = nn.round %x : tensor<4xf32>
  // CHECK: nn.sign %{{.*}} : tensor<4xf32>
  %15 = nn.sign %x : tensor<4xf32>
  // CHECK: nn.clip %{{.*}} {high = 6.000000e+00 : f64, low = 0.000000e+00 : f64} : tensor<4xf32>
  %16 = nn.clip %x {low = 0.0 : f64, high = 6.0 : f64} : tensor<4xf32>
  // CHECK: nn.clip %{{.*}} {low = 1.000000e+00 : f64} : tensor<4xf32>
  %17 = nn.clip %x {low = 1.0 : f64} : tensor<4xf32>
  // CHECK: nn.clip %{{.*}} : tensor<4xf32>
  %18 = nn.clip %x : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @fused
func.func @fused(%x: tensor<8x10xf32>, %b: tensor<10xf32>) -> (tensor<8x10xf32>, tensor<8x10xi1>) {
  // CHECK: %[[R:.*]]:2 = nn.fused(%{{.*}}, %{{.*}} : tensor<8x10xf32>, tensor<10xf32>) -> tensor<8x10xf32>, tensor<8x10xi1> {
  // CHECK-NEXT: ^bb0(%[[X:.*]]: f32, %[[B:.*]]: f32):
  // CHECK-NEXT: %[[S:.*]] = arith.addf %[[X]], %[[B]] : f32
  // CHECK-NEXT: %[[P:.*]] = arith.cmpf ogt, %[[S]], %[[B]] : f32
  // CHECK-NEXT: nn.yield %[[S]], %[[P]] : f32, i1
  %y:2 = nn.fused(%x, %b : tensor<8x10xf32>, tensor<10xf32>) -> tensor<8x10xf32>, tensor<8x10xi1> {
  ^bb0(%0: f32, %1: f32):
    %2 = arith.addf %0, %1 : f32
    %3 = arith.cmpf ogt, %2, %1 : f32
    nn.yield %2, %3 : f32, i1
  }
  // CHECK: return %[[R]]#0, %[[R]]#1
  return %y#0, %y#1 : tensor<8x10xf32>, tensor<8x10xi1>
}

// A loop without operands fills its result.
// CHECK-LABEL: func.func @fused_fill
func.func @fused_fill() -> tensor<4xf32> {
  // CHECK: nn.fused() -> tensor<4xf32> {
  %y = nn.fused() -> tensor<4xf32> {
    %0 = arith.constant 5.0 : f32
    nn.yield %0 : f32
  }
  return %y : tensor<4xf32>
}
