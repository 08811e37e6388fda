// A plan file names the grid and the split of each node; options win over it.
// RUN: split-file %s %t
// RUN: partita-opt %t/model.mlir "-partita-assign-splits=plan=%t/plan.json" | FileCheck %s --check-prefix=PLAN
// PLAN: dist.grid = #dist.grid<pr = 2, pc = 2>
// PLAN: nn.matmul {{.*}} {dist.split = #dist.split<m = [pc], n = [pr] at [0:7, 7:8]>, transpose_b}
// PLAN: nn.add {{.*}} {dist.split = #dist.split<d0 = [pr]>}
// PLAN: nn.relu %{{[0-9]+}} : tensor
// PLAN: nn.matmul {{.*}} {dist.split = #dist.split<>}

// RUN: partita-opt %t/model.mlir "-partita-assign-splits=plan=%t/plan.json grid=pr=4,pc=1 splits=fc2=model:pr;fc1=k:pr" | FileCheck %s --check-prefix=OPTIONS
// OPTIONS: dist.grid = #dist.grid<pr = 4, pc = 1>
// OPTIONS: nn.matmul {{.*}} {dist.split = #dist.split<k = [pr]>, transpose_b}
// OPTIONS: nn.add %{{[^ ]*}}, %{{[^ ]*}} : tensor
// OPTIONS: nn.matmul {{.*}} {dist.split = #dist.split<n = [pr]>}

// A shorthand splits what the plan does not name.
// RUN: partita-opt %t/model.mlir "-partita-assign-splits=plan=%t/part.json grid=4" | FileCheck %s --check-prefix=PART
// PART: dist.grid = #dist.grid<data = 4>
// PART: nn.matmul {{.*}} {dist.split = #dist.split<m = [data]>, transpose_b}
// PART: nn.matmul {{.*}} {dist.split = #dist.split<k = [data]>}

// Everything that is wrong, where it stands: names against the model, splits
// against the layers.
// RUN: not partita-opt %t/model.mlir "-partita-assign-splits=plan=%t/names.json" 2>&1 | FileCheck %s --check-prefix=NAMES --implicit-check-not=error:
// NAMES: names.json:11:5: error: parameter 'w': there is no axis 'px'; the grid has data = 4
// NAMES: names.json:12:5: error: there is no parameter 'weight'; the parameters are 'w'
// NAMES: names.json:5:5: error: there is no node 'f1'; near names are 'fc1', 'fc2'
// NAMES: names.json:6:5: error: names.json:6: there is no axis 'pc'; the grid has data = 4
// NAMES: error: loc("relu"): names.json:8: nn.relu is split as its operands are; to split it by hand, name a dimension: nn.relu along d0 = 4, d1 = 8
// NAMES: error: loc("fc2"): names.json:7: nothing to split as 'h'; what can be split is nn.matmul along m = 4 (batch), n = 8 (model), k = 8 (model, reduced)

// RUN: not partita-opt %t/model.mlir "-partita-assign-splits=plan=%t/keys.json" 2>&1 | FileCheck %s --check-prefix=KEYS --implicit-check-not=error:
// KEYS: keys.json:2:3: error: key 'version': found a string, expected 1
// KEYS: keys.json:3:22: error: key 'spilt' of 'layers' / 'fc1': there is no such key; the keys here are 'op', 'split'

// RUN: not partita-opt %t/model.mlir "-partita-assign-splits=plan=%t/cut.json" 2>&1 | FileCheck %s --check-prefix=CUT
// CUT: cut.json:{{[0-9:]+}} error: no JSON: {{.+}}
// RUN: not partita-opt %t/model.mlir "-partita-assign-splits=plan=%t/none.json" 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: none.json:{{[0-9:]*}} error: cannot read the plan: No such file or directory
// RUN: not partita-opt %t/model.mlir "-partita-assign-splits=plan=%t/plan.json ranks=3" 2>&1 | FileCheck %s --check-prefix=RANKS
// RANKS: error: the grid pr = 2, pc = 2 has 4 ranks, but --ranks says 3
// RUN: not partita-opt %t/model.mlir "-partita-assign-splits=plan=%t/part.json" 2>&1 | FileCheck %s --check-prefix=GRID
// GRID: error: there is no grid to split over; give --grid such as pr=2,pc=2, or --ranks

//--- plan.json
{
  "version": 1,
  "grid": {"pr": 2, "pc": 2},
  "semantics": "exact up to reduction order",
  "layers": {
    "fc1": {"op": "nn.matmul", "split": "batch:pc,n:pr=7/1,d0:pr"},
    "fc2": {"split": "whole"}
  },
  "parameters": {"w": {"sync": "all_reduce", "axes": ["pc"]}}
}
//--- part.json
{"version": 1, "layers": {"fc2": {"split": "model.in:data"}}}
//--- names.json
{
  "version": 1,
  "grid": {"data": 4},
  "layers": {
    "f1": {"split": "batch:data"},
    "fc1": {"split": "batch:pc"},
    "fc2": {"split": "h:data"},
    "relu": {"split": "batch:data"}
  },
  "parameters": {
    "w": {"axes": ["px"]},
    "weight": {}
  }
}
//--- keys.json
{
  "version": "1",
  "layers": {"fc1": {"spilt": "batch:data", "split": "batch:data"}}
}
//--- cut.json
{"version": 1,
 "layers": {"fc1": {"split": "ba
//--- model.mlir
nn.variable @w parameter : tensor<8x8xf32> = dense<1.0> : tensor<8x8xf32>
func.func @predict(%x: tensor<4x6xf32>, %v: tensor<8x6xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
  %w = nn.read @w : tensor<8x8xf32>
  %1 = nn.matmul %x, %v {transpose_b} : tensor<4x6xf32>, tensor<8x6xf32> loc("fc1")
  %2 = nn.add %1, %b : tensor<4x8xf32>, tensor<8xf32> loc("fc1")
  %3 = nn.relu %2 : tensor<4x8xf32> loc("relu")
  %4 = nn.matmul %3, %w : tensor<4x8xf32>, tensor<8x8xf32> loc("fc2")
  return %4 : tensor<4x8xf32>
}
