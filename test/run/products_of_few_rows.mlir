// Attention of one token, two heads to each of the keys: nothing is repeated or transposed for it.
// RUN: weft-run %s --compare interpreter

relay.func @main(%q: tensor<4x1x64xf32>, %k: tensor<1x2x7x64xf32>, %v: tensor<1x2x7x64xf32>) -> tensor<1x1x256xf32> {
  %0 = relay.expand_dims %k {axis = 2 : i64} : (tensor<1x2x7x64xf32>) -> tensor<1x2x1x7x64xf32>
  %1 = relay.broadcast_to %0 {shape = array<i64: 1, 2, 2, 7, 64>} : (tensor<1x2x1x7x64xf32>) -> tensor<1x2x2x7x64xf32>
  %2 = relay.reshape %1 {newshape = array<i64: 1, 4, 7, 64>} : (tensor<1x2x2x7x64xf32>) -> tensor<1x4x7x64xf32>
  %3 = relay.transpose %2 {axes = array<i64: 0, 1, 3, 2>} : (tensor<1x4x7x64xf32>) -> tensor<1x4x64x7xf32>
  %4 = relay.reshape %3 {newshape = array<i64: 4, 64, 7>} : (tensor<1x4x64x7xf32>) -> tensor<4x64x7xf32>
  %5 = relay.nn.batch_matmul %q, %4 {transpose_b = false} : (tensor<4x1x64xf32>, tensor<4x64x7xf32>) -> tensor<4x1x7xf32>
  %6 = relay.nn.softmax %5 {axis = 2 : i64} : tensor<4x1x7xf32>
  %7 = relay.expand_dims %v {axis = 2 : i64} : (tensor<1x2x7x64xf32>) -> tensor<1x2x1x7x64xf32>
  %8 = relay.broadcast_to %7 {shape = array<i64: 1, 2, 2, 7, 64>} : (tensor<1x2x1x7x64xf32>) -> tensor<1x2x2x7x64xf32>
  %9 = relay.reshape %8 {newshape = array<i64: 4, 7, 64>} : (tensor<1x2x2x7x64xf32>) -> tensor<4x7x64xf32>
  %10 = relay.nn.batch_matmul %6, %9 {transpose_b = false} : (tensor<4x1x7xf32>, tensor<4x7x64xf32>) -> tensor<4x1x64xf32>
  %11 = relay.reshape %10 {newshape = array<i64: 1, 4, 1, 64>} : (tensor<4x1x64xf32>) -> tensor<1x4x1x64xf32>
  %12 = relay.transpose %11 {axes = array<i64: 0, 2, 1, 3>} : (tensor<1x4x1x64xf32>) -> tensor<1x1x4x64xf32>
  %13 = relay.reshape %12 {newshape = array<i64: 1, 1, 256>} : (tensor<1x1x4x64xf32>) -> tensor<1x1x256xf32>
  relay.return %13 : tensor<1x1x256xf32>
}
