// What may not stand in a partitioned program: classes, values and what they
// mean.
// RUN: partita-opt %s -split-input-file -verify-diagnostics -partita-verify-partition

// expected-error @below {{contract of the partition phase: there must be a dist.grid}}
module {
}

// -----

// expected-error @below {{contract of the partition phase: the classes name 1 of 2 ranks}}
module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0]
}

// -----

module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  // expected-error @+1 {{contract of the partition phase: rank 1 is in two classes or not in the grid}}
  spmd.class @c1 ranks [1]
}

// -----

// expected-error @below {{contract of the partition phase: the classes name 3 of 2 ranks}}
module attributes {dist.grid = #dist.grid<data = 2>} {
  // expected-error @+1 {{contract of the partition phase: rank 2 is in two classes or not in the grid}}
  spmd.class @c0 ranks [0, 1, 2]
}

// -----

module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  // expected-error @+1 {{contract of the partition phase: argument 0 has no spmd.global or dist.layout}}
  func.func @predict_c0(%x: tensor<2xf32> {dist.layout = #dist.layout<[[data]]>}) attributes {spmd.class = @c0, spmd.phase = "predict"} {
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  // expected-error @+1 {{contract of the partition phase: argument 0: layout #dist.layout<[[data], []]> does not fit tensor<4xf32>}}
  func.func @predict_c0(%x: tensor<2xf32> {dist.layout = #dist.layout<[[data], []]>, spmd.global = tensor<4xf32>}) attributes {spmd.class = @c0, spmd.phase = "predict"} {
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  // expected-error @+1 {{contract of the partition phase: it belongs to no class}}
  func.func @predict_c0(%x: tensor<2xf32> {dist.layout = #dist.layout<[[data]]>, spmd.global = tensor<4xf32>}) attributes {spmd.class = @c1, spmd.phase = "predict"} {
    return
  }
}

// -----

// 5 elements are 3 and 2: the two ranks cannot be one class.
module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  // expected-error @+1 {{contract of the partition phase: argument 0 has type tensor<3xf32>, but rank 1 holds tensor<2xf32> of tensor<5xf32>}}
  func.func @predict_c0(%x: tensor<3xf32> {dist.layout = #dist.layout<[[data]]>, spmd.global = tensor<5xf32>}) attributes {spmd.class = @c0, spmd.phase = "predict"} {
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  // expected-error @+1 {{contract of the partition phase: result 0 has type tensor<2xf32>, but rank 0 holds tensor<4xf32> of tensor<4xf32>}}
  func.func @predict_c0(%x: tensor<2xf32> {dist.layout = #dist.layout<[[data]]>, spmd.global = tensor<4xf32>})
      -> (tensor<2xf32> {dist.layout = #dist.layout<[[]], varying [data]>, spmd.global = tensor<4xf32>})
      attributes {spmd.class = @c0, spmd.phase = "predict"} {
    return %x : tensor<2xf32>
  }
}

// -----

module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  // expected-error @+1 {{contract of the partition phase: variable 'v': parts of #dist.layout<[[data] at [0:2, 1:4]]> overlap or leave gaps in tensor<4xf32>}}
  nn.variable @v state : tensor<4xf32> = dense<1.0> : tensor<4xf32> {dist.layout = #dist.layout<[[data] at [0:2, 1:4]]>}
}

// -----

module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  // expected-error @+1 {{contract of the partition phase: variable 'v': layout #dist.layout<[[model]]> names axis 'model', which is not one of the grid #dist.grid<data = 2>}}
  nn.variable @v state : tensor<4xf32> = dense<1.0> : tensor<4xf32> {dist.layout = #dist.layout<[[model]]>}
}

// -----

module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  // expected-error @+1 {{contract of the partition phase: variable 'v': layout #dist.layout<[[data] at [0:2, 2:5]]> needs 2 ranges inside [0, 4) for dimension 0 of tensor<4xf32>}}
  nn.variable @v state : tensor<4xf32> = dense<1.0> : tensor<4xf32> {dist.layout = #dist.layout<[[data] at [0:2, 2:5]]>}
}

// -----

// Offsets by floor where sizes are by ceil.
module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0]
  spmd.class @c1 ranks [1]
  // expected-error @+1 {{contract of the partition phase: argument 0: parts of #dist.layout<[[data] at [0:3, 2:5]]> overlap or leave gaps in tensor<5xf32>}}
  func.func @step_c0(%x: tensor<3xf32> {dist.layout = #dist.layout<[[data] at [0:3, 2:5]]>, spmd.global = tensor<5xf32>})
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    return
  }
  // expected-error @+1 {{contract of the partition phase: argument 0: parts of}}
  func.func @step_c1(%x: tensor<3xf32> {dist.layout = #dist.layout<[[data] at [0:3, 2:5]]>, spmd.global = tensor<5xf32>})
      attributes {spmd.class = @c1, spmd.phase = "step"} {
    return
  }
}

// -----

// One class has no function.
module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0]
  spmd.class @c1 ranks [1]
  // expected-error @+1 {{contract of the partition phase: phase 'step' has 1 functions for 2 classes; expected one for each}}
  func.func @step_c0(%x: tensor<2xf32> {dist.layout = #dist.layout<[[data]]>, spmd.global = tensor<4xf32>})
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    return
  }
}

// -----

// Classes that are parts of other tensors.
module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0]
  spmd.class @c1 ranks [1]
  func.func @step_c0(%x: tensor<2xf32> {dist.layout = #dist.layout<[[data]]>, spmd.global = tensor<4xf32>})
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    return
  }
  // expected-error @+1 {{contract of the partition phase: arguments and results are parts of others than those of @step_c0}}
  func.func @step_c1(%x: tensor<3xf32> {dist.layout = #dist.layout<[[data]]>, spmd.global = tensor<6xf32>})
      attributes {spmd.class = @c1, spmd.phase = "step"} {
    return
  }
}

// -----

// One class combines a value that the other does not: it waits for ever.
module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0]
  spmd.class @c1 ranks [1]
  func.func @step_c0(%x: tensor<2xf32> {dist.layout = #dist.layout<[[data]]>, spmd.global = tensor<3xf32>})
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    %s = nn.reduce sum %x {axes = array<i64: 0>, spmd.split = #dist.split<d0 = [data]>} : tensor<2xf32>
    %0 = spmd.all_reduce sum %s over ["data"] : tensor<f32>
    return
  }
  // expected-error @+1 {{contract of the partition phase: the class makes 0 calls, but @step_c0 makes 1}}
  func.func @step_c1(%x: tensor<1xf32> {dist.layout = #dist.layout<[[data]]>, spmd.global = tensor<3xf32>})
      attributes {spmd.class = @c1, spmd.phase = "step"} {
    %s = nn.reduce sum %x {axes = array<i64: 0>, spmd.split = #dist.split<d0 = [data]>} : tensor<1xf32>
    return
  }
}

// -----

// The same calls in another order.
module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0]
  spmd.class @c1 ranks [1]
  func.func @step_c0(%x: tensor<2xf32> {dist.layout = #dist.layout<[[data]]>, spmd.global = tensor<3xf32>})
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    %s = nn.reduce sum %x {axes = array<i64: 0>, spmd.split = #dist.split<d0 = [data]>} : tensor<2xf32>
    %m = nn.reduce max %x {axes = array<i64: 0>, spmd.split = #dist.split<d0 = [data]>} : tensor<2xf32>
    %0 = spmd.all_reduce sum %s over ["data"] : tensor<f32>
    %1 = spmd.all_reduce max %m over ["data"] : tensor<f32>
    return
  }
  func.func @step_c1(%x: tensor<1xf32> {dist.layout = #dist.layout<[[data]]>, spmd.global = tensor<3xf32>})
      attributes {spmd.class = @c1, spmd.phase = "step"} {
    %s = nn.reduce sum %x {axes = array<i64: 0>, spmd.split = #dist.split<d0 = [data]>} : tensor<1xf32>
    %m = nn.reduce max %x {axes = array<i64: 0>, spmd.split = #dist.split<d0 = [data]>} : tensor<1xf32>
    // expected-error @+1 {{contract of the partition phase: call 0 of the class is spmd.all_reduce max ["data"] of tensor<f32> #dist.layout<[], partial max [data]>, but @step_c0 calls spmd.all_reduce sum}}
    %1 = spmd.all_reduce max %m over ["data"] : tensor<f32>
    %0 = spmd.all_reduce sum %s over ["data"] : tensor<f32>
    return
  }
}

// -----

// The gradient's collective is missing.
module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  nn.variable @w parameter : tensor<3xf32> = dense<1.0> : tensor<3xf32>
  func.func @step_c0(%x: tensor<2x3xf32> {dist.layout = #dist.layout<[[data], []]>, spmd.global = tensor<4x3xf32>})
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    %g = nn.reduce sum %x {axes = array<i64: 0>, spmd.split = #dist.split<d0 = [data]>} : tensor<2x3xf32>
    // expected-error @+1 {{contract of the partition phase: the value for variable 'w' is partial, found #dist.layout<[[]], partial sum [data]>; combine it over these axes first}}
    nn.sgd @w, %g : tensor<3xf32>
    return
  }
}

// -----

// It is combined over one of two axes only; running statistics count, too.
module attributes {dist.grid = #dist.grid<node = 2, data = 2>} {
  spmd.class @c0 ranks [0, 1, 2, 3]
  nn.variable @s state : tensor<3xf32> = dense<1.0> : tensor<3xf32>
  func.func @step_c0(%x: tensor<1x3xf32> {dist.layout = #dist.layout<[[node, data], []]>, spmd.global = tensor<4x3xf32>})
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    %g = nn.reduce sum %x {axes = array<i64: 0>, spmd.split = #dist.split<d0 = [node, data]>} : tensor<1x3xf32>
    %s = spmd.all_reduce sum %g over ["data"] : tensor<3xf32>
    // expected-error @+1 {{contract of the partition phase: the value for variable 's' is partial, found #dist.layout<[[]], partial sum [node]>}}
    nn.assign @s, %s : tensor<3xf32>
    return
  }
}

// -----

// Statistics of each rank's own are no value for all.
module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  nn.variable @w parameter : tensor<3xf32> = dense<1.0> : tensor<3xf32>
  func.func @step_c0(%x: tensor<2x3xf32> {dist.layout = #dist.layout<[[data], []]>, spmd.global = tensor<4x3xf32>})
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    %g = nn.reduce sum %x {axes = array<i64: 0>, local, scale = 0.5 : f64, spmd.split = #dist.split<d0 = [data]>, spmd.whole = {scale = 0.25 : f64}} : tensor<2x3xf32>
    // expected-error @+1 {{contract of the partition phase: the value for variable 'w' is each rank's own, found #dist.layout<[[]], varying [data]>, so that ranks would give the variable different values}}
    nn.sgd @w, %g : tensor<3xf32>
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  nn.variable @s state : tensor<2xf32> = dense<1.0> : tensor<2xf32> {dist.layout = #dist.layout<[[data]]>}
  func.func @step_c0(%x: tensor<2xf32> {dist.layout = #dist.layout<[[]]>, spmd.global = tensor<2xf32>})
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    // expected-error @+1 {{contract of the partition phase: the value for variable 's' lies as #dist.layout<[[]]>, expected the variable's layout #dist.layout<[[data]]>}}
    nn.assign @s, %x : tensor<2xf32>
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  nn.variable @s state : tensor<2xf32> = dense<1.0> : tensor<2xf32> {dist.layout = #dist.layout<[[data]]>}
  func.func @step_c0(%x: tensor<2xf32> {dist.layout = #dist.layout<[[data]]>, spmd.global = tensor<4xf32>})
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    // expected-error @+1 {{contract of the partition phase: the value is a part of tensor<4xf32>, expected one of tensor<2xf32> for variable 's'}}
    nn.assign @s, %x : tensor<2xf32>
    return
  }
}

// -----

// An optimizer state lies with its parameter.
module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  nn.variable @w parameter : tensor<4xf32> = dense<1.0> : tensor<4xf32> {dist.layout = #dist.layout<[[data]]>}
  nn.variable @w.momentum state : tensor<4xf32> = dense<0.0> : tensor<4xf32>
  func.func @step_c0(%x: tensor<2xf32> {dist.layout = #dist.layout<[[data]]>, spmd.global = tensor<4xf32>})
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    // expected-error @+1 {{contract of the partition phase: state 'w.momentum' lies as #dist.layout<[[]]>, expected the layout of its parameter 'w', #dist.layout<[[data]]>}}
    nn.sgd @w state @w.momentum, %x {momentum = 0.9 : f64} : tensor<2xf32>
    return
  }
}

// -----

// A variable is read as the part it lies in.
module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  nn.variable @s state : tensor<4xf32> = dense<1.0> : tensor<4xf32> {dist.layout = #dist.layout<[[data]]>}
  func.func @step_c0()
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    // expected-error @+1 {{contract of the partition phase: a value has type tensor<4xf32>, but rank 0 holds tensor<2xf32> of tensor<4xf32> as #dist.layout<[[data]]>}}
    %s = nn.read @s : tensor<4xf32>
    return
  }
}

// -----

// A mask drawn in parts is no value for all.
module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  nn.variable @m state : tensor<4x3xf32> = dense<1.0> : tensor<4x3xf32>
  func.func @step_c0()
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    %m = nn.dropout_mask {global_shape = array<i64: 4, 3>, layout = #dist.layout<[[data], []]>, ratio = 0.5 : f64, spmd.split = #dist.split<d0 = [data]>, spmd.whole = {results = [tensor<4x3xf32>]}, start = array<i64: 0, 0>, stream = 1 : i64} : tensor<2x3xf32>
    // expected-error @+1 {{contract of the partition phase: the value for variable 'm' lies as #dist.layout<[[data], []]>, expected}}
    nn.assign @m, %m : tensor<2x3xf32>
    return
  }
}

// -----

// A loss that is not combined.
module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  // expected-error @+1 {{contract of the partition phase: result 0 is a part of tensor<f32> and lies as #dist.layout<[], partial sum [data]>, but is stated to be one of tensor<f32> as #dist.layout<[]>}}
  func.func @step_c0(%x: tensor<2x3xf32> {dist.layout = #dist.layout<[[data], []]>, spmd.global = tensor<4x3xf32>})
      -> (tensor<f32> {dist.layout = #dist.layout<[]>, spmd.global = tensor<f32>})
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    %l = nn.reduce sum %x {axes = array<i64: 0, 1>, spmd.split = #dist.split<d0 = [data]>} : tensor<2x3xf32>
    return %l : tensor<f32>
  }
}

// -----

module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  // expected-error @+1 {{contract of the partition phase: result 0 is stated to be partial, found #dist.layout<[], partial sum [data]>; combine it first}}
  func.func @step_c0(%x: tensor<2x3xf32> {dist.layout = #dist.layout<[[data], []]>, spmd.global = tensor<4x3xf32>})
      -> (tensor<f32> {dist.layout = #dist.layout<[], partial sum [data]>, spmd.global = tensor<f32>})
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    %l = nn.reduce sum %x {axes = array<i64: 0, 1>, spmd.split = #dist.split<d0 = [data]>} : tensor<2x3xf32>
    return %l : tensor<f32>
  }
}

// -----

// Combined twice, the sum counts every rank's part twice.
module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  func.func @step_c0(%x: tensor<2x3xf32> {dist.layout = #dist.layout<[[data], []]>, spmd.global = tensor<4x3xf32>})
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    %g = nn.reduce sum %x {axes = array<i64: 0>, spmd.split = #dist.split<d0 = [data]>} : tensor<2x3xf32>
    %s = spmd.all_reduce sum %g over ["data"] : tensor<3xf32>
    %r = nn.reshape %s : tensor<3xf32> -> tensor<3x1xf32>
    // expected-error @+1 {{contract of the partition phase: the value is combined over axis 'data', over which it is not partial, found #dist.layout<[[], []]>; it would be counted once per rank}}
    %t = spmd.all_reduce sum %r over ["data"] : tensor<3x1xf32>
    return
  }
}

// -----

// Maxima are not added up.
module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  func.func @step_c0(%x: tensor<2x3xf32> {dist.layout = #dist.layout<[[data], []]>, spmd.global = tensor<4x3xf32>})
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    %g = nn.reduce max %x {axes = array<i64: 0>, spmd.split = #dist.split<d0 = [data]>} : tensor<2x3xf32>
    // expected-error @+1 {{contract of the partition phase: the value is combined by sum, but its parts are not, found #dist.layout<[[]], partial max [data]>}}
    %s = spmd.all_reduce sum %g over ["data"] : tensor<3xf32>
    return
  }
}

// -----

// A maximum of sums is not a sum of maxima.
module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  func.func @step_c0(%x: tensor<2x3xf32> {dist.layout = #dist.layout<[[data], []]>, spmd.global = tensor<4x3xf32>})
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    %g = nn.reduce sum %x {axes = array<i64: 0>, spmd.split = #dist.split<d0 = [data]>} : tensor<2x3xf32>
    // expected-error @+1 {{contract of the partition phase: operand 0 is partial, found #dist.layout<[[]], partial sum [data]>; combine it first}}
    %s = nn.relu %g : tensor<3xf32>
    return
  }
}

// -----

// A bias that every rank adds is counted once per rank.
module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  func.func @step_c0(%x: tensor<2x3xf32> {dist.layout = #dist.layout<[[data], []]>, spmd.global = tensor<4x3xf32>}, %b: tensor<3xf32> {dist.layout = #dist.layout<[[]]>, spmd.global = tensor<3xf32>})
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    %g = nn.reduce sum %x {axes = array<i64: 0>, spmd.split = #dist.split<d0 = [data]>} : tensor<2x3xf32>
    // expected-error @+1 {{contract of the partition phase: all operands must be partial alike, found operand 0 #dist.layout<[[]], partial sum [data]> and operand 1 #dist.layout<[[]]>; what is whole would be counted once per rank}}
    %s = nn.add %g, %b : tensor<3xf32>, tensor<3xf32>
    return
  }
}

// -----

// One of two uses of a tied weight is combined before the sum.
module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  func.func @step_c0(%x: tensor<2x3xf32> {dist.layout = #dist.layout<[[data], []]>, spmd.global = tensor<4x3xf32>})
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    %g = nn.reduce sum %x {axes = array<i64: 0>, spmd.split = #dist.split<d0 = [data]>} : tensor<2x3xf32>
    %h = nn.reduce sum %x {axes = array<i64: 0>, spmd.split = #dist.split<d0 = [data]>} : tensor<2x3xf32>
    %t = spmd.all_reduce sum %h over ["data"] : tensor<3xf32>
    // expected-error @+1 {{contract of the partition phase: all operands must be partial alike}}
    %s = nn.add %g, %t : tensor<3xf32>, tensor<3xf32>
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  func.func @step_c0(%x: tensor<2x3xf32> {dist.layout = #dist.layout<[[data], []]>, spmd.global = tensor<4x3xf32>})
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    %g = nn.reduce max %x {axes = array<i64: 0>, spmd.split = #dist.split<d0 = [data]>} : tensor<2x3xf32>
    // expected-error @+1 {{contract of the partition phase: operands are partial by another kind than sum, found #dist.layout<[[]], partial max [data]>}}
    %s = nn.add %g, %g : tensor<3xf32>, tensor<3xf32>
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  func.func @step_c0(%x: tensor<2x4xf32> {dist.layout = #dist.layout<[[data], []]>, spmd.global = tensor<4x4xf32>})
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    %g = nn.reduce sum %x {axes = array<i64: 0>, spmd.split = #dist.split<d0 = [data]>} : tensor<2x4xf32>
    // expected-error @+1 {{contract of the partition phase: is split over an axis over which its operands are partial, found #dist.split<d0 = [data]> and #dist.layout<[[]], partial sum [data]>}}
    %s = nn.neg %g {spmd.split = #dist.split<d0 = [data]>} : tensor<4xf32>
    return
  }
}

// -----

// A mean over the samples of one rank.
module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  func.func @step_c0(%x: tensor<2x3xf32> {dist.layout = #dist.layout<[[data], []]>, spmd.global = tensor<4x3xf32>})
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    // expected-error @+1 {{contract of the partition phase: has scale 5.000000e-01, expected 1 / 4, the elements of the whole tensor, for a mean or 1 for a sum}}
    %m = nn.reduce sum %x {axes = array<i64: 0>, scale = 0.5 : f64, spmd.split = #dist.split<d0 = [data]>} : tensor<2x3xf32>
    return
  }
}

// -----

// Scales of statistics.
module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  func.func @step_c0(%x: tensor<2x3xf32> {dist.layout = #dist.layout<[[data], []]>, spmd.global = tensor<4x3xf32>}, %b: tensor<3xf32> {dist.layout = #dist.layout<[[]]>, spmd.global = tensor<3xf32>})
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    // expected-error @+1 {{contract of the partition phase: has scale 5.000000e-01, expected 1 / 4, the elements of the whole tensor}}
    %v = nn.variance %x, %b {axes = array<i64: 0>, scale = 0.5 : f64, spmd.split = #dist.split<d0 = [data]>} : tensor<2x3xf32>, tensor<3xf32>
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  func.func @step_c0(%x: tensor<2x3xf32> {dist.layout = #dist.layout<[[data], []]>, spmd.global = tensor<4x3xf32>})
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    // expected-error @+1 {{contract of the partition phase: has scale 2.500000e-01, but on rank 0 expected 5.000000e-01 for its own 2.000000e+00 of 4.000000e+00 elements}}
    %l = nn.reduce sum %x {axes = array<i64: 0>, local, scale = 0.25 : f64, spmd.split = #dist.split<d0 = [data]>} : tensor<2x3xf32>
    return
  }
}

// -----

// A loss that is no mean, and a gradient of a mean over the samples of one rank.
module attributes {dist.grid = #dist.grid<data = 2>, partita.loss = "cross_entropy"} {
  spmd.class @c0 ranks [0, 1]
  func.func @step_c0(%x: tensor<2x5xf32> {dist.layout = #dist.layout<[[data], []]>, spmd.global = tensor<4x5xf32>}, %y: tensor<2xi64> {dist.layout = #dist.layout<[[data]]>, spmd.global = tensor<4xi64>})
      -> (tensor<f32> {dist.layout = #dist.layout<[]>, nn.name = "loss", spmd.global = tensor<f32>})
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    %l = nn.cross_entropy %x, %y {axis = 1 : i64, spmd.split = #dist.split<d0 = [data]>} : tensor<2x5xf32>, tensor<2xi64>
    // expected-error @+1 {{contract of the partition phase: has scale 1.000000, expected 1 / 4, the terms of the mean loss on all ranks}}
    %m = nn.reduce sum %l {axes = array<i64: 0>, scale = 1.0 : f64, spmd.split = #dist.split<d0 = [data]>} : tensor<2xf32>
    // expected-error @+1 {{contract of the partition phase: has scale 0.500000, expected 1 / 4, the terms of the mean loss on all ranks}}
    %g = nn.cross_entropy_grad %x, %y {axis = 1 : i64, scale = 0.5 : f64, spmd.split = #dist.split<d0 = [data]>} : tensor<2x5xf32>, tensor<2xi64>
    %s = spmd.all_reduce sum %m over ["data"] : tensor<f32>
    return %s : tensor<f32>
  }
}

// -----

// One class takes the mean, the other the sum.
module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0]
  spmd.class @c1 ranks [1]
  func.func @step_c0(%x: tensor<2xf32> {dist.layout = #dist.layout<[[data]]>, spmd.global = tensor<3xf32>})
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    %s = nn.reduce sum %x {axes = array<i64: 0>, scale = 1.0 : f64, spmd.split = #dist.split<d0 = [data]>} : tensor<2xf32>
    %t = spmd.all_reduce sum %s over ["data"] : tensor<f32>
    return
  }
  func.func @step_c1(%x: tensor<1xf32> {dist.layout = #dist.layout<[[data]]>, spmd.global = tensor<3xf32>})
      attributes {spmd.class = @c1, spmd.phase = "step"} {
    // expected-error @+1 {{contract of the partition phase: is a part of nn.reduce tensor<f32> #dist.layout<[], partial sum [data]> by}}
    %s = nn.reduce sum %x {axes = array<i64: 0>, scale = 0.33333333333333331 : f64, spmd.split = #dist.split<d0 = [data]>} : tensor<1xf32>
    %t = spmd.all_reduce sum %s over ["data"] : tensor<f32>
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0]
  spmd.class @c1 ranks [1]
  func.func @step_c0(%x: tensor<2xf32> {dist.layout = #dist.layout<[[data]]>, spmd.global = tensor<3xf32>})
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    %s = nn.relu %x {spmd.split = #dist.split<d0 = [data]>} : tensor<2xf32>
    return
  }
  func.func @step_c1(%x: tensor<1xf32> {dist.layout = #dist.layout<[[data]]>, spmd.global = tensor<3xf32>})
      attributes {spmd.class = @c1, spmd.phase = "step"} {
    // expected-error @+1 {{contract of the partition phase: makes nn.tanh tensor<3xf32> #dist.layout<[[data]]>, but @step_c0 makes nn.relu}}
    %s = nn.tanh %x {spmd.split = #dist.split<d0 = [data]>} : tensor<1xf32>
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0]
  spmd.class @c1 ranks [1]
  func.func @step_c0(%x: tensor<2xf32> {dist.layout = #dist.layout<[[data]]>, spmd.global = tensor<3xf32>})
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    %s = nn.relu %x {spmd.split = #dist.split<d0 = [data]>} : tensor<2xf32>
    return
  }
  // expected-error @+1 {{contract of the partition phase: the class runs 0 operations, but @step_c0 runs 1}}
  func.func @step_c1(%x: tensor<1xf32> {dist.layout = #dist.layout<[[data]]>, spmd.global = tensor<3xf32>})
      attributes {spmd.class = @c1, spmd.phase = "step"} {
    return
  }
}

// -----

// A part that is not empty is left out.
module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0]
  spmd.class @c1 ranks [1]
  func.func @step_c0(%x: tensor<2xf32> {dist.layout = #dist.layout<[[data]]>, spmd.global = tensor<3xf32>})
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    %s = nn.reduce sum %x {axes = array<i64: 0>, spmd.split = #dist.split<d0 = [data]>} : tensor<2xf32>
    return
  }
  func.func @step_c1(%x: tensor<1xf32> {dist.layout = #dist.layout<[[data]]>, spmd.global = tensor<3xf32>})
      attributes {spmd.class = @c1, spmd.phase = "step"} {
    // expected-error @+1 {{contract of the partition phase: rank 1 leaves out its part of an operation, which is not empty}}
    %s = nn.constant dense<0.0> : tensor<f32> {spmd.stands_for = {op = "nn.reduce", result = 0 : i64, of = tensor<f32>, layout = #dist.layout<[], partial sum [data]>}}
    return
  }
}

// -----

// What stands for an empty part must not count.
module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0]
  spmd.class @c1 ranks [1]
  func.func @step_c0(%x: tensor<1xf32> {dist.layout = #dist.layout<[[data]]>, spmd.global = tensor<1xf32>})
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    %s = nn.reduce max %x {axes = array<i64: 0>, spmd.split = #dist.split<d0 = [data]>} : tensor<1xf32>
    return
  }
  func.func @step_c1(%x: tensor<0xf32> {dist.layout = #dist.layout<[[data]]>, spmd.global = tensor<1xf32>})
      attributes {spmd.class = @c1, spmd.phase = "step"} {
    // expected-error @+1 {{contract of the partition phase: stands for the empty part of nn.reduce, but would change what others add to it, found #dist.layout<[], partial max [data]>}}
    %s = nn.constant dense<0.0> : tensor<f32> {spmd.stands_for = {op = "nn.reduce", result = 0 : i64, of = tensor<f32>, layout = #dist.layout<[], partial max [data]>}}
    return
  }
}

// -----

// An empty part with a row.
module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  func.func @step_c0()
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    // expected-error @+1 {{contract of the partition phase: a value has type tensor<1xf32>, but rank 1 holds tensor<0xf32> of tensor<1xf32> as #dist.layout<[[data]]>}}
    %s = nn.constant dense<0.0> : tensor<1xf32> {spmd.stands_for = {op = "nn.relu", result = 0 : i64, of = tensor<1xf32>, layout = #dist.layout<[[data]]>}}
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  func.func @step_c0()
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    // expected-error @+1 {{contract of the partition phase: spmd.stands_for names no operation}}
    %s = nn.constant dense<0.0> : tensor<0xf32> {spmd.stands_for = {}}
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  func.func @step_c0()
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    // expected-error @+1 {{contract of the partition phase: spmd.stands_for needs a whole type, a layout and the number of the result}}
    %s = nn.constant dense<0.0> : tensor<0xf32> {spmd.stands_for = {op = "nn.relu", result = 0 : i64}}
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  func.func @step_c0()
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    // expected-error @+1 {{contract of the partition phase: layout #dist.layout<[[model]]> names axis 'model'}}
    %s = nn.constant dense<0.0> : tensor<0xf32> {spmd.stands_for = {op = "nn.relu", result = 0 : i64, of = tensor<4xf32>, layout = #dist.layout<[[model]]>}}
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0]
  spmd.class @c1 ranks [1]
  func.func @step_c0()
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    // expected-error @+1 {{contract of the partition phase: stands for a result without the ones before it}}
    %s = nn.constant dense<0.0> : tensor<0xf32> {spmd.stands_for = {op = "nn.x", result = 1 : i64, of = tensor<4xf32>, layout = #dist.layout<[[data] at [0:0, 0:4]]>}}
    return
  }
  func.func @step_c1()
      attributes {spmd.class = @c1, spmd.phase = "step"} {
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<data = 2>} {
  spmd.class @c0 ranks [0, 1]
  func.func @step_c0(%x: tensor<2xf32> {dist.layout = #dist.layout<[[data]]>, spmd.global = tensor<4xf32>})
      attributes {spmd.class = @c0, spmd.phase = "step"} {
    // expected-error @+1 {{contract of the partition phase: stands for nothing that others can use}}
    %r = nn.reshape %x {spmd.stands_for = {op = "nn.conv"}} : tensor<2xf32> -> tensor<2x1xf32>
    %s = nn.relu %r : tensor<2x1xf32>
    return
  }
}

// -----

module attributes {dist.grid = #dist.grid<data = 1>} {
  spmd.class @c0 ranks [0]
  // expected-error @+1 {{needs a body of one block}}
  func.func private @step_c0()
}
