// RUN: partita-opt %s -split-input-file -partita-fuse-pointwise | FileCheck %s

// CHECK-LABEL: func.func @predict(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4xf32>, %[[B:[a-z0-9]+]]: tensor<4xf32>
// CHECK-NEXT: %[[Y:.*]] = nn.fused(%[[X]], %[[B]] : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT: ^bb0(%[[E:.*]]: f32, %[[F:.*]]: f32):
// CHECK-NEXT: %[[S:.*]] = arith.addf %[[E]], %[[F]] : f32
// CHECK-NEXT: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: %[[R:.*]] = arith.maximumf %[[S]], %[[ZERO]] : f32
// CHECK-NEXT: nn.yield %[[R]] : f32
// CHECK: return %[[Y]]
func.func @predict(%x: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %s = nn.add %x, %b : tensor<4xf32>, tensor<4xf32>
  %y = nn.relu %s : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// A constant becomes part of the body, in the type of the elements.
// CHECK-LABEL: func.func @predict
// CHECK-NOT: nn.constant
// CHECK: nn.fused(%arg0 : tensor<4xi64>)
// CHECK: arith.constant 3 : i64
// CHECK: arith.muli
func.func @predict(%x: tensor<4xi64>) -> tensor<4xi64> {
  %c = nn.constant dense<3> : tensor<i64>
  %y = nn.mul %x, %c : tensor<4xi64>, tensor<i64>
  return %y : tensor<4xi64>
}

// -----

// A table is no scalar: it stays an operand.
// CHECK-LABEL: func.func @predict
// CHECK: %[[C:.*]] = nn.constant dense<[1.000000e+00, 2.000000e+00]>
// CHECK: nn.fused(%arg0, %[[C]] : tensor<4x2xf32>, tensor<2xf32>)
func.func @predict(%x: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %c = nn.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %y = nn.mul %x, %c : tensor<4x2xf32>, tensor<2xf32>
  return %y : tensor<4x2xf32>
}

// -----

// A splat that a kernel reads is filled by a loop.
// CHECK-LABEL: func.func @predict
// CHECK: %[[C:.*]] = nn.fused() -> tensor<4x3xf32>
// CHECK: arith.constant 5.000000e-01 : f32
// CHECK: nn.softmax %[[C]]
func.func @predict() -> tensor<4x3xf32> {
  %c = nn.constant dense<0.5> : tensor<4x3xf32>
  %y = nn.softmax %c {axis = 1 : i64} : tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}

// -----

// What others need as well becomes another result of the loop.
// CHECK-LABEL: func.func @predict
// CHECK: %[[F:.*]]:2 = nn.fused(%arg0 : tensor<4xf32>) -> tensor<4xf32>, tensor<4xf32>
// CHECK: %[[E:.*]] = math.exp
// CHECK: %[[N:.*]] = arith.negf %[[E]]
// CHECK: nn.yield %[[N]], %[[E]]
// CHECK: nn.softmax %[[F]]#1
// CHECK: return %[[F]]#0
func.func @predict(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %e = nn.exp %x : tensor<4xf32>
  %n = nn.neg %e : tensor<4xf32>
  %s = nn.softmax %e {axis = 0 : i64} : tensor<4xf32>
  return %n, %s : tensor<4xf32>, tensor<4xf32>
}

// -----

// A user between the two needs the producer's result: they stay apart.
// CHECK-LABEL: func.func @predict
// CHECK: %[[E:.*]] = nn.fused
// CHECK: math.exp
// CHECK: %[[S:.*]] = nn.softmax %[[E]]
// CHECK: nn.fused(%[[E]], %[[S]] :
// CHECK-NEXT: ^bb0
// CHECK-NEXT: arith.addf
func.func @predict(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = nn.exp %x : tensor<4xf32>
  %s = nn.softmax %e {axis = 0 : i64} : tensor<4xf32>
  %y = nn.add %e, %s : tensor<4xf32>, tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// A costly vector is not recomputed for every row; a broadcast costs nothing.
// CHECK-LABEL: func.func @predict
// CHECK: %[[V:.*]] = nn.fused(%arg1 : tensor<3xf32>) -> tensor<3xf32>
// CHECK: math.exp
// CHECK: nn.fused(%[[V]], %arg0 : tensor<3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
// CHECK-NEXT: ^bb0
// CHECK-NEXT: arith.addf
// CHECK-NOT: nn.fused
// CHECK: return
func.func @predict(%x: tensor<4x3xf32>, %v: tensor<3xf32>) -> tensor<4x3xf32> {
  %e = nn.exp %v : tensor<3xf32>
  %b = nn.broadcast %e : tensor<3xf32> -> tensor<4x3xf32>
  %y = nn.add %x, %b : tensor<4x3xf32>, tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}

// -----

// The old value must be read before it is assigned, so the square stays where
// it is.
// CHECK-LABEL: func.func @step
// CHECK: %[[S:.*]] = nn.fused
// CHECK: arith.mulf
// CHECK: nn.assign @s
// CHECK: nn.fused(%[[S]] :
nn.variable @s state : tensor<4xf32> = dense<1.0> : tensor<4xf32>
func.func @step(%x: tensor<4xf32>) -> tensor<4xf32> {
  %s = nn.read @s : tensor<4xf32>
  %q = nn.mul %s, %s : tensor<4xf32>, tensor<4xf32>
  nn.assign @s, %x : tensor<4xf32>
  %y = nn.exp %q : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// One operand, used twice, is one argument of the loop; booleans pass through.
// CHECK-LABEL: func.func @predict
// CHECK: nn.fused(%arg0 : tensor<4xf32>) -> tensor<4xf32>
// CHECK: %[[P:.*]] = arith.cmpf ogt, %[[E:.*]], %[[E]] : f32
// CHECK: arith.select %[[P]]
func.func @predict(%x: tensor<4xf32>) -> tensor<4xf32> {
  %p = nn.compare gt, %x, %x : tensor<4xf32>, tensor<4xf32>
  %y = nn.select %p, %x, %x : tensor<4xi1>, tensor<4xf32>, tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// Thirteen operands are too many for one loop.
// CHECK-LABEL: func.func @predict
// CHECK: nn.fused
// CHECK: nn.fused
func.func @predict(%a: tensor<2xf32>, %b: tensor<2xf32>, %c: tensor<2xf32>, %d: tensor<2xf32>, %e: tensor<2xf32>, %f: tensor<2xf32>, %g: tensor<2xf32>, %h: tensor<2xf32>, %i: tensor<2xf32>, %j: tensor<2xf32>, %k: tensor<2xf32>, %l: tensor<2xf32>, %m: tensor<2xf32>) -> tensor<2xf32> {
  %0 = nn.add %a, %b : tensor<2xf32>, tensor<2xf32>
  %1 = nn.add %0, %c : tensor<2xf32>, tensor<2xf32>
  %2 = nn.add %1, %d : tensor<2xf32>, tensor<2xf32>
  %3 = nn.add %2, %e : tensor<2xf32>, tensor<2xf32>
  %4 = nn.add %3, %f : tensor<2xf32>, tensor<2xf32>
  %5 = nn.add %4, %g : tensor<2xf32>, tensor<2xf32>
  %6 = nn.add %5, %h : tensor<2xf32>, tensor<2xf32>
  %7 = nn.add %6, %i : tensor<2xf32>, tensor<2xf32>
  %8 = nn.add %7, %j : tensor<2xf32>, tensor<2xf32>
  %9 = nn.add %8, %k : tensor<2xf32>, tensor<2xf32>
  %10 = nn.add %9, %l : tensor<2xf32>, tensor<2xf32>
  %11 = nn.add %10, %m : tensor<2xf32>, tensor<2xf32>
  return %11 : tensor<2xf32>
}
