// What fault injection refuses.
// RUN: split-file %s %t
// RUN: partita-opt %t/place.mlir -split-input-file -verify-diagnostics -partita-inject-fault=kind=maximum-by-sum
// RUN: partita-opt %t/kind.mlir -verify-diagnostics -partita-inject-fault=kind=gremlin
// RUN: partita-opt %t/kind.mlir -partita-inject-fault -o /dev/null 2>/dev/null | FileCheck %s

// CHECK: dropped-reduction: a partial value is never combined

//--- place.mlir
// expected-error @below {{has no place for the fault 'maximum-by-sum'}}
module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
}

// -----

// expected-error @below {{is no partitioned program}}
module {
}

//--- kind.mlir
// expected-error @below {{there is no fault 'gremlin'; kind=list prints all}}
module {
}
