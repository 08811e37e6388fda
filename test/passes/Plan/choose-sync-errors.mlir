// What cannot be combined as asked, with the reason: an error where the
// parameter is named, or where no parameter can have it.
// RUN: not partita-opt %s "-partita-choose-sync=rules=filter=factor_broadcast;table=factor_broadcast;tied=factor_broadcast;bias=factor_broadcast;scale=factor_broadcast;norm=factor_broadcast;other=factor_broadcast;given=factor_broadcast" 2>&1 | FileCheck %s --check-prefix=NAMED --implicit-check-not=error:
// NAMED: error: --sync 'filter=factor_broadcast': parameter 'filter': the gradient of a convolution's filter is no plain product: every place of the image adds to it
// NAMED: error: --sync 'table=factor_broadcast': parameter 'table': the gradient of a table adds rows where samples looked them up, it is no product of two factors
// NAMED: error: --sync 'tied=factor_broadcast': parameter 'tied': the parameter is used at several places, and its gradient is a sum of several products
// NAMED: error: --sync 'bias=factor_broadcast': parameter 'bias': its gradient is a sum over the samples, not a product of two factors
// NAMED: error: --sync 'scale=factor_broadcast': parameter 'scale': its gradient is made by nn.mul, not by one product over samples
// NAMED: error: --sync 'norm=factor_broadcast': parameter 'norm': its gradient is used for more than its update
// NAMED: error: --sync 'other=factor_broadcast': parameter 'other': the product that is its gradient is not split over axis 'data'
// NAMED: error: --sync 'given=factor_broadcast': parameter 'given': its gradient is an input of the step

// Where others can have it a wildcard goes on with a remark, for what is no
// bias.
// RUN: partita-opt %s "-partita-choose-sync=rules=*=factor_broadcast" -o /dev/null 2>&1 | FileCheck %s --check-prefix=SOME --implicit-check-not=error: --implicit-check-not="'bias'"
// SOME: remark: --sync '*=factor_broadcast' leaves parameter 'filter' to all_reduce: the gradient of a convolution's filter
// SOME: remark: --sync '*=factor_broadcast' leaves parameter 'table' to all_reduce:
// SOME: remark: --sync '*=factor_broadcast' leaves parameter 'tied' to all_reduce:

// RUN: not partita-opt %s "-partita-choose-sync=rules=t*=factor_broadcast" 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: remark: --sync 't*=factor_broadcast' leaves parameter 'table' to all_reduce:
// NONE: error: --sync 't*=factor_broadcast': no parameter that it matches can be combined so; parameter 'table': the gradient of a table {{.*}}; parameter 'tied': the parameter is used at several places

// Text, and patterns that match nothing; all at once.
// RUN: not partita-opt %s "-partita-choose-sync=rules=gossip;fc=all_reduce:star" 2>&1 | FileCheck %s --check-prefix=TEXT --implicit-check-not=error:
// TEXT: error: --sync 'gossip': found 'gossip', expected a method: all_reduce, parameter_server, factor_broadcast, poseidon
// TEXT: error: --sync 'fc=all_reduce:star': found 'star', expected an algorithm: automatic, direct, ring, tree, hierarchical
// RUN: not partita-opt %s "-partita-choose-sync=rules=tabel=all_reduce;dense*=poseidon" 2>&1 | FileCheck %s --check-prefix=MATCH --implicit-check-not=error:
// MATCH: error: --sync 'tabel=all_reduce': no parameter and no node with parameters matches 'tabel'; near names are 'table'
// MATCH: error: --sync 'dense*=poseidon': no parameter and no node with parameters matches 'dense*'; the parameters are 'filter', 'table',

// RUN: echo 'module {}' | not partita-opt "-partita-choose-sync=rules=poseidon" 2>&1 | FileCheck %s --check-prefix=GRID
// GRID: error: has no dist.grid; propagate splits first

