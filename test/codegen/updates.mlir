// The optimizers' formulas as generated kernels.
// RUN: partita-translate --print-source %s > %t.cpp
// RUN: FileCheck %s < %t.cpp
// RUN: %check-cpp %t.cpp

module attributes {dist.grid = #dist.grid<data = 1>, partita.batch = 1 : i64} {
  spmd.class @c0 ranks [0] {arena_bytes = 65536 : i64}

  // CHECK: /// stochastic gradient descent{{$}}
  // CHECK-NEXT: void sgdUpdate(Stream &stream, std::int64_t n, float lr, float *w,
  // CHECK: w[i] = w[i] - lr * g[i];

  // CHECK: /// stochastic gradient descent with Nesterov momentum and weight decay
  // CHECK-NEXT: void sgdUpdate_2(
  // CHECK: const float decayed = g0 + 0.0005f * w0;
  // CHECK-NEXT: const float moved = 0.9f * m0 + decayed;
  // CHECK-NEXT: w[i] = w0 - lr * (decayed + 0.9f * moved);
  // CHECK-NEXT: m[i] = moved;

  // CHECK: /// AdamW
  // CHECK-NEXT: void adamUpdate(Stream &stream, std::int64_t n, float stepSize,
  // CHECK-NEXT: float rootCorrection, float lr, float *w, const float *g,
  // CHECK-NEXT: float *m, float *v) {
  // CHECK: const float first = 0.9f * m0 + 0.1f * g0;
  // CHECK-NEXT: const float second = 0.999f * v0 + 0.001f * g0 * g0;
  // CHECK-NEXT: const float root = std::sqrt(second) * rootCorrection + 1e-08f;
  // CHECK-NEXT: w[i] = (1.0f - lr * 0.01f) * w0 - stepSize * first / root;
  // CHECK-NEXT: m[i] = first;
  // CHECK-NEXT: v[i] = second;

  // CHECK: /// Adam with weight decay
  // CHECK-NEXT: void adamUpdate_2(
  // CHECK: const float decayed = g0 + 0.01f * w0;

  // The corrections are computed once for all buckets.
  // CHECK: void step() override {
  // CHECK: // ---- update ---
  // CHECK: sgdUpdate(compute, 100, rank.lr, w, g);
  // CHECK: const auto stepSize =
  // CHECK-NEXT: static_cast<float>(rank.lr / (1.0 - std::pow(0.9, rank.stepIndex)));
  // CHECK-NEXT: const auto rootCorrection =
  // CHECK-NEXT: static_cast<float>(1.0 / std::sqrt(1.0 - std::pow(0.999, rank.stepIndex)));
  // CHECK-NEXT: adamUpdate(compute, 100, stepSize, rootCorrection, rank.lr, w, g, m, v);
  // CHECK-NOT: std::pow
  // CHECK: adamUpdate_2(compute, 100, stepSize, rootCorrection, w, g, m, v);
  func.func @step_c0() attributes {spmd.class = @c0, spmd.phase = "step"} {
    %w = spmd.buffer bucket "w" at 0 : memref<100xf32>
    %g = spmd.buffer bucket "g" at 512 : memref<100xf32>
    %m = spmd.buffer bucket "m" at 1024 : memref<100xf32>
    %v = spmd.buffer bucket "v" at 1536 : memref<100xf32>
    %loss = spmd.buffer result "loss" at 2048 of tensor<f32> {layout = #dist.layout<[]>} : memref<f32>
    spmd.launch "nn.reduce" on compute(%w) -> (%loss) {axes = array<i64: 0>, kind = #nn<kind sum>} : (memref<100xf32>) -> (memref<f32>)
    spmd.launch "nn.sgd" on compute(%w, %g) -> (%w) {} attributes {section = "update"} : (memref<100xf32>, memref<100xf32>) -> (memref<100xf32>)
    spmd.launch "nn.sgd" on compute(%w, %g, %m) -> (%w, %m) {momentum = 9.0e-01 : f64, weight_decay = 5.0e-04 : f64, nesterov} attributes {section = "update"} : (memref<100xf32>, memref<100xf32>, memref<100xf32>) -> (memref<100xf32>, memref<100xf32>)
    spmd.launch "nn.adam" on compute(%w, %g, %m, %v) -> (%w, %m, %v) {weight_decay = 1.0e-02 : f64, decoupled} attributes {section = "update"} : (memref<100xf32>, memref<100xf32>, memref<100xf32>, memref<100xf32>) -> (memref<100xf32>, memref<100xf32>, memref<100xf32>)
    spmd.launch "nn.adam" on compute(%w, %g, %m, %v) -> (%w, %m, %v) {weight_decay = 1.0e-02 : f64} attributes {section = "update"} : (memref<100xf32>, memref<100xf32>, memref<100xf32>, memref<100xf32>) -> (memref<100xf32>, memref<100xf32>, memref<100xf32>)
    return
  }
}
