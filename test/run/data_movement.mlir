// RUN: weft-run %s --function '*' --compare interpreter --quiet --threads 2 | filecheck %s

// What moves elements and computes nothing.

// CHECK: @transpose_012
// CHECK-NEXT: equal to interpreter
relay.func @transpose_012(%x: tensor<3x5x17xf32>) -> tensor<3x5x17xf32> {
  %y = relay.transpose %x {axes = array<i64: 0, 1, 2>} : (tensor<3x5x17xf32>) -> tensor<3x5x17xf32>
  relay.return %y : tensor<3x5x17xf32>
}

// CHECK: @transpose_021
// CHECK-NEXT: equal to interpreter
relay.func @transpose_021(%x: tensor<3x5x17xf32>) -> tensor<3x17x5xf32> {
  %y = relay.transpose %x {axes = array<i64: 0, 2, 1>} : (tensor<3x5x17xf32>) -> tensor<3x17x5xf32>
  relay.return %y : tensor<3x17x5xf32>
}

// CHECK: @transpose_102
// CHECK-NEXT: equal to interpreter
relay.func @transpose_102(%x: tensor<3x5x17xf32>) -> tensor<5x3x17xf32> {
  %y = relay.transpose %x {axes = array<i64: 1, 0, 2>} : (tensor<3x5x17xf32>) -> tensor<5x3x17xf32>
  relay.return %y : tensor<5x3x17xf32>
}

// CHECK: @transpose_120
// CHECK-NEXT: equal to interpreter
relay.func @transpose_120(%x: tensor<3x5x17xf32>) -> tensor<5x17x3xf32> {
  %y = relay.transpose %x {axes = array<i64: 1, 2, 0>} : (tensor<3x5x17xf32>) -> tensor<5x17x3xf32>
  relay.return %y : tensor<5x17x3xf32>
}

// CHECK: @transpose_201
// CHECK-NEXT: equal to interpreter
relay.func @transpose_201(%x: tensor<3x5x17xf32>) -> tensor<17x3x5xf32> {
  %y = relay.transpose %x {axes = array<i64: 2, 0, 1>} : (tensor<3x5x17xf32>) -> tensor<17x3x5xf32>
  relay.return %y : tensor<17x3x5xf32>
}

// CHECK: @transpose_210
// CHECK-NEXT: equal to interpreter
relay.func @transpose_210(%x: tensor<3x5x17xf32>) -> tensor<17x5x3xf32> {
  %y = relay.transpose %x {axes = array<i64: 2, 1, 0>} : (tensor<3x5x17xf32>) -> tensor<17x5x3xf32>
  relay.return %y : tensor<17x5x3xf32>
}

// CHECK: @transpose_nchw_to_nhwc
// CHECK-NEXT: equal to interpreter
relay.func @transpose_nchw_to_nhwc(%x: tensor<2x3x7x13xf32>) -> tensor<2x7x13x3xf32> {
  %y = relay.transpose %x {axes = array<i64: 0, 2, 3, 1>} : (tensor<2x3x7x13xf32>) -> tensor<2x7x13x3xf32>
  relay.return %y : tensor<2x7x13x3xf32>
}

// CHECK: @concatenate_0
// CHECK-NEXT: equal to interpreter
relay.func @concatenate_0(%a: tensor<2x3x4xf32>, %b: tensor<5x3x4xf32>) -> tensor<7x3x4xf32> {
  %t = relay.tuple(%a, %b) : (tensor<2x3x4xf32>, tensor<5x3x4xf32>) -> tuple<tensor<2x3x4xf32>, tensor<5x3x4xf32>>
  %y = relay.concatenate %t {axis = 0 : i64} : (tuple<tensor<2x3x4xf32>, tensor<5x3x4xf32>>) -> tensor<7x3x4xf32>
  relay.return %y : tensor<7x3x4xf32>
}

