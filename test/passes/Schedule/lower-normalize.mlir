// RUN: partita-opt %s -split-input-file -partita-lower-normalize | FileCheck %s

// CHECK-LABEL: func.func @predict(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x3x4xf32>, %[[V:[a-z0-9]+]]: tensor<3xf32>
// CHECK: %[[EPS:.*]] = nn.constant dense<9.99999974E-6> : tensor<f32>
// CHECK: %[[SHIFTED:.*]] = nn.add %[[V]], %[[EPS]]
// CHECK: %[[DEVIATION:.*]] = nn.sqrt %[[SHIFTED]]
// CHECK: %[[INVERSE:.*]] = nn.div %{{.*}}, %[[DEVIATION]]
// CHECK: %[[SCALE:.*]] = nn.mul %[[V]], %[[INVERSE]]
// CHECK: %[[CENTRE:.*]] = nn.mul %[[V]], %[[SCALE]]
// CHECK: %[[SHIFT:.*]] = nn.sub %[[V]], %[[CENTRE]]
// CHECK: %[[A:.*]] = nn.reshape %[[SCALE]] : tensor<3xf32> -> tensor<3x1xf32>
// CHECK: %[[P:.*]] = nn.mul %[[X]], %[[A]]
// CHECK: %[[B:.*]] = nn.reshape %[[SHIFT]] : tensor<3xf32> -> tensor<3x1xf32>
// CHECK: %[[Y:.*]] = nn.add %[[P]], %[[B]]
// CHECK: return %[[Y]]
func.func @predict(%x: tensor<2x3x4xf32>, %v: tensor<3xf32>) -> tensor<2x3x4xf32> {
  %y = nn.normalize %x, %v, %v, %v, %v {axis = 1 : i64, eps = 1.000000e-05 : f64}
      : tensor<2x3x4xf32>, tensor<3xf32>
  return %y : tensor<2x3x4xf32>
}

// -----

// The last dimension broadcasts as it is.
// CHECK-LABEL: func.func @predict
// CHECK-NOT: nn.reshape
// CHECK: return
func.func @predict(%x: tensor<2x3xf32>, %v: tensor<3xf32>) -> tensor<2x3xf32> {
  %y = nn.normalize %x, %v, %v, %v, %v {axis = 1 : i64, eps = 1.0e-5 : f64} : tensor<2x3xf32>, tensor<3xf32>
  return %y : tensor<2x3xf32>
}

// -----

// dy * slope - slope * scale * (dbeta + (x - mean) * inverse * dgamma)
// CHECK-LABEL: func.func @step(
// CHECK-SAME: %[[DY:[a-z0-9]+]]: tensor<2x3xf32>, %[[X:[a-z0-9]+]]: tensor<2x3xf32>, %[[M:[a-z0-9]+]]: tensor<3xf32>, %[[V:[a-z0-9]+]]: tensor<3xf32>, %[[G:[a-z0-9]+]]: tensor<3xf32>, %[[DB:[a-z0-9]+]]: tensor<3xf32>, %[[DG:[a-z0-9]+]]: tensor<3xf32>
// CHECK: %[[INVERSE:.*]] = nn.div
// CHECK: %[[SLOPE:.*]] = nn.mul %[[G]], %[[INVERSE]]
// CHECK: %[[DIRECT:.*]] = nn.mul %[[DY]], %[[SLOPE]]
// CHECK: %[[HALF:.*]] = nn.constant dense<5.000000e-01>
// CHECK: %[[SHARE:.*]] = nn.mul %[[SLOPE]], %[[HALF]]
// CHECK: %[[FLAT:.*]] = nn.mul %[[SHARE]], %[[DB]]
// CHECK: %[[T:.*]] = nn.mul %[[SHARE]], %[[INVERSE]]
// CHECK: %[[STEEP:.*]] = nn.mul %[[T]], %[[DG]]
// CHECK: %[[CENTRED:.*]] = nn.sub %[[X]], %[[M]]
// CHECK: %[[LEVEL:.*]] = nn.sub %[[DIRECT]], %[[FLAT]]
// CHECK: %[[TILT:.*]] = nn.mul %[[CENTRED]], %[[STEEP]]
// CHECK: nn.sub %[[LEVEL]], %[[TILT]]
func.func @step(%dy: tensor<2x3xf32>, %x: tensor<2x3xf32>, %m: tensor<3xf32>, %v: tensor<3xf32>, %g: tensor<3xf32>, %db: tensor<3xf32>, %dg: tensor<3xf32>) -> tensor<2x3xf32> {
  %dx = nn.normalize_grad %dy, %x, %m, %v, %g, %db, %dg {axis = 1 : i64, eps = 1.0e-5 : f64, scale = 0.5 : f64} : tensor<2x3xf32>, tensor<3xf32>
  return %dx : tensor<2x3xf32>
}

// -----

// Constant statistics leave the direct part alone.
// CHECK-LABEL: func.func @step
// CHECK: %[[SLOPE:.*]] = nn.mul %arg1, %
// CHECK-NEXT: %[[DX:.*]] = nn.mul %arg0, %[[SLOPE]]
// CHECK-NEXT: return %[[DX]]
func.func @step(%dy: tensor<2x3xf32>, %v: tensor<3xf32>) -> tensor<2x3xf32> {
  %dx = nn.normalize_grad %dy, %dy, %v, %v, %v, %v, %v {axis = 1 : i64, eps = 1.0e-5 : f64, scale = 0.0 : f64} : tensor<2x3xf32>, tensor<3xf32>
  return %dx : tensor<2x3xf32>
}
