// Variables, constants, updates and the attributes of initial values, printed
// and read back.
// RUN: partita-opt %s | partita-opt | FileCheck %s

// CHECK: nn.variable @conv1.weight parameter : tensor<6x1x5x5xf32> = #nn.file<"lenet5.onnx", 1184, 600>
nn.variable @"conv1.weight" parameter : tensor<6x1x5x5xf32> = #nn.file<"lenet5.onnx", 1184, 600>
// CHECK: nn.variable @w parameter : tensor<3x4xf32> = #nn.random<"normal", 5.000000e-02 : f64, 7, 3>
nn.variable @w parameter : tensor<3x4xf32> = #nn.random<"normal", 5.0e-2 : f64, 7, 3>
// CHECK: nn.variable @half parameter : tensor<3xf16> = #nn.random<"uniform", 0.000000e+00 : f64, -1, 0>
nn.variable @half parameter : tensor<3xf16> = #nn.random<"uniform", 0.0 : f64, -1, 0>
// CHECK: nn.variable @running state : tensor<4xf32> = dense<1.000000e+00> : tensor<4xf32>
nn.variable @running state : tensor<4xf32> = dense<1.0> : tensor<4xf32>
// CHECK: nn.variable @m optimizer : tensor<3x4xf32> = dense<0.000000e+00> : tensor<3x4xf32>
nn.variable @m optimizer : tensor<3x4xf32> = dense<0.0> : tensor<3x4xf32>
// CHECK: nn.variable @v optimizer
nn.variable @v optimizer : tensor<3x4xf32> = dense<0.0> : tensor<3x4xf32>
// A boolean takes one byte.
// CHECK: nn.variable @mask constant : tensor<5xi1> = #nn.file<"model.onnx", 0, 5>
nn.variable @mask constant : tensor<5xi1> = #nn.file<"model.onnx", 0, 5>
// CHECK: nn.variable @scalar constant : tensor<f32> = dense<2.000000e+00> : tensor<f32>
nn.variable @scalar constant : tensor<f32> = dense<2.0> : tensor<f32>

// CHECK-LABEL: func.func @variables
func.func @variables(%g: tensor<3x4xf32>) {
  // CHECK: nn.read @running : tensor<4xf32>
  %0 = nn.read @running : tensor<4xf32>
  // CHECK: nn.assign @running, %{{.*}} : tensor<4xf32>
  nn.assign @running, %0 : tensor<4xf32>
  // A rank's part has the element type and rank of the whole.
  // CHECK: nn.read @w : tensor<2x4xf32>
  %1 = nn.read @w : tensor<2x4xf32>
  // CHECK: nn.sgd @w, %{{.*}} : tensor<3x4xf32>
  nn.sgd @w, %g : tensor<3x4xf32>
  // CHECK: nn.sgd @w state @m, %{{.*}} {momentum = 9.000000e-01 : f64, nesterov, weight_decay = 1.000000e-04 : f64} : tensor<3x4xf32>
  nn.sgd @w state @m, %g {momentum = 0.9 : f64, weight_decay = 1.0e-4 : f64, nesterov} : tensor<3x4xf32>
  // CHECK: nn.adam @w moments @m, @v, %{{.*}} : tensor<3x4xf32>
  nn.adam @w moments @m, @v, %g : tensor<3x4xf32>
  // CHECK: nn.adam @w moments @m, @v, %{{.*}} {beta1 = 5.000000e-01 : f64, beta2 = 7.500000e-01 : f64, decoupled, eps = 1.250000e-01 : f64, weight_decay = 1.000000e-02 : f64} : tensor<3x4xf32>
  nn.adam @w moments @m, @v, %g {beta1 = 0.5 : f64, beta2 = 0.75 : f64, eps = 0.125 : f64, weight_decay = 1.0e-2 : f64, decoupled} : tensor<3x4xf32>
  return
}

// CHECK-LABEL: func.func @constants
func.func @constants() -> (tensor<2xi64>, tensor<100x100xf32>) {
  // CHECK: nn.constant dense<[1, 2]> : tensor<2xi64>
  %0 = nn.constant dense<[1, 2]> : tensor<2xi64>
  // A splat may be large.
  // CHECK: nn.constant dense<5.000000e-01> : tensor<100x100xf32>
  %1 = nn.constant dense<0.5> : tensor<100x100xf32>
  return %0, %1 : tensor<2xi64>, tensor<100x100xf32>
}
