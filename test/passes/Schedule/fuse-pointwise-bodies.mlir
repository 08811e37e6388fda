// The scalar body of every point-wise operation.
// RUN: partita-opt %s -partita-fuse-pointwise | FileCheck %s

// CHECK-LABEL: func.func @binary
func.func @binary(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK: arith.subf
  %0 = nn.sub %a, %b : tensor<4xf32>, tensor<4xf32>
  // CHECK: arith.divf
  %1 = nn.div %a, %b : tensor<4xf32>, tensor<4xf32>
  // CHECK: math.powf
  %2 = nn.pow %a, %b : tensor<4xf32>, tensor<4xf32>
  // NaN if either is NaN.
  // CHECK: arith.maximumf
  %3 = nn.max %a, %b : tensor<4xf32>, tensor<4xf32>
  // CHECK: arith.minimumf
  %4 = nn.min %a, %b : tensor<4xf32>, tensor<4xf32>
  return %0, %1, %2, %3, %4 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @integers
func.func @integers(%a: tensor<4xi32>, %b: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) {
  // CHECK: arith.subi
  %0 = nn.sub %a, %b : tensor<4xi32>, tensor<4xi32>
  // CHECK: arith.divsi
  %1 = nn.div %a, %b : tensor<4xi32>, tensor<4xi32>
  // CHECK: math.ipowi
  %2 = nn.pow %a, %b : tensor<4xi32>, tensor<4xi32>
  // CHECK: arith.maxsi
  %3 = nn.max %a, %b : tensor<4xi32>, tensor<4xi32>
  // CHECK: math.absi
  %4 = nn.abs %a : tensor<4xi32>
  // CHECK: %[[C0:.*]] = arith.constant 0 : i32
  // CHECK: arith.subi %[[C0]]
  %5 = nn.neg %a : tensor<4xi32>
  return %0, %1, %2, %3, %4, %5 : tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>
}

// `ne` alone holds for NaN.
// CHECK-LABEL: func.func @comparisons
func.func @comparisons(%a: tensor<4xf32>, %i: tensor<4xi64>) -> (tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>) {
  // CHECK: arith.cmpf oeq
  %0 = nn.compare eq, %a, %a : tensor<4xf32>, tensor<4xf32>
  // CHECK: arith.cmpf une
  %1 = nn.compare ne, %a, %a : tensor<4xf32>, tensor<4xf32>
  // CHECK: arith.cmpf ole
  %2 = nn.compare le, %a, %a : tensor<4xf32>, tensor<4xf32>
  // CHECK: arith.cmpi sge
  %3 = nn.compare ge, %i, %i : tensor<4xi64>, tensor<4xi64>
  // CHECK: arith.cmpi slt
  // CHECK: arith.xori
  %4 = nn.compare lt, %i, %i : tensor<4xi64>, tensor<4xi64>
  %5 = nn.not %4 : tensor<4xi1>
  return %0, %1, %2, %3, %5 : tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>
}

// CHECK-LABEL: func.func @casts
func.func @casts(%f: tensor<4xf32>, %h: tensor<4xf16>, %i: tensor<4xi64>, %p: tensor<4xi1>) -> (tensor<4xf64>, tensor<4xf16>, tensor<4xbf16>, tensor<4xi32>, tensor<4xi32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi1>, tensor<4xi1>, tensor<4xi64>) {
  // CHECK: arith.extf %{{.*}} : f32 to f64
  %0 = nn.cast %f : tensor<4xf32> -> tensor<4xf64>
  // CHECK: arith.truncf %{{.*}} : f32 to f16
  %1 = nn.cast %f : tensor<4xf32> -> tensor<4xf16>
  // Equal widths go through f32.
  // CHECK: %[[WIDE:.*]] = arith.extf %{{.*}} : f16 to f32
  // CHECK-NEXT: arith.truncf %[[WIDE]] : f32 to bf16
  %2 = nn.cast %h : tensor<4xf16> -> tensor<4xbf16>
  // CHECK: arith.fptosi %{{.*}} : f32 to i32
  %3 = nn.cast %f : tensor<4xf32> -> tensor<4xi32>
  // CHECK: arith.trunci %{{.*}} : i64 to i32
  %4 = nn.cast %i : tensor<4xi64> -> tensor<4xi32>
  // CHECK: arith.sitofp %{{.*}} : i64 to f32
  %5 = nn.cast %i : tensor<4xi64> -> tensor<4xf32>
  // A boolean is 0 or 1, not 0 or -1.
  // CHECK: arith.uitofp %{{.*}} : i1 to f32
  %6 = nn.cast %p : tensor<4xi1> -> tensor<4xf32>
  // CHECK: arith.cmpf une
  %7 = nn.cast %f : tensor<4xf32> -> tensor<4xi1>
  // CHECK: arith.cmpi ne
  %8 = nn.cast %i : tensor<4xi64> -> tensor<4xi1>
  // CHECK: arith.extui %{{.*}} : i1 to i64
  %9 = nn.cast %p : tensor<4xi1> -> tensor<4xi64>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9 : tensor<4xf64>, tensor<4xf16>, tensor<4xbf16>, tensor<4xi32>, tensor<4xi32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi1>, tensor<4xi1>, tensor<4xi64>
}

// CHECK-LABEL: func.func @functions
func.func @functions(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK: math.absf
  %0 = nn.abs %x : tensor<4xf32>
  // CHECK: math.log %
  %1 = nn.log %x : tensor<4xf32>
  // CHECK: math.sqrt
  %2 = nn.sqrt %x : tensor<4xf32>
  // CHECK: math.erf
  %3 = nn.erf %x : tensor<4xf32>
  // CHECK: math.tanh
  %4 = nn.tanh %x : tensor<4xf32>
  // CHECK: math.sin
  %5 = nn.sin %x : tensor<4xf32>
  // CHECK: math.cos
  %6 = nn.cos %x : tensor<4xf32>
  // CHECK: math.floor
  %7 = nn.floor %x : tensor<4xf32>
  // CHECK: math.ceil
  %8 = nn.ceil %x : tensor<4xf32>
  // CHECK: math.roundeven
  %9 = nn.round %x : tensor<4xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @formulas
func.func @formulas(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // 1 / (1 + exp(-x))
  // CHECK: %[[N:.*]] = arith.negf
  // CHECK: %[[E:.*]] = math.exp %[[N]]
  // CHECK: %[[S:.*]] = arith.addf %{{.*}}, %[[E]]
  // CHECK: arith.divf %{{.*}}, %[[S]]
  %0 = nn.sigmoid %x : tensor<4xf32>
  // max(x, 0) + log1p(exp(-|x|))
  // CHECK: %[[A:.*]] = math.absf
  // CHECK: %[[N:.*]] = arith.negf %[[A]]
  // CHECK: %[[E:.*]] = math.exp %[[N]]
  // CHECK: %[[T:.*]] = math.log1p %[[E]]
  // CHECK: %[[R:.*]] = arith.maximumf
  // CHECK: arith.addf %[[R]], %[[T]]
  %1 = nn.softplus %x : tensor<4xf32>
  // x itself for 0 and NaN
  // CHECK: %[[ABOVE:.*]] = arith.cmpf ogt
  // CHECK: %[[BELOW:.*]] = arith.cmpf olt
  // CHECK: %[[LOW:.*]] = arith.select %[[BELOW]], %{{.*}}, %[[X:.*]] : f32
  // CHECK: arith.select %[[ABOVE]], %{{.*}}, %[[LOW]]
  %2 = nn.sign %x : tensor<4xf32>
  // CHECK: %[[C:.*]] = arith.constant -1.000000e+00
  // CHECK: %[[L:.*]] = arith.maximumf %{{.*}}, %[[C]]
  // CHECK: %[[H:.*]] = arith.constant 6.000000e+00
  // CHECK: arith.minimumf %[[L]], %[[H]]
  %3 = nn.clip %x {low = -1.0 : f64, high = 6.0 : f64} : tensor<4xf32>
  // No bounds: the element itself.
  // CHECK: nn.fused(%arg0 : tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: ^bb0(%[[X:.*]]: f32):
  // CHECK-NEXT: nn.yield %[[X]]
  %4 = nn.clip %x : tensor<4xf32>
  return %0, %1, %2, %3, %4 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
