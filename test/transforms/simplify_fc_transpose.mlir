// RUN: weft-opt %s -p simplify-fc-transpose{target-weights=w} | filecheck %s

// CHECK-LABEL: relay.func @main(%x: tensor<2x4xf32>, %w.T: tensor<3x4xf32>, %v: tensor<4x3xf32>)
// CHECK-NEXT: relay.nn.dense %x, %w.T
// CHECK-NEXT: relay.transpose %v
// CHECK-NEXT: relay.nn.dense %x
relay.func @main(%x: tensor<2x4xf32>, %w: tensor<4x3xf32>, %v: tensor<4x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = relay.transpose %w {axes = array<i64: 1, 0>} : (tensor<4x3xf32>) -> tensor<3x4xf32>
  %1 = relay.nn.dense %x, %0 : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %2 = relay.transpose %v {axes = array<i64: 1, 0>} : (tensor<4x3xf32>) -> tensor<3x4xf32>
  %3 = relay.nn.dense %x, %2 : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  relay.return %1, %3 : tensor<2x3xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: relay.func @a_weight_that_is_read_as_it_is_stays
// CHECK: relay.transpose %w
relay.func @a_weight_that_is_read_as_it_is_stays(%x: tensor<2x3xf32>, %w: tensor<3x3xf32>) -> tensor<2x3xf32> {
  %0 = relay.transpose %w {axes = array<i64: 1, 0>} : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %1 = relay.nn.dense %x, %0 : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
  %2 = relay.nn.dense %1, %w : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
  relay.return %2 : tensor<2x3xf32>
}

// CHECK-LABEL: relay.func @a_function_that_is_called_stays
// CHECK: relay.transpose %w
relay.func @a_function_that_is_called_stays(%x: tensor<2x3xf32>, %w: tensor<3x3xf32>) -> tensor<2x3xf32> {
  %0 = relay.transpose %w {axes = array<i64: 1, 0>} : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %1 = relay.nn.dense %x, %0 : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
  relay.return %1 : tensor<2x3xf32>
}
relay.func @caller(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %w = relay.constant dense<1.0> : tensor<3x3xf32>
  %0 = relay.call @a_function_that_is_called_stays(%x, %w) : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
  relay.return %0 : tensor<2x3xf32>
}
