// A collective whose result a rank does not need is still called, and two that
// look alike are two calls; a slice is a value like others.
// RUN: partita-opt %s -cse | FileCheck %s

// CHECK: spmd.all_reduce
// CHECK: spmd.all_reduce
// CHECK: spmd.halo_exchange
// CHECK-NOT: spmd.slice
func.func @predict(%x: tensor<2xf32>) {
  %0 = spmd.all_reduce sum %x over ["row"] : tensor<2xf32>
  %1 = spmd.all_reduce sum %x over ["row"] : tensor<2xf32>
  %2 = spmd.halo_exchange %x over ["row"] from #dist.layout<[[row]]> to #dist.layout<[[row] at [0:3, 1:4]]> of tensor<4xf32> : tensor<2xf32> -> tensor<3xf32>
  %3 = spmd.slice %x from #dist.layout<[[row]]> to #dist.layout<[[row]]> of tensor<4xf32> : tensor<2xf32> -> tensor<2xf32>
  return
}
