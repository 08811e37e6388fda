// One refused module per constraint of point-wise operations and fused loops,
// named after its label; what the operations' types alone decide comes first.
// RUN: partita-opt %s -split-input-file -verify-diagnostics -allow-unregistered-dialect

func.func @add_shapes(%a: tensor<4x3xf32>, %b: tensor<4xf32>) {
  // expected-error @+1 {{'nn.add' operands of shapes [4, 3] and [4] do not broadcast to one shape}}
  %y = nn.add %a, %b : tensor<4x3xf32>, tensor<4xf32>
  return
}

// -----

func.func @add_element_types(%a: tensor<4xf32>, %b: tensor<4xf64>) {
  // expected-error @+1 {{'nn.add' operands differ in element type}}
  %y = nn.add %a, %b : tensor<4xf32>, tensor<4xf64>
  return
}

// -----

func.func @add_unranked(%a: tensor<*xf32>, %b: tensor<4xf32>) {
  // expected-error @+1 {{invalid kind of type specified}}
  %y = nn.add %a, %b : tensor<*xf32>, tensor<4xf32>
  return
}

// -----

func.func @add_dynamic(%a: tensor<?xf32>, %b: tensor<?xf32>) {
  // expected-error @+1 {{'nn.add' op operand #0 must be statically shaped tensor of}}
  %y = nn.add %a, %b : tensor<?xf32>, tensor<?xf32>
  return
}

// -----

func.func @compare_shapes(%a: tensor<2xf32>, %b: tensor<3xf32>) {
  // expected-error @+1 {{'nn.compare' operands of shapes [2] and [3] do not broadcast to one shape}}
  %y = nn.compare lt, %a, %b : tensor<2xf32>, tensor<3xf32>
  return
}

// -----

func.func @compare_predicate(%a: tensor<2xf32>) {
  // expected-error @+2 {{expected ::partita::nn::Predicate to be one of: eq, ne, lt, le, gt, ge}}
  // expected-error @+1 {{failed to parse NN_PredicateAttr parameter 'value' which is to be a `::partita::nn::Predicate`}}
  %y = nn.compare less, %a, %a : tensor<2xf32>, tensor<2xf32>
  return
}

// -----

func.func @select_condition(%c: tensor<3xi1>, %a: tensor<2xf32>) {
  // expected-error @+1 {{'nn.select' condition of shape [3] does not broadcast with [2]}}
  %y = nn.select %c, %a, %a : tensor<3xi1>, tensor<2xf32>, tensor<2xf32>
  return
}

// -----

func.func @select_no_condition(%c: tensor<2xf32>) {
  // expected-error @+1 {{'nn.select' op operand #0 must be statically shaped tensor of 1-bit signless integer values, but got 'tensor<2xf32>'}}
  %y = nn.select %c, %c, %c : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
  return
}

// -----

func.func @cast_shape(%x: tensor<2xf32>) {
  // expected-error @+1 {{'nn.cast' op requires the same shape for all operands and results}}
  %y = nn.cast %x : tensor<2xf32> -> tensor<3xi32>
  return
}

// -----

func.func @clip_c1_low_above_high(%x: tensor<2xf32>) {
  // expected-error @+1 {{'nn.clip' op low 2.000000e+00 is above high 1.500000e+00}}
  %y = nn.clip %x {low = 2.0 : f64, high = 1.5 : f64} : tensor<2xf32>
  return
}

// -----

func.func @fused_c1_arguments(%x: tensor<2xf32>) {
  // expected-error @+1 {{'nn.fused' op has 1 operands but its region takes 2}}
  %y = nn.fused(%x : tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%0: f32, %1: f32):
    nn.yield %0 : f32
  }
  return
}

// -----

func.func @fused_c1_argument_type(%x: tensor<2xf32>) {
  // expected-error @+1 {{'nn.fused' op region argument 0 has type 'f64', expected the operand's element type 'f32'}}
  %y = nn.fused(%x : tensor<2xf32>) -> tensor<2xf64> {
  ^bb0(%0: f64):
    nn.yield %0 : f64
  }
  return
}

// -----

func.func @fused_c2_result_shapes(%x: tensor<2xf32>) {
  // expected-error @+1 {{'nn.fused' op has results of different shapes}}
  %y:2 = nn.fused(%x : tensor<2xf32>) -> tensor<2xf32>, tensor<1xf32> {
  ^bb0(%0: f32):
    nn.yield %0, %0 : f32, f32
  }
  return
}

// -----

func.func @fused_c3_broadcast(%x: tensor<3xf32>) {
  // expected-error @+1 {{'nn.fused' op operand of type 'tensor<3xf32>' does not broadcast to the results' shape}}
  %y = nn.fused(%x : tensor<3xf32>) -> tensor<2xf32> {
  ^bb0(%0: f32):
    nn.yield %0 : f32
  }
  return
}

// -----

// An operand must not make the loop larger.
func.func @fused_c3_larger_operand(%x: tensor<4x2xf32>) {
  // expected-error @+1 {{'nn.fused' op operand of type 'tensor<4x2xf32>' does not broadcast to the results' shape}}
  %y = nn.fused(%x : tensor<4x2xf32>) -> tensor<2xf32> {
  ^bb0(%0: f32):
    nn.yield %0 : f32
  }
  return
}

// -----

func.func @fused_c4_yield_count(%x: tensor<2xf32>) {
  // expected-error @+1 {{'nn.fused' op has 1 results but yields 2 values}}
  %y = nn.fused(%x : tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%0: f32):
    nn.yield %0, %0 : f32, f32
  }
  return
}

// -----

func.func @fused_c4_no_yield(%x: tensor<2xf32>) {
  // expected-error @+1 {{'nn.fused' op has 1 results but yields 0 values}}
  %y = nn.fused(%x : tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%0: f32):
  }
  return
}

// -----

func.func @fused_c4_yield_type(%x: tensor<2xf32>) {
  // expected-error @+1 {{'nn.fused' op yields 'f32' for a result of type 'tensor<2xf64>'}}
  %y = nn.fused(%x : tensor<2xf32>) -> tensor<2xf64> {
  ^bb0(%0: f32):
    nn.yield %0 : f32
  }
  return
}

// -----

func.func @fused_c5_operation(%x: tensor<2xf32>) {
  %y = nn.fused(%x : tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%0: f32):
    // expected-error @+1 {{'nn.constant' op is neither an arith nor a math operation inside nn.fused}}
    %1 = nn.constant dense<1.0> : tensor<f32>
    nn.yield %0 : f32
  }
  return
}

// -----

func.func @fused_c5_unregistered(%x: tensor<2xf32>) {
  %y = nn.fused(%x : tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%0: f32):
    // expected-error @+1 {{'other.op' op is neither an arith nor a math operation inside nn.fused}}
    "other.op"() : () -> ()
    nn.yield %0 : f32
  }
  return
}

// -----

func.func @fused_no_result(%x: tensor<2xf32>) {
  // expected-error @+1 {{'nn.fused' op needs at least one result}}
  "nn.fused"(%x) ({
  ^bb0(%0: f32):
    nn.yield
  }) : (tensor<2xf32>) -> ()
  return
}

// -----

func.func @yield_outside() {
  // expected-error @+1 {{'nn.yield' op expects parent op 'nn.fused'}}
  nn.yield
}
