// Grids, splits, layouts and synchronisations, printed and read back.
// RUN: partita-opt %s | partita-opt | FileCheck %s

// CHECK: dist.grid = #dist.grid<node = 2, data = 4>
module attributes {dist.grid = #dist.grid<node = 2, data = 4>} {
  // CHECK: func.func private @splits
  // CHECK-SAME: a = #dist.split<n = [data]>
  // CHECK-SAME: b = #dist.split<n = [node, data], co = [model]>
  // CHECK-SAME: c = #dist.split<>
  // CHECK-SAME: d = #dist.split<m = [data] by 16>
  // CHECK-SAME: e = #dist.split<n = [data] at [0:3, 3:6, 6:9, 9:10], ho = [node] at [0:5, 3:8]>
  func.func private @splits() attributes {
    a = #dist.split<n = [data]>,
    b = #dist.split<n = [node, data], co = [model]>,
    c = #dist.split<>,
    d = #dist.split<m = [data] by 16>,
    e = #dist.split<n = [data] at [0:3, 3:6, 6:9, 9:10], ho = [node] at [0:5, 3:8]>
  }
  // A rank-0 tensor has no lists; an axis that is not mentioned replicates.
  // Tables may overlap, swap parts and leave some empty.
  // CHECK: func.func private @layouts
  // CHECK-SAME{LITERAL}: a = #dist.layout<[[data], []]>
  // CHECK-SAME{LITERAL}: b = #dist.layout<[[]], partial sum [data]>
  // CHECK-SAME{LITERAL}: c = #dist.layout<[[data] by 16, []]>
  // CHECK-SAME{LITERAL}: d = #dist.layout<[]>
  // CHECK-SAME{LITERAL}: e = #dist.layout<[[]], varying [data]>
  // CHECK-SAME{LITERAL}: f = #dist.layout<[[node]], partial max [data], varying [model]>
  // CHECK-SAME{LITERAL}: g = #dist.layout<[], partial prod [data]>
  // CHECK-SAME{LITERAL}: h = #dist.layout<[], partial min [node, data]>
  // CHECK-SAME{LITERAL}: i = #dist.layout<[[data] at [0:3, 3:6, 6:9, 9:10], []]>
  // CHECK-SAME{LITERAL}: j = #dist.layout<[[], [node] at [0:5, 3:8]], partial sum [data]>
  // CHECK-SAME{LITERAL}: k = #dist.layout<[[data] by 16, [node] at [4:8, 0:4]]>
  // CHECK-SAME{LITERAL}: l = #dist.layout<[[data] at [0:2, 2:2, 2:2, 2:2]]>
  func.func private @layouts() attributes {
    a = #dist.layout<[[data], []]>,
    b = #dist.layout<[[]], partial sum [data]>,
    c = #dist.layout<[[data] by 16, [] by 1]>,
    d = #dist.layout<[]>,
    e = #dist.layout<[[]], varying [data]>,
    f = #dist.layout<[[node]], partial max [data], varying [model]>,
    g = #dist.layout<[], partial prod [data]>,
    h = #dist.layout<[], partial min [node, data]>,
    i = #dist.layout<[[data] at [0:3, 3:6, 6:9, 9:10], []]>,
    j = #dist.layout<[[], [node] at [0:5, 3:8]], partial sum [data]>,
    k = #dist.layout<[[data] by 16 , [node] at [ 4 : 8 , 0 : 4 ]]>,
    l = #dist.layout<[[data] at [0:2, 2:2, 2:2, 2:2]]>
  }
  // CHECK: func.func private @syncs
  // CHECK-SAME: a = #dist.sync<all_reduce [data]>
  // CHECK-SAME: b = #dist.sync<all_reduce [node, data]>
  // CHECK-SAME: c = #dist.sync<all_reduce []>
  // CHECK-SAME: d = #dist.sync<all_reduce [node, data] by hierarchical>
  // CHECK-SAME: e = #dist.sync<all_reduce [data]>
  // CHECK-SAME: f = #dist.sync<parameter_server [data]>
  // CHECK-SAME: g = #dist.sync<factor_broadcast [data]>
  func.func private @syncs() attributes {
    a = #dist.sync<all_reduce [data]>,
    b = #dist.sync<all_reduce [node, data]>,
    c = #dist.sync<all_reduce []>,
    d = #dist.sync<all_reduce [node, data] by hierarchical>,
    e = #dist.sync<all_reduce [data] by automatic>,
    f = #dist.sync<parameter_server [data]>,
    g = #dist.sync<factor_broadcast [data]>
  }
}
