// RUN: weft-run %s --function '*' --compare interpreter --quiet | filecheck %s
// RUN: weft-run %s --function '*' --compare interpreter --quiet -O 0 --threads 2 | filecheck %s

// Tensors without elements.

// CHECK: @add
// CHECK-NEXT: equal to interpreter
relay.func @add(%x: tensor<0x4xf32>) -> tensor<0x4xf32> {
  %y = relay.add %x, %x : (tensor<0x4xf32>, tensor<0x4xf32>) -> tensor<0x4xf32>
  relay.return %y : tensor<0x4xf32>
}

// CHECK: @exp_then_add
// CHECK-NEXT: equal to interpreter
relay.func @exp_then_add(%x: tensor<3x0xf32>) -> tensor<3x0xf32> {
  %0 = relay.exp %x : tensor<3x0xf32>
  %y = relay.add %0, %x : (tensor<3x0xf32>, tensor<3x0xf32>) -> tensor<3x0xf32>
  relay.return %y : tensor<3x0xf32>
}

// CHECK: @sum_of_nothing
// CHECK-NEXT: equal to interpreter
relay.func @sum_of_nothing(%x: tensor<3x0xf32>) -> tensor<3xf32> {
  %y = relay.sum %x {axis = array<i64: 1>} : (tensor<3x0xf32>) -> tensor<3xf32>
  relay.return %y : tensor<3xf32>
}

// CHECK: @sum_to_nothing
// CHECK-NEXT: equal to interpreter
relay.func @sum_to_nothing(%x: tensor<3x0xf32>) -> tensor<0xf32> {
  %y = relay.sum %x {axis = array<i64: 0>} : (tensor<3x0xf32>) -> tensor<0xf32>
  relay.return %y : tensor<0xf32>
}

// CHECK: @dense_of_no_rows
// CHECK-NEXT: equal to interpreter
relay.func @dense_of_no_rows(%z: tensor<0x4xf32>, %w: tensor<3x4xf32>) -> tensor<0x3xf32> {
  %y = relay.nn.dense %z, %w {units = 3 : i64} : (tensor<0x4xf32>, tensor<3x4xf32>) -> tensor<0x3xf32>
  relay.return %y : tensor<0x3xf32>
}

// CHECK: @dense_over_nothing
// CHECK-NEXT: equal to interpreter
relay.func @dense_over_nothing(%z: tensor<2x0xf32>, %w: tensor<3x0xf32>) -> tensor<2x3xf32> {
  %y = relay.nn.dense %z, %w {units = 3 : i64} : (tensor<2x0xf32>, tensor<3x0xf32>) -> tensor<2x3xf32>
  relay.return %y : tensor<2x3xf32>
}

// CHECK: @transpose
// CHECK-NEXT: equal to interpreter
relay.func @transpose(%x: tensor<0x4xf32>) -> tensor<4x0xf32> {
  %y = relay.transpose %x {axes = array<i64: 1, 0>} : (tensor<0x4xf32>) -> tensor<4x0xf32>
  relay.return %y : tensor<4x0xf32>
}

// CHECK: @concatenate
// CHECK-NEXT: equal to interpreter
relay.func @concatenate(%z: tensor<0x4xf32>, %x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %t = relay.tuple(%z, %x) : (tensor<0x4xf32>, tensor<2x4xf32>) -> tuple<tensor<0x4xf32>, tensor<2x4xf32>>
  %y = relay.concatenate %t {axis = 0 : i64} : (tuple<tensor<0x4xf32>, tensor<2x4xf32>>) -> tensor<2x4xf32>
  relay.return %y : tensor<2x4xf32>
}

// CHECK: @softmax
// CHECK-NEXT: equal to interpreter
relay.func @softmax(%x: tensor<0x4xf32>) -> tensor<0x4xf32> {
  %y = relay.nn.softmax %x : tensor<0x4xf32>
  relay.return %y : tensor<0x4xf32>
}

// CHECK: @convolution_of_no_images
// CHECK-NEXT: equal to interpreter
relay.func @convolution_of_no_images(%x: tensor<0x3x5x5xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<0x4x3x3xf32> {
  %y = relay.nn.conv2d %x, %w : (tensor<0x3x5x5xf32>, tensor<4x3x3x3xf32>) -> tensor<0x4x3x3xf32>
  relay.return %y : tensor<0x4x3x3xf32>
}

// CHECK: @slice_nothing
// CHECK-NEXT: equal to interpreter
relay.func @slice_nothing(%x: tensor<4x4xf32>) -> tensor<0x4xf32> {
  %y = relay.strided_slice %x {begin = array<i64: 2, 0>, end = array<i64: 2, 4>, strides = array<i64: 1, 1>} : (tensor<4x4xf32>) -> tensor<0x4xf32>
  relay.return %y : tensor<0x4xf32>
}

// CHECK: @take_nothing
// CHECK-NEXT: equal to interpreter
relay.func @take_nothing(%x: tensor<4x4xf32>, %k: tensor<0xi64>) -> tensor<0x4xf32> {
  %y = relay.take %x, %k {axis = 0 : i64} : (tensor<4x4xf32>, tensor<0xi64>) -> tensor<0x4xf32>
  relay.return %y : tensor<0x4xf32>
}
