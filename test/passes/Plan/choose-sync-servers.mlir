// Servers: a number beside the grid, as the option or the plan file says.
// RUN: partita-opt %s "-partita-choose-sync=rules=w=parameter_server servers=3" -partita-verify-plan | FileCheck %s
// CHECK: module attributes {dist.grid = #dist.grid<data = 2>, dist.servers = 3 : i64}
// CHECK: nn.variable @w parameter {{.*}}dist.sync = #dist.sync<parameter_server [data]>
// CHECK: nn.variable @b parameter {{.*}}dist.sync = #dist.sync<all_reduce [data]>

// RUN: echo '{"version": 1, "servers": 2, "parameters": {"b": {"sync": "parameter_server"}}}' > %t.json
// RUN: partita-opt %s -partita-choose-sync=plan=%t.json | FileCheck %s --check-prefix=PLAN
// PLAN: dist.servers = 2 : i64
// RUN: partita-opt %s "-partita-choose-sync=plan=%t.json servers=1" | FileCheck %s --check-prefix=WIN
// WIN: dist.servers = 1 : i64

// The factors of w are 2 * 4 * (2 - 1) * (3 + 2) = 40 numbers of a worker; the
// busier side of a server alone has 2 * 2 * 3 * 2 / 1 = 24, of two servers
// 2 * 3 * 2 = 12: never worth it here. Where the workers are servers it would be
// 2 * 3 * 2 * 2 / 2 = 12.
// RUN: partita-opt %s "-partita-choose-sync=rules=poseidon servers=1" | FileCheck %s --check-prefix=RULE
// RULE: nn.variable @w parameter {{.*}}dist.sync = #dist.sync<parameter_server [data]>

// What makes no sense.
// RUN: not partita-opt %s -partita-choose-sync=servers=2 2>&1 | FileCheck %s --check-prefix=IDLE
// IDLE: error: --servers: found 2 servers and no parameter for them, expected one at least that is combined by parameter_server over several ranks of the grid #dist.grid<data = 2>; try --sync parameter_server with --ranks 2 or more, or leave out --servers
// RUN: not partita-opt %s "-partita-choose-sync=rules=parameter_server servers=1048575" 2>&1 | FileCheck %s --check-prefix=MANY
// MANY: error: --servers: found 1048575, expected a number from 0 to 1048574, as there are 2 ranks in the grid and at most 1048576 in all
// RUN: not partita-opt %s "-partita-choose-sync=rules=parameter_server servers=-1" 2>&1 | FileCheck %s --check-prefix=FEW
// FEW: error: --servers: found -1, expected a number from 0 to
module attributes {dist.grid = #dist.grid<data = 2>} {
  nn.variable @w parameter : tensor<3x2xf32> = dense<1.0> : tensor<3x2xf32> {dist.sync = #dist.sync<all_reduce [data]>}
  nn.variable @b parameter : tensor<2xf32> = dense<1.0> : tensor<2xf32> {dist.sync = #dist.sync<all_reduce [data]>}
  func.func @step(%x: tensor<8x3xf32> {dist.layout = #dist.layout<[[data], []]>}, %dy: tensor<8x2xf32> {dist.layout = #dist.layout<[[data], []]>}) {
    %w = nn.matmul %x, %dy {dist.split = #dist.split<k = [data]>, transpose_a} : tensor<8x3xf32>, tensor<8x2xf32>
    nn.sgd @w, %w : tensor<3x2xf32>
    %b = nn.reduce sum %dy {axes = array<i64: 0>, dist.split = #dist.split<d0 = [data]>} : tensor<8x2xf32>
    nn.sgd @b, %b : tensor<2xf32>
    return
  }
}
