// Grids, splits, layouts and synchronisations, printed and read back.
// RUN: partita-opt %s | partita-opt | FileCheck %s

// CHECK: dist.grid = #dist.grid<node = 2, data = 4>
module attributes {dist.grid = #dist.grid<node = 2, data = 4>} {
  // CHECK: func.func private @splits
  // CHECK-SAME: a = #dist.split<n = [data]>
  // CHECK-SAME: b = #dist.split<n = [node, data], co = [model]>
  // CHECK-SAME: c = #dist.split<>
  func.func private @splits() attributes {
    a = #dist.split<n = [data]>,
    b = #dist.split<n = [node, data], co = [model]>,
    c = #dist.split<>
  }
  // A rank-0 tensor has no lists; an axis that is not mentioned replicates.
  // CHECK: func.func private @layouts
  // CHECK-SAME{LITERAL}: a = #dist.layout<[[data], []]>
  // CHECK-SAME{LITERAL}: b = #dist.layout<[[]], partial sum [data]>
  // CHECK-SAME{LITERAL}: c = #dist.layout<[[data] by 16, []]>
  // CHECK-SAME{LITERAL}: d = #dist.layout<[]>
  // CHECK-SAME{LITERAL}: e = #dist.layout<[[]], varying [data]>
  // CHECK-SAME{LITERAL}: f = #dist.layout<[[node]], partial max [data], varying [model]>
  // CHECK-SAME{LITERAL}: g = #dist.layout<[], partial prod [data]>
  // CHECK-SAME{LITERAL}: h = #dist.layout<[], partial min [node, data]>
  func.func private @layouts() attributes {
    a = #dist.layout<[[data], []]>,
    b = #dist.layout<[[]], partial sum [data]>,
    c = #dist.layout<[[data] by 16, [] by 1]>,
    d = #dist.layout<[]>,
    e = #dist.layout<[[]], varying [data]>,
    f = #dist.layout<[[node]], partial max [data], varying [model]>,
    g = #dist.layout<[], partial prod [data]>,
    h = #dist.layout<[], partial min [node, data]>
  }
  // CHECK: func.func private @syncs
  // CHECK-SAME: a = #dist.sync<all_reduce [data]>
  // CHECK-SAME: b = #dist.sync<all_reduce [node, data]>
  // CHECK-SAME: c = #dist.sync<all_reduce []>
  func.func private @syncs() attributes {
    a = #dist.sync<all_reduce [data]>,
    b = #dist.sync<all_reduce [node, data]>,
    c = #dist.sync<all_reduce []>
  }
}
