// Every kernel class of the runtime: constructor arguments from shapes and
// parameters, call arguments from buffers.
// RUN: partita-translate --print-source %s > %t.cpp
// Line breaks do not matter here.
// RUN: tr -s '\n ' ' ' < %t.cpp > %t.line
// RUN: FileCheck %s --input-file=%t.line
// RUN: FileCheck %s --check-prefix=OBJECT --input-file=%t.line
// RUN: %check-cpp %t.cpp

module attributes {dist.grid = #dist.grid<data = 1>, partita.batch = 2 : i64} {
  spmd.class @c0 ranks [0] {arena_bytes = 1048576 : i64}
  func.func @step_c0() attributes {spmd.class = @c0, spmd.phase = "step"} {
    %img = spmd.buffer temporary "img" at 0 : memref<2x4x9x9xf32>
    %half = spmd.buffer temporary "half" at 4096 : memref<2x4x5x5xf32>
    %w = spmd.buffer temporary "w" at 8192 : memref<6x2x3x3xf32>
    %bias = spmd.buffer temporary "bias" at 12288 : memref<6xf32>
    %conv = spmd.buffer temporary "conv" at 16384 : memref<2x6x5x5xf32>
    %m = spmd.buffer temporary "mat" at 20480 : memref<2x3x8xf32>
    %k = spmd.buffer temporary "keys" at 24576 : memref<2x3x8xf32>
    %p = spmd.buffer temporary "scores" at 28672 : memref<2x3x3xf32>
    %v = spmd.buffer temporary "proj" at 32768 : memref<8x5xf32>
    %mv = spmd.buffer temporary "wide" at 36864 : memref<2x3x5xf32>
    %c = spmd.buffer temporary "perChannel" at 40960 : memref<4xf32>
    %c2 = spmd.buffer temporary "perChannel2" at 45056 : memref<4xf32>
    %l = spmd.buffer temporary "labels" at 49152 : memref<2x9x9xi64>
    %pos = spmd.buffer temporary "positions" at 53248 : memref<2x9x9xf32>
    %t = spmd.buffer temporary "turned" at 57344 : memref<9x9x4x2xf32>
    %ints = spmd.buffer temporary "ints" at 61440 : memref<2x3xi32>
    %ints2 = spmd.buffer temporary "ints2" at 65536 : memref<2x6xi32>
    %wide = spmd.buffer temporary "bytes" at 69632 : memref<7xf16>
    %shorts = spmd.buffer temporary "shorts" at 77824 : memref<9x2xf16>
    %found = spmd.buffer temporary "found" at 81920 : memref<2x3x2xf16>
    %rows = spmd.buffer temporary "rows" at 86016 : memref<2x9x9x9x9xf32>
    %loss = spmd.buffer result "loss" at 73728 of tensor<f32> {layout = #dist.layout<[]>} : memref<f32>

    // CHECK: c1(compute, img, w, bias, conv);
    // OBJECT: ConvForward c1{device, convSizes({2, 4, 9, 9}, {6, 2, 3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}, 2), true};
    spmd.launch "nn.conv" on compute(%img, %w, %bias) -> (%conv) {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, groups = 2 : i64} : (memref<2x4x9x9xf32>, memref<6x2x3x3xf32>, memref<6xf32>) -> memref<2x6x5x5xf32> loc("c1")
    // CHECK: c2(compute, img, w, nullptr, conv);
    // OBJECT: ConvForward c2{device, convSizes({2, 4, 9, 9}, {6, 2, 3, 3}, {1, 1}, {2, 2}), false};
    spmd.launch "nn.conv" on compute(%img, %w) -> (%conv) {strides = array<i64: 1, 1>, dilations = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>} : (memref<2x4x9x9xf32>, memref<6x2x3x3xf32>) -> memref<2x6x5x5xf32> loc("c2")
    // CHECK: c1InputGrad(compute, conv, w, img);
    // OBJECT: ConvInputGrad c1InputGrad{device, convSizes({2, 4, 9, 9},
    spmd.launch "nn.conv_input_grad" on compute(%conv, %w) -> (%img) {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, groups = 2 : i64} : (memref<2x6x5x5xf32>, memref<6x2x3x3xf32>) -> memref<2x4x9x9xf32> loc("c1")
    // CHECK: c1FilterGrad(compute, img, conv, w);
    // OBJECT: ConvFilterGrad c1FilterGrad{device, convSizes({2, 4, 9, 9},
    spmd.launch "nn.conv_filter_grad" on compute(%img, %conv) -> (%w) {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, groups = 2 : i64} : (memref<2x4x9x9xf32>, memref<2x6x5x5xf32>) -> memref<6x2x3x3xf32> loc("c1")

    // A product per batch element, scaled; one matrix for the whole batch.
    // CHECK: qk(compute, mat, keys, scores);
    // OBJECT: Matmul qk{device, MatmulSizes{2, 3, 3, 8, false, true, 24, 24, 0.125f}};
    spmd.launch "nn.matmul" on compute(%m, %k) -> (%p) {transpose_b, alpha = 1.25e-01 : f64} : (memref<2x3x8xf32>, memref<2x3x8xf32>) -> memref<2x3x3xf32> loc("qk")
    // CHECK: project(compute, mat, proj, wide);
    // OBJECT: Matmul project{device, MatmulSizes{1, 6, 5, 8}};
    spmd.launch "nn.matmul" on compute(%m, %v) -> (%mv) : (memref<2x3x8xf32>, memref<8x5xf32>) -> memref<2x3x5xf32> loc("project")

    // CHECK: max(compute, img, half);
    // OBJECT: MaxPool max{device, poolSizes({2, 4, 9, 9}, {2, 4, 5, 5}, {2, 2}, {2, 2})};
    spmd.launch "nn.max_pool" on compute(%img) -> (%half) {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (memref<2x4x9x9xf32>) -> memref<2x4x5x5xf32> loc("max")
    // CHECK: maxGrad(compute, img, half, img);
    // OBJECT: MaxPoolGrad maxGrad{device,
    spmd.launch "nn.max_pool_grad" on compute(%img, %half) -> (%img) {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (memref<2x4x9x9xf32>, memref<2x4x5x5xf32>) -> memref<2x4x9x9xf32> loc("max")
    // CHECK: avg(compute, img, half);
    // OBJECT: AvgPool avg{device, poolSizes({2, 4, 9, 9}, {2, 4, 5, 5}, {3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}), true};
    spmd.launch "nn.avg_pool" on compute(%img) -> (%half) {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, count_include_pad} : (memref<2x4x9x9xf32>) -> memref<2x4x5x5xf32> loc("avg")
    // CHECK: avgGrad(compute, half, img);
    // OBJECT: AvgPoolGrad avgGrad{device, poolSizes({2, 4, 9, 9}, {2, 4, 5, 5}, {2, 2}, {2, 2}), false};
    spmd.launch "nn.avg_pool_grad" on compute(%half) -> (%img) {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (memref<2x4x5x5xf32>) -> memref<2x4x9x9xf32> loc("avg")

    // CHECK: norm(compute, img, img);
    // OBJECT: Lrn norm{device, 2, 4, 81, 5, 0.0001f, 0.75f, 1.0f};
    spmd.launch "nn.lrn" on compute(%img) -> (%img) {size = 5 : i64, alpha = 1.0e-04 : f64, beta = 7.5e-01 : f64, bias = 1.0 : f64} : (memref<2x4x9x9xf32>) -> memref<2x4x9x9xf32> loc("norm")
    // CHECK: normGrad(compute, img, img, img);
    // OBJECT: LrnGrad normGrad{device, 2, 4, 81, 5, 0.0001f, 0.75f, 1.0f};
    spmd.launch "nn.lrn_grad" on compute(%img, %img) -> (%img) {size = 5 : i64, alpha = 1.0e-04 : f64, beta = 7.5e-01 : f64, bias = 1.0 : f64} : (memref<2x4x9x9xf32>, memref<2x4x9x9xf32>) -> memref<2x4x9x9xf32> loc("norm")

    // CHECK: bnSum(compute, img, perChannel);
    // OBJECT: Reduce bnSum{device, ReduceKind::sum, {2, 4, 9, 9}, {0, 2, 3}, 0.25f};
    spmd.launch "nn.reduce" on compute(%img) -> (%c) {kind = #nn<kind sum>, axes = array<i64: 0, 2, 3>, scale = 2.5e-01 : f64} : (memref<2x4x9x9xf32>) -> memref<4xf32> loc("bn")
    // CHECK: bnMax(compute, img, perChannel);
    // OBJECT: Reduce bnMax{device, ReduceKind::max, {2, 4, 9, 9}, {0, 2, 3}};
    spmd.launch "nn.reduce" on compute(%img) -> (%c) {kind = #nn<kind max>, axes = array<i64: 0, 2, 3>} : (memref<2x4x9x9xf32>) -> memref<4xf32> loc("bn")
    // CHECK: bnVariance(compute, img, perChannel, perChannel2);
    // OBJECT: Variance bnVariance{device, {2, 4, 9, 9}, {0, 2, 3}, 0.25f};
    spmd.launch "nn.variance" on compute(%img, %c) -> (%c2) {axes = array<i64: 0, 2, 3>, scale = 2.5e-01 : f64} : (memref<2x4x9x9xf32>, memref<4xf32>) -> memref<4xf32> loc("bn")
    // CHECK: bn(compute, img, perChannel, perChannel2, perChannel, perChannel2, img);
    // OBJECT: Normalize bn{device, 2, 4, 81, 1e-05f};
    spmd.launch "nn.normalize" on compute(%img, %c, %c2, %c, %c2) -> (%img) {axis = 1 : i64, eps = 1.0e-05 : f64} : (memref<2x4x9x9xf32>, memref<4xf32>, memref<4xf32>, memref<4xf32>, memref<4xf32>) -> memref<2x4x9x9xf32> loc("bn")
    // CHECK: bnSums(compute, img, img, perChannel, perChannel2, perChannel, perChannel2);
    // OBJECT: NormalizeSums bnSums{device, 2, 4, 81, 1e-05f};
    spmd.launch "nn.normalize_sums" on compute(%img, %img, %c, %c2) -> (%c, %c2) {axis = 1 : i64, eps = 1.0e-05 : f64} : (memref<2x4x9x9xf32>, memref<2x4x9x9xf32>, memref<4xf32>, memref<4xf32>) -> (memref<4xf32>, memref<4xf32>) loc("bn")
    // CHECK: bnGrad(compute, img, img, perChannel, perChannel2, perChannel, perChannel, perChannel2, img);
    // OBJECT: NormalizeGrad bnGrad{device, 2, 4, 81, 1e-05f, 0.0061728396f};
    spmd.launch "nn.normalize_grad" on compute(%img, %img, %c, %c2, %c, %c, %c2) -> (%img) {axis = 1 : i64, eps = 1.0e-05 : f64, scale = 0.006172839506172839 : f64} : (memref<2x4x9x9xf32>, memref<2x4x9x9xf32>, memref<4xf32>, memref<4xf32>, memref<4xf32>, memref<4xf32>, memref<4xf32>) -> memref<2x4x9x9xf32> loc("bn")

    // CHECK: soft(compute, img, img);
    // OBJECT: Softmax soft{device, 8, 9, 9, false};
    spmd.launch "nn.softmax" on compute(%img) -> (%img) {axis = 2 : i64} : (memref<2x4x9x9xf32>) -> memref<2x4x9x9xf32> loc("soft")
    // CHECK: logSoft(compute, img, img);
    // OBJECT: Softmax logSoft{device, 72, 9, 1, true};
    spmd.launch "nn.log_softmax" on compute(%img) -> (%img) {axis = 3 : i64} : (memref<2x4x9x9xf32>) -> memref<2x4x9x9xf32> loc("logSoft")
    // CHECK: softGrad(compute, img, img, img);
    // OBJECT: SoftmaxGrad softGrad{device, 8, 9, 9, false};
    spmd.launch "nn.softmax_grad" on compute(%img, %img) -> (%img) {axis = 2 : i64} : (memref<2x4x9x9xf32>, memref<2x4x9x9xf32>) -> memref<2x4x9x9xf32> loc("soft")
    // CHECK: logSoftGrad(compute, img, img, img);
    // OBJECT: SoftmaxGrad logSoftGrad{device, 72, 9, 1, true};
    spmd.launch "nn.log_softmax_grad" on compute(%img, %img) -> (%img) {axis = 3 : i64} : (memref<2x4x9x9xf32>, memref<2x4x9x9xf32>) -> memref<2x4x9x9xf32> loc("logSoft")
    // CHECK: pixelCrossEntropy(compute, img, labels, positions);
    // OBJECT: CrossEntropy pixelCrossEntropy{device, 2, 4, 81};
    spmd.launch "nn.cross_entropy" on compute(%img, %l) -> (%pos) {axis = 1 : i64} : (memref<2x4x9x9xf32>, memref<2x9x9xi64>) -> memref<2x9x9xf32> loc("pixel")
    // CHECK: pixelCrossEntropyGrad(compute, img, labels, img);
    // OBJECT: CrossEntropyGrad pixelCrossEntropyGrad{device, 2, 4, 81, 0.5f};
    spmd.launch "nn.cross_entropy_grad" on compute(%img, %l) -> (%img) {axis = 1 : i64, scale = 5.0e-01 : f64} : (memref<2x4x9x9xf32>, memref<2x9x9xi64>) -> memref<2x4x9x9xf32> loc("pixel")
    // CHECK: pixelCorrect(compute, img, labels, positions);
    // OBJECT: Correct pixelCorrect{device, 2, 4, 81};
    spmd.launch "nn.correct" on compute(%img, %l) -> (%pos) {axis = 1 : i64} : (memref<2x4x9x9xf32>, memref<2x9x9xi64>) -> memref<2x9x9xf32> loc("pixel")

    // Rows 3 to 6 of a table of 20; indices of two kinds.
    // CHECK: embed(compute, img, labels, rows);
    // OBJECT: Gather embed{device, GatherSizes{2, 4, 81, 162, 20, 3}};
    spmd.launch "nn.gather" on compute(%img, %l) -> (%rows) {axis = 1 : i64, limit = 20 : i64, start = 3 : i64} : (memref<2x4x9x9xf32>, memref<2x9x9xi64>) -> memref<2x9x9x9x9xf32> loc("embed")
    // CHECK: embedGrad(compute, rows, labels, img);
    // OBJECT: ScatterAdd embedGrad{device, GatherSizes{2, 4, 81, 162, 20, 3}};
    spmd.launch "nn.scatter_add" on compute(%rows, %l) -> (%img) {axis = 1 : i64, limit = 20 : i64, start = 3 : i64} : (memref<2x9x9x9x9xf32>, memref<2x9x9xi64>) -> memref<2x4x9x9xf32> loc("embed")
    // CHECK: halves(compute, shorts, ints, found);
    // OBJECT: Gather halves{device, GatherSizes{1, 9, 2, 6, 9}, 2};
    spmd.launch "nn.gather" on compute(%shorts, %ints) -> (%found) {axis = 0 : i64, limit = 9 : i64} : (memref<9x2xf16>, memref<2x3xi32>) -> memref<2x3x2xf16> loc("halves")

    // CHECK: turnTranspose(compute, img, turned);
    // OBJECT: Transpose turnTranspose{device, {2, 4, 9, 9}, {3, 2, 1, 0}};
    spmd.launch "nn.transpose" on compute(%img) -> (%t) {permutation = array<i64: 3, 2, 1, 0>} : (memref<2x4x9x9xf32>) -> memref<9x9x4x2xf32> loc("turn")
    // CHECK: cutSlice(compute, ints2, ints);
    // OBJECT: Slice cutSlice{device, {2, 6}, {1, 5}, {2, 3}, {-1, -2}};
    spmd.launch "nn.slice" on compute(%ints2) -> (%ints) {starts = array<i64: 1, 5>, sizes = array<i64: 2, 3>, steps = array<i64: -1, -2>} : (memref<2x6xi32>) -> memref<2x3xi32> loc("cut")
    // CHECK: padPad(compute, half, img);
    // OBJECT: Pad padPad{device, {2, 4, 5, 5}, {0, 0, 1, 0}, {0, 0, 1, 1}, {0, 0, -1, 0}, -INFINITY};
    spmd.launch "nn.pad" on compute(%half) -> (%img) {low = array<i64: 0, 0, 1, 0>, interior = array<i64: 0, 0, 1, 1>, high = array<i64: 0, 0, -1, 0>, value = 0xFFF0000000000000 : f64} : (memref<2x4x5x5xf32>) -> memref<2x4x9x9xf32> loc("pad")
    // CHECK: joinConcat(compute, {ints, ints}, ints2);
    // OBJECT: Concat joinConcat{device, 2, {3, 3}};
    spmd.launch "nn.concat" on compute(%ints, %ints) -> (%ints2) {axis = 1 : i64} : (memref<2x3xi32>, memref<2x3xi32>) -> memref<2x6xi32> loc("join")
    // CHECK: dropMask(compute, rank.seed, rank.stepIndex, img);
    // OBJECT: DropoutMask dropMask{device, {2, 4, 9, 9}, {2, 4, 9, 9}, {0, 0, 0, 0}, 0.5f, 3};
    spmd.launch "nn.dropout_mask" on compute() -> (%img) {ratio = 5.0e-01 : f64, stream = 3 : i64, global_shape = array<i64: 2, 4, 9, 9>, start = array<i64: 0, 0, 0, 0>} : () -> memref<2x4x9x9xf32> loc("drop")
    // CHECK: onesFill(compute, 1.5f, img);
    // OBJECT: Fill onesFill{device, 648};
    spmd.launch "nn.fill" on compute() -> (%img) {value = 1.5 : f64} : () -> memref<2x4x9x9xf32> loc("ones")
    // CHECK: moveCopy(comm, bytes, bytes);
    // OBJECT: Copy moveCopy{device, 14};
    spmd.launch "copy" on comm(%wide) -> (%wide) : (memref<7xf16>) -> memref<7xf16> loc("move")
    spmd.launch "nn.reduce" on compute(%pos) -> (%loss) {kind = #nn<kind sum>, axes = array<i64: 0, 1, 2>} : (memref<2x9x9xf32>) -> memref<f32> loc("loss")
    return
  }
}