module attributes {dist.grid = #dist.grid<data = 2>} {
  nn.variable @filter parameter : tensor<2x1x3x3xf32> = dense<1.0> : tensor<2x1x3x3xf32> {dist.sync = #dist.sync<all_reduce [data]>}
  nn.variable @table parameter : tensor<5x3xf32> = dense<1.0> : tensor<5x3xf32> {dist.sync = #dist.sync<all_reduce [data]>}
  nn.variable @tied parameter : tensor<3x2xf32> = dense<1.0> : tensor<3x2xf32> {dist.sync = #dist.sync<all_reduce [data]>}
  nn.variable @bias parameter : tensor<2xf32> = dense<1.0> : tensor<2xf32> {dist.sync = #dist.sync<all_reduce [data]>}
  nn.variable @scale parameter : tensor<2xf32> = dense<1.0> : tensor<2xf32> {dist.sync = #dist.sync<all_reduce [data]>}
  nn.variable @norm parameter : tensor<3x2xf32> = dense<1.0> : tensor<3x2xf32> {dist.sync = #dist.sync<all_reduce [data]>}
  nn.variable @other parameter : tensor<3x2xf32> = dense<1.0> : tensor<3x2xf32> {dist.sync = #dist.sync<all_reduce [data]>}
  nn.variable @given parameter : tensor<2xf32> = dense<1.0> : tensor<2xf32> {dist.sync = #dist.sync<all_reduce [data]>}
  nn.variable @fc parameter : tensor<3x2xf32> = dense<1.0> : tensor<3x2xf32> {dist.sync = #dist.sync<all_reduce [data]>}
  func.func @step(%image: tensor<4x1x5x5xf32>, %dimage: tensor<4x2x3x3xf32>, %ids: tensor<4xi64>, %x: tensor<4x3xf32>, %dy: tensor<4x2xf32>, %v: tensor<2xf32>) -> tensor<f32> {
    %filter = nn.conv_filter_grad %image, %dimage {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : tensor<4x1x5x5xf32>, tensor<4x2x3x3xf32> -> tensor<2x1x3x3xf32>
    %table = nn.scatter_add %x, %ids {axis = 0 : i64, limit = 5 : i64} : tensor<4x3xf32>, tensor<4xi64> -> tensor<5x3xf32>
    %p = nn.matmul %x, %dy {dist.split = #dist.split<k = [data]>, transpose_a} : tensor<4x3xf32>, tensor<4x2xf32>
    %q = nn.matmul %x, %dy {dist.split = #dist.split<k = [data]>, transpose_a} : tensor<4x3xf32>, tensor<4x2xf32>
    %tied = nn.add %p, %q : tensor<3x2xf32>, tensor<3x2xf32>
    %bias = nn.reduce sum %dy {axes = array<i64: 0>} : tensor<4x2xf32>
    %scale = nn.mul %v, %v : tensor<2xf32>, tensor<2xf32>
    %norm = nn.matmul %x, %dy {dist.split = #dist.split<k = [data]>, transpose_a} : tensor<4x3xf32>, tensor<4x2xf32>
    %n = nn.reduce max %norm {axes = array<i64: 0, 1>} : tensor<3x2xf32>
    %other = nn.matmul %x, %dy {transpose_a} : tensor<4x3xf32>, tensor<4x2xf32>
    %fc = nn.matmul %x, %dy {dist.split = #dist.split<k = [data]>, transpose_a} : tensor<4x3xf32>, tensor<4x2xf32>
    nn.sgd @filter, %filter : tensor<2x1x3x3xf32>
    nn.sgd @table, %table : tensor<5x3xf32>
    nn.sgd @tied, %tied : tensor<3x2xf32>
    nn.sgd @bias, %bias : tensor<2xf32>
    nn.sgd @scale, %scale : tensor<2xf32>
    nn.sgd @norm, %norm : tensor<3x2xf32>
    nn.sgd @other, %other : tensor<3x2xf32>
    nn.sgd @given, %v : tensor<2xf32>
    nn.sgd @fc, %fc : tensor<3x2xf32>
    return %n : tensor<f32>
  }
}
