// One refused module per constraint of reductions, movement, softmax and
// losses, named after its label.
// RUN: partita-opt %s -split-input-file -verify-diagnostics

func.func @reduce_c1_order(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'nn.reduce' axes [1, 0] are not distinct increasing dimensions of [2, 3]}}
  %y = nn.reduce sum %x {axes = array<i64: 1, 0>} : tensor<2x3xf32>
  return
}

// -----

func.func @reduce_c1_beyond(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'nn.reduce' axes [2] are not distinct increasing dimensions of [2, 3]}}
  %y = nn.reduce max %x {axes = array<i64: 2>} : tensor<2x3xf32>
  return
}

// -----

func.func @reduce_c1_missing(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'nn.reduce' needs axes}}
  %y = nn.reduce sum %x : tensor<2x3xf32>
  return
}

// -----

func.func @reduce_c2_scale(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'nn.reduce' op only a sum takes a scale}}
  %y = nn.reduce max %x {axes = array<i64: 0>, scale = 0.5 : f64} : tensor<2x3xf32>
  return
}

// -----

func.func @variance_c1_twice(%x: tensor<2x3xf32>, %m: tensor<3xf32>) {
  // expected-error @+1 {{'nn.variance' op axes are not distinct increasing dimensions of x}}
  %y = nn.variance %x, %m {axes = array<i64: 0, 0>, scale = 0.5 : f64} : tensor<2x3xf32>, tensor<3xf32>
  return
}

// -----

func.func @variance_c2_mean(%x: tensor<2x3xf32>, %m: tensor<2xf32>) {
  // expected-error @+1 {{'nn.variance' op mean has type 'tensor<2xf32>', expected the shape of the kept dimensions}}
  %y = nn.variance %x, %m {axes = array<i64: 0>, scale = 0.5 : f64} : tensor<2x3xf32>, tensor<2xf32>
  return
}

// -----

func.func @reshape_c1_count(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'nn.reshape' op from 'tensor<2x3xf32>' to 'tensor<5xf32>' changes the number of elements or their type}}
  %y = nn.reshape %x : tensor<2x3xf32> -> tensor<5xf32>
  return
}

// -----

func.func @reshape_c1_element_type(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'nn.reshape' op from 'tensor<2x3xf32>' to 'tensor<6xi32>' changes the number of elements or their type}}
  %y = nn.reshape %x : tensor<2x3xf32> -> tensor<6xi32>
  return
}

// -----

func.func @transpose_c1_twice(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'nn.transpose' [1, 1] is no permutation of the dimensions of [2, 3]}}
  %y = nn.transpose %x {permutation = array<i64: 1, 1>} : tensor<2x3xf32>
  return
}

// -----

func.func @transpose_c1_missing(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'nn.transpose' needs a permutation}}
  %y = nn.transpose %x : tensor<2x3xf32>
  return
}

// -----

func.func @broadcast_c1_shape(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'nn.broadcast' op operand of type 'tensor<2x3xf32>' does not broadcast to 'tensor<3x2xf32>'}}
  %y = nn.broadcast %x : tensor<2x3xf32> -> tensor<3x2xf32>
  return
}

// -----

func.func @broadcast_c1_smaller(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'nn.broadcast' op operand of type 'tensor<2x3xf32>' does not broadcast to 'tensor<3xf32>'}}
  %y = nn.broadcast %x : tensor<2x3xf32> -> tensor<3xf32>
  return
}

// -----

func.func @slice_c1_count(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'nn.slice' op needs a start, a size and a step that is not 0 for each of 2 dimensions}}
  %y = nn.slice %x {starts = array<i64: 0>, sizes = array<i64: 2, 3>, steps = array<i64: 1, 1>} : tensor<2x3xf32>
  return
}

// -----

