// The weights file: bytes of files, random rules, tables; what starts with one
// value everywhere is left to the program. A second emission gives the same
// bytes.
// REQUIRES: python-torch
// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: %python %S/Inputs/check_weights.py write weights.bin
// RUN: partita-translate --emit-program=first %s
// RUN: %python %S/Inputs/check_weights.py check weights.bin first/weights.safetensors
// RUN: partita-translate --emit-program=second %s
// RUN: diff -r first second
// RUN: FileCheck %s < first/train.cpp

module attributes {dist.grid = #dist.grid<data = 1>, nn.model = "weights", partita.batch = 1 : i64} {
  spmd.class @c0 ranks [0] {arena_bytes = 8388608 : i64}
  nn.variable @"file/\E9\87\8D" parameter : tensor<2x450002xf32> = #nn.file<"weights.bin", 12, 3600016>
  nn.variable @uniform parameter : tensor<10xf32> = #nn.random<"uniform", 0.25 : f64, 7, 3>
  nn.variable @normal parameter : tensor<4001xf64> = #nn.random<"normal", 5.0e-02 : f64, 81985529216486895, 5>
  nn.variable @half constant : tensor<8xf16> = #nn.random<"normal", 1.0 : f64, 0, 1>
  nn.variable @table constant : tensor<2x2xf32> = dense<[[1.0, 2.5], [-3.0, 0x7F800000]]> : tensor<2x2xf32>
  nn.variable @flags constant : tensor<5xi1> = dense<[true, false, false, true, true]> : tensor<5xi1>
  nn.variable @numbers constant : tensor<2xi64> = dense<[-1, 1099511627776]> : tensor<2xi64>
  nn.variable @zero state : tensor<3xf32> = dense<0.0> : tensor<3xf32>
  nn.variable @unused constant : tensor<3xf32> = #nn.file<"absent", 0, 12>
  // CHECK: addVariable(p, Role::parameter, {},
  // CHECK-NEXT: tensor(p, "file/\351\207\215", DType::f32, {2, 450002}, {0}));
  // CHECK: addVariable(p, Role::state, 0.0,
  // CHECK-NEXT: tensor(p, "zero"
  // CHECK-NOT: unused
  func.func @step_c0() attributes {spmd.class = @c0, spmd.phase = "step"} {
    %0 = spmd.buffer variable "file/\E9\87\8D" at 0 of tensor<2x450002xf32> {layout = #dist.layout<[[], []]>} : memref<2x450002xf32>
    %1 = spmd.buffer variable "uniform" at 4000000 of tensor<10xf32> {layout = #dist.layout<[[]]>} : memref<10xf32>
    %2 = spmd.buffer variable "normal" at 4000064 of tensor<4001xf64> {layout = #dist.layout<[[]]>} : memref<4001xf64>
    %3 = spmd.buffer variable "half" at 5000000 of tensor<8xf16> {layout = #dist.layout<[[]]>} : memref<8xf16>
    %4 = spmd.buffer variable "table" at 5000064 of tensor<2x2xf32> {layout = #dist.layout<[[], []]>} : memref<2x2xf32>
    %5 = spmd.buffer variable "flags" at 5000128 of tensor<5xi1> {layout = #dist.layout<[[]]>} : memref<5xi1>
    %6 = spmd.buffer variable "numbers" at 5000192 of tensor<2xi64> {layout = #dist.layout<[[]]>} : memref<2xi64>
    %7 = spmd.buffer variable "zero" at 5000256 of tensor<3xf32> {layout = #dist.layout<[[]]>} : memref<3xf32>
    %loss = spmd.buffer result "loss" at 5000320 of tensor<f32> {layout = #dist.layout<[]>} : memref<f32>
    spmd.launch "nn.reduce" on compute(%0) -> (%loss) {axes = array<i64: 0, 1>, kind = #nn<kind sum>} : (memref<2x450002xf32>) -> (memref<f32>)
    return
  }
}
