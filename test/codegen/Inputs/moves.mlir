// A small convolution network on two ranks, as partitioning leaves it: images
// are cut by rows (4 and 3), samples are cut behind the first layer, and the
// matrix of the last layer, its gradient and its momentum are cut by columns (3
// and 2). Every kind of move takes part.
//
//     x rows ─halo─▶ conv1 rows ─exchange─▶ relu rows ─all_to_all─▶ samples
//     fc columns ─all_gather─▶ whole      labels whole ─slice─▶ samples
//     gradient of fc, partial ─reduce_scatter─▶ columns

module @moves attributes {dist.grid = #dist.grid<row = 2>, nn.model = "moves",
    partita.batch = 4 : i64, partita.loss = "cross_entropy",
    partita.lr = 5.000000e-02 : f64, partita.optimizer = "sgd",
    partita.semantics = "exact up to reduction order"} {
  spmd.class @c0 ranks [0]
  spmd.class @c1 ranks [1]
  nn.variable @conv1.weight parameter : tensor<2x1x3x3xf32>
      = #nn.random<"uniform", 3.0e-01 : f64, 1, 0>
  nn.variable @fc.weight parameter : tensor<84x5xf32>
      = #nn.random<"uniform", 1.0e-01 : f64, 1, 1> {dist.layout = #dist.layout<[[], [row]]>}
  nn.variable @conv1.weight.momentum optimizer : tensor<2x1x3x3xf32>
      = dense<0.0> : tensor<2x1x3x3xf32>
  nn.variable @fc.weight.momentum optimizer : tensor<84x5xf32>
      = dense<0.0> : tensor<84x5xf32>
  func.func @step_c0(%x: tensor<4x1x4x6xf32> {nn.name = "x", dist.layout = #dist.layout<[[], [], [row], []]>, spmd.global = tensor<4x1x7x6xf32>},
      %y: tensor<4xi64> {nn.name = "labels", nn.label, nn.limit = 5 : i64, dist.layout = #dist.layout<[[]]>, spmd.global = tensor<4xi64>})
      -> (tensor<f32> {nn.name = "loss", dist.layout = #dist.layout<[]>, spmd.global = tensor<f32>})
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    %w = nn.read @conv1.weight : tensor<2x1x3x3xf32>
    %v = nn.read @fc.weight : tensor<84x3xf32>
    %xh = spmd.halo_exchange %x over ["row"] from #dist.layout<[[], [], [row], []]> to #dist.layout<[[], [], [row] at [0:5, 3:7], []]> of tensor<4x1x7x6xf32> : tensor<4x1x4x6xf32> -> tensor<4x1x5x6xf32> loc("conv1")
    %c = nn.conv %xh, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 0, 1>, groups = 1 : i64} : tensor<4x1x5x6xf32>, tensor<2x1x3x3xf32> loc("conv1")
    %cm = spmd.exchange %c over ["row"] from #dist.layout<[[], [], [row], []]> to #dist.layout<[[], [], [row] at [0:2, 2:7], []]> of tensor<4x2x7x6xf32> : tensor<4x2x4x6xf32> -> tensor<4x2x2x6xf32> loc("relu1")
    %r = nn.relu %cm : tensor<4x2x2x6xf32> loc("relu1")
    %rs = spmd.all_to_all %r over ["row"] from #dist.layout<[[], [], [row] at [0:2, 2:7], []]> to #dist.layout<[[row], [], [], []]> of tensor<4x2x7x6xf32> : tensor<4x2x2x6xf32> -> tensor<2x2x7x6xf32> loc("fc")
    %f = nn.reshape %rs : tensor<2x2x7x6xf32> -> tensor<2x84xf32> loc("fc")
    %vw = spmd.all_gather %v over ["row"] from #dist.layout<[[], [row]]> to #dist.layout<[[], []]> of tensor<84x5xf32> : tensor<84x3xf32> -> tensor<84x5xf32> loc("fc")
    %o = nn.matmul %f, %vw : tensor<2x84xf32>, tensor<84x5xf32> loc("fc")
    %ys = spmd.slice %y from #dist.layout<[[]]> to #dist.layout<[[row]]> of tensor<4xi64> : tensor<4xi64> -> tensor<2xi64> loc("loss")
    %ce = nn.cross_entropy %o, %ys {axis = 1 : i64} : tensor<2x5xf32>, tensor<2xi64> loc("loss")
    %l = nn.reduce sum %ce {axes = array<i64: 0>, scale = 2.5e-01 : f64} : tensor<2xf32> loc("loss")
    %loss = spmd.all_reduce sum %l over ["row"] : tensor<f32> loc("loss")
    %do = nn.cross_entropy_grad %o, %ys {axis = 1 : i64, scale = 2.5e-01 : f64} : tensor<2x5xf32>, tensor<2xi64> loc("fc")
    %gv = nn.matmul %f, %do {transpose_a} : tensor<2x84xf32>, tensor<2x5xf32> loc("fc")
    %gvs = spmd.reduce_scatter %gv over ["row"] from #dist.layout<[[], []], partial sum [row]> to #dist.layout<[[], [row]]> of tensor<84x5xf32> : tensor<84x5xf32> -> tensor<84x3xf32> loc("fc")
    nn.sgd @fc.weight state @fc.weight.momentum, %gvs {momentum = 9.0e-01 : f64} : tensor<84x3xf32>
    %df = nn.matmul %do, %vw {transpose_b} : tensor<2x5xf32>, tensor<84x5xf32> loc("fc")
    %drs = nn.reshape %df : tensor<2x84xf32> -> tensor<2x2x7x6xf32> loc("fc")
    %dr = spmd.all_to_all %drs over ["row"] from #dist.layout<[[row], [], [], []]> to #dist.layout<[[], [], [row] at [0:2, 2:7], []]> of tensor<4x2x7x6xf32> : tensor<2x2x7x6xf32> -> tensor<4x2x2x6xf32> loc("relu1")
    %dcm = nn.fused(%r, %dr : tensor<4x2x2x6xf32>, tensor<4x2x2x6xf32>) -> tensor<4x2x2x6xf32> {
    ^bb0(%a: f32, %b: f32):
      %z = arith.constant 0.0 : f32
      %p = arith.cmpf ogt, %a, %z : f32
      %q = arith.select %p, %b, %z : f32
      nn.yield %q : f32
    } loc("relu1")
    %dc = spmd.exchange %dcm over ["row"] from #dist.layout<[[], [], [row] at [0:2, 2:7], []]> to #dist.layout<[[], [], [row], []]> of tensor<4x2x7x6xf32> : tensor<4x2x2x6xf32> -> tensor<4x2x4x6xf32> loc("conv1")
    %gw = nn.conv_filter_grad %xh, %dc {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 0, 1>, groups = 1 : i64} : tensor<4x1x5x6xf32>, tensor<4x2x4x6xf32> -> tensor<2x1x3x3xf32> loc("conv1")
    %gws = spmd.all_reduce sum %gw over ["row"] : tensor<2x1x3x3xf32> loc("conv1")
    nn.sgd @conv1.weight state @conv1.weight.momentum, %gws {momentum = 9.0e-01 : f64} : tensor<2x1x3x3xf32>
    return %loss : tensor<f32>
  }
  func.func @eval_c0(%x: tensor<4x1x4x6xf32> {nn.name = "x", dist.layout = #dist.layout<[[], [], [row], []]>, spmd.global = tensor<4x1x7x6xf32>},
      %y: tensor<4xi64> {nn.name = "labels", nn.label, nn.limit = 5 : i64, dist.layout = #dist.layout<[[]]>, spmd.global = tensor<4xi64>})
      -> (tensor<2xf32> {nn.name = "losses", dist.layout = #dist.layout<[[row]]>, spmd.global = tensor<4xf32>},
          tensor<2xf32> {nn.name = "hits", dist.layout = #dist.layout<[[row]]>, spmd.global = tensor<4xf32>})
      attributes {spmd.class = @c0, spmd.phase = "eval"} {
    %w = nn.read @conv1.weight : tensor<2x1x3x3xf32>
    %v = nn.read @fc.weight : tensor<84x3xf32>
    %xh = spmd.halo_exchange %x over ["row"] from #dist.layout<[[], [], [row], []]> to #dist.layout<[[], [], [row] at [0:5, 3:7], []]> of tensor<4x1x7x6xf32> : tensor<4x1x4x6xf32> -> tensor<4x1x5x6xf32> loc("conv1")
    %c = nn.conv %xh, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 0, 1>, groups = 1 : i64} : tensor<4x1x5x6xf32>, tensor<2x1x3x3xf32> loc("conv1")
    %cm = spmd.exchange %c over ["row"] from #dist.layout<[[], [], [row], []]> to #dist.layout<[[], [], [row] at [0:2, 2:7], []]> of tensor<4x2x7x6xf32> : tensor<4x2x4x6xf32> -> tensor<4x2x2x6xf32> loc("relu1")
    %r = nn.relu %cm : tensor<4x2x2x6xf32> loc("relu1")
    %rs = spmd.all_to_all %r over ["row"] from #dist.layout<[[], [], [row] at [0:2, 2:7], []]> to #dist.layout<[[row], [], [], []]> of tensor<4x2x7x6xf32> : tensor<4x2x2x6xf32> -> tensor<2x2x7x6xf32> loc("fc")
    %f = nn.reshape %rs : tensor<2x2x7x6xf32> -> tensor<2x84xf32> loc("fc")
    %vw = spmd.all_gather %v over ["row"] from #dist.layout<[[], [row]]> to #dist.layout<[[], []]> of tensor<84x5xf32> : tensor<84x3xf32> -> tensor<84x5xf32> loc("fc")
    %o = nn.matmul %f, %vw : tensor<2x84xf32>, tensor<84x5xf32> loc("fc")
    %ys = spmd.slice %y from #dist.layout<[[]]> to #dist.layout<[[row]]> of tensor<4xi64> : tensor<4xi64> -> tensor<2xi64> loc("loss")
    %ce = nn.cross_entropy %o, %ys {axis = 1 : i64} : tensor<2x5xf32>, tensor<2xi64> loc("loss")
    %hits = nn.correct %o, %ys {axis = 1 : i64} : tensor<2x5xf32>, tensor<2xi64> loc("hits")
    return %ce, %hits : tensor<2xf32>, tensor<2xf32>
  }
  func.func @predict_c0(%x: tensor<4x1x4x6xf32> {nn.name = "x", dist.layout = #dist.layout<[[], [], [row], []]>, spmd.global = tensor<4x1x7x6xf32>})
      -> (tensor<2x5xf32> {nn.name = "logits", dist.layout = #dist.layout<[[row], []]>, spmd.global = tensor<4x5xf32>})
      attributes {spmd.class = @c0, spmd.phase = "predict"} {
    %w = nn.read @conv1.weight : tensor<2x1x3x3xf32>
    %v = nn.read @fc.weight : tensor<84x3xf32>
    %xh = spmd.halo_exchange %x over ["row"] from #dist.layout<[[], [], [row], []]> to #dist.layout<[[], [], [row] at [0:5, 3:7], []]> of tensor<4x1x7x6xf32> : tensor<4x1x4x6xf32> -> tensor<4x1x5x6xf32> loc("conv1")
    %c = nn.conv %xh, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 0, 1>, groups = 1 : i64} : tensor<4x1x5x6xf32>, tensor<2x1x3x3xf32> loc("conv1")
    %cm = spmd.exchange %c over ["row"] from #dist.layout<[[], [], [row], []]> to #dist.layout<[[], [], [row] at [0:2, 2:7], []]> of tensor<4x2x7x6xf32> : tensor<4x2x4x6xf32> -> tensor<4x2x2x6xf32> loc("relu1")
    %r = nn.relu %cm : tensor<4x2x2x6xf32> loc("relu1")
    %rs = spmd.all_to_all %r over ["row"] from #dist.layout<[[], [], [row] at [0:2, 2:7], []]> to #dist.layout<[[row], [], [], []]> of tensor<4x2x7x6xf32> : tensor<4x2x2x6xf32> -> tensor<2x2x7x6xf32> loc("fc")
    %f = nn.reshape %rs : tensor<2x2x7x6xf32> -> tensor<2x84xf32> loc("fc")
    %vw = spmd.all_gather %v over ["row"] from #dist.layout<[[], [row]]> to #dist.layout<[[], []]> of tensor<84x5xf32> : tensor<84x3xf32> -> tensor<84x5xf32> loc("fc")
    %o = nn.matmul %f, %vw : tensor<2x84xf32>, tensor<84x5xf32> loc("fc")
    return %o : tensor<2x5xf32>
  }
  func.func @step_c1(%x: tensor<4x1x3x6xf32> {nn.name = "x", dist.layout = #dist.layout<[[], [], [row], []]>, spmd.global = tensor<4x1x7x6xf32>},
      %y: tensor<4xi64> {nn.name = "labels", nn.label, nn.limit = 5 : i64, dist.layout = #dist.layout<[[]]>, spmd.global = tensor<4xi64>})
      -> (tensor<f32> {nn.name = "loss", dist.layout = #dist.layout<[]>, spmd.global = tensor<f32>})
      attributes {spmd.class = @c1, spmd.phase = "step"} {
    %w = nn.read @conv1.weight : tensor<2x1x3x3xf32>
    %v = nn.read @fc.weight : tensor<84x2xf32>
    %xh = spmd.halo_exchange %x over ["row"] from #dist.layout<[[], [], [row], []]> to #dist.layout<[[], [], [row] at [0:5, 3:7], []]> of tensor<4x1x7x6xf32> : tensor<4x1x3x6xf32> -> tensor<4x1x4x6xf32> loc("conv1")
    %c = nn.conv %xh, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 1, 1, 1>, groups = 1 : i64} : tensor<4x1x4x6xf32>, tensor<2x1x3x3xf32> loc("conv1")
    %cm = spmd.exchange %c over ["row"] from #dist.layout<[[], [], [row], []]> to #dist.layout<[[], [], [row] at [0:2, 2:7], []]> of tensor<4x2x7x6xf32> : tensor<4x2x3x6xf32> -> tensor<4x2x5x6xf32> loc("relu1")
    %r = nn.relu %cm : tensor<4x2x5x6xf32> loc("relu1")
    %rs = spmd.all_to_all %r over ["row"] from #dist.layout<[[], [], [row] at [0:2, 2:7], []]> to #dist.layout<[[row], [], [], []]> of tensor<4x2x7x6xf32> : tensor<4x2x5x6xf32> -> tensor<2x2x7x6xf32> loc("fc")
    %f = nn.reshape %rs : tensor<2x2x7x6xf32> -> tensor<2x84xf32> loc("fc")
    %vw = spmd.all_gather %v over ["row"] from #dist.layout<[[], [row]]> to #dist.layout<[[], []]> of tensor<84x5xf32> : tensor<84x2xf32> -> tensor<84x5xf32> loc("fc")
    %o = nn.matmul %f, %vw : tensor<2x84xf32>, tensor<84x5xf32> loc("fc")
    %ys = spmd.slice %y from #dist.layout<[[]]> to #dist.layout<[[row]]> of tensor<4xi64> : tensor<4xi64> -> tensor<2xi64> loc("loss")
    %ce = nn.cross_entropy %o, %ys {axis = 1 : i64} : tensor<2x5xf32>, tensor<2xi64> loc("loss")
    %l = nn.reduce sum %ce {axes = array<i64: 0>, scale = 2.5e-01 : f64} : tensor<2xf32> loc("loss")
    %loss = spmd.all_reduce sum %l over ["row"] : tensor<f32> loc("loss")
    %do = nn.cross_entropy_grad %o, %ys {axis = 1 : i64, scale = 2.5e-01 : f64} : tensor<2x5xf32>, tensor<2xi64> loc("fc")
    %gv = nn.matmul %f, %do {transpose_a} : tensor<2x84xf32>, tensor<2x5xf32> loc("fc")
    %gvs = spmd.reduce_scatter %gv over ["row"] from #dist.layout<[[], []], partial sum [row]> to #dist.layout<[[], [row]]> of tensor<84x5xf32> : tensor<84x5xf32> -> tensor<84x2xf32> loc("fc")
    nn.sgd @fc.weight state @fc.weight.momentum, %gvs {momentum = 9.0e-01 : f64} : tensor<84x2xf32>
    %df = nn.matmul %do, %vw {transpose_b} : tensor<2x5xf32>, tensor<84x5xf32> loc("fc")
    %drs = nn.reshape %df : tensor<2x84xf32> -> tensor<2x2x7x6xf32> loc("fc")
    %dr = spmd.all_to_all %drs over ["row"] from #dist.layout<[[row], [], [], []]> to #dist.layout<[[], [], [row] at [0:2, 2:7], []]> of tensor<4x2x7x6xf32> : tensor<2x2x7x6xf32> -> tensor<4x2x5x6xf32> loc("relu1")
    %dcm = nn.fused(%r, %dr : tensor<4x2x5x6xf32>, tensor<4x2x5x6xf32>) -> tensor<4x2x5x6xf32> {
    ^bb0(%a: f32, %b: f32):
      %z = arith.constant 0.0 : f32
      %p = arith.cmpf ogt, %a, %z : f32
      %q = arith.select %p, %b, %z : f32
      nn.yield %q : f32
    } loc("relu1")
    %dc = spmd.exchange %dcm over ["row"] from #dist.layout<[[], [], [row] at [0:2, 2:7], []]> to #dist.layout<[[], [], [row], []]> of tensor<4x2x7x6xf32> : tensor<4x2x5x6xf32> -> tensor<4x2x3x6xf32> loc("conv1")
    %gw = nn.conv_filter_grad %xh, %dc {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 1, 1, 1>, groups = 1 : i64} : tensor<4x1x4x6xf32>, tensor<4x2x3x6xf32> -> tensor<2x1x3x3xf32> loc("conv1")
    %gws = spmd.all_reduce sum %gw over ["row"] : tensor<2x1x3x3xf32> loc("conv1")
    nn.sgd @conv1.weight state @conv1.weight.momentum, %gws {momentum = 9.0e-01 : f64} : tensor<2x1x3x3xf32>
    return %loss : tensor<f32>
  }
  func.func @eval_c1(%x: tensor<4x1x3x6xf32> {nn.name = "x", dist.layout = #dist.layout<[[], [], [row], []]>, spmd.global = tensor<4x1x7x6xf32>},
      %y: tensor<4xi64> {nn.name = "labels", nn.label, nn.limit = 5 : i64, dist.layout = #dist.layout<[[]]>, spmd.global = tensor<4xi64>})
      -> (tensor<2xf32> {nn.name = "losses", dist.layout = #dist.layout<[[row]]>, spmd.global = tensor<4xf32>},
          tensor<2xf32> {nn.name = "hits", dist.layout = #dist.layout<[[row]]>, spmd.global = tensor<4xf32>})
      attributes {spmd.class = @c1, spmd.phase = "eval"} {
    %w = nn.read @conv1.weight : tensor<2x1x3x3xf32>
    %v = nn.read @fc.weight : tensor<84x2xf32>
    %xh = spmd.halo_exchange %x over ["row"] from #dist.layout<[[], [], [row], []]> to #dist.layout<[[], [], [row] at [0:5, 3:7], []]> of tensor<4x1x7x6xf32> : tensor<4x1x3x6xf32> -> tensor<4x1x4x6xf32> loc("conv1")
    %c = nn.conv %xh, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 1, 1, 1>, groups = 1 : i64} : tensor<4x1x4x6xf32>, tensor<2x1x3x3xf32> loc("conv1")
    %cm = spmd.exchange %c over ["row"] from #dist.layout<[[], [], [row], []]> to #dist.layout<[[], [], [row] at [0:2, 2:7], []]> of tensor<4x2x7x6xf32> : tensor<4x2x3x6xf32> -> tensor<4x2x5x6xf32> loc("relu1")
    %r = nn.relu %cm : tensor<4x2x5x6xf32> loc("relu1")
    %rs = spmd.all_to_all %r over ["row"] from #dist.layout<[[], [], [row] at [0:2, 2:7], []]> to #dist.layout<[[row], [], [], []]> of tensor<4x2x7x6xf32> : tensor<4x2x5x6xf32> -> tensor<2x2x7x6xf32> loc("fc")
    %f = nn.reshape %rs : tensor<2x2x7x6xf32> -> tensor<2x84xf32> loc("fc")
    %vw = spmd.all_gather %v over ["row"] from #dist.layout<[[], [row]]> to #dist.layout<[[], []]> of tensor<84x5xf32> : tensor<84x2xf32> -> tensor<84x5xf32> loc("fc")
    %o = nn.matmul %f, %vw : tensor<2x84xf32>, tensor<84x5xf32> loc("fc")
    %ys = spmd.slice %y from #dist.layout<[[]]> to #dist.layout<[[row]]> of tensor<4xi64> : tensor<4xi64> -> tensor<2xi64> loc("loss")
    %ce = nn.cross_entropy %o, %ys {axis = 1 : i64} : tensor<2x5xf32>, tensor<2xi64> loc("loss")
    %hits = nn.correct %o, %ys {axis = 1 : i64} : tensor<2x5xf32>, tensor<2xi64> loc("hits")
    return %ce, %hits : tensor<2xf32>, tensor<2xf32>
  }
  func.func @predict_c1(%x: tensor<4x1x3x6xf32> {nn.name = "x", dist.layout = #dist.layout<[[], [], [row], []]>, spmd.global = tensor<4x1x7x6xf32>})
      -> (tensor<2x5xf32> {nn.name = "logits", dist.layout = #dist.layout<[[row], []]>, spmd.global = tensor<4x5xf32>})
      attributes {spmd.class = @c1, spmd.phase = "predict"} {
    %w = nn.read @conv1.weight : tensor<2x1x3x3xf32>
    %v = nn.read @fc.weight : tensor<84x2xf32>
    %xh = spmd.halo_exchange %x over ["row"] from #dist.layout<[[], [], [row], []]> to #dist.layout<[[], [], [row] at [0:5, 3:7], []]> of tensor<4x1x7x6xf32> : tensor<4x1x3x6xf32> -> tensor<4x1x4x6xf32> loc("conv1")
    %c = nn.conv %xh, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 1, 1, 1>, groups = 1 : i64} : tensor<4x1x4x6xf32>, tensor<2x1x3x3xf32> loc("conv1")
    %cm = spmd.exchange %c over ["row"] from #dist.layout<[[], [], [row], []]> to #dist.layout<[[], [], [row] at [0:2, 2:7], []]> of tensor<4x2x7x6xf32> : tensor<4x2x3x6xf32> -> tensor<4x2x5x6xf32> loc("relu1")
    %r = nn.relu %cm : tensor<4x2x5x6xf32> loc("relu1")
    %rs = spmd.all_to_all %r over ["row"] from #dist.layout<[[], [], [row] at [0:2, 2:7], []]> to #dist.layout<[[row], [], [], []]> of tensor<4x2x7x6xf32> : tensor<4x2x5x6xf32> -> tensor<2x2x7x6xf32> loc("fc")
    %f = nn.reshape %rs : tensor<2x2x7x6xf32> -> tensor<2x84xf32> loc("fc")
    %vw = spmd.all_gather %v over ["row"] from #dist.layout<[[], [row]]> to #dist.layout<[[], []]> of tensor<84x5xf32> : tensor<84x2xf32> -> tensor<84x5xf32> loc("fc")
    %o = nn.matmul %f, %vw : tensor<2x84xf32>, tensor<84x5xf32> loc("fc")
    return %o : tensor<2x5xf32>
  }
}