func.func @slice_c1_step_zero(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'nn.slice' op needs a start, a size and a step that is not 0 for each of 2 dimensions}}
  %y = nn.slice %x {starts = array<i64: 0, 0>, sizes = array<i64: 2, 3>, steps = array<i64: 1, 0>} : tensor<2x3xf32>
  return
}

// -----

func.func @slice_c1_negative_size(%x: tensor<2xf32>) {
  // expected-error @+1 {{'nn.slice' sizes must not be negative, found [-1]}}
  %y = nn.slice %x {starts = array<i64: 0>, sizes = array<i64: -1>, steps = array<i64: 1>} : tensor<2xf32>
  return
}

// -----

func.func @slice_c1_missing(%x: tensor<2xf32>) {
  // expected-error @+1 {{'nn.slice' needs starts, sizes and steps}}
  %y = nn.slice %x {starts = array<i64: 0>} : tensor<2xf32>
  return
}

// -----

func.func @slice_c2_end(%x: tensor<2x6xf32>) {
  // expected-error @+1 {{'nn.slice' op dimension 1: elements 1 to 7 do not lie inside size 6}}
  %y = nn.slice %x {starts = array<i64: 0, 1>, sizes = array<i64: 2, 4>, steps = array<i64: 1, 2>} : tensor<2x6xf32>
  return
}

// -----

func.func @slice_c2_backwards(%x: tensor<6xf32>) {
  // expected-error @+1 {{'nn.slice' op dimension 0: elements 3 to -1 do not lie inside size 6}}
  %y = nn.slice %x {starts = array<i64: 3>, sizes = array<i64: 5>, steps = array<i64: -1>} : tensor<6xf32>
  return
}

// -----

func.func @pad_c1_count(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'nn.pad' needs a low, interior and high for each of 2 dimensions}}
  %y = nn.pad %x {low = array<i64: 0>, interior = array<i64: 0, 0>, high = array<i64: 0, 0>} : tensor<2x3xf32>
  return
}

// -----

func.func @pad_c1_missing(%x: tensor<2xf32>) {
  // expected-error @+1 {{'nn.pad' needs low, interior and high}}
  %y = nn.pad %x {low = array<i64: 0>} : tensor<2xf32>
  return
}

// -----

func.func @pad_c2_interior(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'nn.pad' of dimension 1 of [2, 3] gives size 1 with interior -1}}
  %y = nn.pad %x {low = array<i64: 0, 0>, interior = array<i64: 0, -1>, high = array<i64: 0, 0>} : tensor<2x3xf32>
  return
}

// -----

func.func @pad_c2_negative_size(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'nn.pad' of dimension 0 of [2, 3] gives size -1 with interior 0}}
  %y = nn.pad %x {low = array<i64: -2, 0>, interior = array<i64: 0, 0>, high = array<i64: -1, 0>} : tensor<2x3xf32>
  return
}

// -----

func.func @concat_c1_nothing() {
  // expected-error @+2 {{'nn.concat' needs at least one operand}}
  // expected-error @+1 {{'nn.concat' op failed to infer returned types}}
  %y = "nn.concat"() {axis = 0 : i64} : () -> tensor<2xf32>
  return
}

// -----

func.func @concat_c1_axis(%x: tensor<2xf32>) {
  // expected-error @+1 {{'nn.concat' axis 1 is no dimension of [2]}}
  %y = nn.concat %x, %x {axis = 1 : i64} : tensor<2xf32>, tensor<2xf32>
  return
}

// -----

func.func @concat_c1_missing(%x: tensor<2xf32>) {
  // expected-error @+1 {{'nn.concat' needs an axis}}
  %y = nn.concat %x, %x : tensor<2xf32>, tensor<2xf32>
  return
}

// -----

func.func @concat_c2_unranked(%x: tensor<*xf32>) {
  // expected-error @+1 {{'nn.concat' needs tensors of known shape, found 'tensor<*xf32>'}}
  %y = nn.concat %x {axis = 0 : i64} : tensor<*xf32>
  return
}