// CHECK: @concatenate_1
// CHECK-NEXT: equal to interpreter
relay.func @concatenate_1(%a: tensor<2x3x4xf32>, %b: tensor<2x1x4xf32>) -> tensor<2x4x4xf32> {
  %t = relay.tuple(%a, %b) : (tensor<2x3x4xf32>, tensor<2x1x4xf32>) -> tuple<tensor<2x3x4xf32>, tensor<2x1x4xf32>>
  %y = relay.concatenate %t {axis = 1 : i64} : (tuple<tensor<2x3x4xf32>, tensor<2x1x4xf32>>) -> tensor<2x4x4xf32>
  relay.return %y : tensor<2x4x4xf32>
}

// CHECK: @concatenate_2
// CHECK-NEXT: equal to interpreter
relay.func @concatenate_2(%a: tensor<2x3x4xf32>, %b: tensor<2x3x9xf32>) -> tensor<2x3x13xf32> {
  %t = relay.tuple(%a, %b) : (tensor<2x3x4xf32>, tensor<2x3x9xf32>) -> tuple<tensor<2x3x4xf32>, tensor<2x3x9xf32>>
  %y = relay.concatenate %t {axis = 2 : i64} : (tuple<tensor<2x3x4xf32>, tensor<2x3x9xf32>>) -> tensor<2x3x13xf32>
  relay.return %y : tensor<2x3x13xf32>
}

// CHECK: @concatenate_the_same
// CHECK-NEXT: equal to interpreter
relay.func @concatenate_the_same(%a: tensor<4xf32>) -> tensor<12xf32> {
  %t = relay.tuple(%a, %a, %a) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>, tensor<4xf32>>
  %y = relay.concatenate %t {axis = 0 : i64} : (tuple<tensor<4xf32>, tensor<4xf32>, tensor<4xf32>>) -> tensor<12xf32>
  relay.return %y : tensor<12xf32>
}

