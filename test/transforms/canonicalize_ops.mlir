// RUN: weft-opt %s -O3 -p canonicalize-ops | filecheck %s

// CHECK-LABEL: relay.func @bias_add_becomes_expand_dims_and_add
// CHECK-NEXT: %0 = relay.expand_dims %b {axis = 1 : i64, num_newaxis = 2 : i64} : (tensor<3xf32>) -> tensor<3x1x1xf32>
// CHECK-NEXT: %1 = relay.add %x, %0
relay.func @bias_add_becomes_expand_dims_and_add(%x: tensor<?x3x4x4xf32>, %b: tensor<3xf32>) -> tensor<?x3x4x4xf32> {
  %0 = relay.nn.bias_add %x, %b : (tensor<?x3x4x4xf32>, tensor<3xf32>) -> tensor<?x3x4x4xf32>
  relay.return %0 : tensor<?x3x4x4xf32>
}

// CHECK-LABEL: relay.func @along_the_last_axis_nothing_is_expanded
// CHECK-NEXT: relay.add %x, %b
relay.func @along_the_last_axis_nothing_is_expanded(%x: tensor<0x3xf32>, %b: tensor<3xf32>) -> tensor<0x3xf32> {
  %0 = relay.nn.bias_add %x, %b {axis = -1 : i64} : (tensor<0x3xf32>, tensor<3xf32>) -> tensor<0x3xf32>
  relay.return %0 : tensor<0x3xf32>
}

// CHECK-LABEL: relay.func @other_operators_stay
// CHECK-NEXT: relay.nn.relu
relay.func @other_operators_stay(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = relay.nn.relu %x : tensor<2x3xf32>
  relay.return %0 : tensor<2x3xf32>
}