// -----

func.func @concat_c2_shapes(%x: tensor<2x3xf32>, %z: tensor<2x4xf32>) {
  // expected-error @+1 {{'nn.concat' along axis 0 of operands with shapes [2, 3] and [2, 4]}}
  %y = nn.concat %x, %z {axis = 0 : i64} : tensor<2x3xf32>, tensor<2x4xf32>
  return
}

// -----

func.func @concat_c2_rank(%x: tensor<2x3xf32>, %z: tensor<3xf32>) {
  // expected-error @+1 {{'nn.concat' along axis 0 of operands with shapes [2, 3] and [3]}}
  %y = nn.concat %x, %z {axis = 0 : i64} : tensor<2x3xf32>, tensor<3xf32>
  return
}

// -----

func.func @softmax_c1_axis(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'nn.softmax' op axis 2 is no dimension of 'tensor<2x3xf32>'}}
  %y = nn.softmax %x {axis = 2 : i64} : tensor<2x3xf32>
  return
}

// -----

func.func @log_softmax_c1_axis(%x: tensor<f32>) {
  // expected-error @+1 {{'nn.log_softmax' op axis 0 is no dimension of 'tensor<f32>'}}
  %y = nn.log_softmax %x {axis = 0 : i64} : tensor<f32>
  return
}

// -----

func.func @softmax_grad_c1_axis(%x: tensor<2xf32>) {
  // expected-error @+1 {{'nn.softmax_grad' op axis -1 is no dimension of 'tensor<2xf32>'}}
  %y = nn.softmax_grad %x, %x {axis = -1 : i64} : tensor<2xf32>
  return
}

// -----

func.func @log_softmax_grad_c1_axis(%x: tensor<2xf32>) {
  // expected-error @+1 {{'nn.log_softmax_grad' op axis 1 is no dimension of 'tensor<2xf32>'}}
  %y = nn.log_softmax_grad %x, %x {axis = 1 : i64} : tensor<2xf32>
  return
}

// -----

func.func @cross_entropy_c1_axis(%x: tensor<2x3xf32>, %l: tensor<2xi64>) {
  // expected-error @+1 {{'nn.cross_entropy' axis 2 is no dimension of [2, 3]}}
  %y = nn.cross_entropy %x, %l {axis = 2 : i64} : tensor<2x3xf32>, tensor<2xi64>
  return
}

// -----

func.func @cross_entropy_c1_missing(%x: tensor<2x3xf32>, %l: tensor<2xi64>) {
  // expected-error @+1 {{'nn.cross_entropy' needs an axis}}
  %y = nn.cross_entropy %x, %l : tensor<2x3xf32>, tensor<2xi64>
  return
}

// -----

func.func @cross_entropy_c2_labels(%x: tensor<2x3xf32>, %l: tensor<3xi64>) {
  // expected-error @+1 {{'nn.cross_entropy' labels have shape [3], expected [2], the logits' shape without the class axis}}
  %y = nn.cross_entropy %x, %l {axis = 1 : i64} : tensor<2x3xf32>, tensor<3xi64>
  return
}

// -----

func.func @cross_entropy_grad_c1_axis(%x: tensor<2x3xf32>, %l: tensor<2xi64>) {
  // expected-error @+1 {{'nn.cross_entropy_grad' op axis 3 is no dimension of 'tensor<2x3xf32>'}}
  %y = nn.cross_entropy_grad %x, %l {axis = 3 : i64, scale = 0.5 : f64} : tensor<2x3xf32>, tensor<2xi64>
  return
}

// -----

func.func @cross_entropy_grad_c2_labels(%x: tensor<2x3xf32>, %l: tensor<2x3xi64>) {
  // expected-error @+1 {{'nn.cross_entropy_grad' op labels have type 'tensor<2x3xi64>', expected the logits' shape without axis 1}}
  %y = nn.cross_entropy_grad %x, %l {axis = 1 : i64, scale = 0.5 : f64} : tensor<2x3xf32>, tensor<2x3xi64>
  return
}

