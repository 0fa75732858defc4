// RUN: weft-opt %s -p "change-batch{data=\"data\",\"other\" axes=0,1 batch-size=4}" | filecheck %s

// CHECK-LABEL: relay.func @what_follows_from_the_inputs_has_the_new_size
// CHECK-SAME: %data: tensor<4x8xf32>, %other: tensor<8x4xf32>, %w: tensor<2x8xf32>) -> tensor<4x2xf32>
// CHECK: relay.nn.dense {{.*}} -> tensor<4x2xf32>
// CHECK-NEXT: relay.transpose {{.*}} -> tensor<4x8xf32>
// CHECK-NEXT: relay.return {{.*}} tensor<4x2xf32>
relay.func @what_follows_from_the_inputs_has_the_new_size(%data: tensor<1x8xf32>, %other: tensor<8x1xf32>, %w: tensor<2x8xf32>) -> tensor<1x2xf32> {
  %0 = relay.nn.dense %data, %w : (tensor<1x8xf32>, tensor<2x8xf32>) -> tensor<1x2xf32>
  %1 = relay.transpose %other {axes = array<i64: 1, 0>} : (tensor<8x1xf32>) -> tensor<1x8xf32>
  relay.return %0 : tensor<1x2xf32>
}

// CHECK-LABEL: relay.func @a_function_without_such_inputs_stays
// CHECK-SAME: %x: tensor<1x8xf32>) -> tensor<1x8xf32>
relay.func @a_function_without_such_inputs_stays(%x: tensor<1x8xf32>) -> tensor<1x8xf32> {
  %0 = relay.exp %x : tensor<1x8xf32>
  relay.return %0 : tensor<1x8xf32>
}
