// Everything that is wrong is said at once, each finding once although two
// functions have the layer.
// RUN: not partita-opt %s "-partita-assign-splits=grid=pr=2,pc=2 splits=*conv1=batch:pc,kh:pr;conv2=n:pr,h:pr;fc1=n:pr=3/4;fc2=m:pc=1/2/1;fc3=m:pc@3;relu=batch:pc;soft=q:pc;fc4=batch:pc,m:pr;fc5=q:pc" 2>&1 | FileCheck %s --check-prefix=LAYERS --implicit-check-not=error:
// LAYERS: error: loc("conv1"): --split '*conv1=batch:pc,kh:pr': 'kh' = 3 of nn.conv stays whole, because every element needs the whole window; it can be split along n = 4 (batch), co = 6 (model), ci = 3 (model, reduced), h = 8 (domain), w = 8 (domain)
// LAYERS: error: loc("conv2"): --split 'conv2=n:pr,h:pr': axis 'pr' is used for 'n' and for 'h' = 8 of nn.conv; an axis splits one dimension of a layer, and the grid has pr = 2, pc = 2
// LAYERS: error: loc("fc1"): --split 'fc1=n:pr=3/4': the parts of 'n:pr=3/4' sum to 7; expected 'n' = 8 of nn.matmul
// LAYERS: error: loc("fc2"): --split 'fc2=m:pc=1/2/1': the table of 'm:pc=1/2/1' has 3 parts; expected one for each of the 2 that 'm' = 4 of nn.matmul is split into
// LAYERS: error: loc("fc3"): --split 'fc3=m:pc@3': 'm' = 4 of nn.matmul cannot be cut into blocks of 3; the next smaller block that divides it is 2
// LAYERS: error: loc("fc4"): --split 'fc4=batch:pc,m:pr': 'm' = 4 of nn.matmul is named twice, as 'batch' and as 'm'; join the axes with '+'
// LAYERS: error: loc("fc5"): --split 'fc5=q:pc': nothing to split as 'q'; what can be split is nn.matmul along m = 4 (batch), n = 8 (model), k = 8 (model, reduced)
// LAYERS: error: loc("relu"): --split 'relu=batch:pc': nn.relu is split as its operands are; to split it by hand, name a dimension: nn.relu along d0 = 4, d1 = 8
// LAYERS: error: loc("soft"): --split 'soft=q:pc': nothing to split as 'q'; what can be split is nn.softmax along d0 = 4 (batch), d1 = 8 (model)

// Names and axes, and items that no node has a use for.
// RUN: not partita-opt %s "-partita-assign-splits=grid=pr=2,pc=2 splits=cnov1=batch:pc;dense*=batch:pc;fc1=batch:px;fc*=batch:pc,domain.h:pr;rel*=batch:pc;conv*=q:pc,domain.z:pr" 2>&1 | FileCheck %s --check-prefix=NAMES --implicit-check-not=error:
// NAMES: error: --split 'cnov1=batch:pc': no node matches 'cnov1'; near names are 'conv1'{{$}}
// NAMES: error: --split 'dense*=batch:pc': no node matches 'dense*'; the nodes are 'conv1', 'conv2', 'flatten', 'fc1', ...
// NAMES: error: --split 'fc1=batch:px': there is no axis 'px'; the grid has pr = 2, pc = 2
// NAMES: error: loc("conv1"): --split 'conv*=q:pc,domain.z:pr': nothing to split as 'q'; what can be split is nn.conv along
// NAMES: error: loc("conv1"): --split 'conv*=q:pc,domain.z:pr': nothing to split as 'domain.z'; what can be split is nn.conv along
// NAMES: error: loc("conv2"):
// NAMES: error: loc("conv2"):
// NAMES: error: --split 'fc*=batch:pc,domain.h:pr': no node that it matches has something to split as 'domain.h'; the first, 'fc1', has nn.matmul along m = 4 (batch), n = 8 (model), k = 384 (model, reduced)
// NAMES: error: --split 'rel*=batch:pc': no node that it matches has something to split as 'batch'; nodes such as 'relu' are split as their operands are, by hand only where a dimension is named: nn.relu along d0 = 4, d1 = 8

// Text.
// RUN: not partita-opt %s "-partita-assign-splits=grid=2y2 splits=fc1;fc2=m" 2>&1 | FileCheck %s --check-prefix=TEXT
// TEXT: error: --split 'fc1': found no '=', expected PATTERN=SPLIT such as 'conv*=batch:pc'
// TEXT: error: --split 'fc2=m': found 'm', expected WHAT:AXES such as batch:pc
// TEXT: error: --grid 2y2: found '2y2', expected axes such as pr=2,pc=2
// RUN: not partita-opt %s "-partita-assign-splits=grid=2x2 ranks=3" 2>&1 | FileCheck %s --check-prefix=RANKS
// RANKS: error: --grid 2x2: the grid pr = 2, pc = 2 has 4 ranks, but --ranks says 3; leave --ranks out, or make them agree
// RUN: not partita-opt %s "-partita-assign-splits=splits=fc1=m:pc" 2>&1 | FileCheck %s --check-prefix=GRID
// GRID: error: there is no grid to split over; give --grid such as pr=2,pc=2, or --ranks

// Parts without elements are legal, and worth a warning.
// RUN: partita-opt %s "-partita-assign-splits=grid=a=5,b=2 splits=fc1=m:a;fc2=m:b@4" -o /dev/null 2>&1 | FileCheck %s --check-prefix=EMPTY --implicit-check-not=error:
// EMPTY: warning: loc("fc1"): 'm' = 4 of nn.matmul is split into 5 parts (m:a), so that 1 of them has no elements
// EMPTY: warning: loc("fc2"): 'm' = 4 of nn.matmul is split into 2 parts (m:b@4), so that 1 of them has no elements

func.func @eval(%x: tensor<4x3x8x8xf32>, %w: tensor<6x3x3x3xf32>, %w2: tensor<6x6x3x3xf32>, %v: tensor<8x384xf32>, %u: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %1 = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : tensor<4x3x8x8xf32>, tensor<6x3x3x3xf32> loc("conv1")
  %2 = nn.conv %1, %w2 {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : tensor<4x6x8x8xf32>, tensor<6x6x3x3xf32> loc("conv2")
  %3 = nn.reshape %2 : tensor<4x6x8x8xf32> -> tensor<4x384xf32> loc("flatten")
  %4 = nn.matmul %3, %v {transpose_b} : tensor<4x384xf32>, tensor<8x384xf32> loc("fc1")
  %5 = nn.matmul %4, %u : tensor<4x8xf32>, tensor<8x8xf32> loc("fc2")
  %6 = nn.matmul %5, %u : tensor<4x8xf32>, tensor<8x8xf32> loc("fc3")
  %7 = nn.matmul %6, %u : tensor<4x8xf32>, tensor<8x8xf32> loc("fc4")
  %8 = nn.matmul %7, %u : tensor<4x8xf32>, tensor<8x8xf32> loc("fc5")
  %9 = nn.relu %8 : tensor<4x8xf32> loc("relu")
  %10 = nn.softmax %9 {axis = 1 : i64} : tensor<4x8xf32> loc("soft")
  return %10 : tensor<4x8xf32>
}
func.func @predict(%x: tensor<4x3x8x8xf32>, %w: tensor<6x3x3x3xf32>) -> tensor<4x6x8x8xf32> {
  %1 = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : tensor<4x3x8x8xf32>, tensor<6x3x3x3xf32> loc("conv1")
  return %1 : tensor<4x6x8x8xf32>
}
