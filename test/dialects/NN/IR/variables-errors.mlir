// One refused module per constraint of variables, constants, updates and of the
// attributes of initial values, named after its label.
// RUN: partita-opt %s -split-input-file -verify-diagnostics

// file_c1_no_path
// expected-error @+1 {{file reference needs a path}}
nn.variable @w parameter : tensor<2xf32> = #nn.file<"", 0, 8>

// -----

// file_c2_negative_offset
// expected-error @+1 {{file reference needs a non-negative offset and length, found -4 and 8}}
nn.variable @w parameter : tensor<2xf32> = #nn.file<"m.onnx", -4, 8>

// -----

// file_c3_length
// expected-error @+1 {{'nn.variable' op is initialised by 12 bytes of a file, but 'tensor<2xf32>' takes 8}}
nn.variable @w parameter : tensor<2xf32> = #nn.file<"m.onnx", 0, 12>

// -----

// random_c1_rule
// expected-error @+1 {{random rule must be uniform or normal, found 'he_normal'}}
nn.variable @w parameter : tensor<2xf32> = #nn.random<"he_normal", 1.0 : f64, 0, 0>

// -----

// random_c2_negative_scale
// expected-error @+1 {{random scale must be finite and not negative}}
nn.variable @w parameter : tensor<2xf32> = #nn.random<"normal", -1.0 : f64, 0, 0>

// -----

// random_c2_infinite_scale
// expected-error @+1 {{random scale must be finite and not negative}}
nn.variable @w parameter : tensor<2xf32> = #nn.random<"uniform", 0x7FF0000000000000 : f64, 0, 0>

// -----

// variable_c1_dynamic
// expected-error @+1 {{'nn.variable' op attribute 'type' failed to satisfy constraint: type attribute of statically shaped tensor of}}
nn.variable @w parameter : tensor<?xf32> = #nn.file<"m.onnx", 0, 8>

// -----

// variable_c2_random_integer
// expected-error @+1 {{'nn.variable' op has a random initial value but no floating-point type: 'tensor<2xi32>'}}
nn.variable @w constant : tensor<2xi32> = #nn.random<"normal", 1.0 : f64, 0, 0>

// -----

// variable_c2_dense_type
// expected-error @+1 {{'nn.variable' op initial value has type 'tensor<3xf32>', expected 'tensor<2xf32>'}}
nn.variable @w parameter : tensor<2xf32> = dense<0.0> : tensor<3xf32>

// -----

// variable_c2_other_attribute
// expected-error @+1 {{'nn.variable' op initial value must be a file reference, a random rule or dense elements, found "zeros"}}
nn.variable @w parameter : tensor<2xf32> = "zeros"

// -----

// variable_c3_integer_parameter
// expected-error @+1 {{'nn.variable' op is a parameter of type 'tensor<2xi64>'; only floating-point tensors are trained}}
nn.variable @w parameter : tensor<2xi64> = dense<0> : tensor<2xi64>

// -----

func.func @read_c1_no_variable() {
  // expected-error @+1 {{'nn.read' op names @w, which is no nn.variable}}
  %0 = nn.read @w : tensor<2xf32>
  return
}

// -----

// expected-note @+1 0+ {{}}
func.func @w() { return }
func.func @read_c1_function() {
  // expected-error @+1 {{'nn.read' op names @w, which is no nn.variable}}
  %0 = nn.read @w : tensor<2xf32>
  return
}

// -----

nn.variable @w parameter : tensor<2x2xf32> = dense<0.0> : tensor<2x2xf32>
func.func @read_c2_rank() {
  // expected-error @+1 {{'nn.read' op has type 'tensor<4xf32>' but @w is 'tensor<2x2xf32>'}}
  %0 = nn.read @w : tensor<4xf32>
  return
}

// -----

nn.variable @w parameter : tensor<2xf32> = dense<0.0> : tensor<2xf32>
func.func @read_c2_element_type() {
  // expected-error @+1 {{'nn.read' op has type 'tensor<2xf64>' but @w is 'tensor<2xf32>'}}
  %0 = nn.read @w : tensor<2xf64>
  return
}

