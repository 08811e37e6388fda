// Which of several rules counts, names of parameters and of nodes, and what a
// plan file says.
// RUN: split-file %s %t
// RUN: partita-opt %t/model.mlir "-partita-choose-sync=rules=parameter_server;*1*=all_reduce:ring;fc2=factor_broadcast" | FileCheck %s --check-prefix=RULES --implicit-check-not=error:
// RULES: @w1 {{.*}}dist.sync = #dist.sync<all_reduce [data] by ring>
// RULES: @b1 {{.*}}dist.sync = #dist.sync<all_reduce [data] by ring>
// RULES: @w2 {{.*}}dist.sync = #dist.sync<factor_broadcast [data]>
// RULES: @b2 {{.*}}dist.sync = #dist.sync<parameter_server [data]>

// The last that matches counts, not the closest. A node stands for the
// parameters that it reads.
// RUN: partita-opt %t/model.mlir "-partita-choose-sync=rules=w1=factor_broadcast;fc?=parameter_server" | FileCheck %s --check-prefix=LAST
// LAST: @w1 {{.*}}dist.sync = #dist.sync<parameter_server [data]>
// LAST: @b1 {{.*}}dist.sync = #dist.sync<all_reduce [data]>
// LAST: @w2 {{.*}}dist.sync = #dist.sync<parameter_server [data]>

// Factors of w1 (64 x 96) are worth it: 2 ranks with 4 samples each, of w2
// (64 x 3) not: 8 > 2 * 64 * 3 / 67. The others have no factors.
// RUN: partita-opt %t/model.mlir "-partita-choose-sync=rules=poseidon" | FileCheck %s --check-prefix=POSEIDON --implicit-check-not=remark
// POSEIDON: @w1 {{.*}}dist.sync = #dist.sync<factor_broadcast [data]>
// POSEIDON: @b1 {{.*}}dist.sync = #dist.sync<parameter_server [data]>
// POSEIDON: @w2 {{.*}}dist.sync = #dist.sync<parameter_server [data]>
// POSEIDON: @b2 {{.*}}dist.sync = #dist.sync<parameter_server [data]>
// POSEIDON: nn.matmul {{.*}} {dist.factors, transpose_a} : tensor<8x64xf32>, tensor<8x96xf32>
// POSEIDON: nn.matmul {{.*}} {dist.split = #dist.split<k = [data]>, transpose_a} : tensor<8x64xf32>, tensor<8x3xf32>

// The plan file speaks where no rule does.
// RUN: partita-opt %t/model.mlir "-partita-choose-sync=plan=%t/plan.json rules=b*=all_reduce:tree" | FileCheck %s --check-prefix=PLAN
// PLAN: @w1 {{.*}}dist.sync = #dist.sync<factor_broadcast [data]>
// PLAN: @b1 {{.*}}dist.sync = #dist.sync<all_reduce [data] by tree>
// PLAN: @w2 {{.*}}dist.sync = #dist.sync<all_reduce [data] by direct>
// PLAN: @b2 {{.*}}dist.sync = #dist.sync<all_reduce [data] by tree>

// What the plan file asks for and cannot be is an error where it stands.
// RUN: not partita-opt %t/model.mlir "-partita-choose-sync=plan=%t/wrong.json" 2>&1 | FileCheck %s --check-prefix=WRONG --implicit-check-not=error:
// WRONG: wrong.json:4:5: error: parameter 'b1' cannot have factor_broadcast: its gradient is a sum over the samples, not a product of two factors

//--- plan.json
{
  "version": 1,
  "layers": {},
  "parameters": {
    "w1": {"sync": "factor_broadcast", "axes": ["data"]},
    "b1": {"sync": "parameter_server", "axes": ["data"]},
    "w2": {"sync": "all_reduce:direct"}
  }
}
//--- wrong.json
{
  "version": 1, "layers": {},
  "parameters": {
    "b1": {"sync": "factor_broadcast", "axes": ["data"]}
  }
}
//--- model.mlir
module attributes {dist.grid = #dist.grid<data = 2>} {
  nn.variable @w1 parameter : tensor<64x96xf32> = dense<1.0> : tensor<64x96xf32> {dist.sync = #dist.sync<all_reduce [data]>}
  nn.variable @b1 parameter : tensor<96xf32> = dense<1.0> : tensor<96xf32> {dist.sync = #dist.sync<all_reduce [data]>}
  nn.variable @w2 parameter : tensor<64x3xf32> = dense<1.0> : tensor<64x3xf32> {dist.sync = #dist.sync<all_reduce [data]>}
  nn.variable @b2 parameter : tensor<3xf32> = dense<1.0> : tensor<3xf32> {dist.sync = #dist.sync<all_reduce [data]>}
  func.func @predict(%x: tensor<8x64xf32>) -> (tensor<8x96xf32>, tensor<8x3xf32>) {
    %w1 = nn.read @w1 : tensor<64x96xf32>
    %y1 = nn.matmul %x, %w1 {dist.split = #dist.split<m = [data]>} : tensor<8x64xf32>, tensor<64x96xf32> loc("fc1")
    %w2 = nn.read @w2 : tensor<64x3xf32>
    %y2 = nn.matmul %x, %w2 {dist.split = #dist.split<m = [data]>} : tensor<8x64xf32>, tensor<64x3xf32> loc("fc2")
    return %y1, %y2 : tensor<8x96xf32>, tensor<8x3xf32>
  }
  func.func @step(%x: tensor<8x64xf32>, %d1: tensor<8x96xf32>, %d2: tensor<8x3xf32>) {
    %g1 = nn.matmul %x, %d1 {dist.split = #dist.split<k = [data]>, transpose_a} : tensor<8x64xf32>, tensor<8x96xf32>
    %e1 = nn.relu %d1 {dist.split = #dist.split<d0 = [data]>} : tensor<8x96xf32>
    %h1 = nn.reduce sum %e1 {axes = array<i64: 0>, dist.split = #dist.split<d0 = [data]>} : tensor<8x96xf32>
    %g2 = nn.matmul %x, %d2 {dist.split = #dist.split<k = [data]>, transpose_a} : tensor<8x64xf32>, tensor<8x3xf32>
    %e2 = nn.relu %d2 {dist.split = #dist.split<d0 = [data]>} : tensor<8x3xf32>
    %h2 = nn.reduce sum %e2 {axes = array<i64: 0>, dist.split = #dist.split<d0 = [data]>} : tensor<8x3xf32>
    nn.sgd @w1, %g1 : tensor<64x96xf32>
    nn.sgd @b1, %h1 : tensor<96xf32>
    nn.sgd @w2, %g2 : tensor<64x3xf32>
    nn.sgd @b2, %h2 : tensor<3xf32>
    return
  }
}
