// Point-wise kernels: loops merged where nothing is broadcast, one kernel per
// body and way of broadcasting, scalar code with few parentheses.
// RUN: partita-translate --print-source %s > %t.cpp
// RUN: FileCheck %s < %t.cpp
// RUN: %check-cpp %t.cpp
// RUN: partita-translate --print-source --target=cuda %s | FileCheck %s --check-prefix=CUDA

module attributes {dist.grid = #dist.grid<data = 1>, partita.batch = 2 : i64} {
  spmd.class @c0 ranks [0] {arena_bytes = 1048576 : i64}

  // A bias per channel: three loops, the bias read outside of the innermost.
  // CHECK: /// y = a + b; for /bias1, /bias2
  // CHECK-NEXT: void fusedAdd(Stream &stream, std::int64_t n0, std::int64_t n1, std::int64_t n2,
  // CHECK-NEXT: const float *a, const float *b, float *y) {
  // CHECK: #pragma omp parallel for collapse(2) if (n0 * n1 * n2 >= kWorthThreads)
  // CHECK-NEXT: for (std::int64_t i0 = 0; i0 < n0; ++i0) {
  // CHECK-NEXT: for (std::int64_t i1 = 0; i1 < n1; ++i1) {
  // CHECK-NEXT: const std::int64_t row = (i0 * n1 + i1) * n2;
  // CHECK-NEXT: const float b0 = b[i1];
  // CHECK-NEXT: #pragma omp simd
  // CHECK-NEXT: for (std::int64_t i2 = 0; i2 < n2; ++i2) {
  // CHECK-NEXT: y[row + i2] = a[row + i2] + b0;

  // Full operands and a scalar: one loop.
  // CHECK: void fusedMulSubMul(Stream &stream, std::int64_t n, const float *a,
  // CHECK: const float b0 = b[0];
  // CHECK-NEXT: #pragma omp parallel for simd if (n >= kWorthThreads)
  // CHECK: y[i] = a0 - b0 * a0 * (a0 - 1.0f);

  // A value used twice gets a name; two results are stored after all reads.
  // CHECK: void fusedSigmoidMulSub(
  // CHECK: const float a0 = a[i];
  // CHECK-NEXT: const float t0 = 1.0f / (1.0f + std::exp(-a0));
  // CHECK-NEXT: y0[i] = t0 * a0;
  // CHECK-NEXT: y1[i] = t0 * (1.0f - t0);

  // Rows of one, columns of the other: the outer product.
  // CHECK: void fusedMul(
  // CHECK: const float a0 = a[i0];
  // CHECK: y[row + i1] = a0 * b[i1];

  // Other types than float.
  // CHECK: void fusedCompareNotAnd(Stream &stream, std::int64_t n, const std::int64_t *a,
  // CHECK-NEXT: const bool *b, double *y0, std::int32_t *y1, bool *y2)
  // CHECK: y0[i] = b0 ? static_cast<double>(a0) : -0.5;
  // CHECK-NEXT: y1[i] = static_cast<std::int32_t>(a0 * std::int64_t{3});
  // CHECK-NEXT: y2[i] = (a0 < std::int64_t{7}) & !b0;

  // No inputs at all.
  // CHECK: void fusedFill(Stream &stream, std::int64_t n, std::int64_t *y)
  // CHECK: y[i] = std::int64_t{5};

  // CHECK: float *y = at<float>(16384); // [2, 3, 4, 4]
  // CHECK-NEXT: fusedAdd(compute, 2, 3, 16, x, b, y);
  // CHECK: fusedAdd(compute, 2, 3, 4, z, b, z);