// -----

func.func @assign_c1_no_variable(%x: tensor<2xf32>) {
  // expected-error @+1 {{'nn.assign' op names @s, which is no nn.variable}}
  nn.assign @s, %x : tensor<2xf32>
  return
}

// -----

nn.variable @s state : tensor<2xf32> = dense<0.0> : tensor<2xf32>
func.func @assign_c2_rank(%x: tensor<2x1xf32>) {
  // expected-error @+1 {{'nn.assign' op value has type 'tensor<2x1xf32>' but @s is 'tensor<2xf32>'}}
  nn.assign @s, %x : tensor<2x1xf32>
  return
}

// -----

nn.variable @c constant : tensor<2xf32> = dense<0.0> : tensor<2xf32>
func.func @assign_c3_constant(%x: tensor<2xf32>) {
  // expected-error @+1 {{'nn.assign' op writes the constant @c}}
  nn.assign @c, %x : tensor<2xf32>
  return
}

// -----

func.func @constant_c1_too_large() {
  // expected-error @+1 {{'nn.constant' op holds 4097 elements; more than 4096 belong into an nn.variable}}
  %0 = nn.constant dense_resource<table> : tensor<4097xf32>
  return
}

{-#
  dialect_resources: {
    builtin: {
      table: "0x040000000000803F"
    }
  }
#-}

// -----

nn.variable @m state : tensor<2xf32> = dense<0.0> : tensor<2xf32>
func.func @sgd_c1_no_parameter(%g: tensor<2xf32>) {
  // expected-error @+1 {{'nn.sgd' op updates @m, which is no parameter but state}}
  nn.sgd @m, %g : tensor<2xf32>
  return
}

// -----

func.func @sgd_c1_no_variable(%g: tensor<2xf32>) {
  // expected-error @+1 {{'nn.sgd' op names @w, which is no nn.variable}}
  nn.sgd @w, %g : tensor<2xf32>
  return
}

// -----

nn.variable @w parameter : tensor<2xf32> = dense<0.0> : tensor<2xf32>
func.func @sgd_c1_gradient_type(%g: tensor<2x1xf32>) {
  // expected-error @+1 {{'nn.sgd' op gradient has type 'tensor<2x1xf32>' but @w is 'tensor<2xf32>'}}
  nn.sgd @w, %g : tensor<2x1xf32>
  return
}

// -----

nn.variable @w parameter : tensor<2xf32> = dense<0.0> : tensor<2xf32>
func.func @sgd_c2_state_missing(%g: tensor<2xf32>) {
  // expected-error @+1 {{'nn.sgd' op needs a state variable exactly when momentum is not zero, found momentum 9.000000e-01}}
  nn.sgd @w, %g {momentum = 0.9 : f64} : tensor<2xf32>
  return
}

// -----

nn.variable @w parameter : tensor<2xf32> = dense<0.0> : tensor<2xf32>
nn.variable @m optimizer : tensor<2xf32> = dense<0.0> : tensor<2xf32>
func.func @sgd_c2_state_superfluous(%g: tensor<2xf32>) {
  // expected-error @+1 {{'nn.sgd' op needs a state variable exactly when momentum is not zero, found momentum 0.000000e+00}}
  nn.sgd @w state @m, %g : tensor<2xf32>
  return
}

// -----

nn.variable @w parameter : tensor<2xf32> = dense<0.0> : tensor<2xf32>
nn.variable @m optimizer : tensor<3xf32> = dense<0.0> : tensor<3xf32>
func.func @sgd_c2_state_type(%g: tensor<2xf32>) {
  // expected-error @+1 {{'nn.sgd' op state @m has type 'tensor<3xf32>', expected that of @w, 'tensor<2xf32>'}}
  nn.sgd @w state @m, %g {momentum = 0.9 : f64} : tensor<2xf32>
  return
}

// -----

nn.variable @w parameter : tensor<2xf32> = dense<0.0> : tensor<2xf32>
nn.variable @m optimizer : tensor<2xf32> = dense<0.0> : tensor<2xf32>
func.func @sgd_c3_momentum(%g: tensor<2xf32>) {
  // expected-error @+1 {{'nn.sgd' op needs momentum in [0, 1) and a weight_decay that is not negative}}
  nn.sgd @w state @m, %g {momentum = 1.0 : f64} : tensor<2xf32>
  return
}

// -----

nn.variable @w parameter : tensor<2xf32> = dense<0.0> : tensor<2xf32>
func.func @sgd_c3_weight_decay(%g: tensor<2xf32>) {
  // expected-error @+1 {{'nn.sgd' op needs momentum in [0, 1) and a weight_decay that is not negative}}
  nn.sgd @w, %g {weight_decay = -0.1 : f64} : tensor<2xf32>
  return
}

// -----

nn.variable @w parameter : tensor<2xf32> = dense<0.0> : tensor<2xf32>
func.func @sgd_c4_nesterov(%g: tensor<2xf32>) {
  // expected-error @+1 {{'nn.sgd' op nesterov needs momentum}}
  nn.sgd @w, %g {nesterov} : tensor<2xf32>
  return
}

// -----

nn.variable @w constant : tensor<2xf32> = dense<0.0> : tensor<2xf32>
nn.variable @m optimizer : tensor<2xf32> = dense<0.0> : tensor<2xf32>
func.func @adam_c1_no_parameter(%g: tensor<2xf32>) {
  // expected-error @+1 {{'nn.adam' op updates @w, which is no parameter but constant}}
  nn.adam @w moments @m, @m, %g : tensor<2xf32>
  return
}

// -----

nn.variable @w parameter : tensor<2xf32> = dense<0.0> : tensor<2xf32>
nn.variable @m optimizer : tensor<2xf32> = dense<0.0> : tensor<2xf32>
func.func @adam_c2_no_moment(%g: tensor<2xf32>) {
  // expected-error @+1 {{'nn.adam' op names @v, which is no nn.variable}}
  nn.adam @w moments @m, @v, %g : tensor<2xf32>
  return
}

// -----

nn.variable @w parameter : tensor<2xf32> = dense<0.0> : tensor<2xf32>
nn.variable @m optimizer : tensor<2xf32> = dense<0.0> : tensor<2xf32>
nn.variable @v optimizer : tensor<2xf64> = dense<0.0> : tensor<2xf64>
func.func @adam_c2_moment_type(%g: tensor<2xf32>) {
  // expected-error @+1 {{'nn.adam' op state @v has type 'tensor<2xf64>', expected that of @w, 'tensor<2xf32>'}}
  nn.adam @w moments @m, @v, %g : tensor<2xf32>
  return
}

// -----

nn.variable @w parameter : tensor<2xf32> = dense<0.0> : tensor<2xf32>
nn.variable @m optimizer : tensor<2xf32> = dense<0.0> : tensor<2xf32>
nn.variable @v optimizer : tensor<2xf32> = dense<0.0> : tensor<2xf32>
func.func @adam_c3_beta(%g: tensor<2xf32>) {
  // expected-error @+1 {{'nn.adam' op needs beta1 and beta2 in [0, 1), a positive eps and a weight_decay that is not negative}}
  nn.adam @w moments @m, @v, %g {beta2 = 1.0 : f64} : tensor<2xf32>
  return
}

// -----

nn.variable @w parameter : tensor<2xf32> = dense<0.0> : tensor<2xf32>
nn.variable @m optimizer : tensor<2xf32> = dense<0.0> : tensor<2xf32>
nn.variable @v optimizer : tensor<2xf32> = dense<0.0> : tensor<2xf32>
func.func @adam_c3_eps(%g: tensor<2xf32>) {
  // expected-error @+1 {{'nn.adam' op needs beta1 and beta2 in [0, 1), a positive eps and a weight_decay that is not negative}}
  nn.adam @w moments @m, @v, %g {eps = 0.0 : f64} : tensor<2xf32>
  return
}
