//===- Passes.td - Faults for testing the verifiers -------*- tablegen -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Known only to partita-opt: no compilation runs these.
//===----------------------------------------------------------------------===//

#ifndef PARTITA_PASSES_FAULTS_PASSES_TD
#define PARTITA_PASSES_FAULTS_PASSES_TD

include "mlir/Pass/PassBase.td"

def InjectFault : Pass<"partita-inject-fault", "::mlir::ModuleOp"> {
  let summary = "break a partitioned program in a known way";
  let description = [{
    What: finds all places of a partitioned program where a fault of the kind
    `kind` can be, makes it at the place number `seed` (counted around), and
    says where in a remark. Faults that every rank would have are made in the
    functions of all classes; those of one rank in one. The kinds are bugs that
    other compilers shipped (ProgramFaults.cpp has the list), and
    partita-verify-partition must reject them. Kind `list` prints all.

    Needs: a module after partita-partition-program.

    Holds afterwards: the program is wrong.

    Example (kind=dropped-reduction):

    ```mlir
    module attributes {dist.grid = #dist.grid<data = 2>} {
      spmd.class @c0 ranks [0, 1]
      nn.variable @w parameter : tensor<3xf32> = dense<1.0> : tensor<3xf32>
      func.func @step_c0(%x: tensor<2x3xf32> {dist.layout = #dist.layout<[[data], []]>, spmd.global = tensor<4x3xf32>})
          attributes {spmd.class = @c0, spmd.phase = "step"} {
        %g = nn.reduce sum %x {axes = array<i64: 0>, spmd.split = #dist.split<d0 = [data]>} : tensor<2x3xf32>
        %s = spmd.all_reduce sum %g over ["data"] : tensor<3xf32>
        nn.sgd @w, %s : tensor<3xf32>
        return
      }
    }
    ```
    becomes
    ```mlir
        %g = nn.reduce sum %x {axes = array<i64: 0>, spmd.split = #dist.split<d0 = [data]>} : tensor<2x3xf32>
        nn.sgd @w, %g : tensor<3xf32>
    ```

    Refuses: an unknown kind; a program that has no place for the fault.
  }];
  let options = [
    Option<"kind", "kind", "std::string", "\"list\"", "which fault">,
    Option<"seed", "seed", "int64_t", "0", "which place">
  ];
}

#endif // PARTITA_PASSES_FAULTS_PASSES_TD