  // Rows of a multiple of four elements move 16 bytes at a time.
  // CUDA: __global__ void fusedAddKernel(
  // CUDA: const std::uint32_t fours = n2 / 4;
  // CUDA-NEXT: const std::uint32_t total = n0 * n1 * fours;
  // CUDA: const std::uint32_t i1 = i / fours % n1;
  // CUDA-NEXT: const Four<float> a4 = load(a + 4 * i);
  // CUDA-NEXT: const float b0 = b[i1];
  // CUDA: yNext4.at[k] = fusedAddElement(a4.at[k], b0);
  // CUDA: cuda::launch(fusedAddKernel, cuda::blocksFor(n0 * n1 * n2 / 4),
  func.func @step_c0() attributes {spmd.class = @c0, spmd.phase = "step"} {
    %x = spmd.buffer temporary "x" at 0 : memref<2x3x4x4xf32>
    %b = spmd.buffer temporary "b" at 8192 : memref<3x1x1xf32>
    %y = spmd.buffer temporary "y" at 16384 : memref<2x3x4x4xf32>
    %z = spmd.buffer temporary "z" at 24576 : memref<2x3x2x2xf32>
    %one = spmd.buffer temporary "one" at 32768 : memref<1xf32>
    %p = spmd.buffer temporary "p" at 36864 : memref<5x1xf32>
    %q = spmd.buffer temporary "q" at 40960 : memref<7xf32>
    %pq = spmd.buffer temporary "pq" at 45056 : memref<5x7xf32>
    %i = spmd.buffer temporary "i" at 49152 : memref<9xi64>
    %k = spmd.buffer temporary "k" at 53248 : memref<9xi1>
    %d = spmd.buffer temporary "d" at 57344 : memref<9xf64>
    %j = spmd.buffer temporary "j" at 61440 : memref<9xi32>
    %loss = spmd.buffer result "loss" at 65536 of tensor<f32> {layout = #dist.layout<[]>} : memref<f32>
    spmd.launch "nn.fused" on compute(%x, %b) -> (%y) : (memref<2x3x4x4xf32>, memref<3x1x1xf32>) -> (memref<2x3x4x4xf32>) {
    ^bb0(%0: f32, %1: f32):
      %2 = arith.addf %0, %1 : f32
      spmd.yield %2 : f32
    } loc("/bias1")
    spmd.launch "nn.fused" on compute(%z, %b) -> (%z) : (memref<2x3x2x2xf32>, memref<3x1x1xf32>) -> (memref<2x3x2x2xf32>) {
    ^bb0(%0: f32, %1: f32):
      %2 = arith.addf %0, %1 : f32
      spmd.yield %2 : f32
    } loc("/bias2")
    spmd.launch "nn.fused" on compute(%x, %one) -> (%y) : (memref<2x3x4x4xf32>, memref<1xf32>) -> (memref<2x3x4x4xf32>) {
    ^bb0(%0: f32, %1: f32):
      %2 = arith.mulf %1, %0 : f32
      %3 = arith.constant 1.0 : f32
      %4 = arith.subf %0, %3 : f32
      %5 = arith.mulf %2, %4 : f32
      %6 = arith.subf %0, %5 : f32
      spmd.yield %6 : f32
    }
    spmd.launch "nn.fused" on compute(%x) -> (%x, %y) : (memref<2x3x4x4xf32>) -> (memref<2x3x4x4xf32>, memref<2x3x4x4xf32>) {
    ^bb0(%0: f32):
      %one_0 = arith.constant 1.0 : f32
      %1 = arith.negf %0 : f32
      %2 = math.exp %1 : f32
      %3 = arith.addf %one_0, %2 : f32
      %4 = arith.divf %one_0, %3 : f32
      %5 = arith.mulf %4, %0 : f32
      %6 = arith.subf %one_0, %4 : f32
      %7 = arith.mulf %4, %6 : f32
      spmd.yield %5, %7 : f32, f32
    }
    spmd.launch "nn.fused" on compute(%p, %q) -> (%pq) : (memref<5x1xf32>, memref<7xf32>) -> (memref<5x7xf32>) {
    ^bb0(%0: f32, %1: f32):
      %2 = arith.mulf %0, %1 : f32
      spmd.yield %2 : f32
    }
    spmd.launch "nn.fused" on compute(%i, %k) -> (%d, %j, %k) : (memref<9xi64>, memref<9xi1>) -> (memref<9xf64>, memref<9xi32>, memref<9xi1>) {
    ^bb0(%0: i64, %1: i1):
      %c7 = arith.constant 7 : i64
      %c3 = arith.constant 3 : i64
      %true = arith.constant true
      %half = arith.constant -0.5 : f64
      %2 = arith.cmpi slt, %0, %c7 : i64
      %3 = arith.xori %1, %true : i1
      %4 = arith.andi %2, %3 : i1
      %5 = arith.sitofp %0 : i64 to f64
      %6 = arith.select %1, %5, %half : f64
      %7 = arith.muli %0, %c3 : i64
      %8 = arith.trunci %7 : i64 to i32
      spmd.yield %6, %8, %4 : f64, i32, i1
    }
    spmd.launch "nn.fused" on compute() -> (%i) : () -> (memref<9xi64>) {
      %c5 = arith.constant 5 : i64
      spmd.yield %c5 : i64
    }
    spmd.launch "nn.reduce" on compute(%x) -> (%loss) {axes = array<i64: 0, 1, 2, 3>, kind = #nn<kind sum>} : (memref<2x3x4x4xf32>) -> (memref<f32>)
    return
  }
}
