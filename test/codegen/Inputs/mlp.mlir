// A two-layer perceptron on three ranks, as scheduling leaves it: the batch of 64
// is cut into 22, 21 and 21 samples, which makes two rank classes.

module @mlp attributes {dist.grid = #dist.grid<data = 3>, nn.model = "mlp",
    partita.batch = 64 : i64, partita.loss = "cross_entropy",
    partita.lr = 5.000000e-02 : f64, partita.optimizer = "sgd",
    partita.semantics = "exact up to reduction order"} {
  spmd.class @c0 ranks [0] {arena_bytes = 1316160 : i64, persistent_bytes = 1291712 : i64}
  spmd.class @c1 ranks [1, 2] {arena_bytes = 1312000 : i64, persistent_bytes = 1288576 : i64}
  nn.variable @fc2.weight parameter : tensor<10x128xf32>
      = #nn.random<"uniform", 8.838835e-02 : f64, 1, 0>
  nn.variable @fc2.bias parameter : tensor<10xf32>
      = dense<0.0> : tensor<10xf32>
  nn.variable @fc1.weight parameter : tensor<128x784xf32>
      = #nn.random<"uniform", 3.571429e-02 : f64, 1, 2>
  nn.variable @fc1.bias parameter : tensor<128xf32>
      = dense<0.0> : tensor<128xf32>
  nn.variable @fc2.weight.momentum optimizer : tensor<10x128xf32>
      = dense<0.0> : tensor<10x128xf32>
  nn.variable @fc2.bias.momentum optimizer : tensor<10xf32>
      = dense<0.0> : tensor<10xf32>
  nn.variable @fc1.weight.momentum optimizer : tensor<128x784xf32>
      = dense<0.0> : tensor<128x784xf32>
  nn.variable @fc1.bias.momentum optimizer : tensor<128xf32>
      = dense<0.0> : tensor<128xf32>
  func.func @step_c0() attributes {spmd.class = @c0, spmd.phase = "step"} {
    %x = spmd.buffer input "input" at 1221312 of tensor<64x784xf32> {layout = #dist.layout<[[data], []]>} : memref<22x784xf32>
    %y = spmd.buffer input "labels" at 1290304 of tensor<64xi64> {label, layout = #dist.layout<[[data]]>, limit = 10 : i64} : memref<22xi64>
    %p0 = spmd.buffer variable "fc2.weight" at 0 of tensor<10x128xf32> {layout = #dist.layout<[[], []]>} : memref<10x128xf32>
    %p1 = spmd.buffer variable "fc2.bias" at 5120 of tensor<10xf32> {layout = #dist.layout<[[]]>} : memref<10xf32>
    %p2 = spmd.buffer variable "fc1.weight" at 5184 of tensor<128x784xf32> {layout = #dist.layout<[[], []]>} : memref<128x784xf32>
    %p3 = spmd.buffer variable "fc1.bias" at 406592 of tensor<128xf32> {layout = #dist.layout<[[]]>} : memref<128xf32>
    %g0 = spmd.buffer gradient "fc2.weight" at 407104 of tensor<10x128xf32> {layout = #dist.layout<[[], []]>} : memref<10x128xf32>
    %g1 = spmd.buffer gradient "fc2.bias" at 412224 of tensor<10xf32> {layout = #dist.layout<[[]]>} : memref<10xf32>
    %g2 = spmd.buffer gradient "fc1.weight" at 412288 of tensor<128x784xf32> {layout = #dist.layout<[[], []]>} : memref<128x784xf32>
    %g3 = spmd.buffer gradient "fc1.bias" at 813696 of tensor<128xf32> {layout = #dist.layout<[[]]>} : memref<128xf32>
    %m0 = spmd.buffer variable "fc2.weight.momentum" at 814208 of tensor<10x128xf32> {layout = #dist.layout<[[], []]>} : memref<10x128xf32>
    %m1 = spmd.buffer variable "fc2.bias.momentum" at 819328 of tensor<10xf32> {layout = #dist.layout<[[]]>} : memref<10xf32>
    %m2 = spmd.buffer variable "fc1.weight.momentum" at 819392 of tensor<128x784xf32> {layout = #dist.layout<[[], []]>} : memref<128x784xf32>
    %m3 = spmd.buffer variable "fc1.bias.momentum" at 1220800 of tensor<128xf32> {layout = #dist.layout<[[]]>} : memref<128xf32>
    %wb0 = spmd.buffer bucket "parameters of bucket 0" at 0 : memref<1290xf32>
    %gb0 = spmd.buffer bucket "gradients of bucket 0" at 407104 : memref<1290xf32>
    %mb0 = spmd.buffer bucket "momentum of bucket 0" at 814208 : memref<1290xf32>
    %wb1 = spmd.buffer bucket "parameters of bucket 1" at 5184 : memref<100480xf32>
    %gb1 = spmd.buffer bucket "gradients of bucket 1" at 412288 : memref<100480xf32>
    %mb1 = spmd.buffer bucket "momentum of bucket 1" at 819392 : memref<100480xf32>
    %loss = spmd.buffer result "loss" at 1290496 of tensor<f32> {layout = #dist.layout<[]>} : memref<f32>
    %fc1 = spmd.buffer temporary "/fc1/Gemm" at 1291712 : memref<22x128xf32>
    %fc2 = spmd.buffer temporary "/fc2/Gemm" at 1302976 : memref<22x10xf32>
    %l = spmd.buffer temporary "loss" at 1303872 : memref<22xf32>
    %dfc2 = spmd.buffer temporary "loss.grad" at 1304000 : memref<22x10xf32>
    %dfc1 = spmd.buffer temporary "/fc1/Gemm.grad" at 1304896 : memref<22x128xf32>
    spmd.launch "nn.matmul" on compute(%x, %p2) -> (%fc1) {transpose_b, dist.split = #dist.split<n = [data]>} attributes {section = "forward"}
        : (memref<22x784xf32>, memref<128x784xf32>) -> (memref<22x128xf32>) loc("/fc1/Gemm")
    spmd.launch "nn.fused" on compute(%fc1, %p3) -> (%fc1) {dist.split = #dist.split<n = [data]>} attributes {section = "forward"}
        : (memref<22x128xf32>, memref<128xf32>) -> (memref<22x128xf32>)    {
    ^bb0(%0: f32, %1: f32):
      %2 = arith.addf %0, %1 : f32
      %3 = arith.constant 0.0 : f32
      %4 = arith.maximumf %2, %3 : f32
      spmd.yield %4 : f32
    } loc("/relu/Relu")
    spmd.launch "nn.matmul" on compute(%fc1, %p0) -> (%fc2) {transpose_b, dist.split = #dist.split<n = [data]>} attributes {section = "forward"}
        : (memref<22x128xf32>, memref<10x128xf32>) -> (memref<22x10xf32>) loc("/fc2/Gemm")
    spmd.launch "nn.fused" on compute(%fc2, %p1) -> (%fc2) {dist.split = #dist.split<n = [data]>} attributes {section = "forward"}
        : (memref<22x10xf32>, memref<10xf32>) -> (memref<22x10xf32>)    {
    ^bb0(%0: f32, %1: f32):
      %2 = arith.addf %0, %1 : f32
      spmd.yield %2 : f32
    } loc("/fc2/Gemm")
    spmd.launch "nn.cross_entropy" on compute(%fc2, %y) -> (%l) {axis = 1 : i64, dist.split = #dist.split<n = [data]>} attributes {section = "loss"}
        : (memref<22x10xf32>, memref<22xi64>) -> (memref<22xf32>) loc("loss")
    spmd.launch "nn.reduce" on compute(%l) -> (%loss) {kind = #nn<kind sum>, axes = array<i64: 0>, scale = 1.562500e-02 : f64, dist.split = #dist.split<n = [data]>} attributes {section = "loss"}
        : (memref<22xf32>) -> (memref<f32>) loc("loss")
    spmd.record 0 on compute
    spmd.wait 0 on comm
    spmd.communicate "all_reduce" sum %loss on comm over ["data"]
        label "loss" : memref<f32>
    spmd.record 1 on comm
    spmd.launch "nn.cross_entropy_grad" on compute(%fc2, %y) -> (%dfc2) {axis = 1 : i64, scale = 1.562500e-02 : f64, dist.split = #dist.split<n = [data]>} attributes {section = "backward"}
        : (memref<22x10xf32>, memref<22xi64>) -> (memref<22x10xf32>) loc("loss")
    spmd.launch "nn.reduce" on compute(%dfc2) -> (%g1) {kind = #nn<kind sum>, axes = array<i64: 0>, dist.split = #dist.split<n = [data]>} attributes {section = "backward"}
        : (memref<22x10xf32>) -> (memref<10xf32>) loc("/fc2/Gemm")
    spmd.launch "nn.matmul" on compute(%dfc2, %fc1) -> (%g0) {transpose_a, dist.split = #dist.split<n = [data]>} attributes {section = "backward"}
        : (memref<22x10xf32>, memref<22x128xf32>) -> (memref<10x128xf32>) loc("/fc2/Gemm")
    spmd.record 2 on compute
    spmd.wait 2 on comm
    spmd.communicate "all_reduce" sum %gb0 on comm over ["data"]
        label "bucket 0: fc2.weight, fc2.bias" : memref<1290xf32>
    spmd.record 3 on comm
    spmd.launch "nn.matmul" on compute(%dfc2, %p0) -> (%dfc1) {dist.split = #dist.split<n = [data]>} attributes {section = "backward"}
        : (memref<22x10xf32>, memref<10x128xf32>) -> (memref<22x128xf32>) loc("/fc2/Gemm")
    spmd.launch "nn.fused" on compute(%dfc1, %fc1) -> (%dfc1) {dist.split = #dist.split<n = [data]>} attributes {section = "backward"}
        : (memref<22x128xf32>, memref<22x128xf32>) -> (memref<22x128xf32>)    {
    ^bb0(%0: f32, %1: f32):
      %2 = arith.constant 0.0 : f32
      %3 = arith.cmpf ogt, %1, %2 : f32
      %4 = arith.select %3, %0, %2 : f32
      spmd.yield %4 : f32
    } loc("/relu/Relu")
    spmd.launch "nn.reduce" on compute(%dfc1) -> (%g3) {kind = #nn<kind sum>, axes = array<i64: 0>, dist.split = #dist.split<n = [data]>} attributes {section = "backward"}
        : (memref<22x128xf32>) -> (memref<128xf32>) loc("/fc1/Gemm")
    spmd.launch "nn.matmul" on compute(%dfc1, %x) -> (%g2) {transpose_a, dist.split = #dist.split<n = [data]>} attributes {section = "backward"}
        : (memref<22x128xf32>, memref<22x784xf32>) -> (memref<128x784xf32>) loc("/fc1/Gemm")
    spmd.record 4 on compute
    spmd.wait 4 on comm
    spmd.communicate "all_reduce" sum %gb1 on comm over ["data"]
        label "bucket 1: fc1.weight, fc1.bias" : memref<100480xf32>
    spmd.record 5 on comm
    spmd.wait 3 on compute
    spmd.launch "nn.sgd" on compute(%wb0, %gb0, %mb0) -> (%wb0, %mb0) {momentum = 9.000000e-01 : f64} attributes {section = "update"}
        : (memref<1290xf32>, memref<1290xf32>, memref<1290xf32>) -> (memref<1290xf32>, memref<1290xf32>) loc("bucket 0: fc2.weight, fc2.bias")
    spmd.wait 5 on compute
    spmd.launch "nn.sgd" on compute(%wb1, %gb1, %mb1) -> (%wb1, %mb1) {momentum = 9.000000e-01 : f64} attributes {section = "update"}
        : (memref<100480xf32>, memref<100480xf32>, memref<100480xf32>) -> (memref<100480xf32>, memref<100480xf32>) loc("bucket 1: fc1.weight, fc1.bias")
    spmd.wait 1 on compute
    return
  }
  func.func @eval_c0() attributes {spmd.class = @c0, spmd.phase = "eval"} {
    %x = spmd.buffer input "input" at 1221312 of tensor<64x784xf32> {layout = #dist.layout<[[data], []]>} : memref<22x784xf32>
    %y = spmd.buffer input "labels" at 1290304 of tensor<64xi64> {label, layout = #dist.layout<[[data]]>, limit = 10 : i64} : memref<22xi64>
    %p0 = spmd.buffer variable "fc2.weight" at 0 of tensor<10x128xf32> {layout = #dist.layout<[[], []]>} : memref<10x128xf32>
    %p1 = spmd.buffer variable "fc2.bias" at 5120 of tensor<10xf32> {layout = #dist.layout<[[]]>} : memref<10xf32>
    %p2 = spmd.buffer variable "fc1.weight" at 5184 of tensor<128x784xf32> {layout = #dist.layout<[[], []]>} : memref<128x784xf32>
    %p3 = spmd.buffer variable "fc1.bias" at 406592 of tensor<128xf32> {layout = #dist.layout<[[]]>} : memref<128xf32>
    %losses = spmd.buffer result "losses" at 1290560 of tensor<64xf32> {layout = #dist.layout<[[data]]>} : memref<22xf32>
    %hits = spmd.buffer result "hits" at 1290688 of tensor<64xf32> {layout = #dist.layout<[[data]]>} : memref<22xf32>
    %fc1 = spmd.buffer temporary "/fc1/Gemm" at 1291712 : memref<22x128xf32>
    %fc2 = spmd.buffer temporary "/fc2/Gemm" at 1302976 : memref<22x10xf32>
    spmd.launch "nn.matmul" on compute(%x, %p2) -> (%fc1) {transpose_b, dist.split = #dist.split<n = [data]>} attributes {section = "forward"}
        : (memref<22x784xf32>, memref<128x784xf32>) -> (memref<22x128xf32>) loc("/fc1/Gemm")
    spmd.launch "nn.fused" on compute(%fc1, %p3) -> (%fc1) {dist.split = #dist.split<n = [data]>} attributes {section = "forward"}
        : (memref<22x128xf32>, memref<128xf32>) -> (memref<22x128xf32>)    {
    ^bb0(%0: f32, %1: f32):
      %2 = arith.addf %0, %1 : f32
      %3 = arith.constant 0.0 : f32
      %4 = arith.maximumf %2, %3 : f32
      spmd.yield %4 : f32
    } loc("/relu/Relu")
    spmd.launch "nn.matmul" on compute(%fc1, %p0) -> (%fc2) {transpose_b, dist.split = #dist.split<n = [data]>} attributes {section = "forward"}
        : (memref<22x128xf32>, memref<10x128xf32>) -> (memref<22x10xf32>) loc("/fc2/Gemm")
    spmd.launch "nn.fused" on compute(%fc2, %p1) -> (%fc2) {dist.split = #dist.split<n = [data]>} attributes {section = "forward"}
        : (memref<22x10xf32>, memref<10xf32>) -> (memref<22x10xf32>)    {
    ^bb0(%0: f32, %1: f32):
      %2 = arith.addf %0, %1 : f32
      spmd.yield %2 : f32
    } loc("/fc2/Gemm")
    spmd.launch "nn.cross_entropy" on compute(%fc2, %y) -> (%losses) {axis = 1 : i64, dist.split = #dist.split<n = [data]>} attributes {section = "forward"}
        : (memref<22x10xf32>, memref<22xi64>) -> (memref<22xf32>) loc("loss")
    spmd.launch "nn.correct" on compute(%fc2, %y) -> (%hits) {axis = 1 : i64, dist.split = #dist.split<n = [data]>} attributes {section = "forward"}
        : (memref<22x10xf32>, memref<22xi64>) -> (memref<22xf32>) loc("loss")
    return
  }
  func.func @predict_c0() attributes {spmd.class = @c0, spmd.phase = "predict"} {
    %x = spmd.buffer input "input" at 1221312 of tensor<64x784xf32> {layout = #dist.layout<[[data], []]>} : memref<22x784xf32>
    %p0 = spmd.buffer variable "fc2.weight" at 0 of tensor<10x128xf32> {layout = #dist.layout<[[], []]>} : memref<10x128xf32>
    %p1 = spmd.buffer variable "fc2.bias" at 5120 of tensor<10xf32> {layout = #dist.layout<[[]]>} : memref<10xf32>
    %p2 = spmd.buffer variable "fc1.weight" at 5184 of tensor<128x784xf32> {layout = #dist.layout<[[], []]>} : memref<128x784xf32>
    %p3 = spmd.buffer variable "fc1.bias" at 406592 of tensor<128xf32> {layout = #dist.layout<[[]]>} : memref<128xf32>
    %out = spmd.buffer result "logits" at 1290816 of tensor<64x10xf32> {layout = #dist.layout<[[data], []]>} : memref<22x10xf32>
    %fc1 = spmd.buffer temporary "/fc1/Gemm" at 1291712 : memref<22x128xf32>
    spmd.launch "nn.matmul" on compute(%x, %p2) -> (%fc1) {transpose_b, dist.split = #dist.split<n = [data]>} attributes {section = "forward"}
        : (memref<22x784xf32>, memref<128x784xf32>) -> (memref<22x128xf32>) loc("/fc1/Gemm")
    spmd.launch "nn.fused" on compute(%fc1, %p3) -> (%fc1) {dist.split = #dist.split<n = [data]>} attributes {section = "forward"}
        : (memref<22x128xf32>, memref<128xf32>) -> (memref<22x128xf32>)    {
    ^bb0(%0: f32, %1: f32):
      %2 = arith.addf %0, %1 : f32
      %3 = arith.constant 0.0 : f32
      %4 = arith.maximumf %2, %3 : f32
      spmd.yield %4 : f32
    } loc("/relu/Relu")
    spmd.launch "nn.matmul" on compute(%fc1, %p0) -> (%out) {transpose_b, dist.split = #dist.split<n = [data]>} attributes {section = "forward"}
        : (memref<22x128xf32>, memref<10x128xf32>) -> (memref<22x10xf32>) loc("/fc2/Gemm")
    spmd.launch "nn.fused" on compute(%out, %p1) -> (%out) {dist.split = #dist.split<n = [data]>} attributes {section = "forward"}
        : (memref<22x10xf32>, memref<10xf32>) -> (memref<22x10xf32>)    {
    ^bb0(%0: f32, %1: f32):
      %2 = arith.addf %0, %1 : f32
      spmd.yield %2 : f32
    } loc("/fc2/Gemm")
    return
  }
  func.func @step_c1() attributes {spmd.class = @c1, spmd.phase = "step"} {
    %x = spmd.buffer input "input" at 1221312 of tensor<64x784xf32> {layout = #dist.layout<[[data], []]>} : memref<21x784xf32>
    %y = spmd.buffer input "labels" at 1287168 of tensor<64xi64> {label, layout = #dist.layout<[[data]]>, limit = 10 : i64} : memref<21xi64>
    %p0 = spmd.buffer variable "fc2.weight" at 0 of tensor<10x128xf32> {layout = #dist.layout<[[], []]>} : memref<10x128xf32>
    %p1 = spmd.buffer variable "fc2.bias" at 5120 of tensor<10xf32> {layout = #dist.layout<[[]]>} : memref<10xf32>
    %p2 = spmd.buffer variable "fc1.weight" at 5184 of tensor<128x784xf32> {layout = #dist.layout<[[], []]>} : memref<128x784xf32>
    %p3 = spmd.buffer variable "fc1.bias" at 406592 of tensor<128xf32> {layout = #dist.layout<[[]]>} : memref<128xf32>
    %g0 = spmd.buffer gradient "fc2.weight" at 407104 of tensor<10x128xf32> {layout = #dist.layout<[[], []]>} : memref<10x128xf32>
    %g1 = spmd.buffer gradient "fc2.bias" at 412224 of tensor<10xf32> {layout = #dist.layout<[[]]>} : memref<10xf32>
    %g2 = spmd.buffer gradient "fc1.weight" at 412288 of tensor<128x784xf32> {layout = #dist.layout<[[], []]>} : memref<128x784xf32>
    %g3 = spmd.buffer gradient "fc1.bias" at 813696 of tensor<128xf32> {layout = #dist.layout<[[]]>} : memref<128xf32>
    %m0 = spmd.buffer variable "fc2.weight.momentum" at 814208 of tensor<10x128xf32> {layout = #dist.layout<[[], []]>} : memref<10x128xf32>
    %m1 = spmd.buffer variable "fc2.bias.momentum" at 819328 of tensor<10xf32> {layout = #dist.layout<[[]]>} : memref<10xf32>
    %m2 = spmd.buffer variable "fc1.weight.momentum" at 819392 of tensor<128x784xf32> {layout = #dist.layout<[[], []]>} : memref<128x784xf32>
    %m3 = spmd.buffer variable "fc1.bias.momentum" at 1220800 of tensor<128xf32> {layout = #dist.layout<[[]]>} : memref<128xf32>
    %wb0 = spmd.buffer bucket "parameters of bucket 0" at 0 : memref<1290xf32>
    %gb0 = spmd.buffer bucket "gradients of bucket 0" at 407104 : memref<1290xf32>
    %mb0 = spmd.buffer bucket "momentum of bucket 0" at 814208 : memref<1290xf32>
    %wb1 = spmd.buffer bucket "parameters of bucket 1" at 5184 : memref<100480xf32>
    %gb1 = spmd.buffer bucket "gradients of bucket 1" at 412288 : memref<100480xf32>
    %mb1 = spmd.buffer bucket "momentum of bucket 1" at 819392 : memref<100480xf32>
    %loss = spmd.buffer result "loss" at 1287360 of tensor<f32> {layout = #dist.layout<[]>} : memref<f32>
    %fc1 = spmd.buffer temporary "/fc1/Gemm" at 1288576 : memref<21x128xf32>
    %fc2 = spmd.buffer temporary "/fc2/Gemm" at 1299328 : memref<21x10xf32>
    %l = spmd.buffer temporary "loss" at 1300224 : memref<21xf32>
    %dfc2 = spmd.buffer temporary "loss.grad" at 1300352 : memref<21x10xf32>
    %dfc1 = spmd.buffer temporary "/fc1/Gemm.grad" at 1301248 : memref<21x128xf32>
    spmd.launch "nn.matmul" on compute(%x, %p2) -> (%fc1) {transpose_b, dist.split = #dist.split<n = [data]>} attributes {section = "forward"}
        : (memref<21x784xf32>, memref<128x784xf32>) -> (memref<21x128xf32>) loc("/fc1/Gemm")
    spmd.launch "nn.fused" on compute(%fc1, %p3) -> (%fc1) {dist.split = #dist.split<n = [data]>} attributes {section = "forward"}
        : (memref<21x128xf32>, memref<128xf32>) -> (memref<21x128xf32>)    {
    ^bb0(%0: f32, %1: f32):
      %2 = arith.addf %0, %1 : f32
      %3 = arith.constant 0.0 : f32
      %4 = arith.maximumf %2, %3 : f32
      spmd.yield %4 : f32
    } loc("/relu/Relu")
    spmd.launch "nn.matmul" on compute(%fc1, %p0) -> (%fc2) {transpose_b, dist.split = #dist.split<n = [data]>} attributes {section = "forward"}
        : (memref<21x128xf32>, memref<10x128xf32>) -> (memref<21x10xf32>) loc("/fc2/Gemm")
    spmd.launch "nn.fused" on compute(%fc2, %p1) -> (%fc2) {dist.split = #dist.split<n = [data]>} attributes {section = "forward"}
        : (memref<21x10xf32>, memref<10xf32>) -> (memref<21x10xf32>)    {
    ^bb0(%0: f32, %1: f32):
      %2 = arith.addf %0, %1 : f32
      spmd.yield %2 : f32
    } loc("/fc2/Gemm")
    spmd.launch "nn.cross_entropy" on compute(%fc2, %y) -> (%l) {axis = 1 : i64, dist.split = #dist.split<n = [data]>} attributes {section = "loss"}
        : (memref<21x10xf32>, memref<21xi64>) -> (memref<21xf32>) loc("loss")
    spmd.launch "nn.reduce" on compute(%l) -> (%loss) {kind = #nn<kind sum>, axes = array<i64: 0>, scale = 1.562500e-02 : f64, dist.split = #dist.split<n = [data]>} attributes {section = "loss"}
        : (memref<21xf32>) -> (memref<f32>) loc("loss")
    spmd.record 0 on compute
    spmd.wait 0 on comm
    spmd.communicate "all_reduce" sum %loss on comm over ["data"]
        label "loss" : memref<f32>
    spmd.record 1 on comm
    spmd.launch "nn.cross_entropy_grad" on compute(%fc2, %y) -> (%dfc2) {axis = 1 : i64, scale = 1.562500e-02 : f64, dist.split = #dist.split<n = [data]>} attributes {section = "backward"}
        : (memref<21x10xf32>, memref<21xi64>) -> (memref<21x10xf32>) loc("loss")
    spmd.launch "nn.reduce" on compute(%dfc2) -> (%g1) {kind = #nn<kind sum>, axes = array<i64: 0>, dist.split = #dist.split<n = [data]>} attributes {section = "backward"}
        : (memref<21x10xf32>) -> (memref<10xf32>) loc("/fc2/Gemm")
    spmd.launch "nn.matmul" on compute(%dfc2, %fc1) -> (%g0) {transpose_a, dist.split = #dist.split<n = [data]>} attributes {section = "backward"}
        : (memref<21x10xf32>, memref<21x128xf32>) -> (memref<10x128xf32>) loc("/fc2/Gemm")
    spmd.record 2 on compute
    spmd.wait 2 on comm
    spmd.communicate "all_reduce" sum %gb0 on comm over ["data"]
        label "bucket 0: fc2.weight, fc2.bias" : memref<1290xf32>
    spmd.record 3 on comm
    spmd.launch "nn.matmul" on compute(%dfc2, %p0) -> (%dfc1) {dist.split = #dist.split<n = [data]>} attributes {section = "backward"}
        : (memref<21x10xf32>, memref<10x128xf32>) -> (memref<21x128xf32>) loc("/fc2/Gemm")
    spmd.launch "nn.fused" on compute(%dfc1, %fc1) -> (%dfc1) {dist.split = #dist.split<n = [data]>} attributes {section = "backward"}
        : (memref<21x128xf32>, memref<21x128xf32>) -> (memref<21x128xf32>)    {
    ^bb0(%0: f32, %1: f32):
      %2 = arith.constant 0.0 : f32
      %3 = arith.cmpf ogt, %1, %2 : f32
      %4 = arith.select %3, %0, %2 : f32
      spmd.yield %4 : f32
    } loc("/relu/Relu")
    spmd.launch "nn.reduce" on compute(%dfc1) -> (%g3) {kind = #nn<kind sum>, axes = array<i64: 0>, dist.split = #dist.split<n = [data]>} attributes {section = "backward"}
        : (memref<21x128xf32>) -> (memref<128xf32>) loc("/fc1/Gemm")
    spmd.launch "nn.matmul" on compute(%dfc1, %x) -> (%g2) {transpose_a, dist.split = #dist.split<n = [data]>} attributes {section = "backward"}
        : (memref<21x128xf32>, memref<21x784xf32>) -> (memref<128x784xf32>) loc("/fc1/Gemm")
    spmd.record 4 on compute
    spmd.wait 4 on comm
    spmd.communicate "all_reduce" sum %gb1 on comm over ["data"]
        label "bucket 1: fc1.weight, fc1.bias" : memref<100480xf32>
    spmd.record 5 on comm
    spmd.wait 3 on compute
    spmd.launch "nn.sgd" on compute(%wb0, %gb0, %mb0) -> (%wb0, %mb0) {momentum = 9.000000e-01 : f64} attributes {section = "update"}
        : (memref<1290xf32>, memref<1290xf32>, memref<1290xf32>) -> (memref<1290xf32>, memref<1290xf32>) loc("bucket 0: fc2.weight, fc2.bias")
    spmd.wait 5 on compute
    spmd.launch "nn.sgd" on compute(%wb1, %gb1, %mb1) -> (%wb1, %mb1) {momentum = 9.000000e-01 : f64} attributes {section = "update"}
        : (memref<100480xf32>, memref<100480xf32>, memref<100480xf32>) -> (memref<100480xf32>, memref<100480xf32>) loc("bucket 1: fc1.weight, fc1.bias")
    spmd.wait 1 on compute
    return
  }
  func.func @eval_c1() attributes {spmd.class = @c1, spmd.phase = "eval"} {
    %x = spmd.buffer input "input" at 1221312 of tensor<64x784xf32> {layout = #dist.layout<[[data], []]>} : memref<21x784xf32>
    %y = spmd.buffer input "labels" at 1287168 of tensor<64xi64> {label, layout = #dist.layout<[[data]]>, limit = 10 : i64} : memref<21xi64>
    %p0 = spmd.buffer variable "fc2.weight" at 0 of tensor<10x128xf32> {layout = #dist.layout<[[], []]>} : memref<10x128xf32>
    %p1 = spmd.buffer variable "fc2.bias" at 5120 of tensor<10xf32> {layout = #dist.layout<[[]]>} : memref<10xf32>
    %p2 = spmd.buffer variable "fc1.weight" at 5184 of tensor<128x784xf32> {layout = #dist.layout<[[], []]>} : memref<128x784xf32>
    %p3 = spmd.buffer variable "fc1.bias" at 406592 of tensor<128xf32> {layout = #dist.layout<[[]]>} : memref<128xf32>
    %losses = spmd.buffer result "losses" at 1287424 of tensor<64xf32> {layout = #dist.layout<[[data]]>} : memref<21xf32>
    %hits = spmd.buffer result "hits" at 1287552 of tensor<64xf32> {layout = #dist.layout<[[data]]>} : memref<21xf32>
    %fc1 = spmd.buffer temporary "/fc1/Gemm" at 1288576 : memref<21x128xf32>
    %fc2 = spmd.buffer temporary "/fc2/Gemm" at 1299328 : memref<21x10xf32>
    spmd.launch "nn.matmul" on compute(%x, %p2) -> (%fc1) {transpose_b, dist.split = #dist.split<n = [data]>} attributes {section = "forward"}
        : (memref<21x784xf32>, memref<128x784xf32>) -> (memref<21x128xf32>) loc("/fc1/Gemm")
    spmd.launch "nn.fused" on compute(%fc1, %p3) -> (%fc1) {dist.split = #dist.split<n = [data]>} attributes {section = "forward"}
        : (memref<21x128xf32>, memref<128xf32>) -> (memref<21x128xf32>)    {
    ^bb0(%0: f32, %1: f32):
      %2 = arith.addf %0, %1 : f32
      %3 = arith.constant 0.0 : f32
      %4 = arith.maximumf %2, %3 : f32
      spmd.yield %4 : f32
    } loc("/relu/Relu")
    spmd.launch "nn.matmul" on compute(%fc1, %p0) -> (%fc2) {transpose_b, dist.split = #dist.split<n = [data]>} attributes {section = "forward"}
        : (memref<21x128xf32>, memref<10x128xf32>) -> (memref<21x10xf32>) loc("/fc2/Gemm")
    spmd.launch "nn.fused" on compute(%fc2, %p1) -> (%fc2) {dist.split = #dist.split<n = [data]>} attributes {section = "forward"}
        : (memref<21x10xf32>, memref<10xf32>) -> (memref<21x10xf32>)    {
    ^bb0(%0: f32, %1: f32):
      %2 = arith.addf %0, %1 : f32
      spmd.yield %2 : f32
    } loc("/fc2/Gemm")
    spmd.launch "nn.cross_entropy" on compute(%fc2, %y) -> (%losses) {axis = 1 : i64, dist.split = #dist.split<n = [data]>} attributes {section = "forward"}
        : (memref<21x10xf32>, memref<21xi64>) -> (memref<21xf32>) loc("loss")
    spmd.launch "nn.correct" on compute(%fc2, %y) -> (%hits) {axis = 1 : i64, dist.split = #dist.split<n = [data]>} attributes {section = "forward"}
        : (memref<21x10xf32>, memref<21xi64>) -> (memref<21xf32>) loc("loss")
    return
  }
  func.func @predict_c1() attributes {spmd.class = @c1, spmd.phase = "predict"} {
    %x = spmd.buffer input "input" at 1221312 of tensor<64x784xf32> {layout = #dist.layout<[[data], []]>} : memref<21x784xf32>
    %p0 = spmd.buffer variable "fc2.weight" at 0 of tensor<10x128xf32> {layout = #dist.layout<[[], []]>} : memref<10x128xf32>
    %p1 = spmd.buffer variable "fc2.bias" at 5120 of tensor<10xf32> {layout = #dist.layout<[[]]>} : memref<10xf32>
    %p2 = spmd.buffer variable "fc1.weight" at 5184 of tensor<128x784xf32> {layout = #dist.layout<[[], []]>} : memref<128x784xf32>
    %p3 = spmd.buffer variable "fc1.bias" at 406592 of tensor<128xf32> {layout = #dist.layout<[[]]>} : memref<128xf32>
    %out = spmd.buffer result "logits" at 1287680 of tensor<64x10xf32> {layout = #dist.layout<[[data], []]>} : memref<21x10xf32>
    %fc1 = spmd.buffer temporary "/fc1/Gemm" at 1288576 : memref<21x128xf32>
    spmd.launch "nn.matmul" on compute(%x, %p2) -> (%fc1) {transpose_b, dist.split = #dist.split<n = [data]>} attributes {section = "forward"}
        : (memref<21x784xf32>, memref<128x784xf32>) -> (memref<21x128xf32>) loc("/fc1/Gemm")
    spmd.launch "nn.fused" on compute(%fc1, %p3) -> (%fc1) {dist.split = #dist.split<n = [data]>} attributes {section = "forward"}
        : (memref<21x128xf32>, memref<128xf32>) -> (memref<21x128xf32>)    {
    ^bb0(%0: f32, %1: f32):
      %2 = arith.addf %0, %1 : f32
      %3 = arith.constant 0.0 : f32
      %4 = arith.maximumf %2, %3 : f32
      spmd.yield %4 : f32
    } loc("/relu/Relu")
    spmd.launch "nn.matmul" on compute(%fc1, %p0) -> (%out) {transpose_b, dist.split = #dist.split<n = [data]>} attributes {section = "forward"}
        : (memref<21x128xf32>, memref<10x128xf32>) -> (memref<21x10xf32>) loc("/fc2/Gemm")
    spmd.launch "nn.fused" on compute(%out, %p1) -> (%out) {dist.split = #dist.split<n = [data]>} attributes {section = "forward"}
        : (memref<21x10xf32>, memref<10xf32>) -> (memref<21x10xf32>)    {
    ^bb0(%0: f32, %1: f32):
      %2 = arith.addf %0, %1 : f32
      spmd.yield %2 : f32
    } loc("/fc2/Gemm")
    return
  }
}