// -----

func.func @correct_c1_axis(%x: tensor<2x3xf32>, %l: tensor<2xi64>) {
  // expected-error @+1 {{'nn.correct' axis -1 is no dimension of [2, 3]}}
  %y = nn.correct %x, %l {axis = -1 : i64} : tensor<2x3xf32>, tensor<2xi64>
  return
}

// -----

func.func @correct_c2_labels(%x: tensor<2x3xf32>, %l: tensor<2xi64>) {
  // expected-error @+1 {{'nn.correct' labels have shape [2], expected [3], the logits' shape without the class axis}}
  %y = nn.correct %x, %l {axis = 0 : i64} : tensor<2x3xf32>, tensor<2xi64>
  return
}

// -----

func.func @gather_c1_axis(%t: tensor<4x3xf32>, %i: tensor<2xi64>) {
  // expected-error @+1 {{'nn.gather' axis 2 is no dimension of 'tensor<4x3xf32>'}}
  %y = nn.gather %t, %i {axis = 2 : i64, limit = 4 : i64} : tensor<4x3xf32>, tensor<2xi64>
  return
}

// -----

func.func @gather_c1_missing(%t: tensor<4x3xf32>, %i: tensor<2xi64>) {
  // expected-error @+1 {{'nn.gather' needs an axis}}
  %y = nn.gather %t, %i {limit = 4 : i64} : tensor<4x3xf32>, tensor<2xi64>
  return
}

// -----

func.func @gather_c2_rows(%t: tensor<4x3xf32>, %i: tensor<2xi64>) {
  // expected-error @+1 {{'nn.gather' op holds 4 rows from row 3 on, expected rows inside the limit of 6}}
  %y = nn.gather %t, %i {axis = 0 : i64, limit = 6 : i64, start = 3 : i64} : tensor<4x3xf32>, tensor<2xi64>
  return
}

// -----

func.func @gather_c2_negative(%t: tensor<4x3xf32>, %i: tensor<2xi64>) {
  // expected-error @+1 {{'nn.gather' op holds 4 rows from row -1 on, expected rows inside the limit of 6}}
  %y = nn.gather %t, %i {axis = 0 : i64, limit = 6 : i64, start = -1 : i64} : tensor<4x3xf32>, tensor<2xi64>
  return
}

// -----

func.func @scatter_add_c1_axis(%dy: tensor<2x3xf32>, %i: tensor<2xi64>) {
  // expected-error @+1 {{'nn.scatter_add' op axis -1 is no dimension of 'tensor<4x3xf32>'}}
  %d = nn.scatter_add %dy, %i {axis = -1 : i64, limit = 4 : i64} : tensor<2x3xf32>, tensor<2xi64> -> tensor<4x3xf32>
  return
}

// -----

func.func @scatter_add_c2_rows(%dy: tensor<2x3xf32>, %i: tensor<2xi64>) {
  // expected-error @+1 {{'nn.scatter_add' op holds 4 rows from row 0 on, expected rows inside the limit of 3}}
  %d = nn.scatter_add %dy, %i {axis = 0 : i64, limit = 3 : i64} : tensor<2x3xf32>, tensor<2xi64> -> tensor<4x3xf32>
  return
}

// -----

func.func @scatter_add_c3_shape(%dy: tensor<2x3xf32>, %i: tensor<5xi64>) {
  // expected-error @+1 {{'nn.scatter_add' op adds up dy of type 'tensor<2x3xf32>', expected 'tensor<5x3xf32>', what gathering from the result gives}}
  %d = nn.scatter_add %dy, %i {axis = 0 : i64, limit = 4 : i64} : tensor<2x3xf32>, tensor<5xi64> -> tensor<4x3xf32>
  return
}
