// Names from models become identifiers, literals and comments, and nothing
// else (names with separators, digits, keywords, 300 characters, UTF-8, quotes).
// RUN: partita-translate --print-source %s > %t.cpp
// RUN: FileCheck %s < %t.cpp
// RUN: %check-cpp %t.cpp

module attributes {dist.grid = #dist.grid<data = 1>, nn.model = "*/ \22); system(\22x\22); //\0A#error\\",
    partita.batch = 2 : i64, partita.semantics = "exact\0A#error"} {
  spmd.class @c0 ranks [0] {arena_bytes = 65536 : i64}
  nn.variable @"a-b" parameter : tensor<4xf32> = dense<1.0> : tensor<4xf32>
  nn.variable @a_b parameter : tensor<4xf32> = dense<-2.5> : tensor<4xf32>
  nn.variable @"a--b" parameter : tensor<4xf32> = dense<0x7FC00000> : tensor<4xf32>
  nn.variable @"10" parameter : tensor<4xf32> = dense<0xFF800000> : tensor<4xf32>
  nn.variable @class parameter : tensor<4xf32> = dense<0.1> : tensor<4xf32>
  nn.variable @"gewicht\C3\BC??/" parameter : tensor<4xf32> = dense<1.0e-30> : tensor<4xf32>
  nn.variable @"\E9\87\8D" constant : tensor<4xi1> = dense<true> : tensor<4xi1>
  // CHECK: // train.cpp - trains */ "); system("x"); //<0a>#error<5c>, printed by partita
  // CHECK: // semantics exact<0a>#error
  func.func @step_c0() attributes {spmd.class = @c0, spmd.phase = "step"} {
    %x = spmd.buffer input "gpu_0/data_0" at 0 of tensor<2x4xf32> {layout = #dist.layout<[[data], []]>} : memref<2x4xf32>
    %a = spmd.buffer variable "a-b" at 64 of tensor<4xf32> {layout = #dist.layout<[[]]>} : memref<4xf32>
    %b = spmd.buffer variable "a_b" at 128 of tensor<4xf32> {layout = #dist.layout<[[]]>} : memref<4xf32>
    %c = spmd.buffer variable "a--b" at 192 of tensor<4xf32> {layout = #dist.layout<[[]]>} : memref<4xf32>
    %d = spmd.buffer variable "10" at 256 of tensor<4xf32> {layout = #dist.layout<[[]]>} : memref<4xf32>
    %e = spmd.buffer variable "class" at 320 of tensor<4xf32> {layout = #dist.layout<[[]]>} : memref<4xf32>
    %f = spmd.buffer variable "gewicht\C3\BC??/" at 384 of tensor<4xf32> {layout = #dist.layout<[[]]>} : memref<4xf32>
    %g = spmd.buffer variable "\E9\87\8D" at 448 of tensor<4xi1> {layout = #dist.layout<[[]]>} : memref<4xi1>
    %t0 = spmd.buffer temporary "a b" at 512 : memref<2x4xf32>
    %t1 = spmd.buffer temporary "\22;\0A}/*" at 576 : memref<2x4xf32>
    %t2 = spmd.buffer temporary "fusedAdd" at 640 : memref<2x4xf32>
    %t3 = spmd.buffer temporary "/very/long/very/long/very/long/very/long/very/long/very/long/very/long/very/long/very/long/very/long/very/long/very/long/very/long/very/long/very/long/very/long/very/long/very/long/1" at 704 : memref<2x4xf32>
    %t4 = spmd.buffer temporary "/very/long/very/long/very/long/very/long/very/long/very/long/very/long/very/long/very/long/very/long/very/long/very/long/very/long/very/long/very/long/very/long/very/long/very/long/2" at 768 : memref<2x4xf32>
    %t5 = spmd.buffer temporary "x" at 832 : memref<2x4xf32>
    %loss = spmd.buffer result "loss" at 896 of tensor<f32> {layout = #dist.layout<[]>} : memref<f32>
    // The node's name cannot end its comment.
    // CHECK: // node<0a>#error <5c>
    // CHECK-NEXT: layer("node\012#error \134");
    // CHECK-NEXT: float *aBOut = at<float>(512); // [2, 4]
    // CHECK-NEXT: fusedAdd(compute, 2, 4, gpu0Data0, aB, aBOut);
    spmd.launch "nn.fused" on compute(%x, %a) -> (%t0) : (memref<2x4xf32>, memref<4xf32>) -> (memref<2x4xf32>) {
    ^bb0(%0: f32, %1: f32):
      %2 = arith.addf %0, %1 : f32
      spmd.yield %2 : f32
    } loc("node\0A#error \\")
    // CHECK: fusedAdd(compute, 2, 4, aBOut, aB_2, bufferOut);
    spmd.launch "nn.fused" on compute(%t0, %b) -> (%t1) : (memref<2x4xf32>, memref<4xf32>) -> (memref<2x4xf32>) {
    ^bb0(%0: f32, %1: f32):
      %2 = arith.addf %0, %1 : f32
      spmd.yield %2 : f32
    }
    // A buffer does not hide the kernel it is called like.
    // CHECK: fusedAdd(compute, 2, 4, bufferOut, aB_3, fusedAddOut);
    spmd.launch "nn.fused" on compute(%t1, %c) -> (%t2) : (memref<2x4xf32>, memref<4xf32>) -> (memref<2x4xf32>) {
    ^bb0(%0: f32, %1: f32):
      %2 = arith.addf %0, %1 : f32
      spmd.yield %2 : f32
    }
    // CHECK: fusedAdd(compute, 2, 4, fusedAddOut, v10,
    // CHECK-NEXT: {{^ *}}[[LONG:veryLong[A-Za-z]*]]);
    spmd.launch "nn.fused" on compute(%t2, %d) -> (%t3) : (memref<2x4xf32>, memref<4xf32>) -> (memref<2x4xf32>) {
    ^bb0(%0: f32, %1: f32):
      %2 = arith.addf %0, %1 : f32
      spmd.yield %2 : f32
    }
    // CHECK: fusedAdd(compute, 2, 4, [[LONG]], class_2,
    // CHECK-NEXT: [[LONG]]Out);
    spmd.launch "nn.fused" on compute(%t3, %e) -> (%t4) : (memref<2x4xf32>, memref<4xf32>) -> (memref<2x4xf32>) {
    ^bb0(%0: f32, %1: f32):
      %2 = arith.addf %0, %1 : f32
      spmd.yield %2 : f32
    }
    // CHECK: fusedAddSelect(compute, 2, 4, [[LONG]]Out,
    // CHECK-NEXT: gewicht, buffer, x);
    spmd.launch "nn.fused" on compute(%t4, %f, %g) -> (%t5) : (memref<2x4xf32>, memref<4xf32>, memref<4xi1>) -> (memref<2x4xf32>) {
    ^bb0(%0: f32, %1: f32, %2: i1):
      %3 = arith.addf %0, %1 : f32
      %4 = arith.select %2, %3, %0 : f32
      spmd.yield %4 : f32
    }
    spmd.launch "nn.reduce" on compute(%t5) -> (%loss) {axes = array<i64: 0, 1>, kind = #nn<kind sum>} : (memref<2x4xf32>) -> (memref<f32>)
    return
  }
  // The runtime sees the names as they are.
  // CHECK: p.name = "*/ \042); system(\042x\042); //\012#error\134";
  // CHECK: Role::parameter, 1.0, tensor(p, "a-b"
  // CHECK: Role::parameter, -2.5,
  // CHECK-NEXT: tensor(p, "a_b"
  // CHECK: Role::parameter, NAN,
  // CHECK-NEXT: tensor(p, "a--b"
  // CHECK: Role::parameter, -INFINITY,
  // CHECK-NEXT: tensor(p, "10"
  // CHECK: tensor(p, "class"
  // CHECK: tensor(p, "gewicht\303\274\077\077/"
  // CHECK: Role::constant, 1.0,
  // CHECK-NEXT: tensor(p, "\351\207\215", DType::boolean
}