// CHECK: @concatenate_what_is_computed
// CHECK-NEXT: equal to interpreter
relay.func @concatenate_what_is_computed(%a: tensor<4xf32>) -> (tensor<8xf32>, tensor<4xf32>) {
  %0 = relay.exp %a : tensor<4xf32>
  %1 = relay.tanh %a : tensor<4xf32>
  %t = relay.tuple(%0, %1) : (tensor<4xf32>, tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>>
  %2 = relay.concatenate %t {axis = 0 : i64} : (tuple<tensor<4xf32>, tensor<4xf32>>) -> tensor<8xf32>
  relay.return %2, %1 : tensor<8xf32>, tensor<4xf32>
}

// CHECK: @split
// CHECK-NEXT: equal to interpreter
relay.func @split(%x: tensor<2x7xf32>) -> (tensor<2x1xf32>, tensor<2x4xf32>, tensor<2x2xf32>) {
  %t = relay.split %x {indices_or_sections = array<i64: 1, 5>, axis = 1 : i64} : (tensor<2x7xf32>) -> tuple<tensor<2x1xf32>, tensor<2x4xf32>, tensor<2x2xf32>>
  %0 = relay.tuple_get %t[0] : tuple<tensor<2x1xf32>, tensor<2x4xf32>, tensor<2x2xf32>> -> tensor<2x1xf32>
  %1 = relay.tuple_get %t[1] : tuple<tensor<2x1xf32>, tensor<2x4xf32>, tensor<2x2xf32>> -> tensor<2x4xf32>
  %2 = relay.tuple_get %t[2] : tuple<tensor<2x1xf32>, tensor<2x4xf32>, tensor<2x2xf32>> -> tensor<2x2xf32>
  relay.return %0, %1, %2 : tensor<2x1xf32>, tensor<2x4xf32>, tensor<2x2xf32>
}

// CHECK: @split_and_use_one
// CHECK-NEXT: equal to interpreter
relay.func @split_and_use_one(%x: tensor<2x7xf32>) -> tensor<2x4xf32> {
  %t = relay.split %x {indices_or_sections = array<i64: 1, 5>, axis = 1 : i64} : (tensor<2x7xf32>) -> tuple<tensor<2x1xf32>, tensor<2x4xf32>, tensor<2x2xf32>>
  %0 = relay.tuple_get %t[1] : tuple<tensor<2x1xf32>, tensor<2x4xf32>, tensor<2x2xf32>> -> tensor<2x4xf32>
  %y = relay.exp %0 : tensor<2x4xf32>
  relay.return %y : tensor<2x4xf32>
}

// CHECK: @stack
// CHECK-NEXT: equal to interpreter
relay.func @stack(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4x2xf32> {
  %t = relay.tuple(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>>
  %y = relay.stack %t {axis = 1 : i64} : (tuple<tensor<4xf32>, tensor<4xf32>>) -> tensor<4x2xf32>
  relay.return %y : tensor<4x2xf32>
}

// CHECK: @reshape
// CHECK-NEXT: equal to interpreter
relay.func @reshape(%x: tensor<2x3x4xf32>) -> tensor<2x12xf32> {
  %y = relay.reshape %x {newshape = array<i64: 0, -1>} : (tensor<2x3x4xf32>) -> tensor<2x12xf32>
  relay.return %y : tensor<2x12xf32>
}

// CHECK: @reshape_to_scalar
// CHECK-NEXT: equal to interpreter
relay.func @reshape_to_scalar(%x: tensor<1x1xf32>) -> tensor<f32> {
  %y = relay.reshape %x {newshape = array<i64>} : (tensor<1x1xf32>) -> tensor<f32>
  relay.return %y : tensor<f32>
}

// CHECK: @expand_dims
// CHECK-NEXT: equal to interpreter
relay.func @expand_dims(%x: tensor<3x4xf32>) -> tensor<3x1x1x4xf32> {
  %y = relay.expand_dims %x {axis = 1 : i64, num_newaxis = 2 : i64} : (tensor<3x4xf32>) -> tensor<3x1x1x4xf32>
  relay.return %y : tensor<3x1x1x4xf32>
}

// CHECK: @squeeze
// CHECK-NEXT: equal to interpreter
relay.func @squeeze(%x: tensor<1x3x1x4xf32>) -> tensor<3x4xf32> {
  %y = relay.squeeze %x {axis = array<i64: 0, 2>} : (tensor<1x3x1x4xf32>) -> tensor<3x4xf32>
  relay.return %y : tensor<3x4xf32>
}

// CHECK: @reverse
// CHECK-NEXT: equal to interpreter
relay.func @reverse(%x: tensor<2x5xf32>) -> tensor<2x5xf32> {
  %y = relay.reverse %x {axis = 1 : i64} : (tensor<2x5xf32>) -> tensor<2x5xf32>
  relay.return %y : tensor<2x5xf32>
}

// CHECK: @tile
// CHECK-NEXT: equal to interpreter
relay.func @tile(%x: tensor<2x3xf32>) -> tensor<4x9xf32> {
  %y = relay.tile %x {reps = array<i64: 2, 3>} : (tensor<2x3xf32>) -> tensor<4x9xf32>
  relay.return %y : tensor<4x9xf32>
}

// CHECK: @repeat
// CHECK-NEXT: equal to interpreter
relay.func @repeat(%x: tensor<2x3xf32>) -> tensor<2x6xf32> {
  %y = relay.repeat %x {repeats = 2 : i64, axis = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x6xf32>
  relay.return %y : tensor<2x6xf32>
}

// CHECK: @strided_slice
// CHECK-NEXT: equal to interpreter
relay.func @strided_slice(%x: tensor<7x9xf32>) -> tensor<3x3xf32> {
  %y = relay.strided_slice %x {begin = array<i64: 1, 8>, end = array<i64: 7, -9>, strides = array<i64: 2, -3>} : (tensor<7x9xf32>) -> tensor<3x3xf32>
  relay.return %y : tensor<3x3xf32>
}

// CHECK: @depth_to_space
// CHECK-NEXT: equal to interpreter
relay.func @depth_to_space(%x: tensor<1x8x2x3xf32>) -> tensor<1x2x4x6xf32> {
  %y = relay.nn.depth_to_space %x {block_size = 2 : i64} : (tensor<1x8x2x3xf32>) -> tensor<1x2x4x6xf32>
  relay.return %y : tensor<1x2x4x6xf32>
}

// CHECK: @to_blocked_layout
// CHECK-NEXT: equal to interpreter
relay.func @to_blocked_layout(%x: tensor<1x6x2x2xf32>) -> tensor<1x2x2x2x4xf32> {
  %y = relay.layout_transform %x {src_layout = "NCHW", dst_layout = "NCHW4c"} : (tensor<1x6x2x2xf32>) -> tensor<1x2x2x2x4xf32>
  relay.return %y : tensor<1x2x2x2x4xf32>
}

// CHECK: @mirror_pad
// CHECK-NEXT: equal to interpreter
relay.func @mirror_pad(%x: tensor<2x3xf32>) -> tensor<2x6xf32> {
  %y = relay.nn.mirror_pad %x {pad_width = array<i64: 0, 0, 2, 1>, mode = "REFLECT"} : (tensor<2x3xf32>) -> tensor<2x6xf32>
  relay.return %y : tensor<2x6xf32>
}

// CHECK: @pad
// CHECK-NEXT: equal to interpreter
relay.func @pad(%x: tensor<2x3xf32>, %v: tensor<f32>) -> tensor<4x6xf32> {
  %y = relay.nn.pad %x, %v {pad_width = array<i64: 1, 1, 1, 2>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<4x6xf32>
  relay.return %y : tensor<4x6xf32>
}

// CHECK: @squares_and_what_is_left_over
// CHECK-NEXT: equal to interpreter
relay.func @squares_and_what_is_left_over(%x: tensor<37x50xf32>) -> tensor<50x37xf32> {
  %y = relay.transpose %x {axes = array<i64: 1, 0>} : (tensor<37x50xf32>) -> tensor<50x37xf32>
  relay.return %y : tensor<50x37xf32>
}

// CHECK: @squares_of_bytes
// CHECK-NEXT: equal to interpreter
relay.func @squares_of_bytes(%x: tensor<40x37xi8>) -> tensor<37x40xi8> {
  %y = relay.transpose %x {axes = array<i64: 1, 0>} : (tensor<40x37xi8>) -> tensor<37x40xi8>
  relay.return %y : tensor<37x40xi8>
}

// CHECK: @squares_of_half_floats
// CHECK-NEXT: equal to interpreter
relay.func @squares_of_half_floats(%x: tensor<20x33x18xf16>) -> tensor<18x20x33xf16> {
  %y = relay.transpose %x {axes = array<i64: 2, 0, 1>} : (tensor<20x33x18xf16>) -> tensor<18x20x33xf16>
  relay.return %y : tensor<18x20x33xf16>
}

// CHECK: @squares_of_doubles
// CHECK-NEXT: equal to interpreter
relay.func @squares_of_doubles(%x: tensor<19x2x23xf64>) -> tensor<23x2x19xf64> {
  %y = relay.transpose %x {axes = array<i64: 2, 1, 0>} : (tensor<19x2x23xf64>) -> tensor<23x2x19xf64>
  relay.return %y : tensor<23x2x19xf64>
}

// CHECK: @squares_of_truth_values
// CHECK-NEXT: equal to interpreter
relay.func @squares_of_truth_values(%x: tensor<33x21xi1>) -> tensor<21x33xi1> {
  %y = relay.transpose %x {axes = array<i64: 1, 0>} : (tensor<33x21xi1>) -> tensor<21x33xi1>
  relay.return %y : tensor<21x33xi1>
}

// CHECK: @squares_narrower_than_a_vector
// CHECK-NEXT: equal to interpreter
relay.func @squares_narrower_than_a_vector(%x: tensor<9x5x13xi64>) -> tensor<9x13x5xi64> {
  %y = relay.transpose %x {axes = array<i64: 0, 2, 1>} : (tensor<9x5x13xi64>) -> tensor<9x13x5xi64>
  relay.return %y : tensor<9x13x5xi64>
}
