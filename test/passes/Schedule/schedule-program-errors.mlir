// What scheduling cannot work on.
// RUN: partita-opt %s -split-input-file -verify-diagnostics -partita-schedule-program

// expected-error @+1 {{needs a body of one block}}
func.func private @predict(%x: tensor<4xf32>) -> tensor<4xf32>

// -----

func.func @predict() {
  // expected-error @+1 {{has a result of type 'i32'; expected tensors of known shape}}
  %0 = arith.constant 1 : i32
  return
}
