// Updates and their state, for every optimizer.
// RUN: partita-opt %s -partita-build-gradients="momentum=0.5" | FileCheck %s --check-prefix=MOMENTUM
// RUN: partita-opt %s -partita-build-gradients="momentum=0.5 nesterov=true weight-decay=0.25 lr=0.125" | FileCheck %s --check-prefix=NESTEROV
// RUN: partita-opt %s -partita-build-gradients="optimizer=adam" | FileCheck %s --check-prefix=ADAM
// RUN: partita-opt %s -partita-build-gradients="optimizer=adamw weight-decay=0.5 beta1=0.75 beta2=0.875 eps=0.25" | FileCheck %s --check-prefix=ADAMW

// A state takes the next free name beside its parameter: the model has a
// w.momentum and a w.exp_avg of its own.

// MOMENTUM: nn.variable @w parameter
// MOMENTUM-NEXT: nn.variable @w.momentum_ optimizer : tensor<3xf32> = dense<0.000000e+00>
// MOMENTUM: nn.sgd @w state @w.momentum_, %{{.*}} {momentum = 5.000000e-01 : f64} : tensor<3xf32>

// NESTEROV: module attributes {partita.lr = 1.250000e-01 : f64, partita.optimizer = "sgd"}
// NESTEROV: nn.sgd @w state @w.momentum_, %{{.*}} {momentum = 5.000000e-01 : f64, nesterov, weight_decay = 2.500000e-01 : f64}

// ADAM: module attributes {partita.lr = 1.000000e-02 : f64, partita.optimizer = "adam"}
// ADAM: nn.variable @w parameter
// ADAM-NEXT: nn.variable @w.exp_avg_ optimizer : tensor<3xf32> = dense<0.000000e+00>
// ADAM-NEXT: nn.variable @w.exp_avg_sq optimizer : tensor<3xf32> = dense<0.000000e+00>
// ADAM: nn.adam @w moments @w.exp_avg_, @w.exp_avg_sq, %{{[0-9]+}} : tensor<3xf32>

// ADAMW: partita.optimizer = "adamw"
// ADAMW: nn.adam @w moments @w.exp_avg_, @w.exp_avg_sq, %{{[0-9]+}} {beta1 = 7.500000e-01 : f64, beta2 = 8.750000e-01 : f64, decoupled, eps = 2.500000e-01 : f64, weight_decay = 5.000000e-01 : f64}
nn.variable @w parameter : tensor<3xf32> = dense<1.0> : tensor<3xf32>
nn.variable @w.momentum constant : tensor<f32> = dense<1.0> : tensor<f32>
nn.variable @w.exp_avg constant : tensor<f32> = dense<1.0> : tensor<f32>
func.func @step(%x: tensor<3xf32>) -> tensor<f32> {
  %w = nn.read @w : tensor<3xf32>
  %y = nn.mul %x, %w : tensor<3xf32>, tensor<3xf32>
  %l = nn.reduce sum %y {axes = array<i64: 0>} : tensor<3xf32>
  return %l : tensor<f32>
}
